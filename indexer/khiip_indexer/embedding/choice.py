"""What the user chose to embed with: one table of the config as a frozen value; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal
from urllib.parse import urlsplit

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
    seconds, `price` is money for a million tokens. `key_env` names a variable of the environment
    and `keyring` a service of the system's keyring: where the key is, not what it is.
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
    shorten: bool = False
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


def read_choice(name: str, table: object) -> EmbedderChoice:
    """One table of the config; UsageError (bad_config) names the setting that is wrong."""
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


def read_choices(tables: object) -> dict[str, EmbedderChoice]:
    """The named tables `[embedders.NAME]`, and those two that need no description."""
    found = {"minilm": MINILM, "none": NONE}
    if not isinstance(tables, dict):
        raise _bad("embedders", "holds tables: [embedders.NAME]")
    for name, table in tables.items():
        if name in found:
            raise _bad(name, "is a name of its own and is not described again")
        found[name] = read_choice(name, table)
    return found


def as_json(choice: EmbedderChoice) -> dict[str, object]:
    """What `from_json` reads: only what is not as usual."""
    usual = asdict(EmbedderChoice(choice.name, choice.kind))
    said = asdict(choice)
    return {k: v for k, v in said.items() if v != usual[k] or k in ("name", "kind")}


def from_json(said: Mapping[str, object]) -> EmbedderChoice:
    """The choice that `as_json` wrote down; UsageError where it is none."""
    table = dict(said)
    return read_choice(str(table.pop("name", "")), table)


def _complete(choice: EmbedderChoice) -> EmbedderChoice:
    if choice.kind == "ollama" and choice.url is None:
        choice = replace(choice, url=OLLAMA_URL)
    wanted = {"onnx": ("path",), "ollama": ("model",), "openai": ("url", "model")}
    for key in wanted.get(choice.kind, ()):
        if not getattr(choice, key):
            raise _bad(choice.name, f"of kind {choice.kind} needs `{key}`")
    if choice.kind in SERVED:
        _check_address(choice)
    return choice


def _check_address(choice: EmbedderChoice) -> None:
    """No key in an address, and none over an open line."""
    try:
        parts = urlsplit(choice.url or "")
        parts.port  # noqa: B018 -- asking is what checks it
    except ValueError as error:
        raise _bad(choice.name, "has a `url` that is none") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _bad(choice.name, "needs a `url` that begins with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise _bad(choice.name, "has more than an address in `url`; a key goes to `key_env`")
    has_key = choice.key_env or choice.keyring
    if has_key and parts.scheme == "http" and choice.is_remote:
        raise _bad(choice.name, "would send its key over an open line: use https")


def _whole(least: int, most: int) -> Callable[[object], bool]:
    return lambda v: isinstance(v, int) and not isinstance(v, bool) and least <= v <= most


def _number(least: float, most: float) -> Callable[[object], bool]:
    return lambda v: isinstance(v, int | float) and not isinstance(v, bool) and least <= v <= most


_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "dimension": (_whole(1, 65536), "a whole number from 1 to 65536"),
    "window": (
        _whole(LEAST_WINDOW, MOST_WINDOW),
        f"a whole number from {LEAST_WINDOW} to {MOST_WINDOW}",
    ),
    "batch": (_whole(1, 2048), "a whole number from 1 to 2048"),
    "shorten": (lambda v: isinstance(v, bool), "true or false"),
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
    return value


def _unknown(name: str, key: str, known: set[str]) -> UsageError:
    hint = f"The settings are: {', '.join(sorted(known))}."
    if "key" in key or "token" in key:
        hint = "Keys are not kept in files: name a variable of the environment in `key_env`."
    return _bad(name, f"has no setting `{key}`", hint)


def _bad(name: str, what: str, hint: str = "Correct the table in config.toml.") -> UsageError:
    return UsageError(f"The embedder {name} {what}.", hint=hint, code="bad_config")
