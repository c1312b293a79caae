"""The ledger of calls on PostgreSQL: the same statements, the same outcome."""

from __future__ import annotations

import pytest

from tasks.models.budget.reservations import compute_worst_cost
from tests.paid_calls import count_calls, read_calls
from tests.tasks.models.simulation import PARAMETERS, call_all, make_model, make_request, start_server
from tests.warehouse.test_lake_postgres import server as postgres
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.calls import read_spent_usd

__all__ = ["postgres"]

pytestmark = pytest.mark.service


def test_calls_are_paid_for_once_on_postgresql_too(postgres: str) -> None:
    host = postgres.split()[0].removeprefix("host=")
    requests = [make_request(number) for number in range(12)]
    faults = {"faults": {"server_error": 1.0}}
    with open_ledger(f"postgresql://postgres@/postgres?host={host}") as ledger:
        with start_server(sim=faults) as server:
            call_all(ledger, server.url, requests[:2], most_attempts=1)
        with start_server() as server:
            first, counts = call_all(ledger, server.url, requests)
            again, counts_again = call_all(ledger, server.url, requests)
            assert server.state.requests["sim"] == 12
        with ledger.read() as connection:
            assert count_calls(connection, "run-1") == {"started": 0, "done": 12, "failed": 0}
            rows = [row for row in read_calls(connection) if row["unit"] == "session-1"]
            # The two that met a server error may have been billed for it: at the most.
            worst = 2 * compute_worst_cost(make_model(), requests[0].messages, PARAMETERS)
            assert read_spent_usd(connection, "run-1") == pytest.approx(
                sum(row["cost_usd"] for row in rows) + worst
            )
    assert (counts["sent"], counts_again["replayed"]) == (12, 12)
    assert [getattr(reply, "text", None) for reply in again] == [
        getattr(reply, "text", "") for reply in first
    ]
