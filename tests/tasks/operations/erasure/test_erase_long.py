"""What takes longer to show of erasures: kills, a lake from before, a candidate's own."""

from __future__ import annotations

import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy.exc import DBAPIError

from deployments.flow_runs import run_flow
from schemas.errors import UsageError
from schemas.ledger.engine import Job
from schemas.settings import Settings, load_settings
from tasks.models import CALL
from tasks.operations.erasure import erase as erasing
from tasks.operations.erasure import scope
from tasks.operations.erasure.erase import finish_erasures, land_erasures
from tasks.operations.erasure.scope import Scope, find_due_runs, plan_erasure
from tests.fresh import open_new_lake
from tests.second_verifier.verify import verify as verify_again
from tests.tasks.exam.kit import land_run, verify
from tests.tasks.exam.world import MONTH
from tests.tasks.operations.erasure.conftest import (
    CHECKS,
    LATER,
    MARKERS,
    erase,
    find_marked,
    hold_home,
    make_judged_home,
    read_faults,
    settings_of,
)
from tests.warehouse.ledger.postgresql import start_postgresql
from tests.warehouse.object_store import BUCKET, start_object_store
from warehouse.lake import open_lake
from warehouse.lake.upkeep import check_landings
from warehouse.ledger.engine.exam_role import grant_role
from warehouse.ledger.engine.leases.clock import Time
from warehouse.ledger.engine.leases.jobs import defer_jobs
from warehouse.ledger.engine.logs.public_log import read_public_entries
from warehouse.ledger.engine.opening import open_exam_database, open_ledger

ROOT = Path(__file__).parents[4]
RUN = MONTH

pytestmark = pytest.mark.long


def test_a_lake_of_before_the_erasure_is_named_and_erased_again(
    settings: Settings, judged_home: Path, tmp_path: Path
) -> None:
    erase(settings)
    # A lake of before the erasure, beside a ledger of after it.
    older = hold_home(judged_home, tmp_path / "older")
    with open_ledger(settings.ledger_address) as ledger, open_lake(older) as lake:
        land_erasures(ledger, lake)
        assert lake.run_named(CHECKS[0]).height == 36
    both = older.model_copy(update={"ledger_url": SecretStr(settings.ledger_address)})
    finish_erasures(both, every=True)
    with open_lake(both) as lake:
        assert lake.run_named(CHECKS[0]).height == 0


def test_a_candidate_takes_its_answers_back_and_the_policy_takes_the_rest(settings: Settings) -> None:
    (first,) = erase(settings, Scope(model="alpha"), reason="alpha's owner asked for it").erasures
    assert (first.cause, first.session_count, first.answer_count) == ("withdrawal", 1, 6)
    with open_lake(settings) as lake:
        left = lake.query("select distinct model from responses where response is not null order by 1")
        assert left["model"].to_list() == ["beta", "rho"]
        assert set(lake.query("select distinct model from judgements where reason is null")["model"]) == {
            "alpha"
        }
        keeping = settings.model_copy(update={"keep_raw_months": 12})
        assert find_due_runs(lake, settings, LATER) == ()
        assert find_due_runs(lake, keeping, datetime.now(UTC) + timedelta(days=300)) == ()
        due = find_due_runs(lake, keeping, LATER)
    assert due == (RUN,)
    (second,) = erase(settings, Scope(run_ids=due)).erasures
    assert (second.cause, second.session_count) == ("policy", 2)
    with pytest.raises(UsageError, match="no text left to erase"):
        erase(settings, Scope(run_ids=due))
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        bodies = [entry.body for entry in read_public_entries(connection, RUN, ("erasure",))]
    assert [body["sessions"] is None for body in bodies] == [False, True]
    assert verify(str(settings.home / "public")).faults == []
    assert (verify_again(settings.home / "public"), read_faults(settings)) == ([], set())
    assert find_marked(settings) == []


KILLED = """
import os, signal, sys
from tests.tasks.operations.erasure.conftest import LATER, settings_of
from tasks.operations.erasure.erase import erase_texts
from tasks.operations.erasure.scope import Scope

left = int(sys.argv[2])
def step(name):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
erase_texts(settings_of(sys.argv[1]), Scope(month="2026-11"), reason="r", erased_by="cora", now=LATER, step=step)
"""


@pytest.mark.parametrize("steps", range(6))
def test_killed_for_good_after_any_step_nothing_is_doubled(
    settings: Settings, steps: int, warm_python: str
) -> None:
    done = subprocess.run(
        [warm_python, "-c", KILLED, str(settings.home), str(steps)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert len(erase(settings).erasures) == 1
    with pytest.raises(UsageError, match="no text left to erase"):
        erase(settings)
    with open_lake(settings) as lake:
        assert lake.query("select count(*) as n from erasures")["n"][0] == 3
        assert lake.query("select count(*) as n from responses")["n"][0] == 18
        assert check_landings(lake).changed == []
    assert (find_marked(settings), read_faults(settings)) == ([], set())
    assert verify(str(settings.home / "public")).faults == []


@pytest.mark.service
def test_nothing_is_left_on_postgresql_and_in_an_object_store(tmp_path: Path) -> None:
    """Nothing is left in a row, a page, a bound in the catalog or an object on a server."""
    with start_postgresql() as server, start_object_store() as store:
        settings = settings_of(
            tmp_path / "home",
            ledger_url=server.new_ledger_url(),
            lake_catalog=server.new_catalog(),
            lake_data=f"s3://{BUCKET}/lake",
        )
        make_judged_home(settings, open_lake)
        with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
            asked = {"request": {"content": MARKERS[0]}}
            defer_jobs(connection, [Job(kind=CALL, name="a", run_id="drift/autumn/2026-12", details=asked)])

        def find_held() -> set[str]:
            client = store.client()
            found = {
                "objects"
                for key in store.list_keys()
                for marker in MARKERS
                if marker.encode() in client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
            }
            with psycopg.connect(
                f"host={server.folder} user=postgres dbname=postgres", autocommit=True
            ) as one:
                one.execute("CHECKPOINT")
                (data,) = one.execute("SHOW data_directory").fetchone() or ("",)
            found |= {
                "tables"
                for path in (Path(data) / "base").rglob("*")
                if path.is_file()
                for marker in MARKERS
                if marker.encode() in path.read_bytes()
            }
            return found | {place for place in find_marked(settings) if place.startswith("table ")}

        assert find_held() >= {"objects", "tables", f"table responses: {MARKERS[0]}"}
        (done,) = erase(settings).erasures
        assert (done.answer_count, done.finished_at is None) == (18, False)
        assert find_held() == set()
        assert (read_faults(settings), verify(str(settings.home / "public")).faults) == (set(), [])
        with open_ledger(settings.ledger_address) as ledger:
            role = grant_role(ledger, "erasing_exam")
        exam = open_exam_database(role.address)
        for statement in (
            "UPDATE responses SET response = ''",
            "INSERT INTO erased_answers VALUES ('s', 1, 'x', 'x', 'x')",
            "SELECT reason FROM erasures",
        ):
            with exam.engine.connect() as connection, pytest.raises(DBAPIError, match="permission denied"):
                connection.exec_driver_sql(statement)
        exam.close()


def test_the_deployment_erases_what_is_due_and_nothing_without_a_policy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A year later the deployment finishes what was begun, and completes what is due."""

    for name, value in (("HOME", str(settings.home)), ("NO_SERVER", "1")):
        monkeypatch.setenv(f"PROCTOR_{name}", value)
    for module in (scope, erasing):
        monkeypatch.setattr(module, "read_time", lambda _: Time(LATER.timestamp()))
    load_settings.cache_clear()
    assert run_flow("erase", without_server=True)["due"] == 0
    assert find_marked(settings) != []
    monkeypatch.setenv("PROCTOR_KEEP_RAW_MONTHS", "12")
    load_settings.cache_clear()
    done = run_flow("erase", without_server=True)
    assert (done["due"], done["erased"], done["answers"]) == (1, 1, 18)
    assert run_flow("erase", without_server=True)["due"] == 0
    assert (find_marked(settings), read_faults(settings)) == ([], set())


def test_a_lake_that_was_lost_learns_of_the_erasure_again(settings: Settings, tmp_path: Path) -> None:
    erase(settings)
    elsewhere = settings.model_copy(update={"home": tmp_path / "new"})
    with open_ledger(settings.ledger_address) as ledger, open_new_lake(elsewhere) as lake:
        land_run(ledger, lake, RUN)
        assert land_erasures(ledger, lake) == {"erasures": 3}
        assert land_erasures(ledger, lake) == {}
        rows = lake.query("select distinct response, reasoning, answer, answer_status from responses").rows()
        assert rows == [(None, None, None, "answered")]
        assert [lake.run_named(name).height for name in CHECKS] == [0, 0, 0]


class Killed(BaseException):
    """The process ends here."""


def test_killed_in_the_middle_it_is_finished_by_doing_it_again(settings: Settings) -> None:
    def be_killed(step: str) -> None:
        if step == "files":
            raise Killed

    with pytest.raises(Killed):
        erase(settings, step=be_killed)
    assert read_faults(settings) == set()
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings, read_only=True) as lake,
        pytest.raises(UsageError, match="files may still hold the texts: proctor erase --again"),
    ):
        plan_erasure(ledger, lake, settings, Scope(month=MONTH), now=LATER)
    (done,) = erase(settings).erasures
    assert done.finished_at is not None
    assert finish_erasures(settings).erasures == ()
    assert (find_marked(settings), read_faults(settings)) == ([], set())
