"""Who may give stars or labels: active users with a role that sees references."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.errors import UsageError
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import users

ROLES = ("annotator", "examiner", "admin")


def check_persons(ledger: Ledger, user_ids: Sequence[str]) -> None:
    """Raise UsageError for a user that is unknown, inactive or of another role."""
    with ledger.read() as connection:
        found = {user_id: users.read_user(connection, user_id) for user_id in user_ids}
    for user_id, user in found.items():
        if user is None or not user.is_active or user.role not in ROLES:
            raise UsageError(
                f"{user_id!r} is no active user with one of the roles {', '.join(ROLES)}. `proctor exam user list` shows the "
                "users; `proctor exam user add` adds one."
            )
