"""Who edited which note when, from real repositories and from the journal."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexer.test_git_scenarios import DAY, START, Repo, long_history
from indexing import reindex, write
from khiip_indexer.config import Settings
from khiip_indexer.disk import git, gitlog
from khiip_indexer.history import Edits, History, NoteEdit
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import journal
from khiip_indexer.storage.commit_queries import Activity
from support import FakeEmbedder, make_vault

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
FAR = 4_000_000_000


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(make_vault(tmp_path / "vault", {}))
    made.git("init", "-q", "-b", "main")
    made.commit(
        {"a.md": "alpha " * 9, "b/c.md": "gamma"}, "start\n\nWhy we start.\n\nSession-Id: s1"
    )
    made.sync()
    return made


@pytest.fixture
def index(repo: Repo) -> Iterator[VaultIndex]:
    with VaultIndex.open(repo.settings) as opened:
        yield opened


def history(index: VaultIndex) -> History:
    return History(index.database, index.settings.vault, index.settings.exclude)


def asked(settings: Settings, path_has: str) -> Edits:
    with VaultIndex.open(settings) as index:
        return history(index).edits(path_has)


def plain(edits: Edits) -> list[tuple[str, str, int]]:
    """(operation, path, days since the start), newest first."""
    return [(e.operation, e.path, (e.at - START) // DAY) for e in edits.edits]


def known(settings: Settings, path_has: str) -> list[tuple[str, str, int]]:
    edits = asked(settings, path_has)
    assert edits.state == "git"
    return plain(edits)


def test_an_edit_comes_with_its_commit(repo: Repo) -> None:
    (edit,) = asked(repo.settings, "a.md").edits
    assert edit[:5] == ("a.md", START + DAY, "created", None, 1)
    commit = edit.commit
    assert commit is not None
    assert (commit.subject, commit.session, commit.author) == ("start", "s1", "A <a@example.org>")
    assert commit.body == "Why we start.\n\nSession-Id: s1"
    assert commit.hash == repo.git("rev-parse", "HEAD").strip()
    assert edit.origin == "git"


def test_a_path_is_found_by_any_part_in_any_case(repo: Repo) -> None:
    repo.commit({"B/Ünder.md": "x"})
    repo.sync()
    assert {edit[1] for edit in known(repo.settings, "b/")} == {"b/c.md", "B/Ünder.md"}
    assert known(repo.settings, "ÜNDER") == [("created", "B/Ünder.md", 2)]
    assert known(repo.settings, "U\u0308nder") == [("created", "B/Ünder.md", 2)]
    for odd in ("%", "\ud800", "a\0b", "a.md\0"):
        assert known(repo.settings, odd) == []
    assert len(known(repo.settings, "")) == 3


def test_names_that_git_would_quote_have_their_history_and_renames_are_followed(
    repo: Repo,
) -> None:
    names = ["café メモ.md", 'tab\tand "quote".md', " lead.md", "new\nline.md", "commit.md"]
    repo.commit({name: f"unique text of {name!r}" for name in names})
    repo.git("mv", names[0], "résumé.md")
    repo.commit({})
    repo.sync()
    whole = [("renamed", "résumé.md", 3), ("created", "café メモ.md", 2)]
    for name in ("résumé.md", names[0]):
        assert known(repo.settings, name) == whole
    assert asked(repo.settings, "résumé").edits[0].from_path == names[0]
    for name in names[1:]:
        assert known(repo.settings, name) == [("created", name, 2)]


def test_a_name_that_is_no_utf8_has_its_history(repo: Repo) -> None:
    raw = os.fsencode(repo.vault) + b"/caf\xe9.md"
    Path(os.fsdecode(raw)).write_text("latin")
    repo.commit({})
    repo.sync()
    assert known(repo.settings, "caf") == [("created", "caf\ufffdE9.md", 2)]
    assert repo.capture("caf\ufffdE9.md").recorded_at_from == "git"


def test_a_name_that_another_note_takes_over_keeps_both_histories_apart(repo: Repo) -> None:
    repo.git("mv", "a.md", "old.md")
    repo.commit({})
    repo.commit({"a.md": "quite another text"})
    repo.sync()
    assert known(repo.settings, "old.md") == [("renamed", "old.md", 2), ("created", "a.md", 1)]
    assert known(repo.settings, "a.md") == [
        ("created", "a.md", 3), ("renamed", "old.md", 2), ("created", "a.md", 1),
    ]  # fmt: skip
    with VaultIndex.open(repo.settings) as index:
        active = history(index).activity(0)
    assert active["a.md"] == Activity((START + 3 * DAY,), 1, START + 3 * DAY)
    assert active["old.md"] == Activity((START + DAY,), 1, START + DAY)


def test_deleted_notes_keep_their_history_and_go_on_with_it_when_they_come_back(
    repo: Repo,
) -> None:
    repo.commit({"a.md": None})
    repo.commit({"a.md": "again"})
    repo.sync()
    assert known(repo.settings, "a.md") == [
        ("created", "a.md", 3), ("deleted", "a.md", 2), ("created", "a.md", 1),
    ]  # fmt: skip


def test_a_merge_counts_once_and_only_what_it_did_on_its_own(repo: Repo) -> None:
    repo.commit({"both.md": "".join(f"line {n}\n" for n in range(30))})
    repo.git("switch", "-q", "-c", "other")
    repo.commit({"theirs.md": "x", "both.md": "".join(f"line {n}\n" for n in range(31))})
    repo.git("switch", "-q", "main")
    repo.commit({"both.md": "first\n" + "".join(f"line {n}\n" for n in range(30))})
    repo.day += 1
    repo.git("merge", "-q", "--no-commit", "other")
    repo.commit({"evil.md": "only in the merge", "b/c.md": None})
    repo.sync()
    assert known(repo.settings, "theirs") == [("created", "theirs.md", 3)]
    assert [e[0] for e in known(repo.settings, "both")] == ["modified", "modified", "created"]
    assert known(repo.settings, "evil") == [("created", "evil.md", 6)]
    assert asked(repo.settings, "evil").edits[0].commit.merge  # type: ignore[union-attr]
    assert known(repo.settings, "c.md")[0] == ("deleted", "b/c.md", 6)
    assert repo.capture("evil.md").recorded_at_from == "git"


def test_a_note_renamed_on_one_branch_and_edited_on_another_is_one(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "other")
    repo.commit({"a.md": "alpha " * 9 + "\nand more"})
    repo.git("switch", "-q", "main")
    repo.git("mv", "a.md", "z.md")
    repo.commit({})
    repo.git("merge", "-q", "--no-edit", "other")
    repo.sync()
    assert sorted(e[0] for e in known(repo.settings, "z.md")) == ["created", "modified", "renamed"]


def test_what_is_no_note_has_no_history_also_where_it_was_one(repo: Repo) -> None:
    repo.commit({"Private/p.md": "secret " * 9, "node_modules/x/R.md": "x", "pic.png": "x"})
    repo.git("mv", "Private/p.md", "p.md")
    repo.commit({".obsidian/app.json": '{"userIgnoreFilters": ["Private/"]}', ".hid/d.md": "x"})
    repo.sync()
    assert known(repo.settings, "p.md") == [("renamed", "p.md", 3)]
    assert asked(repo.settings, "p.md").edits[0].from_path is None
    for text in ("Private", "node_modules", ".hid", ".obsidian", "png", "../"):
        assert known(repo.settings, text) == [], text


def test_rules_that_change_are_followed_by_the_same_object(repo: Repo, index: VaultIndex) -> None:
    asking = history(index)
    assert plain(asking.edits("b/")) == [("created", "b/c.md", 1)]
    (repo.vault / ".khiipignore").write_text("b/\n")
    assert asking.edits("b/").edits == ()


def listen(monkeypatch: pytest.MonkeyPatch, name: str, calls: list[tuple[str, ...]]) -> None:
    """Note what git is called with."""
    real = getattr(git, name)

    def heard(vault: Path, *arguments: str) -> object:
        calls.append(arguments)
        return real(vault, *arguments)

    monkeypatch.setattr(git, name, heard)


class TestNotStoredYet:
    """HEAD has moved, and the writer has not synced."""

    def test_new_commits_are_read_alone_and_once(
        self, repo: Repo, index: VaultIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asking = history(index)
        assert len(asking.edits("a.md").edits) == 1
        calls: list[tuple[str, ...]] = []
        listen(monkeypatch, "run", calls)
        listen(monkeypatch, "fields", calls)
        for _ in range(3):
            asking.edits("a.md")
        assert calls == [], "nothing has moved: no process"
        before = repo.git("rev-parse", "HEAD").strip()
        repo.git("mv", "a.md", "new.md")
        repo.commit({"fresh.md": "x"})
        for _ in range(3):
            assert plain(asking.edits("new.md")) == [
                ("renamed", "new.md", 2),
                ("created", "a.md", 1),
            ]
        assert plain(asking.edits("a.md")) == plain(asking.edits("new.md"))
        assert plain(asking.edits("fresh")) == [("created", "fresh.md", 2)]
        logs = [call for call in calls if call[0] == "log"]
        assert len(logs) == 1
        assert any(word.startswith(f"{before}..") for word in logs[0])

    def test_it_says_the_same_as_after_the_sync(self, repo: Repo, index: VaultIndex) -> None:
        repo.git("mv", "a.md", "new.md")
        repo.commit({"b/c.md": "changed"})
        repo.commit({"new.md": "rewritten from the start", "b/d.md": "x", "b/c.md": None})
        before = [asked(repo.settings, text) for text in ("a.md", "b/", "")]
        repo.sync()
        assert [asked(repo.settings, text) for text in ("a.md", "b/", "")] == before

    def test_activity_counts_them(self, repo: Repo, index: VaultIndex) -> None:
        asking = history(index)
        repo.commit({"b/c.md": "changed"})
        two = START + 2 * DAY
        assert asking.activity(two)["b/c.md"] == Activity((two,), 2, START + DAY)
        assert asking.activity(two)["a.md"] == Activity((), 1, START + DAY)
        mark = asking.mark()
        repo.sync()
        assert asking.activity(two)["b/c.md"] == Activity((two,), 2, START + DAY)
        assert asking.mark() != mark
        assert asking.mark() == asking.mark()

    def test_a_rewritten_history_leaves_out_what_is_gone(self, repo: Repo) -> None:
        repo.commit({"a.md": "first version"}, "gone soon")
        repo.sync()
        repo.git("commit", "-q", "--amend", "-m", "amended", "--date", f"{START + 9 * DAY} +0000")
        expected = [("modified", "a.md", 9), ("created", "a.md", 1)]
        assert known(repo.settings, "a.md") == expected
        repo.sync()
        assert known(repo.settings, "a.md") == expected
        repo.git("reset", "-q", "--hard", "HEAD~1")
        assert known(repo.settings, "a.md") == expected[1:]
        with VaultIndex.open(repo.settings) as index:
            assert history(index).activity(0)["a.md"].edits == 1

    def test_a_history_that_has_nothing_in_common_with_the_stored_one(self, repo: Repo) -> None:
        shutil.rmtree(repo.vault / ".git")
        repo.git("init", "-q", "-b", "main")
        repo.commit({}, "a new start")
        assert known(repo.settings, "a.md") == [("created", "a.md", 2)]
        repo.sync()
        assert known(repo.settings, "a.md") == [("created", "a.md", 2)]


class TestUncommitted:
    """The journal tells what git does not know yet, and nothing twice."""

    def test_an_edit_is_the_journals_until_it_is_committed(self, repo: Repo) -> None:
        write(repo.settings, "a.md", "edited")
        os.utime(repo.vault / "a.md", (START + 5 * DAY, START + 5 * DAY))
        repo.sync()
        found = asked(repo.settings, "a.md")
        assert plain(found) == [("modified", "a.md", 5), ("created", "a.md", 1)]
        assert [edit.origin for edit in found.edits] == ["journal", "git"]
        repo.day = 5
        repo.commit({})
        for _ in range(2):
            assert plain(asked(repo.settings, "a.md")) == [
                ("modified", "a.md", 6), ("created", "a.md", 1),
            ]  # fmt: skip
            with VaultIndex.open(repo.settings) as index:
                assert history(index).activity(0)["a.md"].edits == 2
            repo.sync()

    def test_a_rename_and_a_deletion(self, repo: Repo) -> None:
        (repo.vault / "a.md").rename(repo.vault / "moved.md")
        (repo.vault / "b/c.md").unlink()
        reindex(repo.settings, repo.embedder, accept_deletions=True)
        for name in ("a.md", "moved.md"):
            assert [e[:2] for e in known(repo.settings, name)] == [
                ("renamed", "moved.md"), ("created", "a.md"),
            ]  # fmt: skip
        assert [e[0] for e in known(repo.settings, "c.md")] == ["deleted", "created"]
        with VaultIndex.open(repo.settings) as index:
            assert history(index).activity(0) == {
                "moved.md": Activity((START + DAY,), 1, START + DAY)
            }
        repo.commit({})
        for _ in range(2):
            assert [e[0] for e in known(repo.settings, "moved.md")] == ["renamed", "created"]
            assert [e[0] for e in known(repo.settings, "c.md")] == ["deleted", "created"]
            assert all(e.origin == "git" for e in asked(repo.settings, "").edits)
            repo.sync()

    def test_a_pull_is_not_told_twice(self, repo: Repo) -> None:
        repo.git("mv", "a.md", "moved.md")
        repo.commit({"b/c.md": None, "new.md": "x"})
        reindex(repo.settings, repo.embedder, accept_deletions=True)
        assert all(edit.origin == "git" for edit in asked(repo.settings, "").edits)

    def test_a_note_that_git_ignores_has_its_journal(self, repo: Repo) -> None:
        repo.commit({".gitignore": "mine.md\n"})
        write(repo.settings, "mine.md", "not for git")
        repo.sync()
        (edit,) = asked(repo.settings, "mine").edits
        assert (edit.operation, edit.origin) == ("created", "journal")


class TestWithoutGit:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        made = make_vault(tmp_path / "v", {"a.md": "alpha", "old.md": "old"})
        reindex(made, FakeEmbedder())
        return made

    def test_the_journal_tells_and_follows_renames(self, settings: Settings) -> None:
        at = int(time.time()) - 100
        os.utime(write(settings, "a.md", "edited"), (at, at))
        reindex(settings, FakeEmbedder())
        (settings.vault / "a.md").rename(settings.vault / "b.md")
        reindex(settings, FakeEmbedder())
        for name in ("a.md", "b.md", "B.MD"):
            found = asked(settings, name)
            assert found.state == "journal"
            assert [(e.operation, e.path, e.from_path) for e in found.edits] == [
                ("renamed", "b.md", "a.md"), ("modified", "a.md", None),
            ]  # fmt: skip
        with VaultIndex.open(settings) as index:
            assert history(index).activity(0) == {"b.md": Activity((at,), 1, at)}

    def test_rows_that_stand_for_several_edits_count_as_many(self, settings: Settings) -> None:
        with VaultIndex.open(settings, write=True) as index:
            with index.database.write() as writer:
                journal.log(writer, journal.Edit("a.md", START, "modified", edits=4))
                journal.log(writer, journal.Edit("a.md", START + DAY, "modified"))
                journal.log(writer, journal.Edit("gone.md", START, "created"))
            active = history(index).activity(START + 1)
        assert active == {"a.md": Activity((START + DAY,), 5, START)}

    def test_a_name_taken_over_belongs_to_its_new_note_from_then_on(
        self, settings: Settings
    ) -> None:
        (settings.vault / "a.md").rename(settings.vault / "b.md")
        reindex(settings, FakeEmbedder())
        os.utime(write(settings, "a.md", "another"), (FAR, FAR))
        time.sleep(1.1)  # the journal counts in seconds
        reindex(settings, FakeEmbedder())
        assert [e.path for e in asked(settings, "b.md").edits] == ["b.md"]
        assert [e.path for e in asked(settings, "a.md").edits] == ["a.md", "b.md"]

    def test_no_history_is_said_to_be_none(self, settings: Settings) -> None:
        assert asked(settings, "a.md") == Edits("journal", ())

    def test_without_git_or_commits_or_with_a_cut_history_it_says_why(
        self, settings: Settings, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        subprocess.run(["git", "init", "-q", str(settings.vault)], check=True)
        unborn = asked(settings, "a.md")
        assert unborn == Edits("git_unavailable: the repository has no commits yet", ())
        repo.commit({"a.md": "two"})
        target = tmp_path / "shallow"
        repo.git("clone", "-q", "--depth", "1", repo.vault.as_uri(), str(target))
        cut = make_vault(target, {})
        reindex(cut, FakeEmbedder())
        state = "git_unavailable: this is a shallow clone, its history is cut off"
        assert asked(cut, "a.md") == Edits(state, ())
        repo.git("-C", str(target), "fetch", "-q", "--unshallow")
        assert [e[0] for e in known(cut, "a.md")] == ["modified", "created"]
        monkeypatch.setenv("PATH", str(tmp_path))
        assert asked(repo.settings, "a.md") == Edits("git_unavailable: git was not found", ())

    def test_a_refusal_is_told_in_gits_words_and_asked_again(
        self, repo: Repo, index: VaultIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asking = history(index)
        double = tmp_path / "bin" / "git"
        double.parent.mkdir()
        double.write_text(
            "#!/bin/sh\necho \"fatal: detected dubious ownership in repository at '/v'\" >&2\n"
            'echo "To add an exception" >&2\nexit 128\n'
        )
        double.chmod(0o755)
        path = os.environ["PATH"]
        monkeypatch.setenv("PATH", f"{double.parent}:{path}")
        assert asking.edits("a.md").state == (
            "git_unavailable: fatal: detected dubious ownership in repository at '/v'"
        )
        monkeypatch.setenv("PATH", path)
        assert asking.edits("a.md").state == "git"


def test_a_vault_below_the_top_of_its_repository(tmp_path: Path) -> None:
    top = tmp_path / "top"
    repo = Repo(make_vault(top / "my vault", {}))
    subprocess.run(["git", "init", "-q", "-b", "main", str(top)], check=True)
    repo.commit({"ä.md": "inside"})
    (top / "outside.md").write_text("no note of the vault")
    repo.commit({})
    repo.sync()
    assert known(repo.settings, "") == [("created", "ä.md", 1)]


def test_a_worktree_has_the_history_of_its_branch(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "w" / "vault"), "HEAD")
    tree = Repo(make_vault(tmp_path / "w" / "vault", {}))
    tree.day = 4
    tree.sync()
    tree.commit({"side.md": "x"})
    assert known(tree.settings, "side") == [("created", "side.md", 5)]
    assert known(repo.settings, "side") == []


def test_an_index_whose_history_was_never_stored_is_told_what_git_knows(tmp_path: Path) -> None:
    repo = Repo(make_vault(tmp_path / "v", {"a.md": "alpha"}))
    reindex(repo.settings, repo.embedder)
    repo.git("init", "-q", "-b", "main")
    repo.commit({})
    assert known(repo.settings, "a.md") == [("created", "a.md", 1)]


def test_what_is_taken_in_step_by_step_is_what_one_reading_gives(repo: Repo) -> None:
    repo.git("fast-import", "--quiet", "--force", stdin=long_history(300))
    for back in (250, 120, 3, 0):
        repo.git("switch", "-q", "-f", "--detach", f"long~{back}")
        repo.sync(accept_deletions=True)
    # The journal has notes besides that other branches hold, and this one does not know.
    steps = [edit for edit in asked(repo.settings, "").edits if edit.commit is not None]
    shutil.rmtree(repo.settings.state)
    repo.sync()
    assert steps == list(asked(repo.settings, "").edits)
    assert len(steps) > 300
    counted = sum(
        change.operation != "merged"
        for commit in gitlog.commits(repo.vault, None, "HEAD", "")
        for change in commit.changes
    )
    assert len(steps) == counted


def test_a_date_in_the_future_is_now(repo: Repo) -> None:
    repo.day = 25_000
    repo.commit({"later.md": "x"})
    for _ in range(2):
        (edit,) = asked(repo.settings, "later").edits
        assert edit.at <= time.time()
        repo.sync()


def test_many_threads_ask_while_commits_are_made_and_taken_in(
    repo: Repo, index: VaultIndex
) -> None:
    asking = history(index)

    def ask(_: int) -> int:
        asking.activity(0)
        return len(asking.edits("a.md").edits)

    with ThreadPoolExecutor(4) as pool:
        counts = [list(pool.map(ask, range(12)))]
        for number in range(4):
            answers = pool.map(ask, range(12))
            repo.commit({"a.md": f"edit {number}"})
            if number % 2:
                repo.sync()
            counts.append(list(answers))
    assert counts[0] == [1] * 12
    for number, seen in enumerate(counts[1:], 1):
        assert set(seen) <= {number, number + 1}, "each answer is one state of the history"
    assert ask(0) == 5


def test_a_cache_that_was_made_anew_is_followed(
    repo: Repo, index: VaultIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_indexer.storage.database._LOOK_SECONDS", 0.0)
    asking = history(index)
    repo.commit({"0 first.md": "x", "b/c.md": "changed"})
    asking.edits("")
    shutil.rmtree(repo.settings.state)
    repo.sync()
    repo.commit({"b/c.md": "again"})
    for text in ("b/c.md", "0 first", ""):
        assert asking.edits(text) == asked(repo.settings, text)
    assert asking.activity(0)["b/c.md"].edits == 3


def test_edits_are_plain_values() -> None:
    edit = NoteEdit("a.md", 5, "modified")
    assert (edit.origin, edit.edits, edit.from_path) == ("journal", 1, None)
