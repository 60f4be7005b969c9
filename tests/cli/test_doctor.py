"""`khiipd doctor`, `auth` and `serve`: the commands around the index."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
from pathlib import Path

import pytest

from cli.conftest import Khiipd
from khiip_indexer.index import VaultIndex
from khiip_sidecar.auth import key_path, load_or_make_key
from khiip_sidecar.cli import checks


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the smallest native part: starting onnxruntime takes longer than all other checks."""
    monkeypatch.setattr(checks, "NATIVE_PARTS", ("hnswlib",))


def verdicts(cli: Khiipd) -> dict[str, str]:
    found = json.loads(cli.run("doctor", "--json").stdout)
    return {check["name"]: check["verdict"] for check in found}


def fake_module(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.mark.usefixtures("quick")
def test_a_healthy_vault_passes(indexed: Khiipd) -> None:
    load_or_make_key(indexed.settings.homes)
    result = indexed.ok("doctor")
    assert "fail" not in result.stdout
    assert {line.split()[1] for line in result.stdout.splitlines() if line[0] != " "} >= {
        "python", "sqlite", "hnswlib", "model", "vault", "index", "key", "port", "sidecar",
    }  # fmt: skip


@pytest.mark.usefixtures("quick")
def test_a_missing_index_is_a_warning_with_a_hint(cli: Khiipd) -> None:
    result = cli.ok("doctor")
    assert re.search(r"^warn +index", result.stdout, re.MULTILINE)
    assert "khiipd reindex" in result.stdout
    assert not cli.settings.state.exists()


def test_a_native_part_made_for_another_cpu_is_a_sentence_and_not_a_crash(
    cli: Khiipd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_module(tmp_path / "fake", monkeypatch, "hnswlib", "import os\nos.kill(os.getpid(), 4)\n")
    monkeypatch.setattr(checks, "NATIVE_PARTS", ("hnswlib",))
    result = cli.run("doctor")
    assert result.exit_code == 1
    assert "hnswlib cannot run on this CPU" in result.stdout
    assert "HNSWLIB_NO_NATIVE=1 pip install --no-binary hnswlib hnswlib" in result.stdout
    assert re.search(r"^ok +key", result.stdout, re.MULTILINE)


def test_a_native_part_that_is_not_installed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_module(tmp_path / "fake", monkeypatch, "gone", "raise ImportError('no such library')\n")
    check = checks.check_native("gone")
    assert (check.verdict, check.found) == ("fail", "ImportError: no such library")


def test_a_module_lying_in_the_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hnswlib.py").write_text("raise SystemExit('ran a file of the vault')\n")
    monkeypatch.chdir(tmp_path)
    assert checks.check_native("hnswlib").verdict == "ok"


@pytest.mark.usefixtures("quick")
def test_an_open_key_file_fails_and_is_named(indexed: Khiipd) -> None:
    load_or_make_key(indexed.settings.homes)
    key_path(indexed.settings.homes).chmod(0o644)
    result = indexed.run("doctor")
    assert result.exit_code == 1
    assert "0644" in result.stdout
    assert f"chmod 600 {key_path(indexed.settings.homes)}" in result.stdout


@pytest.mark.usefixtures("quick")
def test_a_port_that_somebody_else_has_is_a_warning(indexed: Khiipd, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = tmp_path / "vault-home" / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.toml").write_text(f"port = {taken.getsockname()[1]}\n")
        assert verdicts(indexed)["port"] == "warn"


@pytest.mark.usefixtures("quick")
def test_the_running_sidecar_is_seen(indexed: Khiipd) -> None:
    with indexed.served() as port:
        assert f"running on port {port}" in indexed.ok("doctor").stdout


@pytest.mark.usefixtures("quick")
def test_without_a_vault_the_rest_is_still_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Khiipd
) -> None:
    monkeypatch.chdir(tmp_path)
    result = cli.run("doctor", vault=False)
    assert result.exit_code == 1
    assert re.search(r"^ok +sqlite", result.stdout, re.MULTILINE)
    assert re.search(r"^fail +vault", result.stdout, re.MULTILINE)


def test_auth_show_prints_the_key_and_nothing_else(cli: Khiipd) -> None:
    result = cli.run("auth", "show", vault=False)
    assert re.fullmatch(r"khiip_[\w-]{43}\n", result.stdout)
    assert result.stderr == ""
    path = key_path(cli.settings.homes)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(cli.ok("auth", "show", "--json").stdout) == {"api_key": result.stdout.strip()}


def test_auth_rotate_changes_the_key_even_while_a_sidecar_runs(indexed: Khiipd) -> None:
    old = indexed.ok("auth", "show").stdout
    with indexed.served():
        new = indexed.ok("auth", "rotate").stdout
        assert new != old
        assert indexed.ok("auth", "show").stdout == new
        assert "Quipu" in indexed.ok("recall", "knots in cords").stdout


def test_serving_on_a_taken_port_is_code_6(indexed: Khiipd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = indexed.run("serve", "--port", str(taken.getsockname()[1]))
    assert (result.exit_code, result.stdout) == (6, "")
    assert str(taken) not in result.stderr


def test_serving_a_vault_that_is_served_is_code_5(indexed: Khiipd) -> None:
    with indexed.served():
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        result = indexed.run("serve", "--port", str(port))
    assert result.exit_code == 5
    assert f"served by pid {os.getpid()}" in result.stderr


@pytest.mark.usefixtures("quick")
def test_a_file_in_the_place_of_the_index_is_told_with_what_to_do(cli: Khiipd) -> None:
    cli.settings.state.write_text("a file")
    for words in (("reindex",), ("recall", "x"), ("status",), ("doctor",)):
        result = cli.run(*words)
        assert result.exit_code == 1, words
        assert f"needs a folder at {cli.settings.state}, and a file is there" in result.output
        assert "Rename or delete that file" in result.output
    assert cli.settings.state.read_text() == "a file"


@pytest.mark.usefixtures("quick")
def test_an_index_that_another_process_makes_is_said_to_be_made(indexed: Khiipd) -> None:
    with VaultIndex.open(indexed.settings, write=True):
        (indexed.settings.state / "writer.json").write_text('{"pid": 1, "role": "reindex"}')
        assert re.search(r"^state +indexing", indexed.ok("status").stdout, re.MULTILINE)
        assert json.loads(indexed.ok("status", "--json").stdout)["state"] == "indexing"
        assert re.search(r"index .* being indexed now", indexed.ok("doctor").stdout)
    assert re.search(r"^state +ready", indexed.ok("status").stdout, re.MULTILINE)
