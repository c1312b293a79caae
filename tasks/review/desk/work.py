"""What an annotator has to do in a batch, whatever the channel it is shown by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.review.batch import read_assignments, read_decisions, read_given_items
from tasks.review.decisions import Decision, Item
from tasks.review.desk.messages import ShownMessage, read_shown_messages
from warehouse.ledger.engine.ledger import Ledger


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A question given to somebody.

    Attributes:
        item: the question.
        own: what they decided on it so far; null when nothing.
        earlier: what others decided, for an adjudicator; a reviewer judges without knowing it, so it is empty.
        messages: what they may read of what was written on it.
    """

    item: Item
    own: Decision | None
    earlier: Sequence[Decision] = ()
    messages: Sequence[ShownMessage] = ()


def read_work(ledger: Ledger, batch_id: str, annotator: str, role: str) -> dict[str, WorkItem]:
    """What is given to somebody in that role, by question.

    Empty when nothing is given, or the batch is unknown.
    """
    with ledger.read() as connection:
        items = read_given_items(connection, batch_id, annotator)
        assigned = read_assignments(connection, batch_id, annotator, role)
        decisions = read_decisions(connection, batch_id, annotator if role == "reviewer" else None)
        written = read_shown_messages(connection, batch_id, annotator, role)
    own = {one.question_uuid: one for one in decisions if one.annotator == annotator}
    others: dict[str, list[Decision]] = {}
    for decision in decisions:
        if role == "adjudicator" and decision.annotator != annotator:
            others.setdefault(decision.question_uuid, []).append(decision)
    return {
        uuid: WorkItem(items[uuid], own.get(uuid), others.get(uuid, ()), written.get(uuid, ()))
        for uuid in (assignment.question_uuid for assignment in assigned)
    }


def list_people(ledger: Ledger, batch_id: str) -> list[tuple[str, str]]:
    """Everybody with work in the batch and their role, by name."""
    with ledger.read() as connection:
        return sorted({(one.annotator, one.role) for one in read_assignments(connection, batch_id)})
