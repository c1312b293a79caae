from __future__ import annotations

import pytest

from tasks.league.sandbox.programs import find_room


@pytest.fixture
def room() -> None:
    """Skip where the machine offers no room: programs are refused there."""
    if find_room() is None:
        pytest.skip(
            "this machine offers no room without a way out (bubblewrap, or unshare and user namespaces)"
        )
