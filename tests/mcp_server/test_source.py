"""Sidecars come and go under a session that lasts; the index is opened only when none is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from cli.double import running_double
from khiip_indexer.config import Overrides, Settings, load_settings
from khiip_indexer.errors import NotFound, VaultError
from khiip_sidecar.client import Backend
from khiip_sidecar.mcp_server.naming import is_named, load_around
from khiip_sidecar.mcp_server.roots import paths_of
from khiip_sidecar.mcp_server.source import VaultSource
from support import make_vault


class Index:
    """Stands for the index itself; counts how often it was opened and closed."""

    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0

    @contextmanager
    def open(self, _settings: Settings) -> Iterator[Backend]:
        self.opened += 1
        yield cast("Backend", self)
        self.closed += 1

    def health(self) -> dict[str, Any]:
        return {"status": "local"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_vault(tmp_path / "vault", {"a.md": "a"})


def status(source: VaultSource) -> str:
    return str(source.call(lambda backend: backend.health())["status"])


def test_the_sidecar_is_asked_while_it_is_there_and_the_index_else(settings: Settings) -> None:
    index = Index()
    source = VaultSource(lambda _: settings, index.open, named=True)
    assert status(source) == "local"
    with running_double(settings):
        assert status(source) == "ok"
        assert (index.opened, index.closed) == (1, 1)
        assert status(source) == "ok"
    assert status(source) == "local"  # its file is still there, and nobody answers
    assert index.opened == 2
    with running_double(settings):
        assert status(source) == "ok"
    source.close()
    assert index.opened == index.closed


def test_a_known_sidecar_is_not_probed_again(settings: Settings) -> None:
    source = VaultSource(lambda _: settings, Index().open, named=True)
    with running_double(settings) as double:
        double.answers["GET /api/v1/index"] = (200, {"state": "ready"})
        for _ in range(3):
            source.call(lambda backend: backend.index_state())
        asked = [path for _, path, _ in double.asked]
    assert asked.count("/health") == 1
    assert asked.count("/api/v1/index") == 3


def test_a_new_key_is_read_when_the_old_one_is_refused(settings: Settings) -> None:
    source = VaultSource(lambda _: settings, Index().open, named=True)
    with running_double(settings) as double:
        assert status(source) == "ok"
        refused = (401, {"detail": "No.", "error": "unauthorized", "hint": None})
        double.answers["GET /api/v1/index"] = refused
        with pytest.raises(Exception, match=r"No\."):
            source.call(lambda backend: backend.index_state())
        assert [path for _, path, _ in double.asked].count("/health") > 1


def test_an_error_of_the_request_itself_is_not_tried_again(settings: Settings) -> None:
    source = VaultSource(lambda _: settings, Index().open, named=True)
    with running_double(settings) as double:
        wrong = (422, {"detail": "Wrong.", "error": "bad_parameter", "hint": None})
        double.answers["GET /api/v1/index"] = wrong
        with pytest.raises(Exception, match=r"Wrong\."):
            source.call(lambda backend: backend.index_state())
        assert [path for _, path, _ in double.asked].count("/api/v1/index") == 1


def test_an_index_in_use_is_closed_only_when_its_user_is_done(settings: Settings) -> None:
    index = Index()
    source = VaultSource(lambda _: settings, index.open, named=True)

    def ask(_backend: Backend) -> None:
        source.close()
        assert index.closed == 0

    source.call(ask)
    assert index.closed == 1


def test_an_index_that_was_made_anew_is_opened_anew(settings: Settings) -> None:
    index = Index()
    source = VaultSource(lambda _: settings, index.open, named=True)
    database = settings.state / "cache.sqlite"
    settings.state.mkdir()
    database.write_text("one")
    assert status(source) == status(source) == "local"
    assert index.opened == 1
    other = settings.state / "other"
    other.write_text("two")
    other.replace(database)
    assert status(source) == "local"
    assert (index.opened, index.closed) == (2, 1)


def test_an_error_inside_is_the_callers_and_the_index_stays_open(settings: Settings) -> None:
    index = Index()
    source = VaultSource(lambda _: settings, index.open, named=True)

    def fail(_backend: Backend) -> None:
        raise NotFound("No.")

    with pytest.raises(NotFound):
        source.call(fail)
    assert status(source) == "local"
    assert index.opened == 1


def test_roots_choose_only_where_nothing_was_named(settings: Settings, tmp_path: Path) -> None:
    other = make_vault(tmp_path / "other", {"b.md": "b"})
    load = load_around(Overrides())
    free = VaultSource(load, Index().open, named=False)
    assert free.takes_roots
    free.offer([tmp_path / "nowhere", other.vault])
    assert not free.takes_roots
    assert free._settings is not None
    assert free._settings.vault == other.vault.resolve()
    assert not VaultSource(load, Index().open, named=True).takes_roots


def test_a_vault_is_named_by_words_the_environment_or_the_config(tmp_path: Path) -> None:
    home = {"KHIIP_HOME": str(tmp_path)}

    def said(environ: dict[str, str], vault: str | None = None) -> bool:
        def load(overrides: Overrides, cwd: Path) -> Settings:
            return load_settings(overrides, {**home, **environ}, cwd)

        return is_named(Overrides(vault=vault), load)

    assert not said({})
    assert said({"KHIIP_VAULT": str(tmp_path)})
    assert said({}, str(tmp_path))
    assert said({}, str(tmp_path / "missing"))  # wrong, and still meant
    with pytest.raises(VaultError):
        load_settings(Overrides(), home, Path("/"))


def test_roots_are_local_folders() -> None:
    uris = ["file:///a%20b", "file://localhost/c", "file://host/d", "https://e", "nonsense"]
    assert paths_of(uris) == [Path("/a b"), Path("/c")]
