"""Native parts are tried in a process of their own before they are loaded into this one.

A wheel that was compiled for another processor ends its process by a signal, before any `except`
can run. One trial in a child costs a tenth of a second, and is remembered until the part changes.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from khiip_indexer.errors import StorageError
from khiip_indexer.storage.atomic import write_file

TRIAL_SECONDS = 60
_MEMORY = "native.json"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a part cannot be loaded: what was found, and what to do about it."""

    kind: Literal["signal", "hangs", "import"]
    found: str
    remedy: str


def trial(module: str) -> Fault | None:
    """Import a module in a process of its own; None when that went well."""
    call = [sys.executable, "-P", "-c", f"import {module}"]
    try:
        ran = subprocess.run(call, capture_output=True, timeout=TRIAL_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return Fault("hangs", f"its import hangs ({TRIAL_SECONDS} s)", _reinstall(module))
    if ran.returncode < 0:
        found = f"{module} cannot run on this CPU"
        return Fault("signal", found, _reinstall(module))
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines() or ["import failed"]
        return Fault("import", said[-1], f"pip install {module}")
    return None


def require(module: str, memory: Path) -> None:
    """Raise ImportError, with a sentence that says what to do, unless the module can be loaded.

    `memory` is a folder in which a trial that went well is remembered.
    """
    stamp = _stamp(module)
    if stamp is not None and _known(memory).get(module) == stamp:
        return
    fault = trial(module)
    if fault is not None:
        raise ImportError(f"{fault.found}: reinstall with {fault.remedy}")
    if stamp is not None:
        _remember(memory, {**_known(memory), module: stamp})


def _reinstall(module: str) -> str:
    if module == "hnswlib":
        return "HNSWLIB_NO_NATIVE=1 pip install --no-binary hnswlib hnswlib"
    return f"pip install --force-reinstall {module}"


def _stamp(module: str) -> list[object] | None:
    """Which file the module is; None when that cannot be told."""
    try:
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            return None
        status = Path(spec.origin).stat()
    except (OSError, ValueError):
        return None
    return [sys.version, spec.origin, status.st_size, status.st_mtime_ns]


def _known(memory: Path) -> dict[str, object]:
    try:
        known = json.loads((memory / _MEMORY).read_bytes())
    except (OSError, ValueError):
        return {}  # never tried, or cut short: the trial is made again
    return known if isinstance(known, dict) else {}


def _remember(memory: Path, known: dict[str, object]) -> None:
    try:
        memory.mkdir(parents=True, exist_ok=True)
        write_file(memory / _MEMORY, json.dumps(known).encode())
    except (OSError, StorageError):
        return  # a folder that cannot be written costs a trial at each start
