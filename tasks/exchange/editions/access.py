"""Who may take questions and answers of an edition away.

Also the entry of the audit log that records that they did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemas.errors import UsageError
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.trust.users import read_user

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

ROLES: Final = ("admin", "examiner")
ACTION: Final = "export_edition"


def note_export(ledger: Ledger, user_id: str, edition_id: str, *, with_answers: bool) -> None:
    """Note that somebody takes an edition's questions away.

    Raises UsageError for a user who may not do so, and where no user is named.
    """
    if not user_id:
        raise UsageError(
            f"Questions leave for a named user only: give --as with a user who is {' or '.join(ROLES)} "
            "(`proctor exam user list`)."
        )
    with ledger.write() as connection:
        user = read_user(connection, user_id)
        if user is None or not user.is_active or user.role not in ROLES:
            what = "is not there" if user is None else f"is {user.role}" if user.is_active else "is shut out"
            raise UsageError(f"User {user_id!r} {what}: questions leave for {' and '.join(ROLES)} only.")
        code = "with_answers" if with_answers else None
        add_entry(connection, Entry(ACTION, user_id=user_id, target=edition_id, code=code))
