"""One look at the vault: only ever "the same" when nothing differs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexing import reindex, write
from khiip_indexer.config import Settings
from khiip_indexer.disk import gitdates, glance
from khiip_indexer.index import VaultIndex
from khiip_sidecar.cli.entry import at_a_glance
from support import FakeEmbedder, make_vault

LONG_AGO = 1_600_000_000


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = make_vault(tmp_path / "v", {"a.md": "alpha", "Deep/er/b.md": "beta"})
    for note in made.vault.rglob("*.md"):
        os.utime(note, (LONG_AGO, LONG_AGO))
    reindex(made, FakeEmbedder())
    seen = look(made)
    glance.remember(str(made.state), seen, look(made), 3, "indexed 2 notes")
    return made


def look(settings: Settings, version: str = "1") -> glance.Look | None:
    config = str(settings.homes.config / "config.toml")
    return glance.look(str(settings.vault), str(settings.state), config, version)


def unchanged(settings: Settings) -> tuple[int, str] | None:
    return glance.unchanged(str(settings.state), look(settings))


def test_nothing_changed_gives_the_last_answer_again_and_remembers_the_look(
    settings: Settings,
) -> None:
    os.utime(settings.state / glance.SEEN_FILE, (LONG_AGO, LONG_AGO))
    assert unchanged(settings) == (3, "indexed 2 notes")
    looked = glance.looked_at(str(settings.state))
    assert looked is not None
    assert looked > time.time() - 60
    with VaultIndex.open(settings) as index:
        last = index.counts().last_reconcile
        assert last is not None
        assert last >= "2026"


def write_config(settings: Settings) -> None:
    settings.homes.config.mkdir(parents=True, exist_ok=True)
    (settings.homes.config / "config.toml").write_text("threads = 1\n")


CHANGES: dict[str, Callable[[Settings], object]] = {
    "an edit of the same length": lambda s: write(s, "a.md", "alphb"),
    "a new note": lambda s: write(s, "c.md", "gamma"),
    "a new note in a new folder": lambda s: write(s, "New/c.md", "gamma"),
    "a deletion": lambda s: (s.vault / "a.md").unlink(),
    "a rename": lambda s: (s.vault / "a.md").rename(s.vault / "z.md"),
    "a folder renamed": lambda s: (s.vault / "Deep").rename(s.vault / "Deeper"),
    "a touch": lambda s: os.utime(s.vault / "a.md"),
    "excluded files": lambda s: write(s, ".obsidian/app.json", '{"userIgnoreFilters": ["Deep/"]}'),
    "ignore patterns": lambda s: write(s, ".khiipignore", "Deep/"),
    "the cache gone": lambda s: (s.state / "cache.sqlite").unlink(),
    "the cache written": lambda s: (s.state / "cache.sqlite").write_bytes(b"x"),
    "a symlink": lambda s: (s.vault / "l.md").symlink_to(s.vault / "a.md"),
    "a linked folder": lambda s: (s.vault / "l").symlink_to(s.vault / "Deep"),
    "a note named in capitals": lambda s: write(s, "C.MD", "gamma"),
    "an evicted note": lambda s: write(s, ".c.md.icloud", ""),
    "a config": write_config,
    "a first commit": lambda s: subprocess.run(["git", "init", "-q", str(s.vault)], check=True),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_any_change_that_may_matter_asks_for_a_proper_look(
    settings: Settings, change: Callable[[Settings], object]
) -> None:
    change(settings)
    assert unchanged(settings) is None


def test_another_version_of_the_program_looks_properly(settings: Settings) -> None:
    assert glance.unchanged(str(settings.state), look(settings, "2")) is None


@pytest.mark.parametrize("content", [b"", b"\n", b"3 indexed\n", b"\xff\xfe", b"x" * 5000])
def test_a_damaged_memory_of_the_last_look_is_no_answer(settings: Settings, content: bytes) -> None:
    (settings.state / glance.SEEN_FILE).write_bytes(content)
    assert unchanged(settings) is None


def test_a_note_written_a_moment_ago_is_not_trusted_to_stay_as_it_is(settings: Settings) -> None:
    write(settings, "a.md", "just now")
    (settings.state / glance.SEEN_FILE).unlink()
    seen = look(settings)
    glance.remember(str(settings.state), seen, seen, 0, "x")
    assert unchanged(settings) is None


def test_a_change_while_the_run_went_on_is_not_remembered(settings: Settings) -> None:
    (settings.state / glance.SEEN_FILE).unlink()
    before = look(settings)
    write(settings, "c.md", "gamma")
    os.utime(settings.vault / "c.md", (LONG_AGO, LONG_AGO))
    glance.remember(str(settings.state), before, look(settings), 0, "x")
    assert unchanged(settings) is None


def test_only_a_plain_reindex_without_a_sidecar_is_answered_at_a_glance(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"KHIIP_HOME": str(settings.homes.config.parent)}
    plain = ["--vault", str(settings.vault), "reindex"]
    from khiip_indexer.formats import INDEX_FORMAT

    seen = look(settings, INDEX_FORMAT)
    glance.remember(str(settings.state), seen, seen, 3, "indexed 2 notes")
    assert at_a_glance(plain, environ, "/") == 3
    assert at_a_glance(["reindex"], {**environ, "KHIIP_VAULT": str(settings.vault)}, "/") == 3
    assert at_a_glance(["reindex"], environ, str(settings.vault)) == 3
    assert capsys.readouterr().err == "indexed 2 notes\n" * 3
    for other in ([*plain, "--full"], [*plain, "--json"], ["status"], ["reindex"], []):
        assert at_a_glance(other, environ, "/") is None
    (settings.state / "sidecar.json").write_text("{}")
    assert at_a_glance(plain, environ, "/") is None


def test_the_glance_imports_nothing_that_costs() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import khiip_sidecar.cli.entry\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    costly = {"dataclasses", "typing", "click", "sqlite3", "pathlib", "json", "numpy", "hashlib"}
    assert costly.isdisjoint(done.stdout.split())


def test_an_index_of_another_format_is_not_taken_for_done(settings: Settings) -> None:
    """Released under the same version or not: files that this program cannot read are made anew."""
    from khiip_indexer import formats

    assert str(formats.SCHEMA_VERSION) in formats.INDEX_FORMAT
    assert formats.PROJECTION_VERSION in formats.INDEX_FORMAT
    before, after = look(settings, formats.INDEX_FORMAT), look(settings, "another")
    assert before is not None
    assert before != after


def git(folder: Path, *words: str) -> None:
    settled = {
        "user.name": "Ada",
        "user.email": "ada@example.org",
        "protocol.file.allow": "always",
        "commit.gpgsign": "false",
    }
    options = [part for pair in settled.items() for part in ("-c", "=".join(pair))]
    subprocess.run(["git", *options, "-C", str(folder), *words], check=True, capture_output=True)


def plain_repository(top: Path) -> Path:
    top.mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    (top / "a.md").write_text("alpha")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "first")
    return top


def linked_work_tree(tmp_path: Path) -> Path:
    git(plain_repository(tmp_path / "main"), "worktree", "add", "-q", "-b", "side", "../linked")
    return tmp_path / "linked"


def submodule(tmp_path: Path) -> Path:
    plain_repository(tmp_path / "part")
    whole = plain_repository(tmp_path / "whole")
    git(whole, "submodule", "add", "-q", str(tmp_path / "part"), "notes")
    return whole / "notes"


def kept_elsewhere(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    git(tmp_path / "notes", "init", "-q", "--separate-git-dir", str(tmp_path / "its git"))
    (tmp_path / "notes" / "a.md").write_text("alpha")
    git(tmp_path / "notes", "add", "-A")
    git(tmp_path / "notes", "commit", "-qm", "first")
    return tmp_path / "notes"


REPOSITORIES: dict[str, Callable[[Path], Path]] = {
    "plain": lambda tmp_path: plain_repository(tmp_path / "notes"),
    "a linked work tree": linked_work_tree,
    "a submodule": submodule,
    "kept elsewhere": kept_elsewhere,
}


@pytest.mark.parametrize("branches", ["loose", "packed"])
@pytest.mark.parametrize("reflog", ["true", "false"])
@pytest.mark.parametrize("make", REPOSITORIES.values(), ids=REPOSITORIES.keys())
def test_a_commit_alone_is_noticed_wherever_the_repository_is(
    tmp_path: Path, make: Callable[[Path], Path], reflog: str, branches: str
) -> None:
    """No note changes: what is known of it from git does."""
    vault = make(tmp_path)
    git(vault, "config", "core.logAllRefUpdates", reflog)
    if branches == "packed":
        git(vault, "pack-refs", "--all")
    (tmp_path / "state").mkdir()
    words = (str(vault), str(tmp_path / "state"), str(tmp_path / "config"), "1")
    before = glance.look(*words)
    assert before is not None
    assert glance.look(*words) == before
    git(vault, "commit", "-q", "--allow-empty", "-m", "second")
    assert glance.look(*words) != before
    assert gitdates.stamp(vault) == gitdates.stamp(vault)


@pytest.mark.parametrize("said", [b"", b"gitdir: ../not there", b"gitdir: a\0b", b"\xff" * 9000])
def test_a_git_file_that_leads_nowhere_is_no_reason_to_fail(tmp_path: Path, said: bytes) -> None:
    (tmp_path / ".git").write_bytes(said)
    (tmp_path / "state").mkdir()
    words = (str(tmp_path), str(tmp_path / "state"), str(tmp_path / "config"), "1")
    assert glance.look(*words) == glance.look(*words)
