"""Answers as they were agreed on, in fixtures/api: other clients' tests read the same files.

After a change that is meant: KHIIP_WRITE_GOLDEN=1 pytest tests/sidecar/test_golden.py, then look
at the difference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from houses import NOW, House, note, open_house
from khiip_indexer.errors import KhiipError
from khiip_sidecar.wire.encode import error_body

GOLDEN = Path(__file__).parents[2] / "fixtures" / "api"
WRITING = os.environ.get("KHIIP_WRITE_GOLDEN") == "1"

NOTES = {
    "Clippings/Counting with cords.md": note(
        "# Counting with cords\n\nKnots on cords kept the accounts of an empire.\n\n"
        "## How to read one\n\nThe place of a knot says tens or hundreds.",
        title='"Counting with cords: the quipu"',
        source='"https://www.example.org/essays/cords?utm_source=feed"',
        author='["[[Ines Falk]]"]',
        published="2024-05-06",
        created="2026-01-07",
        description='"How a state counted without writing."',
        tags='["clippings", "history/andes"]',
    ),
    "Clippings/Khipu.md": note(
        "A khipu is a recording device of knotted strings.\n\n## Uses\n\nCensus and tribute.",
        title="Khipu",
        source='"https://en.wikipedia.org/wiki/Quipu"',
        created="2026-01-06",
    ),
    "Clippings/post.md": note(
        "Three knots I use every day. #knots",
        source='"https://x.com/ropework/status/1700000000000000001"',
        author='"@ropework"',
        created="2026-01-05",
    ),
    "Clippings/thread.md": note(
        "Which knot for a hammock?\n\nI keep slipping.",
        title="Which knot for a hammock?",
        source='"https://www.reddit.com/r/knots/comments/1abcde/which_knot/"',
        created="2026-01-04",
    ),
    "Clippings/video.md": note(
        "Five knots in ten minutes.",
        title="Five knots",
        source='"https://www.youtube.com/watch?v=abcdefghijk"',
        channel="Ropework",
        created="2026-01-03",
    ),
    "Literature/tides.md": note(
        "The moon pulls the sea twice a day.",
        title="On tides",
        source="pdf",
        url='"https://example.org/tides.pdf"',
        authors="[A. Writer, B. Author]",
        created="2026-01-02",
    ),
    "日記/雨.md": note(
        "雨の日。 #日記\n\n- [ ] 傘を買う\n\nSee [[Khipu|the cords]].",
        created="2026-01-01",
        mem_type="learning",
        importance="high",
        people='["[[Ada Lovelace]]"]',
    ),
}

# A read would be another answer the next time.
UNREAD = {"mark_accessed": ["false"]}

ANSWERS: dict[str, Callable[[House], Any]] = {
    "recall_full": lambda house: house.operations.recall(
        {"q": ["knots on cords"], "limit": ["3"], **UNREAD}
    ),
    "recall_lean": lambda house: house.operations.recall(
        {"q": ["knots on cords"], "limit": ["3"], "view": ["lean"], **UNREAD}
    ),
    "recall_explained": lambda house: house.operations.recall(
        {"q": ["knots on cords"], "limit": ["2"], "view": ["lean"], "match": ["hybrid"]}
        | {"explain": ["true"], "passages": ["true"], **UNREAD}
    ),
    "history": lambda house: house.operations.recall({"path": ["Khipu"]}),
    "overview": lambda house: house.operations.recall({}),
    "captures_full": lambda house: house.operations.captures({}),
    "captures_lean": lambda house: house.operations.captures({"view": ["lean"]}),
    "capture": lambda house: house.operations.capture(house.id_of("日記/雨.md")),
    "related_lean": lambda house: house.operations.related(
        {"path": ["Clippings/Khipu.md"], "view": ["lean"], "limit": ["2"]}
    ),
    "health": lambda house: house.operations.health(),
    "meta": lambda house: house.operations.meta(),
    "index": lambda house: house.operations.index_state(),
    "errors": lambda house: {name: _error(house, call) for name, call in FAULTS.items()},
}
FAULTS: dict[str, Callable[[House], Any]] = {
    "empty_query": lambda house: house.operations.recall({"q": [" "]}),
    "bad_value": lambda house: house.operations.recall({"q": ["a"], "limit": ["0"]}),
    "not_in_list": lambda house: house.operations.recall({"q": ["a"], "source": ["redit"]}),
    "unknown_parameter": lambda house: house.operations.recall({"q": ["a"], "lmit": ["1"]}),
    "bad_match_expression": lambda house: house.operations.recall(
        {"q": ["knots AND"], "match": ["lexical"], "match_syntax": ["fts5"]}
    ),
    "outside_vault": lambda house: house.operations.recall({"q": ["a"], "folder": ["../x"]}),
    "reserved_folder": lambda house: house.operations.recall({"q": ["a"], "folder": [".git"]}),
    "not_found": lambda house: house.operations.capture("nobody"),
    "bad_dimension": lambda house: house.operations.refetch("x", {"dimension": ["media"]}),
}


def _error(house: House, call: Callable[[House], Any]) -> dict[str, Any]:
    with pytest.raises(KhiipError) as caught:
        call(house)
    return {"status": caught.value.http_status, "body": error_body(caught.value)}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    root = tmp_path_factory.mktemp("golden") / "Sample"
    with open_house(root, NOTES, indexed=False) as opened:
        for path in NOTES:
            os.utime(root / path, (NOW.timestamp(), NOW.timestamp()))
        opened.sync()
        yield opened


def _settled(answer: Any, house: House) -> Any:
    """The same answer without what differs from machine to machine."""
    text = json.dumps(answer, ensure_ascii=False, indent=1)
    for machine, said in (
        (str(house.settings.vault), "/vaults/Sample"),
        (house.index.vault_id, "0123456789abcdef0123456789abcdef"),
    ):
        text = text.replace(machine, said)
    settled = json.loads(text)
    if isinstance(settled, dict) and "version" in settled:
        settled["version"] = "0.0.0"
    return settled


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_what_was_agreed_on(house: House, name: str) -> None:
    answer = _settled(ANSWERS[name](house), house)
    file = GOLDEN / f"{name}.json"
    if WRITING:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(answer, ensure_ascii=False, indent=1) + "\n", "utf-8")
    agreed = json.loads(file.read_text("utf-8"))
    assert answer == agreed
    assert _shape(answer) == _shape(agreed)


def _shape(value: Any) -> Any:
    """The order of fields, which equality of dicts does not look at."""
    if isinstance(value, dict):
        return [(name, _shape(field)) for name, field in value.items()]
    return [_shape(item) for item in value] if isinstance(value, list) else None


def test_the_payload_is_as_long_as_the_rows_say(house: House) -> None:
    rows = house.operations.captures({"view": ["lean"]})
    captures = house.operations.captures({})
    for row, capture in zip(rows, captures, strict=True):
        sent = json.dumps(capture["payload"], ensure_ascii=False, separators=(",", ":"))
        assert len(sent) == row["payload_chars"]
        assert capture["payload"]["kind"] == capture["source"] == row["source"]
