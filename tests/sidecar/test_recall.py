"""Recall over a real index: what is a hit, what is dropped, what is said about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from houses import House, note, open_house
from khiip_indexer.errors import (
    IndexMissing,
    KhiipError,
    NotFound,
    Unsupported,
    UsageError,
)
from khiip_indexer.index import VaultIndex
from khiip_sidecar.operations import Operations
from khiip_sidecar.recall import RecallService
from support import FakeEmbedder

NOTES = {
    "quipu.md": note("Knots on cords kept the accounts.", created="2026-01-03", tags="[knots]"),
    "tide.md": note("The moon pulls the sea twice a day.", created="2026-01-02"),
    "tea.md": note("Green tea wants cooler water.", created="2026-01-01", tags="[tea]"),
    "old.md": note("Knots were only decoration.", created="2025-01-01", superseded_by="quipu"),
    "done.md": note("Knots of the finished boat.", created="2025-06-01", archived="true"),
    "Work/mooring.md": note("Knots hold the boat.", created="2026-02-01", author="Lovelace, Ada"),
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path / "vault", NOTES) as opened:
        yield opened


def recall(house: House, **params: str) -> dict[str, object]:
    lean = {"view": ["lean"]} | {name: [value] for name, value in params.items()}
    return house.operations.recall(lean)


def paths(answer: dict[str, object]) -> list[str]:
    rows = answer["results"]
    assert isinstance(rows, list)
    return [row["vault_path"] for row in rows]


def test_the_note_with_the_words_comes_first(house: House) -> None:
    answer = recall(house, q="knots on cords accounts")
    assert paths(answer)[0] == "quipu.md"


def test_one_hit_a_chain_and_no_archived_note(house: House) -> None:
    found = paths(recall(house, q="knots", limit="50"))
    assert "old.md" not in found
    assert "done.md" not in found
    assert sorted(found) == ["Work/mooring.md", "quipu.md", "tea.md", "tide.md"]
    assert "done.md" in paths(recall(house, q="knots", include_archived="true"))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"tag": "knots,tea"}, {"quipu.md", "tea.md"}),
        ({"folder": "Work/"}, {"Work/mooring.md"}),
        ({"folder": "."}, {"quipu.md", "tide.md", "tea.md", "Work/mooring.md"}),
        ({"author": "Lovelace, Ada"}, {"Work/mooring.md"}),
        ({"since": "2026-01-03"}, {"quipu.md", "Work/mooring.md"}),
        ({"until": "2026-01-02"}, {"tide.md", "tea.md"}),
        ({"source": "web"}, set()),
    ],
)
def test_filters_decide_who_may_be_a_hit(
    house: House, filters: dict[str, str], expected: set[str]
) -> None:
    answer = recall(house, q="knots", **filters)
    assert set(paths(answer)) == expected
    assert answer["total_candidates"] == len(expected)


def test_as_many_filter_values_as_are_allowed_can_be_searched(house: House) -> None:
    many = [f"tag{number}" for number in range(99)]
    params = {"q": ["knots"], "view": ["lean"], "tag": [*many, "tea"]}
    params |= {"author": [], "folder": []}
    assert paths(house.operations.recall(params)) == ["tea.md"]
    params = {"q": ["knots"], "view": ["lean"], "author": many, "folder": many, "tag": many}
    assert house.operations.recall(params)["results"] == []


OUTSIDE = ("../../out", "..\\..\\out", "/etc", "C:\\x", "a/../../b", "../secret.md", "link")
RESERVED = (".obsidian/plugins/x", ".khiip", ".git/hooks", "a/.trash/b")


@pytest.mark.parametrize("name", ["folder", "path"])
@pytest.mark.parametrize(
    ("path", "code"),
    [(path, "path_outside_vault") for path in OUTSIDE]
    + [(path, "reserved_folder") for path in RESERVED],
)
def test_no_path_of_a_client_leaves_the_vault_or_opens_a_hidden_folder(
    house: House, name: str, path: str, code: str
) -> None:
    (house.settings.vault / "link").symlink_to("/etc")
    with pytest.raises(UsageError) as caught:
        if name == "folder":
            recall(house, q="knots", folder=path)
        else:
            related(house, path=path)
    assert (caught.value.http_status, caught.value.code) == (400, code)


def test_pages_do_not_overlap_and_has_more_is_true_until_the_last(house: House) -> None:
    first = recall(house, q="knots", limit="3")
    second = recall(house, q="knots", limit="3", offset="3")
    assert (first["has_more"], first["stopped_by"]) == (True, "limit")
    assert (second["has_more"], second["stopped_by"], second["offset"]) == (False, "end", 3)
    assert len(set(paths(first) + paths(second))) == 4


def test_a_score_at_the_floor_is_kept_and_one_above_it_is_not(house: House) -> None:
    scores = [row["score"] for row in recall(house, q="knots")["results"]]  # type: ignore[attr-defined]
    floor = scores[1]
    assert len(paths(recall(house, q="knots", min_score=repr(floor)))) == 2
    above = repr(round(floor + 1e-6, 6))
    assert len(paths(recall(house, q="knots", min_score=above))) == 1


def test_a_deleted_note_is_not_served_and_the_page_is_filled_up(house: House) -> None:
    house.remove("quipu.md")
    answer = recall(house, q="knots on cords accounts", limit="3")
    assert len(paths(answer)) == 3
    assert "quipu.md" not in paths(answer)
    assert (answer["stale"], answer["has_more"], answer["total_candidates"]) == (True, False, 3)


def test_a_changed_note_is_served_and_called_stale(house: House) -> None:
    assert recall(house, q="knots on cords accounts")["stale"] is False
    house.write("quipu.md", note("Something else.", created="2026-01-03"))
    answer = recall(house, q="knots on cords accounts", limit="1")
    assert (paths(answer), answer["stale"]) == (["quipu.md"], True)


def test_when_everything_is_gone_the_answer_is_empty_and_stale(house: House) -> None:
    for path in NOTES:
        house.remove(path)
    answer = recall(house, q="knots")
    assert (answer["results"], answer["stale"]) == ([], True)


@pytest.mark.parametrize("left", [5, 1, 0])
def test_more_hits_than_notes_may_be_asked_for(tmp_path: Path, left: int) -> None:
    notes = {f"n{number}.md": f"note number {number}\n" for number in range(5)}
    with open_house(tmp_path / "vault", notes) as house:
        for path in list(notes)[left:]:
            house.remove(path)
        house.sync()
        assert len(paths(recall(house, q="note", limit="200"))) == left


def test_a_vault_without_notes_has_no_hits_and_that_is_no_error(tmp_path: Path) -> None:
    with open_house(tmp_path / "vault", {}) as house:
        answer = recall(house, q="anything")
    assert (answer["results"], answer["stopped_by"], answer["approx_tokens"]) == ([], "end", 0)


@pytest.mark.parametrize(
    "query",
    [
        "POL-358", "2026-05-08", "don't", "C++", '"unclosed', "AND", "NOT x", "NEAR(", "a*", "(",
        "^", ".md", "title:x", "-quick", "a \ud83d b", "ghi\0", "東京の雨", "🎉", "'; DROP TABLE--",
    ],
)  # fmt: skip
def test_ordinary_punctuation_is_only_text(house: House, query: str) -> None:
    assert len(paths(recall(house, q=query))) == 4


def test_only_hits_below_the_floor_of_the_model_are_weak(tmp_path: Path) -> None:
    with open_house(tmp_path / "vault", NOTES, weak_below=0.5) as house:
        rows = recall(house, q="Green tea wants cooler water.")["results"]
    assert isinstance(rows, list)
    assert [row["vault_path"] for row in rows if "weak" not in row] == ["tea.md"]
    assert all(row["weak"] is True and row["score"] < 0.5 for row in rows[1:])


def test_a_token_budget_cuts_the_page_but_never_to_nothing(house: House) -> None:
    whole = recall(house, q="knots")
    cut = recall(house, q="knots", max_tokens="1")
    assert len(paths(cut)) == 1
    assert (cut["stopped_by"], cut["has_more"]) == ("tokens", True)
    fits = recall(house, q="knots", max_tokens=str(whole["approx_tokens"]))
    assert (paths(fits), fits["stopped_by"]) == (paths(whole), "end")


@pytest.mark.parametrize("match", ["semantic", "hybrid"])
def test_without_the_model_words_answer_and_the_answer_says_so(house: House, match: str) -> None:
    house.embedder.missing = True
    answer = recall(house, q="knots", match=match)
    assert paths(answer) == paths(recall(house, q="knots", match="lexical"))
    assert answer["results"]
    assert answer["degraded"] == "no_model"


class NotANumber(FakeEmbedder):
    def embed(self, texts: object) -> NDArray[np.float32]:
        return np.full((1, 64), np.nan, np.float32)


def test_a_vector_that_is_no_number_is_no_score(house: House) -> None:
    broken = Operations(RecallService(house.index, NotANumber()))
    answer = broken.recall({"q": ["knots"], "view": ["lean"]})
    assert answer["degraded"] == "model_failed"
    assert paths(answer) == paths(recall(house, q="knots", match="lexical"))


def test_an_index_that_another_model_made_is_not_searched(house: House) -> None:
    other = Operations(RecallService(house.index, FakeEmbedder(name="other")))
    with pytest.raises(IndexMissing) as caught:
        other.recall({"q": ["knots"]})
    by_words = other.recall({"q": ["knots"], "match": ["hybrid"]})
    assert (bool(by_words["results"]), by_words["degraded"]) == (True, "index_of_other_model")
    assert (caught.value.http_status, caught.value.exit_code) == (503, 4)
    assert "fake-words" in caught.value.sentence
    assert "reindex" in (caught.value.hint or "")
    assert other.health()["status"] == "degraded"


def test_before_the_first_vector_recall_says_that_it_cannot_look(tmp_path: Path) -> None:
    with open_house(tmp_path / "vault", NOTES, indexed=False) as house:
        with pytest.raises(IndexMissing) as caught:
            recall(house, q="knots")
        house.embedder.missing = True
        with pytest.raises(KhiipError):
            house.sync()
        house.embedder.missing = False
        by_words = recall(house, q="knots")
        assert (bool(by_words["results"]), by_words["degraded"]) == (True, "no_vectors")
    assert caught.value.http_status == 503


def test_a_text_that_cannot_be_embedded_hides_no_other_note(tmp_path: Path) -> None:
    with open_house(tmp_path / "vault", NOTES, indexed=False) as house:
        house.embedder.fail_on = lambda text: "moon" in text
        house.sync()
        assert "tide.md" not in paths(recall(house, q="knots"))
        failed = house.operations.capture(house.id_of("tide.md"))
        assert failed["extraction_status"] == "pending-retry"
        assert failed["extraction_error"]
        house.embedder.fail_on = None
        params = {"dimension": ["re-extract"]}
        again = house.operations.refetch(house.id_of("tide.md"), params)
        assert again["extraction_status"] == "success"
        assert "tide.md" in paths(recall(house, q="knots"))


def test_an_excerpt_is_cut_to_the_characters_asked_for(house: House) -> None:
    row = recall(house, q="green tea", excerpt_chars="5", limit="1")["results"][0]  # type: ignore[index]
    assert row["excerpt"] == "Green…"


def related(house: House, **params: str) -> dict[str, object]:
    lean = {"view": ["lean"]} | {name: [value] for name, value in params.items()}
    return house.operations.related(lean)


def test_related_leaves_out_the_note_itself_and_its_chain(house: House) -> None:
    answer = related(house, path="quipu.md")
    assert sorted(paths(answer)) == ["Work/mooring.md", "tea.md", "tide.md"]
    assert paths(answer) == paths(related(house, id=house.id_of("quipu.md")))
    assert answer["query"] is None


def test_related_wants_one_name_for_the_capture(house: House) -> None:
    for params in ({}, {"id": "x", "path": "quipu.md"}):
        with pytest.raises(KhiipError, match="by `id` or by `path`"):
            related(house, **params)
    for params in ({"id": "nobody"}, {"path": "nowhere.md"}):
        with pytest.raises(NotFound):
            related(house, **params)


def test_a_list_is_newest_first_with_replaced_notes_and_without_archived_ones(
    house: House,
) -> None:
    rows = house.operations.captures({"view": ["lean"]})
    found = [row["vault_path"] for row in rows]
    assert found == ["Work/mooring.md", "quipu.md", "tide.md", "tea.md", "old.md"]
    assert "score" not in rows[0]


def test_a_page_of_a_list_is_full_although_notes_have_vanished(house: House) -> None:
    house.remove("quipu.md")
    pages = [
        [
            row["vault_path"]
            for row in house.operations.captures(
                {"view": ["lean"], "limit": ["2"], "offset": [str(offset)]}
            )
        ]
        for offset in (0, 2)
    ]
    assert pages == [["Work/mooring.md", "tide.md"], ["tea.md", "old.md"]]


def test_a_capture_whose_note_is_gone_is_not_found(house: House) -> None:
    capture_id = house.id_of("tea.md")
    assert house.operations.capture(capture_id)["vault_path"] == "tea.md"
    house.remove("tea.md")
    with pytest.raises(NotFound, match="gone"):
        house.operations.capture(capture_id)


@pytest.mark.parametrize("capture_id", ["nobody", "", "a\0b", "\udcff", "x" * 5000, "../x"])
def test_an_id_that_no_capture_has_is_not_found(house: House, capture_id: str) -> None:
    with pytest.raises(NotFound):
        house.operations.capture(capture_id)


def test_refetch_takes_in_the_note_as_it_is_now(house: House) -> None:
    capture_id = house.id_of("tea.md")
    house.write("tea.md", note("Black tea wants boiling water.", created="2026-01-01"))
    capture = house.operations.refetch(capture_id, {"dimension": ["re-extract"]})
    assert capture["id"] == capture_id
    assert "Black tea" in capture["payload"]["body_text"]
    answer = recall(house, q="Black tea wants boiling water.", limit="1")
    assert (paths(answer), answer["stale"]) == (["tea.md"], False)


def test_refetch_does_nothing_that_would_need_the_network(house: House) -> None:
    with pytest.raises(Unsupported, match="network"):
        house.operations.refetch(house.id_of("tea.md"), {"dimension": ["media"]})


def test_a_reader_cannot_refetch_or_start_indexing(house: House) -> None:
    with VaultIndex.open(house.settings) as reader:
        operations = Operations(RecallService(reader, house.embedder))
        with pytest.raises(Unsupported, match="reading only"):
            operations.refetch(house.id_of("tea.md"), {"dimension": ["re-extract"]})
        with pytest.raises(Unsupported, match="reading only"):
            operations.start_index({})
        assert operations.health()["state"] == "ready"


def test_health_counts_what_can_be_found(house: House) -> None:
    health = house.operations.health()
    assert list(health)[:8] == [
        "status", "state", "version", "schema_version", "db_path", "vault_id", "extractors",
        "index",
    ]  # fmt: skip
    assert (health["status"], health["state"], health["reason"]) == ("ok", "ready", None)
    assert health["db_path"] == ".khiip/cache.sqlite"
    assert health["vault_id"]
    index = health["index"]
    assert (index["notes"], index["searchable_by_meaning"], index["pending"]) == (6, 6, 0)
    assert index["watcher"] == "off"
    assert index["reason"] is None
    assert [each["source"] for each in health["extractors"]] == [
        "x", "web", "wiki", "pdf", "youtube", "reddit", "note",
    ]  # fmt: skip


def test_a_vault_that_suddenly_looks_empty_is_suspect(tmp_path: Path) -> None:
    notes = {f"n{number}.md": f"note number {number}\n" for number in range(40)}
    with open_house(tmp_path / "vault", notes) as house:
        for path in notes:
            house.remove(path)
        with pytest.raises(KhiipError, match="gone"):
            house.syncer.run()
        health = house.operations.health()
        assert (health["status"], health["state"]) == ("degraded", "suspect")
        assert "40 notes" in health["reason"]
        house.sync()
        assert house.operations.health()["status"] == "ok"


def test_meta_says_what_serves_which_vault(house: House) -> None:
    meta = house.operations.meta()
    assert list(meta) == ["version", "schema_version", "config", "extractors", "embedder"]
    assert meta["config"]["vault_path"] == str(house.settings.vault)
    assert meta["embedder"] == {"model": "fake-words", "dimension": 64, "coming": None}
