"""How agents' programs are told of a server: where their files are, what is written there; pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from khiip_indexer.errors import UsageError

System = Literal["linux", "darwin", "win32"]
Form = Literal["json", "toml"]


@dataclass(frozen=True, slots=True)
class Client:
    """A program: its file below the user's folders, and the key that its servers stand under.

    `typed` says that every entry names its transport. `below` is the folder on each system:
    `~` the home, `@` the place for settings of programs with windows.
    """

    name: str
    title: str
    file: str
    key: str = "mcpServers"
    form: Form = "json"
    typed: bool = False


CLIENTS = (
    Client("claude-code", "Claude Code", "~/.claude.json", typed=True),
    Client("claude-desktop", "Claude Desktop", "@/Claude/claude_desktop_config.json"),
    Client("codex", "Codex", "~/.codex/config.toml", "mcp_servers", "toml"),
    Client("cursor", "Cursor", "~/.cursor/mcp.json"),
    Client("gemini", "Gemini CLI", "~/.gemini/settings.json"),
    Client("vscode", "Visual Studio Code", "@/Code/User/mcp.json", "servers", typed=True),
    Client("windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json"),
)
BY_NAME = {each.name: each for each in CLIENTS}


@dataclass(frozen=True, slots=True)
class Entry:
    """One server as a client starts it."""

    name: str
    words: Sequence[str]
    environment: Mapping[str, str]


def place_of(client: Client, system: str, home: Path, config: Path) -> Path:
    """Where the client's file is; `config` is the XDG folder, or APPDATA on Windows."""
    base, _, rest = client.file.partition("/")
    if base == "~":
        return home / rest
    return (home / "Library" / "Application Support" if system == "darwin" else config) / rest


def snippet(client: Client, entry: Entry) -> str:
    """What belongs into the client's file, for a person to read."""
    if client.form == "toml":
        return _toml_block(client, entry)
    return _written({client.key: {entry.name: _said(client, entry)}}, "")


def with_entry(client: Client, text: str, entry: Entry) -> str:
    """The client's file with the server in it; everything else stays as it was.

    Raises UsageError when the file cannot be understood, as merging would lose something.
    """
    if client.form == "toml":
        return _toml_with(client, text, entry)
    data = _read_json(text)
    servers = data.setdefault(client.key, {})
    if not isinstance(servers, dict):
        raise _not_understood(f"`{client.key}` is no object")
    servers[entry.name] = _said(client, entry)
    return _written(data, text)


def without_entry(client: Client, text: str, name: str) -> str:
    """The client's file without the server; "" when nothing else was in it."""
    if client.form == "toml":
        return _toml_without(client, text, name)
    data = _read_json(text)
    servers = data.get(client.key)
    if not isinstance(servers, dict) or name not in servers:
        return text
    del servers[name]
    if not servers:
        del data[client.key]
    return _written(data, text) if data else ""


def _said(client: Client, entry: Entry) -> dict[str, Any]:
    said: dict[str, Any] = {"type": "stdio"} if client.typed else {}
    said |= {"command": entry.words[0], "args": list(entry.words[1:])}
    return said | ({"env": dict(entry.environment)} if entry.environment else {})


def _read_json(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text.removeprefix("\ufeff") or "{}")
    except (ValueError, RecursionError) as error:
        raise _not_understood(str(error)) from error
    if not isinstance(data, dict):
        raise _not_understood("it holds no object")
    return data


def _written(data: dict[str, Any], before: str) -> str:
    """With the indentation that the file had."""
    found = re.search(r"\n([ \t]+)\"", before)
    indent = found[1] if found else "  "
    return json.dumps(data, indent=indent, ensure_ascii=False) + "\n"


def _toml_block(client: Client, entry: Entry) -> str:
    lines = [f"[{client.key}.{_toml_key(entry.name)}]"]
    lines.append(f"command = {_toml_text(entry.words[0])}")
    lines.append(f"args = [{', '.join(map(_toml_text, entry.words[1:]))}]")
    if entry.environment:
        pairs = (f"{name} = {_toml_text(value)}" for name, value in entry.environment.items())
        lines.append(f"env = {{ {', '.join(pairs)} }}")
    return "\n".join(lines) + "\n"


def _toml_with(client: Client, text: str, entry: Entry) -> str:
    rest = _toml_without(client, text, entry.name)
    gap = "\n" if rest.strip() else ""
    after = f"{rest.rstrip()}\n" if rest.strip() else ""
    whole = after + gap + _toml_block(client, entry)
    _read_toml(whole)
    return whole


def _toml_without(client: Client, text: str, name: str) -> str:
    """Without the table of the server and those below it; lines of others keep their bytes."""
    table = _read_toml(text).get(client.key)
    if not isinstance(table, dict) or name not in table:
        return text
    head = re.escape(f"{client.key}.") + rf"(?:{re.escape(name)}|{re.escape(_toml_text(name))})"
    block = re.compile(rf"^\[{head}(?:\.[^\]]*)?\][^\n]*\n(?:(?!\[)[^\n]*(?:\n|\Z))*", re.MULTILINE)
    rest = block.sub("", text)
    left = _read_toml(rest).get(client.key)
    if isinstance(left, dict) and name in left:
        raise _not_understood(
            f"`{client.key}.{name}` is written in a way that is not its own table"
        )
    return f"{rest.rstrip()}\n" if rest.strip() else ""


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_understood(str(error)) from error


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_text(name)


def _toml_text(text: str) -> str:
    """A basic string of TOML; JSON's escapes are among those that it has."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _not_understood(why: str) -> UsageError:
    return UsageError(
        f"The client's file cannot be changed safely: {why}.",
        hint="Put in by hand what the command prints without --write.",
    )
