"""The system's events of a vault, by way of watchdog.

On Linux every folder needs a watch of its own, and they are scarce: one for each folder that may
hold notes and one for Obsidian's settings, which say what is no note; all read by one thread.
watchdog's own observer would watch the whole tree (`.git` and `node_modules` too), or take a
thread for each folder. On other systems one recursive watch costs the same whatever is below it,
and what is not wanted is left out later.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from khiip_indexer.disk.ignore import APP_JSON
from khiip_indexer.disk.path_text import encode_path
from khiip_indexer.vault import Vault

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver
    from watchdog.observers.inotify_c import CallbackId, InotifyEvent, InotifyFD, WatchDescriptor

log = logging.getLogger(__name__)

# A vault-relative path, and whether it is (or was) a folder.
Heard = Callable[[str, bool], None]
Lost = Callable[[], None]
LIMITS = {
    errno.ENOSPC: "fs.inotify.max_user_watches",
    errno.EMFILE: "fs.inotify.max_user_instances",
}
_STOP_SECONDS = 2.0
_SETTINGS = APP_JSON.rpartition("/")[0]
_READS = ("opened", "closed_no_write")


class Observer(Protocol):
    """Tells of changes from a thread of its own, until that dies."""

    def start(self) -> None:
        """Begin; raises OSError, with an errno of `LIMITS` where there are no watches left."""

    def add(self, folder: str) -> None:
        """Take in a folder that has appeared, and those in it; raises OSError like `start`."""

    def is_alive(self) -> bool:
        """Whether events may still come."""

    def stop(self) -> None:
        """End; never raises."""


def make_observer(vault: Vault, heard: Heard, lost: Lost) -> Observer:
    """The observer for this system; `lost` is called when events were lost."""
    if sys.platform == "linux":
        return FolderObserver(vault, heard, lost)
    return TreeObserver(vault, heard, lost)


class FolderObserver:
    """One inotify watch for each folder that may hold notes."""

    def __init__(self, vault: Vault, heard: Heard, lost: Lost) -> None:
        self._vault = vault
        self._heard = heard
        self._lost = lost
        self._guard = threading.Lock()
        self._kernel: InotifyFD | None = None
        # A watch belongs to a folder, not to its path: over symlinks one may have several.
        self._paths: dict[WatchDescriptor, set[str]] = {}
        self._watches: dict[str, WatchDescriptor] = {}
        self._ids: dict[WatchDescriptor, CallbackId] = {}
        self._last_id = 0

    @property
    def folders(self) -> set[str]:
        """The folders of notes that are watched."""
        with self._guard:
            return set(self._watches) - {_SETTINGS}

    def start(self) -> None:
        from watchdog.observers.inotify_c import InotifyFD

        self._kernel = InotifyFD()
        self._kernel.start()
        self._watch(_SETTINGS)
        self.add("")

    def add(self, folder: str) -> None:
        tried: set[str] = set()
        # A folder made while its parent was listed was not listed; from the second listing on,
        # every parent is watched and tells.
        while new := [each for each in self._vault.folders(folder) if self._is_new(each, tried)]:
            for each in new:
                tried.add(each)
                self._watch(each)

    def is_alive(self) -> bool:
        return self._kernel is not None and self._kernel.is_alive()

    def stop(self) -> None:
        if self._kernel is not None:
            self._kernel.stop()
            self._kernel.join(_STOP_SECONDS)

    def _is_new(self, folder: str, tried: set[str]) -> bool:
        return folder not in tried and folder not in self._watches

    def _watch(self, folder: str) -> None:
        from watchdog.observers.inotify_c import CallbackId, InotifyConstants, Mask

        mask = Mask(
            InotifyConstants.IN_MODIFY | InotifyConstants.IN_ATTRIB
            | InotifyConstants.IN_CLOSE_WRITE | InotifyConstants.IN_MOVE
            | InotifyConstants.IN_CREATE | InotifyConstants.IN_DELETE
            | InotifyConstants.IN_DELETE_SELF | InotifyConstants.IN_MOVE_SELF
            | InotifyConstants.IN_ONLYDIR | InotifyConstants.IN_EXCL_UNLINK
        )  # fmt: skip
        kernel = self._kernel
        if kernel is None:
            return
        with self._guard:
            self._last_id += 1
            name = CallbackId(self._last_id)
            disk = os.fsencode(self._vault.disk_path(folder))
            try:
                watch = kernel.add_callback(disk, mask, self, name)
            except OSError as error:
                if error.errno in LIMITS:
                    raise
                return  # gone again, or no folder any more
            if watch == -1:  # may not be read: the scan lists it as a problem
                kernel.remove_callbacks([(watch, name)])
                return
            if (before := self._ids.get(watch)) is not None:
                kernel.remove_callbacks([(watch, before)])
            self._ids[watch] = name
            self._name(watch, folder)

    def _name(self, watch: WatchDescriptor, folder: str) -> None:
        """Give a watch one more path, and take those away that lead elsewhere by now."""
        disk = self._vault.disk_path
        known = self._paths.setdefault(watch, set())
        for other in [each for each in known if not _same_folder(disk(each), disk(folder))]:
            known.discard(other)
            self._watches.pop(other, None)
        known.add(folder)
        self._watches[folder] = watch

    def _forget(self, folder: str, *, moved: bool) -> None:
        """Stop watching a folder that is gone from its path, and all that was in it.

        One that was deleted was empty by then; looking for folders in it would make deleting
        many of them quadratic.
        """
        with self._guard:
            gone = [folder] if folder in self._watches else []
            if moved:
                gone += [path for path in self._watches if path.startswith(f"{folder}/")]
            for path in gone:
                watch = self._watches.pop(path)
                paths = self._paths[watch]
                paths.discard(path)
                if not paths and self._kernel is not None:
                    del self._paths[watch]
                    self._kernel.remove_callbacks([(watch, self._ids.pop(watch))])

    def on_event(self, event: InotifyEvent) -> None:
        """Called by watchdog's thread, which an exception would end."""
        try:
            self._take(event)
        except Exception:
            log.exception("an event of the vault could not be taken in")
            self._lost()

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Called when a watched folder is gone."""
        with self._guard:
            self._ids.pop(wd, None)
            for path in self._paths.pop(wd, ()):
                if self._watches.get(path) == wd:
                    del self._watches[path]

    def on_queue_overflow(self) -> None:
        """Called when the system dropped events."""
        self._lost()

    def _take(self, event: InotifyEvent) -> None:
        with self._guard:
            folders = tuple(self._paths.get(event.wd, ()))
        for folder in folders:
            if not event.name:
                if not folder and (event.is_delete_self or event.is_move_self):
                    self._lost()  # the vault itself is not where it was
                continue
            name = encode_path(os.fsdecode(event.name))
            path = f"{folder}/{name}" if folder else name
            if folder == _SETTINGS and path != APP_JSON:
                continue
            if event.is_delete or event.is_moved_from:
                is_folder = event.is_directory or path in self._watches
                if is_folder:
                    self._forget(path, moved=event.is_moved_from)
            else:
                is_folder = event.is_directory or self._links_to_folder(path)
            self._heard(path, is_folder)

    def _links_to_folder(self, path: str) -> bool:
        disk = self._vault.disk_path(path)
        return os.path.islink(disk) and os.path.isdir(disk)  # noqa: PTH112, PTH114


class TreeObserver:
    """One recursive watch, where the system has such."""

    def __init__(self, vault: Vault, heard: Heard, lost: Lost) -> None:
        self._roots = tuple({str(vault.root), os.path.realpath(vault.root)})
        self._heard = heard
        self._lost = lost
        self._observer: BaseObserver | None = None

    def start(self) -> None:
        from watchdog.observers import Observer as SystemObserver

        self._observer = SystemObserver()
        self._observer.schedule(_handler(self._take_safely), self._roots[0], recursive=True)
        self._observer.start()

    def add(self, folder: str) -> None:
        """Nothing is to be done: the watch is recursive."""

    def is_alive(self) -> bool:
        observer = self._observer
        return (
            observer is not None
            and observer.is_alive()
            and all(emitter.is_alive() for emitter in observer.emitters)
        )

    def stop(self) -> None:
        if self._observer is not None and self._observer.ident is not None:
            self._observer.stop()
            self._observer.join(_STOP_SECONDS)

    def _take_safely(self, event: FileSystemEvent) -> None:
        try:
            self._take(event)
        except Exception:
            log.exception("an event of the vault could not be taken in")
            self._lost()

    def _take(self, event: FileSystemEvent) -> None:
        kind = event.event_type
        if kind in _READS or (event.is_directory and kind == "modified"):
            return
        for place in (event.src_path, event.dest_path):
            path = self._relative(os.fsdecode(place)) if place else None
            if path == "" and kind in ("deleted", "moved"):
                self._lost()
            elif path:
                # Where a folder is gone, some systems cannot tell that it was one.
                self._heard(path, event.is_directory or kind in ("deleted", "moved"))

    def _relative(self, disk: str) -> str | None:
        for root in self._roots:
            if disk == root:
                return ""
            base = root.rstrip(os.sep) + os.sep
            if disk.startswith(base):
                return encode_path(disk[len(base) :].replace(os.sep, "/"))
        return None


def _handler(take: Callable[[FileSystemEvent], None]) -> FileSystemEventHandler:
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def dispatch(self, event: FileSystemEvent) -> None:
            take(event)

    return Handler()


def _same_folder(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:
        return False
