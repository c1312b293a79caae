"""An annotator's own queue: what waits, one question with all they need, and what is next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, get_args

from schemas.ledger.review import ReviewBatch
from tasks.review.batch import Assignment, read_assignments, read_batch, read_decisions, read_given_items
from tasks.review.decisions import Decision, Item
from tasks.review.desk.messages import ShownMessage, read_shown_messages
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import desk
from warehouse.ledger.review.desk import Queue as Queue

QUEUES: tuple[Queue, ...] = get_args(Queue)


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

    def was_decided_after(self, saved_at: str) -> bool:
        """Whether they decided on the web after a file of theirs was saved: that is their last word.

        `saved_at` is ISO text as the file has it, in UTC where it says nothing else; what is no moment comes after all.
        """
        if self.own is None or self.own.channel != "web":
            return False
        try:
            moment = datetime.fromisoformat(saved_at)
        except ValueError:
            return False
        return moment.replace(tzinfo=moment.tzinfo or UTC) < datetime.fromisoformat(self.own.decided_at)

    @property
    def place(self) -> tuple[str, str, int, str]:
        """By which work is shown: questions of one paper stay together and in its order."""
        item, source = self.item, self.item.source
        return (
            item.content.discipline or "",
            (source.document_name if source else None) or "",
            (source.position if source else None) or 0,
            item.question_uuid,
        )


@dataclass(frozen=True, slots=True)
class BatchWork:
    """What somebody has to do in a batch.

    Attributes:
        batch_id: the batch.
        due_at: when the first of it is due, ISO text in UTC.
        assigned_count: questions given to them.
        decided_count: those they have decided.
        waiting: undecided ones by queue.
    """

    batch_id: str
    due_at: str
    assigned_count: int
    decided_count: int
    waiting: Mapping[Queue, int]


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """One question as it is put before its annotator.

    Attributes:
        batch: its batch.
        assignment: to whom it was given, as what, and until when.
        queue: the queue it stands in.
        work: the question, what they decided, and for an adjudicator what others did.
        draft: what they began and did not give as a decision, with `saved_at`; null when nothing.
        next_uuid: the next undecided question of the queue; null when there is none.
    """

    batch: ReviewBatch
    assignment: Assignment
    queue: Queue
    work: WorkItem
    draft: Mapping[str, Any] | None
    next_uuid: str | None


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """A line of a queue's list; `decision` is null while there is none."""

    item_uuid: str
    due_at: str
    stem: str
    source_name: str | None
    number_label: str | None
    decision: str | None


def read_work(ledger: Ledger, batch_id: str, annotator: str, role: str) -> dict[str, WorkItem]:
    """What is given to somebody in that role, by question; empty for an unknown batch too."""
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


def list_work(ledger: Ledger, annotator: str) -> list[BatchWork]:
    """What somebody has to do, by batch; what is due first comes first."""
    with ledger.read() as connection:
        rows = desk.count_work(connection, annotator)
    return [
        BatchWork(
            row["batch_id"],
            row["due_at"],
            row["assigned_count"],
            row["decided_count"],
            {name: row[name] for name in QUEUES},
        )
        for row in rows
    ]


def count_batch_work(ledger: Ledger, batch_id: str, annotator: str) -> tuple[int, int]:
    """How many questions of an open batch somebody was given, and how many of them are decided."""
    with ledger.read() as connection:
        assigned, decided = desk.count_batch_work(connection, batch_id, annotator)
    return assigned, min(assigned, decided)


def count_decided_since(ledger: Ledger, annotator: str, moment: str) -> int:
    """How many decisions somebody gave since a moment (ISO text in UTC), in any batch."""
    with ledger.read() as connection:
        return desk.count_decided_since(connection, annotator, moment)


def read_first(ledger: Ledger, batch_id: str, annotator: str, queue: Queue) -> str | None:
    """The UUID of the first question of a queue that waits for a decision; null when none does."""
    with ledger.read() as connection:
        return desk.read_next(connection, batch_id, annotator, queue)


def read_last_decided(ledger: Ledger, batch_id: str, annotator: str, before: str | None = None) -> str | None:
    """The question that somebody decided last in the batch, or last before a moment."""
    with ledger.read() as connection:
        return desk.read_last_decided(connection, batch_id, annotator, before)


def open_question(ledger: Ledger, batch_id: str, question_uuid: str, annotator: str) -> OpenQuestion | None:
    """The question, if it was given to this annotator in this batch; null otherwise."""
    with ledger.read() as connection:
        row = desk.read_assignment(connection, batch_id, question_uuid, annotator)
        if row is None:
            return None
        queue = find_queue(row["role"], has_answer=row["has_answer"])
        batch = read_batch(connection, batch_id)
        item = read_given_items(connection, batch_id, annotator, [question_uuid])[question_uuid]
        decisions = read_decisions(connection, batch_id, question_uuids=[question_uuid])
        own = next((one for one in decisions if one.annotator == annotator), None)
        is_adjudicator = row["role"] == "adjudicator"
        return OpenQuestion(
            batch=batch,
            assignment=Assignment.from_row(row | {"discipline": item.content.discipline}),
            queue=queue,
            work=WorkItem(
                item,
                own,
                # A reviewer judges without knowing what the others decided.
                [one for one in decisions if one.annotator != annotator] if is_adjudicator else (),
                read_shown_messages(connection, batch_id, annotator, row["role"], [question_uuid]).get(
                    question_uuid, ()
                ),
            ),
            draft=desk.read_draft(connection, batch_id, question_uuid, annotator),
            next_uuid=desk.read_next(connection, batch_id, annotator, queue, row),
        )


def find_queue(role: str, *, has_answer: bool) -> Queue:
    """An assignment's queue: disputes, without an answer, or to be read as it is."""
    if role == "adjudicator":
        return "disputes"
    return "questions" if has_answer else "unanswered"


def count_listed(ledger: Ledger, batch_id: str, annotator: str) -> Mapping[Queue, int]:
    """How many questions of an open batch stand in each of somebody's queues, decided or not."""
    with ledger.read() as connection:
        return desk.count_listed(connection, batch_id, annotator)


def list_queue(
    ledger: Ledger, batch_id: str, annotator: str, queue: Queue, start: int, count: int
) -> Sequence[ListedQuestion]:
    """At most `count` lines of a queue from `start` (0 the first)."""
    with ledger.read() as connection:
        return [
            _read_line(row) for row in desk.list_queue(connection, batch_id, annotator, queue, start, count)
        ]


def save_draft(
    ledger: Ledger,
    batch_id: str,
    question_uuid: str,
    annotator: str,
    draft: Mapping[str, Any] | None,
    now: str,
) -> bool:
    """Keep what was begun (null: nothing any more); False where it is not this annotator's."""
    with ledger.write() as connection:
        if desk.read_assignment(connection, batch_id, question_uuid, annotator) is None:
            return False
        desk.replace_draft(connection, batch_id, question_uuid, annotator, draft, now)
    return True


def _read_line(row: Mapping[str, Any]) -> ListedQuestion:
    content = row["content"]
    return ListedQuestion(
        row["question_uuid"],
        row["due_at"],
        content["stem"] or "",
        content.get("document_name"),
        content.get("number_label"),
        row["decision"],
    )
