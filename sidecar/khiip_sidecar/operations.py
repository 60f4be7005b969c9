"""Every operation once: parameters as texts in, the data that REST sends out.

HTTP routes and the command line both call these, so that no two faces can differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from khiip_indexer import __version__
from khiip_indexer.errors import UsageError
from khiip_indexer.records import STRUCTURED_SCHEMA_VERSION, CaptureRecord
from khiip_indexer.storage.database import DATABASE_FILE
from khiip_sidecar.recall import RecallService
from khiip_sidecar.results import RecalledHit, RecallRequest, RecallResult
from khiip_sidecar.wire import hits as wire_hits
from khiip_sidecar.wire import params as wire_params
from khiip_sidecar.wire import views as wire_views
from khiip_sidecar.wire.encode import Json
from khiip_sidecar.wire.filters import check_mode, filters_of, is_filtered
from khiip_sidecar.wire.operators import expand
from khiip_sidecar.wire.parse import Given, parse

Values = Mapping[str, Any]
# There is a count of them too; whoever wants more asks khiipd status.
MOST_PROBLEMS = 1_000
# So many captures are asked for in one go where they are sent with their payloads.
PAGE = 100
INDEX_OPTIONS = ("full", "accept_deletions")


class Operations:
    """The wire's verbs over one service; `address` is where the service listens, or would."""

    def __init__(
        self,
        service: RecallService,
        *,
        address: tuple[str, int] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._service = service
        self._now = now
        settings = service.settings
        self._address = address or (settings.host, settings.port)

    def recall(self, params: Given, *, read: bool = True) -> Json:
        """Search, file history or entity overview, by what is given.

        What the query says in operators counts as parameters. `read` is false where nobody gets
        to see the hits, so that none of them counts as read.
        """
        said = dict(self._parsed(wire_params.RECALL, expand(params, self._now())))
        said["mark_accessed"] = said["mark_accessed"] and read
        check_mode(said)
        if said["path"] is not None:
            return self._history(said)
        if wants_overview(said):
            return self._overview(said)
        return self._searched(said)

    def _searched(self, said: Values) -> Json:
        return self._answer(self._service.recall(request_of(said)), said)

    def _history(self, said: Values) -> Json:
        from khiip_sidecar.wire.history_view import history_view

        archived = bool(said["include_archived"])
        history = history_view(self._service.history(said["path"], include_archived=archived))
        if said["query"] is None and not is_filtered(said):
            return history
        return history | {"related_memories": self._searched(said)["results"]}

    def _overview(self, said: Values) -> Json:
        from khiip_sidecar.overview import OverviewRequest
        from khiip_sidecar.wire.overview_view import overview_view

        return overview_view(
            self._service.overview(
                OverviewRequest(
                    kind=said["kind"],
                    min_memories=said["min_memories"] or 1,
                    limit=said["limit"],
                    offset=said["offset"],
                    filters=filters_of(said),
                )
            )
        )

    def related(self, params: Given) -> Json:
        """Captures near a given one."""
        said = self._parsed(wire_params.RELATED, params)
        result = self._service.related(
            capture_id=said["id"],
            path=said["path"],
            filters=filters_of(said),
            limit=said["limit"],
            offset=said["offset"],
        )
        return self._answer(result, said)

    def captures(self, params: Given) -> list[Json]:
        """Captures, newest first; `stale` where a note has changed since it was indexed."""
        said = self._parsed(wire_params.CAPTURES, params)
        found = self._service.captures(filters_of(said), limit=said["limit"], offset=said["offset"])
        chars, records = said["excerpt_chars"], [record for record, _ in found]
        lean = (wire_views.lean_row(each, chars) for each in records)
        rows = lean if said["view"] == "lean" else iter(self._full(records))
        return [_marked(row, stale) for row, (_, stale) in zip(rows, found, strict=True)]

    def capture(self, capture_id: str) -> Json:
        """One full capture; `stale` when its note has changed since it was indexed."""
        record = self._service.capture(capture_id)
        changed = self._service.index.freshness(record) == "changed"
        return _marked(next(self._full([record])), stale=changed)

    def refetch(self, capture_id: str, params: Given) -> Json:
        """Read one note again; the full capture."""
        said = self._parsed(wire_params.REFETCH, params)
        return next(self._full([self._service.refetch(capture_id, said["dimension"])]))

    def access(self, capture_id: str) -> None:
        """Record that a capture was read; NotFound when there is none."""
        self._service.index.record_access([self._service.capture(capture_id).id])

    def health(self) -> Json:
        return wire_views.health_view(
            self._service.health(),
            version=__version__,
            schema=STRUCTURED_SCHEMA_VERSION,
            db_path=self._database_path(),
        )

    def meta(self) -> Json:
        return wire_views.meta_view(
            self._service.settings,
            self._address,
            self._embedder(),
            __version__,
            STRUCTURED_SCHEMA_VERSION,
        )

    def _embedder(self) -> Json:
        service = self._service
        return wire_views.embedder_view(service.embedder.identity, *service.index.coming())

    def index_state(self) -> Json:
        return wire_views.index_view(
            self._service.work(),
            self._service.counts(),
            self._service.index.problems(limit=MOST_PROBLEMS),
        )

    def progress(self) -> Json:
        """The index state without what may be long, its last report and the problems: it is sent
        often.
        """
        state = wire_views.index_view(self._service.work(), self._service.counts(), ())
        del state["last_report"], state["problems"]
        return state

    def start_index(self, body: object) -> Json:
        """Have the vault read again in the background; `body` may set `full` and
        `accept_deletions`. Gives the state just after.
        """
        options = _index_options(body)
        self._service.start_index(**options)
        return self.index_state()

    def _parsed(self, table: tuple[wire_params.Parameter, ...], params: Given) -> Values:
        return parse(table, params, self._now())

    def _full(self, records: Sequence[CaptureRecord]) -> Iterator[Json]:
        """Full captures, made one by one of what the cache is asked for a page at a time."""
        for start in range(0, len(records), PAGE):
            yield from self._full_page(records[start : start + PAGE])

    def _full_page(self, records: Sequence[CaptureRecord]) -> Iterator[Json]:
        service = self._service
        payloads = service.index.payloads(records)
        problems = service.index.problems_of(records)
        importances = service.memory.importances(records)
        for record, importance in zip(records, importances, strict=True):
            found = problems.get(record.vault_path, ())
            payload = payloads.get(record.row, "")
            yield wire_views.full_capture(record, payload, found, importance)

    def _answer(self, result: RecallResult, said: Values) -> Json:
        """The hits within the budget; they count as read where the request knows of that."""
        rows = self._rows(result.hits, said)
        kept, tokens, cut = wire_views.within_budget(rows, said.get("max_tokens"))
        if said.get("mark_accessed"):
            self._service.mark_accessed(result.hits[: len(kept)])
        return wire_views.search_envelope(result, kept, tokens=tokens, out_of_tokens=cut)

    def _rows(self, hits: Sequence[RecalledHit], said: Values) -> Iterator[Json]:
        if said["view"] != "full":
            return (wire_hits.lean_hit(hit, said["excerpt_chars"]) for hit in hits)
        captures = self._full([hit.record for hit in hits])
        return map(wire_hits.full_hit, captures, hits)

    def _database_path(self) -> str:
        """Relative to the vault; the name alone when the index is kept elsewhere."""
        settings = self._service.settings
        path = settings.state / DATABASE_FILE
        if path.is_relative_to(settings.vault):
            return path.relative_to(settings.vault).as_posix()
        return DATABASE_FILE


def _marked(view: Json, stale: bool) -> Json:
    return {**view, "stale": True} if stale else view


def request_of(said: Values) -> RecallRequest:
    """The search that parsed parameters ask for."""
    return RecallRequest(
        query=said["query"],
        filters=filters_of(said),
        limit=said["limit"],
        offset=said["offset"],
        min_score=said["min_score"],
        match=said["match"],
        rank=said["rank"],
        syntax=said["match_syntax"],
        explain=said["explain"],
        passages=said["passages"],
    )


def wants_overview(said: Values) -> bool:
    """Whether nothing is looked for, or entities are named by what only they have."""
    if said["query"] is not None:
        return False
    return said["kind"] is not None or said["min_memories"] is not None or not is_filtered(said)


def _index_options(body: object) -> dict[str, bool]:
    if not isinstance(body, Mapping):
        raise UsageError("The body must be a JSON object.", hint='For example {"full": true}.')
    options = dict.fromkeys(INDEX_OPTIONS, False)
    for name, value in body.items():
        if name not in options or not isinstance(value, bool):
            raise UsageError(
                "The body may hold `full` and `accept_deletions`, each true or false.",
                hint='For example {"full": true}.',
            )
        options[name] = value
    return options
