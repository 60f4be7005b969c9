"""`khiipd embedder`, and what every face says of the embedder in use."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from embedders.servers import DIMENSION, Server, rows, server
from embedders.tiny import write_folder
from equality import assert_equals_fresh
from khiip_indexer.config import Overrides, Settings, load_settings
from khiip_indexer.embedding import exchange, remembered
from khiip_indexer.embedding.lineup import Lineup
from khiip_indexer.embedding.nothing import NoEmbedder
from khiip_indexer.embedding.served import World
from khiip_indexer.index import VaultIndex
from khiip_sidecar.cli import embedder_facts
from khiip_sidecar.cli.main import khiipd
from khiip_sidecar.daemon import serve
from serving import Served, serving
from support import FakeEmbedder, make_vault, write_note

TITLES = ("Red sails at dawn", "Green apples", "Blue herons", "Sea walls of stone", "Old maps")
NOTES = {
    f"{title} {n}.md": f"{title} number {n}, red green blue sea {n}"
    for n in range(4)
    for title in TITLES
}


@dataclass
class Case:
    """A vault with a local server, a folder and the default embedder to choose from."""

    settings: Settings
    there: Server
    default: FakeEmbedder

    def run(self, *args: str) -> Result:
        return CliRunner().invoke(khiipd, ["--vault", str(self.settings.vault), *args])

    def ok(self, *args: str) -> str:
        result = self.run(*args)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *args: str) -> Any:
        return json.loads(self.ok(*args, "--json"))

    def load(self) -> Settings:
        home = self.settings.homes.config.parent
        return load_settings(Overrides(vault=str(self.settings.vault)), {"KHIIP_HOME": str(home)})


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    settings = make_vault(tmp_path / "v", NOTES)
    default = FakeEmbedder()
    folder = write_folder(tmp_path / "tiny", prompts={"query": "query: "})
    monkeypatch.setenv("KHIIP_HOME", str(settings.homes.config.parent))
    monkeypatch.setattr("khiip_indexer.embedder.MiniLM", lambda *_, **__: default)
    with server() as there:
        settings.homes.config.mkdir(parents=True)
        (settings.homes.config / "config.toml").write_text(
            f"""
[embedders.near]
kind = "ollama"
url = "{there.url}"
model = "tiny"
dimension = {DIMENSION}
[embedders.folder]
kind = "onnx"
path = "{folder}"
[embedders.far]
kind = "openai"
url = "https://api.example.com/v1"
model = "m"
dimension = {DIMENSION}
price = 20
""",
            encoding="utf-8",
        )
        yield Case(settings, there, default)


def test_list_names_all_and_marks_the_one_in_use(case: Case) -> None:
    rows = {row["name"]: row for row in case.json("embedder", "list")}
    assert list(rows) == ["minilm", "none", "near", "folder", "far"]
    assert [name for name, row in rows.items() if row["in_use"]] == ["minilm"]
    assert [name for name, row in rows.items() if row["remote"]] == ["far"]
    assert "* minilm" in case.ok("embedder", "list")


@pytest.mark.parametrize("name", ["near", "folder", "minilm"])
def test_test_tells_dimension_speed_and_three_pairs(case: Case, name: str) -> None:
    found = case.json("embedder", "test", name)
    assert found["dimension"] == {"near": DIMENSION, "folder": 8, "minilm": 64}[name]
    assert found["texts_per_second"] > 0
    assert len(found["pairs"]) == 3
    assert not [text for text in case.there.texts if "number" in text], "no note is sent"


def test_an_unknown_name_lists_those_there_are(case: Case) -> None:
    result = case.run("embedder", "use", "nearr")
    assert result.exit_code == 2
    assert "minilm, none, near, folder, far" in result.stderr


@pytest.mark.parametrize("name", ["near", "folder"])
def test_use_embeds_all_and_switches_and_back_embeds_nothing(case: Case, name: str) -> None:
    case.ok("reindex")
    case.ok("embedder", "use", name)
    meta = case.json("embedder", "status")
    assert "kept      fake-words, 64 dimensions: " in case.ok("embedder", "status")
    assert meta["embedder"]["model"] == {"near": "tiny", "folder": "tiny"}[name]
    assert meta["kept"][0]["model"].startswith("fake-words")
    case.ok("reindex", "--check")
    hits = case.json("recall", "red sails at dawn", "--match", "hybrid")
    assert hits["embedder_model"] == "tiny"
    assert hits["results"][0]["vault_path"].startswith("Red sails")
    before = len(case.default.texts)
    case.ok("embedder", "use", "minilm")
    assert len(case.default.texts) == before
    assert_equals_fresh(case.load(), case.default)


def test_use_with_prune_keeps_one_model_only(case: Case) -> None:
    case.ok("reindex")
    case.ok("embedder", "use", "near", "--prune")
    assert case.json("embedder", "status")["kept"] == []


def test_prune_beside_a_sidecar_settles_nothing(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.ok("reindex")
    before = case.json("embedder", "status")
    with monkeypatch.context() as beside:
        beside.setattr("khiip_sidecar.client.find_sidecar", lambda _: object())
        result = case.run("embedder", "use", "near", "--prune")
    assert result.exit_code == 5
    assert "nothing can be pruned" in result.stderr
    assert case.json("embedder", "status") == before


def test_without_an_embedder_words_answer_and_it_is_said(case: Case) -> None:
    case.ok("embedder", "use", "none")
    for match in ("semantic", "hybrid"):
        answer = case.json("recall", "sails", "--match", match)
        assert answer["degraded"] == "no_embedder"
        assert (answer["embedder_model"], answer["embedder_dimension"]) == ("none", 0)
        assert answer["results"][0]["vault_path"].startswith("Red sails")
    assert not case.json("recall", "sails", "--match", "lexical")["degraded"]
    health = case.json("status")
    assert (health["status"], health["index"]["pending"]) == ("ok", 0)
    notes = health["index"]["notes"]
    said = case.ok("status", "--problems", "0")
    assert f"{notes} of {notes} notes searchable by words alone (no embedder)\n" in said
    assert case.default.texts == []


def test_a_remote_one_says_what_it_would_send_and_sends_nothing_unasked(case: Case) -> None:
    case.ok("reindex")
    result = case.run("embedder", "use", "far")
    assert result.exit_code == 2
    assert "20 notes" in result.stderr
    assert "api.example.com" in result.stderr
    assert "tokens" in result.stderr
    assert "at your price" in result.stderr
    assert "--yes" in result.stderr
    assert case.load().embedder.name == "minilm"
    assert case.load().agreed == frozenset()


def test_the_bill_is_not_lower_where_a_character_is_a_token(case: Case) -> None:
    text = "潮の満ち引きは月の引力による。" * 20
    write_note(case.settings.vault, "潮.md", text)
    case.ok("reindex")
    with VaultIndex.open(case.load()) as index:
        bill = embedder_facts.bill(index, case.load().embedders["far"])
        sampled = index.database.read().execute("SELECT SUM(LENGTH(text)) FROM passages")
        assert len(text) < bill["tokens"] < sampled.fetchone()[0] * 1.5
    assert bill["notes"] == 21
    assert bill["cost"] == pytest.approx(bill["tokens"] / 1e6 * 20, abs=1e-4)


def test_a_folder_that_makes_other_dimensions_is_not_chosen(case: Case) -> None:
    case.ok("reindex")
    config = case.settings.homes.config / "config.toml"
    config.write_text(config.read_text().replace('kind = "onnx"', 'kind = "onnx"\ndimension = 4'))
    for command in ("test", "use"):
        result = case.run("embedder", command, "folder")
        assert result.exit_code == 1
        assert "makes 8 dimensions, not 4" in result.stderr
    assert case.load().embedder.name == "minilm"
    case.ok("reindex")


def test_yes_agrees_for_that_address(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    case.ok("reindex")
    sent: list[str] = []

    def post(url: str, _: object, body: Any, __: float) -> exchange.Answer:
        sent.append(url)
        data = [{"embedding": row} for row in rows(body["input"])]
        return exchange.Answer(200, None, json.dumps({"data": data}).encode())

    monkeypatch.setattr("khiip_indexer.embedding.served.World", lambda: World(post=post))
    case.ok("embedder", "use", "far", "--yes")
    assert set(sent) == {"https://api.example.com/v1/embeddings"}
    assert case.load().agreed == {"https://api.example.com"}
    assert case.json("embedder", "status")["embedder"]["model"] == "m"
    sent.clear()
    case.ok("embedder", "use", "minilm")
    case.ok("embedder", "use", "far")
    assert sent == [], "the address was agreed to, and the vectors are still there"


def test_a_config_that_names_a_remote_one_is_not_yet_an_agreement(case: Case) -> None:
    config = case.settings.homes.config / "config.toml"
    text = config.read_text().replace("[embedders.far]", "[embedder]")
    config.write_text(text)
    result = case.run("reindex")
    assert result.exit_code == 1
    assert "nothing was sent" in result.stderr
    answer = case.json("recall", "sails")
    assert answer["results"][0]["vault_path"].startswith("Red sails")


def test_a_folder_that_is_not_there_is_not_chosen(case: Case) -> None:
    case.ok("reindex")
    config = case.settings.homes.config / "config.toml"
    config.write_text('[embedders.gone]\nkind = "onnx"\npath = "/nowhere/at/all"\n')
    assert case.run("embedder", "use", "gone").exit_code == 1
    assert case.load().embedder.name == "minilm"
    assert case.json("recall", "sails")["embedder_model"] == "fake-words"


@pytest.mark.parametrize(
    "table",
    [
        '[embedder]\nkind = "onnx"\npath = "/nowhere/at/all"\n',
        '[embedder]\nkind = "openai"\nurl = "http://127.0.0.1:9"\nmodel = "m"\n',
    ],
    ids=["folder gone", "no dimension"],
)
def test_words_answer_when_the_embedder_of_the_config_cannot_be_had(case: Case, table: str) -> None:
    case.ok("embedder", "use", "folder")
    remembered.change(
        case.settings.homes.config,
        case.settings.vault,
        lambda known: replace(known, use=None, known={}),
    )
    (case.settings.homes.config / "config.toml").write_text(table)
    answer = case.json("recall", "red sails at dawn")
    assert "no_model" in answer["degraded"]
    assert answer["results"][0]["vault_path"].startswith("Red sails")
    assert case.json("status")["status"] == "degraded"


def test_what_is_near_a_note_cannot_be_told_without_vectors(case: Case) -> None:
    case.ok("embedder", "use", "none")
    found = case.json("list")[0]
    identity = found.get("id") or found["capture"]["id"]
    result = case.run("related", identity, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stderr)["error"] == "no_embedder"


def test_calibrate_proposes_a_floor_that_recall_then_takes(case: Case) -> None:
    case.ok("reindex")
    found = case.json("embedder", "calibrate")
    assert -1 < found["strangers"]["0.05"] <= found["strangers"]["0.95"]
    assert found["min_score"] <= found["strangers"]["0.95"] + 0.01
    said = case.ok("embedder", "calibrate").splitlines()
    assert [line.split("  ")[0] for line in said][:3] == [
        "a title and its own note",
        "a title and another note",
        "a note and the nearest one",
    ]
    assert not found["kept"]
    floor = case.json("embedder", "calibrate", "--keep")["min_score"]
    kept = remembered.load(case.settings.homes.config, case.settings.vault).floors
    assert kept == {case.default.identity.key: floor}
    hits = case.json("recall", "apples of stone", "--limit", "20")["results"]
    assert [hit.get("weak", False) for hit in hits] == [hit["score"] < floor for hit in hits]
    assert any(hit["score"] < floor for hit in hits)


def test_neighbours_are_as_near_as_related_says(case: Case) -> None:
    case.ok("reindex")
    nearest = []
    for note in case.json("list", "--limit", "0"):
        rows = case.json("related", note["id"], "--limit", "1")["results"]
        nearest += [row["score"] for row in rows]
    spread = case.json("embedder", "calibrate")["neighbours"]
    assert min(nearest) - 1e-3 <= spread["0.05"] <= spread["0.5"] <= max(nearest) + 1e-3
    assert spread["0.95"] == pytest.approx(max(nearest), abs=1e-3)


def test_too_few_notes_calibrate_nothing(case: Case) -> None:
    for path in list(case.settings.vault.glob("*.md"))[4:]:
        path.unlink()
    case.ok("reindex")
    assert case.run("embedder", "calibrate").exit_code == 2


def test_a_running_sidecar_switches_in_the_background(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = serve

    def unforced(*args: Any, embedder: object = None, **rest: Any) -> int:
        return real(*args, **rest)

    monkeypatch.setattr("serving.serve", unforced)
    with serving(case.settings) as sidecar:
        sidecar.wait_until_ready()
        assert embedder_of(sidecar)["model"] == "fake-words"
        case.ok("embedder", "use", "near")
        assert embedder_of(sidecar) == {"model": "tiny", "dimension": DIMENSION, "coming": None}
        answer = sidecar.ask("/api/v1/recall?q=red%20sails%20at%20dawn&view=lean")[1]
        assert (answer["embedder_model"], answer["degraded"]) == ("tiny", None)
        case.ok("embedder", "use", "none")
        answer = sidecar.ask("/api/v1/recall?q=sails&view=lean")[1]
        assert answer["degraded"] == "no_embedder"
    with VaultIndex.open(case.load()) as index:
        model = index.model()
        assert model is not None
        assert model.name == "none"


def embedder_of(sidecar: Served) -> Any:
    return sidecar.ask("/api/v1/meta")[1]["embedder"]


@pytest.mark.parametrize("name", ["none", "near"])
def test_a_switch_that_cannot_begin_is_not_chosen(
    case: Case, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    case.ok("reindex")
    before = case.json("embedder", "status")
    with monkeypatch.context() as read_only:
        read_only.setattr("os.access", lambda _, mode: not mode & os.W_OK)
        result = case.run("embedder", "use", name)
    assert result.exit_code == 1
    assert "may not be written" in result.stderr
    assert case.json("embedder", "status") == before


def test_vectors_answer_until_none_has_really_taken_over(case: Case) -> None:
    case.ok("reindex")
    config = case.settings.homes.config / "config.toml"
    config.write_text('[embedder]\nkind = "none"\n')
    answer = case.json("recall", "sails")
    assert not answer["degraded"]
    assert answer["embedder_dimension"] == case.default.identity.dimension
    assert case.json("status")["status"] == "ok"
    case.ok("reindex")
    assert case.json("recall", "sails")["degraded"] == "no_embedder"


def test_who_wants_no_embedder_has_no_server_asked() -> None:
    former = FakeEmbedder()
    lineup = Lineup(NoEmbedder(former.spans), lambda _: former)
    assert lineup.answering(former.identity) is former
    former.served = True  # type: ignore[attr-defined]
    assert lineup.answering(former.identity) is lineup.wanted
