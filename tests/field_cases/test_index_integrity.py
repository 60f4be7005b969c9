"""What the index says after deletions, crashes, damage, and with several processes at work."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.double import running_double
from field_cases.conftest import Case, MakeCase
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.storage import database as database_module
from khiip_indexer.sync import verify
from khiip_indexer.vectors import Graph
from khiip_sidecar.client import find_sidecar
from killing import run_in_child
from support import FakeEmbedder

BEHIND = "index is behind: 1 note changed; run khiipd reindex"
KILLS = 20


def numbered(count: int, text: str = "note number") -> dict[str, str]:
    return {f"{n}.md": f"{text} {n}" for n in range(count)}


class TestGhosts:
    """B30"""

    def test_a_deleted_note_is_never_served_and_the_reader_learns_why(
        self, make_case: MakeCase
    ) -> None:
        case = make_case({"n.md": "token zz91q"})
        case.ok("reindex")
        (case.vault / "n.md").unlink()
        result = case.ok("recall", "zz91q", "--json")
        answer = json.loads(result.stdout)
        assert (answer["results"], answer["stale"]) == ([], True)
        assert BEHIND in result.stderr.splitlines()
        assert "zz91q" not in json.dumps(answer["results"])

    def test_for_a_person_too_the_answer_is_empty_and_ends_with_0(
        self, make_case: MakeCase
    ) -> None:
        case = make_case({"n.md": "token zz91q"})
        case.ok("reindex")
        (case.vault / "n.md").unlink()
        result = case.ok("recall", "zz91q")
        assert result.stdout == ""
        assert BEHIND in result.stderr.splitlines()

    def test_the_body_of_a_deleted_note_is_not_to_be_had_by_any_way(
        self, make_case: MakeCase
    ) -> None:
        case = make_case({"n.md": "token zz91q", "m.md": "token of esteem"})
        case.ok("reindex")
        gone, kept = case.capture("n.md")["id"], case.capture("m.md")["id"]
        (case.vault / "n.md").unlink()
        assert case.run("get", gone).exit_code == 1
        with case.http() as client:
            answers = [
                client.get(f"/api/v1/captures/{gone}"),
                client.get("/api/v1/captures"),
                client.get("/api/v1/recall?q=token"),
                client.get(f"/api/v1/related?id={kept}"),
            ]
        assert [each.status_code for each in answers] == [404, 200, 200, 200]
        assert all("zz91q" not in each.text for each in answers)

    def test_a_renamed_note_is_not_served_under_its_old_name(self, make_case: MakeCase) -> None:
        case = make_case({"old.md": "token zz91q", "m.md": "else"})
        case.ok("reindex")
        (case.vault / "old.md").rename(case.vault / "new.md")
        assert "old.md" not in case.paths("zz91q")
        case.ok("reindex")
        assert case.paths("zz91q")[0] == "new.md"

    def test_a_changed_note_is_served_and_called_stale(self, make_case: MakeCase) -> None:
        case = make_case({"n.md": "token zz91q"})
        case.ok("reindex")
        case.write({"n.md": "token zz91q, and more of it"})
        result = case.ok("recall", "zz91q", "--json")
        answer = json.loads(result.stdout)
        assert (len(answer["results"]), answer["stale"]) == (1, True)
        assert BEHIND in result.stderr.splitlines()

    def test_an_answer_from_an_index_that_is_current_says_nothing_of_the_kind(
        self, make_case: MakeCase
    ) -> None:
        case = make_case({"n.md": "token zz91q"})
        case.ok("reindex")
        os.utime(case.vault / "n.md", (1, 1))
        result = case.ok("recall", "zz91q", "--json")
        assert json.loads(result.stdout)["stale"] is False
        assert result.stderr == ""


def reindex_in_child(case: Case, at: int) -> tuple[bool, int]:
    """(whether it was killed, calls made) of `khiipd reindex` in a process of its own."""
    status, calls = run_in_child(lambda: case.run("reindex"), at)
    return os.WIFSIGNALED(status), calls


class TestCrashes:
    """B32"""

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_a_kill_at_any_moment_leaves_an_index_that_answers_and_is_whole(
        self, make_case: MakeCase, tmp_path: Path
    ) -> None:
        case = make_case(numbered(30))
        case.ok("reindex")
        _, calls = reindex_in_child(case, at=0)
        case.write(numbered(20, "second state, note number"))
        for n in range(KILLS):
            case.write({f"{n}.md": f"text {n} that no round before had", f"new{n}.md": f"new {n}"})
            killed, made = reindex_in_child(case, at=1 + calls * (n + 1) * 5 // (KILLS * 4))
            assert killed or made, "the child ran"
            hits = case.json("recall", "--limit", "100", "note")["results"]
            assert len({hit["id"] for hit in hits}) == len(hits) > 0
            with VaultIndex.open(case.settings) as index:
                assert index.counts().notes >= 30
        case.ok("reindex")
        assert "sound" in case.ok("reindex", "--verify").stderr
        assert case.json("status")["index"]["pending"] == 0
        assert len(case.json("list", "--limit", "0")) == 30 + KILLS
        assert not list(case.settings.state.glob("*.tmp"))

    def test_a_disk_that_fills_up_is_a_sentence_with_the_mount_and_no_temporary_name(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case(numbered(5))
        case.ok("reindex")
        before = case.paths("note number 3")
        case.write(numbered(400, "other"))

        def full(self: object, path: Path) -> None:
            path.write_bytes(b"half of it")
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(Graph, "save", full)
            result = case.run("reindex")
        assert result.exit_code == 1
        [said] = [line for line in result.stderr.splitlines() if line.startswith("khiipd: ")]
        assert said.startswith("khiipd: no space left on /")
        assert said.endswith(" while writing the index; the previous index is unchanged")
        assert ".tmp" not in result.stderr
        assert before
        assert "sound" in case.ok("reindex", "--verify").stderr

    def test_a_cache_that_cannot_grow_keeps_what_it_had(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case(numbered(5))
        case.ok("reindex")
        before = case.json("recall", "note number 3")
        connect = database_module.connect
        case.write({f"new{n}.md": f"a note of some length {n} " * 200 for n in range(50)})

        def small(path: Path, mode: str):  # type: ignore[no-untyped-def]
            connection = connect(path, mode)
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
            return connection

        with monkeypatch.context() as patch:
            patch.setattr(database_module, "connect", small)
            result = case.run("reindex")
        assert result.exit_code == 1
        assert "no space left on /" in result.stderr
        assert case.json("recall", "note number 3") == before
        case.ok("reindex")
        assert len(case.json("list", "--limit", "0")) == 55

    def test_a_model_that_dies_at_note_90_of_100_leaves_the_old_index_answering(
        self, make_case: MakeCase
    ) -> None:
        case = make_case(numbered(100))
        case.ok("reindex")
        case.write(numbered(100, "rewritten"))
        embedder: FakeEmbedder = case.embedder
        embedder.texts.clear()
        embed = embedder.embed

        def dies(texts):  # type: ignore[no-untyped-def]
            embedder.missing = len(embedder.texts) + len(texts) > 90
            return embed(texts)

        embedder.embed = dies  # type: ignore[method-assign]
        assert case.run("reindex").exit_code == 1
        embedder.embed = embed  # type: ignore[method-assign]
        embedder.missing = False
        assert len(case.json("recall", "--limit", "200", "rewritten")["results"]) >= 64
        done = set(embedder.texts)
        embedder.texts.clear()
        case.ok("reindex")
        assert done.isdisjoint(embedder.texts)
        assert len(case.json("recall", "--limit", "200", "rewritten")["results"]) == 100
        assert not list(case.settings.state.glob("*.tmp"))


def graph_file(case: Case) -> Path:
    [path] = case.settings.state.glob("vectors.*.hnsw")
    return path


Harm = Callable[[Path], None]


def cut_to_100(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def flip_the_header(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[8:12] = bytes(byte ^ 0xFF for byte in raw[8:12])
    path.write_bytes(bytes(raw))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


class TestDamage:
    """B33"""

    @pytest.mark.parametrize("harm", [cut_to_100, flip_the_header, empty, delete])
    def test_a_damaged_vector_file_ends_no_process_and_is_made_anew_without_the_model(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch, harm: Harm
    ) -> None:
        monkeypatch.setattr("khiip_indexer.graphs.EXACT_LIMIT", 0)
        case = make_case(numbered(40))
        case.ok("reindex")
        before = case.paths("note number 7")
        harm(graph_file(case))
        with VaultIndex.open(case.settings) as index:
            index.graphs.load(case.embedder.identity)
            assert len(index.graphs.current() or ()) == 40
        assert case.paths("note number 7") == before
        texts = list(case.embedder.texts)
        case.ok("reindex")
        assert case.embedder.texts[len(texts) :] in ([], ["note number 7"]), "queries only"
        assert "sound" in case.ok("reindex", "--verify").stderr

    @pytest.mark.parametrize("harm", [cut_to_100, flip_the_header, empty, delete])
    def test_reindex_mends_the_vector_file_also_when_no_note_has_changed(
        self, make_case: MakeCase, harm: Harm
    ) -> None:
        case = make_case(numbered(40))
        case.ok("reindex")
        harm(graph_file(case))
        assert case.run("reindex", "--verify").exit_code == 1
        calls = case.embedder.calls
        case.ok("reindex")
        assert case.embedder.calls == calls
        assert "sound" in case.ok("reindex", "--verify").stderr

    @pytest.mark.parametrize("harm", [cut_to_100, flip_the_header, empty])
    def test_no_unverified_file_reaches_the_native_code(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch, harm: Harm
    ) -> None:
        monkeypatch.setattr("khiip_indexer.graphs.EXACT_LIMIT", 0)
        case = make_case(numbered(40))
        case.ok("reindex")
        harm(graph_file(case))
        loaded: list[Path] = []
        monkeypatch.setattr(Graph, "load", lambda path, *_: loaded.append(path))
        with case.served():
            assert case.paths("note number 7")
        assert loaded == []

    @pytest.mark.parametrize("file", ["manifest.json", "cache.sqlite"])
    def test_one_of_the_state_files_alone_is_enough_to_come_back(
        self, make_case: MakeCase, file: str
    ) -> None:
        case = make_case(numbered(40))
        case.ok("reindex")
        before = case.paths("note number 7")
        (case.settings.state / file).unlink()
        case.ok("reindex")
        assert case.paths("note number 7") == before
        assert "sound" in case.ok("reindex", "--verify").stderr


HOLDER = """
import sys, time
from pathlib import Path
from khiip_indexer.lock import WriterLock
lock = WriterLock(Path(sys.argv[1]))
lock.acquire("serve")
print("held", flush=True)
time.sleep(60)
"""


class TestTwoProcesses:
    """B34"""

    def test_reindex_beside_another_process_is_code_5_and_names_it(
        self, make_case: MakeCase
    ) -> None:
        case = make_case(numbered(3))
        case.ok("reindex")
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(case.settings.state)], stdout=subprocess.PIPE
        )
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            result = case.run("reindex")
            assert (result.exit_code, result.stdout) == (5, "")
            assert f"vault is served by pid {holder.pid}" in result.stderr
            assert case.paths("note number 1"), "readers need no lock"
        finally:
            holder.kill()
            holder.communicate()
        case.ok("reindex")

    def test_a_lock_of_a_process_that_is_gone_or_of_another_program_never_blocks(
        self, make_case: MakeCase
    ) -> None:
        case = make_case(numbered(3))
        case.settings.state.mkdir()
        for pid in (2**22 + 1, 1):  # above every pid; the first process of the machine
            (case.settings.state / "lock").write_text(str(pid))
            (case.settings.state / "writer.json").write_text(
                json.dumps({"pid": pid, "role": "serve"})
            )
            case.ok("reindex")
        assert len(case.json("list")) == 3

    def test_reindex_beside_a_sidecar_is_done_by_the_sidecar(self, make_case: MakeCase) -> None:
        case = make_case(numbered(3))
        with case.served():
            case.write({"new.md": "the newest"})
            assert case.json("reindex")["added"] == 1
            assert case.paths("newest")[0] == "new.md"
        assert len(case.json("list")) == 4

    def test_a_sidecar_file_left_by_a_crash_blocks_nothing(self, make_case: MakeCase) -> None:
        case = make_case(numbered(3))
        case.ok("reindex")
        with running_double(case.settings):
            pass  # its port is closed again, its file stays
        assert find_sidecar(case.settings) is None
        case.ok("reindex")
        assert case.paths("note number 1")

    def test_readers_beside_a_writer_see_every_capture_once_and_no_database_error(
        self, make_case: MakeCase
    ) -> None:
        case = make_case(numbered(20))
        case.ok("reindex")
        seen: list[list[str]] = []
        faults: list[Exception] = []
        stop = threading.Event()

        def read() -> None:
            try:
                while not stop.is_set():
                    with VaultIndex.open(case.settings) as index:
                        seen.append([r.id for r in index.page(Filters(), limit=None)])
            except Exception as error:  # noqa: BLE001 - whatever a reader meets is a fault
                faults.append(error)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for n in range(12):
            case.write({f"{n}.md": f"edited {n}", f"more{n}.md": f"more {n}"})
            case.ok("reindex")
        stop.set()
        for reader in readers:
            reader.join()
        assert faults == []
        assert seen
        assert all(len(ids) == len(set(ids)) >= 20 for ids in seen)
        with VaultIndex.open(case.settings) as index:
            assert verify(index) == []
