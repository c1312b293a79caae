"""What a candidate does with a session: each step is one transaction of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from schemas.errors import ConflictError, ExamError
from schemas.settings import LONGEST_RESPONSE
from schemas.vocabulary import GIVEN_STATUSES, UNANSWERED
from tasks.exam.log.signing import describe_answer, is_signed
from tasks.exam.protocol.deadlines import Deadlines, check_deadline, read_answer_by
from tasks.exam.protocol.seating import (
    check_quota,
    choose_lease_secret,
    hash_secret,
    log_use,
    read_held_seat,
    read_own_seat,
)
from tasks.exam.protocol.tokens import VerifiedTokens
from tasks.exam.protocol.words import Answer, Lease, Put, Receipt
from tasks.exam.public import add_closing, add_opening
from tasks.questions import BareQuestion
from warehouse.ledger.engine.logs.chain import Entry
from warehouse.ledger.engine.logs.digests import digest_response, digest_text
from warehouse.ledger.engine.moments import now_text, write_moment
from warehouse.ledger.engine.statements import parse_json
from warehouse.ledger.exam import deadlines as ledger_deadlines
from warehouse.ledger.exam import seats
from warehouse.ledger.money.calls import finish_call
from warehouse.ledger.trust.seals import seal_closing

if TYPE_CHECKING:
    from warehouse.ledger.engine.leases.clock import Clock
    from warehouse.ledger.engine.ledger import Connection
    from warehouse.ledger.money.calls import FinishedCall

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Move(Generic[T]):
    """One use of the protocol: what the audit log records of it, what it does in a transaction.

    `call` is kept by the same transaction, and by itself where the move is refused: it is paid for.
    """

    action: str
    token: str
    session_id: str | None
    operation: Callable[[Connection], T]
    target: str | None = None
    call: FinishedCall | None = None


class Accepted(NamedTuple):
    """A stored answer: its receipt as known before the commit, its entry, the next question."""

    receipt: Receipt
    entry: Entry
    put: Put | None


class NextPut(NamedTuple):
    """The question that comes, null for none; `is_end`: the last one's time was over just now."""

    put: Put | None
    is_end: bool = False


@dataclass(frozen=True)
class SeatRules:
    """How sessions are held.

    Attributes:
        lease_s: seconds that a lease lasts without a call.
        is_in_house: whether a window of several pending questions is honoured (trusted, in-house runs only).
        deadlines: for sessions that are opened before any were set; null sets none.
        longest_response: characters that are kept of a response, and of the reasoning before it.
    """

    lease_s: float
    is_in_house: bool = False
    deadlines: Deadlines | None = None
    longest_response: int = LONGEST_RESPONSE


class Moves:
    """What the holder of a session can do, each as one transaction."""

    def __init__(self, tokens: VerifiedTokens, rules: SeatRules, clock: Clock) -> None:
        self._tokens = tokens
        self._lease_s = rules.lease_s
        self._is_in_house = rules.is_in_house
        self._clock = clock
        self._deadlines = rules.deadlines
        self._longest_response = rules.longest_response

    def open(self, token: str, session_id: str, lease_secret: str | None) -> Move[Lease]:
        """Open a session, or resume it as its holder."""

        def operation(connection: Connection) -> Lease:
            self._clock.look(connection)
            now = self._clock()
            claims = self._tokens.verify(token, connection)
            seat = read_own_seat(connection, claims, session_id)
            if seat.status == "closed":
                raise ExamError(403, "session_closed", "The session is closed: nothing more is taken.")
            seat = self._set_deadlines(connection, claims.user_id, seat, now)
            check_deadline(seat, self._clock)
            held = (
                seat.lease_hash if seat.lease_expires_at is not None and seat.lease_expires_at > now else None
            )
            secret = choose_lease_secret(lease_secret, held)
            generation = seat.lease_generation + 1
            at = now_text()
            if seats.write_first_opening(connection, session_id, at):
                add_opening(connection, session_id)
            seats.write_session(
                connection,
                session_id,
                status="open",
                lease_generation=generation,
                lease_hash=hash_secret(secret),
                lease_expires_at=now + self._lease_s,
            )
            log_use(connection, claims, seat, Entry("open", target=claims.describe()))
            return self._lend(seat, session_id, generation, secret, now)

        return Move("open", token, session_id, operation)

    def renew(self, token: str, lease: Lease) -> Move[Lease]:
        """Let the lease last."""

        def operation(connection: Connection) -> Lease:
            now = self._clock()
            claims = self._tokens.read(token, connection)
            seat = read_held_seat(connection, claims, lease, self._clock)
            seats.write_session(connection, lease.session_id, lease_expires_at=now + self._lease_s)
            log_use(connection, claims, seat, Entry("renew"))
            return self._lend(seat, lease.session_id, lease.generation, lease.secret, now)

        return Move("renew", token, lease.session_id, operation)

    def ask(self, token: str, lease: Lease) -> Move[NextPut]:
        """The next question, or the pending one again."""

        def operation(connection: Connection) -> NextPut:
            now = self._clock()
            claims = self._tokens.read(token, connection)
            seat = read_held_seat(connection, claims, lease, self._clock)
            at = now_text()
            entry = log_use(connection, claims, seat, Entry("next", accessed_at=at))
            if seat.status == "closed":
                return NextPut(None)
            answered = seat.answered_count + self._give_up_late(connection, seat, now)
            if answered == seat.question_count:
                _close(connection, lease.session_id, answered, at)
                return NextPut(None, is_end=True)
            pending = seat.next_seq - 1 - answered
            put, next_seq = None, seat.next_seq
            if pending < self._window(seat):
                put = self._hand_out(connection, seat, seat.next_seq, now)
            if put is not None:
                next_seq += 1
                entry.seq, entry.target = put.seq, name_delivery(put.seq, write_moment(now))
            else:
                oldest = seats.read_pending_seqs(connection, lease.session_id, seat.next_seq)[0]
                put = self._put_again(connection, seat, oldest)
                entry.seq = put.seq
            seats.write_advance(
                connection,
                lease.session_id,
                next_seq=next_seq,
                answered_count=answered,
                expires_at=now + self._lease_s,
            )
            return NextPut(put)

        return Move("next", token, lease.session_id, operation)

    def answer(
        self,
        token: str,
        lease: Lease,
        seq: int,
        answer: Answer,
        *,
        wants_next: bool,
        call: FinishedCall | None = None,
    ) -> Move[Accepted]:
        """Store an answer, with the call that gave it; hand out the next where that is wanted."""

        def operation(connection: Connection) -> Accepted:
            # First: whether it is this reply that counts is then known with what the seat is read for.
            kept = None if call is None else finish_call(connection, call)
            accepted = self._accept(connection, token, lease, seq, answer, wants_next=wants_next)
            if kept is not None and not kept.read():
                raise ConflictError(
                    "Another process was answered first, and its reply is in use. Ask for the question again."
                )
            return accepted

        action = _name_answering(wants_next=wants_next)
        return Move(action, token, lease.session_id, operation, call=call)

    def list_pending(self, token: str, lease: Lease) -> Move[list[Put]]:
        """Everything handed out and not answered."""

        def operation(connection: Connection) -> list[Put]:
            claims = self._tokens.read(token, connection)
            seat = read_held_seat(connection, claims, lease, self._clock)
            log_use(connection, claims, seat, Entry("pending"))
            return [
                self._put_again(connection, seat, seq)
                for seq in seats.read_pending_seqs(connection, lease.session_id, seat.next_seq)
            ]

        return Move("pending", token, lease.session_id, operation)

    def _lend(self, seat: seats.Seat, session_id: str, generation: int, secret: str, now: float) -> Lease:
        return Lease(
            session_id,
            generation,
            secret,
            now + self._lease_s,
            seat.prompt_style,
            seat.question_count,
            seat.answered_count,
            seat.deadline_at,
            seat.question_s,
            self._lease_s,
        )

    def _accept(
        self, connection: Connection, token: str, lease: Lease, seq: int, answer: Answer, *, wants_next: bool
    ) -> Accepted:
        now = self._clock()
        claims = self._tokens.read(token, connection)
        seat = read_held_seat(connection, claims, lease, self._clock, seq)
        if not 1 <= seq <= seat.question_count:
            raise ExamError(
                409, "not_delivered", "There is no question at this position that could be answered."
            )
        _check_place(seat, seq, self._clock)
        row = answer.checked(self._longest_response)
        answer_hash = digest_text(row["response"])
        _check_signature(seat, seq, answer_hash, answer.signature)
        row["session_id"] = lease.session_id
        row["seq"] = seq
        row["answered_at"] = at = now_text()
        try:
            seats.write_response(connection, row)
        except ConflictError:
            raise _already_answered() from None
        answered = seat.answered_count + 1
        is_closed = answered == seat.question_count
        entry = log_use(
            connection,
            claims,
            seat,
            Entry(
                _name_answering(wants_next=wants_next),
                seq=seq,
                answer_hash=answer_hash,
                digest=digest_response(row),
                accessed_at=at,
            ),
        )
        receipt = Receipt(seq, answered, seat.question_count, is_closed, lease.session_id, answer_hash)
        if is_closed:
            _close(connection, lease.session_id, answered, at)
            return Accepted(receipt, entry, None)
        pending = seat.next_seq - 1 - answered
        put = None
        if wants_next and pending < self._window(seat):
            # At a quota the answer still counts; whoever asks for the next question hears of the quota.
            with suppress(ExamError):
                put = self._hand_out(connection, seat, seat.next_seq, now)
        if put is not None:
            entry.target = name_delivery(put.seq, write_moment(now))
        seats.write_advance(
            connection,
            lease.session_id,
            next_seq=seat.next_seq + (put is not None),
            answered_count=answered,
            expires_at=now + self._lease_s,
        )
        return Accepted(receipt, entry, put)

    def _set_deadlines(self, connection: Connection, caller: str, seat: seats.Seat, now: float) -> seats.Seat:
        """The session with its deadlines: those set at planning, else they are set now, once."""
        if self._deadlines is None or seat.deadline_at is not None:
            return seat
        ledger_deadlines.write_deadlines(
            connection,
            session_id=seat.session_id,
            deadline_at=write_moment(now + self._deadlines.session_s),
            question_s=self._deadlines.question_s,
        )
        found = seats.read_seat(connection, seat.session_id, caller)
        assert found is not None
        return found

    def _give_up_late(self, connection: Connection, seat: seats.Seat, now: float) -> int:
        """Mark the pending questions whose time is over as unanswered; returns how many there were."""
        if seat.question_s is None or seat.next_seq - 1 == seat.answered_count:
            return 0
        late = [
            seq
            for seq in seats.read_pending_seqs(connection, seat.session_id, seat.next_seq)
            if _is_late(seat, seats.read_place(connection, seat.session_id, seq), self._clock)
        ]
        for seq in late:
            seats.write_mark(connection, seat.session_id, seq, UNANSWERED, write_moment(now))
        return len(late)

    def _hand_out(self, connection: Connection, seat: seats.Seat, seq: int, now: float) -> Put | None:
        """Hand out a question for the first time; None when all are. ExamError 403 at a quota."""
        if seq > seat.question_count:
            return None
        check_quota(connection, "candidate", seat.candidate_limit, user_id=seat.user_id)
        check_quota(connection, "organisation", seat.organisation_limit, organisation=seat.organisation)
        delivered_at = write_moment(now)
        seats.write_delivery(connection, seat.session_id, seq, delivered_at)
        return self._put(seat, seq, parse_json(seat.next_content), delivered_at, is_repeat=False)

    def _put_again(self, connection: Connection, seat: seats.Seat, seq: int) -> Put:
        """Put a pending question again; its delivery is read only where its time is limited."""
        delivered_at = None
        if seat.question_s is not None:
            delivered_at = seats.read_place(connection, seat.session_id, seq).delivered_at
        content = seats.read_content(connection, seat.session_id, seat.set_id, seq)
        return self._put(seat, seq, content, delivered_at, is_repeat=True)

    def _put(
        self,
        seat: seats.Seat,
        seq: int,
        content: dict[str, Any],
        delivered_at: str | None,
        *,
        is_repeat: bool,
    ) -> Put:
        return Put(
            seq,
            seat.question_count,
            seat.prompt_style,
            BareQuestion.from_row(content),
            is_repeat,
            read_answer_by(delivered_at, seat.question_s),
        )

    def _window(self, seat: seats.Seat) -> int:
        return int(seat.pending_window) if self._is_in_house else 1


def _name_answering(*, wants_next: bool) -> str:
    return "submit_and_next" if wants_next else "submit"


def _check_place(seat: seats.Seat, seq: int, clock: Clock) -> None:
    """Pass for the question that may be answered now; raises ExamError 403 or 409."""
    place = seat.place
    if place.answer_status in GIVEN_STATUSES:
        raise _already_answered()
    if seat.status == "closed":
        raise ExamError(
            403,
            "session_closed",
            f"The session was closed ({seat.close_reason or 'all its questions had their turn'}). An answer that comes later is "
            "not taken; what was unanswered counts 0.",
        )
    if seq >= seat.next_seq:
        raise ExamError(
            409, "not_delivered", "This question has not been handed out yet. Ask for the next one."
        )
    if seat.question_s is None:
        return
    if place.answer_status is not None or _is_late(seat, place, clock):
        raise ExamError(
            409,
            "too_late",
            f"The time for this question ({seat.question_s:g} s) is over, and it counts as unanswered. Ask for the next one.",
        )


def _is_late(seat: seats.Seat, place: seats.SeatPosition, clock: Clock) -> bool:
    answer_by = read_answer_by(place.delivered_at, seat.question_s)
    if answer_by is None or place.delivered_at is None:
        return False
    return clock.has_passed(answer_by, since=place.delivered_at)


def name_delivery(seq: int, delivered_at: str) -> str:
    """How an entry says which question was handed out for the first time, and when."""
    return f"{seq}@{delivered_at}"


def _check_signature(seat: seats.Seat, seq: int, answer_hash: str, signature: str | None) -> None:
    """Pass for an answer signed by the seat's key, if any; raises ExamError 403 otherwise."""
    if seat.public_key is None:
        return
    if not is_signed(seat.public_key, signature, describe_answer(seat.session_id, seq, answer_hash)):
        raise ExamError(
            403,
            "signature_wrong",
            "A key is enrolled for this candidate, and the answer is not signed with it. Sign the session's id, the position and "
            "the SHA-256 of the response as it is kept.",
        )


def _close(connection: Connection, session_id: str, answered: int, at: str) -> None:
    """End a session; the lease's hash stays, so that its holder still learns that it is over."""
    seats.write_session(connection, session_id, status="closed", answered_count=answered, closed_at=at)
    seal_closing(connection, session_id)
    add_closing(connection, session_id)


def _already_answered() -> ExamError:
    return ExamError(409, "already_answered", "This question has an answer, and the first one stays.")
