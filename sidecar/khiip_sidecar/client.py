"""Asks the running sidecar of a vault the questions that its operations would answer here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from khiip_indexer.config import Settings
from khiip_indexer.errors import KhiipError
from khiip_sidecar.auth import read_key

Params = Mapping[str, Sequence[str]]
Json = Any

SIDECAR_FILE = "sidecar.json"
EXIT_INDEX = 4
# Kinds of a missing index that have a code of their own.
INDEX_CODES = ("index_of_other_model", "index_from_newer_version", "index_warming")
PROBE_SECONDS = 2.0
ANSWER_SECONDS = 60.0
# A stream says at least every 15 seconds that it is still there.
SILENCE_SECONDS = 45.0


class Backend(Protocol):
    """What a face asks: each method gives the data that REST sends for the same request."""

    def recall(self, params: Params) -> Json: ...
    def captures(self, params: Params) -> Json: ...
    def capture(self, capture_id: str) -> Json: ...
    def related(self, params: Params) -> Json: ...
    def refetch(self, capture_id: str, params: Params) -> Json: ...
    def index_state(self) -> Json: ...
    def start_index(self, body: Mapping[str, bool]) -> Json: ...
    def health(self) -> Json: ...
    def meta(self) -> Json: ...


class RemoteError(KhiipError):
    """An error that the sidecar answered, with the code, sentence and hint it sent."""


class SidecarUnreachableError(KhiipError):
    """The sidecar was there a moment ago and gave no usable answer."""

    code = "sidecar_unreachable"


@dataclass(frozen=True, slots=True)
class SidecarFile:
    """What a serving process wrote about itself; it may be gone by now."""

    host: str
    port: int
    pid: int
    vault_id: str


def read_sidecar_file(state: Path) -> SidecarFile | None:
    """The note that `serve` leaves in `.khiip`; None when there is none, or none to be trusted.

    Only loopback addresses count: the file may have been synced from another machine, and the
    key must not leave this one.
    """
    try:
        data = json.loads((state / SIDECAR_FILE).read_bytes())
        url = urlsplit(data["url"])
        found = SidecarFile(url.hostname or "", url.port or 80, data["pid"], data["vault_id"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    usable = url.scheme == "http" and is_loopback(found.host) and isinstance(found.pid, int)
    return found if usable and isinstance(found.vault_id, str) else None


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine and nothing else."""
    parts = host.split(".")
    dotted = len(parts) == 4 and parts[0] == "127" and all(part.isdecimal() for part in parts)
    return host in ("localhost", "::1") or dotted


def find_sidecar(settings: Settings) -> SidecarClient | None:
    """The sidecar that serves this vault now; None when nothing, or something else, answers.

    An answer without the right vault id and folder belongs to another vault: the port was taken
    over, or the vault was copied together with its `.khiip`.
    """
    found = read_sidecar_file(settings.state)
    if found is None:
        return None
    client = SidecarClient(found, read_key(settings.homes))
    return client if client.serves(settings.vault) else None


class SidecarClient:
    """A Backend over HTTP."""

    def __init__(self, sidecar: SidecarFile, key: str | None) -> None:
        self.sidecar = sidecar
        self._key = key

    def serves(self, vault: Path) -> bool:
        """Whether the vault at this path is the one that answers; the id is asked without a key."""
        try:
            if self.probe().get("vault_id") != self.sidecar.vault_id:
                return False
        except KhiipError:  # silence, or an error of some other program that has the port now
            return False
        served = self.meta().get("config", {}).get("vault_path")
        return isinstance(served, str) and Path(served).resolve() == vault

    def probe(self) -> dict[str, Json]:
        """`/health`, asked with little patience and without the key."""
        answer = self._ask("GET", "/health", seconds=PROBE_SECONDS, key=None)
        return answer if isinstance(answer, dict) else {}

    def recall(self, params: Params) -> Json:
        return self._get("/api/v1/recall", params)

    def captures(self, params: Params) -> Json:
        return self._get("/api/v1/captures", params)

    def capture(self, capture_id: str) -> Json:
        return self._get(f"/api/v1/captures/{_quoted(capture_id)}")

    def related(self, params: Params) -> Json:
        return self._get("/api/v1/related", params)

    def refetch(self, capture_id: str, params: Params) -> Json:
        target = _target(f"/api/v1/captures/{_quoted(capture_id)}/refetch", params)
        return self._ask("POST", target, key=self._key)

    def index_state(self) -> Json:
        return self._get("/api/v1/index")

    def index_events(self) -> Iterator[Json]:
        """The state at once and on every change, until the sidecar stops."""
        import http.client

        where = self.sidecar
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {self._key or ''}"}
        connection = http.client.HTTPConnection(where.host, where.port, timeout=SILENCE_SECONDS)
        try:
            connection.request("GET", "/api/v1/index/events", headers=headers)
            response = connection.getresponse()
            if response.status != 200:
                self._read_answer(response.status, response.read())
            yield from read_events(response)
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(where, error) from error
        finally:
            connection.close()

    def start_index(self, body: Mapping[str, bool]) -> Json:
        return self._ask("POST", "/api/v1/index", body=dict(body), key=self._key)

    def health(self) -> Json:
        return self._ask("GET", "/health", key=None)

    def meta(self) -> Json:
        return self._get("/api/v1/meta")

    def _get(self, path: str, params: Params | None = None) -> Json:
        return self._ask("GET", _target(path, params or {}), key=self._key)

    def _ask(
        self,
        method: str,
        target: str,
        *,
        key: str | None,
        body: Json = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Json:
        headers = {"Accept": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        status, raw = self._exchange(method, target, data, headers, seconds)
        return self._read_answer(status, raw)

    def _exchange(
        self,
        method: str,
        target: str,
        data: bytes | None,
        headers: dict[str, str],
        seconds: float,
    ) -> tuple[int, bytes]:
        import http.client  # most calls find no sidecar, and need not load it

        where = self.sidecar
        connection = http.client.HTTPConnection(where.host, where.port, timeout=seconds)
        try:
            connection.request(method, target, body=data, headers=headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(where, error) from error
        finally:
            connection.close()

    def _read_answer(self, status: int, raw: bytes) -> Json:
        try:
            answer = json.loads(raw) if raw else None
        except (ValueError, RecursionError) as error:
            raise SidecarUnreachableError(
                f"What listens on port {self.sidecar.port} does not speak like a sidecar.",
                hint="Restart `khiipd serve`.",
            ) from error
        if status >= 400:
            raise error_from(status, answer)
        return answer


def _unreachable(where: SidecarFile, error: Exception) -> SidecarUnreachableError:
    return SidecarUnreachableError(
        f"The sidecar on port {where.port} (pid {where.pid}) does not answer: {error}.",
        hint="Run the command again, or restart `khiipd serve`.",
    )


def read_events(lines: Iterable[bytes]) -> Iterator[Json]:
    """The data of server-sent events; what is no progress, or no JSON, is passed over."""
    name = b""
    for line in lines:
        field, _, value = line.rstrip(b"\r\n").partition(b":")
        if field == b"event":
            name = value.strip()
        elif field == b"data" and name == b"progress":
            with suppress(ValueError, RecursionError):
                yield json.loads(value)
        elif not field and not value:
            name = b""


def error_from(status: int, answer: Json) -> RemoteError:
    """The error that a sidecar sent, as the exception that the same fault raises here."""
    fields = answer if isinstance(answer, dict) else {}
    sentence = fields.get("detail") or f"The sidecar answered with status {status}."
    error = RemoteError(str(sentence), hint=fields.get("hint"), code=fields.get("error"))
    error.http_status = status
    error.exit_code = _exit_code(status, error.code)
    if status == 401:
        error.hint = "The sidecar reads its key elsewhere: are KHIIP_HOME and the user the same?"
    return error


def _exit_code(status: int, code: str) -> int:
    """By the error's code where it is a known one, else by what the status says."""
    if code in INDEX_CODES:
        return EXIT_INDEX
    for family in _families(KhiipError):
        if family.code == code:
            return family.exit_code
    return 2 if status in (400, 422) else 1


def _families(base: type[KhiipError]) -> list[type[KhiipError]]:
    found: list[type[KhiipError]] = []
    for family in base.__subclasses__():
        if family is not RemoteError:
            found += [family, *_families(family)]
    return found


def _target(path: str, params: Params) -> str:
    pairs = [(name, _utf8(value)) for name, values in params.items() for value in values]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def _quoted(segment: str) -> str:
    return quote(_utf8(segment), safe="")


def _utf8(text: str) -> bytes:
    """Bytes as the shell gave them where they were no UTF-8; the service reads them leniently."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
