"""A budget that refuses a call before it could be exceeded.

Every attempt reserves the most it could cost: input at one token per byte (no tokenizer makes more) and output at
`max_tokens`. The reservation is replaced by the real cost when the reply is there. An attempt whose bill is unknown (a
timeout, a cut stream) keeps its reservation: the budget errs on the safe side. The budget of a run stands in the ledger, so
that it holds over all processes of an installation.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from schemas.errors import BudgetError, ConflictError
from tasks.models.picture_parts import MOST_PICTURE_TOKENS, part_pictures
from tasks.models.registry import RegisteredModel
from warehouse.ledger.engine.leases.processes import is_dead, name_host
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.statements import Later
from warehouse.ledger.engine.writer import LockedRow, Operation, name_budget_row
from warehouse.ledger.money.budgets import (
    LEASE_S,
    SpendingAnswer,
    close_share,
    delete_account,
    list_shares,
    name_provider_account,
    open_share,
    read_limit,
    reserve_usd,
    settle_usd,
)

_ROUNDING_USD = 1e-9
# How often a call that waits for others in flight asks again.
POLL_S = 0.2


class Budget:
    """Money that one piece of work may spend, shared by all its calls in this process."""

    def __init__(self, limit_usd: float, spent_usd: float = 0.0) -> None:
        self.limit_usd = limit_usd
        self._spent = spent_usd
        self._reserved = 0.0
        self._lock = threading.Lock()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    @property
    def spent_usd(self) -> float:
        """What is spent, counting attempts of unknown bill at the most they could cost."""
        return self._spent

    @property
    def reserved_usd(self) -> float:
        """What the calls in flight could still cost."""
        return self._reserved

    async def reserve(self, amount_usd: float) -> None:
        """Set the amount aside, waiting for calls in flight; raises BudgetError when it cannot fit."""
        while True:
            with self._lock:
                if self._spent + self._reserved + amount_usd <= self.limit_usd + _ROUNDING_USD:
                    self._reserved += amount_usd
                    return
                if self._spent + amount_usd > self.limit_usd + _ROUNDING_USD:
                    raise _refuse(self.limit_usd, self._spent, amount_usd, "Raise PROCTOR_BUDGET_USD")
                loop = asyncio.get_running_loop()
                future: asyncio.Future[None] = loop.create_future()
                self._waiters.append((loop, future))
            await future

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Replace a reservation by what was really spent."""
        with self._lock:
            self._reserved = max(0.0, self._reserved - reserved_usd)
            self._spent += cost_usd
            waiters, self._waiters = self._waiters, []
        for loop, future in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, future)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class SharedBudget(Budget):
    """Money that one run may spend, shared by all processes of the installation that work on it.

    `spent_usd` and `reserved_usd` are what this process knows: what was spent when it began, and its own since.
    """

    def __init__(self, ledger: Ledger, run_id: str, limit_usd: float) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._holder = uuid4().hex
        super().__init__(limit_usd, self._open())

    def _open(self) -> float:
        for is_last in (False, True):
            self._close_dead()
            try:
                with self._ledger.write() as connection:
                    return open_share(
                        connection, self._run_id, self._holder, host=name_host(), process_id=os.getpid(),
                        lease_s=LEASE_S,
                    )  # fmt: skip
            except ConflictError:  # another process opened the run's first share at this moment
                if is_last:
                    raise
        raise AssertionError("unreachable")

    async def reserve(self, amount_usd: float) -> None:
        """Set the amount aside, waiting for any process's calls; BudgetError when it cannot fit."""
        while True:
            answer, spent = await self._ask(amount_usd)
            if answer is SpendingAnswer.RESERVED:
                with self._lock:
                    self._reserved += amount_usd
                return
            if answer is SpendingAnswer.REFUSED:
                if self._has_been_raised():
                    continue
                raise _refuse(self.limit_usd, spent, amount_usd, self.way_out)
            if answer is SpendingAnswer.CLOSED:
                # This process was silent for a whole lease: what it had set aside counts as spent, and it begins again.
                self._holder = uuid4().hex
                self._open()
                continue
            await asyncio.sleep(POLL_S)
            self._close_dead()

    async def _ask(self, amount_usd: float) -> tuple[SpendingAnswer, float]:
        """Ask the account for an amount; who is cancelled meanwhile gives back what it got."""
        holder = self._holder
        answer: Later[tuple[SpendingAnswer, float]] | None = None

        def reserve(connection: Connection) -> Later[tuple[SpendingAnswer, float]]:
            nonlocal answer
            found = reserve_usd(
                connection, self._run_id, holder, amount_usd, limit_usd=self.limit_usd, lease_s=LEASE_S
            )
            answer = known = Later(functools.cache(found.read))
            return known

        def give_back(connection: Connection) -> None:
            if answer is not None and answer.read()[0] is SpendingAnswer.RESERVED:
                settle_usd(
                    connection, self._run_id, holder, reserved_usd=amount_usd, cost_usd=0.0, lease_s=LEASE_S
                )

        row = name_budget_row(self._run_id)
        try:
            return await self._ledger.writer.run_async(reserve, row)
        except asyncio.CancelledError:
            # The writer carries out what was asked all the same, and keeps the order of a row.
            self._ledger.writer.submit(give_back, row)
            raise

    def settle(self, reserved_usd: float, cost_usd: float) -> None:
        """Replace a reservation by what was really spent."""
        super().settle(reserved_usd, cost_usd)
        # Not waited for: the writer keeps the order, and a process that dies before has its reservation counted as spent.
        self._ledger.writer.submit(
            lambda connection: settle_usd(
                connection,
                self._run_id,
                self._holder,
                reserved_usd=reserved_usd,
                cost_usd=cost_usd,
                lease_s=LEASE_S,
            ),
            name_budget_row(self._run_id),
            is_awaited=False,
        )

    @property
    def way_out(self) -> str:
        """What to do where it does not suffice."""
        return f"Raise it (`proctor runs budget {self._run_id} --raise USD --reason WHY`)"

    @property
    def account(self) -> str:
        """The run whose money it is, or what stands for one."""
        return self._run_id

    def _has_been_raised(self) -> bool:
        """Whether somebody has let the run spend more since this process began."""
        with self._ledger.read() as connection:
            limit = read_limit(connection, self._run_id)
        if limit is None or limit <= self.limit_usd:
            return False
        self.limit_usd = limit
        return True

    def _close_dead(self) -> None:
        """What processes that are no more had set aside counts as spent: it may have been billed."""
        with self._ledger.read() as connection:
            shares = list_shares(connection, self._run_id)
        for share in shares:
            if share.holder != self._holder and (share.is_expired or is_dead(share.host, share.process_id)):
                with self._ledger.write() as connection:
                    close_share(connection, self._run_id, share.holder)


class ProviderBudget(SharedBudget):
    """Money that a provider may be paid for whatever run."""

    @property
    def way_out(self) -> str:
        """What to do where it does not suffice."""
        return f"Raise `budget_usd` of the {self.account} in the registry"


def open_budget(ledger: Ledger, limit_usd: float | None, run_id: str) -> Budget | None:
    """The budget of a run; None for no limit.

    It is less what its calls have cost before and what they cost in other processes now. One limit holds for all that a run
    pays: the one set last by `proctor runs budget`, else the one it was planned with, else `limit_usd`.
    """
    with ledger.read() as connection:
        limit = read_limit(connection, run_id)
    limit = limit_usd if limit is None else limit
    return None if limit is None else SharedBudget(ledger, run_id, limit)


def open_provider_budget(ledger: Ledger, model: RegisteredModel) -> SharedBudget | None:
    """What a provider's calls may cost together, by the registry alone; None for no limit."""
    if model.provider_budget_usd is None:
        return None
    return ProviderBudget(ledger, name_provider_account(model.provider), model.provider_budget_usd)


def close_provider_budget(model: RegisteredModel) -> tuple[Operation[None], LockedRow]:
    """The operation, and its row, that forgets what was counted: calls without a limit are not."""
    account = name_provider_account(model.provider)
    return lambda connection: delete_account(connection, account), name_budget_row(account)


def _refuse(limit_usd: float, spent_usd: float, amount_usd: float, way_out: str) -> BudgetError:
    return BudgetError(
        f"The budget is {limit_usd:.4f} USD and {spent_usd:.4f} are spent or set aside for batches; the next call could cost {amount_usd:.4f}. "
        f"It was not sent. {way_out} and run again: nothing that was answered is paid for twice."
    )


def compute_cost(
    model: RegisteredModel,
    input_tokens: int | None,
    output_tokens: int | None,
    cached_tokens: int | None = None,
) -> float | None:
    """Cost in USD; null where a price or a count is unknown.

    `cached_tokens` are the part of the input that has the price of cached input, where one is registered.
    """
    if None in (model.input_price_usd, model.output_price_usd, input_tokens, output_tokens):
        return None
    assert model.input_price_usd is not None and model.output_price_usd is not None
    assert input_tokens is not None and output_tokens is not None
    cost = input_tokens * model.input_price_usd + output_tokens * model.output_price_usd
    if cached_tokens and model.cached_input_price_usd is not None:
        # No more of a prompt can be in the cache than there is of it.
        cost -= min(cached_tokens, input_tokens) * (model.input_price_usd - model.cached_input_price_usd)
    return cost / 1e6


def compute_worst_cost(
    model: RegisteredModel, messages: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]
) -> float:
    """The most that one attempt can cost, in USD; raises BudgetError where that cannot be known."""
    most = parameters.get("max_completion_tokens") or parameters.get("max_tokens")
    if model.input_price_usd is None or model.output_price_usd is None:
        missing = "input_price_usd and output_price_usd"
    elif most is None:
        missing = "parameters.max_tokens"
    else:
        plain, pictures = part_pictures(messages)
        size = (
            len(json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            + pictures * MOST_PICTURE_TOKENS
        )
        return (size * model.input_price_usd + int(most) * model.output_price_usd) / 1e6
    raise BudgetError(
        f"Model {model.name!r} has no {missing} in the registry, so the most that a call can cost is unknown. "
        "Add it, or run without a budget."
    )
