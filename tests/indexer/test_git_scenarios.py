"""Vaults under git: what people do with branches costs no embedding twice and loses nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from equality import assert_equals_fresh
from indexing import found, reindex, write
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import CaptureRecord, SyncReport
from khiip_indexer.storage import journal
from support import FakeEmbedder, make_vault

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

START = 1_700_000_000
DAY = 24 * 3600


class Repo:
    """A vault under git; commits are a day apart, so that dates tell them from one another."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.vault = settings.vault
        self.embedder = FakeEmbedder()
        self.day = 0

    def git(self, *words: str, check: bool = True, stdin: bytes = b"") -> str:
        environ = {
            **os.environ,
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
            "GIT_AUTHOR_DATE": f"{START + self.day * DAY} +0000",
            "GIT_COMMITTER_DATE": f"{START + self.day * DAY} +0000",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_EDITOR": "true",
        }  # fmt: skip
        command = ["git", "-C", str(self.vault), *words]
        done = subprocess.run(command, env=environ, input=stdin, capture_output=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"{command}: {done.stderr.decode()}")
        return done.stdout.decode()

    def commit(self, notes: dict[str, str | None], subject: str = "edit") -> int:
        """Write (or, for None, delete) notes and commit everything; gives the commit's time."""
        self.day += 1
        for path, text in notes.items():
            if text is None:
                (self.vault / path).unlink()
            else:
                write(self.settings, path, text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return START + self.day * DAY

    def sync(self, *, accept_deletions: bool = False) -> SyncReport:
        """One run; what it embedded is in `embedder.texts`."""
        report = reindex(self.settings, self.embedder, accept_deletions=accept_deletions)
        assert self.git("status", "--porcelain", "--", ".khiip") == ""
        return report

    @property
    def embedded(self) -> list[str]:
        """The last line of every text that the last run embedded."""
        return sorted(text.rpartition("\n")[2] for text in self.embedder.texts)

    def capture(self, path: str) -> CaptureRecord:
        with VaultIndex.open(self.settings) as index:
            record = index.capture_at(path)
        assert record is not None, path
        return record

    def assert_equals_fresh(self) -> None:
        assert_equals_fresh(self.settings, self.embedder)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(make_vault(tmp_path / "vault", {}))
    made.git("init", "-q", "-b", "main")
    made.commit({f"n{n}.md": f"note {n}" for n in range(20)}, "start")
    made.sync()
    return made


def seconds(moment: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment).timestamp()


@pytest.fixture
def clone(tmp_path: Path) -> Callable[[Repo], Repo]:
    def make(repo: Repo) -> Repo:
        target = tmp_path / "clone" / "vault"
        repo.git("clone", "-q", str(repo.vault), str(target))
        made = Repo(make_vault(target, {}))
        made.day = repo.day
        made.git("config", "pull.rebase", "false")
        return made

    return make


def test_a_branch_there_and_back_embeds_only_what_was_never_seen(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "other")
    repo.commit({"n1.md": "changed here", "new.md": "new here", "n2.md": None})
    assert repo.sync().behind == 3
    assert repo.embedded == ["changed here", "new here"]
    for branch in ("main", "other", "main"):
        repo.git("switch", "-q", branch)
        repo.sync()
        assert repo.embedder.texts == []
        repo.assert_equals_fresh()


def test_a_merge_dates_each_note_by_the_commit_that_changed_it(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "other")
    theirs = repo.commit({"n1.md": "theirs", "deep/new.md": "theirs too"})
    repo.git("switch", "-q", "main")
    ours = repo.commit({"n2.md": "ours"})
    repo.sync()
    repo.day += 1
    repo.git("merge", "-q", "--no-edit", "other")
    repo.sync()
    assert repo.embedded == ["theirs", "theirs too"]
    assert seconds(repo.capture("n1.md").modified_at) == theirs
    assert seconds(repo.capture("n2.md").modified_at) == ours
    assert seconds(repo.capture("deep/new.md").recorded_at) == theirs
    assert seconds(repo.capture("n1.md").recorded_at) == START + DAY
    repo.assert_equals_fresh()


def test_a_rebase_is_taken_in(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "other")
    repo.commit({"n1.md": "theirs one"})
    repo.commit({"n3.md": "theirs three"})
    repo.sync()
    repo.git("switch", "-q", "main")
    repo.commit({"n2.md": "ours"})
    repo.sync()
    repo.git("switch", "-q", "other")
    repo.git("rebase", "-q", "main")
    repo.sync()
    assert repo.embedder.texts == []
    assert found(repo.settings, "theirs three")[0] == "n3.md"
    repo.assert_equals_fresh()


def test_conflict_markers_are_text_until_they_are_solved(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "other")
    repo.commit({"n1.md": "---\ntitle: theirs\n---\nbody of theirs"})
    repo.git("switch", "-q", "main")
    repo.commit({"n1.md": "---\ntitle: ours\n---\nbody of ours"})
    repo.sync()
    repo.git("merge", "-q", "other", check=False)
    assert "<<<<<<<" in (repo.vault / "n1.md").read_text()
    repo.sync()
    for query in ("theirs", "ours"):
        assert found(repo.settings, f"body of {query}")[0] == "n1.md"
    repo.assert_equals_fresh()
    repo.git("merge", "--abort")
    repo.sync()
    assert repo.embedder.texts == []
    repo.assert_equals_fresh()


def test_a_rebase_that_stops_in_the_middle_is_taken_in_as_it_stands(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "other")
    repo.commit({"n1.md": "theirs", "n5.md": "theirs five"})
    repo.git("switch", "-q", "main")
    repo.commit({"n1.md": "ours"})
    repo.git("switch", "-q", "other")
    repo.sync()
    repo.git("rebase", "-q", "main", check=False)
    repo.sync()
    repo.assert_equals_fresh()
    repo.git("rebase", "--abort")
    repo.sync()
    repo.assert_equals_fresh()


def test_a_stash_there_and_back_embeds_nothing_again(repo: Repo) -> None:
    write(repo.settings, "n1.md", "in the making")
    write(repo.settings, "untracked.md", "brand new")
    repo.sync()
    assert len(repo.embedder.texts) == 2
    repo.git("stash", "-q", "-u")
    repo.sync()
    assert not (repo.vault / "untracked.md").exists()
    repo.assert_equals_fresh()
    repo.git("stash", "pop", "-q")
    repo.sync()
    assert repo.embedder.texts == []
    repo.assert_equals_fresh()


def test_dates_come_from_frontmatter_then_git_then_the_file(repo: Repo) -> None:
    when = repo.commit({"dated.md": "---\ncreated: 2001-02-03\n---\ndated", "git.md": "by git"})
    file = write(repo.settings, "loose.md", "by its file")
    os.utime(file, (START - 5 * DAY, START - 5 * DAY))
    repo.sync()
    assert repo.capture("dated.md").recorded_at_from == "frontmatter"
    assert repo.capture("dated.md").recorded_at.startswith("2001-02-03")
    assert repo.capture("git.md").recorded_at_from == "git"
    assert seconds(repo.capture("git.md").recorded_at) == when
    assert repo.capture("loose.md").recorded_at_from == "mtime"
    assert seconds(repo.capture("loose.md").recorded_at) == START - 5 * DAY
    repo.assert_equals_fresh()


def test_a_commit_of_what_was_indexed_gives_its_notes_the_date_of_the_commit(repo: Repo) -> None:
    write(repo.settings, "n1.md", "edited before the commit")
    write(repo.settings, "fresh.md", "made before the commit")
    repo.sync()
    when = repo.commit({})
    repo.sync()
    assert repo.embedder.texts == []
    assert seconds(repo.capture("n1.md").modified_at) == when
    assert seconds(repo.capture("fresh.md").recorded_at) == when
    repo.assert_equals_fresh()


def test_a_rename_keeps_the_first_date(repo: Repo) -> None:
    repo.git("mv", "n1.md", "renamed.md")
    when = repo.commit({})
    repo.sync()
    record = repo.capture("renamed.md")
    assert seconds(record.recorded_at) == START + DAY
    assert seconds(record.modified_at) == when
    repo.assert_equals_fresh()


def test_a_clone_is_no_activity_and_its_index_is_that_of_its_origin(
    repo: Repo, clone: Callable[[Repo], Repo]
) -> None:
    repo.commit({"n1.md": "edited"})
    repo.sync()
    cloned = clone(repo)
    cloned.sync()
    assert edits(cloned) == []
    for path in ("n1.md", "n2.md"):
        ours, theirs = repo.capture(path), cloned.capture(path)
        assert (ours.id, ours.recorded_at, ours.modified_at) == (
            theirs.id, theirs.recorded_at, theirs.modified_at,
        )  # fmt: skip
    cloned.assert_equals_fresh()


def edits(repo: Repo) -> list[journal.Edit]:
    with VaultIndex.open(repo.settings) as index:
        return journal.edits(index.database.read())


def test_a_pull_is_journaled_with_the_dates_of_its_commits(
    repo: Repo, clone: Callable[[Repo], Repo]
) -> None:
    cloned = clone(repo)
    cloned.sync()
    when = repo.commit({f"n{n}.md": f"pulled {n}" for n in range(10)})
    cloned.git("pull", "-q")
    cloned.sync()
    assert cloned.embedded == [f"pulled {n}" for n in range(10)]
    assert {(edit.operation, edit.at) for edit in edits(cloned)} == {("modified", when)}
    cloned.assert_equals_fresh()


def test_a_history_that_was_rewritten_is_read_anew(repo: Repo) -> None:
    repo.commit({"n1.md": "first version"})
    repo.sync()
    repo.day += 30
    write(repo.settings, "n1.md", "second version")
    repo.git(
        "commit", "-q", "-a", "--amend", "-m", "amended", "--date", f"{START + 99 * DAY} +0000"
    )
    repo.sync()
    assert seconds(repo.capture("n1.md").modified_at) == START + 99 * DAY
    repo.assert_equals_fresh()
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.sync()
    assert seconds(repo.capture("n1.md").modified_at) == START + DAY
    repo.assert_equals_fresh()


def test_a_history_of_five_hundred_commits_is_played_branch_by_branch(repo: Repo) -> None:
    repo.git("fast-import", "--quiet", "--force", stdin=long_history(500))
    repo.git("switch", "-q", "-f", "long")
    repo.sync(accept_deletions=True)
    first = set(repo.embedder.texts)
    assert repo.capture("f7/note7.md").recorded_at_from == "git"
    repo.assert_equals_fresh()
    for back in (400, 30, 0):
        repo.git("switch", "-q", "--detach", f"long~{back}")
        repo.sync(accept_deletions=True)
        assert first.isdisjoint(repo.embedder.texts)
        repo.assert_equals_fresh()


def long_history(commits: int) -> bytes:
    """Edits, renames of notes and of folders, deletions and merges, for `git fast-import`."""
    out = [b"reset refs/heads/long\n"]
    for n in range(commits):
        mark = n + 1
        out.append(
            b"commit refs/heads/long\nmark :%d\ncommitter A <a@example.org> %d +0000\n"
            % (mark, START + n * 3600)
        )
        out.append(b"data 1\nx")
        if n:
            out.append(b"\nfrom :%d" % n)
        if n > 9 and n % 40 == 0:
            out.append(b"\nmerge :%d" % (n - 8))
        text = b"text %d of note %d" % (n, n % 50)
        file = b"f%d/note%d.md" % (n % 9, n % 50)
        out.append(b"\nM 100644 inline %s\ndata %d\n%s\n" % (file, len(text), text))
        if n % 60 == 59:
            out.append(b"R %s moved/note%d.md\n" % (file, n))
        if n % 70 == 69:
            out.append(b"D f%d/note%d.md\n" % ((n - 3) % 9, (n - 3) % 50))
        if n in (200, 350):
            out.append(b"R f3 g%d\n" % n)
        out.append(b"\n")
    return b"".join(out)


def test_a_vault_below_the_top_of_its_repository(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "my vault").mkdir(parents=True)
    repo = Repo(make_vault(top / "my vault", {}))
    subprocess.run(["git", "init", "-q", "-b", "main", str(top)], check=True)
    (top / "outside.md").write_text("not a note of the vault")
    when = repo.commit({"ä ö.md": "inside"})
    repo.sync()
    assert seconds(repo.capture("ä ö.md").recorded_at) == when
    (top / "outside.md").write_text("changed")
    repo.commit({})
    assert repo.sync().behind == 0
    repo.assert_equals_fresh()


def test_an_index_that_was_committed_by_force_and_merged_is_built_anew_where_it_must_be(
    repo: Repo, clone: Callable[[Repo], Repo]
) -> None:
    repo.git("add", "-f", ".khiip")
    repo.git("commit", "-q", "-m", "the index, too")
    cloned = clone(repo)
    write(cloned.settings, "n1.md", "theirs")
    reindex(cloned.settings, cloned.embedder)
    cloned.git("add", "-A", "-f", ".khiip", "n1.md")
    cloned.commit({})
    write(repo.settings, "n2.md", "ours")
    reindex(repo.settings, repo.embedder)
    repo.git("add", "-A", "-f", ".khiip", "n2.md")
    repo.commit({})
    repo.git("pull", "-q", "--no-rebase", str(cloned.vault), "main", check=False)
    manifest = repo.settings.state / "manifest.json"
    manifest.write_text(f"<<<<<<< HEAD\n{manifest.read_text()}=======\n>>>>>>> theirs\n")
    for _ in range(2):
        reindex(repo.settings, repo.embedder)
    assert found(repo.settings, "ours")[0] == "n2.md"
    assert found(repo.settings, "theirs")[0] == "n1.md"
    repo.assert_equals_fresh()


def test_a_worktree_and_a_detached_head_are_repositories_too(repo: Repo, tmp_path: Path) -> None:
    when = repo.commit({"n1.md": "edited"})
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "w" / "vault"), "HEAD")
    tree = Repo(make_vault(tmp_path / "w" / "vault", {}))
    tree.sync()
    assert seconds(tree.capture("n1.md").modified_at) == when
    tree.assert_equals_fresh()
