"""`khiipd eval`: how well recall finds what people judged to be the answer."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

from khiip_indexer.config import Settings
from khiip_indexer.errors import IndexMissing, UsageError
from khiip_sidecar.cli.app import App, local_backend
from khiip_sidecar.cli.behind import say_behind
from khiip_sidecar.cli.eval_tables import report, summary_lines, verbose_lines
from khiip_sidecar.cli.output import counted, plain, say, width_of, write, write_json
from khiip_sidecar.evaluation.collection import VAULT_FOLDER, Collection, Query, read_collection
from khiip_sidecar.evaluation.run import (
    Outcome,
    Setting,
    checked,
    choices,
    evaluate,
    setting_of,
)

LEAST_LIMIT = 10  # nDCG@10 needs that many
NAMED = 5
# What a reindex mends; an index of a newer version is not among them.
MENDED = ("index_missing", "index_warming", "index_of_other_model")
MATCH, RANK = choices("match"), choices("rank")


@dataclass(frozen=True, slots=True)
class Ask:
    """What the command line asked for."""

    settings: tuple[Setting, ...]
    limit: int
    verbose: bool
    as_json: bool


@click.command("eval")
@click.argument("collection", metavar="COLLECTION")
@click.option(
    "--match", metavar="|".join(MATCH), help=f"How hits are found.  [default: {MATCH[0]}]"
)
@click.option("--rank", metavar="|".join(RANK), help=f"How hits are ordered.  [default: {RANK[0]}]")
@click.option(
    "--compare",
    nargs=2,
    metavar="A B",
    help="Compare two settings, each a match or match/rank: semantic hybrid/composite.",
)
@click.option(
    "--limit",
    type=click.IntRange(LEAST_LIMIT, 200),
    default=50,
    metavar="N",
    help="How many hits to look at for each query.  [default: 50]",
)
@click.option("--index", "index_first", is_flag=True, help="Bring the index up to the notes first.")
@click.option("--verbose", is_flag=True, help="Every query too, the worst first.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.pass_context
def command(  # noqa: PLR0913 - an option each
    ctx: click.Context,
    /,
    *,
    collection: str,
    match: str | None,
    rank: str | None,
    compare: tuple[str, str] | None,
    limit: int,
    index_first: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Measure recall with questions whose answers are known.

    COLLECTION is a folder with queries.jsonl (a line each: {"id": "q1", "text": "…"}), qrels.tsv
    (query id, note id, grade; tabs between; from 1 on the note is an answer) and a vault whose
    notes have those ids. Without --vault it is the folder `vault` in it, where there is one.
    Nothing is recorded as read, and nothing is written but the index with --index.

    nDCG@10, recall and MRR are those of trec_eval. With --compare, p is how often chance alone
    makes a difference as large (a paired randomisation test).

    \b
    Examples:
      khiipd eval collections/cranfield --index
      khiipd --vault ~/Notes eval my-questions --verbose
      khiipd eval collections/cranfield --compare semantic hybrid/relevance
    """
    ask = Ask(_settings_asked(match, rank, compare), limit, verbose, as_json)
    folder = Path(collection)
    questions = read_collection(folder)
    said = ctx.ensure_object(App)
    app = _app_for(said, folder)
    if index_first:
        _reindex(ctx, app)
    settings = app.settings()
    _say_left_out(questions)
    with _helped(settings, _with_index(said, collection)):
        missing = _missing(settings, questions)
        outcomes = _run(settings, questions.queries, ask)
    if any(outcome.stale for outcome in outcomes):
        say_behind(settings)
    _show(questions, missing, outcomes, ask)


def _settings_asked(
    match: str | None, rank: str | None, compare: tuple[str, str] | None
) -> tuple[Setting, ...]:
    if compare is None:
        return (checked(Setting(match or MATCH[0], rank or RANK[0])),)
    if match or rank:
        raise click.UsageError("--compare names its settings itself: no --match and no --rank.")
    return setting_of(compare[0]), setting_of(compare[1])


def _app_for(app: App, folder: Path) -> App:
    """The collection's own vault where none is named, with its index in itself.

    A `state_dir` of the config file is for the vault that is named there: another vault's index
    in it would be taken for a damaged one.
    """
    vault, said = folder / VAULT_FOLDER, app.overrides
    if said.vault is not None or not vault.is_dir():
        return app
    state = said.state_dir or str(vault.resolve() / ".khiip")
    return App(replace(said, vault=str(vault), state_dir=state), app.debug)


def _reindex(ctx: click.Context, app: App) -> None:
    """What `khiipd reindex` does, said on stderr as it says it."""
    from khiip_sidecar.cli.reindex import command as reindex

    with reindex.make_context("reindex", [], parent=ctx, obj=app) as inner:
        reindex.invoke(inner)


@contextmanager
def _helped(settings: Settings, remedy: str) -> Iterator[None]:
    """Says with a missing index how to make it: the vault is not always the one of the shell."""
    try:
        yield
    except IndexMissing as error:
        if error.code not in MENDED:
            raise
        raise IndexMissing(
            f"{settings.vault}: {error.sentence}",
            hint=f"Run `{remedy}`: it brings the index up to the notes first.",
            code=error.code,
        ) from error


def _with_index(app: App, collection: str) -> str:
    named = ["--vault", app.overrides.vault] if app.overrides.vault else []
    return shlex.join(["khiipd", *named, "eval", collection, "--index"])


def _missing(settings: Settings, questions: Collection) -> list[str]:
    """Ids of answers that no capture has; what is wrong with the vault is said."""
    from khiip_indexer.index import VaultIndex

    with VaultIndex.open(settings) as index:
        pending = index.counts().pending
        missing = [note for note in questions.relevant if index.capture(note) is None]
    if len(missing) == len(questions.relevant):
        raise UsageError(
            f"{settings.vault} holds none of the relevant notes ({_few(missing)}).",
            hint="Name the vault they are in with --vault; a note's `id` is what qrels.tsv names.",
            code="bad_collection",
        )
    if missing:
        said = counted(len(missing), "relevant note")
        say(f"not in the vault, so never found: {said} ({_few(missing)})")
    if pending:
        say(f"{counted(pending, 'note')} cannot be found by meaning yet; --index mends that")
    return missing


def _run(settings: Settings, queries: Sequence[Query], ask: Ask) -> list[Outcome]:
    label = f"asking {counted(len(queries), 'query', 'queries')}"
    with (
        local_backend(settings) as backend,
        click.progressbar(queries, label=label, file=sys.stderr, show_pos=True) as asked,
    ):
        return evaluate(backend, asked, ask.settings, ask.limit)


def _say_left_out(questions: Collection) -> None:
    if questions.unjudged:
        said = counted(questions.unjudged, "query", "queries")
        say(f"left out: {said} without a relevant note")
    if questions.strangers:
        said = counted(len(questions.strangers), "judged query", "judged queries")
        say(f"left out: {said} that nobody asks ({_few(questions.strangers)})")


def _few(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return plain(", ".join(names[:NAMED])) + (f", and {rest:,} more" if rest > 0 else "")


def _show(
    questions: Collection, missing: Sequence[str], outcomes: Sequence[Outcome], ask: Ask
) -> None:
    if ask.as_json:
        data = report(outcomes, ask.settings, ask.limit, verbose=ask.verbose)
        write_json({**data, "left_out": questions.unjudged, "missing_notes": list(missing)})
        return
    if ask.verbose:
        for line in verbose_lines(outcomes, ask.settings, ask.limit, width_of(sys.stdout)):
            write(line)
        write("")
    for line in summary_lines(outcomes, ask.settings, ask.limit):
        write(line)
