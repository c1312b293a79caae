from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from deployments.auth import hash_password
from deployments.exam_api.app import create_app
from tests.tasks.exam.world import PublishedWorld, World, make_model, make_registry
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users

PASSWORD = "correct horse battery"


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with three people, made once (argon2 is slow by design), copied for each test."""
    path = tmp_path_factory.mktemp("ledger") / "empty.sqlite"
    with open_ledger(f"sqlite:///{path}") as ledger, ledger.write() as connection:
        for name, role in (("ada", "admin"), ("eve", "examiner"), ("ann", "analyst")):
            users.add_user(connection, user_id=name, role=role, password_hash=hash_password(PASSWORD))
    return path


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, empty_ledger: Path) -> PublishedWorld:
    """Candidate alpha sits from outside; the reference rho in house."""
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    return PublishedWorld.publish(
        tmp_path_factory.mktemp("world"), empty_ledger, registry, candidates=[], outside=["alpha"]
    )


@pytest.fixture
def ledger(tmp_path: Path, empty_ledger: Path, request: pytest.FixtureRequest) -> Iterator[Ledger]:
    """One with three people, or that of the published world where a test is about it."""
    is_published = "world" in request.fixturenames
    path = tmp_path / "ledger.sqlite"
    restore_ledger(request.getfixturevalue("published").ledger if is_published else empty_ledger, path)
    with open_ledger(f"sqlite:///{path}") as opened:
        yield opened


@pytest.fixture
def world(ledger: Ledger, tmp_path: Path, published: PublishedWorld) -> World:
    """Candidate alpha sits from outside; the reference rho in house."""
    return replace(published.copy(ledger, tmp_path / "home"), now=time.time())


@pytest.fixture
def client(world: World) -> Iterator[TestClient]:
    with TestClient(create_app(world.settings, ledger=world.ledger)) as opened:
        yield opened
