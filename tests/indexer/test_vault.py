"""Which files are notes, and what a client's path may reach."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer import vault as vault_module
from khiip_indexer.disk import walk as walk_module
from khiip_indexer.disk.path_text import decode_path, encode_path
from khiip_indexer.disk.walk import is_offline
from khiip_indexer.errors import (
    NotFound,
    PathOutsideVault,
    ReservedFolder,
    UsageError,
    VaultError,
)
from khiip_indexer.types import Fingerprint
from khiip_indexer.vault import Vault

needs_permissions = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="this user may read everything"
)


def write(root: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def obsidian_excludes(root: Path, *filters: str) -> None:
    write(root, ".obsidian/app.json", text=json.dumps({"userIgnoreFilters": list(filters)}))


def notes(vault: Vault) -> list[str]:
    return sorted(path for path, _ in vault.scan())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


class Silent:
    """Looks at paths with these ends hang until it is over."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate = threading.Event()
        self.ends: list[str] = []
        self.entered = 0
        monkeypatch.setattr(walk_module, "LOOK_SECONDS", 0.2)
        monkeypatch.setattr(vault_module, "LOOK_SECONDS", 0.2)
        for name in ("scandir", "stat"):
            monkeypatch.setattr(os, name, self._slow(getattr(os, name)))

    def at(self, end: str) -> None:
        self.ends.append(end)

    def over(self, vault: Vault) -> None:
        self.gate.set()
        while vault._looking.hanging:
            time.sleep(0.01)

    def _slow(self, look: Callable[..., Any]) -> Callable[..., Any]:
        def slow(path: Any = ".", *rest: Any, **more: Any) -> Any:
            if isinstance(path, str) and path.endswith(tuple(self.ends)):
                self.entered += 1
                self.gate.wait(60)
            return look(path, *rest, **more)

        return slow


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Silent]:
    made = Silent(monkeypatch)
    yield made
    made.gate.set()


class TestScan:
    def test_notes_are_found_at_every_depth_with_their_fingerprints(self, root: Path) -> None:
        write(root, "a.md", "b/c/d.MD", "b/picture.png", "b/notes.txt", "md")
        found = dict(Vault(root).scan())
        assert sorted(found) == ["a.md", "b/c/d.MD"]
        status = (root / "a.md").stat()
        assert found["a.md"] == Fingerprint(
            status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
        )
        assert Vault(root).fingerprint("a.md") == found["a.md"]

    def test_hidden_trashed_and_third_party_folders_are_not_notes(self, root: Path) -> None:
        write(root, ".trash/old.md", ".obsidian/x.md", ".git/y.md", ".khiip/z.md")
        write(root, "proj/node_modules/p/README.md", "Private/a.md", "ok.md", ".hidden.md")
        obsidian_excludes(root, "Private/")
        vault = Vault(root)
        assert notes(vault) == ["ok.md"]
        assert list(vault.folders()) == ["", "proj"]
        for path in (".trash/old.md", ".khiip/z.md", "proj/node_modules/p/README.md"):
            assert vault.excluded_by(path)
        assert vault.excluded_by("Private/a.md") == "Excluded files in Obsidian: Private/"
        assert vault.excluded_by("ok.md") is None

    def test_excluded_folders_are_not_even_opened(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(root, ".git/y.md", "node_modules/p/r.md", "Private/a.md", "log/b.md", "ok/a.md")
        obsidian_excludes(root, "Private/")
        write(root, ".khiipignore", text="log/\n")
        opened: list[str] = []
        scandir = os.scandir

        def spy(folder: str) -> object:
            opened.append(os.path.relpath(folder, root))
            return scandir(folder)

        monkeypatch.setattr(os, "scandir", spy)
        notes(Vault(root))
        assert opened == [".", "ok"]

    def test_a_rule_added_later_counts_at_the_next_scan(self, root: Path) -> None:
        write(root, "Private/a.md", "b.md")
        vault = Vault(root)
        assert notes(vault) == ["Private/a.md", "b.md"]
        obsidian_excludes(root, "Private/")
        assert notes(vault) == ["b.md"]
        assert vault.excluded_by("Private/a.md")

    def test_a_missing_vault_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(VaultError, match="no vault folder"):
            Vault(tmp_path / "gone")

    def test_a_vault_that_vanishes_is_not_an_empty_vault(self, root: Path) -> None:
        vault = Vault(root)
        root.rmdir()
        with pytest.raises(VaultError):
            list(vault.scan())

    @pytest.mark.parametrize(
        "name", ["🐘.md", "[.md", "….md", "a b.md", "a-b.md", "A #1 [x].md", "é'\"\t.md", "C: x.md"]
    )
    def test_any_name_is_its_own_identity(self, root: Path, name: str) -> None:
        write(root, name, text=name)
        vault = Vault(root)
        assert notes(vault) == [name]
        assert vault.read(name) == (name.encode(), False)
        assert vault.resolve(name) == name
        assert vault.excluded_by(name) is None

    def test_composed_and_decomposed_names_are_two_notes(self, root: Path) -> None:
        write(root, "caf\u00e9.md", "cafe\u0301.md")
        if len(list(root.iterdir())) < 2:
            pytest.skip("this file system takes them for one")
        assert notes(Vault(root)) == ["cafe\u0301.md", "caf\u00e9.md"]

    @pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
    def test_a_name_that_is_no_utf8_can_be_shown_and_read(self, root: Path) -> None:
        Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.md")).write_text("old")
        vault = Vault(root)
        (path,) = notes(vault)
        assert path == "caf\ufffdE9.md"
        assert path.encode("utf-8")
        assert vault.read(path) == (b"old", False)
        assert vault.fingerprint(path) is not None
        assert vault.resolve(path) == path

    def test_a_folder_or_a_pipe_with_a_notes_name_is_no_note(self, root: Path) -> None:
        write(root, "folder.md/a.md")
        os.mkfifo(root / "pipe.md")
        assert notes(Vault(root)) == ["folder.md/a.md"]
        with pytest.raises(NotFound):
            Vault(root).read("pipe.md")

    @needs_permissions
    def test_a_locked_folder_is_a_problem_and_not_a_deletion(self, root: Path) -> None:
        write(root, "locked/a.md", "b.md")
        (root / "locked").chmod(0)
        try:
            vault = Vault(root)
            assert notes(vault) == ["b.md"]
        finally:
            (root / "locked").chmod(0o755)
        assert [(p.path, p.code) for p in vault.problems] == [("locked", "folder_unreadable")]

    def test_a_folder_that_cannot_be_listed_is_a_problem(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(root, "locked/a.md", "b.md")
        scandir = os.scandir

        def refuse(folder: str) -> object:
            if folder.endswith("locked"):
                raise PermissionError(13, "Permission denied")
            return scandir(folder)

        monkeypatch.setattr(os, "scandir", refuse)
        vault = Vault(root)
        assert notes(vault) == ["b.md"]
        assert [(p.path, p.code) for p in vault.problems] == [("locked", "folder_unreadable")]
        list(vault.folders())
        assert len(vault.problems) == 1
        monkeypatch.undo()
        notes(vault)
        assert vault.problems == []

    def test_a_folder_that_hangs_is_a_problem_and_holds_up_no_other(
        self, root: Path, silent: Silent
    ) -> None:
        write(root, "cloud/a.md", "cloud/deep/b.md", "c.md", "zoo/d.md")
        vault = Vault(root)
        assert len(notes(vault)) == 4
        silent.at("cloud")
        assert notes(vault) == ["c.md", "zoo/d.md"]
        assert [(p.path, p.code) for p in vault.problems] == [("cloud", "folder_timeout")]
        assert (vault.unlisted, vault.silent) == (["cloud"], frozenset({"cloud"}))
        assert list(vault.folders()) == ["", "zoo"]
        assert notes(vault) == ["c.md", "zoo/d.md"]
        assert silent.entered == 1
        silent.over(vault)
        assert len(notes(vault)) == 4
        assert (vault.problems, vault.unlisted, vault.silent) == ([], [], frozenset())

    def test_the_vault_itself_that_hangs_is_an_error(self, root: Path, silent: Silent) -> None:
        write(root, "a.md")
        vault = Vault(root)
        silent.at("vault")
        with pytest.raises(VaultError, match="does not answer"):
            notes(vault)
        silent.over(vault)
        assert notes(vault) == ["a.md"]

    def test_of_many_silent_folders_the_first_are_waited_for(
        self, root: Path, silent: Silent
    ) -> None:
        write(root, *(f"cloud/{n}/silent/x.md" for n in range(3)), "zoo/d.md")
        write(root, *(f"cloud/{n}silent/x.md" for n in range(100, 130)))
        vault = Vault(root)
        silent.at("silent")
        assert notes(vault) == ["zoo/d.md"]
        assert len(vault.problems) == 33
        assert silent.entered <= 3 + 16
        silent.over(vault)
        assert len(notes(vault)) == 34

    @pytest.mark.skipif(os.name != "posix", reason="symlinks")
    def test_a_link_to_a_place_that_hangs_is_one_problem(
        self, root: Path, tmp_path: Path, silent: Silent
    ) -> None:
        write(root, "a.md", "real/b.md", "real/b.text")
        (root / "link.md").symlink_to(root / "real/b.text")
        (root / "gone").symlink_to(tmp_path / "gone")
        vault = Vault(root)
        assert notes(vault) == ["a.md", "link.md", "real/b.md"]
        silent.at("link.md")
        silent.at("gone")
        assert notes(vault) == ["a.md", "real/b.md"]
        assert {(p.path, p.code) for p in vault.problems} == {
            ("link.md", "read_timeout"), ("gone", "folder_timeout"),
        }  # fmt: skip
        assert len(vault.problems) == 2

    def test_scanning_and_reading_change_nothing(self, root: Path) -> None:
        write(root, "a.md", "b/c.md")
        before = {p: p.stat() for p in root.rglob("*")}
        vault = Vault(root)
        for path in notes(vault):
            vault.read(path)
        assert {p: (s.st_mtime_ns, s.st_size) for p, s in before.items()} == {
            p: (p.stat().st_mtime_ns, p.stat().st_size) for p in root.rglob("*")
        }


class TestCloudPlaceholders:
    def test_an_icloud_placeholder_stands_for_its_note(self, root: Path) -> None:
        write(root, "dir/.Pump.md.icloud", ".picture.png.icloud", ".trash/.Old.md.icloud", "a.md")
        vault = Vault(root)
        assert notes(vault) == ["a.md"]
        assert vault.offline == {"dir/Pump.md"}
        (root / "dir/.Pump.md.icloud").rename(root / "dir/Pump.md")
        assert notes(vault) == ["a.md", "dir/Pump.md"]
        assert vault.offline == set()

    @pytest.mark.parametrize(
        "flags", [{"st_flags": 0x40000000}, {"st_file_attributes": 0x00400000}]
    )
    def test_a_file_whose_content_is_elsewhere_is_known_by_its_flags(
        self, flags: dict[str, int]
    ) -> None:
        assert is_offline(cast("os.stat_result", SimpleNamespace(**flags)))

    def test_an_ordinary_file_is_here(self, root: Path) -> None:
        write(root, "a.md")
        assert not is_offline((root / "a.md").stat())

    def test_a_placeholder_is_kept_apart_and_never_opened(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(root, "a.md", "b.md")
        inode = (root / "a.md").stat().st_ino
        for module in (vault_module, walk_module):
            monkeypatch.setattr(module, "is_offline", lambda status: status.st_ino == inode)
        vault = Vault(root)
        assert notes(vault) == ["b.md"]
        assert vault.offline == {"a.md"}
        with pytest.raises(VaultError) as caught:
            vault.read("a.md")
        assert caught.value.code == "note_offline"


class TestRules:
    def test_obsidians_filters_are_beginnings_of_paths_or_patterns(self, root: Path) -> None:
        write(root, "Private/a.md", "private 2/b.md", "x/Private/c.md", "One.md", "two.draft.md")
        obsidian_excludes(root, "Private/", "one.md", "/\\.DRAFT\\.md$/", "")
        vault = Vault(root)
        assert notes(vault) == ["private 2/b.md", "x/Private/c.md"]
        assert vault.excluded_by("two.draft.md") == "Excluded files in Obsidian: /\\.DRAFT\\.md$/"
        assert vault.excluded_folder_by("Private") == "Excluded files in Obsidian: Private/"
        assert vault.excluded_folder_by("Private/deeper") == "Excluded files in Obsidian: Private/"
        assert vault.excluded_folder_by(".git/hooks") == "hidden: '.git' begins with a dot"
        obsidian_excludes(root, "/\\.md$/")
        assert notes(vault) == []
        assert vault.excluded_folder_by("x") is None

    def test_a_javascript_group_name_is_understood(self, root: Path) -> None:
        write(root, "2024/a.md", "b.md")
        obsidian_excludes(root, "/^(?<year>\\d{4})\\//")
        assert notes(Vault(root)) == ["b.md"]

    def test_khiipignore_has_gitignores_meaning(self, root: Path) -> None:
        write(root, "log/a.md", "x/log/b.md", "top.md", "x/top.md", "n.tmp.md", "keep.tmp.md")
        write(root, ".khiipignore", text="# comment\n\nlog/\n/top.md\n*.tmp.md\n!keep.tmp.md\r\n")
        vault = Vault(root)
        assert notes(vault) == ["keep.tmp.md", "x/top.md"]
        assert vault.excluded_by("x/log/deep/b.md") == ".khiipignore: log/"
        assert vault.excluded_by("n.tmp.md") == ".khiipignore: *.tmp.md"
        assert vault.excluded_by("keep.tmp.md") is None

    def test_a_note_in_an_excluded_folder_cannot_be_let_in_again(self, root: Path) -> None:
        write(root, "log/keep.md", ".khiipignore", text="log/\n!log/keep.md\n")
        vault = Vault(root)
        assert notes(vault) == []
        assert vault.excluded_by("log/keep.md") == ".khiipignore: log/"

    def test_excludes_of_the_config_count_too(self, root: Path) -> None:
        write(root, "Archive/a.md", "b.md")
        vault = Vault(root, excludes=["Archive/"])
        assert notes(vault) == ["b.md"]
        assert vault.excluded_by("Archive/a.md") == "exclude in the config: Archive/"

    @pytest.mark.parametrize(
        "content",
        [
            "{broken",
            "[1, 2]",
            '{"userIgnoreFilters": "Private/"}',
            '{"userIgnoreFilters": null}',
            '{"userIgnoreFilters": [1, null]}',
            "[" * 100_000,
            "\ud83d",
        ],
    )
    def test_broken_settings_of_obsidian_stop_nothing(self, root: Path, content: str) -> None:
        write(root, "a.md")
        (root / ".obsidian").mkdir()
        (root / ".obsidian/app.json").write_bytes(content.encode("utf-8", "surrogatepass"))
        vault = Vault(root)
        assert notes(vault) == ["a.md"]
        unreadable = content.startswith(("{broken", "[[", "\ud83d"))
        assert [p.path for p in vault.problems] == [".obsidian/app.json"] * unreadable

    def test_a_rule_that_cannot_be_used_is_a_problem_and_the_others_count(self, root: Path) -> None:
        write(root, "a.md", "b.md", "c.md")
        obsidian_excludes(root, "/(/", "b.md")
        write(root, ".khiipignore", text="!\nc.md\n")
        vault = Vault(root)
        assert notes(vault) == ["a.md"]
        assert sorted(p.path for p in vault.problems) == [".khiipignore", ".obsidian/app.json"]

    def test_a_file_that_is_no_note_has_a_reason_too(self, root: Path) -> None:
        assert "does not end in .md" in str(Vault(root).excluded_by("a.md.tmp123"))

    def test_pattern_matching_is_not_loaded_without_patterns(self, root: Path) -> None:
        code = (
            "import sys, pathlib; from khiip_indexer.vault import Vault; "
            f"list(Vault(pathlib.Path({str(root)!r})).scan()); print('pathspec' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        assert done.stdout.strip() == "False"

    @given(st.text(alphabet="ab/.mdé*[]! ", max_size=20), st.booleans())
    def test_one_rule_serves_scan_and_explanation(
        self, tmp_path_factory: pytest.TempPathFactory, pattern: str, in_config: bool
    ) -> None:
        root = tmp_path_factory.mktemp("v")
        every = ["a.md", "b/a.md", "b/b/é.md", "node_modules/a.md", ".d/a.md"]
        write(root, *every)
        if not in_config:
            obsidian_excludes(root, pattern)
        vault = Vault(root, [pattern] if in_config else [])
        assert notes(vault) == sorted(p for p in every if vault.excluded_by(p) is None)


class TestSymlinks:
    def test_symlinks_that_leave_the_vault_are_not_followed(self, root: Path) -> None:
        outside = root.parent / "outside"
        write(outside, "secret.md", "deep/more.md")
        write(root, "a.md")
        (root / "link").symlink_to(outside)
        (root / "b.md").symlink_to(outside / "secret.md")
        vault = Vault(root)
        assert notes(vault) == ["a.md"]
        assert vault.excluded_by("b.md") == "a symlink that leaves the vault"
        assert vault.excluded_by("link/secret.md") == "a symlink that leaves the vault"
        assert vault.fingerprint("b.md") is None
        with pytest.raises(NotFound):
            vault.read("b.md")
        opted_in = Vault(root, follow_symlinks=True)
        assert notes(opted_in) == ["a.md", "b.md", "link/deep/more.md", "link/secret.md"]
        assert opted_in.read("link/secret.md") == (b"x", False)

    def test_what_symlinks_inside_the_vault_lead_to_is_captured_once_at_its_own_place(
        self, root: Path
    ) -> None:
        write(root, "real/a.md", "real/deep/b.md")
        (root / "alias.md").symlink_to(root / "real/a.md")
        (root / "alias").symlink_to(root / "real")
        vault = Vault(root)
        assert notes(vault) == ["real/a.md", "real/deep/b.md"]
        for way in ("alias", "alias.md", "alias/a.md", "alias/deep"):
            assert [path for path, _ in vault.scan([way])] == []
        assert sorted(vault.folders()) == ["", "real", "real/deep"]
        assert list(vault.folders("alias")) == []
        assert vault.left_out("alias.md") == "reached over a symlink; the note counts as real/a.md"
        assert str(vault.left_out("alias/deep/b.md")).endswith("counts as real/deep/b.md")
        assert vault.left_out("real/a.md") is None

    def test_a_symlink_is_the_way_to_what_is_left_out_at_its_own_place(self, root: Path) -> None:
        write(root, "Private/a.md", "Private/b.md", "list.text")
        (root / "chosen.md").symlink_to(root / "Private/a.md")
        (root / "shown").symlink_to(root / "Private")
        (root / "list.md").symlink_to(root / "list.text")
        obsidian_excludes(root, "Private/")
        vault = Vault(root)
        assert notes(vault) == ["chosen.md", "list.md", "shown/a.md", "shown/b.md"]
        assert vault.linked
        assert vault.left_out("chosen.md") is None

    def test_of_several_symlinks_to_one_folder_outside_one_is_followed_and_the_other_told(
        self, root: Path
    ) -> None:
        write(root.parent / "outside", "n.md")
        for name in ("one", "two"):
            (root / name).symlink_to(root.parent / "outside")
        vault = Vault(root, follow_symlinks=True)
        [path] = notes(vault)
        other = {"one/n.md": "two/n.md", "two/n.md": "one/n.md"}[path]
        assert vault.left_out(path) is None
        assert vault.left_out(other) == "its folder is reached over another symlink"
        assert vault.left_out("two/nothing.md") is None

    def test_what_is_no_note_whatever_its_name_says_is_told(self, root: Path) -> None:
        write(root, "folder.md/n.md", "a.md")
        os.mkfifo(root / "pipe.md")
        (root / "broken.md").symlink_to(root / "nothing.md")
        (root / "circle.md").symlink_to(root / "circle.md")
        (root / "up").symlink_to(root)
        vault = Vault(root)
        told = {
            "folder.md": "a folder, not a note",
            "pipe.md": "no regular file",
            "broken.md": "a symlink to nothing",
            "circle.md": "a symlink that leads in a circle",
            "up/up/a.md": "reached over a symlink; the note counts as a.md",
            "a.md": None,
            "gone.md": None,
        }
        assert {path: vault.left_out(path) for path in told} == told
        assert notes(vault) == ["a.md", "folder.md/n.md"]

    def test_loops_end(self, root: Path) -> None:
        write(root, "a/n.md", "b/m.md")
        (root / "a/up").symlink_to(root)
        (root / "a/self").symlink_to(root / "a")
        (root / "a/b").symlink_to(root / "b")
        (root / "b/a").symlink_to(root / "a")
        (root / "circle.md").symlink_to(root / "circle.md")
        (root / "circle").symlink_to(root / "circle")
        (root / "broken.md").symlink_to(root / "nothing.md")
        vault = Vault(root)
        assert notes(vault) == ["a/n.md", "b/m.md"]

    def test_a_symlink_into_a_hidden_folder_is_no_note(self, root: Path) -> None:
        write(root, ".trash/old.md")
        (root / "old.md").symlink_to(root / ".trash/old.md")
        (root / "trash").symlink_to(root / ".trash")
        vault = Vault(root)
        assert notes(vault) == []
        with pytest.raises(ReservedFolder):
            vault.resolve("trash/old.md")

    def test_a_vault_that_is_itself_a_symlink_works(self, root: Path) -> None:
        write(root, "a.md")
        (root.parent / "way").symlink_to(root)
        vault = Vault(root.parent / "way")
        assert (notes(vault), vault.name) == (["a.md"], "way")
        assert vault.read("a.md") == (b"x", False)


class TestRead:
    def test_a_very_large_note_is_cut_and_said_to_be(self, root: Path) -> None:
        write(root, "a.md", text="x" * 100)
        assert Vault(root).read("a.md", limit=10) == (b"x" * 10, True)
        assert Vault(root).read("a.md", limit=100) == (b"x" * 100, False)

    def test_a_note_that_is_gone_is_not_found(self, root: Path) -> None:
        vault = Vault(root)
        assert vault.fingerprint("gone.md") is None
        with pytest.raises(NotFound):
            vault.read("gone.md")

    def test_a_note_that_cannot_be_opened_has_its_own_code(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(root, "a.md")

        def refuse(*_: object, **__: object) -> object:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)
        with pytest.raises(VaultError, match="Permission denied") as caught:
            Vault(root).read("a.md")
        assert caught.value.code == "note_unreadable"


class TestPathsFromClients:
    @pytest.mark.parametrize(
        "path",
        [
            "../../out",
            "..\\..\\out",
            "/etc",
            "C:\\x",
            "C:/x",
            "c:",
            "a/../../b",
            "..",
            "a/..\\..\\b",
            "../secret.md",
            "%2e%2e/secret.md",
            "%2E./x",
            "\\\\server\\share",
            "link/passwd",
            "link",
            "a/.. /b",
            "/",
            "\\x",
        ],
    )
    def test_no_path_leaves_the_vault(self, root: Path, path: str) -> None:
        (root / "link").symlink_to("/etc")
        with pytest.raises(PathOutsideVault) as caught:
            Vault(root).resolve(path)
        assert (caught.value.code, caught.value.http_status) == ("path_outside_vault", 400)

    @pytest.mark.parametrize(
        "path", [".obsidian/plugins/x", ".khiip", ".git/hooks", "a/.trash/b.md", "a\\.git"]
    )
    def test_folders_without_notes_are_reserved(self, root: Path, path: str) -> None:
        with pytest.raises(ReservedFolder) as caught:
            Vault(root).resolve(path)
        assert (caught.value.code, caught.value.http_status) == ("reserved_folder", 400)

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("a.md", "a.md"),
            ("./a/b.md", "a/b.md"),
            ("a//b/", "a/b"),
            ("a\\b.md", "a/b.md"),
            ("", ""),
            (".", ""),
            ("gone/note.md", "gone/note.md"),
            ("50%2e.md", "50%2e.md"),
            ("C: drive.md", "C: drive.md"),
            ("wait….md", "wait….md"),
        ],
    )
    def test_a_path_is_made_vault_relative(self, root: Path, path: str, expected: str) -> None:
        assert Vault(root).resolve(path) == expected

    @pytest.mark.skipif(os.name != "posix", reason="a separator on Windows")
    def test_a_backslash_in_a_file_name_is_part_of_it(self, root: Path) -> None:
        write(root, "a\\b.md")
        vault = Vault(root)
        assert notes(vault) == ["a\\b.md"]
        assert vault.resolve("a\\b.md") == "a\\b.md"

    @pytest.mark.parametrize("path", ["a\0b.md", "\ud83d.md"])
    def test_what_can_be_no_path_is_a_bad_parameter_or_unknown(self, root: Path, path: str) -> None:
        vault = Vault(root)
        with pytest.raises(UsageError):
            vault.resolve(path)
        assert vault.fingerprint(path) is None
        with pytest.raises(NotFound):
            vault.read(path)

    @given(st.text(max_size=40) | st.text(alphabet="./\\ab%2e:C~", max_size=12))
    def test_any_text_resolves_inside_or_is_refused(
        self, tmp_path_factory: pytest.TempPathFactory, path: str
    ) -> None:
        vault = Vault(tmp_path_factory.getbasetemp())
        try:
            found = vault.resolve(path)
        except UsageError:
            return
        real = os.path.realpath(vault.root / found)
        assert real.startswith(os.path.realpath(vault.root))
        assert not any(part in ("..", ".") for part in found.split("/"))


def test_reading_a_small_note_takes_no_room_for_a_large_one(root: Path) -> None:
    (root / "small.md").write_text("# Small\n", encoding="utf-8")
    vault = Vault(root)
    vault.read("small.md")
    tracemalloc.start()
    try:
        assert vault.read("small.md") == (b"# Small\n", False)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


class TestPathText:
    @given(st.binary(max_size=30))
    def test_any_name_on_disk_is_text_and_comes_back(self, raw: bytes) -> None:
        name = raw.decode("utf-8", errors="surrogateescape")
        shown = encode_path(name)
        assert shown.encode("utf-8").decode() == shown
        if "\ufffd" not in name:
            assert decode_path(shown) == name

    def test_half_an_emoji_in_a_name_comes_back(self) -> None:
        assert decode_path(encode_path("a\ud83d.md")) == "a\ud83d.md"

    def test_ordinary_names_are_untouched(self) -> None:
        assert encode_path("メモ/café.md") == "メモ/café.md"
