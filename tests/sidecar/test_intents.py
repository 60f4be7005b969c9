"""What a person meant with a commit, and what a machine said."""

from __future__ import annotations

import pytest

from khiip_sidecar.intents import INTENT_CHARS, intent_of, is_automatic, without_trailers


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "   ",
        "vault backup",
        "vault backup: 2024-05-06 07:08:09",
        "Vault Backup: 2024-05-06 07:08:09 (laptop)",
        "vault backup: Mon May 6 2024",
        "Last Sync: 2024-05-06 07:08 (Mobile)",
        "Auto backup",
        "auto-backup 2024-05-06",
        "Automatic commit: 3 files changed",
        "autosave",
        "Auto saved by Logseq",
        "chore: sync",
        "chore(vault): backup 2026-01-31T10:00:00Z",
        "chore: auto-sync",
        "sync",
        "Sync from iPhone",
        "Obsidian sync 06/05/2024, 10:15 PM",
        "Backup @ 10:00",
        "notes updated",
        "daily snapshot",
        "git commit 12",
        "Update from MacBook Pro of Ada",
        "[logseq-plugin-git:commit] 2024-05-06T07:08:09.000Z",
        "Add files via upload",
        "Merge branch 'main' of example.org:ada/vault",
        "Merge remote-tracking branch 'origin/main'",
        "fixup! Plan the move",
        "2024-05-06 07:08",
        "2024-05-06T07:08:09Z",
    ],
)
def test_a_tools_message_is_no_intent(subject: str) -> None:
    assert is_automatic(subject)
    assert intent_of(subject, "Affected files:\na.md") == ""


@pytest.mark.parametrize(
    "subject",
    [
        "Backup strategy for the server",
        "Automatic backup of the server set up",
        "sync: settle the conflict in the plan",
        "Sync on save is broken on Windows",
        "Last sync failed, why",
        "Vault door measured",
        "Update the plan for May",
        "Update README.md",
        "Auto loan compared",
        "Git commit hooks explained",
        "Merge the two reading lists",
        "Merged notes on pumps",
        "chore: tidy the inbox",
        "initial commit",
        "Notes on the 2nd meeting",
        "z",
        "バックアップの方針",
    ],
)
def test_a_persons_sentence_is_one(subject: str) -> None:
    assert not is_automatic(subject)
    assert intent_of(subject, "") == subject


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        ("", ""),
        ("Why it must move.", "Why it must move."),
        ("Why: the old one drips.", "Why: the old one drips."),
        ("One.\n\nTwo.", "One.\n\nTwo."),
        ("Session-Id: s1", ""),
        ("Why.\n\nSession-Id: s1\nCo-authored-by: A <a@example.org>", "Why."),
        ("Why.\r\n\r\nSigned-off-by: A\r\n", "Why."),
        ("Why.\n\nFixes: #12\nChange-Id: abc\n  and on", "Why."),
        ("Why.\nSession-Id: s1\nBecause.", "Why.\nBecause."),
        ("Session-Id: s1\n\nWhy.", "Why."),
        ("(cherry picked from commit abc)", ""),
        ("Why.\n\nTo-do: now\nand then home", "Why.\n\nTo-do: now\nand then home"),
    ],
)
def test_trailers_are_not_part_of_what_was_meant(body: str, rest: str) -> None:
    assert without_trailers(body) == rest


def test_subject_and_body_are_one_text_that_is_cut() -> None:
    assert intent_of("Subject ", "Body.\n\nSession-Id: s") == "Subject\n\nBody."
    long = intent_of("Subject", "word " * 500)
    assert len(long) <= INTENT_CHARS + 1
    assert long.startswith("Subject\n\nword word")
    assert long.endswith("w…")


def test_a_long_subject_takes_no_long_time() -> None:
    for start in ("sync ", "auto sync ", "vault ", "chore(", "2024 "):
        assert not is_automatic(start + "1 from " * 3000 + "x y z w!" + "-" * 3000 + "\n?")
