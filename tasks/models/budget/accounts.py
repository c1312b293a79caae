"""What runs may spend: looked at, and raised with a reason after a run was planned."""

from __future__ import annotations

from dataclasses import dataclass, replace

from schemas.errors import UsageError
from tasks.models.registry import Registry
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.money.budgets import (
    Account,
    Limit,
    insert_limit,
    is_provider_account,
    list_accounts,
    name_provider_account,
    read_account,
)

_MOST_NAMED = 8


@dataclass(frozen=True)
class AccountSummary:
    """The money of a run in USD; `limit_usd` is the one that counts now, null for no limit."""

    run_id: str
    limit_usd: float | None
    spent_usd: float
    reserved_usd: float
    planned_usd: float | None
    limits: tuple[Limit, ...]


def read_run_account(ledger: Ledger, run_id: str, registry: Registry | None = None) -> AccountSummary:
    """The money of a run, or of what stands for one.

    A league stands for a run, and so do a month of `ingest --assist` and a provider that the registry gives a budget. Raises UsageError where
    the id is neither.
    """
    with ledger.read() as connection:
        found = read_account(connection, run_id)
        known = list_accounts(connection) if found is None else []
    if found is None:
        named = ", ".join(known[:_MOST_NAMED]) or "none yet"
        raise UsageError(f"Nothing called {run_id!r} was planned or has spent anything. There are: {named}.")
    summary = _summarise(run_id, found)
    return replace(summary, limit_usd=_read_registered(registry, run_id)) if registry else summary


def _read_registered(registry: Registry | None, account: str) -> float | None:
    """What the registry lets a provider be paid; null for any other account."""
    models = [] if registry is None else registry.models.values()
    found = (one.provider_budget_usd for one in models if name_provider_account(one.provider) == account)
    return next(found, None)


def raise_limit(
    ledger: Ledger, run_id: str, limit_usd: float, *, reason: str, set_by: str, now: str
) -> AccountSummary:
    """Let a run spend up to `limit_usd` from now on; the limits before it stay on record.

    The same limit again changes nothing. Raises UsageError for an unknown run, a limit that is no raise, and no reason.
    """
    if is_provider_account(run_id):
        raise UsageError(
            f"What a {run_id} may be paid stands in the registry: change its `budget_usd` there."
        )
    before = read_run_account(ledger, run_id)
    if before.limit_usd == limit_usd:
        return before
    if before.limit_usd is not None and limit_usd < before.limit_usd:
        raise UsageError(
            f"{run_id} may spend ${before.limit_usd:.2f} already; --raise takes more than that, not ${limit_usd:.2f}."
        )
    if not reason.strip():
        raise UsageError("--reason is needed with --raise: it is kept beside the limit.")
    with ledger.write() as connection:
        insert_limit(connection, run_id, Limit(limit_usd, reason.strip(), set_by, now))
    return read_run_account(ledger, run_id)


def _summarise(run_id: str, found: Account) -> AccountSummary:
    return AccountSummary(
        run_id,
        found.limits[-1].limit_usd if found.limits else found.planned_usd,
        found.spent_usd,
        found.reserved_usd,
        found.planned_usd,
        found.limits,
    )
