"""A disk that is full, broken or over its quota at any write: a sentence, and nothing is lost."""

from __future__ import annotations

import errno
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from equality import assert_equals_fresh
from indexing import found, reindex, write
from khiip_indexer import graphs
from khiip_indexer.config import Overrides, Settings, load_settings
from khiip_indexer.errors import KhiipError
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_indexer.vectors import Graph
from support import FakeEmbedder, make_vault

LONG = " ".join(f"word{n % 70}" for n in range(500))
ERRORS = {errno.ENOSPC: "no space left", errno.EDQUOT: "no space left", errno.EIO: "failed"}
SQL_ERRORS = {sqlite3.SQLITE_FULL: "no space left", sqlite3.SQLITE_IOERR: "failed"}
SQL_SAMPLE = 25
FILE_SAMPLE = 12


class Faults:
    """Counts writes and makes the chosen one fail; 0 counts only."""

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.count = 0

    def due(self) -> bool:
        self.count += 1
        return self.count == self.at


def fail_files(patch: pytest.MonkeyPatch, faults: Faults, number: int) -> None:
    """Every way in which the index writes a file that is not SQLite's."""

    def failing(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def write(*args: Any, **kwargs: Any) -> Any:
            if faults.due():
                raise OSError(number, os.strerror(number))
            return real(*args, **kwargs)

        patch.setattr(owner, name, write)

    failing(Path, "write_bytes")
    failing(Path, "replace")
    failing(Graph, "save")
    failing(os, "fsync")


def fail_sql(patch: pytest.MonkeyPatch, faults: Faults, code: int) -> None:
    """Every statement that changes the cache, and every commit."""

    def check(sql: str) -> None:
        if sql.lstrip().startswith(("INSERT", "UPDATE", "DELETE", "COMMIT")) and faults.due():
            said = "database or disk is full" if code == sqlite3.SQLITE_FULL else "disk I/O error"
            error = sqlite3.OperationalError(said)
            error.sqlite_errorcode = code
            raise error

    class Faulty:
        """Put before whatever class of connections the cache asks for."""

        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            check(sql)
            return super().execute(sql, *args)  # type: ignore[misc, no-any-return]

        def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
            check(sql)
            return super().executemany(sql, *args)  # type: ignore[misc, no-any-return]

        def commit(self) -> None:
            check("COMMIT")
            super().commit()  # type: ignore[misc]

    real = sqlite3.connect

    def connect(*args: Any, factory: type = sqlite3.Connection, **more: Any) -> sqlite3.Connection:
        return real(*args, factory=type("Faulty", (Faulty, factory), {}), **more)

    patch.setattr(sqlite3, "connect", connect)


@pytest.fixture(params=["exact", "graph"])
def settings(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """An index with edits, a move and a deletion still to take in; saved at every run."""
    if request.param == "graph":
        monkeypatch.setattr(graphs, "EXACT_LIMIT", -1)
    monkeypatch.setattr("khiip_indexer.storage.vector_log._MANY", 0)
    monkeypatch.setattr("khiip_indexer.storage.vector_log._PART", 1_000_000)
    made = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(20)})
    reindex(made, FakeEmbedder())
    for n in range(5):
        write(made, f"{n}.md", f"note {n} edited")
    write(made, "long.md", LONG)
    (made.vault / "6.md").rename(made.vault / "moved.md")
    (made.vault / "7.md").unlink()
    return made


def copy_of(settings: Settings, target: Path) -> Settings:
    vault = target / settings.vault.name
    shutil.copytree(settings.vault, vault, copy_function=shutil.copy2)
    return make_vault(vault, {})


Fail = Callable[[pytest.MonkeyPatch, Faults, int], None]


def count_writes(settings: Settings, fail: Fail) -> int:
    faults = Faults()
    with pytest.MonkeyPatch.context() as patch:
        fail(patch, faults, 0)
        reindex(settings, FakeEmbedder())
    return faults.count


def had(settings: Settings) -> set[str]:
    """The texts that have their vectors."""
    with VaultIndex.open(settings) as index:
        rows = index.database.read().execute(
            "SELECT p.text FROM passages p JOIN vectors v USING (key)"
        )
        return {text for (text,) in rows}


def assert_survives(copy: Settings, fail: Fail, number: int, at: int, said: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fail(patch, Faults(at), number)
        try:
            reindex(copy, FakeEmbedder())
        except KhiipError as error:
            assert said in error.sentence
            assert error.exit_code == 1
        else:
            assert fail is fail_files, "only what can be done without may be left undone"
    assert found(copy, "note 12")[0] == "12.md"
    done = had(copy)
    embedder = FakeEmbedder()
    reindex(copy, embedder)
    assert done.isdisjoint(embedder.texts)
    assert_equals_fresh(copy, FakeEmbedder())


@pytest.mark.parametrize("number", ERRORS)
def test_a_file_that_cannot_be_written(settings: Settings, tmp_path: Path, number: int) -> None:
    writes = count_writes(copy_of(settings, tmp_path / "count"), fail_files)
    chosen = random.Random(number).sample(range(1, writes + 1), min(FILE_SAMPLE, writes))
    for at in chosen:
        copy = copy_of(settings, tmp_path / f"at{at}")
        assert_survives(copy, fail_files, number, at, ERRORS[number])


@pytest.mark.parametrize("code", SQL_ERRORS)
def test_a_statement_that_cannot_be_carried_out(
    settings: Settings, tmp_path: Path, code: int
) -> None:
    writes = count_writes(copy_of(settings, tmp_path / "count"), fail_sql)
    for at in random.Random(code).sample(range(1, writes + 1), SQL_SAMPLE):
        copy = copy_of(settings, tmp_path / f"at{at}")
        assert_survives(copy, fail_sql, code, at, SQL_ERRORS[code])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kilobytes", [4, 16, 40, 70, 100, 130, 160, 200, 260, 400])
def test_files_that_may_grow_no_further(settings: Settings, tmp_path: Path, kilobytes: int) -> None:
    """The system's own limit reaches the writes of native code, too."""
    copy = copy_of(settings, tmp_path / "copy")
    said = in_child(copy, kilobytes * 1024)
    assert "Traceback" not in said
    assert found(copy, "note 12")[0] == "12.md"
    done = had(copy)
    embedder = FakeEmbedder()
    reindex(copy, embedder)
    assert done.isdisjoint(embedder.texts)
    assert_equals_fresh(copy, FakeEmbedder())


def in_child(settings: Settings, limit: int) -> str:
    """Index in a process whose files may not be larger; gives its sentence, "" when all went."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = "Traceback"
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            reindex(settings, FakeEmbedder())
            said = ""
        except KhiipError as error:
            said = error.sentence
        finally:
            os.write(writer, said.encode())
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return pipe.read()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """A file system of its own, of so many kilobytes; it grows when asked again."""
    place = tmp_path / "disk"
    place.mkdir()

    def resize(kilobytes: int) -> Path:
        option = f"{'remount,' if place.is_mount() else ''}size={kilobytes}k"
        command = ["mount", "-t", "tmpfs", "-o", option, "none", str(place)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("mounting is not permitted")
        return place

    yield resize
    if place.is_mount():
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount")
def test_a_real_disk_that_fills_up_at_different_points(
    tmp_path: Path, small_disk: Callable[[int], Path]
) -> None:
    vault = tmp_path / "v"
    make_vault(vault, {f"{n}.md": f"note {n} {LONG}" for n in range(20)})
    disk = small_disk(200)
    overrides = Overrides(vault=str(vault), state_dir=str(disk / "state"))
    settings = load_settings(overrides, {"KHIIP_HOME": str(tmp_path / "home")}, vault)
    embedder = FakeEmbedder()
    refused = 0
    seen: set[str] = set()
    for kilobytes in range(200, 3000, 40):
        small_disk(kilobytes)
        try:
            with VaultIndex.open(settings, write=True) as index:
                Syncer(index, embedder).run()
            break
        except KhiipError as error:
            assert f"no space left on {disk}" in error.sentence
            refused += 1
        finally:
            assert seen.isdisjoint(embedder.texts)
            if kilobytes > 400:
                seen |= stored(settings)
            embedder.texts.clear()
    else:
        raise AssertionError("three megabytes are enough for twenty notes")
    assert refused > 3
    assert found(settings, "note 12", limit=30)
    small_disk(20_000)
    assert_equals_fresh(settings, FakeEmbedder())


def stored(settings: Settings) -> set[str]:
    try:
        return had(settings)
    except KhiipError:
        return set()
