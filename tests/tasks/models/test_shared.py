"""Calls as jobs: whoever needs replies and whoever helps make each of them once."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import RunningServer
from schemas.errors import RegistryError
from schemas.ledger.engine import Job
from schemas.settings import Settings
from tasks.gscore.cgeval import answer_and_land, import_questions
from tasks.models import CALL, CallReply, CallRequest, SharedClient, compute_call_key, help_with_calls
from tasks.models.registry import RegisteredModel, read_registry
from tasks.running.sharing import JobQueue, Turns
from tests.paid_calls import count_calls
from tests.tasks.gscore.world import write_question_file
from tests.tasks.models.simulation import start_server
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.lake import open_lake
from warehouse.ledger.engine.leases.jobs import defer_jobs, list_jobs, withdraw_jobs
from warehouse.ledger.engine.opening import open_ledger

RUN = "league/one"
CALLS = 60


def write_registry(path: Path, **parameters: Any) -> None:
    entry = {
        "provider": "simulated",
        "organisation": "Lab",
        "parameters": {"max_tokens": 2048, **parameters},
        "input_price_usd": 1.0,
        "output_price_usd": 2.0,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"providers": {"simulated": {"base_url": "simulated"}}, "models": {"sim": entry}})
    )


@pytest.fixture
def settings(postgresql: PostgresqlServer, tmp_path: Path) -> Settings:
    found = Settings(home=tmp_path / "home", ledger_url=postgresql.new_ledger_url(), call_concurrency=2)
    write_registry(found.registry_path)
    return found


@contextmanager
def helping(settings: Settings, run_id: str) -> Iterator[Callable[[], int]]:
    """A worker that makes calls of the run on a thread while the block runs; how many it made.

    It comes again where its registry is another one.
    """
    made, is_over = 0, threading.Event()

    def work() -> None:
        nonlocal made
        with open_ledger(settings.ledger_address) as ledger:
            while not is_over.wait(0.05):
                with suppress(RegistryError):
                    made += help_with_calls(ledger, settings, run_id)["calls"]

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield lambda: made
    finally:
        is_over.set()
        thread.join()


def make_request(number: int) -> CallRequest:
    messages = [{"role": "user", "content": f"What is {number} and {number}?"}]
    return CallRequest(purpose="drift", messages=messages, run_id=RUN, unit="unit", salt=str(number))


async def ask_all(settings: Settings, model: RegisteredModel) -> tuple[list[CallReply], dict[str, int]]:
    with open_ledger(settings.ledger_address) as ledger:
        async with SharedClient(ledger, settings, RUN, 10.0) as client:
            replies = await asyncio.gather(
                *(client.complete(model, make_request(number)) for number in range(CALLS))
            )
            return replies, client.counts


def check_paid_once(settings: Settings, server: RunningServer) -> None:
    assert set(server.state.repeats.values()) == {1}
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert list_jobs(connection, CALL) == []
        assert count_calls(connection, RUN) == {"started": 0, "done": CALLS, "failed": 0}


@pytest.mark.service
def test_a_worker_makes_some_of_the_calls_and_each_is_paid_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read_registry(settings.registry_path).get("sim")
    with start_server(sim={"latency_ms": 60, "latency_spread": 0.0}) as server:
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        with helping(settings, RUN) as count_made:
            replies, counts = asyncio.run(ask_all(settings, model))
        assert counts["sent"] + count_made() == CALLS
        assert min(counts["sent"], count_made()) > 0
        check_paid_once(settings, server)
        again, counts = asyncio.run(ask_all(settings, model))
        assert [reply.text for reply in again] == [reply.text for reply in replies]
        assert counts["replayed"] == CALLS
        check_paid_once(settings, server)


def put_calls(settings: Settings, *, count: int) -> None:
    """What a process that was killed has left waiting."""
    model = read_registry(settings.registry_path).get("sim")
    requests = [make_request(number) for number in range(count)]
    waiting = [
        Job(
            kind=CALL, name=compute_call_key(model, request, model.parameters), run_id=RUN, lane=model.lane,
            details={"model": "sim", "request": asdict(request), "budget_usd": 10.0},
        )
        for request in requests
    ]  # fmt: skip
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        defer_jobs(connection, waiting)


@pytest.mark.service
def test_a_worker_with_another_registry_says_so_and_leaves_the_calls_to_other_workers(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = settings.model_copy(update={"registry": tmp_path / "other.json"})
    write_registry(elsewhere.registry_path, temperature=0.7)
    put_calls(settings, count=5)
    with start_server(sim={}) as server, open_ledger(settings.ledger_address) as ledger:
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        with pytest.raises(RegistryError, match="is registered otherwise on this host"):
            help_with_calls(ledger, elsewhere, RUN)
        assert help_with_calls(ledger, settings, RUN) == {"calls": 5}
        assert sum(server.state.repeats.values()) == 5


@pytest.mark.service
@pytest.mark.parametrize("is_asked", [True, False])
def test_a_worker_of_another_version_leaves_the_calls_to_others_and_says_why(
    settings: Settings, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {"of_tomorrow": 1}
    put_calls(settings, count=1)
    with start_server(sim={}) as server, open_ledger(settings.ledger_address) as ledger:
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        with ledger.write() as connection:
            [job] = list_jobs(connection, CALL)
            details = job.details or {}
            details = details | {"request": details["request"] | more} if is_asked else details | more
            withdraw_jobs(connection, CALL)
            defer_jobs(connection, [job.replace(details=details)])
        with pytest.raises(RegistryError, match="another version of Proctor"):
            help_with_calls(ledger, settings, RUN)
        with ledger.read() as connection:
            assert [(job.tries, job.holder) for job in list_jobs(connection, CALL)] == [(0, None)]
        assert sum(server.state.repeats.values()) == 0


@pytest.mark.service
def test_nothing_is_left_of_a_call_that_failed_on_a_worker_and_that_nobody_waits_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_calls(settings, count=1)
    with start_server(sim={"faults": {"server_error": 1.0}}) as server:
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        with open_ledger(settings.ledger_address) as ledger:
            help_with_calls(ledger, settings, RUN)
            with ledger.read() as connection:
                assert list_jobs(connection, CALL) == []
                assert count_calls(connection, RUN) == {"started": 0, "done": 0, "failed": 1}


@pytest.mark.service
@pytest.mark.long
def test_a_worker_answers_some_of_cg_evals_questions(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_question_file(tmp_path / "questions.csv")
    import_questions(settings, tmp_path / "questions.csv")
    profile = {"accuracy": {"default": 1.0}, "latency_ms": 60, "latency_spread": 0.0}
    with start_server(sim=profile) as server, open_ledger(settings.ledger_address) as ledger:
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        with helping(settings, "cgeval") as count_made, open_lake(settings) as lake:
            report = asyncio.run(answer_and_land(ledger, lake, settings, "sim"))
            landed = lake.query("SELECT count(*) FROM llm_calls WHERE status = 'done'").item()
        assert report.is_complete
        assert report.calls["sent"] + count_made() == report.question_count == landed
        assert min(report.calls["sent"], count_made()) > 0
        assert set(server.state.repeats.values()) == {1}


def test_who_waits_is_told_when_another_process_did_the_job_and_what_nobody_waits_for_is_withdrawn(
    tmp_path: Path,
) -> None:
    told: list[str] = []

    async def wait_for(turns: Turns, name: str, lane: str) -> None:
        async with turns.take(name, lane, {}):
            told.append(name)

    async def work() -> None:
        with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
            # There is no room here for what is in the lane `far`.
            async with Turns(JobQueue(ledger, CALL, RUN, is_conducting=True), {"near": 1}) as turns:
                waits = [asyncio.create_task(wait_for(turns, name, "far")) for name in ("a", "b")]
                with JobQueue(ledger, CALL, RUN) as other:
                    while len(await other.list_holders()) < 2:  # noqa: ASYNC110 - it stands in a database
                        await asyncio.sleep(0.01)
                    assert [job.name for job in await other.take(1, "far")] == ["a"]
                    await wait_for(turns, "c", "near")
                    assert told == ["c"]
                    await other.end(["a"])
                    await waits[0]
                    waits[1].cancel()
                    await asyncio.gather(*waits, return_exceptions=True)
                    assert told == ["c", "a"]
                    assert set(await other.list_holders()) == {"b"}
            with ledger.read() as connection:
                assert list_jobs(connection, CALL) == []

    asyncio.run(work())


@pytest.mark.service
def test_what_is_just_being_put_there_is_withdrawn_too(settings: Settings) -> None:
    async def work() -> None:
        with open_ledger(settings.ledger_address) as ledger:
            async with Turns(JobQueue(ledger, CALL, RUN, is_conducting=True), {"near": 1}) as turns:
                # It waits for something to do; then the writer is busy when it is given what is asked.
                await asyncio.sleep(0.2)
                ledger.writer.submit(lambda _: time.sleep(0.5))
                asked = asyncio.create_task(turns.take("a", "near", {}).__aenter__())
                await asyncio.sleep(0.1)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            ledger.writer.run(lambda _: None)
            with ledger.read() as connection:
                assert list_jobs(connection, CALL) == []

    asyncio.run(work())
