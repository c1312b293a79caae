"""What was decided on questions like the one under review, as its annotator may know it.

Of a closed batch everybody may know what the gate made of a question, and why, without names. While a batch is open an annotator
knows their own decisions alone: nobody's judgement leans on somebody else's. A question with a known decision among the work must not
be given away: neither it nor what it was made from is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.questions import QuestionContent
from tasks.review.batch import list_batches, read_batch, read_decisions
from tasks.review.overview import read_outcomes
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.review import assigning, gold

# A question in a batch.
Key = tuple[str, str]
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class SettledQuestion:
    """A question that was decided, as somebody may know it.

    Attributes:
        content: the question, as it was decided or corrected.
        decision: `accept`, `edit` or `reject`: the gate's, or their own in a batch that is open.
        reject_reason: why it was rejected; null otherwise.
        comments: what was remarked, without names.
        is_own: whether it is the reader's own decision, and nothing final.
        decided_at: when, ISO text in UTC.
    """

    content: QuestionContent
    decision: str
    reject_reason: str | None
    comments: Sequence[str]
    is_own: bool
    decided_at: str


def list_compared_batches(ledger: Ledger) -> list[str]:
    """The batches whose questions are compared, oldest first; what is in one does not change."""
    return [batch.batch_id for batch in list_batches(ledger)]


def list_comparable(
    ledger: Ledger, batch_id: str
) -> Iterator[tuple[Sequence[Key], Sequence[Mapping[str, Any]]]]:
    """Keys and contents of a batch's questions that are to be reviewed, some hundreds at once."""
    with ledger.read() as connection:
        uuids = assigning.list_question_uuids(connection, batch_id)
    for start in range(0, len(uuids), _AT_ONCE):
        with ledger.read() as connection:
            rows = assigning.read_items(connection, batch_id, question_uuids=uuids[start : start + _AT_ONCE])
        if rows:
            yield [(batch_id, row["question_uuid"]) for row in rows], [row["content"] for row in rows]


def find_comparable(ledger: Ledger, batch_id: str, question_uuid: str) -> Key:
    """The question whose likes are those of one under review: it, or what it was made from."""
    with ledger.read() as connection:
        source = gold.read_gold_source(connection, batch_id, question_uuid)
    return (batch_id, question_uuid) if source is None else source


def read_settled(ledger: Ledger, key: Key, under_review: Key, annotator: str) -> SettledQuestion | None:
    """A question as it was decided; null where it was not, or the annotator may not know it."""
    batch_id, question_uuid = key
    with ledger.read() as connection:
        if question_uuid == under_review[1] or _gives_away(connection, key, under_review):
            return None
        batch = read_batch(connection, batch_id)
        if not batch.is_closed:
            return _read_own(connection, key, annotator)
        outcome = next(iter(read_outcomes(connection, batch, [question_uuid])), None)
        if outcome is None or not outcome.is_settled:
            return None
        comments = [
            one.given.comment for one in read_decisions(connection, batch_id, question_uuids=[question_uuid])
        ]
    passed = "edit" if outcome.was_edited else "accept"
    return SettledQuestion(
        outcome.content,
        passed if outcome.state == "accepted" else "reject",
        outcome.reject_reason,
        [comment for comment in comments if comment],
        is_own=False,
        decided_at=batch.closed_at or batch.due_at,
    )


def _gives_away(connection: Connection, key: Key, under_review: Key) -> bool:
    """Whether a question is the one, or of the lineage, that a planted question was made from."""
    source = gold.read_gold_source(connection, *under_review)
    if source is None:
        return False
    lineages = {
        row["lineage_uuid"]
        for batch_id, uuid in (source, key)
        for row in assigning.read_items(connection, batch_id, question_uuids=[uuid])
    }
    return key[1] == source[1] or len(lineages) == 1


def _read_own(connection: Connection, key: Key, annotator: str) -> SettledQuestion | None:
    batch_id, question_uuid = key
    own = next(iter(read_decisions(connection, batch_id, annotator, [question_uuid])), None)
    rows = assigning.read_items(connection, batch_id, annotator, [question_uuid])
    if own is None or not rows:
        return None
    content = QuestionContent.from_row(rows[0]["content"])
    given = own.given
    return SettledQuestion(
        given.edit.apply(content) if given.edit else content,
        given.decision,
        given.reject_reason,
        [given.comment] if given.comment else [],
        is_own=True,
        decided_at=own.decided_at,
    )
