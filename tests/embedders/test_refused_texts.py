"""Texts that a server refuses, and a server that takes none: who is to blame, and what is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from embedders.lineups import lineup, run
from embedders.opening import Sleeps, opened
from embedders.servers import Act, Call, Reply, Server, status, well
from indexing import reindex
from khiip_indexer.config import Settings
from khiip_indexer.embedding.choice import EmbedderChoice
from khiip_indexer.embedding.served import HARMLESS
from khiip_indexer.errors import ModelError
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from support import FakeEmbedder, make_vault

BAD = "unspeakable"


def vault(root: Path, good: int, bad: int) -> Settings:
    """The notes that are refused are the newest ones: their turn comes first, in one lump."""
    notes = {f"good {n}.md": f"note {n}" for n in range(good)}
    settings = make_vault(root, notes | {f"{BAD} {n}.md": f"{BAD} {n}" for n in range(bad)})
    for path in settings.vault.glob("good*.md"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return settings


def picky(call: Call) -> Reply:
    """Refuses a request with a bad text in it."""
    return Reply(400, {"error": "no"}) if any(BAD in text for text in call.texts) else well(call)


def failures(settings: Settings) -> list[int]:
    """How often each text that failed was tried."""
    with VaultIndex.open(settings) as index:
        rows = index.database.read().execute("SELECT attempts FROM failures ORDER BY key")
        return [attempts for (attempts,) in rows]


def test_many_refused_texts_in_a_row_do_not_end_a_switch(
    choice: EmbedderChoice, there: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = vault(tmp_path / "v", good=230, bad=20)
    old, new = FakeEmbedder(), opened(choice, Sleeps())
    reindex(settings, old)
    there.always = picky
    report = run(settings, new, old)
    assert (report.embedded, report.failed) == (230, 20)
    with VaultIndex.open(settings) as index:
        assert index.model() == new.identity
        assert len(index.problems()) == 20
    assert 1 <= there.texts.count(HARMLESS) <= 3
    assert len([each for each in caplog.records if each.levelname == "WARNING"]) == 1


def test_what_failed_is_kept_when_the_server_goes_and_comes_last_in_the_next_run(
    choice: EmbedderChoice, there: Server, tmp_path: Path
) -> None:
    settings = vault(tmp_path / "v", good=6, bad=1)
    refused: list[Act] = [picky] * 4  # a batch, its half, the text alone, the harmless one
    there.acts, there.always = refused, status(404)
    with pytest.raises(ModelError) as caught:
        run(settings, opened(choice, Sleeps()))
    assert (caught.value.code, failures(settings)) == ("embedder_gone", [1])
    there.always, before = picky, len(there.texts)
    report = run(settings, opened(choice, Sleeps()))
    assert (report.embedded, report.failed, failures(settings)) == (6, 1, [2])
    assert BAD not in " ".join(there.texts[before : before + 4])


def test_a_server_that_takes_nothing_is_blamed_and_uses_up_no_text(
    choice: EmbedderChoice, there: Server, tmp_path: Path
) -> None:
    settings = vault(tmp_path / "v", good=2, bad=0)
    there.always = status(400)
    for _ in range(8):
        with pytest.raises(ModelError) as caught:
            run(settings, opened(choice, Sleeps()))
        assert caught.value.code == "embedder_failed"
    assert failures(settings)
    assert there.texts[-1] == HARMLESS
    there.always = None
    assert run(settings, opened(choice, Sleeps())).embedded == 2
    assert failures(settings) == []


def test_a_server_that_goes_while_a_text_is_tried_uses_up_no_text(
    choice: EmbedderChoice, there: Server, tmp_path: Path
) -> None:
    settings = vault(tmp_path / "v", good=1, bad=0)
    for _ in range(5):
        there.acts, there.always = [status(500)] * 2, status(502)
        with pytest.raises(ModelError) as caught:
            run(settings, opened(choice, Sleeps()))
        assert caught.value.code == "embedder_unreachable"
    there.always = None
    assert run(settings, opened(choice, Sleeps())).embedded == 1


@pytest.mark.parametrize("switching", [False, True])
def test_nobody_is_waited_for_once_the_run_is_to_end(
    choice: EmbedderChoice, there: Server, tmp_path: Path, *, switching: bool
) -> None:
    settings = vault(tmp_path / "v", good=3, bad=0)
    there.always = status(429, Retry_After="100")
    old = FakeEmbedder()
    if switching:
        reindex(settings, old)

    class Stopping(Sleeps):
        def __call__(self, seconds: float) -> None:
            super().__call__(seconds)
            if len(self.seconds) == 2:
                syncer.stop()

    sleeps = Stopping()
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, lineup(opened(choice, sleeps), old))
        report = syncer.run()
    assert (report.complete, len(there.calls)) == (False, 1)
    assert sum(sleeps.seconds) < 1
    assert failures(settings) == []
