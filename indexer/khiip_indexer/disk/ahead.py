"""What git knows and the index has not stored yet, for whoever is asked before the next sync."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from khiip_indexer.disk import git, gitdates, gitlog
from khiip_indexer.disk.git import GitUnavailable
from khiip_indexer.disk.gitdates import Repository
from khiip_indexer.storage.lineage import Commit
from khiip_indexer.store import get_meta

# Names of what is remembered about the last commit that was taken in, and where the vault was.
HEAD = "git_log_head"
PREFIX = "git_log_prefix"
# More commits than these are not read while somebody waits; the next sync takes them all in.
MOST = 20_000


@dataclass(frozen=True, slots=True)
class Known:
    """How git's history stands to what is stored of it.

    `state` is `git`, `journal` where there is no repository, or `git_unavailable: …` with the
    reason. `commits` are those not stored, parents first; `gone` the hashes of stored ones that
    are not part of the history any more; `stored` whether the others count.
    """

    state: str
    stored: bool = False
    commits: tuple[Commit, ...] = ()
    gone: frozenset[str] = frozenset()

    @property
    def from_git(self) -> bool:
        """Whether git could answer."""
        return self.state == "git"


class Ahead:
    """Looks at a vault's repository, without a process while nothing has moved; thread-safe."""

    def __init__(self, vault: Path) -> None:
        self._vault = vault
        self._lock = threading.Lock()
        self._seen: tuple[object, ...] | None = None
        self._known = Known("journal")

    def look(self, connection: sqlite3.Connection, renewals: int = 0) -> Known:
        """How git stands now; the very same object while nothing has changed.

        `renewals` changes when another cache took the place of the one that was read.
        """
        stored = (get_meta(connection, HEAD), get_meta(connection, PREFIX))
        with self._lock:
            seen = (gitdates.stamp(self._vault), stored, renewals)
            if seen != self._seen:
                self._known = self._look(seen[0], *stored)
                # A refusal may be over without a trace in the repository: it is asked again.
                refused = self._known.state not in ("git", "journal")
                self._seen = None if refused else seen
            return self._known

    def _look(self, stamp: object, head: str | None, prefix: str | None) -> Known:
        if stamp is None:
            return Known("journal")
        try:
            now = gitdates.repository(self._vault)
            if now.head == head and now.prefix == prefix:
                return Known("git", stored=True)
            return self._read(now, head if now.prefix == prefix else None)
        except GitUnavailable as error:
            return Known(f"git_unavailable: {error}")

    def _read(self, now: Repository, head: str | None) -> Known:
        gone = None if head is None else self._gone(now.head, head)
        since = None if gone is None else head
        new = tuple(gitlog.commits(self._vault, since, now.head, now.prefix, most=MOST))
        return Known("git", stored=since is not None, commits=new, gone=gone or frozenset())

    def _gone(self, now: str, before: str) -> frozenset[str] | None:
        """Commits that were left behind; None when the old head is not to be found any more."""
        try:
            said = git.run(self._vault, "rev-list", f"--max-count={MOST}", f"{now}..{before}")
        except GitUnavailable:
            return None
        return frozenset(said.decode("ascii", "replace").split())
