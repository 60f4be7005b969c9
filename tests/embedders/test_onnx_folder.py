"""A folder with a model: its own files say how its output becomes a vector."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from embedders import tiny
from embedders.lineups import run
from embedders.tiny import hidden, unit, write_folder
from equality import assert_equals_fresh
from khiip_indexer.embedder import MiniLM
from khiip_indexer.embedding.choice import EmbedderChoice
from khiip_indexer.embedding.onnx_folder import OnnxFolder
from khiip_indexer.errors import ModelError
from khiip_indexer.model.files import packaged_files
from khiip_indexer.model.graph import build_graph
from khiip_indexer.model.wordpieces import WordPieces
from support import make_vault

TEXT = "red green sea"
WORDS = TEXT.split()
Row = NDArray[np.float32]


def opened(folder: Path, **said: object) -> OnnxFolder:
    choice = EmbedderChoice("mine", "onnx", path=str(folder), **said)  # type: ignore[arg-type]
    return OnnxFolder(folder, choice, threads=2)


def weighted(rows: Row) -> Row:
    weights = np.arange(1, len(rows) + 1, dtype=np.float32)
    return np.asarray((rows * weights[:, None]).sum(axis=0), np.float32)


POOLINGS: Mapping[str, Callable[[Row], Row]] = {
    "pooling_mode_mean_tokens": lambda rows: rows.mean(axis=0),
    "pooling_mode_cls_token": lambda rows: rows[0],
    "pooling_mode_max_tokens": lambda rows: rows.max(axis=0),
    "pooling_mode_mean_sqrt_len_tokens": lambda rows: rows.sum(axis=0) / np.sqrt(len(rows)),
    "pooling_mode_weightedmean_tokens": weighted,
    "pooling_mode_lasttoken": lambda rows: rows[-1],
}


@pytest.mark.parametrize("mode", POOLINGS)
def test_each_way_of_pooling(tmp_path: Path, mode: str) -> None:
    folder = write_folder(tmp_path / "m", {mode: True})
    found = opened(folder).embed([TEXT, "blue"])
    expected = [unit(POOLINGS[mode](hidden(words))) for words in (WORDS, ["blue"])]
    assert np.allclose(found, np.stack(expected), atol=1e-6)


def test_each_way_of_pooling_is_an_identity_of_its_own(tmp_path: Path) -> None:
    folders = [
        write_folder(tmp_path / str(n) / "m", {mode: True}) for n, mode in enumerate(POOLINGS)
    ]
    assert len({opened(folder).identity.key for folder in folders}) == len(POOLINGS)


def test_a_graph_that_pools_by_itself_is_left_to_it(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m", made=True, normalize=False)
    assert np.allclose(opened(folder).embed([TEXT])[0], unit(hidden(WORDS).max(axis=0)), atol=1e-6)


def test_files_below_onnx_are_found(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m", in_onnx=True)
    assert np.allclose(opened(folder).embed([TEXT])[0], unit(hidden(WORDS).mean(axis=0)), atol=1e-6)


def test_prompts_of_the_folder_stand_before_questions_and_passages(tmp_path: Path) -> None:
    prompts = {"query": "query: ", "passage": "passage: "}
    embedder = opened(write_folder(tmp_path / "m", prompts=prompts))
    question = unit(hidden(["query", ":", *WORDS]).mean(axis=0))
    passage = unit(hidden(["passage", ":", *WORDS]).mean(axis=0))
    assert np.allclose(embedder.embed_query(TEXT), question, atol=1e-6)
    assert np.allclose(embedder.embed([TEXT])[0], passage, atol=1e-6)


def test_prompts_of_the_user_count_before_those_of_the_folder(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m", prompts={"query": "query: "})
    embedder = opened(folder, query_prefix="", passage_prefix="passage: ")
    assert np.allclose(embedder.embed_query(TEXT), unit(hidden(WORDS).mean(axis=0)), atol=1e-6)
    passage = unit(hidden(["passage", ":", *WORDS]).mean(axis=0))
    assert np.allclose(embedder.embed([TEXT])[0], passage, atol=1e-6)
    assert embedder.identity.key != opened(folder).identity.key


def test_a_prompt_may_be_left_out_of_the_pooling(tmp_path: Path) -> None:
    said = {"pooling_mode_mean_tokens": True, "include_prompt": False}
    embedder = opened(write_folder(tmp_path / "m", said, {"query": "query: "}))
    rows = hidden(["query", ":", *WORDS])[3:]
    assert np.allclose(embedder.embed_query(TEXT), unit(rows.mean(axis=0)), atol=1e-6)


def test_the_window_is_that_of_the_folder_and_not_the_hidden_cut_off_of_its_tokenizer(
    tmp_path: Path,
) -> None:
    embedder = opened(write_folder(tmp_path / "m", window=9))
    words = ["red"] * 6 + ["sea"] * 6
    kept = hidden(words[:7])
    assert np.allclose(embedder.embed([" ".join(words)])[0], unit(kept.mean(axis=0)), atol=1e-6)
    assert embedder.identity.window == 9
    assert len(embedder.spans(" ".join(words))) == 12


def test_a_passage_leaves_room_for_its_prompt(tmp_path: Path) -> None:
    prompts = {"passage": "passage: "}
    assert opened(write_folder(tmp_path / "m", prompts=prompts)).identity.window == 16 - 2 - 2


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    folder = write_folder(tmp_path / "m")
    (folder / missing).unlink()
    with pytest.raises(ModelError) as caught:
        _ = opened(folder).identity
    assert caught.value.code == "model_not_found"
    assert missing in caught.value.sentence


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("modules.json", "[{", "model_damaged"),
        ("modules.json", "{}", "model_damaged"),
        ("modules.json", '[{"type": "st.models.Dense"}]', "model_unsupported"),
        ("1_Pooling/config.json", "[]", "model_damaged"),
    ],
)
def test_a_description_that_is_not_understood_is_an_error(
    tmp_path: Path, name: str, content: str, code: str
) -> None:
    folder = write_folder(tmp_path / "m")
    (folder / name).write_text(content)
    with pytest.raises(ModelError) as caught:
        _ = opened(folder).identity
    assert caught.value.code == code


def test_joined_poolings_are_refused(tmp_path: Path) -> None:
    both = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    with pytest.raises(ModelError) as caught:
        _ = opened(write_folder(tmp_path / "m", both)).identity
    assert caught.value.code == "model_unsupported"


def test_a_damaged_graph_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m")
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelError) as caught:
        opened(folder).embed([TEXT])
    assert caught.value.code == "model_damaged"


def test_other_weights_under_the_same_name_are_another_identity(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m")
    before = opened(folder).identity
    write_folder(folder, made=True)
    after = opened(folder).identity
    assert (before.name, before.dimension) == (after.name, after.dimension)
    assert before.key != after.key


def test_a_vault_is_indexed_with_it(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "m", {"pooling_mode_cls_token": False}, {"query": "query: "})
    notes = {f"{n}.md": f"{word} sea" for n, word in enumerate(("red", "green", "blue"))}
    settings = make_vault(tmp_path / "v", {**notes, "long.md": "red green blue " * 30})
    embedder = opened(folder)
    assert run(settings, embedder).failed == 0
    assert_equals_fresh(settings, embedder)


def export_packaged(folder: Path) -> Path:
    """The installed MiniLM as a folder of sentence-transformers."""
    files = packaged_files()
    folder.mkdir()
    shutil.copy(files.model, folder / "model.onnx")
    tokenizer = WordPieces(files.vocabulary).tokenizer
    tokenizer.enable_truncation(128)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    (folder / "1_Pooling").mkdir()
    said = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(said))
    return folder


SENTENCES = [
    "How did people count with knots?",
    "A quipu is an accounting device made of coloured strings, used in the Andes.",
    "東京の雨は夜まで続いた。",
    "The tide in the harbour is later every day, and nobody on the boat knew why. " * 12,
]


@pytest.mark.parametrize("export", [write_folder, export_packaged])
def test_a_dimension_that_the_model_does_not_make_is_refused(
    tmp_path: Path, export: Callable[[Path], Path]
) -> None:
    folder = export(tmp_path / "m")
    with pytest.raises(ModelError, match="not 5") as caught:
        opened(folder, dimension=5).embed([TEXT])
    assert caught.value.code == "model_dimension"


def test_the_packaged_weights_in_a_folder_give_the_vectors_of_the_default(tmp_path: Path) -> None:
    folder = export_packaged(tmp_path / "minilm")
    theirs, ours = opened(folder).embed(SENTENCES), MiniLM().embed(SENTENCES)
    cosines = (theirs * ours).sum(axis=1)
    assert float(cosines.min()) >= 1 - 1e-3


def test_the_graph_of_the_default_gives_its_vectors_as_any_folder_too(tmp_path: Path) -> None:
    """The same numbers by the way that foreign models go: tokenizer, window, session, length."""
    folder = export_packaged(tmp_path / "minilm")
    (folder / "model.onnx").write_bytes(build_graph(packaged_files().model, unsigned=True))
    foreign = opened(folder)
    theirs, ours = foreign.embed(SENTENCES), MiniLM().embed(SENTENCES)
    assert float((theirs * ours).sum(axis=1).min()) >= 1 - 1e-6
    assert foreign.identity.key != MiniLM().identity.key


def test_the_plain_graph_of_the_same_weights_is_near_it_too(tmp_path: Path) -> None:
    """A prefix keeps the faster graph away. Between the two lies what 8 bits a product cost."""
    folder = export_packaged(tmp_path / "minilm")
    plain = opened(folder, passage_prefix="", query_prefix="x")
    theirs, ours = plain.embed(SENTENCES), MiniLM().embed(SENTENCES)
    cosines = (theirs * ours).sum(axis=1)
    assert float(cosines.min()) >= 0.997
    assert plain.identity.key != MiniLM().identity.key


def test_ids_are_those_of_the_default_tokenizer(tmp_path: Path) -> None:
    folder = export_packaged(tmp_path / "minilm")
    mine = opened(folder)._tokenizer()
    bert = WordPieces(packaged_files().vocabulary)
    for text in SENTENCES:
        assert mine.ids(text, 64) == bert.ids(text, 64)
        assert list(mine.spans(text)) == list(bert.spans(text))


def test_the_double_says_what_its_table_says() -> None:
    assert hidden(["sea"]).shape == (3, tiny.DIMENSION)
