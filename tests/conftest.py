"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no fault of the code: no test depends on a wall time.
settings.register_profile("khiip", deadline=None)
settings.load_profile("khiip")
