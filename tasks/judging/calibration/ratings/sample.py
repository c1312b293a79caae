"""Which responses people rate, spread over candidates, disciplines and stars, and who which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations

import polars as pl

from schemas.errors import UsageError, suggest
from schemas.table import MONTH_PATTERN
from schemas.tables import get_table
from tasks.judging.calibration.agreement import FIRST_OCCASION, LEAST_RATERS
from tasks.judging.people import check_persons
from tasks.questions import compute_rank
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger

_WIDTH = 64


@dataclass(frozen=True)
class DrawRequest:
    """What is to be drawn.

    Attributes:
        occasion: `first`, or the month of a later calibration.
        round: from 1; a round is drawn once.
        size: responses, spread equally over the candidates.
        raters: users who rate, at least two; every response goes to two of them.
        styles: prompt styles to draw from; all where none is named.
    """

    run_id: str
    occasion: str
    round: int
    size: int
    raters: Sequence[str]
    styles: Sequence[str] = ()
    seed: str = ""


def draw_calibration(
    ledger: Ledger, lake: Lake, request: DrawRequest, *, now: datetime | None = None
) -> pl.DataFrame:
    """Draw a round and land `calibration_samples`; the same request again changes nothing.

    Raises UsageError for a round that was drawn otherwise, a run that nobody judged, raters who are none, or fewer responses
    than are wanted, with the numbers.
    """
    _check_request(request)
    check_persons(ledger, request.raters)
    earlier = lake.read("calibration_drawn", {"occasion": request.occasion})
    run = lake.read("edition_run", {"run_id": request.run_id})
    if run.is_empty():
        near = suggest(request.run_id, lake.read("landed_runs")["run_id"])
        raise UsageError(
            f"There is no run {request.run_id!r} in the lake.{near} `proctor status` lists the runs."
        )
    month = str(run["month"][0])
    if not earlier["is_simulated"].is_in(run["is_simulated"].implode()).all():
        raise UsageError(
            f"Run {request.run_id} is {'' if run['is_simulated'][0] else 'not '}simulated, unlike what was drawn for occasion "
            f"{request.occasion!r}: together they say nothing of a judge. Name another occasion, as --occasion {month}."
        )
    standing = earlier.filter(pl.col("round") == request.round)
    if not standing.is_empty():
        return _get_standing(standing, request)
    judges = lake.read("edition_judges", {"run_id": request.run_id, "month": month, "least_ratings": 0})
    if judges.is_empty():
        raise UsageError(
            f"Nothing of run {request.run_id} has been judged. Run `proctor judge --run {request.run_id}` first."
        )
    key = f"{judges['judge'][0]}/{judges['prompt_wording'][0]}"
    pool = lake.read("calibration_pool", {"run_id": request.run_id, "month": month, "judge": key})
    if request.styles:
        pool = pool.filter(pl.col("prompt_style").is_in(list(request.styles)))
    seed = f"{request.occasion}/{request.round}/{request.run_id}/{request.seed}"
    drawn = draw_rating_sample(pool, size=request.size, seed=seed)
    frame = assign_raters(drawn, request.raters).with_columns(
        occasion=pl.lit(request.occasion),
        round=pl.lit(request.round, dtype=pl.Int64),
        drawn_at=pl.lit(now or datetime.now(UTC)).dt.cast_time_unit("us"),
        drawn_stars=pl.col("drawn_stars").cast(pl.Int64),
    )
    table = get_table("calibration_samples")
    rows = frame.select([column.name for column in table.own_columns]).sort("session_id", "seq")
    lake.land("calibration_samples", name_round(request.occasion, request.round), rows)
    return rows


def draw_rating_sample(pool: pl.DataFrame, *, size: int, seed: str) -> pl.DataFrame:
    """`size` responses in the order of the draw, with `pool_count`.

    There are equally many of each candidate; the rest are drawn by lot. Within a candidate every n-th
    response of those ordered by discipline, stars and lot is taken, from a random start: every response has
    the same chance, and disciplines and stars come in their own shares, so that plain means over the sample
    are right. Raises UsageError when a candidate has fewer responses than its part.
    """
    models = sorted(pool["model"].unique(), key=lambda model: compute_rank(seed, "candidate", model))
    if not models or size < len(models):
        raise UsageError(
            f"{size} responses cannot be spread over {len(models)} candidates with rateable responses. Draw at least one of each."
        )
    share, rest = divmod(size, len(models))
    counts = dict(pool.group_by("model").len().iter_rows())
    parts = []
    for place, model in enumerate(models):
        wanted = share + (place < rest)
        if counts[model] < wanted:
            raise UsageError(
                f"{model} has {counts[model]} responses that can be rated and were not drawn before, fewer than its part of "
                f"{wanted}. Draw fewer with --size."
            )
        parts.append(_draw_of_candidate(pool.filter(pl.col("model") == model), wanted, seed))
    drawn = pl.concat(parts)
    return drawn.with_columns(
        pl.Series("lot", [_draw_lot(seed, "order", *key) for key in _list_keys(drawn)], dtype=pl.String),
        pool_count=pl.col("model").replace_strict(counts, return_dtype=pl.Int64),
    ).sort("lot")


def assign_raters(drawn: pl.DataFrame, raters: Sequence[str]) -> pl.DataFrame:
    """The sample with `raters`: two for each response, every two raters together equally often."""
    couples = list(combinations(sorted(raters), LEAST_RATERS))
    return drawn.with_columns(
        pl.Series(
            "raters",
            [list(couples[place % len(couples)]) for place in range(drawn.height)],
            dtype=pl.List(pl.String),
        )
    )


def name_round(occasion: str, number: int) -> str:
    """The unit of a round."""
    return f"{occasion}/{number}"


def _draw_of_candidate(pool: pl.DataFrame, wanted: int, seed: str) -> pl.DataFrame:
    model = pool["model"][0]
    ordered = pool.with_columns(
        pl.Series("lot", [_draw_lot(seed, *key) for key in _list_keys(pool)], dtype=pl.String)
    ).sort("discipline", "drawn_stars", "lot", nulls_last=True)
    step = ordered.height / wanted
    start = int.from_bytes(compute_rank(seed, "start", model)[:8], "big") / 2**_WIDTH
    places = [min(int((start + number) * step), ordered.height - 1) for number in range(wanted)]
    return ordered[places].drop("lot")


def _draw_lot(*parts: object) -> str:
    return compute_rank(*parts).hex()


def _list_keys(frame: pl.DataFrame) -> Iterable[tuple[str, int]]:
    return frame.select("session_id", "seq").iter_rows()


def _check_request(request: DrawRequest) -> None:
    if request.occasion != FIRST_OCCASION and not re.match(MONTH_PATTERN, request.occasion):
        raise UsageError(
            f"--occasion {request.occasion!r} is none: write `first`, or the month of a later calibration (2027-03)."
        )
    if request.round < 1:
        raise UsageError(f"Rounds are numbered from 1, not {request.round}.")
    if len(set(request.raters)) < LEAST_RATERS:
        raise UsageError("At least two people rate every response: name them with --raters ann,bo.")


def _get_standing(standing: pl.DataFrame, request: DrawRequest) -> pl.DataFrame:
    same = (
        set(standing["run_id"]) == {request.run_id}
        and standing.height == request.size
        and {name for names in standing["raters"] for name in names} == set(request.raters)
        and (not request.styles or set(standing["prompt_style"]) <= set(request.styles))
    )
    if not same:
        raise UsageError(
            f"Round {request.round} of occasion {request.occasion!r} was drawn already: {standing.height} responses of run "
            f"{standing['run_id'][0]}. It stays as it is; draw another round with --round {request.round + 1}."
        )
    return standing.sort("session_id", "seq")
