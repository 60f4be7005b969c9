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
    vault: Path,
    since: str | None,
    until: str,
    *,
    most: int | None = None,
    folder: str | None = None,
) -> Iterator[Commit]:
    """Commits that touched notes of the vault, parents first, at most the newest `most`.

    Paths are relative to the vault, which may be a folder of its repository, or to `folder`,
    counted from the repository's top. Of a merge only counts what it added or deleted on its own:
    the rest are its branches' commits. Raises GitUnavailable, perhaps after some commits.
    """
    revisions = f"{since}..{until}" if since else until
    count = (f"--max-count={most}",) if most else ()
    found = git.fields(
        vault, "log", "--topo-order", "--reverse", "-z", f"--format={_FORMAT}", "--encoding=UTF-8",
        "--no-color", "--no-ext-diff", "--name-status", "-c", "--combined-all-paths",
        "-M", "-l1000", "--full-history", *count, *_place(revisions, folder),
    )  # fmt: skip
    return parse(found)


def _place(revisions: str, folder: str | None) -> tuple[str, ...]:
    if folder is None:
        return ("--relative", revisions, "--", ":(icase)*.md")
    plain = decode_path(folder)
    pattern = ":(top,icase)" + re.sub(r"([*?\[\\])", r"\\\1", plain) + "*.md"
    return (*((f"--relative={plain}",) if plain else ()), revisions, "--", pattern)


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
            if status := field.strip():
                changes.append(_change(status.decode("ascii", "replace"), fields, merge=merge))
        yield _commit(head, tuple(changes), merge=merge)


def _change(status: str, fields: Iterator[bytes], *, merge: bool) -> Change:
    if merge:
        names = [git.text(name) for name in itertools.islice(fields, len(status) + 1)]
        return _by_the_merge(status, names[:-1], names[-1] if names else "")
    path = git.text(next(fields, b""))
    if status[0] == "R":
        return Change("renamed", git.text(next(fields, b"")), path, same=status == "R100")
    if status[0] == "A":
        return Change("created", path)
    return Change("deleted" if status[0] == "D" else "modified", path)


def _by_the_merge(status: str, before: list[str], path: str) -> Change:
    """What a merge did to a path, from a letter and a name for each parent.

    It counts what none of them has: a name that is new to all, or one that is gone from all.
    """
    if set(status) == {"R"} and len(set(before)) == 1:
        return Change("renamed", path, before[0], same=True)
    if set(status) <= {"A", "R"}:
        return Change("created", path)
    return Change("deleted" if set(status) == {"D"} else "merged", path)


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
