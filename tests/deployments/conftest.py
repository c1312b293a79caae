from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fresh import copying_new_lakes


@pytest.fixture(scope="package", autouse=True)
def _new_lakes_are_copies() -> Iterator[None]:
    """The commands open lakes by the hundred; that a new one is made rightly is for the tests of the warehouse."""
    with copying_new_lakes():
        yield
