"""Which file a path leads to, and whether the vault's folder is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from khiip_indexer.disk.presence import Presence
from khiip_indexer.storage.identity import identity, is_still


def test_a_file_that_took_the_place_of_an_open_one_is_another(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    known = identity(path)
    with path.open():  # while it is open its number is not given away
        assert is_still(path, known)
        path.unlink()
        assert not is_still(path, known)
        path.write_text("one")
        assert not is_still(path, known)
    assert identity(path / "below a file") is None
    assert not is_still(path, None)


def test_where_files_have_no_numbers_only_their_absence_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("one")
    real = Path.stat

    def without_number(self: Path, **how: bool) -> os.stat_result:
        found = list(real(self, **how))
        found[1] = 0
        return os.stat_result(found)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", without_number)
        known = identity(path)
        path.write_text("two")
        assert is_still(path, known)
    assert is_still(path, known)
    path.unlink()
    assert not is_still(path, known)


def test_what_may_not_be_looked_at_counts_as_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = identity(tmp_path)

    def refused(_: Path) -> os.stat_result:
        raise PermissionError

    monkeypatch.setattr(Path, "stat", refused)
    assert is_still(tmp_path / "file", known)


def test_a_vault_is_there_unless_an_empty_folder_has_its_place(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    there = Presence(root)
    assert there()  # an empty vault is one
    root.rename(tmp_path / "away")
    assert not there()
    root.mkdir()
    assert not there()
    (root / "a.md").write_text("restored from elsewhere")
    assert there()
    (root / "a.md").unlink()
    assert there()
