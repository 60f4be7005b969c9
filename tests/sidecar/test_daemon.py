"""`serve` as a whole: a real socket, a real index, only the model is a double."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from houses import note
from khiip_indexer.config import Homes, Settings
from khiip_indexer.embedder import MiniLM
from khiip_indexer.errors import PortInUse, UsageError, VaultLocked
from khiip_sidecar.auth import load_or_make_key, rotate_key
from khiip_sidecar.daemon import CurrentKey, bind, serve, url_of
from khiip_sidecar.worker import IndexWorker
from serving import serving
from support import FakeEmbedder, make_vault

NOTES = {
    "quipu.md": note("Knots on cords kept the accounts.", created="2026-01-03"),
    "tide.md": note("The moon pulls the sea twice a day.", created="2026-01-02"),
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_vault(tmp_path / "vault", NOTES)


def test_a_vault_is_indexed_and_answers(settings: Settings) -> None:
    with serving(settings) as sidecar:
        state = sidecar.wait_until_ready()
        assert state["last_report"]["added"] == 2
        status, answer, headers = sidecar.ask("/api/v1/recall?q=knots+cords&view=lean&limit=1")
        assert (status, answer["results"][0]["vault_path"]) == (200, "quipu.md")
        assert "server" not in headers
        health = sidecar.ask("/health")[1]
        assert (health["status"], health["state"]) == ("ok", "ready")
        assert sidecar.ask("/api/v1/meta")[1]["config"]["port"] == sidecar.port


def test_the_sidecar_file_is_there_while_it_serves_and_holds_no_key(settings: Settings) -> None:
    file = settings.state / "sidecar.json"
    with serving(settings) as sidecar:
        said = json.loads(file.read_text())
        assert said["url"] == f"http://127.0.0.1:{sidecar.port}"
        assert said["pid"] == os.getpid()
        assert said["vault_id"] == sidecar.ask("/health")[1]["vault_id"] != ""
        assert set(said) == {"url", "pid", "vault_id", "version"}
    assert not file.exists()


def test_a_new_note_is_found_after_indexing_was_asked_for(settings: Settings) -> None:
    with serving(settings) as sidecar:
        sidecar.wait_until_ready()
        (settings.vault / "new.md").write_text("Lighthouses turn their lenses.\n")
        assert sidecar.ask("/api/v1/index", "POST")[0] == 202
        assert sidecar.wait_until_ready()["counts"]["notes"] == 3
        rows = sidecar.ask("/api/v1/recall?q=lighthouses&view=lean&limit=1")[1]["results"]
        assert rows[0]["vault_path"] == "new.md"


def test_after_a_restart_the_graph_is_loaded_although_nothing_changed(settings: Settings) -> None:
    with serving(settings) as sidecar:
        sidecar.wait_until_ready()
    with serving(settings) as sidecar:
        sidecar.wait_until_ready()
        graph = sidecar.daemon.index.graphs.current()
        assert graph is not None
        assert len(graph) == 2


def test_without_a_model_it_serves_and_says_what_is_missing(
    settings: Settings, tmp_path: Path
) -> None:
    nowhere = replace(settings, model_dir=tmp_path / "no-model")
    with serving(nowhere, MiniLM(nowhere.model_dir)) as sidecar:
        sidecar.wait_until_ready()
        health = sidecar.ask("/health")[1]
        assert (health["status"], health["state"]) == ("degraded", "ready")
        assert "no-model" in health["reason"]
        status, answer, _ = sidecar.ask("/api/v1/recall?q=knots")
        assert (status, set(answer)) == (503, {"detail", "error", "hint"})


def test_serving_makes_no_outgoing_connection(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = socket.socket.connect

    def only_loopback(self: socket.socket, address: Any) -> None:
        assert address[0] in ("127.0.0.1", "::1"), address
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_loopback)
    monkeypatch.setenv("HTTPS_PROXY", "http://203.0.113.1:9")
    with serving(settings) as sidecar:
        assert sidecar.wait_until_ready()["error"] is None
        assert sidecar.ask("/api/v1/recall?q=knots")[0] == 200


def test_a_second_sidecar_of_the_same_vault_is_refused(settings: Settings) -> None:
    with serving(settings), pytest.raises(VaultLocked) as caught:
        serve(settings, "127.0.0.1", 0, embedder=FakeEmbedder())
    assert caught.value.exit_code == 5


def test_a_port_that_is_taken_is_said_before_anything_is_made(settings: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(PortInUse) as caught:
            serve(settings, "127.0.0.1", taken.getsockname()[1], embedder=FakeEmbedder())
    assert caught.value.exit_code == 6
    assert not settings.state.exists()


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host", "x" * 300])
def test_a_host_that_is_not_here_is_a_usage_error(host: str) -> None:
    with pytest.raises(UsageError):
        bind(host, 0)


def test_answers_are_sent_without_waiting_for_a_full_packet() -> None:
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_head_sends_no_body(settings: Settings) -> None:
    with serving(settings) as sidecar:
        status, body, headers = sidecar.ask("/health", "HEAD")
        assert (status, body) == (200, None)
        assert int(headers["content-length"]) > 0


def test_a_long_query_in_a_wide_script_fits_into_the_address(settings: Settings) -> None:
    with serving(settings) as sidecar:
        sidecar.wait_until_ready()
        assert sidecar.ask("/api/v1/recall?view=lean&q=" + "%E6%9D%B1" * 9_000)[0] == 200
        assert sidecar.ask("/api/v1/recall?view=lean&q=" + "x" * 20_000)[0] == 422


def test_a_rotated_key_counts_without_a_restart(settings: Settings) -> None:
    with serving(settings) as sidecar:
        new = rotate_key(settings.homes)
        assert sidecar.ask("/api/v1/meta")[0] == 401
        assert sidecar.ask("/api/v1/meta", key=new)[0] == 200


def test_the_key_is_read_again_only_when_its_file_changed(tmp_path: Path) -> None:
    homes = Homes(config=tmp_path / "config", cache=tmp_path / "cache")
    key = CurrentKey(homes)
    first = key()
    assert key() == first == load_or_make_key(homes)
    second = rotate_key(homes)
    assert key() == second != first


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (("127.0.0.1", 8478), "http://127.0.0.1:8478"),
        (("0.0.0.0", 80), "http://127.0.0.1:80"),
        (("::1", 8478), "http://[::1]:8478"),
        (("::", 8478), "http://[::1]:8478"),
    ],
)
def test_the_url_is_one_that_a_client_here_can_open(address: tuple[str, int], url: str) -> None:
    assert url_of(address) == url


SERVE_SCRIPT = """
import sys
from pathlib import Path
from support import FakeEmbedder
from khiip_indexer.config import Overrides, load_settings
from khiip_sidecar.daemon import serve

class Slow(FakeEmbedder):
    def embed(self, texts):
        import time
        time.sleep(0.05)
        return super().embed(texts)

settings = load_settings(Overrides(vault=sys.argv[1]))
code = serve(settings, "127.0.0.1", 0, embedder=Slow(), on_ready=lambda d: print(d.url, flush=True))
print("ended", code, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_in_order_even_while_it_indexes(tmp_path: Path, number: int) -> None:
    notes = {f"n{count}.md": f"note number {count}\n" for count in range(2000)}
    settings = make_vault(tmp_path / "vault", notes)
    environ = os.environ | {
        "KHIIP_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE_SCRIPT, str(settings.vault)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("http://")
    began = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (out, err, process.returncode) == ("ended 0\n", "", 0)
    assert time.monotonic() - began < 3
    assert not (settings.state / "sidecar.json").exists()
    with serving(settings) as again:
        assert again.ask("/health")[0] == 200


def test_the_sidecar_on_the_port_may_be_this_vaults_own(settings: Settings) -> None:
    with serving(settings) as sidecar, pytest.raises(PortInUse) as caught:
        serve(settings, "127.0.0.1", sidecar.port, embedder=FakeEmbedder())
    assert f"pid {os.getpid()}" in (caught.value.hint or "")


def exchange(port: int, request: bytes) -> bytes:
    """Everything that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        pieces = iter(lambda: connection.recv(65536), b"")
        return b"".join(pieces)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        b"GET /health\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /api/v1/index HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_in_json(settings: Settings, request_bytes: bytes) -> None:
    with serving(settings) as sidecar:
        head, _, body = exchange(sidecar.port, request_bytes).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/json" in head
    assert json.loads(body)["error"] == "bad_request"


def test_a_body_that_breaks_off_starts_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(IndexWorker, "ask", lambda *_, **options: asked.append(options))
    with serving(settings) as sidecar:
        sidecar.wait_until_ready()
        lines = [
            "POST /api/v1/index HTTP/1.1",
            "Host: 127.0.0.1",
            f"Authorization: Bearer {sidecar.key}",
            "Content-Type: application/json",
            "Content-Length: 50",
        ]
        exchange(sidecar.port, ("\r\n".join(lines) + "\r\n\r\n{}").encode())
        assert sidecar.ask("/health")[0] == 200
        assert asked == []
        sidecar.ask("/api/v1/index", "POST")
        assert asked == [{"full": False, "accept_deletions": False}]


def test_who_connects_and_says_nothing_whole_is_let_go(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_sidecar.http.server.FIRST_REQUEST_SECONDS", 0.1)
    with (
        serving(settings) as sidecar,
        socket.create_connection(("127.0.0.1", sidecar.port), timeout=10) as slow,
    ):
        slow.sendall(b"GET /health HTTP/1.1\r\nHost: 127")
        assert sidecar.ask("/health")[0] == 200
        assert slow.recv(1) == b""


def test_a_body_that_never_ends_is_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_sidecar.http.security.BODY_SECONDS", 0.1)
    with serving(settings) as sidecar:
        head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {sidecar.key}\r\nContent-Length: 9\r\n"
        with socket.create_connection(("127.0.0.1", sidecar.port), timeout=10) as slow:
            slow.sendall(f"POST /api/v1/index HTTP/1.1\r\n{head}\r\n{{".encode())
            assert slow.recv(65536).startswith(b"HTTP/1.1 408 ")
