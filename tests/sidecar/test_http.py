"""The REST face: routes, shapes of errors, and what a hostile client may not do."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from houses import KEY, NOW, House, note, open_house
from khiip_sidecar.http.answers import ErrorEdge
from khiip_sidecar.http.app import READING_AT_ONCE, make_app
from khiip_sidecar.http.security import Access
from khiip_sidecar.wire.operators import read_query

AUTH = {"Authorization": f"Bearer {KEY}"}
ME = "http://127.0.0.1:8478"
ROUTES = (
    "/health",
    "/api/v1/meta",
    "/api/v1/recall?q=knots",
    "/api/v1/captures",
    "/api/v1/captures/nobody",
    "/api/v1/related?id=nobody",
    "/api/v1/index",
    "/nowhere",
)
NOTES = {
    "quipu.md": note("Knots on cords kept the accounts.", created="2026-01-03", id="knots/1"),
    "tide.md": note("The moon pulls the sea twice a day.", created="2026-01-02"),
    "日記.md": note("雨の日。", created="2026-01-01"),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("http") / "vault", NOTES) as opened:
        yield opened


@pytest.fixture(scope="module")
def bare(house: House) -> TestClient:
    """A client that sends no key."""
    app = make_app(house.operations, Access(("127.0.0.1",), lambda: KEY))
    return TestClient(app, base_url=ME)


@pytest.fixture(scope="module")
def client(house: House) -> TestClient:
    app = make_app(house.operations, Access(("127.0.0.1",), lambda: KEY))
    return TestClient(app, base_url=ME, headers=AUTH)


def refused(response: Any, status: int, code: str) -> None:
    assert (response.status_code, response.json()["error"]) == (status, code)
    assert set(response.json()) == {"detail", "error", "hint"}
    assert response.headers["content-type"] == "application/json"


def test_each_route_answers_what_the_operation_gives(client: TestClient, house: House) -> None:
    do = house.operations
    tide = house.id_of("tide.md")
    assert client.get("/health").json() == do.health()
    assert client.get("/api/v1/meta").json() == do.meta()
    assert client.get("/api/v1/recall?q=knots&limit=2").json() == do.recall(
        {"q": ["knots"], "limit": ["2"]}
    )
    assert client.get("/api/v1/captures?limit=2&offset=1").json() == do.captures(
        {"limit": ["2"], "offset": ["1"]}
    )
    assert client.get(f"/api/v1/captures/{tide}").json() == do.capture(tide)
    assert client.get(f"/api/v1/related?id={tide}").json() == do.related({"id": [tide]})
    assert client.get("/api/v1/index").json() == do.index_state()
    refetched = client.post(f"/api/v1/captures/{tide}/refetch?dimension=re-extract")
    assert (refetched.status_code, refetched.json()) == (200, do.capture(tide))


def test_rest_is_full_unless_told_otherwise(client: TestClient) -> None:
    full = client.get("/api/v1/recall?q=knots").json()["results"][0]
    assert list(full) == ["capture", "score"]
    lean = client.get("/api/v1/recall?q=knots&view=lean").json()["results"][0]
    assert "capture" not in lean


def test_an_id_may_hold_a_slash(client: TestClient) -> None:
    for address in ("knots/1", "knots%2F1"):
        assert client.get(f"/api/v1/captures/{address}").json()["vault_path"] == "quipu.md"


def test_text_is_utf_8_and_not_escaped(client: TestClient) -> None:
    body = client.get("/api/v1/captures?view=lean").content
    assert "日記.md".encode() in body


def test_head_is_get(client: TestClient) -> None:
    assert client.head("/api/v1/recall?q=knots").status_code == 200


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/v1/recall?q=", 422, "empty_query"),
        ("/api/v1/recall?q=%20%20%20", 422, "empty_query"),
        ("/api/v1/recall?q=a&limit=0", 422, "bad_parameter"),
        ("/api/v1/recall?q=a&limit=201", 422, "bad_parameter"),
        ("/api/v1/recall?q=a&min_score=NaN", 422, "bad_parameter"),
        ("/api/v1/recall?q=a&lmit=3", 422, "unknown_parameter"),
        ("/api/v1/recall?q=a&source=tweet", 422, "bad_parameter"),
        ("/api/v1/recall?q=a+AND&match=lexical&match_syntax=fts5", 422, "bad_match_expression"),
        ("/api/v1/recall?q=a&match_syntax=fts5", 422, "bad_parameter"),
        ("/api/v1/recall?path=../secret.md", 400, "path_outside_vault"),
        ("/api/v1/recall?path=%252e%252e/secret.md", 400, "path_outside_vault"),
        ("/api/v1/recall?q=a&folder=../x", 400, "path_outside_vault"),
        ("/api/v1/recall?q=a&folder=.obsidian", 400, "reserved_folder"),
        ("/api/v1/related?path=%2e%2e/x.md", 400, "path_outside_vault"),
        ("/api/v1/related?path=%252e%252e/x.md", 400, "path_outside_vault"),
        ("/api/v1/related", 422, "bad_parameter"),
        ("/api/v1/captures?limit=1001", 422, "bad_parameter"),
        ("/api/v1/captures/nobody", 404, "not_found"),
        ("/api/v1/captures/..%2F..%2Fetc%2Fpasswd", 404, "not_found"),
        ("/api/v1/captures/", 404, "not_found"),
        ("/api/v2/recall", 404, "not_found"),
        ("/", 404, "not_found"),
    ],
)
def test_a_faulty_request_gets_a_code_and_a_sentence(
    client: TestClient, path: str, status: int, code: str
) -> None:
    refused(client.get(path), status, code)


def test_an_access_is_recorded_and_answered_with_nothing(client: TestClient, house: House) -> None:
    tide = house.id_of("tide.md")
    before = house.index.accesses([tide])
    response = client.post(f"/api/v1/captures/{tide}/access")
    assert (response.status_code, response.content) == (204, b"")
    assert "content-type" not in response.headers
    assert "content-length" not in response.headers
    after = house.index.accesses([tide])[tide]
    assert after.count == (before[tide].count if tide in before else 0) + 1
    tallies = house.index.accesses()
    known = tallies["knots/1"].count if "knots/1" in tallies else 0
    slashed = client.post("/api/v1/captures/knots%2F1/access")
    assert (slashed.status_code, house.index.accesses()["knots/1"].count) == (204, known + 1)
    refused(client.post("/api/v1/captures/nobody/access"), 404, "not_found")
    refused(client.get(f"/api/v1/captures/{tide}/access"), 405, "method_not_allowed")


def test_other_dimensions_are_not_served(client: TestClient, house: House) -> None:
    address = f"/api/v1/captures/{house.id_of('tide.md')}/refetch"
    refused(client.post(f"{address}?dimension=media"), 501, "not_implemented")
    refused(client.post(address), 422, "bad_parameter")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/health", "GET, HEAD"),
        ("DELETE", "/api/v1/captures/x", "GET, HEAD"),
        ("GET", "/api/v1/captures/x/refetch", "POST"),
        ("PUT", "/api/v1/index", "GET, HEAD, POST"),
        ("OPTIONS", "/api/v1/recall", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    client: TestClient, method: str, path: str, allow: str
) -> None:
    response = client.request(method, path)
    refused(response, 405, "method_not_allowed")
    assert response.headers["allow"] == allow


def test_indexing_is_started_once_at_a_time(client: TestClient, house: House) -> None:
    started = client.post("/api/v1/index", json={"full": True})
    assert (started.status_code, started.json()["state"]) == (202, "indexing")
    refused(client.post("/api/v1/index"), 409, "already_running")
    house.worker.start()
    assert house.worker.stop(5)


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b'{"full": true}', "text/plain", 415, "unsupported_media_type"),
        (b"full=true", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        (b'{"full": true}', "", 415, "unsupported_media_type"),
        (b"{", "application/json", 422, "bad_json"),
        (b"\x0b", "application/json", 422, "bad_json"),
        (b"null", "application/json", 422, "bad_parameter"),
        (b"[" * 60_000, "application/json", 422, "bad_json"),
        (b"\xff\xfe", "application/json", 422, "bad_json"),
        (b"[]", "application/json", 422, "bad_parameter"),
        (b'{"full": 1}', "application/json; charset=utf-8", 422, "bad_parameter"),
        (b'{"fast": true}', "application/json", 422, "bad_parameter"),
        (b'"' + b"x" * 70_000 + b'"', "application/json", 413, "body_too_large"),
    ],
)
def test_a_body_that_is_not_small_json_is_refused(
    client: TestClient, body: bytes, kind: str, status: int, code: str
) -> None:
    response = client.post("/api/v1/index", content=body, headers={"Content-Type": kind})
    refused(response, status, code)


def test_a_body_without_a_length_is_limited_too(client: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 1000

    headers = {"Content-Type": "application/json"}
    refused(client.post("/api/v1/index", content=pieces(), headers=headers), 413, "body_too_large")


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8478",
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8478",
        "localhost:8478@evil.example",
        "192.168.1.7",
        "0.0.0.0:8478",
        "localhost:",
        "localhost, evil.example",
        "",
    ],
)
def test_a_wrong_host_is_refused_on_every_path(client: TestClient, path: str, host: str) -> None:
    refused(client.get(path, headers={"Host": host}), 403, "forbidden_host")


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8478", "localhost", "LOCALHOST:9999", "[::1]:8478", "[::1]"]
)
def test_loopback_names_are_right_hosts(client: TestClient, host: str) -> None:
    assert client.get("/api/v1/meta", headers={"Host": host}).status_code == 200


def test_the_address_bound_to_is_a_right_host(house: House) -> None:
    app = make_app(house.operations, Access(("192.168.1.7", "fe80::1", "Desk.local"), lambda: KEY))
    client = TestClient(app, base_url=ME, headers=AUTH)
    for host in ("192.168.1.7:8478", "[fe80::1]:8478", "desk.local"):
        assert client.get("/health", headers={"Host": host}).status_code == 200
    refused(client.get("/health", headers={"Host": "192.168.1.8"}), 403, "forbidden_host")


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "app://evil.md",
        "http://localhost.evil.example",
        "http://evil.example#http://localhost",
        "file://",
        "*",
    ],
)
def test_a_page_from_elsewhere_is_refused_on_every_path(
    client: TestClient, path: str, origin: str
) -> None:
    response = client.get(path, headers={"Origin": origin})
    refused(response, 403, "forbidden_origin")
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "origin",
    [
        "app://obsidian.md",
        "capacitor://localhost",
        "http://localhost",
        "http://127.0.0.1:8478",
        "https://[::1]:3000",
    ],
)
def test_obsidian_and_this_machine_may_read_the_answer(client: TestClient, origin: str) -> None:
    response = client.get("/api/v1/recall?q=knots", headers={"Origin": origin})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == origin
    assert response.headers["vary"] == "Origin"


def test_without_an_origin_no_cors_header_is_sent(client: TestClient) -> None:
    response = client.get("/api/v1/meta")
    assert "access-control-allow-origin" not in response.headers
    assert response.headers["vary"] == "Origin"


def test_an_error_can_be_read_by_an_allowed_page_too(bare: TestClient) -> None:
    response = bare.get("/api/v1/meta", headers={"Origin": "app://obsidian.md"})
    refused(response, 401, "unauthorized")
    assert response.headers["access-control-allow-origin"] == "app://obsidian.md"


def test_a_preflight_needs_no_key_and_an_allowed_origin(bare: TestClient) -> None:
    asks = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    good = bare.options("/api/v1/index", headers={"Origin": "app://obsidian.md", **asks})
    assert (good.status_code, good.content) == (204, b"")
    assert good.headers["access-control-allow-origin"] == "app://obsidian.md"
    assert "authorization" in good.headers["access-control-allow-headers"].lower()
    assert "POST" in good.headers["access-control-allow-methods"]
    bad = bare.options("/api/v1/index", headers={"Origin": "https://evil.example", **asks})
    refused(bad, 403, "forbidden_origin")


@pytest.mark.parametrize("path", ROUTES[1:])
@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Bearer {KEY}x",
        f"Bearer {KEY[:-1]}",
        f"Basic {KEY}",
        KEY,
        "Bearer clé",
    ],
)
def test_without_the_key_there_is_nothing_but_health_and_the_description(
    bare: TestClient, path: str, header: str | None
) -> None:
    headers = [] if header is None else [(b"authorization", header.encode("latin-1"))]
    response = bare.get(path, headers=headers)
    refused(response, 401, "unauthorized")
    assert response.headers["www-authenticate"] == "Bearer"


def test_health_needs_no_key(bare: TestClient) -> None:
    assert bare.get("/health").status_code == 200
    assert bare.get("/health/").status_code == 401


def test_the_scheme_of_the_key_may_be_in_any_case(bare: TestClient) -> None:
    assert bare.get("/api/v1/meta", headers={"Authorization": f"bearer  {KEY}"}).status_code == 200


def test_a_rotated_key_counts_at_once(house: House) -> None:
    keys = ["khiip_first-key-of-two"]
    app = make_app(house.operations, Access(("127.0.0.1",), lambda: keys[-1]))
    client = TestClient(app, base_url=ME)
    old = {"Authorization": f"Bearer {keys[0]}"}
    assert client.get("/api/v1/meta", headers=old).status_code == 200
    keys.append("khiip_second-key-of-two")
    refused(client.get("/api/v1/meta", headers=old), 401, "unauthorized")


def test_a_web_socket_is_turned_away(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect) as caught, client.websocket_connect("/mcp"):
        pass
    assert caught.value.code == 1008


def test_an_unforeseen_fault_is_a_code_for_the_client_and_one_line_in_the_log(
    client: TestClient,
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("in the\nmiddle")

    monkeypatch.setattr(house.index, "search", fail)
    response = client.get("/api/v1/recall?q=knots")
    refused(response, 500, "internal_error")
    assert "middle" not in response.text
    [record] = caplog.records
    assert "RuntimeError: in the middle" in record.getMessage()
    assert "\n" not in record.getMessage()


def test_a_request_that_the_stop_cuts_off_is_told_so(house: House) -> None:
    sent: list[Any] = []

    async def cut(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    asyncio.run(ErrorEdge(cut)({"type": "http"}, receive, send))
    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["error"] == "stopping"


class Crowded:
    """Operations of which recall lasts until it may end, and counts how often it is under way."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._guard = threading.Lock()
        self.running = self.most = 0
        self.may_end = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._house.operations, name)

    def recall(self, _: object) -> dict[str, Any]:
        with self._guard:
            self.running += 1
            self.most = max(self.most, self.running)
        assert self.may_end.wait(10)
        with self._guard:
            self.running -= 1
        return {}


def test_a_crowd_waits_for_few_threads_and_health_does_not_wait_for_the_crowd(
    house: House,
) -> None:
    crowded = Crowded(house)
    app = make_app(crowded, Access(("127.0.0.1",), lambda: KEY))  # type: ignore[arg-type]

    async def ask(path: str) -> int:
        statuses: list[int] = []

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {KEY}".encode())]
        scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
        await app({**scope, "query_string": b"q=knots"}, receive, send)
        return statuses[0]

    async def crowd() -> tuple[int, list[int]]:
        asked = [asyncio.create_task(ask("/api/v1/recall")) for _ in range(3 * READING_AT_ONCE)]
        while crowded.running < READING_AT_ONCE:
            await asyncio.sleep(0.001)
        health = await ask("/health")
        crowded.may_end.set()
        return health, await asyncio.gather(*asked)

    assert asyncio.run(crowd()) == (200, [200] * 3 * READING_AT_ONCE)
    assert crowded.most == READING_AT_ONCE


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=texts)
def test_any_query_is_answered_or_is_blank(client: TestClient, query: str) -> None:
    sent = quote(query.encode("utf-8", "surrogatepass"))
    response = client.get(f"/api/v1/recall?q={sent}&view=lean")
    if read_query(query, NOW).terms:  # exact words, say, that no note holds
        assert response.status_code in (200, 501)
    else:
        assert response.status_code == (200 if response.json().get("results") else 422)
    json.loads(response.content, parse_constant=pytest.fail)


@settings(max_examples=150)
@given(
    path=st.sampled_from(ROUTES),
    pairs=st.dictionaries(
        st.sampled_from(
            ["q", "limit", "offset", "view", "folder", "tag", "since", "min_score", "id"]
        ),
        texts,
        max_size=4,
    ),
)
def test_no_parameters_make_the_service_fail(
    client: TestClient, path: str, pairs: dict[str, str]
) -> None:
    sent = "&".join(
        f"{name}={quote(text.encode('utf-8', 'surrogatepass'))}" for name, text in pairs.items()
    )
    joiner = "&" if "?" in path else "?"
    response = client.get(f"{path}{joiner}{sent}")
    assert response.status_code in (200, 400, 404, 422, 501)
    json.loads(response.content, parse_constant=pytest.fail)
