"""Settings: the one reader of the environment and of the config file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from khiip_indexer.embedding import remembered
from khiip_indexer.embedding.choice import MINILM, EmbedderChoice, read_choice, read_choices
from khiip_indexer.errors import UsageError, VaultError
from khiip_indexer.homes import CONFIG_FILE, config_folder

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8478
VAULT_MARKS = (".obsidian", ".khiip")
CONFIG_KEYS = (
    "vault",
    "exclude",
    "state_dir",
    "host",
    "port",
    "threads",
    "model_dir",
    "follow_symlinks",
    "embedder",
    "embedders",
)


@dataclass(frozen=True, slots=True)
class Homes:
    """Where a user's own files live: config and key, and caches that can be deleted."""

    config: Path
    cache: Path


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a command needs to know before it opens a vault.

    `embedders` are all that were described, by name, and `embedder` is the one in use; `agreed`
    are the addresses that the vault's texts may be sent to.
    """

    vault: Path
    state: Path
    homes: Homes
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    exclude: tuple[str, ...] = ()
    model_dir: Path | None = None
    threads: int | None = None
    follow_symlinks: bool = False
    embedder: EmbedderChoice = MINILM
    embedders: Mapping[str, EmbedderChoice] = field(default_factory=dict)
    agreed: frozenset[str] = frozenset()

    @property
    def vault_name(self) -> str:
        """The name Obsidian knows the vault by: its folder's name."""
        return self.vault.name


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line said; None means that it said nothing."""

    vault: str | None = None
    state_dir: str | None = None
    threads: int | None = None
    follow_symlinks: bool = False


def find_homes(environ: Mapping[str, str] | None = None) -> Homes:
    """The user's folders: under `$KHIIP_HOME` when set, else the platform's usual places."""
    env = os.environ if environ is None else environ
    return Homes(config=Path(config_folder(env)), cache=_cache_home(env))


def kept_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that move a user's folders: what git or the system starts may not have them."""
    env = os.environ if environ is None else environ
    names = ("KHIIP_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    return {name: os.path.abspath(_place(env[name])) for name in names if env.get(name)}  # noqa: PTH100


def config_home(environ: Mapping[str, str] | None = None) -> Path:
    """Where programs of this user keep their settings, by the XDG rules."""
    env = os.environ if environ is None else environ
    return Path(env.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _cache_home(environ: Mapping[str, str]) -> Path:
    if home := environ.get("KHIIP_HOME"):
        return Path(home).expanduser() / "cache"
    if base := environ.get("XDG_CACHE_HOME"):
        return Path(base) / "khiip"
    import platformdirs

    return Path(platformdirs.user_cache_dir("khiip", appauthor=False))


def load_settings(
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Settings:
    """Settle every setting: command line, then environment, then config file, then defaults."""
    said = overrides or Overrides()
    env = os.environ if environ is None else environ
    homes = find_homes(env)
    table = _read_config(homes.config / CONFIG_FILE)
    vault = _find_vault(said.vault or env.get("KHIIP_VAULT"), table, cwd)
    state = said.state_dir or _text(table, "state_dir")
    model_dir = _text(table, "model_dir")
    settings = Settings(
        vault=vault,
        state=_place(state).resolve() if state else vault / ".khiip",
        homes=homes,
        host=_text(table, "host") or DEFAULT_HOST,
        port=_whole(table, "port", 1, 65535) or DEFAULT_PORT,
        exclude=_texts(table, "exclude"),
        model_dir=_place(model_dir) if model_dir else None,
        threads=said.threads or _whole(table, "threads", 1, 1024),
        follow_symlinks=said.follow_symlinks or _flag(table, "follow_symlinks"),
    )
    return _with_embedder(settings, table)


def reread_embedder(settings: Settings) -> Settings:
    """These settings with the embedder that the files name now; all else stays as it was."""
    return _with_embedder(settings, _read_config(settings.homes.config / CONFIG_FILE))


def _with_embedder(settings: Settings, table: Mapping[str, object]) -> Settings:
    """What was chosen by a command counts before what the config says."""
    known = remembered.load(settings.homes.config, settings.vault)
    file = str(settings.homes.config / CONFIG_FILE)
    named = read_choices(table.get("embedders", {}), file)
    if "embedder" in table:
        named["config"] = read_choice("config", table["embedder"], file)
    before = {choice.name: choice for choice in known.known.values()}
    chosen = named.get(known.use or "config") or before.get(known.use or "")
    return replace(
        settings,
        embedder=chosen or named.get("config", MINILM),
        embedders=named,
        agreed=known.agreed,
    )


def secret(key_env: str | None, environ: Mapping[str, str] | None = None) -> str | None:
    """The value of a variable that holds a key; never kept and never shown."""
    env = os.environ if environ is None else environ
    return (env.get(key_env) if key_env else None) or None


def _find_vault(named: str | None, table: Mapping[str, object], cwd: Path | None) -> Path:
    chosen = named or _text(table, "vault")
    if chosen is None:
        return _nearest_vault(cwd or Path.cwd())
    path = _place(chosen)
    if not os.path.isdir(path):  # noqa: PTH112 - unlike is_dir, no error where it may not look
        found = "is not a folder" if os.path.exists(path) else "does not exist"  # noqa: PTH110
        raise VaultError(
            f"The vault folder {chosen} {found}.",
            hint="Give an existing folder with --vault, KHIIP_VAULT or `vault` in config.toml.",
        )
    return path.resolve()


def _place(written: str) -> Path:
    try:
        return Path(written).expanduser()
    except RuntimeError as error:
        raise UsageError(
            f"There is no home folder for {written}.", hint="Write the whole path."
        ) from error


def _nearest_vault(cwd: Path) -> Path:
    for folder in (cwd, *cwd.parents):
        if any((folder / mark).is_dir() for mark in VAULT_MARKS):
            return folder.resolve()
    raise VaultError(
        "No vault was named, and no folder above this one is a vault.",
        hint="Give the folder with --vault PATH, set KHIIP_VAULT, or run inside a vault.",
    )


def _read_config(path: Path) -> dict[str, object]:
    try:
        return _known(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(
            f"The config file {path} cannot be read: {error}.",
            hint="Correct the file or move it away.",
            code="bad_config",
        ) from error


def _known(table: dict[str, object]) -> dict[str, object]:
    """A mistyped `exclude` that was passed over would index what was meant to stay out."""
    for key in table:
        if key not in CONFIG_KEYS:
            raise UsageError(
                f"There is no setting `{key}` for config.toml.",
                hint=f"The settings are: {', '.join(CONFIG_KEYS)}.",
                code="bad_config",
            )
    return table


def _text(table: Mapping[str, object], key: str) -> str | None:
    value = table.get(key)
    if value is None or isinstance(value, str):
        return value or None
    raise _bad(key, "text in quotes")


def _texts(table: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise _bad(key, "a list of texts")


def _flag(table: Mapping[str, object], key: str) -> bool:
    value = table.get(key, False)
    if isinstance(value, bool):
        return value
    raise _bad(key, "true or false")


def _whole(table: Mapping[str, object], key: str, least: int, most: int) -> int | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise _bad(key, f"a whole number from {least} to {most}")


def _bad(key: str, wanted: str) -> UsageError:
    return UsageError(
        f"`{key}` in config.toml must be {wanted}.",
        hint="Correct the value or delete the line.",
        code="bad_config",
    )
