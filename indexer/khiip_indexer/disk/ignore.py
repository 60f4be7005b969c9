"""Which vault-relative paths are no notes: one set of rules for scan, watcher and explanations."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from khiip_indexer.types import Problem

APP_JSON = ".obsidian/app.json"
IGNORE_FILE = ".khiipignore"
NODE_MODULES = "node_modules"

# A path, and whether it is a folder -> the pattern that excludes it, else None.
_Matcher = Callable[[str, bool], str | None]


class IgnoreRules:
    """The ignore rules of one vault, read once; make a new one to see changed files.

    `problems` names rule files that could not be used; their other rules still count.
    """

    def __init__(self, root: Path, excludes: Sequence[str] = ()) -> None:
        self.problems: list[Problem] = []
        self._prefixes, self._patterns = self._obsidian_filters(root)
        sources = ((IGNORE_FILE, self._ignore_file(root)), ("exclude in the config", excludes))
        matchers = (self._gitignore(lines, source) for source, lines in sources)
        self._matchers: list[tuple[str, _Matcher]] = [m for m in matchers if m is not None]
        self._folded = tuple(prefix.casefold() for prefix in self._prefixes)
        self.has_patterns = bool(self._prefixes or self._patterns or self._matchers)

    def reserved_segment(self, path: str) -> str | None:
        """The rule for a segment that no note may have: a leading dot, or `node_modules`."""
        for segment in path.split("/"):
            if segment.startswith("."):
                return f"hidden: '{segment}' begins with a dot"
            if segment == NODE_MODULES:
                return "inside node_modules"
        return None

    def pattern_for_folder(self, path: str) -> str | None:
        """The user's rule that excludes a folder and all that is in it, its parents aside."""
        return self._by_prefix(path + "/") or self._by_matcher(path, is_folder=True)

    def pattern_for_note(self, path: str) -> str | None:
        """The user's rule that excludes a note, its folders aside."""
        found = self._by_prefix(path)
        if found is None:
            for written, pattern in self._patterns:
                if pattern.search(path):
                    return f"Excluded files in Obsidian: {written}"
        return found or self._by_matcher(path, is_folder=False)

    def reason(self, path: str) -> str | None:
        """The first rule that excludes a vault-relative path, as a person would name it."""
        found = self.reserved_segment(path)
        if found or not self.has_patterns:
            return found
        folder, separator, _ = path.rpartition("/")
        return (self.folder_reason(folder) if separator else None) or self.pattern_for_note(path)

    def folder_reason(self, path: str) -> str | None:
        """The first rule that excludes a folder, or one that it is in."""
        if found := self.reserved_segment(path):
            return found
        end = path.find("/")
        while end != -1:
            if found := self.pattern_for_folder(path[:end]):
                return found
            end = path.find("/", end + 1)
        return self.pattern_for_folder(path)

    def _by_prefix(self, path: str) -> str | None:
        if self._folded and (folded := path.casefold()).startswith(self._folded):
            written = next(
                p for p, f in zip(self._prefixes, self._folded, strict=True) if folded.startswith(f)
            )
            return f"Excluded files in Obsidian: {written}"
        return None

    def _by_matcher(self, path: str, *, is_folder: bool) -> str | None:
        for source, matcher in self._matchers:
            if (pattern := matcher(path, is_folder)) is not None:
                return f"{source}: {pattern}"
        return None

    def _obsidian_filters(self, root: Path) -> tuple[list[str], list[tuple[str, re.Pattern[str]]]]:
        """Obsidian's own rules: `/…/` is a pattern on the path, anything else a path's beginning.

        Both without regard to case, as in the app.
        """
        prefixes: list[str] = []
        patterns: list[tuple[str, re.Pattern[str]]] = []
        for written in self._filters(root):
            if len(written) > 2 and written.startswith("/") and written.endswith("/"):
                try:
                    patterns.append((written, _javascript_pattern(written[1:-1])))
                except (re.error, OverflowError, RecursionError) as error:
                    self._problem(
                        APP_JSON, f"cannot use the excluded-files rule {written}: {error}"
                    )
            elif written:
                prefixes.append(written)
        return prefixes, patterns

    def _filters(self, root: Path) -> list[str]:
        try:
            settings = json.loads((root / APP_JSON).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError, RecursionError) as error:
            self._problem(APP_JSON, f"Obsidian's settings cannot be read: {error}")
            return []
        filters = settings.get("userIgnoreFilters") if isinstance(settings, dict) else None
        return [f for f in filters if isinstance(f, str)] if isinstance(filters, list) else []

    def _ignore_file(self, root: Path) -> list[str]:
        try:
            text = (root / IGNORE_FILE).read_text("utf-8-sig", errors="replace")
        except FileNotFoundError:
            return []
        except OSError as error:
            self._problem(IGNORE_FILE, f"the file cannot be read: {error.strerror or error}")
            return []
        return text.splitlines()

    def _gitignore(self, lines: Sequence[str], source: str) -> tuple[str, _Matcher] | None:
        """A matcher with gitignore's meaning: the last pattern that speaks of a path decides."""
        lines = [line for line in lines if line.strip() and not line.startswith("#")]
        if not lines:
            return None
        from pathspec import GitIgnoreSpec

        usable = [line for line in lines if self._compiles(line, source)]
        with _quiet():
            spec = GitIgnoreSpec.from_lines(usable)

        def match(path: str, is_folder: bool) -> str | None:
            result = spec.check_file(path + "/" if is_folder else path)
            return usable[result.index] if result.include and result.index is not None else None

        return source, match

    def _compiles(self, line: str, source: str) -> bool:
        from pathspec import GitIgnoreSpec

        try:
            with _quiet():
                GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error) as error:
            self._problem(source, f"cannot use the pattern {line!r}: {error}")
            return False
        return True

    def _problem(self, path: str, reason: str) -> None:
        hint = "Correct it; until then this rule leaves nothing out."
        self.problems.append(Problem(path, "ignore_rule", reason, hint=hint))


def rules_stamp(root: Path) -> tuple[object, ...]:
    """Changes whenever one of the files with rules does: cheap, to be asked often."""
    return tuple(_stamp(root / name) for name in (APP_JSON, IGNORE_FILE))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _javascript_pattern(pattern: str) -> re.Pattern[str]:
    """Compile what the app compiles as JavaScript; only named groups are spelled differently."""
    pattern = re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", pattern)
    with _quiet():
        return re.compile(pattern, re.IGNORECASE)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the regex compiler's remarks on `[[` in a user's pattern from stderr; no fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield
