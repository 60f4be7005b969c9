"""What the model must and must not do; with the real one, over small vaults."""

from __future__ import annotations

import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from field_cases.conftest import Case, MakeCase
from khiip_indexer import embedder as embedder_module
from khiip_indexer.config import Overrides, load_settings
from khiip_indexer.embedder import MiniLM
from khiip_indexer.index import VaultIndex
from khiip_indexer.model.files import MODEL_SHA256, packaged_files
from khiip_indexer.types import ModelIdentity
from support import FakeEmbedder, word_vector

SUBJECTS = ["brick", "clay", "kiln", "mortar", "arch", "vault", "lime", "wall", "tile", "roof"]
SENTENCES = [
    f"The {SUBJECTS[n % 10]} of course number {n} was laid beside the {SUBJECTS[n * 3 % 10]}."
    for n in range(300)
]
BRICKS = "\n\n".join(" ".join(SENTENCES[n : n + 6]) for n in range(0, 300, 6))
ONE_PARAGRAPH = " ".join(SENTENCES).replace("brick", "stone")
KEY = "The spare key hides under the blue flowerpot."
JAPANESE = "煉瓦を一段ずつ積み上げて壁を作り、石灰で固めて屋根を載せた。" * 110
JAPANESE_KEY = "合鍵は青い植木鉢の下に隠してある。"
# Nearer to the question than the beginning of any of the long notes is.
NEAR = {
    "Scissors.md": "The good scissors live in the second drawer beside the stove.",
    "Cellar.md": "The cellar door sticks in wet weather; plane its edge in May.",
    "Shed.md": "The ladder hangs in the shed behind the mower.",
    "Umbrella.md": "Left the umbrella on the tram again and rang the lost property office.",
    "Passport.md": "The passports are in the grey folder on the shelf.",
    "Bike.md": "The bicycle pump hangs on a nail in the hall.",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the made graph is kept, so that it is made once for all tests here."""
    return tmp_path_factory.mktemp("model-cache")


@pytest.fixture
def real(make_case: MakeCase, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A vault maker whose commands use the real model."""

    class Cached(MiniLM):
        def __init__(
            self, model_dir: Path | None = None, _: Path | None = None, threads: int | None = None
        ) -> None:
            super().__init__(model_dir, cache, threads)

    def make(notes: dict[str, str]) -> Case:
        case = make_case(notes, real_model=True)
        monkeypatch.setattr("khiip_indexer.embedder.MiniLM", Cached)
        return case

    yield make


class TestWindow:
    """B47"""

    def test_the_last_sentence_of_a_long_note_is_found_whatever_its_language_or_paragraphs(
        self, real: Any
    ) -> None:
        case = real(
            NEAR
            | {
                "Bricks.md": f"{BRICKS}\n\n{KEY}\n",
                "Stones.md": f"{ONE_PARAGRAPH} {KEY.replace('key', 'door key')}\n",
                "煉瓦.md": f"{JAPANESE}{JAPANESE_KEY}\n",
            }
        )
        assert len(BRICKS.split()) >= 3000
        case.ok("reindex")
        top = case.paths("where is the spare key", "--limit", "3")
        assert {"Bricks.md", "Stones.md"} <= set(top)
        assert "煉瓦.md" in case.paths("青い植木鉢の下に隠してある合鍵", "--limit", "3")
        self.no_passage_is_cut(case)

    def no_passage_is_cut(self, case: Case) -> None:
        spans = MiniLM().spans
        with VaultIndex.open(case.settings) as index:
            texts = [text for (text,) in index.database.read().execute("SELECT text FROM passages")]
        assert len(texts) > 50
        assert max(len(spans(text)) for text in texts) + 2 <= 256
        assert any(KEY in text for text in texts)
        assert any(JAPANESE_KEY in text for text in texts)

    def test_a_cut_off_inside_the_tokenizers_file_is_not_obeyed(self, tmp_path: Path) -> None:
        from tokenizers import BertWordPieceTokenizer

        from khiip_indexer.model.wordpieces import WordPieces

        tokenizer = BertWordPieceTokenizer(str(packaged_files().vocabulary), lowercase=True)
        tokenizer.enable_truncation(128)
        tokenizer.enable_padding(length=128)
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        pieces = WordPieces(tmp_path / "tokenizer.json")
        assert pieces.tokenizer.truncation is None
        assert pieces.tokenizer.padding is None
        assert len(pieces.spans(BRICKS)) > 3000


class TestThreads:
    """B49"""

    @pytest.mark.skipif(not shutil.which("taskset"), reason="needs taskset")
    def test_on_one_processor_it_works_and_the_library_does_not_complain(
        self, make_case: MakeCase
    ) -> None:
        case = make_case({"n.md": "The pump."}, real_model=True)
        done = case.process("reindex", before=("taskset", "-c", "0"))
        assert done.returncode == 0, done.stderr
        assert "affinity" not in done.stderr
        assert "onnxruntime" not in done.stderr
        assert {line.partition(":")[0] for line in done.stderr.splitlines()[:-1]} <= {
            "reading",
            "embedding notes",
        }

    @pytest.mark.parametrize("command", ["reindex", "serve"])
    def test_threads_are_what_was_said(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch, command: str
    ) -> None:
        case = make_case({"n.md": "The pump."})
        asked: list[int | None] = []

        def made(*args: object, threads: int | None = None, **_: object) -> FakeEmbedder:
            asked.append(threads if len(args) < 3 else args[2])  # type: ignore[arg-type]
            return case.embedder

        monkeypatch.setattr("khiip_indexer.embedder.MiniLM", made)
        monkeypatch.setattr("khiip_sidecar.daemon.MiniLM", made, raising=False)
        monkeypatch.setattr("khiip_sidecar.daemon.Daemon.run", lambda *_: None)
        case.ok(command, "--threads", "3", *(("--port", "48731") if command == "serve" else ()))
        assert asked[-1] == 3

    def test_the_default_leaves_half_of_the_usable_processors_alone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for usable, threads in [(1, 1), (2, 1), (6, 3), (64, 4)]:
            monkeypatch.setattr(
                os, "sched_getaffinity", lambda _, n=usable: set(range(n)), raising=False
            )
            assert embedder_module.default_threads() == threads


@contextmanager
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Connections to anywhere but this machine are refused and written down."""
    tried: list[object] = []
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1"):
            tried.append(address)
            raise OSError("no network here")
        connect(self, address)

    def lookup(host: Any, *rest: Any, **more: Any) -> Any:
        if host not in ("127.0.0.1", "::1", None):
            tried.append(host)
            raise socket.gaierror("no network here")
        return resolve(host, *rest, **more)

    resolve = socket.getaddrinfo
    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        patch.setattr(socket, "getaddrinfo", lookup)
        for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
            patch.setenv(name, "http://192.0.2.1:9")
        yield tried


class TestOffline:
    """B50"""

    def test_indexing_serving_and_recalling_ask_no_network(
        self, real: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = real({"n.md": "The pump drips.", "m.md": "Bread rises."})
        with only_loopback(monkeypatch) as tried:
            case.ok("reindex")
            assert case.paths("a leaking pump")[0] == "n.md"
            object.__setattr__(case, "embedder", embedder_module.MiniLM())
            with case.served():
                assert case.paths("a leaking pump")[0] == "n.md"
        assert tried == []

    def test_a_missing_model_is_named_with_its_digest_and_nothing_is_waited_for(
        self, make_case: MakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case({"n.md": "The pump."}, real_model=True)
        self.set_model(case, tmp_path / "nowhere")
        with only_loopback(monkeypatch) as tried:
            result = case.run("reindex")
        assert (result.exit_code, tried) == (1, [])
        expected = f"model not found: {tmp_path / 'nowhere' / 'model.onnx'}; expected sha256 "
        assert expected + MODEL_SHA256 in result.stderr

    def test_a_damaged_model_is_called_damaged(self, make_case: MakeCase, tmp_path: Path) -> None:
        case = make_case({"n.md": "The pump."}, real_model=True)
        folder = tmp_path / "model"
        folder.mkdir()
        raw = bytearray(packaged_files().model.read_bytes())
        raw[1_000_000] ^= 0xFF
        (folder / "model.onnx").write_bytes(bytes(raw))
        self.set_model(case, folder)
        result = case.run("reindex")
        assert result.exit_code == 1
        assert f"model damaged: {folder / 'model.onnx'}; expected sha256" in result.stderr

    def test_without_the_model_words_answer_and_it_is_said(self, make_case: MakeCase) -> None:
        case = make_case({"n.md": "The pump."})
        case.ok("reindex")
        case.embedder.missing = True
        answers = [case.json("recall", "pump")]
        with case.http() as client:
            answers.append(client.get("/api/v1/recall?q=pump&view=lean").json())
        for answer in answers:
            assert [hit["vault_path"] for hit in answer["results"]] == ["n.md"]
            assert "no_model" in answer["degraded"]
        assert len(case.json("list")) == 1, "what needs no model goes on"

    @staticmethod
    def set_model(case: Case, folder: Path) -> None:
        case.settings.homes.config.mkdir(parents=True, exist_ok=True)
        (case.settings.homes.config / "config.toml").write_text(f'model_dir = "{folder}"\n')


FOODS = re.findall(
    r"\w+",
    """bread soup stew curry pasta risotto omelette pancake dumpling noodle salad pie tart cake
    pickle jam broth sauce roast gravy custard pudding biscuit scone waffle quiche paella taco
    burrito falafel hummus sushi ramen pho kimchi tofu tempeh lentil chickpea barley oatmeal
    granola yoghurt cheese butter cream chutney relish marinade stock""",
)
COOKING = {
    f"{food}.md": f"How I make {food}: chop the onions, warm the {FOODS[n - 1]}, salt it, and let "
    f"the {food} simmer for {20 + n} minutes before supper."
    for n, food in enumerate(FOODS)
}
WEEKLY = """# Weekly review {n}

## What went well
Kept the morning routine, answered the mail, tidied the desk.

## What did not
Too many meetings, too little sleep, the garden is waiting.

## Note of the week
{line}
"""


class TestNonsense:
    """B51"""

    def test_a_question_about_nothing_in_the_vault_has_only_weak_hits(self, real: Any) -> None:
        assert len(COOKING) == 50
        case = real(COOKING)
        case.ok("reindex")
        hits = case.json("recall", "kubernetes ingress timeout")["results"]
        assert all(hit.get("weak") is True for hit in hits)
        answer = case.json("recall", "how do I make falafel", "--limit", "1")["results"][0]
        assert answer["vault_path"] == "falafel.md"
        assert "weak" not in answer

    def test_the_note_with_the_fact_comes_before_a_list_of_links_that_name_it(
        self, real: Any
    ) -> None:
        topics = "harbour tides|tide tables|tide gauge|spring tide|neap tide|tide mill|tidal bore"
        links = "\n".join(
            f"- [[{each}]]" for each in f"{topics}|tide pool|ebb tide|tide clock".split("|")
        )
        case = real(
            {
                "A.md": f"## Related\n{links}\n",
                "B.md": "High water at the harbour comes fifty minutes later each day, because "
                "the moon has moved on along its orbit when the earth has turned once.",
            }
        )
        case.ok("reindex")
        assert case.paths("why is the tide in the harbour later every day")[0] == "B.md"

    @pytest.mark.parametrize("query", ["tide clock oil", "why did the tide clock stop"])
    @pytest.mark.parametrize("match", ["lexical", "hybrid"])
    def test_a_list_of_links_does_not_win_by_naming_the_question(
        self, real: Any, query: str, match: str
    ) -> None:
        names = ("Tide clock oil", "Tide clock", "Oil", "Clock oil", "Tide table", "Tide gauge")
        case = real(
            {
                "A.md": "## Related\n" + "\n".join(f"- [[{name}]]" for name in names),
                "B.md": "The tide clock stopped because its oil had dried out; "
                "I cleaned it and put in two drops of watch oil.",
            }
        )
        case.ok("reindex")
        assert case.paths(query, "--match", match)[0] == "B.md"
        assert case.paths("Related", "--match", match)[0] == "A.md"

    @pytest.mark.parametrize(
        "sentence",
        ["Why the tide clock needs a new oil", "潮の満ち引きと月の引力についての覚え書き"],
    )
    def test_a_whole_sentence_of_a_list_of_links_still_finds_it_first(
        self, real: Any, sentence: str
    ) -> None:
        names = (sentence, "Tide table", "Tide gauge")
        case = real(
            {
                "A.md": "## Related\n" + "\n".join(f"- [[{name}]]" for name in names),
                "B.md": "The tide clock stopped because its oil had dried out. 潮の満ち引き",
            }
        )
        case.ok("reindex")
        assert case.paths(sentence, "--match", "hybrid")[0] == "A.md"

    def test_a_template_is_found_after_notes_and_by_its_name(self, real: Any) -> None:
        notes = {
            "Templates/Coffee.md": "---\nroaster:\ndate: {{date}}\n---\n## Coffee\nOrigin, roast",
            "Filter.md": "Ground the coffee coarser today and the filter tasted sweeter.",
            "Espresso.md": "Eighteen grams of coffee in, thirty-six out, in half a minute.",
        }
        case = real(notes)
        case.run("reindex")
        assert case.paths("how did the coffee taste", "--match", "hybrid")[-1].startswith("Temp")
        assert case.paths("Coffee", "--match", "hybrid")[0] == "Templates/Coffee.md"

    def test_of_two_hundred_notes_of_one_template_the_one_whose_own_line_fits_is_first(
        self, real: Any
    ) -> None:
        lines = [f"Bought {FOODS[n % 50]} number {n} at the market." for n in range(200)]
        lines[137] = "The heron came back to the pond and stood there for an hour."
        case = real({f"Week {n}.md": WEEKLY.format(n=n, line=line) for n, line in enumerate(lines)})
        case.ok("reindex")
        assert case.paths("a heron standing at the pond", "--limit", "5")[0] == "Week 137.md"


def other_identities() -> list[ModelIdentity]:
    mine = FakeEmbedder().identity
    return [
        replace(mine, sha256="f" * 64),
        replace(mine, window=128),
        replace(mine, pooling="cls"),
        replace(mine, name="another-model"),
    ]


class TestModelChange:
    """B35"""

    @pytest.mark.parametrize(
        "built_with", other_identities(), ids=["file", "window", "pooling", "name"]
    )
    def test_an_index_of_other_settings_is_not_searched_and_reindex_embeds_all_again(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch, built_with: ModelIdentity
    ) -> None:
        case = make_case({f"{n}.md": f"note {n}" for n in range(5)})
        mine = case.embedder.identity
        with monkeypatch.context() as patch:
            patch.setattr(FakeEmbedder, "identity", built_with)
            case.ok("reindex")
        texts = list(case.embedder.texts)
        result = case.run("recall", "note 1")
        assert (result.exit_code, result.stdout) == (4, "")
        name = built_with.name != mine.name
        old, new = (built_with.name, mine.name) if name else (built_with.key, mine.key)
        expected = f"khiipd: index was built with model {old}, current is {new}: run khiipd reindex"
        assert expected in result.stderr.splitlines()
        checked = case.run("reindex", "--check")
        assert checked.exit_code == 1
        assert "5 made by another model or version" in checked.stderr
        case.ok("reindex")
        assert sorted(case.embedder.texts[len(texts) :]) == sorted(texts)
        case.ok("reindex", "--check")
        assert case.paths("note 1")[0] == "1.md"

    def test_over_http_it_is_503_with_its_code_and_health_says_why(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case({"n.md": "The pump."})
        with monkeypatch.context() as patch:
            patch.setattr(FakeEmbedder, "identity", other_identities()[0])
            case.ok("reindex")
        with case.http() as client:
            response = client.get("/api/v1/recall?q=pump")
            assert (response.status_code, response.json()["error"]) == (503, "index_of_other_model")
            health = client.get("/health").json()
        assert health["status"] == "degraded"
        assert "index was built with model" in health["reason"]

    def test_vectors_of_another_dimension_never_meet_in_one_search(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case({f"{n}.md": f"note {n}" for n in range(5)})
        case.ok("reindex")
        wide = FakeEmbedder(dimension=32)
        monkeypatch.setattr("khiip_indexer.embedder.MiniLM", lambda *_, **__: wide)
        assert case.run("recall", "note 1").exit_code == 4
        case.ok("reindex")
        hits = case.json("recall", "note 1")["results"]
        expected = float(word_vector("note 1", 32) @ word_vector("1 note 1", 32))
        assert hits[0]["vault_path"] == "1.md"
        assert abs(hits[0]["score"]) <= 1
        assert expected <= 1

    def test_a_new_way_to_cut_passages_reads_all_notes_again_and_embeds_only_what_differs(
        self, make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case({f"{n}.md": f"note {n}" for n in range(5)})
        case.ok("reindex")
        texts = list(case.embedder.texts)
        monkeypatch.setattr("khiip_indexer.syncing.versions.PROJECTION_VERSION", "another")
        assert case.run("reindex", "--check").exit_code == 1
        case.ok("reindex")
        assert case.embedder.texts == texts
        case.ok("reindex", "--check")

    def test_another_model_file_in_the_folder_is_noticed_by_the_quick_look_too(
        self, make_case: MakeCase, tmp_path: Path
    ) -> None:
        case = make_case({"n.md": "note"})
        os.utime(case.vault / "n.md", (1, 1))
        TestOffline.set_model(case, tmp_path)
        assert load_settings(Overrides(vault=str(case.vault))).model_dir == tmp_path
        case.ok("reindex")
        case.ok("reindex")
        assert not (case.settings.state / "seen").exists()


def test_a_text_that_the_model_fails_on_hides_no_other_note(make_case: MakeCase) -> None:
    """B01's last sentence, for the embedding pass"""
    case = make_case({"a.md": "alpha", "b.md": "poison", "c.md": "gamma"})
    case.embedder.fail_on = lambda text: "poison" in text
    assert case.run("reindex").exit_code == 3
    assert {case.paths(word)[0] for word in ("alpha", "gamma")} == {"a.md", "c.md"}
    assert threading.active_count() < 20
