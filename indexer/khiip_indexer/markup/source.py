"""Take out of a note's source what no reader sees, before it is parsed; pure, one line for one.

Comments, Templater commands, drawings and data URIs can span blocks or sit inside any of them,
so they are removed from the source. Every function keeps the number of lines: a line of the
result is the same line of the file.
"""

from __future__ import annotations

import re

DEEPEST_QUOTE = 30
DEEPEST_LINE_LIST = 20

_CLOSERS = {"%%": "%%", "<!--": "-->", "<%": "%>"}
_MARK = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}|~{3,})"
    r"|(?P<code>`+)|(?P<maths>\$\$)|(?P<open>%%|<!--|<%)",
    re.MULTILINE,
)
_FENCE_LINE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})", re.MULTILINE)
_QUOTE_PREFIX = re.compile(r"[ \t]{0,3}>[> \t]*")
_QUOTE_END = re.compile(r"^(?![ \t]*>)", re.MULTILINE)
_LIST_ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s")
_SPACE_RUN = re.compile(" *")
_SPAN_REACH = 5000  # characters in which code spans and maths must close

_DATA_URI = re.compile(
    r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.+-]+(?:=[\w.+-]*)?)*,"
    r"[^\s\"<>)\]]{24,}(?:\n[A-Za-z0-9+/=]{60,})*"
)
_DEEP_QUOTE = re.compile(rf"^((?:[ \t]{{0,3}}>){{{DEEPEST_QUOTE}}})[> \t]+", re.MULTILINE)
_DEEP_LIST = re.compile(rf"^([ \t>]*(?:[-*+] ){{{DEEPEST_LINE_LIST}}})(?:[-*+] )+", re.MULTILINE)

_DRAWING = re.compile(r"^#{1,3} Drawing[ \t]*$", re.MULTILINE)
_DRAWING_SIGN = re.compile(
    r"^#{1,3} Text Elements[ \t]*$|^```compressed-json|\"type\": ?\"excalidraw\"", re.MULTILINE
)
_DRAWING_PART = re.compile(
    r"#{1,3} (Excalidraw Data|Text Elements|Element Links|Embedded Files|Drawing)[ \t]*$",
    re.IGNORECASE,
)
_DRAWING_FENCE = re.compile(
    r"^%%[ \t]*(\n+)(?=#{1,3} (?:Excalidraw Data|Text Elements|Drawing)[ \t]*$)", re.MULTILINE
)
_ELEMENT_ID = re.compile(r"[ \t]\^[A-Za-z0-9_-]{8}$")


def clean_source(text: str) -> str:
    """Return the text with unix line ends and without comments, commands, drawings, data URIs."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")
    if "data:" in text:
        text = _DATA_URI.sub(_short_data_uri, text)
    if _DRAWING.search(text) and _DRAWING_SIGN.search(text):
        text = _keep_text_elements(text)
    if any(mark in text for mark in _CLOSERS):
        text = _remove_comments(text)
    return _flatten(text)


def _short_data_uri(match: re.Match[str]) -> str:
    return f"data:{match[1]}" + "\n" * match[0].count("\n")


def _flatten(text: str) -> str:
    """Cut absurd depths of quotation and of lists on one line, which the parser would drop."""
    if text.count(">") > DEEPEST_QUOTE:
        text = _DEEP_QUOTE.sub(r"\1 ", text)
    return _DEEP_LIST.sub(r"\1", text)


# --- comments ---------------------------------------------------------------------------------


def _remove_comments(text: str) -> str:
    kept: list[str] = []
    done = at = 0
    unclosed: set[str] = set()
    while match := _MARK.search(text, at):
        mark = match["open"]
        if mark is None:
            at = _skip_protected(text, match)
            continue
        end = -1
        if mark not in unclosed and not _in_indented_code(text, match.start()):
            end = _comment_end(text, match.start(), mark)
            if end == 0:
                unclosed.add(mark)
        if end > 0:
            start, end = _with_empty_link(text, match.start(), end)
            kept.append(text[done:start])
            done = at = _remove(kept, text, start, end)
        else:
            at = match.end()
            if mark == "<!--" and mark in unclosed:
                # The parser would take the rest of the note for a comment; only the mark goes.
                kept.append(text[done : match.start()])
                done = at
    kept.append(text[done:])
    return "".join(kept)


def _comment_end(text: str, start: int, mark: str) -> int:
    """Offset after the comment; 0 when nothing closes it, -1 when the mark opens none.

    A `%%` glued to a word ("100%% sure") opens no comment that leaves its line, and a comment
    never ends inside a code fence that it did not contain from the start.
    """
    closer = _CLOSERS[mark]
    at = start + len(mark)
    line_end = text.find("\n", at)
    fences = 0
    while (close := text.find(closer, at)) >= 0:
        if 0 <= line_end < close:
            if mark == "%%" and start and text[start - 1].isalnum():
                return -1
            fences += len(_FENCE_LINE.findall(text, at, close))
        if fences % 2 == 0:
            return close + len(closer)
        at = close + len(closer)
    return 0


def _with_empty_link(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a command to the `[[ ]]` around it: without the command the link leads nowhere."""
    if not (text.startswith("<%", start) and text.startswith("[[", start - 2) and start >= 2):
        return start, end
    if not text.startswith("]]", end):
        return start, end
    embed = start >= 3 and text[start - 3] == "!"
    return start - (3 if embed else 2), end + 2


def _remove(kept: list[str], text: str, start: int, end: int) -> int:
    """Append what stands in for text[start:end] and return where to go on.

    Lines stay, with the `>` marks of a quotation, so that what follows is still quoted; one of
    two spaces around a removed piece goes.
    """
    lines = text[start:end].split("\n")[1:]
    for line in lines:
        prefix = _QUOTE_PREFIX.match(line)
        kept.append("\n" + (prefix[0] if prefix else ""))
    before = text[start - 1 : start] if not lines else "\n"
    after = text[end : end + 1]
    if after == " " and before in ("", " ", "\t", "\n"):
        spaces = _SPACE_RUN.match(text, end)
        return spaces.end() if spaces else end
    if after in ("", "\n") and kept and not lines:
        kept[-1] = kept[-1].rstrip(" \t") if before in (" ", "\t") else kept[-1]
    return end


def _skip_protected(text: str, match: re.Match[str]) -> int:
    """Offset after the code or maths that begins here, or after the mark if nothing closes it."""
    if match["fence"] is not None:
        return _skip_fence(text, match)
    reach = text.find("\n\n", match.end(), match.end() + _SPAN_REACH)
    reach = match.end() + _SPAN_REACH if reach < 0 else reach
    if match["maths"] is not None:
        close = text.find("$$", match.end(), reach)
        return match.end() if close < 0 else close + 2
    return _skip_code_span(text, match.end(), len(match["code"]), reach)


def _skip_code_span(text: str, at: int, ticks: int, reach: int) -> int:
    if ticks > 20:
        return at
    close = re.compile(rf"(?<!`)`{{{ticks}}}(?!`)").search(text, at, reach)
    return close.end() if close else at


def _skip_fence(text: str, match: re.Match[str]) -> int:
    fence = match["fence"]
    line_end = text.find("\n", match.end())
    if line_end < 0:
        return len(text)
    if fence[0] == "`" and "`" in text[match.end() : line_end]:
        return _skip_code_span(text, match.end(), len(fence), line_end)
    limit = len(text)
    if ">" in match[0]:
        limit = end.start() if (end := _QUOTE_END.search(text, line_end + 1)) else limit
    close = re.compile(rf"^[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    found = close.search(text, line_end + 1, limit) if len(fence) <= 100 else None
    return found.end() if found else limit


def _in_indented_code(text: str, at: int) -> bool:
    """Whether the line of this offset is indented code: looks at most 40 lines back."""
    line = text.rfind("\n", 0, at) + 1
    if not text.startswith(("    ", "\t"), line):
        return False
    blank_before = False
    for _ in range(40):
        if line == 0:
            return True
        previous = text.rfind("\n", 0, line - 1) + 1
        content = text[previous : min(line - 1, previous + 100)]
        if not content.strip():
            blank_before = True
        elif not content.startswith(("    ", "\t")):
            return blank_before and not _LIST_ITEM.match(content)
        line = previous
    return False


# --- drawings ---------------------------------------------------------------------------------


def _keep_text_elements(text: str) -> str:
    """Blank every line of an Excalidraw note but the user's own and the drawing's texts."""
    text = _DRAWING_FENCE.sub(r"\1", text)
    lines = text.split("\n")
    part = ""
    fenced = False
    for number, line in enumerate(lines):
        if heading := _DRAWING_PART.match(line):
            part, fenced = heading[1].lower(), False
        elif part == "text elements":
            lines[number] = _ELEMENT_ID.sub("", line)
            continue
        elif part == "drawing" and line.startswith("```"):
            part, fenced = ("after", False) if fenced else (part, True)
        elif part == "after" and line.strip() == "%%":
            part = ""
        elif part in ("", "after") and "Switch to EXCALIDRAW VIEW" not in line:
            continue
        lines[number] = ""
    return "\n".join(lines)
