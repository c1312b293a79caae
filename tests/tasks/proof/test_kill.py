"""A kill between the entry that closes a landing and the landing itself is told and mended."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from schemas.settings import Settings
from tasks.proof import check_stages
from tests.warehouse.lake_writer import land_version
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

ROOT = Path(__file__).parents[3]
DIES = """
import os, signal, sys
from pathlib import Path
from schemas.settings import Settings
from tests.warehouse.lake_writer import land_version
from warehouse.lake import open_lake
from warehouse.lake.sealing import LandingLog

close = LandingLog.close_units

def close_and_die(*arguments):
    close(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

LandingLog.close_units = close_and_die
with open_lake(Settings(home=Path(sys.argv[1]))) as lake:
    land_version(lake, "unit", int(sys.argv[2]))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(home=tmp_path / "home")
    open_ledger(settings.ledger_address).close()
    open_lake(settings).close()
    return settings


def die_while_landing(warm_python: str, settings: Settings, version: int) -> None:
    done = subprocess.run([warm_python, "-c", DIES, str(settings.home), str(version)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL


def land(settings: Settings, version: int) -> None:
    with open_lake(settings) as lake:
        land_version(lake, "unit", version)


def find_landings(settings: Settings) -> dict[str, str]:
    """Landing → what is said of it."""
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        found = check_stages(ledger, lake, settings).findings
        return {one.where: one.name for one in found if one.name.startswith("landing_")}


def test_a_landing_that_was_killed_is_missing_or_outdated_until_it_is_made_again(
    settings: Settings, warm_python: str
) -> None:
    die_while_landing(warm_python, settings, 1)
    both = ("allocations/unit", "sessions/unit")
    assert find_landings(settings) == dict.fromkeys(both, "landing_missing")
    land(settings, 1)
    assert find_landings(settings) == {}
    die_while_landing(warm_python, settings, 2)
    assert set(find_landings(settings).values()) == {"landing_outdated"}
    land(settings, 2)
    assert find_landings(settings) == {}


@pytest.mark.long
def test_what_comes_in_the_place_of_a_killed_landing_is_closed_as_it_is(
    settings: Settings, warm_python: str
) -> None:
    die_while_landing(warm_python, settings, 1)
    land(settings, 2)
    assert find_landings(settings) == {}
