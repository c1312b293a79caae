"""The plan of a run: what it would be, or is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, cast

from tasks.exam.plan.allotment import PlannedSession, Refusal, SatSet, SetRenewal
from tasks.exam.plan.due import Schedule
from tasks.exam.plan.forecast import Forecast
from tasks.exam.plan.key_balance import KeyBalance
from tasks.exam.plan.linking import LinkForecast
from tasks.exam.plan.request import PlanRequest
from tasks.exam.plan.shares import Shortfall
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import sittings as ledger_exam
from warehouse.ledger.exam.sittings import PlannedRun

T = TypeVar("T")


@dataclass(frozen=True)
class RunPlan:
    """What a run would be, or is.

    Attributes:
        month: YYYY-MM.
        repetition: name of a further run of the month; empty for the month's own.
        season: the sets that may be shared: one bank version, policy, size and list of disciplines.
        policy: `shared` or `unique`.
        set_size: lineages asked for in a set.
        shares: lineages of a new set by discipline, as far as the bank has them.
        repeats: independent repeats per candidate.
        candidates: names of the candidates that sit, in order.
        outside: those of them that sit with their own client.
        bridged_reference: the former reference that sits this run too; null when the reference is unchanged.
        sets: the sets sat.
        sessions: all sessions, reference sittings included.
        call_count: questions that will be put.
        cost_usd: expected cost; models without a price count as 0.
        unpriced: models without a price.
        refused: candidates that are not examined, with the numbers.
        renewed: references that answer again what they have answered, and what has changed.
        due: every candidate of this kind with what it is due for.
        forecast: what every organisation has left after this run, and how long it lasts.
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
        described: dict[str, Any] = describe(self)
        del described["sessions"]
        calls = Counter[str]()
        for session in self.sessions:
            calls[session.model] += session.question_count
        return {
            **described,
            "session_count": self.session_count,
            "reference_session_count": sum(session.is_reference for session in self.sessions),
            "calls_by_model": dict(calls),
            "cost_usd": round(self.cost_usd, 4),
            "cost_by_model": {name: round(cost, 4) for name, cost in self.cost_by_model.items()},
            "sets_left": self.sets_left,
            "link": None if self.link is None else {**described["link"], "is_thin": self.link.is_thin},
        }


def read_plan(ledger: Ledger, run_id: str) -> RunPlan:
    """The plan of a published run; raises UsageError when there is none of that name."""
    with ledger.read() as connection:
        return parse_published(ledger_exam.require_run(connection, run_id))


def describe(value: Any) -> Any:
    """A record of a plan as JSON values: what is compared of it, by field; several as a list."""
    if is_dataclass(value):
        return {one.name: describe(getattr(value, one.name)) for one in fields(value) if one.compare}
    if isinstance(value, Mapping):
        return {name: describe(one) for name, one in value.items()}
    return [describe(one) for one in value] if isinstance(value, list | tuple) else value


def parse_published(run: PlannedRun) -> RunPlan:
    """The plan as the ledger keeps it with its run; empty what an earlier version did not keep."""
    kept, known = run.plan, {one.name for one in fields(RunPlan)}
    refused = [{**one, "shortfalls": _parse(Shortfall, one["shortfalls"])} for one in kept.get("refused", ())]
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in {**kept, **run.as_values()}.items()
        if name in known
    }
    values |= {
        "sets": _parse(SatSet, kept["sets"]),
        "sessions": _parse(PlannedSession, kept["sessions"]),
        "refused": _parse(Refusal, refused),
        "renewed": _parse(SetRenewal, kept.get("renewed", ())),
        "due": _parse(Schedule, kept.get("due", ())),
        "forecast": _parse(Forecast, kept.get("forecast", ())),
        "keys": _parse(KeyBalance, kept.get("keys", ())),
        "link": _parse(LinkForecast, [kept["link"]])[0] if kept.get("link") else None,
    }
    return RunPlan(**{**values, "is_published": True})


def _parse(kind: Callable[..., T], described: Iterable[Mapping[str, Any]]) -> tuple[T, ...]:
    """Records as they were described; what a record says besides its fields follows from these."""
    known = {one.name for one in fields(cast("Any", kind))}
    return tuple(
        kind(
            **{
                name: tuple(value) if isinstance(value, list) else value
                for name, value in one.items()
                if name in known
            }
        )
        for one in described
    )
