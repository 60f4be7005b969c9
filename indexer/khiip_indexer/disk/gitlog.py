"""Reads `git log` commit by commit: who did what to which note, when, and what they said."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from khiip_indexer.disk import git
from khiip_indexer.disk.path_text import decode_path
from khiip_indexer.storage.lineage import Change, Commit

# What is kept of a message; some tools commit whole reports.
SUBJECT_CHARS = 500
BODY_CHARS = 2000
_LATEST = 253402300799  # the year 9999: what a date can be written as
_START = b"commit"
_FIELDS = 7
_FORMAT = "%x00".join(("commit", "%H", "%at", "%ct", "%P", "%an <%ae>", "%s", "%b"))
_SESSION = re.compile(r"^Session-Id:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)


def commits(
    vault: Path, since: str | None, until: str, prefix: str, *, most: int | None = None
) -> Iterator[Commit]:
    """Commits that touched notes of the vault, parents first, at most the newest `most`.

    Paths are relative to `prefix`, the vault's folder below its repository's top, with `/`, or
    empty. Commits that touched other files may come too, without changes. Of a merge only counts
    what it added or deleted on its own: the rest are its branches' commits. Raises
    GitUnavailable, perhaps after some commits.
    """
    count = (f"--max-count={most}",) if most else ()
    revisions = f"{since}..{until}" if since else until
    found = git.fields(
        vault, "log", "--topo-order", "--reverse", "-z", f"--format={_FORMAT}", "--encoding=UTF-8",
        "--no-color", "--no-ext-diff", "--name-status", "-c", "--combined-all-paths",
        "-M", "-l1000", *count, *_place(revisions, decode_path(prefix)),
    )  # fmt: skip
    return parse(found)


def _place(revisions: str, prefix: str) -> tuple[str, ...]:
    """A pattern for the notes alone would make git three times as slow: they are picked out here.

    Keeping to a folder makes it faster.
    """
    if not prefix:
        return (revisions, "--")
    return (
        f"--relative={prefix}", "--full-history", revisions, "--", f":(top,literal){prefix}",
    )  # fmt: skip


def parse(fields: Iterator[bytes]) -> Iterator[Commit]:
    """The commits in the fields that `git log` prints in this module's format; pure."""
    field = next(fields, None)
    while field is not None:
        head = list(itertools.islice(fields, _FIELDS))
        if field.strip() != _START or len(head) < _FIELDS:
            raise git.GitUnavailable("git log did not print what was asked for")
        merge = b" " in head[3]
        changes: list[Change] = []
        while (field := next(fields, None)) is not None and field.strip() != _START:
            if status := field.strip().decode("ascii", "replace"):
                change = _change(status, fields, merge=merge)
                changes += [] if change is None else [change]
        yield _commit(head, tuple(changes), merge=merge)


def _change(status: str, fields: Iterator[bytes], *, merge: bool) -> Change | None:
    """The change of a note; None for that of another file."""
    names = len(status) + 1 if merge else 1 + (status[0] in "RC")
    *before, path = (git.text(name) for name in itertools.islice(fields, names))
    if not is_note(path):
        left = not merge and before and status[0] == "R" and is_note(before[0])
        return Change("deleted", before[0]) if left else None
    if merge:
        return _by_the_merge(status, before, path)
    if status[0] == "R" and is_note(before[0]):
        return Change("renamed", path, before[0], same=status == "R100")
    if status[0] in "ARC":
        return Change("created", path)
    return Change("deleted" if status[0] == "D" else "modified", path)


def _by_the_merge(status: str, before: list[str], path: str) -> Change:
    """What a merge did to a path, from a letter and a name for each parent.

    It counts what none of them has: a name that is new to all, or one that is gone from all.
    """
    if set(status) == {"R"} and len(set(before)) == 1 and is_note(before[0]):
        return Change("renamed", path, before[0], same=True)
    if set(status) <= {"A", "R"}:
        return Change("created", path)
    return Change("deleted" if set(status) == {"D"} else "merged", path)


def is_note(path: str) -> bool:
    """Whether a file's name is a note's."""
    return path[-3:].lower() == ".md"


def _commit(head: list[bytes], changes: tuple[Change, ...], *, merge: bool) -> Commit:
    digest, at, committed, parents, author, subject, body = (
        field.decode("utf-8", "replace") for field in head
    )
    said = _SESSION.findall(body)
    return Commit(
        at=_seconds(at),
        changes=changes,
        hash=digest,
        committed=max(_seconds(at), _seconds(committed)),
        author=author,
        subject=subject[:SUBJECT_CHARS],
        body=body.strip()[:BODY_CHARS],
        session=said[-1].strip() if said else None,
        merge=merge,
        parent=parents.partition(" ")[0],
    )


def _seconds(text: str) -> int:
    """A time as git has it; a broken commit may have none, or one that no calendar has."""
    try:
        return min(max(int(text), 0), _LATEST)
    except ValueError:
        return 0
