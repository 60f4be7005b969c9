"""`khiipd embedder`: which model gives notes their meaning, and changing it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any

import click

from khiip_indexer.config import Settings, reread_embedder
from khiip_indexer.disk import glance
from khiip_indexer.embedding import remembered
from khiip_indexer.embedding.choice import SERVED, EmbedderChoice
from khiip_indexer.embedding.factory import make
from khiip_indexer.embedding.keys import key_of
from khiip_indexer.errors import UsageError, VaultLocked
from khiip_indexer.homes import CONFIG_FILE
from khiip_indexer.storage.atomic import not_writable
from khiip_indexer.storage.database import DATABASE_FILE
from khiip_sidecar.cli import embedder_facts as facts
from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import counted, plain, say, write, write_json

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
EXIT_PROBLEMS = 3
_SCORES = {
    "own": "a title and its own note",
    "strangers": "a title and another note",
    "neighbours": "a note and the nearest one",
}


@click.group("embedder")
def command() -> None:
    """Choose the model that gives notes their meaning.

    `minilm` comes with the installation, `none` finds notes by their words alone. Others are
    described in config.toml: [embedders.NAME] with `kind` onnx, ollama or openai.

    \b
    Examples:
      khiipd embedder list
      khiipd embedder test multilingual
      khiipd embedder use multilingual
    """


@command.command("list")
@JSON_OPTION
@pass_app
def list_(app: App, /, *, as_json: bool) -> None:
    """List the embedders that can be used; the one in use has a star."""
    settings = app.settings()
    rows = [facts.row(settings, choice) for choice in settings.embedders.values()]
    if as_json:
        write_json(rows)
        return
    for row in rows:
        where = f"at {row['host']}" if row["host"] else "on this machine"
        star = "*" if row["in_use"] else " "
        write(plain(f"{star} {row['name']:<14} {row['kind']:<7} {row['model']}, {where}"))


@command.command("test")
@click.argument("name", required=False)
@JSON_OPTION
@pass_app
def test(app: App, /, *, name: str | None, as_json: bool) -> None:
    """Embed a few sentences; print dimension, speed and how near three pairs are.

    The sentences are ours: nothing of the vault is read or sent. The first pair should score
    highest and the last lowest.
    """
    settings = app.settings()
    choice = facts.find_choice(settings, name)
    if choice.is_remote:
        key_of(choice)  # without it nothing is sent
        say(f"sending four sentences, none of yours, to {plain(choice.host)}")
    found = facts.trial(settings, choice)
    if as_json:
        write_json(found)
        return
    speed = f"{found['texts_per_second']:g} texts a second"
    write(plain(f"{found['name']}: {found['dimension']} dimensions, {speed}"))
    for pair in found["pairs"]:
        write(f"{pair['score']:>6.3f}  {pair['query']}  |  {pair['passage']}")
    if choice.dimension is None and choice.kind in SERVED:
        file = settings.homes.config / CONFIG_FILE
        say(plain(f"to use it, add `dimension = {found['dimension']}` to its table in {file}"))


@command.command("status")
@JSON_OPTION
@pass_app
def status(app: App, /, *, as_json: bool) -> None:
    """Tell which model's vectors answer, which are being made, and which are kept."""
    from khiip_indexer.index import VaultIndex

    settings = app.settings()
    with VaultIndex.open(settings) as index:
        state = facts.state(index, settings)
    if as_json:
        write_json(state)
        return
    for line in _status_lines(state):
        write(plain(line))


def _status_lines(state: dict[str, Any]) -> list[str]:
    now = state["embedder"]
    lines = [f"chosen    {state['chosen']}"]
    if now:
        lines.append(f"answers   {now['model']}, {now['dimension']} dimensions")
        if coming := now["coming"]:
            lines.append(
                f"coming    {coming['model']}, {coming['done']} of {coming['total']} texts"
            )
    kept = ((facts.plainly(each["model"]), each["vectors"]) for each in state["kept"])
    return lines + [f"kept      {model}: {counted(count, 'vector')}" for model, count in kept]


@command.command("use")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Agree to the notes being sent; nobody is asked.")
@click.option("--prune", is_flag=True, help="Then drop the vectors of every other model.")
@pass_app
def use(app: App, /, *, name: str, yes: bool, prune: bool) -> int:
    """Use another embedder for this vault, and embed the notes with it.

    The vectors of the former one answer until the new ones are whole. It may be interrupted: the
    next reindex goes on. Going back within 30 days embeds nothing again.

    Exit codes: 0 done; 1 failed; 2 not agreed to; 3 done, and some notes have problems.
    """
    settings = app.settings()
    if prune:
        _refuse_beside_a_sidecar(settings)
    choice = facts.find_choice(settings, name)
    if choice.is_remote and choice.address not in settings.agreed:
        _ask(settings, choice, yes=yes)
    _check_loadable(settings, choice)
    _check_writable(settings)
    remembered.change(settings.homes.config, settings.vault, lambda known: _using(known, choice))
    (settings.state / glance.SEEN_FILE).unlink(missing_ok=True)
    return _switch(reread_embedder(settings), prune=prune)


def _using(known: remembered.Remembered, choice: EmbedderChoice) -> remembered.Remembered:
    """This embedder chosen and, where its server is not this machine, agreed to."""
    agreed = known.agreed | {choice.address} if choice.is_remote else known.agreed
    return replace(known, use=choice.name, agreed=agreed)


def _refuse_beside_a_sidecar(settings: Settings) -> None:
    """Before anything is settled: what cannot be done whole is not begun."""
    from khiip_sidecar.client import find_sidecar

    if find_sidecar(settings) is not None:
        raise VaultLocked(
            "The sidecar holds the vault, so nothing can be pruned now.",
            hint="Stop it, and say it again.",
        )


def _check_loadable(settings: Settings, choice: EmbedderChoice) -> None:
    """What cannot be had is not chosen: the notes would be left without any."""
    embedder = make(settings, choice, agreed=True)
    identity = embedder.identity
    if choice.kind == "onnx":
        embedder.embed([identity.name])  # a file that is damaged shows when it is run
    say(f"{choice.name}: {plain(identity.name)}, {identity.dimension} dimensions")


def _check_writable(settings: Settings) -> None:
    """A switch that cannot begin is not chosen; a sidecar may write what this process may not."""
    from khiip_sidecar.client import find_sidecar

    state = settings.state
    if state.exists() and not os.access(state, os.W_OK) and find_sidecar(settings) is None:
        raise not_writable(state / DATABASE_FILE)


def _ask(settings: Settings, choice: EmbedderChoice, *, yes: bool) -> None:
    from khiip_indexer.index import VaultIndex

    with VaultIndex.open(settings) as index:
        bill = facts.bill(index, choice)
    cost = "what it costs is not known: no `price` is set"
    if bill["cost"] is not None:
        cost = f"at your price that is {bill['cost']:g}"
    say(
        f"The text of {counted(bill['notes'], 'note')} would be sent to {plain(choice.host)}, "
        f"about {bill['tokens']:,} tokens; {cost}. Every search would send its question too."
    )
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "Nobody is there to agree to that; nothing was sent.",
            hint=f"If that is what you want: khiipd embedder use {choice.name} --yes.",
            code="consent_needed",
        )
    if not click.confirm("Send them?", default=False, err=True):
        raise UsageError("Nothing was sent, nothing was changed.", code="consent_needed")


def _switch(settings: Settings, *, prune: bool) -> int:
    """By the running sidecar, which answers meanwhile, or right here."""
    from khiip_sidecar.cli import reindex
    from khiip_sidecar.cli.follow import reindex_by_sidecar
    from khiip_sidecar.cli.progress import reporter
    from khiip_sidecar.client import find_sidecar

    sidecar = find_sidecar(settings)
    with reporter() as progress:
        if sidecar is not None:
            report = reindex_by_sidecar(sidecar, progress)
        else:
            report = reindex.reindex_here(settings, progress)
    say(reindex.summary(report))
    if prune:
        _prune(settings)
    return EXIT_PROBLEMS if report.with_problems or report.failed else 0


def _prune(settings: Settings) -> None:
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.storage.coming import drop_others
    from khiip_indexer.storage.pruning import reclaim

    with VaultIndex.open(settings, write=True) as index:
        model, (coming, _) = index.model(), index.coming()
        if model is None or coming is not None:
            say("nothing is pruned before the new vectors are whole")
            return
        with index.database.write() as connection:
            dropped = drop_others(connection, model.key)
        reclaim(index.database)
    say(f"{counted(dropped, 'vector')} of other models dropped")


@command.command("calibrate")
@click.option("--keep", is_flag=True, help="Mark hits below the proposed score as weak.")
@JSON_OPTION
@pass_app
def calibrate(app: App, /, *, keep: bool, as_json: bool) -> None:
    """Find out what scores mean under the model in use, and propose a floor.

    Titles of notes are asked of their own notes and of others, and notes are held against the
    nearest other one. With --keep the floor is kept for this model and this vault.
    """
    from khiip_indexer.embedding.factory import open_lineup
    from khiip_indexer.index import VaultIndex
    from khiip_sidecar.cli.embedder_calibrate import calibrate as measure
    from khiip_sidecar.cli.embedder_calibrate import share

    settings = app.settings()
    with VaultIndex.open(settings) as index:
        embedder = open_lineup(settings).serving(index.model())
        found, identity = measure(index, embedder), embedder.identity
    figures = {
        name: {str(part): round(share(scores, part), 3) for part in (0.05, 0.5, 0.95)}
        for name, scores in (
            ("own", found.own),
            ("strangers", found.strangers),
            ("neighbours", found.neighbours),
        )
    }
    if keep:
        remembered.change(
            settings.homes.config,
            settings.vault,
            lambda known: replace(known, floors={**known.floors, identity.key: found.floor}),
        )
    if as_json:
        write_json({"model": identity.name, **figures, "min_score": found.floor, "kept": keep})
        return
    for name, label in _SCORES.items():
        low, middle, high = figures[name].values()
        write(f"{label:<26}  {low:6.3f}  {middle:6.3f}  {high:6.3f}  (5 %, half, 95 %)")
    write(f"{'proposed min_score':<26}  {found.floor:6.2f}{'  kept' if keep else ''}")
