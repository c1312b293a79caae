"""The home of the erasure's tests: a run that was sat, judged, disclosed and published."""

from __future__ import annotations

from tests.tasks.operations.erasure.conftest import judged_home, settings

__all__ = ["judged_home", "settings"]
