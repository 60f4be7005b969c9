"""The manifest and files that are whole or not there."""

from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from khiip_indexer.errors import StorageError
from khiip_indexer.storage import atomic
from khiip_indexer.storage.manifest import (
    MANIFEST_FILE,
    Manifest,
    matches,
    read_manifest,
    write_manifest,
)


def saved(state: Path) -> Manifest:
    (state / "vectors.1.hnsw").write_bytes(b"graph")
    size, sha256 = atomic.digest(state / "vectors.1.hnsw")
    manifest = Manifest(1, 5, "m", 3, 2, "vectors.1.hnsw", size, sha256)
    write_manifest(state, manifest)
    return manifest


def test_what_was_written_is_read_back_and_matches(tmp_path: Path) -> None:
    manifest = saved(tmp_path)
    assert read_manifest(tmp_path) == manifest
    assert matches(tmp_path, manifest)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> branch\n",
        b'{"format": 99}',
        b'{"format": 1, "generation": 1}',
        b"\xff\xfe",
    ],
)
def test_a_damaged_manifest_is_no_manifest(tmp_path: Path, damage: bytes) -> None:
    saved(tmp_path)
    (tmp_path / MANIFEST_FILE).write_bytes(damage)
    assert read_manifest(tmp_path) is None


def test_a_manifest_may_not_point_out_of_its_folder(tmp_path: Path) -> None:
    saved(tmp_path)
    text = (tmp_path / MANIFEST_FILE).read_text().replace("vectors.1.hnsw", "../vectors.1.hnsw")
    (tmp_path / MANIFEST_FILE).write_text(text)
    assert read_manifest(tmp_path) is None


@pytest.mark.parametrize("damage", [b"", b"grap", b"grapH", b"graph and more"])
def test_a_graph_file_that_differs_by_one_bit_or_length_does_not_match(
    tmp_path: Path, damage: bytes
) -> None:
    manifest = saved(tmp_path)
    (tmp_path / manifest.file).write_bytes(damage)
    assert not matches(tmp_path, manifest)


def test_a_graph_file_that_is_gone_or_a_link_does_not_match(tmp_path: Path) -> None:
    manifest = saved(tmp_path)
    other = tmp_path / "elsewhere"
    (tmp_path / manifest.file).rename(other)
    assert not matches(tmp_path, manifest)
    (tmp_path / manifest.file).symlink_to(other)
    assert not matches(tmp_path, manifest)


def test_a_full_disk_is_named_by_its_mount_and_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "state.json"
    target.write_bytes(b"old")

    def fill(temporary: Path) -> None:
        temporary.write_bytes(b"ha")
        raise OSError(errno.ENOSPC, "No space left on device", str(temporary))

    with pytest.raises(StorageError) as caught:
        atomic.write_through(target, fill)
    assert caught.value.code == "disk_full"
    assert str(atomic.mount_of(tmp_path)) in caught.value.sentence
    assert ".tmp" not in caught.value.sentence
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_a_forbidden_folder_is_said_plainly(tmp_path: Path) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with pytest.raises(StorageError, match="may not be written") as caught:
        atomic.write_through(tmp_path / "x", refuse)
    assert caught.value.code == "index_not_writable"


def test_threads_that_write_one_file_at_once_leave_it_whole(tmp_path: Path) -> None:
    target = tmp_path / "graph"
    whole = bytes(range(256)) * 4096

    def write(_: int) -> bool:
        atomic.write_file(target, whole)
        return target.read_bytes() == whole

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(write, range(24)))
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]
