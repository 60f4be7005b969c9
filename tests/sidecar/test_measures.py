"""The measures of `khiipd eval`: against trec_eval, by hand, and whether differences are luck."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from khiip_indexer.errors import UsageError
from khiip_sidecar.evaluation.collection import Collection, Query, read_collection
from khiip_sidecar.evaluation.compare import compare, sign_flip_p
from khiip_sidecar.evaluation.measures import mean, measure, names, ndcg, recall, reciprocal_rank
from khiip_sidecar.evaluation.run import Setting, checked, evaluate, setting_of

TREC_NAMES = {
    "nDCG@10": "ndcg_cut_10",
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "recall@25": "recall_25",
    "recall@50": "recall_50",
    "MRR": "recip_rank",
}
NOTES = [f"n{number}" for number in range(70)]


def trec_eval(ranked: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """What trec_eval says of one ranking, under our names."""
    library = pytest.importorskip("pytrec_eval", reason="no wheel for this machine")
    wanted = {"ndcg_cut.10", "recall.5,10,25,50", "recip_rank"}
    falling = {note: float(len(ranked) - place) for place, note in enumerate(ranked)}
    said = library.RelevanceEvaluator({"q": dict(grades)}, wanted).evaluate({"q": falling})["q"]
    return {ours: said[theirs] for ours, theirs in TREC_NAMES.items()}


rankings = st.lists(st.sampled_from(NOTES), unique=True, min_size=1, max_size=50)
judgements = st.dictionaries(st.sampled_from(NOTES), st.integers(-1, 4), min_size=1)


@settings(max_examples=300, deadline=None)
@given(rankings, judgements)
def test_every_measure_is_that_of_trec_eval(ranked: list[str], grades: dict[str, int]) -> None:
    assert measure(ranked, grades, 50) == pytest.approx(trec_eval(ranked, grades), abs=1e-9)


def test_a_ranking_of_judged_notes_only_and_one_of_none() -> None:
    grades = {note: 1 + place % 3 for place, note in enumerate(NOTES)}
    assert measure(NOTES[:50], grades, 50) == pytest.approx(trec_eval(NOTES[:50], grades))
    assert set(measure(["x", "y"], grades, 50).values()) == {0.0}


def test_measures_by_hand() -> None:
    grades = {"a": 3, "b": 1, "c": 0}
    ranked = ["c", "a", "x"]
    reached, ideal = 3 / math.log2(3), 3 / math.log2(2) + 1 / math.log2(3)
    assert ndcg(ranked, grades) == pytest.approx(reached / ideal)
    assert recall(ranked, grades, 5) == 0.5
    assert recall(ranked, grades, 1) == 0.0
    assert reciprocal_rank(ranked, grades) == 0.5


def test_what_lies_behind_the_tenth_place_counts_for_recall_and_mrr_only() -> None:
    ranked = NOTES[:11]
    scores = measure(ranked, {NOTES[10]: 1}, 50)
    assert scores == {
        "nDCG@10": 0.0,
        "recall@5": 0.0,
        "recall@10": 0.0,
        "recall@25": 1.0,
        "recall@50": 1.0,
        "MRR": pytest.approx(1 / 11),
    }


def test_a_short_ranking_says_nothing_of_recall_further_down() -> None:
    assert names(24) == ["nDCG@10", "recall@5", "recall@10", "MRR"]
    assert names(50) == list(TREC_NAMES)


def test_nothing_found_and_nothing_relevant_are_zeros() -> None:
    assert set(measure([], {"a": 1}, 50).values()) == {0.0}
    assert set(measure(["a"], {"a": 0}, 50).values()) == {0.0}
    assert set(measure(["a"], {}, 50).values()) == {0.0}


def test_the_mean_is_over_queries() -> None:
    assert mean([{"MRR": 1.0}, {"MRR": 0.5}, {"MRR": 0.0}]) == {"MRR": 0.5}


def by_trying_all(differences: Sequence[float]) -> float:
    """The definition of the test, without a thought for time."""
    observed = abs(math.fsum(differences)) - 1e-9
    ways = list(itertools.product((1, -1), repeat=len(differences)))
    sums = (
        abs(math.fsum(sign * each for sign, each in zip(way, differences, strict=True)))
        for way in ways
    )
    return sum(total >= observed for total in sums) / len(ways)


eighths = st.integers(-8, 8).map(lambda number: number / 8)


@settings(max_examples=100, deadline=None)
@given(st.lists(eighths, max_size=9))
def test_p_is_the_share_of_signs_that_do_as_well(differences: list[float]) -> None:
    assert sign_flip_p(differences) == pytest.approx(by_trying_all(differences))


def test_tossed_signs_come_near_the_exact_share_and_are_always_the_same() -> None:
    dice = random.Random(7)
    differences = [dice.gauss(0.1, 0.3) for _ in range(12)]
    tossed = sign_flip_p(differences, rounds=4_000)  # 4,096 ways: too many for that
    assert tossed == pytest.approx(by_trying_all(differences), abs=0.03)
    assert tossed == sign_flip_p(differences, rounds=4_000)


def test_p_of_many_queries() -> None:
    assert sign_flip_p([0.1] * 400) == pytest.approx(1 / 10_001)
    assert sign_flip_p([0.1, -0.1] * 200) > 0.9
    assert sign_flip_p([0.0] * 400) == 1.0


def test_a_comparison_counts_queries_and_takes_noise_for_equal() -> None:
    found = compare([0.5, 0.5, 0.5, 0.5], [0.75, 0.5, 0.5 + 1e-15, 0.25])
    assert (found.better, found.equal, found.worse) == (1, 2, 1)
    assert found.difference == pytest.approx(0.0)
    assert found.p == 1.0
    assert compare([0.0, 0.5], [0.5, 1.0]).difference == 0.5


def write_collection(folder: Path, queries: Sequence[object], qrels: str) -> Path:
    lines = (each if isinstance(each, str) else json.dumps(each) for each in queries)
    (folder / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


Q1, Q2 = {"id": "q1", "text": "knots"}, {"id": "q2", "text": "tides"}


def test_a_collection_is_read_as_it_is_written(tmp_path: Path) -> None:
    line = '{"id": "q1", "text": "knots\u2028and cords", "category": "short"}\r'
    folder = write_collection(
        tmp_path,
        ["\ufeff" + line, "", {"id": "q3", "text": "?"}, {"id": "q4", "text": "!"}, Q2],
        "q1\tn 1\t2\r\nq1\tn2\t0\n\nq2\tn3\t1\nq1\tn 1\t2\nq4\tn1\t0\nq9\tn4\t1\n",
    )
    assert read_collection(folder) == Collection(
        queries=(
            Query("q1", "knots\u2028and cords", {"n 1": 2, "n2": 0}),
            Query("q2", "tides", {"n3": 1}),
        ),
        unjudged=2,
        strangers=("q9",),
    )
    assert read_collection(folder).relevant == ["n 1", "n3"]


@pytest.mark.parametrize(
    ("queries", "qrels", "said"),
    [
        ([Q1, "{no"], "q1\tn1\t1", "queries.jsonl:2: this is no JSON"),
        ([Q1, "[" * 100_000], "q1\tn1\t1", "queries.jsonl:2: this is no JSON"),
        ([Q1, ["q2"]], "q1\tn1\t1", "queries.jsonl:2: a query needs"),
        ([{"id": "q1"}], "q1\tn1\t1", "queries.jsonl:1: a query needs"),
        ([{"id": 1, "text": "a"}], "q1\tn1\t1", "queries.jsonl:1: a query needs"),
        ([{"id": "q1", "text": " "}], "q1\tn1\t1", "queries.jsonl:1: a query needs"),
        ([Q1, Q2, Q1], "q1\tn1\t1", "queries.jsonl:3: the query id q1"),
        ([Q1], "q1\tn1\t1\n\nq1 n1 1", "qrels.tsv:3: a line has three parts"),
        ([Q1], "q1\t\t1", "qrels.tsv:1: a line has three parts"),
        ([Q1], "q1\tn1\t0.5", "qrels.tsv:1: the grade must be a whole number, not 0.5"),
        ([Q1], "q1\tn1\t1\nq1\tn1\t2", "qrels.tsv:2: n1 has two grades"),
        ([Q1], "q2\tn1\t1", "no query has a relevant note"),
        ([], "", "no query has a relevant note"),
    ],
)
def test_what_is_wrong_with_a_collection_is_said_by_line(
    tmp_path: Path, queries: list[object], qrels: str, said: str
) -> None:
    folder = write_collection(tmp_path, queries, qrels)
    with pytest.raises(UsageError, match=re.escape(said)) as raised:
        read_collection(folder)
    assert raised.value.code == "bad_collection"


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no .*queries\.jsonl"):
        read_collection(tmp_path)
    write_collection(tmp_path, [Q1], "q1\tn1\t1")
    (tmp_path / "queries.jsonl").write_bytes(b'{"id": "q1", "text": "\xff"}')
    with pytest.raises(UsageError, match=r"queries\.jsonl is no UTF-8"):
        read_collection(tmp_path)
    (tmp_path / "queries.jsonl").unlink()
    (tmp_path / "queries.jsonl").mkdir()
    with pytest.raises(UsageError, match=r"queries\.jsonl cannot be read"):
        read_collection(tmp_path)


class Recorder:
    """Answers every recall with the same two notes, and keeps what was asked."""

    def __init__(self, *, stale: bool = False, refuse: str | None = None) -> None:
        self.asked: list[dict[str, list[str]]] = []
        self.stale = stale
        self.refuse = refuse

    def recall(self, params: Mapping[str, Sequence[str]]) -> Any:
        self.asked.append({name: list(values) for name, values in params.items()})
        if params["query"][0] == self.refuse:
            raise UsageError("The query is empty.", hint="Give some words.", code="empty_query")
        return {"results": [{"id": "n2"}, {"id": "n1"}], "stale": self.stale}


def test_each_query_is_asked_in_every_setting_and_marks_nothing_as_read() -> None:
    recorder = Recorder()
    queries = [Query("q1", "knots", {"n1": 1}), Query("q2", "tides", {"n2": 1})]
    settings_ = [Setting("semantic", "relevance"), Setting("hybrid", "composite")]
    outcomes = evaluate(recorder, queries, settings_, 25)
    asked = [(each["query"][0], each["match"][0], each["rank"][0]) for each in recorder.asked]
    assert asked == [
        ("knots", "semantic", "relevance"),
        ("knots", "hybrid", "composite"),
        ("tides", "semantic", "relevance"),
        ("tides", "hybrid", "composite"),
    ]
    assert {(each["limit"][0], each["mark_accessed"][0]) for each in recorder.asked} == {
        ("25", "false")
    }
    assert [[scores["MRR"] for scores in each.scores] for each in outcomes] == [[0.5, 0.5], [1, 1]]
    assert not any(each.stale for each in outcomes)


def test_a_stale_answer_is_remembered_and_a_refused_query_is_named() -> None:
    queries = [Query("q1", "knots", {"n1": 1})]
    usual = [Setting("semantic", "relevance")]
    assert evaluate(Recorder(stale=True), queries, usual, 10)[0].stale
    with pytest.raises(UsageError, match=r"^The query q1: The query is empty\.$") as raised:
        evaluate(Recorder(refuse="knots"), queries, usual, 10)
    assert raised.value.code == "empty_query"


def test_settings_are_read_and_wrong_ones_refused() -> None:
    assert setting_of("hybrid") == Setting("hybrid", "relevance")
    assert setting_of("lexical/composite") == Setting("lexical", "composite")
    assert str(Setting("hybrid", "relevance")) == "hybrid"
    assert str(Setting("hybrid", "composite")) == "hybrid/composite"
    for wrong in ("", "hybrid/", "hybrid/best", "words", "semantic/relevance/x"):
        with pytest.raises(UsageError, match="There is no"):
            setting_of(wrong)
    with pytest.raises(UsageError) as raised:
        checked(Setting("words", "relevance"))
    assert raised.value.hint == "Known are: semantic, lexical, hybrid."
