"""`khiipd serve` as a process: what it says, and how it ends."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.conftest import Khiipd
from cli.repository import make_program
from khiip_sidecar.auth import load_or_make_key
from khiip_sidecar.client import read_sidecar_file
from support import wait_until

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (info|warning|error) \S.*")


@contextmanager
def served(cli: Khiipd, tmp_path: Path, *args: str) -> Iterator[subprocess.Popen[str]]:
    """The program in a process, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = make_program(tmp_path / "khiipd")
    process = subprocess.Popen(
        [program, "--vault", cli.settings.vault, "serve", "--port", str(port), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: read_sidecar_file(cli.settings.state) is not None)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_each_line_has_time_and_level_and_no_note_and_no_key(
    cli: Khiipd, tmp_path: Path, number: int
) -> None:
    with served(cli, tmp_path) as process:
        file = read_sidecar_file(cli.settings.state)
        assert file is not None
        key = load_or_make_key(cli.settings.homes)
        connection = http.client.HTTPConnection("127.0.0.1", file.port)
        for target in ("/api/v1/recall?q=patience", "/api/v1/nowhere", "/api/v1/recall?limit=x"):
            connection.request("GET", target, headers={"Authorization": f"Bearer {key}"})
            connection.getresponse().read()
        connection.close()
        wait_until(lambda: "ready" in cli.run("status").stdout)
        process.send_signal(number)
        began = time.monotonic()
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - began < 3
    assert (process.returncode, out) == (0, "")
    lines = err.splitlines()
    assert all(LINE.fullmatch(line) for line in lines), err
    assert f"serving {cli.settings.vault} on http://127.0.0.1:{file.port}" in lines[0]
    assert "3 new, 0 changed" in lines[1]
    assert lines[-1].endswith(" info stopped")
    assert not any(word in err for word in ("patience", "moon", "Quipu", key))


def test_less_can_be_said(cli: Khiipd, tmp_path: Path) -> None:
    with served(cli, tmp_path, "--log-level", "error") as process:
        process.terminate()
        assert process.communicate(timeout=20) == ("", "")


def test_one_that_nobody_asks_ends_well(cli: Khiipd, tmp_path: Path) -> None:
    with served(cli, tmp_path, "--idle-exit", "1") as process:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "nobody asked for 1 s;" in err
    assert cli.ok("recall", "the moon pulls").stdout.startswith("0.")


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "0.5"])
def test_an_idle_time_that_is_none_is_refused(cli: Khiipd, seconds: str) -> None:
    result = cli.run("serve", "--idle-exit", seconds)
    assert (result.exit_code, result.stdout) == (2, "")
