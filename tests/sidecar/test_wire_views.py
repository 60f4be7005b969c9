"""Answers: names and order of fields to the letter, excerpts, token estimates."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.lexical.passages import PassageHit
from khiip_indexer.records import CaptureRecord
from khiip_indexer.types import Fingerprint, ModelIdentity, Problem
from khiip_sidecar.memory.composite import Breakdown
from khiip_sidecar.results import Explanation, RecalledHit, RecallResult
from khiip_sidecar.wire import views as wire_views
from khiip_sidecar.wire.encode import to_json
from khiip_sidecar.wire.hits import full_hit, lean_hit

LEAN = (
    "id url source title author recorded_at vault_path description excerpt excerpt_from "
    "payload_chars"
)
FULL = (
    "id url source vault_path title description author recorded_at valid_from archived "
    "superseded_by payload structured_schema_version auto_metadata user_tags archive_urls "
    "extraction_status extraction_error extraction_attempts recorded_at_from modified_at entities "
    "layer altitude mem_type mem_state thread_id importance importance_from pinned problems"
)
ENVELOPE = (
    "query embedder_model embedder_dimension results has_more stopped_by total_candidates "
    "approx_tokens offset stale degraded"
)


def record(**fields: object) -> CaptureRecord:
    known: dict[str, object] = {
        "row": 1,
        "id": "01",
        "vault_path": "a.md",
        "url": "obsidian://open?vault=v&file=a",
        "source": "note",
        "title": "A",
        "author": None,
        "description": None,
        "recorded_at": "2026-01-02T03:04:05Z",
        "recorded_at_from": "frontmatter",
        "valid_from": "1843-01-01T00:00:00Z",
        "modified_at": "2026-01-02T03:04:05Z",
        "archived": False,
        "superseded_by": None,
        "head_id": "01",
        "host": None,
        "layer": None,
        "altitude": None,
        "mem_type": None,
        "mem_state": None,
        "thread_id": None,
        "importance": None,
        "pinned": False,
        "excerpt": "x",
        "excerpt_from": "body_text",
        "payload_chars": 2,
        "extraction_status": "success",
        "extraction_error": None,
        "extraction_attempts": 1,
        "seen": Fingerprint(1, 2, 3, 4),
    }
    return CaptureRecord(**(known | fields))  # type: ignore[arg-type]


INFERRED = (0.3, "inferred")


def test_a_lean_row_has_its_fields_in_order() -> None:
    row = wire_views.lean_row(record())
    assert list(row) == LEAN.split()
    hit = lean_hit(RecalledHit(record(), 0.5), 500)
    assert list(hit) == [*LEAN.split(), "score"]


def test_weak_is_appended_only_where_it_is_true() -> None:
    weak = RecalledHit(record(), 0.1, weak=True)
    assert list(lean_hit(weak, 500))[-2:] == ["score", "weak"]
    assert full_hit({}, weak) == {"capture": {}, "score": 0.1, "weak": True}
    assert full_hit({}, RecalledHit(record(), 0.1)) == {"capture": {}, "score": 0.1}


def test_what_was_asked_for_about_a_hit_is_appended_in_order() -> None:
    breakdown = Breakdown(relevance=0.5, heat=1.0, momentum=0.0, importance=0.3)
    hit = RecalledHit(
        record(),
        0.5,
        explanation=Explanation(breakdown, ("semantic_match", "heat:hot")),
        passage=PassageHit("Tides turn.", "Sea", 7, 0.5, ((0, 5),)),
    )
    row = lean_hit(hit, 500)
    appended = ["score", "composite", "match_reasons", "score_breakdown", "passage"]
    assert list(row) == [*LEAN.split(), *appended]
    assert row["composite"] == pytest.approx(0.45 * 0.5 + 0.25 + 0.15 * 0.3)
    assert row["passage"] == {
        "text": "Tides turn.",
        "heading": "Sea",
        "line": 7,
        "score": 0.5,
        "ranges": [[0, 5]],
    }


def test_a_full_capture_has_every_field() -> None:
    problem = Problem("a.md", "bad_yaml", "the line has two colons", line=3, hint="Quote it.")
    full = wire_views.full_capture(
        record(host="example.org"), '{"kind":"note"}', [problem], INFERRED
    )
    assert list(full) == FULL.split()
    assert full["payload"] == {"kind": "note"}
    assert full["auto_metadata"] == {"host": "example.org", "year": 2026, "filetype": "md"}
    assert (full["user_tags"], full["entities"], full["archive_urls"]) == ([], [], {})
    assert full["problems"][0]["line"] == 3


def test_a_capture_without_a_payload_has_null() -> None:
    assert wire_views.full_capture(record(), "null", [], INFERRED)["payload"] is None


def test_the_payload_goes_out_with_as_many_characters_as_it_was_counted() -> None:
    stored = '{"kind":"note","title":"日記 \\"x\\"","n":1.5,"tasks":[]}'
    sent = wire_views.full_capture(record(), stored, [], INFERRED)
    assert stored.encode() in to_json(sent)


@pytest.mark.parametrize(
    ("stored", "most", "shown"),
    [
        ("short", 500, "short"),
        ("short", 5, "short"),
        ("short", 4, "shor…"),
        ("short", 0, ""),
        ("x" * 500, 500, "x" * 500),
        ("x" * 500 + "…", 500, "x" * 500 + "…"),
        ("x" * 500 + "…", 499, "x" * 499 + "…"),
        ("x" * 499 + "…", 500, "x" * 499 + "…"),
        ("👩‍🚀 up", 1, "👩…"),
        ("", 10, ""),
    ],
)
def test_an_excerpt_has_one_ellipsis_only_when_there_was_more(
    stored: str, most: int, shown: str
) -> None:
    assert wire_views.cut_excerpt(stored, most) == shown


def envelope(
    *, has_more: bool = False, out_of_tokens: bool = False, degraded: tuple[str, ...] = ()
) -> dict[str, object]:
    model = ModelIdentity("m", "0" * 64, 3, "mean", 256)
    result = RecallResult("q", model, (), has_more, 7, 2, stale=False, degraded=degraded)
    return wire_views.search_envelope(result, [], tokens=9, out_of_tokens=out_of_tokens)


def test_the_envelope_has_its_fields_in_order() -> None:
    assert list(envelope()) == ENVELOPE.split()


@pytest.mark.parametrize(
    ("has_more", "out_of_tokens", "stopped_by"),
    [
        (False, False, "end"),
        (True, False, "limit"),
        (False, True, "tokens"),
        (True, True, "tokens"),
    ],
)
def test_stopped_by_says_what_ended_the_page(
    has_more: bool, out_of_tokens: bool, stopped_by: str
) -> None:
    answer = envelope(has_more=has_more, out_of_tokens=out_of_tokens)
    assert answer["stopped_by"] == stopped_by
    assert answer["has_more"] is (stopped_by != "end")


def test_degraded_is_null_or_names_what_was_missing() -> None:
    assert envelope()["degraded"] is None
    assert envelope(degraded=("no_hnsw",))["degraded"] == "no_hnsw"
    assert envelope(degraded=("no_hnsw", "indexing"))["degraded"] == "no_hnsw,indexing"


@given(st.lists(st.text(max_size=40), max_size=12), st.integers(min_value=1, max_value=100))
def test_a_budget_is_kept_by_all_pages_of_more_than_one_row(texts: list[str], most: int) -> None:
    rows = [{"text": text} for text in texts]
    kept, used, cut = wire_views.within_budget(rows, most)
    assert kept == rows[: len(kept)]
    assert used == sum(wire_views.tokens_of(row) for row in kept)
    assert used <= most or len(kept) == 1
    assert cut is (len(kept) < len(rows))


def test_a_file_name_that_is_no_text_survives_the_wire() -> None:
    name = b"caf\xe9.md".decode("utf-8", "surrogateescape")
    sent = to_json({"vault_path": name})
    assert json.loads(sent.decode("utf-8"))["vault_path"] == name


def test_what_is_no_number_never_becomes_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json({"score": float("nan")})
