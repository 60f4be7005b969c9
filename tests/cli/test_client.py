"""Finding the sidecar of a vault, and asking it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.double import SidecarDouble, running_double
from khiip_indexer.config import Settings
from khiip_sidecar.auth import load_or_make_key, rotate_key
from khiip_sidecar.client import (
    RemoteError,
    SidecarClient,
    SidecarUnreachableError,
    error_from,
    find_sidecar,
    is_loopback,
    read_sidecar_file,
)
from support import make_vault


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_vault(tmp_path / "vault", {"a.md": "one"})


@pytest.fixture
def sidecar(settings: Settings) -> Iterator[SidecarDouble]:
    with running_double(settings) as double:
        yield double


def client_of(settings: Settings) -> SidecarClient:
    client = find_sidecar(settings)
    assert client is not None
    return client


def test_no_file_means_no_sidecar(settings: Settings) -> None:
    assert find_sidecar(settings) is None


def test_the_running_sidecar_is_found_and_asked_with_the_key(
    settings: Settings, sidecar: SidecarDouble
) -> None:
    sidecar.answers["GET /api/v1/recall"] = (200, {"results": []})
    client = client_of(settings)
    assert client.recall({"query": ["knots & ties"], "tag": ["a", "b"]}) == {"results": []}
    assert sidecar.asked[-1] == (
        "GET",
        "/api/v1/recall",
        {"query": ["knots & ties"], "tag": ["a", "b"]},
    )
    assert sidecar.keys[-1][1] == f"Bearer {load_or_make_key(settings.homes)}"


def test_the_key_is_shown_to_nobody_before_the_vault_id_was_right(
    settings: Settings, sidecar: SidecarDouble
) -> None:
    sidecar.answers["GET /health"] = (200, {"vault_id": "another-vault"})
    assert find_sidecar(settings) is None
    assert sidecar.keys == [("/health", None)]


def test_a_vault_copied_with_its_index_does_not_ask_the_originals_sidecar(
    settings: Settings, sidecar: SidecarDouble, tmp_path: Path
) -> None:
    copy = make_vault(tmp_path / "copy", {"a.md": "one"})
    copy.state.mkdir()
    original = (settings.state / "sidecar.json").read_bytes()
    (copy.state / "sidecar.json").write_bytes(original)
    assert find_sidecar(copy) is None
    assert find_sidecar(settings) is not None


def test_a_stale_file_means_no_sidecar(settings: Settings) -> None:
    with running_double(settings):
        pass
    assert read_sidecar_file(settings.state) is not None
    assert find_sidecar(settings) is None


def test_a_listener_that_says_nothing_means_no_sidecar(
    settings: Settings, sidecar: SidecarDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_sidecar.client.PROBE_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        sidecar.write_file(url=f"http://127.0.0.1:{deaf.getsockname()[1]}")
        assert find_sidecar(settings) is None


@pytest.mark.parametrize("answer", [b"<html>", b"", b"[]", b'"text"', b"[" * 100_000])
def test_another_program_on_the_port_means_no_sidecar(
    settings: Settings, sidecar: SidecarDouble, answer: bytes
) -> None:
    sidecar.answers["GET /health"] = (200, answer)
    assert find_sidecar(settings) is None


def test_a_program_that_has_the_port_now_and_knows_no_health_means_no_sidecar(
    settings: Settings, sidecar: SidecarDouble
) -> None:
    sidecar.answers["GET /health"] = (404, {"error": "what?"})
    assert find_sidecar(settings) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "http://192.0.2.7:8478"},
        {"url": "http://127.0.0.1.evil.example:8478"},
        {"url": "http://127.0.0.1@evil.example:8478"},
        {"url": "https://127.0.0.1:8478"},
        {"url": "http://127.0.0.1:99999"},
        {"url": "file:///etc/passwd"},
        {"url": 7},
        {"pid": "many"},
        {"vault_id": None},
    ],
)
def test_a_file_that_points_elsewhere_or_is_broken_is_not_followed(
    settings: Settings, sidecar: SidecarDouble, changes: dict[str, object]
) -> None:
    sidecar.write_file(**changes)
    assert find_sidecar(settings) is None
    assert read_sidecar_file(settings.state) is None


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"url": "http://127.0.0.1:1"}', "\0"])
def test_a_torn_file_is_no_sidecar(settings: Settings, text: str) -> None:
    settings.state.mkdir()
    (settings.state / "sidecar.json").write_text(text)
    assert find_sidecar(settings) is None


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("localhost", True),
        ("::1", True),
        ("127.0.0.1.evil.example", False),
        ("127.evil", False),
        ("0.0.0.0", False),
        ("", False),
    ],
)
def test_only_this_machine_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        (503, "index_missing", 4),
        (503, "index_of_other_model", 4),
        (503, "index_warming", 4),
        (409, "already_running", 5),
        (503, "vault_locked", 5),
        (422, "bad_parameter", 2),
        (422, "some_new_code", 2),
        (400, "path_outside_vault", 2),
        (404, "not_found", 1),
        (503, "model_unavailable", 1),
        (500, "internal_error", 1),
    ],
)
def test_an_error_that_was_answered_ends_like_the_same_error_here(
    settings: Settings, sidecar: SidecarDouble, status: int, code: str, exit_code: int
) -> None:
    body = {"detail": "It is so.", "error": code, "hint": "Do this."}
    sidecar.answers["GET /api/v1/recall"] = (status, body)
    with pytest.raises(RemoteError) as raised:
        client_of(settings).recall({"query": ["x"]})
    error = raised.value
    assert (error.sentence, error.code, error.hint) == ("It is so.", code, "Do this.")
    assert (error.exit_code, error.http_status) == (exit_code, status)


def test_a_key_that_the_sidecar_does_not_know_is_an_error_and_no_silent_detour(
    settings: Settings, sidecar: SidecarDouble
) -> None:
    body = {"detail": "The key is wrong.", "error": "unauthorized", "hint": None}
    sidecar.answers["GET /api/v1/meta"] = (401, body)
    rotate_key(settings.homes)
    with pytest.raises(RemoteError, match="key is wrong") as raised:
        find_sidecar(settings)
    assert "KHIIP_HOME" in (raised.value.hint or "")


def test_an_error_without_a_sentence_still_has_one() -> None:
    assert "502" in error_from(502, None).sentence
    assert "502" in error_from(502, ["no", "object"]).sentence


def test_an_answer_that_is_no_json_is_an_error(settings: Settings, sidecar: SidecarDouble) -> None:
    client = client_of(settings)
    sidecar.answers["GET /api/v1/recall"] = (200, b"<html>")
    with pytest.raises(SidecarUnreachableError):
        client.recall({"query": ["x"]})


def test_ids_and_bytes_that_are_no_unicode_survive_the_address(
    settings: Settings, sidecar: SidecarDouble
) -> None:
    sidecar.answers["GET /api/v1/captures/a%2Fb%3Fc%FF"] = (200, {"id": "it"})
    client = client_of(settings)
    assert client.capture("a/b?c\udcff") == {"id": "it"}
    sidecar.answers["GET /api/v1/recall"] = (200, {})
    client.recall({"query": ["\ud800 naïve 結び目"]})
    assert sidecar.asked[-1][2] == {"query": ["? naïve 結び目"]}


def test_a_body_goes_out_as_json(settings: Settings, sidecar: SidecarDouble) -> None:
    sidecar.answers["POST /api/v1/index"] = (202, {"state": "indexing"})
    assert client_of(settings).start_index({"full": True}) == {"state": "indexing"}
    assert sidecar.bodies[-1] == {"full": True}


def test_every_question_has_its_route(settings: Settings, sidecar: SidecarDouble) -> None:
    sidecar.answers.update(
        {
            "GET /api/v1/captures": (200, []),
            "GET /api/v1/related": (200, {"results": []}),
            "GET /api/v1/index": (200, {"state": "ready"}),
            "POST /api/v1/captures/x/refetch": (200, {"id": "x"}),
        }
    )
    client = client_of(settings)
    assert client.captures({"limit": ["3"]}) == []
    assert client.related({"id": ["x"]}) == {"results": []}
    assert client.index_state() == {"state": "ready"}
    assert client.refetch("x", {"dimension": ["re-extract"]}) == {"id": "x"}
    assert sidecar.asked[-1][2] == {"dimension": ["re-extract"]}
    assert client.health()["vault_id"] == "the-vault"


def test_proxies_are_never_asked(
    settings: Settings, sidecar: SidecarDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert json.dumps(client_of(settings).health())
