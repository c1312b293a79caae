"""Who may use which session, and for how many questions, by the row that was read."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import ExamError
from tasks.exam.protocol.deadlines import check_deadline
from tasks.exam.protocol.tokens import PERMISSIONS, Claims
from tasks.exam.protocol.words import Lease
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.exam import seats
from warehouse.ledger.trust import users

if TYPE_CHECKING:
    from warehouse.ledger.engine.leases.clock import Clock
    from warehouse.ledger.engine.ledger import Connection

_SHORTEST_LEASE_SECRET: Final = 32


def read_own_seat(connection: Connection, claims: Claims, session_id: str, position: int = 0) -> seats.Seat:
    """The candidate's own session; what is not there is refused as what is another's."""
    seat = seats.read_seat(connection, session_id, claims.user_id, position)
    if seat is None:
        check_role(users.read_user(connection, claims.user_id), claims, "sit")
        raise _not_yours()
    check_role(seat, claims, "sit")
    if claims.session_id != session_id or seat.user_id != claims.user_id:
        raise _not_yours()
    return seat


def read_held_seat(
    connection: Connection, claims: Claims, lease: Lease, clock: Clock, position: int = 0
) -> seats.Seat:
    """The session, for the holder of its lease; a closed one is still shown to who held it last."""
    seat = read_own_seat(connection, claims, lease.session_id, position)
    if (
        seat.lease_hash is None
        or seat.lease_generation != lease.generation
        or not hmac.compare_digest(seat.lease_hash, hash_secret(lease.secret))
    ):
        raise ExamError(
            403, "lease_lost", "The session is not held by this lease: it was opened again or released."
        )
    if seat.status == "closed":
        return seat
    check_deadline(seat, clock)
    if (seat.lease_expires_at or 0.0) <= clock():
        raise ExamError(
            403, "lease_expired", "The lease has expired. Open the session again with the lease secret."
        )
    return seat


def read_readable_seat(
    connection: Connection, claims: Claims, session_id: str, permission: str
) -> seats.Seat:
    """The session, for its own candidate or for whoever may read them all."""
    seat = seats.read_seat(connection, session_id, claims.user_id)
    user = seat if seat is not None else users.read_user(connection, claims.user_id)
    check_active(user)
    assert user is not None
    if user.role == "candidate":
        return read_own_seat(connection, claims, session_id)
    check_role(user, claims, permission)
    if seat is None:
        raise ExamError(404, "session_unknown", "There is no such session.")
    return seat


def log_use(connection: Connection, claims: Claims, seat: seats.Seat, entry: Entry) -> Entry:
    """Log an allowed use of a session; returns the entry with whose it is and the session."""
    return add_entry(connection, replace(entry, user_id=claims.user_id, session_id=seat.session_id))


def check_active(user: Any) -> None:
    """Pass for a user that the ledger knows and admits; raises ExamError 403."""
    if user is None or not user.is_active:
        raise ExamError(403, "user_unknown", "The user is not known, or no longer admitted.")


def check_role(user: Any, claims: Claims, permission: str) -> None:
    """The role in the ledger decides; the token can only take away."""
    check_active(user)
    if permission not in PERMISSIONS.get(user.role, frozenset()) or permission not in claims.permissions:
        raise ExamError(403, "permission_missing", f"This needs the permission {permission!r}.")


def check_quota(connection: Connection, level: str, limit: int | None, **whose: str) -> None:
    """Pass below the limit on questions handed out; raises ExamError 403 at it."""
    if limit is None:
        return
    # Counted only when no other process can hand out: two sessions would both take the last one allowed.
    seats.hold_quotas(connection)
    counts = seats.count_questions(connection, **whose)
    if counts.pending + counts.completed >= limit:
        raise ExamError(403, "quota_reached", f"The {level} has been handed all questions that it may have.")


def choose_lease_secret(given: str | None, held: str | None) -> str:
    """The secret of a lease that begins; ExamError 403 for another holder's, 422 if too short."""
    if held is not None and (given is None or not hmac.compare_digest(hash_secret(given), held)):
        raise ExamError(
            403,
            "session_in_use",
            "The session is in use. Show the lease secret to resume it, or wait until the lease expires.",
        )
    if given is not None and len(given) < _SHORTEST_LEASE_SECRET:
        raise ExamError(
            422, "weak_secret", f"A lease secret has at least {_SHORTEST_LEASE_SECRET} characters."
        )
    return given or secrets.token_hex(32)


def hash_secret(secret: str) -> str:
    """What the ledger keeps of a lease secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _not_yours() -> ExamError:
    return ExamError(403, "session_invalid", "The token is not valid for this session.")
