from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fits import remembering_fits
from tests.fresh import copying_new_stores


@pytest.fixture(scope="package", autouse=True)
def _new_stores_are_copies() -> Iterator[None]:
    """New stores are copies, because the commands open lakes and ledgers by the hundred.

    The tests of the warehouse check that a new one is made correctly.
    """
    with copying_new_stores():
        yield


@pytest.fixture(scope="package", autouse=True)
def _fits_are_remembered() -> Iterator[None]:
    """A season is fitted once, since many tests publish the same one.

    The tests of the statistics check that the same answers give the same fit.
    """
    with remembering_fits():
        yield
