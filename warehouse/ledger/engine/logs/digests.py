"""What entries of the audit log fix besides themselves.

It is a SHA-256 of the state that was written with them. Each digest is over a JSON value of the rows as they are kept (keys
sorted, no spaces). Who changes a row without an entry leaves an entry that says something else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Float, bindparam, select

from warehouse.ledger.engine.statements import HotStatement
from warehouse.ledger.engine.tables import (
    allocations,
    responses,
    run_plans,
    runs,
    sessions,
    set_numbers,
    sets,
)
from warehouse.ledger.engine.tables import users as user_table

PLANNED_SESSION: Final = (
    "run_id",
    "set_id",
    "user_id",
    "model",
    "organisation",
    "prompt_style",
    "repeat",
    "is_reference",
    "is_simulated",
    "fingerprint",
    "pending_window",
    "question_count",
)
CLOSED_SESSION: Final = (
    "status",
    "answered_count",
    "next_seq",
    "opened_at",
    "closed_at",
    "deadline_at",
    "question_s",
    "close_reason",
)
PLANNED_RUN: Final = (
    "month",
    "season",
    "bank_version",
    "reference_model",
    "bridged_reference",
    "repetition",
    "set_size",
    "policy",
    "budget_usd",
    "is_simulated",
    "planned_at",
)
_SET: Final = ("season", "set_number", "bank_version", "is_simulated", "set_group", "created_at")
_ITEM: Final = ("lineage_uuid", "question_uuid", "discipline", "is_anchor", "content")
_USER: Final = (
    "role",
    "organisation",
    "model",
    "disciplines",
    "password_hash",
    "public_key",
    "question_limit",
    "is_active",
)
_RESPONSE: Final = tuple(column.name for column in responses.c if column.name != "response")
_TEXT: Final = tuple(responses.c.keys()).index("response")
_FLOATS: Final = tuple(
    place for place, name in enumerate(_RESPONSE) if isinstance(responses.c[name].type, Float)
)


def _name_bytes(value: object) -> str:
    """Bytes, which no version writes where text belongs, as a text that no text is hashed as."""
    if isinstance(value, bytes):
        return f"\0bytes {value.hex()}"
    raise TypeError(f"{type(value).__name__} is no value of a row")


_encode: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_name_bytes).encode
_ORDER: Final = HotStatement(
    select(allocations.c.lineage_uuid)
    .where(allocations.c.session_id == bindparam("session"))
    .order_by(allocations.c.seq)
)
# Between two rows whose first values are texts.
_SEAM: Final = '],["'


def compute_digest(value: object) -> str:
    """SHA-256 of a value as JSON, as hexadecimal text."""
    return hashlib.sha256(_encode(value).encode()).hexdigest()


def digest_text(text: str) -> str:
    """SHA-256 of a text in UTF-8, as hexadecimal text."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_texts(texts: Iterable[str]) -> list[str]:
    """`digest_text` of each of many."""
    sha256 = hashlib.sha256
    return [sha256(text.encode()).hexdigest() for text in texts]


def digest_response(row: Mapping[str, Any]) -> str:
    """What is kept of an answer but its text: status, reasoning, call, time and signature."""
    # A column of numbers gives back 1.0 for 1.
    values = [row[name] for name in _RESPONSE]
    for place in _FLOATS:
        if values[place] is not None:
            values[place] = float(values[place])
    return compute_digest(values)


def digest_responses(rows: Sequence[Sequence[Any]]) -> list[str]:
    """`digest_response` of each of many rows of the table, all its columns in their order."""
    return digest_texts(encode_rows([(*row[:_TEXT], *row[_TEXT + 1 :]) for row in rows]))


def encode_rows(rows: Sequence[Sequence[object]]) -> list[str]:
    """Each row as an array of JSON, its first value text; together, for speed."""
    if not rows:
        return []
    texts = _encode(rows)[3:-2].split(_SEAM)
    if len(texts) != len(rows):
        # A text ends as a row does.
        return [_encode(row) for row in rows]
    return [f'["{text}]' for text in texts]


def read_closing_digest(connection: Connection, session_id: str) -> str:
    """A session as it stands, as far as its closing fixes it."""
    query = select(*(sessions.c[name] for name in CLOSED_SESSION)).where(sessions.c.session_id == session_id)
    return compute_digest(list(connection.execute(query).one()))


def read_order_digest(connection: Connection, session_id: str, order: Sequence[str] | None = None) -> str:
    """A session as it was planned: whose it is, and the lineages of its questions in `order`."""
    query = select(*(sessions.c[name] for name in PLANNED_SESSION))
    row = connection.execute(query.where(sessions.c.session_id == session_id)).one()
    if order is None:
        order = [lineage for (lineage,) in _ORDER.run(connection, {"session": session_id})]
    return compute_digest([list(row), order])


def read_run_digest(connection: Connection, run_id: str) -> str:
    """A run as it was planned, its seed aside."""
    query = select(*(runs.c[name] for name in PLANNED_RUN)).where(runs.c.run_id == run_id)
    plan = select(run_plans.c.plan).where(run_plans.c.run_id == run_id)
    return compute_digest([*connection.execute(query).one(), connection.execute(plan).scalar()])


def read_set_digest(connection: Connection, set_id: str) -> str:
    """A set as it was drawn: its numbers, and every question with its content."""
    numbers = select(*(set_numbers.c[name] for name in _SET)).where(set_numbers.c.set_id == set_id)
    whole = hashlib.sha256(compute_digest(list(connection.execute(numbers).one())).encode())
    items = select(*(sets.c[name] for name in _ITEM)).where(sets.c.set_id == set_id)
    for item in connection.execute(items.order_by(sets.c.lineage_uuid)):
        whole.update(compute_digest(list(item)).encode())
    return whole.hexdigest()


def read_user_digest(connection: Connection, user_id: str) -> str | None:
    """A user's rights, password and key; null when there is no such user."""
    query = select(*(user_table.c[name] for name in _USER)).where(user_table.c.user_id == user_id)
    row = connection.execute(query).first()
    return None if row is None else compute_digest(list(row))


def read_user_digests(connection: Connection) -> list[tuple[str, str]]:
    """Every user with the digest of what it may, by name."""
    columns = [user_table.c[name] for name in _USER]
    query = select(user_table.c.user_id, *columns).order_by(user_table.c.user_id)
    return [(str(row[0]), compute_digest(list(row[1:]))) for row in connection.execute(query)]


def digest_limit(run_id: str, limit_usd: float, reason: str, set_by: str, set_at: str) -> str:
    """A limit that was set for a run."""
    return compute_digest([run_id, float(limit_usd), reason, set_by, set_at])
