"""What a table of the config may say, and what is remembered of a choice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from khiip_indexer.config import Overrides, Settings, load_settings
from khiip_indexer.embedding import remembered
from khiip_indexer.embedding.choice import MINILM, as_json, from_json, is_loopback, read_choice
from khiip_indexer.embedding.factory import make, open_lineup
from khiip_indexer.embedding.keys import key_of
from khiip_indexer.embedding.remembered import Floors, Remembered
from khiip_indexer.errors import ModelError, UsageError
from support import make_vault


def remember(config: Path, vault: Path, what: Remembered) -> None:
    remembered.change(config, vault, lambda _: what)


REMOTE = {"kind": "openai", "url": "https://api.example.com/v1", "model": "m", "dimension": 8}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "kind"),
        ({"kind": "word2vec"}, "minilm, onnx, ollama, openai, none"),
        ({"kind": "onnx"}, "`path`"),
        ({"kind": "ollama"}, "`model`"),
        ({"kind": "openai", "model": "m"}, "`url`"),
        ({**REMOTE, "dimension": "8"}, "`dimension`"),
        ({**REMOTE, "dimension": True}, "`dimension`"),
        ({**REMOTE, "batch": 0}, "`batch`"),
        ({**REMOTE, "window": 4}, "`window`"),
        ({**REMOTE, "query_timeout": 0}, "`query_timeout`"),
        ({**REMOTE, "url": "api.example.com"}, "http://"),
        ({**REMOTE, "url": "https://user:pw@api.example.com"}, "key_env"),
        ({**REMOTE, "url": "https://api.example.com/v1?key=x"}, "key_env"),
        ({**REMOTE, "url": "https://api.example.com:port"}, "`url`"),
        ({**REMOTE, "url": "http://api.example.com", "key_env": "K"}, "https"),
        ("minilm", "table"),
    ],
)
def test_a_wrong_table_names_what_is_wrong(table: object, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_choice("mine", table)
    assert caught.value.code == "bad_config"
    assert said in caught.value.sentence
    assert "mine" in caught.value.sentence


def test_a_key_in_the_config_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        read_choice("mine", {**REMOTE, "api_key": "sk-secret"})
    assert "key_env" in (caught.value.hint or "")
    assert "sk-secret" not in f"{caught.value.sentence} {caught.value.hint}"


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("192.168.1.5", False),
        ("localhost.example.com", False),
        ("0x7f.1", False),
    ],
)
def test_only_this_machine_is_this_machine(host: str, here: bool) -> None:
    assert is_loopback(host) is here


def test_what_is_written_down_comes_back() -> None:
    choice = read_choice("mine", {**REMOTE, "price": 1, "key_env": "K", "query_prefix": "q: "})
    assert from_json(as_json(choice)) == choice
    assert from_json(as_json(MINILM)) == MINILM


def configured(tmp_path: Path, text: str) -> Settings:
    settings = make_vault(tmp_path / "v", {})
    settings.homes.config.mkdir(parents=True, exist_ok=True)
    (settings.homes.config / "config.toml").write_text(text, encoding="utf-8")
    return again(settings)


def again(settings: Settings) -> Settings:
    home = settings.homes.config.parent
    return load_settings(Overrides(vault=str(settings.vault)), {"KHIIP_HOME": str(home)})


CONFIG = """
[embedder]
kind = "none"
[embedders.far]
kind = "openai"
url = "https://api.example.com/v1"
model = "m"
dimension = 8
"""


def test_minilm_is_used_when_nothing_is_said(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "v", {})
    assert settings.embedder == MINILM
    assert sorted(settings.embedders) == ["minilm", "none"]


def test_a_command_s_choice_counts_before_that_of_the_config(tmp_path: Path) -> None:
    settings = configured(tmp_path, CONFIG)
    assert settings.embedder.kind == "none"
    remember(settings.homes.config, settings.vault, Remembered(use="far"))
    assert again(settings).embedder.name == "far"
    other = load_settings(
        Overrides(vault=str(tmp_path)), {"KHIIP_HOME": str(settings.homes.config.parent)}
    )
    assert other.embedder.kind == "none", "another vault has a choice of its own"


def test_who_made_the_vectors_is_found_though_its_table_is_gone(tmp_path: Path) -> None:
    settings = configured(tmp_path, CONFIG)
    remember(settings.homes.config, settings.vault, Remembered(use="far"))
    settings = again(settings)
    identity = make(settings, settings.embedder).identity
    open_lineup(settings).chose(identity)
    remember(
        settings.homes.config,
        settings.vault,
        Remembered(known=remembered.load(settings.homes.config, settings.vault).known),
    )
    (settings.homes.config / "config.toml").write_text("")
    lineup = open_lineup(again(settings))
    assert lineup.wanted.identity.name == "all-MiniLM-L6-v2"
    assert lineup.serving(identity).identity == identity


def test_the_files_of_a_vault_cannot_agree_to_its_being_sent(tmp_path: Path) -> None:
    settings = configured(tmp_path, CONFIG[CONFIG.index("[embedders") :])
    for folder in (settings.vault, settings.state):
        folder.mkdir(exist_ok=True)
        said = Remembered(use="far", agreed=frozenset({"https://api.example.com"}))
        remember(folder, settings.vault, said)
    settings = again(settings)
    assert settings.embedder == MINILM
    assert settings.agreed == frozenset()
    with pytest.raises(ModelError) as caught:
        make(settings, settings.embedders["far"]).embed(["x"])
    assert caught.value.code == "consent_needed"


def test_agreeing_is_for_one_address(tmp_path: Path) -> None:
    settings = configured(tmp_path, CONFIG)
    said = Remembered(agreed=frozenset({"https://api.example.com:8443"}))
    remember(settings.homes.config, settings.vault, said)
    settings = again(settings)
    with pytest.raises(ModelError) as caught:
        make(settings, settings.embedders["far"]).embed(["x"])
    assert caught.value.code == "consent_needed"


def test_floors_are_kept_by_model_and_read_again_when_they_change(tmp_path: Path) -> None:
    floors = Floors(tmp_path, tmp_path)
    assert floors.of("a") is None
    remember(tmp_path, tmp_path, Remembered(floors={"a": 0.5}))
    assert (floors.of("a"), floors.of("b")) == (0.5, None)


def test_nothing_is_lost_when_many_remember_at_once(tmp_path: Path) -> None:
    def keep(n: int) -> None:
        remembered.change(
            tmp_path, tmp_path, lambda known: replace(known, floors={**known.floors, str(n): n})
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(keep, range(40)))
    assert len(remembered.load(tmp_path, tmp_path).floors) == 40


@pytest.mark.parametrize("content", ["{", "[]", '{"%s": {"known": {"k": {}}}}', '{"%s": 3}'])
def test_a_file_that_is_not_ours_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / remembered.FILE).write_text(content.replace("%s", str(tmp_path)))
    with pytest.raises(UsageError) as caught:
        remembered.load(tmp_path, tmp_path)
    assert remembered.FILE in caught.value.sentence or "kind" in caught.value.sentence


class TestKeys:
    def test_none_is_named(self) -> None:
        assert key_of(MINILM) is None

    def test_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        choice = read_choice("mine", {**REMOTE, "key_env": "SOME_KEY"})
        monkeypatch.delenv("SOME_KEY", raising=False)
        with pytest.raises(ModelError) as caught:
            key_of(choice)
        assert caught.value.code == "no_key"
        monkeypatch.setenv("SOME_KEY", "sk-1")
        assert key_of(choice) == "sk-1"
        monkeypatch.setenv("SOME_KEY", "sk-1\r\nX-Evil: 1")
        with pytest.raises(ModelError) as caught:
            key_of(choice)
        assert "sk-1" not in caught.value.sentence

    def test_from_the_keyring(self, monkeypatch: pytest.MonkeyPatch) -> None:
        choice = read_choice("mine", {**REMOTE, "keyring": "khiip"})
        asked: list[tuple[str, str]] = []

        class Keyring:
            @staticmethod
            def get_password(service: str, name: str) -> str | None:
                asked.append((service, name))
                return "sk-2" if len(asked) == 1 else None

        monkeypatch.setattr("khiip_indexer.embedding.keys.import_module", lambda _: Keyring)
        assert key_of(choice) == "sk-2"
        with pytest.raises(ModelError):
            key_of(choice)
        assert asked == [("khiip", "mine")] * 2

    def test_without_the_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(name: str) -> Any:
            raise ImportError(name)

        monkeypatch.setattr("khiip_indexer.embedding.keys.import_module", missing)
        with pytest.raises(ModelError) as caught:
            key_of(read_choice("mine", {**REMOTE, "keyring": "khiip"}))
        assert "khiip[keyring]" in (caught.value.hint or "")
