"""Every file in `.khiip`, alone and in pairs, is not what it was: the next start gets over it."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from equality import assert_equals_fresh
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_sidecar.cli.main import khiipd
from support import FakeEmbedder, make_vault

LONG = " ".join(f"word{n % 90}" for n in range(600))
PAIRS = 60
# What the damage of which may cost vectors: they are in there and nowhere else.
CACHE = {"cache.sqlite", "cache.sqlite-wal"}


@dataclass(frozen=True)
class Left:
    """A vault with everything in its `.khiip`, as a killed process leaves it, and another one."""

    settings: Settings
    other: Path
    vectors: frozenset[bytes]


def lay(settings: Settings, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        (settings.vault / path).write_text(text)


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Left:
    root = tmp_path_factory.mktemp("left")
    settings = prepared(root, "vault", "note")
    other = prepared(root, "other", "else")
    with VaultIndex.open(settings) as index:
        rows = index.database.read().execute("SELECT key FROM vectors").fetchall()
    return Left(settings, other.state, frozenset(key for (key,) in rows))


def prepared(root: Path, name: str, word: str) -> Settings:
    settings = make_vault(root / f"{name}-made" / name, {})
    lay(settings, {f"{n}.md": f"{word} {n} {LONG if n % 9 == 0 else ''}" for n in range(40)})
    embedder = FakeEmbedder()
    with VaultIndex.open(settings, write=True) as index:
        Syncer(index, embedder).run()
    index = VaultIndex.open(settings, write=True)
    lay(settings, {"1.md": f"{word} again", "new.md": f"{word} new"})
    Syncer(index, embedder).run()
    record = index.capture_at("1.md")
    assert record is not None
    index.record_access([record.id])
    said = {"url": "http://127.0.0.1:9", "pid": 4_000_000, "vault_id": "x", "version": "0"}
    (settings.state / "sidecar.json").write_text(json.dumps(said))
    (settings.state / "seen").write_bytes(b"0 indexed 41 notes\nwhatever")
    killed = root / name
    shutil.copytree(settings.vault, killed, copy_function=shutil.copy2)
    index.close()
    return make_vault(killed, {})


def truncate(path: Path, _: Left) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path, _: Left) -> None:
    path.write_bytes(b"")


def scribble(path: Path, _: Left) -> None:
    size = max(path.stat().st_size, 20)
    path.write_bytes(random.Random(size).randbytes(size))


def replace_by_foreign(path: Path, left: Left) -> None:
    source = left.other / path.name
    if not source.exists():
        (source,) = left.other.glob("vectors.*.hnsw")
    shutil.copy(source, path)


def replace_by_folder(path: Path, _: Left) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").write_text("inside")


def remove(path: Path, _: Left) -> None:
    path.unlink()


def conflict(path: Path, _: Left) -> None:
    raw = path.read_bytes()
    path.write_bytes(b"<<<<<<< HEAD\n" + raw + b"\n=======\n" + raw[:99] + b"\n>>>>>>> theirs\n")


Damage = Callable[[Path, Left], None]
DAMAGES: tuple[Damage, ...] = (
    truncate, empty, scribble, replace_by_foreign, replace_by_folder, remove, conflict,
)  # fmt: skip
FILES = (
    "cache.sqlite", "cache.sqlite-wal", "cache.sqlite-shm", "manifest.json", "vectors.hnsw",
    "lock", "writer.json", "seen", ".gitignore", "sidecar.json", "access.sqlite",
)  # fmt: skip
Hit = tuple[str, Damage]
SINGLES = list(itertools.product(FILES, DAMAGES))


def pairs() -> list[tuple[Hit, Hit]]:
    every = [(a, b) for a, b in itertools.combinations(SINGLES, 2) if a[0] != b[0]]
    return random.Random(3).sample(every, PAIRS)


@pytest.fixture
def copy(left: Left, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    shutil.copytree(left.settings.vault, tmp_path / "vault", copy_function=shutil.copy2)
    monkeypatch.setenv("KHIIP_HOME", str(tmp_path / "vault-home"))
    return make_vault(tmp_path / "vault", {})


def run(settings: Settings, embedder: FakeEmbedder, *args: str) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("khiip_indexer.embedder.MiniLM", lambda *_, **__: embedder)
        return CliRunner().invoke(khiipd, ["--vault", str(settings.vault), *args])


def hurt(settings: Settings, left: Left, hits: tuple[Hit, ...]) -> None:
    for name, damage in hits:
        path = settings.state / name
        if name == "vectors.hnsw":
            (path,) = settings.state.glob("vectors.*.hnsw")
        damage(path, left)


def assert_recovers(settings: Settings, left: Left, hits: tuple[Hit, ...]) -> None:
    hurt(settings, left, hits)
    embedder = FakeEmbedder()
    assert_answer_is_true(settings, run(settings, embedder, "recall", "note 3", "--json"))
    embedder.texts.clear()
    result = run(settings, embedder, "reindex")
    if result.exit_code:
        assert "--accept-deletions" in result.output, result.output
        result = run(settings, embedder, "reindex", "--accept-deletions")
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    if not CACHE.intersection(name for name, _ in hits):
        assert embedder.texts == [], "nothing that had its vector is embedded again"
    assert_equals_fresh(settings, FakeEmbedder())
    with VaultIndex.open(settings) as index:
        index.accesses()


def assert_answer_is_true(settings: Settings, result: Result) -> None:
    """Right hits, or one sentence with the command that helps."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    if result.exit_code:
        assert "khiipd reindex" in result.output, result.output
        return
    for hit in json.loads(result.stdout)["results"]:
        assert (settings.vault / hit["vault_path"]).exists()
        assert hit["title"] == Path(hit["vault_path"]).stem


@pytest.mark.parametrize("hit", SINGLES, ids=lambda hit: f"{hit[0]}-{hit[1].__name__}")
def test_one_damaged_file_is_got_over(copy: Settings, left: Left, hit: Hit) -> None:
    assert_recovers(copy, left, (hit,))


@pytest.mark.parametrize(
    "hits", pairs(), ids=lambda hits: "-".join(f"{name}-{d.__name__}" for name, d in hits)
)
def test_two_damaged_files_are_got_over(copy: Settings, left: Left, hits: tuple[Hit, Hit]) -> None:
    assert_recovers(copy, left, hits)
