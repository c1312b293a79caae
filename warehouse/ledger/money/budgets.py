"""What runs may still spend, over all processes of an installation.

It follows from what is spent, and what is set aside for calls in flight. Every function first locks the run's
row, so that two processes never count the same money. Amounts are in USD.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)

from warehouse.ledger.engine.leases.clock import is_lapsed, read_lease_time
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.digests import digest_limit
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.statements import HotStatement, Later
from warehouse.ledger.engine.tables import budget_limits, budget_shares, run_budgets, runs
from warehouse.ledger.money.calls import BATCH_PREFIX, read_provider_spent_usd, read_spent_usd

# How long a process may neither reserve nor settle before it is taken for dead (on its own host it is known at once): longer
# than any pause and timeout of a call.
LEASE_S = 1_800.0
_ROUNDING_USD = 1e-9
# No run is called so: its name begins with a month, or `sim`.
_PROVIDER = "provider "
_SHARES: Final = budget_shares.c
_ALL: Final = budget_shares.alias("shares").c
# A statement of the hot path has no values of its own.
_NOTHING: Final[ColumnElement[float]] = literal_column("0.0")
_RUN: Final[BindParameter[str]] = bindparam("run")
_HOLD: Final = HotStatement(
    select(run_budgets.c.spent_usd).where(run_budgets.c.run_id == _RUN).with_for_update()
)
# Null where the account was let go meanwhile: nothing is set aside then, and who asked counts anew.
_SPENT: Final = select(run_budgets.c.spent_usd).where(run_budgets.c.run_id == _RUN).scalar_subquery()
_HELD: Final = (
    select(func.coalesce(func.sum(_ALL.reserved_usd), _NOTHING)).where(_ALL.run_id == _RUN).scalar_subquery()
)
# Of batches, which may take a day.
_BATCHED: Final = (
    select(func.coalesce(func.sum(_ALL.reserved_usd), _NOTHING))
    .where(_ALL.run_id == _RUN, _ALL.holder.like(bindparam("batches")), _ALL.holder != bindparam("own"))
    .scalar_subquery()
)
_COUNT: Final = HotStatement(select(_SPENT, _HELD, _BATCHED))
# What is set aside for batches is part of what is held: where all of it leaves room, so does a part.
_RESERVE: Final = HotStatement(
    update(budget_shares)
    .where(_SHARES.run_id == _RUN, _SHARES.holder == bindparam("own"), bindparam("room") >= _SPENT + _HELD)
    .values(reserved_usd=_SHARES.reserved_usd + bindparam("amount"), expires_at=bindparam("expires"))
)
_SPEND: Final = HotStatement(
    update(run_budgets)
    .where(run_budgets.c.run_id == _RUN)
    .values(spent_usd=run_budgets.c.spent_usd + bindparam("amount"))
)
_SETTLE: Final = HotStatement(
    update(budget_shares)
    .where(_SHARES.run_id == _RUN, _SHARES.holder == bindparam("own"))
    .values(
        reserved_usd=case(
            (_SHARES.reserved_usd > bindparam("amount"), _SHARES.reserved_usd - bindparam("amount")),
            else_=_NOTHING,
        ),
        expires_at=bindparam("expires"),
    )
)


class SpendingAnswer(Enum):
    """What came of a wish to spend: set aside, to wait, more than is left, or no share left."""

    RESERVED = "reserved"
    WAIT = "wait"
    REFUSED = "refused"
    CLOSED = "closed"


@dataclass(frozen=True)
class Share:
    """What a process has set aside, until when it is believed at work, whether that was over."""

    holder: str
    host: str
    process_id: int
    reserved_usd: float
    expires_at: str
    is_expired: bool = False


@dataclass(frozen=True)
class Limit:
    """What a run may spend from a moment on, and why."""

    limit_usd: float
    reason: str
    set_by: str
    set_at: str


@dataclass(frozen=True)
class Account:
    """A run's money: planned (None: no limit), limits set since, spent, set aside."""

    planned_usd: float | None
    limits: tuple[Limit, ...]
    spent_usd: float
    reserved_usd: float


def read_limit(connection: Connection, run_id: str) -> float | None:
    """The limit set last, else the planned one; None where there is neither."""
    last = select(budget_limits.c.limit_usd).where(budget_limits.c.run_id == run_id)
    found = connection.execute(last.order_by(budget_limits.c.number.desc()).limit(1)).scalar_one_or_none()
    if found is None:
        found = connection.execute(
            select(runs.c.budget_usd).where(runs.c.run_id == run_id)
        ).scalar_one_or_none()
    return None if found is None else float(found)


def insert_limit(connection: Connection, run_id: str, limit: Limit) -> None:
    """Set a limit; earlier ones stay."""
    connection.execute(insert(budget_limits).values(run_id=run_id, **vars(limit)))
    digest = digest_limit(run_id, limit.limit_usd, limit.reason, limit.set_by, limit.set_at)
    add_entry(connection, Entry("raise_budget", target=run_id, digest=digest, is_by_caller=True))


def read_account(connection: Connection, run_id: str) -> Account | None:
    """The money of a run, or of what stands for one; null where nothing of that name ever was."""
    planned = connection.execute(select(runs.c.budget_usd).where(runs.c.run_id == run_id)).one_or_none()
    spent = connection.execute(
        select(run_budgets.c.spent_usd).where(run_budgets.c.run_id == run_id)
    ).scalar_one_or_none()
    limits = tuple(
        Limit(*row)
        for row in connection.execute(
            select(*(budget_limits.c[name] for name in Limit.__dataclass_fields__))
            .where(budget_limits.c.run_id == run_id)
            .order_by(budget_limits.c.number)
        )
    )
    called = read_spent_usd(connection, run_id)
    if planned is None and spent is None and not limits and not called:
        return None
    held = connection.execute(
        select(func.coalesce(func.sum(budget_shares.c.reserved_usd), 0.0)).where(
            budget_shares.c.run_id == run_id
        )
    ).scalar_one()
    return Account(planned[0] if planned else None, limits, max(float(spent or 0.0), called), float(held))


def list_accounts(connection: Connection) -> list[str]:
    """Names of everything that was planned with a budget, or has spent of one, in order."""
    of_runs = connection.execute(select(runs.c.run_id)).scalars()
    return sorted({*of_runs, *connection.execute(select(run_budgets.c.run_id)).scalars()})


def name_provider_account(provider: str) -> str:
    """The account of a provider, in which what is spent there for any run is counted together."""
    return f"{_PROVIDER}{provider}"


def is_provider_account(account: str) -> bool:
    """Whether an account is a provider's, and no run's."""
    return account.startswith(_PROVIDER)


def delete_account(connection: Connection, run_id: str) -> None:
    """Forget what was spent of a budget: whoever asks next of it counts all calls once more."""
    connection.execute(delete(run_budgets).where(run_budgets.c.run_id == run_id))


def open_share(
    connection: Connection, run_id: str, holder: str, *, host: str, process_id: int, lease_s: float
) -> float:
    """Give a process a share of a run's budget, with nothing set aside yet.

    Returns what the run has spent so far. Costs of calls that were made without a budget count too; of a provider, those before its first share. Raises IntegrityError (a
    ConflictError outside) when two processes open the first share of a run at the same moment.
    """
    spent = _count_spent(connection, run_id)
    connection.execute(
        insert(budget_shares).values(
            run_id=run_id,
            holder=holder,
            host=host,
            process_id=process_id,
            reserved_usd=0.0,
            expires_at=write_moment(read_lease_time(connection) + lease_s),
        )
    )
    return spent


def reserve_usd(
    connection: Connection, run_id: str, holder: str, amount_usd: float, *, limit_usd: float, lease_s: float
) -> Later[tuple[SpendingAnswer, float]]:
    """Set an amount aside where the run's budget has room for it.

    It must fit beside what is spent and what all processes have set aside. Returns the answer and what is spent, or set aside for batches
    under way. WAIT means that it may fit when calls in flight turn out cheaper, CLOSED that the share was taken for a dead process's.
    """
    expires_at = write_moment(read_lease_time(connection) + lease_s)
    whose = {"run": run_id, "own": holder}
    _HOLD.run(connection, {"run": run_id})
    counted = _COUNT.run(connection, whose | {"batches": f"{BATCH_PREFIX}%"})
    reserved = _RESERVE.run(
        connection,
        whose | {"amount": amount_usd, "room": limit_usd + _ROUNDING_USD - amount_usd, "expires": expires_at},
    )

    def read() -> tuple[SpendingAnswer, float]:
        row = counted.first()
        spent, held, batched = (0.0, 0.0, 0.0) if row is None else (float(value or 0.0) for value in row)
        if reserved.rowcount == 1:
            return SpendingAnswer.RESERVED, spent
        # Nobody waits the hours that a batch may take.
        if spent + batched > limit_usd + _ROUNDING_USD - amount_usd:
            return SpendingAnswer.REFUSED, spent + batched
        is_full = spent + held > limit_usd + _ROUNDING_USD - amount_usd
        return (SpendingAnswer.WAIT if is_full else SpendingAnswer.CLOSED), spent

    return Later(read)


def read_room(connection: Connection, run_id: str, limit_usd: float) -> float:
    """What a run may still set aside (limit less spent and set aside); locks the run's row."""
    spent = _lock(connection, run_id)
    spent = _count_spent(connection, run_id) if spent is None else spent
    held = select(func.coalesce(func.sum(budget_shares.c.reserved_usd), 0.0)).where(
        budget_shares.c.run_id == run_id
    )
    return limit_usd - spent - float(connection.execute(held).scalar_one())


def settle_usd(
    connection: Connection, run_id: str, holder: str, *, reserved_usd: float, cost_usd: float, lease_s: float
) -> None:
    """Put what was spent in the place of what was set aside for it."""
    expires_at = write_moment(read_lease_time(connection) + lease_s)
    _SPEND.run(connection, {"run": run_id, "amount": cost_usd})
    _SETTLE.run(connection, {"run": run_id, "own": holder, "amount": reserved_usd, "expires": expires_at})


def list_shares(connection: Connection, run_id: str) -> list[Share]:
    """The shares of a run's budget."""
    names = ("holder", "host", "process_id", "reserved_usd", "expires_at")
    columns = (budget_shares.c[name] for name in names)
    rows = connection.execute(
        select(*columns).where(budget_shares.c.run_id == run_id).order_by(budget_shares.c.holder)
    )
    return [
        Share(
            row.holder,
            row.host,
            row.process_id,
            row.reserved_usd,
            row.expires_at,
            is_lapsed(connection, row.expires_at, lease_s=LEASE_S),
        )
        for row in rows.all()
    ]


def close_share(connection: Connection, run_id: str, holder: str) -> None:
    """End a dead process's share: what it had set aside counts as spent; it may be billed."""
    spent = _lock(connection, run_id) or 0.0
    mine = (budget_shares.c.run_id == run_id, budget_shares.c.holder == holder)
    held = connection.execute(select(budget_shares.c.reserved_usd).where(*mine)).scalar_one_or_none()
    if held is not None:
        _write_spent(connection, run_id, spent + held)
        connection.execute(delete(budget_shares).where(*mine))


def _lock(connection: Connection, run_id: str) -> float | None:
    """What the run has spent (None without a row), its row locked until the transaction ends."""
    query = select(run_budgets.c.spent_usd).where(run_budgets.c.run_id == run_id).with_for_update()
    found = connection.execute(query).scalar_one_or_none()
    return None if found is None else float(found)


def _count_spent(connection: Connection, run_id: str) -> float:
    """What was spent of a budget, its row locked.

    It is counted by all calls where there is no row yet, and of a run always.
    """
    spent = _lock(connection, run_id)
    if not is_provider_account(run_id):
        known = read_spent_usd(connection, run_id)
    elif spent is None:
        known = read_provider_spent_usd(connection, run_id.removeprefix(_PROVIDER))
    else:
        known = spent
    if spent is None:
        connection.execute(insert(run_budgets).values(run_id=run_id, spent_usd=known))
    elif known > spent:
        _write_spent(connection, run_id, known)
    return known if spent is None else max(known, spent)


def _write_spent(connection: Connection, run_id: str, spent_usd: float) -> None:
    connection.execute(update(run_budgets).where(run_budgets.c.run_id == run_id).values(spent_usd=spent_usd))
