"""A note's age from real git repositories, whatever its name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from indexing import reindex, write
from khiip_indexer.config import Settings
from khiip_indexer.disk import gitdates
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import CaptureRecord
from khiip_indexer.storage.lineage import Change, Commit
from support import FakeEmbedder, make_vault

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(folder: Path, *arguments: str, date: str = "2020-01-01T00:00:00Z") -> str:
    environ = {
        **os.environ,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_DATE": date,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(
        ["git", *identity, "-C", str(folder), *arguments],
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def commit(folder: Path, date: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "notes", date=date)


def record(settings: Settings, path: str) -> CaptureRecord:
    with VaultIndex.open(settings) as index:
        found = index.capture_at(path)
        assert found is not None
        return found


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = make_vault(tmp_path / "v", {"a.md": "alpha", "b.md": "beta"})
    git(made.vault, "init", "-q")
    commit(made.vault, "2020-01-01T00:00:00Z")
    write(made, "a.md", "alpha two")
    commit(made.vault, "2021-06-01T00:00:00Z")
    return made


def test_a_note_is_as_old_as_its_first_commit_and_modified_at_its_last(settings: Settings) -> None:
    reindex(settings, FakeEmbedder())
    a = record(settings, "a.md")
    assert (a.recorded_at, a.recorded_at_from) == ("2020-01-01T00:00:00Z", "git")
    assert a.modified_at == "2021-06-01T00:00:00Z"
    assert record(settings, "b.md").modified_at == "2020-01-01T00:00:00Z"


def test_a_fresh_clone_does_not_make_every_note_new(settings: Settings, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(settings.vault), "clone")
    clone = make_vault(tmp_path / "clone", {})
    reindex(clone, FakeEmbedder())
    assert record(clone, "a.md").recorded_at == "2020-01-01T00:00:00Z"


def test_an_edit_that_is_not_committed_counts_from_the_file_and_keeps_the_first_date(
    settings: Settings,
) -> None:
    write(settings, "a.md", "alpha three, not committed")
    os.utime(settings.vault / "a.md", (1_700_000_000, 1_700_000_000))
    reindex(settings, FakeEmbedder())
    a = record(settings, "a.md")
    assert a.recorded_at == "2020-01-01T00:00:00Z"
    assert a.modified_at == "2023-11-14T22:13:20Z"


def test_a_new_commit_is_taken_in_without_reading_other_notes(settings: Settings) -> None:
    embedder = FakeEmbedder()
    write(settings, "c.md", "gamma")
    reindex(settings, embedder)
    assert record(settings, "c.md").recorded_at_from == "mtime"
    commit(settings.vault, "2022-02-02T00:00:00Z")
    reindex(settings, embedder)
    assert embedder.texts == []
    c = record(settings, "c.md")
    assert (c.recorded_at, c.recorded_at_from) == ("2022-02-02T00:00:00Z", "git")


def test_names_that_git_would_quote_have_their_history_and_renames_are_followed(
    settings: Settings,
) -> None:
    names = ["café メモ.md", 'tab\tand "quote".md', "sub/ß.md", " lead.md", "new\nline.md"]
    for name in names:
        write(settings, name, f"unique text of {name!r}")
    commit(settings.vault, "2022-01-01T00:00:00Z")
    (settings.vault / names[0]).rename(settings.vault / "résumé.md")
    commit(settings.vault, "2023-01-01T00:00:00Z")
    reindex(settings, FakeEmbedder())
    for name in names[1:]:
        assert record(settings, name).recorded_at == "2022-01-01T00:00:00Z", name
    moved = record(settings, "résumé.md")
    assert moved.recorded_at == "2022-01-01T00:00:00Z"
    assert moved.modified_at == "2023-01-01T00:00:00Z"


def test_a_vault_below_the_top_of_its_repository(tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    settings = make_vault(repository / "docs" / "vault", {"n/a.md": "alpha"})
    git(repository, "init", "-q")
    commit(repository, "2019-05-05T00:00:00Z")
    reindex(settings, FakeEmbedder())
    assert record(settings, "n/a.md").recorded_at == "2019-05-05T00:00:00Z"


def test_a_rewritten_history_is_read_anew(settings: Settings) -> None:
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    git(settings.vault, "checkout", "-q", "--orphan", "fresh")
    commit(settings.vault, "2024-04-04T00:00:00Z")
    reindex(settings, embedder)
    assert record(settings, "b.md").recorded_at == "2024-04-04T00:00:00Z"


def test_a_shallow_clone_claims_no_first_commit(settings: Settings, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{settings.vault}", "shallow")
    shallow = make_vault(tmp_path / "shallow", {})
    reindex(shallow, FakeEmbedder())
    assert record(shallow, "b.md").recorded_at_from == "mtime"


def test_without_commits_or_without_git_the_file_system_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha"})
    git(settings.vault, "init", "-q")
    reindex(settings, FakeEmbedder())
    assert record(settings, "a.md").recorded_at_from == "mtime"
    monkeypatch.setenv("PATH", str(tmp_path))
    write(settings, "b.md", "beta")
    reindex(settings, FakeEmbedder())
    assert record(settings, "b.md").recorded_at_from == "mtime"


def test_the_index_leaves_the_repository_clean(settings: Settings) -> None:
    reindex(settings, FakeEmbedder())
    assert git(settings.vault, "status", "--porcelain") == ""


def test_a_rename_back_and_forth_keeps_the_first_date() -> None:
    ages: gitdates.Ages = {}
    history = [
        Commit(10, (Change("created", "a"),)),
        Commit(20, (Change("renamed", "b", "a"),)),
        Commit(30, (Change("renamed", "a", "b"), Change("created", "b"))),
    ]
    gitdates.fold(ages, history)
    assert ages == {"a": (10, 30), "b": (30, 30)}
