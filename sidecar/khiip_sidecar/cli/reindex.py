"""`khiipd reindex`: brings the index up to the notes, by the running sidecar or right here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict

import click

from khiip_indexer.config import Settings
from khiip_indexer.disk import glance
from khiip_indexer.errors import IndexMissing, PathOutsideVault, StorageError
from khiip_indexer.formats import INDEX_FORMAT
from khiip_indexer.homes import CONFIG_FILE
from khiip_indexer.records import SyncReport
from khiip_indexer.types import Problem
from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.folding import folded_lines
from khiip_sidecar.cli.follow import reindex_by_sidecar
from khiip_sidecar.cli.output import counted, plain, problem_line, say, write, write_json
from khiip_sidecar.cli.progress import Reporter, reporter
from khiip_sidecar.client import find_sidecar

EXIT_BEHIND = 1
EXIT_DAMAGED = 1
EXIT_PROBLEMS = 3
# Notes that may be readable the next time, without anything in the vault showing it.
_TRIED_AGAIN = frozenset({"read_timeout", "note_offline", "note_unreadable"})


@click.command("reindex")
@click.option("--full", is_flag=True, help="Read every note again, also those that look unchanged.")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 when the index is behind.")
@click.option("--verify", is_flag=True, help="Change nothing; check that the index is sound.")
@click.option(
    "--accept-deletions",
    is_flag=True,
    help="Believe it when most notes are gone. Without it nothing is dropped then.",
)
@click.option(
    "--explain", metavar="PATH", help="Say which rule leaves this path out, or that none does."
)
@click.option("--threads", type=click.IntRange(1, 1024), metavar="N", help="Threads for the model.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@pass_app
def command(  # noqa: PLR0913 - an option each
    app: App,
    /,
    *,
    full: bool,
    check: bool,
    verify: bool,
    accept_deletions: bool,
    explain: str | None,
    threads: int | None,
    as_json: bool,
) -> int:
    """Bring the index up to the notes.

    Reads only what changed since the last run, needs no network and asks nothing, so that it
    fits git hooks and CI. With a running sidecar the sidecar does the work. An interrupted run
    goes on where it stopped.

    \b
    Examples:
      khiipd reindex
      khiipd reindex --check || echo "the index is behind"
      khiipd reindex --explain Private/diary.md

    Exit codes: 0 done; 1 failed, or behind with --check; 3 done, and some notes have problems.
    """
    _refuse_together(full=full, check=check, verify=verify, explain=explain is not None)
    settings = app.settings(threads=threads)
    if explain is not None:
        return _explain(settings, explain)
    if check:
        return _check(settings, as_json=as_json)
    if verify:
        return _verify(settings, as_json=as_json)
    return _reindex(settings, full=full, accept_deletions=accept_deletions, as_json=as_json)


def _refuse_together(**chosen: bool) -> None:
    names = [f"--{name}" for name, given in chosen.items() if given]
    if len(names) > 1:
        raise click.UsageError(f"{' and '.join(names)} cannot be used together.")


def _reindex(settings: Settings, *, full: bool, accept_deletions: bool, as_json: bool) -> int:
    sidecar = find_sidecar(settings)
    look = _look(settings) if sidecar is None else None
    before = _known_problems(settings)
    with reporter() as progress:
        if sidecar is not None:
            report = reindex_by_sidecar(
                sidecar, progress, full=full, accept_deletions=accept_deletions
            )
        else:
            report = reindex_here(settings, progress, full=full, accept_deletions=accept_deletions)
    for line, _ in folded_lines(worth_saying(report.problems, before, _known_problems(settings))):
        say(line)
    say(summary(report))
    if as_json:
        _write_report(report)
    code = EXIT_PROBLEMS if report.with_problems or report.failed else 0
    # A folder with a model may change without a trace in the vault, so there is always a look.
    unread = any(problem.code in _TRIED_AGAIN for problem in report.problems)
    left = report.pending or report.renamed or report.failed or unread
    settled = report.complete and not (left or settings.model_dir or settings.embedder.path)
    if sidecar is None and settled:
        said = f"{_counted_notes(report)} (nothing changed)"
        glance.remember(str(settings.state), look, _look(settings), code, said)
    return code


def _look(settings: Settings) -> glance.Look | None:
    config = str(settings.homes.config / CONFIG_FILE)
    return glance.look(str(settings.vault), str(settings.state), config, INDEX_FORMAT)


def _known_problems(settings: Settings) -> list[Problem]:
    from khiip_indexer.index import VaultIndex

    try:
        with VaultIndex.open(settings) as index:
            return index.problems()
    except (IndexMissing, StorageError):
        return []  # none, or damaged: the run itself mends that, or says what it cannot mend


def worth_saying(
    met: Sequence[Problem], before: Sequence[Problem], after: Sequence[Problem]
) -> list[Problem]:
    """What this run met in notes, then what only shows between notes and was not known before."""
    said = set(met).union(before)
    return [*met, *(problem for problem in after if problem not in said)]


def reindex_here(
    settings: Settings,
    progress: Reporter,
    *,
    full: bool = False,
    accept_deletions: bool = False,
) -> SyncReport:
    """Bring the index up to the notes in this process."""
    from khiip_indexer.embedding.factory import open_lineup
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.sync import Syncer

    lineup = open_lineup(settings)
    with VaultIndex.open(settings, write=True) as index:
        return Syncer(index, lineup).run(
            full=full, accept_deletions=accept_deletions, progress=progress
        )


def _check(settings: Settings, *, as_json: bool) -> int:
    from khiip_indexer.embedding.factory import open_embedder
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.sync import check

    embedder = open_embedder(settings)
    with VaultIndex.open(settings) as index:
        report = check(index, embedder.identity)
    if as_json:
        _write_report(report)
    if not report.behind:
        say(f"index is up to date: {counted(report.seen, 'note')}")
        return 0
    say(f"index is behind: {changes(report)}; run khiipd reindex")
    return EXIT_BEHIND


def _write_report(report: SyncReport) -> None:
    from khiip_sidecar.wire.views import report_view

    write_json(report_view(report))


def _verify(settings: Settings, *, as_json: bool) -> int:
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.sync import verify

    with VaultIndex.open(settings) as index:
        problems = verify(index)
    if as_json:
        write_json([asdict(problem) for problem in problems])
    for problem in problems:
        say(problem_line(problem))
    if problems:
        say("the index is damaged; run khiipd reindex --full")
        return EXIT_DAMAGED
    say("the index is sound")
    return 0


def _explain(settings: Settings, path: str) -> int:
    from khiip_indexer.disk.path_text import decode_path
    from khiip_indexer.vault import Vault
    from khiip_sidecar.cli.naming import candidate_paths

    vault = Vault(settings.vault, settings.exclude, settings.follow_symlinks)
    paths = candidate_paths(settings.vault, path)
    if not paths:
        raise PathOutsideVault(f"{path} is not in the vault {settings.vault}.")
    there = [each for each in paths if os.path.lexists(settings.vault / decode_path(each))]
    inside = there[0] if there else paths[0]
    rule = vault.left_out(inside)
    said = "no rule leaves it out" if rule is None else f"left out: {rule}"
    write(plain(f"{inside}: {said}{'' if there else '; it is not there now'}"))
    return 0


def summary(report: SyncReport) -> str:
    """`indexed 3 notes, 1 with unreadable frontmatter (2 new, 1 changed; 0.4 s)`."""
    said = _counted_notes(report)
    if report.failed:
        said += f", {report.failed:,} not embedded (the next run tries again)"
    if not report.complete:
        said += ", and was stopped before the end"
    return f"{said} ({_done(report)}; {report.seconds:.1f} s)"


def _counted_notes(report: SyncReport) -> str:
    said = f"indexed {counted(report.seen, 'note')}"
    if report.with_problems:
        said += f", {report.with_problems:,} with {_kind_of(report.problems)}"
    return said


def _done(report: SyncReport) -> str:
    """An interrupted run leaves vectors to make of notes that did not change since."""
    done = changes(report) or "nothing changed"
    return f"{done}, {counted(report.embedded, 'text')} embedded" if report.embedded else done


def changes(report: SyncReport) -> str:
    """`2 new, 1 changed`; empty when there is nothing to tell."""
    counts = {
        "new": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "removed": report.removed,
        "without vectors": report.pending,
        "made by another model or version": report.outdated,
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _kind_of(problems: tuple[Problem, ...]) -> str:
    only_frontmatter = problems and all("frontmatter" in problem.code for problem in problems)
    return "unreadable frontmatter" if only_frontmatter else "problems"
