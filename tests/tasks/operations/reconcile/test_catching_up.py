"""What a kill between ledger and lake leaves is landed once, as its stage would have."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.settings import Settings
from tasks.models import CallReply, CallRequest
from tasks.models.registry import RegisteredModel
from tasks.review import close_batch
from tasks.review.assigning import assign_batch
from tasks.review.decisions import GivenDecision
from tasks.review.recording import Submission
from tests.fresh import open_new_lake
from tests.tasks.exam.kit import land_run, sit_sessions
from tests.tasks.exam.world import (
    AnsweringClient,
    World,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from tests.tasks.judging.kit import name_unit
from tests.tasks.review.conftest import add_annotators, make_frame, make_question
from tests.tasks.review.kit import Annotator, land_closed_batches, record_submission
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.calls import FinishedCall, NewCall, finish_call, start_call

OPENED = "2026-11-02T08:00:00.000000+00:00"
DECIDED = "2026-11-03T08:00:00.000000+00:00"
REVIEWERS = (Annotator("chen"), Annotator("dai"))
REVIEW_TABLES = ("review_assignments", "reviews", "review_decisions")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(tmp_path / "home", review_count=2, review_daily_quota=10, review_due_days=30)


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    with open_ledger(settings.ledger_address) as opened:
        add_annotators(opened, *REVIEWERS)
        yield opened


@pytest.fixture
def lake(settings: Settings) -> Iterator[Lake]:
    with open_new_lake(settings) as opened:
        yield opened


def decide_batch(ledger: Ledger, settings: Settings) -> None:
    questions = [make_question(number) for number in (1, 2)]
    assign_batch(ledger, "b1", make_frame(questions), list(REVIEWERS), settings, OPENED)
    for reviewer in REVIEWERS:
        given = [GivenDecision(row["question_uuid"], "accept") for row in questions]
        record_submission(
            ledger, Submission("a page", "b1", reviewer.user_id, "reviewer", "web", given), DECIDED
        )


def pay(ledger: Ledger, key: str, purpose: str, run_id: str | None, unit: str, *, is_answered: bool) -> None:
    with ledger.write() as connection:
        start_call(connection, NewCall(key, purpose, run_id, unit, "own", "gamma"))
        if is_answered:
            finish_call(connection, FinishedCall(key, "done", 1, {"text": "yes"}, 10, 5, 0.25, 1.5))


def publish_small_run(ledger: Ledger, settings: Settings) -> World:
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    bank = make_bank()
    return World(ledger, settings, registry, bank, publish(ledger, settings, registry, bank))


class PayingClient(AnsweringClient):
    """Writes its calls to the ledger, as the real client does."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        reply = await super().complete(model, request)
        pay(
            self._ledger, reply.call_key, request.purpose, request.run_id, str(request.unit), is_answered=True
        )
        return reply


def read_all(lake: Lake, *tables: str) -> dict[str, list[tuple[object, ...]]]:
    return {table: lake.query(f"select * from {table} order by all").rows() for table in tables}


def reconcile(ledger: Ledger, lake: Lake) -> dict[str, int]:
    from tasks.operations.reconcile import reconcile

    return dict(reconcile(ledger, lake))


def reconcile_all_but_log(ledger: Ledger, lake: Lake) -> dict[str, int]:
    """What was landed besides the audit log, in which every command leaves an entry."""
    return {name: count for name, count in reconcile(ledger, lake).items() if name != "access_log"}


def test_nothing_is_landed_twice_and_no_head_is_signed_twice(ledger: Ledger, lake: Lake) -> None:
    assert set(reconcile(ledger, lake)) <= {"access_log"}
    assert reconcile(ledger, lake) == {}


def test_a_batch_that_was_closed_and_not_landed_lands_as_the_gate_would_have_landed_it(
    ledger: Ledger, lake: Lake, settings: Settings, tmp_path: Path
) -> None:
    decide_batch(ledger, settings)
    close_batch(ledger, "b1", DECIDED)
    assert lake.units("review_decisions") == set()

    assert reconcile_all_but_log(ledger, lake) == {
        "review_assignments": 4,
        "reviews": 4,
        "review_decisions": 2,
    }
    found = read_all(lake, *REVIEW_TABLES)
    with open_new_lake(settings.model_copy(update={"home": tmp_path / "undisturbed"})) as undisturbed:
        land_closed_batches(ledger, undisturbed, DECIDED)
        assert read_all(undisturbed, *REVIEW_TABLES) == found

    assert reconcile_all_but_log(ledger, lake) == {}


def test_a_batch_that_is_decided_and_not_closed_waits_for_the_gate(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    decide_batch(ledger, settings)
    assert reconcile_all_but_log(ledger, lake) == {}
    assert lake.units("review_decisions") == set()


def test_sessions_that_were_closed_and_not_landed_land_with_their_calls_and_the_audit_log(
    ledger: Ledger, lake: Lake, settings: Settings, tmp_path: Path
) -> None:
    world = publish_small_run(ledger, settings)
    sit = sit_sessions(ledger, settings, world.registry, PayingClient(ledger), world.plan.run_id)
    asyncio.run(sit)
    tables = ("runs", "models", "sets", "sessions", "allocations", "responses", "llm_calls", "access_log")

    landed = reconcile(ledger, lake)
    assert set(landed) == set(tables)
    assert landed["responses"] == landed["llm_calls"] > 0
    found = read_all(lake, *tables)
    with open_new_lake(settings.model_copy(update={"home": tmp_path / "undisturbed"})) as undisturbed:
        land_run(ledger, undisturbed, world.plan.run_id)
        assert read_all(undisturbed, *tables[:-1]) == {name: found[name] for name in tables[:-1]}

    assert reconcile_all_but_log(ledger, lake) == {}


def test_calls_of_a_session_that_is_still_open_wait_until_it_is_closed(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    world = publish_small_run(ledger, settings)
    session_id = world.plan.sessions[0].session_id
    pay(ledger, "k1", "exam", world.plan.run_id, session_id, is_answered=True)
    assert "llm_calls" not in reconcile(ledger, lake)


def test_a_judge_that_was_killed_before_it_landed_leaves_its_cost_in_the_lake(
    ledger: Ledger, lake: Lake, settings: Settings
) -> None:
    world = publish_small_run(ledger, settings)
    unit = name_unit(world.plan.sessions[0].session_id, "gamma")
    pay(ledger, "k1", "judge", world.plan.run_id, unit, is_answered=True)
    pay(ledger, "k2", "judge", world.plan.run_id, unit, is_answered=False)

    assert reconcile(ledger, lake)["llm_calls"] == 2
    query = "select call_key, status, cost_usd, month from llm_calls order by call_key"
    assert lake.query(query).rows() == [
        ("k1", "done", 0.25, world.plan.month),
        ("k2", "started", None, world.plan.month),
    ]
    assert reconcile_all_but_log(ledger, lake) == {}

    pay(ledger, "k2", "judge", world.plan.run_id, unit, is_answered=True)
    assert reconcile_all_but_log(ledger, lake) == {"llm_calls": 2}
    assert lake.query(query).rows()[1] == ("k2", "done", 0.25, world.plan.month)


def test_answers_to_cgeval_that_were_paid_and_not_landed_land_under_the_month_of_their_first_call(
    ledger: Ledger, lake: Lake
) -> None:
    pay(ledger, "k1", "cgeval", "cgeval", "cgeval/cgeval/gamma", is_answered=True)
    assert reconcile_all_but_log(ledger, lake) == {"llm_calls": 1}
    row = lake.query("select landing_unit, month, strftime(started_at, '%Y-%m') as begun from llm_calls").row(
        0
    )
    assert row[0] == "cgeval/cgeval/gamma"
    assert row[1] == row[2]
