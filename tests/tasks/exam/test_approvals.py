"""Two pairs of eyes: what was agreed to is done once, exactly, and in time."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import select, update

from schemas.errors import ExamError, UsageError
from schemas.ledger.trust import Approval
from schemas.settings import Settings, load_settings
from tasks.exam.plan.publishing import publish_plan
from tasks.exam.plan.run_plan import RunPlan
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.protocol.tokens.tokens import issue_token
from tasks.running.approvals import ApprovalNeeded, Request, TwoPersons, approve, ask, refuse, use_approval
from tasks.running.approvals import Unapproved as NotApproved
from tests.tasks.exam.public.test_passages import make_passages
from tests.tasks.exam.world import (
    MONTH,
    SEED,
    World,
    answer_run,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    plan_wished,
    publish,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import CALLER, Caller
from warehouse.ledger.engine.logs.public_log import list_public_entries
from warehouse.ledger.engine.tables import access_log, runs
from warehouse.ledger.engine.tables import approvals as table
from warehouse.ledger.trust import approvals, users

REGISTRY = make_registry(make_model("alpha"), make_model("beta"), make_model("rho", roles=("reference",)))
RELEASE = Request("release", "s-1", {"lease_generation": 1})
PEOPLE = (("eve", "examiner"), ("otto", "admin"), ("mia", "examiner"), ("ann", "analyst"))
ROOT = Path(__file__).parents[3]


@pytest.fixture
def people(ledger: Ledger) -> Ledger:
    with ledger.write() as connection:
        for name, role in PEOPLE:
            users.add_user(connection, user_id=name, role=role)
    return ledger


def plan(ledger: Ledger, home: Path, *names: str, seed: str = SEED) -> RunPlan:
    settings = make_settings(home).model_copy(update={"two_persons": ("plan",)})
    return plan_wished(
        ledger, settings, REGISTRY, make_bank(), month=MONTH, is_simulated=False, candidates=names, seed=seed
    )


def decide(ledger: Ledger, number: int, user_id: str, *, now: float | None = None) -> Approval:
    with ledger.write() as connection:
        return approve(connection, number, user_id, 7, now=now)


def refused(call: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(ExamError) as error:
        call()
    return error.value.status, error.value.code


def read_one(ledger: Ledger, number: int = 1) -> Approval:
    with ledger.read() as connection:
        found = approvals.read_approval(connection, number)
    assert found is not None
    return found


def put(ledger: Ledger, request: Request = RELEASE, **who: Any) -> Approval:
    with ledger.write() as connection:
        return ask(connection, request, 7, **who)


def count_runs(ledger: Ledger) -> int:
    with ledger.read() as connection:
        return len(connection.execute(select(runs.c.run_id)).all())


def test_a_plan_that_nobody_stands_for_takes_two_people_and_is_published_once_as_it_was_asked(
    people: Ledger, tmp_path: Path
) -> None:
    with pytest.raises(ApprovalNeeded, match="two examiners or admins"):
        publish_plan(people, plan(people, tmp_path, "alpha"))
    # Asked again, by whichever secret of the draw, it is the same request.
    with pytest.raises(ApprovalNeeded, match="request 1"):
        publish_plan(people, plan(people, tmp_path, "alpha", seed=""))
    assert count_runs(people) == 0

    stood = decide(people, 1, "eve")
    assert (stood.state, stood.stood_by) == ("asked", "eve")
    assert refused(lambda: decide(people, 1, "eve")) == (403, "own_request")
    with pytest.raises(ApprovalNeeded, match="other than eve"):
        publish_plan(people, plan(people, tmp_path, "alpha"))
    assert decide(people, 1, "otto").state == "approved"

    with pytest.raises(ApprovalNeeded, match="request 2"):
        publish_plan(people, plan(people, tmp_path, "alpha", "beta"))
    assert publish_plan(people, plan(people, tmp_path, "alpha")) == MONTH
    assert (count_runs(people), read_one(people).state) == (1, "used")
    # What is published stays, and needs nobody.
    assert publish_plan(people, plan(people, tmp_path, "alpha")) == MONTH

    with people.read() as connection:
        said = [step.body for step in list_public_entries(connection, ["approve"])]
        log = [
            (row.action, row.user_id)
            for row in connection.execute(select(access_log).order_by(access_log.c.number))
            if "appro" in row.action or "request" in row.action
        ]
    assert said == [{"what": "plan", "target": MONTH, "asked_by": "eve", "approved_by": "otto"}]
    account = log[0][1]
    assert log == [
        ("ask_approval", account),
        ("stand_for_request", "eve"),
        ("approve_request", "otto"),
        ("ask_approval", account),
        ("use_approval", account),
    ]


def test_a_plan_is_the_same_request_however_many_texts_its_draw_asks_about_twice(
    people: Ledger, tmp_path: Path
) -> None:
    # Disciplines ask about the same texts: how many are left for one depends on what another drew.
    texts = pl.col("material").str.replace(r"\n of .*", "")
    bank = make_passages(40, shared=34).with_columns(texts)
    settings = make_settings(tmp_path, set_size=27, lasting_sets=1, set_groups=2, anchor_share=0.4)
    registry = make_registry(*REGISTRY.models.values(), make_model("gamma"))
    publish(people, settings, registry, bank, candidates=["alpha"], run_id="a")
    answer_run(people, "a")
    settings = settings.model_copy(update={"two_persons": ("plan",)})
    plans = [
        plan_wished(people, settings, registry, bank, candidates=["beta", "gamma"], run_id="b", seed=f"{n}")
        for n in range(5)
    ]
    assert len({one.sets[-1].repeated_count for one in plans}) > 1
    for one in plans:
        with pytest.raises(ApprovalNeeded, match="request 1"):
            publish_plan(people, one)


def test_a_session_is_released_only_once_another_has_agreed_to_this_very_lease(world: World) -> None:
    protocol = ExamProtocol(
        world.ledger,
        world.keys,
        SeatRules(lease_s=60),
        clock=world.clock,
        two_persons=TwoPersons(("release",), 7),
    )
    with world.ledger.write() as connection:
        for name, role in PEOPLE:
            users.add_user(connection, user_id=name, role=role)
    world.now += 1
    tokens = {
        name: world.token(None, user_id=name, permissions=("release_sessions", "decide_requests"))
        for name, _ in PEOPLE
    }
    session_id = str(world.sessions("alpha")[0]["session_id"])
    lease = asyncio.run(protocol.open_session(world.token(session_id), session_id))

    def release() -> object:
        return asyncio.run(protocol.release_session(tokens["eve"], session_id))

    assert refused(release) == (403, "approval_needed")
    assert asyncio.run(protocol.next_question(world.token(session_id), lease)) is not None
    assert refused(lambda: protocol.decide(tokens["eve"], 1, is_approved=True)) == (403, "own_request")
    assert refused(lambda: protocol.decide(tokens["ann"], 1, is_approved=True)) == (403, "permission_missing")
    assert refused(lambda: protocol.decide(tokens["otto"], 7, is_approved=True)) == (404, "request_unknown")
    # A token that somebody else made is nobody's word: neither for approving nor for asking.
    made = issue_token(
        world.keys,
        "otto",
        None,
        ("release_sessions", "decide_requests"),
        3600,
        now=world.now,
        issued_by="eve",
    ).text
    assert refused(lambda: protocol.decide(made, 1, is_approved=True)) == (403, "token_issued")
    assert protocol.decide(tokens["otto"], 1, is_approved=True).state == "approved"
    release()
    assert refused(lambda: asyncio.run(protocol.next_question(world.token(session_id), lease))) == (
        403,
        "lease_lost",
    )
    # Done once: the lease that follows is another.
    asyncio.run(protocol.open_session(world.token(session_id), session_id))
    assert refused(lambda: asyncio.run(protocol.release_session(made, session_id))) == (
        403,
        "approval_needed",
    )
    asked = read_one(world.ledger, 2)
    assert (asked.stood_by, asked.asked_by) == (None, "otto (token by eve)")
    assert protocol.decide(tokens["eve"], 2, is_approved=True).state == "asked"
    assert protocol.decide(tokens["otto"], 2, is_approved=False).state == "refused"
    with world.ledger.read() as connection:
        tried = [
            row
            for row in connection.execute(select(access_log).order_by(access_log.c.number))
            if row.code in ("own_request", "approval_needed", "token_issued")
        ]
    assert [row.action for row in tried] == ["release", "approve_request", "approve_request", "release"]


def test_what_is_over_refused_or_taken_back_is_worth_nothing(people: Ledger) -> None:
    import time

    now = time.time()
    put(people, user_id="eve", now=now)
    day = 86_400
    assert refused(lambda: decide(people, 1, "otto", now=now + 7 * day)) == (409, "request_expired")
    # At the last moment it is approved, and then has its own time to be used.
    assert decide(people, 1, "otto", now=now + 7 * day - 1).state == "approved"
    assert refused(lambda: decide(people, 1, "mia", now=now + 7 * day)) == (409, "request_decided")
    with pytest.raises(NotApproved), people.write() as connection:
        use_approval(connection, RELEASE, now=now + 14 * day)
    # What has expired does not stand in the way of asking again.
    again = put(people, user_id="eve", now=now + 14 * day)
    assert (again.approval_id, again.state) == (2, "asked")
    decide(people, 2, "otto", now=now + 14 * day)
    with people.write() as connection:
        refuse(connection, 2, "eve", now=now + 14 * day)
    with pytest.raises(NotApproved), people.write() as connection:
        use_approval(connection, RELEASE, now=now + 14 * day)
    assert put(people, user_id="eve", now=now + 14 * day).approval_id == 3


@pytest.mark.parametrize(
    "other",
    [
        Request("release", "s-2", {"lease_generation": 1}),
        Request("release", "s-1", {"lease_generation": 2}),
        Request("retire", "s-1", {"lease_generation": 1}),
        Request("release", "s-1", {"lease_generation": 1, "reason": "x"}),
    ],
)
def test_an_approval_serves_for_exactly_what_was_asked(people: Ledger, other: Request) -> None:
    put(people, user_id="eve")
    decide(people, 1, "otto")
    with pytest.raises(NotApproved), people.write() as connection:
        use_approval(connection, other)
    with people.write() as connection:
        use_approval(connection, RELEASE)
    with pytest.raises(NotApproved), people.write() as connection:
        use_approval(connection, RELEASE)


def test_who_knows_anothers_password_or_made_the_user_is_not_two_people(people: Ledger) -> None:
    def as_eve(change: Callable[[Any], object]) -> None:
        before = CALLER.set(Caller("eve"))
        try:
            with people.write() as connection:
                change(connection)
        finally:
            CALLER.reset(before)

    as_eve(lambda c: users.write_password_hash(c, "otto", "hash"))
    put(people, user_id="eve")
    assert refused(lambda: decide(people, 1, "otto")) == (403, "password_known")
    as_eve(lambda c: users.add_user(c, user_id="straw", role="admin"))
    assert refused(lambda: decide(people, 1, "straw")) == (403, "user_changed")
    as_eve(lambda c: users.write_role(c, "ann", "admin"))
    assert refused(lambda: decide(people, 1, "ann")) == (403, "user_changed")
    with people.write() as connection:
        users.write_activity(connection, "mia", is_active=False)
    assert refused(lambda: decide(people, 1, "mia")) == (403, "permission_missing")
    assert refused(lambda: decide(people, 1, "nobody")) == (403, "permission_missing")
    assert read_one(people).state == "asked"


def test_a_row_that_says_approved_without_an_entry_of_the_log_is_not_believed(people: Ledger) -> None:
    put(people, user_id="eve")
    with people.write() as connection:
        connection.execute(update(table).values(state="approved", decided_by="otto"))
    with pytest.raises(NotApproved), people.write() as connection:
        use_approval(connection, RELEASE)
    put(people, Request("release", "s-2", {}), user_id="eve")
    decide(people, 2, "otto")
    with people.write() as connection:
        other = connection.execute(select(table.c.digest).where(table.c.approval_id == 1)).scalar_one()
        connection.execute(update(table).where(table.c.approval_id == 1).values(open_digest=None))
        connection.execute(
            update(table).where(table.c.approval_id == 2).values(digest=other, open_digest=other)
        )
    with pytest.raises(NotApproved), people.write() as connection:
        use_approval(connection, RELEASE)


def test_of_two_approvals_at_once_one_counts_and_of_two_uses_one_acts(people: Ledger) -> None:
    put(people, user_id="eve")
    got: list[str] = []
    barrier = threading.Barrier(2)

    def at_once(work: Callable[[], str]) -> None:
        barrier.wait()
        try:
            got.append(work())
        except (ExamError, NotApproved) as error:
            got.append(getattr(error, "code", "unapproved"))

    def use() -> str:
        with people.write() as connection:
            use_approval(connection, RELEASE)
        return "done"

    def run(*works: Callable[[], str]) -> list[str]:
        got.clear()
        threads = [threading.Thread(target=at_once, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(got)

    found = run(lambda: decide(people, 1, "otto").state, lambda: decide(people, 1, "mia").state)
    assert found == ["approved", "request_decided"]
    assert run(use, use) == ["done", "unapproved"]
    with people.read() as connection:
        assert len(list_public_entries(connection, ["approve"])) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from tasks.exam.plan import publishing
from tests.tasks.exam.test_approvals import plan
from warehouse.ledger.engine.opening import open_ledger
publishing.seal_run = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with open_ledger(sys.argv[1]) as ledger:
    publishing.publish_plan(ledger, plan(ledger, Path(sys.argv[2]), "alpha"))
"""


def test_killed_between_the_approval_and_the_act_it_is_done_by_asking_again(
    people: Ledger, tmp_path: Path, warm_python: str
) -> None:
    with pytest.raises(ApprovalNeeded):
        publish_plan(people, plan(people, tmp_path, "alpha"))
    decide(people, 1, "eve")
    decide(people, 1, "otto")
    url = people.engine.url.render_as_string(hide_password=False)
    done = subprocess.run([warm_python, "-c", KILLED, url, str(tmp_path)], cwd=ROOT, env=os.environ)
    assert done.returncode == -signal.SIGKILL
    assert (count_runs(people), read_one(people).state) == (0, "approved")
    assert publish_plan(people, plan(people, tmp_path, "alpha")) == MONTH
    assert (count_runs(people), read_one(people).state) == (1, "used")


def test_a_name_that_is_none_is_refused_with_the_list(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert Settings(home=tmp_path).two_persons == ()
    monkeypatch.setenv("PROCTOR_TWO_PERSONS", '["plan", "everything"]')
    with pytest.raises(UsageError, match="'plan', 'release', 'retire' or 'override'"):
        load_settings()
