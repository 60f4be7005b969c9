"""A session over stdio while a sidecar runs, goes and comes, and others write."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexing import settle, write
from khiip_sidecar.cli.main import khiipd
from mcp_server.conftest import NOTES
from mcp_server.talk import Json, Talk, environment_of, talking
from serving import serving
from support import FakeEmbedder, make_vault

MOST_MEMORY_MB = 100


def recall(talk: Talk, number: int, **arguments: object) -> Json:
    talk.call(number, "recall", **arguments)
    found: Json = talk.answer(number)["result"]
    assert found["isError"] is False, found
    answer: Json = found["structuredContent"]
    return answer


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_a_sidecar_is_forwarded_to_without_a_model_and_its_end_is_no_end(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "vault", NOTES)
    with ExitStack() as stack:
        with serving(settings) as served:
            served.wait_until_ready()
            talk = stack.enter_context(talking(settings))
            talk.greet()
            answer = recall(talk, 1, query="knots in cords")
            assert answer["embedder_model"] == "fake-words"  # the sidecar's, not its own
            assert answer["results"][0]["vault_path"] == "Notes/Quipu.md"
            assert memory_mb(talk.process.pid) < MOST_MEMORY_MB
        talk.call(2, "list_captures")
        assert talk.answer(2)["result"]["structuredContent"]["total"] == 4
        with serving(settings) as again:
            again.wait_until_ready()
            assert recall(talk, 3, query="knots")["embedder_model"] == "fake-words"
        assert talk.end() == 0


def memory_mb(pid: int) -> int:
    """What a process has in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [resident] = [line for line in lines if line.startswith("VmRSS:")]
    return int(resident.split()[1]) // 1024


def test_notes_that_others_index_meanwhile_are_found(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "vault", NOTES)
    embedder = FakeEmbedder()
    settle(settings, embedder)
    with talking(settings) as talk:
        talk.greet()
        lexical = {"match": "lexical", "query": "lanterns"}
        assert recall(talk, 1, **lexical)["results"] == []
        write(settings, "New.md", "Lanterns along the quay.")
        settle(settings, embedder)
        [hit] = recall(talk, 2, **lexical)["results"]
        assert hit["vault_path"] == "New.md"
        for path in sorted(settings.state.iterdir()):
            if path.is_file():
                path.unlink()
        settle(settings, embedder)
        assert len(recall(talk, 3, **lexical)["results"]) == 1
        (settings.vault / "New.md").unlink()
        assert recall(talk, 4, **lexical)["results"] == []
        assert talk.end() == 0


def test_notes_stay_as_they_are_and_every_access_is_counted_once(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "vault", NOTES)
    settle(settings, FakeEmbedder())
    before = seen(settings.vault)
    with talking(settings) as one, talking(settings) as two:
        for talk in (one, two):
            talk.greet()
        for number in range(1, 6):
            for talk in (one, two):
                talk.call(number, "recall", query="knots", match="lexical")
        for number in range(1, 6):
            for talk in (one, two):
                assert talk.answer(number)["result"]["isError"] is False
        assert (one.end(), two.end()) == (0, 0)
    assert seen(settings.vault) == before
    environment = {"KHIIP_HOME": environment_of(settings)["KHIIP_HOME"]}
    words = ["--vault", str(settings.vault), "access", "export"]
    exported = CliRunner().invoke(khiipd, words, env=environment)
    assert exported.exit_code == 0, exported.output
    ids = [json.loads(line)["id"] for line in exported.stdout.splitlines()]
    assert len(ids) == 10  # two sessions, five recalls each, one hit in each
    assert len(set(ids)) == 1


def seen(vault: Path) -> dict[str, tuple[bytes, int]]:
    """Every note's bytes and time of change."""
    return {
        str(path): (path.read_bytes(), os.stat(path).st_mtime_ns)  # noqa: PTH116
        for path in vault.rglob("*.md")
    }


def test_doctor_tries_everything_once(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "vault", NOTES)
    words = ["--vault", str(settings.vault), "mcp", "doctor"]
    environment = {"KHIIP_HOME": environment_of(settings)["KHIIP_HOME"]}
    missing = CliRunner().invoke(khiipd, words, env=environment)
    assert missing.exit_code == 1
    assert "ok    initialize" in missing.stdout
    assert "WRONG call recall" in missing.stdout
    assert "index_missing" in missing.stdout
    assert "khiipd reindex" in missing.stdout
    with serving(settings) as served:
        served.wait_until_ready()
        well = CliRunner().invoke(khiipd, words, env=environment)
    assert well.exit_code == 0, well.output
    for said in ("call recall", "call list_captures", "call get_capture", "resources", "prompts"):
        assert f"ok    {said}" in well.stdout
