"""One world for all tests of what is published; each test changes a copy of its own."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import delete

from tasks.exam.public.verifier import Findings, verify
from tests.tasks.exam.public.made import Made
from tests.tasks.exam.public.maker import Maker
from tests.tasks.exam.public.world import make_world
from tests.tasks.exam.world import World
from warehouse.ledger.engine.tables import public_head, public_log


@cache
def _make_once() -> tuple[Ed25519PrivateKey, bytes]:
    """The key, which cannot be copied, and the world without it."""
    made, maker = make_world()
    key, made.key = made.key, None  # type: ignore[assignment]
    return key, pickle.dumps((made, maker))


@pytest.fixture
def made_world() -> tuple[Made, Maker]:
    key, world = _make_once()
    made, maker = pickle.loads(world)
    made.key = key
    return made, maker


@pytest.fixture
def made(made_world: tuple[Made, Maker]) -> Made:
    return made_world[0]


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., set[str]]:
    """The statements that a verifier finds false in what a maker publishes."""

    def look(made: Made, spoil: Callable[[Path], Any] | None = None, **given: Any) -> set[str]:
        folder = made.write(tmp_path / "public")
        if spoil is not None:
            spoil(folder)
        findings: Findings = verify(str(folder), **given)
        assert not [what for _, what in findings.faults if "cannot be understood" in what], findings.faults
        return {statement for statement, _ in findings.faults}

    return look


@pytest.fixture
def world(world: World) -> World:
    """A home whose run was planned before there was a public log: a test adds all it has."""
    with world.ledger.write() as connection:
        connection.execute(delete(public_log))
        connection.execute(delete(public_head))
    shutil.rmtree(world.settings.home / "public")
    return world
