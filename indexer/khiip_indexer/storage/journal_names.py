"""Which edits of the journal tell of a note, whatever it was called at the time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from khiip_indexer.storage.journal import Edit

_EVER = 1 << 62


class Names:
    """Paths, each with the span of time in which it was the note's name.

    `edits` are in the order of time; a path that `wanted` accepts counts at all times.
    """

    def __init__(self, edits: Sequence[Edit], wanted: Callable[[str], bool]) -> None:
        self._spans: dict[str, tuple[int, int]] = {}
        for path in {path for edit in edits for path in _paths(edit)}:
            if wanted(path):
                self._spans[path] = (-_EVER, _EVER)
        renames = [edit for edit in edits if edit.operation == "renamed" and edit.from_path]
        for edit in reversed(renames):
            if self._at(edit.path, edit.at):
                self._widen(str(edit.from_path), -_EVER, edit.at)
        for edit in renames:
            if self._at(str(edit.from_path), edit.at):
                self._widen(edit.path, edit.at, _EVER)

    def hold(self, edit: Edit) -> bool:
        """Whether an edit is the note's."""
        return self._at(edit.path, edit.at)

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def _at(self, path: str, at: int) -> bool:
        since, until = self._spans.get(path, (_EVER, -_EVER))
        return since <= at <= until

    def _widen(self, path: str, since: int, until: int) -> None:
        known = self._spans.get(path, (since, until))
        self._spans[path] = (min(since, known[0]), max(until, known[1]))


def _paths(edit: Edit) -> tuple[str, ...]:
    return (edit.path, edit.from_path) if edit.from_path else (edit.path,)
