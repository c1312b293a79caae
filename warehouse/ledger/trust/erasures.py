"""What was erased of answers, and the proof that stays.

The proof says who erased it, when and why, and has a hash for every text that was there. An erasure is of closed sessions of one
run. Texts go; status, times, tokens, costs, signatures and hashes stay. The audit log has one entry for each erasure, whose
digest is over the whole of it (`digest_erasure`), so that neither an erasure nor the hash of a text can be changed, added or
removed without being seen.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, bindparam, distinct, func, null, select, update

from schemas.ledger.trust import ErasedAnswer, Erasure
from schemas.vocabulary import GIVEN_STATUSES
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.digests import digest_response, digest_text
from warehouse.ledger.engine.logs.stages import close_units
from warehouse.ledger.engine.rows import insert_rows, iter_rows, read_rows
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import (
    access_log,
    erased_answers,
    erasures,
    llm_calls,
    responses,
    runs,
    sessions,
    users,
)

ERASE: Final = "erase_answers"
_ANSWERS: Final = ("submit", "submit_and_next")
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


class ErasableSession(NamedTuple):
    """A session with what decides whether its texts may be erased, in the state of now."""

    session_id: str
    run_id: str
    month: str
    model: str
    status: str
    run_status: str


_ERASABLE = select(
    sessions.c.session_id,
    sessions.c.run_id,
    runs.c.month,
    sessions.c.model,
    sessions.c.status,
    runs.c.status.label("run_status"),
).join(runs, runs.c.run_id == sessions.c.run_id)


class HeldText(NamedTuple):
    """Text held of a session: answers given; characters of answers and reasoning."""

    answers: int
    characters: int


def list_run_sessions(connection: Connection, run_id: str) -> list[ErasableSession]:
    """The sessions of a run, by name, whether they hold texts or not."""
    query = _ERASABLE.where(sessions.c.run_id == run_id).order_by(sessions.c.session_id)
    return [ErasableSession(*row) for row in connection.execute(query)]


def list_sessions_with_texts(
    connection: Connection, *, month: str | None = None, model: str | None = None, run_id: str | None = None
) -> list[ErasableSession]:
    """Sessions of a month, candidate or run with texts to erase: handed out, not erased."""
    query = _ERASABLE.where(
        # Not by their responses, which may have left the ledger.
        sessions.c.answered_count > 0,
        ~select(erased_answers.c.session_id)
        .where(erased_answers.c.session_id == sessions.c.session_id)
        .exists(),
    )
    for column, value in ((runs.c.month, month), (sessions.c.model, model), (runs.c.run_id, run_id)):
        if value is not None:
            query = query.where(column == value)
    return [ErasableSession(*row) for row in connection.execute(query.order_by(sessions.c.session_id))]


def list_borrowers(connection: Connection, session_ids: Sequence[str]) -> dict[str, str]:
    """Run → the reference whose answers in these sessions, of another run, it rests on."""
    references = sorted(connection.execute(select(runs.c.reference_model).distinct()).scalars())
    sets = select(sessions.c.set_id.distinct()).where(sessions.c.model.in_(references))
    is_closed = (runs.c.status == "closed").label("is_run_closed")
    query = select(sessions, runs.c.reference_model, runs.c.planned_at, is_closed)
    query = query.join(runs, runs.c.run_id == sessions.c.run_id).order_by(sessions.c.run_id)
    answered = {
        str(set_id)
        for names in iter_chunks(session_ids)
        for set_id in connection.execute(sets.where(sessions.c.session_id.in_(names))).scalars()
    }
    found: dict[str, str] = {}
    asked = set(session_ids)
    for set_id in answered:
        sat: dict[tuple[str, str, bool], list[Row[Any]]] = defaultdict(list)
        rested: dict[tuple[str, str, bool], set[tuple[str, str]]] = defaultdict(set)
        for row in connection.execute(query.where(sessions.c.set_id == set_id)):
            sat[row.model, row.prompt_style, row.is_simulated].append(row)
            # Where nobody answered anything there is nothing that rests on it.
            if row.answered_count or not row.is_run_closed:
                by = (row.reference_model, row.prompt_style, row.is_simulated)
                rested[by].add((row.run_id, row.planned_at))
        for by, those in rested.items():
            for run_id, planned_at in those:
                if any(row.session_id in asked for row in _find_speaking(sat[by], run_id, planned_at)):
                    found[run_id] = by[0]
    return dict(sorted(found.items()))


def _find_speaking(sat: Sequence[Row[Any]], run_id: str, planned_at: str) -> list[Row[Any]]:
    """Of what a reference has sat, by run, what a run borrows, as `edition_sittings` reads it."""
    if any(row.run_id == run_id for row in sat):
        return []
    closed = [row for row in sat if row.status == "closed"]
    if before := [row for row in closed if row.planned_at <= planned_at]:
        last = max(before, key=lambda row: row.planned_at)
    elif closed:
        last = min(closed, key=lambda row: row.planned_at)
    else:
        return []
    return [row for row in closed if row.run_id == last.run_id]


def has_sat(connection: Connection, *, month: str | None = None, model: str | None = None) -> bool:
    """Whether there ever was a session of a month or candidate, erased or not."""
    query = _ERASABLE.limit(1)
    for column, value in ((runs.c.month, month), (sessions.c.model, model)):
        if value is not None:
            query = query.where(column == value)
    return connection.execute(query).first() is not None


def count_texts(connection: Connection, session_ids: Sequence[str]) -> HeldText:
    """How much text the ledger holds of these sessions."""
    size = func.length(responses.c.response) + func.coalesce(func.length(responses.c.reasoning), 0)
    is_given = responses.c.answer_status.in_(GIVEN_STATUSES)
    answers = characters = 0
    for names in iter_chunks(session_ids):
        query = select(func.count().filter(is_given), func.coalesce(func.sum(size), 0))
        row = connection.execute(query.where(responses.c.session_id.in_(names))).one()
        answers, characters = answers + int(row[0]), characters + int(row[1])
    return HeldText(answers, characters)


def find_changed_answers(connection: Connection, session_id: str) -> list[int]:
    """Positions of answers that are not those of the log: erasing would erase the evidence."""
    logged = {
        row.seq: row
        for row in connection.execute(
            select(access_log.c.seq, access_log.c.answer_hash, access_log.c.digest).where(
                access_log.c.session_id == session_id,
                access_log.c.http_status == 200,
                access_log.c.action.in_(_ANSWERS),
                access_log.c.number.is_not(None),
            )
        )
    }
    changed = []
    for row in _iter_rows(connection, session_id):
        entry = logged.pop(row["seq"], None)
        if entry is None:
            continue
        if digest_text(row["response"]) != entry.answer_hash or digest_response(row) != entry.digest:
            changed.append(int(row["seq"]))
    return sorted([*changed, *(int(seq) for seq in logged)])


def hash_answers(connection: Connection, session_id: str, erasure_id: str) -> list[ErasedAnswer]:
    """What stays of each answer of a session when an erasure takes its text, by position."""
    return [
        ErasedAnswer(
            session_id=session_id,
            seq=int(row["seq"]),
            erasure_id=erasure_id,
            answer_hash=digest_text(row["response"]),
            kept_digest=digest_response({**row, "reasoning": None}),
        )
        for row in _iter_rows(connection, session_id)
    ]


def digest_erasure(erasure: Erasure, answers: Iterable[ErasedAnswer]) -> str:
    """SHA-256 over an erasure and its hashes, by session (as bytes) and position."""
    whole = hashlib.sha256(
        _encode(
            [
                erasure.erasure_id,
                erasure.run_id,
                erasure.cause,
                erasure.reason,
                erasure.erased_by,
                erasure.erased_at,
                erasure.session_count,
                erasure.answer_count,
            ]
        ).encode()
    )
    for answer in answers:
        kept = [answer.session_id, answer.seq, answer.answer_hash, answer.kept_digest]
        whole.update(_encode(kept).encode())
    return whole.hexdigest()


def name_erasure(connection: Connection, run_id: str) -> str:
    """The name of the next erasure of a run."""
    query = select(func.count()).select_from(erasures).where(erasures.c.run_id == run_id)
    return f"{run_id}/erasure-{int(connection.execute(query).scalar_one()) + 1}"


def write_erasure(connection: Connection, erasure: Erasure, answers: Sequence[ErasedAnswer]) -> None:
    """Erase the texts of these answers; the proof is kept.

    The entry of the audit log goes with it.
    All of it lies on the exam's side, so that it is there as a whole or not at all. Replies to calls about these answers go after it
    (`erase_held_texts`): were they gone first, a kill between the two files would leave calls that nothing says were erased.
    """
    insert_rows(connection, [erasure])
    connection.execute(erased_answers.insert(), [answer.as_values() for answer in answers])
    _erase_responses(connection, erasure)
    add_entry(
        connection,
        Entry(
            ERASE,
            user_id=erasure.erased_by,
            target=erasure.erasure_id,
            code=erasure.cause,
            digest=erasure.digest,
            accessed_at=erasure.erased_at,
        ),
    )


def erase_held_texts(connection: Connection, erasure: Erasure) -> None:
    """Erase what the ledger holds of an erasure's answers, and of the replies about them."""
    _erase_replies(connection, erasure.run_id, set(_erase_responses(connection, erasure)))


def erase_replies_of_units(connection: Connection, units: Sequence[str]) -> int:
    """Erase the replies to calls of these units; returns how many there were."""
    count = 0
    for names in iter_chunks(units):
        erased = update(llm_calls).values(reply=null())
        count += connection.execute(
            erased.where(llm_calls.c.unit.in_(names), llm_calls.c.reply.is_not(None))
        ).rowcount
        close_units(connection, "calls", [(name,) for name in names])
    return count


def erase_replies_of_runs(connection: Connection, prefixes: Sequence[str]) -> None:
    """Erase the replies to all calls of runs whose names begin so."""
    for prefix in prefixes:
        is_meant = llm_calls.c.run_id.startswith(prefix, autoescape=True) & llm_calls.c.reply.is_not(None)
        units = connection.execute(select(llm_calls.c.unit).where(is_meant).distinct()).scalars().all()
        connection.execute(update(llm_calls).where(is_meant).values(reply=null()))
        close_units(connection, "calls", [(str(unit),) for unit in units if unit is not None])


def count_erased(connection: Connection, erasure_id: str, statuses: Sequence[str]) -> dict[str, int]:
    """Session → how many answers of these statuses were erased."""
    query = (
        select(erased_answers.c.session_id, func.count())
        .join(
            responses,
            (responses.c.session_id == erased_answers.c.session_id)
            & (responses.c.seq == erased_answers.c.seq),
        )
        .where(erased_answers.c.erasure_id == erasure_id, responses.c.answer_status.in_(statuses))
        .group_by(erased_answers.c.session_id)
    )
    return {str(session): int(count) for session, count in connection.execute(query)}


def finish_erasure(connection: Connection, erasure_id: str, at: str) -> None:
    """Note that nothing holds the texts any more."""
    connection.execute(
        update(erasures)
        .where(erasures.c.erasure_id == erasure_id, erasures.c.finished_at.is_(None))
        .values(finished_at=at)
    )


def list_erasures(
    connection: Connection, *, run_id: str | None = None, is_unfinished: bool = False
) -> list[Erasure]:
    """Every erasure, in order; those of a run; those that are not finished."""
    query = select(erasures).order_by(erasures.c.erased_at, erasures.c.erasure_id)
    if run_id is not None:
        query = query.where(erasures.c.run_id == run_id)
    if is_unfinished:
        query = query.where(erasures.c.finished_at.is_(None))
    return read_rows(connection, Erasure, query)


def iter_erased(connection: Connection, erasure_id: str) -> Iterator[ErasedAnswer]:
    """What an erasure keeps of each answer, by session (as bytes) and position."""
    query = select(erased_answers).where(erased_answers.c.erasure_id == erasure_id)
    for row in sorted(
        connection.execute(query).mappings(), key=lambda row: (row["session_id"].encode(), row["seq"])
    ):
        yield ErasedAnswer(**row)


def list_sessions_of(connection: Connection, erasure_id: str) -> list[ErasableSession]:
    """The sessions of an erasure, by name."""
    own = select(distinct(erased_answers.c.session_id)).where(erased_answers.c.erasure_id == erasure_id)
    query = _ERASABLE.where(sessions.c.session_id.in_(own)).order_by(sessions.c.session_id)
    return [ErasableSession(*row) for row in connection.execute(query)]


def map_erased_sessions(connection: Connection, run_id: str | None = None) -> dict[str, str]:
    """Session → its erasure, of a run or of all."""
    query = select(distinct(erased_answers.c.session_id), erased_answers.c.erasure_id)
    if run_id is not None:
        query = query.join(erasures, erasures.c.erasure_id == erased_answers.c.erasure_id).where(
            erasures.c.run_id == run_id
        )
    return {str(session): str(erasure) for session, erasure in connection.execute(query)}


def read_erased(connection: Connection, session_id: str) -> dict[int, ErasedAnswer]:
    """Position → what its erasure keeps, for the answers of a session."""
    query = select(erased_answers).where(erased_answers.c.session_id == session_id)
    return {answer.seq: answer for answer in iter_rows(connection, ErasedAnswer, query)}


def is_admin(connection: Connection, user_id: str) -> bool:
    """Whether somebody is an admin who is not shut out."""
    query = select(users.c.user_id).where(
        users.c.user_id == user_id, users.c.role == "admin", users.c.is_active.is_(True)
    )
    return connection.execute(query).first() is not None


def _erase_responses(connection: Connection, erasure: Erasure) -> list[str]:
    names = [session.session_id for session in list_sessions_of(connection, erasure.erasure_id)]
    connection.execute(
        update(responses)
        .where(responses.c.session_id == bindparam("of_session"))
        .values(response="", reasoning=null()),
        [{"of_session": name} for name in names],
    )
    return names


def _erase_replies(connection: Connection, run_id: str, session_ids: set[str]) -> None:
    query = select(distinct(llm_calls.c.unit)).where(
        llm_calls.c.run_id == run_id, llm_calls.c.unit.is_not(None)
    )
    units = map(str, connection.execute(query).scalars())
    erase_replies_of_units(connection, [unit for unit in units if is_unit_of(unit, session_ids)])


def is_unit_of(unit: str, session_ids: set[str]) -> bool:
    """Whether a unit is one of these sessions: its name, or that and a slash and more."""
    parts = unit.split("/")
    return any("/".join(parts[:count]) in session_ids for count in range(1, len(parts) + 1))


def _iter_rows(connection: Connection, session_id: str) -> Iterator[Mapping[str, Any]]:
    query = select(responses).where(responses.c.session_id == session_id).order_by(responses.c.seq)
    for row in connection.execute(query):
        yield row._asdict()
