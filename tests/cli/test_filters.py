"""Filters on every face: as options, as parameters, and as operators in the query."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from cli.conftest import Khiipd
from houses import KEY
from indexing import reindex
from khiip_indexer.index import VaultIndex
from khiip_sidecar.http.app import make_app
from khiip_sidecar.http.security import Access
from khiip_sidecar.operations import Operations
from khiip_sidecar.recall import RecallService
from support import write_note

NOTES = {
    "Papers/2024 knots.md": "---\ntags: [sea, draft]\nstatus: done\n---\nKnots on cords and waves.",
    "Papers/Tides.md": "---\ntags: [sea]\nlayer: warning\n---\nThe moon pulls knots of waves.",
    "archive/Bread.md": '---\ntags: [food]\nentity: Yeast\nauthor: "[[Ada Lovelace|Ada]]"\n'
    'thread: "[[Oven]]"\nmill: "[[Rye House]]"\n---\nFlour and knots of dough.',
}
QUIPU, TIDES, BREAD = "Papers/2024 knots.md", "Papers/Tides.md", "archive/Bread.md"


@pytest.fixture
def filled(make_khiipd: Callable[..., Khiipd]) -> Khiipd:
    cli = make_khiipd()
    for each in cli.settings.vault.rglob("*.md"):
        each.unlink()
    for path, text in NOTES.items():
        write_note(cli.settings.vault, path, text)
    reindex(cli.settings, cli.embedder)
    return cli


@pytest.fixture
def client(filled: Khiipd) -> Iterator[TestClient]:
    with VaultIndex.open(filled.settings) as index:
        operations = Operations(RecallService(index, filled.embedder))
        app = make_app(operations, Access(("127.0.0.1",), lambda: KEY))
        yield TestClient(
            app,
            base_url="http://127.0.0.1:8478",
            headers={"Authorization": f"Bearer {KEY}"},
        )


# (parameters of REST, options of the command line, operators, paths let in)
SAME = [
    ("tag=sea&tag=-draft", ["--tag", "sea", "--tag", "-draft"], "tag:#sea -tag:draft", {TIDES}),
    ("-tag=draft", ["--tag=-draft"], "-tag:draft", {TIDES, BREAD}),
    ("folder=-archive", ["--folder", "-archive"], "-folder:archive", {QUIPU, TIDES}),
    ("in_path=papers&-file=2024", ["--in-path", "papers", "--file", "-2024"],
     "path:papers -file:2024", {TIDES}),
    ("property=status:done", ["--property", "status:done"], "[status:done]", {QUIPU}),
    ("-property=status", ["--property", "-status"], "-[status]", {TIDES, BREAD}),
    ("phrase=moon%20pulls", ["--phrase", "moon pulls"], '"moon pulls"', {TIDES}),
    ("layer=pitfalls", ["--layer", "pitfalls"], "layer:pitfalls", {TIDES}),
    ("entity_name=yeast", ["--entity-name", "yeast"], "entity:yeast", {BREAD}),
    ("entity_name=[[Yeast%23Dry|it]]", ["--entity-name", "[[yeast]]"], 'entity:"[[Yeast]]"',
     {BREAD}),
    ("thread_id=[[Oven]]", ["--thread-id", "Oven"], 'thread:"[[Oven|it]]"', {BREAD}),
    ("author=[[Ada]]", ["--author", "[[Ada Lovelace|Ada]]"], 'author:"[[Ada]]"', {BREAD}),
    ("property=mill:[[Rye%20House]]", ["--property", "mill: [[rye house|mill]]"],
     '[mill:"[[Rye House]]"]', {BREAD}),
    ("-property=mill:[[Rye%20House]]", ["--property", "-mill:[[Rye House]]"],
     '-["mill":"[[Rye House]]"]', {QUIPU, TIDES}),
    ("since=yesterday&source=-web,-pdf", ["--since", "yesterday", "--source", "-web,-pdf"],
     "since:yesterday -source:web,pdf", {QUIPU, TIDES, BREAD}),
    ("until=2%20weeks%20ago", ["--until", "2 weeks ago"], "until:2 weeks ago", set()),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "options", "operators", "paths"), SAME)
def test_a_filter_means_the_same_however_it_is_said(
    filled: Khiipd,
    client: TestClient,
    asked: str,
    options: list[str],
    operators: str,
    paths: set[str],
) -> None:
    def by_rest(route: str) -> set[str]:
        answer = client.get(f"/api/v1/{route}view=lean").json()
        return {row["vault_path"] for row in answer.get("results", ())}

    def by_command(*args: str) -> set[str]:
        answer = json.loads(filled.ok(*args, "--json").stdout)
        rows = answer["results"] if isinstance(answer, dict) else answer
        return {row["vault_path"] for row in rows}

    assert by_rest(f"recall?q=knots&{asked}&") == paths
    assert by_command("recall", "knots", *options) == paths
    assert by_command("recall", f"{operators} knots") == paths
    assert by_command("list", *options) == paths
    assert by_command("related", BREAD, *options) == paths - {BREAD}
    assert by_rest(f"related?path={BREAD}&{asked}&") == paths - {BREAD}
    listed = client.get(f"/api/v1/captures?{asked}&view=lean").json()
    assert {row["vault_path"] for row in listed} == paths


@pytest.mark.parametrize("text", ["title:x", "-quick", '"unclosed', "NOT x", "source:foo", "C++:"])
def test_punctuation_is_never_an_error(client: TestClient, text: str) -> None:
    answer = client.get("/api/v1/recall", params={"q": f"knots {text}", "limit": 3})
    assert answer.status_code == 200
    assert len(answer.json()["results"]) == 3


@pytest.mark.parametrize(
    ("asked", "detail"),
    [
        ("layer=sky", "goal, context, emotion, implementation, caveat, learning"),
        ("mem_state=-asleep", "open, decided, in_progress"),
        ("-altitude=low", "mission, strategy, architecture, implementation"),
    ],
)
def test_a_wrong_value_is_told_what_is_allowed(client: TestClient, asked: str, detail: str) -> None:
    for route in ("recall?q=a&", "captures?", "related?path=archive/Bread.md&"):
        answer = client.get(f"/api/v1/{route}{asked}")
        assert answer.status_code == 422
        assert detail in answer.json()["detail"]


def test_a_time_that_is_none_is_told_how_to_write_one(client: TestClient) -> None:
    answer = client.get("/api/v1/captures?since=soonish")
    assert answer.status_code == 422
    assert "last month" in answer.json()["hint"]


@pytest.mark.parametrize("folder", ["../out", "-../out", "/etc"])
def test_a_folder_outside_is_refused_also_where_it_is_left_out(
    client: TestClient, folder: str
) -> None:
    answer = client.get("/api/v1/captures", params={"folder": folder})
    assert (answer.status_code, answer.json()["error"]) == (400, "path_outside_vault")
    assert client.get("/api/v1/recall", params={"q": f"folder:{folder} knots"}).status_code == 200
