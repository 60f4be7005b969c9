"""The log of `serve`: one line each, nothing of what notes say."""

from __future__ import annotations

import io
import logging
import re
import warnings

from hypothesis import given
from hypothesis import strategies as st

from khiip_sidecar.logs import written_logs

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (debug|info|warning|error) .*\n")
log = logging.getLogger("khiip_sidecar.somewhere")


@given(st.text())
def test_whatever_is_said_is_one_line(text: str) -> None:
    stream = io.StringIO()
    with written_logs(stream, "info"):
        log.info("heard %s", text)
    assert LINE.fullmatch(stream.getvalue())


def test_of_an_exception_only_its_kind_and_place_are_told() -> None:
    stream = io.StringIO()
    with written_logs(stream, "info"):
        try:
            int("the secret text of a note")
        except ValueError:
            log.exception("indexing failed")
    said = stream.getvalue()
    assert re.search(r"error indexing failed: ValueError at test_logs\.py:\d+\n$", said)
    assert "secret" not in said


def test_only_what_is_grave_enough_is_written() -> None:
    stream = io.StringIO()
    with written_logs(stream, "warning"):
        log.info("small talk")
        log.warning("take care")
        logging.getLogger("some.library").info("library talk")
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("of a library", UserWarning, stacklevel=1)
    lines = stream.getvalue().splitlines()
    assert lines[0].endswith(" warning take care")
    assert len(lines) == 2
    assert "of a library" in lines[1]


def test_afterwards_everything_is_as_it_was() -> None:
    root = logging.getLogger()
    before = (list(root.handlers), root.level, log.level)
    with written_logs(io.StringIO(), "debug"):
        pass
    assert (list(root.handlers), root.level, log.level) == before
