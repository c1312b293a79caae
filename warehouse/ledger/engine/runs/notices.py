"""Runs that ended badly, and who was told of each, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, delete, select, update

from schemas.ledger.engine import RunNotice
from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.leases.clock import read_lease_time
from warehouse.ledger.engine.moments import now_text, write_moment
from warehouse.ledger.engine.rows import read_rows
from warehouse.ledger.engine.tables import run_notices

# Nobody hears of a failure that is older: it would be news of another week.
_TOLD_WITHIN_S: Final = 86_400.0


def add_notice(connection: Connection, flow_run_id: str, name: str, ending: str) -> bool:
    """Note that a run ended badly; false where that was known."""
    now = write_moment(read_lease_time(connection))
    values = {
        "flow_run_id": flow_run_id, "name": name, "ending": ending, "found_at": now, "next_at": now, "tries": 0, "told": [],
    }  # fmt: skip
    statement = insert_into(connection.dialect.name, run_notices).values(values).on_conflict_do_nothing()
    return connection.execute(statement.returning(run_notices.c.flow_run_id)).first() is not None


def forget_notice(connection: Connection, flow_run_id: str) -> None:
    """The run begins again: how it ends then is told anew."""
    connection.execute(delete(run_notices).where(run_notices.c.flow_run_id == flow_run_id))


def take_notices(connection: Connection, *, lease_s: float, most: int | None = None) -> list[RunNotice]:
    """The notices that are due, or the first `most`, the caller's to report within `lease_s`."""
    now = read_lease_time(connection)
    query = (
        select(run_notices)
        .where(
            run_notices.c.told_at.is_(None),
            run_notices.c.next_at <= write_moment(now),
            run_notices.c.found_at > write_moment(now - _TOLD_WITHIN_S),
        )
        .order_by(run_notices.c.found_at)
        .limit(most)
    )
    due = read_rows(connection, RunNotice, query)
    until = write_moment(now + lease_s)
    return [
        notice
        for notice in due
        if connection.execute(
            update(run_notices)
            .where(
                run_notices.c.flow_run_id == notice.flow_run_id,
                run_notices.c.next_at == notice.next_at,
                run_notices.c.told_at.is_(None),
            )
            .values(next_at=until, tries=notice.tries + 1)
        ).rowcount
    ]


def note_told(
    connection: Connection, flow_run_id: str, told: Sequence[str], *, again_in_s: float | None = None
) -> None:
    """Note who has been told; `again_in_s`: the others are told then, null: that was everybody."""
    values: dict[str, object] = {"told": list(told)}
    if again_in_s is None:
        values["told_at"] = now_text()
    else:
        values["next_at"] = write_moment(read_lease_time(connection) + again_in_s)
    connection.execute(update(run_notices).where(run_notices.c.flow_run_id == flow_run_id).values(values))


def list_noticed(connection: Connection, flow_run_ids: Sequence[str]) -> set[str]:
    """Those of the runs whose bad end is known."""
    query = select(run_notices.c.flow_run_id).where(run_notices.c.flow_run_id.in_(flow_run_ids))
    return set(connection.execute(query).scalars())
