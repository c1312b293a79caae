"""`kill -9` of a process that makes calls: what was answered is not paid for again."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tasks.models.client import CallReply
from tests.paid_calls import count_calls, read_calls
from tests.tasks.models.simulation import call_all, make_model, make_request, start_server
from tests.warm import ROOT, WarmProcess
from warehouse.ledger.engine.opening import open_ledger

CALLS = 40
IN_FLIGHT = 4


@pytest.mark.parametrize("killed_after", [pytest.param(5, marks=pytest.mark.long), 17])
def test_after_a_kill_only_calls_in_flight_are_sent_again_and_they_are_reported(
    tmp_path: Path, killed_after: int, warm_python: str
) -> None:
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    with start_server(sim={"latency_ms": 60, "latency_spread": 0.3}) as server:
        command = [warm_python, "-m", "tests.tasks.models.killed_caller", address, server.url, str(CALLS)]
        caller = WarmProcess(command, cwd=ROOT)
        deadline = time.monotonic() + 120
        while server.state.served["sim"] < killed_after:
            assert time.monotonic() < deadline, "the caller never got that far"
            time.sleep(0.005)
        caller.kill()
        caller.wait()
        sent_before = server.state.requests["sim"]
        with open_ledger(address) as ledger, ledger.read() as connection:
            before = count_calls(connection, "run-1")
            done = {
                row["call_key"] for row in read_calls(connection, run_id="run-1") if row["status"] == "done"
            }
        assert killed_after - IN_FLIGHT <= before["done"] < CALLS
        assert before["started"] <= IN_FLIGHT

        with open_ledger(address) as ledger:
            model = make_model(max_concurrency=IN_FLIGHT)
            replies, counts = call_all(ledger, server.url, [make_request(n) for n in range(CALLS)], model)
        repeated_requests = [count for count in server.state.repeats.values() if count > 1]
        sent_after = server.state.requests["sim"] - sent_before
    assert all(isinstance(reply, CallReply) and reply.text for reply in replies)
    assert counts["replayed"] == before["done"]
    assert counts["sent"] == sent_after == CALLS - before["done"]
    assert counts["repeated"] == before["started"]
    assert len(repeated_requests) <= before["started"]
    assert set(repeated_requests) <= {2}
    with open_ledger(address) as ledger, ledger.read() as connection:
        assert count_calls(connection, "run-1") == {"started": 0, "done": CALLS, "failed": 0}
        kept = {row["call_key"] for row in read_calls(connection, run_id="run-1")}
    assert done <= kept
