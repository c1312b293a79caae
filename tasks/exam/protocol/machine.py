"""The exam protocol: a state machine over the ledger (LLMEval-Fair §2.2.2).

It is the only path by which questions are put. Outer layer: a signed token, the user's role, the one session that the
token names, and a lease that only one holder has. Inner layer: questions in the allocated order only, the next one only
when the previous is answered, one answer per question, quotas. Every attempt is written to the audit log, in the same
transaction as what it did.

Signature and role are checked at opening; afterwards each call checks expiry, keys and ended tokens in memory (as of the
last second), and user, role, lease generation and lease expiry in the statement that reads the session. Each method has
an `_async` twin; both run on the group-commit writer and return after COMMIT. Session: planned → open → closed; a closed
session never opens again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from schemas.errors import ConflictError, ExamError, StoreError, UsageError
from schemas.ledger.trust import Approval
from schemas.settings import Settings
from tasks.exam.log import HeadKeeper
from tasks.exam.log.signing import describe_receipt
from tasks.exam.protocol import watching
from tasks.exam.protocol.deadlines import Deadlines
from tasks.exam.protocol.moves import Accepted, Move, Moves, SeatRules
from tasks.exam.protocol.seating import check_role
from tasks.exam.protocol.tokens import Claims, KeyFile, VerifiedTokens, open_keys, read_caller
from tasks.exam.protocol.words import Answer, Lease, Put, Receipt, SessionStatus, SessionSummary
from tasks.running.approvals import NOBODY_ELSE, TwoPersons, approve, describe_wait, refuse
from warehouse.ledger.engine.leases.clock import Clock, check_clock, clock_of
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.money.calls import finish_call
from warehouse.ledger.trust import approvals, users

if TYPE_CHECKING:
    from warehouse.ledger.engine.statements import Later
    from warehouse.ledger.money.calls import FinishedCall

T = TypeVar("T")
_log = logging.getLogger("proctor.exam_api")


class ExamProtocol:
    """The state machine. One per process; safe to use from several threads and coroutines.

    `keeps_calls`: whether the calls that give answers can be kept with them, as in the ledger's own process.

    Args:
        ledger: where everything is kept.
        rules: how sessions are held.
        clock: seconds since 1970: the ledger's (`clock_of`); a plain function, as tests give, is believed.
        heads: signs the log's head when a session ends, and receipts for outside candidates; null signs nothing.
        two_persons: what needs a second person.
    """

    def __init__(
        self,
        ledger: Ledger,
        keys: KeyFile,
        rules: SeatRules,
        *,
        clock: Clock | None = None,
        heads: HeadKeeper | None = None,
        two_persons: TwoPersons = NOBODY_ELSE,
    ) -> None:
        self._ledger = ledger
        self._clock = found = clock or clock_of(ledger.engine)
        self._two_persons = two_persons
        self._keys = keys
        self._heads = heads
        self._receipts = None if rules.is_in_house else heads
        self._tokens = VerifiedTokens(keys, found)
        self.longest_response = rules.longest_response
        self.keeps_calls = ledger.is_whole
        self._moves = Moves(self._tokens, rules, found)

    # --- opening ---------------------------------------------------------------------------------------------

    async def open_session(self, token: str, session_id: str, lease_secret: str | None = None) -> Lease:
        """Open a session, or resume it as its holder.

        Succeeds when nobody holds the session: never opened, lease expired, or released. While a lease lives, only who
        shows its secret may open; every opening begins a new generation, so that an earlier holder is shut out.
        `lease_secret` is the secret to resume with, or one of the caller's own choice (32 characters or more).

        Raises ExamError 401 (token), 403 (user, role, session, lease held by another, session closed, deadline), 422 (secret).
        """
        return await self._perform_async(self._moves.open(token, session_id, lease_secret))

    async def renew_lease(self, token: str, lease: Lease) -> Lease:
        """Keep a session while a candidate thinks; raises ExamError as every call of a holder does."""
        return await self._perform_async(self._moves.renew(token, lease))

    # --- questions and answers -------------------------------------------------------------------------------

    async def next_question(self, token: str, lease: Lease) -> Put | None:
        """The next question in order; None when the session is finished.

        While one is pending, it is that one again, marked as a repeat. A question whose time is over is given up: it
        counts as unanswered, and the next one comes. Raises ExamError 401, 403 (`lease_expired`, `lease_lost`,
        `quota_reached`, `deadline_passed` and those of opening).
        """
        asked = await self._perform_async(self._moves.ask(token, lease))
        if asked.is_end:
            self._note_end()
        return asked.put

    async def submit_answer(self, token: str, lease: Lease, seq: int, answer: Answer) -> Receipt:
        """Store the answer to a question that was handed out; the last one closes the session.

        Raises ExamError 409 (`already_answered`, `not_delivered`, `too_late`), 422, and those of next_question.
        """
        move = self._moves.answer(token, lease, seq, answer, wants_next=False)
        return (await self._acknowledge(await self._perform_async(move)))[0]

    async def submit_and_next(
        self, token: str, lease: Lease, seq: int, answer: Answer, call: FinishedCall | None = None
    ) -> tuple[Receipt, Put | None]:
        """Both in one transaction; the question is a new one, or null when none is left to hand out.

        `call` gave the answer, and is kept by the same transaction; where the answer is refused, by the next one. Raises
        ConflictError where another process was answered first.
        """
        move = self._moves.answer(token, lease, seq, answer, wants_next=True, call=call)
        return await self._acknowledge(await self._perform_async(move))

    async def read_pending(self, token: str, lease: Lease) -> list[Put]:
        """All questions handed out and not answered, in order: what an in-house holder resumes with."""
        return await self._perform_async(self._moves.list_pending(token, lease))

    async def find_picture(self, token: str, lease: Lease, seq: int, number: int) -> str:
        """The SHA-256 of a picture of a question that is handed out to this lease and not answered.

        Raises ExamError 409 for any other question, 404 for a number that its texts do not name.
        """
        pending = self._moves.list_pending(token, lease)

        def operation(connection: Connection) -> str:
            for put in pending.operation(connection):
                if put.seq == seq:
                    for picture in put.content.pictures:
                        if picture.number == number:
                            return picture.sha256
                    raise ExamError(404, "no_such_picture", "The question has no picture of this number.")
            raise ExamError(
                409,
                "not_pending",
                "Pictures are handed out with their question, until it is answered. Ask for the next question.",
            )

        # One transaction: the log says what came of it.
        return await self._perform_async(Move(pending.action, token, lease.session_id, operation))

    # --- states and lists ------------------------------------------------------------------------------------

    async def read_status(self, token: str, session_id: str) -> SessionStatus:
        """Where a session stands: one's own by a token for it, any by an examiner's."""
        return await self._perform_async(watching.read_status(self._tokens, token, session_id))

    async def release_session(self, token: str, session_id: str) -> SessionStatus:
        """End a lease as an examiner: its holder is shut out, and a new opening succeeds.

        Answers stay. Where that needs a second person it is asked for, and ExamError 403 raised, until somebody
        has approved it.
        """
        move = watching.release_session(self._tokens, token, session_id, self._two_persons, self._clock)
        if isinstance(found := await self._perform_async(move), Approval):
            raise ExamError(403, "approval_needed", describe_wait(found))
        return found

    async def list_sessions(
        self, token: str, run_id: str | None = None, *, after: str | None = None, limit: int | None = None
    ) -> list[SessionSummary]:
        """The caller's own sessions; for examiners all sessions, or those of a run.

        `limit` of them are returned: those that follow the session `after`.
        """
        return await self._perform_async(watching.list_sessions(self._tokens, token, run_id, after, limit))

    def decide(self, token: str, approval_id: int, *, is_approved: bool) -> Approval:
        """Approve or refuse a request as the token's user; ExamError 403 for who asked, 404, 409."""
        action = approvals.APPROVE if is_approved else approvals.REFUSE

        def operation(connection: Connection) -> Approval:
            claims = self._tokens.verify(token, connection)
            check_role(users.read_user(connection, claims.user_id), claims, "decide_requests")
            if claims.issued_by is not None:
                raise ExamError(
                    403,
                    "token_issued",
                    "Somebody else made this token. Decide with one got by your own password.",
                )
            if is_approved:
                return approve(
                    connection, approval_id, claims.user_id, self._two_persons.days, now=self._clock()
                )
            return refuse(connection, approval_id, claims.user_id, now=self._clock())

        return self._perform(Move(action, token, None, operation, f"approval {approval_id}"))

    # --- what is logged and checked around every call ----------------------------------------------------------

    def check_token(self, token: str, permission: str, action: str, target: str | None = None) -> Claims:
        """Verify a token for an action outside sessions (users, runs), and log the attempt.

        The entry says with whom or to what the action is done. Raises ExamError 401 or 403.
        """

        def operation(connection: Connection) -> Claims:
            claims = self._tokens.read(token, connection)
            check_role(users.read_user(connection, claims.user_id), claims, permission)
            add_entry(connection, Entry(action, claims.user_id, target=target))
            return claims

        return self._perform(Move(action, token, None, operation, target))

    def look_at_token(self, token: str) -> Claims:
        """The claims of a token before anything else is read.

        What is checked is the signature, the moments, and what is known to have ended. Raises ExamError 401.
        Nothing is logged, and the ledger is not asked: every call does both.
        """
        return self._tokens.look(token)

    def name_caller(self, token: str) -> str | None:
        """The user of a token that we signed, expired or ended as it may be; None for any other."""
        caller = read_caller(self._keys, token)
        return None if caller is None else caller.user_id

    def log_attempt(
        self,
        action: str,
        *,
        user_id: str | None,
        session_id: str | None,
        status: int,
        code: str | None,
        target: str | None = None,
    ) -> None:
        """Write an attempt that did not reach the protocol (a wrong password, a malformed request)."""
        self._ledger.writer.run(
            lambda connection: add_entry(
                connection, Entry(action, user_id, session_id, status, code, _cut(target))
            )
        )

    def _note_end(self) -> None:
        """Let the log's head be signed after the end of a session."""
        if self._heads is not None:
            self._heads.keep_soon()

    async def _acknowledge(self, accepted: Accepted) -> tuple[Receipt, Put | None]:
        """The receipt of a durable answer."""
        receipt, entry, put = accepted
        if receipt.is_closed:
            self._note_end()
        signature = None
        if self._receipts is not None:
            said = describe_receipt(
                receipt.session_id, receipt.seq, receipt.answer_sha256, entry.number, entry.entry_hash
            )
            signature = await _sign(self._receipts, said)
        return replace(receipt, entry=entry.number, head=entry.entry_hash, signature=signature), put

    def _perform(self, move: Move[T]) -> T:
        try:
            return self._ledger.writer.run(move.operation)
        except ExamError as error:
            self._ledger.writer.run(self._refusal(move, error))
            raise

    async def _perform_async(self, move: Move[T]) -> T:
        try:
            return await self._ledger.writer.run_async(move.operation)
        except ExamError as error:
            await self._ledger.writer.run_async(self._refusal(move, error))
            raise
        except Exception as error:
            # Where it is not known what came of a commit, a reply that is booked again would count as a second one.
            is_undone = isinstance(error, ConflictError) or not isinstance(error, StoreError)
            if (call := move.call) is not None and is_undone:

                def keep(connection: Connection) -> bool | Later[bool]:
                    return finish_call(connection, call)

                await self._ledger.writer.run_async(keep)
            raise

    def _refusal(self, move: Move[Any], error: ExamError) -> Callable[[Connection], None]:
        """The log entry of a refused attempt, in a session's story only by that session's token."""
        # An expired or ended token still says truly who calls: its signature is good.
        caller = read_caller(self._keys, move.token)
        is_theirs = (
            caller is not None
            and error.status != 401
            and (move.session_id == caller.session_id or "read_sessions" in caller.permissions)
        )

        def operation(connection: Connection) -> None:
            if move.call is not None:
                finish_call(connection, move.call)
            add_entry(
                connection,
                Entry(
                    move.action,
                    None if caller is None else caller.user_id,
                    move.session_id[:80] if move.session_id is not None and is_theirs else None,
                    error.status,
                    error.code,
                    move.target if is_theirs else _cut(move.session_id or move.target),
                ),
            )

        return operation


def make_protocol(
    ledger: Ledger, settings: Settings, *, is_in_house: bool, heads: HeadKeeper | None = None
) -> ExamProtocol:
    """The protocol of this installation by the ledger's clock; raises ClockError."""
    check_clock(ledger)
    lease_s = max(settings.lease_s, settings.call_timeout_s + 30) if is_in_house else settings.lease_s
    return ExamProtocol(
        ledger,
        open_keys(settings),
        SeatRules(
            lease_s=lease_s,
            is_in_house=is_in_house,
            deadlines=Deadlines.from_settings(settings),
            longest_response=settings.longest_response,
        ),
        heads=heads or HeadKeeper(ledger, settings),
        two_persons=TwoPersons.from_settings(settings),
    )


async def _sign(keeper: HeadKeeper, said: Mapping[str, object]) -> str | None:
    """A signature; None where nobody signs now: the answer is kept all the same."""
    try:
        signer = keeper.signer
        # Somebody may have to touch a key: the other candidates do not wait for it.
        return await asyncio.to_thread(signer.sign, said) if signer.is_held_elsewhere else signer.sign(said)
    except (StoreError, UsageError) as error:
        _log.error("The receipt of an answer is not signed: %s", error)
        return None


def _cut(target: str | None) -> str | None:
    """A name that somebody sent, at most as long as the log keeps it."""
    return None if target is None else target[:80]
