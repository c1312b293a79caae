"""Who may give stars, labels and verdicts: active users with a role that sees references."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.errors import UsageError
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import users

ROLES = ("annotator", "examiner", "admin")


def may_mark(ledger: Ledger, user_id: str) -> bool:
    """Whether somebody may see what waits for marks; an annotator of no discipline may not."""
    return find_marker(ledger, user_id) is not None


def find_marker(ledger: Ledger, user_id: str) -> users.User | None:
    """Somebody who may mark, in the user's disciplines; None for anybody else."""
    with ledger.read() as connection:
        user = users.read_user(connection, user_id)
    is_marker = user is not None and user.is_active and user.role in ROLES and user.disciplines != []
    return user if is_marker else None


def check_persons(ledger: Ledger, user_ids: Sequence[str]) -> None:
    """Raise UsageError for somebody who may not mark."""
    for user_id in user_ids:
        need_marker(ledger, user_id)


def need_marker(ledger: Ledger, user_id: str) -> users.User:
    """Somebody who may mark; UsageError for anybody else."""
    if (user := find_marker(ledger, user_id)) is None:
        raise UsageError(
            f"{user_id!r} is no active user with one of the roles {', '.join(ROLES)}, or an annotator of no discipline. `proctor "
            "exam user list` shows the users; `proctor exam user add` adds one, `proctor exam user role` gives disciplines."
        )
    return user
