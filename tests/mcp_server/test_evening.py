"""The agent's evening, which people read, holds what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "bench" / "agent_evening.py"


def test_the_evening_goes_through_on_the_sample_vault() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    for said in ("What is this vault about?", "The rest of the thread", "And once more"):
        assert said in done.stdout
