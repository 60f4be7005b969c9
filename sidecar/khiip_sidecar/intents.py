"""What a person meant with a commit, from its message; nothing for what a machine wrote. Pure."""

from __future__ import annotations

import re

INTENT_CHARS = 500

# A moment in figures, or where the machine says it ran: all that may follow an automatic word.
_WHEN = r"(?:[\s:,./()\[\]T@#+_|\u2013-]|\d|[ap]m\b|utc\b|z\b)*"
_WHERE = r"(?:(?:from|on|at|by|via)\s+(?:\S+\s*){1,3})?"
# What tools put behind a mark of their own, they say in their own words.
_TAIL = rf"(?:\s*[:(\[\u2013-].*|{_WHEN}{_WHERE})"
_CHORE = r"(?:chore(?:\([^)]*\))?!?:\s*)?"
_WHAT = r"(?:auto(?:mat(?:ic|ed))?|daily|hourly|scheduled|vault|obsidian|notes?|git)"

# Subjects that no person wrote, whole and in any case. One line a habit, with who has it.
AUTOMATIC = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"",  # no subject at all
        rf"vault backup{_TAIL}",  # Obsidian Git, as it comes
        rf"last sync(?:ed)?{_TAIL}",  # scripts for phones
        rf"{_CHORE}auto(?:mat(?:ic|ed|ically))?[ _-]?"
        rf"(?:back[ -]?up|commit|sync|saved?|push|update){_TAIL}",
        # `sync`, `chore: sync`, `chore(vault): backup 2026-01-31`, `Obsidian sync from phone`
        rf"{_CHORE}(?:{_WHAT}[ _-]+)*(?:sync|back[ -]?up|snapshot){_WHEN}{_WHERE}",
        # The words that people use too need a machine's word beside them.
        rf"{_CHORE}(?:{_WHAT}[ _-]+)+(?:synced|backed up|commit|saved?|updated?){_WHEN}{_WHERE}",
        r"updated? from \S.*",  # `Update from <device>`
        r"\[logseq-plugin-git:.*",
        r"add files via upload",  # a forge's page
        r"merge (?:remote-tracking )?(?:branch|branches|tag|commit)\b.*",  # git merge, git pull
        r"(?:fixup|squash|amend)! .*",  # git commit --fixup: said by the commit it belongs to
        rf"(?=.*\d){_WHEN}",  # nothing but a date
    )
)
_KEYS = "bug|cc|close[sd]?|fix(?:e[sd])?|issue|link|refs?"
# A key with a hyphen, or one of the few without that tools write: `Why: …` is a person's sentence.
_TRAILER = re.compile(
    rf"(?:[a-z0-9]+(?:-[a-z0-9]+)+|{_KEYS}): \S|\(cherry picked from commit ", re.IGNORECASE
)
# Lines for machines, wherever a tool has put them.
_MACHINE_LINE = re.compile(
    r"(?:session-id|signed-off-by|co-authored-by|change-id|reviewed-by): ", re.IGNORECASE
)


def is_automatic(subject: str) -> bool:
    """Whether a commit's subject is a tool's default and says nothing of why."""
    plain = subject.strip()
    return any(pattern.fullmatch(plain) for pattern in AUTOMATIC)


def intent_of(subject: str, body: str) -> str:
    """What a commit's message says of its purpose: subject, then the body without its trailers.

    "" for an automatic message. At most 500 characters, then `…`.
    """
    if is_automatic(subject):
        return ""
    rest = without_trailers(body)
    whole = f"{subject.strip()}\n\n{rest}" if rest else subject.strip()
    return whole if len(whole) <= INTENT_CHARS else f"{whole[:INTENT_CHARS].rstrip()}…"


def without_trailers(body: str) -> str:
    """A message's body without the lines at its end that tell `Key: value`."""
    paragraphs = re.split(r"\n[ \t]*\n", body.replace("\r\n", "\n").strip())
    if all(_is_trailer(line) for line in paragraphs[-1].splitlines()):
        paragraphs.pop()
    kept = (_without_machine_lines(paragraph) for paragraph in paragraphs)
    return "\n\n".join(paragraph for paragraph in kept if paragraph)


def _is_trailer(line: str) -> bool:
    # A long value goes on in a line that is indented.
    return bool(_TRAILER.match(line)) or line[:1] in (" ", "\t")


def _without_machine_lines(paragraph: str) -> str:
    lines = (line.rstrip() for line in paragraph.splitlines())
    return "\n".join(line for line in lines if not _MACHINE_LINE.match(line)).strip()
