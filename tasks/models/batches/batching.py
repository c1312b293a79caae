"""A client whose calls go into a provider's batches.

What is known is replayed; what is not known is gathered and submitted together. Whoever asks gets CallPending for a call that is
not answered yet, and asks again when the batch has ended: the keys of calls are those of single calls, so that it makes no
difference to a reply how it came.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from schemas.errors import BudgetError, ConflictError, StoreError
from schemas.settings import Settings
from tasks.models.batches.collection import CLAIM, discount, drop_batch
from tasks.models.budget import Budget, compute_worst_cost
from tasks.models.client import (
    CallFailed,
    CallPending,
    CallReply,
    CallRequest,
    ModelClient,
    build_body,
    compute_call_key,
)
from tasks.models.registry import RegisteredModel
from tasks.models.replies import Failure
from tasks.models.sending import estimate_worst_cost
from tasks.running.claiming import claim_work
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.writer import Operation
from warehouse.ledger.money.batches import (
    BatchedCall,
    Gathered,
    count_batch_failures,
    gather_calls,
    list_call_batches,
    move_batch,
    open_call_batch,
    read_batch,
)
from warehouse.ledger.money.budgets import is_provider_account, name_provider_account, read_limit
from warehouse.ledger.money.calls import BATCH_PREFIX, NewCall, find_call

# A call whose batches expired or failed so often is sent no further: nobody asked for single calls at full price.
MOST_FAILED_BATCHES = 3
# Calls put into a batch in one transaction: other processes wait for the ledger meanwhile.
CALLS_PER_TRANSACTION = 500


@dataclass(frozen=True)
class _Wanted:
    """A call that is to go into a batch, and its line of the file."""

    key: str
    run_id: str
    purpose: str
    unit: str | None
    line: bytes
    worst_usd: float
    lost_usd: float


@dataclass
class _Gathering:
    """A model's calls that wait for a batch, by key, and the size of their lines in bytes."""

    model: RegisteredModel
    calls: dict[str, _Wanted] = field(default_factory=dict)
    size: int = 0

    def add(self, wanted: _Wanted) -> None:
        if wanted.key not in self.calls:
            self.size += len(wanted.line)
        self.calls[wanted.key] = wanted


class BatchClient(ModelClient):
    """Gathers the calls of models that take batches; what other models are asked is sent singly.

    `submitted` counts the calls that went into batches, `refused` the batches that a provider did not take; `problems` says in
    sentences what kept calls from it.
    """

    def __init__(self, ledger: Ledger, settings: Settings, *, budget: Budget | None = None) -> None:
        super().__init__(ledger, settings, budget=budget)
        self.submitted = 0
        self.refused = 0
        self.problems: list[str] = []
        self._ledger = ledger
        self._settings = settings
        self._wanted: dict[str, _Gathering] = {}
        self._single: set[str] = set()

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        """The model's reply where it is known.

        Raises CallPending where the call is in a batch, or is gathered for the next one. A call that failed in a batch by an
        error of its own is sent singly. Raises CallFailed for one whose batches failed or expired too often, and whatever a
        single call raises.
        """
        if model.batch is None or request.run_id is None:
            return await super().complete(model, request)
        parameters = {**model.parameters, **request.parameters}
        key = compute_call_key(model, request, parameters)
        found = await self._ledger.writer.run_async(lambda connection: find_call(connection, key))
        if key in self._single or (found is not None and found.status == "done"):
            return await super().complete(model, request)
        if found is not None and found.status == "started" and str(found.holder).startswith(BATCH_PREFIX):
            self.pending.add(key)
            raise CallPending(model, key)
        if found is not None and found.status == "failed":
            failures = await self._ledger.writer.run_async(
                lambda connection: count_batch_failures(connection, [key])
            )
            own, whole = failures.get(key, (0, 0))
            if own:
                return await super().complete(model, request)
            if whole >= MOST_FAILED_BATCHES:
                raise CallFailed(
                    f"{whole} batches of {model.name!r} at {model.provider!r} failed or expired with this call. Ask for it singly: "
                    "run the command without --batch.",
                    call_key=key,
                    error="batch",
                    attempts=whole,
                )
        await self._gather(model, request, key, parameters)
        raise CallPending(model, key)

    async def submit(self) -> bool:
        """Submit what is gathered; whether some is too little for a batch, to be asked for singly."""
        before = len(self._single)
        wanted, self._wanted = self._wanted, {}
        for gathering in wanted.values():
            await self._submit_calls(gathering, is_rest=True)
        return len(self._single) > before

    async def _gather(
        self, model: RegisteredModel, request: CallRequest, key: str, parameters: dict[str, Any]
    ) -> None:
        assert model.batch is not None and request.run_id is not None
        endpoint = self._endpoints.open_for_batches(model)
        body = build_body(model, request, parameters)
        cheaper = discount(model)
        # What the budget cannot bear to be unknown is refused here as it is for a single call.
        if min((await self._read_limits(request.run_id, model)).values()) < math.inf:
            compute_worst_cost(model, body["messages"], body)
        self.pending.add(key)
        gathering = self._wanted.setdefault(model.name, _Gathering(model))
        gathering.add(
            _Wanted(
                key,
                request.run_id,
                request.purpose,
                request.unit,
                endpoint.write_line(key, body),
                estimate_worst_cost(cheaper, body),
                estimate_worst_cost(model, body),
            )
        )
        if len(gathering.calls) >= model.batch.most_requests or gathering.size >= model.batch.most_mb * 1e6:
            # Taken out at once: others gather for the next batch while this one is on its way.
            del self._wanted[model.name]
            await self._submit_calls(gathering, is_rest=False)

    async def _submit_calls(self, gathering: _Gathering, *, is_rest: bool) -> None:
        model = gathering.model
        assert model.batch is not None
        by_run: dict[str, list[_Wanted]] = {}
        for wanted in gathering.calls.values():
            by_run.setdefault(wanted.run_id, []).append(wanted)
        for run_id, some in by_run.items():
            if is_rest and len(some) < model.batch.least_requests:
                self._single |= {wanted.key for wanted in some}
                self.pending -= {wanted.key for wanted in some}
            else:
                await self._submit_batch(model, run_id, some)

    async def _submit_batch(self, model: RegisteredModel, run_id: str, wanted: list[_Wanted]) -> None:
        """Submit one batch.

        First its calls and its money are written down, then it is uploaded, then created. From `creating` on it may be
        billed: whoever is killed there finds it again by its name, or books it at its worst.
        """
        assert model.batch is not None
        endpoint = self._endpoints.open_for_batches(model)
        batch_id = f"{BATCH_PREFIX}{uuid4().hex}"
        with claim_work(self._ledger, CLAIM, batch_id, what=f"submitting {batch_id}"):
            limits_usd = await self._read_limits(run_id, model)
            await asyncio.to_thread(self._open, batch_id, run_id, model, limits_usd)
            taken, full = await self._take_calls(batch_id, run_id, model, wanted, limits_usd)
            problem = None
            if taken:
                content = b"".join(one.line for one in taken)
                uploaded = await endpoint.upload_requests(f"proctor-{batch_id}", content)
                if isinstance(uploaded, Failure):
                    problem = uploaded
                else:
                    file_hash = hashlib.sha256(content).hexdigest()
                    self._move(batch_id, "gathering", "creating", file_hash=file_hash, file_id=uploaded)
                    created = await endpoint.create_batch(batch_id, uploaded, model.batch.window)
                    if not isinstance(created, Failure):
                        self._move(
                            batch_id, "creating", "created", provider_batch_id=created.provider_batch_id
                        )
                        self.submitted += len(taken)
                    elif created.is_bill_unknown:
                        # It may be there: whoever collects looks for it.
                        self.problems.append(
                            f"{model.provider!r} did not say whether it took a batch ({created.error}); it is looked for."
                        )
                        self.submitted += len(taken)
                    else:
                        problem = created
                        await endpoint.delete_files([uploaded])
            if not taken or problem is not None:
                with self._ledger.read() as connection:
                    batch = read_batch(connection, batch_id)
                assert batch is not None
                drop_batch(self._ledger, batch)
        if problem is not None:
            self.pending -= {one.key for one in taken}
            self.refused += 1
            self.problems.append(
                f"{model.provider!r} took no batch of {model.name!r}: {problem.error}. {problem.advise(model)}"
            )
        if full is not None:
            self._report_full(full, len(taken), wanted)

    def _report_full(self, account: str, taken: int, wanted: list[_Wanted]) -> None:
        """Report what an account had no room for; BudgetError where no open batch makes room."""
        with self._ledger.read() as connection:
            under_way = [
                one
                for one in list_call_batches(connection, only_open=True)
                if account in (one.run_id, name_provider_account(one.provider))
            ]
        if not under_way:
            way_out = (
                "Raise its `budget_usd` in the registry"
                if is_provider_account(account)
                else f"Raise it (`proctor runs budget {account} --raise USD --reason WHY`)"
            )
            raise BudgetError(
                f"The budget of {account} has no room for a batch: the next call could cost {wanted[0].worst_usd:.4f} USD. It was not "
                f"sent. {way_out} and run again."
            )
        self.problems.append(
            f"The budget of {account} had room for {taken} of {len(wanted)} calls; the others are for a further batch."
        )

    def _open(self, batch_id: str, run_id: str, model: RegisteredModel, accounts: Collection[str]) -> None:
        for is_last in (False, True):
            try:
                with self._ledger.write() as connection:
                    open_call_batch(
                        connection, batch_id, run_id, model.provider, model.name, accounts=accounts
                    )
                return
            except ConflictError:  # another process opened the run's first share at this moment
                if is_last:
                    raise

    async def _take_calls(
        self,
        batch_id: str,
        run_id: str,
        model: RegisteredModel,
        wanted: list[_Wanted],
        limits_usd: Mapping[str, float],
    ) -> tuple[list[_Wanted], str | None]:
        """Write down, as this batch's, free calls with room; those, and the account that was full."""
        by_key = {one.key: one for one in wanted}
        calls = [
            BatchedCall(
                NewCall(one.key, one.purpose, run_id, one.unit, model.provider, model.name, batch_id),
                one.worst_usd,
                _return(one.lost_usd),
            )
            for one in wanted
        ]
        taken: list[_Wanted] = []
        for start in range(0, len(calls), CALLS_PER_TRANSACTION):
            some = calls[start : start + CALLS_PER_TRANSACTION]
            # By the writer: it tries again where another process locked the same rows the other way round.
            gathered = await self._ledger.writer.run_async(self._gather_into(batch_id, some, limits_usd))
            taken += [by_key[key] for key in gathered.keys]
            self.counts["repeated"] += gathered.repeated
            await asyncio.sleep(0)
            if gathered.full is not None:
                return taken, gathered.full
        return taken, None

    def _gather_into(
        self, batch_id: str, calls: Sequence[BatchedCall], limits_usd: Mapping[str, float]
    ) -> Operation[Gathered]:
        return lambda connection: gather_calls(connection, batch_id, calls, limits_usd)

    def _move(self, batch_id: str, before: str, state: str, **known: str) -> None:
        with self._ledger.write() as connection:
            is_ours = move_batch(connection, batch_id, before, state, **known)
        if not is_ours:
            raise StoreError(
                f"Another process has taken over {batch_id}: this one was silent too long. Run the command again."
            )

    async def _read_limits(self, run_id: str, model: RegisteredModel) -> dict[str, float]:
        """The limits of the run and, where it has one, of the provider.

        A run without a limit is given a share all the same: one that is set while a batch is under way counts it.
        """
        limit = await self._ledger.writer.run_async(lambda connection: read_limit(connection, run_id))
        limit = self._settings.budget_usd if limit is None else limit
        limits = {run_id: math.inf if limit is None else limit}
        if (of_provider := await self.find_provider_budget(model)) is not None:
            limits[of_provider.account] = of_provider.limit_usd
        return limits


def _return(amount: float) -> Any:
    return lambda: amount
