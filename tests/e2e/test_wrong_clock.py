"""Real processes whose clock is wrong.

Nothing of a month under way is closed, and nothing is published.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.e2e.conftest import BIN
from tests.tasks.exam.kit import set_deadlines
from tests.tasks.exam.world import DISCIPLINES, make_bank, make_model, make_registry, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import sittings
from warehouse.ledger.trust.editions import read_roots

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("faketime") is None, reason="faketime is not installed: apt-get install faketime"
    ),
]


class Month:
    """A home with a month under way.

    It has sessions of an outside candidate and of the reference, planned a moment ago.
    """

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        values = {"set_size": 6, "repeats": 1, "prompt_styles": ["zero_shot"], "disciplines": DISCIPLINES}
        self._variables = {
            f"PROCTOR_{name.upper()}": value if isinstance(value, str) else json.dumps(value)
            for name, value in values.items()
        } | {"PROCTOR_HOME": str(home), "PROCTOR_NO_SERVER": "true", **variables}
        self.run("init", clock=None)
        with self.open() as ledger:
            registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
            settings = self.settings()
            plan = publish(ledger, settings, registry, make_bank(), candidates=[], outside=["alpha"])
            self.run_id = plan.run_id
            assert set_deadlines(ledger, settings) > 0

    def settings(self) -> Settings:
        return Settings(
            home=self.home,
            set_size=6,
            repeats=1,
            prompt_styles=("zero_shot",),
            disciplines=DISCIPLINES,
            ledger_url=self._variables.get("PROCTOR_LEDGER_URL"),
        )

    def open(self) -> Ledger:
        return open_ledger(self.settings().ledger_address)

    def run(
        self, *arguments: str, clock: str | None, is_all_faked: bool = False, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `proctor` with its clock off by so much.

        `is_all_faked` also fakes the clocks that nobody sets.
        """
        kept = {
            name: text for name, text in os.environ.items() if not name.startswith(("PROCTOR_", "PREFECT_"))
        }
        if not is_all_faked:
            kept["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
        return subprocess.run(
            [*(() if clock is None else ("faketime", "-f", clock)), str(BIN / "proctor"), *arguments],
            env=kept | self._variables | variables,
            cwd=self.home.parent,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )

    def count(self) -> dict[str, int]:
        with self.open() as ledger, ledger.read() as connection:
            return dict(sittings.count_sessions(connection, self.run_id))


@pytest.fixture
def month(tmp_path: Path) -> Month:
    return Month(tmp_path / "home")


@pytest.mark.parametrize("is_all_faked", [False, True])
@pytest.mark.parametrize("clock", ["+35d", "-35d", "-1h", "+1h"])
def test_a_process_with_a_wrong_clock_closes_nothing(month: Month, clock: str, is_all_faked: bool) -> None:
    before = month.count()
    assert set(before) == {"planned"}
    done = month.run("judge", "--no-server", clock=clock, is_all_faked=is_all_faked)
    assert month.count() == before, done.stdout + done.stderr
    if clock != "+1h":
        assert done.returncode == 1
        assert done.stderr.count("UTC") == 2
        assert "proctor clock --confirm" in done.stderr
        assert "Traceback" not in done.stderr
        shown = month.run("clock", "--json", clock=clock, is_all_faked=is_all_faked)
        assert shown.returncode == 1
        assert json.loads(shown.stdout)["is_believed"] is False
    published = month.run("publish", month.run_id, "--no-server", clock=clock, is_all_faked=is_all_faked)
    # At an hour ahead nothing is wrong but that nobody has judged: a wrong use, not a wrong clock.
    assert published.returncode == (2 if clock == "+1h" else 1)
    with month.open() as ledger, ledger.read() as connection:
        assert read_roots(connection) == {}
    assert month.run("clock", clock=None).returncode == 0
    assert month.run("judge", "--no-server", clock=None).returncode == 0
    assert month.count() == before


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_another_time_zone_closes_nothing(month: Month, zone: str) -> None:
    before = month.count()
    for named in (zone, "UTC"):
        assert month.run("judge", "--no-server", clock=None, TZ=named).returncode == 0
    assert month.count() == before


def make_zone(change: datetime, *, is_to_summer: bool) -> str:
    """A time zone (POSIX) in which summer time begins or ends at a moment of this year."""
    # The end of summer time is told in summer time, an hour ahead.
    local = change if is_to_summer else change + timedelta(hours=1)
    day = f"{local.timetuple().tm_yday - 1}/{local:%H:%M:%S}"
    other = (local + timedelta(days=150)).timetuple().tm_yday % 365
    return f"AAA0BBB,{day},{other}/2" if is_to_summer else f"AAA0BBB,{other}/2,{day}"


@pytest.mark.parametrize("is_to_summer", [True, False])
def test_a_change_to_or_from_summer_time_under_way_closes_nothing(month: Month, is_to_summer: bool) -> None:
    before = month.count()
    change = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2)
    zone = make_zone(change, is_to_summer=is_to_summer)
    hours = [
        subprocess.run(
            ["date", "-d", f"@{(change + timedelta(seconds=off)).timestamp():.0f}", "+%z"],
            env={"TZ": zone, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for off in (-1, 1)
    ]
    assert hours == (["+0000", "+0100"] if is_to_summer else ["+0100", "+0000"])
    # The second command begins after the change: by its local clock an hour has passed, or comes again.
    for _ in range(2):
        assert month.run("judge", "--no-server", clock=None, TZ=zone).returncode == 0
    assert datetime.now(UTC) > change
    assert month.run("clock", clock=None, TZ=zone).returncode == 0
    assert month.count() == before


@pytest.mark.service
def test_a_process_with_a_wrong_clock_is_refused_by_a_server_on_the_true_one(tmp_path: Path) -> None:
    from tests.warehouse.ledger.postgresql import start_postgresql

    with start_postgresql() as server:
        month = Month(tmp_path / "home", PROCTOR_LEDGER_URL=server.new_ledger_url())
        before = month.count()
        for clock in ("+35d", "-35d", "+1h", "-1h"):
            done = month.run("judge", "--no-server", clock=clock)
            assert (done.returncode, month.count()) == (1, before)
            assert "and the database server's" in done.stderr
        assert month.run("judge", "--no-server", clock=None).returncode == 0
        assert month.count() == before


def test_a_session_whose_time_is_over_by_a_confirmed_clock_is_closed(month: Month) -> None:
    confirmed = month.run("clock", "--confirm", clock="+35d")
    assert confirmed.returncode == 0, confirmed.stderr
    month.run("judge", "--no-server", clock="+35d")
    assert set(month.count()) == {"closed"}
