from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tasks.exam.doors import DoorToTheExam, open_direct, open_http
from tests.tasks.exam.world import PublishedWorld, World, make_model, make_registry
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty ledger, made once and copied for each test."""
    path = tmp_path_factory.mktemp("ledger") / "empty.sqlite"
    open_ledger(f"sqlite:///{path}").close()
    return path


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, empty_ledger: Path) -> PublishedWorld:
    """Candidate alpha and the reference rho, one session each, six questions."""
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    return PublishedWorld.publish(tmp_path_factory.mktemp("world"), empty_ledger, registry)


@pytest.fixture
def ledger(tmp_path: Path, empty_ledger: Path, request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """An empty one, or that of the published world where a test is about it."""
    is_published = "world" in request.fixturenames
    path = tmp_path / "ledger.sqlite"
    restore_ledger(request.getfixturevalue("published").ledger if is_published else empty_ledger, path)
    with open_ledger(f"sqlite:///{path}") as opened:
        yield opened


@pytest.fixture
def world(ledger: Ledger, tmp_path: Path, published: PublishedWorld) -> World:
    """Candidate alpha and the reference rho, one session each, six questions."""
    return published.copy(ledger, tmp_path / "home")


@pytest.fixture
def door(world: World) -> Iterator[DoorToTheExam]:
    with open_direct(world) as opened:
        yield opened


@pytest.fixture(params=["direct", "http"])
def any_door(request: pytest.FixtureRequest, world: World) -> Iterator[DoorToTheExam]:
    """The same protocol in process and over HTTP."""
    with open_direct(world) if request.param == "direct" else open_http(world) as opened:
        yield opened
