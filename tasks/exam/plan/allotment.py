"""Give sets out to candidates (SPEC §5.1).

The allotment says who sits which set, which sets must be drawn, and what the reference must answer. Pure: the same request
and the same state of the ledger give the same allotment. Every style and repeat of a candidate, and all candidates of an
organisation, sit one set in a run; the reference answers every set of the run once per style.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tasks.exam.plan.fingerprint import list_changes
from tasks.exam.plan.linking import LinkForecast, forecast_link
from tasks.exam.plan.request import KnownSet, LedgerState, PastSitting, PlanRequest, Sitter
from tasks.exam.plan.shares import Shortfall, describe_shortfalls
from tasks.exam.plan.sharing import DrawnSet, distribute_sets


@dataclass(frozen=True)
class SatSet:
    """A set that the run's sessions sit.

    Attributes:
        anchor_count: how many of them other organisations have answered before; null for a set of an earlier run.
        wanted_anchors: how many were asked for; null for a set of an earlier run.
        organisations: whose candidates sit it.
        rested_count: how many of them should have rested, had there been others; null for a set of an earlier run.
        repeated_count: how many of them ask about a text that the set has already, as there were no others; null likewise.
        is_from_others: whether it is a reference's own, drawn from what the other new sets of the run ask.
    """

    set_number: int
    set_id: str
    is_new: bool
    question_count: int = 0
    anchor_count: int | None = None
    wanted_anchors: int | None = None
    organisations: Sequence[str] = ()
    rested_count: int | None = None
    repeated_count: int | None = None
    is_from_others: bool = False


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
    fingerprint: str = ""


@dataclass(frozen=True)
class Refusal:
    """Candidates that are not examined, and why; the others of the run are.

    Attributes:
        organisation: their owner, as people know it.
        reason: one sentence with the numbers.
        shortfalls: disciplines of which the organisation has too few left; empty where a limit refused them.
    """

    organisation: str
    candidates: tuple[str, ...]
    reason: str
    shortfalls: tuple[Shortfall, ...] = ()


@dataclass(frozen=True)
class SetRenewal:
    """A reference that answers sets again which it has answered before.

    Attributes:
        set_count: sets that it answers again.
        changed: what has changed since (`endpoint`, `parameters`, …); empty where it was asked for.
    """

    model: str
    set_count: int
    changed: tuple[str, ...]


@dataclass
class Allotment:
    """Who sits what.

    Attributes:
        lineages: set → its lineages.
        claims: (organisation key, set) of every organisation whose candidates sit the set.
        reference_claims: the same of organisations that meet it in sittings of the reference only.
        renewed: which references answer again what they have answered.
        left: organisation key → discipline → lineages that it has not met after this run.
        avoided: mask of lineages that new sets avoid, before the first of them.
    """

    state: LedgerState
    avoided: NDArray[np.bool_]
    new_sets: list[DrawnSet] = field(default_factory=list)
    sets: list[SatSet] = field(default_factory=list)
    lineages: dict[str, frozenset[str]] = field(default_factory=dict)
    claims: list[tuple[str, str]] = field(default_factory=list)
    reference_claims: list[tuple[str, str]] = field(default_factory=list)
    sessions: list[PlannedSession] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    renewed: list[SetRenewal] = field(default_factory=list)
    left: dict[str, dict[str, int]] = field(default_factory=dict)
    link: LinkForecast | None = None


def allot_sets(request: PlanRequest, state: LedgerState) -> Allotment:
    """Give every organisation its set and every candidate its sessions; then the reference's."""
    found = distribute_sets(request, state)
    allotment = Allotment(
        state=state,
        avoided=found.avoided,
        new_sets=found.new_sets,
        claims=sorted((owner, taken.set_id) for owner, taken in found.taken.items()),
        link=forecast_link(request, state, found),
    )
    used = {taken.set_id: taken for taken in sorted(found.taken.values(), key=lambda taken: taken.set_number)}
    lineage = request.index.lineage_uuids
    for set_id, taken in used.items():
        allotment.lineages[set_id] = frozenset(lineage[position] for position in taken.positions.tolist())
    for sitter in request.candidates:
        if sitter.organisation in found.taken:
            allotment.sessions += [
                _plan_session(
                    request, sitter, found.taken[sitter.organisation], style, repeat, is_reference=False
                )
                for repeat in range(1, request.settings.repeats + 1)
                for style in request.settings.prompt_styles
            ]
    for owner, shortfalls in found.shortfalls.items():
        allotment.refused.append(_refuse(request, owner, shortfalls))
    _add_reference_sittings(request, state, list(used.values()), allotment)
    drawn = {new.set_id: new for new in found.new_sets}
    allotment.sets = [
        _describe_set(request, taken, drawn.get(set_id), found.taken, state.rested)
        for set_id, taken in used.items()
    ]
    _count_left(request, state, used, allotment)
    return allotment


def _refuse(request: PlanRequest, owner: str, shortfalls: Sequence[Shortfall]) -> Refusal:
    name = request.name_organisation(owner)
    return Refusal(
        organisation=name,
        candidates=tuple(sitter.model for sitter in request.candidates if sitter.organisation == owner),
        reason=f"Bank version {request.index.bank_version} has too few questions that {name!r} has not met: "
        f"{describe_shortfalls(shortfalls)}.",
        shortfalls=tuple(shortfalls),
    )


def _describe_set(
    request: PlanRequest,
    taken: KnownSet,
    drawn: DrawnSet | None,
    owners: dict[str, KnownSet],
    rested: NDArray[np.bool_] | None,
) -> SatSet:
    return SatSet(
        set_number=taken.set_number,
        set_id=taken.set_id,
        is_new=drawn is not None,
        question_count=len(taken.positions),
        anchor_count=None if drawn is None else sum(item.is_anchor for item in drawn.items),
        wanted_anchors=None if drawn is None else sum(share.anchors for share in drawn.shares),
        rested_count=None
        if drawn is None or rested is None
        else sum(bool(rested[item.position]) for item in drawn.items),
        repeated_count=None
        if drawn is None
        else request.index.count_repeated([item.position for item in drawn.items]),
        is_from_others=drawn is not None and drawn.is_from_others,
        organisations=tuple(
            sorted(
                request.name_organisation(owner)
                for owner, found in owners.items()
                if found.set_id == taken.set_id
            )
        ),
    )


def _add_reference_sittings(
    request: PlanRequest, state: LedgerState, used: Sequence[KnownSet], allotment: Allotment
) -> None:
    """The reference answers every set once per style, unless an unchanged sitting of it serves."""
    served = {
        PastSitting(session.model, session.set_id, session.prompt_style) for session in allotment.sessions
    }
    claimed = set(allotment.claims)
    for sitter in request.references:
        again: set[str] = set()
        changed: dict[str, None] = {}
        for taken in used:
            for style in request.settings.prompt_styles:
                sitting = PastSitting(sitter.model, taken.set_id, style)
                if sitting in served:
                    continue
                if sitting in state.sittings:
                    changes = list_changes(state.sittings[sitting], sitter.fingerprint)
                    if not changes and not request.is_reference_renewed:
                        continue
                    again.add(taken.set_id)
                    changed |= dict.fromkeys(changes)
                allotment.sessions.append(_plan_session(request, sitter, taken, style, 1, is_reference=True))
                claim = (sitter.organisation, taken.set_id)
                if claim not in claimed:
                    claimed.add(claim)
                    allotment.reference_claims.append(claim)
        if again:
            allotment.renewed.append(SetRenewal(sitter.model, len(again), tuple(changed)))


def _count_left(
    request: PlanRequest, state: LedgerState, used: dict[str, KnownSet], allotment: Allotment
) -> None:
    met_now: dict[str, list[str]] = {}
    for owner, set_id in (*allotment.claims, *allotment.reference_claims):
        met_now.setdefault(owner, []).append(set_id)
    for owner, met in state.met.items():
        after = met.copy()
        for set_id in met_now.get(owner, ()):
            after[used[set_id].positions] = True
        allotment.left[owner] = request.index.count_unmet(request.index.add_siblings(after))


def _plan_session(
    request: PlanRequest, sitter: Sitter, taken: KnownSet, style: str, repeat: int, *, is_reference: bool
) -> PlannedSession:
    # An opaque name: it appears in URLs and tokens, and must say nothing of the set.
    label = f"session|{request.run_id}|{taken.set_id}|{sitter.model}|{style}|{repeat}|{is_reference}"
    digest = hmac.new(request.chance.seed, label.encode(), hashlib.sha256).hexdigest()
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
        question_count=len(taken.positions),
        fingerprint=sitter.fingerprint,
    )
