"""Hook scripts as bytes: what is put in can be taken out, and does nothing else."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_sidecar.githooks.script import (
    HOOKS,
    Target,
    block,
    find_block,
    is_shell,
    with_block,
    without_block,
)

TARGET = Target(".", ("/nowhere/khiipd",), "/vault")


@given(st.binary(max_size=200), st.booleans())
def test_taking_a_block_out_leaves_every_byte_as_it_was(script: bytes, shebang: bool) -> None:
    before = b"#!/bin/sh" + script if shebang else script
    for hook in HOOKS:
        after = with_block(before, block(hook, TARGET))
        assert without_block(after, TARGET.label) == before


@pytest.mark.parametrize(
    "script", [b"#!/bin/sh", b"#!/bin/sh\n", b"", b"echo", b"#!/bin/sh\r\nx\r\n"]
)
def test_scripts_without_a_last_line_end_come_back(script: bytes) -> None:
    after = with_block(script, block("post-merge", TARGET))
    assert find_block(after, TARGET.label)
    assert without_block(after, TARGET.label) == script


def test_the_blocks_of_two_vaults_do_not_meet() -> None:
    other = Target("notes >>>\n", ("/nowhere/khiipd",), "/vault")
    script = with_block(b"#!/bin/sh\nexit 3\n", block("post-merge", TARGET))
    both = with_block(script, block("post-merge", other))
    assert without_block(both, TARGET.label) == with_block(
        b"#!/bin/sh\nexit 3\n", block("post-merge", other)
    )
    assert without_block(both, other.label) == script


@pytest.mark.parametrize(
    ("script", "shell"),
    [
        (b"#!/bin/sh\n", True),
        (b"#! /usr/bin/env bash\n", True),
        (b"#!/usr/bin/env -S zsh -e\n", True),
        (b"#!/usr/bin/env A=b sh\n", True),
        (b"#!/bin/busybox sh\n", True),
        (b"echo no first line\n", True),
        (b"", True),
        (b"#!/usr/bin/env python3\n", False),
        (b"#!/usr/bin/fish\n", False),
        (b"#!/usr/bin/env\n", False),
        (b"#!\n", False),
        (b"\x7fELF\x02\x01\x01\x00", False),
        (b"#!/opt/\xff\xfe/sh\n", True),
    ],
)
def test_only_scripts_of_a_shell_take_lines_of_shell(script: bytes, shell: bool) -> None:
    assert is_shell(script) is shell


NASTY = ["it's", "a b", "$(touch gone)", "`x`", 'q"q', "%s", "-n", "ü\\n", "new\nline", "*", ";"]


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_any_folder_name_reaches_the_program_as_it_is(
    tmp_path: Path, name: str, shell: str
) -> None:
    vault = tmp_path / name / "vault"
    (vault / ".khiip").mkdir(parents=True)
    seen = tmp_path / "seen"
    fake = tmp_path / name / "khiipd"
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{seen}.part"; mv "{seen}.part" "{seen}"\n')
    fake.chmod(0o755)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    target = Target(f"{name}/vault", (str(fake),), str(vault))
    script = with_block(b"#!/bin/sh\nexit 7\n", block("post-merge", target))
    ran = subprocess.run(
        [shell, "-eu", "-c", script], cwd=tmp_path, capture_output=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, b"", b"")
    _wait_for(seen)
    said = seen.read_text().split("\n--vault\n"[1:])[1]
    assert said.startswith(f"{vault}\nhooks\nrun\n--after\n{os.getpid()}\npost-merge\n")


def _wait_for(path: Path) -> None:
    for _ in range(1000):
        if path.exists():
            return
        time.sleep(0.01)
    pytest.fail(f"{path} did not appear")
