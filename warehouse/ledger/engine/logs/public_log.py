"""The public log: what an installation lets everybody see of what it does.

It is one chain of lines, fixed to the byte (docs/verify.md). Entries are gathered while a transaction runs and numbered right
before it is committed, as those of the audit log are: the order of the lines is the order of the commits, and no number is
missing. A line is kept as it stands in the file, with the place where it ends there; nothing of it is ever changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from schemas.ledger.engine import PublicLine
from warehouse.ledger.engine.logs.gathered import GatheredLog
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.rows import read_row, read_rows
from warehouse.ledger.engine.statements import HotStatement
from warehouse.ledger.engine.tables import exam_installation, log_keys, public_head, public_log, runs

FIRST_HASH: Final = "0" * 64
BEGIN: Final = "begin"
KEY: Final = "key"
COMMIT: Final = "commit"
_PAGE: Final = 10_000
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode
_HEAD = HotStatement(
    select(public_head.c.number, public_head.c.line_hash, public_head.c.ends_at).with_for_update()
)
_INSERT = HotStatement(
    public_log.insert().inline().values({column.name: bindparam(column.name) for column in public_log.c})
)
_ADVANCE = HotStatement(
    update(public_head).values(
        number=bindparam("new_number"), line_hash=bindparam("new_hash"), ends_at=bindparam("new_end")
    )
)


@dataclass(slots=True)
class PublicEntry:
    """An entry that waits for the end of its transaction, when its number is there (0 before)."""

    kind: str
    body: Mapping[str, Any]
    number: int = 0


class PublicHead(NamedTuple):
    """The last line of the log: its number (0: none), its hash, and its end in bytes."""

    number: int
    line_hash: str
    ends_at: int


class PublicStep(NamedTuple):
    """An entry as it is read back."""

    number: int
    at: str
    kind: str
    body: dict[str, Any]


def add_public_entry(connection: Connection, kind: str, body: Mapping[str, Any]) -> PublicEntry:
    """Write an entry with the transaction that is open on this connection; undone with it.

    A value of the body that is an earlier entry of the same transaction is written as its number. Raises RuntimeError outside a
    transaction of the ledger (`Ledger.write`, the group-commit writer).
    """
    entry = PublicEntry(kind, body)
    _LOG.add(connection, entry)
    return entry


def read_public_head(connection: Connection) -> PublicHead:
    """The last line that is committed."""
    columns = [public_head.c[name] for name in PublicHead._fields]
    row = connection.execute(select(*columns)).first()
    return PublicHead(0, FIRST_HASH, 0) if row is None else PublicHead(*row)


def read_public_line(connection: Connection, number: int) -> PublicLine | None:
    """The line of that number; null when there is none."""
    return read_row(connection, PublicLine, select(public_log).where(public_log.c.number == number))


def read_last_public_moment(connection: Connection) -> str | None:
    """When the last line was written (ISO text, UTC); null before the first."""
    row = connection.execute(select(public_log.c.line).order_by(public_log.c.number.desc()).limit(1)).first()
    return None if row is None else _parse(row.line).at


def find_public_line(connection: Connection, size: int) -> PublicLine | None:
    """The last line that a file of `size` bytes holds as a whole; null for none."""
    query = select(public_log).where(public_log.c.ends_at <= size).order_by(public_log.c.number.desc())
    return read_row(connection, PublicLine, query.limit(1))


def iter_public_lines(connection: Connection, after: int = 0) -> Iterator[PublicLine]:
    """Every line after that number, in order, a page at a time."""
    while True:
        query = select(public_log).where(public_log.c.number > after).order_by(public_log.c.number)
        page = read_rows(connection, PublicLine, query.limit(_PAGE))
        yield from page
        if len(page) < _PAGE:
            return
        after = page[-1].number


def read_public_entries(connection: Connection, run_id: str | None, kinds: Sequence[str]) -> list[PublicStep]:
    """The entries of these kinds that are about a run (null: about any, or none), in order."""
    query = select(public_log).where(public_log.c.kind.in_(kinds))
    if run_id is not None:
        query = query.where(public_log.c.run_id == run_id)
    return [_parse(row.line) for row in connection.execute(query.order_by(public_log.c.number))]


def is_key_ended(connection: Connection, key_id: str) -> bool:
    """Whether another key took the place of this one."""
    query = select(public_log.c.line).where(public_log.c.kind == KEY, public_log.c.run_id.is_(None))
    return any(_parse(line).body.get("ends") == key_id for (line,) in connection.execute(query))


def list_public_entries(connection: Connection, kinds: Sequence[str]) -> list[PublicStep]:
    """The entries of these kinds, whatever they are about, in order."""
    return read_public_entries(connection, None, kinds)


def _write_entries(connection: Connection, entries: list[PublicEntry]) -> None:
    """Number and write what was gathered, before the audit log's entries: no circle of waits."""
    head = _take_head(connection)
    if head.number == 0:
        entries = [*_begin(connection, entries), *(entry for entry in entries if entry.kind != KEY)]
    at = now_text()
    number, line_hash, ends_at = head
    rows = []
    for entry in entries:
        number += 1
        line = _encode(
            {
                "number": number,
                "at": at,
                "kind": entry.kind,
                "previous": line_hash,
                "body": {
                    name: value.number if isinstance(value, PublicEntry) else value
                    for name, value in entry.body.items()
                },
            }
        )
        entry.number = number
        line_hash = hashlib.sha256(line.encode()).hexdigest()
        ends_at += len(line) + 1
        told = PublicLine(
            number=number,
            kind=entry.kind,
            run_id=entry.body.get("run"),
            line=line,
            line_hash=line_hash,
            ends_at=ends_at,
        )
        rows.append(told.as_values())
    _INSERT.run_all(connection, rows)
    _ADVANCE.run(connection, {"new_number": number, "new_hash": line_hash, "new_end": ends_at})


def _begin(connection: Connection, entries: Sequence[PublicEntry]) -> list[PublicEntry]:
    """The log's first entries: whose it is, runs planned before, keys that have signed."""
    planned = {entry.body["run"] for entry in entries if entry.kind == COMMIT}
    has_former_runs = not planned.issuperset(connection.execute(select(runs.c.run_id)).scalars())
    order = (log_keys.c.added_at, log_keys.c.key_id)
    known = connection.execute(select(log_keys.c.key_id, log_keys.c.public_key).order_by(*order))
    keys = [{"key": key_id, "public_key": public_key} for key_id, public_key in known]
    first = keys[0] if keys else {"key": None, "public_key": None}
    body = {
        "installation": connection.execute(select(exam_installation.c.installation_id)).scalar() or "",
        **first,
        "has_former_runs": has_former_runs,
    }
    return [PublicEntry(BEGIN, body), *(PublicEntry(KEY, key) for key in keys[1:])]


def _take_head(connection: Connection) -> PublicHead:
    row = _HEAD.fetch_first(connection, {})
    if row is None:
        connection.execute(public_head.insert().values(chain=1, number=0, line_hash=FIRST_HASH, ends_at=0))
        return PublicHead(0, FIRST_HASH, 0)
    return PublicHead(*row)


def _parse(line: str) -> PublicStep:
    values = json.loads(line)
    return PublicStep(values["number"], values["at"], values["kind"], values["body"])


_LOG: Final = GatheredLog[PublicEntry]("the public log", 1, _write_entries)
