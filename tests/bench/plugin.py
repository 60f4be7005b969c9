"""How fast the Obsidian plugin is in a browser, with a warm sidecar at 10,000 notes.

    python tests/bench/plugin.py [VAULT] [--rows FILE]

VAULT is a vault of 10,000 indexed notes; without one it is made and indexed. The plugin is built,
loaded into headless Chromium beside the stand-in of its browser tests, and typed into. Where Node
or Chromium is missing, that is said and nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import vaults
from bench.services import PROGRAM, started

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "obsidian-plugin"
PORT = 8495
NOTES = 10_000
WORDS = 30
Row = tuple[str, str, str]


def missing() -> str | None:
    """What is not here and has to be; None when everything is."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "Node"
    found = subprocess.run([PLUGIN / "scripts" / "chromium.sh"], capture_output=True, check=False)
    return None if found.returncode == 0 else "Chromium"


def indexed_vault(root: Path, env: Mapping[str, str]) -> Path:
    """10,000 small notes, indexed."""
    vault = vaults.make(root / "vault", NOTES, WORDS)
    subprocess.run([PROGRAM, "--vault", vault, "reindex"], env=env, check=True, capture_output=True)
    return vault


def measured(vault: Path, env: dict[str, str]) -> list[dict[str, Any]]:
    """The lines of the plugin's own bench script, against a warm sidecar."""
    subprocess.run(["make", "--no-print-directory", "plugin"], cwd=ROOT, check=True)
    with started(vault, PORT, env) as sidecar:
        sidecar.wait_until_ready()
        done = subprocess.run(
            ["node", "scripts/bench.mjs", sidecar.address, sidecar.key, str(vault)],
            cwd=PLUGIN,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows_of(lines: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The figures as the README shows them."""
    of = {str(line["name"]).removeprefix("plugin: "): line for line in lines}
    painted = "keystroke to painted results"
    median, tail = of[f"{painted}, median"], of[f"{painted}, 95th percentile"]
    times = f"{median['samples']} times"
    return [
        (
            f"Plugin: from a keystroke to painted results at 10,000 notes, {times}",
            f"median {median['value']:.0f} ms, 95th percentile {tail['value']:.0f} ms, "
            "with the pause of 200 ms",
            "",
        ),
        (
            "Plugin: size of main.js, time of onload",
            f"{of['main.js']['value'] / 1024:.0f} KiB, "
            f"median {of['onload, median']['value']:.1f} ms",
            "goal for onload: 50 ms",
        ),
    ]


def measure(vault: Path | None) -> list[Row]:
    if vault is not None:
        return rows_of(measured(vault, dict(os.environ)))
    with tempfile.TemporaryDirectory(prefix="khiip-plugin-") as folder:
        env = {**os.environ, "KHIIP_HOME": str(Path(folder) / "home")}
        return rows_of(measured(indexed_vault(Path(folder), env), env))


def main() -> None:
    """Measure and print; with --rows also write the README's rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("vault", type=Path, nargs="?")
    parser.add_argument("--rows", type=Path)
    options = parser.parse_args()
    lacking = missing()
    if lacking:
        print(f"LEFT OUT: the plugin's figures, for there is no {lacking}", flush=True)
    rows = [] if lacking else measure(options.vault and options.vault.resolve())
    for row in rows:
        print(": ".join(part for part in row if part), flush=True)
    if options.rows:
        options.rows.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
