"""`khiipd access`: history goes from one device to another, and nothing is counted twice."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.conftest import Khiipd
from khiip_indexer.errors import KhiipError
from khiip_indexer.storage.access_rows import KEEP, Entry, Tally
from khiip_indexer.storage.accesses import ACCESS_FILE, AccessLog
from khiip_sidecar.cli.main import khiipd
from khiip_sidecar.memory.access_lines import entries_of, line_of

MOMENT = 1_767_434_400_123  # 2026-01-03T10:00:00.123Z


def log_of(cli: Khiipd) -> AccessLog:
    return AccessLog(cli.settings.state)


def tallies(folder: Path) -> dict[str, Tally]:
    with closing(AccessLog(folder)) as log:
        return log.tallies()


def send(source: AccessLog, target: AccessLog) -> int:
    """As export and import do, by way of lines."""
    return target.merge(entries_of(line_of(each).encode() for each in source.entries()))


def test_export_writes_a_line_for_each_access(indexed: Khiipd, tmp_path: Path) -> None:
    with closing(log_of(indexed)) as log:
        log.record(["a"], at=MOMENT)
    result = indexed.ok("access", "export")
    line = json.loads(result.stdout)
    assert {**line, "device": "x"} == {"id": "a", "device": "x", "at": "2026-01-03T10:00:00.123Z"}
    file = tmp_path / "out.jsonl"
    assert indexed.ok("access", "export", str(file)).stdout == ""
    assert file.read_text() == result.stdout
    assert indexed.ok("access", "export", "-").stdout == result.stdout


def test_what_was_never_read_exports_nothing(indexed: Khiipd, tmp_path: Path) -> None:
    assert indexed.ok("access", "export").stdout == ""
    indexed.ok("access", "export", str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b""
    indexed.ok("access", "import", str(tmp_path / "out"))
    assert not (indexed.settings.state / ACCESS_FILE).exists()


def test_import_takes_in_a_file_and_stdin_once(indexed: Khiipd, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(
        '\ufeff{"id":"a","device":"phone","at":"2026-01-03T11:00:00.123+01:00","more":1}\r\n\n'
        '{"id":"a","device":"desk","count":70,"until":"2026-01-02T00:00:00Z"}'
    )
    assert "2 of them told something new" in indexed.ok("access", "import", str(file)).stderr
    assert tallies(indexed.settings.state) == {"a": Tally(71, MOMENT)}
    again = CliRunner().invoke(
        khiipd,
        ["--vault", str(indexed.settings.vault), "access", "import", "-"],
        input=file.read_bytes(),
    )
    assert again.exit_code == 0
    assert "0 of them told something new" in again.stderr
    assert tallies(indexed.settings.state) == {"a": Tally(71, MOMENT)}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no json", "not a line of JSON"),
        ("[1]", "JSON object"),
        ("[" * 100_000, "not a line of JSON"),
        ('{"device":"d","at":"2026-01-03T10:00:00Z"}', "`id`"),
        ('{"id":"","device":"d","at":"2026-01-03T10:00:00Z"}', "`id`"),
        ('{"id":7,"device":"d","at":"2026-01-03T10:00:00Z"}', "`id`"),
        ('{"id":"\\ud800","device":"d","at":"2026-01-03T10:00:00Z"}', "`id`"),
        ('{"id":"a","at":"2026-01-03T10:00:00Z"}', "`device`"),
        ('{"id":"a","device":"d"}', "`until`"),
        ('{"id":"a","device":"d","at":"yesterday"}', "`at`"),
        ('{"id":"a","device":"d","at":"2026-01-03T10:00:00"}', "`at`"),
        ('{"id":"a","device":"d","at":1767434400}', "`at`"),
        ('{"id":"a","device":"d","at":"0001-01-01T00:00:00+14:00"}', "`at`"),
        ('{"id":"a","device":"d","at":"9999-12-31T23:59:59-14:00"}', "`at`"),
        ('{"id":"a","device":"d","until":"2026-01-03T10:00:00Z"}', "`count`"),
        ('{"id":"a","device":"d","count":0,"until":"2026-01-03T10:00:00Z"}', "`count`"),
        ('{"id":"a","device":"d","count":true,"until":"2026-01-03T10:00:00Z"}', "`count`"),
        ('{"id":"a","device":"d","count":1e9,"until":"2026-01-03T10:00:00Z"}', "`count`"),
    ],
)
def test_a_file_with_a_bad_line_is_refused_as_a_whole(
    indexed: Khiipd, tmp_path: Path, line: str, reason: str
) -> None:
    good = '{"id":"a","device":"d","at":"2026-01-03T10:00:00Z"}'
    file = tmp_path / "in.jsonl"
    file.write_text(f"{good}\n{line}\n{good}\n")
    result = indexed.run("access", "import", str(file))
    assert result.exit_code == 1
    assert "Line 2 is no access" in result.stderr
    assert reason in result.stderr
    assert result.stdout == ""
    assert tallies(indexed.settings.state) == {}


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    with pytest.raises(KhiipError, match="Line 1 is no access"):
        entries_of(["{}".encode("utf-16")])


def test_a_file_that_is_not_there_is_named(indexed: Khiipd) -> None:
    result = indexed.run("access", "import", "nowhere.jsonl")
    assert result.exit_code == 1
    assert "nowhere.jsonl" in result.stderr


def test_without_an_index_both_say_so(cli: Khiipd) -> None:
    for command in (["export"], ["import", "-"]):
        result = cli.run("access", *command)
        assert result.exit_code == 4
        assert "khiipd reindex" in result.stderr


def test_both_work_beside_a_sidecar(indexed: Khiipd, tmp_path: Path) -> None:
    with indexed.served():
        indexed.ok("get", "Bread.md")
        with closing(log_of(indexed)) as log:
            log.record(["a"], at=MOMENT)
        indexed.ok("access", "export", str(tmp_path / "out"))
        (tmp_path / "in").write_text('{"id":"b","device":"d","at":"2026-01-03T10:00:00Z"}\n')
        indexed.ok("access", "import", str(tmp_path / "in"))
    assert "a" in (tmp_path / "out").read_text()
    assert set(tallies(indexed.settings.state)) == {"a", "b"}


def test_a_device_that_folded_its_accesses_in_between_is_not_counted_twice(tmp_path: Path) -> None:
    for name in ("laptop", "desk"):
        (tmp_path / name).mkdir()
    laptop, desk = AccessLog(tmp_path / "laptop"), AccessLog(tmp_path / "desk")
    early: list[Entry] = []
    for moment in range(250):
        laptop.record(["a"], at=moment)
        if moment == 90:
            early = laptop.entries()
            send(laptop, desk)
    desk.record(["a"], at=1000)
    send(laptop, desk)
    assert desk.tallies() == {"a": Tally(251, 1000)}
    assert desk.merge(early) == 0
    assert desk.tallies() == {"a": Tally(251, 1000)}
    # Back on the laptop, and what it goes on counting.
    send(desk, laptop)
    laptop.record(["a"], at=2000)
    send(laptop, desk)
    assert laptop.tallies() == desk.tallies() == {"a": Tally(252, 2000)}


def test_an_access_after_the_clock_was_set_back_is_not_lost_among_the_folded(
    tmp_path: Path,
) -> None:
    (tmp_path / "desk").mkdir()
    laptop, desk = AccessLog(tmp_path), AccessLog(tmp_path / "desk")
    for moment in range(1000, 1150):
        laptop.record(["a"], at=moment)
    laptop.record(["a"], at=5)
    send(laptop, desk)
    assert desk.tallies()["a"].count == laptop.tallies()["a"].count == 151


def test_a_copied_folder_counts_on_as_a_device_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    here = AccessLog(tmp_path)
    for moment in range(150):
        here.record(["a"], at=moment)
    here.close()
    shutil.copy(tmp_path / ACCESS_FILE, tmp_path / "copy" / ACCESS_FILE)
    copy = AccessLog(tmp_path / "copy")
    assert copy.tallies() == here.tallies()
    for moment in range(1000, 1150):
        here.record(["a"], at=moment)
        copy.record(["a"], at=moment)
    send(here, copy)
    send(copy, here)
    assert here.tallies() == copy.tallies() == {"a": Tally(450, 1149)}
    assert len({entry.device for entry in here.entries()}) == 2


def test_a_note_renamed_on_both_devices_has_its_accesses_once(tmp_path: Path) -> None:
    (tmp_path / "desk").mkdir()
    laptop, desk = AccessLog(tmp_path), AccessLog(tmp_path / "desk")
    for moment in range(150):
        laptop.record(["old"], at=moment)
    send(laptop, desk)
    laptop.follow("vault", [(1, [("old", "new")])])
    send(laptop, desk)
    desk.follow("vault", [(1, [("old", "new")])])
    assert desk.tallies() == laptop.tallies() == {"new": Tally(150, 149)}


def test_what_is_kept_singly_stays_bounded_on_every_device(tmp_path: Path) -> None:
    (tmp_path / "desk").mkdir()
    laptop, desk = AccessLog(tmp_path), AccessLog(tmp_path / "desk")
    for moment in range(1000):
        laptop.record(["a"], at=moment)
        if moment % 40 == 0:
            send(laptop, desk)
    send(laptop, desk)
    assert desk.tallies() == {"a": Tally(1000, 999)}
    assert len(desk.entries()) <= 2 * KEEP + 1


def _states() -> st.SearchStrategy[list[list[Entry]]]:
    """Exports of one device, at several moments of its life, in any order, some more than once."""
    moments = st.lists(st.integers(0, 400), min_size=1, max_size=60)
    return st.tuples(
        moments, st.lists(st.integers(1, 400), min_size=1, max_size=5), st.sampled_from("ab")
    ).map(lambda life: _exports(*life))


def _exports(accesses: Sequence[int], looks: Sequence[int], device: str) -> list[list[Entry]]:
    """What a device would export after each of so many accesses: it folds all but the last 5."""
    whole = sorted(set(accesses))
    found = []
    for look in looks:
        seen = whole[:look]
        folded = seen[: (len(seen) // 8) * 5]
        state = [Entry("n", device, moment) for moment in seen[len(folded) :]]
        if folded:
            state.append(Entry("n", device, folded[-1], len(folded)))
        found.append(state)
    return found


@settings(max_examples=25, deadline=None)
@given(st.lists(_states(), min_size=1, max_size=2), st.randoms(use_true_random=False))
def test_import_is_commutative_and_idempotent(
    devices: list[list[list[Entry]]],
    chance: object,
) -> None:
    states = [state for device in devices for state in device]
    shuffled = [*states, *states]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        one, other = AccessLog(Path(first)), AccessLog(Path(second))
        for state in states:
            one.merge(state)
        for state in shuffled:
            chance.shuffle(state)  # type: ignore[attr-defined]
            other.merge(state)
        assert one.entries() == other.entries()
        assert one.merge(other.entries()) == 0
        one.close()
        other.close()


@given(st.integers(0, 2**41), st.none() | st.integers(1, 2**53), st.text(min_size=1, max_size=40))
def test_a_line_reads_back_as_what_it_was(at: int, count: int | None, name: str) -> None:
    entry = Entry(name, "d", at, count)
    assert entries_of([line_of(entry).encode()]) == [entry]
