"""What every look at a home reads anew and no test changes is read once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.metadata import version

import pytest

from deployments.doctor import machine


@pytest.fixture(scope="session", autouse=True)
def _installed_packages_are_read_once() -> Iterator[None]:
    """The metadata of seventy packages were an eighth of a look."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deployments.doctor.machine.version", cache(version))
        patch.setattr(machine, "list_wrong_versions", cache(machine.list_wrong_versions))
        yield
