"""Whether the state of the ledger is still what the audit log records."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final

from schemas.ledger.exam import Response
from schemas.ledger.trust import ErasedAnswer
from schemas.vocabulary import GIVEN_STATUSES
from tasks.exam.log.words import LogFinding, Seen
from warehouse.ledger.engine.logs import digests
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.tables import responses
from warehouse.ledger.exam.tokens import digest_end
from warehouse.ledger.trust import access, erasures, sealed_state, seals

if TYPE_CHECKING:
    from sqlalchemy import Row

    from warehouse.ledger.engine.ledger import Connection
    from warehouse.ledger.trust.access import SessionEntry
    from warehouse.ledger.trust.sealed_state import SessionContent

_COLUMNS: Final = tuple(responses.c.keys())
_SEQ: Final = _COLUMNS.index("seq")
_ANSWERS: Final = ("submit", "submit_and_next")
_PLANS: Final = ("plan_run", "plan_seed")
_NOTHING: Final = Seen()
_DRAWS: Final = ("draw_set", "draw_key")
# Ends of tokens older than this may have left the ledger: no token lives so long.
_ENDS_KEPT_S: Final = 365 * 86_400


def find_state_faults(connection: Connection, seen: Seen = _NOTHING) -> Iterator[LogFinding]:
    """Every difference, by name; of sessions and sets seen only whether they are there."""
    yield from _check_runs(connection)
    yield from _check_sets(connection, seen.set_ids)
    yield from _check_erasures(connection)
    yield from _check_sessions(connection, seen.session_ids)
    yield from _check_users(connection)
    yield from _check_limits(connection)
    yield from _check_budgets(connection)
    yield from _check_ends(connection)


def list_faulty_sessions(connection: Connection, session_ids: Sequence[str]) -> set[str]:
    """Of these sessions those that are not what their entries say, or have no text any more."""
    return {
        session.session_id
        for session in sealed_state.list_sessions(connection, session_ids)
        if any(True for _ in _check_session(connection, session, is_erased=False))
    }


def _read_last(connection: Connection, actions: tuple[str, ...]) -> dict[tuple[str, str], Row[Any]]:
    """(action, target) → the last entry that says what it is."""
    return {(row.action, row.target): row for row in access.iter_targets(connection, actions)}


def _check_runs(connection: Connection) -> Iterator[LogFinding]:
    planned = _read_last(connection, _PLANS)
    closings = _read_last(connection, ("close_run",))
    found = {row.run_id: row for row in sealed_state.list_runs(connection)}
    for action, run_id in planned:
        if action == "plan_run" and run_id not in found:
            yield LogFinding("run_missing", f"run {run_id}", "it was planned and is not there")
    for run_id, run in found.items():
        where = f"run {run_id}"
        entry = planned.get(("plan_run", run_id))
        if entry is None:
            yield LogFinding("run_added", where, "no entry says that it was planned")
            continue
        if digests.read_run_digest(connection, run_id) != entry.digest:
            yield LogFinding("plan_changed", where, "its plan, month, budget or size is not what was planned")
        seed = planned.get(("plan_seed", run_id))
        if seed is None or digests.digest_text(run.seed or "") != seed.digest:
            yield LogFinding("seed_changed", where, "its seed is not the one that it was planned with")
        closing = closings.get(("close_run", run_id))
        if (run.status == "closed") != (closing is not None) or (
            closing is not None and digests.digest_text(run.closed_at or "") != closing.digest
        ):
            yield LogFinding(
                "run_state_changed", where, f"it is {run.status}, and the log says otherwise, or another time"
            )


def _check_sets(connection: Connection, passed: AbstractSet[str]) -> Iterator[LogFinding]:
    drawn = _read_last(connection, _DRAWS)
    keys = sealed_state.list_draw_keys(connection)
    for set_id, key in keys.items():
        where = f"set {set_id}"
        entry = drawn.get(("draw_set", set_id))
        if entry is None:
            yield LogFinding("set_added", where, "no entry says that it was drawn")
            continue
        if set_id not in passed and digests.read_set_digest(connection, set_id) != entry.digest:
            yield LogFinding(
                "drawn_content_changed", where, "its questions or their contents are not those drawn"
            )
        if digests.digest_text(key) != drawn[("draw_key", set_id)].digest:
            yield LogFinding("draw_key_changed", where, "its key is not the one that it was drawn with")
    for action, set_id in drawn:
        if action == "draw_set" and set_id not in keys:
            yield LogFinding("set_missing", f"set {set_id}", "it was drawn and is not there")


def _check_erasures(connection: Connection) -> Iterator[LogFinding]:
    """Whether every erasure is one that an entry names, and keeps the hashes that it then kept."""
    entries = _read_last(connection, (erasures.ERASE,))
    found = {erasure.erasure_id: erasure for erasure in erasures.list_erasures(connection)}
    for name, erasure in found.items():
        entry = entries.get((erasures.ERASE, name))
        if entry is None:
            yield LogFinding("erasure_added", f"erasure {name}", "no entry says that anything was erased")
        elif (
            erasures.digest_erasure(erasure, erasures.iter_erased(connection, name)) != entry.digest
            or erasure.digest != entry.digest
        ):
            yield LogFinding(
                "erasure_changed",
                f"erasure {name}",
                "who erased, when, why or what, or a hash of it, is not what was written",
                entry.number,
            )
    for action, name in entries:
        if action == erasures.ERASE and name not in found:
            yield LogFinding(
                "erasure_missing", f"erasure {name}", "the log knows it", entries[(action, name)].number
            )


def _check_sessions(connection: Connection, passed: AbstractSet[str]) -> Iterator[LogFinding]:
    found = sealed_state.list_sessions(connection)
    # Of an erasure that no entry names nothing is believed: its answers are then held to their texts, which are gone.
    known = {name for action, name in _read_last(connection, (erasures.ERASE,)) if action == erasures.ERASE}
    erased = {
        session: name for session, name in erasures.map_erased_sessions(connection).items() if name in known
    }
    names = {row.session_id for row in found}
    for row in access.iter_targets(connection, ("plan_session",)):
        if row.session_id not in names:
            yield LogFinding(
                "session_missing", f"session {row.session_id}", "it was planned and is not there"
            )
    for session in found:
        if session.session_id not in passed:
            yield from _check_session(connection, session, is_erased=session.session_id in erased)


def _check_session(connection: Connection, session: Row[Any], *, is_erased: bool) -> Iterator[LogFinding]:
    allowed = access.read_session_entries(connection, session.session_id)
    content = sealed_state.read_session_content(connection, session.session_id)
    where = f"session {session.session_id}"
    last = {row.action: row for row in allowed}
    plan = last.get("plan_session")
    if plan is None:
        yield LogFinding("session_added", where, "no entry says that it was planned")
    elif digests.read_order_digest(connection, session.session_id, content.order) != plan.digest:
        yield LogFinding(
            "session_changed", where, "whose it is, or the order of its questions, is not as planned"
        )
    deadline = last.get("set_deadline")
    if plan is not None and session.deadline_at != (None if deadline is None else deadline.target):
        yield LogFinding("deadline_changed", where, "its deadline is not the one that was set")
    closing = last.get("close")
    if closing is not None or plan is not None:
        if (session.status == "closed") != (closing is not None):
            yield LogFinding(
                "session_state_changed", where, f"it is {session.status}, and the log says otherwise"
            )
        elif closing is not None and (
            digests.read_closing_digest(connection, session.session_id) != closing.digest
        ):
            yield LogFinding(
                "closing_changed",
                where,
                "its times, counts or reason of closing are not those of its closing",
            )
    kept = erasures.read_erased(connection, session.session_id) if is_erased else {}
    yield from _check_answers(connection, content, session, where, allowed, kept)
    yield from _check_deliveries(content.deliveries, where, allowed)


def _check_answers(
    connection: Connection,
    content: SessionContent,
    session: Row[Any],
    where: str,
    allowed: Sequence[SessionEntry],
    erased: Mapping[int, ErasedAnswer],
) -> Iterator[LogFinding]:
    answers = {row.seq: row for row in allowed if row.action in _ANSWERS and row.seq is not None}
    odd = set()
    for seq, digest, text_hash in content.answers:
        entry = answers.get(seq)
        if entry is None or seq in erased or digest != entry.digest or text_hash != entry.answer_hash:
            odd.add(seq)
        else:
            del answers[seq]
    unsealed = 0
    rows = (
        [row for row in sealed_state.read_responses(connection, session.session_id) if row[_SEQ] in odd]
        if odd
        else []
    )
    for values, digest in zip(rows, digests.digest_responses(rows), strict=True):
        seq = values[_SEQ]
        entry, kept = answers.pop(seq, None), erased.get(seq)
        row = Response(**dict(zip(_COLUMNS, values, strict=True)))
        place = f"{where}, question {seq}"
        if kept is not None:
            yield from _check_erased(row, digest, entry, kept, place)
        if entry is None:
            unsealed += row.answer_status in GIVEN_STATUSES
            continue
        if kept is not None:
            continue
        if digests.digest_text(row.response) != entry.answer_hash:
            yield LogFinding(
                "answer_changed", place, "the answer is not the one that was given", entry.number
            )
        elif digest != entry.digest:
            yield LogFinding(
                "answer_account_changed",
                place,
                "its status, time or account is not what it was when the answer was stored",
                entry.number,
            )
    for seq, entry in answers.items():
        yield LogFinding("answer_missing", f"{where}, question {seq}", "it was answered", entry.number)
    if unsealed:
        yield LogFinding("answer_added", where, f"{unsealed} answers have no entry")
    count = len(content.answers)
    if count != session.answered_count and session.status != "planned":
        yield LogFinding(
            "answer_count_changed", where, f"it counts {session.answered_count} answers and has {count}"
        )


def _check_erased(
    row: Response, digest: str, entry: SessionEntry | None, kept: ErasedAnswer, place: str
) -> Iterator[LogFinding]:
    """An erased answer must have no text, and beside it what was kept at the erasure."""
    number = None if entry is None else entry.number
    if row.response or row.reasoning is not None:
        yield LogFinding("answer_restored", place, "its text was erased, and there is one again", number)
    elif entry is not None and kept.answer_hash != entry.answer_hash:
        yield LogFinding(
            "answer_changed", place, "what was erased is not the answer that was given", entry.number
        )
    elif digest != kept.kept_digest:
        yield LogFinding(
            "answer_account_changed",
            place,
            "its status, time or account is not what it was when its text was erased",
            number,
        )


def _check_deliveries(
    kept: Mapping[int, str], where: str, allowed: Sequence[SessionEntry]
) -> Iterator[LogFinding]:
    targets = {row.target for row in allowed if row.seq is not None and row.target}
    if targets == {f"{seq}@{at}" for seq, at in kept.items()}:
        return
    written = dict(_parse_delivery(row.target) for row in allowed if row.seq is not None and row.target)
    if written == kept:
        return
    for seq in sorted({*written, *kept}):
        if written.get(seq) != kept.get(seq):
            yield LogFinding(
                "delivery_changed",
                f"{where}, question {seq}",
                "when it was handed out is not what the log says",
            )


def _parse_delivery(target: str) -> tuple[int, str]:
    seq, _, at = target.partition("@")
    return int(seq), at


def _check_users(connection: Connection) -> Iterator[LogFinding]:
    last = {row.target: row for row in _sort_by_number(connection, seals.USER_ACTIONS)}
    found = dict(digests.read_user_digests(connection))
    for user_id in sorted({*last, *found}):
        where = f"user {user_id}"
        if user_id not in found:
            yield LogFinding("user_missing", where, "the log knows this user")
        elif user_id not in last:
            yield LogFinding("user_added", where, "no entry says that this user was added")
        elif found[user_id] != last[user_id].digest:
            yield LogFinding(
                "user_changed",
                where,
                "role, limit, password, key or admission is not what a command or an admin set",
                last[user_id].number,
            )


def _sort_by_number(connection: Connection, actions: tuple[str, ...]) -> list[Row[Any]]:
    """The entries of these actions that name what they were done to, in the order of the log."""
    return sorted(access.iter_targets(connection, actions), key=lambda row: int(row.number))


def _check_limits(connection: Connection) -> Iterator[LogFinding]:
    last = _read_last(connection, ("limit_organisation",))
    for name, limit in sealed_state.list_limits(connection).items():
        entry = last.get(("limit_organisation", name))
        is_as_set = limit is None if entry is None else digests.compute_digest(limit) == entry.digest
        if not is_as_set:
            yield LogFinding("limit_changed", f"organisation {name}", "its limit is not one that was set")


def _check_budgets(connection: Connection) -> Iterator[LogFinding]:
    written: dict[str, Counter[str]] = {}
    for row in access.iter_targets(connection, ("raise_budget",)):
        written.setdefault(row.target, Counter())[row.digest] += 1
    for limit in sealed_state.list_budgets(connection):
        digest = digests.digest_limit(limit.run_id, limit.limit_usd, limit.reason, limit.set_by, limit.set_at)
        counts = written.get(limit.run_id, Counter())
        if counts[digest]:
            counts[digest] -= 1
        else:
            yield LogFinding("budget_changed", f"run {limit.run_id}", "it has a limit that no entry sets")
    for run_id, counts in written.items():
        if counts.total():
            yield LogFinding("budget_changed", f"run {run_id}", "a limit that was set is gone or changed")


def _check_ends(connection: Connection) -> Iterator[LogFinding]:
    ends = sealed_state.list_ends(connection)
    oldest = write_moment(time.time() - _ENDS_KEPT_S)
    last = {(row.code, row.target): row for row in _sort_by_number(connection, ("end_token",))}
    for (kind, name), row in last.items():
        if row.accessed_at < oldest:
            continue
        until = ends.get((kind, name))
        if until is None or digest_end(kind, name, until) != row.digest:
            yield LogFinding(
                "token_end_removed", f"{kind} {name}", "its end is not the one that was written", row.number
            )
