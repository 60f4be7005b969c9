"""`khiipd recall`: search, file history, and what the notes are about."""

from __future__ import annotations

import re
import sys
from typing import Any

import click

from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.behind import say_behind
from khiip_sidecar.cli.memory_rows import show_history, show_overview
from khiip_sidecar.cli.options import Given, params_of, wire_options
from khiip_sidecar.cli.output import say, write_json
from khiip_sidecar.cli.rows import show_captures
from khiip_sidecar.wire.params import RECALL

# No argument of a process can hold it, so it marks words that only look like options.
_WORD = "\0"
_DASHED_WORD = re.compile(r"-(?:[^\W\d_][^-].*|[^-\w].*|[\d_].*)", re.DOTALL)


class QueryCommand(click.Command):
    """Takes `-quick` for a word of the query; `-q` and `--quick` stay mistyped options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        wants_value = {
            name
            for each in self.params
            if isinstance(each, click.Option) and not each.is_flag
            for name in each.opts
        }
        marked, before = [], ""
        for number, arg in enumerate(args):
            if arg == "--":
                marked += args[number:]
                break
            is_word = before not in wants_value and _DASHED_WORD.fullmatch(arg)
            marked.append(_WORD + arg if is_word else arg)
            before = arg
        return super().parse_args(ctx, marked)


@click.command("recall", cls=QueryCommand)
@click.argument("query", nargs=-1)
@wire_options(RECALL, leave_out=("query",))
@click.option("--json", "as_json", is_flag=True, help="Print the answer as the REST service does.")
@pass_app
def command(app: App, /, query: tuple[str, ...], as_json: bool, **given: Given) -> None:
    """Find notes by meaning, by words or by both.

    QUERY is free text in your own words; it need not share a word with the note. Operators in it
    are filters: tag:, path:, file:, source:, folder:, author:, since:, [property:value],
    "exact words", and any of them behind a -; put all of it into single quotes, for the shell
    takes double ones away. The score comes first: by meaning the cosine of
    question and note, where 1 is the same text and 0 has nothing to do with it.

    With --path, the history of the notes whose path holds it. With nothing at all, what your
    notes are about, the most active first.

    \b
    Examples:
      khiipd recall how did people keep accounts with knots
      khiipd recall "sleep and memory" --source youtube --since 2024 --limit 5
      khiipd recall --match hybrid --rank composite what did we decide about the index
      khiipd recall 'tag:#physics -folder:archive "dark matter"'
      khiipd recall --path Projects/Khiip
      khiipd recall "who wrote about tides" --json | jq '.results[].vault_path'
    """
    words = " ".join(word.removeprefix(_WORD) for word in query) if query else None
    params = params_of({"query": words, **given})
    if not as_json and sys.stdout.isatty():
        params.setdefault("passages", ["true"])
    settings = app.settings()
    with app.backend(settings) as backend:
        answer = backend.recall(params)
    if answer.get("stale"):
        say_behind(settings)
    if as_json:
        write_json(answer)
        return
    if answer.get("entities") == []:
        narrowed = answer["total"] or {"kind", "min_memories"} & params.keys()
        say("nothing found" if narrowed else "no note is about anybody or anything yet")
        return
    _show(answer, params["view"][0])


def _show(answer: dict[str, Any], view: str) -> None:
    if "entities" in answer:
        show_overview(answer)
        return
    if "paths_matched" in answer:
        show_history(answer)
        show_captures(answer.get("related_memories", []), view)
        return
    show_captures(answer["results"], view)
    _say_rest(answer)


def _say_rest(answer: dict[str, Any]) -> None:
    if not answer["results"]:
        say("nothing found")
    if answer["degraded"]:
        say(f"degraded: {answer['degraded']}")
