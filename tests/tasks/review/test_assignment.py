from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from tasks.review.annotators import Annotator
from tasks.review.assignment import assign_batch
from tasks.review.closing import close_batch
from tasks.review.desk import record_submission
from tasks.review.distribution import distribute_work, draw_annotators
from tests.tasks.review.conftest import NOW, give, make_frame, make_question, make_submission
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger


def read_pairs(ledger: Ledger, batch_id: str | None) -> list[tuple[str, str]]:
    assert batch_id is not None
    with ledger.read() as connection:
        return [
            (row["question_uuid"], row["annotator"]) for row in review.read_assignments(connection, batch_id)
        ]


def test_every_question_goes_to_two_different_annotators_of_its_discipline(
    ledger: Ledger, settings: Settings
) -> None:
    rows = [make_question(number) for number in range(1, 9)] + [
        make_question(number, "History") for number in range(9, 13)
    ]
    summary = assign_batch(ledger, None, make_frame(rows), None, settings, NOW)
    pairs = read_pairs(ledger, summary.batch_id)
    assert len(pairs) == len(set(pairs)) == 24
    assert Counter(Counter(uuid for uuid, _ in pairs).values()) == {2: 12}
    historians = {
        annotator for uuid, annotator in pairs if uuid in {row["question_uuid"] for row in rows[8:]}
    }
    assert historians <= {"eva", "fang", "gu"}


def test_loads_are_even_even_when_one_annotator_could_do_everything(
    ledger: Ledger, settings: Settings
) -> None:
    rows = [make_question(number) for number in range(1, 11)] + [
        make_question(number, "Law") for number in range(11, 21)
    ]
    summary = assign_batch(ledger, None, make_frame(rows), None, settings, NOW)
    assert summary.loads == {"chen": 8, "dai": 8, "eva": 8, "fang": 8, "gu": 8}


def test_assigning_the_same_questions_again_changes_nothing(ledger: Ledger, settings: Settings) -> None:
    frame = make_frame([make_question(number) for number in range(1, 6)])
    first = assign_batch(ledger, None, frame, None, settings, NOW)
    before = read_pairs(ledger, first.batch_id)
    second = assign_batch(ledger, None, frame, None, settings, "2026-11-05T08:00:00.000000+00:00")
    assert (second.batch_id, second.is_new, second.already_assigned_count) == (first.batch_id, False, 5)
    assert read_pairs(ledger, first.batch_id) == before


def test_the_name_of_a_batch_follows_from_its_month_and_questions(ledger: Ledger, settings: Settings) -> None:
    rows = [make_question(number) for number in range(1, 6)]
    summary = assign_batch(ledger, None, make_frame(rows[::-1]), None, settings, NOW)
    assert summary.batch_id is not None
    assert summary.batch_id.startswith("2026-11-")
    assert len(summary.batch_id) == 16
    with_more = assign_batch(ledger, None, make_frame([*rows, make_question(6)]), None, settings, NOW)
    assert with_more.batch_id != summary.batch_id
    assert (with_more.question_count, with_more.already_assigned_count) == (1, 5)


def test_a_named_batch_does_not_take_other_questions_later(ledger: Ledger, settings: Settings) -> None:
    assign_batch(ledger, "autumn", make_frame([make_question(1)]), None, settings, NOW)
    with pytest.raises(UsageError, match="'autumn' exists already and does not hold 1 of the 2 questions"):
        assign_batch(ledger, "autumn", make_frame([make_question(1), make_question(2)]), None, settings, NOW)


def test_a_question_found_in_two_documents_is_reviewed_once(ledger: Ledger, settings: Settings) -> None:
    other = make_question(1, document_id="11111111-1111-5111-8111-111111111111")
    summary = assign_batch(ledger, None, make_frame([make_question(1), other]), None, settings, NOW)
    assert (summary.question_count, summary.assignment_count) == (1, 2)


def test_a_discipline_with_too_few_annotators_is_refused_by_name_and_number(
    ledger: Ledger, settings: Settings
) -> None:
    frame = make_frame([make_question(1), make_question(2, "Arts"), make_question(3, "Arts")])
    with pytest.raises(GateError) as refusal:
        assign_batch(ledger, None, frame, None, settings, NOW)
    assert "Arts: 1 of 2 (gu) for 2 questions" in str(refusal.value)
    assert "Engineering" not in str(refusal.value)
    with ledger.read() as connection:
        assert review.read_batches(connection) == []


def test_work_beyond_the_quota_of_the_window_is_refused(ledger: Ledger, settings: Settings) -> None:
    tight = settings.model_copy(update={"review_daily_quota": 1, "review_due_days": 3})
    people = [Annotator("chen"), Annotator("dai")]
    assign_batch(ledger, "first", make_frame([make_question(1), make_question(2)]), people, tight, NOW)
    with pytest.raises(GateError, match="would hold 4 questions, and 1 a day for 3 days are 3"):
        assign_batch(ledger, "second", make_frame([make_question(3), make_question(4)]), people, tight, NOW)
    assign_batch(ledger, "third", make_frame([make_question(3)]), people, tight, NOW)


def test_an_unknown_annotator_is_refused(ledger: Ledger, settings: Settings) -> None:
    with pytest.raises(UsageError, match="not active users: nobody"):
        assign_batch(
            ledger,
            None,
            make_frame([make_question(1)]),
            [Annotator("chen"), Annotator("nobody")],
            settings,
            NOW,
        )


def test_an_undecided_question_may_be_assigned_again_to_others_once_its_batch_is_closed(
    ledger: Ledger, settings: Settings
) -> None:
    frame = make_frame([make_question(1), make_question(2)])
    uuids = frame["question_uuid"].to_list()
    people = [Annotator("chen"), Annotator("dai")]
    assign_batch(ledger, "first", frame, people, settings, NOW)
    assert assign_batch(ledger, "second", frame, None, settings, NOW, again=True).is_new is False
    record_submission(ledger, make_submission("chen", give(uuids[0], "accept"), batch_id="first"), NOW)
    close_batch(ledger, "first", "2027-02-01T00:00:00.000000+00:00")
    assert assign_batch(ledger, "second", frame, None, settings, NOW).is_new is False
    summary = assign_batch(ledger, "second", frame, None, settings, NOW, again=True)
    assert (summary.question_count, summary.assignment_count) == (2, 4)
    assert (uuids[0], "chen") not in read_pairs(ledger, "second")
    close_batch(ledger, "second", "2027-04-01T00:00:00.000000+00:00")
    with pytest.raises(
        GateError, match=r"Engineering \(read before by chen\): 1 of 2 \(dai\) for 1 questions"
    ):
        assign_batch(ledger, "third", frame, people, settings, NOW, again=True)


def test_the_same_questions_get_a_numbered_batch_when_they_are_assigned_again_in_the_same_month(
    ledger: Ledger, settings: Settings
) -> None:
    frame = make_frame([make_question(1)])
    first = assign_batch(ledger, None, frame, None, settings, NOW)
    assert first.batch_id is not None
    close_batch(ledger, first.batch_id, "2027-02-01T00:00:00.000000+00:00")
    second = assign_batch(ledger, None, frame, None, settings, NOW, again=True)
    assert second.batch_id == f"{first.batch_id}-2"


def test_a_question_without_a_discipline_goes_to_those_who_review_everything(
    ledger: Ledger, settings: Settings
) -> None:
    frame = make_frame([make_question(1, None)])
    with pytest.raises(GateError, match=r"\(no discipline\): 1 of 2 \(gu\)"):
        assign_batch(ledger, None, frame, None, settings, NOW)
    one = settings.model_copy(update={"review_count": 1})
    assert assign_batch(ledger, None, frame, None, one, NOW).loads == {"gu": 1}


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_distribution_is_exact_and_cannot_be_made_more_even(data: st.DataObject) -> None:
    people = [f"p{place}" for place in range(data.draw(st.integers(2, 6)))]
    review_count = data.draw(st.integers(1, 2))
    demand = data.draw(st.dictionaries(st.sampled_from("ABCD"), st.integers(1, 12), min_size=1))
    eligible = {
        name: sorted(data.draw(st.sets(st.sampled_from(people), min_size=review_count))) for name in demand
    }
    loads = {name: data.draw(st.integers(0, 15)) for name in people}
    shares = distribute_work(demand, eligible, review_count, loads)

    totals = {name: loads[name] + sum(share.get(name, 0) for share in shares.values()) for name in people}
    for name, count in demand.items():
        assert sum(shares[name].values()) == count * review_count
        assert all(0 <= given <= count for given in shares[name].values())
        for giver in eligible[name]:
            for taker in eligible[name]:
                if shares[name][giver] > 0 and shares[name][taker] < count:
                    assert totals[giver] <= totals[taker] + 1
        drawn = draw_annotators(
            [f"{name}{place}" for place in range(count)], shares[name], review_count, "salt"
        )
        assert all(len(set(names)) == review_count for names in drawn.values())
        assert Counter(person for names in drawn.values() for person in names) == Counter(
            {person: given for person, given in shares[name].items() if given}
        )
