"""Runs git: a whole answer, or the NUL-separated fields of one that may be long."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from khiip_indexer.disk.path_text import encode_path

_TIMEOUT_SECONDS = 120
# A first reading of a very long history may take this long.
_LONG_SECONDS = 900
_BLOCK = 1 << 20
# Never let git wait for a person, run a pager or a signature check, or quote a name (-z gives raw
# bytes).
_GIT = (
    "git", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false",
    "-c", "log.showSignature=false", "-c", "diff.relative=false",
    "--no-optional-locks", "--no-pager",
)  # fmt: skip


class GitUnavailable(Exception):
    """Git is missing, refuses, or this is no repository; the text is git's first line."""


def run(vault: Path, *arguments: str) -> bytes:
    """What git prints; raises GitUnavailable when it cannot be started or ends badly."""
    try:
        done = subprocess.run(  # noqa: S603 -- fixed program, arguments are ours
            [*_GIT, "-C", str(vault), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _not_run(error) from error
    if done.returncode != 0:
        raise _refused(done.returncode, done.stderr)
    return done.stdout


def fields(vault: Path, *arguments: str) -> Generator[bytes]:
    """The fields, each ended by NUL, of what git prints, as it prints them.

    Raises GitUnavailable as `run` does, perhaps after some fields.
    """
    with tempfile.TemporaryFile() as said, _running(vault, arguments, said) as process:
        rest = b""
        while block := cast("IO[bytes]", process.stdout).read(_BLOCK):
            *whole, rest = (rest + block).split(b"\0")
            yield from whole
        if process.wait() != 0:
            said.seek(0)
            raise _refused(process.returncode, said.read())


@contextmanager
def _running(
    vault: Path, arguments: tuple[str, ...], said: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    try:
        process = subprocess.Popen(  # noqa: S603 -- fixed program, arguments are ours
            [*_GIT, "-C", str(vault), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
        )
    except OSError as error:
        raise _not_run(error) from error
    watch = threading.Timer(_LONG_SECONDS, process.kill)
    watch.daemon = True
    watch.start()
    try:
        yield process
    finally:
        # Whoever stops reading in the middle leaves nothing running.
        watch.cancel()
        process.kill()
        process.communicate()


def text(name: bytes) -> str:
    """A path as git stores it, as the rest of the index writes it."""
    return encode_path(name.decode("utf-8", "surrogateescape"))


def _not_run(error: Exception) -> GitUnavailable:
    if isinstance(error, FileNotFoundError):
        return GitUnavailable("git was not found")
    return GitUnavailable(str(error))


def _refused(code: int, stderr: bytes) -> GitUnavailable:
    line = stderr.decode("utf-8", "replace").strip().partition("\n")[0]
    return GitUnavailable(line or f"git ended with {code}")
