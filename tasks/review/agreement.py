"""How far annotators agree, and how fast they work; over the first reviews in the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from statistics import median
from typing import TypeVar

from tasks.review.batch import list_batches, read_assignments, read_batch, read_decisions
from tasks.statistics.agreement import (
    Weighting,
    compute_alpha,
    compute_kappa,
    compute_percent_agreement,
    compute_share,
)
from warehouse.ledger.engine.ledger import Connection, Ledger

# From what leaves a question as it is to what takes it away.
ORDER = ("accept", "edit", "reject")
NO_NAME = "(none)"
Name = TypeVar("Name", str, tuple[str, str])


@dataclass(frozen=True, slots=True)
class Vote:
    """A first review of a question; `discipline` null where it is not known."""

    batch_id: str
    question_uuid: str
    discipline: str | None
    annotator: str
    decision: str
    assigned_at: datetime
    decided_at: datetime

    @property
    def item(self) -> tuple[str, str]:
        """What is voted on: the question in its batch."""
        return self.batch_id, self.question_uuid


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement and throughput of one batch, discipline, annotator, or pair of annotators.

    Attributes:
        scope: `batch`, `discipline`, `annotator` or `pair`.
        name: which one; `(none)` for questions without a discipline.
        question_count: questions with at least two reviews; the statistics are over these. For an annotator, those
            that somebody else reviewed as well.
        decision_count: reviews given.
        pair_count: pairs of decisions on the same question by two annotators.
        percent_agreement: share of those pairs that agree, 0 to 1; null without a pair.
        cohen_kappa: of a pair of annotators; for a wider scope the mean over its pairs of annotators, weighted by the
            questions they share; null where it is undefined for all of them.
        kappa_linear, kappa_quadratic: the same with disagreements weighted by their distance in the order accept, edit,
            reject (Cohen 1968).
        krippendorff_alpha: nominal, any number of annotators; null where it is undefined.
        alpha_ordinal: the same by that order.
        decisions_per_day: over the days on which at least one decision was given.
        median_days_to_decide: from assignment to decision.
        is_far_off: for an annotator, whether they agree with others less than the others do among themselves, beyond
            chance: the 95% interval of their share (Wilson) lies below it. Null for other scopes, and without other pairs.
    """

    scope: str
    name: str
    question_count: int
    decision_count: int
    pair_count: int
    percent_agreement: float | None
    cohen_kappa: float | None
    kappa_linear: float | None
    kappa_quadratic: float | None
    krippendorff_alpha: float | None
    alpha_ordinal: float | None
    decisions_per_day: float | None
    median_days_to_decide: float | None
    is_far_off: bool | None = None


def compute_review_agreement(votes: Sequence[Vote]) -> list[Agreement]:
    """Agreement per batch, discipline, annotator and pair of annotators, in that order, by name."""
    of_item = dict(_group(votes, lambda vote: vote.item))
    found = []
    names: tuple[tuple[str, Callable[[Vote], str]], ...] = (
        ("batch", lambda vote: vote.batch_id),
        ("discipline", lambda vote: vote.discipline or NO_NAME),
        ("annotator", lambda vote: vote.annotator),
    )
    for scope, name_of in names:
        for name, group in _group(votes, name_of):
            items = [of_item[item] for item in sorted({vote.item for vote in group})]
            row = _summarise(scope, name, group, items, name if scope == "annotator" else None)
            is_far_off = _is_far_off(name, row, of_item.values()) if scope == "annotator" else None
            found.append(replace(row, is_far_off=is_far_off))
    for (one, other), items in _list_pairs(of_item.values()):
        votes_of_pair = [vote for item in items for vote in item]
        found.append(_summarise("pair", f"{one} / {other}", votes_of_pair, items, None))
    return found


def _group(votes: Iterable[Vote], name_of: Callable[[Vote], Name]) -> list[tuple[Name, list[Vote]]]:
    """The votes by name, in the order of the names."""
    groups: dict[Name, list[Vote]] = defaultdict(list)
    for vote in votes:
        groups[name_of(vote)].append(vote)
    return sorted(groups.items(), key=lambda entry: entry[0])


def _list_pairs(items: Iterable[Sequence[Vote]]) -> list[tuple[tuple[str, str], list[list[Vote]]]]:
    """Pairs of annotators, each with their two votes on every question that both reviewed."""
    pairs: dict[tuple[str, str], list[list[Vote]]] = defaultdict(list)
    for votes in items:
        for first, second in combinations(sorted(votes, key=lambda vote: vote.annotator), 2):
            pairs[first.annotator, second.annotator].append([first, second])
    return sorted(pairs.items())


def _summarise(
    scope: str, name: str, votes: Sequence[Vote], items: Sequence[Sequence[Vote]], only: str | None
) -> Agreement:
    """One row over `votes` and all votes on their questions; of pairs only those with `only`."""
    several = [item for item in items if len(item) > 1]
    couples = [shared for pair, shared in _list_pairs(several) if only is None or only in pair]
    pairs = [(first.decision, second.decision) for shared in couples for first, second in shared]
    days = {(vote.annotator, vote.decided_at.date()) for vote in votes}
    waits = [(vote.decided_at - vote.assigned_at).total_seconds() / 86_400 for vote in votes]
    return Agreement(
        scope=scope,
        name=name,
        question_count=len(several),
        decision_count=len(votes),
        pair_count=len(pairs),
        percent_agreement=compute_percent_agreement([a for a, _ in pairs], [b for _, b in pairs]),
        cohen_kappa=_compute_mean_kappa(couples),
        kappa_linear=_compute_mean_kappa(couples, "linear"),
        kappa_quadratic=_compute_mean_kappa(couples, "quadratic"),
        krippendorff_alpha=compute_alpha([vote.decision for vote in item] for item in several),
        alpha_ordinal=compute_alpha(([vote.decision for vote in item] for item in several), "ordinal", ORDER),
        decisions_per_day=len(votes) / len(days) if days else None,
        median_days_to_decide=median(waits) if waits else None,
    )


def _is_far_off(annotator: str, row: Agreement, items: Iterable[Sequence[Vote]]) -> bool | None:
    """Whether they agree with others surely less than the others do, over all questions."""
    others = [
        first.decision == second.decision
        for votes in items
        for first, second in combinations([vote for vote in votes if vote.annotator != annotator], 2)
    ]
    if not others or not row.pair_count or row.percent_agreement is None:
        return None
    own = compute_share(round(row.percent_agreement * row.pair_count), row.pair_count)
    return own.high < sum(others) / len(others)


def _compute_mean_kappa(
    couples: Iterable[Sequence[Sequence[Vote]]], weighting: Weighting = "none"
) -> float | None:
    weighted = weight = 0.0
    for shared in couples:
        first, second = ([votes[place].decision for votes in shared] for place in (0, 1))
        kappa = compute_kappa(first, second, ORDER, weighting)
        if kappa is not None:
            weighted += kappa * len(shared)
            weight += len(shared)
    return weighted / weight if weight else None


def read_votes(ledger: Ledger, batch_id: str | None = None) -> list[Vote]:
    """Every first review, of one batch or of all.

    Adjudications are not independent reviews and are left out.

    Raises:
        UsageError: there is no such batch.
    """
    names = [batch_id] if batch_id else [batch.batch_id for batch in list_batches(ledger)]
    with ledger.read() as connection:
        return [vote for name in names for vote in _read_batch_votes(connection, name)]


def _read_batch_votes(connection: Connection, batch_id: str) -> Iterator[Vote]:
    read_batch(connection, batch_id)
    given = {
        (one.question_uuid, one.annotator): one
        for one in read_assignments(connection, batch_id, role="reviewer", with_gold=False)
    }
    for decision in read_decisions(connection, batch_id):
        assignment = given.get((decision.question_uuid, decision.annotator))
        if assignment is not None:
            yield Vote(
                batch_id=batch_id,
                question_uuid=decision.question_uuid,
                discipline=assignment.discipline,
                annotator=decision.annotator,
                decision=decision.given.decision,
                assigned_at=datetime.fromisoformat(assignment.assigned_at),
                decided_at=datetime.fromisoformat(decision.decided_at),
            )
