"""JSON as it goes over the wire, errors and problems in it: what every face can afford to load."""

from __future__ import annotations

import json
from typing import Any

from khiip_indexer.errors import KhiipError
from khiip_indexer.types import Problem

Json = dict[str, Any]


def to_json(data: object) -> bytes:
    """Compact JSON in UTF-8.

    A file name that is no valid UTF-8 reaches here with lone surrogates; they go out as `\\udcXX`
    escapes, from which a client gets back the same bytes.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def error_body(error: KhiipError) -> Json:
    """An error as every face shows it to programs."""
    return {"detail": error.sentence, "error": error.code, "hint": error.hint}


def problem_view(problem: Problem) -> Json:
    """What is wrong in a note, and where."""
    return {
        "path": problem.path,
        "line": problem.line,
        "code": problem.code,
        "reason": problem.reason,
        "hint": problem.hint,
    }
