"""What is known of an index, in lines for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from khiip_indexer.config import Settings
from khiip_sidecar.cli.output import Paint, counted, plain
from khiip_sidecar.client import SidecarFile

State = Mapping[str, Any]
PHASES = {
    "scan": "looking at the vault",
    "read": "reading notes",
    "first_vectors": "embedding notes",
    "passages": "embedding passages",
    "save": "saving",
    "done": "finishing",
}
WHY_NOT = {
    "pending": "waiting",
    "failed": "given up (see their problems)",
    "offline": "not on this disk",
    "unreadable": "unreadable",
}


@dataclass(frozen=True, slots=True)
class Look:
    """What /health and /api/v1/index answered, and who did; nobody else when `sidecar` is None."""

    health: State
    state: State
    sidecar: SidecarFile | None = None


def status_lines(settings: Settings, look: Look, paint: Paint) -> list[str]:
    """A label and a sentence a line."""
    index, serving = look.health["index"], "not running"
    if look.sidecar is not None:
        serving = f"running on port {look.sidecar.port}, pid {look.sidecar.pid}"
    facts = {
        "vault": plain(str(settings.vault)),
        "sidecar": serving,
        "state": _state(look, paint),
        "at": plain(look.state["path"] or ""),
        "coverage": coverage(look.state),
        "index": f"{counted(index['vectors'], 'vector')}, generation {index['generation']}",
        "changes": _changes(look),
        "last run": index["last_reconcile"] or "never",
        "problems": f"{index['problems']:,}" if index["problems"] else "none",
    }
    return [f"{paint(f'{label:<9}', dim=True)} {fact}" for label, fact in facts.items() if fact]


def coverage(state: State) -> str:
    """`423 of 501 notes searchable by meaning; 70 waiting, 8 unreadable`."""
    known = state.get("coverage") or state["counts"]
    notes = counted(known["notes"], "note")
    said = f"{known['searchable_by_meaning']:,} of {notes} searchable by meaning"
    if _by_words_alone(known):
        said = f"{known['searchable_by_text']:,} of {notes} searchable by words alone (no embedder)"
    reasons = [f"{known[key]:,} {why}" for key, why in WHY_NOT.items() if known.get(key)]
    return f"{said}; {', '.join(reasons)}" if reasons else said


def _by_words_alone(known: State) -> bool:
    """Whether notes have no vectors, and none is waited for."""
    vectors = [known.get(key) for key in ("searchable_by_meaning", "pending", "failed")]
    return bool(known.get("searchable_by_text")) and not any(vectors)


def work(state: State) -> str:
    """`indexing: embedding notes, 120 of 1,200, 35/s, 31 s left`, or the state alone."""
    phase = state["phase"]
    said = [PHASES.get(phase) or phase.replace("_", " ")] if phase else []
    if state["total"] and phase not in ("scan", "done"):
        said.append(f"{state['done']:,} of {state['total']:,}")
        if state["rate"]:
            said.append(
                f"{state['rate']:,.0f}/s" if state["rate"] >= 2 else f"{state['rate']:.1f}/s"
            )
        if state["seconds_left"]:
            said.append(f"{_duration(state['seconds_left'])} left")
    return f"{state['state']}: {', '.join(said)}" if said else str(state["state"])


def _duration(seconds: float) -> str:
    """`31 s`, `4 min`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _state(look: Look, paint: Paint) -> str:
    said = work(look.state)
    if look.health["status"] == "ok":
        return said
    return paint(f"{said}; degraded: {plain(look.health.get('reason') or '')}", fg="yellow")


def _changes(look: Look) -> str:
    """How a running sidecar notices that notes change; empty when nobody does."""
    index = look.health["index"]
    if look.sidecar is None or not index.get("watcher") or index["watcher"] == "off":
        return ""
    if index["watcher"] == "watching":
        return "noticed at once"
    return f"looked for now and then ({plain(str(index.get('reason')))})"
