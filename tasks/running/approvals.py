"""Two pairs of eyes: a second person must agree to what the settings name.

It is done only once somebody else has agreed to exactly that.

Who wants it done asks by doing it: a request is kept, and nothing else happens. Another person approves it, and it is done by
asking for the same again, once and within a time. A request that no user stands for (a schedule's, or a command's: an account of a
host may be anybody) is approved by two people: the first of them answers for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from schemas.errors import ConflictError, ExamError, GateError
from schemas.ledger.trust import Approval
from schemas.settings import Settings
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.trust import approvals, users
from warehouse.ledger.trust.approvals import Doing
from warehouse.ledger.trust.approvals import Request as Request

# Who may answer for a request, approve and refuse.
APPROVERS: Final = ("examiner", "admin")
_SENTENCES: Final = {
    "plan": "planning run {target}",
    "release": "releasing session {target}",
    "retire": "retiring question {target}",
    "override": "publishing {target} although a gate is shut",
}


class ApprovalNeeded(GateError):
    """Something waits for a second person; nothing was done but to ask."""


class Unapproved(Exception):
    """Nobody has approved what was tried: whoever holds the transaction ends it and asks."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.target)
        self.request = request


@dataclass(frozen=True)
class TwoPersons:
    """What needs a second person, and for how many days a request waits and an approval serves."""

    doings: tuple[str, ...]
    days: int

    @classmethod
    def from_settings(cls, settings: Settings) -> TwoPersons:
        """As the settings say."""
        return cls(settings.two_persons, settings.approval_days)

    def needs(self, what: Doing) -> bool:
        """Whether this needs a second person."""
        return what in self.doings


NOBODY_ELSE: Final = TwoPersons((), 7)


def use_approval(connection: Connection, request: Request, *, now: float | None = None) -> None:
    """Use up the approval for exactly this, in the transaction that does it.

    Raises Unapproved where there is none.
    """
    at = _moment(now)
    found = approvals.find_approved(connection, request, at)
    if found is None:
        raise Unapproved(request)
    approvals.write_use(connection, found, at)


def ask(
    connection: Connection,
    request: Request,
    days: int,
    *,
    user_id: str | None = None,
    asked_by: str | None = None,
    now: float | None = None,
) -> Approval:
    """Keep the request, or find it: what is asked twice is one request.

    `user_id` is the user that the caller proved to be.
    """
    return approvals.write_request(
        connection,
        request,
        user_id=user_id,
        asked_by=asked_by,
        at=_moment(now),
        expires_at=_moment(now, days),
    )


def ask_and_refuse(ledger: Ledger, request: Request, days: int) -> ApprovalNeeded:
    """Keep the request, and the error that says how it goes on."""
    try:
        with ledger.write() as connection:
            return ApprovalNeeded(describe_wait(ask(connection, request, days)))
    except ConflictError:
        # Somebody asked for the same just now: that is the request.
        with ledger.write() as connection:
            return ApprovalNeeded(describe_wait(ask(connection, request, days)))


def check_approved(ledger: Ledger, settings: Settings, request: Request) -> None:
    """Pass for what needs no second person, or has been approved.

    Otherwise the request is kept, and ApprovalNeeded is raised.

    For work outside the ledger, which cannot end in one transaction with the approval: it is used up when the work is done
    (`finish`). Its request names the state that the work starts from, so that it can be done once only.
    """
    if request.what not in settings.two_persons:
        return
    with ledger.write() as connection:
        found = approvals.find_approved(connection, request, _moment(None))
    if found is None:
        raise ask_and_refuse(ledger, request, settings.approval_days)


def finish(ledger: Ledger, settings: Settings, request: Request) -> None:
    """Use up the approval of work that is done."""
    if request.what not in settings.two_persons:
        return
    at = _moment(None)
    with ledger.write() as connection:
        found = approvals.find_approved(connection, request, at)
        if found is not None:
            approvals.write_use(connection, found, at)


def describe_wait(asked: Approval) -> str:
    """How a request goes on, for whoever asked."""
    doing = _SENTENCES[asked.what].format(target=asked.target)
    if asked.state == "approved":
        return f"Request {asked.approval_id} ({doing}) is approved. Ask for the same again, and it is done."
    who = (
        f"an examiner or admin other than {asked.stood_by}"
        if asked.stood_by is not None
        else "two examiners or admins, one after the other (the first answers for it)"
    )
    return (
        f"This needs a second person: {doing} was not done, and is request {asked.approval_id}. Until {asked.expires_at[:16]} "
        f"UTC {who} may approve it: `proctor approvals approve {asked.approval_id} --as USER`. Then ask for the same again."
    )


def approve(
    connection: Connection, approval_id: int, user_id: str, days: int, *, now: float | None = None
) -> Approval:
    """Agree to a request as a user whose password or token was checked.

    Where no user stands for the request, the first user who agrees answers for it.

    Raises ExamError: 404 for no such request, 403 for who may not, 409 for one that is not open.
    """
    at = _moment(now)
    asked = _read_open(connection, approval_id, at)
    if asked.state != "asked":
        raise ExamError(409, "request_decided", f"Request {approval_id} is {asked.state} already.")
    _check_person(connection, asked, user_id)
    if asked.stood_by is None:
        approvals.write_stand(connection, asked, user_id)
        return _read_open(connection, approval_id, at)
    return approvals.write_approval(connection, asked, user_id, at=at, expires_at=_moment(now, days))


def refuse(connection: Connection, approval_id: int, user_id: str, *, now: float | None = None) -> Approval:
    """Refuse a request, or take an approval back that was not used.

    The person who asked may do so, too. Raises as `approve` does.
    """
    at = _moment(now)
    asked = _read_open(connection, approval_id, at)
    _check_role(connection, user_id)
    approvals.write_refusal(connection, asked, user_id, at=at)
    found = approvals.read_approval(connection, approval_id)
    assert found is not None
    return found


def note_refused(
    connection: Connection, action: str, user_id: str | None, approval_id: int, error: ExamError
) -> None:
    """Write an attempt that was refused to the audit log."""
    target = f"approval {approval_id}"
    add_entry(
        connection,
        Entry(action, user_id, http_status=error.status, code=error.code, target=target, is_by_caller=True),
    )


def name_state(asked: Approval) -> str:
    """How a request stands now: `expired` where its time is over."""
    is_over = asked.state in ("asked", "approved") and asked.expires_at <= _moment(None)
    return "expired" if is_over else asked.state


def _read_open(connection: Connection, approval_id: int, at: str) -> Approval:
    asked = approvals.read_approval(connection, approval_id, is_held=True)
    if asked is None:
        raise ExamError(404, "request_unknown", f"There is no request {approval_id}.")
    if asked.state in ("refused", "used"):
        raise ExamError(409, "request_decided", f"Request {approval_id} is {asked.state} already.")
    if asked.expires_at <= at:
        raise ExamError(
            409, "request_expired", f"The time of request {approval_id} is over. Ask for the same again."
        )
    return asked


def _check_role(connection: Connection, user_id: str) -> None:
    user = users.read_user(connection, user_id)
    if user is None or not user.is_active or user.role not in APPROVERS:
        raise ExamError(
            403,
            "permission_missing",
            f"{user_id} may not decide on requests: that is for examiners and admins.",
        )


def _check_person(connection: Connection, asked: Approval, user_id: str) -> None:
    """Pass for a second person.

    This is neither the person who asked, nor somebody in whose name that person could act.
    """
    _check_role(connection, user_id)
    if user_id == asked.stood_by:
        raise ExamError(
            403,
            "own_request",
            f"Request {asked.approval_id} is {user_id}'s own. Somebody else must approve it.",
        )
    if approvals.was_changed_since(connection, user_id, asked.asked_at):
        raise ExamError(
            403,
            "user_changed",
            f"{user_id} was added or admitted, or got a password or a role, after request {asked.approval_id} was made. Ask for "
            "the same again once this one has expired or was refused.",
        )
    if asked.stood_by is None:
        return
    for one, other in ((user_id, asked.stood_by), (asked.stood_by, user_id)):
        if approvals.read_last_password_setter(connection, one) == other:
            raise ExamError(
                403, "password_known", f"{other} has set {one}'s password: the two count as one person here."
            )


def _moment(now: float | None, days: int = 0) -> str:
    moment = datetime.now(UTC) if now is None else datetime.fromtimestamp(now, UTC)
    return write_moment((moment + timedelta(days=days)).timestamp())
