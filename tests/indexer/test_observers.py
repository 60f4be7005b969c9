"""The system's events, for real: every change of a note is heard, and only note folders are."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from khiip_indexer.vault import Vault
from khiip_indexer.watching.observers import (
    FolderObserver,
    Observer,
    TreeObserver,
    make_observer,
)
from support import wait_until, write_note

needs_inotify = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


class Ears:
    """What was heard: paths, and whether each was said to be a folder."""

    def __init__(self, root: Path, make: Callable[..., Observer] = make_observer) -> None:
        self.root = root
        self.vault = Vault(root)
        self.heard: list[tuple[str, bool]] = []
        self.lost = 0
        self.observer = make(self.vault, self._hear, self._lose)

    def _hear(self, path: str, is_folder: bool) -> None:
        self.heard.append((path, is_folder))

    def _lose(self) -> None:
        self.lost += 1

    def paths(self) -> set[str]:
        return {path for path, _ in self.heard}

    def wait_for(self, *paths: str) -> None:
        wait_until(lambda: set(paths) <= self.paths(), lambda: f"{paths} of {self.heard}")

    def settle(self) -> None:
        """Until everything that happened so far was heard: events come in order."""
        write_note(self.root, "the end.md", str(time.time()))
        self.wait_for("the end.md")
        self.heard.clear()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    for path in (
        "a.md", "folder/b.md", "folder/below/c.md", "gone/d.md",
        ".git/objects/x.md", ".obsidian/y.md", ".khiip/z.md", ".trash/t.md",
        "p/node_modules/q/README.md", "Private/secret.md", "drafts/e.md",
    ):  # fmt: skip
        write_note(vault, path, "text\n")
    (vault / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["Private/"]}')
    (vault / ".khiipignore").write_text("drafts\n")
    return vault


@pytest.fixture(params=[pytest.param(FolderObserver, marks=needs_inotify), TreeObserver])
def ears(root: Path, request: pytest.FixtureRequest) -> Iterator[Ears]:
    opened = Ears(root, request.param)
    opened.observer.start()
    yield opened
    opened.observer.stop()
    assert not opened.observer.is_alive()


@pytest.fixture
def folders(root: Path) -> Iterator[Ears]:
    opened = Ears(root, FolderObserver)
    opened.observer.start()
    yield opened
    opened.observer.stop()


def watched(ears: Ears) -> set[str]:
    assert isinstance(ears.observer, FolderObserver)
    return ears.observer.folders


def test_an_edit_a_new_note_and_a_deletion_are_heard(ears: Ears) -> None:
    write_note(ears.root, "folder/b.md", "another text\n")
    write_note(ears.root, "folder/new.md", "new\n")
    (ears.root / "gone/d.md").unlink()
    ears.wait_for("folder/b.md", "folder/new.md", "gone/d.md")
    assert ears.observer.is_alive()


def test_both_ends_of_a_rename_are_heard(ears: Ears) -> None:
    (ears.root / "a.md").rename(ears.root / "folder/z.md")
    (ears.root / "folder/b.md").rename(ears.root / "folder/b.txt")
    ears.wait_for("a.md", "folder/z.md", "folder/b.md")


def test_a_save_by_a_temporary_file_is_heard_under_the_notes_name(ears: Ears) -> None:
    write_note(ears.root, "folder/.b.md.tmp123", "another text\n")
    os.replace(ears.root / "folder/.b.md.tmp123", ears.root / "folder/b.md")  # noqa: PTH105
    ears.wait_for("folder/b.md")


def test_a_folder_that_comes_and_one_that_goes_are_heard_as_folders(ears: Ears) -> None:
    (ears.root / "came").mkdir()
    (ears.root / "folder").rename(ears.root / "renamed")
    ears.wait_for("came", "folder", "renamed")
    said = dict(ears.heard)
    assert said["came"]
    assert said["folder"]
    assert said["renamed"]


def test_reading_is_never_heard(ears: Ears) -> None:
    ears.settle()
    for path, _ in list(ears.vault.scan()):
        ears.vault.read(path)
    write_note(ears.root, "the end.md", "again")
    ears.wait_for("the end.md")
    assert ears.paths() == {"the end.md"}


def test_one_event_that_cannot_be_taken_in_does_not_deafen(
    ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    hear = ears._hear
    failed = threading.Event()

    def raising_once(path: str, is_folder: bool) -> None:
        if not failed.is_set():
            failed.set()
            raise KeyError(path)
        hear(path, is_folder)

    monkeypatch.setattr(ears.observer, "_heard", raising_once)
    write_note(ears.root, "a.md", "first\n")
    assert failed.wait(10)
    write_note(ears.root, "folder/b.md", "second\n")
    ears.wait_for("folder/b.md")
    assert ears.observer.is_alive()
    assert ears.lost == 1


def test_a_name_that_is_no_utf8_is_heard_as_the_scan_gives_it(ears: Ears) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    try:
        (ears.root / name).write_text("coffee\n")
    except OSError:
        pytest.skip("this file system knows no such names")
    (found,) = [path for path, _ in ears.vault.scan() if path.startswith("caf")]
    ears.wait_for(found)


@needs_inotify
def test_the_watches_are_the_note_folders_and_no_others(folders: Ears) -> None:
    assert watched(folders) == {"", "folder", "folder/below", "gone", "p"}
    assert watched(folders) == set(folders.vault.folders())
    kernel = Path(f"/proc/self/fdinfo/{folders.observer._kernel._inotify_fd}")  # type: ignore[attr-defined]
    assert kernel.read_text().count("inotify wd:") == 5 + 1  # the rules' own folder


def test_new_rules_are_heard_however_they_are_written(ears: Ears) -> None:
    settings = ears.root / ".obsidian"
    (settings / "app.json").write_text("{}")
    ears.wait_for(".obsidian/app.json")
    ears.settle()
    (settings / "new.json").write_text('{"userIgnoreFilters": ["gone/"]}')
    (settings / "new.json").replace(settings / "app.json")
    (ears.root / ".khiipignore").write_text("folder\n")
    ears.wait_for(".obsidian/app.json", ".khiipignore")


@needs_inotify
def test_of_the_settings_only_the_rules_are_heard(folders: Ears) -> None:
    folders.settle()
    write_note(folders.root, ".obsidian/workspace.json", "{}")
    write_note(folders.root, "the end.md", "again")
    folders.wait_for("the end.md")
    assert folders.paths() == {"the end.md"}


@needs_inotify
def test_nothing_in_other_folders_is_heard(folders: Ears) -> None:
    folders.settle()
    for path in (".git/x.md", ".khiip/cache.sqlite", "Private/secret.md", "drafts/e.md"):
        write_note(folders.root, path, "changed\n")
    write_note(folders.root, "the end.md", "again")
    folders.wait_for("the end.md")
    assert folders.paths() == {"the end.md"}


@needs_inotify
def test_new_folders_are_watched_with_those_in_them(folders: Ears) -> None:
    (folders.root / "x/y/z").mkdir(parents=True)
    (folders.root / "x/.hidden").mkdir()
    folders.observer.add("x")
    assert {"x", "x/y", "x/y/z"} <= watched(folders)
    assert "x/.hidden" not in watched(folders)
    write_note(folders.root, "x/y/z/deep.md", "deep\n")
    folders.wait_for("x/y/z/deep.md")


@needs_inotify
def test_a_moved_folder_is_heard_under_its_new_name_only(folders: Ears) -> None:
    (folders.root / "folder").rename(folders.root / "moved")
    folders.wait_for("folder", "moved")
    folders.observer.add("moved")
    assert watched(folders) == {"", "moved", "moved/below", "gone", "p"}
    folders.settle()
    write_note(folders.root, "moved/below/c.md", "another text\n")
    folders.wait_for("moved/below/c.md")
    assert not [path for path in folders.paths() if path.startswith("folder")]


@needs_inotify
def test_a_folder_moved_out_of_the_vault_is_not_heard_any_more(folders: Ears) -> None:
    away = folders.root.parent / "away"
    (folders.root / "folder").rename(away)
    folders.wait_for("folder")
    folders.settle()
    (away / "below/c.md").write_text("changed outside\n")
    write_note(folders.root, "the end.md", "again")
    folders.wait_for("the end.md")
    assert folders.paths() == {"the end.md"}
    assert watched(folders) == {"", "gone", "p"}


@needs_inotify
def test_a_folder_that_is_made_anew_is_watched_anew(folders: Ears) -> None:
    for _ in range(5):
        shutil.rmtree(folders.root / "folder")
        write_note(folders.root, "folder/b.md", "anew\n")
        folders.wait_for("folder")
        wait_until(lambda: "folder" not in watched(folders))
        folders.observer.add("folder")
        folders.settle()
        write_note(folders.root, "folder/b.md", "anew and edited\n")
        folders.wait_for("folder/b.md")


@needs_inotify
def test_churn_of_folders_deafens_nothing(folders: Ears) -> None:
    for number in range(200):
        (folders.root / f"t{number}/u").mkdir(parents=True)
        folders.observer.add(f"t{number}")
        shutil.rmtree(folders.root / f"t{number}")
    folders.settle()
    assert folders.observer.is_alive()
    assert folders.lost == 0
    wait_until(lambda: watched(folders) == {"", "folder", "folder/below", "gone", "p"})


@needs_inotify
def test_a_symlink_inside_the_vault_is_heard_by_every_path(folders: Ears) -> None:
    (folders.root / "link").symlink_to("gone", target_is_directory=True)
    folders.wait_for("link")
    assert dict(folders.heard)["link"]
    folders.observer.add("link")
    assert "link" not in watched(folders)  # its notes are at their own place
    (folders.root / ".khiipignore").write_text("/gone\n")
    folders.observer.add("link")
    write_note(folders.root, "gone/d.md", "another text\n")
    folders.wait_for("gone/d.md", "link/d.md")


@needs_inotify
def test_a_vault_that_moves_away_is_a_loss(folders: Ears) -> None:
    folders.root.rename(folders.root.with_name("elsewhere"))
    wait_until(lambda: folders.lost > 0)


@needs_inotify
def test_an_overflow_of_the_kernels_queue_is_a_loss(folders: Ears) -> None:
    from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, Mask, WatchDescriptor

    overflow = InotifyEvent(WatchDescriptor(-1), Mask(InotifyConstants.IN_Q_OVERFLOW), 0, b"")
    folders.observer._kernel.handle_event(overflow)  # type: ignore[attr-defined]
    assert folders.lost == 1


def test_each_system_gets_the_observer_that_fits(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for platform, kind in (("linux", FolderObserver), ("darwin", TreeObserver)):
        monkeypatch.setattr("khiip_indexer.watching.observers.sys.platform", platform)
        assert isinstance(Ears(root).observer, kind)
