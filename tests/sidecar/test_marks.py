"""What a serving process counts as read: seen by the next request, and never lost at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing import reindex
from khiip_indexer.storage.accesses import AccessLog
from serving import serving
from support import FakeEmbedder, make_vault

LONG = 1e6
RECALL = "/api/v1/recall?q=knots&limit=1&view=lean"


def test_an_access_is_seen_by_the_next_request_and_written_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_indexer.storage.put_off.WITHIN_SECONDS", LONG)
    settings = make_vault(tmp_path / "v", {"one.md": "knots on cords"})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    with serving(settings, embedder) as served:
        served.wait_until_ready()
        read = served.ask(RECALL)[1]["results"][0]["id"]
        assert AccessLog(settings.state).tallies() == {}
        hit = served.ask(f"{RECALL}&rank=composite&mark_accessed=false")[1]["results"][0]
        assert hit["score_breakdown"]["heat"] == 1.0
        served.ask(RECALL)
    assert AccessLog(settings.state).tallies()[read].count == 2


def test_asking_for_no_more_than_the_head_of_an_answer_reads_nothing(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "v", {"one.md": "knots on cords"})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    with serving(settings, embedder) as served:
        served.wait_until_ready()
        assert served.ask(RECALL, "HEAD")[0] == 200
        assert served.ask(f"{RECALL}&mark_accessed=true", "HEAD")[0] == 200
        assert served.ask(f"{RECALL}&mark_accessed=perhaps", "HEAD")[0] == 422
    assert AccessLog(settings.state).tallies() == {}
