"""Independent reviews in the ledger, of open and closed batches.

Agreement is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from tasks.review.agreement import Vote
from tasks.review.batch import list_batches, read_assignments, read_batch, read_decisions
from warehouse.ledger.engine.ledger import Ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection


def read_votes(ledger: Ledger, batch_id: str | None = None) -> list[Vote]:
    """Every first review, of one batch or of all.

    Adjudications are not independent reviews and are left out.

    Raises:
        UsageError: there is no such batch.
    """
    names = [batch_id] if batch_id else [batch.batch_id for batch in list_batches(ledger)]
    with ledger.read() as connection:
        return [vote for name in names for vote in _read_batch_votes(connection, name)]


def _read_batch_votes(connection: Connection, batch_id: str) -> Iterator[Vote]:
    read_batch(connection, batch_id)
    given = {
        (one.question_uuid, one.annotator): one
        for one in read_assignments(connection, batch_id, role="reviewer", with_gold=False)
    }
    for decision in read_decisions(connection, batch_id):
        assignment = given.get((decision.question_uuid, decision.annotator))
        if assignment is not None:
            yield Vote(
                batch_id=batch_id,
                question_uuid=decision.question_uuid,
                discipline=assignment.discipline,
                annotator=decision.annotator,
                decision=decision.given.decision,
                assigned_at=datetime.fromisoformat(assignment.assigned_at),
                decided_at=datetime.fromisoformat(decision.decided_at),
            )
