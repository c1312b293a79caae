"""Whether the clocks agree: this host's, the database server's, and what was written down before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from warehouse.ledger.tables import access_log, flow_runs

if TYPE_CHECKING:
    from warehouse.ledger.engine import Ledger


def read_server_moment(ledger: Ledger) -> datetime | None:
    """What the database server takes for now; null for an embedded ledger, whose clock is ours."""
    if ledger.is_sqlite:
        return None
    with ledger.read() as connection:
        moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(UTC)


def read_last_moment(ledger: Ledger) -> datetime | None:
    """The latest moment that was written down; null in a new ledger. A clock that was put back is behind it."""
    with ledger.read() as connection:
        last_id = connection.execute(select(func.max(access_log.c.access_id))).scalar_one()
        texts = [
            connection.execute(
                select(access_log.c.accessed_at).where(access_log.c.access_id == last_id)
            ).scalar(),
            connection.execute(select(func.max(flow_runs.c.started_at))).scalar_one(),
        ]
    return max((datetime.fromisoformat(text) for text in texts if text is not None), default=None)
