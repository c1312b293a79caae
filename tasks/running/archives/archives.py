"""Rows of closed runs go to the lake, are read as if they had not, and come back.

A run goes in parts, each in one transaction, after what the lake has of it was read back. A part holds what the lake had of it and
what the ledger has: a kill at any moment, or calls that came since, are mended by doing it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.errors import ConflictError, StoreError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.running.claiming import hold_work
from warehouse.ledger.engine.sides import EXAM_TABLES
from warehouse.ledger.engine.tables import access_log, responses
from warehouse.ledger.exam import archives, closed, sittings
from warehouse.ledger.exam.archives import MovedRow

if TYPE_CHECKING:
    from sqlalchemy import Table

    from schemas.ledger.exam import RunArchive
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Connection, Ledger
    from warehouse.ledger.exam.sittings import PlannedRun

TABLE: Final = "archived_rows"
# Questions of a part: its rows are in memory at once, and leave the ledger in one transaction. What has left before is found by the
# number of its part: another number here would need a new name for parts.
QUESTIONS_PER_PART: Final = 1_000


# How long who changes a run waits for an archiving, or for a backup, that has it.
WAIT_S: Final = 60.0


class RunPart(NamedTuple):
    """Sessions of a run whose rows go together."""

    unit: str
    session_ids: list[str]


@contextmanager
def read_whole(
    ledger: Ledger,
    place: Lake | Settings | None,
    *,
    run_id: str | None = None,
    session_ids: Sequence[str] | None = None,
    tables: Sequence[Table] = archives.MOVED,
) -> Iterator[Connection]:
    """A connection for reading that sees rows which have left the ledger.

    They are those of a run or of some sessions, of which every row is then seen; without either those of all. `tables`: those that
    are asked. `place` is where the lake is: none has no archives. Nothing but the ledger is opened where it has all of it.
    """
    with ExitStack() as stack:
        connection = stack.enter_context(ledger.read(may_shadow=True))
        parts = archives.list_archives(connection, run_id=run_id, session_ids=session_ids)
        if parts and place is not None:
            lake = stack.enter_context(_open(place)) if isinstance(place, Settings) else place
            names = None if run_id is None else _list_sessions(connection, run_id)
            wanted = session_ids if session_ids is not None else names
            rows = (_read_part(lake, connection, part, tables) for part in parts)
            archives.shadow(connection, rows, tables, wanted)
        yield connection


@contextmanager
def hold_archives(settings: Settings, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Nothing leaves the ledger or comes back but by the block, while it runs.

    It waits so long for who has them now, then raises StoreError.
    """
    # Who is refused does not know which of these the other one is at.
    what = "making a backup, archiving, erasing or changing an archived run"
    with hold_work(settings, "archive", "all", what=what, wait_s=wait_s):
        yield


def list_parts(connection: Connection, run_id: str) -> list[RunPart]:
    """The parts in which a closed run goes, always the same."""
    parts: list[RunPart] = []
    room = 0
    for session in closed.list_closed_sessions(connection, run_id):
        if room < session.question_count or not parts:
            parts.append(RunPart(f"{run_id}/part-{len(parts) + 1:04d}", []))
            room = QUESTIONS_PER_PART
        parts[-1].session_ids.append(session.session_id)
        room -= session.question_count
    return parts


def list_waiting(connection: Connection, run_id: str) -> list[RunPart]:
    """The parts of a run of which the ledger still has rows."""
    return [
        part
        for part in list_parts(connection, run_id)
        if archives.has_moved_rows(connection, part.session_ids)
    ]


def archive_run(
    ledger: Ledger, lake: Lake, run_id: str, *, step: Callable[[str], None] = lambda _: None
) -> dict[str, int]:
    """Move the rows of a closed run into the lake; returns how many left the ledger, by table.

    `step` is told what has been done. Whether the run may go is for the caller to ask. Raises StoreError where the lake does not
    give back what was landed, ConflictError where rows changed meanwhile: what is not done stays in the ledger.
    """
    with ledger.read() as connection:
        waiting = list_waiting(connection, run_id)
        run = sittings.read_run(connection, run_id)
        names = [name for part in waiting for name in part.session_ids]
        units = archives.list_call_units(connection, run_id, names)
    if run is None:
        return {}
    counts: dict[str, int] = {}
    for part in waiting:
        own = [unit for name in part.session_ids for unit in units[name]]
        for row in _archive_part(ledger, lake, run, part, own, step):
            counts[row.table_name] = counts.get(row.table_name, 0) + 1
    return counts


def bring_back(ledger: Ledger, lake: Lake, run_id: str) -> int:
    """Put the archived rows of a run into the ledger again; returns how many.

    It is for work that changes them or adds to them. What the lake has of them stays until the run is archived again. Raises
    StoreError where somebody else has the archives for longer than it waits.
    """
    with ledger.read() as connection:
        if not archives.list_archives(connection, run_id=run_id):
            return 0
    with hold_archives(lake.settings):
        return bring_back_held(ledger, lake, run_id)


def bring_back_held(ledger: Ledger, lake: Lake, run_id: str) -> int:
    """The same for who holds the archives (`hold_archives`)."""
    with ledger.read() as connection:
        parts = archives.list_archives(connection, run_id=run_id)
    count = 0
    for part in parts:
        with ledger.read() as connection:
            rows = _read_part(lake, connection, part)
        # The exam's rows first; the calls, which cost, in the one file and the one transaction that their sums go with.
        with ledger.write() as connection:
            archives.put_back(connection, [row for row in rows if row.table_name in EXAM_TABLES])
        with ledger.write() as connection:
            archives.put_back(connection, [row for row in rows if row.table_name not in EXAM_TABLES])
            archives.forget_archive(connection, part.unit)
        count += len(rows)
    return count


def find_lost_archives(ledger: Ledger, lake: Lake) -> list[str]:
    """The units that the lake does not have as they left the ledger."""
    with ledger.read() as connection:
        parts = archives.list_archives(connection)
    landed = _read_hashes(lake, [part.unit for part in parts])
    return [part.unit for part in parts if landed.get(part.unit) != part.rows_hash]


def read_entry_before(lake: Lake, number: int) -> str | None:
    """The hash of the entry before that number; null where that is not archived."""
    for row in lake.read("archived_entries", {"numbers": [number - 1]}).iter_rows():
        found = MovedRow(*row)
        values = dict(zip(json.loads(found.column_names), json.loads(found.row_json), strict=True))
        return str(values["entry_hash"])
    return None


def count_dated_before(ledger: Ledger, place: Lake | Settings, moment: str) -> dict[str, int]:
    """Entries of the audit log, and answers, from before a moment (UTC, ISO), wherever they are."""
    from warehouse.ledger.engine.copies import backups

    dated = {
        access_log.name: ("entries of the audit log", "accessed_at"),
        responses.name: ("answers", "answered_at"),
    }
    with ExitStack() as stack:
        connection = stack.enter_context(ledger.read())
        counts = backups.count_dated_before(connection, moment)
        parts = [part for part in archives.list_archives(connection) if part.sums["last_at"] >= moment]
        if not parts:
            return counts
        lake = stack.enter_context(_open(place)) if isinstance(place, Settings) else place
        for part in parts:
            for row in _read_part(lake, connection, part, (access_log, responses)):
                name, column = dated[row.table_name]
                counts[name] += json.loads(row.row_json)[json.loads(row.column_names).index(column)] < moment
    return counts


def _archive_part(
    ledger: Ledger,
    lake: Lake,
    run: PlannedRun,
    part: RunPart,
    units: Sequence[str],
    step: Callable[[str], None],
) -> list[MovedRow]:
    run_id, month = run.run_id, run.month
    with ledger.read() as connection:
        here = archives.read_moved_rows(connection, part.session_ids, units)
    before = _read_units(lake, [part.unit], [month])
    # What the ledger has is the later of the two.
    kept = {(row.table_name, row.row_key): row for row in (*before, *here)}
    rows = [kept[key] for key in sorted(kept)]
    names = ("table_name", "row_key", "session_id", "number", "column_names", "row_json")
    frame = get_table(TABLE).frame(
        [{"run_id": run_id, "month": month, **dict(zip(names, row, strict=True))} for row in rows]
    )
    landing = lake.land(TABLE, part.unit, frame, stage="operate")
    step(f"landed {part.unit}")
    rows_hash = _read_hashes(lake, [part.unit]).get(part.unit)
    if landing.rejected_count or rows_hash is None or _read_units(lake, [part.unit], [month]) != rows:
        raise StoreError(
            f"The lake does not give back what was landed as {TABLE}/{part.unit}: nothing of it left the ledger. See `proctor doctor`."
        )
    with ledger.write() as connection:
        if archives.read_moved_rows(connection, part.session_ids, units) != here:
            raise ConflictError(
                f"Rows of run {run_id} changed while they were copied: they stay in the ledger. Run the command again."
            )
        archives.delete_moved_rows(connection, part.session_ids, units)
        archives.write_archive(connection, part.unit, run_id, part.session_ids, rows, rows_hash)
    step(f"left {part.unit}")
    return here


def _read_part(
    lake: Lake, connection: Connection, part: RunArchive, tables: Sequence[Table] = archives.MOVED
) -> list[MovedRow]:
    run = sittings.read_run(connection, part.run_id)
    rows = _read_units(lake, [part.unit], [] if run is None else [run.month], tables)
    if len(rows) != sum(part.row_counts.get(table.name, 0) for table in tables):
        raise StoreError(
            f"Run {part.run_id} has left the ledger, and the lake has not what it left as {TABLE}/{part.unit}. Restore the lake from a "
            "backup that has it (`proctor restore`)."
        )
    return rows


def _read_units(
    lake: Lake, units: Sequence[str], months: Sequence[str], tables: Sequence[Table] = archives.MOVED
) -> list[MovedRow]:
    asked = {"units": list(units), "months": list(months), "table_names": [table.name for table in tables]}
    found = lake.read("archived_rows_of_units", asked)
    return [MovedRow(*row) for row in found.iter_rows()]


def _read_hashes(lake: Lake, units: Sequence[str]) -> dict[str, str]:
    rows = lake.read("landed_hashes", {"units": [f"{TABLE}/{unit}" for unit in units]})
    return {str(name).removeprefix(f"{TABLE}/"): str(rows_hash) for name, rows_hash in rows.iter_rows()}


def _list_sessions(connection: Connection, run_id: str) -> list[str]:
    return [row.session_id for row in sittings.list_sessions(connection, run_id=run_id)]


def _open(settings: Settings) -> Lake:
    from warehouse.lake import open_lake

    return open_lake(settings, read_only=True)
