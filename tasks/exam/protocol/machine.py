"""The exam protocol: a state machine over the ledger, the one path by which questions are put (LLMEval-Fair §2.2.2).

Outer layer: a signed token, the user's role, the one session that the token names, and a lease that only one holder
has. Inner layer: questions in the allocated order only, the next one only when the previous is answered, one answer per
question, quotas. Every attempt is written to the audit log, in the same transaction as what it did.

Signature and role are checked at opening; afterwards each call checks expiry in memory, and user, role, lease
generation and lease expiry in the statement that reads the session. Each method has an `_async` twin; both run on the
group-commit writer and return after COMMIT. Session: planned → open → closed; a closed session never opens again.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from schemas.errors import ConflictError, ExamError, GateError, UsageError
from schemas.settings import Settings
from tasks.exam.protocol.tokens import PERMISSIONS, Claims, check_expiry, read_secret, verify_token
from tasks.exam.protocol.words import Answer, Lease, Put, Quota, Receipt, SessionStatus, SessionSummary
from warehouse.ledger import access, exam, users
from warehouse.ledger.engine import Ledger, now_text

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")

_SHORTEST_LEASE_SECRET: Final = 32
_MOST_CACHED_TOKENS: Final = 4096


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One use of the protocol: what the audit log says of it."""

    action: str
    token: str
    session_id: str | None
    permission: str


class ExamProtocol:
    """The state machine. One per process; safe to use from several threads and coroutines.

    Args:
        ledger: where everything is kept.
        secret: signing secret of the tokens.
        lease_s: seconds that a lease lasts without a call.
        is_in_house: whether a window of several pending questions is honoured (trusted, in-house runs only).
        clock: seconds since 1970; tests inject one.
    """

    def __init__(
        self,
        ledger: Ledger,
        secret: bytes,
        *,
        lease_s: float,
        is_in_house: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ledger = ledger
        self._secret = secret
        self._lease_s = lease_s
        self._is_in_house = is_in_house
        self._clock = clock
        self._verified: dict[str, Claims] = {}

    # --- opening ---------------------------------------------------------------------------------------------

    def open_session(self, token: str, session_id: str, lease_secret: str | None = None) -> Lease:
        """Open a session, or resume it as its holder.

        Succeeds when nobody holds the session: never opened, lease expired, or released. While a lease lives, only who
        shows its secret may open; every opening begins a new generation, so that an earlier holder is shut out.
        `lease_secret` is the secret to resume with, or one of the caller's own choice (32 characters or more).

        Raises ExamError 401 (token), 403 (user, role, session, lease held by another, session closed), 422 (secret).
        """
        return self._perform(*self._opening(token, session_id, lease_secret))

    async def open_session_async(self, token: str, session_id: str, lease_secret: str | None = None) -> Lease:
        """See open_session."""
        return await self._perform_async(*self._opening(token, session_id, lease_secret))

    def renew_lease(self, token: str, lease: Lease) -> Lease:
        """Keep a session while a candidate thinks; raises ExamError as every call of a holder does."""
        return self._perform(*self._renewal(token, lease))

    async def renew_lease_async(self, token: str, lease: Lease) -> Lease:
        """See renew_lease."""
        return await self._perform_async(*self._renewal(token, lease))

    # --- questions and answers -------------------------------------------------------------------------------

    def next_question(self, token: str, lease: Lease) -> Put | None:
        """The next question in order; while one is pending, that one again, marked as a repeat; null when finished.

        Raises ExamError 401, 403 (`lease_expired`, `lease_lost`, `quota_reached` and those of opening).
        """
        return self._perform(*self._asking(token, lease))

    async def next_question_async(self, token: str, lease: Lease) -> Put | None:
        """See next_question."""
        return await self._perform_async(*self._asking(token, lease))

    def submit_answer(self, token: str, lease: Lease, seq: int, answer: Answer) -> Receipt:
        """Store the answer to a question that was handed out; the last one closes the session.

        Raises ExamError 409 (`already_answered`, `not_delivered`), 422, and those of next_question.
        """
        return self._perform(*self._answering(token, lease, seq, answer))

    async def submit_answer_async(self, token: str, lease: Lease, seq: int, answer: Answer) -> Receipt:
        """See submit_answer."""
        return await self._perform_async(*self._answering(token, lease, seq, answer))

    def submit_and_next(
        self, token: str, lease: Lease, seq: int, answer: Answer
    ) -> tuple[Receipt, Put | None]:
        """Both in one transaction; the question is a new one, or null when none is left to hand out."""
        return self._perform(*self._exchange(token, lease, seq, answer))

    async def submit_and_next_async(
        self, token: str, lease: Lease, seq: int, answer: Answer
    ) -> tuple[Receipt, Put | None]:
        """See submit_and_next."""
        return await self._perform_async(*self._exchange(token, lease, seq, answer))

    def read_pending(self, token: str, lease: Lease) -> list[Put]:
        """All questions handed out and not answered, in order: what an in-house holder resumes with."""
        return self._perform(*self._pending(token, lease))

    async def read_pending_async(self, token: str, lease: Lease) -> list[Put]:
        """See read_pending."""
        return await self._perform_async(*self._pending(token, lease))

    # --- states and lists ------------------------------------------------------------------------------------

    def read_status(self, token: str, session_id: str) -> SessionStatus:
        """Where a session stands: one's own by a token for it, any by an examiner's."""
        return self._perform(*self._status(token, session_id))

    async def read_status_async(self, token: str, session_id: str) -> SessionStatus:
        """See read_status."""
        return await self._perform_async(*self._status(token, session_id))

    def release_session(self, token: str, session_id: str) -> SessionStatus:
        """An examiner ends a lease: its holder is shut out, and a new opening succeeds. Answers stay."""
        return self._perform(*self._release(token, session_id))

    async def release_session_async(self, token: str, session_id: str) -> SessionStatus:
        """See release_session."""
        return await self._perform_async(*self._release(token, session_id))

    def list_sessions(self, token: str, run_id: str | None = None) -> list[SessionSummary]:
        """One's own sessions; for examiners all, or those of a run."""
        return self._perform(*self._list(token, run_id))

    async def list_sessions_async(self, token: str, run_id: str | None = None) -> list[SessionSummary]:
        """See list_sessions."""
        return await self._perform_async(*self._list(token, run_id))

    # --- what is logged and checked around every call ----------------------------------------------------------

    def check_token(self, token: str, permission: str, action: str) -> Claims:
        """Verify a token for an action outside sessions (users, runs), and log the attempt.

        Raises ExamError 401 or 403.
        """

        def operation(connection: Connection) -> Claims:
            claims = self._read_claims(token)
            _check_role(users.read_user(connection, claims.user_id), claims, permission)
            access.append_access_at_head(
                connection, user_id=claims.user_id, session_id=None, action=action, status=200, code=None
            )
            return claims

        return self._perform(_Attempt(action, token, None, permission), operation)

    def log_attempt(
        self, action: str, *, user_id: str | None, session_id: str | None, status: int, code: str | None
    ) -> None:
        """Write an attempt that did not reach the protocol (a wrong password, a malformed request)."""
        self._ledger.writer.run(
            lambda connection: access.append_access_at_head(
                connection, user_id=user_id, session_id=session_id, action=action, status=status, code=code
            )
        )

    def _perform(self, attempt: _Attempt, operation: Callable[[Connection], T]) -> T:
        try:
            return self._ledger.writer.run(operation)
        except ExamError as error:
            self._ledger.writer.run(self._refusal(attempt, error))
            raise

    async def _perform_async(self, attempt: _Attempt, operation: Callable[[Connection], T]) -> T:
        try:
            return await self._ledger.writer.run_async(operation)
        except ExamError as error:
            await self._ledger.writer.run_async(self._refusal(attempt, error))
            raise

    def _refusal(self, attempt: _Attempt, error: ExamError) -> Callable[[Connection], None]:
        """The log entry of a refused attempt, in the chain of the session that it named."""
        user_id: str | None = None
        try:
            # An expired token still says truly who calls: its signature is good.
            user_id = verify_token(self._secret, attempt.token, now=0).user_id
        except ExamError:
            user_id = None

        def operation(connection: Connection) -> None:
            access.append_access_at_head(
                connection,
                user_id=user_id,
                session_id=None if attempt.session_id is None else attempt.session_id[:80],
                action=attempt.action,
                status=error.status,
                code=error.code,
            )

        return operation

    def _read_claims(self, token: str) -> Claims:
        """Verify the signature once per token and process, the expiry at every call."""
        claims = self._verified.get(token)
        if claims is None:
            claims = verify_token(self._secret, token, now=self._clock())
            if len(self._verified) >= _MOST_CACHED_TOKENS:
                self._verified.clear()
            self._verified[token] = claims
        check_expiry(claims, self._clock())
        return claims

    # --- operations --------------------------------------------------------------------------------------------

    def _opening(
        self, token: str, session_id: str, lease_secret: str | None
    ) -> tuple[_Attempt, Callable[[Connection], Lease]]:
        def operation(connection: Connection) -> Lease:
            now = self._clock()
            claims = verify_token(self._secret, token, now=now)
            self._verified[token] = claims
            seat = self._read_own_seat(connection, claims, session_id)
            if seat.status == "closed":
                raise ExamError(
                    403, "session_closed", "The session is closed: all its questions are answered."
                )
            shown = None if lease_secret is None else _hash_secret(lease_secret)
            held = (
                seat.lease_hash if seat.lease_expires_at is not None and seat.lease_expires_at > now else None
            )
            if held is not None and (shown is None or not hmac.compare_digest(shown, held)):
                raise ExamError(
                    403,
                    "session_in_use",
                    "The session is in use. Show the lease secret to resume it, or wait until the lease expires.",
                )
            if lease_secret is not None and len(lease_secret) < _SHORTEST_LEASE_SECRET:
                raise ExamError(
                    422, "weak_secret", f"A lease secret has at least {_SHORTEST_LEASE_SECRET} characters."
                )
            secret = lease_secret or secrets.token_hex(32)
            generation = seat.lease_generation + 1
            at = now_text()
            exam.write_first_opening(connection, session_id, at)
            exam.write_session(
                connection,
                session_id,
                status="open",
                lease_generation=generation,
                lease_hash=_hash_secret(secret),
                lease_expires_at=now + self._lease_s,
                access_hash=_log(connection, claims, seat, "open"),
            )
            return Lease(
                session_id,
                generation,
                secret,
                now + self._lease_s,
                seat.prompt_style,
                seat.question_count,
                seat.answered_count,
            )

        return _Attempt("open", token, session_id, "sit"), operation

    def _renewal(self, token: str, lease: Lease) -> tuple[_Attempt, Callable[[Connection], Lease]]:
        def operation(connection: Connection) -> Lease:
            now = self._clock()
            claims = self._read_claims(token)
            seat = self._read_held_seat(connection, claims, lease, now)
            exam.write_session(
                connection,
                lease.session_id,
                lease_expires_at=now + self._lease_s,
                access_hash=_log(connection, claims, seat, "renew"),
            )
            return Lease(
                lease.session_id,
                lease.generation,
                lease.secret,
                now + self._lease_s,
                seat.prompt_style,
                seat.question_count,
                seat.answered_count,
            )

        return _Attempt("renew", token, lease.session_id, "sit"), operation

    def _asking(self, token: str, lease: Lease) -> tuple[_Attempt, Callable[[Connection], Put | None]]:
        def operation(connection: Connection) -> Put | None:
            now = self._clock()
            claims = self._read_claims(token)
            seat = self._read_held_seat(connection, claims, lease, now)
            at = now_text()
            head = _log(connection, claims, seat, "next", at)
            if seat.status == "closed":
                exam.write_session(connection, lease.session_id, access_hash=head)
                return None
            pending = seat.next_seq - 1 - seat.answered_count
            put, next_seq = None, seat.next_seq
            if pending < self._window(seat):
                put = self._hand_out(connection, seat, seat.next_seq, at)
            if put is not None:
                next_seq += 1
            else:
                oldest = exam.read_pending_seqs(connection, lease.session_id, seat.next_seq)[0]
                put = self._put(connection, seat, oldest, is_repeat=True)
            exam.write_advance(
                connection,
                lease.session_id,
                next_seq=next_seq,
                answered_count=seat.answered_count,
                expires_at=now + self._lease_s,
                access_hash=head,
            )
            return put

        return _Attempt("next", token, lease.session_id, "sit"), operation

    def _answering(
        self, token: str, lease: Lease, seq: int, answer: Answer
    ) -> tuple[_Attempt, Callable[[Connection], Receipt]]:
        def operation(connection: Connection) -> Receipt:
            return self._accept(connection, token, lease, seq, answer, action="submit", wants_next=False)[0]

        return _Attempt("submit", token, lease.session_id, "sit"), operation

    def _exchange(
        self, token: str, lease: Lease, seq: int, answer: Answer
    ) -> tuple[_Attempt, Callable[[Connection], tuple[Receipt, Put | None]]]:
        def operation(connection: Connection) -> tuple[Receipt, Put | None]:
            return self._accept(
                connection, token, lease, seq, answer, action="submit_and_next", wants_next=True
            )

        return _Attempt("submit_and_next", token, lease.session_id, "sit"), operation

    def _pending(self, token: str, lease: Lease) -> tuple[_Attempt, Callable[[Connection], list[Put]]]:
        def operation(connection: Connection) -> list[Put]:
            now = self._clock()
            claims = self._read_claims(token)
            seat = self._read_held_seat(connection, claims, lease, now)
            exam.write_session(
                connection, lease.session_id, access_hash=_log(connection, claims, seat, "pending")
            )
            return [
                self._put(connection, seat, seq, is_repeat=True)
                for seq in exam.read_pending_seqs(connection, lease.session_id, seat.next_seq)
            ]

        return _Attempt("pending", token, lease.session_id, "sit"), operation

    def _status(self, token: str, session_id: str) -> tuple[_Attempt, Callable[[Connection], SessionStatus]]:
        def operation(connection: Connection) -> SessionStatus:
            claims = self._read_claims(token)
            seat = self._read_readable_seat(connection, claims, session_id, "read_sessions")
            exam.write_session(connection, session_id, access_hash=_log(connection, claims, seat, "status"))
            return _describe(connection, seat, is_examiner=seat.role != "candidate")

        return _Attempt("status", token, session_id, "read_sessions"), operation

    def _release(self, token: str, session_id: str) -> tuple[_Attempt, Callable[[Connection], SessionStatus]]:
        def operation(connection: Connection) -> SessionStatus:
            claims = self._read_claims(token)
            seat = exam.read_seat(connection, session_id, claims.user_id)
            if seat is None:
                _check_role(users.read_user(connection, claims.user_id), claims, "release_sessions")
                raise ExamError(404, "session_unknown", "There is no such session.")
            _check_role(seat, claims, "release_sessions")
            exam.write_session(
                connection,
                session_id,
                lease_generation=seat.lease_generation + 1,
                lease_hash=None,
                lease_expires_at=None,
                access_hash=_log(connection, claims, seat, "release"),
            )
            return _describe(connection, seat, is_examiner=True)

        return _Attempt("release", token, session_id, "release_sessions"), operation

    def _list(
        self, token: str, run_id: str | None
    ) -> tuple[_Attempt, Callable[[Connection], list[SessionSummary]]]:
        def operation(connection: Connection) -> list[SessionSummary]:
            claims = self._read_claims(token)
            user = users.read_user(connection, claims.user_id)
            _check_active(user)
            assert user is not None
            is_examiner = user.role != "candidate"
            _check_role(user, claims, "read_sessions" if is_examiner else "list_own_sessions")
            access.append_access_at_head(
                connection, user_id=claims.user_id, session_id=None, action="list", status=200, code=None
            )
            if is_examiner:
                rows = exam.list_sessions(connection, run_id=run_id)
                return [
                    SessionSummary(
                        row["session_id"],
                        row["status"],
                        row["prompt_style"],
                        row["question_count"],
                        row["answered_count"],
                        row["run_id"],
                        row["model"],
                        row["organisation"],
                        row["repeat"],
                        row["is_reference"],
                    )
                    for row in rows
                ]
            rows = exam.list_sessions(connection, user_id=claims.user_id, session_id=claims.session_id)
            return [
                SessionSummary(
                    row["session_id"],
                    row["status"],
                    row["prompt_style"],
                    row["question_count"],
                    row["answered_count"],
                )
                for row in rows
            ]

        return _Attempt("list", token, None, "list_own_sessions"), operation

    # --- steps of the operations ---------------------------------------------------------------------------------

    def _accept(
        self,
        connection: Connection,
        token: str,
        lease: Lease,
        seq: int,
        answer: Answer,
        *,
        action: str,
        wants_next: bool,
    ) -> tuple[Receipt, Put | None]:
        now = self._clock()
        claims = self._read_claims(token)
        seat = self._read_held_seat(connection, claims, lease, now)
        if not 1 <= seq <= seat.question_count:
            raise ExamError(
                409, "not_delivered", "There is no question at this position that could be answered."
            )
        if seq >= seat.next_seq:
            raise ExamError(
                409, "not_delivered", "This question has not been handed out yet. Ask for the next one."
            )
        row = answer.checked()
        row["session_id"] = lease.session_id
        row["seq"] = seq
        row["answered_at"] = at = now_text()
        try:
            exam.write_response(connection, row)
        except ConflictError:
            raise ExamError(
                409, "already_answered", "This question has an answer, and the first one stays."
            ) from None
        answered = seat.answered_count + 1
        is_closed = answered == seat.question_count
        head = _log(connection, claims, seat, action, at)
        if is_closed:
            # The lease's hash stays, so that its holder may still ask and hear that it has finished.
            exam.write_session(
                connection,
                lease.session_id,
                status="closed",
                answered_count=answered,
                closed_at=at,
                access_hash=head,
            )
            return Receipt(seq, answered, seat.question_count, True), None
        pending = seat.next_seq - 1 - answered
        put = None
        if wants_next and pending < self._window(seat):
            # At a quota the answer still counts; whoever asks for the next question hears of the quota.
            with suppress(ExamError):
                put = self._hand_out(connection, seat, seat.next_seq, at)
        exam.write_advance(
            connection,
            lease.session_id,
            next_seq=seat.next_seq + (put is not None),
            answered_count=answered,
            expires_at=now + self._lease_s,
            access_hash=head,
        )
        return Receipt(seq, answered, seat.question_count, False), put

    def _hand_out(self, connection: Connection, seat: exam.Seat, seq: int, at: str) -> Put | None:
        """A question for the first time; null when all are handed out. Raises ExamError 403 at a quota."""
        if seq > seat.question_count:
            return None
        _check_quota(connection, "candidate", seat.candidate_limit, user_id=seat.user_id)
        _check_quota(connection, "organisation", seat.organisation_limit, organisation=seat.organisation)
        put = self._put(connection, seat, seq, is_repeat=False)
        exam.write_delivery(connection, seat.session_id, seq, at)
        return put

    def _put(self, connection: Connection, seat: exam.Seat, seq: int, *, is_repeat: bool) -> Put:
        content = exam.read_content(connection, seat.session_id, seat.set_id, seq)
        return Put(seq, seat.question_count, seat.prompt_style, content, is_repeat)

    def _window(self, seat: exam.Seat) -> int:
        return int(seat.pending_window) if self._is_in_house else 1

    def _read_own_seat(self, connection: Connection, claims: Claims, session_id: str) -> exam.Seat:
        """The session, for the candidate that the token and the ledger agree on.

        What does not exist and what belongs to others is refused with the same words.
        """
        seat = exam.read_seat(connection, session_id, claims.user_id)
        if seat is None:
            _check_role(users.read_user(connection, claims.user_id), claims, "sit")
            raise _not_yours()
        _check_role(seat, claims, "sit")
        if claims.session_id != session_id or seat.user_id != claims.user_id:
            raise _not_yours()
        return seat

    def _read_held_seat(self, connection: Connection, claims: Claims, lease: Lease, now: float) -> exam.Seat:
        seat = self._read_own_seat(connection, claims, lease.session_id)
        if (
            seat.lease_hash is None
            or seat.lease_generation != lease.generation
            or not hmac.compare_digest(seat.lease_hash, _hash_secret(lease.secret))
        ):
            raise ExamError(
                403, "lease_lost", "The session is not held by this lease: it was opened again or released."
            )
        if seat.status != "closed" and (seat.lease_expires_at or 0.0) <= now:
            raise ExamError(
                403, "lease_expired", "The lease has expired. Open the session again with the lease secret."
            )
        return seat

    def _read_readable_seat(
        self, connection: Connection, claims: Claims, session_id: str, permission: str
    ) -> exam.Seat:
        seat = exam.read_seat(connection, session_id, claims.user_id)
        user = seat if seat is not None else users.read_user(connection, claims.user_id)
        _check_active(user)
        assert user is not None
        if user.role == "candidate":
            return self._read_own_seat(connection, claims, session_id)
        _check_role(user, claims, permission)
        if seat is None:
            raise ExamError(404, "session_unknown", "There is no such session.")
        return seat


def make_protocol(ledger: Ledger, settings: Settings, *, is_in_house: bool) -> ExamProtocol:
    """The protocol of this installation. An in-house lease outlasts the longest call to a model."""
    lease_s = max(settings.lease_s, settings.call_timeout_s + 30) if is_in_house else settings.lease_s
    return ExamProtocol(ledger, read_secret(settings), lease_s=lease_s, is_in_house=is_in_house)


def close_run(ledger: Ledger, run_id: str) -> bool:
    """Close a run whose sessions are all closed; false when it was closed before.

    Raises UsageError for an unknown run and GateError when sessions are still to be sat.
    """
    with ledger.write() as connection:
        if exam.read_run(connection, run_id) is None:
            raise UsageError(f"There is no run {run_id!r}. `proctor exam plan` makes one.")
        counts = exam.count_sessions(connection, run_id)
        unfinished = sum(count for status, count in counts.items() if status != "closed")
        if unfinished:
            raise GateError(
                f"Run {run_id}: {unfinished} of {sum(counts.values())} sessions are not closed. Let them be sat "
                "(`proctor exam sit`) before closing the run."
            )
        return exam.write_run_closed(connection, run_id, now_text())


def _log(connection: Connection, claims: Claims, seat: exam.Seat, action: str, at: str | None = None) -> str:
    return access.append_access(
        connection,
        user_id=claims.user_id,
        session_id=seat.session_id,
        action=action,
        status=200,
        code=None,
        previous_hash=seat.access_hash,
        at=at,
    )


def _check_active(user: Any) -> None:
    if user is None or not user.is_active:
        raise ExamError(403, "user_unknown", "The user is not known, or no longer admitted.")


def _check_role(user: Any, claims: Claims, permission: str) -> None:
    """The role in the ledger decides; the token can only take away."""
    _check_active(user)
    if permission not in PERMISSIONS.get(user.role, frozenset()) or permission not in claims.permissions:
        raise ExamError(403, "permission_missing", f"This needs the permission {permission!r}.")


def _check_quota(connection: Connection, level: str, limit: int | None, **whose: str) -> None:
    if limit is None:
        return
    _, pending, completed = exam.count_questions(connection, **whose)
    if pending + completed >= limit:
        raise ExamError(403, "quota_reached", f"The {level} has been handed all questions that it may have.")


def _describe(connection: Connection, seat: exam.Seat, *, is_examiner: bool) -> SessionStatus:
    row = exam.list_sessions(connection, session_id=seat.session_id)[0]
    return SessionStatus(
        session_id=seat.session_id,
        status=row["status"],
        prompt_style=seat.prompt_style,
        session=Quota(
            row["question_count"],
            row["next_seq"] - 1 - row["answered_count"],
            row["answered_count"],
            row["question_count"],
        ),
        candidate=Quota(
            *exam.count_questions(connection, user_id=seat.user_id),
            users.read_question_limit(connection, seat.user_id),
        ),
        organisation=Quota(
            *exam.count_questions(connection, organisation=seat.organisation), seat.organisation_limit
        )
        if is_examiner
        else None,
        opened_at=row["opened_at"],
        closed_at=row["closed_at"],
    )


def _not_yours() -> ExamError:
    return ExamError(403, "session_invalid", "The token is not valid for this session.")


def _hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
