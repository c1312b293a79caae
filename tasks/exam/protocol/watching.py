"""Where sessions from outside stand, which there are, and the end of a lease."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from schemas.errors import ExamError
from schemas.ledger.trust import Approval
from tasks.exam.protocol.moves import Move
from tasks.exam.protocol.seating import check_active, check_role, log_use, read_readable_seat
from tasks.exam.protocol.tokens import VerifiedTokens
from tasks.exam.protocol.words import FOR_EXAMINERS, Quota, SessionStatus, SessionSummary
from tasks.running.approvals import Request, TwoPersons, Unapproved, ask, use_approval
from warehouse.ledger.engine.ledger import Connection
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.exam import seats, sittings
from warehouse.ledger.trust import users


def read_status(tokens: VerifiedTokens, token: str, session_id: str) -> Move[SessionStatus]:
    """Where a session stands."""

    def operation(connection: Connection) -> SessionStatus:
        claims = tokens.read(token, connection)
        seat = read_readable_seat(connection, claims, session_id, "read_sessions")
        log_use(connection, claims, seat, Entry("status"))
        return _describe(connection, seat, is_examiner=seat.role != "candidate")

    return Move("status", token, session_id, operation)


def release_session(
    tokens: VerifiedTokens, token: str, session_id: str, rule: TwoPersons, now: Callable[[], float]
) -> Move[SessionStatus | Approval]:
    """The end of a session's lease, or the request for a second person who has not agreed yet."""

    def operation(connection: Connection) -> SessionStatus | Approval:
        claims = tokens.read(token, connection)
        seat = seats.read_seat(connection, session_id, claims.user_id)
        if seat is None:
            check_role(users.read_user(connection, claims.user_id), claims, "release_sessions")
            raise ExamError(404, "session_unknown", "There is no such session.")
        check_role(seat, claims, "release_sessions")
        if rule.needs("release"):
            # With the lease that is meant: a later one is another request.
            request = Request("release", session_id, {"lease_generation": seat.lease_generation})
            try:
                use_approval(connection, request, now=now())
            except Unapproved:
                # A token that somebody else made does not say who shows it.
                certain = claims.user_id if claims.issued_by is None else None
                seems = None if certain else f"{claims.user_id} (token by {claims.issued_by})"
                asked = ask(connection, request, rule.days, user_id=certain, asked_by=seems, now=now())
                refused = Entry("release", claims.user_id, session_id, 403, "approval_needed")
                add_entry(connection, refused)
                return asked
        seats.write_session(
            connection,
            session_id,
            lease_generation=seat.lease_generation + 1,
            lease_hash=None,
            lease_expires_at=None,
        )
        log_use(connection, claims, seat, Entry("release"))
        return _describe(connection, seat, is_examiner=True)

    return Move("release", token, session_id, operation)


def list_sessions(
    tokens: VerifiedTokens, token: str, run_id: str | None, after: str | None = None, limit: int | None = None
) -> Move[list[SessionSummary]]:
    """The caller's own sessions, or an examiner's; `limit` that follow the session `after`."""

    def operation(connection: Connection) -> list[SessionSummary]:
        claims = tokens.read(token, connection)
        user = users.read_user(connection, claims.user_id)
        check_active(user)
        assert user is not None
        is_examiner = user.role != "candidate"
        check_role(user, claims, "read_sessions" if is_examiner else "list_own_sessions")
        add_entry(connection, Entry("list", claims.user_id))
        whose = (
            {"run_id": run_id}
            if is_examiner
            else {"user_id": claims.user_id, "session_id": claims.session_id}
        )
        rows = sittings.list_sessions(connection, **whose, after=after, limit=limit)
        shown = [one.name for one in fields(SessionSummary) if is_examiner or one.name not in FOR_EXAMINERS]
        return [SessionSummary(**{name: getattr(row, name) for name in shown}) for row in rows]

    return Move("list", token, None, operation)


def _describe(connection: Connection, seat: seats.Seat, *, is_examiner: bool) -> SessionStatus:
    row = sittings.list_sessions(connection, session_id=seat.session_id)[0]
    return SessionStatus(
        session_id=seat.session_id,
        status=row.status,
        prompt_style=seat.prompt_style,
        session=Quota(
            row.question_count,
            0 if row.status == "closed" else row.next_seq - 1 - row.answered_count,
            row.answered_count,
            row.question_count,
        ),
        candidate=Quota(
            *seats.count_questions(connection, user_id=seat.user_id),
            users.read_question_limit(connection, seat.user_id),
        ),
        organisation=Quota(
            *seats.count_questions(connection, organisation=seat.organisation), seat.organisation_limit
        )
        if is_examiner
        else None,
        opened_at=row.opened_at,
        closed_at=row.closed_at,
        deadline_at=row.deadline_at,
        question_s=row.question_s,
    )
