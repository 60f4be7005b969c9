"""`khiipd service`: files where the system looks for them, tools only where they are."""

from __future__ import annotations

import json
import plistlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.conftest import Khiipd


@dataclass
class Tools:
    """Stands for systemctl and launchctl; answers are by the word that says what to do."""

    answers: dict[str, tuple[int, str] | None] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def run(self, words: Sequence[str]) -> tuple[int, str] | None:
        self.asked.append(" ".join(words))
        verb = next(word for word in words[1:] if not word.startswith("-"))
        return self.answers.get(verb, (0, ""))


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tools:
    double = Tools()
    monkeypatch.setattr("khiip_sidecar.services.run", double.run)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    return double


def test_a_unit_is_written_enabled_started_and_taken_away(
    cli: Khiipd, tools: Tools, tmp_path: Path
) -> None:
    folder = tmp_path / "xdg" / "systemd" / "user"
    assert cli.run("service", "status").exit_code == 1
    said = cli.ok("service", "install", "--port", "9123").stderr
    [path] = folder.iterdir()
    assert path.name.startswith("khiip-vault-")
    assert f'--vault" "{cli.settings.vault}" "serve" "--port" "9123"' in path.read_text()
    assert f'Environment="KHIIP_HOME={tmp_path / "vault-home"}"' in path.read_text()
    verbs = [line.split()[2] for line in tools.asked]
    assert verbs == ["daemon-reload", "enable", "restart"]
    assert "journalctl" in said
    cli.ok("service", "install")
    assert len(list(folder.iterdir())) == 1
    assert "installed, running" in cli.ok("service", "status").stdout
    tools.answers["is-active"] = (3, "inactive")
    assert json.loads(cli.ok("service", "status", "--json").stdout)["active"] is False
    cli.ok("service", "uninstall")
    assert list(folder.iterdir()) == []
    assert tools.asked[-2:] == [
        f"systemctl --user disable --now {path.name}",
        "systemctl --user daemon-reload",
    ]
    assert "no service" in cli.ok("service", "uninstall").stderr


def test_printing_writes_nothing_and_asks_nobody(cli: Khiipd, tools: Tools, tmp_path: Path) -> None:
    result = cli.ok("service", "install", "--print")
    assert result.stdout.startswith("[Unit]\n")
    assert result.stderr == ""
    assert tools.asked == []
    assert not (tmp_path / "xdg").exists()


def test_a_launch_agent_on_a_mac(
    cli: Khiipd, tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    tools.answers["bootout"] = (3, "no such process")
    cli.ok("service", "install")
    [path] = (tmp_path / "Library" / "LaunchAgents").iterdir()
    words = plistlib.loads(path.read_bytes())["ProgramArguments"]
    assert words[-3:] == ["--vault", str(cli.settings.vault), "serve"]
    assert Path(words[0]).is_absolute()
    assert [line.split()[1] for line in tools.asked] == ["bootout", "bootstrap"]
    assert cli.ok("service", "install", "--print").stdout.startswith("<?xml")
    cli.ok("service", "uninstall")
    assert not path.exists()


@pytest.mark.parametrize(("system", "said"), [("win32", "Task Scheduler"), ("sunos5", "sunos5")])
def test_elsewhere_a_sentence_says_what_to_do(
    cli: Khiipd, tools: Tools, monkeypatch: pytest.MonkeyPatch, system: str, said: str
) -> None:
    monkeypatch.setattr("khiip_sidecar.cli.service.sys.platform", system)
    for what in ("install", "status", "uninstall"):
        result = cli.run("service", what)
        assert (result.exit_code, result.stdout) == (1, "")
        assert said in result.stderr
        assert "serve" in result.stderr


def test_without_the_tool_the_file_is_there_and_the_command_is_said(
    cli: Khiipd, tools: Tools, tmp_path: Path
) -> None:
    tools.answers["daemon-reload"] = None
    assert "there is no systemctl here" in cli.ok("service", "install").stderr
    assert len(list((tmp_path / "xdg" / "systemd" / "user").iterdir())) == 1


def test_a_tool_that_fails_is_a_failure_with_its_reason(cli: Khiipd, tools: Tools) -> None:
    tools.answers["restart"] = (1, "Failed to connect to bus")
    result = cli.run("service", "install")
    assert result.exit_code == 1
    assert "Failed to connect to bus" in result.stderr


def test_a_folder_that_may_not_be_written_is_a_sentence(
    cli: Khiipd, tools: Tools, tmp_path: Path
) -> None:
    (tmp_path / "xdg").write_text("a file")
    result = cli.run("service", "install")
    assert (result.exit_code, tools.asked) == (1, [])
    assert "systemd" in result.stderr
