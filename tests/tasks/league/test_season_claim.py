"""The season's league, claimed by its first run with every candidate that can play.

The next run claims the same one.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.settings import Settings, load_settings
from tasks.league.claim import find_league
from tasks.league.domain import name_season
from tasks.models.registry import read_registry
from tests.fresh import open_new_lake
from tests.tasks.league.world import ABILITIES, write_registry
from warehouse.lake import open_lake


def test_a_season_is_claimed_once_with_all_candidates_of_the_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tasks.league.task import claim_season  # Imports Prefect.

    settings = Settings(home=tmp_path)
    open_new_lake(settings).close()
    write_registry(settings.registry_path, tuple(ABILITIES))
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path))
    load_settings.cache_clear()
    season = name_season(datetime.now(UTC).date())

    assert claim_season.fn() == f"season-{season}"
    assert claim_season.fn(["nobody"]) == f"season-{season}", "what is claimed stays as it is"

    with open_lake(settings, read_only=True) as lake:
        claim = find_league(lake, settings, f"season-{season}")
    assert claim is not None
    named = [model.name for model in read_registry(settings.registry_path).candidates()]
    assert claim.rules.candidates == tuple(named)
    assert set(named) >= set(ABILITIES)
    assert (claim.rules.season, list(claim.rules.domains)) == (season, ["mathematics"])
