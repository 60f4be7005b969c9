"""No path that a client sends leaves the vault or names a folder without notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.config import Settings
from khiip_indexer.errors import KhiipError, PathOutsideVault, ReservedFolder, UsageError
from khiip_sidecar.vault_paths import checked_path
from support import make_vault

OUTSIDE = (
    "../../out",
    "..\\..\\out",
    "/etc",
    "C:\\x",
    "c:/x",
    "a/../../b",
    "..",
    "a\\..\\..\\b",
    "%2e%2e/secret.md",
    "%2E%2E%2Fsecret.md",
    "~/notes",
    "\\\\server\\share",
)
RESERVED = (".obsidian/plugins/x", ".khiip", ".git/hooks", "a/.trash/b", "./.git", "%2egit/x")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return make_vault(tmp_path_factory.mktemp("paths") / "vault", {"a/b.md": "x"})


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leaves_the_vault_is_refused(settings: Settings, path: str) -> None:
    with pytest.raises(PathOutsideVault) as caught:
        checked_path(settings, "folder", path)
    assert (caught.value.http_status, caught.value.code) == (400, "path_outside_vault")


@pytest.mark.parametrize("path", RESERVED)
def test_a_folder_that_holds_no_notes_is_refused(settings: Settings, path: str) -> None:
    with pytest.raises(ReservedFolder) as caught:
        checked_path(settings, "folder", path)
    assert (caught.value.http_status, caught.value.code) == (400, "reserved_folder")


@pytest.mark.parametrize(
    ("given_path", "plain"),
    [
        ("a", "a"),
        ("a/", "a"),
        ("./a/b.md", "a/b.md"),
        ("a/../a/b.md", "a/b.md"),
        ("100% sure/n.md", "100% sure/n.md"),
        ("odd\\name.md", "odd\\name.md"),
        ("日記/…", "日記/…"),
        (".", ""),
    ],
)
def test_a_path_inside_the_vault_is_kept(settings: Settings, given_path: str, plain: str) -> None:
    assert checked_path(settings, "folder", given_path) == plain


def test_a_link_that_leads_out_is_refused_unless_links_are_followed(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "vault", {})
    (tmp_path / "out").mkdir()
    (tmp_path / "vault" / "link").symlink_to(tmp_path / "out")
    with pytest.raises(PathOutsideVault):
        checked_path(settings, "folder", "link")
    with pytest.raises(PathOutsideVault):
        checked_path(settings, "folder", "link/deeper")
    followed = replace(settings, follow_symlinks=True)
    assert checked_path(followed, "folder", "link") == "link"


def test_a_link_inside_the_vault_is_fine(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "vault", {"a/b.md": "x"})
    (tmp_path / "vault" / "short").symlink_to(tmp_path / "vault" / "a")
    assert checked_path(settings, "folder", "short") == "short"


@pytest.mark.parametrize("path", ["a\0b", "x" * 9000 + "/y"])
def test_what_cannot_be_a_path_is_an_error_and_no_crash(settings: Settings, path: str) -> None:
    try:
        checked_path(settings, "path", path)
    except UsageError as error:
        assert error.http_status == 422


@given(st.text(st.characters(codec=None), max_size=60))
def test_whatever_is_accepted_resolves_inside_the_vault(settings: Settings, text: str) -> None:
    try:
        plain = checked_path(settings, "path", text)
    except KhiipError:
        return
    assert (settings.vault / plain).resolve().is_relative_to(settings.vault)
