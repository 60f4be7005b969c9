"""`khiipd eval`: figures on stdout, words on stderr, and nothing recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Khiipd
from cli.test_reading import state_of
from indexing import state_files
from khiip_indexer.config import Settings
from khiip_indexer.errors import Unsupported
from khiip_indexer.index import VaultIndex
from khiip_sidecar.cli.eval_tables import summary_lines, verbose_lines, worst_first
from khiip_sidecar.evaluation.collection import Query
from khiip_sidecar.evaluation.measures import measure
from khiip_sidecar.evaluation.run import Outcome, Setting
from support import make_vault, write_note

NOTES = {
    "Quipu.md": "---\nid: quipu\n---\nKnots in cords kept count.",
    "Tides.md": "---\nid: tides\n---\nThe moon pulls the sea twice a day.",
    "Bread.md": "---\nid: bread\n---\nFlour water salt and patience.",
}
# The first is answered at the first place, the second at the second.
QUERIES = [
    {"id": "q1", "text": "knots in cords"},
    {"id": "q2", "text": "moon and sea and flour and water and salt"},
]
QRELS = "q1\tquipu\t1\nq2\ttides\t2\n"
PERFECT = "1.0000"
SECOND = "0.6309"  # 1 / log2(3)


def write_questions(
    folder: Path, qrels: str = QRELS, queries: Sequence[Mapping[str, str]] = QUERIES
) -> str:
    folder.mkdir(exist_ok=True)
    lines = "\n".join(json.dumps(each) for each in queries)
    (folder / "queries.jsonl").write_text(lines, encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return str(folder)


@pytest.fixture
def khiipd(make_khiipd: Callable[..., Khiipd]) -> Khiipd:
    """A vault that stands in its collection's folder, indexed."""
    made = make_khiipd(NOTES)
    made.ok("reindex")
    return made


@pytest.fixture
def collection(tmp_path: Path) -> str:
    return write_questions(tmp_path)


def table(text: str) -> dict[str, list[str]]:
    """Rows of the summary by their first word."""
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}


def test_figures_go_to_stdout_and_the_rest_to_stderr(khiipd: Khiipd, collection: str) -> None:
    result = khiipd.run("eval", collection, vault=False)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "2 queries  semantic",
        "nDCG@10      0.8155",
        "recall@5     1.0000",
        "recall@10    1.0000",
        "recall@25    1.0000",
        "recall@50    1.0000",
        "MRR          0.7500",
    ]
    assert result.stderr == "asking 2 queries\n"


def test_the_same_figures_as_json(khiipd: Khiipd, collection: str) -> None:
    shown = khiipd.run("eval", collection, "--json", "--limit", "10", vault=False)
    assert json.loads(shown.stdout) == {
        "queries": 2,
        "limit": 10,
        "settings": [
            {
                "match": "semantic",
                "rank": "relevance",
                "measures": {"nDCG@10": 0.815465, "recall@5": 1.0, "recall@10": 1.0, "MRR": 0.75},
            }
        ],
        "left_out": 0,
        "missing_notes": [],
    }


def test_nothing_is_recorded_and_nothing_is_written(khiipd: Khiipd, collection: str) -> None:
    notes, files = state_of(khiipd.settings.vault), state_files(khiipd.settings)
    assert khiipd.run("eval", collection, vault=False).exit_code == 0
    with VaultIndex.open(khiipd.settings) as index:
        assert index.accesses() == {}
    assert (state_of(khiipd.settings.vault), state_files(khiipd.settings)) == (notes, files)


def test_every_query_is_shown_when_asked_the_worst_first(khiipd: Khiipd, collection: str) -> None:
    shown = khiipd.run("eval", collection, "--verbose", "--limit", "10", vault=False)
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["nDCG@10", "recall@5", "recall@10", "MRR"]
    assert lines[1] == "q2 moon and sea and flour and water and salt"
    assert lines[2].split() == ["semantic", SECOND, PERFECT, PERFECT, "0.5000"]
    assert lines[3] == "q1 knots in cords"
    assert lines[4].split() == ["semantic", PERFECT, PERFECT, PERFECT, PERFECT]
    assert lines[5] == ""
    assert lines[6].startswith("2 queries")


def test_without_an_index_the_command_that_makes_it_is_named(
    make_khiipd: Callable[..., Khiipd], collection: str, tmp_path: Path
) -> None:
    khiipd = make_khiipd(NOTES)
    result = khiipd.run("eval", collection, vault=False)
    assert (result.exit_code, result.stdout) == (4, "")
    assert f"{tmp_path / 'vault'}: This vault has no index yet." in result.stderr
    assert f"`khiipd eval {collection} --index`" in result.stderr
    named = khiipd.run("eval", collection)
    assert f"`khiipd --vault {khiipd.settings.vault} eval {collection} --index`" in named.stderr
    assert not khiipd.settings.state.exists()


def test_the_index_is_made_first_when_asked(
    make_khiipd: Callable[..., Khiipd], collection: str
) -> None:
    khiipd = make_khiipd(NOTES)
    result = khiipd.run("eval", collection, "--index", vault=False)
    assert result.exit_code == 0, result.output
    assert "indexed 3 notes (3 new" in result.stderr
    assert table(result.stdout)["nDCG@10"] == ["0.8155"]


def test_another_vault_may_be_named(khiipd: Khiipd, tmp_path: Path) -> None:
    questions = write_questions(tmp_path / "questions")
    there = khiipd.run("eval", questions)
    assert table(there.stdout)["nDCG@10"] == ["0.8155"]
    make_vault(tmp_path / "questions" / "vault", {"a.md": "a vault that nobody indexed"})
    assert khiipd.run("eval", questions).stdout == there.stdout
    assert khiipd.run("eval", questions, vault=False).exit_code == 4


def test_the_collection_s_vault_keeps_its_index_in_itself(
    khiipd: Khiipd, collection: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    config = khiipd.settings.homes.config
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text(f"state_dir = '{elsewhere}'\n", encoding="utf-8")
    result = khiipd.run("eval", collection, "--index", vault=False)
    assert result.exit_code == 0, result.output
    assert "nothing changed" in result.stderr
    assert not elsewhere.exists()


def test_what_is_left_out_and_what_is_not_there_is_said(khiipd: Khiipd, tmp_path: Path) -> None:
    gone = "".join(f"q1\tgone{number}\t1\n" for number in range(7))
    queries = [*QUERIES, {"id": "q3", "text": "nobody judged this"}]
    questions = write_questions(tmp_path, QRELS + gone + "q9\tbread\t1\n", queries)
    result = khiipd.run("eval", questions, vault=False)
    assert result.stderr.splitlines() == [
        "left out: 1 query without a relevant note",
        "left out: 1 judged query that nobody asks (q9)",
        "not in the vault, so never found: 7 relevant notes "
        "(gone0, gone1, gone2, gone3, gone4, and 2 more)",
        "asking 2 queries",
    ]
    assert table(result.stdout)["recall@50"] == ["0.5625"]  # (1/8 + 1) / 2


def test_a_vault_without_any_of_the_answers_is_the_wrong_one(
    khiipd: Khiipd, tmp_path: Path
) -> None:
    questions = write_questions(tmp_path, "q1\telsewhere\t1\n")
    result = khiipd.run("eval", questions, vault=False)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "holds none of the relevant notes (elsewhere)" in result.stderr


def test_notes_that_changed_since_are_said(khiipd: Khiipd, collection: str) -> None:
    note = khiipd.settings.vault / "Quipu.md"
    note.write_text(f"{NOTES['Quipu.md']} And more.", encoding="utf-8")
    result = khiipd.run("eval", collection, vault=False)
    assert result.exit_code == 0
    assert "index is behind: 1 note changed" in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--match", "words"], "There is no match 'words'."),
        (["--rank", "best"], "There is no rank 'best'."),
        (["--compare", "semantic", "semantic/best"], "There is no rank 'best'."),
        (["--compare", "semantic", "hybrid", "--match", "hybrid"], "--compare names"),
        (["--limit", "5"], "5 is not in the range"),
    ],
)
def test_wrong_usage_is_said(khiipd: Khiipd, collection: str, args: list[str], said: str) -> None:
    result = khiipd.run("eval", collection, *args, vault=False)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_folder_that_is_no_collection_is_said(khiipd: Khiipd, tmp_path: Path) -> None:
    result = khiipd.run("eval", str(tmp_path / "nothing"), "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert json.loads(result.stderr)["error"] == "bad_collection"


class Ranked:
    """A backend that finds the answers of `QRELS` at once by hybrid, and late otherwise."""

    def recall(self, params: Mapping[str, Sequence[str]]) -> Any:
        if params["rank"] == ["composite"]:
            raise Unsupported("`rank=composite` is not served.", hint="Leave `rank` out.")
        ids = ["bread", "quipu", "tides"]
        if params["match"] == ["hybrid"]:
            ids = ["quipu", "tides", "bread"]
        return {"results": [{"id": each} for each in ids], "stale": False}


@pytest.fixture
def ranked(khiipd: Khiipd, monkeypatch: pytest.MonkeyPatch) -> Khiipd:
    @contextmanager
    def backend(settings: Settings) -> Iterator[Ranked]:
        yield Ranked()

    monkeypatch.setattr("khiip_sidecar.cli.eval.local_backend", backend)
    return khiipd


def test_two_settings_stand_side_by_side(ranked: Khiipd, collection: str) -> None:
    shown = ranked.run("eval", collection, "--compare", "semantic", "hybrid", vault=False)
    lines = shown.stdout.splitlines()
    assert lines[0] == "2 queries  semantic  hybrid  difference  better  equal  worse      p"
    assert lines[1] == "nDCG@10      0.5655  0.8155     +0.2500       2      0      0  0.500"
    assert lines[2] == "recall@5     1.0000  1.0000     +0.0000       0      2      0  1.000"
    assert len({len(line) for line in lines}) == 1


def test_a_comparison_as_json_with_its_queries(ranked: Khiipd, collection: str) -> None:
    asked = ["eval", collection, "--compare", "semantic", "hybrid", "--json", "--verbose"]
    data = json.loads(ranked.run(*asked, vault=False).stdout)
    assert data["comparison"]["MRR"] == {
        "difference": 0.333333,
        "better": 2,
        "equal": 0,
        "worse": 0,
        "p": 0.5,
    }
    worst = data["per_query"][0]
    assert (worst["id"], worst["text"]) == ("q2", QUERIES[1]["text"])
    assert [each["MRR"] for each in worst["measures"]] == [0.333333, 0.5]
    assert worst["difference"]["MRR"] == 0.166667


def test_match_and_rank_are_passed_on_and_a_refusal_is_shown(
    ranked: Khiipd, collection: str
) -> None:
    found = ranked.run("eval", collection, "--match", "hybrid", vault=False)
    assert table(found.stdout)["MRR"] == ["0.7500"]
    for how in (["--rank", "composite"], ["--compare", "semantic", "hybrid/composite"]):
        refused = ranked.run("eval", collection, *how, vault=False)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "`rank=composite` is not served." in refused.stderr


def outcome(name: str, text: str, *rankings: Sequence[str]) -> Outcome:
    query = Query(name, text, {"a": 1})
    return Outcome(query, tuple(measure(ranked, query.grades, 10) for ranked in rankings))


def test_of_two_settings_the_worst_query_is_the_one_that_lost_most() -> None:
    outcomes = [
        outcome("same", "x", ["b"], ["b"]),
        outcome("won", "x", ["b"], ["a"]),
        outcome("lost", "x", ["a"], ["b", "a"]),
        outcome("lost-all", "x", ["a"], ["b"]),
    ]
    assert [each.query.id for each in worst_first(outcomes)] == ["lost-all", "lost", "same", "won"]


def test_query_texts_are_one_line_that_fits_and_cannot_steer_the_terminal() -> None:
    outcomes = [outcome("q1", f"知\x1b[2J識\n{'long ' * 50}", ["a"], ["b"])]
    settings = [Setting("semantic", "relevance"), Setting("hybrid", "composite")]
    head, query, *rows = verbose_lines(outcomes, settings, 10, 60)
    assert query.startswith("q1 知 [2J識 long")
    assert query.endswith("…")
    assert len(query) <= 58  # two of its characters are wide
    assert [row.split()[0] for row in rows] == ["semantic", "hybrid/composite", "difference"]
    assert rows[2].split()[1] == "-1.0000"
    assert {len(row) for row in rows} == {len(head)}


def test_a_tiny_p_is_not_shown_as_zero() -> None:
    outcomes = [outcome(f"q{number}", "x", ["b"], ["a"]) for number in range(20)]
    settings = [Setting("semantic", "relevance"), Setting("hybrid", "relevance")]
    assert summary_lines(outcomes, settings, 10)[1].endswith("<0.001")


def test_notes_without_a_vector_are_said(khiipd: Khiipd, collection: str) -> None:
    write_note(khiipd.settings.vault, "New.md", "not embedded yet")
    khiipd.embedder.missing = True
    khiipd.run("reindex")
    khiipd.embedder.missing = False
    result = khiipd.run("eval", collection, vault=False)
    assert "1 note cannot be found by meaning yet; --index mends that" in result.stderr
    assert table(result.stdout)["MRR"] == ["0.7500"]


def test_a_text_that_is_half_a_character_is_asked_and_shown(khiipd: Khiipd, tmp_path: Path) -> None:
    questions = write_questions(tmp_path, queries=[{"id": "q1", "text": "knots \ud83d in cords"}])
    for how in ("--verbose", "--json"):
        result = khiipd.run("eval", questions, "--verbose", how, vault=False)
        assert result.exit_code == 0, result.output
        assert "knots" in result.stdout
