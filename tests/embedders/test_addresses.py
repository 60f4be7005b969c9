"""Addresses and keys as people write them: what is refused, and what means the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedders.opening import Sleeps, opened
from khiip_indexer.config import Overrides, load_settings
from khiip_indexer.embedding.choice import as_json, from_json, read_choice
from khiip_indexer.embedding.keys import key_of
from khiip_indexer.errors import ModelError, UsageError
from support import make_vault

FAR: dict[str, Any] = {"kind": "openai", "model": "m", "dimension": 8}
NEAR: dict[str, Any] = {"kind": "ollama", "model": "m", "dimension": 8}
URL = "https://api.example.com/v1"


@pytest.mark.parametrize(
    ("table", "url"),
    [
        (FAR, "https://api.example.com/v1/"),
        (FAR, "https://api.example.com/v1//"),
        (FAR, "HTTPS://API.Example.com/v1"),
        (FAR, "https://api.example.com:443/v1"),
        (FAR, "https://api.example.com/v1/embeddings"),
        (NEAR, "http://LOCALHOST:11434/"),
        (NEAR, "http://localhost:11434/v1"),
        (NEAR, "http://localhost:11434/api"),
        (NEAR, "http://localhost:11434/api/embed"),
    ],
)
def test_another_spelling_of_an_address_is_the_same_model(table: dict[str, Any], url: str) -> None:
    plain = {"openai": URL, "ollama": "http://localhost:11434"}[table["kind"]]
    keys = [
        opened(read_choice("mine", {**table, "url": spelling}), Sleeps()).identity.key
        for spelling in (plain, url)
    ]
    assert keys[0] == keys[1]
    assert read_choice("mine", {**table, "url": url}).url == plain


def test_addresses_that_are_spelled_well_keep_their_vectors() -> None:
    written = {
        "https://api.example.com/v1": "m:7ce4c832f972ec8a:8:served:256",
        "http://127.0.0.1:1234/v1": "m:37bcce43dd87e8ab:8:served:256",
        "https://[::1]:8443/V1/Path": "m:72f19ff1ed60fd32:8:served:256",
    }
    for url, key in written.items():
        assert opened(read_choice("mine", {**FAR, "url": url}), Sleeps()).identity.key == key


@pytest.mark.parametrize(
    "url",
    [
        "https://exämple.com/v1",
        "https://example.com/é",
        f"https://{'a' * 64}.com/v1",
        f"https://{'a.' * 130}com/v1",
        "https://a..b/v1",
        "https://-a.com/v1",
        "https://a b.com/v1",
        "https://[::1/v1",
        "https://[not:an:address]/v1",
        "https://example.com/v1\n",
    ],
)
def test_an_address_that_no_machine_has_is_refused_at_once(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_choice("mine", {**FAR, "url": url})
    assert (caught.value.code, "`url`" in caught.value.sentence) == ("bad_config", True)


@given(st.text(max_size=80))
def test_any_address_is_taken_or_refused_and_taken_as_it_was_left(text: str) -> None:
    try:
        choice = read_choice("mine", {**FAR, "url": f"https://{text}"})
    except UsageError:
        return
    assert read_choice("mine", {**FAR, "url": choice.url}) == choice
    assert choice.address.encode("ascii")


KEYS = [
    "sk-proj-Ab12Cd34Ef56",
    "pa-0123456789abcdef",
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "AIzaSyA1b2C3d4E5f6G7h8I9j0KlMnOpQrStUvW",
    "a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "A" * 65,
    "9KEY",
    "MY KEY",
    "MY-KEY",
    "",
]


@pytest.mark.parametrize("said", KEYS)
def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated(said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_choice("mine", {**FAR, "url": URL, "key_env": said})
    told = f"{caught.value.sentence} {caught.value.hint}"
    assert "`key_env`" in told
    assert "EXAMPLE_API_KEY" in told
    assert not said or said not in told


@pytest.mark.parametrize("said", ["OPENAI_API_KEY", "_k", "hf_token", "MyCompanyKey2", "A" * 64])
def test_a_name_of_a_variable_is_taken(said: str) -> None:
    assert read_choice("mine", {**FAR, "url": URL, "key_env": said}).key_env == said


def test_a_key_in_place_of_its_keyring_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        read_choice("mine", {**FAR, "url": URL, "keyring": KEYS[0]})
    assert KEYS[0] not in f"{caught.value.sentence} {caught.value.hint}"


def test_a_key_that_an_earlier_version_kept_is_not_carried_on() -> None:
    kept = as_json(read_choice("mine", {**FAR, "url": URL})) | {"key_env": KEYS[0]}
    assert KEYS[0] not in str(as_json(from_json(kept)))


@pytest.mark.parametrize(
    ("named", "hint"),
    [
        ({"key_env": "SOME_KEY"}, "Set SOME_KEY."),
        ({"keyring": "khiip"}, "Run keyring set khiip mine."),
        (
            {"key_env": "SOME_KEY", "keyring": "khiip"},
            "Set SOME_KEY or run keyring set khiip mine.",
        ),
    ],
)
def test_a_missing_key_is_asked_for_where_it_is_looked_for(
    named: dict[str, str], hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Keyring:
        @staticmethod
        def get_password(*_: str) -> None:
            return None

    monkeypatch.setattr("khiip_indexer.embedding.keys.import_module", lambda _: Keyring)
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(ModelError) as caught:
        key_of(read_choice("mine", {**FAR, "url": URL, **named}))
    assert caught.value.hint == hint


def test_a_wrong_table_names_the_file_that_it_stands_in(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "v", {})
    file = settings.homes.config / "config.toml"
    file.parent.mkdir(parents=True)
    for text in ('[embedder]\nkind = "word2vec"\n', '[embedders.a]\nkind = "ollama"\n'):
        file.write_text(text)
        with pytest.raises(UsageError) as caught:
            load_settings(
                Overrides(vault=str(settings.vault)), {"KHIIP_HOME": str(file.parent.parent)}
            )
        assert str(file) in (caught.value.hint or "")
