"""What a server's refusal means, in sentences; pure.

Nothing of a body is quoted: servers repeat keys and texts in their errors.
"""

from __future__ import annotations

from collections.abc import Sequence

from khiip_indexer.embedding import speech
from khiip_indexer.embedding.addresses import target
from khiip_indexer.embedding.choice import EmbedderChoice
from khiip_indexer.embedding.exchange import Answer
from khiip_indexer.errors import ModelError

_NO_ENTRY = frozenset({401, 402, 403})
_NOT_HERE = frozenset({404, 405, 410, 501})
# Not for this text alone: another one would be refused as well.
_NEVER = frozenset({407, 411, 415, 426, 505, 511})
# Some answer a wrong key with 400, as if the request were malformed.
_ABOUT_THE_KEY = (
    "api key not valid",
    "api_key_invalid",
    "api key expired",
    "invalid api key",
    "invalid_api_key",
    "incorrect api key",
)


def final(choice: EmbedderChoice, answer: Answer, texts: Sequence[str]) -> ModelError | None:
    """The fault that no other text would change; None where it may be about these texts."""
    status = answer.status
    if status in _NO_ENTRY or (status == 400 and _is_about_the_key(answer.body, texts)):
        return _refused(choice, status)
    if status in _NOT_HERE:
        return _gone(choice, status)
    if 300 <= status < 400:
        return _sent_on(choice, answer.location)
    if status in _NEVER:
        return failed(choice, f"it answered {status}")
    return None


def _is_about_the_key(body: bytes, texts: Sequence[str]) -> bool:
    """A note may itself be about keys, and be repeated by the server."""
    said = body[:4096].decode("utf-8", "replace").lower()
    sent = "\n".join(texts).lower()
    return any(phrase in said and phrase not in sent for phrase in _ABOUT_THE_KEY)


def _refused(choice: EmbedderChoice, status: int) -> ModelError:
    if not (choice.key_env or choice.keyring):
        return ModelError(
            f"{choice.host} lets nobody in without a key ({status}).",
            hint=f"Name a variable that holds one in `key_env` of {choice.name}.",
            code="embedder_refused",
        )
    return ModelError(
        f"{choice.host} refused the key of the embedder {choice.name} ({status}).",
        hint="Is it the right one, and is the account in order?",
        code="embedder_refused",
    )


def _gone(choice: EmbedderChoice, status: int) -> ModelError:
    asked = f"{speech.address(choice)} was asked{speech.wants_version(choice)}."
    return ModelError(
        f"{choice.host} has no model {choice.model}, or is no server of this kind ({status}).",
        hint=f"Is the name right, and is the model still there? {asked}",
        code="embedder_gone",
    )


def _sent_on(choice: EmbedderChoice, location: str | None) -> ModelError:
    there = target(speech.address(choice), location)
    return ModelError(
        f"{choice.host} sends whoever asks on to {there}, and redirections are not followed.",
        hint="If texts may go there, name it in `url`.",
        code="embedder_failed",
    )


def failed(choice: EmbedderChoice, fault: str) -> ModelError:
    """The server takes no text at all."""
    return ModelError(
        f"{choice.host} takes no text: {fault}.",
        hint=f"khiipd embedder test {choice.name} tries it with a few sentences.",
        code="embedder_failed",
    )


def unreachable(choice: EmbedderChoice, fault: str) -> ModelError:
    """The server does not answer, or not now."""
    return ModelError(
        f"The embedder {choice.name} at {choice.host} cannot be asked: {fault}.",
        hint="Is it running, and is there a network? What was embedded is kept.",
        code="embedder_unreachable",
    )


def passing(answer: Answer) -> str:
    """What is wrong just now, as the end of a sentence."""
    why = ", too many requests or a quota that is used up" if answer.status == 429 else ""
    said = f"it answered {answer.status}{why}"
    wait = speech.asked_for(answer.retry_after)
    return f"{said}, and asks to come back in {speech.in_words(wait)}" if wait >= 1 else said


def not_agreed(choice: EmbedderChoice) -> ModelError:
    """Nobody said that texts may go there."""
    return ModelError(
        f"The embedder {choice.name} would send the notes' texts to {choice.host}; "
        "nothing was sent.",
        hint=f"If that is what you want: khiipd embedder use {choice.name}.",
        code="consent_needed",
    )
