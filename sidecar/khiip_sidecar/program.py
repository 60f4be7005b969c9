"""The words that start this khiipd again, from anywhere."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

SCRIPT = "khiipd"


def program() -> list[str]:
    """The installed script as an absolute path, else this Python with the module's name."""
    called = Path(sys.argv[0])
    if called.stem == SCRIPT and called.is_file():
        return [str(called.absolute())]
    name = f"{SCRIPT}.exe" if sys.platform == "win32" else SCRIPT
    beside = Path(sysconfig.get_path("scripts"), name)
    if beside.is_file():
        return [str(beside)]
    found = shutil.which(SCRIPT)
    return [found] if found else [sys.executable, "-m", "khiip_sidecar"]
