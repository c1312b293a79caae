from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.review.assigning.annotators import Annotator, write_annotator
from tasks.review.assigning.assignment import AssignmentTerms, assign_batch
from tasks.review.assigning.gold import GoldSupply
from tasks.review.assigning.reassignment import reassign
from tasks.review.overview.progress import list_workloads, read_progress
from tasks.review.recording.desk import record
from tests.tasks.review.conftest import LATER, NOW, give, make_frame, make_question, make_submission
from tests.tasks.review.test_gold import KEY, SETTLED
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning
from warehouse.ledger.trust.users import write_role

TWO = [Annotator("chen"), Annotator("dai")]
ROWS = [make_question(number) for number in range(1, 5)] + [make_question(5, "Law"), make_question(6, "Arts")]
UUIDS = [row["question_uuid"] for row in ROWS]


@pytest.fixture
def batch(ledger: Ledger, settings: Settings) -> str:
    """Six questions for chen and dai; chen has decided on the first."""
    assign_batch(ledger, "b1", make_frame(ROWS), TWO, settings, NOW)
    record(ledger, [make_submission("chen", give(UUIDS[0], "accept"))], NOW)
    return "b1"


def read_pairs(ledger: Ledger) -> set[tuple[str, str]]:
    with ledger.read() as connection:
        rows = assigning.read_assignments(connection, "b1")
    return {(row["question_uuid"], row["annotator"]) for row in rows}


def test_open_work_moves_to_those_who_can_take_it_and_decisions_stay(
    ledger: Ledger, settings: Settings, batch: str
) -> None:
    (done,) = reassign(ledger, "chen", settings, LATER)
    # dai reads all of them already; eva reviews Engineering, fang Law, and gu everything.
    assert sum(done.moved.values()) == 5
    assert done.left == {}
    assert set(done.moved) == {"eva", "fang", "gu"}
    pairs = read_pairs(ledger)
    assert len(pairs) == 12
    assert {uuid for uuid, name in pairs if name == "chen"} == {UUIDS[0]}
    assert (UUIDS[5], "gu") in pairs
    with ledger.read() as connection:
        assert [row["annotator"] for row in assigning.read_decisions(connection, "b1")] == ["chen"]
    assert reassign(ledger, "chen", settings, LATER) == []
    assert {
        one.assigned_count for one in read_progress(ledger, "b1", LATER).annotators if one.annotator == "chen"
    } == {1}


def test_the_work_of_somebody_who_is_given_another_role_can_be_moved(
    ledger: Ledger, settings: Settings, batch: str
) -> None:
    with ledger.write() as connection:
        write_role(connection, "chen", "examiner")
    (done,) = reassign(ledger, "chen", settings, LATER)
    assert (sum(done.moved.values()), done.left) == (5, {})
    with pytest.raises(UsageError, match="no annotator 'chen'"):
        reassign(ledger, "chen", settings, LATER)


def test_what_nobody_else_can_take_stays_and_is_named(ledger: Ledger, settings: Settings, batch: str) -> None:
    (done,) = reassign(ledger, "chen", settings, LATER, to="eva")
    assert (done.moved, done.left) == ({"eva": 3}, {"Arts": 1, "Law": 1})
    with pytest.raises(UsageError, match="'nobody' is no active annotator"):
        reassign(ledger, "chen", settings, LATER, to="nobody")
    with pytest.raises(UsageError, match="There is no annotator 'nobody'"):
        reassign(ledger, "nobody", settings, LATER)
    with pytest.raises(UsageError, match="no review batch 'b2'"):
        reassign(ledger, "chen", settings, LATER, batch_id="b2")


def test_what_is_due_soon_gets_a_week_and_the_batch_waits_for_it(
    ledger: Ledger, settings: Settings, batch: str
) -> None:
    late = "2026-12-01T08:00:00.000000+00:00"
    (done,) = reassign(ledger, "chen", settings, late, batch_id="b1")
    assert done.due_at == "2026-12-08T08:00:00.000000+00:00"
    assert read_progress(ledger, "b1", late).due_at == done.due_at


def test_quotas_are_kept_and_novices_are_not_left_alone(
    ledger: Ledger, settings: Settings, batch: str
) -> None:
    write_annotator(ledger, "dai", levels={"*": "novice"})
    write_annotator(ledger, "eva", levels={"*": "novice"})
    write_annotator(ledger, "gu", daily_quota=1, due_days=2)
    (done,) = reassign(ledger, "chen", settings, LATER)
    assert done.moved == {"fang": 1, "gu": 2}
    assert sum(done.left.values()) == 2


def test_questions_with_a_known_decision_do_not_move(ledger: Ledger, settings: Settings) -> None:
    gold = GoldSupply(SETTLED, 0.5, KEY)
    assign_batch(ledger, "b1", make_frame(ROWS[:4]), TWO, settings, NOW, AssignmentTerms(gold=gold))
    (done,) = reassign(ledger, "chen", settings, LATER)
    assert (sum(done.moved.values()), done.withdrawn_count) == (4, 2)
    assert not [name for _, name in read_pairs(ledger) if name == "chen"]


def test_a_workload_says_what_is_overdue_and_what_a_day_would_take(
    ledger: Ledger, settings: Settings, batch: str
) -> None:
    loads = {one.annotator: one for one in list_workloads(ledger, settings, LATER)}
    assert loads.keys() == {"chen", "dai", "eva", "fang", "gu"}
    chen = loads["chen"]
    assert (chen.open_count, chen.overdue_count, chen.quota, chen.capacity) == (5, 0, 10, 300)
    assert chen.needed_per_day == pytest.approx(5 / 29)
    assert (loads["eva"].open_count, loads["eva"].needed_per_day) == (0, None)
    assert {one.annotator for one in loads.values() if one.is_behind} == set()
    tight = settings.model_copy(update={"review_daily_quota": 1})
    soon = "2026-12-01T08:00:00.000000+00:00"
    assert {one.annotator for one in list_workloads(ledger, tight, soon) if one.is_behind} == {"chen", "dai"}
    # A minute after as much was given out as five days hold, nobody is behind; with one more they are.
    given = replace(chen, open_count=250, quota=50, needed_per_day=250 / 4.999)
    assert not given.is_behind
    assert replace(given, open_count=251, needed_per_day=251 / 4.999).is_behind
    after = {
        one.annotator: one for one in list_workloads(ledger, settings, "2026-12-03T00:00:00.000000+00:00")
    }
    assert (after["dai"].overdue_count, after["dai"].needed_per_day, after["dai"].is_behind) == (
        6,
        None,
        True,
    )
