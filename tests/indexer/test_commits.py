"""How git's history is read and kept: who owned a path when, what a reading takes and leaves."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.test_git_scenarios import DAY, START, Repo, seconds
from indexing import reindex, write
from khiip_indexer.disk import git, gitlog
from khiip_indexer.disk.ages import Ages
from khiip_indexer.disk.git import GitUnavailable
from khiip_indexer.disk.moved_vault import Moved, changes_of_move, former_folder
from khiip_indexer.history import History
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage.lineage import GONE, LIVE, MOVED, Change, Lineage, Owner, knows
from support import FakeEmbedder, make_vault

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def followed(*changes: Change) -> tuple[list[int | None], dict[str, Owner]]:
    lineage = Lineage(lambda _: None)
    files = [lineage.file_of(change, at) for at, change in enumerate(changes, 1)]
    return files, lineage.owners


class TestLineage:
    def test_a_file_keeps_its_number_from_name_to_name_and_back(self) -> None:
        files, owners = followed(
            Change("created", "a"), Change("renamed", "b", "a"), Change("modified", "b"),
            Change("renamed", "a", "b"),
        )  # fmt: skip
        assert files == [1, 1, 1, 1]
        assert owners == {"a": Owner(1, LIVE, 4), "b": Owner(1, MOVED, 4)}

    def test_who_takes_a_name_that_was_left_is_another(self) -> None:
        files, owners = followed(
            Change("created", "a"), Change("renamed", "b", "a"), Change("created", "a")
        )
        assert files == [1, 1, 2]
        assert owners["a"] == Owner(2, LIVE, 3)

    def test_who_comes_back_after_a_deletion_is_the_same(self) -> None:
        files, owners = followed(Change("created", "a"), Change("deleted", "a"))
        assert owners["a"].state == GONE
        again, _ = followed(*(Change(op, "a") for op in ("created", "deleted", "created")))
        assert (files, again) == ([1, 1], [1, 1, 1])

    def test_another_branch_still_uses_the_old_name(self) -> None:
        files, owners = followed(
            Change("created", "a"), Change("renamed", "b", "a"), Change("modified", "a"),
            Change("deleted", "a"),
        )  # fmt: skip
        assert files == [1, 1, 1, 1]
        assert owners["a"].state == MOVED

    def test_a_merge_is_no_edit_and_makes_git_know_the_content(self) -> None:
        files, owners = followed(
            Change("created", "a"), Change("merged", "a"), Change("merged", "x")
        )
        assert files == [1, None, None]
        assert owners == {"a": Owner(1, LIVE, 2)}

    @pytest.mark.parametrize(
        ("owner", "operation", "at", "known"),
        [
            (None, "modified", 1, False),
            (Owner(1, LIVE, 10), "modified", 10, True),
            (Owner(1, LIVE, 10), "modified", 11, False),
            (Owner(1, GONE, 10), "deleted", 11, True),
            (Owner(1, MOVED, 10), "deleted", 11, True),
            (Owner(1, LIVE, 10), "deleted", 11, False),
            (Owner(1, LIVE, 10), "renamed", 11, True),
            (Owner(1, GONE, 10), "renamed", 11, False),
        ],
    )
    def test_what_git_tells_of_the_journal_need_not(
        self, owner: Owner | None, operation: str, at: int, known: bool
    ) -> None:
        assert knows(owner, operation, at) is known  # type: ignore[arg-type]


class TestParse:
    HEAD = (b"commit", b"ab" * 20, b"5", b"7", b"", b"A <a@example.org>", b"subject")

    def fields(self, *more: bytes, head: tuple[bytes, ...] = HEAD) -> Iterator[bytes]:
        return iter((*head, *more))

    def test_names_may_hold_what_looks_like_the_format(self) -> None:
        (commit,) = gitlog.parse(
            self.fields(
                b"body\n", b"\nA", b"commit", b"R100", b"M.md", b"commit.md", b"T", b"\nD.MD"
            )
        )
        assert commit.changes == (
            Change("renamed", "commit.md", "M.md", same=True), Change("modified", "\nD.MD"),
        )  # fmt: skip
        assert (commit.at, commit.committed, commit.body) == (5, 7, "body")

    def test_other_files_are_left_out_and_what_becomes_one_or_was_one_counts(self) -> None:
        files = (b"\nM", b"a.png", b"R090", b"b.txt", b"b.md", b"R100", b"c.md", b"c.txt")
        (commit,) = gitlog.parse(self.fields(b"", *files, b"R100", b"d", b"e", b"D", b"f.md"))
        assert commit.changes == (
            Change("created", "b.md"), Change("deleted", "c.md"), Change("deleted", "f.md"),
        )  # fmt: skip

    def test_a_merge_has_a_letter_and_a_name_for_each_parent(self) -> None:
        head = (*self.HEAD[:4], b"one two", *self.HEAD[5:])
        files = (b"MM", b"a.md", b"a.md", b"a.md", b"RR", b"b.md", b"b.md", b"c.md")
        more = (b"AA", b"d.md", b"d.md", b"d.md", b"AR", b"e.md", b"g.md", b"e.md")
        last = (b"DD", b"h.md", b"h.md", b"h.md", b"MM", b"i.png", b"i.png", b"i.png")
        (commit,) = gitlog.parse(self.fields(b"", *files, *more, *last, head=head))
        assert commit.merge
        assert commit.changes == (
            Change("merged", "a.md"), Change("renamed", "c.md", "b.md", same=True),
            Change("created", "d.md"), Change("created", "e.md"), Change("deleted", "h.md"),
        )  # fmt: skip

    def test_a_commit_without_changes_and_a_message_of_any_bytes(self) -> None:
        head = (*self.HEAD[:6], b"caf\xe9 \x01")
        commits = list(gitlog.parse(iter((*head, b"", *self.HEAD, b"", b"\nM", b"a.md"))))
        assert [commit.subject for commit in commits] == ["caf\ufffd \x01", "subject"]
        assert [len(commit.changes) for commit in commits] == [0, 1]

    @pytest.mark.parametrize(("written", "at"), [(b"", 0), (b"-9", 0), (b"9" * 30, 253402300799)])
    def test_a_time_that_no_calendar_has(self, written: bytes, at: int) -> None:
        head = (*self.HEAD[:2], written, *self.HEAD[3:])
        (commit,) = gitlog.parse(self.fields(b"", head=head))
        assert commit.at == at

    @pytest.mark.parametrize(
        ("body", "session"),
        [
            (b"Why.\n\nSession-Id: one two \nSigned-off-by: A", "one two"),
            (b"session-id: x\n\nSession-Id: y\n", "y"),
            (b"The Session-Id: is none", None),
            (b"Session-Id:\n", None),
        ],
    )
    def test_the_session_is_the_last_trailers(self, body: bytes, session: str | None) -> None:
        (commit,) = gitlog.parse(self.fields(body))
        assert commit.session == session

    def test_long_messages_are_cut(self) -> None:
        head = (*self.HEAD[:6], b"s" * 10_000)
        (commit,) = gitlog.parse(self.fields(b"b" * 10_000, head=head))
        assert (len(commit.subject), len(commit.body)) == (500, 2000)

    def test_what_is_no_log_is_refused(self) -> None:
        with pytest.raises(GitUnavailable):
            list(gitlog.parse(iter((b"warning: something", b"else"))))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(make_vault(tmp_path / "vault", {}))
    made.git("init", "-q", "-b", "main")
    made.commit({"a.md": "alpha", "b.md": "beta"})
    made.sync()
    return made


def rows(repo: Repo) -> dict[str, int]:
    tables = ("git_commits", "git_paths", "git_names", "git_edits", "git_dates")
    with VaultIndex.open(repo.settings) as index:
        connection = index.database.read()
        return {t: connection.execute(f"SELECT COUNT(*) FROM {t}").fetchone()[0] for t in tables}


@needs_git
class TestStored:
    def test_only_new_commits_are_read_and_a_second_run_reads_none(
        self, repo: Repo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str | None] = []
        real = gitlog.commits

        def heard(vault: Path, since: str | None, *more: Any, **options: Any) -> object:
            asked.append(since)
            return real(vault, since, *more, **options)

        monkeypatch.setattr(gitlog, "commits", heard)
        before = repo.git("rev-parse", "HEAD").strip()
        repo.commit({"a.md": "changed"})
        repo.sync()
        repo.sync()
        assert asked == [before]

    def test_commits_that_touch_no_note_are_not_kept(self, repo: Repo) -> None:
        before = rows(repo)
        repo.commit({"picture.png": "x", "sub/data.txt": "y"})
        repo.commit({})
        repo.sync()
        assert rows(repo) == before

    def test_a_rewritten_history_leaves_nothing_behind_and_rereads_only_what_it_changed(
        self, repo: Repo
    ) -> None:
        repo.commit({"b.md": "gone soon", "c.md": "gone soon"})
        repo.sync()
        repo.git("reset", "-q", "--hard", "HEAD~1")
        repo.commit({"a.md": "another way"})
        with VaultIndex.open(repo.settings, write=True) as index, index.database.write() as writer:
            touched = Ages(repo.vault).refresh(writer)
        assert touched == {"a.md", "b.md", "c.md"}
        assert rows(repo) == {
            "git_commits": 2, "git_paths": 2, "git_names": 2, "git_edits": 3, "git_dates": 2,
        }  # fmt: skip

    def test_git_that_gives_up_in_the_middle_leaves_all_as_it_was(
        self, repo: Repo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = rows(repo)
        repo.commit({"a.md": "two"})
        repo.commit({"a.md": "three"})
        real = git.fields

        def breaks(vault: Path, *arguments: str) -> Iterator[bytes]:
            for count, field in enumerate(real(vault, *arguments)):
                if count == 12:
                    raise GitUnavailable("fatal: broken pack")
                yield field

        monkeypatch.setattr(git, "fields", breaks)
        with VaultIndex.open(repo.settings, write=True) as index, index.database.write() as writer:
            assert Ages(repo.vault).refresh(writer) == set()
        assert rows(repo) == before
        monkeypatch.undo()
        repo.sync()
        assert rows(repo)["git_edits"] == before["git_edits"] + 2

    def test_an_index_that_only_has_dates_takes_in_the_history(self, repo: Repo) -> None:
        before = rows(repo)
        with VaultIndex.open(repo.settings, write=True) as index, index.database.write() as writer:
            for table in ("git_commits", "git_paths", "git_names", "git_edits"):
                writer.execute(f"DELETE FROM {table}")
            writer.execute("DELETE FROM meta WHERE key = 'git_log_head'")
        report = repo.sync()
        assert rows(repo) == before
        assert report.changed == 0

    def test_whoever_stops_reading_leaves_no_process(
        self, repo: Repo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        started: list[subprocess.Popen[bytes]] = []
        real = subprocess.Popen

        def heard(*words: Any, **more: Any) -> subprocess.Popen[bytes]:
            started.append(real(*words, **more))
            return started[-1]

        monkeypatch.setattr(subprocess, "Popen", heard)
        found = git.fields(repo.vault, "ls-files", "-z")
        assert next(found) == b"a.md"
        found.close()
        assert [process.returncode is not None for process in started] == [True]


class TestMovedVault:
    def test_the_folder_is_the_one_that_most_came_from(self) -> None:
        moves = [
            Moved("old/a.md", "new/a.md", same=True),
            Moved("old/d/b.md", "new/d/b.md", same=False),
            Moved(None, "new/c.md", same=False),
            Moved("old/e.md", None, same=False),
            Moved("other/x.md", "other/x.md", same=False),
        ]
        assert former_folder(moves, "new/") == "old/"
        assert list(changes_of_move(moves, "old/", "new/")) == [
            Change("modified", "d/b.md"), Change("created", "c.md"), Change("deleted", "e.md"),
        ]  # fmt: skip
        assert former_folder(moves[2:], "new/") is None
        assert former_folder([Moved("older-a.md", "new/a.md", same=True)], "new/") is None
        assert former_folder([Moved("a.md", "new/a.md", same=True)], "new/") == ""

    @needs_git
    @pytest.mark.parametrize("first", ["Old [1] name", "ä*", ""])
    def test_a_vault_whose_folder_was_renamed_keeps_dates_and_history(
        self, tmp_path: Path, first: str
    ) -> None:
        top = tmp_path / "top"
        old = top / first
        old.mkdir(parents=True)
        for name in ("a.md", "sub/b.md"):
            (old / name).parent.mkdir(exist_ok=True)
            (old / name).write_text(f"text of {name}")
        subprocess.run(["git", "init", "-q", "-b", "main", str(top)], check=True)
        repo = Repo(make_vault(top / "new" / "vault", {}))
        repo.vault.rmdir() if not any(repo.vault.iterdir()) else shutil.rmtree(repo.vault)
        repo.vault = top
        repo.commit({}, "under the old name")
        repo.vault = top / "new" / "vault"
        repo.vault.mkdir()
        for name in ("a.md", "sub"):
            (old / name).rename(repo.vault / name)
        repo.commit({"c.md": "new"}, "moved")
        repo.commit({"a.md": "edited"}, "after")
        reindex(repo.settings, FakeEmbedder())
        assert seconds(repo.capture("sub/b.md").recorded_at) == START + DAY
        assert seconds(repo.capture("a.md").modified_at) == START + 3 * DAY
        with VaultIndex.open(repo.settings) as index:
            found = History(index.database, repo.vault).edits("")
        assert [(e.operation, e.path) for e in found.edits] == [
            ("modified", "a.md"), ("created", "c.md"), ("created", "sub/b.md"), ("created", "a.md"),
        ]  # fmt: skip


@needs_git
def test_a_vault_in_a_repository_that_does_not_have_it_is_told_by_the_journal(
    tmp_path: Path,
) -> None:
    settings = make_vault(tmp_path / "home" / "vault", {"a.md": "alpha"})
    repo = Repo(settings)
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "home")], check=True)
    (tmp_path / "home" / ".gitignore").write_text("vault/\n")
    repo.commit({})
    reindex(settings, repo.embedder)
    write(settings, "new.md", "x")
    reindex(settings, repo.embedder)
    with VaultIndex.open(settings) as index:
        found = History(index.database, settings.vault).edits("")
    assert found.state == "journal"
    assert [edit.path for edit in found.edits] == ["new.md"]
