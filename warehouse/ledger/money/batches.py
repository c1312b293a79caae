"""Batches of calls.

For each: what is in it, how far the provider has got with it, and the money that is set aside for it. A batch outlives the process
that sent it, so its money is set aside in a share of the run's budget of its own. Its rows, its calls and its money change in one
transaction each time: whatever is killed, they say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from schemas.ledger.money import CallBatch
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.rows import read_row, read_rows
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import batch_calls, call_batches
from warehouse.ledger.money.budgets import (
    SpendingAnswer,
    close_share,
    name_provider_account,
    open_share,
    read_room,
    reserve_usd,
    settle_usd,
)
from warehouse.ledger.money.calls import (
    OPEN_STATES,
    FinishedCall,
    NewCall,
    add_extra_usd,
    finish_call,
    start_call,
)

# The share of a batch belongs to no process: no host is called so, and it ends when the batch does.
_NO_HOST = "a provider's batch"
_SHARE_LEASE_S = 10 * 365 * 86_400.0


@dataclass(frozen=True)
class BatchedCall:
    """A call for a batch: the most it may cost there, and may have cost if lost in flight."""

    call: NewCall
    worst_usd: float
    price_lost: Callable[[], float]


@dataclass(frozen=True)
class Gathered:
    """The calls that a batch got.

    Also: how many of them had been in flight at a kill, and the account that had no room for all (null where each had).
    """

    keys: tuple[str, ...]
    repeated: int
    full: str | None


def open_call_batch(
    connection: Connection,
    batch_id: str,
    run_id: str,
    provider: str,
    model: str,
    *,
    accounts: Collection[str],
) -> None:
    """Begin a batch without calls; it gets a share of each of these accounts.

    Raises IntegrityError (a ConflictError outside) when two processes open the first share of a run at the same moment.
    """
    now = now_text()
    connection.execute(
        insert(call_batches).values(
            batch_id=batch_id,
            run_id=run_id,
            provider=provider,
            model=model,
            state="gathering",
            call_count=0,
            done_count=0,
            failed_count=0,
            started_at=now,
            changed_at=now,
        )
    )
    for account in sorted(accounts):
        open_share(connection, account, batch_id, host=_NO_HOST, process_id=0, lease_s=_SHARE_LEASE_S)


def gather_calls(
    connection: Connection, batch_id: str, calls: Sequence[BatchedCall], limits_usd: Mapping[str, float]
) -> Gathered:
    """Put calls into a batch, each with its `started` row, and set their money aside.

    It takes as many calls as every account has room for, of which `limits_usd` says the limit by name. Left
    out are calls that are done, and those that another process or batch has under way.
    """
    rooms = {account: read_room(connection, account, limits_usd[account]) for account in sorted(limits_usd)}
    least = min(rooms, key=lambda account: rooms[account], default=None)
    taken: list[BatchedCall] = []
    repeated, reserved = 0, 0.0
    full = None
    for one in sorted(calls, key=lambda one: one.call.call_key):
        if least is not None and reserved + one.worst_usd > rooms[least]:
            full = least
            break
        found = start_call(connection, one.call, price_lost=one.price_lost)
        if found is not None and (found.status == "done" or not found.is_free):
            continue
        repeated += found is not None and found.status == "started"
        reserved += one.worst_usd
        taken.append(one)
    if not taken:
        return Gathered((), 0, full)
    for account in sorted(limits_usd):
        answer, _ = reserve_usd(
            connection, account, batch_id, reserved, limit_usd=limits_usd[account], lease_s=_SHARE_LEASE_S
        ).read()
        assert answer is SpendingAnswer.RESERVED  # the account's row is locked since the room was read
    connection.execute(
        insert(batch_calls),
        [
            {
                "batch_id": batch_id,
                "call_key": one.call.call_key,
                "worst_usd": one.worst_usd,
                "status": "sent",
            }
            for one in taken
        ],
    )
    _change(connection, batch_id, call_count=call_batches.c.call_count + len(taken))
    return Gathered(tuple(one.call.call_key for one in taken), repeated, full)


def move_batch(
    connection: Connection,
    batch_id: str,
    before: str,
    state: str,
    *,
    file_hash: str | None = None,
    file_id: str | None = None,
    provider_batch_id: str | None = None,
) -> bool:
    """Bring a batch from `before` into `state`; false, and nothing, where another moved it."""
    known = {"file_hash": file_hash, "file_id": file_id, "provider_batch_id": provider_batch_id}
    values = {name: value for name, value in known.items() if value is not None}
    moved = connection.execute(
        update(call_batches)
        .where(call_batches.c.batch_id == batch_id, call_batches.c.state == before)
        .values(state=state, changed_at=now_text(), **values)
    )
    return moved.rowcount == 1


def note_status(connection: Connection, batch_id: str, provider_status: str) -> None:
    """Keep what the provider says of a batch."""
    _change(connection, batch_id, provider_status=provider_status[:20])


def finish_batch_calls(
    connection: Connection, batch: CallBatch, outcomes: Sequence[tuple[FinishedCall, float]]
) -> int:
    """Write what came of a batch's calls, once, with their further cost; how many were new."""
    keys = sorted({call.call_key for call, _ in outcomes})
    worst = _read_sent(connection, batch.batch_id, keys)
    reserved, spent, done = 0.0, 0.0, 0
    fresh = {call.call_key: (call, extra) for call, extra in reversed(outcomes) if call.call_key in worst}
    for key in sorted(fresh):
        call, extra_usd = fresh[key]
        finish_call(connection, call)
        if extra_usd:
            add_extra_usd(connection, key, extra_usd)
        reserved += worst[key]
        spent += (call.cost_usd or 0.0) + extra_usd
        done += call.status == "done"
        connection.execute(
            update(batch_calls)
            .where(batch_calls.c.batch_id == batch.batch_id, batch_calls.c.call_key == key)
            .values(status=call.status, error=None if call.error is None else call.error[:60])
        )
    if fresh:
        _change(
            connection,
            batch.batch_id,
            done_count=call_batches.c.done_count + done,
            failed_count=call_batches.c.failed_count + len(fresh) - done,
        )
        for account in _list_accounts(batch):
            settle_usd(
                connection,
                account,
                batch.batch_id,
                reserved_usd=reserved,
                cost_usd=spent,
                lease_s=_SHARE_LEASE_S,
            )
    return len(fresh)


def end_batch(connection: Connection, batch: CallBatch, state: str) -> None:
    """Close a batch of which every call is finished, and its share of the budget."""
    _change(connection, batch.batch_id, state=state, changed_at=now_text())
    for account in _list_accounts(batch):
        close_share(connection, account, batch.batch_id)


def _list_accounts(batch: CallBatch) -> list[str]:
    """The accounts in which a batch's money may be, in the order in which they are locked."""
    return sorted((batch.run_id, name_provider_account(batch.provider)))


def read_batch(connection: Connection, batch_id: str) -> CallBatch | None:
    """One batch; null where there is none of that name."""
    return read_row(connection, CallBatch, select(call_batches).where(call_batches.c.batch_id == batch_id))


def list_call_batches(connection: Connection, *, only_open: bool = False) -> list[CallBatch]:
    """All batches, or those that may still answer, oldest first."""
    query = select(call_batches).order_by(call_batches.c.started_at, call_batches.c.batch_id)
    if only_open:
        query = query.where(call_batches.c.state.in_(OPEN_STATES))
    return read_rows(connection, CallBatch, query)


def list_sent_calls(connection: Connection, batch_id: str) -> dict[str, float]:
    """The calls of a batch of which nothing is known yet, with the most that each may cost."""
    return _read_sent(connection, batch_id, None)


def count_batch_failures(connection: Connection, call_keys: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How often each call failed in batches: by an error of its own, and with its batch."""
    counts: dict[str, tuple[int, int]] = {}
    for names in iter_chunks(call_keys):
        query = (
            select(batch_calls.c.call_key, batch_calls.c.error, func.count())
            .where(batch_calls.c.call_key.in_(names), batch_calls.c.status == "failed")
            .group_by(batch_calls.c.call_key, batch_calls.c.error)
        )
        for key, error, count in connection.execute(query):
            own, whole = counts.get(key, (0, 0))
            if not str(error).startswith("batch_"):
                own += count
            elif error in ("batch_failed", "batch_expired"):
                whole += count
            counts[key] = (own, whole)
    return {key: found for key, found in counts.items() if any(found)}


def _read_sent(connection: Connection, batch_id: str, keys: Sequence[str] | None) -> dict[str, float]:
    query = select(batch_calls.c.call_key, batch_calls.c.worst_usd).where(
        batch_calls.c.batch_id == batch_id, batch_calls.c.status == "sent"
    )
    chunks = (
        [query] if keys is None else [query.where(batch_calls.c.call_key.in_(k)) for k in iter_chunks(keys)]
    )
    return {key: float(worst) for chunk in chunks for key, worst in connection.execute(chunk)}


def _change(connection: Connection, batch_id: str, **values: object) -> None:
    connection.execute(update(call_batches).where(call_batches.c.batch_id == batch_id).values(**values))
