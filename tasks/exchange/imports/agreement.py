"""Whether raters of a table that others made agree, and the orders of two benchmarks.

A table is CSV, JSONL or Parquet. Orders, of ours and another benchmark or of two others, are compared by Spearman's rho
with its p-value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from schemas.errors import UsageError, suggest
from tasks.exchange.imports.tables import get_text, name_odd_number
from tasks.statistics import compute_external_correlations
from tasks.statistics.agreement import RaterAgreement, Value, compute_agreement
from tasks.texts import read_table
from warehouse.lake import Lake


def compute_table_agreement(
    path: Path, units: Sequence[str], rater: str | None, ratings: Sequence[str], order: Sequence[str] = ()
) -> RaterAgreement:
    """Agreement of the raters in a table.

    Args:
        path: the file.
        units: columns that together name what was rated.
        rater: the column of the rater, one rating per row; null where each rater has a column of their own.
        ratings: the column of the rating, or with `rater` null one column per rater. An empty cell is a gap.
        order: the ratings in order, lowest first, where they are words; default: sorted.

    Raises:
        UsageError: a column is missing, nothing or one rater is in it, a rating has no unit or no rater, somebody rated a unit twice,
            or a rating is not among those of `order`.
    """
    frame = read_table(path, as_text=[*units, *([rater] if rater else [])])
    for name in (*units, *([rater] if rater else []), *ratings):
        if name not in frame.columns:
            raise UsageError(
                f"{path.name} has no column {name!r}.{suggest(name, frame.columns)} It has {', '.join(frame.columns)}."
            )
    if rater and len(ratings) != 1:
        raise UsageError(
            "With --rater there is one column of ratings: give --rating once, or leave --rater out."
        )
    if not rater and len(ratings) < 2:
        raise UsageError(
            "Without --rater each rater has a column: give --rating for each of them, or --rater."
        )
    given: dict[str, dict[str, Value]] = {}
    for number, (unit, who, value) in enumerate(_list_ratings(frame, units, rater, ratings), start=1):
        if unit is None or who is None:
            lacking = f"the unit ({', '.join(units)})" if unit is None else rater
            raise UsageError(
                f"{path.name}, rating {number}: {lacking} is empty. Name it, or leave the row out: what nobody named would be taken for one and "
                "the same."
            )
        if who in given.setdefault(unit, {}):
            raise UsageError(
                f"{path.name}, rating {number}: {who} rated the unit {unit!r} twice. Name another column of the unit "
                "(--unit may be repeated), or keep one of the ratings."
            )
        given[unit][who] = value
    values = [value for of_unit in given.values() for value in of_unit.values()]
    if not values:
        raise UsageError(f"{path.name} holds no rating: the column is empty.")
    if len({isinstance(value, str) for value in values}) > 1:
        raise UsageError(f"{path.name} holds both numbers and words as ratings. Write them one way.")
    is_text = isinstance(values[0], str)
    odd = [(value, what) for value in values if isinstance(value, str) and (what := name_odd_number(value))]
    if odd and not order:
        raise UsageError(
            f"{path.name}: the rating {odd[0][0]} is {odd[0][1]}, and a word without an order. Write ratings as plain numbers, such as 2.5."
        )
    try:
        ordered: list[Value] = [name if is_text else float(name) for name in order]
        return compute_agreement(given, ordered or None)
    except ValueError:
        raise UsageError(
            f"A rating of {path.name} is not among those of --order ({', '.join(order)}). Name all of them."
        ) from None


def _list_ratings(
    frame: pl.DataFrame, units: Sequence[str], rater: str | None, ratings: Sequence[str]
) -> Iterator[tuple[str | None, str | None, Value]]:
    """Unit, rater and rating, gaps left out; null for a unit or rater that is not named."""
    for row in frame.select(*dict.fromkeys([*units, *([rater] if rater else []), *ratings])).iter_rows(
        named=True
    ):
        named = [text for name in units if (text := get_text(row[name])) is not None]
        unit = " · ".join(named) if len(named) == len(units) else None
        named_rater = get_text(row[rater]) if rater else None
        for column in ratings:
            value = row[column]
            if get_text(value) is None:
                continue
            who = named_rater if rater else column
            yield unit, who, float(value) if isinstance(value, int | float) else str(value).strip()


def correlate_benchmarks(
    lake: Lake, of: str | None = None, month: str | None = None
) -> list[dict[str, object]]:
    """One row per benchmark with published scores.

    Columns: benchmark, spearman_rho, p_value (two-sided, t approximation), candidate_count, is_simulated (of our S). Compared are the
    latest scores of the same models with S of a month (the last published one by default), or with those of
    the external benchmark `of`. Rho and p are null for fewer than three models in common. Raises UsageError
    where there is nothing to compare.
    """
    scores = lake.run_named("external_history")
    if scores.is_empty():
        raise UsageError(
            "There are no published scores of other benchmarks. `proctor import external` takes them in."
        )
    if of is None:
        pairs = lake.run_named("external_pairs", {"month": month})
        if pairs.is_empty():
            raise UsageError(
                "No candidate of a published month has a score of another benchmark under the same name. Compare two of those "
                "benchmarks with --of, or write the names as in `proctor models list`."
            )
        kinds = pairs.group_by("benchmark").agg(pl.col("is_simulated").any())
        return (
            compute_external_correlations(pairs).join(kinds, on="benchmark", maintain_order="left").to_dicts()
        )
    latest = scores.sort("scored_on").group_by("benchmark", "model", maintain_order=True).last()
    ours = latest.filter(benchmark=of).select("model", "score")
    if ours.is_empty():
        known = ", ".join(sorted(set(scores["benchmark"])))
        raise UsageError(
            f"There is no benchmark {of!r} among the published scores.{suggest(of, set(scores['benchmark']))} There are {known}."
        )
    others = latest.filter(pl.col("benchmark") != of).select("benchmark", "model", external_score="score")
    found = compute_external_correlations(others.join(ours, on="model"))
    return found.with_columns(is_simulated=pl.lit(value=False)).to_dicts()
