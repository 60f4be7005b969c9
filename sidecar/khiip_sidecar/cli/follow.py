"""Hands a reindex to the running sidecar and shows how far it is."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any

from khiip_indexer.errors import Busy, DeletionBrake, KhiipError, StorageError
from khiip_indexer.records import Progress, SyncReport
from khiip_indexer.types import Problem
from khiip_sidecar.cli.output import say
from khiip_sidecar.cli.progress import Reporter
from khiip_sidecar.client import Backend

WORKING = ("warming", "indexing")
POLL_SECONDS = 0.2
Sleep = Callable[[float], None]


def reindex_by_sidecar(
    sidecar: Backend,
    progress: Reporter,
    *,
    full: bool = False,
    accept_deletions: bool = False,
    sleep: Sleep = time.sleep,
) -> SyncReport:
    """Ask for a reindex and wait for its end.

    A run that is under way already may have passed the notes that changed last, so that one is
    waited for and another one asked for. Raises what the run failed with.
    """
    body = {"full": full, "accept_deletions": accept_deletions}
    waiting = False
    while not _started(sidecar, body):
        if not waiting:
            say("the sidecar is indexing; waiting for it to finish")
            waiting = True
        _follow(sidecar, progress, sleep)
    return _result(_follow(sidecar, progress, sleep))


def _started(sidecar: Backend, body: Mapping[str, bool]) -> bool:
    try:
        sidecar.start_index(body)
    except KhiipError as error:
        if error.code == Busy.code:
            return False
        raise
    return True


def _follow(sidecar: Backend, progress: Reporter, sleep: Sleep) -> Mapping[str, Any]:
    """The state when the sidecar has stopped working."""
    while True:
        sleep(POLL_SECONDS)
        state: Mapping[str, Any] = sidecar.index_state()
        if state["state"] not in WORKING:
            return state
        if state["phase"]:
            progress(Progress(state["phase"], state["done"], state["total"], state["path"]))


def _result(state: Mapping[str, Any]) -> SyncReport:
    if state["error"]:
        if state["state"] == "suspect":
            raise DeletionBrake(
                state["error"],
                hint="If they are meant to be gone: khiipd reindex --accept-deletions.",
            )
        raise StorageError(state["error"], hint="khiipd doctor may know more.", code="sync_failed")
    if not state["last_report"]:
        raise StorageError("The sidecar stopped before it had finished.", code="sync_failed")
    return read_report(state["last_report"])


def read_report(fields: Mapping[str, Any]) -> SyncReport:
    """A report as it came over the wire."""
    problems = tuple(
        Problem(each["path"], each["code"], each["reason"], each["line"], each["hint"])
        for each in fields["problems"]
    )
    known = {each.name for each in dataclasses.fields(SyncReport)} & fields.keys()
    return SyncReport(**{name: fields[name] for name in known} | {"problems": problems})
