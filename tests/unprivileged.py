"""Runs something as a user whom permissions stop: as root nothing is unreadable."""

from __future__ import annotations

import json
import os
import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import khiip_indexer
import khiip_sidecar

NOBODY = 65534


def give_away(folder: Path) -> None:
    """Make a folder and all that is in it the unprivileged user's, where that is another one."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def run_unprivileged(work: Callable[[], Any]) -> Any:
    """What some work gives (as JSON can hold it), done by a child that may not do everything."""
    for package in (khiip_indexer, khiip_sidecar):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)  # the child may not be allowed to read the installation
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        said: Any = {"failed": "the child broke"}
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            said = {"gave": work()}
        except BaseException as error:  # noqa: BLE001 -- told to the parent, which raises it
            said = {"failed": repr(error)}
        finally:
            os.write(writer, json.dumps(said).encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = json.loads(pipe.read())
    os.waitpid(child, 0)
    assert "gave" in answer, answer
    return answer["gave"]
