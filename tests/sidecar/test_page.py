"""The page at /docs: whole without a network, and strict about what may run in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from houses import KEY, open_house
from khiip_sidecar.http.app import make_app
from khiip_sidecar.http.security import Access
from khiip_sidecar.wire.routes import ASSETS

ME = "http://127.0.0.1:8478"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client that sends no key."""
    with open_house(tmp_path_factory.mktemp("page") / "vault", {"a.md": "A note."}) as house:
        app = make_app(house.operations, Access(("127.0.0.1",), lambda: KEY))
        yield TestClient(app, base_url=ME)


class Page(HTMLParser):
    """What a page loads, and whether it holds code or style of its own."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.inline: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        given = dict(attrs)
        self.inline += [name for name in given if name.startswith("on") or name == "style"]
        target = given.get("src") or (given.get("href") if tag == "link" else None)
        if target:
            self.loads.append(target)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style") and data.strip():
            self.inline.append(data)


def test_the_page_loads_its_own_files_and_nothing_else(client: TestClient) -> None:
    response = client.get("/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(response.text)
    assert page.inline == []
    files = [target for target in page.loads if target != "data:,"]
    assert {f"/docs/{name}" for name in ASSETS} == set(files)
    for target in files:
        assert client.get(target).status_code == 200


def test_the_page_shows_this_services_description(client: TestClient) -> None:
    script = client.get("/docs/page.js").text
    [address] = re.findall(r'url: "([^"]+)"', script)
    assert client.get(address).json()["info"]["title"] == "Khiip"


@pytest.mark.parametrize("path", ["/docs", *(f"/docs/{name}" for name in ASSETS)])
def test_nothing_from_elsewhere_may_run_or_be_reached(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy.pop("default-src") == "'none'"
    assert policy.pop("img-src") == "'self' data:"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}
    assert {policy[name] for name in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ASSETS)
def test_files_are_sent_as_what_they_are(client: TestClient, name: str) -> None:
    kind = client.get(f"/docs/{name}").headers["content-type"]
    assert kind == ("text/css" if name.endswith(".css") else "text/javascript")


@pytest.mark.parametrize(
    "path",
    ["/docs/page.html", "/docs/swagger-ui.css.map", "/docs/..%2Fapp.py", "/docs/", "/docs/x"],
)
def test_no_other_file_is_sent_and_other_paths_want_the_key(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 401
    assert client.get(path, headers={"Authorization": f"Bearer {KEY}"}).status_code == 404


@pytest.mark.parametrize("path", ["/docs", "/docs/page.js", "/openapi.json"])
def test_the_page_keeps_to_the_rules_of_host_and_origin(client: TestClient, path: str) -> None:
    assert client.get(path, headers={"Host": "evil.example"}).status_code == 403
    assert client.get(path, headers={"Origin": "https://evil.example"}).status_code == 403
    assert client.head(path).status_code == 200
    assert client.post(path).status_code == 405
