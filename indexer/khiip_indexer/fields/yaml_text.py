"""YAML with every scalar as the text that was written; the only module that knows the parser."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml
from frontmatter.default_handlers import YAMLHandler

from khiip_indexer.types import Value

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML built without libyaml: the same events, slower
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]

_Mark: TypeAlias = "yaml.error.Mark | yaml._yaml.Mark"
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_ALIAS = re.compile(r"\*([^\s,\[\]{}]+)")
_TEXT_TAGS = "tag:yaml.org,2002:"
# Deeper than any property a person keeps, shallow enough for every recursive reader downstream.
MAX_DEPTH = 100
# An alias repeats what it points to; a few lines of aliases of aliases would fill the memory.
MAX_ALIASED_CHARS = 100_000


class YamlError(ValueError):
    """The parser's reason, and the offset in the text at which it gave up."""

    def __init__(self, reason: str, index: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.index = index


@dataclass(frozen=True, slots=True)
class Loaded:
    """A parsed text; `repeated` holds (key, offset) of keys that were written before."""

    value: Value
    repeated: tuple[tuple[str, int], ...] = ()


def load_yaml(text: str) -> Loaded:
    """Parse YAML (or JSON) to text scalars, lists and dicts; null, `~` and nothing are None.

    Of a key written twice the first value that is not null stays. Raises YamlError only.
    """
    try:
        loaded: Loaded = _HANDLER.load(text, Loader=_TextLoader)
    except yaml.reader.ReaderError as error:
        raise YamlError(str(error.reason), error.position) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = error.problem or error.context or "not valid YAML"
        raise YamlError(reason, _at(mark)) from error
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError(str(error) or "not valid YAML", 0) from error
    return loaded


@dataclass(slots=True)
class _Frame:
    """A collection that is still open. `children` are (offset, end) of the collections in it."""

    start: int
    anchor: str | None
    flow: bool
    is_map: bool
    items: list[Value] = field(default_factory=list)
    pairs: dict[str, Value] = field(default_factory=dict)
    key: str | None = None
    weight: int = 1
    children: list[tuple[int, int]] = field(default_factory=list)

    def add(self, value: Value, start: int, repeated: list[tuple[str, int]]) -> None:
        if not self.is_map:
            self.items.append(value)
        elif self.key is None:
            self.key = value if isinstance(value, str) else ""
        else:
            put_first(self.pairs, self.key, value, start, repeated)
            self.key = None


def put_first(
    pairs: dict[str, Value], key: str, value: Value, start: int, repeated: list[tuple[str, int]]
) -> None:
    """Set a key unless it already has a value; a second writing is noted in `repeated`."""
    if key in pairs:
        repeated.append((key, start))
        if pairs[key] is not None:
            return
    pairs[key] = value


def _at(mark: _Mark | None) -> int:
    return mark.index if mark is not None else 0


class _TextLoader(_BaseLoader):
    """Builds values straight from parser events, with an explicit stack.

    The parser's own composer recurses in native code and its constructor guesses types; neither
    is wanted for text that anybody may have written.
    """

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.text = stream
        self.stack: list[_Frame] = []
        self.root: Value = None
        self.anchors: dict[str, tuple[Value, int]] = {}
        self.alias_names: frozenset[str] | None = None
        self.aliased = 0
        self.repeated: list[tuple[str, int]] = []

    def get_single_data(self) -> Loaded:
        documents = 0
        while not isinstance(event := self.get_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._open(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close(_at(event.end_mark))
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise YamlError("a second document starts here", _at(event.start_mark))
        return Loaded(self.root, tuple(self.repeated))

    def _put(self, value: Value, weight: int, start: int, anchor: str | None) -> None:
        if anchor is not None:
            self.anchors[anchor] = (value, weight)
        if not self.stack:
            self.root = value
            return
        frame = self.stack[-1]
        frame.weight += weight
        frame.add(value, start, self.repeated)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        start = _at(event.start_mark)
        value: str | None = event.value
        is_key = bool(self.stack) and self.stack[-1].is_map and self.stack[-1].key is None
        if event.anchor is not None or event.tag is not None:
            value = self._as_written(event)
        elif event.implicit[0] and value in _NULLS and not is_key:
            value = None
        self._put(value, len(value or "") + 1, start, event.anchor)

    def _as_written(self, event: yaml.ScalarEvent) -> str | None:
        """Keep `!important`, or `&Sons` where nothing refers to it: people write them as text."""
        own_tag = event.tag is not None and not event.tag.startswith(_TEXT_TAGS)
        if own_tag or (event.anchor is not None and event.anchor not in self._alias_names()):
            return self._slice(_at(event.start_mark), _at(event.end_mark))
        if event.implicit[0] and event.value in _NULLS:
            return None
        return str(event.value)

    def _alias_names(self) -> frozenset[str]:
        if self.alias_names is None:
            self.alias_names = frozenset(_ALIAS.findall(self.text))
        return self.alias_names

    def _slice(self, start: int, end: int) -> str:
        return " ".join(self.text[start:end].split())

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        start = _at(event.start_mark)
        if len(self.stack) >= MAX_DEPTH:
            raise YamlError(f"nested deeper than {MAX_DEPTH} levels", start)
        is_map = isinstance(event, yaml.MappingStartEvent)
        flow = self.text[start : start + 1] in ("[", "{")
        self.stack.append(_Frame(start, event.anchor, flow, is_map))

    def _close(self, end: int) -> None:
        frame = self.stack.pop()
        value: Value = frame.pairs if frame.is_map else frame.items
        parent = self.stack[-1] if self.stack else None
        if frame.flow and self._is_written_text(frame, end):
            value = self._slice(frame.start, end)
        elif frame.flow and parent is not None:
            parent.children.append((frame.start, end))
        if parent is not None and parent.is_map and parent.key is None:
            value = self._slice(frame.start, end)  # a collection as key: its own text
        self._put(value, frame.weight, frame.start, frame.anchor)

    def _is_written_text(self, frame: _Frame, end: int) -> bool:
        """Say whether a flow collection is really `[[a wikilink]]` or a `{{placeholder}}`."""
        if len(frame.children) != 1:
            return False
        start, child_end = frame.children[0]
        if start != frame.start + 1 or len(frame.items) > 1 or len(frame.pairs) > 1:
            return False
        # libyaml ends a placeholder's value after the inner brace, like a link's inner bracket.
        return child_end == end - 1

    def _alias(self, event: yaml.AliasEvent) -> None:
        start, name = _at(event.start_mark), str(event.anchor)
        if name not in self.anchors:
            raise YamlError(f"found undefined alias '{name}'", start)
        value, weight = self.anchors[name]
        self.aliased += weight
        if self.aliased > MAX_ALIASED_CHARS:
            raise YamlError("aliases repeat too much text", start)
        self._put(value, weight, start, None)


_HANDLER = YAMLHandler()
