"""What `khiipd doctor` looks at: each check says what it found and what to do about it."""

from __future__ import annotations

import os
import socket
import sqlite3
import stat
import sys
from dataclasses import dataclass
from typing import Literal

from khiip_indexer import native
from khiip_indexer.config import Settings
from khiip_indexer.errors import KhiipError, ModelError
from khiip_indexer.storage.atomic import place_taken
from khiip_indexer.storage.database import DATABASE_FILE
from khiip_sidecar.auth import key_path, read_key
from khiip_sidecar.client import SidecarClient, find_sidecar, read_sidecar_file

Verdict = Literal["ok", "warn", "fail"]
NATIVE_PARTS = ("hnswlib", "onnxruntime", "tokenizers", "numpy")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's report; `hint` says what to do when the verdict is not ok."""

    name: str
    verdict: Verdict
    found: str
    hint: str | None = None


def check_python() -> Check:
    """Which Python this is; one that is too old could not have come this far."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check("python", "ok", f"{version}, {sys.executable}")


def check_sqlite() -> Check:
    """Full-text search needs FTS5 and its trigram tokenizer (SQLite 3.34)."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='trigram')")
    except sqlite3.Error as error:
        hint = "Use a Python whose SQLite has FTS5 and is 3.34 or newer."
        return Check("sqlite", "fail", f"{sqlite3.sqlite_version}: {error}", hint)
    finally:
        connection.close()
    return Check("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")


def check_native(name: str) -> Check:
    """A native part must be loadable; on the wrong CPU it would end this process by a signal."""
    fault = native.trial(name)
    if fault is None:
        return Check(name, "ok", "can be loaded")
    if fault.kind == "signal":
        return Check(name, "fail", f"{fault.found}: reinstall with {fault.remedy}")
    return Check(name, "fail", fault.found, f"Reinstall it: {fault.remedy}")


def check_vault(settings: Settings) -> Check:
    """The vault's folder must be readable, and the index's folder writable."""
    where = str(settings.vault)
    if not os.access(settings.vault, os.R_OK | os.X_OK):
        return Check("vault", "fail", f"{where} cannot be read", "Give yourself read access to it.")
    if (error := place_taken(settings.state / DATABASE_FILE)) is not None:
        return Check("vault", "fail", error.sentence, error.hint)
    home = settings.state if settings.state.exists() else settings.state.parent
    if not os.access(home, os.W_OK | os.X_OK):
        found = f"{where} is readable; {home} is not writable"
        return Check("vault", "fail", found, "Give write access, or name a folder by --state-dir.")
    return Check("vault", "ok", where)


def check_index(settings: Settings) -> Check:
    """The index must be there and sound."""
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.sync import verify

    try:
        index = VaultIndex.open(settings)
    except KhiipError as error:
        missing = error.exit_code == 4
        return Check("index", "warn" if missing else "fail", error.sentence, error.hint)
    try:
        notes = index.counts().notes
        if index.is_being_made():
            return Check("index", "ok", f"{notes:,} notes so far, being indexed now")
        problems = verify(index)
    except KhiipError as error:
        return Check("index", "fail", error.sentence, error.hint)
    finally:
        index.close()
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        found = f"{problems[0].path}: {problems[0].reason}{more}"
        return Check("index", "fail", found, problems[0].hint or "Run khiipd reindex --full.")
    return Check("index", "ok", f"{notes:,} notes, sound")


def check_key(settings: Settings) -> Check:
    """The key file must be private; asking for the key would repair it, so only look."""
    path = key_path(settings.homes)
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return Check("key", "ok", "not made yet; khiipd auth show makes it")
    except OSError as error:
        return Check("key", "fail", f"{path}: {error.strerror}", "Give yourself access to it.")
    if mode & 0o077 and os.name != "nt":
        return Check("key", "fail", f"{path} has mode {mode:04o}", f"Run chmod 600 {path}")
    try:
        read_key(settings.homes)
    except KhiipError as error:
        return Check("key", "fail", error.sentence, error.hint)
    return Check("key", "ok", f"{path}, mode {mode:04o}")


def check_sidecar(settings: Settings) -> tuple[Check, SidecarClient | None]:
    """Whether this vault is served now, and whether the server takes our key."""
    try:
        client = find_sidecar(settings)
    except KhiipError as error:
        return Check("sidecar", "fail", error.sentence, error.hint), None
    if client is not None:
        where = client.sidecar
        return Check("sidecar", "ok", f"running on port {where.port}, pid {where.pid}"), client
    if read_sidecar_file(settings.state) is not None:
        return Check("sidecar", "ok", "not running; the last one ended without a goodbye"), None
    return Check("sidecar", "ok", "not running; commands read the index themselves"), None


def check_port(settings: Settings, client: SidecarClient | None) -> Check:
    """The port must be free, or ours."""
    address = f"{settings.host}:{settings.port}"
    if client is not None and client.sidecar.port == settings.port:
        return Check("port", "ok", f"{address} is this vault's sidecar")
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if os.name != "nt":  # there the option lets two listeners share a port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            hint = "Stop what uses it, or give another one: khiipd serve --port N."
            return Check("port", "warn", f"{address}: {error.strerror}", hint)
    return Check("port", "ok", f"{address} is free")


def check_model(settings: Settings) -> Check:
    """The model must be there, whole, and give a vector."""
    from khiip_indexer.embedding.factory import open_embedder

    if settings.embedder.kind == "none":
        return Check("model", "ok", "none: notes are found by their words")
    if settings.embedder.is_remote:
        found = f"{settings.embedder.name}, at {settings.embedder.host}: not asked now"
        return Check("model", "ok", f"{found}; khiipd embedder test does")
    try:
        embedder = open_embedder(settings)
        embedder.embed(["one line"])
    except (KhiipError, RuntimeError) as fault:
        error = fault if isinstance(fault, KhiipError) else ModelError(str(fault))
        return Check("model", "fail", error.sentence, error.hint)
    identity = embedder.identity
    return Check("model", "ok", f"{identity.name}, {identity.dimension} dimensions")
