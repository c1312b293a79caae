from __future__ import annotations

from collections.abc import Iterator

import pytest

from warehouse.lake import share_lake


@pytest.fixture(autouse=True)
def one_lake() -> Iterator[None]:
    """The lake of a test is attached once for all of its commands, as for the steps of a flow.

    To attach it took a fifth of their CPU; the tests of the warehouse check how it is opened.
    """
    with share_lake():
        yield
