"""Restarts and upgrades throw nothing away, and a start keeps nobody waiting."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from field_cases.conftest import Case, MakeCase
from khiip_indexer.errors import StorageError
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_sidecar.auth import load_or_make_key
from khiip_sidecar.daemon import Daemon, serve

SMALL = {f"{n % 20}/{n}.md": f"note {n}" for n in range(2000)}


def test_neither_restart_nor_upgrade_embeds_anything_again(
    make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B36"""
    case = make_case(SMALL)
    case.ok("reindex")
    assert len(case.embedder.texts) == 2000
    texts = list(case.embedder.texts)
    case.ok("reindex")
    monkeypatch.setattr("khiip_indexer.__version__", "99.0.0")
    monkeypatch.setattr("khiip_sidecar.cli.reindex.INDEX_FORMAT", "99")
    monkeypatch.setattr("khiip_sidecar.cli.entry.INDEX_FORMAT", "99")
    case.ok("reindex")
    monkeypatch.setattr("khiip_indexer.syncing.versions.PROJECTION_VERSION", "99")
    monkeypatch.setattr("khiip_indexer.records.STRUCTURED_SCHEMA_VERSION", 99)
    case.ok("reindex")
    assert case.embedder.texts == texts


def test_a_sidecar_that_starts_again_embeds_nothing_again(make_case: MakeCase) -> None:
    """B36"""
    case = make_case({f"{n}.md": f"note {n}" for n in range(30)})
    with case.served():
        pass
    texts = [text for text in case.embedder.texts if text != "warm"]
    assert len(texts) == 30
    with case.served():
        pass
    assert [text for text in case.embedder.texts if text != "warm"] == texts


def test_a_save_that_fails_is_said_and_nothing_is_embedded_again(
    make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B36"""
    case = make_case({f"{n}.md": f"note {n}" for n in range(30)})

    def fails(*_: object) -> None:
        raise StorageError("Writing vectors.1.hnsw failed: Input/output error.")

    with monkeypatch.context() as patch:
        patch.setattr("khiip_indexer.graphs.write_through", fails)
        result = case.run("reindex")
        assert result.exit_code == 1
        assert "vectors.1.hnsw failed" in result.stderr
        with case.served() as port:
            health = Asker(case, port).get("/health")[1]
        assert health["status"] == "degraded"
        assert "vectors.1.hnsw failed" in health["reason"]
    texts = [text for text in case.embedder.texts if text != "warm"]
    case.ok("reindex")
    assert [text for text in case.embedder.texts if text != "warm"] == texts


def test_an_edit_writes_little_however_large_the_vault_is(make_case: MakeCase) -> None:
    """B36: no file is written anew as a whole for one note"""
    case = make_case({f"{n}.md": f"note {n}" for n in range(300)})
    case.ok("reindex")
    before = {path.name: path.stat().st_mtime_ns for path in case.settings.state.glob("*.hnsw")}
    case.write({"7.md": "another text"})
    case.ok("reindex")
    after = {path.name: path.stat().st_mtime_ns for path in case.settings.state.glob("*.hnsw")}
    assert after == before
    assert case.paths("another text")[0] == "7.md"


class Asker:
    def __init__(self, case: Case, port: int) -> None:
        self.port = port
        self.key = load_or_make_key(case.settings.homes)

    def get(self, path: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.key}"})
        response = connection.getresponse()
        body = json.loads(response.read())
        connection.close()
        return response.status, body


def test_while_the_model_is_still_loading_health_answers_and_says_so(
    make_case: MakeCase,
) -> None:
    """B38"""
    case = make_case({"n.md": "The pump."})
    case.ok("reindex")
    loading, loaded = threading.Event(), threading.Event()
    embed = case.embedder.embed

    def slow(texts: Sequence[str]) -> Any:
        loading.set()
        assert loaded.wait(20)
        return embed(texts)

    case.embedder.embed = slow  # type: ignore[method-assign]
    up: list[Daemon] = []
    ready = threading.Event()

    def on_ready(daemon: Daemon) -> None:
        up.append(daemon)
        ready.set()

    thread = threading.Thread(
        target=serve,
        args=(case.settings, "127.0.0.1", 0),
        kwargs={"embedder": case.embedder, "on_ready": on_ready},
    )
    thread.start()
    try:
        assert ready.wait(10)
        assert loading.wait(10), "the model is loaded at the start, with no query asked"
        ask = Asker(case, up[0].address[1])
        status, health = ask.get("/health")
        assert (status, health["state"]) == (200, "warming")
        assert ask.get("/api/v1/captures?limit=1")[0] == 200
        assert ask.get("/api/v1/meta")[0] == 200
    finally:
        loaded.set()
        up[0].stop()
        thread.join(10)
    assert not thread.is_alive()


def test_before_the_first_vector_words_answer_and_that_is_said(make_case: MakeCase) -> None:
    """B38: never an empty list that looks like an answer"""
    case = make_case({"n.md": "The pump."})
    with VaultIndex.open(case.settings, write=True) as index:
        syncer = Syncer(index, case.embedder)
        case.embedder.missing = True
        with pytest.raises(Exception, match="model not found"):
            syncer.run()
    case.embedder.missing = False
    with case.http() as client:
        response = client.get("/api/v1/recall?q=pump")
    answer = response.json()
    assert (response.status_code, len(answer["results"])) == (200, 1)
    assert answer["degraded"] == "no_vectors"
