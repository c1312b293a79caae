"""Rows of closed runs that left the ledger, read as if they had not.

Of a part of a run go the calls of its sessions, their allocations and responses, and the entries of the audit log about single
questions. What stays: the sessions, the log's entries about whole sessions and units, its head, and the sums that are asked for.
Readers name no archive. Within `shadow` their statements find tables of the connection's own, under the ledger's names, which
have the rows of the ledger and those of the lake.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Connection,
    Index,
    MetaData,
    Table,
    Text,
    cast,
    delete,
    func,
    select,
)

from schemas.ledger.exam import RunArchive
from schemas.vocabulary import UNANSWERED
from warehouse.ledger.engine.inserting import insert_into, replace_rows
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.many import list_values
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.rows import read_rows
from warehouse.ledger.engine.sides import EXAM_SCHEMA, EXAM_TABLES
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import (
    access_log,
    allocations,
    llm_calls,
    responses,
    run_archives,
    sessions,
)

ARCHIVE: Final = "archive_rows"
BRING_BACK: Final = "bring_back_rows"
MOVED: Final = (llm_calls, allocations, responses, access_log)
_BY_NAME: Final = {table.name: table for table in MOVED}
# Asked by key across sessions: of these the ledger's rows are seen where they lie.
_VIEWED: Final = (llm_calls, access_log)
# Pages of the audit log as they land.
_PAGE: Final = 10_000


class MovedRow(NamedTuple):
    """A row of one of the tables, as it is kept.

    Attributes:
        row_key: what names it there, as JSON.
        number: the place of an entry in the audit log; null for other rows.
        column_names: names of its columns, as JSON.
        row_json: its values in their order, as JSON; of columns of JSON the text.
    """

    table_name: str
    row_key: str
    session_id: str
    number: int | None
    column_names: str
    row_json: str


def list_archives(
    connection: Connection, *, run_id: str | None = None, session_ids: Sequence[str] | None = None
) -> list[RunArchive]:
    """The parts of all runs, of one, or of those that these sessions are of; by unit."""
    query = select(run_archives).order_by(run_archives.c.unit)
    if run_id is not None:
        query = query.where(run_archives.c.run_id == run_id)
    if session_ids is not None:
        own = select(sessions.c.run_id).where(sessions.c.session_id.in_(list_values(connection, session_ids)))
        query = query.where(run_archives.c.run_id.in_(own))
    found = read_rows(connection, RunArchive, query)
    if session_ids is None:
        return found
    wanted = set(session_ids)
    return [part for part in found if not wanted.isdisjoint(part.session_ids)]


def read_moved_rows(
    connection: Connection, session_ids: Sequence[str], units: Sequence[str]
) -> list[MovedRow]:
    """The ledger's rows of these sessions and of these units of their calls, by table and key."""
    found: list[MovedRow] = []
    of_sessions = set(session_ids)
    for table, wheres in _select_moved(session_ids, units):
        names = [column.name for column in table.c]
        columns = json.dumps(names)
        keys = [names.index(column.name) for column in table.primary_key]
        own = names.index("unit" if table is llm_calls else "session_id")
        place = names.index("number") if table is access_log else None
        query = select(
            *(cast(one, Text).label(one.name) if isinstance(one.type, JSON) else one for one in table.c)
        )
        for where in wheres:
            for row in connection.execute(query.where(where)):
                session = str(row[own])
                found.append(
                    MovedRow(
                        table.name,
                        json.dumps([row[key] for key in keys]),
                        (find_session(session, of_sessions) or session) if table is llm_calls else session,
                        None if place is None else row[place],
                        columns,
                        json.dumps(list(row), ensure_ascii=False, separators=(",", ":")),
                    )
                )
    return sorted(found, key=attrgetter("table_name", "row_key"))


def delete_moved_rows(connection: Connection, session_ids: Sequence[str], units: Sequence[str]) -> None:
    """Take these rows out of the ledger."""
    for table, wheres in _select_moved(session_ids, units):
        for where in wheres:
            connection.execute(delete(table).where(where))


def list_call_units(connection: Connection, run_id: str, session_ids: Sequence[str]) -> dict[str, list[str]]:
    """Session → the units of the calls about it; looks at every call of the run."""
    found: dict[str, list[str]] = {name: [name] for name in session_ids}
    query = select(llm_calls.c.unit).where(llm_calls.c.run_id == run_id, llm_calls.c.unit.is_not(None))
    for unit in connection.execute(query.distinct()).scalars():
        name = find_session(unit, found.keys())
        if name is not None and unit != name:
            found[name].append(unit)
    return found


def write_archive(
    connection: Connection,
    unit: str,
    run_id: str,
    session_ids: Sequence[str],
    rows: Sequence[MovedRow],
    rows_hash: str,
) -> None:
    """Note that a part's rows are in the lake and what is asked of them; the log has their hash."""
    part = RunArchive(
        unit=unit,
        run_id=run_id,
        session_ids=list(session_ids),
        rows_hash=rows_hash,
        row_counts=dict(Counter(row.table_name for row in rows)),
        sums=_sum(rows),
        archived_at=now_text(),
    )
    replace_rows(connection, run_archives, [part.as_values()])
    add_entry(connection, Entry(ARCHIVE, target=unit, digest=rows_hash, is_by_caller=True))


def put_back(connection: Connection, rows: Iterable[MovedRow]) -> None:
    """Write rows into the tables of their names, those that are there already left as they are."""
    for (name, columns), own in groupby(rows, key=attrgetter("table_name", "column_names")):
        _fill(connection, _BY_NAME[name], name, json.loads(columns), own)


def forget_archive(connection: Connection, unit: str) -> None:
    """Note that the rows of a part are in the ledger again."""
    connection.execute(delete(run_archives).where(run_archives.c.unit == unit))
    add_entry(connection, Entry(BRING_BACK, target=unit, is_by_caller=True))


def shadow(
    connection: Connection,
    parts: Iterable[Iterable[MovedRow]],
    tables: Sequence[Table] = MOVED,
    session_ids: Sequence[str] | None = None,
) -> None:
    """Let the transaction see the lake's rows of `tables`, too, some of `session_ids` alone."""
    viewed = () if session_ids is None else _VIEWED
    names = {table.name: f"archived_{table.name}" if table in viewed else table.name for table in tables}
    places = {table.name: _find_place(connection, table) for table in tables}
    for table in tables:
        _make_shadow(connection, table, names[table.name])
    for part in parts:
        for (name, columns), own in groupby(part, key=attrgetter("table_name", "column_names")):
            _fill(connection, _BY_NAME[name], names[name], json.loads(columns), own)
    for table in tables:
        columns, place = ", ".join(column.name for column in table.c), places[table.name]
        if table in viewed:
            key = table.primary_key.columns.keys()[0]
            connection.exec_driver_sql(
                f"CREATE TEMPORARY VIEW {table.name} AS SELECT {columns} FROM {place} UNION ALL SELECT {columns} FROM "
                f"{names[table.name]} AS archived WHERE NOT EXISTS (SELECT 1 FROM {place} AS live WHERE live.{key} = archived.{key})"
            )
            continue
        live = table.to_metadata(MetaData(), schema=place.split(".")[0])
        query = select(*live.c)
        if session_ids is not None:
            query = query.where(live.c.session_id.in_(list_values(connection, session_ids)))
        else:
            query = query.where(live.c[table.primary_key.columns.keys()[0]].is_not(None))
        connection.execute(
            insert_into(connection.dialect.name, _plain(table, table.name))
            .from_select([column.name for column in table.c], query)
            .on_conflict_do_nothing()
        )


def count_archived_pages(connection: Connection) -> dict[int, int]:
    """Page of the audit log to how many of its entries are in the lake alone."""
    counts: Counter[int] = Counter()
    for sums in connection.execute(select(run_archives.c.sums)).scalars():
        counts.update({int(page): int(count) for page, count in sums["pages"].items()})
    return dict(counts)


def sum_archived(
    connection: Connection, *, run_id: str | None = None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(run, sums) of every part, or of those of a run."""
    query = select(run_archives.c.run_id, run_archives.c.sums)
    if run_id is not None:
        query = query.where(run_archives.c.run_id == run_id)
    for name, sums in connection.execute(query):
        yield str(name), sums


def sum_archived_usd(
    connection: Connection, *, run_id: str | None = None, endpoint: str | None = None
) -> float:
    """Cost of archived calls of a run or at an endpoint, as `calls.read_spent_usd` counts."""
    return sum(
        call["cost_usd"] or 0.0
        for _, sums in sum_archived(connection, run_id=run_id)
        for call in sums["calls"]
        if endpoint in (None, call["endpoint"])
    )


def has_moved_rows(connection: Connection, session_ids: Sequence[str]) -> bool:
    """Whether the ledger has anything of these sessions that could go."""
    return any(
        connection.execute(
            select(allocations.c.seq).where(allocations.c.session_id.in_(some)).limit(1)
        ).first()
        is not None
        or connection.execute(select(llm_calls.c.call_key).where(llm_calls.c.unit.in_(some)).limit(1)).first()
        is not None
        for some in iter_chunks(session_ids)
    )


def list_unfinished_holders(connection: Connection, run_id: str) -> list[str]:
    """Who has calls of a run under way, or had them when it died."""
    query = select(llm_calls.c.holder).where(
        llm_calls.c.run_id == run_id, llm_calls.c.status == "started", llm_calls.c.holder.is_not(None)
    )
    return [str(holder) for holder in connection.execute(query.distinct()).scalars()]


def _select_moved(
    session_ids: Sequence[str], units: Sequence[str]
) -> Iterator[tuple[Table, Sequence[ColumnElement[bool]]]]:
    """Each table with the conditions that its rows of these sessions meet, in short lists."""
    for table in MOVED:
        column = llm_calls.c.unit if table is llm_calls else table.c.session_id
        wheres: list[ColumnElement[bool]] = [
            column.in_(some) for some in iter_chunks(units if table is llm_calls else session_ids)
        ]
        if table is access_log:
            is_step = access_log.c.seq.is_not(None) & access_log.c.number.is_not(None)
            wheres = [where & is_step for where in wheres]
        yield table, wheres


def find_session(unit: str, names: Collection[str]) -> str | None:
    """The session whose name a unit of calls begins with."""
    parts = unit.split("/")
    starts = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((start for start in starts if start in names), None)


def _sum(rows: Sequence[MovedRow]) -> dict[str, Any]:
    """What is asked of these rows: answers, calls with their cost, entries by page."""
    answered, last_at = 0, ""
    pages: Counter[int] = Counter()
    calls: dict[tuple[Any, ...], list[float | None]] = {}
    counts: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        values = dict(zip(json.loads(row.column_names), json.loads(row.row_json), strict=True))
        if row.table_name == responses.name:
            answered += values["answer_status"] != UNANSWERED
            last_at = max(last_at, values["answered_at"])
        elif row.table_name == access_log.name:
            pages[int(values["access_id"]) // _PAGE] += 1
            last_at = max(last_at, values["accessed_at"])
        elif row.table_name == llm_calls.name:
            key = tuple(values[name] for name in _SUMMED)
            counts[key] += 1
            cost = values["cost_usd"]
            calls.setdefault(key, []).append(
                (cost or 0.0) + values["extra_usd"] if values["extra_usd"] > 0 else cost
            )
    return {
        "answered": answered,
        "last_at": last_at,
        "pages": {str(page): count for page, count in sorted(pages.items())},
        "calls": [
            dict(zip(_SUMMED, key, strict=True))
            | {
                "call_count": counts[key],
                "cost_usd": None
                if all(cost is None for cost in costs)
                else sum(cost or 0.0 for cost in costs),
            }
            for key, costs in sorted(calls.items(), key=lambda item: json.dumps(item[0]))
        ],
    }


_SUMMED: Final = ("purpose", "model", "endpoint", "status", "error")


def _fill(
    connection: Connection, table: Table, name: str, columns: Sequence[str], rows: Iterable[MovedRow]
) -> None:
    statement = insert_into(connection.dialect.name, _plain(table, name)).on_conflict_do_nothing()
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(columns))
    order = getattr(compiled, "positiontup", None)
    values = [json.loads(row.row_json) for row in rows]
    if order is None:
        connection.exec_driver_sql(str(compiled), [dict(zip(columns, row, strict=True)) for row in values])
        return
    places = [columns.index(column) for column in order]
    connection.exec_driver_sql(str(compiled), [tuple([row[place] for place in places]) for row in values])


def _plain(table: Table, name: str, **options: Any) -> Table:
    """A table of these columns that refers to no other."""
    columns = (
        Column(one.name, one.type, primary_key=one.primary_key, nullable=one.nullable, autoincrement=False)
        for one in table.c
    )
    return Table(name, MetaData(), *columns, **options)


def _make_shadow(connection: Connection, table: Table, name: str) -> None:
    made = _plain(table, name, prefixes=["TEMPORARY"], postgresql_on_commit="DROP")
    for index in table.indexes:
        if not index.info:
            Index(index.name, *(made.c[column.name] for column in index.columns), unique=index.unique)
    made.create(connection, checkfirst=False)


def _find_place(connection: Connection, table: Table) -> str:
    """Where the ledger's table of that name lies, as a statement names it."""
    if connection.dialect.name != "sqlite":
        return f"{connection.execute(select(func.current_schema())).scalar_one()}.{table.name}"
    attached = {str(row[1]) for row in connection.exec_driver_sql("PRAGMA database_list").all()}
    return f"{EXAM_SCHEMA if table.name in EXAM_TABLES and EXAM_SCHEMA in attached else 'main'}.{table.name}"
