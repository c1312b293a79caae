from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fits import remembering_fits
from tests.fresh import copying_new_stores
from warehouse.lake import share_lake


@pytest.fixture(scope="package", autouse=True)
def _new_stores_are_copies() -> Iterator[None]:
    """Make new stores by copying, since the stages open lakes and ledgers by the hundred.

    The tests of the warehouse check that a new lake is made correctly.
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


@pytest.fixture(autouse=True)
def one_lake() -> Iterator[None]:
    """The lake of a test is attached once for all who open it, as for the steps of a flow.

    The tests of the warehouse check how it is opened, and a process that a test starts or kills attaches its own.
    """
    with share_lake():
        yield
