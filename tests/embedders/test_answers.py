"""Answers of many kinds of server: how vectors may come, and what a refusal means."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from embedders.opening import Sleeps, opened
from embedders.servers import DIMENSION, KEY, Call, Reply, Server, rows, status, well
from khiip_indexer.embedding import speech
from khiip_indexer.embedding.choice import EmbedderChoice, read_choice
from khiip_indexer.embedding.exchange import Answer
from khiip_indexer.embedding.served import World
from khiip_indexer.errors import ModelError, UsageError
from khiip_sidecar.cli.embedder_facts import trial
from khiip_sidecar.cli.main import khiipd
from support import make_vault, word_vector


def openai(there: Server, path: str = "/v1", **said: Any) -> EmbedderChoice:
    table = {"kind": "openai", "url": there.url + path, "model": "m", "dimension": DIMENSION}
    return read_choice("mine", table | said)


def fault_of(choice: EmbedderChoice, sleeps: Sleeps | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        opened(choice, sleeps or Sleeps()).embed(["x"])
    return caught.value


def packed(row: list[float]) -> str:
    return base64.b64encode(np.asarray(row, "<f4").tobytes()).decode()


def strict(call: Call) -> Reply:
    """Takes one form of vectors and one name for their length, as some services do."""
    known = {"model", "input", "output_dimension"}
    if set(call.body) - known or call.body.get("output_dimension") != DIMENSION:
        return Reply(400, {"detail": "unknown field"})
    return Reply(body={"data": [{"embedding": packed(row)} for row in rows(call.texts)]})


def test_a_server_with_names_and_a_form_of_its_own_is_understood(there: Server) -> None:
    there.always = strict
    found = opened(openai(there, shorten="output_dimension"), Sleeps()).embed(["one", "two"])
    expected = np.stack([word_vector(text, DIMENSION) for text in ("one", "two")])
    assert np.allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("row", ["", "????", "AAA", packed([1.0] * 3), packed([0.0] * DIMENSION)])
def test_a_packed_vector_that_is_none_fails_its_text(there: Server, row: str) -> None:
    there.always = lambda _: Reply(body={"data": [{"embedding": row}]})
    with pytest.raises(RuntimeError):
        opened(openai(there), Sleeps()).embed(["x"])


def test_a_shorter_vector_is_asked_for_by_the_name_that_was_said(
    choice: EmbedderChoice, there: Server
) -> None:
    for said in (False, True, "size"):
        opened(replace(choice, shorten=said), Sleeps()).embed(["x"])
    asked = [set(call.body) - {"model", "input"} for call in there.calls]
    assert asked == [set(), {"dimensions"}, {"size"}]


@pytest.mark.parametrize("said", ["", "two words", "input", "model", 3])
def test_what_can_be_no_name_for_the_dimension_is_refused(there: Server, said: object) -> None:
    with pytest.raises(UsageError, match="shorten"):
        openai(there, shorten=said)


def test_the_usual_name_is_the_same_as_true(there: Server) -> None:
    assert openai(there, shorten="dimensions") == openai(there, shorten=True)


def loading(_: Call) -> Reply:
    return Reply(503, {"error": {"code": 503, "message": "Loading model"}})


def test_a_server_that_loads_its_model_is_waited_for_some_minutes(
    choice: EmbedderChoice, there: Server
) -> None:
    there.acts = [loading] * 14
    sleeps = Sleeps()
    assert opened(choice, sleeps).embed(["x"]).shape == (1, DIMENSION)
    assert 60 < sum(sleeps.seconds) < 180
    there.always = loading
    assert fault_of(choice, sleeps := Sleeps()).code == "embedder_unreachable"
    assert 120 < sum(sleeps.seconds) <= 180


def test_a_trial_waits_for_a_model_that_is_loaded(
    choice: EmbedderChoice, there: Server, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.acts = [loading] * 8
    sleeps = Sleeps()
    world = World(sleep=sleeps, clock=sleeps.clock)
    monkeypatch.setattr("khiip_indexer.embedding.served.World", lambda: world)
    said = replace(choice, query_prefix="query: ", passage_prefix="passage: ")
    found = trial(make_vault(tmp_path / "v", {}), said)
    assert found["dimension"] == DIMENSION
    assert there.texts[-4].startswith("query: How do I prune")
    assert all(text.startswith("passage: ") for text in there.texts[-3:])


@pytest.mark.parametrize("cut", ["length", "chunk"])
def test_an_answer_that_breaks_off_is_asked_for_again(
    choice: EmbedderChoice, there: Server, cut: Any
) -> None:
    there.acts = [lambda call: replace(well(call), cut=cut)]
    sleeps = Sleeps()
    assert opened(choice, sleeps).embed(["x"]).shape == (1, DIMENSION)
    assert sleeps.seconds == [0.5]


@pytest.mark.parametrize("code", [301, 302, 308, 401, 402, 403, 404, 405, 410, 415, 501])
def test_what_no_other_text_changes_is_said_at_once(
    choice: EmbedderChoice, there: Server, code: int
) -> None:
    there.always = status(code, Location="https://user:pw@elsewhere.example/a?token=secret")
    said = fault_of(choice)
    assert len(there.calls) == 1
    told = f"{said.sentence} {said.hint}"
    if code < 400:
        assert "https://elsewhere.example," in told
        assert "not followed" in told
        assert not [word for word in ("secret", "pw", "user") if word in told]
    if code in (404, 405, 410, 501):
        assert there.calls[0].path in told


@pytest.mark.parametrize("location", [None, "", "http://[", "javascript:x", "http://a b", "//é"])
def test_a_redirection_to_nowhere_is_one_all_the_same(
    choice: EmbedderChoice, there: Server, location: str | None
) -> None:
    def post(*_: object) -> Answer:
        return Answer(302, None, b"", location)

    embedder = opened(choice, Sleeps())
    embedder._world = World(post=post)
    with pytest.raises(ModelError) as caught:
        embedder.embed(["x"])
    assert "another address" in caught.value.sentence


def test_an_address_without_its_version_is_told_what_is_missing(there: Server) -> None:
    choice = openai(there, "")
    assert f"{there.url}/v1" in (fault_of(choice).hint or "")
    there.always = lambda _: Reply(body={"error": "Unexpected endpoint"})
    with pytest.raises(RuntimeError) as caught:
        opened(choice, Sleeps()).embed(["x"])
    assert f"{there.url}/embeddings was asked" in str(caught.value)
    assert f"{there.url}/v1 as `url`" in str(caught.value)


def test_a_wrong_key_that_is_answered_as_a_bad_request_is_a_wrong_key(there: Server) -> None:
    body = {"error": {"code": 400, "message": f"API key not valid: {KEY}. Pass a valid API key."}}
    there.always = lambda _: Reply(400, body)
    said = fault_of(openai(there, key_env="SOME_KEY"))
    assert said.code == "embedder_refused"
    assert KEY not in f"{said.sentence} {said.hint} {said.__cause__}"


def test_a_note_about_keys_is_not_taken_for_a_wrong_key(there: Server) -> None:
    there.always = lambda call: Reply(400, {"error": f"too long: {call.texts[0]}"})
    with pytest.raises(RuntimeError):
        opened(openai(there), Sleeps()).embed(["What to do when an API key not valid is told"])


def test_who_wants_a_key_and_was_told_of_none_is_asked_for_one(there: Server) -> None:
    there.always = status(401)
    assert "key_env" in (fault_of(openai(there)).hint or "")


@pytest.mark.parametrize(
    ("after", "told"),
    [("3600", "in an hour"), ("7200", "in 2 hours"), ("900", "in 15 minutes"), ("172800", "days")],
)
def test_a_quota_that_is_used_up_says_when_to_come_back(
    choice: EmbedderChoice, there: Server, after: str, told: str
) -> None:
    there.always = status(429, Retry_After=after)
    assert told in fault_of(choice).sentence
    with pytest.raises(ModelError) as caught:
        opened(choice, Sleeps()).embed_query("x")
    assert told in caught.value.sentence


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60.0),
        ("Thu, 01 Jan 2026 00:01:00 +9999999", 0.5),
        ("\u00b2", 0.5),
        ("\u0663", 0.5),
        ("-7", 0.5),
        ("7.5", 0.5),
        ("", 0.5),
        ("soon", 0.5),
        ("9" * 400, 999_999_999.0),
    ],
)
def test_a_wait_is_what_the_server_says_where_it_says_one(said: str, seconds: float) -> None:
    assert speech.pause(0, said, NOW) == seconds


def test_nothing_is_said_to_be_sent_before_its_key_is_there(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_vault(tmp_path / "v", {})
    file = settings.homes.config / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        '[embedders.far]\nkind = "openai"\nurl = "https://api.example.com/v1"\n'
        'model = "m"\nkey_env = "SOME_KEY"\n'
    )
    monkeypatch.setenv("KHIIP_HOME", str(file.parent.parent))
    monkeypatch.delenv("SOME_KEY", raising=False)
    command = ["--vault", str(settings.vault), "embedder", "test"]
    result = CliRunner().invoke(khiipd, [*command, "far"])
    assert "SOME_KEY" in result.stderr
    assert "sending" not in result.stderr
    assert str(file) in CliRunner().invoke(khiipd, [*command, "fer"]).stderr

    def post(*_: object) -> Answer:
        data = [{"embedding": row} for row in rows(["x", "y", "z"])[: _count(_)]]
        return Answer(200, None, json.dumps({"data": data}).encode())

    monkeypatch.setenv("SOME_KEY", KEY)
    monkeypatch.setattr("khiip_indexer.embedding.served.World", lambda: World(post=post))
    result = CliRunner().invoke(khiipd, [*command, "far"])
    assert "sending four sentences" in result.stderr
    assert f"`dimension = {DIMENSION}`" in result.stderr
    assert str(file) in result.stderr


def _count(call: tuple[Any, ...]) -> int:
    return len(call[2]["input"])
