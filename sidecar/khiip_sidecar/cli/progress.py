"""Shows how far a sync is: a bar on a terminal, a line for each phase elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from khiip_indexer.records import Phase, Progress
from khiip_sidecar.cli.output import counted, plain, say

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

WORK: dict[Phase, tuple[str, str]] = {
    "read": ("reading", "note"),
    "first_vectors": ("embedding notes", "note"),
    "passages": ("embedding passages", "passage"),
}


class Reporter(Protocol):
    """Takes every step of a sync; steps come often, so it must be quick."""

    def __call__(self, progress: Progress) -> None: ...


@contextmanager
def reporter() -> Iterator[Reporter]:
    """A bar when stderr is a terminal, gone when the block ends; else plain lines."""
    if not sys.stderr.isatty():
        yield PlainReporter()
        return
    bar = BarReporter()
    try:
        yield bar
    finally:
        bar.stop()


class PlainReporter:
    """One line when a phase with work begins, for logs and git hooks."""

    def __init__(self) -> None:
        self._phase: Phase | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.phase == self._phase or progress.phase not in WORK or not progress.total:
            return
        self._phase = progress.phase
        verb, noun = WORK[progress.phase]
        say(f"{verb}: {counted(progress.total, noun)}")


class BarReporter:
    """A bar with notes or passages done, the rate and the time left.

    Drawn when a phase has work, so that a run without any neither flickers nor loads rich. Each
    phase has its own bar: its rate says nothing of the phase before.
    """

    def __init__(self) -> None:
        self._phase: Phase | None = None
        self._bar: RichProgress | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.phase not in WORK or not progress.total:
            return
        if self._bar is None or progress.phase != self._phase:
            self.stop()
            self._phase = progress.phase
            self._bar = _start_bar(progress)
        task = self._bar.tasks[0]
        self._bar.update(
            task.id,
            completed=progress.done,
            total=progress.total,
            path=plain(progress.path or ""),
            rate=f"{task.speed:,.0f}/s" if task.speed else "",
        )

    def stop(self) -> None:
        """Take the bar off the screen."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _start_bar(progress: Progress) -> RichProgress:
    bar = _make_bar()
    verb, noun = WORK[progress.phase]
    bar.add_task(verb, total=progress.total, noun=f"{noun}s", path="", rate="")
    bar.start()
    return bar


def _make_bar() -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[noun]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn(
            "{task.fields[path]}",
            markup=False,
            table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
        ),
        console=Console(stderr=True),
        transient=True,
        expand=True,
        refresh_per_second=5,
    )


@contextmanager
def repainted() -> Iterator[Callable[[Sequence[str]], None]]:
    """Lines on the terminal that each call replaces; the last ones stay."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(), auto_refresh=False, vertical_overflow="crop") as live:

        def repaint(lines: Sequence[str]) -> None:
            text = Text.from_ansi("\n".join(lines), no_wrap=True, overflow="ellipsis")
            live.update(text, refresh=True)

        yield repaint
