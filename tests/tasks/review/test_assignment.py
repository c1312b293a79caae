from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from tasks.review.assigning.annotators import Annotator
from tasks.review.assigning.assignment import AssignmentTerms, assign_batch
from tasks.review.assigning.distribution import Shares, distribute_work, draw_annotators
from tasks.review.assigning.plan import LeftOut, Waiting, plan_assignments
from tasks.review.closing import close_batch
from tasks.review.decisions.item import Item
from tasks.review.recording.desk import record_submission
from tests.hunts import tries
from tests.tasks.review.conftest import NOW, give, make_frame, make_question, make_submission, open_batch
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning


def read_pairs(ledger: Ledger, batch_id: str | None) -> list[tuple[str, str]]:
    assert batch_id is not None
    with ledger.read() as connection:
        return [
            (row["question_uuid"], row["annotator"])
            for row in assigning.read_assignments(connection, batch_id)
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


@pytest.mark.parametrize("name", ["2026/11", "first batch", "what?", "x" * 81, "春" * 27])
def test_what_no_file_and_no_address_can_name_is_no_batch(
    ledger: Ledger, settings: Settings, name: str
) -> None:
    with pytest.raises(UsageError, match="a name has letters, digits"):
        assign_batch(ledger, name, make_frame([make_question(1)]), None, settings, NOW)


def test_a_question_found_in_two_documents_is_reviewed_once(ledger: Ledger, settings: Settings) -> None:
    other = make_question(1, document_id="11111111-1111-5111-8111-111111111111")
    summary = assign_batch(ledger, None, make_frame([make_question(1), other]), None, settings, NOW)
    assert (summary.question_count, summary.assignment_count) == (1, 2)


def test_a_discipline_with_too_few_annotators_is_left_out_by_name_and_number(
    ledger: Ledger, settings: Settings
) -> None:
    frame = make_frame([make_question(1), make_question(2, "Arts"), make_question(3, "Arts")])
    with pytest.raises(
        GateError, match=r"Arts: 2 questions, 1 of 2 annotators \(gu\)\. .*Nothing was assigned"
    ):
        assign_batch(ledger, None, frame, None, settings, NOW, AssignmentTerms(all_or_nothing=True))
    with ledger.read() as connection:
        assert assigning.read_batches(connection) == []
    summary = assign_batch(ledger, None, frame, None, settings, NOW)
    assert (summary.question_count, summary.assignment_count) == (1, 2)
    assert summary.left_out == [LeftOut("Arts", 2, "1 of 2 annotators (gu)")]
    again = assign_batch(ledger, None, frame, None, settings, NOW)
    assert (again.is_new, again.left_out) == (False, summary.left_out)


def test_work_beyond_the_quota_of_the_window_is_left_out(ledger: Ledger, settings: Settings) -> None:
    tight = settings.model_copy(update={"review_daily_quota": 1, "review_due_days": 3})
    people = [Annotator("chen"), Annotator("dai")]
    assign_batch(ledger, "first", make_frame([make_question(1), make_question(2)]), people, tight, NOW)
    two = make_frame([make_question(3), make_question(4)])
    with pytest.raises(GateError, match="its 2 annotators have time for 6 reviews until the batch is due"):
        assign_batch(ledger, "second", two, people, tight, NOW, AssignmentTerms(all_or_nothing=True))
    summary = assign_batch(ledger, "third", two, people, tight, NOW)
    assert read_pairs(ledger, "third") == [
        (make_question(3)["question_uuid"], "chen"),
        (make_question(3)["question_uuid"], "dai"),
    ], "the first question of the papers comes first"
    assert [(one.discipline, one.question_count) for one in summary.left_out] == [("Engineering", 1)]


def test_who_has_a_quota_and_a_window_of_their_own_is_held_to_them(
    ledger: Ledger, settings: Settings
) -> None:
    people = [Annotator("chen", daily_quota=1, due_days=2), Annotator("dai"), Annotator("eva", due_days=60)]
    summary = assign_batch(
        ledger, "b1", make_frame([make_question(number) for number in range(1, 7)]), people, settings, NOW
    )
    assert summary.loads == {"chen": 2, "dai": 5, "eva": 5}
    with ledger.read() as connection:
        due = {row["annotator"]: row["due_at"][:10] for row in assigning.read_assignments(connection, "b1")}
    assert due == {"chen": "2026-11-04", "dai": "2026-12-02", "eva": "2027-01-01"}
    assert summary.due_at is not None
    assert summary.due_at[:10] == "2027-01-01"


def test_novices_are_never_alone_on_a_question(ledger: Ledger, settings: Settings) -> None:
    people = [
        Annotator("chen", levels={"*": "novice"}),
        Annotator("dai", levels={"Engineering": "novice"}),
        Annotator("eva", levels={"*": "novice", "Engineering": "expert"}),
    ]
    frame = make_frame([make_question(number) for number in range(1, 9)])
    summary = assign_batch(ledger, "b1", frame, people, settings, NOW)
    assert summary.loads == {"chen": 4, "dai": 4, "eva": 8}
    (left,) = assign_batch(ledger, "b2", make_frame([make_question(9)]), people[:2], settings, NOW).left_out
    assert "only novices (chen, dai)" in left.reason


def test_a_stored_question_is_what_its_row_says(ledger: Ledger, settings: Settings) -> None:
    rows = [
        make_question(1, stem='A "quoted" \\ stem\nof 2 lines, 中文 😀', explanation=None),
        make_question(2, None, question_type="short_answer", options=[], answer=[], material="m"),
    ]
    one = settings.model_copy(update={"review_count": 1})
    assign_batch(ledger, "b1", make_frame(rows), None, one, NOW)
    expected = {row["question_uuid"]: Item.from_question(row) for row in rows}
    with ledger.read() as connection:
        stored = {row["question_uuid"]: row for row in assigning.read_items(connection, "b1")}
    assert {uuid: Item.from_row(row) for uuid, row in stored.items()} == expected
    assert {uuid: list(row["content"]) for uuid, row in stored.items()} == {
        uuid: list(item.as_row("b1")["content"]) for uuid, item in expected.items()
    }


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
    assert (
        assign_batch(ledger, "second", frame, None, settings, NOW, AssignmentTerms(again=True)).is_new
        is False
    )
    record_submission(ledger, make_submission("chen", give(uuids[0], "accept"), batch_id="first"), NOW)
    close_batch(ledger, "first", "2027-02-01T00:00:00.000000+00:00")
    assert assign_batch(ledger, "second", frame, None, settings, NOW).is_new is False
    summary = assign_batch(ledger, "second", frame, None, settings, NOW, AssignmentTerms(again=True))
    assert (summary.question_count, summary.assignment_count) == (2, 4)
    assert (uuids[0], "chen") not in read_pairs(ledger, "second")
    close_batch(ledger, "second", "2027-04-01T00:00:00.000000+00:00")
    with pytest.raises(
        GateError, match=r"Engineering \(read before by chen\): 1 question, 1 of 2 annotators \(dai\)"
    ):
        assign_batch(
            ledger, "third", frame, people, settings, NOW, AssignmentTerms(again=True, all_or_nothing=True)
        )


def test_what_a_closed_batch_settled_is_not_assigned_again_before_it_has_landed(
    ledger: Ledger, settings: Settings
) -> None:
    settled, undecided = open_batch(ledger, settings)
    for name in ("chen", "dai"):
        record_submission(ledger, make_submission(name, give(settled, "accept")), NOW)
    close_batch(ledger, "b1", NOW, early=True)
    frame = make_frame([make_question(1), make_question(2)])
    summary = assign_batch(ledger, "second", frame, None, settings, NOW, AssignmentTerms(again=True))
    assert {uuid for uuid, _ in read_pairs(ledger, "second")} == {undecided}
    assert summary.already_assigned_count == 1


def test_the_same_questions_get_a_numbered_batch_when_they_are_assigned_again_in_the_same_month(
    ledger: Ledger, settings: Settings
) -> None:
    frame = make_frame([make_question(1)])
    first = assign_batch(ledger, None, frame, None, settings, NOW)
    assert first.batch_id is not None
    close_batch(ledger, first.batch_id, "2027-02-01T00:00:00.000000+00:00")
    second = assign_batch(ledger, None, frame, None, settings, NOW, AssignmentTerms(again=True))
    assert second.batch_id == f"{first.batch_id}-2"


def test_a_question_without_a_discipline_goes_to_those_who_review_everything(
    ledger: Ledger, settings: Settings
) -> None:
    frame = make_frame([make_question(1, None)])
    nothing = assign_batch(ledger, None, frame, None, settings, NOW)
    assert (nothing.is_new, nothing.left_out) == (
        False,
        [LeftOut("(no discipline)", 1, "1 of 2 annotators (gu)")],
    )
    one = settings.model_copy(update={"review_count": 1})
    assert assign_batch(ledger, None, frame, None, one, NOW).loads == {"gu": 1}


@pytest.mark.hunt
@hypothesis_settings(max_examples=tries(8, 60), deadline=None)
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
    assert_drawn_exactly(demand, shares, review_count)
    totals = {name: loads[name] + sum(share.get(name, 0) for share in shares.values()) for name in people}
    for name, count in demand.items():
        assert sum(shares[name].values()) == count * review_count
        assert all(0 <= given <= count for given in shares[name].values())
        for giver in eligible[name]:
            for taker in eligible[name]:
                if shares[name][giver] > 0 and shares[name][taker] < count:
                    assert totals[giver] <= totals[taker] + 1


def test_work_moves_through_others_where_nobody_could_give_it_away_directly() -> None:
    """Whoever has two questions of B has none of A, and whoever has none has not B."""
    eligible = {"A": ["di", "fu"], "B": ["bo", "cy", "di"]}
    shares = distribute_work({"A": 1, "B": 3}, eligible, 1, {})
    assert shares == {"A": {"di": 0, "fu": 1}, "B": {"bo": 1, "cy": 1, "di": 1}}


def assert_drawn_exactly(demand: dict[str, int], shares: Shares, review_count: int) -> None:
    """Everybody gets their share of each discipline, and nobody a question twice."""
    for name, count in demand.items():
        drawn = draw_annotators(
            [f"{name}{place}" for place in range(count)], shares[name], review_count, "salt"
        )
        assert all(len(set(names)) == review_count for names in drawn.values())
        assert Counter(person for names in drawn.values() for person in names) == Counter(
            {person: given for person, given in shares[name].items() if given}
        )


@pytest.mark.hunt
@hypothesis_settings(max_examples=tries(25, 80), deadline=None)
@given(st.data())
def test_a_plan_holds_quotas_gives_nobody_a_question_twice_and_names_what_it_leaves_out(
    data: st.DataObject,
) -> None:
    people = [
        Annotator(
            f"p{place}",
            None if place == 0 else tuple(data.draw(st.sets(st.sampled_from("ABC"), min_size=1))),
            levels={"*": data.draw(st.sampled_from(("novice", "regular")))},
        )
        for place in range(data.draw(st.integers(2, 6)))
    ]
    review_count = data.draw(st.integers(1, 3))
    capacities = {one.user_id: data.draw(st.integers(0, 15)) for one in people}
    loads = {one.user_id: data.draw(st.integers(0, 5)) for one in people}
    waiting = [
        Waiting(f"{name}{place}", name)
        for name in "ABC"
        for place in range(data.draw(st.integers(0, 12), label=name))
    ]
    past = {one.question_uuid: {"p0"} for one in waiting[:2]}
    plan = plan_assignments(waiting, people, review_count, capacities, loads, past, "salt")

    able = {one.user_id: one for one in people}
    for uuid, names in plan.annotators.items():
        assert len(set(names)) == review_count
        assert all(able[name].can_review(uuid[0]) for name in names)
        assert not set(names) & past.get(uuid, set())
        assert not all(able[name].is_novice(uuid[0]) for name in names)
    given_now = Counter(name for names in plan.annotators.values() for name in names)
    assert all(loads[name] + count <= capacities[name] for name, count in given_now.items())
    left = Counter(one.question_uuid[0] for one in waiting if one.question_uuid not in plan.annotators)
    named: Counter[str] = Counter()
    for one in plan.left_out:
        named[one.discipline[0]] += one.question_count
        assert one.reason
    assert named == left
    for name in "ABC":
        # What is left out for want of time finds no free place any more.
        waits = [
            one for one in waiting if one.discipline == name and one.question_uuid not in plan.annotators
        ]
        for waiter in waits:
            free = [
                person
                for person in people
                if person.can_review(name)
                and person.user_id not in past.get(waiter.question_uuid, set())
                and loads[person.user_id] + given_now[person.user_id] < capacities[person.user_id]
            ]
            assert len(free) < review_count or all(person.is_novice(name) for person in free)
