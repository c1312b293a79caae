from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.tasks.league.statistics.synthetic import Spec, build_league
from warehouse.lake import Batch, Lake, open_lake

LandLeague = Callable[[Spec], None]


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with open_lake(Settings(home=tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def land_league(lake: Lake) -> LandLeague:
    def land(spec: Spec) -> None:
        landings = lake.land_together(
            [Batch(name, spec.league_id, frame) for name, frame in build_league(spec).items()]
        )
        assert [landing.rejected_count for landing in landings] == [0] * len(landings)

    return land
