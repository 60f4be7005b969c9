"""Notes under git: their dates, their odd names, and a folder that never shows in `git status`."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from field_cases.conftest import Case, Json, MakeCase
from khiip_indexer.history import Activity, History
from khiip_indexer.index import VaultIndex
from khiip_sidecar.history import file_history
from khiip_sidecar.wire.history_view import history_view

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")

OLD, NEW = "2020-01-01T12:00:00Z", "2026-01-01T12:00:00Z"


def git(folder: Path, *args: str, when: str = NEW, ok: bool = True) -> str:
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}
    who |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    call = ["git", "-C", str(folder), "-c", "init.defaultBranch=main", *args]
    done = subprocess.run(
        call,
        capture_output=True,
        text=True,
        env=os.environ | who | dates | plain,
        check=False,
    )
    assert done.returncode == 0 or not ok, done.stderr
    return done.stdout


def commit(folder: Path, message: str, when: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message, when=when)


def history_of(case: Case, path_has: str) -> Json:
    """The history of notes as it goes over the wire."""
    with VaultIndex.open(case.settings) as index:
        edits = History(index.database, case.vault).edits(path_has)
    return history_view(file_history(edits))


def seconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp())


class TestDates:
    """B26"""

    def clone(self, make_case: MakeCase, tmp_path: Path, *more: str) -> Case:
        origin = tmp_path / "origin"
        origin.mkdir()
        git(origin, "init", "-q")
        for name, when in (("a.md", OLD), ("b.md", NEW)):
            (origin / name).write_text("---\ntitle: Pump\n---\nThe pump drips.\n")
            commit(origin, f"add {name}", when)
        case = make_case({})
        shutil.rmtree(case.vault)
        git(tmp_path, "clone", "-q", *more, origin.as_uri(), str(case.vault))
        (case.vault / ".obsidian").mkdir()
        return case

    def test_after_a_clone_the_dates_are_those_of_the_commits(
        self, make_case: MakeCase, tmp_path: Path
    ) -> None:
        case = self.clone(make_case, tmp_path)
        case.ok("reindex")
        for path, when in (("a.md", OLD), ("b.md", NEW)):
            capture = case.capture(path)
            assert (capture["recorded_at"], capture["recorded_at_from"]) == (when, "git")
            assert capture["modified_at"] == when
        assert case.paths("pump") == ["b.md", "a.md"], "equal scores, newest first"
        assert [row["vault_path"] for row in case.json("list")] == ["b.md", "a.md"]
        assert case.json("recall", "pump", "--since", "2025")["results"][0]["vault_path"] == "b.md"

    def test_a_date_in_the_note_wins_and_a_file_that_git_does_not_know_has_its_own(
        self, make_case: MakeCase, tmp_path: Path
    ) -> None:
        case = self.clone(make_case, tmp_path)
        case.write({"a.md": "---\ncreated: 2019-05-06\n---\nx", "new.md": "untracked"})
        case.ok("reindex")
        assert case.capture("a.md")["recorded_at_from"] == "frontmatter"
        assert case.capture("a.md")["recorded_at"].startswith("2019-05-06")
        assert case.capture("new.md")["recorded_at_from"] == "mtime"

    def test_a_pull_that_only_touches_times_changes_no_date(
        self, make_case: MakeCase, tmp_path: Path
    ) -> None:
        case = self.clone(make_case, tmp_path)
        case.ok("reindex")
        before = case.capture("a.md")
        for name in ("a.md", "b.md"):
            os.utime(case.vault / name)
        case.ok("reindex")
        assert case.capture("a.md") == before

    def test_a_clone_and_a_touch_are_no_activity(self, make_case: MakeCase, tmp_path: Path) -> None:
        case = self.clone(make_case, tmp_path)
        case.ok("reindex")
        for name in ("a.md", "b.md"):
            os.utime(case.vault / name)
        case.ok("reindex")
        with VaultIndex.open(case.settings) as index:
            active = History(index.database, case.vault).activity(seconds(OLD) + 1)
        assert active == {
            "a.md": Activity((), 1, seconds(OLD)),
            "b.md": Activity((seconds(NEW),), 1, seconds(NEW)),
        }


class TestNames:
    """B27"""

    def test_names_that_git_would_quote_have_their_history(self, make_case: MakeCase) -> None:
        case = make_case({"café メモ.md": "memo", 'tab\there "q".md': "odd", "plain.md": "plain"})
        git(case.vault, "init", "-q")
        commit(case.vault, "first", OLD)
        (case.vault / "café メモ.md").rename(case.vault / "résumé.md")
        commit(case.vault, "renamed", NEW)
        case.ok("reindex")
        for path in ("résumé.md", 'tab\there "q".md', "plain.md"):
            capture = case.capture(path)
            assert (capture["recorded_at"], capture["recorded_at_from"]) == (OLD, "git"), path
        history = history_of(case, "résumé.md")
        assert {each["path"] for each in history["paths_matched"]} == {"résumé.md", "café メモ.md"}
        assert [each["intent"] for each in history["user_intents"]] == ["renamed", "first"]
        assert (history["first_edit"], history["last_edit"]) == (OLD, NEW)
        assert history["history_state"] == "git"
        assert history_of(case, "tab\there")["total_edits"] == 1

    def test_a_shallow_clone_does_not_pass_its_cut_for_a_date(
        self, make_case: MakeCase, tmp_path: Path
    ) -> None:
        case = TestDates().clone(make_case, tmp_path, "--depth", "1")
        case.ok("reindex")
        assert case.capture("a.md")["recorded_at_from"] == "mtime"
        history = history_of(case, "a.md")
        assert history["history_state"].startswith("git_unavailable: this is a shallow clone")
        assert (history["total_edits"], history["paths_matched"]) == (0, [])

    @pytest.mark.parametrize("trouble", ["missing", "refuses"])
    def test_without_git_the_date_is_the_files_and_says_so(
        self, make_case: MakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
    ) -> None:
        case = make_case({"a.md": "memo"})
        git(case.vault, "init", "-q")
        commit(case.vault, "first", OLD)
        tools = tmp_path / "tools"
        tools.mkdir()
        if trouble == "refuses":
            (tools / "git").write_text("#!/bin/sh\necho 'fatal: dubious ownership' >&2\nexit 128\n")
            (tools / "git").chmod(0o755)
        monkeypatch.setenv("PATH", str(tools))
        case.ok("reindex")
        assert case.capture("a.md")["recorded_at_from"] == "mtime"
        assert case.paths("memo") == ["a.md"]
        why = {"refuses": "fatal: dubious ownership", "missing": "git was not found"}[trouble]
        history = history_of(case, "a.md")
        assert history["history_state"] == f"git_unavailable: {why}"
        assert (history["total_edits"], history["user_intents"]) == (0, [])


class TestStateFiles:
    """B28"""

    def test_the_index_never_shows_in_git(self, make_case: MakeCase) -> None:
        case = make_case({"a.md": "alpha"})
        git(case.vault, "init", "-q")
        commit(case.vault, "first", OLD)
        case.ok("reindex")
        with case.served():
            assert git(case.vault, "status", "--porcelain") == ""
        assert git(case.vault, "status", "--porcelain", "--untracked-files=all") == ""
        assert (case.settings.state / ".gitignore").read_text() == "*\n"

    def test_an_index_merged_by_git_is_made_anew(self, make_case: MakeCase, tmp_path: Path) -> None:
        case = make_case({"a.md": "alpha", "b.md": "beta"})
        git(case.vault, "init", "-q")
        case.ok("reindex")
        git(case.vault, "add", "-f", "-A", ".khiip")
        commit(case.vault, "with the index", OLD)
        other = tmp_path / "other"
        git(tmp_path, "clone", "-q", str(case.vault), str(other))
        (case.vault / "c.md").write_text("gamma")
        (other / "d.md").write_text("delta")
        case.ok("reindex", "--full")
        there = case.run("--vault", str(other), "reindex", "--full", vault=False)
        assert there.exit_code == 0, there.stderr
        for folder in (case.vault, other):
            manifest = folder / ".khiip" / "manifest.json"
            manifest.write_text(manifest.read_text().replace('"seq"', f'"{folder.name}"'))
            git(folder, "add", "-f", "-A", ".khiip")
            commit(folder, "more", NEW)
        git(case.vault, "pull", "-q", "--no-rebase", str(other), "main", ok=False)
        assert "<<<<<<<" in (case.settings.state / "manifest.json").read_text()
        texts = list(case.embedder.texts)
        done = case.ok("reindex")
        progress = ("reading: ", "embedding notes: ")
        assert (
            len([line for line in done.stderr.splitlines() if not line.startswith(progress)]) == 1
        )
        assert {row["vault_path"] for row in case.json("list")} >= {"a.md", "b.md", "c.md"}
        assert "sound" in case.ok("reindex", "--verify").stderr
        assert set(case.embedder.texts[len(texts) :]) <= set(texts) | {"d\n\ndelta"}

    def test_copies_that_a_cloud_drive_made_are_ignored(self, make_case: MakeCase) -> None:
        case = make_case({"a.md": "alpha"})
        case.ok("reindex")
        for name in ("cache (conflicted copy PC2).sqlite", "manifest (1).json", "vectors.1 2.hnsw"):
            (case.settings.state / name).write_bytes(b"junk")
        assert "nothing changed" in case.ok("reindex").stderr
        assert case.paths("alpha") == ["a.md"]
        assert "sound" in case.ok("reindex", "--verify").stderr

    def test_the_index_may_live_outside_the_vault(
        self, make_case: MakeCase, tmp_path: Path
    ) -> None:
        case = make_case({"a.md": "alpha"})
        state = tmp_path / "elsewhere" / "index"
        where = ("--vault", str(case.vault), "--state-dir", str(state))
        done = case.run(*where, "reindex", vault=False)
        assert done.exit_code == 0, done.stderr
        assert not (case.vault / ".khiip").exists()
        assert (state / "cache.sqlite").exists()
        found = case.run(*where, "recall", "alpha", vault=False)
        assert "a.md" in found.stdout
