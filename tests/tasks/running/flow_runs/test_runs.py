"""Runs of flows in the ledger: recorded, looked at, missed, and their logs."""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from deployments.http import render_run_metrics
from schemas.errors import BudgetError, StoreError, UsageError
from schemas.ledger.engine import FlowSchedule
from schemas.ledger.exam import Run
from schemas.settings import Settings, load_settings
from tasks.running.faults import InternalFault, hide_content
from tasks.running.flow_runs.record import record
from tasks.running.flow_runs.record.listing import end_lost_runs, list_run_states
from tasks.running.flow_runs.record.missed import MissedRun, find_missed_runs, leave_month_out, select_unmade
from tasks.running.flow_runs.record.record import as_deployment, note_result, recorded_run
from tasks.running.log_lines import iter_run_lines
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.rows import insert_rows
from warehouse.ledger.engine.runs.flow_runs import (
    StartedRun,
    begin_flow_run,
    find_flow_runs,
    list_flow_schedules,
    write_flow_schedules,
)
from warehouse.ledger.engine.runs.notices import take_notices
from warehouse.ledger.trust.access import iter_targets
from warehouse.stores import away

MARKER = "机密题干 QZXW"
NOW = datetime(2026, 12, 2, 3, tzinfo=UTC)
MONTHS = ("2026-09", "2026-10", "2026-11")
RUN = Run(
    run_id="2026-10",
    month="2026-10",
    season="2026",
    bank_version=1,
    reference_model="rho",
    bridged_reference=None,
    repetition="",
    set_size=10,
    policy="shared",
    budget_usd=None,
    is_simulated=False,
    planned_at=NOW.isoformat(),
    closed_at=None,
)


def make_schedule(deployment: str, flow: str, cron: str) -> FlowSchedule:
    return FlowSchedule(deployment=deployment, flow=flow, cron=cron, timezone="UTC", deployed_at=now_text())


MONTHLY = make_schedule("monthly", "monthly", "0 2 1 * *")
NEWCOMERS = make_schedule("newcomers", "monthly", "0 3 * * 1")
SEAL = make_schedule("seal", "seal", "5 * * * *")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "empty.sqlite"
    open_ledger(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def home(tmp_path: Path, empty: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "home"
    home.mkdir()
    restore_ledger(empty, home / "ledger.sqlite")
    for name in [name for name in os.environ if name.startswith("PROCTOR_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PROCTOR_HOME", str(home))
    load_settings.cache_clear()
    yield home
    load_settings.cache_clear()


@pytest.fixture
def ledger(home: Path) -> Iterator[Ledger]:
    with open_ledger(Settings(home=home).ledger_address) as opened:
        yield opened


def begin(ledger: Ledger, run_id: str, **values: Any) -> None:
    place: dict[str, Any] = {"host": "elsewhere", "process_id": 1}
    place |= {name: values.pop(name) for name in ("host", "process_id", "lease_s") if name in values}
    run = StartedRun(run_id, **{"flow": "seal", "name": "seal-1"} | values)
    with ledger.write() as connection:
        begin_flow_run(connection, run, **place)


def schedule(
    ledger: Ledger, *schedules: FlowSchedule, since: str = "2026-11-20T00:00:00.000000+00:00"
) -> None:
    from sqlalchemy import update

    from warehouse.ledger.engine.tables import flow_schedules

    with ledger.write() as connection:
        write_flow_schedules(connection, schedules)
        connection.execute(update(flow_schedules).values(deployed_at=since))


def move(ledger: Ledger, run_id: str, started: datetime, state: str = "completed") -> None:
    from sqlalchemy import update

    from warehouse.ledger.engine.tables import flow_runs

    with ledger.write() as connection:
        connection.execute(
            update(flow_runs)
            .where(flow_runs.c.flow_run_id == run_id)
            .values(started_at=started.isoformat(timespec="microseconds"), state=state)
        )


def test_the_end_of_a_run_is_noted_though_a_ctrl_c_left_its_transaction_open(ledger: Ledger) -> None:
    """The note waited a minute for its own process, and was lost."""

    def interrupt(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == "__exit__" and "blocks" in frame.f_code.co_filename:
            sys.setprofile(None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), recorded_run("report", "report-x"), ledger.write() as connection:
        connection.exec_driver_sql("UPDATE flow_runs SET host = 'elsewhere'")
        sys.setprofile(interrupt)
    (run,) = list_run_states(ledger, most=9)
    assert run.state == "crashed"


def test_a_run_stands_in_the_ledger_with_its_counts_and_nothing_else(ledger: Ledger) -> None:
    with recorded_run("ingest", "ingest-1-file"):
        note_result({"documents": {"parsed": 1}, "stem": MARKER, "problems": [MARKER]})
    with pytest.raises(StoreError), as_deployment("seal"), recorded_run("seal", "seal-x"):
        raise StoreError("gone")
    with pytest.raises(KeyboardInterrupt), recorded_run("report", "report-x"):
        raise KeyboardInterrupt

    found = {run.name: run for run in list_run_states(ledger, most=9)}

    assert {name: (run.state, run.started_by, run.deployment) for name, run in found.items()} == {
        "ingest-1-file": ("completed", "command", None),
        "seal-x": ("failed", "person", "seal"),
        "report-x": ("crashed", "command", None),
    }
    assert found["ingest-1-file"].counts == {"documents.parsed": "1", "problems": "1"}
    assert MARKER not in json.dumps([vars(run) for run in found.values()], ensure_ascii=False)


def test_a_run_whose_process_was_killed_is_lost_and_one_on_another_host_may_still_run(ledger: Ledger) -> None:
    from warehouse.ledger.engine.leases.processes import name_host

    # The child has ended and was waited for: no process has its number now.
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)
    begin(ledger, "a", host=name_host(), process_id=child)
    begin(ledger, "b", host="elsewhere", process_id=child)
    assert {run.flow_run_id: run.state for run in list_run_states(ledger, most=9)} == {
        "a": "lost",
        "b": "running",
    }


def test_a_run_of_another_host_that_renews_no_more_is_ended_once_and_told_once(ledger: Ledger) -> None:
    begin(ledger, "a", lease_s=-1.0)
    begin(ledger, "b", lease_s=60.0)
    begin(ledger, "c")

    assert [run.flow_run_id for run in end_lost_runs(ledger)] == ["a"]
    assert end_lost_runs(ledger) == []

    assert {run.flow_run_id: run.state for run in list_run_states(ledger, most=9)} == {
        "a": "crashed",
        "b": "running",
        "c": "running",
    }
    with ledger.write() as connection:
        assert [one.flow_run_id for one in take_notices(connection, lease_s=60)] == ["a"]
        assert take_notices(connection, lease_s=60) == []


def test_a_living_run_of_this_host_that_did_not_renew_in_time_is_not_ended(ledger: Ledger) -> None:
    from warehouse.ledger.engine.leases.processes import name_host

    begin(ledger, "a", host=name_host(), process_id=os.getpid(), lease_s=-1.0)
    assert end_lost_runs(ledger) == []
    assert [run.state for run in list_run_states(ledger, most=9)] == ["running"]
    # A number that was given to another process since is no sign of life.
    move(ledger, "a", datetime.now(UTC) - timedelta(days=3650), "running")
    assert [run.flow_run_id for run in end_lost_runs(ledger)] == ["a"]


def test_no_run_is_ended_as_long_as_its_host_may_not_have_renewed_after_an_absence_of_the_ledger(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(ledger, "a", lease_s=-1.0)
    monkeypatch.setattr(away, "_ledger_back_at", time.monotonic())
    assert end_lost_runs(ledger) == []
    monkeypatch.setattr(away, "_ledger_back_at", time.monotonic() - away.GRACE_S)
    assert [run.flow_run_id for run in end_lost_runs(ledger)] == ["a"]


def test_the_process_of_a_run_renews_that_it_lives(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LEASE_S", 0.3)
    with recorded_run("seal", "seal-x"):
        (first,) = _find(ledger, "seal-x")
        time.sleep(1.0)
        (later,) = _find(ledger, "seal-x")
    assert later.alive_until > first.alive_until


def test_the_log_of_a_run_has_its_lines_and_no_content(home: Path, ledger: Ledger) -> None:
    @hide_content
    def read_paper() -> dict[str, object]:
        return {"documents": {"parsed": 1}, "stem": MARKER}

    @hide_content
    def break_paper() -> None:
        raise ValueError(MARKER)

    with recorded_run("ingest", "ingest-1-file"):
        read_paper()
    with pytest.raises(Exception, match="broke with ValueError"), recorded_run("ingest", "ingest-2-files"):
        break_paper()
    logging.getLogger("proctor.exam_api").error("not of a run")

    (first,) = _find(ledger, "ingest-1-file")
    (second,) = _find(ledger, "ingest-2-files")
    events = [line["event"] for line in iter_run_lines(home, first.flow_run_id, first.started_at)]
    assert events == [
        "ingest-1-file began, started by command",
        "read_paper started",
        "read_paper finished: documents.parsed 1",
        "ingest-1-file completed",
    ]
    lines = list(iter_run_lines(home, second.flow_run_id, second.started_at))
    assert [line["level"] for line in lines][-2:] == ["error", "error"]
    assert lines[-2]["event"] == "break_paper broke with ValueError"
    # What ended it, by our own sentence.
    assert lines[-1]["event"].startswith("ingest-2-files failed: break_paper broke with ValueError at ")
    files = list((home / "logs").iterdir())
    assert all(MARKER not in path.read_text("utf-8") for path in files)
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    with ledger.read() as connection:
        assert find_flow_runs(connection, first.flow_run_id[:8]) == [first]


def test_what_broke_is_not_shown_where_its_frames_cannot_be_kept(home: Path) -> None:
    @hide_content
    def break_paper() -> None:
        raise ValueError(MARKER)

    (home / "logs" / "faults.log").mkdir(parents=True)
    with pytest.raises(InternalFault, match=r"frames could not be kept in .*faults\.log") as caught:
        break_paper()
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_a_full_disk_is_no_fault_of_ours(home: Path) -> None:
    @hide_content
    def write_page() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StoreError, match=r"^A disk .* cannot be used: No space left on device\. Make room"):
        write_page()
    assert not (home / "logs" / "faults.log").exists()


def test_the_log_of_a_run_that_was_refused_says_why(home: Path, ledger: Ledger) -> None:
    @hide_content
    def plan_month() -> None:
        raise UsageError("No candidate is due in 2026-12. Name one with --candidates.")

    with pytest.raises(UsageError), recorded_run("monthly", "monthly-2026-12"):
        plan_month()
    (run,) = _find(ledger, "monthly-2026-12")
    assert [line["event"] for line in iter_run_lines(home, run.flow_run_id, run.started_at)][-2:] == [
        "plan_month ended with UsageError: No candidate is due in 2026-12. Name one with --candidates.",
        "monthly-2026-12 failed: No candidate is due in 2026-12. Name one with --candidates.",
    ]


def _find(ledger: Ledger, name: str) -> list[Any]:
    with ledger.read() as connection:
        return find_flow_runs(connection, name)


def test_a_scheduled_run_that_did_not_happen_is_missed_with_the_command_that_makes_up_for_it(
    ledger: Ledger,
) -> None:
    schedule(ledger, MONTHLY, NEWCOMERS, SEAL)
    begin(ledger, "n", flow="monthly", deployment="newcomers", started_by="schedule")
    move(ledger, "n", datetime(2026, 11, 30, 3, 0, 5, tzinfo=UTC), "failed")
    begin(ledger, "s", deployment="seal", started_by="schedule")
    move(ledger, "s", NOW - timedelta(minutes=56), "completed")

    found = list_unmade(ledger)

    # A run that failed happened; that of the seal at 02:05 is the last one due more than the grace ago.
    assert [(one.deployment, one.describe(), one.remedy) for one in found] == [
        ("monthly", "monthly did not run at 2026-12-01 02:00 UTC", "proctor runs start monthly")
    ]
    begin(ledger, "m", flow="monthly", deployment="monthly", started_by="person")
    move(ledger, "m", NOW - timedelta(minutes=1), "running")
    assert list_unmade(ledger) == []
    assert [one.deployment for one in list_unmade(ledger, NOW + timedelta(hours=2))] == ["seal"]
    assert find_missed_runs(ledger, now=NOW + timedelta(hours=2), left_out=["seal"]) == []


def test_a_month_that_passed_whole_without_a_run_is_named_until_it_has_one_or_is_left_out(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host was down from before the first of September to after the first of December."""
    schedule(ledger, MONTHLY, since="2026-07-15T00:00:00+00:00")
    august = datetime(2026, 8, 1, 2, tzinfo=UTC)
    for run_id, at, state in (("a", august, "completed"), ("d", NOW - timedelta(hours=1), "failed")):
        begin(ledger, run_id, flow="monthly", deployment="monthly", started_by="schedule")
        move(ledger, run_id, at, state)

    def name_missed() -> list[str]:
        return [one.remedy for one in list_unmade(ledger, NOW)]

    remedies = {
        month: f"proctor monthly --month {month}, or proctor runs leave-out {month}" for month in MONTHS
    }
    assert name_missed() == list(remedies.values())
    with ledger.write() as connection:
        insert_rows(connection, [RUN])
    assert name_missed() == [remedies["2026-09"], remedies["2026-11"]]
    for refused in ("2026-08", "2026-10", "2026-12"):
        with pytest.raises(UsageError, match=f"No run of {refused} was missed"):
            leave_month_out(ledger, refused, now=NOW)
    leave_month_out(ledger, "2026-09", now=NOW)
    assert name_missed() == [remedies["2026-11"]]
    with ledger.read() as connection:
        assert [row.target for row in iter_targets(connection, ["leave_month_out"])] == ["2026-09"]


def test_a_month_whose_run_failed_before_anything_was_planned_is_named_once_it_has_passed(
    ledger: Ledger,
) -> None:
    schedule(ledger, MONTHLY, since="2026-10-15T00:00:00+00:00")
    begin(ledger, "n", flow="monthly", deployment="monthly", started_by="schedule")
    move(ledger, "n", datetime(2026, 11, 1, 2, 0, 1, tzinfo=UTC), "failed")
    assert list_unmade(ledger, NOW - timedelta(days=20)) == []
    begin(ledger, "d", flow="monthly", deployment="monthly", started_by="schedule")
    move(ledger, "d", datetime(2026, 12, 1, 2, 0, 1, tzinfo=UTC), "completed")
    (found,) = list_unmade(ledger)
    assert (found.describe(), found.remedy) == (
        "monthly failed, and held no exam, at 2026-11-01 02:00 UTC",
        "proctor monthly --month 2026-11, or proctor runs leave-out 2026-11",
    )
    leave_month_out(ledger, "2026-11", now=NOW)
    assert list_unmade(ledger) == []


def test_an_exam_of_every_week_is_named_once_for_each_month_that_has_passed(ledger: Ledger) -> None:
    schedule(ledger, make_schedule("monthly", "monthly", "0 2 * * 1"), since="2026-10-30T00:00:00+00:00")
    mondays = [datetime(2026, 11, 2, 2, 0, 1, tzinfo=UTC) + timedelta(weeks=week) for week in range(6)]
    for monday in mondays:
        begin(ledger, f"{monday}", flow="monthly", deployment="monthly", started_by="schedule")
        move(ledger, f"{monday}", monday, "failed")
    assert list_unmade(ledger, mondays[3] + timedelta(hours=1)) == []
    (found,) = list_unmade(ledger, mondays[5] + timedelta(hours=1))
    assert "--month 2026-11, or" in found.remedy


def test_late_runs_of_months_that_have_passed_are_runs_of_the_present_one(ledger: Ledger) -> None:
    """The host came back on 2 December, and Prefect had scheduled three months ahead."""
    schedule(ledger, MONTHLY, since="2026-08-15T00:00:00+00:00")
    for month in (9, 10, 11):
        due_at = datetime(2026, month, 1, 2, tzinfo=UTC).isoformat()
        begin(ledger, f"{month}", flow="monthly", deployment="monthly", started_by="schedule", due_at=due_at)
        move(ledger, f"{month}", NOW - timedelta(minutes=20))
    assert [f"{one.due_at:%Y-%m}" for one in list_unmade(ledger)] == list(MONTHS)


def test_a_run_by_hand_of_an_earlier_month_makes_up_for_that_month_alone(ledger: Ledger) -> None:
    schedule(ledger, MONTHLY, since="2026-09-15T00:00:00+00:00")
    begin(ledger, "o", flow="monthly", started_by="command")
    move(ledger, "o", NOW - timedelta(minutes=1), "completed")
    with ledger.write() as connection:
        insert_rows(connection, [RUN])
    assert [f"{one.due_at:%Y-%m}" for one in list_unmade(ledger)] == ["2026-11", "2026-12"]


def list_unmade(ledger: Ledger, now: datetime = NOW) -> list[MissedRun]:
    return select_unmade(find_missed_runs(ledger, now=now))


def test_times_that_were_missed_are_named_for_a_week_though_a_later_run_made_up_for_them(
    ledger: Ledger,
) -> None:
    """Five runs were late when the worker came back.

    One ran, and the limit of one cancelled the others.
    """
    schedule(ledger, SEAL, since=(NOW - timedelta(hours=7, minutes=30)).isoformat())
    first = datetime(2026, 12, 1, 20, 5, tzinfo=UTC)
    for number, hours in enumerate((0, 5, 6)):
        due = first + timedelta(hours=hours)
        begin(ledger, f"s{number}", deployment="seal", started_by="schedule", due_at=due.isoformat())
        # The one that was due at 01:05 began late, together with the next.
        move(ledger, f"s{number}", first + timedelta(hours=6 if hours else 0, minutes=1))

    (found,) = find_missed_runs(ledger, now=NOW)

    assert (found.count, found.due_at.hour, found.is_made_up) == (4, 0, True)
    assert found.describe() == (
        "seal did not run at 2026-12-02 00:05 UTC, nor 3 times before it in a week; it has run since"
    )
    assert find_missed_runs(ledger, now=NOW + timedelta(days=9))[0].is_made_up is False


def test_the_metrics_count_the_times_that_were_missed(ledger: Ledger) -> None:
    schedule(ledger, SEAL, since=(datetime.now(UTC) - timedelta(hours=4, minutes=30)).isoformat())
    (line,) = [
        one
        for one in render_run_metrics(Settings(), ledger).splitlines()
        if one.startswith("proctor_missed_runs{")
    ]
    assert line in (f'proctor_missed_runs{{deployment="seal"}} {count}.0' for count in (4, 5))


def test_a_command_stands_for_a_schedule_only_where_it_is_the_flows_only_one(ledger: Ledger) -> None:
    schedule(ledger, MONTHLY, NEWCOMERS, SEAL)
    for run_id, flow in (("1", "monthly"), ("2", "seal")):
        begin(ledger, run_id, flow=flow)
        move(ledger, run_id, NOW - timedelta(minutes=5))
    assert [one.deployment for one in list_unmade(ledger)] == ["monthly", "newcomers"]


def test_what_was_due_before_it_was_deployed_is_not_missed(ledger: Ledger) -> None:
    schedule(ledger, MONTHLY, SEAL, since="2026-12-01T02:00:00.000001+00:00")
    assert [one.deployment for one in find_missed_runs(ledger, now=NOW)] == ["seal"]


def test_deploying_again_keeps_since_when_a_time_holds_and_a_new_time_begins_anew(ledger: Ledger) -> None:
    schedule(ledger, MONTHLY, SEAL)
    moved = make_schedule("seal", "seal", "6 * * * *")
    with ledger.write() as connection:
        write_flow_schedules(connection, [MONTHLY, moved])
        found = {one.deployment: one for one in list_flow_schedules(connection)}
    assert found["monthly"].deployed_at.startswith("2026-11-20")
    assert found["seal"].cron == "6 * * * *"
    assert not found["seal"].deployed_at.startswith("2026-01-01")
    with ledger.write() as connection:
        write_flow_schedules(connection, [MONTHLY])
        assert [one.deployment for one in list_flow_schedules(connection)] == ["monthly"]


def test_another_day_of_the_month_forgets_no_month_that_was_missed(ledger: Ledger) -> None:
    schedule(ledger, MONTHLY, since="2026-10-20T00:00:00.000000+00:00")
    named = [one.due_at.month for one in find_missed_runs(ledger, now=NOW)]
    moved = make_schedule("monthly", "monthly", "0 2 2 * *")
    with ledger.write() as connection:
        write_flow_schedules(connection, [moved], lasting=["monthly"])
        assert [one.cron for one in list_flow_schedules(connection)] == ["0 2 2 * *"]
    assert [one.due_at.month for one in find_missed_runs(ledger, now=NOW)] == named == [11, 12]


def test_what_a_deployment_starts_needs_a_budget(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tasks.running.flow_runs.task import require_budget  # Imports Prefect.

    require_budget()  # A command shows its plan
    with as_deployment("monthly"):
        with pytest.raises(BudgetError, match="PROCTOR_BUDGET_USD"):
            require_budget()
        require_budget(5.0)
        monkeypatch.setenv("PROCTOR_BUDGET_USD", "5")
        load_settings.cache_clear()
        require_budget()


@pytest.mark.parametrize(
    ("error", "is_tried_again"),
    [(StoreError("locked"), True), (UsageError("no"), False), (ValueError("x"), False)],
)
def test_only_a_store_that_was_away_is_tried_again(error: Exception, is_tried_again: bool) -> None:
    from prefect.states import Failed  # noqa: TID251

    from tasks.running.flow_runs.task import may_pass

    assert may_pass(None, None, Failed(data=error)) is is_tried_again  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("flow", "given", "name"),
    [
        ("monthly", {"month": "2026-12", "repetition": ""}, "monthly-2026-12"),
        ("monthly", {"month": "2026-12", "repetition": "week"}, "monthly-2026-12-week"),
        ("evaluate", {"month": "", "run_id": "2026-12-a"}, "evaluate-2026-12-a"),
        ("judge", {"run_id": ""}, "judge-all"),
        ("league", {"league_id": ""}, "league-season"),
    ],
)
def test_a_run_is_named_for_what_it_does(flow: str, given: dict[str, Any], name: str) -> None:
    from tasks.running.flow_runs.task import render_name  # Imports Prefect.

    assert render_name(flow, given) == name
