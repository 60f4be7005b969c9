"""The native vector index: asked for too much, grown, used at once, or unable to run."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from field_cases.conftest import MakeCase
from khiip_indexer import native
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.sync import Syncer
from khiip_indexer.vectors import Graph
from support import word_vector


@pytest.fixture
def graph_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the smallest vault is searched by the graph."""
    monkeypatch.setattr("khiip_indexer.graphs.EXACT_LIMIT", 0)


@pytest.fixture(params=["graph", "exact"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "graph":
        monkeypatch.setattr("khiip_indexer.graphs.EXACT_LIMIT", 0)


@pytest.mark.usefixtures("either_way")
class TestTooMany:
    """B52"""

    def test_more_hits_than_notes_may_be_asked_for(self, make_case: MakeCase) -> None:
        case = make_case({f"{n}.md": f"pump number {n}" for n in range(5)})
        case.ok("reindex")
        with case.http() as client:
            assert self.count(client) == 5
            for n in range(4):
                (case.vault / f"{n}.md").unlink()
            assert self.count(client) == 1, "before the index knows"
        assert len(case.paths("pump", "--limit", "20")) == 1
        case.ok("reindex")
        with case.http() as client:
            assert self.count(client) == 1
        assert len(case.paths("pump", "--limit", "20")) == 1

    @staticmethod
    def count(client: TestClient) -> int:
        response = client.get("/api/v1/recall?q=pump&limit=20")
        assert response.status_code == 200, response.text
        return len(response.json()["results"])

    def test_a_folder_with_two_notes_of_a_thousand_gives_two(self, make_case: MakeCase) -> None:
        notes = {f"{n}.md": f"pump number {n}" for n in range(998)}
        case = make_case(notes | {"X/a.md": "kept apart", "X/b.md": "also kept apart"})
        case.ok("reindex")
        with case.served():  # with everything in memory, as the commands below find it
            answer = case.json("recall", "pump", "--limit", "20", "--folder", "X")
        with case.http() as client:
            response = client.get("/api/v1/recall?q=pump&limit=20&folder=X&view=lean")
        assert answer["results"] == response.json()["results"]
        assert response.status_code == 200
        found = {hit["vault_path"] for hit in response.json()["results"]}
        assert found == {"X/a.md", "X/b.md"}
        assert set(case.paths("pump", "--folder", "X", "--limit", "20")) == found

    def test_a_vault_without_notes_gives_none(self, make_case: MakeCase) -> None:
        case = make_case({})
        case.ok("reindex")
        with case.http() as client:
            response = client.get("/api/v1/recall?q=pump&limit=20")
        assert (response.status_code, response.json()["results"]) == (200, [])
        assert case.paths("pump", "--limit", "20") == []


@pytest.mark.usefixtures("graph_only")
def test_neighbours_that_cannot_be_reached_are_found_all_the_same(make_case: MakeCase) -> None:
    """B52: the native error never reaches a client"""
    case = make_case({f"{n}.md": f"pump number {n}" for n in range(300)})
    case.ok("reindex")
    expected = case.paths("pump number 7")
    asked: list[int] = []

    class Torn:
        def set_ef(self, ef: int) -> None:
            """As the real one: it takes any number."""

        def knn_query(self, _: object, k: int, **__: object) -> None:
            asked.append(k)
            raise RuntimeError("Cannot return the results in a contiguous 2D array")

    with VaultIndex.open(case.settings) as index:
        index.graphs.load(case.embedder.identity)
        graph = index.graphs.current()
        assert isinstance(graph, Graph)
        graph._index = Torn()
        hits = index.search(word_vector("pump number 7"), Filters(), limit=10).hits
    assert asked, "the graph was asked, and could not answer"
    assert [hit.record.vault_path for hit in hits] == expected


@pytest.mark.usefixtures("graph_only")
def test_a_graph_is_never_asked_for_more_than_it_holds(make_case: MakeCase) -> None:
    """B52"""
    case = make_case({f"{n}.md": f"pump number {n}" for n in range(300)})
    case.ok("reindex")
    with VaultIndex.open(case.settings) as index:
        index.graphs.load(case.embedder.identity)
        graph = index.graphs.current()
        assert isinstance(graph, Graph)
        labels = graph.nearest(word_vector("pump"), 1000)
        assert labels is None or len(labels) == 300
        graph.drop(range(1, 296))
        few = graph.nearest(word_vector("pump"), 1000)
        assert few is None or len(few) == 5
        graph.drop(range(301))
        assert graph.nearest(word_vector("pump"), 1000) == []


@pytest.mark.usefixtures("graph_only")
def test_five_hundred_edits_of_one_note_fill_no_index(
    make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B54"""
    monkeypatch.setattr("khiip_indexer.vectors._ROOM", 10)
    case = make_case({f"{n}.md": f"pump number {n}" for n in range(60)})
    case.ok("reindex")
    [fresh] = [path.stat().st_size for path in case.settings.state.glob("*.hnsw")]
    note = case.capture("0.md")["id"]
    with case.http(loaded=True) as client:
        for n in range(500):
            case.write({"0.md": f"edition {n} of the text"})
            address = f"/api/v1/captures/{note}/refetch?dimension=re-extract"
            assert client.post(address).status_code == 200
            if n % 100 == 99:
                hits = client.get(f"/api/v1/recall?q=edition+{n}+of+the+text&limit=200").json()
                texts = [hit["capture"]["payload"]["body_text"] for hit in hits["results"]]
                assert texts[0] == f"edition {n} of the text"
                assert len([text for text in texts if text.startswith("edition")]) == 1
    case.ok("reindex", "--full")
    [file] = case.settings.state.glob("*.hnsw")
    assert file.stat().st_size < 2 * fresh
    assert case.json("status")["index"]["vectors"] == 60


@pytest.mark.usefixtures("graph_only")
def test_recall_beside_an_indexer_that_inserts_resizes_and_saves_never_fails(
    make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B55"""
    monkeypatch.setattr("khiip_indexer.vectors._ROOM", 100)
    monkeypatch.setattr("khiip_indexer.storage.vector_log._MANY", 200)
    case = make_case({f"{n}.md": f"pump number {n}" for n in range(20)})
    case.ok("reindex")
    faults: list[BaseException] = []
    answered = [0] * 4
    stop = threading.Event()
    with VaultIndex.open(case.settings, write=True) as index:
        index.graphs.load(case.embedder.identity)
        syncer = Syncer(index, case.embedder)

        def ask(which: int) -> None:
            try:
                while not stop.is_set():
                    ranking = index.search(word_vector("pump number 7"), Filters(), limit=10)
                    assert ranking.hits[0].record.vault_path == "7.md"
                    answered[which] += 1
            except BaseException as error:  # noqa: BLE001 - whatever a reader meets is a fault
                faults.append(error)

        askers = [threading.Thread(target=ask, args=(which,)) for which in range(4)]
        for asker in askers:
            asker.start()
        words = [f"word{n}" for n in range(3000)]
        for round_ in range(4):
            text = "\n\n".join(" ".join(words[n : n + 200]) for n in range(0, 3000, 100))
            case.write({f"long{round_}-{n}.md": f"{round_} {n}\n\n{text}" for n in range(4)})
            syncer.run()
            if faults:
                break
        stop.set()
        for asker in askers:
            asker.join()
    assert faults == []
    assert min(answered) > 3
    with VaultIndex.open(case.settings) as index:
        assert index.counts().vectors > 300


DIES = "import os\nos.kill(os.getpid(), 4)\n"
SENTENCE = (
    "hnswlib cannot run on this CPU: reinstall with "
    "HNSWLIB_NO_NATIVE=1 pip install --no-binary hnswlib hnswlib"
)


@pytest.fixture
def wrong_cpu(tmp_path: Path) -> dict[str, str]:
    """The environment of a process whose hnswlib was compiled for another processor."""
    folder = tmp_path / "wrong-cpu"
    folder.mkdir()
    (folder / "hnswlib.py").write_text(DIES)
    return {"PYTHONPATH": str(folder)}


class TestWrongProcessor:
    """B56"""

    def test_importing_it_here_would_end_this_process(
        self, wrong_cpu: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PYTHONPATH", wrong_cpu["PYTHONPATH"])
        fault = native.trial("hnswlib")
        assert fault is not None
        assert fault.kind == "signal"

    def test_doctor_says_what_to_do(self, make_case: MakeCase, wrong_cpu: dict[str, str]) -> None:
        case = make_case({"n.md": "The pump drips."}, real_model=True)
        done = case.process("doctor", env=wrong_cpu)
        assert done.returncode == 1
        assert SENTENCE in done.stdout

    def test_the_first_run_says_it_once_and_indexes_all_the_same(
        self, make_case: MakeCase, wrong_cpu: dict[str, str]
    ) -> None:
        case = make_case({"n.md": "The pump drips.", "m.md": "Bread rises."}, real_model=True)
        done = case.process("reindex", env=wrong_cpu)
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines().count(SENTENCE) == 1
        found = case.process("recall", "a leaking pump", "--json", env=wrong_cpu)
        assert found.returncode == 0, found.stderr
        answer = json.loads(found.stdout)
        assert answer["results"][0]["vault_path"] == "n.md"
        assert answer["degraded"] == "no_hnsw"

    def test_once_it_is_mended_nothing_is_degraded(
        self, make_case: MakeCase, wrong_cpu: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case({"n.md": "The pump drips."})
        with monkeypatch.context() as patch:
            patch.setenv("PYTHONPATH", wrong_cpu["PYTHONPATH"])
            patch.setattr(native, "_stamp", lambda _: None)
            case.ok("reindex")
        assert case.json("recall", "pump")["degraded"] == "no_hnsw"
        case.ok("reindex", "--full")
        assert case.json("recall", "pump")["degraded"] is None
        assert list(case.settings.state.glob("*.hnsw"))

    @pytest.mark.usefixtures("graph_only")
    def test_a_large_vault_is_served_by_comparing_all_vectors(
        self, make_case: MakeCase, wrong_cpu: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = make_case({f"{n}.md": f"pump number {n}" for n in range(40)})
        case.ok("reindex")
        expected = case.paths("pump number 7")
        monkeypatch.setenv("PYTHONPATH", wrong_cpu["PYTHONPATH"])
        monkeypatch.setattr(native, "_stamp", lambda _: None)
        with case.served():
            answer = case.json("recall", "pump number 7")
        assert [hit["vault_path"] for hit in answer["results"]] == expected
        assert answer["degraded"] == "no_hnsw"

    def test_a_trial_that_went_well_is_not_repeated(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tried: list[str] = []

        def trial(module: str) -> None:
            tried.append(module)

        monkeypatch.setattr(native, "trial", trial)
        for _ in range(3):
            native.require("json", tmp_path)
        assert tried == ["json"]
        (tmp_path / "native.json").write_text("cut short {")
        native.require("json", tmp_path)
        assert tried == ["json", "json"]
