"""recall, list, get, related, refetch and status: rows for people, REST's JSON for programs."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from cli.conftest import Khiipd
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_sidecar.auth import load_or_make_key
from khiip_sidecar.operations import Operations
from khiip_sidecar.recall import RecallService
from khiip_sidecar.wire.encode import to_json
from support import write_note

QUIPU = "Notes/Quipu.md"


@contextmanager
def operations(cli: Khiipd) -> Iterator[Operations]:
    with VaultIndex.open(cli.settings) as index:
        yield Operations(RecallService(index, cli.embedder))


def id_of(cli: Khiipd, path: str) -> str:
    with VaultIndex.open(cli.settings) as index:
        record = index.capture_at(path)
    assert record is not None
    return record.id


def state_of(vault: Path) -> dict[str, tuple[bytes, int]]:
    return {str(note): (note.read_bytes(), note.stat().st_mtime_ns) for note in vault.rglob("*.md")}


def test_recall_shows_the_nearest_note_first(indexed: Khiipd) -> None:
    result = indexed.ok("recall", "knots", "in", "cords", "--limit", "1")
    lines = result.stdout.splitlines()
    assert float(lines[0].split()[0]) > 0.5
    assert lines[0].split(maxsplit=1)[1] == "Quipu"
    assert lines[1].strip() == f"note · 2026-01-03 · {QUIPU}"
    assert lines[2].strip() == "Knots in cords kept count."
    assert result.stderr == ""


JSON_CALLS: list[tuple[list[str], Callable[[Operations], Any]]] = [
    (
        ["recall", "knots", "in", "cords", "--limit", "2"],
        lambda at: at.recall({"query": ["knots in cords"], "limit": ["2"], "view": ["lean"]}),
    ),
    (
        ["recall", "moon", "--view", "full", "--min-score=-1"],
        lambda at: at.recall({"query": ["moon"], "view": ["full"], "min_score": ["-1"]}),
    ),
    (
        ["recall", "moon", "--tag", "history", "--since", "2026", "--folder", "Notes"],
        lambda at: at.recall(
            {
                "query": ["moon"],
                "tag": ["history"],
                "since": ["2026"],
                "folder": ["Notes"],
                "view": ["lean"],
            }
        ),
    ),
    (["list"], lambda at: at.captures({"view": ["lean"]})),
    (
        ["list", "--author", "Ada", "--view", "full"],
        lambda at: at.captures({"author": ["Ada"], "view": ["full"]}),
    ),
]


@pytest.mark.parametrize(("args", "ask"), JSON_CALLS)
@pytest.mark.parametrize("served", [False, True])
def test_json_is_the_rest_answer_with_and_without_a_sidecar(
    indexed: Khiipd, args: list[str], ask: Callable[[Operations], Any], served: bool
) -> None:
    with operations(indexed) as at:
        wanted = to_json(ask(at)) + b"\n"
    if served:
        with indexed.served():
            assert indexed.ok(*args, "--json").stdout_bytes == wanted
    else:
        assert indexed.ok(*args, "--json").stdout_bytes == wanted


def test_json_is_what_the_running_service_sends_to_anybody(indexed: Khiipd) -> None:
    key = load_or_make_key(indexed.settings.homes)
    with indexed.served() as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        target = "/api/v1/recall?" + urlencode({"query": "moon", "view": "lean"})
        connection.request("GET", target, headers={"Authorization": f"Bearer {key}"})
        sent = connection.getresponse().read()
        connection.close()
        assert indexed.ok("recall", "moon", "--json").stdout_bytes == sent + b"\n"


def test_nothing_found_is_said_and_is_no_failure(indexed: Khiipd) -> None:
    result = indexed.ok("recall", "moon", "--tag", "nothing-has-this-tag")
    assert (result.stdout, result.stderr) == ("", "nothing found\n")
    listed = indexed.ok("list", "--source", "reddit")
    assert (listed.stdout, listed.stderr) == ("", "nothing found\n")


def test_a_deleted_note_is_not_served_and_the_index_is_said_to_be_behind(indexed: Khiipd) -> None:
    (indexed.settings.vault / QUIPU).unlink()
    result = indexed.ok("recall", "knots in cords")
    assert QUIPU not in result.stdout
    assert result.stderr == "index is behind: 1 note changed; run khiipd reindex\n"
    answer = json.loads(indexed.ok("recall", "knots in cords", "--json").stdout)
    assert answer["stale"] is True
    assert QUIPU not in {row["vault_path"] for row in answer["results"]}


def test_the_former_text_of_a_changed_note_is_said_to_be_that(indexed: Khiipd) -> None:
    assert "stale" not in indexed.ok("get", QUIPU, "--json").stdout
    (indexed.settings.vault / QUIPU).write_text("Other words altogether, and more of them.")
    got = indexed.ok("get", QUIPU, "--json")
    assert json.loads(got.stdout)["stale"] is True
    assert got.stderr == "the note has changed since this was read from it; run khiipd reindex\n"
    for view in ("lean", "full"):
        listed = indexed.ok("list", "--view", view, "--json")
        marks = {row["vault_path"]: row.get("stale") for row in json.loads(listed.stdout)}
        assert marks == {QUIPU: True, "Notes/Tides.md": None, "Bread.md": None}
        assert listed.stderr == "index is behind: 1 note changed; run khiipd reindex\n"
    assert f"{QUIPU} [stale]\n" in indexed.ok("list").stdout
    assert "index is behind: 1 note changed" in indexed.ok("related", "Bread.md").stderr
    indexed.ok("reindex")
    for words in (["list"], ["get", QUIPU], ["related", "Bread.md"]):
        assert indexed.ok(*words).stderr == ""


def test_the_ghost_of_the_only_note_is_an_empty_answer(make_khiipd: Callable[..., Khiipd]) -> None:
    cli = make_khiipd({"n.md": "token zz91q"})
    cli.ok("reindex")
    (cli.settings.vault / "n.md").unlink()
    result = cli.ok("recall", "zz91q")
    assert result.stdout == ""
    assert "index is behind: 1 note changed; run khiipd reindex" in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["recall", ""], "empty"),
        (["recall", "x", "--limit", "0"], "limit"),
        (["recall", "x", "--source", "tv"], "youtube"),
        (["recall", "x", "--since", "soon"], "7d"),
        (["recall", "x", "--min-score", "2"], "min_score"),
        (["list", "--offset", "x", "--limit", "0"], "offset"),
    ],
)
def test_a_value_that_is_not_allowed_is_wrong_usage(
    indexed: Khiipd, args: list[str], said: str
) -> None:
    here = indexed.run(*args)
    assert (here.exit_code, here.stdout) == (2, "")
    assert said in here.stderr
    with indexed.served():
        served = indexed.run(*args)
    assert (served.exit_code, served.stderr) == (2, here.stderr)


@pytest.mark.parametrize("args", [["recall", "x"], ["list"], ["status"], ["get", "a.md"]])
def test_without_an_index_every_reader_says_so_with_code_4(cli: Khiipd, args: list[str]) -> None:
    result = cli.run(*args)
    assert (result.exit_code, result.stdout) == (4, "")
    assert "khiipd reindex" in result.stderr


def test_list_is_newest_first_and_limit_0_is_all(
    indexed: Khiipd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_sidecar.cli.list_captures.PAGE", 2)
    everything = json.loads(indexed.ok("list", "--limit", "0", "--json").stdout)
    assert [row["title"] for row in everything] == ["Quipu", "Tides", "Bread"]
    assert everything == json.loads(indexed.ok("list", "--json").stdout)
    rest = json.loads(indexed.ok("list", "--limit", "0", "--offset", "2", "--json").stdout)
    assert rest == everything[2:]
    assert len(indexed.ok("list", "--limit", "1").stdout.splitlines()) == 3


def test_get_takes_an_id_or_any_path_to_the_note(
    indexed: Khiipd, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture_id = id_of(indexed, QUIPU)
    with operations(indexed) as at:
        wanted = to_json(at.capture(capture_id)) + b"\n"
    monkeypatch.chdir(indexed.settings.vault / "Notes")
    absolute = str(indexed.settings.vault / QUIPU)
    for name in (capture_id, QUIPU, absolute, "Quipu.md", f"./{QUIPU}"):
        assert indexed.ok("get", name, "--json").stdout_bytes == wanted, name
    pretty = indexed.ok("get", capture_id).stdout
    assert json.loads(pretty) == json.loads(wanted)
    assert len(pretty.splitlines()) > 10


@pytest.mark.parametrize("name", ["no-such-id", "No/Such.md", "../../etc/passwd", "\udcff.md", ""])
@pytest.mark.parametrize("more", [[], ["--embed-text"]])
def test_a_name_that_nothing_has_is_not_found(indexed: Khiipd, name: str, more: list[str]) -> None:
    result = indexed.run("get", name, *more)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "No capture" in result.stderr


def test_get_prints_the_embed_text(indexed: Khiipd) -> None:
    text = indexed.ok("get", QUIPU, "--embed-text").stdout
    assert "Knots in cords kept count." in text
    as_json = json.loads(indexed.ok("get", QUIPU, "--embed-text", "--json").stdout)
    assert as_json == {"embed_text": text.removesuffix("\n")}
    with indexed.served():
        assert indexed.ok("get", id_of(indexed, QUIPU), "--embed-text").stdout == text


def test_related_leaves_the_note_itself_out(indexed: Khiipd) -> None:
    result = indexed.ok("related", QUIPU)
    assert "Tides" in result.stdout
    assert QUIPU not in result.stdout
    with operations(indexed) as at:
        wanted = to_json(at.related({"id": [id_of(indexed, QUIPU)], "view": ["lean"]}))
    assert indexed.ok("related", QUIPU, "--json").stdout_bytes == wanted + b"\n"


@pytest.mark.parametrize("served", [False, True])
def test_refetch_reads_one_note_again(indexed: Khiipd, served: bool) -> None:
    write_note(indexed.settings.vault, QUIPU, "# Renamed\n\nCords of another colour.")
    if served:
        with indexed.served():
            result = indexed.ok("refetch", QUIPU, "--re-extract", "--json")
    else:
        result = indexed.ok("refetch", QUIPU, "--re-extract", "--json")
    assert json.loads(result.stdout)["title"] == "Renamed"
    assert result.stderr == f"{QUIPU}: success\n"


def test_status_says_how_much_can_be_found(indexed: Khiipd) -> None:
    result = indexed.ok("status")
    assert "3 of 3 notes searchable by meaning" in result.stdout
    assert "not running" in result.stdout
    assert result.stderr == ""


def test_status_json_is_health_and_the_problems(make_khiipd: Callable[..., Khiipd]) -> None:
    cli = make_khiipd({"a.md": "fine", "b.md": "---\nkey: [unclosed\n---\nbody"})
    assert cli.run("reindex").exit_code == 3
    here = cli.run("status", "--json")
    assert here.exit_code == 3
    found = json.loads(here.stdout)
    with operations(cli) as at:
        assert {**at.health(), "problems": found["problems"]} == found
    assert found["problems"][0].keys() == {"path", "line", "code", "reason", "hint"}
    assert {problem["path"] for problem in found["problems"]} == {"b.md"}
    shown = cli.run("status")
    assert "  b.md:" in shown.stdout
    assert "b.md" not in cli.run("status", "--problems", "0").stdout
    with cli.served():
        served = json.loads(cli.run("status", "--json").stdout)
        assert "running on port" in cli.run("status").stdout
    assert served["problems"] == found["problems"]


def test_no_command_ever_changes_a_note(indexed: Khiipd) -> None:
    vault = indexed.settings.vault
    before = state_of(vault)
    for args in (
        ["recall", "moon"],
        ["list", "--limit", "0"],
        ["get", QUIPU],
        ["related", QUIPU],
        ["status"],
        ["reindex", "--full"],
        ["reindex", "--check"],
        ["refetch", QUIPU, "--re-extract"],
    ):
        indexed.ok(*args)
    assert state_of(vault) == before


def test_a_stale_sidecar_file_is_passed_over_in_silence(indexed: Khiipd) -> None:
    gone = {"url": "http://127.0.0.1:9", "pid": os.getpid(), "vault_id": "x", "version": "0"}
    (indexed.settings.state / "sidecar.json").write_text(json.dumps(gone))
    result = indexed.ok("recall", "knots in cords")
    assert "Quipu" in result.stdout
    assert result.stderr == ""


def test_with_a_sidecar_no_model_is_loaded_here(
    indexed: Khiipd, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("the sidecar has the model already")

    with indexed.served():
        monkeypatch.setattr("khiip_indexer.embedder.MiniLM", forbidden)
        assert "Quipu" in indexed.ok("recall", "knots in cords").stdout
        assert indexed.run("reindex").exit_code == 0


def test_refetch_makes_no_index_where_there_is_none(cli: Khiipd) -> None:
    result = cli.run("refetch", "Bread.md", "--re-extract")
    assert result.exit_code == 4
    assert not cli.settings.state.exists()


def test_a_path_without_a_capture_is_called_by_its_name(indexed: Khiipd) -> None:
    result = indexed.run("get", "Notes/Nowhere.md")
    assert result.exit_code == 1
    assert "Notes/Nowhere.md" in result.stderr
    assert "khiipd reindex" in result.stderr


def test_a_note_is_found_by_its_path_over_a_link_to_the_vault(
    indexed: Khiipd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(indexed.settings.vault, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    assert '"vault_path": "Bread.md"' in indexed.ok("get", "link/Bread.md").stdout


def test_what_a_recall_had_to_do_without_is_said_in_one_line(
    indexed: Khiipd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "khiip_sidecar.recall.RecallService._degraded", lambda *_: ("indexing", "graph_behind")
    )
    assert "degraded: indexing,graph_behind\n" in indexed.ok("recall", "knots").stderr


def test_a_vault_that_was_never_read_is_no_empty_vault(cli: Khiipd) -> None:
    def killed(_: object) -> None:
        raise KeyboardInterrupt

    with VaultIndex.open(cli.settings, write=True) as index, pytest.raises(KeyboardInterrupt):
        Syncer(index, cli.embedder).run(progress=killed)
    for args in (["list"], ["recall", "knots"]):
        result = cli.run(*args)
        assert (result.exit_code, result.stdout) == (4, ""), result.output
