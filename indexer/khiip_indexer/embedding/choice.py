"""What the user chose to embed with: one table of the config as a frozen value; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal
from urllib.parse import urlsplit

from khiip_indexer.embedding import addresses
from khiip_indexer.errors import UsageError

Kind = Literal["minilm", "onnx", "ollama", "openai", "none"]
KINDS: tuple[Kind, ...] = ("minilm", "onnx", "ollama", "openai", "none")
SERVED = ("ollama", "openai")
OLLAMA_URL = "http://127.0.0.1:11434"
LEAST_WINDOW, MOST_WINDOW = 32, 8192


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """One embedder as it was described; no key is ever part of it.

    `window` counts word pieces (None: what the model says), `timeout` and `query_timeout` are
    seconds, `price` is money for a million tokens. `shorten` has `dimension` asked for: True by
    the usual name, a text by the name that this server has for it. `key_env` names a variable of
    the environment and `keyring` a service of the system's keyring: where the key is, not what.
    """

    name: str
    kind: Kind
    path: str | None = None
    url: str | None = None
    model: str | None = None
    dimension: int | None = None
    window: int | None = None
    batch: int = 32
    query_prefix: str | None = None
    passage_prefix: str | None = None
    shorten: bool | str = False
    timeout: float = 60.0
    query_timeout: float = 2.0
    price: float | None = None
    key_env: str | None = None
    keyring: str | None = None

    @property
    def address(self) -> str:
        """Scheme, host and port that texts are sent to; "" where nothing is sent."""
        if self.kind not in SERVED:
            return ""
        parts = urlsplit(self.url or "")
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def host(self) -> str:
        """The name of the machine that texts are sent to; "" where nothing is sent."""
        return urlsplit(self.url or "").hostname or "" if self.kind in SERVED else ""

    @property
    def is_remote(self) -> bool:
        """Whether texts would leave this machine."""
        return self.kind in SERVED and not is_loopback(self.host)


MINILM = EmbedderChoice("minilm", "minilm")
NONE = EmbedderChoice("none", "none")


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine by its very name: nothing is looked up."""
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_choice(name: str, table: object, file: str = "config.toml") -> EmbedderChoice:
    """One table of the config `file`; UsageError (bad_config) names the setting that is wrong."""
    try:
        return _read(name, table)
    except UsageError as error:
        hint = error.hint or f"Correct the table in {file}."
        raise UsageError(error.sentence, hint=hint, code="bad_config") from error


def _read(name: str, table: object) -> EmbedderChoice:
    if not isinstance(table, dict):
        raise _bad(name, "is a table: [embedder] with `kind` and what belongs to it")
    known = {field.name for field in fields(EmbedderChoice)} - {"name"}
    for key in table:
        if key not in known:
            raise _unknown(name, key, known)
    if table.get("kind") not in KINDS:
        raise _bad(name, f"needs `kind`, one of {', '.join(KINDS)}")
    said = {key: _checked(name, key, value) for key, value in table.items()}
    choice = EmbedderChoice(name, **said)  # type: ignore[arg-type]
    return _complete(choice)


def read_choices(tables: object, file: str = "config.toml") -> dict[str, EmbedderChoice]:
    """The named tables `[embedders.NAME]`, and those two that need no description."""
    found = {"minilm": MINILM, "none": NONE}
    hint = f"Correct {file}."
    if not isinstance(tables, dict):
        raise _bad("embedders", "holds tables: [embedders.NAME]", hint)
    for name, table in tables.items():
        if name in found:
            raise _bad(name, "is a name of its own and is not described again", hint)
        found[name] = read_choice(name, table, file)
    return found


def as_json(choice: EmbedderChoice) -> dict[str, object]:
    """What `from_json` reads: only what is not as usual."""
    usual = asdict(EmbedderChoice(choice.name, choice.kind))
    said = asdict(choice)
    return {k: v for k, v in said.items() if v != usual[k] or k in ("name", "kind")}


def from_json(said: Mapping[str, object]) -> EmbedderChoice:
    """The choice that `as_json` wrote down; UsageError where it is none.

    A key that an earlier version took for the name of a variable is left out: whoever writes this
    down again no longer keeps it.
    """
    table = dict(said)
    if not _is_variable(table.get("key_env")):
        table.pop("key_env", None)
    return read_choice(str(table.pop("name", "")), table)


def _complete(choice: EmbedderChoice) -> EmbedderChoice:
    if choice.kind == "ollama" and choice.url is None:
        choice = replace(choice, url=OLLAMA_URL)
    wanted = {"onnx": ("path",), "ollama": ("model",), "openai": ("url", "model")}
    for key in wanted.get(choice.kind, ()):
        if not getattr(choice, key):
            raise _bad(choice.name, f"of kind {choice.kind} needs `{key}`")
    return _with_address(choice) if choice.kind in SERVED else choice


def _with_address(choice: EmbedderChoice) -> EmbedderChoice:
    """With one spelling of its address; no key is in it, and none goes over an open line."""
    if fault := addresses.fault_of(choice.url or ""):
        raise _bad(choice.name, fault)
    choice = replace(choice, url=addresses.spelled(choice.kind, choice.url or ""))
    has_key = choice.key_env or choice.keyring
    if has_key and choice.address.startswith("http:") and choice.is_remote:
        raise _bad(choice.name, "would send its key over an open line: use https")
    return choice


def _whole(least: int, most: int) -> Callable[[object], bool]:
    return lambda v: isinstance(v, int) and not isinstance(v, bool) and least <= v <= most


def _number(least: float, most: float) -> Callable[[object], bool]:
    return lambda v: isinstance(v, int | float) and not isinstance(v, bool) and least <= v <= most


_LONGEST_NAME = 64
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# How keys of well-known services begin, and signs in a row that nobody chose as a name.
_KEY = re.compile(r"(?:sk|pk|pa|xai)-|(?:sk|hf|gsk|jina|r8)_[^_]{16,}|AIza\S{16,}")
_ROW = re.compile(r"[A-Za-z0-9]{20,}")


def _is_like_a_key(text: str) -> bool:
    """Whether somebody may have put the key itself where the name of its place belongs."""
    if len(text) > _LONGEST_NAME or _KEY.match(text):
        return True
    rows = _ROW.findall(text)
    return any(sum(map(str.isdigit, row)) > 2 and not row.isupper() for row in rows)


def _is_variable(value: object) -> bool:
    return isinstance(value, str) and bool(_NAME.fullmatch(value)) and not _is_like_a_key(value)


def _is_service(value: object) -> bool:
    return isinstance(value, str) and not _is_like_a_key(value)


def _is_shorten(value: object) -> bool:
    if isinstance(value, str):
        return bool(_NAME.fullmatch(value)) and value not in ("model", "input")
    return isinstance(value, bool)


_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "dimension": (_whole(1, 65536), "a whole number from 1 to 65536"),
    "window": (
        _whole(LEAST_WINDOW, MOST_WINDOW),
        f"a whole number from {LEAST_WINDOW} to {MOST_WINDOW}",
    ),
    "batch": (_whole(1, 2048), "a whole number from 1 to 2048"),
    "shorten": (_is_shorten, "true, false or the server's name for `dimensions`"),
    "key_env": (
        _is_variable,
        "the name of a variable of the environment, as in EXAMPLE_API_KEY: letters, digits and _; "
        "the key itself goes into that variable",
    ),
    "keyring": (
        _is_service,
        "the name of a service in the system's keyring; the key itself goes into the keyring",
    ),
    "timeout": (_number(0.1, 3600), "seconds, from 0.1 to 3600"),
    "query_timeout": (_number(0.05, 60), "seconds, from 0.05 to 60"),
    "price": (_number(0, 1e6), "what a million tokens cost"),
}


def _checked(name: str, key: str, value: object) -> object:
    fits, wanted = _RULES.get(key, (lambda v: isinstance(v, str), "text in quotes"))
    if not fits(value):
        raise _bad(name, f"has a `{key}` that is not {wanted}")
    if isinstance(value, int) and key in ("timeout", "query_timeout", "price"):
        return float(value)
    return True if key == "shorten" and value == "dimensions" else value


def _unknown(name: str, key: str, known: set[str]) -> UsageError:
    hint = f"The settings are: {', '.join(sorted(known))}."
    if "key" in key or "token" in key:
        hint = "Keys are not kept in files: name a variable of the environment in `key_env`."
    return _bad(name, f"has no setting `{key}`", hint)


def _bad(name: str, what: str, hint: str | None = None) -> UsageError:
    return UsageError(f"The embedder {name} {what}.", hint=hint, code="bad_config")
