"""What is taken away while it is served: the index, the vault's folder, the place of both."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from khiip_indexer.config import Settings
from khiip_indexer.errors import VaultLocked
from khiip_indexer.index import VaultIndex
from khiip_indexer.lock import writer_of
from khiip_indexer.sync import Syncer
from khiip_sidecar.client import read_sidecar_file
from khiip_sidecar.recall import RecallService
from serving import Served, serving
from support import FakeEmbedder, make_vault, wait_until, write_note

NOTES = {"a.md": "alpha knots", "Deep/b.md": "beta [[Quipu]]", "c.md": "gamma"}
EVERYTHING = (
    "/api/v1/recall?q=alpha",
    "/api/v1/recall?q=alpha&match=lexical",
    "/api/v1/recall?folder=Deep",
    "/api/v1/recall",
    "/api/v1/recall?path=a",
    "/api/v1/captures",
    "/api/v1/captures?view=lean",
)


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def served(tmp_path: Path, embedder: FakeEmbedder) -> Iterator[Served]:
    with serving(make_vault(tmp_path / "vault", NOTES), embedder) as started:
        started.wait_until_ready()
        yield started


def paths(served: Served, query: str = "alpha") -> list[str]:
    status, answer, _ = served.ask(f"/api/v1/recall?q={query}&match=lexical&view=lean")
    return [each["vault_path"] for each in answer["results"]] if status == 200 else []


def notes(settings: Settings) -> int:
    """How many notes the index on the disk has; none while its tables are made."""
    with suppress(sqlite3.Error), sqlite3.connect(settings.state / "cache.sqlite") as connection:
        return int(connection.execute("SELECT COUNT(*) FROM captures").fetchone()[0])
    return 0


def is_whole_again(served: Served) -> bool:
    state = served.settings.state
    there = (state / "cache.sqlite").exists() and read_sidecar_file(state) is not None
    return there and served.ask("/health")[1]["state"] == "ready" and paths(served) == ["a.md"]


def test_a_deleted_index_comes_back_by_itself_with_what_was_known(
    served: Served, embedder: FakeEmbedder
) -> None:
    vault_id = served.ask("/health")[1]["vault_id"]
    _, found, _ = served.ask("/api/v1/recall?q=alpha&match=lexical")
    (hit,) = found["results"]
    assert served.ask(f"/api/v1/captures/{hit['capture']['id']}/access", "POST")[0] == 204
    embedder.texts.clear()
    shutil.rmtree(served.settings.state)
    wait_until(lambda: is_whole_again(served))
    assert notes(served.settings) == 3
    assert served.ask("/health")[1]["vault_id"] == vault_id
    assert (served.settings.state / ".gitignore").read_text() == "*\n"
    known = read_sidecar_file(served.settings.state)
    assert known is not None
    assert known.vault_id == vault_id
    assert [text for text in embedder.texts if text != "warm"] == []  # its vectors were saved
    with VaultIndex.open(served.settings) as index:
        assert index.accesses()[hit["capture"]["id"]].count >= 2
    with pytest.raises(VaultLocked):
        VaultIndex.open(served.settings, write=True)
    write_note(served.settings.vault, "new.md", "alpha alpha")
    wait_until(lambda: len(paths(served)) == 2)
    assert notes(served.settings) == 4


def test_a_request_that_finds_no_index_has_it_made_at_once(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_sidecar.worker.STANDING_SECONDS", 3600)
    write_note(served.settings.vault, "x.md", "wakes the thread that waits")
    wait_until(lambda: paths(served, "wakes") == ["x.md"])
    shutil.rmtree(served.settings.state)
    # A database that no thread has open any more, as after a quiet while.
    served.daemon.index.database.renewals += 1
    status, answer, _ = served.ask("/api/v1/recall?q=alpha&match=lexical")
    assert (status, answer["error"]) == (503, "index_missing")
    wait_until(lambda: is_whole_again(served))


def test_a_second_writer_never_goes_unnoticed(served: Served) -> None:
    shutil.rmtree(served.settings.state)
    with VaultIndex.open(served.settings, write=True) as other:
        Syncer(other, FakeEmbedder()).run()
        wait_until(lambda: "being indexed by pid" in str(served.ask("/health")[1]["reason"]))
        write_note(served.settings.vault, "new.md", "alpha alpha")
        served.ask("/api/v1/index", "POST")
        wait_until(lambda: served.ask("/api/v1/index")[1]["state"] != "indexing")
        assert notes(served.settings) == 3
        assert served.ask("/health")[1]["status"] == "degraded"
        assert paths(served) == ["a.md"]  # read from what the other has written
    wait_until(lambda: len(paths(served)) == 2)
    wait_until(lambda: served.ask("/health")[1]["status"] == "ok")
    assert read_sidecar_file(served.settings.state) is not None


def test_only_the_lock_or_only_the_cache_may_go(served: Served) -> None:
    (served.settings.state / "lock").unlink()
    wait_until((served.settings.state / "lock").exists)
    with pytest.raises(VaultLocked):
        VaultIndex.open(served.settings, write=True)
    for name in ("cache.sqlite", "cache.sqlite-wal", "cache.sqlite-shm"):
        (served.settings.state / name).unlink()
    wait_until(lambda: is_whole_again(served))
    wait_until(lambda: notes(served.settings) == 3)


@pytest.mark.parametrize("quiet", [False, True], ids=["open readers", "no reader"])
@pytest.mark.parametrize("left", ["nothing", "the place of a drive"])
def test_a_vault_that_is_away_is_no_empty_vault(served: Served, left: str, quiet: bool) -> None:
    vault = served.settings.vault
    capture = served.ask("/api/v1/captures")[1][0]["id"]
    for each in EVERYTHING:
        assert served.ask(each)[0] == 200, each
    away = vault.with_name("away")
    vault.rename(away)
    if left == "the place of a drive":
        vault.mkdir()
    if quiet:
        served.daemon.index.database.renewals += 1
    for each in (*EVERYTHING, f"/api/v1/captures/{capture}", "/api/v1/captures/unknown"):
        status, answer, _ = served.ask(each)
        assert (status, answer["error"]) == (503, "vault_unavailable"), each
        assert str(vault) in answer["detail"]
        assert answer["hint"]
    status, health, _ = served.ask("/health")
    assert (status, health["status"]) == (200, "degraded")
    assert "is not there" in health["reason"]
    assert not vault.exists() or list(vault.iterdir()) == []  # nothing is made in its place
    if vault.exists():
        vault.rmdir()
    away.rename(vault)
    for each in (*EVERYTHING, f"/api/v1/captures/{capture}"):
        assert served.ask(each)[0] == 200, each
    wait_until(lambda: served.ask("/health")[1]["status"] == "ok")
    assert notes(served.settings) == 3


def test_notes_that_were_really_deleted_may_leave_nothing(served: Served) -> None:
    for name in ("a.md", "Deep/b.md", "c.md"):
        (served.settings.vault / name).unlink()
    status, answer, _ = served.ask("/api/v1/recall?q=alpha&match=lexical")
    assert (status, answer["results"]) == (200, [])


def test_who_only_reads_is_told_that_another_process_indexes(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "vault", NOTES)
    with VaultIndex.open(settings, write=True):
        assert writer_of(settings.state) is None  # it is this process itself
        (settings.state / "writer.json").write_text('{"pid": 1, "role": "reindex"}')
        assert writer_of(settings.state) == "reindex"
        with VaultIndex.open(settings) as reader:
            assert RecallService(reader, FakeEmbedder()).work().state == "indexing"
    assert writer_of(settings.state) is None
    (settings.state / "writer.json").write_text('{"pid": 1, "role": "reindex"}')
    assert writer_of(settings.state) is None  # it was killed
    with VaultIndex.open(settings) as reader:
        assert RecallService(reader, FakeEmbedder()).work().state == "ready"
