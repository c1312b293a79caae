"""One run, one identity: whoever plans a month, and however many at once, there is one run."""

from __future__ import annotations

import json
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select

from schemas.errors import UsageError
from tasks.exam.plan.planning import name_run
from tasks.exam.plan.publishing import publish_plan
from tasks.exam.plan.run_plan import read_plan
from tests.tasks.exam.world import (
    MONTH,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    plan_wished,
    publish,
)
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import exposures, runs, sessions, set_claims

ROOT = Path(__file__).parents[3]
ALPHA, BETA = make_model("alpha"), make_model("beta")
RHO = make_model("rho", roles=("reference",))
REGISTRY = make_registry(ALPHA, BETA, RHO)

PLANNER = """
import json, sys
from pathlib import Path
from schemas.errors import ProctorError
from tests.tasks.exam.world import MONTH, make_bank, make_settings, plan_wished
from tests.tasks.exam.test_run_identity import REGISTRY
from tasks.exam.plan.publishing import publish_plan
from warehouse.ledger.engine.opening import open_ledger
url, home, count = sys.argv[1:]
with open_ledger(url) as ledger:
    plans = [
        plan_wished(ledger, make_settings(Path(home)), REGISTRY, make_bank(), month=MONTH, is_simulated=False)
        for _ in range(int(count))
    ]
    print("planned", flush=True)
    sys.stdin.readline()  # all publish at once, when the last has planned
    print(json.dumps([publish_plan(ledger, plan) for plan in plans]))
"""


def count_rows(ledger: Ledger) -> dict[str, int]:
    with ledger.read() as connection:
        return {
            table.name: len(connection.execute(select(table)).all())
            for table in (runs, sessions, set_claims, exposures)
        }


# Two candidates that share a set of six, and the reference: three claims, and three times six lineages met.
ONE_RUN = {"runs": 1, "sessions": 3, "set_claims": 3, "exposures": 18}


def plan_at_once(ledger: Ledger, tmp_path: Path, count: int) -> list[str]:
    plans = [
        plan_wished(ledger, make_settings(tmp_path), REGISTRY, make_bank(), month=MONTH, is_simulated=False)
        for _ in range(count)
    ]
    assert len({plan.request.chance.seed for plan in plans if plan.request}) == count
    found: list[str] = []
    barrier = threading.Barrier(count)

    def act(number: int) -> None:
        barrier.wait()
        found.append(publish_plan(ledger, plans[number]))

    threads = [threading.Thread(target=act, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_sixteen_threads_that_plan_a_month_at_once_make_one_run(ledger: Ledger, tmp_path: Path) -> None:
    assert plan_at_once(ledger, tmp_path, 16) == [MONTH] * 16
    assert count_rows(ledger) == ONE_RUN


def run_planners(
    warm_python: str, urls: list[str], homes: list[Path], processes: int, each: int
) -> list[str]:
    started = [
        subprocess.Popen(
            [warm_python, "-c", PLANNER, urls[n % len(urls)], str(homes[n % len(homes)]), str(each)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(processes)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "planned\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    found: list[str] = []
    for process in started:
        output, _ = process.communicate()
        assert process.returncode == 0
        found += json.loads(output)
    return found


@pytest.mark.long
def test_sixteen_plannings_in_four_processes_make_one_run(
    ledger: Ledger, tmp_path: Path, warm_python: str
) -> None:
    found = run_planners(warm_python, [str(ledger.engine.url)], [tmp_path], 4, 4)
    assert Counter(found) == {MONTH: 16}
    assert count_rows(ledger) == ONE_RUN


@pytest.mark.service
@pytest.mark.long
def test_sixteen_plannings_from_two_homes_on_one_server_make_one_run(
    postgresql: PostgresqlServer, tmp_path: Path, warm_python: str
) -> None:
    url = postgresql.new_ledger_url()
    homes = [tmp_path / "one", tmp_path / "two"]
    assert Counter(run_planners(warm_python, [url], homes, 2, 8)) == {MONTH: 16}
    with open_ledger(url) as ledger:
        assert count_rows(ledger) == ONE_RUN
    with open_ledger(postgresql.new_ledger_url()) as ledger:
        assert plan_at_once(ledger, tmp_path, 16) == [MONTH] * 16
        assert count_rows(ledger) == ONE_RUN


def test_who_planned_others_meanwhile_is_told_what_to_do_and_changes_nothing(
    ledger: Ledger, tmp_path: Path
) -> None:
    plans = [
        plan_wished(
            ledger,
            make_settings(tmp_path),
            REGISTRY,
            make_bank(),
            month=MONTH,
            is_simulated=False,
            candidates=[name],
        )
        for name in ("alpha", "beta")
    ]
    publish_plan(ledger, plans[0])
    before = count_rows(ledger)
    with pytest.raises(UsageError, match=r"'2026-11' is planned for alpha, without beta.*--repetition NAME"):
        publish_plan(ledger, plans[1])
    assert count_rows(ledger) == before
    with pytest.raises(UsageError, match="without beta"):
        publish(ledger, make_settings(tmp_path), REGISTRY, make_bank(), candidates=["alpha", "beta"])


def test_a_further_run_of_a_month_has_a_name_that_somebody_gave(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    first = publish(ledger, settings, REGISTRY, make_bank(), candidates=["alpha"])
    again = publish(ledger, settings, REGISTRY, make_bank(), candidates=["alpha"], repetition="check")
    third = publish(ledger, settings, REGISTRY, make_bank(), candidates=["beta"], run_id="my own")
    assert [(plan.run_id, plan.repetition) for plan in (first, again, third)] == [
        ("2026-11", ""),
        ("2026-11-check", "check"),
        ("my own", "my own"),
    ]
    assert read_plan(ledger, "2026-11-check").repetition == "check"
    with pytest.raises(UsageError, match="named 'check' already, under another id"):
        # The same month and name under another id is the same repetition.
        publish_plan(ledger, plan_with_identity(ledger, tmp_path, run_id="elsewhere", repetition="check"))


def plan_with_identity(ledger: Ledger, tmp_path: Path, *, run_id: str, repetition: str):  # type: ignore[no-untyped-def]
    import dataclasses

    plan = plan_wished(
        ledger,
        make_settings(tmp_path),
        REGISTRY,
        make_bank(),
        month=MONTH,
        is_simulated=False,
        candidates=["beta"],
        run_id=run_id,
    )
    assert plan.request is not None
    return dataclasses.replace(plan, request=dataclasses.replace(plan.request, repetition=repetition))


def test_names_of_runs(tmp_path: Path) -> None:
    assert name_run(MONTH, is_simulated=False) == (MONTH, "")
    assert name_run(MONTH, is_simulated=True) == (f"sim-{MONTH}", "")
    assert name_run(MONTH, is_simulated=True, repetition="b") == (f"sim-{MONTH}-b", "b")
    assert name_run(MONTH, is_simulated=False, run_id=f"{MONTH}-2") == (f"{MONTH}-2", "2")
    for wrong in ("../x", "", " x", "a/b", "x" * 61):
        if wrong:
            with pytest.raises(UsageError, match="cannot name a run"):
                name_run(MONTH, is_simulated=False, repetition=wrong)
    with pytest.raises(UsageError, match="not both"):
        name_run(MONTH, is_simulated=False, run_id="a", repetition="b")


def test_a_plan_for_nobody_is_not_published(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger, make_settings(tmp_path), REGISTRY, make_bank())
    with pytest.raises(UsageError, match="no candidate is due"):
        publish(ledger, make_settings(tmp_path), REGISTRY, make_bank(), month="2026-12")
    assert count_rows(ledger) == ONE_RUN
