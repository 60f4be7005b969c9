"""Parameters as texts -> typed values, or an error that says what is allowed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.errors import KhiipError, UsageError
from khiip_sidecar.wire.params import CAPTURES, RECALL, RELATED, Parameter
from khiip_sidecar.wire.parse import escaped, parse, split_sign

NOW = datetime(2026, 3, 31, 12, 0, 0, tzinfo=UTC)
TABLES = (RECALL, CAPTURES, RELATED)


def read(**given: str | list[str]) -> dict[str, object]:
    texts = {name: [value] if isinstance(value, str) else value for name, value in given.items()}
    return parse(RECALL, texts, NOW)


def test_nothing_given_means_every_default() -> None:
    said = read()
    assert said["query"] is None
    assert (said["limit"], said["offset"], said["view"]) == (10, 0, "full")
    assert (said["match"], said["rank"], said["excerpt_chars"]) == ("semantic", "relevance", 500)
    assert (said["source"], said["min_score"], said["include_archived"]) == ((), None, False)


def test_q_is_the_query() -> None:
    assert read(q="knots")["query"] == "knots"


def test_q_and_query_may_not_differ() -> None:
    assert read(q="a", query="a")["query"] == "a"
    with pytest.raises(UsageError, match="more than once"):
        read(q="a", query="b")


def test_sources_come_with_commas_or_repeated() -> None:
    assert read(source="x,web")["source"] == ("x", "web")
    assert read(source=["x", "web", "x"])["source"] == ("x", "web")


def test_a_comma_in_an_author_or_a_folder_stays() -> None:
    said = read(author="Lovelace, Ada", folder="Work, old")
    assert said["author"] == ("Lovelace, Ada",)
    assert said["folder"] == ("Work, old",)


def test_a_tag_may_carry_its_mark() -> None:
    assert read(tag="#sea,tide")["tag"] == ("sea", "tide")


def test_a_tag_that_is_only_a_mark_is_empty() -> None:
    with pytest.raises(UsageError, match="tag is empty"):
        read(tag="#")


@pytest.mark.parametrize(
    "given_texts",
    [
        {"tag": ["sea,-draft", "-#old"]},
        {"tag": ["sea"], "-tag": ["draft,old"]},
        {"-tag": ["draft", "-sea", "#old"]},
    ],
)
def test_a_value_behind_a_dash_is_left_out(given_texts: dict[str, list[str]]) -> None:
    said = parse(RECALL, given_texts, NOW)
    assert (said["tag"], said["-tag"]) == (("sea",), ("draft", "old"))


@pytest.mark.parametrize("name", ["source", "layer", "band", "altitude", "mem_type", "mem_state"])
def test_a_choice_can_be_left_out_too(name: str) -> None:
    [parameter] = [each for each in RECALL if each.name == name]
    said = parse([parameter], {name: [f"-{parameter.choices[0]}"]}, NOW)
    assert said == {name: (), f"-{name}": (parameter.choices[0],)}


def test_a_backslash_keeps_a_dash_that_belongs_to_the_value() -> None:
    said = read(phrase=["\\-quick", "-\\-slow", "\\\\-x", "a\\b"], author="-Ann")
    assert said["phrase"] == ("-quick", "\\-x", "a\\b")
    assert said["-phrase"] == ("-slow",)
    assert (said["author"], said["-author"]) == ((), ("Ann",))


@given(st.text("-\\a", max_size=6))
def test_any_value_can_be_said_literally(value: str) -> None:
    assert split_sign(escaped(value)) == (value, False)
    assert split_sign(f"-{escaped(value)}") == (value, True)


def test_only_filters_can_be_turned_round() -> None:
    for name in ("-limit", "-since", "-query", "-include_archived"):
        with pytest.raises(UsageError, match="no parameter"):
            parse(RECALL, {name: ["1"]}, NOW)


@pytest.mark.parametrize("nothing", ["-", "-#", " - ", "-,x"])
def test_a_dash_before_nothing_is_an_empty_value(nothing: str) -> None:
    with pytest.raises(UsageError, match="tag is empty"):
        read(tag=nothing)


@pytest.mark.parametrize(
    ("word", "layer"),
    [("goal", "goal"), ("Warnings", "caveat"), ("why", "goal"), ("don't", "caveat")],
)
def test_a_layer_has_other_names(word: str, layer: str) -> None:
    assert read(layer=word)["layer"] == (layer,)


def test_a_state_may_be_spelled_as_people_do() -> None:
    assert read(mem_state="In progress,in-progress,IN_PROGRESS")["mem_state"] == ("in_progress",)


def test_filters_take_several_values() -> None:
    said = read(layer="goal,caveat", mem_state=["open", "-done"], thread_id=["a,b", "c"])
    assert (said["layer"], said["thread_id"]) == (("goal", "caveat"), ("a,b", "c"))
    assert (said["mem_state"], said["-mem_state"]) == (("open",), ("done",))


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("limit", "0", "1 to 200"),
        ("limit", "201", "1 to 200"),
        ("limit", "ten", "whole number"),
        ("limit", "1_0", "whole number"),
        ("limit", "١", "whole number"),
        ("limit", "", "whole number"),
        ("offset", "-1", "0 to"),
        ("min_score", "1.5", "-1 to 1"),
        ("min_score", "nan", "number"),
        ("min_score", "inf", "number"),
        ("min_score", "1e400", "number"),
        ("view", "wide", "lean, full"),
        ("source", "tweet", "x, web, wiki, pdf, youtube, reddit, note"),
        ("source", "x,,web", "x, web"),
        ("include_archived", "maybe", "true or false"),
        ("excerpt_chars", "501", "0 to 500"),
        ("match", "fuzzy", "semantic, lexical, hybrid"),
        ("mem_type", "idea", "question, comparison, decision"),
        ("layer", "mood board", "goal, context, emotion, implementation, caveat, learning"),
        ("altitude", "-sky", "mission, strategy, architecture, implementation"),
    ],
)
def test_a_value_out_of_its_list_is_told_what_is_in_it(name: str, value: str, allowed: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(**{name: value})
    assert name in caught.value.sentence
    assert allowed in caught.value.sentence
    assert caught.value.http_status == 422


def test_a_misspelt_parameter_is_told_its_neighbour() -> None:
    with pytest.raises(UsageError, match="`limt`") as caught:
        read(limt="3")
    assert "Did you mean `limit`?" in (caught.value.hint or "")
    assert caught.value.code == "unknown_parameter"


def test_a_misspelt_value_is_told_its_neighbour() -> None:
    with pytest.raises(UsageError) as caught:
        read(source="redit")
    assert caught.value.hint == "Did you mean `reddit`?"


@pytest.mark.parametrize(
    "same",
    [
        {"match": "semantic"},
        {"rank": "Relevance"},
        {"explain": "false"},
        {"passages": "no"},
        {"mark_accessed": "0"},
    ],
)
def test_saying_the_default_aloud_is_fine(same: dict[str, str]) -> None:
    assert read(q="a", **same)["query"] == "a"


def test_a_query_keeps_its_blanks_and_loses_its_nul_and_half_pairs() -> None:
    assert read(q=" a\0b \ud83d c")["query"] == " a b \ufffd c"


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\0"])
def test_a_blank_query_is_an_error(blank: str) -> None:
    with pytest.raises(UsageError, match="query is empty"):
        read(q=blank)


def test_a_pasted_paragraph_is_a_query_and_a_pasted_book_is_not() -> None:
    assert read(q="word " * 2000)["query"] == "word " * 2000
    with pytest.raises(UsageError) as caught:
        read(q="x" * 10_001)
    assert caught.value.code == "too_long"
    assert "10000" in (caught.value.hint or "")


def test_a_filter_takes_a_hundred_values_and_not_more() -> None:
    tags = [f"t{number}" for number in range(100)]
    assert len(read(tag=",".join(tags))["tag"]) == 100  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="101 values"):
        read(tag=[*tags, "one more"])


def test_an_error_repeats_only_the_start_of_what_was_sent() -> None:
    with pytest.raises(UsageError) as caught:
        read(view="x" * 5_000)
    assert len(caught.value.sentence) < 200


texts = st.text(st.characters(codec=None), max_size=30)
known_names = st.sampled_from([each.name for table in TABLES for each in table])


@given(
    st.sampled_from(TABLES),
    st.dictionaries(st.one_of(known_names, texts), st.lists(texts, max_size=3), max_size=6),
)
def test_any_parameters_give_values_or_a_named_error(
    table: tuple[Parameter, ...], given_texts: dict[str, list[str]]
) -> None:
    try:
        said = parse(table, given_texts, NOW)
    except KhiipError as error:
        assert error.http_status in (422, 501)
        error.sentence.encode()
    else:
        dashed = {f"-{each.name}" for each in table if each.negatable}
        assert set(said) == {each.name for each in table} | dashed
