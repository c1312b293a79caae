"""Giving disputes to people who have not read the question: their decision stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from tasks.review.assigning import NO_DISCIPLINE, compute_due, find_annotators
from tasks.review.batch import Assignment, read_assignments, read_batch
from tasks.review.overview import read_outcomes
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning

ADJUDICATION_DAYS = 7


@dataclass(frozen=True, slots=True)
class AdjudicationSummary:
    """Disputes given to an adjudicator, and by discipline those that nobody is left to settle."""

    batch_id: str
    assigned_count: int
    unassigned: Mapping[str, int] = field(default_factory=dict)


def assign_adjudicators(
    ledger: Ledger,
    batch_id: str,
    now: str,
    *,
    question_uuids: Collection[str] | None = None,
) -> AdjudicationSummary:
    """Give every dispute without an adjudicator to somebody of the discipline.

    The adjudicator must not have reviewed it, in an earlier batch neither. Experts of the discipline first, and of them the least loaded; the batch's deadline
    moves so that there is time. Running it again changes nothing. All active annotators may settle; without `question_uuids` the whole
    batch is looked at.

    Raises:
        UsageError: there is no such batch.
    """
    due_at = compute_due(now, ADJUDICATION_DAYS)
    assignments: list[Assignment] = []
    unassigned: Counter[str] = Counter()
    with ledger.write() as connection:
        batch = read_batch(connection, batch_id, lock=True)
        if batch.is_closed:
            return AdjudicationSummary(batch_id, 0)
        disputed = [
            outcome
            for outcome in read_outcomes(connection, batch, question_uuids)
            if outcome.state == "disputed"
        ]
        if not disputed:
            return AdjudicationSummary(batch_id, 0)
        people = find_annotators(connection, None)
        of_name = {person.user_id: person for person in people}
        given: set[str] = set()
        uuids = {outcome.item.question_uuid for outcome in disputed}
        readers = assigning.read_past_decisions(connection, uuids)
        for assignment in read_assignments(connection, batch_id, question_uuids=uuids):
            readers.setdefault(assignment.question_uuid, set()).add(assignment.annotator)
            if assignment.role == "adjudicator":
                given.add(assignment.question_uuid)
        loads = Counter(assigning.count_open_work(connection))
        for outcome in disputed:
            question_uuid = outcome.item.question_uuid
            if question_uuid in given:
                continue
            discipline = outcome.item.content.discipline or NO_DISCIPLINE
            free = [
                person.user_id
                for person in people
                if person.can_review(discipline) and person.user_id not in readers[question_uuid]
            ]
            if not free:
                unassigned[discipline] += 1
                continue
            experts = [name for name in free if of_name[name].find_level(discipline) == "expert"]
            name = min(experts or free, key=lambda user_id: (loads[user_id], user_id))
            loads[name] += 1
            assignments.append(Assignment(question_uuid, name, "adjudicator", now, due_at))
        assigning.insert_assignments(connection, [assignment.as_row(batch_id) for assignment in assignments])
        if assignments:
            assigning.update_batch(connection, batch_id, status="open", due_at=max(batch.due_at, due_at))
    return AdjudicationSummary(batch_id, len(assignments), dict(sorted(unassigned.items())))
