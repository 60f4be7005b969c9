"""In every default path no socket opens to anything but this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from khiip_indexer.config import Settings
from khiip_sidecar.client import find_sidecar
from support import make_vault

# Loaded by every Python that a command starts: notes each address that is connected to or looked
# up and is not this machine, and refuses it.
WATCH = """
import os, sys

def hook(event, args):
    if event == "socket.connect":
        address = args[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        address = (args[0],)
    else:
        return
    if isinstance(address, (str, bytes)) or address[0] in ("127.0.0.1", "::1", "localhost", None):
        return
    with open(os.environ["WATCHED"], "a") as log:
        log.write(f"{event} {address}\\n")
    raise OSError("no network here")

sys.addaudithook(hook)
with open(os.environ["WATCHED"] + ".on", "a") as log:
    log.write("on\\n")
"""


class Watched:
    """Commands under watch."""

    def __init__(self, folder: Path) -> None:
        self.settings: Settings = make_vault(
            folder / "v",
            {"Pump.md": "The pump is in the cellar.", "Heron.md": "A heron stood there."},
        )
        (folder / "watch").mkdir()
        (folder / "watch" / "sitecustomize.py").write_text(WATCH)
        self.log = folder / "log"
        self.env = {
            **os.environ,
            "PYTHONPATH": str(folder / "watch"),
            "WATCHED": str(self.log),
            "KHIIP_HOME": str(self.settings.homes.config.parent),
            "HTTPS_PROXY": "http://192.0.2.1:9",
            "HTTP_PROXY": "http://192.0.2.1:9",
        }

    def command(self, *words: str) -> list[str]:
        code = "from khiip_sidecar.cli.entry import main; main()"
        return [sys.executable, "-c", code, "--vault", str(self.settings.vault), *words]

    def run(self, *words: str) -> str:
        done = subprocess.run(
            self.command(*words),
            env=self.env,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def strangers(self) -> str:
        assert self.log.with_name("log.on").exists(), "the watch was on"
        return self.log.read_text() if self.log.exists() else ""


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_the_watch_sees_who_goes_out(watched: Watched) -> None:
    code = "import socket; socket.create_connection(('192.0.2.1', 9), 1)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=watched.env, check=False, capture_output=True)
    assert done.returncode == 1
    assert "192.0.2.1" in watched.strangers()


def test_commands_stay_on_this_machine(watched: Watched) -> None:
    watched.run("reindex")
    assert "Pump" in watched.run("recall", "where is the pump")
    for words in (("status",), ("embedder", "list"), ("embedder", "test"), ("embedder", "status")):
        watched.run(*words)
    assert watched.strangers() == ""


def wait_until_ready(watched: Watched, serving: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        assert serving.poll() is None, "it ended by itself"
        sidecar = find_sidecar(watched.settings)
        if sidecar is not None:
            health = sidecar.health()
            if health["state"] == "ready" and health["index"]["searchable_by_meaning"]:
                return
        time.sleep(0.05)
    raise AssertionError("it did not come to rest in a minute")


@pytest.mark.skipif(not hasattr(signal, "SIGTERM"), reason="needs signals")
def test_the_sidecar_stays_on_this_machine(watched: Watched) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with subprocess.Popen(
        watched.command("serve", "--port", port), env=watched.env, stderr=subprocess.PIPE
    ) as serving:
        try:
            wait_until_ready(watched, serving)
            answer = json.loads(watched.run("recall", "where is the pump", "--json"))
            assert answer["results"][0]["vault_path"] == "Pump.md"
            assert answer["embedder_model"] == "all-MiniLM-L6-v2"
        finally:
            serving.terminate()
            serving.wait(20)
    assert watched.strangers() == ""
