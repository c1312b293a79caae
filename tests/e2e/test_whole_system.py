"""The server form on one machine, really running, with kills.

Its final tables are those of the embedded form.

What takes part: PostgreSQL with three databases, a Prefect server on one of them, two homes with a worker each, exam API and web
desk over HTTP, an object store on loopback, simulated models. `Gate` holds the models' replies back, so that a kill comes when
both workers are at work, however fast the machine is.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from deployments.flow_runs import run_flow
from deployments.model_server import RunningServer, build_answer_key
from schemas.settings import Settings
from tasks.exam.month import read_current_bank
from tasks.exam.public import run_verifier
from tasks.running.flow_runs.record import list_run_states
from tests.e2e.exam_form import (
    JUDGE,
    MONTH,
    Exam,
    Gate,
    as_process_of,
    plan,
    prepare,
    review,
    write_variables,
)
from tests.e2e.final_tables import Tables, find_differences, read_final_tables
from tests.e2e.whole_system import WholeSystem, wait_until
from tests.paid_calls import read_calls
from tests.tasks.models.simulation import start_server
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from tests.warehouse.object_store import start_object_store
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.budgets import read_account

pytestmark = [pytest.mark.long, pytest.mark.service]


@dataclass(frozen=True)
class Embedded:
    """What the embedded form made of the exam, and the models that both forms call."""

    exam: Exam
    papers: list[str]
    run_id: str
    tables: Tables
    models: RunningServer
    gate: Gate


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgresqlServer]:
    with start_postgresql() as started:
        yield started


def run_embedded(exam: Exam, folder: Path, gate: Gate) -> Embedded:
    """The same exam in one home on SQLite files, as plain Python in this process."""
    papers = exam.write_papers(folder / "papers")
    values = exam.settings | {"budget_usd": 100.0}
    settings = Settings(home=folder / "embedded", **values)
    prepare(settings, exam)
    variables = write_variables(values) | {
        "PROCTOR_HOME": str(settings.home),
        "PROCTOR_NO_SERVER": "true",
        "PROCTOR_QUIET": "1",
    }
    with as_process_of(variables):
        run_flow("ingest", paths=papers, discipline_map=str(exam.write_map(folder)))
        review(settings, folder / "workbooks")
        run_flow("review_gate")
    with open_lake(settings, read_only=True) as lake:
        key = build_answer_key(read_current_bank(lake))
    models = start_server(
        key,
        models={
            **{name: {"latency_ms": 0} for name in exam.names},
            JUDGE: {"kind": "judge", "latency_ms": 0},
        },
    )
    run_id = plan(settings, exam, models.url)
    with as_process_of(variables | {"PROCTOR_SIMULATED_URL": models.url}):
        result = run_flow("monthly", month=MONTH)
    assert (result["run_id"], result["is_published_now"]) == (run_id, True)
    return Embedded(exam, papers, run_id, read_final_tables(settings), models, gate)


def check_whole_system(
    exam: Exam, folder: Path, postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    gate.install(monkeypatch)
    embedded = run_embedded(exam, folder, gate)
    before = Counter(embedded.models.state.repeats)
    with (
        start_object_store() as store,
        embedded.models,
    ):
        system = WholeSystem(folder / "whole", exam, postgresql, store, embedded.models)
        try:
            system.start()
            run_distributed(system, embedded)
            settings = system.settings
            differences = find_differences(embedded.tables, read_tables_without_losses(system, embedded))
            assert not differences, "\n".join(differences)
            check_calls(embedded, settings, before)
            assert run_verifier(settings.public_dir), "what is for publication is not whole"
            assert any(key.startswith("lake/") for key in store.list_keys())
        except BaseException:
            print(system.read_logs())
            raise
        finally:
            system.stop()


def read_tables_without_losses(system: WholeSystem, embedded: Embedded) -> Tables:
    """The final tables, without what calls that were in flight at a kill may have cost.

    That is booked at the most: with the call, and with the run when the next process opens the run's budget, which may never come.
    """
    tables = read_final_tables(system.settings)
    with open_ledger(system.settings.ledger_address) as ledger, ledger.read() as connection:
        lost_usd = sum(row["extra_usd"] for row in read_calls(connection, run_id=embedded.run_id))
        account = read_account(connection, embedded.run_id)
    assert account is not None
    assert account.reserved_usd <= lost_usd + 1e-9
    for row in tables["ledger.run_budgets"]:
        row["spent_usd"] = round(account.spent_usd - lost_usd, 9)
    for row in embedded.tables["ledger.run_budgets"]:
        row["spent_usd"] = round(row["spent_usd"], 9)
    return tables


def run_distributed(system: WholeSystem, embedded: Embedded) -> None:
    """Run papers and a month's run over both workers.

    The exam API is killed three times while both sit, and a worker while both judge.
    """
    settings, gate, folder = system.settings, embedded.gate, system.folder
    mapped = str(folder.parent / "map.yaml")
    ingests = [
        system.run_deployment("ingest", host=host, paths=embedded.papers, discipline_map=mapped)
        for host in system.homes
    ]
    system.await_runs(*ingests)
    assert httpx.get(f"http://127.0.0.1:{system.ports['web']}/sign-in").status_code == 200
    (batch_id,) = review(settings, folder / "workbooks")
    system.await_runs(system.run_deployment("review-complete", batch_id=batch_id))
    assert plan(settings, embedded.exam, embedded.models.url) == embedded.run_id

    gate.left = {"exam": 0, "judge": 0}
    main = system.run_deployment("monthly", host="host-1", month=MONTH)
    wait_until("both workers sit", lambda: all(system.list_holders("sit").values()))
    page = f"http://127.0.0.1:{system.ports['exam']}/openapi.json"
    for number in range(1, 4):
        let_both_work(system, embedded, "exam", number)
        system.exam.kill()
        # Meanwhile whoever waits for a reply gets it, and cannot hand it in.
        gate.left["exam"] = 2
        time.sleep(0.5)
        system.exam.start()
        wait_until("the exam API answers again", lambda: system.answers(page))
    gate.left["exam"] = None

    wait_until("both workers judge", lambda: all(system.list_holders("judge").values()))
    let_both_work(system, embedded, "judge", 1)
    system.workers["host-1"].kill()
    gate.left["judge"] = None

    def list_states() -> list[tuple[str, str]]:
        with open_ledger(settings.ledger_address) as ledger:
            return [(one.flow, one.state) for one in list_run_states(ledger, most=50)]

    # The other worker conducts the killed run, and ends it; who made the calls; and that nothing is left to do.
    wait_until("the other worker has conducted the month", lambda: ("monthly", "completed") in list_states())
    wait_until("the killed run is ended", lambda: system.read_run(main)["state_type"] == "CRASHED")
    assert sorted(state for flow, state in list_states() if flow == "monthly") == ["completed", "crashed"]
    assert ("help", "completed") in list_states()
    by_worker = system.count_calls(embedded.run_id)
    print({name: dict(counts) for name, counts in by_worker.items()})
    assert all(min(counts["exam"], counts["judge"]) > 0 for counts in by_worker.values()), by_worker


def let_both_work(system: WholeSystem, embedded: Embedded, kind: str, count: int) -> None:
    """Let replies through, one by one, until each worker has finished so many calls of the kind."""
    gate = embedded.gate

    def have_both() -> bool:
        if all(counts[kind] >= count for counts in system.count_calls(embedded.run_id).values()):
            return True
        gate.left[kind] = gate.left[kind] or 1
        return False

    wait_until(f"both workers finish calls ({kind})", have_both)


def check_calls(embedded: Embedded, settings: Settings, before: Counter[str]) -> None:
    """The same calls as in the embedded form, each once.

    What was in flight at the kill of a worker is there at most twice.
    """
    asked = embedded.models.state.repeats - before
    assert set(asked) == set(before)
    again = sum(asked.values()) - len(asked)
    assert again <= settings.call_concurrency
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        calls = read_calls(connection, run_id=embedded.run_id)
    assert {row["status"] for row in calls} == {"done"}
    # What was asked twice is booked at the most that it may have cost.
    assert again <= sum(row["extra_usd"] > 0 for row in calls) <= settings.call_concurrency


def test_a_month_over_two_workers_with_kills_ends_in_the_tables_of_the_embedded_form(
    tmp_path: Path, postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    exam = Exam(papers=5, questions=12, candidates=6, set_size=24, repeats=2)
    check_whole_system(exam, tmp_path, postgresql, monkeypatch)
