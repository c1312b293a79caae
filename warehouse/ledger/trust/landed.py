"""What a session was landed from, said by the audit log in one hash.

Whoever lands a session that is as both logs have it writes an entry over what the ledger has of it, its own entries among that, the root
that the public log says of its answers, and the hashes of the rows that came of it. Where all of it is what it was, the session is as it
was then, and whoever looks need not take it apart to see that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, select
from sqlalchemy.exc import DBAPIError

from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.digests import compute_digest, digest_text
from warehouse.ledger.engine.statements import HotStatement, iter_chunks
from warehouse.ledger.engine.tables import (
    access_log,
    allocations,
    erased_answers,
    organisations,
    responses,
    runs,
    sessions,
    sets,
)

LAND: Final = "land_session"
# Of a session land these, under its own name.
_TABLES: Final = ("sessions", "allocations", "responses")


class _Rows:
    """The rows of a table under one name as one hash."""

    def __init__(self, name: ColumnElement[Any], order: str, columns: Sequence[ColumnElement[Any]]) -> None:
        where = name == bindparam("name")
        self._rows = HotStatement(select(*columns).where(where).order_by(order))
        # In the order of the index: to ask for it costs a third more. In another one the hash would only be another.
        self._text = HotStatement(select(func.json_group_array(func.json_array(*columns))).where(where))

    def digest(self, connection: Connection, name: str) -> str:
        """As SQLite writes the rows, where it does: that costs a third of reading them."""
        if connection.dialect.name == "sqlite":
            # It refuses to write bytes, which only a changed row has.
            with suppress(DBAPIError):
                found = self._text.fetch_first(connection, {"name": name})
                return digest_text("" if found is None else str(found[0]))
        return compute_digest(list(self._rows.run(connection, {"name": name})))


_OF_ENTRY: Final = ("access_id", "number", "action", "http_status", "seq", "target", "answer_hash", "digest")
_ROWS: Final = (
    _Rows(allocations.c.session_id, "seq", tuple(allocations.c)[1:]),
    _Rows(responses.c.session_id, "seq", tuple(responses.c)[1:]),
    _Rows(erased_answers.c.session_id, "seq", tuple(erased_answers.c)),
    _Rows(access_log.c.session_id, "access_id", [access_log.c[name] for name in _OF_ENTRY]),
)
_ASKED: Final = _Rows(
    sets.c.set_id, "lineage_uuid", (sets.c.lineage_uuid, sets.c.question_uuid, sets.c.discipline)
)
_SESSION: Final = HotStatement(
    select(
        sessions,
        runs.c.month,
        runs.c.bank_version,
        func.coalesce(organisations.c.name, sessions.c.organisation),
    )
    .join(runs, runs.c.run_id == sessions.c.run_id)
    .outerjoin(organisations, organisations.c.organisation == sessions.c.organisation)
    .where(sessions.c.session_id == bindparam("name"))
)
_SET: Final = tuple(sessions.c.keys()).index("set_id")


class SourceReader:
    """Hashes of all that rows of sessions follow from in the lake, and of their entries.

    Args:
        connection: to the ledger; what a set asks is read once.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._asked: dict[str, str] = {}

    def digest(self, session_id: str, answers_root: str) -> str | None:
        """The hash of a session, with the root of the public log; null for none of that id."""
        row = _SESSION.fetch_first(self._connection, {"name": session_id})
        if row is None:
            return None
        set_id = str(row[_SET])
        if set_id not in self._asked:
            self._asked[set_id] = _ASKED.digest(self._connection, set_id)
        own = [rows.digest(self._connection, session_id) for rows in _ROWS]
        return compute_digest([row, self._asked[set_id], own, answers_root])


def note_landed(connection: Connection, sources: Mapping[str, str], hashes: Mapping[str, str]) -> None:
    """Say what sessions were landed from, and `table/unit` → hash of what came of it."""
    for name, source in sorted(sources.items()):
        digest = _join(name, source, hashes)
        if digest is not None:
            add_entry(connection, Entry(LAND, target=name, digest=digest, is_by_caller=True))


def find_landed(connection: Connection, sources: Mapping[str, str], hashes: Mapping[str, str]) -> set[str]:
    """The sessions whose last landing was from these sources, and came to these hashes."""
    query = (
        select(access_log.c.target, access_log.c.digest)
        .where(access_log.c.action == LAND, access_log.c.seq.is_(None), access_log.c.number.is_not(None))
        .order_by(access_log.c.access_id)
    )
    said: dict[str, str | None] = {}
    for names in iter_chunks(list(sources)):
        said |= dict(connection.execute(query.where(access_log.c.target.in_(names))).tuples().all())
    return {name for name, digest in said.items() if digest == _join(name, sources[name], hashes)}


def list_runs_of(connection: Connection, session_ids: Iterable[str]) -> list[str]:
    """The runs of these sessions, by id."""
    query = select(sessions.c.run_id).distinct()
    found = (
        connection.execute(query.where(sessions.c.session_id.in_(names))).scalars()
        for names in iter_chunks(list(session_ids))
    )
    return sorted({str(run_id) for part in found for run_id in part})


def list_units(session_ids: Iterable[str]) -> list[str]:
    """What of these sessions lands, as `table/unit`."""
    return [f"{table}/{name}" for name in session_ids for table in _TABLES]


def _join(session_id: str, source: str, hashes: Mapping[str, str]) -> str | None:
    own = [hashes.get(unit) for unit in list_units([session_id])]
    return None if None in own else compute_digest([source, own])
