"""A closed run leaves the ledger, and nobody who asks for it notices."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, update

from schemas.errors import GateError, StoreError, UsageError
from schemas.settings import Settings
from tasks.exam import read_run_progress
from tasks.exam.closed import find_changed_sessions, land_access_log, land_closed_sessions
from tasks.exam.log import tell_run
from tasks.exam.log.signing import check_receipt
from tasks.models import land_paid_calls
from tasks.operations.archiving import archive_runs, plan_archive
from tasks.operations.archiving.archive import Archived
from tasks.operations.backups import backup_home, restore_home
from tasks.operations.erasure import Scope, finish_erasures, plan_erasure
from tasks.operations.validation import find_month_differences
from tasks.proof import check_stages, explain_answer, find_sitting
from tasks.running.archives import (
    bring_back,
    bring_back_held,
    count_dated_before,
    find_lost_archives,
    hold_archives,
    read_whole,
)
from tasks.running.claiming import claim_work
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.tasks.exam.kit import verify
from tests.tasks.exam.world import MONTH
from tests.tasks.operations.erasure.conftest import (
    LATER,
    MARKERS,
    erase,
    find_marked,
    hold_home,
    keep_call,
    make_judged_home,
    read_faults,
    settings_of,
)
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine import tables as t
from warehouse.ledger.engine.copies import backup
from warehouse.ledger.engine.leases.processes import open_lease
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import archives
from warehouse.ledger.exam.closed import count_closed_by_month
from warehouse.ledger.money import calls
from warehouse.ledger.money.budgets import read_account
from warehouse.ledger.trust import access

RUN = MONTH
ROOT = Path(__file__).parents[4]
EMPTY = {"llm_calls": 1, "allocations": 0, "responses": 0}


@pytest.fixture(scope="module")
def archived(judged_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home, its run archived; only copied."""
    home = tmp_path_factory.mktemp("archived") / "home"
    archive(hold_home(judged_home, home))
    return home


@pytest.fixture
def archived_home(archived: Path, tmp_path: Path) -> Settings:
    return hold_home(archived, tmp_path / "home")


def archive(settings: Settings, run_id: str = "", **values: Any) -> list[Archived]:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        return archive_runs(settings, ledger, lake, run_id, now=LATER, **values)


def count_left(connection: Connection) -> dict[str, int]:
    """Rows of the tables that rows leave; of the audit log those about questions."""
    counts = {
        table.name: int(connection.scalar(select(func.count()).select_from(table)) or 0)
        for table in archives.MOVED
        if table is not t.access_log
    }
    steps = select(func.count()).where(t.access_log.c.seq.is_not(None))
    return counts | {"access_log": int(connection.scalar(steps) or 0)}


def read_moved(connection: Connection) -> dict[str, list[str]]:
    """The rows that may leave the ledger, by table; of the audit log those about questions."""
    steps = select(t.access_log).where(t.access_log.c.seq.is_not(None)).order_by(t.access_log.c.number)
    return {
        table.name: sorted(map(repr, connection.execute(select(table)).all()))
        for table in (t.llm_calls, t.allocations, t.responses)
    } | {"access_log": list(map(repr, connection.execute(steps).all()))}


def check_readers(ledger: Ledger, lake: Lake, settings: Settings) -> None:
    """Archive the landed run: every reader is told the same after it."""
    for land in (land_closed_sessions, land_access_log, land_paid_calls):
        land(ledger, lake)
    before = read_everything(ledger, lake, settings)
    assert archive_runs(settings, ledger, lake, now=LATER) == [
        Archived(RUN, {"access_log": 21, "allocations": 18, "llm_calls": 37, "responses": 18})
    ]
    after = read_everything(ledger, lake, settings)
    for name, told in before.items():
        assert after[name] == told, name


def read_everything(ledger: Ledger, lake: Lake, settings: Settings) -> dict[str, object]:
    """What every reader of a closed run is told."""
    with ledger.read() as connection:
        (session, *_) = connection.execute(
            select(t.sessions.c.session_id).order_by(t.sessions.c.session_id)
        ).scalars()
        account = read_account(connection, RUN)
        spent = (
            calls.read_spent_usd(connection, RUN),
            calls.read_provider_spent_usd(connection, "http://127.0.0.1:9/v1"),
        )
    dated = count_dated_before(ledger, lake, "9")
    with read_whole(ledger, lake, run_id=RUN) as connection:
        story = tell_run(connection, RUN)
    with read_whole(ledger, lake) as connection:
        whole = read_moved(connection)
    progress = read_run_progress(ledger, RUN, now=0.0)
    with (
        open_ledger(settings.ledger_address) as other,
        read_whole(other, settings, session_ids=[session]) as connection,
    ):
        receipts = [
            check_receipt(
                {
                    "session_id": row.session_id,
                    "seq": row.seq,
                    "answer_sha256": row.answer_hash,
                    "entry": row.number,
                    "head": row.entry_hash,
                    "signature": None,
                },
                "",
                connection,
            )
            for row in connection.execute(
                select(t.access_log).where(
                    t.access_log.c.session_id == session, t.access_log.c.answer_hash.is_not(None)
                )
            )
        ]
    walks = [explain_answer(ledger, lake, settings, find_sitting(ledger, session), seq) for seq in (1, 3)]
    return {
        "account": None if account is None else (account.limits, round(account.spent_usd, 9)),
        "spent": [round(usd, 9) for usd in spent],
        "answers": dated["answers"],
        "story": [one for one in story.events if "rows" not in one.sentence],
        "sessions": story.sessions,
        "whole": whole,
        "progress": [
            (one.model, one.done, one.total, one.cost_usd, one.failed_calls) for one in progress.candidates
        ],
        "receipts": receipts,
        "walks": [[(step.step, step.is_proven) for step in walk.steps] for walk in walks],
        "months": find_month_differences(ledger, lake),
        "changed": find_changed_sessions(ledger, lake),
        "stages": list(check_stages(ledger, lake, settings).findings),
        "verified": verify(str(settings.home / "public")).faults,
        "frames": {
            name: lake.query(f"select * from {name} order by all").write_json()
            for name in (
                "responses",
                "judgements",
                "allocations",
                "llm_calls",
                "editions",
                "edition_scores",
                "leaderboards",
            )
        },
    }


def test_every_reader_is_told_the_same_of_a_run_that_has_left_the_ledger(settings: Settings) -> None:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        check_readers(ledger, lake, settings)
        with ledger.read() as connection:
            assert count_left(connection) == EMPTY | {"access_log": 0}
        for run_id in ("", RUN):
            assert archive_runs(settings, ledger, lake, run_id, now=LATER) == []
    assert read_faults(settings) == set()


@pytest.mark.long
@pytest.mark.service
def test_on_postgresql_every_reader_is_told_the_same(served: Settings) -> None:
    with open_ledger(served.ledger_address) as ledger, open_lake(served) as lake:
        check_readers(ledger, lake, served)


@pytest.mark.parametrize("step", ["landed", pytest.param("left", marks=pytest.mark.long)])
@pytest.mark.long
def test_a_process_killed_at_any_step_is_continued_and_nothing_is_lost_or_doubled(
    judged_home: Path, archived_home: Settings, tmp_path: Path, step: str, warm_python: str
) -> None:
    killed = hold_home(judged_home, tmp_path / "killed")
    command = (warm_python, "-m", "tests.tasks.operations.archiving.killed", str(killed.home), step)
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    archive(killed)
    assert read_rows(killed) == read_rows(archived_home)
    assert read_faults(killed) == set()


def test_a_kill_between_the_two_files_is_continued_and_nothing_is_lost_or_doubled(
    settings: Settings, tmp_path: Path
) -> None:
    """The ledger's file is committed before the exam's: calls are gone, answers are still there."""
    file = settings.home / "ledger.exam.sqlite"
    shutil.copyfile(file, tmp_path / "exam.sqlite")
    archive(settings)
    expected = read_rows(settings)
    shutil.copyfile(tmp_path / "exam.sqlite", file)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        with ledger.read() as connection:
            assert count_left(connection)["llm_calls"] == 1 < count_left(connection)["responses"]
        with read_whole(ledger, lake) as connection:
            assert (count_left(connection)["llm_calls"], count_left(connection)["responses"]) == (38, 18)
    (done,) = archive(settings)
    assert done.rows == {"access_log": 21, "allocations": 18, "responses": 18}
    assert read_rows(settings) == expected


def read_rows(settings: Settings) -> dict[str, Any]:
    """What the ledger still has, and everything with what the lake has."""
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        with ledger.read() as connection:
            left = count_left(connection)
        with read_whole(ledger, lake) as connection:
            return {"left": left, **read_moved(connection)}


def open_again(connection: Connection) -> None:
    connection.execute(update(t.runs).values(status="open"))


def change_an_answer(connection: Connection) -> None:
    connection.execute(update(t.responses).where(t.responses.c.seq == 2).values(response="another"))


def begin_a_call(connection: Connection) -> None:
    open_lease(connection, "someone", host="far", process_id=7, lease_s=900.0)
    new = calls.NewCall("new", "judge", RUN, "unit", "http://127.0.0.1:9/v1", "m", holder="someone")
    calls.begin_call(connection, new)


def test_a_run_that_is_not_as_it_must_be_stays_and_says_why(settings: Settings) -> None:
    whole = {path: path.read_bytes() for path in settings.home.glob("ledger*.sqlite")}
    for change, reason in (
        (open_again, "is not closed"),
        (change_an_answer, "is not as the audit log has it"),
        (begin_a_call, "has calls under way"),
    ):
        with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
            change(connection)
        with pytest.raises(GateError, match=reason):
            archive(settings, RUN)
        assert archive(settings) == []
        for path, content in whole.items():
            path.write_bytes(content)


def test_a_run_without_an_edition_open_to_objections_or_being_read_stays(settings: Settings) -> None:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        with pytest.raises(GateError, match="can be objected to until"):
            archive_runs(settings, ledger, lake, RUN)
        with (
            claim_work(ledger, "judge", RUN, what="judging"),
            pytest.raises(GateError, match="is being read"),
        ):
            archive_runs(settings, ledger, lake, RUN, now=LATER)
        with pytest.raises(UsageError, match="There is no run 'none'"):
            archive_runs(settings, ledger, lake, "none", now=LATER)
        lake.connection.execute("DELETE FROM editions")
        with pytest.raises(GateError, match="has no edition"):
            archive_runs(settings, ledger, lake, RUN, now=LATER)
        with ledger.read() as connection:
            assert count_left(connection)["responses"] == 18


def test_a_run_that_the_lake_does_not_have_as_a_whole_stays(settings: Settings) -> None:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        lake.connection.execute("DELETE FROM sessions")
        (found,) = plan_archive(ledger, lake, settings, RUN, now=LATER)
        assert found.refusal is not None
        assert "not in the lake yet" in found.refusal


def test_rows_that_change_while_they_are_copied_stay(settings: Settings) -> None:
    def step(name: str) -> None:
        if name.startswith("landed"):
            with open_ledger(settings.ledger_address) as other:
                keep_call(other, "late", "judge", RUN, session, "late")

    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        session = str(connection.scalar(select(func.min(t.sessions.c.session_id))))
    with pytest.raises(Exception, match="changed while they were copied"):
        archive(settings, step=step)
    assert archive(settings)[0].rows["llm_calls"] == 38


def test_who_is_refused_is_told_what_the_other_one_may_be_at(settings: Settings) -> None:
    with (
        hold_archives(settings),
        pytest.raises(StoreError, match="is making a backup, archiving, erasing or"),
    ):
        archive(settings)


def test_a_lake_that_does_not_give_back_what_landed_takes_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.running.archives.archives._read_hashes", lambda *_: {})
    with pytest.raises(StoreError, match="does not give back what was landed"):
        archive(settings)
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert count_left(connection)["responses"] == 18


def test_an_erasure_reaches_what_has_left_the_ledger(archived_home: Settings) -> None:
    settings = archived_home
    assert any(place.startswith("table archived_rows") for place in find_marked(settings))
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        (plan,) = plan_erasure(ledger, lake, settings, Scope(month=MONTH), now=LATER)
        assert (plan.answer_count, len(plan.sessions)) == (18, 3)
        before = {part.unit: part.rows_hash for part in list_archives(ledger)}
    done = erase(settings)
    assert [one.answer_count for one in done.erasures] == [18]
    assert [place for place in find_marked(settings) if any(one in place for one in MARKERS)] == []
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        after = {part.unit: part.rows_hash for part in list_archives(ledger)}
        assert before.keys() == after.keys()
        assert before != after
        assert find_lost_archives(ledger, lake) == []
        with ledger.read() as connection:
            assert count_left(connection) == EMPTY | {"access_log": 0}
            actions = connection.execute(
                select(t.access_log.c.action, t.access_log.c.digest)
                .where(t.access_log.c.action.in_((archives.ARCHIVE, archives.BRING_BACK)))
                .order_by(t.access_log.c.number)
            ).all()
    assert [action for action, _ in actions] == [archives.ARCHIVE, archives.BRING_BACK, archives.ARCHIVE]
    assert actions[-1].digest == after[f"{RUN}/part-0001"]
    assert read_faults(settings) == set()
    finish_erasures(settings, every=True)
    with open_lake(settings, read_only=True) as lake:
        assert lake.query("select answer_count from erasures")["answer_count"].to_list() == [6, 6, 6]


@pytest.mark.long
def test_erasing_again_reaches_an_archive_of_a_lake_from_before_the_erasure(
    archived_home: Settings, tmp_path: Path
) -> None:
    place = archived_home.home / "lake"
    shutil.copytree(place, tmp_path / "older")
    erase(archived_home)
    shutil.rmtree(place)
    shutil.copytree(tmp_path / "older", place)
    finish_erasures(archived_home, every=True)
    assert [found for found in find_marked(archived_home) if "archived_rows" in found] == []
    with open_ledger(archived_home.ledger_address) as ledger, open_lake(archived_home) as lake:
        assert find_lost_archives(ledger, lake) == []
    assert read_faults(archived_home) == set()


def list_archives(ledger: Ledger) -> list[Any]:
    with ledger.read() as connection:
        return archives.list_archives(connection)


def test_what_is_brought_back_is_as_it_was_whatever_kills_it_and_can_go_again(
    archived_home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No cost and no answer is counted twice meanwhile."""

    def read_sums(ledger: Ledger) -> tuple[float, object]:
        with ledger.read() as connection:
            return round(calls.read_spent_usd(connection, RUN), 9), count_closed_by_month(connection)

    settings = archived_home
    expected = read_rows(settings)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        before = read_sums(ledger)
        assert before[0] > 0
        with monkeypatch.context() as patch:
            patch.setattr(archives, "forget_archive", lambda *_: signal.raise_signal(signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                bring_back(ledger, lake, RUN)
        with ledger.read() as connection:
            assert count_left(connection)["responses"] == 18
        assert read_sums(ledger) == before
        assert {**read_rows(settings), "left": None} == {**expected, "left": None}
        assert bring_back(ledger, lake, RUN) == 94
        assert bring_back(ledger, lake, RUN) == 0
        assert read_sums(ledger) == before
        found = read_rows(settings)
        assert found["left"] == {"llm_calls": 38, "allocations": 18, "responses": 18, "access_log": 21}
        assert {**found, "left": None} == {**expected, "left": None}
    archive(settings)
    assert read_rows(settings) == expected
    assert read_faults(settings) == set()


def test_temporary_tables_lie_in_the_home_and_not_where_the_system_keeps_temporary_files(
    archived_home: Settings,
) -> None:
    with open_ledger(archived_home.ledger_address) as ledger, read_whole(ledger, archived_home) as connection:
        connection.exec_driver_sql("CREATE TEMPORARY TABLE large (content BLOB)")
        connection.exec_driver_sql("INSERT INTO large VALUES (randomblob(100000000))")
        opened = [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    places = [path.parent for path in opened if "etilqs" in path.name]
    assert places
    assert {place.name for place in places} == {archived_home.home.name}


def test_a_backup_of_an_archived_home_is_restored_whole(archived_home: Settings, tmp_path: Path) -> None:
    made = invoke(archived_home.home, "backup", str(tmp_path / "copies" / "one"))
    assert made.exit_code == 0, made.output
    restored = tmp_path / "restored"
    assert invoke(restored, "restore", str(tmp_path / "copies" / "one")).exit_code == 0
    assert read_rows(settings_of(restored)) == read_rows(archived_home)
    assert read_faults(settings_of(restored)) == set()


@pytest.mark.long
def test_answers_from_before_a_moment_within_an_archived_run_are_counted_as_before(
    settings: Settings,
) -> None:
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.read() as connection:
            times = sorted(connection.execute(select(t.responses.c.answered_at)).scalars())
        before = {at: count_dated_before(ledger, settings, at) for at in (times[0], times[7], times[-1], "9")}
    assert before[times[7]]["answers"] == 7
    archive(settings)
    with open_ledger(settings.ledger_address) as ledger:
        after = {at: count_dated_before(ledger, settings, at) for at in before}
    # The archiving has entries of its own, which are later than any answer.
    assert {at: after[at] for at in times if at in after} == {at: before[at] for at in times if at in before}
    assert after["9"]["answers"] == before["9"]["answers"]


@pytest.mark.long
def test_a_backup_lacks_nothing_of_what_would_leave_the_ledger_while_it_is_made(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_ledger = backup.backup_ledger

    def copy_late(address: str, target: Path) -> list[str]:
        with suppress(StoreError):
            archive(settings)
        return copy_ledger(address, target)

    monkeypatch.setattr(backup, "backup_ledger", copy_late)
    backup_home(settings, tmp_path / "copy")
    restored = settings_of(tmp_path / "restored")
    restore_home(restored, tmp_path / "copy")
    archive(settings)
    with open_ledger(restored.ledger_address) as ledger, open_lake(restored) as lake:
        assert find_lost_archives(ledger, lake) == []
    assert {**read_rows(restored), "left": None} == {**read_rows(settings), "left": None}


@pytest.mark.long
def test_an_archiving_while_texts_are_erased_takes_none_to_the_lake(
    archived_home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bring_back_late(*values: Any) -> int:
        count = bring_back_held(*values)
        with suppress(StoreError):
            archive(archived_home)
        return count

    monkeypatch.setattr("tasks.operations.erasure.erase.bring_back_held", bring_back_late)
    erase(archived_home)
    assert [place for place in find_marked(archived_home) if any(one in place for one in MARKERS)] == []


def test_what_the_lake_has_lost_of_an_archive_is_named(archived_home: Settings) -> None:
    with open_ledger(archived_home.ledger_address) as ledger, open_lake(archived_home) as lake:
        assert find_lost_archives(ledger, lake) == []
        lake.connection.execute("DELETE FROM archived_rows WHERE table_name = 'responses'")
        with pytest.raises(StoreError, match="the lake has not what it left"), read_whole(ledger, lake):
            pass
        lake.connection.execute("DELETE FROM landings WHERE table_name = 'archived_rows'")
        assert find_lost_archives(ledger, lake) == [f"{RUN}/part-0001"]


def test_an_entry_changed_in_the_archive_is_found(archived_home: Settings) -> None:
    with open_lake(archived_home) as lake:
        lake.connection.execute(
            "UPDATE archived_rows SET row_json = replace(row_json, 'answered', 'refused') WHERE table_name = 'responses'"
        )
    assert "answer_account_changed" in read_faults(archived_home)


def test_a_page_of_the_audit_log_keeps_what_has_left_the_ledger(archived_home: Settings) -> None:
    with open_ledger(archived_home.ledger_address) as ledger, open_lake(archived_home) as lake:
        before = lake.query("select access_id from access_log order by access_id")["access_id"].to_list()
        land_access_log(ledger, lake)
        land_access_log(ledger, lake)
        after = lake.query("select access_id from access_log order by access_id")["access_id"].to_list()
        steps = lake.query("select count(*) as n from access_log where action like 'submit%'")["n"][0]
    assert after[: len(before)] == before
    assert after == list(range(1, len(after) + 1))
    assert steps == 18


def test_a_page_that_lands_while_a_run_leaves_the_ledger_loses_no_entry(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_last_id, states = access.read_last_id, iter([archive])

    def read_late(ledger: Ledger) -> int:
        for leave in states:
            leave(settings)
        return read_last_id(ledger)

    monkeypatch.setattr(access, "read_last_id", read_late)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        land_access_log(ledger, lake)
        found = lake.query("select access_id from access_log order by access_id")["access_id"].to_list()
        with read_whole(ledger, lake) as connection:
            numbers = select(t.access_log.c.access_id).order_by(t.access_log.c.access_id)
            there = list(connection.execute(numbers.where(t.access_log.c.access_id.is_not(None))).scalars())
    assert found == there[: len(found)]
    assert len(found) > 21


def test_the_files_become_smaller(settings: Settings) -> None:
    files = [settings.home / name for name in ("ledger.sqlite", "ledger.exam.sqlite")]
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        session = str(connection.scalar(select(func.min(t.sessions.c.session_id))))
        for number in range(300):
            new = calls.NewCall(f"large {number}", "judge", RUN, f"{session}/judge", "e", "m")
            calls.start_call(connection, new)
            calls.finish_call(
                connection, calls.FinishedCall(new.call_key, "done", attempts=1, reply={"text": "so " * 1000})
            )
    before = sum(file.stat().st_size for file in files)

    def stop(told: str) -> None:
        if told.startswith("left"):
            raise InterruptedError

    # Who is stopped before it gave the space back has left that to the next one, which moves nothing.
    with pytest.raises(InterruptedError):
        archive(settings, step=stop)
    assert archive(settings) == []
    assert sum(file.stat().st_size for file in files) < before - 600_000


def test_the_command_shows_what_would_go_and_moves_it_when_told(settings: Settings) -> None:
    waiting = invoke(settings.home, "archive")
    assert waiting.exit_code == 0, waiting.output
    assert "can be objected to until" in waiting.output
    refused = invoke(settings.home, "archive", RUN, "--yes")
    assert refused.exit_code == 3
    shown = invoke(settings.home, "archive", PROCTOR_OBJECTION_DAYS="0")
    assert f"Run {RUN} may go: 3 sessions." in shown.output
    assert "Nothing was moved" in shown.output
    done = invoke(settings.home, "archive", "--yes", "--json", PROCTOR_OBJECTION_DAYS="0")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["archived"][0]["rows"]["responses"] == 18
    assert f"Run {RUN} has left the ledger." in invoke(settings.home, "archive", RUN).output


@pytest.fixture
def served(postgresql: PostgresqlServer, tmp_path: Path) -> Settings:
    """Such a home with its ledger on PostgreSQL."""
    settings = settings_of(tmp_path / "home", ledger_url=postgresql.new_ledger_url())
    make_judged_home(settings, open_new_lake)
    return settings


@pytest.mark.service
def test_on_postgresql_what_left_is_read_and_comes_back_and_an_erasure_reaches_the_lake(
    served: Settings,
) -> None:
    before = read_rows(served)
    archive(served)
    after = read_rows(served)
    assert after["left"] == EMPTY | {"access_log": 0}
    assert {**after, "left": None} == {**before, "left": None}
    with open_ledger(served.ledger_address) as ledger, open_lake(served) as lake:
        assert bring_back(ledger, lake, RUN) == 94
    archive(served)
    assert read_rows(served) == after
    assert read_faults(served) == set()
    erase(served)
    assert read_faults(served) == set()
    assert find_marked(served) == []
