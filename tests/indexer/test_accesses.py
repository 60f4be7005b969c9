"""Accesses are the user's history: counted once, kept small, and they follow their captures."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from indexing import reindex, write
from khiip_indexer.config import Settings
from khiip_indexer.errors import IndexMissing, StorageError
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage.access_rows import KEEP, Read, Tally
from khiip_indexer.storage.accesses import ACCESS_FILE, AccessLog
from khiip_indexer.storage.put_off import PutOff
from support import FakeEmbedder, make_vault


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(4)})
    reindex(made, FakeEmbedder())
    return made


@pytest.fixture
def log(tmp_path: Path) -> AccessLog:
    return AccessLog(tmp_path)


def id_of(settings: Settings, path: str) -> str:
    with VaultIndex.open(settings) as index:
        record = index.capture_at(path)
        assert record is not None
        return record.id


def count(settings: Settings, path: str) -> int:
    identity = id_of(settings, path)
    with VaultIndex.open(settings) as index:
        return index.accesses().get(identity, Tally(0, 0)).count


def read(settings: Settings, path: str, times: int = 1) -> None:
    identity = id_of(settings, path)
    with VaultIndex.open(settings) as index:
        for _ in range(times):
            index.record_access([identity])


def test_before_the_first_access_there_is_no_file_and_nothing_was_read(
    log: AccessLog, tmp_path: Path
) -> None:
    assert log.tallies() == {}
    assert log.times("a") == []
    log.record([])
    assert not (tmp_path / ACCESS_FILE).exists()


def test_accesses_are_counted_with_the_moment_of_the_last_one(log: AccessLog) -> None:
    log.record(["a", "b"], at=1000)
    log.record(["a"], at=3000)
    log.record(["a"], at=2000)
    assert log.tallies() == {"a": Tally(3, 3000), "b": Tally(1, 1000)}
    assert log.tallies(["b", "c"]) == {"b": Tally(1, 1000)}
    assert log.times("a") == [3000, 2000, 1000]


def test_what_is_kept_of_the_counts_ends_with_the_next_access_whoever_made_it(
    log: AccessLog, tmp_path: Path
) -> None:
    other = AccessLog(tmp_path)
    for moment, writer in enumerate((log, other, log, other), 1):
        writer.record(["a"], at=moment)
        assert log.tallies() == other.tallies() == {"a": Tally(moment, moment)}
    assert log.tallies() is log.tallies()
    log.close()
    other.record(["a"], at=9)
    assert log.tallies() == {"a": Tally(5, 9)}


def test_two_accesses_in_one_millisecond_are_two(log: AccessLog) -> None:
    log.record(["a", "a"], at=1000)
    log.record(["a"], at=1000)
    assert log.tallies()["a"].count == 3


def test_old_accesses_of_a_capture_become_a_number_and_none_is_lost(log: AccessLog) -> None:
    for moment in range(1000):
        log.record(["a"], at=moment)
    assert log.tallies() == {"a": Tally(1000, 999)}
    newest = log.times("a")
    assert newest == list(range(999, 999 - KEEP, -1))


def test_a_process_that_only_reads_the_index_records_accesses(settings: Settings) -> None:
    read(settings, "1.md", times=2)
    assert count(settings, "1.md") == 2


def test_accesses_stay_when_the_cache_is_deleted(settings: Settings) -> None:
    read(settings, "1.md")
    for path in settings.state.glob("cache.sqlite*"):
        path.unlink()
    reindex(settings, FakeEmbedder())
    assert count(settings, "1.md") == 1


def test_accesses_follow_a_note_that_is_renamed_and_renamed_back(settings: Settings) -> None:
    read(settings, "1.md", times=3)
    for old, new in (("1.md", "folder/one.md"), ("folder/one.md", "1.md")):
        (settings.vault / new).parent.mkdir(exist_ok=True)
        (settings.vault / old).rename(settings.vault / new)
        reindex(settings, FakeEmbedder())
        assert count(settings, new) == 3


def test_accesses_follow_two_notes_that_change_places(settings: Settings) -> None:
    read(settings, "1.md", times=1)
    read(settings, "2.md", times=2)
    vault = settings.vault
    (vault / "1.md").rename(vault / "third.md")
    (vault / "2.md").rename(vault / "1.md")
    (vault / "third.md").rename(vault / "2.md")
    write(settings, "2.md", "note 1")
    reindex(settings, FakeEmbedder())
    # Both paths are still there: these are two edits, and a capture is its path.
    assert count(settings, "1.md") == 1
    assert count(settings, "2.md") == 2


def test_accesses_follow_a_note_that_is_given_an_id(settings: Settings) -> None:
    read(settings, "1.md", times=2)
    write(settings, "1.md", "---\nid: mine\n---\nnote 1")
    reindex(settings, FakeEmbedder())
    assert id_of(settings, "1.md") == "mine"
    assert count(settings, "1.md") == 2


def test_a_copy_of_a_note_does_not_take_its_accesses(settings: Settings) -> None:
    write(settings, "1.md", "---\nid: mine\ncreated: 2020-01-01\n---\nnote 1")
    reindex(settings, FakeEmbedder())
    read(settings, "1.md", times=2)
    write(settings, "copy.md", "---\nid: mine\ncreated: 2021-01-01\n---\nnote 1")
    reindex(settings, FakeEmbedder())
    assert count(settings, "1.md") == 2
    assert count(settings, "copy.md") == 0


def test_captures_that_trade_ids_trade_accesses_and_none_is_counted_twice(
    settings: Settings,
) -> None:
    write(settings, "1.md", "---\nid: mine\ncreated: 2020-01-01\n---\nnote 1")
    reindex(settings, FakeEmbedder())
    read(settings, "1.md", times=2)
    read(settings, "2.md", times=5)
    # The older note now lays claim to the id: each capture keeps what was read of it.
    write(settings, "2.md", "---\nid: mine\ncreated: 2010-01-01\n---\nnote 2")
    reindex(settings, FakeEmbedder())
    assert id_of(settings, "2.md") == "mine"
    assert count(settings, "1.md") == 2
    assert count(settings, "2.md") == 5


def test_a_change_of_ids_that_was_followed_is_not_followed_again(log: AccessLog) -> None:
    log.record(["a"], at=1)
    steps = [(1, [("a", "b"), ("b", "a")]), (2, [("b", "c")])]
    log.follow("vault", steps)
    assert log.tallies() == {"c": Tally(1, 1)}
    log.record(["a"], at=2)
    log.follow("vault", steps)
    assert log.tallies() == {"a": Tally(1, 2), "c": Tally(1, 1)}


def _record(state: Path, times: int) -> None:
    log = AccessLog(state)
    for _ in range(times):
        log.record(["a", "b"])
    log.close()


def _record_here(log: AccessLog) -> None:
    for _ in range(50):
        log.record(["a"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_access_of_many_processes_and_threads_is_counted_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_record, args=(tmp_path, 100)) for _ in range(4)]
    for process in processes:
        process.start()
    log = AccessLog(tmp_path)
    threads = [threading.Thread(target=_record_here, args=(log,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert {name: tally.count for name, tally in log.tallies().items()} == {"a": 600, "b": 400}


def overwrite(path: Path) -> None:
    path.write_bytes(b"no database at all " * 400)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def drop_table(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE folded")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("damage", [overwrite, empty, make_folder, drop_table])
def test_a_damaged_log_is_set_aside_and_counting_goes_on(
    settings: Settings, damage: Callable[[Path], None]
) -> None:
    read(settings, "1.md")
    damage(settings.state / ACCESS_FILE)
    read(settings, "1.md", times=2)
    kept = 1 if damage is drop_table else 0
    assert count(settings, "1.md") == 2 + kept
    reindex(settings, FakeEmbedder())
    assert count(settings, "1.md") == 2 + kept


def test_a_log_with_torn_pages_gives_back_what_can_be_read(log: AccessLog, tmp_path: Path) -> None:
    for n in range(400):
        log.record([f"id{n}"], at=n)
    log.close()
    path = tmp_path / ACCESS_FILE
    raw = bytearray(path.read_bytes())
    connection = sqlite3.connect(path)
    sql = "SELECT rootpage FROM sqlite_master WHERE name = 'folded'"
    page = connection.execute(sql).fetchone()[0]
    connection.close()
    raw[(page - 1) * 4096 : page * 4096] = os.urandom(4096)
    path.write_bytes(bytes(raw))
    log.record(["new"], at=1)
    assert len(log.tallies()) == 401
    assert (tmp_path / "access.sqlite.corrupt").exists()


def test_the_log_of_a_newer_version_is_refused_and_kept(log: AccessLog, tmp_path: Path) -> None:
    log.record(["a"])
    log.close()
    connection = sqlite3.connect(tmp_path / ACCESS_FILE)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = (tmp_path / ACCESS_FILE).read_bytes()
    for use in (log.tallies, lambda: log.record(["a"])):
        with pytest.raises(IndexMissing, match="newer version"):
            use()
    assert (tmp_path / ACCESS_FILE).read_bytes() == before


def test_a_log_that_cannot_be_written_says_so(log: AccessLog, tmp_path: Path) -> None:
    log.record(["a"])
    log._connections[True].execute("PRAGMA query_only = ON")
    with pytest.raises(StorageError, match="may not be written"):
        log.record(["a"])


def test_processes_that_make_the_log_at_once_lose_no_access(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from khiip_indexer.storage.accesses import AccessLog\n"
        "log = AccessLog(Path(sys.argv[1]))\ninput()\n"
        "for _ in range(5):\n    log.tallies(['x'])\n    log.record(['x'])"
    )
    for attempt in range(5):
        state = tmp_path / str(attempt)
        state.mkdir()
        command = [sys.executable, "-c", code, str(state)]
        many = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(3)]
        for each in many:
            assert each.stdin is not None
            each.stdin.write("\n")
            each.stdin.flush()
        assert [each.wait(20) for each in many] == [0, 0, 0]
        for each in many:
            assert each.stdin is not None
            each.stdin.close()
        assert AccessLog(state).tallies()["x"].count == 15


class Timers:
    """Timers that go off when they are told to."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def __call__(self, _: float, call: Callable[[], None]) -> Timers:
        self.calls.append(call)
        return self

    def start(self) -> None:
        """Whatever starts it waits for `go_off`."""

    def go_off(self) -> None:
        while self.calls:
            self.calls.pop()()


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    made = Timers()
    monkeypatch.setattr("khiip_indexer.storage.put_off.threading.Timer", made)
    return made


def test_an_access_that_is_put_off_counts_at_once_and_is_soon_on_disk(
    log: AccessLog, tmp_path: Path, timers: Timers
) -> None:
    other = AccessLog(tmp_path)
    log.record_soon(["a", "b"])
    log.record_soon(["a"])
    log.record_soon([])
    assert len(timers.calls) == 1
    assert other.tallies() == {}
    timers.go_off()
    assert {name: each.count for name, each in other.tallies().items()} == {"a": 2, "b": 1}
    log.record_soon(["a"])
    assert log.tallies(["a"])["a"].count == 3
    timers.go_off()
    assert other.tallies(["a"])["a"].count == 3


@pytest.mark.parametrize(
    "ask",
    [lambda log: log.tallies(), lambda log: log.entries(), lambda log: log.times("a")],
    ids=["tallies", "entries", "times"],
)
def test_whoever_asks_the_log_finds_what_was_put_off(
    log: AccessLog, timers: Timers, ask: Callable[[AccessLog], object]
) -> None:
    log.record_soon(["a"])
    assert ask(log)


def test_what_was_put_off_is_written_when_the_log_is_closed(
    log: AccessLog, tmp_path: Path, timers: Timers
) -> None:
    log.record_soon(["a"])
    log.close()
    assert AccessLog(tmp_path).tallies()["a"].count == 1
    timers.go_off()
    assert AccessLog(tmp_path).tallies()["a"].count == 1


def test_accesses_that_were_put_off_follow_their_captures(log: AccessLog, timers: Timers) -> None:
    log.record_soon(["a"])
    log.follow("vault", [(1, [("a", "b")])])
    assert list(log.tallies()) == ["b"]


def test_what_was_put_off_and_cannot_be_written_is_told_in_the_log(
    log: AccessLog, timers: Timers, caplog: pytest.LogCaptureFixture
) -> None:
    log.record(["a"])
    log._connections[True].execute("PRAGMA query_only = ON")
    log.record_soon(["a"])
    assert log.tallies()["a"].count == 1
    assert "may not be written" in caplog.text


def test_nothing_is_read_while_another_thread_still_writes_what_was_put_off(
    timers: Timers,
) -> None:
    began, may_end = threading.Event(), threading.Event()
    written: list[Read] = []
    seen: list[Read] = []

    def write(reads: Sequence[Read]) -> None:
        began.set()
        assert may_end.wait(10)
        written.extend(reads)

    def read() -> None:
        put_off.flush()
        seen.extend(written)

    put_off = PutOff(write, threading.RLock())
    put_off.add(["a"], 1)
    writer = threading.Thread(target=timers.go_off)
    writer.start()
    assert began.wait(10)
    reader = threading.Thread(target=read)
    reader.start()
    may_end.set()
    reader.join()
    writer.join()
    assert seen == [(["a"], 1)]


def test_what_is_open_is_taken_along_when_the_folder_is_deleted(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "state")
    (tmp_path / "state").mkdir()
    log.record(["a"], 1_000)
    shutil.rmtree(tmp_path / "state")
    log.record(["b"], 2_000)
    log.record_soon(["b"])
    assert {key: tally.count for key, tally in log.tallies().items()} == {"a": 1, "b": 2}
    (tmp_path / "state").mkdir()
    log.come_back()
    log.close()
    again = AccessLog(tmp_path / "state")
    assert {key: tally.count for key, tally in again.tallies().items()} == {"a": 1, "b": 2}
    again.close()


def test_what_waits_to_be_written_waits_for_the_folder(tmp_path: Path) -> None:
    log = AccessLog(tmp_path / "state")
    log.record_soon(["a"])
    assert log.tallies() == {}
    (tmp_path / "state").mkdir()
    log.come_back()
    assert log.tallies()["a"].count == 1
    log.close()
