from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.fresh import copying_new_stores, open_new_lake
from warehouse.lake import Lake


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    return Settings(home=tmp_path / "home")


@pytest.fixture(scope="module")
def new_stores_are_copies() -> Iterator[None]:
    """For modules that are about what happens in a lake, and not about how a new one is made."""
    with copying_new_stores():
        yield


@pytest.fixture(scope="module")
def empty_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A lake for all tests of a module that land nothing."""
    with open_new_lake(Settings(home=tmp_path_factory.mktemp("empty") / "home")) as lake:
        yield lake


@pytest.fixture
def lake(settings: Settings) -> Iterator[Lake]:
    with open_new_lake(settings) as lake:
        yield lake
