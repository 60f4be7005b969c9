"""Errors that a person can act on: a stable code, one sentence, a hint."""

from __future__ import annotations


class KhiipError(Exception):
    """Base of every error that may reach a face.

    `code` is stable and machine-readable, `hint` says what to do next, `http_status` and
    `exit_code` are how the two kinds of face show it.
    """

    code = "internal_error"
    http_status = 500
    exit_code = 1

    def __init__(self, sentence: str, *, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint
        if code is not None:
            self.code = code


class UsageError(KhiipError):
    """The request itself is wrong: which parameter, and what is allowed."""

    code = "bad_parameter"
    http_status = 422
    exit_code = 2


class PathOutsideVault(UsageError):
    """A path sent by a client leaves the vault."""

    code = "path_outside_vault"
    http_status = 400


class ReservedFolder(UsageError):
    """A path sent by a client names a folder without notes (`.obsidian`, `.khiip`, `.git`)."""

    code = "reserved_folder"
    http_status = 400


class NotFound(KhiipError):
    """No capture, note or route has this name."""

    code = "not_found"
    http_status = 404


class Unsupported(KhiipError):
    """The request is understood, and this service cannot do it."""

    code = "not_implemented"
    http_status = 501


class Busy(KhiipError):
    """A reindex is already running."""

    code = "already_running"
    http_status = 409
    exit_code = 5


class VaultLocked(KhiipError):
    """Another process writes this vault's index."""

    code = "vault_locked"
    http_status = 503
    exit_code = 5


class PortInUse(KhiipError):
    """Something else listens on the address."""

    code = "port_in_use"
    exit_code = 6


class IndexMissing(KhiipError):
    """There is no index yet, or another model or version made it."""

    code = "index_missing"
    http_status = 503
    exit_code = 4


class ModelError(KhiipError):
    """The embedding model is missing, damaged or failed."""

    code = "model_unavailable"
    http_status = 503


class StorageError(KhiipError):
    """The index could not be read or written: disk full, no permission, damaged."""

    code = "storage_failed"
    http_status = 503


class DeletionBrake(KhiipError):
    """Most notes seem gone at once; nothing was deleted from the index."""

    code = "mass_deletion"
    http_status = 409


class VaultError(KhiipError):
    """The vault cannot be found or read."""

    code = "vault_not_found"
    http_status = 503
