"""`kill -9` of those who sit and judge, and what providers do wrong.

Nothing is lost, nothing is asked twice once answered, and every cent is booked.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import RunningServer
from schemas.settings import Settings
from tasks.models.budget.reservations import compute_worst_cost
from tasks.models.registry import read_registry
from tests.paid_calls import count_calls, read_calls
from tests.tasks.shared_run import (
    CANDIDATES,
    RUN,
    make_answerable_bank,
    make_values,
    plan_shared_run,
    read_billed_usd,
    start_models,
    start_worker,
)
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.budgets import read_account
from warehouse.ledger.money.calls import read_spent_usd

pytestmark = pytest.mark.slow

SESSIONS = 4
# All models have one provider, which takes two calls at once from a process.
IN_FLIGHT = 2
FAULTS: dict[str, Any] = {
    "rate_limit": 0.1,
    "retry_after_s": 0.01,
    "server_error": 0.1,
    "hang": 0.05,
    "cut_stream": 0.1,
    "malformed": 0.1,
    "no_usage": 0.1,
    "attempts": 2,
}


@dataclass
class Fire:
    """A run whose workers are killed.

    It has the settings of its home, the models, and what was in flight at the kills.
    """

    values: dict[str, Any]
    server: RunningServer
    notes: Path
    luck: random.Random
    lost: set[tuple[str, str]] = field(default_factory=set)

    @property
    def in_flight(self) -> int:
        """Calls that were under way at a kill; one that was under way at two kills counts twice."""
        return len(self.lost)

    @property
    def settings(self) -> Settings:
        return Settings(**{name: value for name, value in self.values.items() if name != "simulated_url"})

    def count_calls(self) -> dict[str, int]:
        with open_ledger(self.settings.ledger_address) as ledger, ledger.read() as connection:
            return count_calls(connection, RUN)

    def work(self, what: str, kills: int) -> None:
        """Kill a worker at so many moments of its work, then let one finish."""
        for _ in range(kills):
            worker = start_worker(self.values, what, self.notes)
            wanted = sum(self.server.state.answered.values()) + self.luck.randint(1, 3)
            deadline = time.monotonic() + 120
            while sum(self.server.state.answered.values()) < wanted and worker.is_alive():
                assert time.monotonic() < deadline, "it never got that far"
                time.sleep(0.002)
            time.sleep(self.luck.uniform(0, 0.01))
            assert worker.is_alive(), "the work was over before it could be disturbed"
            worker.kill()
            worker.join()
            before = self.in_flight
            with open_ledger(self.settings.ledger_address) as ledger, ledger.read() as connection:
                rows = read_calls(connection, run_id=RUN)
            self.lost |= {(row["call_key"], row["holder"]) for row in rows if row["status"] == "started"}
            assert self.in_flight <= before + IN_FLIGHT
        worker = start_worker(self.values, what, self.notes)
        worker.join()
        assert worker.exitcode == 0


def check_kills(tmp_path: Path, size: int, kills: int) -> None:
    seed = int(os.environ.get("PROCTOR_TEST_SEED", str(time.time_ns() % 100_000)))
    print(f"seed {seed}")
    bank = make_answerable_bank(size)
    values = make_values(tmp_path / "home", size)
    plan_shared_run(Settings(**values), bank)
    with start_models(bank) as server:
        values["simulated_url"] = server.url
        fire = Fire(values, server, tmp_path / "notes.json", random.Random(seed))
        fire.work("sit", kills)
        fire.work("judge", kills)
        state, billed_usd = server.state, read_billed_usd(server)
    calls = fire.count_calls()
    assert calls == {"started": 0, "done": len(state.repeats), "failed": 0}
    # At most what was in flight at a kill was asked once more, and that is booked at the most that it may have cost.
    assert sum(state.repeats.values()) - len(state.repeats) <= fire.in_flight
    check_all_is_there(fire.settings, size)
    spent_usd, replies_usd, worst_usd = read_money(fire.settings)
    assert billed_usd <= spent_usd + 1e-12
    assert spent_usd <= replies_usd + fire.in_flight * worst_usd + 1e-12


def check_all_is_there(settings: Settings, size: int) -> None:
    with open_lake(settings, read_only=True) as lake:
        for table in ("responses", "judgements"):
            kept = lake.query(f"SELECT session_id, seq FROM {table} ORDER BY ALL").rows()
            assert len(kept) == len(set(kept)) == SESSIONS * size
        assert lake.query("SELECT DISTINCT status FROM sessions").rows() == [("closed",)]


def read_money(settings: Settings) -> tuple[float, float, float]:
    """The money of the run, as three sums.

    They are what it has spent, what its replies cost, and more than any of its attempts could have cost.
    """
    model = read_registry(settings.registry_path).get(CANDIDATES[0])
    worst_usd = compute_worst_cost(model, [{"role": "user", "content": "x" * 20_000}], model.parameters)
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        rows = read_calls(connection, run_id=RUN)
        return read_spent_usd(connection, RUN), sum(row["cost_usd"] or 0.0 for row in rows), worst_usd


@pytest.mark.long
def test_whoever_sits_and_judges_is_killed_again_and_again_and_hardly_anything_is_asked_twice(
    tmp_path: Path,
) -> None:
    check_kills(tmp_path, size=20, kills=10)


@pytest.mark.long
def test_a_hundred_kills_of_sitting_and_of_judging(tmp_path: Path) -> None:
    check_kills(tmp_path, size=90, kills=100)


@pytest.mark.parametrize("limit_usd", [5.0, pytest.param(None, marks=pytest.mark.long)])
def test_whatever_providers_do_wrong_every_answer_comes_once_and_every_cent_is_booked(
    tmp_path: Path, limit_usd: float | None
) -> None:
    bank = make_answerable_bank(6)
    values = make_values(tmp_path / "home", 6, call_timeout_s=2.0)
    plan_shared_run(Settings(**values), bank, budget_usd=limit_usd)
    with start_models(bank, **FAULTS, hang_s=30.0) as server:
        worker = start_worker(
            values | {"simulated_url": server.url, "backoff_s": 0.01}, "both", tmp_path / "notes.json"
        )
        worker.join()
        assert worker.exitcode == 0
        state, billed_usd = server.state, read_billed_usd(server)
    counts = Counter(json.loads((tmp_path / "notes.json").read_text("utf-8")))
    assert set(state.faults) == set(FAULTS) - {"attempts", "retry_after_s"}
    # Asked again as often as an attempt failed, and never once there was an answer.
    assert set(state.answered.values()) == {1}
    failed = sum(state.faults.values()) - state.faults["no_usage"]
    assert sum(state.requests.values()) == len(state.repeats) + counts["retried"]
    # On a machine with much else to do an answer may take longer than is waited for: then it is asked for again, too.
    late = counts["retried"] - failed
    assert 0 <= late <= 5
    check_all_is_there(Settings(**values), 6)
    spent_usd, replies_usd, worst_usd = read_money(Settings(**values))
    assert billed_usd <= spent_usd + 1e-12
    unknown = sum(
        state.faults[name] for name in ("server_error", "hang", "cut_stream", "malformed", "no_usage")
    )
    assert replies_usd < spent_usd <= replies_usd + (unknown + late) * worst_usd
    if limit_usd is not None:
        with open_ledger(Settings(**values).ledger_address) as ledger, ledger.read() as connection:
            account = read_account(connection, RUN)
        assert account is not None
        # The purse and the calls say the same.
        assert account.spent_usd == pytest.approx(spent_usd)
        assert account.reserved_usd == pytest.approx(0, abs=1e-9)
