"""A budget that refuses a call before it could be exceeded.

Every attempt reserves the most it could cost: input at one token per byte (no tokenizer makes more) and output at
`max_tokens`. The reservation is replaced by the real cost when the reply is there. An attempt whose bill is unknown (a
timeout, a cut stream) keeps its reservation: the budget errs on the safe side.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.errors import BudgetError
from tasks.models.registry import RegisteredModel
from warehouse.ledger.calls import read_spent_usd
from warehouse.ledger.engine import Ledger

_ROUNDING_USD = 1e-9


class Budget:
    """Money that one run may spend, shared by all its calls in this process."""

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
        """Set the amount aside, waiting for calls in flight where it may then fit; raises BudgetError when it cannot."""
        while True:
            with self._lock:
                if self._spent + self._reserved + amount_usd <= self.limit_usd + _ROUNDING_USD:
                    self._reserved += amount_usd
                    return
                if self._spent + amount_usd > self.limit_usd + _ROUNDING_USD:
                    raise BudgetError(
                        f"The budget is {self.limit_usd:.4f} USD and {self._spent:.4f} are spent; the next call could "
                        f"cost {amount_usd:.4f}. It was not sent. Raise PROCTOR_BUDGET_USD and run again: "
                        "nothing that was answered is paid for twice."
                    )
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


def open_budget(ledger: Ledger, limit_usd: float | None, run_id: str) -> Budget | None:
    """The budget of a run less what its calls have cost before; null for no limit."""
    if limit_usd is None:
        return None
    with ledger.read() as connection:
        return Budget(limit_usd, read_spent_usd(connection, run_id))


def compute_cost(model: RegisteredModel, input_tokens: int | None, output_tokens: int | None) -> float | None:
    """Cost in USD; null where a price or a count is unknown."""
    if None in (model.input_price_usd, model.output_price_usd, input_tokens, output_tokens):
        return None
    assert model.input_price_usd is not None and model.output_price_usd is not None
    assert input_tokens is not None and output_tokens is not None
    return (input_tokens * model.input_price_usd + output_tokens * model.output_price_usd) / 1e6


def compute_worst_cost(
    model: RegisteredModel, messages: Sequence[Mapping[str, str]], parameters: Mapping[str, Any]
) -> float:
    """The most that one attempt can cost, in USD; raises BudgetError where that cannot be known."""
    most = parameters.get("max_completion_tokens") or parameters.get("max_tokens")
    if model.input_price_usd is None or model.output_price_usd is None:
        missing = "input_price_usd and output_price_usd"
    elif most is None:
        missing = "parameters.max_tokens"
    else:
        size = len(json.dumps(list(messages), ensure_ascii=False).encode())
        return (size * model.input_price_usd + int(most) * model.output_price_usd) / 1e6
    raise BudgetError(
        f"Model {model.name!r} has no {missing} in the registry, so the most that a call can cost is unknown. "
        "Add it, or run without a budget."
    )
