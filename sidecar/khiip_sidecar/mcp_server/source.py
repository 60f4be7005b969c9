"""Who answers for a vault: its running sidecar, else the index itself, opened for reading.

Either may come or go while an agent's session lasts for days, so this is asked before each call.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from khiip_indexer.config import Settings
from khiip_indexer.errors import KhiipError, VaultError
from khiip_sidecar.client import (
    Backend,
    RemoteError,
    SidecarClient,
    SidecarUnreachableError,
    find_sidecar,
    read_sidecar_file,
)

T = TypeVar("T")
Opener = Callable[[Settings], AbstractContextManager[Backend]]
# Answers of a sidecar after which another look may help: a new key, or the end of the service.
TRY_AGAIN = ("unauthorized", "stopping", "forbidden_host")


class Source(Protocol):
    """Whoever can be asked; `call` may block, and may be called from many threads."""

    def call(self, ask: Callable[[Backend], T]) -> T: ...


class FixedSource:
    """Always the same backend: the operations of the process that serves."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def call(self, ask: Callable[[Backend], T]) -> T:
        """Ask it."""
        return ask(self._backend)


class VaultSource:
    """The sidecar of one vault when it runs, else its index; `open_index` opens that.

    `load` gives the settings of the vault that is named, or else is around a folder (None: the
    folder of the process). Until it can, every call raises what it raises. `named` says that the
    user chose the vault, so that no client may.
    """

    def __init__(
        self, load: Callable[[Path | None], Settings], open_index: Opener, *, named: bool
    ) -> None:
        self._load = load
        self._open = open_index
        self._named = named
        self._settings: Settings | None = None
        self._lock = threading.Lock()
        self._local: _Local | None = None
        self._remote: SidecarClient | None = None

    @property
    def takes_roots(self) -> bool:
        """Whether the client's roots may still choose the vault."""
        return not self._named and self._settings is None

    def offer(self, roots: Iterable[Path]) -> None:
        """Take the first vault at or above one of the client's roots."""
        for root in roots:
            with contextlib.suppress(VaultError), self._lock:
                self._settings = self._settings or self._load(root)

    def call(self, ask: Callable[[Backend], T]) -> T:
        """Ask whoever answers now; another look when the sidecar has gone in between."""
        try:
            with self._backend() as backend:
                return ask(backend)
        except SidecarUnreachableError:
            self._forget()
        except RemoteError as error:
            if error.code not in TRY_AGAIN:
                raise
            self._forget()
        with self._backend() as backend:
            return ask(backend)

    def close(self) -> None:
        """Let go of the index."""
        with self._lock:
            self._drop_local()

    @contextmanager
    def _backend(self) -> Iterator[Backend]:
        with self._lock:
            settings = self._settings = self._settings or self._load(None)
            remote = self._remote = self._sidecar(settings)
            if remote is None:
                local = self._opened(settings)
            else:
                self._drop_local()
        if remote is not None:
            yield remote
            return
        try:
            yield local.backend
        finally:
            with self._lock:
                local.leave()

    def _sidecar(self, settings: Settings) -> SidecarClient | None:
        """The known one while its file is as it was; else whoever answers there now."""
        said = read_sidecar_file(settings.state)
        if said is None:
            return None
        if self._remote is not None and self._remote.sidecar == said:
            return self._remote
        return find_sidecar(settings)

    def _opened(self, settings: Settings) -> _Local:
        mark = _mark(settings)
        if self._local is not None and self._local.mark != mark:
            self._drop_local()  # the folder was deleted and made anew
        if self._local is None:
            self._local = _Local(self._open(settings), mark)
        self._local.users += 1
        return self._local

    def _drop_local(self) -> None:
        if self._local is not None:
            self._local.retire()
            self._local = None

    def _forget(self) -> None:
        with self._lock:
            self._remote = None


class _Local:
    """An open index with whoever uses it; closed when it is retired and nobody does."""

    def __init__(self, opening: AbstractContextManager[Backend], mark: object) -> None:
        self._stack = ExitStack()
        self.backend = self._stack.enter_context(opening)
        self.mark = mark
        self.users = 0
        self._retired = False

    def leave(self) -> None:
        """One user less."""
        self.users -= 1
        self._close_if_done()

    def retire(self) -> None:
        """No new users."""
        self._retired = True
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._retired and self.users == 0:
            with contextlib.suppress(KhiipError):  # it is let go of; a fault helps nobody
                self._stack.close()


def _mark(settings: Settings) -> object:
    from khiip_indexer.storage.database import DATABASE_FILE

    try:
        seen = (settings.state / DATABASE_FILE).stat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
