"""What entries of the audit log fix besides themselves: a SHA-256 of the state that was written with them.

Each digest is over a JSON value of the rows as they are kept (keys sorted, no spaces). Who changes a row without an entry leaves
an entry that says something else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Float, select

from warehouse.ledger.chain import KNOWN_USER, Entry, add_entry
from warehouse.ledger.tables import (
    allocations,
    organisations,
    responses,
    run_plans,
    runs,
    sessions,
    set_keys,
    set_numbers,
    sets,
)
from warehouse.ledger.tables import users as user_table

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
_FLOATS: Final = tuple(
    place for place, name in enumerate(_RESPONSE) if isinstance(responses.c[name].type, Float)
)


_encode: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def compute_digest(value: object) -> str:
    """SHA-256 of a value as JSON, as hexadecimal text."""
    return hashlib.sha256(_encode(value).encode()).hexdigest()


def digest_text(text: str) -> str:
    """SHA-256 of a text in UTF-8, as hexadecimal text."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_response(row: Mapping[str, Any]) -> str:
    """What is kept of an answer besides its text: status, reasoning, account of the call, time, signature."""
    # A column of numbers gives back 1.0 for 1.
    values = [row[name] for name in _RESPONSE]
    for place in _FLOATS:
        if values[place] is not None:
            values[place] = float(values[place])
    return compute_digest(values)


def digest_order(row: Mapping[str, Any], order: Sequence[str]) -> str:
    """A planned session: whose it is, and the lineages of its questions in their order."""
    return compute_digest([[row[name] for name in PLANNED_SESSION], list(order)])


def digest_closing(row: Mapping[str, Any]) -> str:
    """A session as it was closed."""
    return compute_digest([row[name] for name in CLOSED_SESSION])


def read_closing_digest(connection: Connection, session_id: str) -> str:
    """A session as it stands, as far as its closing fixes it."""
    query = select(*(sessions.c[name] for name in CLOSED_SESSION)).where(sessions.c.session_id == session_id)
    return digest_closing(connection.execute(query).one()._asdict())


def read_order_digest(connection: Connection, session_id: str) -> str:
    """A session as it was planned."""
    query = select(*(sessions.c[name] for name in PLANNED_SESSION))
    row = connection.execute(query.where(sessions.c.session_id == session_id)).one()._asdict()
    order = select(allocations.c.lineage_uuid).where(allocations.c.session_id == session_id)
    return digest_order(row, connection.execute(order.order_by(allocations.c.seq)).scalars().all())


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


# Entries that name a user and fix what it may.
USER_ACTIONS: Final = (
    KNOWN_USER,
    "add_user",
    "move_user",
    "set_password",
    "admit_user",
    "shut_out_user",
    "change_role",
    "limit_user",
    "enrol_key",
    "remove_key",
)


def seal_user(connection: Connection, user_id: str, action: str) -> None:
    """Note that somebody's rights, password or key were set, and what they are now."""
    digest = read_user_digest(connection, user_id)
    add_entry(connection, Entry(action, target=user_id, digest=digest, is_by_caller=True))


def digest_limit(run_id: str, limit_usd: float, reason: str, set_by: str, set_at: str) -> str:
    """A limit that was set for a run."""
    return compute_digest([run_id, float(limit_usd), reason, set_by, set_at])


def seal_closing(connection: Connection, session_id: str, code: str | None = None) -> None:
    """Note that a session was closed, and how it then stood; `code` where it was not by its last answer."""
    digest = read_closing_digest(connection, session_id)
    add_entry(
        connection,
        Entry("close", session_id=session_id, code=code, digest=digest, is_by_caller=code is not None),
    )


def seal_organisation(connection: Connection, organisation: str) -> None:
    """Note the limit that was set for an organisation."""
    query = select(organisations.c.question_limit).where(organisations.c.organisation == organisation)
    digest = compute_digest(connection.execute(query).scalar_one())
    entry = Entry("limit_organisation", target=organisation, digest=digest, is_by_caller=True)
    add_entry(connection, entry)


def seal_run(
    connection: Connection, run_id: str, new_sets: Iterable[str], session_ids: Iterable[str]
) -> None:
    """Note what was planned: the run, its seed, each set drawn for it with its key, each session with its order."""

    def note(action: str, target: str, digest: str, session_id: str | None = None) -> None:
        add_entry(
            connection,
            Entry(action, session_id=session_id, target=target, digest=digest, is_by_caller=True),
        )

    note("plan_run", run_id, read_run_digest(connection, run_id))
    seed = connection.execute(select(run_plans.c.seed).where(run_plans.c.run_id == run_id)).scalar_one()
    note("plan_seed", run_id, digest_text(seed))
    for set_id in new_sets:
        note("draw_set", set_id, read_set_digest(connection, set_id))
        key = select(set_keys.c.draw_key).where(set_keys.c.set_id == set_id)
        note("draw_key", set_id, digest_text(connection.execute(key).scalar_one() or ""))
    for session_id in session_ids:
        note("plan_session", run_id, read_order_digest(connection, session_id), session_id)
