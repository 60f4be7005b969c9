"""Operators in free text: what is one, what is none, and that nothing is lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from khiip_indexer.errors import UsageError
from khiip_sidecar.wire.operators import MOST_VALUES, OPERATORS, Term, expand, read_query, to_text
from khiip_sidecar.wire.params import MAX_VALUES, RECALL
from khiip_sidecar.wire.parse import parse

NOW = datetime(2026, 6, 30, 12, 0, 0, tzinfo=UTC)


def terms(query: str) -> list[tuple[str, str]]:
    """(parameter, value) of each term, with a `-` before the parameter of what is left out."""
    read = read_query(query, NOW)
    return [(f"{'-' * term.negative}{term.parameter}", term.value) for term in read.terms]


def test_every_operator_of_one_query_is_taken_out() -> None:
    query = (
        "tag:#physics path:Papers file:2024 [status:done] source:pdf -folder:archive "
        '"exact phrase" knots'
    )
    read = read_query(query, NOW)
    assert (read.text, read.words) == ("knots", "exact phrase knots")
    assert terms(query) == [
        ("tag", "#physics"),
        ("in_path", "Papers"),
        ("file", "2024"),
        ("property", "status:done"),
        ("source", "pdf"),
        ("-folder", "archive"),
        ("phrase", "exact phrase"),
    ]
    assert query[read.terms[5].start : read.terms[5].end] == "-folder:archive"


@pytest.mark.parametrize(
    ("query", "term"),
    [
        ('author:"Ada Lovelace"', ("author", "Ada Lovelace")),
        ("since:2025-01", ("since", "2025-01")),
        ("until:7d", ("until", "7d")),
        ("since:3 months ago", ("since", "3 months ago")),
        ("since:last month", ("since", "last month")),
        ('since:"last month"', ("since", "last month")),
        ("-since:last-month", ("-since", "last-month")),
        ("entity:Ada", ("entity_name", "Ada")),
        ("layer:warnings", ("layer", "warnings")),
        ("altitude:mission", ("altitude", "mission")),
        ("type:decision", ("mem_type", "decision")),
        ('state:"in progress"', ("mem_state", "in progress")),
        ("thread:t1", ("thread_id", "t1")),
        ("band:hot", ("band", "hot")),
        ("-tag:draft", ("-tag", "draft")),
        ("tag:-draft", ("-tag", "draft")),
        ("-tag:-draft", ("tag", "draft")),
        ('tag:"-draft"', ("tag", "-draft")),
        ("Path:Papers", ("in_path", "Papers")),
        ("-[status:done]", ("-property", "status:done")),
        ("[due date]", ("property", "due date")),
        ("[status: in progress]", ("property", "status:in progress")),
        ('[status:"a]b"]', ("property", "status:a]b")),
        ('["1":2]', ("property", "1:2")),
        ('-"no such words"', ("-phrase", "no such words")),
        ("“typed on a phone”", ("phrase", "typed on a phone")),
        (r'"say \"please\" C:\x"', ("phrase", r'say "please" C:\x')),
        ('"tag:x is text here"', ("phrase", "tag:x is text here")),
    ],
)
def test_an_operator_by_itself(query: str, term: tuple[str, str]) -> None:
    assert terms(query) == [term]
    assert read_query(query, NOW).text == ""


def test_values_behind_commas_are_several() -> None:
    assert terms("tag:a,-b source:pdf,web") == [
        ("tag", "a"), ("-tag", "b"), ("source", "pdf"), ("source", "web"),
    ]  # fmt: skip
    assert terms('author:"Lovelace, Ada"') == [("author", "Lovelace, Ada")]


@pytest.mark.parametrize(
    "query",
    [
        "POL-358", "2026-05-08", "don't", "C++", '"unclosed', "AND", "NOT x", "NEAR(", "a*", "(",
        "^", ".md", "title:x", "-quick", "", "   ", " two  blanks ", "note: buy milk", "C++: why",
        "http://host/path?q=1", "12:30", "source:foo", "since:tomorrow-ish", "since:2", "tag:",
        "tag: x", "tag:#", 'tag:"x', 'path:a"b"c', "folder:../out", "folder:/etc", "folder:.git",
        "layer:mood-board", "xtag:y", "(tag:y)", "[x]", "[ ]", "- [x] done", "[[Ada]]",
        "[text](url)", "[^1]", "[1]", "[12:30]", "![[picture.png]]", '""', '" "', 'a"b c"', '"b"c',
        "“unclosed", "[open", "key:value]", "--x", "-", "-[", "tag:(a OR b)", "line:(a b)",
    ],
)  # fmt: skip
def test_whatever_is_no_operator_is_text_to_the_letter(query: str) -> None:
    read = read_query(query, NOW)
    assert (read.text, read.words, read.terms) == (query, query, ())


def test_text_between_operators_keeps_its_order() -> None:
    read = read_query('  how tag:sea  did\n"the moon"\tmove it?  ', NOW)
    assert (read.text, read.words) == ("how did move it?", "how did the moon move it?")


def test_a_time_takes_as_many_words_as_it_can_and_no_more() -> None:
    assert read_query("since:2 weeks ago knots", NOW).text == "knots"
    assert read_query("since:yesterday evening", NOW).text == "evening"
    assert read_query('since:"yesterday" evening', NOW).text == "evening"


def test_more_values_than_a_filter_may_have_are_text() -> None:
    read = read_query("tag:a " * (MOST_VALUES + 2), NOW)
    assert len(read.terms) == MOST_VALUES
    assert read.text == "tag:a tag:a"


def test_a_request_gets_the_parameters_that_its_query_names() -> None:
    given_texts = {"q": ['tag:b -tag:c "-quick" [a:b] knots'], "tag": ["a"], "limit": ["3"]}
    assert expand(given_texts, NOW) == {
        "tag": ["a", "b"],
        "-tag": ["c"],
        "phrase": [r"\-quick"],
        "property": ["a:b"],
        "limit": ["3"],
        "query": ["-quick knots"],
    }
    said = parse(RECALL, expand(given_texts, NOW), NOW)
    assert (said["tag"], said["-tag"], said["phrase"]) == (("a", "b"), ("c",), ("-quick",))


def test_a_query_of_nothing_but_operators_is_no_query() -> None:
    assert expand({"query": ["tag:a"]}, NOW) == {"tag": ["a"]}
    assert expand({"query": ['-"a"']}, NOW) == {"-phrase": ["a"]}


@pytest.mark.parametrize(
    "given_texts",
    [
        {},
        {"tag": ["a"]},
        {"query": ["knots"]},
        {"query": [""]},
        {"query": ["  "]},
        {"query": ["tag:a", "tag:b"]},  # an error that parsing tells
        {"q": ["tag:a"], "query": ["tag:b"]},
        {"query": ['"a" tag:b'], "match_syntax": ["FTS5"]},
    ],
)
def test_a_request_without_operators_stays_as_it_is(given_texts: dict[str, list[str]]) -> None:
    assert expand(given_texts, NOW) == given_texts


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("since:2025 since:2024", "2025-01-01T00:00:00Z", None),
        ("since:2024", "2024-06-01T00:00:00Z", None),
        ("-since:2025", "2024-06", "2025-01-01T00:00:00Z"),
        ("-until:2024", "2025-01-01T00:00:00Z", None),
        ("until:2025 until:2024", "2024-06", "2025-01-01T00:00:00Z"),
    ],
)
def test_of_several_times_the_narrowest_counts(
    query: str, since: str | None, until: str | None
) -> None:
    said = expand({"query": [query], "since": ["2024-06"]}, NOW)
    assert said.get("since") == ([since] if since else None)
    assert said.get("until") == ([until] if until else None)


def test_a_parameter_that_is_no_time_is_an_error_beside_an_operator() -> None:
    with pytest.raises(UsageError, match="`since` is not a time"):
        expand({"query": ["since:2025"], "since": ["soon"]}, NOW)


SIGNS = st.text(st.sampled_from('ab:"\\-[]#“” \n,()tagpath'), max_size=30)
ANY = st.text(st.characters(codec=None), max_size=40) | SIGNS
PIECES = st.lists(
    st.sampled_from(
        ["tag:a", "-tag:b", '"a b"', '-"c"', "[k:v]", "[k]", "since:2 weeks", "ago", "x", '"', "“",
         'path:"a b"', "source:web", "source:foo", "-", "\\", "tag:", "[", "]", "  ", "\n"]
    ) | ANY,
    max_size=8,
).map(" ".join)  # fmt: skip


@given(PIECES)
def test_every_character_is_in_the_text_or_in_an_operator(query: str) -> None:
    read = read_query(query, NOW)
    spans = dict.fromkeys((term.start, term.end) for term in read.terms)
    left, at = "", 0
    for start, end in spans:
        assert at <= start < end <= len(query)
        left += query[at:start]
        at = end
    left += query[at:]
    assert "".join(read.text.split()) == "".join(left.split())
    if not spans:
        assert read.text == read.words == query


VALUES = st.text(min_size=1, max_size=12) | SIGNS.filter(bool)
WRITABLE = st.tuples(st.sampled_from(["phrase", "property", *OPERATORS.values()]), VALUES)


@given(ANY, st.lists(st.tuples(WRITABLE, st.booleans()), max_size=5))
def test_what_is_written_is_read_back(
    text: str, wanted: list[tuple[tuple[str, str], bool]]
) -> None:
    assume(not read_query(text, NOW).terms)
    written = []
    for (parameter, value), negative in wanted:
        # Only what can be read at all, as it is read.
        read = read_query(to_text("", [Term(parameter, value, negative)]), NOW)
        if len(read.terms) == 1 and not read.text:
            written.append(read.terms[0])
    again = read_query(to_text(text, written), NOW)
    assert list(again.terms) == written
    assert again.text == (text.strip() if written else text)


TIMES = st.sampled_from(["2025", "2025-01-31", "last month", "3 months ago", "2025-01-31 09:30"])


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ("phrase", st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)),
        ("author", st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)),
        ("in_path", st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)),
        ("since", TIMES),
        ("source", st.sampled_from(["web", "pdf"])),
    ],
)
def test_every_value_can_be_written(parameter: str, values: st.SearchStrategy[str]) -> None:
    @given(values, st.booleans())
    def check(value: str, negative: bool) -> None:
        term = Term(parameter, value, negative)
        read = read_query(to_text("some words", [term]), NOW)
        assert (read.terms, read.text) == ((term,), "some words")

    check()


@given(PIECES, PIECES)
def test_any_query_becomes_parameters_that_are_allowed(query: str, tag: str) -> None:
    given_texts = {"query": [query], "tag": [tag]} if tag else {"query": [query]}
    expanded = expand(given_texts, NOW)
    for name, texts in expanded.items():
        assert len(texts) <= MAX_VALUES
        if name not in ("query", "tag") and "band" not in name:
            parse(RECALL, {name: texts}, NOW)


@pytest.mark.parametrize(
    "prose",
    [
        'what did the paper mean by "aboutness" when it spoke of how titles are indexed',
        "the minutes say that [sic] nobody had read the report before the meeting began",
    ],
)
def test_a_quotation_in_a_sentence_is_a_part_of_the_sentence(prose: str) -> None:
    read = read_query(prose, NOW)
    assert (read.text, read.words, read.terms) == (prose, prose, ())


def test_beside_a_few_words_a_quotation_is_a_condition() -> None:
    read = read_query('"dark matter" in spiral galaxies and their haloes', NOW)
    assert [(term.parameter, term.value) for term in read.terms] == [("phrase", "dark matter")]
    sentence = "one two three four five six seven eight nine ten"
    meant = read_query(f'{sentence} -"left out" [status:done] tag:sea', NOW)
    assert [term.parameter for term in meant.terms] == ["phrase", "property", "tag"]


@pytest.mark.parametrize("sign", ["ſource:web", "\u212aind:x", "ſince:2025 x"])
def test_letters_that_only_look_like_an_operators_are_no_fault(sign: str) -> None:
    assert read_query(sign, NOW).text is not None
