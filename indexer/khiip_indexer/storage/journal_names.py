"""Which edits of the journal tell of a note, whatever it was called at the time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from khiip_indexer.storage.journal import Edit

_EVER = 1 << 62


class Names:
    """Paths, each with the span of time in which it was the note's name.

    Of `paths` those that `wanted` accepts count at all times; `renames`, oldest first, lead from
    them to the others.
    """

    def __init__(
        self, paths: Iterable[str], renames: Sequence[Edit], wanted: Callable[[str], bool]
    ) -> None:
        self._spans = {path: (-_EVER, _EVER) for path in paths if wanted(path)}
        for edit in reversed(renames):
            if edit.from_path is not None and self._at(edit.path, edit.at):
                self._widen(edit.from_path, -_EVER, edit.at)
        for edit in renames:
            if edit.from_path is not None and self._at(edit.from_path, edit.at):
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
