"""Requests that need a second person, used once, and believed with the audit log alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Connection, select, update

from schemas.ledger.trust import Approval
from warehouse.ledger.engine.logs.chain import Entry, add_entry, name_account
from warehouse.ledger.engine.logs.digests import compute_digest
from warehouse.ledger.engine.logs.public_log import add_public_entry
from warehouse.ledger.engine.rows import read_row, read_rows
from warehouse.ledger.engine.tables import access_log, approvals
from warehouse.ledger.trust.access import select_entries

Doing = Literal["plan", "release", "retire", "override"]
ASK: Final = "ask_approval"
STAND: Final = "stand_for_request"
APPROVE: Final = "approve_request"
REFUSE: Final = "refuse_request"
USE: Final = "use_approval"
# Entries after which somebody could show another's password as theirs, or has a right that they had not.
_CHANGES: Final = ("add_user", "set_password", "change_role", "admit_user")
_PASSWORDS: Final = ("add_user", "set_password")


@dataclass(frozen=True)
class Request:
    """What is to be done, exactly: another target, set, reason or parameter is another request."""

    what: Doing
    target: str
    parameters: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 of what exactly is asked."""
        return compute_digest([self.what, self.target, self.parameters])


def read_approval(connection: Connection, approval_id: int, *, is_held: bool = False) -> Approval | None:
    """The request of that number, or None; with `is_held` nobody else changes it meanwhile."""
    query = select(approvals).where(approvals.c.approval_id == approval_id)
    return read_row(connection, Approval, query.with_for_update() if is_held else query)


def list_approvals(connection: Connection, *, after: int = 0, limit: int | None = None) -> list[Approval]:
    """Requests by number: `limit` of them that follow `after`."""
    query = select(approvals).where(approvals.c.approval_id > after)
    return read_rows(connection, Approval, query.order_by(approvals.c.approval_id).limit(limit))


def write_request(
    connection: Connection,
    request: Request,
    *,
    user_id: str | None,
    asked_by: str | None,
    at: str,
    expires_at: str,
) -> Approval:
    """The open request for exactly this: the one that is there, else a new one.

    `user_id` is who answers for it, null where nobody could be told for certain; `asked_by` says who it seems to be (default:
    the account of this host).
    """
    found = _find_open(connection, request.digest)
    if found is not None and found.expires_at > at:
        return found
    if found is not None:
        _change(connection, found.approval_id, open_digest=None)
    values = {
        "what": request.what,
        "target": request.target,
        "digest": request.digest,
        "parameters": dict(request.parameters),
        "asked_by": (asked_by or user_id or name_account())[:120],
        "stood_by": user_id,
        "asked_at": at,
        "expires_at": expires_at,
        "state": "asked",
        "open_digest": request.digest,
    }
    number = connection.execute(approvals.insert().values(**values)).inserted_primary_key
    assert number is not None
    asked = read_approval(connection, int(number[0]))
    assert asked is not None
    _note(connection, ASK, asked, None if user_id is None else user_id)
    return asked


def find_approved(connection: Connection, request: Request, at: str) -> Approval | None:
    """The approval for exactly this that has not expired and was not used; null for none."""
    found = _find_open(connection, request.digest, is_held=True)
    if (
        found is None
        or found.state != "approved"
        or found.expires_at <= at
        or not _is_sealed(connection, found)
    ):
        return None
    return found


def write_stand(connection: Connection, asked: Approval, user_id: str) -> None:
    """Let a user answer for a request that nobody answers for yet."""
    _change(connection, asked.approval_id, stood_by=user_id)
    _note(connection, STAND, asked, user_id)


def write_approval(
    connection: Connection, asked: Approval, user_id: str, *, at: str, expires_at: str
) -> Approval:
    """Approve a request; an entry of the audit log and of the public log."""
    _change(
        connection,
        asked.approval_id,
        state="approved",
        decided_by=user_id,
        decided_at=at,
        expires_at=expires_at,
    )
    approved = read_approval(connection, asked.approval_id)
    assert approved is not None
    _note(connection, APPROVE, approved, user_id)
    # A question's name is the installation's own: what is said of it in public names the request.
    target = f"request {asked.approval_id}" if asked.what == "retire" else asked.target
    body = {"what": asked.what, "target": target, "asked_by": asked.stood_by, "approved_by": user_id}
    add_public_entry(connection, "approve", body)
    return approved


def write_refusal(connection: Connection, asked: Approval, user_id: str, *, at: str) -> None:
    """Refuse a request, or take back an approval that was not used."""
    _change(
        connection, asked.approval_id, state="refused", decided_by=user_id, decided_at=at, open_digest=None
    )
    _note(connection, REFUSE, asked, user_id)


def write_use(connection: Connection, approved: Approval, at: str) -> None:
    """Note that what was approved is done: it cannot be done again."""
    _change(connection, approved.approval_id, state="used", used_at=at, open_digest=None)
    _note(connection, USE, approved, None)


def read_last_password_setter(connection: Connection, user_id: str) -> str | None:
    """Who last set the user's password, as the audit log says; null where it says nothing of it."""
    query = select_entries(_PASSWORDS, target=user_id).order_by(access_log.c.access_id.desc())
    return connection.execute(query.with_only_columns(access_log.c.user_id).limit(1)).scalar()


def was_changed_since(connection: Connection, user_id: str, at: str) -> bool:
    """Whether the user was added or admitted, or got a password or a role, after that moment."""
    query = select_entries(_CHANGES, target=user_id).where(access_log.c.accessed_at >= at)
    return connection.execute(query.limit(1)).first() is not None


def _find_open(connection: Connection, digest: str, *, is_held: bool = False) -> Approval | None:
    query = select(approvals).where(approvals.c.open_digest == digest)
    return read_row(connection, Approval, query.with_for_update() if is_held else query)


def _change(connection: Connection, approval_id: int, **values: object) -> None:
    connection.execute(update(approvals).where(approvals.c.approval_id == approval_id).values(**values))


def _note(connection: Connection, action: str, approval: Approval, user_id: str | None) -> None:
    entry = Entry(
        action, user_id, target=_name(approval), digest=_seal(approval), is_by_caller=user_id is None
    )
    add_entry(connection, entry)


def _is_sealed(connection: Connection, approval: Approval) -> bool:
    """Whether the log has the entry of exactly this approval, by who is named as its giver."""
    query = select_entries(
        (APPROVE,), target=_name(approval), user_id=approval.decided_by, digest=_seal(approval)
    )
    return connection.execute(query.limit(1)).first() is not None


def _name(approval: Approval) -> str:
    return f"approval {approval.approval_id} {approval.what} {approval.target}"[:240]


def _seal(approval: Approval) -> str:
    return compute_digest(
        [
            approval.approval_id,
            approval.digest,
            approval.asked_by,
            approval.stood_by,
            approval.state,
            approval.decided_by,
            approval.expires_at,
        ]
    )
