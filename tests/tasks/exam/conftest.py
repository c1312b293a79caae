from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tasks.exam.doors import DoorToTheExam, open_direct, open_http
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty ledger, made once and copied for each test."""
    path = tmp_path_factory.mktemp("ledger") / "empty.sqlite"
    open_ledger(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def ledger(tmp_path: Path, empty_ledger: Path) -> Iterator[Ledger]:
    path = tmp_path / "ledger.sqlite"
    restore_ledger(empty_ledger, path)
    with open_ledger(f"sqlite:///{path}") as opened:
        yield opened


@pytest.fixture
def world(ledger: Ledger, tmp_path: Path) -> World:
    """Candidate alpha and the reference rho, one session each, six questions."""
    settings = make_settings(tmp_path / "home")
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    bank = make_bank()
    return World(ledger, settings, registry, bank, publish(ledger, settings, registry, bank))


@pytest.fixture(params=["direct", "http"])
def door(request: pytest.FixtureRequest, world: World) -> Iterator[DoorToTheExam]:
    """The same protocol in process and over HTTP."""
    with open_direct(world) if request.param == "direct" else open_http(world) as opened:
        yield opened
