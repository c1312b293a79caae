"""What annotators and coordinators write to each other on a question under review.

A reviewer judges without knowing what others think, so they read their own conversation with the coordinators, and what these
wrote to everybody who has the question. An adjudicator reads all of it without names, a coordinator all of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from schemas.errors import GateError, UsageError
from schemas.ledger.review import ReviewMessage
from tasks.review.batch import read_assignments, read_batch
from tasks.review.decisions import Item
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.review import assigning, messages

MOST_CHARACTERS = 4_000
_OF_A_STEM = 90


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as somebody may read it.

    Attributes:
        who: `you`, `coordinator`, `reviewer`.
        name: of who wrote it, where the reader may know it; of a reviewer else a number.
        to: the annotator whose conversation it is in, for a coordinator; null where it is to everybody, and for others.
        is_to_all: whether everybody who has the question reads it.
        text: what it says.
        written_at: when, ISO text in UTC.
    """

    who: Literal["you", "coordinator", "reviewer"]
    name: str | None
    to: str | None
    is_to_all: bool
    text: str
    written_at: str


@dataclass(frozen=True, slots=True)
class NewMessage:
    """What somebody writes on a question.

    Attributes:
        author: who writes.
        text: what; without white space around it from 1 to MOST_CHARACTERS characters.
        is_coordinator: whether the author is one; others write to the coordinators.
        to: for a coordinator, the annotator who is answered; null writes to everybody who has the question.
    """

    author: str
    text: str
    is_coordinator: bool = False
    to: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation on a question by its last message.

    It waits for an answer where an annotator wrote that, and a coordinator can still answer.

    Attributes:
        batch_id, question_uuid: the question.
        annotator: with whom; null: with everybody who has it.
        stem: the first letters of the question; null where it was taken out of the batch.
        text, written_at: of the last message.
        is_waiting: whether a coordinator is to answer; none can once the batch is closed.
        is_answered: whether a coordinator wrote it.
    """

    batch_id: str
    question_uuid: str
    annotator: str | None
    stem: str | None
    text: str
    written_at: str
    is_waiting: bool
    is_answered: bool


@dataclass(frozen=True, slots=True)
class TalkedOf:
    """A question as a coordinator sees it to answer.

    Attributes:
        item: the question.
        annotators: who has it, by name.
        messages: all that was written on it.
        is_open: whether its batch still takes decisions, and messages.
    """

    item: Item
    annotators: Sequence[str]
    messages: Sequence[ShownMessage]
    is_open: bool


def open_for_coordinator(
    ledger: Ledger, batch_id: str, question_uuid: str, coordinator: str
) -> TalkedOf | None:
    """A question of a batch with all that was written on it; null where there is none."""
    with ledger.read() as connection:
        rows = assigning.read_items(connection, batch_id, question_uuids=[question_uuid], with_gold=True)
        if not rows:
            return None
        given = read_assignments(connection, batch_id, question_uuids=[question_uuid])
        shown = read_shown_messages(connection, batch_id, coordinator, "coordinator", [question_uuid])
        batch = read_batch(connection, batch_id)
    return TalkedOf(
        Item.from_row(rows[0]),
        sorted({one.annotator for one in given}),
        shown.get(question_uuid, ()),
        not batch.is_closed,
    )


def write_message(ledger: Ledger, batch_id: str, question_uuid: str, written: NewMessage, now: str) -> bool:
    """Add a message; False where its author said the same in the last one of that conversation.

    Raises:
        UsageError: the question was not given to that annotator, is not in the batch, or the text has no such length.
        GateError: the batch is closed.
    """
    text, author = written.text.strip(), written.author
    if not 0 < len(text) <= MOST_CHARACTERS:
        raise UsageError(
            f"A message has 1 to {MOST_CHARACTERS:,} characters, and this one has {len(text):,}."
        )
    annotator = written.to if written.is_coordinator else author
    with ledger.write() as connection:
        batch = read_batch(connection, batch_id, lock=True)
        given = read_assignments(connection, batch_id, annotator, question_uuids=[question_uuid])
        if not given:
            raise UsageError(
                f"Question {question_uuid} of batch {batch_id} is not assigned to {annotator or 'anybody'}. "
                "Nothing was written."
            )
        if batch.is_closed:
            raise GateError(
                f"Review batch {batch_id} was closed at {batch.closed_at}: nothing is written to it."
            )
        there = messages.read_messages(connection, batch_id, [question_uuid])
        last = next((one for one in reversed(there) if one.annotator == annotator), None)
        if last is not None and (last.author, last.message) == (author, text):
            return False
        messages.insert_message(
            connection,
            ReviewMessage(
                batch_id=batch_id,
                question_uuid=question_uuid,
                number=len(there) + 1,
                annotator=annotator,
                author=author,
                is_coordinator=written.is_coordinator,
                message=text,
                written_at=now,
            ),
        )
    return True


def read_shown_messages(
    connection: Connection,
    batch_id: str,
    reader: str,
    role: str,
    question_uuids: Collection[str] | None = None,
) -> Mapping[str, Sequence[ShownMessage]]:
    """What a `reviewer`, `adjudicator` or `coordinator` may read of a batch's messages."""
    found: dict[str, list[ReviewMessage]] = {}
    for one in messages.read_messages(connection, batch_id, question_uuids):
        if role != "reviewer" or one.annotator in (None, reader):
            found.setdefault(one.question_uuid, []).append(one)
    return {uuid: _show(some, reader, role) for uuid, some in found.items()}


def _show(found: Sequence[ReviewMessage], reader: str, role: str) -> list[ShownMessage]:
    knows_names = role == "coordinator"
    others = list(
        dict.fromkeys(one.author for one in found if not one.is_coordinator and one.author != reader)
    )
    shown = []
    for one in found:
        who: Literal["you", "coordinator", "reviewer"] = "coordinator" if one.is_coordinator else "reviewer"
        name = one.author if knows_names else None
        if one.author == reader:
            who = "you"
        elif name is None and who == "reviewer":
            name = str(others.index(one.author) + 1)
        shown.append(
            ShownMessage(
                who,
                name,
                one.annotator if knows_names else None,
                one.annotator is None,
                one.message,
                one.written_at,
            )
        )
    return shown


def list_conversations(ledger: Ledger, annotator: str | None = None) -> list[Conversation]:
    """Conversations of all annotators or one: those that wait for an answer, then the newest."""
    with ledger.read() as connection:
        rows = messages.read_last_messages(connection, annotator)
    found = [
        Conversation(
            row["batch_id"],
            row["question_uuid"],
            row["annotator"],
            None if row["content"] is None else (row["content"]["stem"] or "")[:_OF_A_STEM],
            row["message"],
            row["written_at"],
            not row["is_coordinator"] and row["status"] != "closed",
            row["is_coordinator"],
        )
        for row in rows
    ]
    return sorted(found, key=lambda one: not one.is_waiting)


def count_waiting(conversations: Iterable[Conversation]) -> int:
    """How many of them wait for an answer."""
    return sum(one.is_waiting for one in conversations)
