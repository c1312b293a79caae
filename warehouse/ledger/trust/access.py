"""Reading the audit log in pages, by session or by target, and its signed heads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    RowMapping,
    Select,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError

from schemas.ledger.trust import LogKey, SignedHead
from warehouse.ledger.engine.inserting import insert_into
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import HASHED, compute_entry_hashes
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.rows import iter_rows, read_rows
from warehouse.ledger.engine.statements import HotStatement
from warehouse.ledger.engine.tables import access_chain, access_log, log_keys, sessions, signed_heads
from warehouse.ledger.exam.archives import list_archives

_PAGE = 20_000
_NO_END: Final = 2**63 - 1
# What a sitting consists of; of these a story tells the number.
STEPS = ("next", "submit", "submit_and_next", "renew", "pending", "status", "plan_session", "set_deadline")


class Head(NamedTuple):
    """The last entry of the log: its number (0: there is none) and its hash."""

    number: int
    entry_hash: str


def list_unchained(connection: Connection) -> list[int]:
    """The rows of the log that have no place in its chain; no version writes such a one."""
    query = select(access_log.c.access_id).where(access_log.c.number.is_(None))
    return [int(number) for number in connection.execute(query.order_by(access_log.c.access_id)).scalars()]


# Number, hash of the entry before, hash that the entry says, action, position, and the hash that its fields have.
ChainedEntry = tuple[int, str | None, str, str, int | None, str]
_PLACE: Final = ("number", "previous_hash", "entry_hash", "action", "seq")


def _select_page(*columns: ColumnElement[Any]) -> HotStatement:
    number = access_log.c.number
    return HotStatement(
        select(*(access_log.c[name] for name in _PLACE), *columns)
        .where(number > bindparam("after", type_=BigInteger), number <= bindparam("until", type_=BigInteger))
        .order_by(number)
        .suffix_with(f"LIMIT {_PAGE}")
    )


_CHAINED: Final = (
    func.coalesce(access_log.c.previous_hash, literal_column("''")),
    access_log.c.number,
    *(access_log.c[name] for name in HASHED),
)
_OWN: Final = len(_PLACE)
_VALUES: Final = _select_page(*_CHAINED)
# The text that was hashed, as SQLite writes it, for half of the price; but for characters beyond ASCII, which it does not escape.
_TEXTS: Final = _select_page(func.json_array(*_CHAINED))


def iter_chain_pages(
    connection: Connection, after: int = 0, until: int | None = None
) -> Iterator[list[ChainedEntry]]:
    """The chain by pages: the entries after one number and until another."""
    while page := _read_page(connection, {"after": after, "until": _NO_END if until is None else until}):
        yield page
        after = page[-1][0]


def _read_page(connection: Connection, span: dict[str, int]) -> list[ChainedEntry]:
    if connection.dialect.name == "sqlite":
        # A text with the hash of the entry is the text that was written, and says the same of every field as the row does.
        # SQLite refuses to write bytes, which only a changed row has.
        with suppress(DBAPIError, sqlite3.OperationalError):
            page = [(*row[:_OWN], digest_text(row[_OWN])) for row in _TEXTS.run(connection, span)]
            if all(own_hash == entry_hash for _, _, entry_hash, _, _, own_hash in page):
                return page
    rows = list(_VALUES.run(connection, span))
    hashes = compute_entry_hashes([row[_OWN:] for row in rows])
    return [(*row[:_OWN], own) for row, own in zip(rows, hashes, strict=True)]


def count_chained(connection: Connection) -> int:
    """How many entries the chain has, in the ledger and in what has left it."""
    query = select(func.count()).where(access_log.c.number.is_not(None))
    gone = sum(part.row_counts.get(access_log.name, 0) for part in list_archives(connection))
    return int(connection.execute(query).scalar_one()) + gone


def select_entries(actions: Sequence[str], **values: object) -> Select[Any]:
    """Allowed entries of these actions with these values; without `seq`, about no question."""
    query = select(access_log).where(access_log.c.action.in_(actions), access_log.c.http_status == 200)
    for name, value in ({"seq": None} | values).items():
        query = query.where(access_log.c[name] == value)
    return query


class SessionEntry(NamedTuple):
    """An allowed entry about a session."""

    number: int
    action: str
    seq: int | None
    target: str | None
    answer_hash: str | None
    digest: str | None


_SESSION_ENTRIES = HotStatement(
    select(*(access_log.c[name] for name in SessionEntry._fields))
    .where(
        access_log.c.session_id == bindparam("session"),
        access_log.c.http_status == bindparam("status"),
        access_log.c.number.is_not(None),
    )
    .order_by(access_log.c.access_id)
)


def read_session_entries(connection: Connection, session_id: str) -> list[SessionEntry]:
    """The allowed entries of a session in order."""
    values = {"session": session_id, "status": 200}
    return list(map(SessionEntry._make, _SESSION_ENTRIES.run(connection, values)))


def iter_targets(connection: Connection, actions: Sequence[str]) -> Iterator[Row[Any]]:
    """The allowed entries of these actions with a target, in its order, then the log's."""
    query = select_entries(actions).where(access_log.c.target.is_not(None), access_log.c.number.is_not(None))
    yield from connection.execute(query.order_by(access_log.c.target, access_log.c.access_id))


def read_run_entries(connection: Connection, run_id: str) -> list[Row[Any]]:
    """What was done, in order, to a run, its sessions, its candidates' tokens; no answers."""
    names = select(sessions.c.session_id).where(sessions.c.run_id == run_id)
    query = (
        select(access_log)
        .where(
            or_(
                access_log.c.session_id.in_(names) & access_log.c.action.not_in(STEPS),
                access_log.c.session_id.in_(names) & (access_log.c.http_status != 200),
                access_log.c.target.in_(names) & (access_log.c.http_status != 200),
                (access_log.c.target == run_id)
                & access_log.c.seq.is_(None)
                & access_log.c.action.not_in(STEPS),
            )
        )
        .order_by(access_log.c.access_id)
    )
    return list(connection.execute(query))


def count_steps(connection: Connection, run_id: str) -> dict[str, dict[str, int]]:
    """Allowed steps of each session of a run: session → action → how many."""
    names = select(sessions.c.session_id).where(sessions.c.run_id == run_id)
    query = (
        select(access_log.c.session_id, access_log.c.action, func.count())
        .where(access_log.c.session_id.in_(names), access_log.c.http_status == 200)
        .group_by(access_log.c.session_id, access_log.c.action)
    )
    counts: dict[str, dict[str, int]] = {}
    for session_id, action, count in connection.execute(query):
        counts.setdefault(str(session_id), {})[str(action)] = int(count)
    return counts


def read_head(connection: Connection) -> Head:
    """The last entry that is committed."""
    row = connection.execute(select(access_chain.c.number, access_chain.c.entry_hash)).first()
    return Head(0, "") if row is None else Head(int(row.number), str(row.entry_hash))


def read_last_entry(connection: Connection, action: str, targets: Sequence[str]) -> Row[Any] | None:
    """The last entry of this action on one of the targets; null when there is none."""
    query = select_entries([action]).where(access_log.c.target.in_(targets))
    return connection.execute(query.order_by(access_log.c.access_id.desc()).limit(1)).first()


def read_entry(connection: Connection, number: int) -> Row[Any] | None:
    """The entry of that number; null when there is none."""
    return connection.execute(select(access_log).where(access_log.c.number == number)).first()


def list_log_keys(connection: Connection) -> list[LogKey]:
    """Every key that ever signed, in the order in which they were added."""
    query = select(log_keys).order_by(log_keys.c.added_at, log_keys.c.key_id)
    return read_rows(connection, LogKey, query)


def write_log_key(connection: Connection, key: LogKey) -> bool:
    """Add a key; false when it is there."""
    statement = (
        insert_into(connection.dialect.name, log_keys).on_conflict_do_nothing().returning(log_keys.c.key_id)
    )
    return connection.execute(statement, key.as_values()).first() is not None


def read_last_signed(connection: Connection) -> int | None:
    """The number of the head that was signed last; null when none was."""
    found: int | None = connection.execute(select(func.max(signed_heads.c.number))).scalar_one()
    return found


def write_signed_head(connection: Connection, head: SignedHead) -> bool:
    """Keep a head; false when another process has signed the same one."""
    statement = (
        insert_into(connection.dialect.name, signed_heads)
        .on_conflict_do_nothing()
        .returning(signed_heads.c.number)
    )
    return connection.execute(statement, head.as_values()).first() is not None


def iter_signed_heads(connection: Connection) -> Iterator[SignedHead]:
    """Every signed head, in order."""
    return iter_rows(connection, SignedHead, select(signed_heads).order_by(signed_heads.c.number))


def read_last_id(ledger: Ledger) -> int:
    """The number of the last row of the audit log, 0 for none; no lower one is to come."""
    last = select(func.coalesce(func.max(access_log.c.access_id), 0))
    if ledger.is_sqlite:
        with ledger.read() as connection:
            return int(connection.execute(last).scalar_one())
    with ledger.write() as connection:
        connection.execute(text("lock table access_log in share mode"))
        return int(connection.execute(last).scalar_one())


def count_entries(connection: Connection, first_id: int, last_id: int) -> int:
    """How many entries have rows from `first_id` to `last_id`."""
    query = select(func.count()).where(access_log.c.access_id.between(first_id, last_id))
    return int(connection.execute(query).scalar_one())


def read_entries(connection: Connection, first_id: int, last_id: int) -> list[RowMapping]:
    """The entries with rows from `first_id` to `last_id`, in order."""
    query = (
        select(access_log)
        .where(access_log.c.access_id.between(first_id, last_id))
        .order_by(access_log.c.access_id)
    )
    return list(connection.execute(query).mappings())
