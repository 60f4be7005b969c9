"""The OpenAPI 3.1 description, from the tables that requests are parsed and answered by; pure."""

from __future__ import annotations

import json
from importlib.resources import files

from khiip_indexer import __version__
from khiip_sidecar.wire.asked import parameter_view
from khiip_sidecar.wire.encode import Json
from khiip_sidecar.wire.faults import ALWAYS, WITH_KEY, by_status
from khiip_sidecar.wire.routes import EVENTS, VERBS, Verb
from khiip_sidecar.wire.schemas import schemas
from khiip_sidecar.wire.typed import reference

EXAMPLES_FILE = "examples.json"
ABOUT = (
    "Recall for an Obsidian vault, on this machine only. Errors are one sentence that a person can "
    "act on, a stable code, and a hint. An empty list always means that nothing was found. Any "
    "method that an address does not take is answered with 405. Fields and codes may be added; "
    "none is renamed or removed."
)
HEADERS = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After"}
GROUPED = ("recall", "captures", "index", "service")
OTHERWISE = ("method_not_allowed",)  # what no described operation can meet
KEY_HINT = "`khiipd auth show` prints the key; it is made at first use."


def description() -> Json:
    """The whole description of the service."""
    examples = agreed_answers()
    paths: dict[str, Json] = {}
    for verb in VERBS:
        operation = _operation(verb, examples)
        paths.setdefault(verb.path, {})[verb.method.lower()] = operation
        if verb.method == "GET":
            paths[verb.path]["head"] = _head(operation)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Khiip", "version": __version__, "description": ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"key": []}],
        "tags": [{"name": name} for name in GROUPED],
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "responses": {"MethodNotAllowed": _fault(405, by_status(OTHERWISE)[405], examples)},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": KEY_HINT}
            },
        },
    }


def agreed_answers() -> dict[str, Json]:
    """The answers to a small vault that tests and other clients agreed on, by name."""
    answers: dict[str, Json] = json.loads(
        (files("khiip_sidecar.wire") / EXAMPLES_FILE).read_text("utf-8")
    )
    return answers


def _operation(verb: Verb, examples: dict[str, Json]) -> Json:
    operation: Json = {
        "operationId": verb.name,
        "tags": [verb.group],
        "summary": verb.summary,
        "description": verb.doc,
        "parameters": _parameters(verb),
        "responses": _responses(verb, examples),
    }
    if verb.open:
        operation["security"] = []
    if verb.body:
        operation["requestBody"] = {
            "required": False,
            "content": {"application/json": {"schema": reference(verb.body)}},
        }
    return operation


def _parameters(verb: Verb) -> list[Json]:
    asked = [parameter_view(each, "path") for each in verb.in_path]
    asked += [parameter_view(each, "query") for each in verb.parameters]
    return asked


def _responses(verb: Verb, examples: dict[str, Json]) -> Json:
    good: Json = {"description": verb.summary}
    if verb.status != 204:
        good["content"] = {verb.media: _content(verb, examples)}
    codes = ALWAYS + verb.faults + (() if verb.open else WITH_KEY)
    faults = {str(status): _fault(status, of, examples) for status, of in by_status(codes).items()}
    return {str(verb.status): good, **faults}


def _content(verb: Verb, examples: dict[str, Json]) -> Json:
    content: Json = {}
    if verb.media == "text/event-stream":
        content["schema"] = _event(reference(verb.answer or ""))
    elif verb.answer:
        content["schema"] = reference(verb.answer)
    if verb.examples:
        content["examples"] = {name: {"value": examples[name]} for name in verb.examples}
    return content


def _event(data: Json) -> Json:
    """One event of a stream by its fields, as readers of such streams hand them out."""
    shapes = {"anyOf": [data, reference("Error")]}
    fields: Json = {
        "event": {"type": "string", "enum": list(EVENTS)},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": shapes},
    }
    return {"type": "object", "properties": fields, "required": list(fields)}


def _fault(status: int, codes: dict[str, str], examples: dict[str, Json]) -> Json:
    """One status: the error's shape, narrowed to the codes that it may carry here."""
    schema: Json = {
        "allOf": [reference("Error")],
        "properties": {"error": {"enum": list(codes)}},
    }
    content: Json = {"schema": schema}
    shown = {
        name: {"value": error["body"]}
        for name, error in examples["errors"].items()
        if error["body"]["error"] in codes
    }
    if shown:
        content["examples"] = shown
    lines = [f"- `{code}`: {text}" for code, text in codes.items()]
    answer: Json = {"description": "\n".join(lines), "content": {"application/json": content}}
    if header := HEADERS.get(status):
        answer["headers"] = {header: {"required": True, "schema": {"type": "string"}}}
    return answer


def _head(operation: Json) -> Json:
    """The same question for the head of the answer alone."""
    return {
        **operation,
        "operationId": f"{operation['operationId']}_head",
        "summary": f"{operation['summary']}: the head of the answer alone",
        "responses": {
            status: {name: part for name, part in answer.items() if name != "content"}
            for status, answer in operation["responses"].items()
        },
    }
