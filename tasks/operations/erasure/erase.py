"""Erase texts of answers for good, and keep what proves them.

They are erased from the ledger first, then from the lake, then from every file. The order is such that a kill at any moment is
mended by doing it again (`finish_erasures`): the answers, the proof and the entries of both logs go together in one transaction; what
follows of replies, the lake and the files is the same each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from schemas.errors import GateError, UsageError
from schemas.ledger.trust import Erasure
from schemas.settings import Settings
from schemas.tables import get_table
from schemas.vocabulary import GIVEN_STATUSES
from tasks.exam.public import CLOSE, compute_root, digest
from tasks.exam.public.log import keep_public_head
from tasks.models import CALL
from tasks.operations.erasure.scope import (
    RunErasure,
    Scope,
    find_erasure_refusal,
    list_scope,
    plan_erasure,
    read_last_editions,
)
from tasks.running.archives import archive_run, bring_back_held, hold_archives, read_whole
from tasks.running.claiming import claim_work
from warehouse.lake import Batch, Lake, open_lake
from warehouse.lake.upkeep import purge_catalog, purge_files, without_texts
from warehouse.ledger.engine.copies.purging import purge_ledger
from warehouse.ledger.engine.leases.clock import Time, read_time
from warehouse.ledger.engine.leases.jobs import withdraw_jobs
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.public_log import add_public_entry, read_public_entries
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import responses
from warehouse.ledger.trust import erasures

KIND: Final = "erasure"
# What goes, by table of the lake; the units that hold it are found by these reads.
ERASED_COLUMNS: Final = {
    "responses": ("response", "reasoning", "answer"),
    "judgements": ("reason", "raw"),
    "error_labels": ("raw",),
    "closed_resolved_judgements": ("reason",),
}
_UNITS: Final = {
    "responses": "response_units_of_sessions",
    "judgements": "judgement_units_of_sessions",
    "error_labels": "label_units_of_sessions",
    "closed_resolved_judgements": "resolved_units_of_sessions",
}
_TABLES: Final = (*ERASED_COLUMNS, "quarantine", "archived_rows")
_SESSIONS_AT_ONCE: Final = 50
_CLAIM: Final = "erase"

Step = Callable[[str], None]


@dataclass(frozen=True)
class Erased:
    """What an erasure came to.

    Attributes:
        erasures: what was erased now, and what an interrupted command had left to do.
        rewritten: units landed again without their texts, by table.
        deleted_files: files of the lake that held texts and are no more.
    """

    erasures: tuple[Erasure, ...]
    rewritten: dict[str, int]
    deleted_files: int


@dataclass(frozen=True)
class _Order:
    """What is erased, why, by whom, and when (null: by the ledger's clock)."""

    scope: Scope
    reason: str
    erased_by: str
    now: datetime | None


def check_may_erase(ledger: Ledger, user_id: str) -> None:
    """Raise UsageError unless this is an admin who is not shut out."""
    with ledger.read() as connection:
        if not user_id or not erasures.is_admin(connection, user_id):
            raise UsageError(
                f"{f'User {user_id!r} is no admin' if user_id else 'Nobody is named'}: only an admin erases. Give --as with one "
                "(`proctor exam user list`)."
            )


def erase_texts(
    settings: Settings,
    scope: Scope,
    *,
    reason: str,
    erased_by: str,
    now: datetime | None = None,
    step: Step = lambda _: None,
) -> Erased:
    """Erase what a scope names, run by run, and finish what a killed command had begun.

    Where nothing is left but to finish, that is done. `step` is told what has been done. Raises as `plan_erasure` does, and UsageError without a reason; StoreError where a file is
    held by somebody else too long: doing it again finishes it.
    """
    if not reason.strip():
        raise UsageError("An erasure names its reason for ever: give --reason.")
    order = _Order(scope, reason, erased_by, now)
    begun = []
    with (
        open_ledger(settings.ledger_address) as ledger,
        claim_work(ledger, _CLAIM, "all", what="erasing"),
        # An archiving meanwhile would take texts to the lake again.
        hold_archives(settings),
        open_lake(settings) as lake,
    ):
        plans = _plan(ledger, lake, settings, order)
        editions = read_last_editions(lake)
        for plan in plans:
            bring_back_held(ledger, lake, plan.run_id)
            with ledger.write() as connection:
                begun.append(_erase_run(connection, settings, order, plan, editions))
            step(f"ledger {plan.run_id}")
        keep_public_head(ledger, settings)
    return finish_erasures(settings, step=step, begun=begun)


def finish_erasures(
    settings: Settings,
    *,
    every: bool = False,
    begun: Sequence[Erasure] = (),
    step: Step = lambda _: None,
) -> Erased:
    """Carry erasures into the lake and out of every file.

    These are the erasures that are not finished, or with `every` all that ever were. `every` is for a lake
    that was restored from before an erasure.
    """
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.read() as connection:
            wanted = erasures.list_erasures(connection, is_unfinished=not every)
        if not wanted:
            return Erased((), {}, 0)
        rewritten: Counter[str] = Counter()
        with hold_archives(settings), open_lake(settings) as lake:
            for erasure in wanted:
                rewritten.update(_erase_from_lake(ledger, lake, erasure, step))
            deleted = purge_files(lake, _TABLES)
        step("files")
    # Nobody of this process has them open now: what is free in them is written over.
    purge_catalog(settings, _TABLES)
    purge_ledger(settings.ledger_address)
    step("pages")
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        at = now_text()
        for erasure in wanted:
            erasures.finish_erasure(connection, erasure.erasure_id, at)
    done = {erasure.erasure_id for erasure in begun}
    named = [erasure for erasure in wanted if erasure.erasure_id not in done]
    return Erased(
        tuple(erasure.replace(finished_at=at) for erasure in (*named, *begun)), dict(rewritten), deleted
    )


def land_erasures(ledger: Ledger, lake: Lake) -> dict[str, int]:
    """Land what the ledger knows of erasures and a (restored) lake lacks; rows newly landed."""
    with ledger.read() as connection:
        known = erasures.list_erasures(connection)
    if not known:
        return {}
    there = lake.landed("erasures", [erasure.erasure_id for erasure in known])
    missing = [erasure for erasure in known if erasure.erasure_id not in there]
    if not missing:
        return {}
    batches = [_describe(ledger, lake, erasure) for erasure in missing]
    lake.land_together(batches, stage="erase")
    return {"erasures": sum(batch.frame.height for batch in batches)}


def _plan(ledger: Ledger, lake: Lake, settings: Settings, order: _Order) -> list[RunErasure]:
    """What is to be erased; nothing where a killed command has left only lake and files to do."""
    try:
        return plan_erasure(ledger, lake, settings, order.scope, now=order.now)
    except UsageError:
        with ledger.read() as connection:
            if not erasures.list_erasures(connection, is_unfinished=True):
                raise
        return []


def _erase_run(
    connection: Connection,
    settings: Settings,
    order: _Order,
    plan: RunErasure,
    editions: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Erasure:
    """In a transaction, check the plan again, erase, and write proof and both logs' entries."""
    own = [session for session in list_scope(connection, order.scope) if session.run_id == plan.run_id]
    clock = read_time(connection) if order.now is None else Time(order.now.timestamp())
    refusal = (
        find_erasure_refusal(connection, settings, plan.run_id, own, editions, clock)
        if own
        else "It is done."
    )
    if refusal is not None or [session.session_id for session in own] != list(plan.sessions):
        raise GateError(
            f"Run {plan.run_id} is not as it was when it was looked at: nothing of it was erased. {refusal or ''}"
        )
    name = erasures.name_erasure(connection, plan.run_id)
    answers = [
        answer
        for session in sorted(plan.sessions, key=str.encode)
        for answer in erasures.hash_answers(connection, session, name)
    ]
    erasure = Erasure(
        erasure_id=name,
        run_id=plan.run_id,
        cause=order.scope.cause,
        reason=order.reason.strip(),
        erased_by=order.erased_by,
        erased_at=now_text(),
        session_count=len(plan.sessions),
        answer_count=plan.answer_count,
        digest="",
        finished_at=None,
    )
    erasure = erasure.replace(digest=erasures.digest_erasure(erasure, answers))
    body = describe_publicly(connection, erasure, plan.sessions)
    erasures.write_erasure(connection, erasure, answers)
    # What waits to be asked may show an answer, also where who held it is gone; it is put there again where it is needed.
    withdraw_jobs(connection, CALL)
    if body is not None:
        add_public_entry(connection, KIND, body)
    return erasure


def describe_publicly(
    connection: Connection, erasure: Erasure, session_ids: Iterable[str]
) -> dict[str, object] | None:
    """The entry of the public log: which sessions, how many answers, the root over theirs.

    Returns None for a run that the public log does not have. `sessions` is null where it is every session of
    the run that has answers and was not erased before.
    """
    names = set(session_ids)
    closed = {
        str(entry.body["session"]): entry.body
        for entry in read_public_entries(connection, erasure.run_id, (CLOSE,))
        if entry.body["answer_count"]
    }
    if not names & closed.keys():
        return None
    gone: set[str] = set()
    for entry in read_public_entries(connection, erasure.run_id, (KIND,)):
        gone |= closed.keys() if entry.body["sessions"] is None else set(entry.body["sessions"])
    own = sorted(names & closed.keys())
    return {
        "run": erasure.run_id,
        "cause": erasure.cause,
        "sessions": None if set(own) == closed.keys() - gone else own,
        "session_count": len(own),
        "answer_count": sum(closed[name]["answer_count"] for name in own),
        "answers_root": compute_root(
            digest("proctor session answers", name, bytes.fromhex(closed[name]["answers_root"]))
            for name in own
        ).hex(),
    }


def _erase_from_lake(ledger: Ledger, lake: Lake, erasure: Erasure, step: Step) -> Counter[str]:
    """Erase replies, and land the erasure, for readers to know; then its units without texts."""
    rewritten: Counter[str] = Counter()
    is_archived = lake.read("archived_units_of_run", {"run_id": erasure.run_id}).height > 0
    if is_archived:
        # An older lake gives back what was erased since. Without texts it takes the place of what had left the ledger.
        bring_back_held(ledger, lake, erasure.run_id)
    with ledger.write() as connection:
        erasures.erase_held_texts(connection, erasure)
    step(f"replies {erasure.erasure_id}")
    if is_archived:
        archive_run(ledger, lake, erasure.run_id, step=step)
    lake.land_together([described := _describe(ledger, lake, erasure)], stage="erase")
    step(f"lake {erasure.erasure_id}")
    names = described.frame["session_id"].to_list()
    for start in range(0, len(names), _SESSIONS_AT_ONCE):
        some = names[start : start + _SESSIONS_AT_ONCE]
        batches: list[Batch] = []
        for table, columns in ERASED_COLUMNS.items():
            units = lake.read(_UNITS[table], {"session_ids": some})["unit"].to_list()
            batches += without_texts(lake, table, units, columns, some)
        for landing in lake.land_together(batches, stage="erase"):
            rewritten[landing.table] += not landing.is_unchanged
        step(f"lake {erasure.erasure_id} {start}")
    # What judges were asked of anchor responses lies under names of its own.
    sets = lake.read("anchor_sets_of_sessions", {"session_ids": names})["anchor_set"].to_list()
    with ledger.write() as connection:
        erasures.erase_replies_of_runs(connection, [f"drift/{name}/" for name in sets])
    return rewritten


def _describe(ledger: Ledger, lake: Lake, erasure: Erasure) -> Batch:
    """An erasure as the lake has it: a row for each of its sessions."""
    with ledger.read() as connection:
        sessions = erasures.list_sessions_of(connection, erasure.erasure_id)
    names = [session.session_id for session in sessions]
    with read_whole(ledger, lake, session_ids=names, tables=(responses,)) as connection:
        counts = erasures.count_erased(connection, erasure.erasure_id, GIVEN_STATUSES)
    rows: list[dict[str, object]] = [
        {
            "erasure_id": erasure.erasure_id,
            "run_id": session.run_id,
            "session_id": session.session_id,
            "model": session.model,
            "month": session.month,
            "cause": erasure.cause,
            "reason": erasure.reason,
            "erased_by": erasure.erased_by,
            "erased_at": datetime.fromisoformat(erasure.erased_at),
            "answer_count": counts.get(session.session_id, 0),
            "digest": erasure.digest,
        }
        for session in sessions
    ]
    return Batch("erasures", erasure.erasure_id, get_table("erasures").frame(rows))
