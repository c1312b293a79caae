"""What the ledger holds of one answer from its star back to the paper, and its entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from schemas.ledger.trust import SignedHead
from warehouse.ledger.engine.logs.chain import HASHED, compute_entry_hash
from warehouse.ledger.engine.rows import read_row
from warehouse.ledger.engine.tables import (
    access_log,
    allocations,
    erased_answers,
    llm_calls,
    responses,
    runs,
    sessions,
    set_proofs,
    sets,
    signed_heads,
)
from warehouse.ledger.trust.access import select_entries


class WalkedSession(NamedTuple):
    """A session, as far as a walk needs it."""

    session_id: str
    run_id: str
    set_id: str
    model: str
    prompt_style: str
    repeat: int
    month: str
    bank_version: int


class WalkedQuestion(NamedTuple):
    """The question at a position of a session, as it was drawn and put."""

    lineage_uuid: str
    question_uuid: str
    content: dict[str, Any]


class PaidReply(NamedTuple):
    """A call with its reply; the text is null where it was erased."""

    call_key: str
    unit: str
    text: str | None


def list_sittings(connection: Connection, run_id: str) -> list[WalkedSession]:
    """The sessions of a run, or the one of that name, by candidate, style and repeat."""
    columns = [sessions.c[name] for name in WalkedSession._fields[:6]]
    query = select(*columns, runs.c.month, runs.c.bank_version).join(runs, runs.c.run_id == sessions.c.run_id)
    query = query.where((sessions.c.run_id == run_id) | (sessions.c.session_id == run_id))
    order = (sessions.c.model, sessions.c.prompt_style, sessions.c.repeat, sessions.c.session_id)
    return [WalkedSession(*row) for row in connection.execute(query.order_by(*order))]


def read_put_question(connection: Connection, sitting: WalkedSession, seq: int) -> WalkedQuestion | None:
    """The question at a position; null where the session has no such one."""
    query = (
        select(sets.c.lineage_uuid, sets.c.question_uuid, sets.c.content)
        .join(allocations, allocations.c.lineage_uuid == sets.c.lineage_uuid)
        .where(
            allocations.c.session_id == sitting.session_id,
            allocations.c.seq == seq,
            sets.c.set_id == sitting.set_id,
        )
    )
    row = connection.execute(query).first()
    return None if row is None else WalkedQuestion(*row)


def read_given(connection: Connection, session_id: str, seq: int) -> Row[Any] | None:
    """Every column of a response; null where none was given."""
    query = select(responses).where(responses.c.session_id == session_id, responses.c.seq == seq)
    return connection.execute(query).first()


def read_erased_hash(connection: Connection, session_id: str, seq: int) -> str | None:
    """The hash of an answer whose text was erased; null where it was not."""
    query = select(erased_answers.c.answer_hash)
    found = connection.execute(
        query.where(erased_answers.c.session_id == session_id, erased_answers.c.seq == seq)
    ).scalar()
    return None if found is None else str(found)


def read_paid_reply(connection: Connection, call_key: str) -> PaidReply | None:
    """A call that was answered; null for none."""
    query = select(llm_calls.c.call_key, llm_calls.c.unit, llm_calls.c.reply)
    row = connection.execute(
        query.where(llm_calls.c.call_key == call_key, llm_calls.c.status == "done")
    ).first()
    return (
        None
        if row is None
        else PaidReply(row[0], str(row[1]), None if row[2] is None else row[2].get("text"))
    )


def has_failed(connection: Connection, call_key: str) -> bool:
    """Whether a call was made and got no reply."""
    query = select(llm_calls.c.status).where(llm_calls.c.call_key == call_key)
    return connection.execute(query).scalar_one_or_none() == "failed"


def list_paid_replies(connection: Connection, unit: str) -> list[PaidReply]:
    """The answered calls of a unit."""
    query = select(llm_calls.c.call_key, llm_calls.c.unit, llm_calls.c.reply)
    query = query.where(llm_calls.c.unit == unit, llm_calls.c.status == "done").order_by(llm_calls.c.call_key)
    return [
        PaidReply(key, str(name), None if reply is None else reply.get("text"))
        for key, name, reply in connection.execute(query)
    ]


def read_set_items(connection: Connection, set_id: str) -> list[list[Any]] | None:
    """What is to be published of a set; null where it was drawn before there was a public log."""
    found = connection.execute(select(set_proofs.c["items"]).where(set_proofs.c.set_id == set_id)).scalar()
    return None if found is None else list(found)


def find_last_entry(connection: Connection, actions: Sequence[str], **values: object) -> Row[Any] | None:
    """The last allowed entry of these actions with these values; null for none."""
    query = select_entries(actions, **values).where(access_log.c.number.is_not(None))
    return connection.execute(query.order_by(access_log.c.access_id.desc()).limit(1)).first()


def is_entry_whole(
    connection: Connection, number: int, read_archived: Callable[[int], str | None] = lambda _: None
) -> bool:
    """Whether an entry is as written and follows the last, which may be `read_archived`."""
    row = connection.execute(select(access_log).where(access_log.c.number == number)).first()
    if (
        row is None
        or compute_entry_hash(row.previous_hash, number, [getattr(row, name) for name in HASHED])
        != row.entry_hash
    ):
        return False
    before = connection.execute(
        select(access_log.c.entry_hash).where(access_log.c.number == number - 1)
    ).scalar()
    return number == 1 or (before or read_archived(number)) == row.previous_hash


def find_covering_head(connection: Connection, number: int) -> SignedHead | None:
    """The first signed head at or after an entry; null where none was signed since."""
    query = select(signed_heads).where(signed_heads.c.number >= number).order_by(signed_heads.c.number)
    return read_row(connection, SignedHead, query.limit(1))
