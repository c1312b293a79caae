"""The statistics of a league, computed from what has landed and landed themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from schemas.errors import UsageError, suggest
from schemas.tables import get_table
from schemas.vocabulary import LEAGUE_RUN_TYPES
from tasks.league.statistics.tables import TABLES, StatisticsRequest, compute_statistics

if TYPE_CHECKING:
    from warehouse.lake import Lake

MOST_RESAMPLES = 100_000
MOST_REPEATS = 1_000


@dataclass(frozen=True)
class LeagueStatistics:
    """What was computed.

    Attributes:
        parts: domain and type of run → its number of scores.
        row_counts: table → rows of all parts.
        is_new: whether any row differs from what the lake held.
        refused_count: questions that people refused: what was given on them counts nowhere.
    """

    league_id: str
    parts: dict[str, int]
    row_counts: dict[str, int]
    is_new: bool
    refused_count: int


def write_statistics(lake: Lake, league_id: str, request: StatisticsRequest) -> LeagueStatistics:
    """Compute every statistic of a league and land it.

    When computed again with another seed, it takes the place of the earlier one.

    Raises UsageError for a league that is not there or has no score yet, and for numbers of draws out of bounds.
    """
    from warehouse.lake import Batch

    _check_request(request)
    league = _read_league(lake, league_id)
    marks = lake.read("league_marks_of", {"league_id": league_id})
    overlaps = lake.read("imported_overlaps_of", {"league_id": league_id})
    parts = sorted(
        {*marks.select("domain", "run_type").iter_rows(), *overlaps.select("domain", "run_type").iter_rows()}
    )
    refused_count = int(lake.read("league_refused_count", {"league_id": league_id}).item())
    if not parts and not refused_count:
        raise UsageError(
            f"League {league_id} has no score yet. Play a round with `proctor league run {league_id}`, or import scores."
        )
    members = lake.read("league_members", {"league_id": league_id}).filter(joined="member")
    families: dict[str, str | None] = dict(members.select("model", "family").iter_rows())
    standings = lake.read("exam_standings", {"is_simulated": league["is_simulated"]})
    exam: dict[str, float] = dict(standings.select("model", "standing_score").iter_rows())
    batches = []
    counts: dict[str, int] = {}
    for domain, run_type in parts:
        own = marks.filter(domain=domain, run_type=run_type)
        given = overlaps.filter(domain=domain, run_type=run_type).with_columns(league_id=pl.lit(league_id))
        counts[f"{domain}, {run_type}"] = own.height
        frames = compute_statistics(own, given, families, exam, request)
        unit = f"{league_id}/{domain}/{run_type}"
        batches += [Batch(table, unit, frame) for table, frame in frames.items()]
    # Where people have refused the last question of a part, what rested on them goes.
    kept = {f"{league_id}/{domain}/{run_type}" for domain, run_type in parts}
    units = [
        unit
        for domain in league["domains"]
        for run_type in LEAGUE_RUN_TYPES
        if (unit := f"{league_id}/{domain}/{run_type}") not in kept
    ]
    for table in TABLES:
        empty = get_table(table).frame([])
        batches += [Batch(table, unit, empty) for unit in sorted(lake.landed(table, units))]
    landings = lake.land_together(batches, stage="league")
    row_counts: dict[str, int] = {}
    for landing in landings:
        row_counts[landing.table] = row_counts.get(landing.table, 0) + landing.row_count
    is_new = any(not landing.is_unchanged for landing in landings)
    return LeagueStatistics(league_id, counts, row_counts, is_new, refused_count)


def _check_request(request: StatisticsRequest) -> None:
    if request.seed < 0:
        raise UsageError(f"A seed is a number from 0, not {request.seed}.")
    if not 100 <= request.resamples <= MOST_RESAMPLES:
        raise UsageError(
            f"An interval takes 100 to {MOST_RESAMPLES:,} resamples, not {request.resamples}. Change --resamples."
        )
    if not 1 <= request.repeats <= MOST_REPEATS:
        raise UsageError(f"Replay 1 to {MOST_REPEATS} samples of each share, not {request.repeats}.")


def _read_league(lake: Lake, league_id: str) -> dict[str, Any]:
    found = lake.read("leagues_known", {"league_id": league_id})
    if found.height:
        return found.row(0, named=True)
    known = lake.read("leagues_known")["league_id"].to_list()
    there = f"There are {', '.join(known)}." if known else "There is none yet."
    raise UsageError(f"There is no league {league_id!r}.{suggest(league_id, known)} {there}")
