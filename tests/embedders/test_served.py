"""Embedders behind an address: what they are asked, and what becomes of their misbehaviour."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embedders.lineups import lineup, run
from embedders.opening import Sleeps, opened
from embedders.servers import DIMENSION, KEY, Call, Reply, Server, rows, server, status, well
from equality import assert_equals_fresh
from indexing import reindex
from khiip_indexer.embedding.choice import EmbedderChoice, read_choice
from khiip_indexer.embedding.factory import packaged_spans
from khiip_indexer.embedding.lineup import Answering
from khiip_indexer.embedding.served import Served, open_served
from khiip_indexer.errors import ModelError, UsageError
from khiip_indexer.index import VaultIndex
from khiip_sidecar.recall import RecallService
from khiip_sidecar.results import RecallRequest
from support import FakeEmbedder, make_vault, word_vector


def test_vectors_come_in_the_order_of_the_texts_and_are_of_length_one(
    choice: EmbedderChoice, there: Server
) -> None:
    texts = [f"text {n}" for n in range(10)]
    found = opened(choice, Sleeps()).embed(texts)
    expected = np.stack([word_vector(text, DIMENSION) for text in texts])
    assert np.allclose(found, expected, atol=1e-6)
    assert found.dtype == np.float32
    assert [len(call.texts) for call in there.calls] == [4, 4, 2]
    assert {call.body["model"] for call in there.calls} == {"tiny"}


def test_questions_and_passages_have_their_own_prefixes(
    choice: EmbedderChoice, there: Server
) -> None:
    said = replace(choice, query_prefix="query: ", passage_prefix="passage: ")
    embedder = opened(said, Sleeps())
    embedder.embed(["one"])
    embedder.embed_query("two")
    assert there.texts == ["passage: one", "query: two"]
    assert embedder.identity.key != opened(choice, Sleeps()).identity.key


def test_a_shorter_vector_is_asked_for_only_where_that_was_said(there: Server) -> None:
    table = {"kind": "openai", "url": f"{there.url}/v1", "model": "m", "dimension": DIMENSION}
    opened(read_choice("a", table), Sleeps()).embed(["x"])
    opened(read_choice("a", {**table, "shorten": True}), Sleeps()).embed(["x"])
    assert [call.body.get("dimensions") for call in there.calls] == [None, DIMENSION]


@pytest.mark.parametrize("code", [429, 502, 503, 504, 408])
def test_what_may_be_over_in_a_moment_is_tried_again(
    choice: EmbedderChoice, there: Server, code: int
) -> None:
    there.acts = [status(code), status(code)]
    sleeps = Sleeps()
    assert opened(choice, sleeps).embed(["x"]).shape == (1, DIMENSION)
    assert sleeps.seconds == [0.5, 1.0]


def test_the_wait_that_a_server_asks_for_is_kept(choice: EmbedderChoice, there: Server) -> None:
    there.acts = [status(429, Retry_After="7")]
    sleeps = Sleeps()
    opened(choice, sleeps).embed(["x"])
    assert sleeps.seconds == [7.0]


def test_who_asks_for_an_hour_is_left_until_the_next_run(
    choice: EmbedderChoice, there: Server
) -> None:
    there.acts = [status(429, Retry_After="3600")]
    sleeps = Sleeps()
    with pytest.raises(ModelError) as caught:
        opened(choice, sleeps).embed(["x"])
    assert (caught.value.code, sleeps.seconds) == ("embedder_unreachable", [])


def test_who_never_recovers_is_given_up_after_five_attempts(
    choice: EmbedderChoice, there: Server
) -> None:
    there.always = status(502)
    sleeps = Sleeps()
    with pytest.raises(ModelError) as caught:
        opened(choice, sleeps).embed(["x"])
    assert caught.value.code == "embedder_unreachable"
    assert (len(there.calls), sleeps.seconds) == (5, [0.5, 1.0, 2.0, 4.0])


def test_nobody_at_the_address(choice: EmbedderChoice) -> None:
    closed = replace(choice, url="http://127.0.0.1:9")
    with pytest.raises(ModelError) as caught:
        opened(closed, Sleeps()).embed(["x"])
    assert caught.value.code == "embedder_unreachable"


@pytest.mark.parametrize(
    ("code", "error"),
    [(401, "embedder_refused"), (403, "embedder_refused"), (404, "embedder_gone")],
)
def test_what_no_second_try_mends_is_said_at_once(
    choice: EmbedderChoice, there: Server, code: int, error: str
) -> None:
    there.always = status(code)
    with pytest.raises(ModelError) as caught:
        opened(choice, Sleeps()).embed(["x"])
    assert (caught.value.code, len(there.calls)) == (error, 1)


def nan(call: Call) -> Reply:
    return altered(call, [float("nan")] * DIMENSION)


def too_wide(call: Call) -> Reply:
    return altered(call, [1.0] * (DIMENSION + 1))


def zero(call: Call) -> Reply:
    return altered(call, [0.0] * DIMENSION)


def words(call: Call) -> Reply:
    return altered(call, ["a"] * DIMENSION)


def nothing(call: Call) -> Reply:
    return altered(call, None)


def altered(call: Call, row: object) -> Reply:
    """The first vector is another one."""
    reply = well(call)
    assert isinstance(reply.body, dict)
    if "embeddings" in reply.body:
        reply.body["embeddings"][0] = row
    else:
        reply.body["data"][-1]["embedding"] = row
    return reply


def half(call: Call) -> Reply:
    reply = well(call)
    assert isinstance(reply.body, dict)
    for name in ("embeddings", "data"):
        if name in reply.body:
            reply.body[name] = reply.body[name][: len(call.texts) // 2]
    return reply


def page(_: Call) -> Reply:
    return Reply(raw=b"<html>welcome</html>")


def deep(_: Call) -> Reply:
    return Reply(raw=b"[" * 200_000)


ODD = [nan, too_wide, zero, words, nothing, half, page, deep]


@pytest.mark.parametrize("act", ODD)
def test_an_answer_that_is_none_fails_the_text(
    choice: EmbedderChoice, there: Server, act: Any
) -> None:
    there.always = act
    with pytest.raises(RuntimeError):
        opened(choice, Sleeps()).embed(["x"])


def test_a_text_that_the_server_refuses_is_a_problem_of_its_note(
    choice: EmbedderChoice, there: Server, tmp_path: Path
) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(20)})

    def picky(call: Call) -> Reply:
        if any("note 7" in text for text in call.texts):
            return Reply(400, {"error": "too long"})
        return well(call)

    there.always = picky
    report = run(settings, opened(choice, Sleeps()))
    assert (report.embedded, report.failed) == (19, 1)
    with VaultIndex.open(settings) as index:
        assert [(p.path, p.code) for p in index.problems()] == [("7.md", "embedding_failed")]


def test_a_server_that_answers_half_of_a_batch_is_asked_in_smaller_ones(
    choice: EmbedderChoice, there: Server, tmp_path: Path
) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(6)})
    there.always = lambda call: half(call) if len(call.texts) > 1 else well(call)
    embedder = opened(choice, Sleeps())
    assert run(settings, embedder).failed == 0
    there.always = None
    assert_equals_fresh(settings, embedder)


def test_a_server_that_takes_nothing_does_not_cost_a_try_for_every_text(
    choice: EmbedderChoice, there: Server, tmp_path: Path
) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(200)})
    there.always = too_wide
    with pytest.raises(ModelError) as caught:
        run(settings, opened(choice, Sleeps()))
    assert caught.value.code == "embedder_failed"
    assert len(there.calls) < 40


def test_a_switch_to_it_may_break_off_and_goes_on(
    choice: EmbedderChoice, there: Server, tmp_path: Path
) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(20)})
    old, new = FakeEmbedder(), opened(choice, Sleeps())
    reindex(settings, old)
    there.acts = [well, well]
    there.always = status(503)
    with pytest.raises(ModelError):
        run(settings, new, old)
    with VaultIndex.open(settings) as index:
        assert index.model() == old.identity
        assert index.coming()[1] == (8, 20)
    there.always, sent = None, len(there.texts)
    run(settings, new, old)
    assert len(there.texts) - sent == 12
    with VaultIndex.open(settings) as index:
        assert index.model() == new.identity
    assert_equals_fresh(settings, new)


class TestQuestions:
    """A search waits two seconds at most; then words answer."""

    def recalled(self, settings: Any, embedder: Served) -> Any:
        with VaultIndex.open(settings) as index:
            answering = Answering(lineup(embedder), index.model)
            return RecallService(index, answering).recall(RecallRequest("kestrel"))

    @pytest.mark.parametrize("act", [status(503), status(429), status(500)])
    def test_words_answer_when_the_server_does_not(
        self, choice: EmbedderChoice, there: Server, tmp_path: Path, act: Any
    ) -> None:
        settings = make_vault(tmp_path / "v", {"a.md": "a kestrel", "b.md": "a heron"})
        embedder = opened(choice, Sleeps())
        run(settings, embedder)
        assert self.recalled(settings, embedder).degraded == ()
        there.always, before = act, len(there.calls)
        result = self.recalled(settings, embedder)
        assert result.degraded == ("embedder_unreachable",)
        assert [hit.record.vault_path for hit in result.hits] == ["a.md"]
        assert len(there.calls) == before + 1

    @pytest.mark.parametrize(
        ("act", "code"),
        [
            (status(401), "embedder_refused"),
            (status(404), "embedder_gone"),
            (status(302, Location="https://elsewhere.example"), "embedder_failed"),
            (None, "no_key"),
            (status(400), "model_failed"),
        ],
    )
    def test_words_answer_and_it_is_said_why(
        self, choice: EmbedderChoice, there: Server, tmp_path: Path, act: Any, code: str
    ) -> None:
        settings = make_vault(tmp_path / "v", {"a.md": "a kestrel", "b.md": "a heron"})
        run(settings, opened(choice, Sleeps()))
        there.always = act
        keyless = replace(choice, key_env=None if act else "A_KEY_THAT_IS_NOWHERE")
        result = self.recalled(settings, open_served(keyless, packaged_spans, agreed=True))
        assert (result.degraded, len(result.hits)) == ((code,), 1)

    def test_an_answer_in_drops_does_not_hold_a_search_up(
        self, choice: EmbedderChoice, there: Server
    ) -> None:
        there.always = lambda call: replace(well(call), drip=0.05)
        embedder = opened(replace(choice, query_timeout=0.2), Sleeps())
        with pytest.raises(ModelError) as caught:
            embedder.embed_query("x")
        assert caught.value.code == "embedder_unreachable"

    def test_who_did_not_answer_is_left_alone_for_a_while(
        self, choice: EmbedderChoice, there: Server
    ) -> None:
        sleeps = Sleeps()
        embedder = opened(replace(choice, query_timeout=0.1), sleeps)
        there.acts = [lambda call: replace(well(call), drip=0.05)]
        for _ in range(3):
            with pytest.raises(ModelError):
                embedder.embed_query("x")
        assert len(there.calls) == 1
        sleeps.time += 11
        embedder.choice = replace(choice, query_timeout=30)  # a busy machine takes its time
        assert embedder.embed_query("x").shape == (DIMENSION,)


def test_nothing_is_sent_before_somebody_agreed(choice: EmbedderChoice, there: Server) -> None:
    embedder = opened(choice, Sleeps(), agreed=False)
    with pytest.raises(ModelError) as caught:
        embedder.embed(["x"])
    assert caught.value.code == "consent_needed"
    with pytest.raises(ModelError) as caught:
        embedder.embed_query("x")
    assert caught.value.code == "consent_needed"
    assert there.calls == []


def test_the_key_is_sent_and_is_in_no_error_and_no_log(
    choice: EmbedderChoice, there: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = opened(replace(choice, key_env="MY_KEY"), Sleeps())
    there.acts = [status(503), status(429), well]
    embedder.embed(["x"])
    assert {call.headers["Authorization"] for call in there.calls} == {f"Bearer {KEY}"}
    said = [caplog.text, repr(embedder), repr(vars(embedder)), embedder.identity.key]
    for code in (400, 401, 404, 418):
        there.acts = [status(code)]
        with pytest.raises((ModelError, RuntimeError)) as caught:
            embedder.embed(["x"])
        fault = caught.value
        said += [str(fault), getattr(fault, "hint", "") or "", repr(fault.__cause__)]
    assert not [text for text in said if KEY in text]


def test_a_redirection_is_not_followed(choice: EmbedderChoice, there: Server) -> None:
    with server() as elsewhere:
        there.always = status(307, Location=f"{elsewhere.url}/api/embed")
        with pytest.raises(ModelError) as caught:
            opened(replace(choice, key_env="K"), Sleeps()).embed(["x"])
        assert (len(there.calls), elsewhere.calls) == (1, [])
        assert elsewhere.url in caught.value.sentence
        assert "not followed" in caught.value.sentence


def test_without_a_dimension_it_can_be_tried_and_not_be_used(
    choice: EmbedderChoice, there: Server
) -> None:
    embedder = opened(replace(choice, dimension=None), Sleeps())
    assert embedder.embed(["x"]).shape == (1, DIMENSION)
    with pytest.raises(UsageError):
        _ = embedder.identity


def test_rows_are_those_of_the_double() -> None:
    assert np.allclose(np.asarray(rows(["a"])[0]) / 3, word_vector("a", DIMENSION))
