"""Most notes gone at once: git's own doing needs no confirmation, everything else does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from indexer.test_git_scenarios import Repo
from khiip_indexer.disk.taken_away import taken_away
from khiip_indexer.errors import DeletionBrake
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from support import FakeEmbedder, make_vault, write_note

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

FEW = {"kept.md": "kept", "ü 東/other.md": "other"}
MANY = {f"big/n{n} é.md": f"note {n}" for n in range(30)}


def make_repo(top: Path, vault: Path) -> Repo:
    """`main` has few notes, `full` many more; the index is up to `full`."""
    settings = make_vault(vault, {})
    made = Repo(settings)
    made.git("-C", str(top), "init", "-q", "-b", "main")
    made.commit(dict(FEW), "few")
    made.git("switch", "-q", "-c", "full")
    made.commit(dict(MANY), "many")
    assert made.sync().added == len(FEW) + len(MANY)
    return made


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return make_repo(tmp_path / "vault", tmp_path / "vault")


def paths(repo: Repo) -> set[str]:
    with VaultIndex.open(repo.settings) as index:
        return {path for (path,) in index.database.read().execute("SELECT path FROM captures")}


def lose(repo: Repo) -> None:
    shutil.rmtree(repo.vault / "big")


def assert_braked(repo: Repo) -> None:
    with pytest.raises(DeletionBrake):
        repo.sync()
    assert paths(repo) >= set(MANY)


def test_a_branch_without_most_of_the_notes_is_believed_and_the_way_back_embeds_nothing(
    repo: Repo,
) -> None:
    repo.git("switch", "-q", "main")
    assert repo.sync().removed == len(MANY)
    assert paths(repo) == set(FEW)
    repo.git("switch", "-q", "full")
    assert repo.sync().added == len(MANY)
    assert repo.embedder.texts == []
    repo.assert_equals_fresh()


def test_a_vault_below_the_top_of_its_repository(tmp_path: Path) -> None:
    top = tmp_path / "top"
    write_note(top, "elsewhere/readme.md", "not in the vault")
    repo = make_repo(top, top / "my vault")
    repo.git("switch", "-q", "main")
    assert repo.sync().removed == len(MANY)


def test_a_linked_work_tree(tmp_path: Path, repo: Repo) -> None:
    repo.git("worktree", "add", "-q", "-b", "third", str(tmp_path / "tree"))
    linked = Repo(make_vault(tmp_path / "tree", {}))
    linked.sync()
    linked.git("switch", "-q", "--ignore-other-worktrees", "main")
    assert linked.sync().removed == len(MANY)


def test_a_reset_and_a_pull_are_git_s_own_doing(tmp_path: Path, repo: Repo) -> None:
    repo.git("clone", "-q", str(repo.vault), str(tmp_path / "c" / "vault"))
    clone = Repo(make_vault(tmp_path / "c" / "vault", {}))
    clone.sync()
    clone.git("reset", "-q", "--hard", "origin/main")
    assert clone.sync().removed == len(MANY)
    clone.git("reset", "-q", "--hard", "origin/full")
    clone.sync()
    repo.commit(dict.fromkeys(MANY), "away with them")
    clone.git("pull", "-q", "--ff-only")
    assert clone.sync().removed == len(MANY)


def test_a_lost_drive_trips_the_brake(repo: Repo) -> None:
    lose(repo)
    assert_braked(repo)


def test_a_lost_drive_whose_loss_was_committed_trips_the_brake(repo: Repo) -> None:
    lose(repo)
    repo.commit({}, "vault backup")
    assert_braked(repo)
    repo.git("switch", "-q", "main")
    repo.git("switch", "-q", "full")
    assert_braked(repo)


def test_a_lost_drive_after_another_branch_trips_the_brake(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "third")
    repo.commit({"kept.md": "kept, and edited"})
    lose(repo)
    assert_braked(repo)


def test_notes_that_git_never_had_trip_the_brake_and_the_others_go(repo: Repo) -> None:
    loose = {f"loose/n{n}.md": f"loose {n}" for n in range(40)}
    for path, text in loose.items():
        write_note(repo.vault, path, text)
    repo.sync()
    shutil.rmtree(repo.vault / "loose")
    repo.git("switch", "-q", "main")
    with pytest.raises(DeletionBrake, match="40 notes"):
        repo.sync()
    assert paths(repo) == {*FEW, *loose}


def test_a_few_more_deletions_beside_git_s_are_everyday_ones(repo: Repo) -> None:
    for n in range(25):
        write_note(repo.vault, f"loose/n{n}.md", f"loose {n}")
    repo.sync()
    repo.git("switch", "-q", "main")
    (repo.vault / "loose/n1.md").unlink()
    embedder = repo.embedder
    with VaultIndex.open(repo.settings, write=True) as index:
        syncer = Syncer(index, embedder)
        assert syncer.run().removed == len(MANY) + 1
        for number in range(2, 12):  # what git took does not count against what a person deletes
            (repo.vault / f"loose/n{number}.md").unlink()
            assert syncer.run().removed == 1


def test_a_sparse_checkout_trips_the_brake(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "third")
    repo.git("sparse-checkout", "set", "--no-cone", "/*", "!/big/")
    assert not (repo.vault / "big").exists()
    assert_braked(repo)


def test_a_rebase_in_the_midst_is_waited_for(repo: Repo) -> None:
    repo.git("switch", "-q", "main")
    repo.commit({"kept.md": "theirs"})
    repo.git("switch", "-q", "full")
    repo.commit({"kept.md": "ours"})
    repo.sync()
    # The commits come in an order in which the first one stops before the notes are back.
    repo.git("-c", "sequence.editor=true", "rebase", "-q", "HEAD~1", "--onto", "main", check=False)
    assert not (repo.vault / "big").exists()
    assert_braked(repo)
    repo.git("rebase", "--abort")
    assert repo.sync().removed == 0
    assert paths(repo) == {*FEW, *MANY}


def test_a_submodule_s_notes_are_not_the_repository_s(tmp_path: Path, repo: Repo) -> None:
    outer = Repo(make_vault(tmp_path / "outer", {}))
    outer.git("init", "-q", "-b", "main")
    outer.commit(dict(FEW))
    outer.git("switch", "-q", "-c", "with")
    allow = ("-c", "protocol.file.allow=always")
    outer.git(*allow, "submodule", "--quiet", "add", "-b", "full", str(repo.vault), "sub")
    outer.commit({})
    outer.sync()
    outer.git("switch", "-q", "main", check=False)
    shutil.rmtree(outer.vault / "sub", ignore_errors=True)
    with pytest.raises(DeletionBrake):
        outer.sync()


def test_without_git_or_what_it_needs_the_brake_holds(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = repo.git("rev-parse", "HEAD").strip()
    repo.git("switch", "-q", "main")
    assert taken_away(repo.vault, before) == set(MANY)
    assert taken_away(repo.vault, "0" * 40) == set()
    assert taken_away(tmp_path, before) == set()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        assert taken_away(repo.vault, before) == set()
        with VaultIndex.open(repo.settings, write=True) as index, pytest.raises(DeletionBrake):
            Syncer(index, FakeEmbedder()).run()
    (repo.vault / ".git/logs/HEAD").unlink()
    assert_braked(repo)


def test_a_look_in_the_midst_of_a_checkout_drops_nothing_and_the_next_one_does(repo: Repo) -> None:
    away = repo.vault.parent / "away"
    os.rename(repo.vault / "big", away)  # noqa: PTH104 -- git deletes files before it moves HEAD
    assert_braked(repo)
    os.rename(away, repo.vault / "big")  # noqa: PTH104
    repo.git("switch", "-q", "main")
    assert repo.sync().removed == len(MANY)
