"""How far annotators agree, and how fast they work: per batch, discipline and annotator. Pure.

Decisions are nominal: accept, edit, reject. Adjudications are no independent reviews and are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import combinations
from statistics import median
from typing import Any

import polars as pl

from schemas.reviews import DECISIONS
from tasks.statistics.alpha import compute_alpha
from tasks.statistics.kappa import compute_kappa, compute_percent_agreement

Row = Mapping[str, Any]
Votes = dict[str, dict[str, str]]

SCHEMA: dict[str, pl.DataType] = {
    "scope": pl.String(),
    "name": pl.String(),
    "question_count": pl.Int64(),
    "decision_count": pl.Int64(),
    "pair_count": pl.Int64(),
    "percent_agreement": pl.Float64(),
    "cohen_kappa": pl.Float64(),
    "krippendorff_alpha": pl.Float64(),
    "decisions_per_day": pl.Float64(),
    "median_days_to_decide": pl.Float64(),
}


def compute_review_agreement(reviews: pl.DataFrame, assignments: pl.DataFrame) -> pl.DataFrame:
    """Agreement and throughput, one row per scope (`batch`, `discipline`, `annotator`, `pair`) and name.

    - `question_count`: questions with at least two reviews; the statistics are over these. For an annotator, those
      that somebody else reviewed as well.
    - `pair_count`: pairs of decisions on the same question by two annotators.
    - `percent_agreement`: share of those pairs that agree.
    - `cohen_kappa`: of a pair of annotators; for a wider scope the mean over its pairs of annotators, weighted by the
      questions they share; null where it is undefined for all of them.
    - `krippendorff_alpha`: nominal, any number of annotators; null where it is undefined.
    - `decisions_per_day`: over the days on which at least one decision was given.
    - `median_days_to_decide`: from assignment to decision.

    Args:
        reviews: rows of `reviews`.
        assignments: rows of `review_assignments`; they tell discipline, role and when a review was assigned.
    """
    given = {
        (row["batch_id"], row["question_uuid"], row["annotator"]): row
        for row in assignments.iter_rows(named=True)
        if row["role"] == "reviewer"
    }
    rows = [
        {
            **review,
            "item": f"{review['batch_id']}\x1f{review['question_uuid']}",
            "discipline": given[key]["discipline"],
            "assigned_at": given[key]["assigned_at"],
        }
        for review in reviews.iter_rows(named=True)
        if (key := (review["batch_id"], review["question_uuid"], review["annotator"])) in given
    ]
    found: list[dict[str, Any]] = []
    votes = _collect_votes(rows)
    for scope, column in (("batch", "batch_id"), ("discipline", "discipline"), ("annotator", "annotator")):
        for name, group in _group(rows, column):
            items = {row["item"] for row in group}
            found.append(_summarise(scope, name, group, {item: votes[item] for item in items}))
    of_pair: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for _, group in _group(rows, "item"):
        for first, second in combinations(sorted(group, key=lambda row: str(row["annotator"])), 2):
            of_pair[first["annotator"], second["annotator"]] += [first, second]
    for (one, other), group in sorted(of_pair.items()):
        found.append(_summarise("pair", f"{one} / {other}", group, _collect_votes(group)))
    return pl.DataFrame(found, schema=SCHEMA)


def _group(rows: Iterable[Row], column: str) -> list[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column] or "(none)"].append(row)
    return sorted(groups.items())


def _collect_votes(rows: Iterable[Row]) -> Votes:
    """Question → annotator → decision."""
    votes: Votes = defaultdict(dict)
    for row in rows:
        votes[row["item"]][row["annotator"]] = row["decision"]
    return dict(votes)


def _summarise(scope: str, name: str, rows: list[Row], votes: Votes) -> dict[str, Any]:
    """One row; for an annotator, pairs in which they have no part are left out."""
    several = [one for one in votes.values() if len(one) > 1]
    couples: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for one in several:
        for first, second in combinations(sorted(one), 2):
            if scope != "annotator" or name in (first, second):
                couples[first, second].append((one[first], one[second]))
    pairs = [pair for shared in couples.values() for pair in shared]
    return {
        "scope": scope,
        "name": name,
        "question_count": len(several),
        "decision_count": len(rows),
        "pair_count": len(pairs),
        "percent_agreement": compute_percent_agreement([a for a, _ in pairs], [b for _, b in pairs]),
        "cohen_kappa": _compute_mean_kappa(couples.values()),
        "krippendorff_alpha": compute_alpha(list(one.values()) for one in several),
        "decisions_per_day": _compute_rate(rows),
        "median_days_to_decide": _compute_median_days(rows),
    }


def _compute_mean_kappa(couples: Iterable[list[tuple[str, str]]]) -> float | None:
    weighted = weight = 0.0
    for shared in couples:
        kappa = compute_kappa([first for first, _ in shared], [second for _, second in shared], DECISIONS)
        if kappa is not None:
            weighted += kappa * len(shared)
            weight += len(shared)
    return weighted / weight if weight else None


def _compute_rate(rows: list[Row]) -> float | None:
    days = {(row["annotator"], row["decided_at"].date()) for row in rows}
    return len(rows) / len(days) if days else None


def _compute_median_days(rows: list[Row]) -> float | None:
    waits = [_count_days(row["assigned_at"], row["decided_at"]) for row in rows]
    return median(waits) if waits else None


def _count_days(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds() / 86_400
