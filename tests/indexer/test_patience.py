"""Steps that may hang: the waiting ends, the rest goes on."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from khiip_indexer.disk.patience import MOST_HANGING, GaveUp, Patience
from support import wait_until


def test_a_result_comes_back() -> None:
    assert Patience().run("a", lambda: 41 + 1, 5) == 42


def test_an_error_comes_back_as_it_was() -> None:
    def step() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        Patience().run("a", step, 5)


def test_what_hangs_is_given_up_and_not_tried_again_until_it_ends() -> None:
    patience, gate, calls = Patience(), threading.Event(), []

    def step() -> str:
        calls.append(1)
        gate.wait(30)
        return "read"

    for _ in range(3):
        with pytest.raises(GaveUp):
            patience.run("a", step, 0.1)
    assert (len(calls), patience.hanging) == (1, 1)
    assert patience.run("b", lambda: "other", 5) == "other"
    gate.set()
    wait_until(lambda: patience.hanging == 0)
    assert patience.run("a", step, 5) == "read"


def test_a_step_of_many_parts_is_waited_for_while_it_gets_on() -> None:
    patience, parts, gate = Patience(), [0], threading.Event()

    def step() -> int:
        for _ in range(5):
            time.sleep(0.05)
            parts[0] += 1
        return parts[0]

    assert patience.run("a", step, 0.2, lambda: parts[0]) == 5
    with pytest.raises(GaveUp):
        patience.run("b", lambda: gate.wait(30), 0.1, lambda: parts[0])
    gate.set()


def test_many_that_hang_cost_little_more_than_one() -> None:
    patience, gate = Patience(), threading.Event()
    begun: list[int] = []

    def hang(count: int) -> None:
        begun.append(count)
        gate.wait(60)

    for count in range(MOST_HANGING + 20):
        with pytest.raises(GaveUp):
            patience.run(str(count), partial(hang, count), 0.05)
    assert begun == list(range(MOST_HANGING)), "the others are given up without being tried"
    assert patience.hanging == MOST_HANGING
    gate.set()
    wait_until(lambda: patience.hanging == 0)


def test_threads_are_used_again_and_go_when_they_are_let_go() -> None:
    before = threading.active_count()
    patience = Patience()
    for _ in range(200):
        patience.run("a", lambda: None, 5)
    assert threading.active_count() <= before + 2
    patience.close()
    wait_until(lambda: threading.active_count() <= before)
    assert patience.run("a", lambda: 1, 5) == 1
    patience.close()


def test_the_same_name_may_be_read_by_several_at_once() -> None:
    patience, gate = Patience(), threading.Barrier(4, timeout=10)
    done: list[int] = []
    threads = [
        threading.Thread(target=lambda: done.append(patience.run("a", gate.wait, 10)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(done) == [0, 1, 2, 3]
