"""The plan of a run: what it would be, or is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schemas.errors import UsageError
from tasks.exam.plan.allotment import PlannedSession, Refusal, SatSet, SetRenewal
from tasks.exam.plan.due import Schedule
from tasks.exam.plan.forecast import Forecast
from tasks.exam.plan.key_balance import KeyBalance, parse_balance
from tasks.exam.plan.linking import LinkForecast, parse_link
from tasks.exam.plan.request import PlanRequest
from tasks.exam.plan.shares import Shortfall
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import sittings as ledger_exam

if TYPE_CHECKING:
    from warehouse.ledger.exam.sittings import PlannedRun


@dataclass(frozen=True)
class RunPlan:
    """What a run would be, or is.

    Attributes:
        run_id: name of the run.
        month: YYYY-MM.
        repetition: name of a further run of the month; empty for the month's own.
        season: the sets that may be shared: one bank version, policy, size and list of disciplines.
        bank_version: bank version drawn from.
        policy: `shared` or `unique`.
        set_size: lineages asked for in a set.
        shares: lineages of a new set by discipline, as far as the bank has them.
        styles: prompt styles sat.
        repeats: independent repeats per candidate.
        candidates: names of the candidates that sit, in order.
        outside: those of them that sit with their own client.
        reference_model: the reference candidate.
        bridged_reference: the former reference that sits this run too; null when the reference is unchanged.
        is_simulated: whether the run is a simulation.
        sets: the sets sat.
        sessions: all sessions, reference sittings included.
        call_count: questions that will be put.
        cost_usd: expected cost; models without a price count as 0.
        cost_by_model: expected cost by model.
        unpriced: models without a price.
        refused: candidates that are not examined, with the numbers.
        renewed: references that answer again what they have answered, and what has changed.
        due: every candidate of this kind with what it is due for.
        forecast: what every organisation has left after this run, and how long it lasts.
        budget_usd: budget of the run.
        link: how far its scores will compare with those of other months; null where nobody sits, or as an earlier version planned.
        keys: how the keys of its new sets lie; empty as an earlier version planned.
        is_published: whether the ledger has it.
    """

    run_id: str
    month: str
    repetition: str
    season: str
    bank_version: int
    policy: str
    set_size: int
    shares: dict[str, int]
    styles: tuple[str, ...]
    repeats: int
    candidates: tuple[str, ...]
    outside: tuple[str, ...]
    reference_model: str
    bridged_reference: str | None
    is_simulated: bool
    sets: tuple[SatSet, ...]
    sessions: tuple[PlannedSession, ...]
    call_count: int
    cost_usd: float
    cost_by_model: dict[str, float]
    unpriced: tuple[str, ...]
    refused: tuple[Refusal, ...]
    renewed: tuple[SetRenewal, ...]
    due: tuple[Schedule, ...]
    forecast: tuple[Forecast, ...]
    budget_usd: float | None
    link: LinkForecast | None = None
    keys: tuple[KeyBalance, ...] = ()
    is_published: bool = False
    request: PlanRequest | None = field(default=None, repr=False, compare=False)

    @property
    def session_count(self) -> int:
        """How many sessions there are."""
        return len(self.sessions)

    @property
    def asked_for(self) -> tuple[str, ...]:
        """The candidates that sit and those that were refused."""
        return (*self.candidates, *(name for refusal in self.refused for name in refusal.candidates))

    @property
    def sets_left(self) -> dict[str, dict[str, int]]:
        """Organisation → discipline → sets that could still be drawn for it after this run."""
        return {one.organisation: dict(one.sets_left) for one in self.forecast}

    def summary(self) -> dict[str, Any]:
        """The preview as JSON values, without seed, question and lineage."""
        return {
            "run_id": self.run_id,
            "month": self.month,
            "repetition": self.repetition,
            "season": self.season,
            "bank_version": self.bank_version,
            "policy": self.policy,
            "set_size": self.set_size,
            "shares": self.shares,
            "styles": list(self.styles),
            "repeats": self.repeats,
            "candidates": list(self.candidates),
            "outside": list(self.outside),
            "reference_model": self.reference_model,
            "bridged_reference": self.bridged_reference,
            "is_simulated": self.is_simulated,
            "sets": [{**taken._asdict(), "organisations": list(taken.organisations)} for taken in self.sets],
            "session_count": self.session_count,
            "reference_session_count": sum(session.is_reference for session in self.sessions),
            "call_count": self.call_count,
            "cost_usd": round(self.cost_usd, 4),
            "cost_by_model": {name: round(cost, 4) for name, cost in self.cost_by_model.items()},
            "unpriced": list(self.unpriced),
            "budget_usd": self.budget_usd,
            "refused": [refusal.describe() for refusal in self.refused],
            "renewed": [renewal.describe() for renewal in self.renewed],
            "due": [entry.describe() for entry in self.due],
            "sets_left": self.sets_left,
            "forecast": [one.describe() for one in self.forecast],
            "keys": [one.describe() for one in self.keys],
            "link": None if self.link is None else self.link.describe(),
            "is_published": self.is_published,
        }


def read_plan(ledger: Ledger, run_id: str) -> RunPlan:
    """The plan of a published run; raises UsageError when there is none of that name."""
    with ledger.read() as connection:
        row = ledger_exam.read_run(connection, run_id)
    if row is None:
        raise UsageError(f"There is no run {run_id!r}. `proctor evaluate` makes one.")
    return parse_published(row)


def parse_published(run: PlannedRun) -> RunPlan:
    """The plan as the ledger keeps it with its run; empty what an earlier version did not keep."""
    plan = run.plan
    return RunPlan(
        run_id=run.run_id,
        month=run.month,
        repetition=run.repetition,
        season=run.season,
        bank_version=run.bank_version,
        policy=run.policy,
        set_size=run.set_size,
        shares=dict(plan["shares"]),
        styles=tuple(plan["styles"]),
        repeats=plan["repeats"],
        candidates=tuple(plan["candidates"]),
        outside=tuple(plan["outside"]),
        reference_model=run.reference_model,
        bridged_reference=run.bridged_reference,
        is_simulated=run.is_simulated,
        sets=tuple(
            SatSet(**{**item, "organisations": tuple(item.get("organisations", ()))}) for item in plan["sets"]
        ),
        sessions=tuple(PlannedSession(**session) for session in plan["sessions"]),
        call_count=plan["call_count"],
        cost_usd=plan["cost_usd"],
        cost_by_model=dict(plan["cost_by_model"]),
        unpriced=tuple(plan["unpriced"]),
        refused=tuple(_parse_refusal(refusal) for refusal in plan.get("refused", ())),
        renewed=tuple(
            SetRenewal(**{**renewal, "changed": tuple(renewal["changed"])})
            for renewal in plan.get("renewed", ())
        ),
        due=tuple(Schedule(**entry) for entry in plan.get("due", ())),
        forecast=tuple(Forecast(**one) for one in plan.get("forecast", ())),
        budget_usd=run.budget_usd,
        link=parse_link(plan.get("link")),
        keys=tuple(parse_balance(one) for one in plan.get("keys", ())),
        is_published=True,
    )


def _parse_refusal(refusal: Mapping[str, Any]) -> Refusal:
    return Refusal(
        organisation=refusal["organisation"],
        candidates=tuple(refusal["candidates"]),
        reason=refusal["reason"],
        shortfalls=tuple(Shortfall(**short) for short in refusal["shortfalls"]),
    )
