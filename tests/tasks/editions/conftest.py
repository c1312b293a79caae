from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import Settings
from tasks.editions.roots import publish_and_keep_root
from tests.fresh import copy_home, make_once, open_new_lake
from tests.tasks.editions.season import land_frames
from tests.tasks.report.synthetic import build_season
from tests.warehouse.lake.kit import remember_data_path
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.opening import open_ledger


@pytest.fixture(scope="session")
def season_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two months of six candidates in a lake, landed once for all workers."""

    def make(home: Path) -> None:
        with open_new_lake(Settings(home=home)) as lake:
            land_frames(lake, build_season())

    settings = Settings(home=tmp_path_factory.mktemp("season") / "home")
    copy_home(make_once("season", make), settings)
    return settings.home


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    return Settings(home=tmp_path / "home", judge_ratings_gate=100)


@pytest.fixture
def season(settings: Settings, season_home: Path) -> Iterator[Lake]:
    """Two months of six candidates in a lake of its own; nothing is published."""
    copy_home(season_home, settings)
    with open_lake(settings) as lake:
        yield lake


@pytest.fixture(scope="session")
def published_home(season_home: Path) -> Path:
    """The season with June published and its root kept, made once for all workers; only copied."""

    def make(home: Path) -> None:
        settings = Settings(home=home, judge_ratings_gate=100)
        copy_home(season_home, settings)
        with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
            publish_and_keep_root(ledger, lake, settings, "run-2025-06")

    return make_once("season-published", make)


@pytest.fixture
def published(settings: Settings, published_home: Path) -> Iterator[Lake]:
    """The season in a lake of its own, with June published."""
    shutil.copytree(published_home / "lake", settings.home / "lake", ignore=shutil.ignore_patterns("*.lock"))
    remember_data_path(settings)
    with open_lake(settings) as lake:
        yield lake
