"""`khiipd reindex`: what it says, what it changes, and how it ends."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable

import pytest

from cli.conftest import Khiipd
from khiip_indexer.disk import glance
from khiip_indexer.errors import VaultError
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import SyncReport
from khiip_indexer.types import Problem
from khiip_indexer.vault import Vault
from khiip_sidecar.cli.reindex import summary
from support import write_note

BROKEN = "---\nkey: `C:\\agent\\run` : x\n---\nThe body of b is there all the same."


def test_a_first_run_says_what_it_did_on_stderr_only(cli: Khiipd) -> None:
    result = cli.ok("reindex")
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith("indexed 3 notes (3 new, 3 texts embedded; ")


def test_a_second_run_embeds_nothing_and_says_that_nothing_changed(indexed: Khiipd) -> None:
    calls = indexed.embedder.calls
    result = indexed.ok("reindex")
    assert "nothing changed" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert indexed.embedder.calls == calls


def test_one_malformed_note_is_one_line_and_stops_nothing(
    make_khiipd: Callable[..., Khiipd],
) -> None:
    cli = make_khiipd({"a.md": "alpha", "b.md": BROKEN, "c.md": "gamma"})
    result = cli.run("reindex")
    assert result.exit_code == 3
    about_b = [line for line in result.stderr.splitlines() if "b.md" in line]
    assert len(about_b) == 1
    assert about_b[0].startswith("b.md:2: ")
    assert "indexed 3 notes, 1 with unreadable frontmatter" in result.stderr
    assert len(json.loads(cli.ok("list", "--json").stdout)) == 3
    again = cli.run("reindex")
    assert again.exit_code == 3
    assert "b.md" not in again.stderr


def test_many_templates_are_one_line_and_one_is_named(make_khiipd: Callable[..., Khiipd]) -> None:
    template = "---\ncreated: {{date}}\n---\n"
    cli = make_khiipd({"A.md": "alpha", "T/1.md": template})
    assert "T/1.md:2: a template" in cli.run("reindex").stderr
    for number in (2, 3):
        write_note(cli.settings.vault, f"T/{number}.md", template)
    result = cli.run("reindex", "--full")
    assert result.exit_code == 3
    assert "3 templates: their placeholders are kept as text\n" in result.stderr
    assert "T/1.md" not in result.stderr
    shown = cli.run("status").stdout
    assert "  3 templates: their placeholders are kept as text\n" in shown
    assert shown.count(".khiipignore") == 1
    assert len(json.loads(cli.run("status", "--json").stdout)["problems"]) == 3


def test_a_problem_between_two_notes_is_said_once(make_khiipd: Callable[..., Khiipd]) -> None:
    twin = "---\nid: same\n---\n"
    cli = make_khiipd({"a.md": f"{twin}alpha", "b.md": f"{twin}beta"})
    said = cli.run("reindex").stderr
    assert len([line for line in said.splitlines() if "the id" in line]) == 1
    assert "the id" not in cli.run("reindex").stderr


def test_the_report_as_json(indexed: Khiipd) -> None:
    write_note(indexed.settings.vault, "New.md", "a new note")
    report = json.loads(indexed.ok("reindex", "--json").stdout)
    assert (report["seen"], report["added"], report["removed"]) == (4, 1, 0)
    assert report["problems"] == []


def test_check_tells_and_changes_nothing(indexed: Khiipd) -> None:
    assert "up to date" in indexed.ok("reindex", "--check").stderr
    write_note(indexed.settings.vault, "New.md", "a new note")
    (indexed.settings.vault / "Bread.md").unlink()
    for _ in range(2):
        result = indexed.run("reindex", "--check")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "1 new, 1 removed; run khiipd reindex" in result.stderr
    report = json.loads(indexed.run("reindex", "--check", "--json").stdout)
    assert (report["added"], report["removed"]) == (1, 1)


@pytest.mark.parametrize("option", ["--check", "--verify"])
def test_looking_at_an_index_that_is_not_there_is_code_4(cli: Khiipd, option: str) -> None:
    assert cli.run("reindex", option).exit_code == 4
    assert not (cli.settings.state).exists()


def test_verify_tells_a_sound_index_from_a_damaged_one(indexed: Khiipd) -> None:
    assert "sound" in indexed.ok("reindex", "--verify").stderr
    assert json.loads(indexed.ok("reindex", "--verify", "--json").stdout) == []
    with VaultIndex.open(indexed.settings, write=True) as index, index.database.write() as writer:
        writer.execute("UPDATE passages SET text = text || ' changed by hand'")
    result = indexed.run("reindex", "--verify")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "cache.sqlite: " in result.stderr
    assert json.loads(indexed.run("reindex", "--verify", "--json").stdout)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("Bread.md", "no rule leaves it out"),
        (".obsidian/x.md", ".obsidian"),
        ("proj/node_modules/p/README.md", "node_modules"),
        ("Private/a.md", "Private/"),
        ("picture.png", ".md"),
    ],
)
def test_explain_names_the_rule(cli: Khiipd, path: str, said: str) -> None:
    (cli.settings.vault / ".obsidian" / "app.json").write_text(
        json.dumps({"userIgnoreFilters": ["Private/"]})
    )
    for typed in (path, str(cli.settings.vault / path)):
        result = cli.ok("reindex", "--explain", typed)
        assert result.stdout.startswith(f"{path}: ")
        assert said in result.stdout


def test_explain_says_what_is_no_note_whatever_its_name_says(cli: Khiipd) -> None:
    vault = cli.settings.vault
    (vault / "link.md").symlink_to(vault / "nothing")
    (vault / "also.md").symlink_to(vault / "Bread.md")
    said = cli.ok("reindex", "--explain", "link.md").stdout
    assert said == "link.md: left out: a symlink to nothing\n"
    said = cli.ok("reindex", "--explain", "also.md").stdout
    assert said == "also.md: left out: reached over a symlink; the note counts as Bread.md\n"


def test_explaining_a_path_without_a_file_says_so(cli: Khiipd) -> None:
    said = cli.ok("reindex", "--explain", "Notes/Nowhere.md").stdout
    assert said == "Notes/Nowhere.md: no rule leaves it out; it is not there now\n"


def test_explaining_a_path_outside_the_vault_is_wrong_usage(cli: Khiipd) -> None:
    result = cli.run("reindex", "--explain", "/etc/passwd")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "not in the vault" in result.stderr


def test_most_notes_gone_drops_nothing_until_told_so(make_khiipd: Callable[..., Khiipd]) -> None:
    cli = make_khiipd({f"{number}.md": f"note {number}" for number in range(40)})
    cli.ok("reindex")
    for number in range(1, 40):
        (cli.settings.vault / f"{number}.md").unlink()
    result = cli.run("reindex")
    assert result.exit_code == 1
    assert "--accept-deletions" in result.stderr
    cli.ok("reindex", "--accept-deletions")
    assert len(json.loads(cli.ok("list", "--json").stdout)) == 1


def test_while_another_process_writes_it_is_code_5_and_its_pid(indexed: Khiipd) -> None:
    with VaultIndex.open(indexed.settings, write=True, role="serve"):
        result = indexed.run("reindex")
    assert (result.exit_code, result.stdout) == (5, "")
    assert f"vault is served by pid {os.getpid()}" in result.stderr


def test_a_running_sidecar_does_the_work(indexed: Khiipd) -> None:
    with indexed.served():
        write_note(indexed.settings.vault, "New.md", "the newest note of all")
        result = indexed.ok("reindex", "--json")
        assert json.loads(result.stdout)["seen"] == 4
        assert "indexed 4 notes" in result.stderr
        assert "New" in indexed.ok("recall", "the newest note of all", "--limit", "1").stdout


def test_a_problem_found_by_the_sidecar_ends_like_one_found_here(
    indexed: Khiipd, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By its own watching the sidecar might find the note before it is asked to.
    monkeypatch.setattr("khiip_indexer.watcher.Watcher.start", lambda _: None)
    with indexed.served():
        write_note(indexed.settings.vault, "b.md", BROKEN)
        result = indexed.run("reindex")
    assert result.exit_code == 3
    assert "b.md:2: " in result.stderr


def test_a_note_whose_embedding_fails_is_counted_and_the_rest_is_indexed(cli: Khiipd) -> None:
    cli.embedder.fail_on = lambda text: "moon" in text
    result = cli.run("reindex")
    assert result.exit_code == 3
    assert "1 not embedded" in result.stderr
    assert "Quipu" in cli.ok("recall", "knots in cords").stdout


def test_nothing_is_asked_of_the_network(cli: Khiipd, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("no connection was due")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    cli.ok("reindex")
    cli.ok("recall", "moon")


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (SyncReport(seen=1, unchanged=1, seconds=0.04), "indexed 1 note (nothing changed; 0.0 s)"),
        (
            SyncReport(seen=1500, added=2, changed=1, moved=3, removed=4, seconds=61.25),
            "indexed 1,500 notes (2 new, 1 changed, 3 moved, 4 removed; 61.2 s)",
        ),
        (
            SyncReport(seen=3, added=3, with_problems=1),
            "indexed 3 notes, 1 with problems (3 new; 0.0 s)",
        ),
        (
            SyncReport(seen=3, with_problems=1, problems=(Problem("a", "frontmatter_x", "r"),)),
            "indexed 3 notes, 1 with unreadable frontmatter (nothing changed; 0.0 s)",
        ),
    ],
)
def test_the_summary_is_a_sentence(report: SyncReport, said: str) -> None:
    assert summary(report) == said


def test_a_note_that_could_not_be_read_is_looked_for_by_the_next_run(
    indexed: Khiipd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in the vault shows that a drive is back: one look must not settle it."""
    vault, seen = indexed.settings.vault, indexed.settings.state / glance.SEEN_FILE

    def refuse(*_: object) -> object:
        raise VaultError("It could not be read in time.", code="read_timeout")

    for place, note in enumerate(vault.rglob("*.md")):
        os.utime(note, (1000 + place, 1000 + place))
    with monkeypatch.context() as patch:
        patch.setattr(Vault, "read", refuse)
        indexed.run("reindex")
        assert not seen.exists()
    indexed.ok("reindex")
    assert seen.exists()
