"""`kill -9` at every moment of a batch's life: the next command finds it again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from deployments.model_server import RunningServer
from tasks.models.client import CallReply
from tests.tasks.models.batch_work import BUDGET_USD, CALLS, MOMENTS, work
from tests.tasks.models.test_batches import (
    compute_billed,
    read_counts,
    read_money,
    read_states,
    serve,
    work_through,
)
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.calls import read_spent_usd

ROOT = Path(__file__).parents[3]
# The moment at which a batch is paid for twice where it is done carelessly; the others are killed at in the long tests.
IN_EVERY_RUN = ("after_create",)


def kill(warm_python: str, address: str, server: RunningServer, moment: str) -> None:
    done = subprocess.run(
        [warm_python, "-m", "tests.tasks.models.batch_work", address, server.url, moment],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == -9, done.stderr[-2_000:]


@pytest.mark.parametrize(
    "moment",
    [pytest.param(moment, marks=() if moment in IN_EVERY_RUN else pytest.mark.long) for moment in MOMENTS],
)
def test_after_a_kill_the_batch_is_found_again_and_no_call_is_paid_for_twice(
    tmp_path: Path, warm_python: str, moment: str
) -> None:
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    with serve() as server:
        kill(warm_python, address, server, moment)
        with open_ledger(address) as ledger:
            before = server.state.batches.created
            assert before == (MOMENTS.index(moment) >= MOMENTS.index("after_create"))
            rounds = work_through(ledger, server)
            assert all(isinstance(outcome, CallReply) for outcome in rounds[-1].outcomes)
            assert server.state.batches.created == 1
            assert set(server.state.batched.values()) == {1}
            assert server.state.requests["sim"] == 0
            spent, reserved = read_money(ledger)
            booked = compute_billed(server)
            # Nobody knows whether a batch was created whose process died before it was told: then it counts at its most.
            if moment == "before_create":
                assert booked < spent <= BUDGET_USD
                assert rounds[0].collected.counts["lost"] == CALLS
            else:
                assert spent == pytest.approx(booked)
            assert reserved == pytest.approx(0)
            with ledger.read() as connection:
                assert read_spent_usd(connection, "run-1") == pytest.approx(spent)
            assert read_counts(ledger) == {"started": 0, "done": CALLS, "failed": 0}
            assert not {"gathering", "creating", "created"} & set(read_states(ledger))


@pytest.mark.long
def test_a_batch_that_the_provider_does_not_show_is_looked_for_then_booked_at_its_most_and_reported(
    tmp_path: Path, warm_python: str
) -> None:
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    with serve({"is_listed": False}) as server:
        kill(warm_python, address, server, "after_create")
        with open_ledger(address) as ledger:
            still = work(ledger, server.url, looked_for_s=3600)
            assert (still.pending, still.submitted, read_states(ledger)) == (CALLS, 0, ["creating"])
            _, worst = read_money(ledger)
            rounds = work_through(ledger, server)
            assert "does not show it" in rounds[0].collected.problems[0]
            spent, reserved = read_money(ledger)
            states = read_states(ledger)
        assert server.state.batches.created == 2
        assert reserved == pytest.approx(0)
        assert states == ["lost", "ended"]
        assert spent == pytest.approx(worst + compute_billed(server))
