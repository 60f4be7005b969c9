"""How a command's process ends: at once, with everything said and nobody left waiting."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.conftest import Khiipd

START = """
import atexit, sys, threading, time
from khiip_sidecar.cli.entry import end_at_once

class Late:
    def __del__(self):
        print("taken apart")

late = Late()
atexit.register(print, "at exit")
sys.stdout.write("said ")
"""


def ran(code: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", START + code], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("code", [0, 3, None])
def test_nothing_is_taken_apart_but_everything_is_said(code: int | None) -> None:
    assert ran(f"end_at_once({code})") == (code or 0, "said at exit\n", "")


def test_a_thread_that_still_works_is_waited_for() -> None:
    work = "threading.Thread(target=lambda: (time.sleep(0.05), print('worked'))).start()\n"
    assert ran(f"{work}end_at_once(3)\nsys.exit(3)") == (
        3,
        "said worked\nat exit\ntaken apart\n",
        "",
    )


def test_a_daemon_is_not_waited_for() -> None:
    work = "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    assert ran(f"{work}end_at_once(1)") == (1, "said at exit\n", "")


def test_words_for_the_user_and_a_closed_stream_are_left_to_the_interpreter() -> None:
    assert ran("end_at_once('no')\nsys.exit('no')")[0::2] == (1, "no\n")
    assert ran("sys.stdout = None\nend_at_once(2)\nsys.exit(2)")[0] == 2


def test_a_recall_by_meaning_loads_nothing_of_words_histories_and_heat(indexed: Khiipd) -> None:
    named = ["--vault", str(indexed.settings.vault), "recall", "knots", "--json"]
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "import khiip_indexer.embedder\n"
        "from support import FakeEmbedder\n"
        "khiip_indexer.embedder.MiniLM = lambda *_, **__: FakeEmbedder()\n"
        "from khiip_sidecar.cli.main import khiipd\n"
        f"try: khiipd.main({named!r})\n"
        "except SystemExit as end: print(end.code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ended, *loaded = done.stderr.split()
    unused = {
        "khiip_indexer.lexical.search",
        "khiip_indexer.lexical.passages",
        "khiip_indexer.history",
        "khiip_sidecar.history",
        "khiip_sidecar.overview",
        "khiip_sidecar.memory.lookup",
        "khiip_indexer.sync",
        "starlette",
        "mcp",
    }
    assert (ended, unused.intersection(loaded)) == ("0", set())
    assert "khiip_indexer.search" in loaded
