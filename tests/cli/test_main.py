"""Help, errors and exit codes: the same for every command."""

from __future__ import annotations

import errno
import json
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.conftest import Khiipd
from khiip_indexer import __version__
from khiip_indexer.config import Settings
from khiip_indexer.errors import IndexMissing, VaultLocked
from khiip_sidecar.cli.main import COMMANDS, khiipd

HEAVY = ("onnxruntime", "hnswlib", "tokenizers", "starlette", "uvicorn", "onnx", "rich", "yaml")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """`khiipd status` raises what is put into the list."""
    raised: list[BaseException] = []

    @click.command("status")
    @click.option("--json", is_flag=True)
    def command(json: bool) -> None:
        raise raised[0]

    monkeypatch.setattr("khiip_sidecar.cli.status.command", command)
    return raised


def run(*args: str) -> click.testing.Result:
    return CliRunner().invoke(khiipd, args)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert f"Usage: khiipd {name}" in result.stdout
    assert "Example" in result.stdout


def test_help_lists_what_there_is_and_nothing_else() -> None:
    result = run("--help")
    listed = result.stdout.partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in listed if line.strip()] == list(COMMANDS)
    assert "..." not in result.stdout.partition("Commands:")[2]


def test_version() -> None:
    assert run("--version").stdout == f"khiipd {__version__}\n"


@pytest.mark.parametrize("args", [[], ["auth"]])
def test_a_call_without_a_command_shows_help_on_stderr(args: list[str]) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Commands:" in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["recal"], "recall"),
        (["list", "--nonsense"], "--nonsense"),
        (["get"], "ID"),
        (["reindex", "--check", "--full"], "--full and --check"),
        (["reindex", "--threads", "0"], "threads"),
        (["refetch", "x"], "--re-extract"),
        (["serve", "--port", "99999"], "port"),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(args: list[str], said: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 2


def test_an_error_ends_with_its_own_code(failing: list[BaseException]) -> None:
    failing.append(IndexMissing("No index yet.", hint="Run khiipd reindex."))
    result = run("status")
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr == "khiipd: No index yet.\n  Run khiipd reindex.\n"
    failing[0] = VaultLocked("vault is served by pid 7")
    assert run("status").exit_code == 5


def test_with_json_an_error_is_json_on_stderr(failing: list[BaseException]) -> None:
    failing.append(IndexMissing("No index yet."))
    result = run("status", "--json")
    assert (result.exit_code, result.stdout) == (4, "")
    assert json.loads(result.stderr) == {
        "detail": "No index yet.",
        "error": "index_missing",
        "hint": None,
    }


def test_the_unexpected_is_one_line_and_a_traceback_only_on_demand(
    failing: list[BaseException],
) -> None:
    failing.append(ZeroDivisionError("a\nb"))
    result = run("status")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0].endswith("ZeroDivisionError: a b")
    assert "Traceback" not in result.output
    assert isinstance(run("--debug", "status").exception, ZeroDivisionError)


def test_ctrl_c_is_quiet(failing: list[BaseException]) -> None:
    failing.append(KeyboardInterrupt())
    result = run("status")
    assert (result.exit_code, result.output.strip()) == (130, "")


def test_no_vault_anywhere_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KHIIP_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KHIIP_VAULT", raising=False)
    result = run("list")
    assert result.exit_code == 1
    assert "--vault" in result.stderr


def child(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )


LOADED = """
import sys
from khiip_sidecar.cli.main import khiipd
try:
    khiipd.main({args!r})
except SystemExit as end:
    loaded = sorted({heavy!r} & sys.modules.keys())
    sys.stderr.write(f"LOADED {{loaded}} {{end.code}}")
"""


def loaded_by(*args: str) -> str:
    code = LOADED.format(args=list(args), heavy=set(HEAVY))
    return child(code).stderr.rpartition("LOADED ")[2]


def test_help_and_auth_load_nothing_heavy(cli: Khiipd) -> None:
    assert loaded_by("--help") == "[] 0"
    assert loaded_by("auth", "show") == "[] 0"


def test_status_loads_nothing_heavy(indexed: Khiipd) -> None:
    assert loaded_by("--vault", str(indexed.settings.vault), "status") == "[] 0"


def test_a_reader_that_goes_away_is_no_error(indexed: Khiipd) -> None:
    command = f"""
import sys
from khiip_sidecar.cli.main import khiipd
khiipd.main(["--vault", {str(indexed.settings.vault)!r}, "list", "--view", "full"])
"""
    process = subprocess.Popen(
        [sys.executable, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=30)
    assert err == b""
    assert process.returncode == 141


def test_a_refusal_of_the_system_is_said_as_such(failing: list[BaseException]) -> None:
    failing.append(OSError(errno.ENOSPC, "No space left on device"))
    result = run("status")
    assert result.exit_code == 1
    assert result.stderr.startswith("khiipd: The output: No space left on device.")


def shell(line: str, settings: Settings) -> subprocess.CompletedProcess[str]:
    """A command line run by sh; `$K` is khiipd with this vault named."""
    program = "from khiip_sidecar.cli.entry import main; main()"
    named = f"--vault {shlex.quote(str(settings.vault))}"
    script = f'k() {{ {shlex.quote(sys.executable)} -c "{program}" {named} "$@"; }}; {line}'
    return subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("line", ["k list >&-", "k status 2>&-", "k list >&- 2>&-"])
def test_a_stream_that_the_caller_closed_is_no_fault(indexed: Khiipd, line: str) -> None:
    ran = shell(line, indexed.settings)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_folder_that_was_deleted_under_the_shell_is_no_fault(
    indexed: Khiipd, tmp_path: Path
) -> None:
    gone = shlex.quote(str(tmp_path / "gone"))
    enter = f"mkdir {gone} && cd {gone} && rmdir {gone}"
    for command in ("list", "status", "get Bread.md"):
        ran = shell(f"{enter} && k {command}", indexed.settings)
        assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran.stderr
