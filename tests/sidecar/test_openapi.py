"""The description of the API says what the service does: routes, parameters, errors, answers."""

from __future__ import annotations

import ast
import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from houses import KEY, House, note, open_house
from khiip_indexer.errors import KhiipError, UsageError
from khiip_indexer.vault import Vault
from khiip_sidecar.http.app import make_app
from khiip_sidecar.http.security import Access
from khiip_sidecar.wire.faults import FAULTS
from khiip_sidecar.wire.openapi import EXAMPLES_FILE, agreed_answers, description
from khiip_sidecar.wire.params import IN_VAULT, Parameter
from khiip_sidecar.wire.parse import parse
from khiip_sidecar.wire.routes import VERBS

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "fixtures" / "api"
SAMPLE = ROOT / "fixtures" / "vaults" / "sample"
WRITING = os.environ.get("KHIIP_WRITE_GOLDEN") == "1"
NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
AUTH = {"Authorization": f"Bearer {KEY}"}
DOCUMENT = description()
OPERATIONS = {
    operation["operationId"]: (path, method, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}

# Codes of errors that end a start or a command: no request can meet them.
NEVER_OVER_HTTP = {
    "port_in_use",  # there is no service then
    "cannot_listen",
    "bad_config",
    "index_of_other_vault",
    "vault_locked",
    "mass_deletion",  # kept as the state of indexing, for people to see
    "sidecar_unreachable",  # said by the command line when it asks in vain
    "sync_failed",
    "model_failed",  # words answer then
    "bad_access_line",
}

COMMANDS = {"cli", "evaluation", "githooks"}  # folders whose errors only the command line shows


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The sample vault with a model that is a double; every kind of payload is in it."""
    root = tmp_path_factory.mktemp("openapi") / "vault"
    shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".khiip"))
    with open_house(root, {"broken.md": note("A body.", created="2026-13-45")}) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(house: House) -> TestClient:
    app = make_app(house.operations, Access(("127.0.0.1",), lambda: KEY))
    return TestClient(app, base_url="http://127.0.0.1:8478", headers=AUTH)


def closed(schema: Any) -> Any:
    """The same schema with no room for fields that it does not name."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(each) for name, each in schema.items()}
    names_fields = inner.get("type") == "object" and "properties" in inner
    return {"additionalProperties": False, **inner} if names_fields else inner


def check(answer: Any, name: str) -> None:
    """Hold an answer against a named schema, with no field more and none less."""
    schema = {
        "$ref": f"#/components/schemas/{name}",
        "components": closed({"schemas": DOCUMENT["components"]["schemas"]}),
    }
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    assert [
        f"{each.instance_path}: {each.message}"[:300] for each in validator.iter_errors(answer)
    ] == []


def test_every_schema_is_one(client: TestClient) -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema_rs.Draft202012Validator(
            {**schema, "components": {"schemas": DOCUMENT["components"]["schemas"]}}
        )
        jsonschema_rs.meta.validate(schema)
    assert client.get("/openapi.json").json() == json.loads(json.dumps(DOCUMENT))


def test_every_route_is_described_and_nothing_else(house: House) -> None:
    app = make_app(house.operations, Access(("127.0.0.1",), lambda: KEY))
    described = {(path, method.upper()) for path, method, _ in OPERATIONS.values()}
    assert described == app.routes


def test_every_operation_is_in_a_group_that_is_listed() -> None:
    listed = {tag["name"] for tag in DOCUMENT["tags"]}
    assert {tag for _, _, operation in OPERATIONS.values() for tag in operation["tags"]} == listed


def test_what_needs_no_key_is_marked(house: House) -> None:
    app = make_app(house.operations, Access(("127.0.0.1",), lambda: KEY))
    bare = TestClient(app, base_url="http://127.0.0.1:8478")
    for path, method, operation in OPERATIONS.values():
        if path.endswith("/events") and method == "get":
            continue  # never ends where it is allowed; its head is asked instead
        address = path.replace("{id}", "nobody").replace("{asset}", "page.js")
        refused = bare.request(method, address).status_code == 401
        assert refused == (operation.get("security") is None), path


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_parameter_is_described(verb: Any) -> None:
    _, _, operation = OPERATIONS[verb.name]
    described = {each["name"] for each in operation["parameters"]}
    assert described == {each.name for each in (*verb.parameters, *verb.in_path)}


PARAMETERS = [(verb.name, each) for verb in VERBS for each in verb.parameters]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=lambda it: getattr(it, "name", it))
def test_values_at_the_edge_of_what_is_described_are_taken_and_those_beyond_are_not(
    name: str, parameter: Parameter
) -> None:
    def read(text: str) -> Any:
        return parse([parameter], {parameter.name: [text]}, NOW)[parameter.name]

    described = {each["name"]: each for each in OPERATIONS[name][2]["parameters"]}
    schema = described[parameter.name]["schema"]
    assert (
        schema.get("default") == parse([parameter], {}, NOW)[parameter.name]
        or schema.get("type") == "array"
    )
    single = schema.get("items", schema)
    for value in single.get("enum", ()):
        read(json.dumps(value) if isinstance(value, bool) else value)
    for word, step in (("minimum", -1), ("maximum", 1)):
        if word in single:
            read(str(single[word]))
            with pytest.raises(UsageError):
                read(str(single[word] + step))
    if "maxLength" in single:
        read("a" * single["maxLength"])
        with pytest.raises(UsageError):
            read("a" * (single["maxLength"] + 1))
    for alias in described[parameter.name].get("x-aliases", ()):
        assert parse([parameter], {alias: ["a"]}, NOW)[parameter.name] == "a"


STEPS = st.lists(
    st.sampled_from([".", "..", "%2e", "%2E.", "a", " ", "", "C:", ".git", " ..", "日", "a.b", "-"])
    | st.text(max_size=4),
    min_size=1,
    max_size=4,
)


@given(STEPS, st.sampled_from("/\\"))
def test_the_described_form_of_a_path_is_what_the_vault_takes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], separator: str
) -> None:
    path = separator.join(steps)
    vault = Vault(tmp_path_factory.getbasetemp())
    described = jsonschema_rs.is_valid({"pattern": IN_VAULT}, path)
    parameter = Parameter("path", "path", "")
    try:
        vault.resolve(parse([parameter], {"path": [path]}, NOW)["path"])
    except UsageError:
        assert not described, path
    else:
        assert described, path


def codes_in_the_source() -> Iterator[str]:
    """Every code that the program gives to an error, by class or by call."""
    for root in ("indexer", "sidecar"):
        for path in sorted((ROOT / root).rglob("*.py")):
            if COMMANDS.intersection(path.parts):
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and "Problem" not in ast.unparse(node.func):
                    yield from (
                        each.value.value
                        for each in node.keywords
                        if each.arg == "code" and isinstance(each.value, ast.Constant)
                        if isinstance(each.value.value, str)
                    )
                if isinstance(node, ast.Call) and ast.unparse(node.func) in ("HttpError", "_torn"):
                    code = node.args[1]
                    if isinstance(code, ast.Constant) and isinstance(code.value, str):
                        yield code.value


def families(base: type[KhiipError]) -> Iterator[type[KhiipError]]:
    for family in base.__subclasses__():
        yield family
        yield from families(family)


def test_every_code_of_an_error_is_described_with_its_status() -> None:
    from khiip_sidecar.cli import main  # noqa: F401  (all families are known once it is loaded)

    statuses = {code: status for status, of in FAULTS.items() for code in of}
    assert set(codes_in_the_source()) - set(statuses) - NEVER_OVER_HTTP == set()
    for family in families(KhiipError):
        if family.code not in NEVER_OVER_HTTP:
            assert statuses[family.code] == family.http_status, family
    answers = [
        answer
        for _, _, operation in OPERATIONS.values()
        for answer in operation["responses"].values()
    ]
    described = {
        code
        for answer in (*answers, *DOCUMENT["components"]["responses"].values())
        for content in answer.get("content", {}).values()
        for code in content.get("schema", {}).get("properties", {}).get("error", {}).get("enum", ())
    }
    assert set(statuses) - described == set()


def test_examples_are_the_agreed_answers() -> None:
    agreed = {
        name: json.loads((GOLDEN / f"{name}.json").read_text("utf-8")) for name in agreed_answers()
    }
    if WRITING:
        import khiip_sidecar.wire

        file = Path(khiip_sidecar.wire.__path__[0]) / EXAMPLES_FILE
        file.write_text(json.dumps(agreed, ensure_ascii=False, indent=1) + "\n", "utf-8")
    assert agreed_answers() == agreed


@pytest.mark.parametrize("verb", [each for each in VERBS if each.examples], ids=lambda v: v.name)
def test_examples_are_of_the_described_form(verb: Any) -> None:
    for name in verb.examples:
        check(agreed_answers()[name], verb.answer)


def test_agreed_errors_are_of_the_described_form() -> None:
    for error in agreed_answers()["errors"].values():
        check(error["body"], "Error")
        assert error["body"]["error"] in FAULTS[error["status"]]


def test_every_capture_of_the_sample_vault_is_of_the_described_form(client: TestClient) -> None:
    captures = client.get("/api/v1/captures?limit=1000&include_archived=true").json()
    check(captures, "Captures")
    assert {capture["payload"]["kind"] for capture in captures} == set(
        DOCUMENT["components"]["schemas"]["Capture"]["properties"]["source"]["enum"]
    )
    assert any(capture["problems"] for capture in captures)


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("/health", "Health"),
        ("/api/v1/meta", "Meta"),
        ("/api/v1/recall?q=knots&limit=50", "Recall"),
        ("/api/v1/recall?q=knots&view=lean&limit=50&max_tokens=300", "Recall"),
        ("/api/v1/related?path=broken.md", "Recall"),
        ("/api/v1/captures?view=lean&limit=1000", "Captures"),
        ("/api/v1/index", "Index"),
        ("/openapi.json", "Description"),
        ("/nowhere", "Error"),
    ],
)
def test_a_real_answer_is_of_the_described_form(client: TestClient, path: str, schema: str) -> None:
    check(client.get(path).json(), schema)


def test_the_state_after_a_run_and_its_events_are_of_the_described_form(house: House) -> None:
    house.worker.start()
    assert house.worker.stop(30)
    state = house.operations.index_state()
    assert state["last_report"]["problems"] or state["last_report"]["unchanged"]
    check(state, "Index")
    check(house.operations.progress(), "Progress")
