"""Settings from the config file: what is wrong in it is said, never passed over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from khiip_indexer.config import Overrides, load_settings
from khiip_indexer.errors import KhiipError, UsageError, VaultError
from khiip_indexer.index import VaultIndex
from support import make_vault


def environ(home: Path, config: str) -> dict[str, str]:
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(config, encoding="utf-8")
    return {"KHIIP_HOME": str(home)}


@pytest.mark.parametrize(
    "config",
    [
        'excludes = ["Private/"]',
        'exclude = "Private/"',
        'follow_symlinks = "yes"',
        "port = 0",
        "threads = true",
        'vault = "~nobody-of-this-name/Notes"',
        "[[[",
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(tmp_path: Path, config: str) -> None:
    said = None if config.startswith("vault") else str(tmp_path)
    with pytest.raises(UsageError):
        load_settings(Overrides(vault=said), environ(tmp_path / "home", config))


@pytest.mark.parametrize("name", ["nothing", "file.md"])
def test_a_vault_that_is_no_folder_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.md").write_text("text")
    with pytest.raises(VaultError, match="is not a folder" if "." in name else "does not exist"):
        load_settings(Overrides(vault=str(tmp_path / name)), environ(tmp_path / "home", ""))


def test_two_vaults_never_share_the_folder_of_one_index(tmp_path: Path) -> None:
    settings = {}
    for name in ("first", "second"):
        vault = make_vault(tmp_path / name, {"a.md": name}).vault
        said = Overrides(vault=str(vault), state_dir=str(tmp_path / "state"))
        settings[name] = load_settings(said, environ(tmp_path / f"{name}-home", ""))
    VaultIndex.open(settings["first"], write=True).close()
    VaultIndex.open(settings["first"]).close()
    for write in (True, False):
        with pytest.raises(UsageError, match="another vault"):
            VaultIndex.open(settings["second"], write=write)


def test_a_vault_that_was_moved_keeps_its_index_elsewhere(tmp_path: Path) -> None:
    old = make_vault(tmp_path / "old", {"a.md": "a"}).vault
    homes = environ(tmp_path / "home", f'state_dir = "{tmp_path / "state"}"')
    with VaultIndex.open(load_settings(Overrides(vault=str(old)), homes), write=True) as index:
        known = index.vault_id
    moved = load_settings(Overrides(vault=str(old.rename(tmp_path / "new"))), homes)
    with VaultIndex.open(moved, write=True) as index:
        assert index.vault_id == known


def test_an_index_that_may_not_be_opened_is_no_missing_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_vault(tmp_path / "vault", {"a.md": "a"})
    VaultIndex.open(settings, write=True).close()
    looked = Path.is_file

    def refused(path: Path) -> bool:
        if path.parent == settings.state:
            raise PermissionError(13, "Permission denied", str(path))
        return looked(path)

    monkeypatch.setattr(Path, "is_file", refused)
    with pytest.raises(KhiipError, match="may not be read"):
        VaultIndex.open(settings)


def test_an_index_on_a_read_only_disk_is_read_without_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_vault(tmp_path / "vault", {"a.md": "a"})
    VaultIndex.open(settings, write=True).close()
    before = {path.name for path in settings.state.iterdir()}
    monkeypatch.setattr("os.access", lambda _, mode: mode == os.R_OK)
    with VaultIndex.open(settings) as index:
        assert index.counts().notes == 0
        assert {path.name for path in settings.state.iterdir()} == before
