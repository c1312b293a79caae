"""Sealed draws: the secrets of a run's draw, its commitments, and the proofs of sets.

They are kept here until they are disclosed. All of it is on the ledger's side, which is committed before the exam's one: every
row is written in the place of what a killed process may have left, and none counts before the public log names its run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection, select

from schemas.ledger.exam import RunSeal, Session, SetProof
from warehouse.ledger.engine.inserting import replace_rows
from warehouse.ledger.engine.logs.public_log import read_public_entries
from warehouse.ledger.engine.logs.stages import close_units
from warehouse.ledger.engine.rows import iter_rows, read_row, read_rows
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import allocations, run_seals, runs, sessions, set_proofs, sets


def write_run_seal(connection: Connection, seal: RunSeal) -> None:
    """Keep what a run was committed to with, in the place of what was kept for it before."""
    replace_rows(connection, run_seals, [seal.as_values()])
    close_units(connection, "draws", [(seal.run_id,)])


def read_run_seal(connection: Connection, run_id: str) -> RunSeal | None:
    """What a run was committed to with; None for one from before sealed draws."""
    return read_row(connection, RunSeal, select(run_seals).where(run_seals.c.run_id == run_id))


def write_set_proofs(connection: Connection, proofs: Iterable[SetProof]) -> None:
    """Keep the proofs of sets, in the place of those that a killed planner left."""
    if rows := [proof.as_values() for proof in proofs]:
        replace_rows(connection, set_proofs, rows)
        close_units(connection, "set_proofs", [(str(row["set_id"]),) for row in rows])


def list_proved_sets(connection: Connection, set_ids: Iterable[str]) -> set[str]:
    """Which of these sets have proofs."""
    return {
        str(found)
        for names in iter_chunks(sorted(set_ids))
        for found in connection.execute(
            select(set_proofs.c.set_id).where(set_proofs.c.set_id.in_(names))
        ).scalars()
    }


def iter_set_proofs(connection: Connection, set_ids: Sequence[str]) -> Iterator[SetProof]:
    """The proofs of these sets, one set at a time."""
    for set_id in set_ids:
        query = select(set_proofs).where(set_proofs.c.set_id == set_id)
        yield from iter_rows(connection, SetProof, query)


def has_sealed(connection: Connection) -> bool:
    """Whether any run or set was ever sealed."""
    return any(
        connection.execute(select(table.c[key]).limit(1)).first() is not None
        for table, key in ((run_seals, "run_id"), (set_proofs, "set_id"))
    )


def read_any_proof(connection: Connection) -> SetProof | None:
    """The proof of one set that is there; null where no set has one."""
    known = set_proofs.join(sets, sets.c.set_id == set_proofs.c.set_id)
    return read_row(connection, SetProof, select(set_proofs).select_from(known).limit(1))


def list_lineages(connection: Connection, set_id: str) -> list[str]:
    """The lineages of a set."""
    return [
        str(name)
        for name in connection.execute(select(sets.c.lineage_uuid).where(sets.c.set_id == set_id)).scalars()
    ]


def read_revisions(connection: Connection, set_id: str) -> dict[str, int]:
    """Question → its revision as it came into the set; none for sets no sealed run has sat."""
    found = connection.execute(select(set_proofs.c.revisions).where(set_proofs.c.set_id == set_id)).scalar()
    return {} if found is None else dict(found)


def read_pending_source(connection: Connection, run_id: str) -> str | None:
    """The public value that a run waits for: committed to and not drawn; else None."""
    entries = read_public_entries(connection, run_id, ("commit", "draw"))
    if not entries or any(entry.kind == "draw" for entry in entries):
        return None
    beacon = entries[-1].body["beacon"]
    return None if beacon is None else str(beacon["source"])


def list_undisclosed(connection: Connection) -> list[str]:
    """The closed runs that were drawn under seal and are not disclosed yet."""
    query = (
        select(runs.c.run_id)
        .join(run_seals, run_seals.c.run_id == runs.c.run_id)
        .where(runs.c.status == "closed")
        .order_by(runs.c.closed_at, runs.c.run_id)
    )
    found: list[str] = []
    for run_id in connection.execute(query).scalars():
        kinds = {entry.kind for entry in read_public_entries(connection, run_id, ("draw", "disclose"))}
        if kinds == {"draw"}:
            found.append(str(run_id))
    return found


def iter_orders(connection: Connection, run_id: str) -> Iterator[tuple[Session, list[str]]]:
    """Every session of a run, by session, with the lineages of its questions in their order."""
    query = select(sessions).where(sessions.c.run_id == run_id).order_by(sessions.c.session_id)
    for row in read_rows(connection, Session, query):
        order = select(allocations.c.lineage_uuid).where(allocations.c.session_id == row.session_id)
        yield row, list(connection.execute(order.order_by(allocations.c.seq)).scalars())
