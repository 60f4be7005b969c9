"""The sample vault and its questions: facts that need no index, and the recall they promise."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from khiip_indexer.captures import read_capture
from khiip_indexer.types import SOURCES, Capture, Dates, NoteFile

ROOT = Path(__file__).resolve().parents[1]
VAULT = ROOT / "fixtures" / "vaults" / "sample"
QUESTIONS = ROOT / "fixtures" / "recall" / "questions.jsonl"

CLIPPED = ("Clippings/", "Literature/", "Readwise/", "captures/")

# Words that carry no meaning of their own in a question.
STOP_WORDS = """
about after also because been being beyond could down during every from have instead into just like
made make more must once only over should some still than that them then there these they this those
under very what when where which while whose will with without your
"""
STOP = frozenset(STOP_WORDS.split())


def notes() -> list[str]:
    """Vault-relative paths of the notes that a reader of this vault should see."""
    found = (p.relative_to(VAULT).as_posix() for p in VAULT.rglob("*.md"))
    hidden = ("Private/", ".")
    return sorted(p for p in found if not p.startswith(hidden))


def text_of(path: str) -> str:
    raw = (VAULT / path).read_bytes()
    return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\0", " ")


def questions() -> list[dict[str, Any]]:
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def stem(word: str) -> str:
    """A rough stem, enough to see that `knots` and `knot`, or `asked` and `ask`, are one word."""
    for suffix in ("ing", "ed", "es", "s", "ly", "e"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def telling_stems(text: str) -> set[str]:
    """The stems by which a search for words would find `text`."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"[^\W\d_]{2,}", folded)
    return {stem(w) for w in words if len(w) >= 4 and w not in STOP}


def answering_text(question: dict[str, Any]) -> str:
    """The paragraph that answers (found by the question's `answer`), else the whole note."""
    text = text_of(question["path"])
    answer = question.get("answer")
    if answer is None:
        return text
    return next(p for p in text.split("\n\n") if answer in p)


def capture(path: str) -> Capture:
    """The note as a capture, with file times that say nothing."""
    dates = Dates(mtime=datetime(2026, 11, 1, tzinfo=UTC))
    return read_capture(NoteFile(path, (VAULT / path).read_bytes(), dates), "sample")


def test_the_vault_holds_as_many_notes_as_the_readme_says() -> None:
    assert len(notes()) == 79


def test_every_source_has_at_least_four_notes() -> None:
    counts = Counter(capture(path).source for path in notes())
    assert set(counts) == set(SOURCES)
    assert min(counts.values()) >= 4, counts


def test_clips_and_imports_are_recognised_for_what_they_are() -> None:
    sources = {path: capture(path).source for path in notes()}
    assert {p for p, s in sources.items() if s == "note" and p.startswith(CLIPPED)} == set()
    assert {p for p, s in sources.items() if s != "note" and not p.startswith(CLIPPED)} == set()


def test_nearly_every_note_says_itself_when_it_was_written() -> None:
    weak = {path for path in notes() if capture(path).recorded_at_from == "mtime"}
    assert weak == {
        "Literature/@holmSplices2011.md",
        "Notes/Bench for the north wall.md",
        "Notes/Letter from the harbour board.md",
        "Projects/Wayside board.md",
        "Readwise/Tweets/Kerning is the space you....md",
        "Templates/Daily.md",
    }


def test_only_the_broken_notes_and_the_template_have_problems() -> None:
    assert {p: [x.code for x in capture(p).problems] for p in notes() if capture(p).problems} == {
        "Literature/@holmSplices2011.md": ["frontmatter_invalid"],
        "Notes/Bench for the north wall.md": ["frontmatter_unclosed"],
        "Notes/Letter from the harbour board.md": ["frontmatter_malformed"],
        "Notes/Teaching Liv to swim.md": ["frontmatter_hash"],
        "Templates/Daily.md": ["template"],
    }


def test_the_excluded_and_the_deleted_note_are_there_to_be_skipped() -> None:
    assert (VAULT / "Private" / "Doctor.md").is_file()
    assert (VAULT / ".trash" / "Old novel, chapter one.md").is_file()
    settings = json.loads((VAULT / ".obsidian" / "app.json").read_text(encoding="utf-8"))
    assert settings["userIgnoreFilters"] == ["Private/"]


def test_git_keeps_every_file_of_the_vault_byte_for_byte() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "fixtures/vaults/sample"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    tracked = {name.decode("utf-8") for name in listed.stdout.split(b"\0") if name}
    on_disk = {
        p.relative_to(ROOT).as_posix()
        for p in VAULT.rglob("*")
        if p.is_file() and ".khiip" not in p.parts
    }
    assert on_disk <= tracked
    assert "* -text" in (VAULT / ".gitattributes").read_text(encoding="utf-8")


def test_the_broken_notes_are_still_broken() -> None:
    tortilla = (VAULT / "Notes/Tortilla de mi abuela.md").read_bytes()
    assert tortilla.startswith(b"\xef\xbb\xbf---\r\n")
    assert b"\0" in (VAULT / "Notes/Ghost signs.md").read_bytes()
    assert text_of("Notes/Bench for the north wall.md").count("---") == 1
    assert text_of("Notes/Letter from the harbour board.md").startswith("---\n**")
    assert "\ntags: #foo\n" in text_of("Notes/Teaching Liv to swim.md")
    assert "title: Splices and hitches: " in text_of("Literature/@holmSplices2011.md")


def test_two_notes_claim_one_id_and_no_others_do() -> None:
    ids = Counter(
        m[1]
        for m in (re.search(r'^id: "?([0-9A-Z]{26})"?$', text_of(p), re.M) for p in notes())
        if m
    )
    assert {name: n for name, n in ids.items() if n > 1} == {"01JPACK0000000000000000001": 2}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("Clippings/How the sea was put on a timetable.md", 3000),
        ("Literature/Twelve o'clock at dusk.md", 3900),
        ("Notes/A year in the keeper's cottage.md", 1800),
    ],
)
def test_the_long_notes_do_not_fit_any_window(path: str, words: int) -> None:
    assert len(re.sub(r"\(zotero:[^)]*\)", "", text_of(path)).split()) >= words


@pytest.mark.parametrize("script", ["HIRAGANA", "CJK UNIFIED", "HANGUL", "ARABIC"])
def test_notes_in_other_scripts_are_there(script: str) -> None:
    def written_in_it(path: str) -> bool:
        return any(unicodedata.name(c, "").startswith(script) for c in text_of(path))

    assert any(written_in_it(p) for p in notes())


def test_every_memory_layer_is_there_under_one_of_its_other_names() -> None:
    written = {m[1] for p in notes() for m in re.finditer(r"^layer: (\w+)$", text_of(p), re.M)}
    assert written == {"why", "timing", "mood", "attempts", "pitfalls", "insights"}
    read = {layer for p in notes() if (layer := capture(p).layer)}
    assert read >= {"goal", "context", "emotion", "implementation", "caveat", "learning"}


def test_the_essay_keeps_its_telling_sentence_for_the_very_end() -> None:
    essay = text_of("Notes/A year in the keeper's cottage.md")
    assert essay.endswith("a second set hangs on a nail behind the rain barrel.\n")


def test_there_are_forty_questions_with_names_of_their_own() -> None:
    asked = questions()
    assert len(asked) >= 40
    assert len({q["id"] for q in asked}) == len({q["query"] for q in asked}) == len(asked)
    assert {q["within"] for q in asked} <= {1, 3, 5}


each_question = pytest.mark.parametrize("question", questions(), ids=lambda q: q["id"])
"""Runs a test once a question: a dict of id, query, path, within, by_word, why, and answer."""


@each_question
def test_a_question_names_a_visible_note_that_holds_the_answer(question: dict[str, Any]) -> None:
    assert question["path"] in notes()
    assert question.get("answer", "") in text_of(question["path"])


@each_question
def test_a_question_by_meaning_shares_no_telling_word_with_its_answer(
    question: dict[str, Any],
) -> None:
    shared = telling_stems(question["query"]) & telling_stems(answering_text(question))
    assert bool(shared) is question["by_word"], sorted(shared)


def test_most_questions_are_by_meaning_alone() -> None:
    assert sum(not q["by_word"] for q in questions()) >= 32
