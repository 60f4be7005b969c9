"""Where the key of a served embedder comes from; it is handed on and never kept in a file."""

from __future__ import annotations

from importlib import import_module

from khiip_indexer.embedding.choice import EmbedderChoice
from khiip_indexer.errors import ModelError


def key_of(choice: EmbedderChoice) -> str | None:
    """The key, from the environment or the system's keyring; None where none is named.

    Raises ModelError (no_key) when one is named and not there.
    """
    from khiip_indexer.config import secret

    if not (choice.key_env or choice.keyring):
        return None
    found = secret(choice.key_env) or (_from_keyring(choice) if choice.keyring else None)
    if not found:
        where = f"${choice.key_env}" if choice.key_env else f"the keyring, under {choice.keyring}"
        raise ModelError(
            f"The embedder {choice.name} has no key: it is looked for in {where}.",
            hint=f"Set it, or run keyring set {choice.keyring or 'SERVICE'} {choice.name}.",
            code="no_key",
        )
    if not found.isascii() or not found.isprintable():
        raise ModelError(f"The key of the embedder {choice.name} is none.", code="no_key")
    return found.strip()


def _from_keyring(choice: EmbedderChoice) -> str | None:
    try:
        # Asked for by name: an extra that few need, and that brings a good deal with it.
        keyring = import_module("keyring")
    except ImportError as error:
        raise ModelError(
            "The library keyring is not installed.",
            hint="Install khiip[keyring], or name a variable in `key_env`.",
            code="no_key",
        ) from error
    try:
        found = keyring.get_password(choice.keyring, choice.name)
    except Exception as error:
        raise ModelError(
            f"The system's keyring cannot be read: {type(error).__name__}.", code="no_key"
        ) from error
    return str(found) if found else None
