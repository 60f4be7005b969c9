"""Passages fit the window, lose nothing, and cost one pass of the tokenizer."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.passages import SpansOf, cut_passages, fit
from khiip_indexer.types import Segment


def words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S+", text)]


def characters(text: str) -> list[tuple[int, int]]:
    """One piece a character that is not space, as a BERT vocabulary does with CJK."""
    return [match.span() for match in re.finditer(r"\S", text)]


def every_character(text: str) -> list[tuple[int, int]]:
    """A tokenizer that counts white space too."""
    return [(at, at + 1) for at in range(len(text))]


def word_pieces(text: str) -> list[tuple[int, int]]:
    """Words in pieces of three letters, but four at a word's start: cutting a word adds pieces."""
    found: list[tuple[int, int]] = []
    for match in re.finditer(r"\w+|[^\w\s]", text):
        start, end = match.span()
        found.append((start, min(start + 4, end)))
        found.extend((at, min(at + 3, end)) for at in range(start + 4, end, 3))
    return found


TOKENIZERS: list[SpansOf] = [words, characters, every_character, word_pieces]
tokenizers = st.sampled_from(TOKENIZERS)
texts = st.text(
    alphabet=st.one_of(st.sampled_from("ab c.\n。漢か! "), st.characters(codec="utf-8")),
    max_size=300,
)
segments = st.lists(
    st.builds(
        Segment,
        text=texts,
        headings=st.lists(st.text(max_size=30), max_size=3).map(tuple),
        line=st.none() | st.integers(1, 1000),
    ),
    max_size=6,
)


def body(text: str) -> str:
    return text.split("\n\n", 1)[1]


@given(st.text(max_size=60), segments, tokenizers, st.integers(8, 60))
def test_every_passage_fits_the_window(
    title: str, parts: list[Segment], spans: SpansOf, window: int
) -> None:
    for passage in cut_passages(title, parts, spans, window):
        assert len(spans(passage.text)) <= window - 2


@given(st.text(max_size=60), segments, st.integers(8, 60))
def test_every_word_of_the_input_is_in_some_passage(
    title: str, parts: list[Segment], window: int
) -> None:
    passages = cut_passages(title, parts, words, window)
    found = {word for passage in passages for word in passage.text.split()}
    assert {word for part in parts for word in part.text.split()} <= found


@given(segments, tokenizers, st.integers(8, 60))
def test_characters_keep_their_order_and_none_is_lost(
    parts: list[Segment], spans: SpansOf, window: int
) -> None:
    passages = cut_passages("", [Segment(part.text) for part in parts], spans, window)
    joined = "".join("".join(passage.text.split()) for passage in passages)
    assert joined == "".join("".join(part.text.split()) for part in parts if spans(part.text))


@given(st.text(max_size=60), segments, tokenizers, st.integers(8, 60))
def test_the_same_input_gives_the_same_passages(
    title: str, parts: list[Segment], spans: SpansOf, window: int
) -> None:
    assert cut_passages(title, parts, spans, window) == cut_passages(title, parts, spans, window)


@given(texts, tokenizers, st.integers(8, 60))
def test_fit_gives_a_prefix_that_fits(text: str, spans: SpansOf, window: int) -> None:
    head, was_cut = fit(text, spans, window)
    assert text.startswith(head)
    assert len(spans(head)) <= window - 2
    assert was_cut == (len(spans(text)) > window - 2)
    assert was_cut or head == text


def test_fit_does_not_cut_inside_a_word() -> None:
    text = "one two " + "x" * 12
    assert fit(text, word_pieces, 8) == (text, False)
    assert fit(text + " tail", word_pieces, 8) == (text, True)
    assert fit("one two three four five six " + "y" * 40, word_pieces, 12) == (
        "one two three four five six",
        True,
    )


def test_last_sentence_of_20000_words_without_a_line_break_is_in_the_last_passage() -> None:
    filler = " ".join(f"Word{number} goes on and on." for number in range(4000))
    text = filler + " The spare key hides under the blue flowerpot"
    passages = cut_passages("Keys", [Segment(text)], words, 256)
    assert passages[-1].text.endswith("The spare key hides under the blue flowerpot")
    assert [passage.ordinal for passage in passages] == list(range(1, len(passages) + 1))
    assert len(passages) <= 1.3 * 20_000 / 253


def test_the_tokenizer_runs_once_over_a_long_segment() -> None:
    seen = 0

    def counting(text: str) -> list[tuple[int, int]]:
        nonlocal seen
        seen += len(text)
        return words(text)

    text = "some more words here. " * 5000
    cut_passages("Title", [Segment(text, ("Head",))], counting, 256)
    assert seen <= len(text) + 100


def test_a_long_text_has_no_tiny_tail() -> None:
    passages = cut_passages("", [Segment("word " * 257)], words, 258)
    assert [len(words(passage.text)) for passage in passages] == [129, 128]


def test_short_neighbours_under_one_heading_share_a_passage_and_others_do_not() -> None:
    parts = [
        Segment("first point", ("A",), 3),
        Segment("second point", ("A",), 5),
        Segment("elsewhere", ("B",), 9),
    ]
    passages = cut_passages("Note", parts, words, 64)
    assert [passage.text for passage in passages] == [
        "Note\nA\n\nfirst point\n\nsecond point",
        "Note\nB\n\nelsewhere",
    ]
    assert [(passage.heading, passage.line) for passage in passages] == [("A", 3), ("B", 9)]


def test_a_cut_prefers_the_seam_between_two_segments_to_a_sentence_end() -> None:
    parts = [Segment("one two three four. five six seven eight"), Segment("nine. ten eleven")]
    passages = cut_passages("", parts, words, 10)
    assert [passage.text for passage in passages] == [part.text for part in parts]


def test_a_cut_prefers_a_sentence_end_in_chinese_and_japanese() -> None:
    text = "鍵は青い植木鉢の下。" * 3
    passages = cut_passages("", [Segment(text)], characters, 18)
    assert [passage.text for passage in passages] == ["鍵は青い植木鉢の下。"] * 3


def test_a_japanese_text_of_one_piece_a_character_fits_to_its_last_sentence() -> None:
    text = "今日は港で風を待った。" * 900 + "合鍵は青い植木鉢の下にある。"
    passages = cut_passages("鍵", [Segment(text)], characters, 256)
    assert all(len(characters(passage.text)) <= 254 for passage in passages)
    assert "合鍵は青い植木鉢の下にある。" in passages[-1].text


def test_a_title_and_path_longer_than_the_window_leave_room_for_text() -> None:
    headings = tuple(f"Heading {number} that is long" for number in range(40))
    part = Segment("word " * 400, headings)
    passages = cut_passages("An endless title " * 50, [part], words, 100)
    assert all(len(words(body(passage.text))) >= 30 for passage in passages)
    assert max(len(words(body(passage.text))) for passage in passages) >= 58
    assert passages[0].text.startswith("An endless title An")
    assert "Heading 0 that is long" in passages[0].text


def test_a_first_heading_that_repeats_the_title_is_not_said_twice() -> None:
    (passage,) = cut_passages("Boats", [Segment("hull", ("Boats", "Repair"))], words, 64)
    assert passage.text == "Boats\nRepair\n\nhull"


def test_a_passage_knows_the_line_its_text_starts_on() -> None:
    text = "\n".join(f"Line number {number} of this text." for number in range(40))
    passages = cut_passages("", [Segment(text, (), 10)], words, 32)
    for passage in passages:
        first = passage.text.split("\n")[0]
        number = re.search(r"\d+", first)
        assert number is not None
        assert passage.line == 10 + int(number[0])
    assert len(passages) > 5


def test_a_plain_text_with_fewer_letters_than_the_window_has_pieces_is_not_cut_into_any() -> None:
    asked: list[str] = []

    def spans(text: str) -> list[tuple[int, int]]:
        asked.append(text)
        return every_character(text)

    assert fit("a" * 17, spans, 20) == ("a" * 17, False)
    assert asked == []
    assert fit("a" * 18, spans, 20) == ("a" * 18, False)
    assert fit("漢" * 17, spans, 20) == ("漢" * 17, False)
    assert len(asked) == 2


def test_a_word_longer_than_the_window_is_cut_so_that_its_parts_fit() -> None:
    passages = cut_passages("", [Segment("abc" * 400)], word_pieces, 32)
    assert "".join(passage.text for passage in passages) == "abc" * 400
    assert all(len(word_pieces(passage.text)) <= 30 for passage in passages)


def test_empty_and_blank_segments_give_no_passage() -> None:
    assert cut_passages("Title", [Segment(""), Segment(" \n ")], words, 64) == []


def test_a_window_too_small_to_hold_anything_is_refused() -> None:
    with pytest.raises(ValueError, match="window of 3"):
        cut_passages("", [Segment("a")], words, 3)
