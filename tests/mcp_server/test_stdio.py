"""A session over stdio: what is sent torn, odd or too fast, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from khiip_indexer.config import Settings
from mcp_server.talk import HELLO, READY, environment_of, talking, words_for

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and descriptors of POSIX")


def test_junk_halves_and_unknown_methods_are_answered_and_the_session_goes_on(
    vault: Settings,
) -> None:
    with talking(vault) as talk:
        greeting = talk.greet()["result"]
        assert greeting["serverInfo"]["name"] == "khiip"
        assert set(greeting["capabilities"]) == {"completions", "prompts", "resources", "tools"}
        talk.raw(b'junk\n\n{"jsonrpc":\n[]\n\xff\xfe\n')
        for _ in range(4):
            assert talk.answer(None)["error"]["code"] in (-32700, -32600)
        talk.say({"jsonrpc": "2.0", "id": 1, "method": "no/such"})
        assert talk.answer(1)["error"]["code"] == -32601
        talk.say({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": 7}})
        assert talk.answer(2)["error"]["code"] == -32602
        talk.call(3, "no_such_tool")
        assert "recall, list_captures, get_capture" in talk.answer(3)["error"]["message"]
        talk.say({"jsonrpc": "2.0", "method": "notifications/nobody-knows"})
        talk.call(4, "list_captures", limit="2")
        assert talk.answer(4)["result"]["structuredContent"]["returned"] == 2
        assert talk.end() == 0


def test_what_comes_too_early_or_with_parameters_amiss_is_told_so(vault: Settings) -> None:
    with talking(vault) as talk:
        talk.call(1, "recall")
        assert "send `initialize` first" in talk.answer(1)["error"]["message"]
        talk.greet()
        talk.say({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": 7}})
        assert "tools/call" in (said := talk.answer(2)["error"]["message"])
        assert "`params.name`" in said


def test_huge_arguments_and_half_an_emoji_are_errors_or_answers_never_silence(
    vault: Settings,
) -> None:
    with talking(vault) as talk:
        talk.greet()
        talk.call(1, "recall", query="x" * 2_000_000, match="lexical")
        result = talk.answer(1)["result"]
        assert result["isError"] is True
        assert result["structuredContent"]["error"] == "too_long"
        talk.raw(b"a" * (9 * 1024 * 1024) + b"\n")
        assert "too long" in talk.answer(None)["error"]["message"]
        talk.raw(
            b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall",'
            b'"arguments":{"query":"knots \\ud83d in","match":"lexical"}}}\n'
        )
        assert talk.answer(2)["result"]["isError"] is False
        assert talk.end() == 0


def test_fifty_requests_in_flight_are_all_answered_also_after_the_end_of_stdin(
    vault: Settings,
) -> None:
    with talking(vault) as talk:
        talk.say(HELLO, READY)
        for number in range(1, 51):
            talk.call(number, "list_captures", limit=1 + number % 3)
        assert talk.process.stdin is not None
        talk.process.stdin.close()
        for number in range(51):
            assert "result" in talk.answer(number), number
        assert talk.process.wait(5) == 0


def test_a_cancelled_request_is_not_answered_and_does_not_hold_up_the_end(vault: Settings) -> None:
    with talking(vault) as talk:
        talk.greet()
        talk.call(1, "recall", query="knots")  # loads the model first
        cancel = {"requestId": 1, "reason": "changed my mind"}
        talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
        talk.say({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert talk.answer(2)["result"] == {}
        assert all(message.get("id") != 1 for message in talk.heard)
        assert talk.end() == 0


def test_an_empty_stdin_is_the_end(vault: Settings) -> None:
    done = subprocess.run(
        words_for(vault),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment_of(vault),
        timeout=10,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


PARENT = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=int(os.environ["KEEP"]), stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_the_server_goes_when_its_client_was_killed_though_others_keep_the_pipe(
    vault: Settings,
) -> None:
    kept, write = os.pipe()
    os.set_inheritable(kept, True)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *words_for(vault)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**environment_of(vault), "KEEP": str(kept)},
        pass_fds=(kept,),
    )
    assert parent.stdout is not None
    assert parent.stdin is not None
    child = int(parent.stdout.readline())
    time.sleep(1)  # it must have seen its parent alive
    parent.kill()
    parent.wait()
    try:
        for _ in range(100):
            if not _lives(child):
                break
            time.sleep(0.1)
        assert not _lives(child)
    finally:
        parent.stdin.close()
        parent.stdout.close()
        os.close(write)
        os.close(kept)
        if _lives(child):
            os.kill(child, signal.SIGKILL)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


NOISE = """
import os, sys
def noisy(real):
    def run(*args, **kwargs):
        print("a library prints")
        sys.__stdout__.write("and writes\\n"); sys.__stdout__.flush()
        os.write(1, b"and C does\\n")
        os.system("echo and a child")
        return real(*args, **kwargs)
    return run
import khiip_sidecar.mcp_server.tools as tools
from dataclasses import replace
from khiip_sidecar.cli.main import main
tools.TOOLS = tuple(replace(each, call=noisy(each.call)) for each in tools.TOOLS)
main()
"""


def test_nothing_that_is_printed_reaches_the_protocol(vault: Settings, tmp_path: Path) -> None:
    program = tmp_path / "noisy.py"
    program.write_text(NOISE)
    words = [sys.executable, str(program), "--vault", str(vault.vault), "mcp"]
    with talking(vault, words) as talk:
        talk.greet()
        talk.call(1, "list_captures")
        answer = talk.answer(1)["result"]["structuredContent"]
        assert answer["returned"] == 4
        assert talk.heard == []
        errors = talk.errors()
    for said in ("a library prints", "and writes", "and C does", "and a child"):
        assert said in errors


def test_a_vault_that_nobody_has_indexed_is_an_error_of_the_tool(
    vault: Settings, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    (empty / ".obsidian").mkdir(parents=True)
    words = [sys.executable, "-m", "khiip_sidecar", "--vault", str(empty), "mcp"]
    with talking(vault, words) as talk:
        talk.greet()
        talk.call(1, "recall", query="knots")
        result = talk.answer(1)["result"]
        assert result["isError"] is True
        assert result["structuredContent"]["error"] == "index_missing"
        assert "reindex" in result["structuredContent"]["hint"]
        assert talk.end() == 0
    assert not (empty / ".khiip").exists()


def test_the_roots_of_the_client_choose_the_vault(vault: Settings, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "khiip_sidecar", "mcp"]
    with talking(vault, words, cwd=tmp_path) as talk:
        hello = {**HELLO, "params": {**HELLO["params"], "capabilities": {"roots": {}}}}  # type: ignore[dict-item]
        talk.say(hello, READY)
        talk.answer(0)
        talk.call(1, "list_captures")
        asked = talk.next()
        assert asked["method"] == "roots/list"
        roots = [{"uri": "file:///nowhere"}, {"uri": (vault.vault / "Notes").as_uri()}]
        talk.say({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})
        assert talk.answer(1)["result"]["structuredContent"]["returned"] == 4
        talk.call(2, "list_captures")
        assert talk.next()["id"] == 2  # they are asked once
        assert talk.end() == 0


def test_without_vault_and_roots_the_tool_says_how_to_name_one(
    vault: Settings, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "khiip_sidecar", "mcp"]
    with talking(vault, words, cwd=tmp_path) as talk:
        talk.greet()
        talk.call(1, "recall")
        error = talk.answer(1)["result"]["structuredContent"]
        assert error["error"] == "vault_not_found"
        assert "--vault" in error["hint"]
