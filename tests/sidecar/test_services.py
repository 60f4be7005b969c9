"""Units and launch agents: what is written is read back as it was meant."""

from __future__ import annotations

import plistlib
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.errors import UsageError
from khiip_sidecar.services import Service, launchd, plist, systemd, unit

PRINTABLE = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=40
)
NASTY = '/home/ada/my "notes" 100% $HOME \\ it\'s ; ü/vault'


def service(vault: str = "/home/ada/Notes", **environment: str) -> Service:
    return Service(Path(vault), ["/opt/a b/100%/khiipd", "--vault", vault, "serve"], environment)


def values(text: str, key: str) -> list[str]:
    lines = text.splitlines()
    return [line.removeprefix(f"{key}=") for line in lines if line.startswith(f"{key}=")]


def read_words(value: str) -> list[str]:
    """Words as systemd.syntax(7) and systemd.service(5) read a command line."""
    first, *rest = [word.replace("%%", "%") for word in shlex.split(value)]
    return [first, *(word.replace("$$", "$") for word in rest)]


@given(st.lists(PRINTABLE, max_size=4))
def test_every_word_of_the_command_comes_back(words: list[str]) -> None:
    meant = ["/opt/$x %/khiipd", *words]
    [command] = values(unit(Service(Path("/v"), meant, {})), "ExecStart")
    assert read_words(command) == meant


@given(PRINTABLE, PRINTABLE)
def test_a_unit_has_one_line_a_setting_whatever_the_names(vault: str, home: str) -> None:
    text = unit(Service(Path("/") / vault, ["/k", vault], {"KHIIP_HOME": home}))
    assert len(text.splitlines()) == len(text.split("\n")) - 1 == 22
    [environment] = values(text, "Environment")
    assert [word.replace("%%", "%") for word in shlex.split(environment)] == [f"KHIIP_HOME={home}"]


def test_a_unit_starts_again_only_where_that_may_help() -> None:
    text = unit(service())
    assert values(text, "Restart") == ["on-failure"]
    assert values(text, "RestartPreventExitStatus") == ["2 4 5 6"]
    assert values(text, "NoNewPrivileges") == ["yes"]
    assert values(text, "WantedBy") == ["default.target"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
@pytest.mark.parametrize("name", [NASTY, "/home/ada/Notes", "/プロジェクト/🐘"])
def test_systemd_finds_no_fault(tmp_path: Path, name: str) -> None:
    program = tmp_path / "a b 100% it's" / "khiipd"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    meant = Service(Path(name), [str(program), "--vault", name, "serve"], {"KHIIP_HOME": name})
    manager = systemd(meant, tmp_path)
    manager.path.parent.mkdir(parents=True)
    manager.path.write_bytes(manager.content)
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", str(manager.path)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    about_us = [line for line in ran.stderr.splitlines() if "khiip" in line]
    assert about_us == []


@given(st.lists(PRINTABLE, min_size=1, max_size=4), PRINTABLE)
def test_a_property_list_comes_back(words: list[str], home: str) -> None:
    meant = Service(Path("/v"), words, {"KHIIP_HOME": home})
    read = plistlib.loads(plist(meant, "khiip.v", Path("/log")))
    assert read["ProgramArguments"] == words
    assert read["EnvironmentVariables"] == {"KHIIP_HOME": home}
    assert read["KeepAlive"] == {"SuccessfulExit": False}


@pytest.mark.parametrize("odd", ["/a\nb", "/a\x00b", "/a\udcffb", "/a\u2028b", "/a\x1bb"])
def test_a_path_that_fits_in_no_file_is_refused_in_a_sentence(odd: str) -> None:
    for make in (unit, lambda each: plist(each, "x", Path("/log"))):
        with pytest.raises(UsageError, match="control characters"):
            make(service(odd))


def test_vaults_of_one_name_are_two_services_and_their_files_have_plain_names() -> None:
    one, other = service("/home/ada/My Notes"), service("/home/bob/My Notes")
    assert one.slug != other.slug
    assert one.slug.startswith("my-notes-")
    assert service("/home/ada/Überblick").slug.startswith("uberblick-")
    assert service("/home/ada/🐘").slug.isalnum()
    assert len(service("/x/" + "long" * 50).slug) < 60


def test_each_system_has_its_place(tmp_path: Path) -> None:
    made = systemd(service(), tmp_path)
    assert made.path.parent == tmp_path / "systemd" / "user"
    assert made.path.name == f"khiip-{service().slug}.service"
    agent = launchd(service(), tmp_path, 501)
    assert agent.path.parent == tmp_path / "Library" / "LaunchAgents"
    assert agent.start == (("launchctl", "bootstrap", "gui/501", str(agent.path)),)
