"""Keeps an index up with its vault: events soon, a look at everything now and then."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from khiip_indexer.disk import gitdates
from khiip_indexer.disk.ignore import APP_JSON, IGNORE_FILE, rules_stamp
from khiip_indexer.disk.looks import PLACEHOLDER
from khiip_indexer.errors import VaultError
from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.records import SyncReport, WatcherState
from khiip_indexer.vault import Vault
from khiip_indexer.watching.debounce import Debounce
from khiip_indexer.watching.observers import LIMITS, Heard, Lost, Observer, make_observer

log = logging.getLogger(__name__)

SUPERVISE_SECONDS = 10.0
RECONCILE_SECONDS = 600.0
POLL_SECONDS = 30.0
SLEPT_SECONDS = 60.0
# Two changes without an event mean a drive that tells nothing, unless they are hours apart.
_MISSES = 2
_MISSES_SECONDS = 6 * RECONCILE_SECONDS
# Problems that come back with every look, although nothing has changed.
_UNREAD = {"note_unreadable", "note_offline", "read_timeout"}

Request = Callable[[Collection[str] | None], None]
MakeObserver = Callable[[Vault, Heard, Lost], Observer]


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds that only go on, and the time of day."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


class Watcher:
    """Asks for syncs: of what events name, and of everything when events may have been missed.

    `request` takes paths, or None for the whole vault, and returns at once. `own` is where the
    index lives: what happens there is never an event. Where the system cannot tell of changes,
    the vault is looked at every half minute instead.
    """

    def __init__(
        self,
        vault: Vault,
        request: Request,
        *,
        own: Path | None = None,
        observe: MakeObserver = make_observer,
        clock: Clock | None = None,
    ) -> None:
        self._vault = vault
        self._request = request
        self._own = _inside(vault.root, own)
        self._observe = observe
        self._clock = clock or Clock()
        self._heard: deque[tuple[str, bool]] = deque()
        self._reports: deque[SyncReport | None] = deque()
        self._lost = False
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._observer: Observer | None = None
        self._state = WatcherState("off")
        self._debounce = Debounce()
        self._rules: object = None
        self._git: tuple[object, ...] | None = None
        self._turned = self._clock.now()
        self._supervise_at = self._reconcile_at = self._poll_at = 0.0
        self._heard_at = -RECONCILE_SECONDS
        self._checked_at: float | None = None
        self._missed: list[float] = []
        self._failures = 0

    def state(self) -> WatcherState:
        """How changes are noticed now; a snapshot."""
        return self._state

    def start(self) -> None:
        """Begin to watch, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="khiip-watching", daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """End; False when that took over `timeout` seconds."""
        self._stopping.set()
        self._wake.set()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def reconciled(self, report: SyncReport | None) -> None:
        """A look at the whole vault has ended; None when it, or any other sync, has failed."""
        self._reports.append(report)
        self._wake.set()

    def begin(self) -> None:
        """Have the system tell of changes, and look at everything once that it does."""
        now = self._clock.monotonic()
        self._turned = self._clock.now()
        self._supervise_at = now + SUPERVISE_SECONDS
        self._reconcile_at = now + RECONCILE_SECONDS
        self._poll_at = now + POLL_SECONDS
        self._open_eyes()
        self._request(None)

    def turn(self) -> None:
        """Do whatever is due; called again and again."""
        now = self._clock.monotonic()
        self._take_events(now)
        self._take_reports(now)
        if paths := self._debounce.take(now):
            self._request(None if "" in paths else paths)
        slept = (self._clock.now() - self._turned).total_seconds() > SLEPT_SECONDS
        self._turned = self._clock.now()
        if slept:
            self._request(None)
        if now >= self._supervise_at or slept or self._lost:
            self._supervise_at = now + SUPERVISE_SECONDS
            self._supervise()
        if now >= self._reconcile_at:
            self._reconcile(now)
        elif self._state.mode == "polling" and now >= self._poll_at:
            self._request(None)
            self._poll_at = now + POLL_SECONDS

    def seconds_to_wait(self) -> float:
        """How long nothing will be due if nothing happens."""
        due = [self._supervise_at, self._reconcile_at]
        if self._state.mode == "polling":
            due.append(self._poll_at)
        if (burst := self._debounce.due_at()) is not None:
            due.append(burst)
        return max(0.0, min(due) - self._clock.monotonic())

    def _run(self) -> None:
        self._safely(self.begin)
        while not self._stopping.is_set():
            if self._wake.wait(self.seconds_to_wait()):
                self._wake.clear()
            self._safely(self.turn)
        self._close_eyes()

    def _safely(self, step: Callable[[], None]) -> None:
        """The thread outlives whatever goes wrong in it; what was missed then is looked for."""
        try:
            step()
        except Exception:
            log.exception("watching the vault failed; looking at all of it")
            self._stopping.wait(1.0)  # never a busy loop
            self._request(None)

    def _on_event(self, path: str, is_folder: bool) -> None:
        self._heard.append((path, is_folder))
        self._wake.set()

    def _on_lost(self) -> None:
        self._lost = True
        self._wake.set()

    def _take_events(self, now: float) -> None:
        while self._heard:
            path, is_folder = self._heard.popleft()
            noticed = self._noticed(path, is_folder)
            if noticed is None:
                continue
            self._heard_at = now
            self._debounce.add(noticed, now)
            if is_folder:
                self._watch_too(path)
        if self._heard_at == now:
            self._say(last_event_at=rfc3339(self._clock.now()))

    def _noticed(self, path: str, is_folder: bool) -> str | None:
        """What an event at a path is about; "" is the whole vault, None is nothing of ours."""
        if path in self._debounce:
            return path
        if path in (APP_JSON, IGNORE_FILE):  # what was left out just now is served no longer
            return ""
        if self._own is not None and f"{path}/".startswith(f"{self._own}/"):
            return None
        folder, _, name = path.rpartition("/")
        if name.startswith(".") and name.endswith(PLACEHOLDER):
            note = name[1 : -len(PLACEHOLDER)]
            return self._noticed(f"{folder}/{note}" if folder else note, is_folder=False)
        excluded = self._vault.excluded_folder_by if is_folder else self._vault.excluded_by
        return path if excluded(path) is None else None

    def _watch_too(self, folder: str) -> None:
        if self._observer is not None:
            try:
                self._observer.add(folder)
            except (OSError, VaultError) as error:
                self._poll_because(error)

    def _open_eyes(self) -> None:
        self._lost = False
        self._rules = rules_stamp(self._vault.root)
        self._git = gitdates.stamp(self._vault.root)
        observer = self._observe(self._vault, self._on_event, self._on_lost)
        self._observer = observer
        try:
            observer.start()
        except Exception as error:  # noqa: BLE001 -- each system and version refuses in its own way
            self._poll_because(error)
        else:
            self._say(mode="watching", reason=None)

    def _close_eyes(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()

    def _poll_because(self, error: Exception) -> None:
        self._close_eyes()
        number = getattr(error, "errno", None)
        if number in LIMITS:
            log.warning(
                "the system's limit %s is reached: looking at the vault every %d seconds instead; "
                "raise it with sysctl",
                LIMITS[number],
                POLL_SECONDS,
            )
            self._poll("inotify_limit")
        else:
            log.warning("changes cannot be watched (%s): looking at the vault instead", error)
            self._poll("unavailable")

    def _poll(self, reason: Literal["inotify_limit", "no_events", "unavailable"]) -> None:
        self._say(mode="polling", reason=reason)
        self._poll_at = self._clock.monotonic() + POLL_SECONDS

    def _supervise(self) -> None:
        """Have eyes that are open, and open for what the rules let in."""
        dead = self._observer is not None and not self._observer.is_alive()
        if dead or self._lost:
            log.warning("events of the vault were lost: watching it anew")
            self._say(restarts=self._state.restarts + 1)
        elif self._rules == rules_stamp(self._vault.root):
            if self._git_has_moved():
                self._request(None)
            return
        was = self._state
        self._close_eyes()
        self._open_eyes()
        if was.reason == "no_events":
            self._poll("no_events")
        self._request(None)

    def _git_has_moved(self) -> bool:
        """Whether commits were made or taken: git moves HEAD last, after all of its events."""
        before, self._git = self._git, gitdates.stamp(self._vault.root)
        unreadable = self._git is not None and len(self._git) == 1
        return before != self._git and not unreadable

    def _reconcile(self, now: float) -> None:
        self._reconcile_at = now + RECONCILE_SECONDS
        self._poll_at = now + POLL_SECONDS
        if self._observer is None:
            self._open_eyes()  # the limit may have been raised
            self._checked_at = None
        elif self._state.mode == "watching":
            self._checked_at = now
            for path in self._vault.unlisted:
                self._watch_too(path)
        self._request(None)

    def _take_reports(self, now: float) -> None:
        while self._reports:
            report = self._reports.popleft()
            if report is None:
                self._failures += 1
                later = min(RECONCILE_SECONDS, POLL_SECONDS * 2 ** min(self._failures - 1, 10))
                self._reconcile_at = min(self._reconcile_at, now + later)
                self._checked_at = None
                continue
            if self._failures and self._observer is None:
                self._reconcile_at = now  # a drive that was away is back, and can be watched
            self._failures = 0
            if self._vault.silent:  # a drive that does not answer may do so in a moment
                self._reconcile_at = min(self._reconcile_at, now + POLL_SECONDS)
            checked, self._checked_at = self._checked_at, None
            if checked is not None and _found(report) and self._heard_at < checked - POLL_SECONDS:
                self._miss(now)

    def _miss(self, now: float) -> None:
        """A look found what an event should have told."""
        self._missed = [at for at in self._missed if now - at < _MISSES_SECONDS] + [now]
        if len(self._missed) >= _MISSES:
            log.warning("this drive tells nothing of changes: looking at the vault instead")
            self._poll("no_events")

    def _say(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]


def _inside(root: Path, own: Path | None) -> str | None:
    if own is None or not own.is_relative_to(root):
        return None
    return own.relative_to(root).as_posix()


def _found(report: SyncReport) -> bool:
    unread = len({problem.path for problem in report.problems if problem.code in _UNREAD})
    return report.added + report.changed + report.moved + report.removed > unread
