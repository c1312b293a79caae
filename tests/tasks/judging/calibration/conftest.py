from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.tasks.judging.calibration.rated_run import open_rated_run
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger

Room = tuple[Settings, Ledger, Lake]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with open_rated_run(tmp_path / "home") as opened:
        yield opened
