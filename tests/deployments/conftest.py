from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from schemas.settings import Settings
from tests.fits import remembering_fits
from tests.fresh import copy_home, copying_new_stores, make_once


def copy_new_home(home: Path) -> None:
    """A home as `proctor init` leaves it, copied of one that is made once.

    For tests of what comes after.
    """
    create_home = import_module("deployments.home").create_home
    copy_home(make_once("new-home", lambda made: create_home(Settings(home=made))), Settings(home=home))


@pytest.fixture(scope="session", autouse=True)
def own_hasher() -> Iterator[PasswordHasher]:
    """The product's own hasher of passwords, which takes .1 CPU seconds by design.

    All tests but those that ask for it hash with the smallest parameters, which a hash brings with it.
    """
    passwords = import_module("deployments.auth.passwords")
    own: PasswordHasher = passwords._hasher
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        passwords.prepare_dummy.cache_clear()
        yield own
    passwords.prepare_dummy.cache_clear()


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
