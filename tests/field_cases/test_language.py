"""Short words, and languages that the bundled model does not know."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.lexical.texted import Texted, texted

NOTES = {
    "first": "quick ok fox",
    "second": "quick brown",
    "third": "東京の雨",
    "fourth": "報告書の提出期限",
}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Texted]:
    with texted(tmp_path, NOTES) as vault:
        yield vault


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("quick ok", ["first"]),
        ("東京", ["third"]),
        ("ok", ["first"]),
        ("雨", ["third"]),
        ("x", ["first"]),
        ("報告書の提出期限はいつですか", ["fourth"]),
    ],
)
def test_b41_short_terms_find_what_holds_them(vault: Texted, query: str, found: list[str]) -> None:
    assert vault.found(query) == found


def test_b41_short_terms_beside_longer_ones_still_count(vault: Texted) -> None:
    assert vault.found("東京 quick")[0] == "third"
    assert set(vault.found("東京 quick")) == {"first", "second", "third"}


@pytest.mark.parametrize(("rare", "common"), [("Kubernetes", "go"), ("MySQL", "安装")])
def test_b41_a_short_word_that_is_everywhere_is_no_condition(
    tmp_path: Path, rare: str, common: str
) -> None:
    many = {f"n{n}": f"{common} number {n}" for n in range(8)}
    notes = {**many, "named": f"# {rare}", "both": f"{rare} and {common}"}
    with texted(tmp_path, notes) as vault:
        assert set(vault.found(f"{rare} {common}")[:2]) == {"named", "both"}


def test_b43_a_sentence_of_a_note_puts_it_first(tmp_path: Path) -> None:
    topics = ["会議", "旅行", "料理", "音楽", "天気", "仕事"]
    notes = {
        f"n{n}": f"{topics[n % 6]}のメモ、その{n}番目です。次は{topics[(n + 1) % 6]}です。"
        for n in range(30)
    }
    with texted(tmp_path, notes) as vault:
        hits = vault.hits("会議のメモ、その18番目です。")
        assert next(iter(hits)) == "n18"
        assert hits["n18"].verbatim
        assert not any(hit.verbatim for name, hit in hits.items() if name != "n18")


def test_b43_another_word_for_it_still_shares_characters(tmp_path: Path) -> None:
    notes = {"db": "DB への接続", "other": "今日の天気", "third": "料理のメモ"}
    with texted(tmp_path, notes) as vault:
        assert vault.found("データベースの接続")[0] == "db"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Le café est fermé", "cafe"), ("Die Straße", "strasse"), ("Đường phố Hà Nội", "duong pho"),
        ("ビルの５階", "5階"), ("كتاب جديد", "كتاب"), ("Это ёлка", "ёлка"), ("한국어 문장", "한국"),
        ("ภาษาไทย", "ภาษา"), ("हिन्दी वाक्य", "हिन्दी"), ("ﾊﾟﾝ屋", "パン"), ("Łódź", "lodz"),
    ],
)  # fmt: skip
def test_words_of_every_script_are_found(tmp_path: Path, text: str, query: str) -> None:
    with texted(tmp_path, {"it": text, "other": "something else"}) as vault:
        assert vault.found(query) == ["it"]


def test_a_voicing_mark_makes_another_word(tmp_path: Path) -> None:
    with texted(tmp_path, {"pan": "パンを買う", "ban": "バンに乗る"}) as vault:
        assert vault.found("パン") == ["pan"]
