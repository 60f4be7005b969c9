"""The history of notes at 10,000 commits, beside git's own answer to the same question.

    python tests/bench/history.py [--commits 10000] [--notes 2000] [--rows FILE]

Makes a vault by `git fast-import` and indexes it with a double for the model, which history does
not need. The first reading is counted in processor seconds, git's own included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from khiip_indexer.config import Settings
from khiip_indexer.disk.ages import Ages
from khiip_indexer.history import History
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_sidecar.history import file_history
from support import FakeEmbedder, make_vault

Row = tuple[str, str, str]
START = 1_600_000_000
FOLDERS = 40
ROUNDS = 30


def name(number: int) -> str:
    return f"folder {number % FOLDERS}/note {number}.md"


def commits(count: int, notes: int) -> Iterator[bytes]:
    """A first commit of all notes, then edits of one to three, renames, merges and sessions."""
    yield b"reset refs/heads/main\n"
    for number in range(count):
        yield header(number)
        if number == 0:
            for note in range(notes):
                yield edit(name(note), f"note {note} as it was\n" * 3)
        for part in range(1 + number % 3):
            note = (number * 7 + part * 131) % notes
            yield edit(name(note), f"note {note}\n" + f"text of commit {number}\n" * 3)
        if number % 500 == 499:
            old = name((number * 7) % notes)
            yield b'R "%s" "%s"\n' % (old.encode(), f"moved/{number} {old[-12:]}".encode())
        yield b"\n"


def header(number: int) -> bytes:
    """Every fifth commit is a backup that no person wrote; every fiftieth a merge."""
    message = f"vault backup: {number}" if number % 5 else f"Plan {number}\n\nWhy it is so."
    if number % 10 == 0:
        message += f"\n\nSession-Id: session-{number // 30}"
    lines = [
        b"commit refs/heads/main",
        b"mark :%d" % (number + 1),
        b"committer A <a@example.org> %d +0000" % (START + number * 900),
        b"data %d\n%s" % (len(message), message.encode()),
    ]
    if number:
        lines.append(b"from :%d" % number)
    if number > 50 and number % 50 == 0:
        lines.append(b"merge :%d" % (number - 10))
    return b"\n".join(lines) + b"\n"


def edit(path: str, text: str) -> bytes:
    raw = text.encode()
    return b'M 100644 inline "%s"\ndata %d\n%s\n' % (path.encode(), len(raw), raw)


def git(vault: Path, *words: str, stdin: bytes | None = None) -> None:
    plain = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(
        ["git", *who, "-C", str(vault), *words],
        input=stdin,
        env=plain,
        check=True,
        capture_output=True,
    )


def make(vault: Path, count: int, notes: int) -> Settings:
    """The vault, checked out."""
    settings = make_vault(vault, {})
    git(vault, "init", "-q", "-b", "main")
    git(vault, "fast-import", "--quiet", "--force", stdin=b"".join(commits(count, notes)))
    git(vault, "reset", "-q", "--hard")
    return settings


def processor() -> float:
    """Seconds of processor of this process and of those that it has waited for."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def cost(work: Callable[[], object]) -> float:
    before = processor()
    work()
    return processor() - before


def median_ms(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Wall milliseconds, the first call left out."""
    work()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def first_reading(settings: Settings, count: int) -> Row:
    """Reading all commits and storing them, beside git telling them to nobody."""
    with VaultIndex.open(settings, write=True) as index:

        def read() -> None:
            with index.database.write() as connection:
                Ages(settings.vault).refresh(connection)

        ours = cost(read)
        bare = ("log", "-z", "--format=%H%at%an%B", "--name-status", "-M")
        theirs = cost(lambda: git(settings.vault, *bare))
        Syncer(index, FakeEmbedder()).run()
    size = sum(path.stat().st_size for path in settings.state.iterdir()) / 2**20
    return (
        f"First reading of {count:,} commits",
        f"{ours:.2f} s of processor, against {theirs:.2f} s of git log --name-status alone "
        f"({size:.0f} MiB of index in all)",
        "",
    )


def answers(settings: Settings, count: int) -> Iterator[Row]:
    """Warm answers of a process that only reads, beside `git log --follow`."""
    with VaultIndex.open(settings) as index:
        history = History(index.database, settings.vault, settings.exclude)
        for what, path in (("one note", name(7)), ("a folder of notes", "folder 7/")):
            ours = median_ms(lambda path=path: file_history(history.edits(path)))  # type: ignore[misc]
            asked = ("--follow", "--", path) if path.endswith(".md") else ("--", path)
            told = ("log", "--format=%H%at%an%B", "--name-status", *asked)
            theirs = median_ms(lambda told=told: git(settings.vault, *told), 5)  # type: ignore[misc]
            edits = file_history(history.edits(path)).total_edits
            yield (
                f"History of {what} ({edits} edits) at {count:,} commits, warm",
                f"{ours:.1f} ms, against {theirs:.0f} ms of git log",
                "",
            )
        yield activity_row(history, count)
        yield new_commit(settings, history)


def activity_row(history: History, count: int) -> Row:
    took = median_ms(lambda: history.activity(START + count * 900 - 28 * 86400))
    return (f"Activity of every note at {count:,} commits, warm", f"{took:.1f} ms", "")


def new_commit(settings: Settings, history: History) -> Row:
    """A commit is made, and the next question must know it."""
    times = []
    for number in range(5):
        (settings.vault / name(7)).write_text(f"edit {number}\n", encoding="utf-8")
        git(settings.vault, "commit", "-q", "-a", "-m", f"edit {number}")
        began = time.perf_counter()
        found = history.edits(name(7))
        times.append(1000 * (time.perf_counter() - began))
        newest = found.edits[0].commit
        if newest is None or newest.subject != f"edit {number}":
            raise RuntimeError("the new commit was not told of")
    return (
        "History of one note right after a commit that is not stored yet",
        f"{statistics.median(times):.0f} ms",
        "",
    )


def main() -> None:
    """Measure and print; with --rows also write the README's rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--rows", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="khiip-history-") as work:
        settings = make(Path(work) / "vault", options.commits, options.notes)
        rows.append(first_reading(settings, options.commits))
        print(": ".join(rows[0][:2]), flush=True)
        for row in answers(settings, options.commits):
            rows.append(row)
            print(": ".join(row[:2]), flush=True)
    if options.rows:
        options.rows.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
