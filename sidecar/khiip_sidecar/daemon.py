"""The composition root of `serve`: opens everything, runs it, closes everything."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from khiip_indexer import __version__
from khiip_indexer.config import Homes, Settings, reread_embedder
from khiip_indexer.embedder import Embedder
from khiip_indexer.embedding.factory import open_lineup
from khiip_indexer.embedding.lineup import Answering, Lineup, is_served
from khiip_indexer.embedding.nothing import is_none
from khiip_indexer.errors import KhiipError, PortInUse, UsageError
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import SyncReport
from khiip_indexer.storage.atomic import write_file
from khiip_indexer.sync import Syncer
from khiip_indexer.watcher import Watcher
from khiip_sidecar.auth import key_path, load_or_make_key
from khiip_sidecar.client import SIDECAR_FILE, read_sidecar_file
from khiip_sidecar.footprint import share_arenas
from khiip_sidecar.http.app import make_app
from khiip_sidecar.http.security import Access
from khiip_sidecar.http.server import Server
from khiip_sidecar.idle import IdleExit
from khiip_sidecar.mcp_server.endpoint import McpEndpoint
from khiip_sidecar.operations import Operations
from khiip_sidecar.recall import RecallService, Tuning
from khiip_sidecar.worker import IndexWorker

log = logging.getLogger(__name__)

STOP_INDEXING_SECONDS = 1.0
STOP_WATCHING_SECONDS = 0.5

Address = tuple[str, int]


def serve(  # noqa: PLR0913 - what a caller may settle
    settings: Settings,
    host: str | None = None,
    port: int | None = None,
    *,
    embedder: Embedder | None = None,
    on_ready: Callable[[Daemon], None] | None = None,
    idle_exit: float | None = None,
) -> int:
    """Serve one vault until a signal or `Daemon.stop`; gives the process's exit code.

    Raises PortInUse or VaultLocked before anything is changed. `on_ready` is called once requests
    are taken. `idle_exit` is how many seconds without a request end it as well.
    """
    share_arenas()
    with contextlib.ExitStack() as stack:
        name = host or settings.host
        listener = stack.enter_context(_listen(settings, name, port))
        index = stack.enter_context(VaultIndex.open(settings, write=True, role="serve"))
        lineup = Lineup(embedder) if embedder else open_lineup(settings, reread_embedder)
        daemon = Daemon(index, lineup, listener, name, idle_exit)
        stack.enter_context(_stopping_on_signals(daemon))
        daemon.run(on_ready)
    return 0


class Daemon:
    """One vault being served: the index, the thread that keeps it current, the HTTP server."""

    def __init__(
        self,
        index: VaultIndex,
        lineup: Lineup,
        listener: socket.socket,
        name: str,
        idle_exit: float | None = None,
    ) -> None:
        self.index = index
        self._listener = listener
        self.address: Address = listener.getsockname()[:2]
        embedder = Answering(lineup, index.model)
        self._worker = IndexWorker(
            Syncer(index, lineup),
            lambda: self._warm(embedder),
            reconciled=self._reconciled,
        )
        self._watcher = Watcher(index.vault, self._worker.notice, own=index.settings.state)
        service = RecallService(
            index,
            embedder,
            worker=self._worker,
            watching=self._watcher.state,
            tuning=Tuning(marks_soon=True),
        )
        self._key = CurrentKey(index.settings.homes)
        access = Access((name, self.address[0]), self._key)
        operations = Operations(service, address=self.address)
        app = make_app(operations, access, McpEndpoint(operations))
        self._idle = IdleExit(app, idle_exit, self._worker.waits, self.stop) if idle_exit else None
        self._server = Server(self._idle or app)

    def _warm(self, embedder: Embedder) -> None:
        self.index.take_up()  # else what is warmed would be an index that nobody has any more
        warm(self.index, embedder)

    def _reconciled(self, report: SyncReport | None) -> None:
        self._watcher.reconciled(report)

    @property
    def url(self) -> str:
        return url_of(self.address)

    def run(self, on_ready: Callable[[Daemon], None] | None = None) -> None:
        """Serve until stopped; the thread's work ends at its next step and keeps what it did."""
        self._key()  # a key that cannot be had must stop the start, not the first request
        self._server.when_started = lambda: on_ready(self) if on_ready else None
        self.index.missing = self._worker.look_after_index
        self.index.renewed = lambda: _announce(self.index, self.url)
        with _announced(self.index, self.url):
            self._worker.start()
            self._watcher.start()
            if self._idle:
                self._idle.start()
            try:
                self._server.run([self._listener])
            finally:
                self._watcher.stop(STOP_WATCHING_SECONDS)
                if not self._worker.stop(STOP_INDEXING_SECONDS):
                    log.warning("indexing did not stop in time; it goes on at the next start")

    def stop(self) -> None:
        """Have `run` return soon; safe from a signal handler and from any thread."""
        self._server.should_exit = True


def warm(index: VaultIndex, embedder: Embedder) -> None:
    """Load the model, and the graph of the vectors that it made."""
    if is_none(embedder.identity.key):
        return
    if not is_served(embedder):  # what runs elsewhere is warm or cold without us
        embedder.embed(["warm"])
    if index.model() == embedder.identity:
        index.graphs.load(embedder.identity)


class CurrentKey:
    """The key as the file holds it now, so that a rotated key counts without a restart."""

    def __init__(self, homes: Homes) -> None:
        self._homes = homes
        self._known: tuple[tuple[int, int, int] | None, str] = (None, "")

    def __call__(self) -> str:
        mark = _mark(key_path(self._homes))
        if mark is None or mark != self._known[0]:
            key = load_or_make_key(self._homes)
            self._known = (_mark(key_path(self._homes)), key)
        return self._known[1]


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        seen = path.stat()
    except FileNotFoundError:
        return None
    return seen.st_mtime_ns, seen.st_ino, seen.st_size


def _listen(settings: Settings, host: str, port: int | None) -> socket.socket:
    number = settings.port if port is None else port
    try:
        return bind(host, number)
    except PortInUse as error:
        known = read_sidecar_file(settings.state)
        if known is not None and known.port == number:
            error.hint = (
                f"This vault's own sidecar (pid {known.pid}) may be there already: "
                "khiipd status tells."
            )
        raise


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on the address; the system picks the port when it is 0."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[
            0
        ]
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(
            f"{host} is not an address of this machine.", hint="Give --host 127.0.0.1."
        ) from error
    # asyncio turns off the wait for full packets only where the protocol is named; with the
    # default of 0 every answer on a kept connection comes 40 ms late.
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            # Without it a restart would wait for connections that have long been closed.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise _cannot_listen(host, port, error) from error
    return listener


def _cannot_listen(host: str, port: int, error: OSError) -> KhiipError:
    if error.errno == errno.EADDRINUSE:
        return PortInUse(
            f"Something else listens on {host} port {port}.",
            hint="Stop it, or give another port with --port.",
        )
    return UsageError(
        f"Cannot listen on {host} port {port}: {error.strerror}.",
        hint="Give an address of this machine with --host and a port above 1023 with --port.",
        code="cannot_listen",
    )


def url_of(address: Address) -> str:
    """Where a client on this machine reaches the address."""
    host, port = address
    parsed = ipaddress.ip_address(host)
    if parsed.is_unspecified:
        host = "127.0.0.1" if parsed.version == 4 else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextlib.contextmanager
def _announced(index: VaultIndex, url: str) -> Iterator[None]:
    """`.khiip/sidecar.json` tells other programs where to ask, for as long as there is someone."""
    _announce(index, url)
    try:
        yield
    finally:
        known = read_sidecar_file(index.settings.state)
        if known is None or known.pid == os.getpid():  # another may serve the vault by now
            (index.settings.state / SIDECAR_FILE).unlink(missing_ok=True)


def _announce(index: VaultIndex, url: str) -> None:
    said = {
        "url": url,
        "pid": os.getpid(),
        "vault_id": index.vault_id,
        "version": __version__,
    }
    write_file(index.settings.state / SIDECAR_FILE, json.dumps(said).encode() + b"\n")


@contextlib.contextmanager
def _stopping_on_signals(daemon: Daemon) -> Iterator[None]:
    """SIGTERM and SIGINT stop gracefully; a second one interrupts at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    before: dict[int, object] = {}

    def handle(number: int, frame: FrameType | None) -> None:
        daemon.stop()
        for each, handler in before.items():
            signal.signal(each, handler)  # type: ignore[arg-type]

    for number in (signal.SIGTERM, signal.SIGINT):
        before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)  # type: ignore[arg-type]
