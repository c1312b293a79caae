from __future__ import annotations

import shutil

import pytest
from sqlalchemy import delete

from tests.tasks.exam.world import World
from warehouse.ledger.tables import public_head, public_log


@pytest.fixture
def world(world: World) -> World:
    """A home whose run was planned before there was a public log: what a test adds to it is all that it has."""
    with world.ledger.write() as connection:
        connection.execute(delete(public_log))
        connection.execute(delete(public_head))
    shutil.rmtree(world.settings.home / "public")
    return world
