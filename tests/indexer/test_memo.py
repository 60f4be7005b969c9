"""Answers that are kept: until somebody writes, or a while when they are dear."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from khiip_indexer.storage.database import connect
from khiip_indexer.storage.memo import Memo


class Counter:
    """Counts its calls; each takes as long as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.calls = 0
        self.now = 0.0
        self.seconds = seconds
        monkeypatch.setattr("khiip_indexer.storage.memo.time.monotonic", lambda: self.now)

    def __call__(self) -> int:
        self.calls += 1
        self.now += self.seconds
        return self.calls


def test_what_is_cheap_is_computed_whenever_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memo, count = Memo(), Counter(monkeypatch, 0.001)
    assert [memo.get_dear("g1", count) for _ in range(3)] == [1, 2, 3]


def test_what_is_dear_is_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    memo, count = Memo(), Counter(monkeypatch, 0.5)
    assert [memo.get_dear("g1", count) for _ in range(3)] == [1, 1, 1]
    count.now += 9
    assert memo.get_dear("g1", count) == 1
    count.now += 2
    assert memo.get_dear("g1", count) == 2


def test_what_is_dear_is_computed_anew_when_a_run_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memo, count = Memo(), Counter(monkeypatch, 0.5)
    assert memo.get_dear("g1", count) == 1
    assert memo.get_dear("g2", count) == 2


def test_an_answer_is_kept_until_another_connection_writes(tmp_path: Path) -> None:
    reader, writer = (connect(tmp_path / "a.sqlite", "rwc") for _ in range(2))
    writer.execute("CREATE TABLE t (x)")
    memo = Memo()
    counted = [memo.get(reader, "n", object) for _ in range(2)]
    assert counted[0] is counted[1]
    writer.execute("INSERT INTO t VALUES (1)")
    assert memo.get(reader, "n", object) is not counted[0]
    reader.close()
    writer.close()


def test_a_connection_that_is_gone_leaves_no_answer_to_another_one(tmp_path: Path) -> None:
    memo = Memo()
    answers = []
    for _ in range(20):  # one of them lies where the one before it lay
        connection = connect(tmp_path / "a.sqlite", "rwc")
        answers.append(memo.get(connection, "n", object))
        connection.close()
        del connection
        gc.collect()
    assert len(set(map(id, answers))) == 20
