"""Entries of the audit log that fix, by its digest, the state written with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, select

from warehouse.ledger.engine.logs.chain import KNOWN_USER, Entry, add_entry
from warehouse.ledger.engine.logs.digests import (
    compute_digest,
    digest_text,
    read_closing_digest,
    read_order_digest,
    read_run_digest,
    read_set_digest,
    read_user_digest,
)
from warehouse.ledger.engine.tables import organisations, run_plans, set_keys

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


def seal_closing(connection: Connection, session_id: str, code: str | None = None) -> None:
    """Note that a session was closed and how it stood; `code` where not by its last answer."""
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
    """Note the run, its seed, each set drawn for it with its key, each session with its order."""

    def note(action: str, target: str, digest: str, session_id: str | None = None) -> None:
        add_entry(
            connection, Entry(action, session_id=session_id, target=target, digest=digest, is_by_caller=True)
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
