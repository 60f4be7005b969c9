"""A web page, or a path from outside, gets nothing out of the service."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from field_cases.conftest import MakeCase, Opened
from khiip_sidecar.auth import load_or_make_key

PATHS = (
    "/health",
    "/docs",
    "/openapi.json",
    "/mcp",
    "/api/v1/meta",
    "/api/v1/recall?q=pump",
    "/api/v1/captures",
    "/api/v1/index",
    "/nowhere",
)


class Caller:
    """Real requests over a real socket."""

    def __init__(self, port: int, key: str) -> None:
        self.port = port
        self.key = key

    def __call__(
        self, path: str, method: str = "GET", body: bytes | None = None, /, **headers: str | None
    ) -> tuple[int, Any, dict[str, str]]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        said: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.key}",
        }
        said |= named
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.putrequest(method, path, skip_host=True)
        for name, value in said.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        raw = response.read()
        connection.close()
        given = {name.lower(): value for name, value in response.getheaders()}
        return response.status, json.loads(raw) if raw else None, given


@pytest.fixture
def call(make_case: MakeCase) -> Iterator[Caller]:
    case = make_case({"n.md": "The pump."})
    with case.served() as port:
        yield Caller(port, load_or_make_key(case.settings.homes))


class TestRebinding:
    """B44"""

    @pytest.mark.parametrize("path", PATHS)
    def test_another_host_name_is_refused_on_every_path_before_routing(
        self, call: Caller, path: str
    ) -> None:
        for host in (
            f"evil.example:{call.port}",
            "evil.example",
            f"127.0.0.1.evil.example:{call.port}",
        ):
            status, answer, _ = call(path, Host=host)
            assert (status, answer["error"]) == (403, "forbidden_host")

    def test_a_request_without_a_host_is_refused(self, call: Caller) -> None:
        with socket.create_connection(("127.0.0.1", call.port), timeout=10) as plain:
            plain.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            assert plain.recv(100).split()[1] == b"403"

    @pytest.mark.parametrize("path", PATHS)
    def test_a_page_from_elsewhere_is_refused_and_its_origin_never_sent_back(
        self, call: Caller, path: str
    ) -> None:
        for origin in ("https://evil.example", "null", "http://127.0.0.1.evil.example"):
            status, answer, headers = call(path, Origin=origin)
            assert (status, answer["error"]) == (403, "forbidden_origin")
            assert "access-control-allow-origin" not in headers

    @pytest.mark.parametrize(
        "origin",
        ["app://obsidian.md", "capacitor://localhost", "http://localhost:5173", "http://127.0.0.1"],
    )
    def test_obsidian_and_pages_of_this_machine_may_ask(self, call: Caller, origin: str) -> None:
        status, _, headers = call("/api/v1/recall?q=pump", Origin=origin)
        assert status == 200
        assert headers["access-control-allow-origin"] == origin != "*"

    @pytest.mark.parametrize("path", [each for each in PATHS if each.startswith("/api")])
    def test_without_the_key_nothing_is_answered(self, call: Caller, path: str) -> None:
        for key in (None, "Bearer khiip_wrong", "Basic abc", "Bearer "):
            status, answer, _ = call(path, Authorization=key)
            assert (status, answer["error"]) == (401, "unauthorized")

    def test_a_form_of_another_page_cannot_start_anything(self, call: Caller) -> None:
        for kind in ("text/plain", "application/x-www-form-urlencoded", None):
            status, answer, _ = call("/api/v1/index", "POST", b'{"full": true}', Content_Type=kind)
            assert (status, answer["error"]) == (415, "unsupported_media_type")

    def test_a_preflight_of_another_page_is_refused_and_obsidians_is_not(
        self, call: Caller
    ) -> None:
        asks: dict[str, str | None] = {
            "Access_Control_Request_Method": "GET",
            "Authorization": None,
        }
        status, _, headers = call(
            "/api/v1/recall", "OPTIONS", Origin="https://evil.example", **asks
        )
        assert status == 403
        assert not [name for name in headers if name.startswith("access-control")]
        status, _, headers = call("/api/v1/recall", "OPTIONS", Origin="app://obsidian.md", **asks)
        assert status == 204
        assert headers["access-control-allow-origin"] == "app://obsidian.md"

    def test_it_listens_on_loopback_unless_told_otherwise(self, call: Caller) -> None:
        assert call("/api/v1/meta")[1]["config"]["host"] == "127.0.0.1"


OUTSIDE = [
    "../../out",
    "..\\..\\out",
    "/etc",
    "C:\\x",
    "a/../../b",
    "%2e%2e/secret.md",
    "../secret.md",
]
RESERVED = [".obsidian/plugins/x", ".khiip", ".git/hooks"]
REFUSED = [
    *((path, "path_outside_vault") for path in OUTSIDE),
    *((p, "reserved_folder") for p in RESERVED),
]


class TestTraversal:
    """B45"""

    @pytest.mark.parametrize(("path", "code"), REFUSED)
    def test_a_path_that_leaves_the_vault_is_refused_and_nothing_outside_is_touched(
        self, make_case: MakeCase, opened: Opened, path: str, code: str
    ) -> None:
        case = make_case({"a/n.md": "The pump."})
        outside = case.vault.parent / "secret.md"
        outside.write_text("secret")
        (case.vault / ".git" / "hooks").mkdir(parents=True)
        case.ok("reindex")
        with case.http() as client:
            client.get("/api/v1/recall?q=pump")
            before = sorted(case.vault.parent.iterdir())
            with opened.during() as touched:
                answers = [
                    client.get("/api/v1/recall", params={"q": "pump", "folder": path}),
                    client.get("/api/v1/captures", params={"folder": path}),
                    client.get("/api/v1/related", params={"path": path}),
                ]
        for answer in answers:
            assert (answer.status_code, answer.json()["error"]) == (400, code)
        assert outside_of(case.vault, touched) == []
        assert sorted(case.vault.parent.iterdir()) == before
        result = case.run("recall", "pump", "--folder", path, "--json")
        assert (result.exit_code, json.loads(result.stderr)["error"]) == (2, code)

    def test_a_symlink_out_of_the_vault_is_no_way_out(
        self, make_case: MakeCase, opened: Opened, tmp_path: Path
    ) -> None:
        secret = tmp_path / "elsewhere"
        secret.mkdir()
        (secret / "secret.md").write_text("the secret of the pump")
        case = make_case({"n.md": "The pump."})
        (case.vault / "link").symlink_to(secret)
        (case.vault / "one.md").symlink_to(secret / "secret.md")
        with opened.during() as touched:
            case.ok("reindex")
        assert not [path for path in touched if path.startswith(str(secret))]
        assert [row["vault_path"] for row in case.json("list")] == ["n.md"]
        with case.http() as client:
            for name in ("link", "link/secret.md"):
                for route in ("captures?folder", "recall?q=pump&folder", "related?path"):
                    answer = client.get(f"/api/v1/{route}={name}")
                    assert (answer.status_code, answer.json()["error"]) == (
                        400,
                        "path_outside_vault",
                    )

    def test_a_pointer_out_of_the_vault_is_no_path(
        self, make_case: MakeCase, opened: Opened, tmp_path: Path
    ) -> None:
        (tmp_path / "x.md").write_text("outside")
        case = make_case({"n.md": "---\nsuperseded_by: ../x\n---\nThe pump."})
        with opened.during() as touched:
            case.run("reindex")
            capture = case.capture("n.md")
        assert str(tmp_path / "x.md") not in touched
        assert capture["superseded_by"] == "../x"
        assert case.paths("pump") == ["n.md"], "a pointer to nothing leaves the note a head"


def outside_of(vault: Path, touched: list[str]) -> list[str]:
    """Paths opened that are neither the vault's nor Python's own."""
    near = str(vault.parent)
    own = (str(vault), f"{vault}-home")
    return [
        path
        for path in touched
        if path == "/etc"
        or path.startswith("/etc/")
        or (path.startswith(near) and not path.startswith(own))
    ]
