"""Addresses of servers: what is wrong with one, and one spelling of each; pure."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urljoin, urlsplit

_USUAL_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_LONGEST_NAME = 253
# What is copied along from a manual, the longer one first: here it is put behind the address.
_ENDINGS = {
    "ollama": ("/api/embeddings", "/api/embed", "/api", "/v1/embeddings", "/v1"),
    "openai": ("/embeddings",),
}


def fault_of(url: str) -> str | None:
    """What is wrong with an address, in words that follow a name; None where nothing is.

    The address is not repeated: a key may have been written into it.
    """
    if not url.isascii() or not url.isprintable() or " " in url:
        return "has a `url` with signs that no address has; names of other letters begin with xn--"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- asking is what checks it
    except ValueError:
        return "has a `url` that is none"
    if parts.scheme not in _USUAL_PORTS or not parts.hostname:
        return "needs a `url` that begins with http:// or https://"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "has more than an address in `url`; a key goes to `key_env`"
    return None if _is_host(parts.hostname) else "has a `url` whose host can be no machine's name"


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            return bool(ip_address(host))
        except ValueError:
            return False
    labels = host.removesuffix(".").split(".")
    return len(host) <= _LONGEST_NAME and all(map(_LABEL.fullmatch, labels))


def spelled(kind: str, url: str) -> str:
    """The address in small letters, without its usual port and without what is put behind it."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    for ending in _ENDINGS[kind]:
        if path.endswith(ending):
            path = path.removesuffix(ending).rstrip("/")
            break
    return f"{_machine(parts)}{path}"


def _machine(parts: SplitResult) -> str:
    host = parts.hostname or ""
    named = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _USUAL_PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{named}{port}"


def target(asked: str, location: str | None) -> str:
    """Where a redirection leads: scheme and machine alone, since more of it may be secret."""
    try:
        parts = urlsplit(urljoin(asked, location or ""))
        usable = bool(location) and parts.scheme in _USUAL_PORTS and _is_host(parts.hostname or "")
        return _machine(parts) if usable else "another address"
    except ValueError:
        return "another address"
