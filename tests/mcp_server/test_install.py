"""Clients' files: what is put in, what stays, what is kept, what comes out again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from khiip_indexer.errors import UsageError
from khiip_sidecar.cli.main import khiipd
from khiip_sidecar.mcp_server.clients import (
    BY_NAME,
    CLIENTS,
    Entry,
    place_of,
    snippet,
    with_entry,
    without_entry,
)
from support import make_vault

ENTRY = Entry("khiip", ["/opt/khiipd", "--vault", '/a "b" ü', "mcp"], {"KHIIP_HOME": "/h"})
JSON = '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {"command": "x"}\n    }\n}\n'
TOML = '# mine\nmodel = "o3"\n\n[mcp_servers.other]\ncommand = "x"\n\n[tail]\na = 1 # kept\n'


@pytest.mark.parametrize("client", CLIENTS, ids=lambda each: each.name)
def test_what_is_put_into_an_empty_file_comes_out_again(client: object) -> None:
    known = BY_NAME[getattr(client, "name")]  # noqa: B009
    text = with_entry(known, "", ENTRY)
    data = tomllib.loads(text) if known.form == "toml" else json.loads(text)
    said = data[known.key]["khiip"]
    assert [said["command"], *said["args"]] == ENTRY.words
    assert said["env"] == {"KHIIP_HOME": "/h"}
    assert snippet(known, ENTRY).strip() == text.strip()
    assert without_entry(known, text, "khiip") == ""


def test_other_servers_settings_and_indentation_stay() -> None:
    client = BY_NAME["cursor"]
    text = with_entry(client, JSON, ENTRY)
    data = json.loads(text)
    assert data["theme"] == "dark"
    assert list(data["mcpServers"]) == ["other", "khiip"]
    assert '\n    "theme"' in text
    assert json.loads(without_entry(client, text, "khiip")) == json.loads(JSON)
    assert with_entry(client, text, ENTRY) == text


def test_toml_keeps_its_comments_and_other_tables() -> None:
    client = BY_NAME["codex"]
    text = with_entry(client, TOML, ENTRY)
    assert text.startswith(TOML)
    assert without_entry(client, text, "khiip") == TOML
    assert with_entry(client, text, ENTRY) == text
    between = TOML.replace("[tail]", '[mcp_servers.khiip]\ncommand = "old"\n\n[tail]')
    between = between.replace("[tail]", '[mcp_servers.khiip.env]\nA = "b"\n\n[tail]')
    rest = tomllib.loads(without_entry(client, between, "khiip"))
    assert rest == tomllib.loads(TOML)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cursor", '{"mcpServers": {} // mine\n}'),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": []}'),
        ("codex", "a = "),
        ("codex", 'mcp_servers = { khiip = { command = "x" } }'),
    ],
)
def test_a_file_that_cannot_be_merged_is_left_alone(name: str, text: str) -> None:
    with pytest.raises(UsageError, match="cannot be changed safely"):
        with_entry(BY_NAME[name], text, ENTRY)


def test_files_are_where_each_system_has_them() -> None:
    home, config = Path("/u"), Path("/u/.config")
    desktop = BY_NAME["claude-desktop"]
    assert place_of(desktop, "linux", home, config) == config / "Claude/claude_desktop_config.json"
    assert "Application Support" in str(place_of(desktop, "darwin", home, config))
    assert place_of(BY_NAME["codex"], "darwin", home, config) == home / ".codex/config.toml"


def install(tmp_path: Path, *words: str) -> Result:
    settings = make_vault(tmp_path / "vault", {"a.md": "a"})
    start = ["--vault", str(settings.vault), "mcp", "install", "--client", "cursor"]
    return CliRunner().invoke(khiipd, [*start, "--file", str(tmp_path / "mcp.json"), *words])


def test_without_write_it_is_only_printed(tmp_path: Path) -> None:
    result = install(tmp_path)
    assert result.exit_code == 0
    said = json.loads(result.stdout)["mcpServers"]["khiip"]
    assert said["args"][-3:] == ["--vault", str(tmp_path / "vault"), "mcp"]
    assert not (tmp_path / "mcp.json").exists()


def test_write_keeps_what_was_there_and_remove_brings_it_back(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(JSON)
    file.chmod(0o640)
    assert install(tmp_path, "--write").exit_code == 0
    assert "khiip" in json.loads(file.read_text())["mcpServers"]
    assert file.stat().st_mode & 0o777 == 0o640
    kept = tmp_path / "mcp.json.before-khiip-1"
    assert kept.read_text() == JSON
    assert "nothing to change" in install(tmp_path, "--write").stderr
    assert install(tmp_path, "--remove").exit_code == 0
    assert json.loads(file.read_text()) == json.loads(JSON)
    assert sorted(each.name for each in tmp_path.glob("mcp.json*"))[1:] == [
        "mcp.json.before-khiip-1",
        "mcp.json.before-khiip-2",
    ]


def test_a_file_that_is_ours_alone_goes_with_the_server(tmp_path: Path) -> None:
    assert install(tmp_path, "--write").exit_code == 0
    assert (tmp_path / "mcp.json").stat().st_mode & 0o777 == 0o600
    assert install(tmp_path, "--remove").exit_code == 0
    assert not (tmp_path / "mcp.json").exists()


def test_a_file_that_is_no_json_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text("{ // mine\n}")
    result = install(tmp_path, "--write")
    assert result.exit_code == 2
    assert "by hand" in result.stderr
    assert (tmp_path / "mcp.json").read_text() == "{ // mine\n}"
