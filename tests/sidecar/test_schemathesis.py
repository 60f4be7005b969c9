"""Requests made up from the description, right and wrong, to a real sidecar; all checks are on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, HookContext
from schemathesis.config import SchemathesisConfig

from houses import note
from khiip_sidecar.wire.openapi import description
from serving import Served, serving
from support import make_vault

NOTES = {
    "quipu.md": note("Knots on cords kept the accounts.", created="2026-01-03", id="knots"),
    "tide.md": note("The moon pulls the sea twice a day.", created="2026-01-02", tags="[sea]"),
    "Clippings/video.md": note("Knots.", source='"https://www.youtube.com/watch?v=abcdefghijk"'),
}
ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409", "429"]
CONFIG = SchemathesisConfig.from_dict(
    {
        "seed": 8478,
        "max-stream-events": 1,  # the stream of events has no end
        "checks": {
            # 501 is no fault: it says that what was asked is known and not served.
            "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", "501"]},
            "positive_data_acceptance": {"expected-statuses": ACCEPTED},
        },
        "operations": [
            {
                # Just one of `id` and `path` must be given, which OpenAPI has no words for.
                "include-path": "/api/v1/related",
                "checks": {"positive_data_acceptance": {"expected-statuses": [*ACCEPTED, "422"]}},
            }
        ],
    }
)
DOCUMENT = description()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT, config=CONFIG)
LISTS = {
    parameter["name"]
    for item in DOCUMENT["paths"].values()
    for operation in item.values()
    for parameter in operation["parameters"]
    if parameter["schema"].get("type") == "array"
}


@SCHEMA.hook
def filter_query(context: HookContext, query: dict[str, Any] | None) -> bool:
    """Leave out what is no longer wrong once it is sent: `folder=false` is a right list of one
    folder, and of an empty list nothing is sent.
    """
    given = query or {}
    lists = all(isinstance(value, list) for name, value in given.items() if name in LISTS)
    return lists and all(value not in ([], {}, None) for value in given.values())


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(make_vault(tmp_path_factory.mktemp("schemathesis") / "vault", NOTES)) as served:
        served.wait_until_ready()
        yield served


def test_the_description_is_valid_openapi() -> None:
    SCHEMA.validate()


@SCHEMA.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    # Patterns with a look ahead are met by trying; that is slow and no fault.
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
def test_the_service_does_what_it_describes(case: Case[Any], sidecar: Served) -> None:
    if case.query and case.query.get("match_syntax") == "fts5":
        # What a MATCH expression is, OpenAPI has no words for.
        case.query = {**case.query, "match_syntax": "free"}
    if case.query and {"query", "path"} & case.query.keys():
        # What belongs to an overview is refused beside them, which OpenAPI cannot say either.
        case.query = {k: v for k, v in case.query.items() if k not in ("kind", "min_memories")}
    case.call_and_validate(
        base_url=f"http://127.0.0.1:{sidecar.port}",
        headers={"Authorization": f"Bearer {sidecar.key}"},
        timeout=5,
    )
