"""Another embedder embeds the vault while the former one answers, then takes over in one step."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from embedders.lineups import Narrow, lineup, model_of, run
from equality import assert_equals_fresh
from indexing import reindex, write
from khiip_indexer.config import Settings
from khiip_indexer.embedding.lineup import Answering, Lineup
from khiip_indexer.embedding.nothing import NoEmbedder
from khiip_indexer.errors import ModelError, VaultError
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters, Progress
from khiip_indexer.storage import coming
from khiip_indexer.sync import Syncer, check
from khiip_indexer.types import ModelIdentity
from khiip_indexer.vault import Vault
from khiip_sidecar.recall import RecallService
from khiip_sidecar.results import RecallRequest, RecallResult
from killing import run_in_child
from support import FakeEmbedder, make_vault

LONG = "\n\n".join(f"Paragraph {n} tells of thing{n} and of matter{n % 7}." for n in range(40))
KILLS = 25
DAY = 24 * 3600


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    notes = {f"{n}.md": f"note {n} speaks of topic{n}" for n in range(20)}
    return make_vault(tmp_path / "v", {**notes, "long.md": LONG})


def ask(settings: Settings, query: str, *embedders: FakeEmbedder) -> RecallResult:
    with VaultIndex.open(settings) as index:
        answering = Answering(lineup(*embedders), index.model)
        return RecallService(index, answering).recall(RecallRequest(query))


def vectors(settings: Settings, embedder: FakeEmbedder | Narrow) -> int:
    with VaultIndex.open(settings) as index:
        sql = "SELECT COUNT(*) FROM vectors WHERE model = ?"
        found = index.database.read().execute(sql, (embedder.identity.key,)).fetchone()
        return int(found[0])


def test_the_new_model_takes_over_and_the_index_is_as_if_it_had_been_there_from_the_start(
    settings: Settings,
) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    report = run(settings, new, old)
    assert (model_of(settings), report.pending, report.complete) == ("narrow", 0, True)
    assert report.embedded == len(new.texts) > 21
    assert_equals_fresh(settings, new)


def test_until_then_the_old_model_answers_and_its_index_knows_edits(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    write(settings, "later.md", "a quokka came by")
    new.missing = True
    with pytest.raises(ModelError):
        run(settings, new, old)
    assert model_of(settings) == "fake-words"
    result = ask(settings, "quokka", new, old)
    assert (result.hits[0].record.vault_path, result.model.name) == ("later.md", "fake-words")
    assert result.degraded == ()
    new.missing = False
    run(settings, new, old)
    result = ask(settings, "quokka", new, old)
    assert (result.hits[0].record.vault_path, result.model.name) == ("later.md", "narrow")


def test_meta_shows_what_is_coming_and_how_far_it_is(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    with VaultIndex.open(settings, write=True) as index:
        assert index.coming() == (None, (0, 0))
        syncer = Syncer(index, lineup(new, old))
        seen: list[tuple[ModelIdentity | None, tuple[int, int]]] = []

        def watch(progress: Progress) -> None:
            seen.append(index.coming())
            if progress.phase == "passages":
                syncer.stop()

        assert not syncer.run(progress=watch).complete
        model, (done, total) = index.coming()
        assert model == new.identity
        assert 0 < done < total
        syncer.run()
        assert index.coming() == (None, (0, 0))
        assert index.model() == new.identity


def test_what_was_embedded_before_a_stop_is_not_embedded_again(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, lineup(new, old))
        syncer.run(progress=lambda p: syncer.stop() if p.phase == "passages" else None)
        assert index.model() == old.identity
    first = list(new.texts)
    assert first
    run(settings, new, old)
    assert len(new.texts) == len(set(new.texts))
    assert_equals_fresh(settings, new)


def test_edits_while_it_runs_are_taken_in_by_both(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    waiting = [["3.md", "4.md", "new.md"]]
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, lineup(new, old))

        def noticed() -> list[str]:
            if not new.texts or not waiting:
                return []
            write(settings, "3.md", "edited while vectors were made")
            write(settings, "new.md", "born while vectors were made")
            (settings.vault / "4.md").unlink()
            return waiting.pop()

        report = syncer.run(noticed=noticed)
        assert report.complete
        assert index.model() == new.identity
        assert any("born while" in text for text in old.texts)
        assert any("born while" in text for text in new.texts)
    assert_equals_fresh(settings, new)


def test_a_note_that_is_deleted_unnoticed_waits_for_the_next_run(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, lineup(new, old))
        gone = settings.vault / "4.md"

        def watch(progress: Progress) -> None:
            if progress.phase == "done":
                gone.unlink(missing_ok=True)

        syncer.run(progress=watch)
        assert index.model() == old.identity
        syncer.run()
        assert index.model() == new.identity
    assert_equals_fresh(settings, new)


@pytest.mark.parametrize("path", ["5.md", "long.md"])
def test_a_note_that_cannot_be_read_just_now_keeps_what_is_known_of_it_and_is_read_again_later(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    read = Vault.read

    def refuse(vault: Vault, asked: str, *rest: object, **more: object) -> object:
        if asked == path:
            raise VaultError(f"{path} cannot be read.", code="note_unreadable")
        return read(vault, asked, *rest, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "read", refuse)
        report = run(settings, new, old)
        assert model_of(settings) == "narrow"
        assert [(p.path, p.code) for p in report.problems] == [(path, "note_unreadable")]
    query = "topic5" if path == "5.md" else "Paragraph tells of matter"
    assert ask(settings, query, new, old).hits[0].record.vault_path == path
    again = run(settings, new, old)
    assert (again.problems, again.with_problems) == ((), 0)
    assert_equals_fresh(settings, new)


def test_going_back_within_thirty_days_embeds_nothing(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    run(settings, new, old)
    old.texts.clear()
    later = datetime.fromtimestamp(time.time() + 29 * DAY, UTC)
    with VaultIndex.open(settings, write=True) as index:
        assert Syncer(index, lineup(old, new), clock=lambda: later).run().embedded == 0
    assert (old.texts, model_of(settings)) == ([], "fake-words")
    assert_equals_fresh(settings, old)
    run(settings, new, old)
    assert_equals_fresh(settings, new)


class Gone(FakeEmbedder):
    """Its server is down from some moment on."""

    down = False
    refused = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.down:
            self.refused += 1
            raise ModelError("It cannot be asked.", code="embedder_unreachable")
        return super().embed(texts)


def test_a_server_that_is_gone_can_be_left_while_a_note_waits_for_it(settings: Settings) -> None:
    old, new = Gone(), Narrow()
    reindex(settings, old)
    old.down = True
    write(settings, "later.md", "a note that the server never saw")
    with pytest.raises(ModelError):
        run(settings, old)
    report = run(settings, new, old)
    assert (model_of(settings), report.pending, report.complete) == ("narrow", 0, True)
    assert_equals_fresh(settings, new)


def test_an_edit_on_the_way_asks_a_server_that_is_gone_once_at_most(settings: Settings) -> None:
    old, new = Gone(), Narrow()
    reindex(settings, old)
    old.down = True
    edits = iter(range(3))

    def edited() -> list[str]:
        for n in edits:
            write(settings, "1.md", f"another text {n} about topic1")
            return ["1.md"]
        return []

    with VaultIndex.open(settings, write=True) as index:
        report = Syncer(index, lineup(new, old)).run(noticed=edited)
    assert (report.complete, old.refused) == (True, 1)
    run(settings, new, old)
    assert_equals_fresh(settings, new)


def test_changing_ones_mind_on_the_way_leaves_the_index_as_it_was(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, lineup(new, old))
        syncer.run(progress=lambda p: syncer.stop() if p.phase == "passages" else None)
    old.texts.clear()
    run(settings, old, new)
    with VaultIndex.open(settings) as index:
        assert index.coming() == (None, (0, 0))
    assert old.texts == []
    assert_equals_fresh(settings, old)


def test_without_the_old_embedder_the_new_one_takes_over_at_once(settings: Settings) -> None:
    reindex(settings, FakeEmbedder())
    new = Narrow()
    run(settings, new)
    assert model_of(settings) == "narrow"
    assert_equals_fresh(settings, new)


def test_a_text_that_fails_is_a_problem_of_its_note_and_the_rest_goes_on(
    settings: Settings,
) -> None:
    old, new = FakeEmbedder(), Narrow()
    new.fail_on = lambda text: "topic7" in text
    reindex(settings, old)
    report = run(settings, new, old)
    assert (model_of(settings), report.failed) == ("narrow", 1)
    with VaultIndex.open(settings) as index:
        assert [(p.path, p.code) for p in index.problems()] == [("7.md", "embedding_failed")]


def test_a_model_that_fails_on_most_texts_does_not_take_over(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    new.fail_on = lambda text: "topic" in text
    reindex(settings, old)
    run(settings, new, old)
    assert model_of(settings) == "fake-words"
    assert ask(settings, "topic7", new, old).hits[0].record.vault_path == "7.md"


def test_check_says_that_there_is_something_to_do_until_the_switch(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    with VaultIndex.open(settings) as index:
        assert check(index, new.identity).behind
    run(settings, new, old)
    with VaultIndex.open(settings) as index:
        assert not check(index, new.identity).behind


def test_prune_drops_what_other_models_made(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    run(settings, new, old)
    assert vectors(settings, old) > 0
    with (
        VaultIndex.open(settings, write=True) as index,
        index.database.write() as connection,
    ):
        coming.drop_others(connection, new.identity.key)
    assert vectors(settings, old) == 0
    assert_equals_fresh(settings, new)


def test_no_search_meets_vectors_of_two_models_while_they_change(settings: Settings) -> None:
    """Scores of one model among those of another would show as hits that words do not explain."""
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    with VaultIndex.open(settings, write=True) as index:
        both = lineup(new, old)
        answering = Answering(both, index.model)
        service = RecallService(index, answering)
        index.graphs.load(old.identity)
        models: set[str] = set()

        def watch(_: Progress) -> None:
            result = service.recall(RecallRequest("topic5"))
            assert result.hits[0].record.vault_path == "5.md"
            assert result.hits[0].score > 0.2
            assert result.degraded == ()
            models.add(result.model.name)

        Syncer(index, both).run(progress=watch)
        watch(Progress("done", 1, 1))
        assert models == {"fake-words", "narrow"}


def test_a_switch_in_the_midst_of_a_search_has_it_done_again(settings: Settings) -> None:
    old, new = FakeEmbedder(), FakeEmbedder(name="other")
    reindex(settings, old)
    with VaultIndex.open(settings, write=True) as index:
        both = lineup(new, old)

        class Slow(Answering):
            """The switch happens just after the question was embedded."""

            def embed_query(self, text: str):  # type: ignore[no-untyped-def]
                vector = super().embed_query(text)
                if index.model() == old.identity:
                    Syncer(index, both).run()
                return vector

        result = RecallService(index, Slow(both, index.model)).recall(RecallRequest("topic5"))
        assert result.model == new.identity
        with index.searching() as search:
            ranking = search.run(
                new.embed(["topic5"])[0], Filters(), limit=1, offset=0, min_score=None
            )
        assert result.hits[0].score == ranking.hits[0].score


def test_a_reader_follows_the_switch(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    with VaultIndex.open(settings) as reader:
        reader.graphs.load(old.identity)
        service = RecallService(reader, Answering(lineup(new, old), reader.model))
        assert service.recall(RecallRequest("topic5")).model == old.identity
        run(settings, new, old)
        result = service.recall(RecallRequest("topic5"))
        assert (result.model, result.hits[0].record.vault_path) == (new.identity, "5.md")


def test_no_embedder_keeps_the_vectors_for_who_comes_back(settings: Settings) -> None:
    old = FakeEmbedder()
    none = NoEmbedder(old.spans)
    reindex(settings, old)
    assert run(settings, none, old).pending == 0
    assert model_of(settings) == "none"
    write(settings, "later.md", "a quokka came by")
    assert run(settings, none, old).pending == 0
    old.texts.clear()
    run(settings, old)
    assert [text for text in old.texts if "quokka" not in text] == []
    assert_equals_fresh(settings, old)


def test_an_embedder_that_was_chosen_meanwhile_is_taken_up_by_the_next_whole_look(
    settings: Settings,
) -> None:
    old, new = FakeEmbedder(), Narrow()
    chosen = [None, new]
    with VaultIndex.open(settings, write=True) as index:
        both = Lineup(old, renewed=lambda: chosen.pop(0) if chosen else None)
        syncer = Syncer(index, both)
        syncer.run()
        assert index.model() == old.identity
        syncer.run(paths={"3.md"})
        assert index.model() == old.identity
        syncer.run()
        assert index.model() == new.identity
    assert_equals_fresh(settings, new)


def backfill_in_child(settings: Settings, at: int) -> tuple[int, int]:
    """(exit status, calls made) of a backfill in a child that dies at call `at`; 0: never."""
    return run_in_child(lambda: run(settings, Narrow(), FakeEmbedder()), at)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_step_it_goes_on_and_ends_as_a_fresh_index(settings: Settings) -> None:
    old, new = FakeEmbedder(), Narrow()
    reindex(settings, old)
    status, calls = backfill_in_child(settings, 0)
    assert (status, model_of(settings)) == (0, "narrow")
    dice, killed = random.Random(5), 0
    for _ in range(KILLS):
        wanted: FakeEmbedder = new if model_of(settings) != "narrow" else old
        if wanted is old:
            run(settings, old, new)
            with (
                VaultIndex.open(settings, write=True) as index,
                index.database.write() as connection,
            ):
                coming.drop_others(connection, old.identity.key)
        status, _ = backfill_in_child(settings, dice.randrange(1, calls))
        killed += status != 0
        model = model_of(settings)
        assert model in ("fake-words", "narrow")
        assert ask(settings, "topic5", new, old).hits[0].record.vault_path == "5.md"
    assert killed > KILLS // 2
    run(settings, new, old)
    assert model_of(settings) == "narrow"
    assert_equals_fresh(settings, new)
