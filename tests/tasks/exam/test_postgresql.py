"""The protocol on PostgreSQL: the same rules, and two processes that want the same thing."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import select

from tasks.exam.closed.closing import ClosingReport, close_overdue, force_close, set_deadlines
from tasks.exam.closed.landing import iter_landings
from tasks.exam.log.check import check_ledger, check_log
from tasks.exam.log.heads import keep_head
from tasks.exam.plan.run_plan import read_plan
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.sitting import sit_sessions
from tests.hunts import some
from tests.tasks.exam import test_approvals as approval_rules
from tests.tasks.exam import test_protocol as rules
from tests.tasks.exam import test_tokens as token_rules
from tests.tasks.exam.doors import DoorToTheExam, open_direct
from tests.tasks.exam.tamperings import TAMPERINGS, Victim
from tests.tasks.exam.test_tamperings import check_tampering, fill
from tests.tasks.exam.world import (
    AnsweringClient,
    World,
)
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import exposures
from warehouse.ledger.exam import sittings
from warehouse.ledger.exam.tokens import read_ended_tokens
from warehouse.ledger.trust import users
from warehouse.ledger.trust.access import count_entries, read_entries, read_head, read_last_id

pytestmark = pytest.mark.service
ROOT = Path(__file__).parents[3]


@pytest.fixture
def ledger_url(postgresql: PostgresqlServer) -> str:
    return postgresql.new_ledger_url()


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    with open_ledger(ledger_url) as opened:
        yield opened


@pytest.fixture
def any_door(world: World) -> Iterator[DoorToTheExam]:
    with open_direct(world) as opened:
        yield opened


# The same sentences as for SQLite.
for _name in (
    "test_questions_come_in_the_allocated_order_each_once_and_the_last_answer_closes_the_session",
    "test_a_pending_question_is_put_again_and_marked_and_the_next_waits_for_its_answer",
    "test_an_answer_and_the_next_question_can_share_a_call",
    "test_a_second_answer_is_refused_and_the_first_one_stays",
    "test_the_account_of_a_call_is_kept_and_a_blank_response_is_an_empty_answer",
    "test_text_that_the_stores_cannot_hold_is_kept_with_marks_in_its_place",
    "test_a_second_concurrent_use_is_refused",
    "test_the_holder_resumes_with_the_lease_secret_and_shuts_out_its_former_self",
    "test_every_call_renews_the_lease_and_after_expiry_a_new_holder_may_open",
    "test_an_examiner_releases_a_session_and_its_answers_stay",
    "test_a_candidate_reaches_its_own_session_only_and_cannot_tell_what_else_exists",
    "test_a_limit_stops_handing_out_and_still_takes_the_answer_that_is_due",
    "test_every_attempt_is_logged_with_user_and_session_allowed_or_not",
):
    globals()[_name] = getattr(rules, _name)
for _name in (
    "test_an_ended_token_is_refused_within_a_second_and_no_other",
    "test_ending_a_users_tokens_spares_those_issued_later_and_other_users",
    "test_a_new_password_another_role_and_shutting_out_end_tokens_for_good",
    "test_what_no_token_can_need_leaves_the_ledger",
    "test_answers_ask_the_ledger_once_a_second_what_has_ended",
):
    globals()[_name] = getattr(token_rules, _name)


@pytest.fixture
def reader(world: World) -> token_rules.Reader:
    return token_rules.Reader(world)


def test_who_gives_out_a_token_holds_the_user_until_it_is_signed(world: World) -> None:
    with world.ledger.write() as connection:
        users.add_user(connection, user_id="eve", role="examiner", password_hash="before")

    def change() -> None:
        with world.ledger.write() as other:
            users.write_password_hash(other, "eve", "after")

    with ThreadPoolExecutor(1) as pool:
        with world.ledger.write() as connection:
            assert users.read_password_hash(connection, "eve", is_held=True) == "before"
            changing = pool.submit(change)
            with pytest.raises(TimeoutError):
                changing.result(timeout=0.3)
            issued_at = time.time()
        changing.result(timeout=10)
    with world.ledger.read() as connection:
        assert read_ended_tokens(connection).read().users["eve"] > issued_at


def test_a_run_is_sat_and_landed_from_postgresql(world: World) -> None:
    report = asyncio.run(
        sit_sessions(world.ledger, world.settings, world.registry, AnsweringClient(), world.plan.run_id)
    )
    assert report.is_run_closed
    rows = Counter(
        {
            batch.table: 0
            for chunk in iter_landings(world.ledger, world.plan.run_id, none_landed)
            for batch in chunk
        }
    )
    for chunk in iter_landings(world.ledger, world.plan.run_id, none_landed):
        for batch in chunk:
            rows[batch.table] += batch.frame.height
    assert rows == {"runs": 2, "models": 2, "sets": 6, "sessions": 2, "allocations": 12, "responses": 12}


def test_a_session_is_closed_by_force_and_its_audit_log_is_read_to_the_end_on_postgresql(
    world: World,
) -> None:
    set_deadlines(world.ledger, world.settings)
    assert close_overdue(world.ledger) == ClosingReport()
    report = force_close(world.ledger, world.plan.run_id, "a rehearsal")
    assert (len(report.session_ids), report.unanswered_count, report.run_ids) == (2, 12, (world.plan.run_id,))
    last = read_last_id(world.ledger)
    with world.ledger.read() as connection:
        closings = [row for row in read_entries(connection, 1, last) if row["action"] == "close"]
        assert [row["code"] for row in closings] == ["forced", "forced"]
        assert count_entries(connection, 1, last) == read_head(connection).number
        assert check_ledger(connection).findings == ()
    assert keep_head(world.ledger, world.settings)
    assert check_log(world.ledger, world.settings).findings == ()


def none_landed(_table: str, _units: Sequence[str]) -> set[str]:
    return set()


RACER = """
import asyncio, json, sys, time
from tests.tasks.exam.world import make_settings
from warehouse.ledger.engine.opening import open_ledger
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.protocol.tokens.keys import open_keys
from tasks.exam.protocol.tokens.tokens import issue_token
from tasks.exam.protocol.words import Answer, Lease
from schemas.errors import ExamError
from pathlib import Path
url, home, session_id, start, what, lease = sys.argv[1:]
settings = make_settings(Path(home))
keys = open_keys(settings)
with open_ledger(url) as ledger:
    protocol = ExamProtocol(ledger, keys, SeatRules(lease_s=60))
    token = issue_token(keys, "candidate:alpha", session_id, ["sit"], 600).text
    held = Lease(**json.loads(lease)) if lease else None
    while time.time() < float(start):
        time.sleep(0.001)
    results = []
    for turn in range(20):
        try:
            if what == "open":
                results.append(["won", asyncio.run(protocol.open_session(token, session_id)).generation])
            else:
                put = asyncio.run(protocol.next_question(token, held))
                receipt = asyncio.run(protocol.submit_answer(token, held, put.seq, Answer(f"{what} {put.seq}")))
                results.append(["won", receipt.seq])
        except ExamError as error:
            results.append([error.code, None])
        except AttributeError:
            break
print(json.dumps(results))
"""


def race(
    warm_python: str, world: World, session_id: str, names: list[str], lease: str = ""
) -> list[list[list[object]]]:
    start = str(time.time() + 5)
    ledger_url = world.ledger.engine.url.render_as_string(hide_password=False)
    home = str(world.settings.home)
    processes = [
        subprocess.Popen(
            [warm_python, "-c", RACER, ledger_url, home, session_id, start, name, lease],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    results = []
    for process in processes:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        results.append(json.loads(output))
    return results


def test_of_two_processes_that_open_one_session_exactly_one_wins(world: World, warm_python: str) -> None:
    session_id = world.sessions()[0]["session_id"]
    results = race(warm_python, world, session_id, ["open", "open"])
    codes = Counter(code for result in results for code, _ in result)
    assert codes == {"won": 1, "session_in_use": 39}


def test_two_processes_with_one_lease_answer_every_question_exactly_once(
    world: World, warm_python: str
) -> None:
    """Even a stolen lease gives no second answer and skips nothing."""
    import dataclasses

    from tasks.exam.protocol.machine import ExamProtocol

    session_id = world.sessions()[0]["session_id"]
    world.now = time.time()
    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=60))
    lease = asyncio.run(protocol.open_session(world.token(session_id), session_id))
    results = race(warm_python, world, session_id, ["left", "right"], json.dumps(dataclasses.asdict(lease)))
    won = sorted(int(str(seq)) for result in results for code, seq in result if code == "won")
    assert won == [1, 2, 3, 4, 5, 6]
    assert {code for result in results for code, _ in result} <= {"won", "already_answered"}
    assert sorted(world.answers(session_id)) == [1, 2, 3, 4, 5, 6]
    with world.ledger.read() as connection:
        assert check_ledger(connection).findings == ()


PLANNER = """
import sys, time
from pathlib import Path
from tests.tasks.exam.world import *
from tasks.exam.plan.publishing import publish_plan
from warehouse.ledger.engine.opening import open_ledger
url, home, name, start = sys.argv[1:]
registry = make_registry(make_model("alpha", "one"), make_model("beta", "one"), make_model("rho", roles=("reference",)))
with open_ledger(url) as ledger:
    plan = plan_wished(ledger, make_settings(Path(home)), registry, make_bank(), month=MONTH, is_simulated=False,
                    run_id=f"run {name}", candidates=[name], seed=name)
    while time.time() < float(start):
        time.sleep(0.001)
    publish_plan(ledger, plan)
"""


@pytest.mark.long
def test_two_processes_that_plan_for_one_organisation_claim_different_lineages(
    ledger: Ledger, ledger_url: str, tmp_path: Path, warm_python: str
) -> None:
    start = str(time.time() + 6)
    processes = [
        subprocess.Popen([warm_python, "-c", PLANNER, ledger_url, str(tmp_path), name, start], cwd=ROOT)
        for name in ("alpha", "beta")
    ]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    numbers = sorted(read_plan(ledger, f"run {name}").sets[0].set_number for name in ("alpha", "beta"))
    assert numbers == [1, 2]
    with ledger.read() as connection:
        met = connection.execute(select(exposures.c.organisation, exposures.c.lineage_uuid)).all()
        # Two sets of six, met by the organisation, and by the reference's.
        assert len(met) == len(set(met)) == 24
        assert len(sittings.list_run_ids(connection)) == 2


@pytest.fixture(scope="module")
def filled(
    postgresql: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Ledger, Victim]]:
    with open_ledger(postgresql.new_ledger_url()) as opened:
        yield opened, fill(opened, tmp_path_factory.mktemp("filled") / "home")


@pytest.mark.hunt
@pytest.mark.parametrize("name", some(list(TAMPERINGS), 8))
def test_a_tampering_is_found_by_name_on_postgresql(filled: tuple[Ledger, Victim], name: str) -> None:
    check_tampering(*filled, name)


def test_servers_that_write_at_once_make_one_chain(ledger_url: str) -> None:
    """Four writers, each with connections of its own, as processes have."""

    def write(place: int) -> None:
        with open_ledger(ledger_url) as own:
            futures = [
                own.writer.submit(lambda connection: add_entry(connection, Entry("list", f"u{place}")))
                for _ in range(200)
            ]
            for future in futures:
                future.result(timeout=60)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    with open_ledger(ledger_url) as opened, opened.read() as connection:
        report = check_ledger(connection)
    assert (report.findings, report.entry_count) == ((), 801)


def test_of_two_people_who_approve_at_once_one_counts_on_a_server(ledger: Ledger) -> None:
    with ledger.write() as connection:
        for name, role in approval_rules.PEOPLE:
            users.add_user(connection, user_id=name, role=role)
    approval_rules.test_of_two_approvals_at_once_one_counts_and_of_two_uses_one_acts(ledger)
