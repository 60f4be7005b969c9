"""The memory fields of a note: layer, altitude, type, state, importance; pure."""

from __future__ import annotations

from khiip_indexer.fields.metadata import Meta, wikilink_parts

LAYERS = ("goal", "context", "emotion", "implementation", "caveat", "learning")
ALTITUDES = ("mission", "strategy", "architecture", "implementation")
MEM_TYPES = ("question", "comparison", "decision", "work", "outcome", "learning", "note")
MEM_STATES = ("open", "decided", "in_progress", "done", "stalled", "parked", "superseded")
IMPORTANCE_WORDS = {"low": 0.2, "medium": 0.5, "high": 0.8}

_ALIASES = {
    "goal": "why goals target targets intent",
    "context": "background reason situation timing",
    "emotion": "tone feelings mood",
    "implementation": "impl how success failure tried attempts",
    "caveat": "warning warnings pain rule rules pitfall pitfalls dont",
    "learning": "decision decisions learned insight insights growth",
}
LAYER_OF: dict[str, str] = {
    **{name: name for name in LAYERS},
    **{alias: name for name, aliases in _ALIASES.items() for alias in aliases.split()},
}


def word(text: str | None) -> str:
    """Return a value as the lists spell theirs: no link, lower case, `_` for spaces and dashes."""
    plain = wikilink_parts(text or "")[0].lower()
    return "_".join(plain.replace("'", "").replace("-", " ").split())


def layer(meta: Meta) -> str | None:
    """Return the layer, aliases resolved; None for a word that is none."""
    return LAYER_OF.get(word(meta.text("layer")))


def one_of(meta: Meta, allowed: tuple[str, ...], *names: str) -> str | None:
    """Return the first of the named values that is in a list."""
    values = (word(meta.text(name)) for name in names)
    return next((value for value in values if value in allowed), None)


def importance(meta: Meta) -> float | None:
    """Return the importance as written, 0 to 1; None when nothing usable is."""
    named = IMPORTANCE_WORDS.get(word(meta.text("importance")))
    if named is not None:
        return named
    value = meta.number("importance")
    return value if value is not None and 0 <= value <= 1 else None
