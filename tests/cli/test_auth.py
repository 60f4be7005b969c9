"""The key file: private from its first moment, the same for everybody who asks."""

from __future__ import annotations

import re
import stat
import threading
from pathlib import Path

import pytest

from khiip_indexer.config import Homes
from khiip_indexer.errors import StorageError
from khiip_sidecar.auth import AuthError, key_path, load_or_make_key, read_key, rotate_key


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(config=tmp_path / "config" / "khiip", cache=tmp_path / "cache")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def silent(sentence: str) -> None:
    raise AssertionError(f"no warning was due: {sentence}")


def test_the_key_is_made_on_first_use_and_stays(homes: Homes) -> None:
    assert read_key(homes) is None
    key = load_or_make_key(homes, silent)
    assert re.fullmatch(r"khiip_[A-Za-z0-9_-]{43}", key)
    assert load_or_make_key(homes, silent) == key
    assert f'api_key = "{key}"' in key_path(homes).read_text().splitlines()


def test_file_and_folder_are_private(homes: Homes) -> None:
    load_or_make_key(homes)
    assert mode_of(key_path(homes)) == 0o600
    assert mode_of(homes.config) == 0o700


def test_the_key_is_never_open_to_others_whatever_the_umask(
    homes: Homes, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    opened: list[int] = []
    real = os.open

    def watched(path: str, flags: int, mode: int = 0o777) -> int:
        opened.append(mode)
        assert flags & os.O_EXCL
        return real(path, flags, mode)

    monkeypatch.setattr("khiip_sidecar.auth.os.open", watched)
    before = os.umask(0)
    try:
        rotate_key(homes)
    finally:
        os.umask(before)
    assert opened == [0o600]
    assert mode_of(key_path(homes)) == 0o600


def test_nothing_is_left_beside_the_key_file(homes: Homes) -> None:
    load_or_make_key(homes)
    rotate_key(homes)
    assert [file.name for file in homes.config.iterdir()] == ["auth.toml"]


def test_a_key_file_that_others_may_read_is_repaired_with_a_warning(homes: Homes) -> None:
    key = load_or_make_key(homes)
    key_path(homes).chmod(0o644)
    warnings: list[str] = []
    assert load_or_make_key(homes, warnings.append) == key
    assert mode_of(key_path(homes)) == 0o600
    assert len(warnings) == 1
    assert "0644" in warnings[0]


def test_rotating_gives_another_key(homes: Homes) -> None:
    old = load_or_make_key(homes)
    new = rotate_key(homes)
    assert new != old
    assert load_or_make_key(homes, silent) == new
    assert mode_of(key_path(homes)) == 0o600


def test_processes_that_start_together_get_one_key(homes: Homes) -> None:
    barrier = threading.Barrier(8)
    keys: list[str] = []

    def ask() -> None:
        barrier.wait()
        keys.append(load_or_make_key(homes))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert set(keys) == {load_or_make_key(homes)}


@pytest.mark.parametrize(
    "text",
    [
        b"api_key = ",
        b"api_key = 12345678901234567890\n",
        b'other = "khiip_aaaaaaaaaaaaaaaaaaaaaaaa"\n',
        b'api_key = "short"\n',
        b'api_key = "a key with blanks in it and so on"\n',
        b'api_key = "caf\xc3\xa9-caf\xc3\xa9-caf\xc3\xa9-caf\xc3\xa9"\n',
        b"\xff\xfe\x00",
        b"",
    ],
)
def test_a_broken_file_is_named_in_a_sentence(homes: Homes, text: bytes) -> None:
    homes.config.mkdir(parents=True)
    key_path(homes).write_bytes(text)
    key_path(homes).chmod(0o600)
    with pytest.raises(AuthError, match=re.escape(str(key_path(homes)))) as raised:
        load_or_make_key(homes)
    assert raised.value.hint is not None


def test_rotating_mends_a_broken_file(homes: Homes) -> None:
    homes.config.mkdir(parents=True)
    key_path(homes).write_bytes(b"api_key = ")
    assert rotate_key(homes) == load_or_make_key(homes)


def test_a_key_of_ones_own_is_taken(homes: Homes) -> None:
    homes.config.mkdir(parents=True)
    key_path(homes).write_text('# mine\napi_key = "my-own-key-0123456789"\n')
    key_path(homes).chmod(0o600)
    assert load_or_make_key(homes, silent) == "my-own-key-0123456789"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    homes = Homes(config=tmp_path / "file" / "khiip", cache=tmp_path)
    with pytest.raises(StorageError, match=r"auth\.toml"):
        load_or_make_key(homes)
