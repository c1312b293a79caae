"""A home of its own for each test of ingest, and its lake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.fresh import open_new_lake
from warehouse.lake import Lake


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_QUIET", "1")
    return Settings(home=tmp_path / "home")


@pytest.fixture
def lake(settings: Settings) -> Iterator[Lake]:
    with open_new_lake(settings) as lake:
        yield lake
