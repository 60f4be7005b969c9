"""Text made comparable: what is the same word to a person is the same text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from khiip_indexer.lexical.fold import fold, fold_map

SAME = [
    ("Café", "cafe"), ("cafe\u0301", "cafe"), ("NAÏVE", "naive"), ("ﬁsh", "fish"),
    ("ＡＢＣ１", "abc1"),
    ("Straße", "strasse"), ("STRASSE", "strasse"), ("Øresund", "oresund"), ("Łódź", "lodz"),
    ("Æsir", "aesir"), ("İstanbul", "istanbul"), ("ISPARTA ıslak", "isparta islak"),
    ("Đorđe", "dorde"), ("Việt Nam được", "viet nam duoc"), ("don’t", "don't"), ("“so”", '"so"'),
    ("a–b—c", "a-b-c"), ("soft\u00adhyphen", "softhyphen"), ("zero\u200bwidth", "zerowidth"),
    ("e\u200d\u0301", "e"), ("a\u00a0b", "a b"), ("nul\0here", "nul here"), ("x²", "x2"),
    ("ǅ", "dz"), ("x\u030c", "x"), ("ſeaſon", "season"), ("ﾊﾟﾝ", "パン"), ("㍿", "株式会社"),
    ("q\ufe0f", "q"), ("`code`", "'code'"),
]  # fmt: skip

KEPT = [
    "が", "か\u3099", "パ", "مُحَمَّد", "שָׁלוֹם", "हिन्दी", "й", "ё", "ό", "한국어", "ไทยน้",
]  # fmt: skip


@pytest.mark.parametrize(("written", "folded"), SAME)
def test_what_is_the_same_to_a_reader_is_the_same_text(written: str, folded: str) -> None:
    assert fold(written) == folded


@pytest.mark.parametrize("written", KEPT)
def test_marks_of_other_scripts_stay(written: str) -> None:
    import unicodedata

    assert fold(written) == unicodedata.normalize("NFKC", written)


def test_two_words_of_another_script_stay_two() -> None:
    assert fold("が") != fold("か")
    assert fold("ば") != fold("ぱ")
    assert fold("й") != fold("и")


def test_half_of_a_surrogate_pair_can_be_stored() -> None:
    assert fold("a \ud83d b").encode() == "a \ufffd b".encode()


def test_composed_and_decomposed_text_fold_alike() -> None:
    import unicodedata

    for text in (*KEPT, *(written for written, _ in SAME)):
        forms = {fold(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
        assert len(forms) == 1, text


@given(st.text())
@example("ﬁ\u0301nd Ça")
@example("\u1100\u1161\u11a8")
@example("\u0301\u0301a")
@example("e\u200d\u0301")
@example("ﾊﾟ")
def test_every_folded_character_has_its_place(text: str) -> None:
    folded, places = fold_map(text)
    assert folded == fold(text)
    assert len(places) == len(folded) + 1
    assert places == sorted(places)
    assert places[-1] == len(text)
    assert all(0 <= place < max(1, len(text)) for place in places[:-1])


@given(st.text())
def test_folded_text_can_be_stored_and_has_no_nul(text: str) -> None:
    folded = fold(text)
    assert "\0" not in folded
    folded.encode()


def test_a_range_maps_back_to_what_was_written() -> None:
    text = "Ein ﬁnes Café, é"
    folded, places = fold_map(text)
    at = folded.index("cafe")
    assert text[places[at] : places[at + 4]] == "Café"
    at = folded.index("fines")
    assert text[places[at] : places[at + 5]] == "ﬁnes"
