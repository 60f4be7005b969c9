"""Where the config file is: plain text in and out, so that the quickest command can afford it."""

from __future__ import annotations

import os
from collections.abc import Mapping

CONFIG_FILE = "config.toml"


def config_folder(environ: Mapping[str, str]) -> str:
    """The folder of config and key: `$KHIIP_HOME/config`, else the XDG place."""
    if home := environ.get("KHIIP_HOME"):
        return f"{os.path.expanduser(home)}/config"  # noqa: PTH111 -- pathlib costs too much here
    base = environ.get("XDG_CONFIG_HOME")
    return f"{base or os.path.expanduser('~/.config')}/khiip"  # noqa: PTH111
