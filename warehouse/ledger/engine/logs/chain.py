"""One hash chain over every entry of the audit log, whatever session it is of.

Entries are gathered while a transaction runs and chained together right before it is committed: the order of the chain is the
order of the commits, however many processes write, and a batch of many operations takes the head once. On a server the row of
the head is held from there to the end of the commit, and nothing else is asked for after it: whoever has it never waits. An
entry's hash is the SHA-256 of a JSON array (UTF-8, no spaces, every character beyond ASCII escaped): the hash before it, its
number, and then the fields of `HASHED` in their order.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import socket
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import Connection, bindparam, select, update

from warehouse.ledger.engine.logs.digests import digest_texts, encode_rows, read_user_digests
from warehouse.ledger.engine.logs.gathered import GatheredLog
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.statements import HotStatement, call_after_wait, is_pipelined, send_statement
from warehouse.ledger.engine.tables import access_chain, access_log

FIRST_HASH: Final = "0" * 64
# What an entry's hash covers besides the hash before it and its number.
HASHED: Final = (
    "user_id",
    "session_id",
    "action",
    "http_status",
    "code",
    "target",
    "address",
    "seq",
    "answer_hash",
    "digest",
    "accessed_at",
)
BEGIN: Final = "begin_chain"
KNOWN_USER: Final = "known_user"
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode
_read_hashed: Final = attrgetter(*HASHED)
_COLUMNS: Final = tuple(column.name for column in access_log.c if column.name != "access_id")
_INSERT = HotStatement(access_log.insert().inline().values({name: bindparam(name) for name in _COLUMNS}))
_HEAD = HotStatement(select(access_chain.c.number, access_chain.c.entry_hash).with_for_update())
_ADVANCE = HotStatement(
    update(access_chain).values(number=bindparam("new_number"), entry_hash=bindparam("new_hash"))
)
_TEXTS: Final = ", ".join(f"{name} text" for name in HASHED if name not in ("http_status", "seq"))
# The same chain, made by a server: `rest` is the array that is hashed from its third element on, so that a server only puts hash
# and number before it. A chain that has not begun gives no hash, which the log refuses.
_CHAIN_ON_SERVER: Final = f"""
    WITH RECURSIVE
    head AS (SELECT number, entry_hash FROM access_chain FOR UPDATE),
    given AS (
        SELECT * FROM ROWS FROM (
            jsonb_to_recordset(%s::jsonb) AS ({_TEXTS}, http_status integer, seq integer)
        ) WITH ORDINALITY AS given ({", ".join([*(name for name in HASHED if name not in ("http_status", "seq")), "http_status", "seq"])}, place)
    ),
    chained (place, number, previous_hash, entry_hash) AS (
        SELECT 0, head.number, '', CASE WHEN head.number > 0 THEN head.entry_hash::text END
        FROM (SELECT 1) AS one LEFT JOIN head ON true
        UNION ALL
        SELECT place + 1, number + 1, entry_hash, encode(sha256(convert_to(
            '["' || entry_hash || '",' || number + 1 || ',' || rests.texts[place + 1], 'UTF8'
        )), 'hex')
        FROM chained, (SELECT %s::text[] AS texts) AS rests
        WHERE place < cardinality(rests.texts)
    ),
    written AS (
        INSERT INTO access_log (number, previous_hash, entry_hash, {", ".join(HASHED)})
        SELECT number, previous_hash, entry_hash, {", ".join(HASHED)} FROM chained JOIN given USING (place) ORDER BY place
    ),
    advanced AS (
        UPDATE access_chain SET number = last.number, entry_hash = last.entry_hash
        FROM (SELECT number, entry_hash FROM chained ORDER BY place DESC LIMIT 1) AS last
    )
    SELECT number, entry_hash FROM chained WHERE place > 0 ORDER BY place
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who acts (None: not known here) and the address they call from (None: this machine)."""

    user_id: str | None = None
    address: str | None = None


CALLER: ContextVar[Caller] = ContextVar("caller", default=Caller())  # noqa: B039 - frozen


@dataclass(slots=True)
class Entry:
    """One entry of the audit log; number and hash are there once its transaction has ended.

    Attributes:
        user_id: who; null when it could not be read.
        http_status: 200 when allowed, else the refusal's.
        code: word for the refusal, or how something was done; null for what is usual.
        target: whom or what it was done to: a user, a run, a set, a token, a key.
        address: where the caller is; null for this machine.
        answer_hash: SHA-256 of the answer's text.
        digest: SHA-256 of what else the entry fixes (warehouse.ledger.trust.seals).
        is_by_caller: whether `user_id`, where it is null, is whoever acts: a user of the API, or the account of this host.
        number: place in the chain, from 1.
    """

    action: str
    user_id: str | None = None
    session_id: str | None = None
    http_status: int = 200
    code: str | None = None
    target: str | None = None
    address: str | None = None
    seq: int | None = None
    answer_hash: str | None = None
    digest: str | None = None
    accessed_at: str = ""
    is_by_caller: bool = False
    number: int = 0
    entry_hash: str = ""


def add_entry(connection: Connection, entry: Entry) -> Entry:
    """Write an entry with the open transaction of the ledger, undone with it; else RuntimeError."""
    if not entry.accessed_at:
        entry.accessed_at = now_text()
    caller = CALLER.get()
    if entry.address is None:
        entry.address = caller.address
    if entry.user_id is None and entry.is_by_caller:
        entry.user_id = caller.user_id or name_account()
    _LOG.add(connection, entry)
    return entry


def list_pending_entries(connection: Connection) -> list[Entry]:
    """The entries that wait for the end of the open transaction; they have no number yet."""
    return _LOG.list_pending(connection)


@cache
def name_account() -> str:
    """The account that runs this process, and its host: who acts at the command line."""
    try:
        account = getpass.getuser()
    except (KeyError, OSError):
        account = str(os.getuid())
    return f"os:{account}@{socket.gethostname()}"[:120]


def compute_entry_hash(previous_hash: str, number: int, values: Sequence[object]) -> str:
    """The hash of an entry: its place in the chain, and the values of `HASHED` in their order."""
    return hashlib.sha256(_encode([previous_hash, number, *values]).encode()).hexdigest()


def compute_entry_hashes(rows: Sequence[Sequence[object]]) -> list[str]:
    """The same of many: each row has the hash before, the number, and the values."""
    return digest_texts(encode_rows(rows))


def _write_entries(connection: Connection, entries: list[Entry]) -> None:
    """Chain what was gathered and write it."""
    if is_pipelined(connection):
        _send_entries(connection, entries)
        return
    number, head = _take_head(connection)
    if number == 0:
        entries = [*_begin(connection), *entries]
    rows = []
    for entry in entries:
        number += 1
        values = _read_hashed(entry)
        entry.number, entry.entry_hash = number, compute_entry_hash(head, number, values)
        row = dict(zip(HASHED, values, strict=True))
        row["number"], row["previous_hash"], row["entry_hash"] = number, head, entry.entry_hash
        rows.append(row)
        head = entry.entry_hash
    _INSERT.run_all(connection, rows)
    _ADVANCE.run(connection, {"new_number": number, "new_hash": head})


def _send_entries(connection: Connection, entries: list[Entry]) -> None:
    """Let the server chain and write them, so that nobody waits long for the head."""
    values = [_read_hashed(entry) for entry in entries]
    given = json.dumps([dict(zip(HASHED, row, strict=True)) for row in values])
    rests = [_encode(row)[1:] for row in values]
    written = send_statement(connection, _CHAIN_ON_SERVER, (given, rests))

    def note() -> None:
        for entry, (number, entry_hash) in zip(entries, written, strict=True):
            entry.number, entry.entry_hash = number, entry_hash

    call_after_wait(connection, note)


def _begin(connection: Connection) -> list[Entry]:
    """The first entries of all: that the chain begins, and what users then were."""
    me, at = name_account(), now_text()
    known = [
        Entry(KNOWN_USER, user_id=me, target=user_id, digest=digest, accessed_at=at)
        for user_id, digest in read_user_digests(connection)
    ]
    return [Entry(BEGIN, user_id=me, accessed_at=at), *known]


def _take_head(connection: Connection) -> tuple[int, str]:
    row: tuple[Any, ...] | None = _HEAD.fetch_first(connection, {})
    if row is None:
        connection.execute(access_chain.insert().values(chain=1, number=0, entry_hash=FIRST_HASH))
        return 0, FIRST_HASH
    return int(row[0]), str(row[1])


# After the public log's: what the audit log holds until the commit is asked for last.
_LOG: Final = GatheredLog[Entry]("the audit log", 2, _write_entries)
