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
    if not (found and found.strip()):
        raise _missing(choice)
    if not found.strip().isascii() or not found.strip().isprintable():
        raise ModelError(
            f"What is kept as the key of the embedder {choice.name} has signs that no key has.",
            hint="Was more copied than the key?",
            code="no_key",
        )
    return found.strip()


def _missing(choice: EmbedderChoice) -> ModelError:
    """Names each place that was looked at, and how to put a key there."""
    places, ways = [], []
    if choice.key_env:
        places.append(f"${choice.key_env}")
        ways.append(f"set {choice.key_env}")
    if choice.keyring:
        places.append(f"the keyring, under {choice.keyring}")
        ways.append(f"run keyring set {choice.keyring} {choice.name}")
    way = " or ".join(ways)
    return ModelError(
        f"The embedder {choice.name} has no key: it is looked for in {' and '.join(places)}.",
        hint=f"{way[0].upper()}{way[1:]}.",
        code="no_key",
    )


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
