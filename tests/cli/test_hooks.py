"""`khiipd hooks` in real repositories: the index follows git, and git notices nothing."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import NOTES, Khiipd
from cli.repository import Repo, make_repo
from khiip_indexer.index import VaultIndex
from khiip_sidecar.githooks.script import HOOKS
from support import wait_until, write_note

MARKER = "echo \"$0 $*\" >> '{ran}'\n"


@pytest.fixture
def repo(cli: Khiipd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Nothing installed, nothing indexed."""
    return make_repo(cli, tmp_path, monkeypatch)


@pytest.fixture
def hooked(repo: Repo) -> Repo:
    """Indexed, with hooks."""
    repo.cli.ok("reindex")
    repo.cli.ok("hooks", "install")
    return repo


def snapshot(folder: Path) -> dict[str, tuple[str, int, bytes]]:
    """Every file below a folder: kind, mode and bytes."""
    seen = {}
    for path in sorted(folder.rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
        content = str(path.readlink()).encode() if path.is_symlink() else b""
        content = path.read_bytes() if kind == "file" else content
        seen[str(path.relative_to(folder))] = (kind, stat.S_IMODE(path.lstat().st_mode), content)
    return seen


def found(cli: Khiipd) -> set[str]:
    return {row["vault_path"] for row in json.loads(cli.ok("list", "--json").stdout)}


def test_merge_checkout_and_rebase_each_bring_the_index_up_to_the_notes(hooked: Repo) -> None:
    hooked.git("checkout", "-qb", "side")
    hooked.commit("Side.md", "a note on the side")
    hooked.git("checkout", "-q", "main")
    hooked.wait_until_current()
    assert found(hooked.cli) == set(NOTES)
    hooked.commit("Main.md", "a note on the main branch")
    hooked.git("merge", "-q", "--no-edit", "side")
    hooked.wait_until_current()
    assert found(hooked.cli) == {*NOTES, "Side.md", "Main.md"}
    assert " indexed 5 notes" in hooked.log()
    hooked.git("checkout", "-qb", "late", "main~1")
    hooked.commit("Late.md", "a note that comes late")
    hooked.git("rebase", "-q", "main")
    hooked.wait_until_current()
    assert found(hooked.cli) == {*NOTES, "Side.md", "Main.md", "Late.md"}
    assert " indexed 6 notes" in hooked.log()


@pytest.mark.parametrize("name", HOOKS)
def test_each_hook_starts_a_reindex_of_its_own(hooked: Repo, name: str) -> None:
    hooked.commit("New.md", "a note that no hook has seen")
    if name == "post-merge":
        hooked.git("branch", "behind", "main~1")
        hooked.git("symbolic-ref", "HEAD", "refs/heads/behind")
        hooked.git("reset", "-q", "--hard")
        hooked.git("merge", "-q", "main")
    elif name == "post-checkout":
        hooked.git("checkout", "-q", "-b", "other")
    else:
        hooked.git("commit", "-q", "--amend", "-m", "said anew")
    wait_until(lambda: f"{name}: indexed 4 notes" in hooked.log(), hooked.log)
    hooked.wait_until_current()


def test_a_pull_with_local_edits_put_aside_is_seen_whole(hooked: Repo, tmp_path: Path) -> None:
    other = tmp_path.parent / f"{tmp_path.name}-other"
    hooked.git("clone", "-q", str(hooked.top), str(other))
    write_note(other, "vault/Pulled.md", "a note from another machine")
    hooked.git("add", "-A", top=other)
    hooked.git("commit", "-qm", "pulled", top=other)
    hooked.git("remote", "add", "origin", str(other))
    hooked.git("fetch", "-q", "origin")
    hooked.git("branch", "-q", "-u", "origin/main")
    hooked.commit("Mine.md", "a note of mine")
    write_note(hooked.vault, "Bread.md", "edited and not committed")
    hooked.git("pull", "-q", "--rebase", "--autostash")
    waiting = hooked.cli.settings.state / "hook.waiting"
    wait_until(lambda: not waiting.exists() and "Pulled.md" in found(hooked.cli), hooked.log)
    assert found(hooked.cli) == {*NOTES, "Pulled.md", "Mine.md"}
    assert hooked.cli.run("reindex", "--check").exit_code == 0
    assert "edited and not" in hooked.cli.ok("recall", "edited and not committed").stdout


def test_checking_out_one_file_starts_nothing(hooked: Repo) -> None:
    write_note(hooked.vault, "Bread.md", "changed by mistake")
    hooked.git("checkout", "-q", "--", "vault/Bread.md")
    hooked.git("checkout", "-q", "-b", "other")
    wait_until(lambda: "post-checkout" in hooked.log())
    assert len([line for line in hooked.log().splitlines() if "indexed" in line]) == 1


def test_git_ends_and_speaks_as_before(hooked: Repo) -> None:
    hooked.git("checkout", "-qb", "side")
    hooked.commit("Bread.md", "one way to bake")
    hooked.git("checkout", "-q", "main")
    hooked.commit("Bread.md", "another way to bake")
    assert "CONFLICT" in hooked.git("merge", "side", code=1)
    hooked.git("merge", "--abort")
    assert "CONFLICT" in hooked.git("rebase", "side", code=1)
    hooked.git("rebase", "--abort")
    assert hooked.git("checkout", "side") == "Switched to branch 'side'\n"
    hooked.wait_until_current()


@pytest.mark.parametrize("code", [0, 3])
def test_hooks_that_are_there_still_run_with_their_arguments_and_exit_code(
    repo: Repo, tmp_path: Path, code: int
) -> None:
    ran = tmp_path / "its own place" / "ran"
    for name, first in zip(
        HOOKS, ("#!/bin/sh -eu", "#!/usr/bin/env bash", "#!/bin/sh"), strict=True
    ):
        script = f"{first}\n{MARKER.format(ran=ran)}cat >> '{ran}'\nexit {code}\n"
        (repo.hooks / name).write_text(script)
        (repo.hooks / name).chmod(0o755)
    before = snapshot(repo.top / ".git" / "hooks")
    repo.cli.ok("reindex")
    repo.cli.ok("hooks", "install")
    repo.git("checkout", "-qb", "side", code=min(code, 1))
    repo.commit("Side.md", "a note on the side")
    repo.git("commit", "-q", "--amend", "-m", "said anew")
    lines = ran.read_text().splitlines()
    assert lines[0].startswith(".git/hooks/post-checkout ")
    assert lines[0].endswith(" 1")
    assert lines[1] == ".git/hooks/post-rewrite amend"
    assert len(lines[2].split()) == 2, "what git says on standard input was taken away"
    repo.wait_until_current()
    repo.cli.ok("hooks", "uninstall")
    assert snapshot(repo.hooks) == before


def odd_hooks(folder: Path, ran: Path) -> None:
    """A hook in another language, a link to a script elsewhere, and one that was turned off."""
    python = (
        f"#!/usr/bin/env python3\nimport sys\nopen({str(ran)!r}, 'a').write('py ' + sys.argv[3])\n"
    )
    (folder / "post-checkout").write_text(python + "sys.exit(4)\n")
    (folder / "post-checkout").chmod(0o755)
    real = folder.parent / "real-hook"
    real.write_text(f"#!/bin/sh\necho linked $* >> '{ran}'\n")
    real.chmod(0o755)
    (folder / "post-rewrite").symlink_to("../real-hook")
    (folder / "post-merge").write_text(f"#!/bin/sh\necho off >> '{ran}'\n")
    (folder / "post-merge").chmod(0o644)


def test_a_hook_without_room_for_shell_is_called_from_ours_and_comes_back(
    repo: Repo, tmp_path: Path
) -> None:
    ran = tmp_path / "its own place" / "ran"
    odd_hooks(repo.hooks, ran)
    before = snapshot(repo.top / ".git" / "hooks")
    real = (repo.hooks.parent / "real-hook").read_bytes()
    repo.cli.ok("reindex")
    repo.cli.ok("hooks", "install")
    again = snapshot(repo.hooks)
    repo.cli.ok("hooks", "install")
    assert snapshot(repo.hooks) == again
    assert "runs the one that was there" in repo.cli.ok("hooks", "status").stdout
    repo.git("checkout", "-qb", "side", code=1)
    assert ran.read_text() == "py 1"
    repo.commit("Side.md", "a note on the side")
    repo.git("commit", "-q", "--amend", "-m", "said anew")
    assert "linked amend" in ran.read_text()
    repo.git("checkout", "-q", "main", code=1)
    repo.git("merge", "-q", "side")
    assert "off" not in ran.read_text(), "a hook that was turned off was run"
    repo.wait_until_current()
    repo.cli.ok("hooks", "uninstall")
    assert snapshot(repo.hooks) == before
    assert (repo.hooks.parent / "real-hook").read_bytes() == real


def test_installing_twice_is_installing_once_and_uninstalling_leaves_no_trace(repo: Repo) -> None:
    before = snapshot(repo.top / ".git")
    repo.cli.ok("hooks", "install")
    after = snapshot(repo.top / ".git")
    assert all(os.access(repo.hooks / name, os.X_OK) for name in HOOKS)
    assert not any(b"\r" in (repo.hooks / name).read_bytes() for name in HOOKS)
    repo.cli.ok("hooks", "install")
    assert snapshot(repo.top / ".git") == after
    repo.cli.ok("hooks", "uninstall")
    assert snapshot(repo.top / ".git") == before
    assert "no hook" in repo.cli.ok("hooks", "uninstall").stderr


def test_status_tells_missing_hooks_from_installed_ones(repo: Repo) -> None:
    result = repo.cli.run("hooks", "status", "--json")
    assert result.exit_code == 1
    assert {each["state"] for each in json.loads(result.stdout)["hooks"]} == {"missing"}
    repo.cli.ok("hooks", "install")
    told = json.loads(repo.cli.ok("hooks", "status", "--json").stdout)
    assert [each["name"] for each in told["hooks"]] == list(HOOKS)
    assert {each["state"] for each in told["hooks"]} == {"installed"}
    hook = repo.hooks / "post-merge"
    hook.write_bytes(hook.read_bytes().replace(b"its own place", b"an older place"))
    assert "post-merge    outdated" in repo.cli.run("hooks", "status").stdout
    hook.chmod(0o644)
    assert "post-merge    not executable" in repo.cli.run("hooks", "status").stdout
    repo.cli.ok("hooks", "install")
    repo.cli.ok("hooks", "status")


def test_what_others_added_to_our_hook_stays(repo: Repo) -> None:
    repo.cli.ok("hooks", "install")
    hook = repo.hooks / "post-merge"
    hook.write_bytes(hook.read_bytes() + b"echo theirs\n")
    repo.cli.ok("hooks", "uninstall")
    assert hook.read_text().endswith("echo theirs\n")
    assert "khiip:" not in hook.read_text()
    assert os.access(hook, os.X_OK)


def husky(repo: Repo) -> Path:
    """Hooks as a tool makes them that keeps them in the work tree: they end in another script."""
    folder = repo.top / ".husky" / "_"
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("*")
    (folder / "h").write_text(
        'sh -e "$(dirname "$(dirname "$0")")/$(basename "$0")" "$@"\nexit $?\n'
    )
    for name in HOOKS:
        (folder / name).write_text('#!/usr/bin/env sh\n. "$(dirname "$0")/h"')
        (folder / name).chmod(0o755)
    (repo.top / ".husky" / "post-checkout").write_text("exit 9\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "husky")
    repo.git("config", "core.hooksPath", ".husky/_")
    return folder


def test_hooks_kept_in_the_work_tree_by_another_tool_are_respected(hooked: Repo) -> None:
    folder = husky(hooked)
    before = snapshot(folder)
    hooked.cli.ok("hooks", "install")
    assert snapshot(folder) != before
    write_note(hooked.vault, "New.md", "quite new")
    hooked.git("add", "-A")
    hooked.git("commit", "-qm", "new")
    hooked.git("checkout", "-qb", "side", code=1)
    hooked.wait_until_current()
    hooked.cli.ok("hooks", "uninstall")
    assert snapshot(folder) == before


def test_an_empty_hooks_folder_in_the_work_tree_does_not_show_in_git_status(repo: Repo) -> None:
    repo.git("config", "core.hooksPath", "shared hooks")
    exclude = repo.top / ".git" / "info" / "exclude"
    before = exclude.read_bytes()
    for _ in range(2):
        repo.cli.ok("hooks", "install")
        assert (repo.top / "shared hooks" / "post-merge").is_file()
        assert repo.git("status", "--porcelain") == ""
    repo.cli.ok("hooks", "uninstall")
    assert exclude.read_bytes() == before


def test_a_hook_under_version_control_is_not_touched(repo: Repo) -> None:
    repo.git("config", "core.hooksPath", "hooks")
    write_note(repo.top, "hooks/post-rewrite", "#!/bin/sh\n").chmod(0o755)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "hooks")
    result = repo.cli.run("hooks", "install")
    assert result.exit_code == 1
    assert "under version control" in result.stderr
    assert repo.git("status", "--porcelain") == ""
    assert not (repo.top / "hooks" / "post-merge").exists()


def test_a_linked_work_tree_uses_the_same_hooks_and_only_where_there_is_an_index(
    hooked: Repo, make_khiipd: Callable[..., Khiipd], tmp_path: Path
) -> None:
    linked = tmp_path / "its own place" / "linked"
    hooked.git("worktree", "add", "-q", "-b", "linked", str(linked))
    hooked.git("checkout", "-q", "-b", "again", top=linked)
    told = hooked.cli.run("--vault", str(linked / "vault"), "hooks", "status")
    assert told.exit_code == 0
    assert not (linked / "vault" / ".khiip").exists()


def test_two_vaults_in_one_repository_have_hooks_of_their_own(repo: Repo) -> None:
    write_note(repo.top, "second/One.md", "a note of the second vault")
    repo.cli.ok("hooks", "install")
    first = snapshot(repo.hooks)
    repo.cli.run("--vault", str(repo.top / "second"), "hooks", "install")
    assert snapshot(repo.hooks) != first
    assert repo.cli.run("hooks", "status").exit_code == 0
    repo.cli.run("--vault", str(repo.top / "second"), "hooks", "uninstall")
    assert snapshot(repo.hooks) == first


def test_hooks_work_after_the_repository_has_moved(hooked: Repo, tmp_path: Path) -> None:
    clone = tmp_path.parent / f"{tmp_path.name}-moved"
    hooked.git("clone", "-q", str(hooked.top), str(clone))
    for name in HOOKS:
        (clone / ".git" / "hooks" / name).write_bytes((hooked.hooks / name).read_bytes())
        (clone / ".git" / "hooks" / name).chmod(0o755)
    (clone / "vault" / ".khiip").mkdir()
    (clone / "vault" / ".khiip" / ".gitignore").write_text("*\n")
    hooked.git("checkout", "-q", "-b", "there", top=clone)
    log = clone / "vault" / ".khiip" / "hook.log"
    wait_until(lambda: log.exists() and "indexed 3 notes" in log.read_text())


def test_without_khiipd_git_goes_on_in_silence(hooked: Repo, tmp_path: Path) -> None:
    (tmp_path / "its own place" / "khiipd").unlink()
    assert hooked.git("checkout", "-q", "-b", "side") == ""


def test_while_the_index_is_written_elsewhere_a_hook_waits_and_then_does_it(hooked: Repo) -> None:
    hooked.git("checkout", "-qb", "side")
    hooked.wait_until_current()
    state = hooked.cli.settings.state
    with VaultIndex.open(hooked.cli.settings, write=True):
        for number in range(3):
            hooked.commit(f"{number}.md", f"note number {number}")
            hooked.git("checkout", "-qb", f"branch-{number}")
        wait_until((state / "hook.waiting").exists)
        before = hooked.log()
    hooked.wait_until_current()
    assert "locked" not in hooked.log()
    assert hooked.log().startswith(before)


@pytest.mark.parametrize("why", ["no repository", "hooks are off"])
def test_a_vault_without_hooks_is_told_so(
    cli: Khiipd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "hooks are off":
        make_repo(cli, tmp_path, monkeypatch).git("config", "core.hooksPath", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for what in ("install", "status", "uninstall"):
        result = cli.run("hooks", what)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "git" in result.stderr


def test_without_git_it_says_so(cli: Khiipd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = cli.run("hooks", "install")
    assert result.exit_code == 1
    assert "Git is not installed." in result.stderr
