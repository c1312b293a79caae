"""Give sets out: who sits which set, which sets must be drawn, and what the reference must answer (SPEC §5.1).

Pure: the same request and the same state of the ledger give the same allotment.

The rule: no organisation meets a lineage in two sets. Simulated organisations have keys of their own, so that
simulated runs take nothing from real ones and still obey the rule among themselves. The reference candidate alone is
exempt, in sittings that are marked `is_reference`; it still never sits the same set twice in one style.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tasks.exam.plan.cost import TokenEstimate
from tasks.exam.plan.drawing import BankIndex, DrawnQuestion, draw_set
from warehouse.ledger.plans import SeasonSet

if TYPE_CHECKING:
    import polars as pl

    from tasks.models.registry import RegisteredModel

SIMULATED_PREFIX: Final = "sim:"


@dataclass(frozen=True)
class Sitter:
    """Somebody who sits: registry name, candidate user, and the organisation's key."""

    model: str
    user_id: str
    organisation: str


@dataclass(frozen=True)
class PlanRequest:
    """Everything that a plan follows from, besides the ledger."""

    run_id: str
    month: str
    index: BankIndex
    bank: pl.DataFrame
    shares: Mapping[str, int]
    set_size: int
    policy: str
    is_capped: bool
    rest_months: int | None
    styles: Sequence[str]
    repeats: int
    candidates: Sequence[Sitter]
    references: Sequence[Sitter]
    models: Mapping[str, RegisteredModel]
    outside: frozenset[str]
    is_simulated: bool
    is_reference_renewed: bool
    pending_window: int
    budget_usd: float | None
    seed: str = field(repr=False)
    estimate: TokenEstimate = field(default_factory=TokenEstimate)
    planned_on: datetime = field(default_factory=lambda: datetime.now(UTC))

    @cached_property
    def season(self) -> str:
        """Sets may be shared only where bank version, policy, size and disciplines are the same."""
        shape = hashlib.sha256(
            f"{'|'.join(self.shares)}|{'capped' if self.is_capped else 'full'}".encode()
        ).hexdigest()[:6]
        prefix = SIMULATED_PREFIX if self.is_simulated else ""
        return f"{prefix}bank-{self.index.bank_version}/{self.policy}-{self.set_size}-{shape}"

    @cached_property
    def rested_before(self) -> str:
        """A lineage met before this moment may return; empty text (nothing may) without a rest period."""
        if self.rest_months is None:
            return ""
        months = self.planned_on.year * 12 + self.planned_on.month - 1 - self.rest_months
        year, month = divmod(months, 12)
        return f"{year:04d}-{month + 1:02d}-{min(self.planned_on.day, 28):02d}T00:00:00.000000+00:00"


class Sitting(NamedTuple):
    """A set that a model has sat in a style."""

    model: str
    set_id: str
    prompt_style: str


class SatSet(NamedTuple):
    """A set that the run's sessions sit."""

    set_number: int
    set_id: str
    is_new: bool


@dataclass(frozen=True)
class LedgerState:
    """What the ledger says before the plan.

    Attributes:
        season_sets: sets of the season by number.
        met: organisation key → lineages met and not rested.
        met_by_real: lineages that any real organisation has met.
        met_by_simulated: lineages that any simulated one has met.
        sat: (model, set) of every session.
        sittings: what every session sat.
    """

    season_sets: Sequence[SeasonSet]
    met: Mapping[str, set[str]]
    met_by_real: set[str]
    met_by_simulated: set[str]
    sat: set[tuple[str, str]]
    sittings: set[Sitting]


@dataclass(frozen=True)
class DrawnSet:
    """A set that this run draws."""

    set_number: int
    set_id: str
    items: Sequence[DrawnQuestion]


@dataclass(frozen=True)
class Claim:
    """An organisation takes a set for one repeat of a candidate."""

    organisation: str
    set_id: str
    model: str
    repeat: int


@dataclass(frozen=True)
class PlannedSession:
    """One candidate sitting one set in one style and repeat."""

    session_id: str
    set_id: str
    set_number: int
    user_id: str
    model: str
    organisation: str
    prompt_style: str
    repeat: int
    is_reference: bool
    question_count: int

    def describe(self) -> dict[str, Any]:
        """The same as JSON values."""
        return dict(self.__dict__)


@dataclass
class Allotment:
    """Who sits what.

    Attributes:
        new_sets: sets to be drawn, with their questions.
        sets: every set that is sat.
        lineages: set → its lineages.
        claims: what each organisation takes.
        sessions: all sessions.
        sets_left: organisation → discipline → sets that could still be drawn for it.
        exempt: organisation of the reference → sets that it meets in reference sittings only.
    """

    new_sets: list[DrawnSet] = field(default_factory=list)
    sets: list[SatSet] = field(default_factory=list)
    lineages: dict[str, frozenset[str]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    sessions: list[PlannedSession] = field(default_factory=list)
    sets_left: dict[str, dict[str, int]] = field(default_factory=dict)
    exempt: dict[str, tuple[str, ...]] = field(default_factory=dict)


def key_organisation(organisation: str, *, is_simulated: bool) -> str:
    """The organisation as the ledger counts it."""
    return f"{SIMULATED_PREFIX}{organisation}" if is_simulated else organisation


def name_organisation(key: str) -> str:
    """The organisation as people know it."""
    return key.removeprefix(SIMULATED_PREFIX)


def allot_sets(request: PlanRequest, state: LedgerState) -> Allotment:
    """Take the lowest set that each candidate-repeat's organisation has not met, or draw one; then the reference's.

    Raises BankTooSmall when a set is needed that the bank cannot fill.
    """
    allotment = Allotment()
    season = list(state.season_sets)
    met = {organisation: set(lineages) for organisation, lineages in state.met.items()}
    sat = set(state.sat)
    for sitter in request.candidates:
        for repeat in range(1, request.repeats + 1):
            taken = _find_shared(request, season, met[sitter.organisation], sitter, sat)
            if taken is None:
                taken = _draw_new(request, state, season, met[sitter.organisation], sitter, repeat, allotment)
                season.append(taken)
            met[sitter.organisation] |= taken.lineages
            sat.add((sitter.model, taken.set_id))
            allotment.lineages[taken.set_id] = taken.lineages
            allotment.claims.append(Claim(sitter.organisation, taken.set_id, sitter.model, repeat))
            allotment.sessions += [
                _plan_session(request, sitter, taken, style, repeat, is_reference=False)
                for style in request.styles
            ]
    _add_reference_sittings(request, state, season, allotment)
    new_ids = {new.set_id for new in allotment.new_sets}
    allotment.sets = [
        SatSet(found.set_number, found.set_id, found.set_id in new_ids)
        for found in season
        if found.set_id in allotment.lineages
    ]
    for organisation in sorted({sitter.organisation for sitter in request.candidates}):
        allotment.sets_left[organisation] = {
            discipline: sum(
                lineage not in met[organisation] for lineage in request.index.lineages[discipline]
            )
            // share
            for discipline, share in request.shares.items()
            if share
        }
    return allotment


def _find_shared(
    request: PlanRequest,
    season: Sequence[SeasonSet],
    met: set[str],
    sitter: Sitter,
    sat: set[tuple[str, str]],
) -> SeasonSet | None:
    if request.policy != "shared":
        return None
    for found in season:
        if (sitter.model, found.set_id) not in sat and met.isdisjoint(found.lineages):
            return found
    return None


def _draw_new(
    request: PlanRequest,
    state: LedgerState,
    season: Sequence[SeasonSet],
    met: set[str],
    sitter: Sitter,
    repeat: int,
    allotment: Allotment,
) -> SeasonSet:
    number = max((found.set_number for found in season), default=0) + 1
    set_id = f"{request.season}/{number:04d}"
    is_shared = request.policy == "shared"
    others = state.met_by_simulated if sitter.organisation.startswith(SIMULATED_PREFIX) else state.met_by_real
    items = draw_set(
        request.index,
        request.shares,
        # The sets of a shared season have no lineage in common: an organisation can take several of them.
        excluded=met.union(*(found.lineages for found in season)) if is_shared else met,
        avoided=others if is_shared else frozenset(),
        is_capped=request.is_capped,
        seed=request.seed,
        label=f"set|{set_id}",
        purpose=f"set {number} of the season, for {sitter.model!r} of {name_organisation(sitter.organisation)!r}, "
        f"repeat {repeat} of {request.repeats}",
    )
    allotment.new_sets.append(DrawnSet(number, set_id, items))
    return SeasonSet(number, set_id, frozenset(item.lineage_uuid for item in items))


def _add_reference_sittings(
    request: PlanRequest, state: LedgerState, season: Sequence[SeasonSet], allotment: Allotment
) -> None:
    """The reference answers every set once per style; a sitting it has, as candidate or as reference, serves."""
    served = {(session.model, session.set_id, session.prompt_style) for session in allotment.sessions}
    if not request.is_reference_renewed:
        served |= state.sittings
    used = [found for found in season if found.set_id in allotment.lineages]
    exempt: dict[str, dict[str, None]] = {}
    for sitter in request.references:
        for found in used:
            for style in request.styles:
                if (sitter.model, found.set_id, style) in served:
                    continue
                allotment.sessions.append(_plan_session(request, sitter, found, style, 1, is_reference=True))
                exempt.setdefault(sitter.organisation, {})[found.set_id] = None
    allotment.exempt = {organisation: tuple(sets) for organisation, sets in exempt.items()}


def _plan_session(
    request: PlanRequest, sitter: Sitter, taken: SeasonSet, style: str, repeat: int, *, is_reference: bool
) -> PlannedSession:
    # An opaque name: it appears in URLs and tokens, and must say nothing of the set.
    label = f"session|{request.run_id}|{taken.set_id}|{sitter.model}|{style}|{repeat}|{is_reference}"
    digest = hmac.new(request.seed.encode(), label.encode(), hashlib.sha256).hexdigest()
    return PlannedSession(
        session_id=f"s{digest[:24]}",
        set_id=taken.set_id,
        set_number=taken.set_number,
        user_id=sitter.user_id,
        model=sitter.model,
        organisation=sitter.organisation,
        prompt_style=style,
        repeat=repeat,
        is_reference=is_reference,
        question_count=len(taken.lineages),
    )
