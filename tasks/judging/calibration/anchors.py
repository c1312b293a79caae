"""The same responses judged again every month by every judge, and what that says of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import polars as pl

from schemas.errors import BudgetError, UsageError, suggest
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.judging.asking import find_asking, list_judges
from tasks.judging.calibration.ratings import draw_rating_sample
from tasks.judging.costs import compute_mean_cost, read_past_costs
from tasks.judging.judge import MOST_TRIES, PutResponse
from tasks.judging.landing import read_put_responses
from tasks.models import CallFailed, CallRequest, ModelClient, SharedClient, read_call_frames
from tasks.models.registry import RegisteredModel, Registry
from tasks.running.claiming import claim_work
from tasks.statistics.judges import compute_drift
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.leases.presence import LEASE_S
from warehouse.ledger.engine.ledger import Ledger

PURPOSE = "drift"
# In its first month a judge is asked several times: what later months are compared with must not be one month's luck.
FIRST_REPEATS = 3
SIZE = 200


@dataclass
class DriftSummary:
    """What a month's look at the judges came to.

    Attributes:
        anchor_set: the set, or the two sets; empty where none was drawn.
        judges: judges that have judged theirs in this month.
        alarms: those of them that have changed.
        unwatched: those that were not asked, each with the reason.
        failure: why the look was not finished, in a sentence; null where it was.
    """

    anchor_set: str = ""
    judged: int = 0
    judges: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    unwatched: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    failure: str | None = None


def draw_anchors(
    lake: Lake, run_id: str, name: str, *, size: int = SIZE, now: datetime | None = None
) -> pl.DataFrame:
    """Draw a set of anchor responses from a judged run, and land `anchor_responses`.

    The set is spread as a rating sample is.

    The same set again changes nothing. Raises UsageError for a run that is not there, a name that is taken, or fewer responses
    than are wanted.
    """
    run = lake.read("edition_run", {"run_id": run_id})
    if run.is_empty():
        near = suggest(run_id, lake.read("landed_runs")["run_id"])
        raise UsageError(f"There is no run {run_id!r} in the lake.{near} `proctor status` lists the runs.")
    month = str(run["month"][0])
    known = lake.read("anchor_sets").filter(pl.col("anchor_set") == name)
    if not known.is_empty():
        if known.height == size and set(known["run_id"]) == {run_id}:
            return known
        raise UsageError(
            f"There is an anchor set {name!r} of {known.height} responses of run {known['run_id'][0]} already. It stays; choose "
            "another name with --name."
        )
    judges = lake.read("edition_judges", {"run_id": run_id, "month": month, "least_ratings": 0})
    key = "" if judges.is_empty() else f"{judges['judge'][0]}/{judges['prompt_wording'][0]}"
    pool = lake.read("calibration_pool", {"run_id": run_id, "month": month, "judge": key})
    table = get_table("anchor_responses")
    rows = (
        draw_rating_sample(pool, size=size, seed=f"anchors/{name}/{run_id}")
        .with_columns(
            anchor_set=pl.lit(name), drawn_at=pl.lit(now or datetime.now(UTC)).dt.cast_time_unit("us")
        )
        .select([column.name for column in table.own_columns])
        .sort("session_id", "seq")
    )
    lake.land("anchor_responses", name, rows)
    return rows


async def watch_judges(
    ledger: Ledger, lake: Lake, settings: Settings, registry: Registry, month: str
) -> DriftSummary:
    """Let every judge in use judge the anchor set in use (`read_sets`), once a month.

    What the set says of the judges is landed.

    A judge that has judged it in this month is not asked again, nor in one before its first; after a kill replies that were paid for are taken from the
    ledger. Simulated judges judge sets of simulated responses only, real ones real sets. A call that fails ends the look at its judge, a
    budget that is spent all of it; the next one continues there. A response that a judge does not take has no stars, unless it does not
    take most.
    """
    sets = read_sets(lake)
    summary = DriftSummary(anchor_set=", ".join(sets))
    for name, anchors in sets.items():
        if anchors.is_empty():
            summary.failure = (
                f"The texts of all responses of the anchor set {name!r} were erased, so that no judge can be watched by it. Draw "
                "another with `proctor drift draw`."
            )
            continue
        responses = _read_responses(lake, anchors)
        run_id = name_drift_run(name, month)
        what = f"judging the anchor set {name}"
        # Two commands may sit one month side by side: what the other asks for here is found by this one.
        with claim_work(ledger, "drift", f"{name}/{month}", what=what, wait_s=LEASE_S):
            for judge in list_judges(registry, settings, is_simulated=bool(anchors["is_simulated"][0])):
                if month < (first := _find_first_month(lake, judge, name, month)):
                    summary.unwatched.append(f"{judge.name} (its first month with {name} is {first})")
                    continue
                client = SharedClient(ledger, settings, run_id, settings.budget_usd)
                try:
                    # Of a judge that fails nothing more is sent once its own client is left.
                    async with client:
                        summary.judged += await _judge_month(
                            ledger, lake, client, judge, name, month, responses
                        )
                except (CallFailed, BudgetError) as error:
                    summary.failure = summary.failure or str(error)
                    if isinstance(error, BudgetError):
                        break
                    continue
                finally:
                    summary.calls.update(client.counts)
                summary.judges.append(judge.name)
                if land_drift(lake, name, judge, month, is_simulated=judge.is_simulated):
                    summary.alarms.append(judge.name)
    return summary


def read_sets(lake: Lake) -> dict[str, pl.DataFrame]:
    """The anchor sets in use by name, each without responses whose texts were erased.

    That is the one drawn last and, where it is of simulated responses, the last of real ones beside it: a trial takes no real
    judge out of sight.
    """
    anchors = lake.read("anchor_sets")
    real = anchors.filter(~pl.col("is_simulated"))
    sets: dict[str, pl.DataFrame] = {}
    for name in dict.fromkeys(str(one) for drawn in (real, anchors) for one in drawn["anchor_set"].tail(1)):
        own = anchors.filter(pl.col("anchor_set") == name)
        erased = lake.read("erased_sessions", {"session_ids": own["session_id"].unique().to_list()})
        sets[name] = own.join(erased, on="session_id", how="anti", maintain_order="left")
    return sets


def estimate_watch(lake: Lake, settings: Settings, registry: Registry, month: str) -> list[dict[str, object]]:
    """What the month's look at each judge will cost.

    It gives the calls still to be made, and USD at the mean cost of the judge's judgements in the year before; null where none
    had a price.
    """
    rows: list[dict[str, object]] = []
    for name, anchors in read_sets(lake).items():
        if anchors.is_empty():
            continue
        judges = list_judges(registry, settings, is_simulated=bool(anchors["is_simulated"][0]))
        past = read_past_costs(lake, judges, month)
        for judge in judges:
            calls = anchors.height * len(_list_waiting(lake, judge, name, month))
            cost = compute_mean_cost(past[judge.name])
            rows.append(
                {
                    "anchor_set": name,
                    "judge": judge.name,
                    "call_count": calls,
                    "cost_usd": None if cost is None else calls * cost,
                }
            )
    return rows


def land_drift(lake: Lake, name: str, judge: RegisteredModel, month: str, *, is_simulated: bool) -> bool:
    """Land the month's row of `judge_drift` where it has changed; none for a first month."""
    wording = find_asking(judge).wording
    stars = lake.read("anchor_stars", {"anchor_set": name, "judge": judge.name, "prompt_version": wording})
    months = [one for one in stars["judged_month"].unique().sort() if one <= month]
    if len(months) < 2 or months[-1] != month:
        return False
    first, later = months[0], months[1:]
    found = compute_drift(
        _arrange(stars.filter(pl.col("judged_month") == first), "repeat", stars),
        _arrange(
            stars.filter(pl.col("judged_month").is_in(later) & (pl.col("repeat") == 1)), "judged_month", stars
        ),
    )
    if found is None:
        return False
    is_alarm = bool((found.evidence > 1.0).any())
    row = {
        "anchor_set": name,
        "judge": judge.name,
        "prompt_version": wording,
        "month": month,
        "first_month": first,
        "month_count": len(later),
        "response_count": found.response_count,
        "month_stars": float(found.month_stars[-1]),
        "since_month": later[int(found.since[-1]) - 1],
        "change_stars": float(found.change[-1]),
        "change_se": float(found.change_se[-1]),
        "evidence": float(found.evidence[-1]),
        "is_alarm": is_alarm,
        "is_simulated": is_simulated,
    }
    unit = f"{name}/{judge.name}/prompt-{wording}/{month}"
    lake.land("judge_drift", unit, get_table("judge_drift").frame([row]))
    return is_alarm


def name_drift_run(name: str, month: str) -> str:
    """What the month's calls belong to: another month asks, and pays, again."""
    return f"drift/{name}/{month}"


def _read_responses(lake: Lake, anchors: pl.DataFrame) -> list[PutResponse]:
    places = anchors.select("session_id", "seq")
    found = read_put_responses(
        lake, anchors["session_id"].unique().to_list(), anchors["month"].unique().to_list()
    ).join(places, on=["session_id", "seq"], how="semi")
    return [PutResponse.from_row(row) for row in found.sort("session_id", "seq").iter_rows(named=True)]


def _list_waiting(lake: Lake, judge: RegisteredModel, name: str, month: str) -> dict[str, int]:
    """The units that the judge has not judged in this month, with the number of their repeat."""
    first = _find_first_month(lake, judge, name, month)
    repeats = 0 if month < first else FIRST_REPEATS if month == first else 1
    units = {
        f"{name}/{judge.name}/prompt-{find_asking(judge).wording}/{month}/{repeat}": repeat
        for repeat in range(1, repeats + 1)
    }
    done = lake.landed("anchor_judgements", units)
    return {unit: repeat for unit, repeat in units.items() if unit not in done}


def _find_first_month(lake: Lake, judge: RegisteredModel, name: str, month: str) -> str:
    """The month that a judge's others are compared with; one that is made up for never is."""
    wording = find_asking(judge).wording
    stars = lake.read("anchor_stars", {"anchor_set": name, "judge": judge.name, "prompt_version": wording})
    return month if stars.is_empty() else str(stars["judged_month"].min())


async def _judge_month(
    ledger: Ledger,
    lake: Lake,
    client: ModelClient,
    judge: RegisteredModel,
    name: str,
    month: str,
    responses: Sequence[PutResponse],
) -> int:
    judged = 0
    for unit, repeat in _list_waiting(lake, judge, name, month).items():
        outcomes = await asyncio.gather(
            *[
                _judge_anchor(client, judge, put, name_drift_run(name, month), unit, repeat)
                for put in responses
            ]
        )
        failed = [outcome for outcome in outcomes if isinstance(outcome, CallFailed)]
        if 2 * len(failed) > len(outcomes):
            raise failed[0]
        rows: list[dict[str, object]] = [
            {
                "anchor_set": name,
                "judge": judge.name,
                "prompt_version": find_asking(judge).wording,
                "judged_month": month,
                "repeat": repeat,
                "session_id": put.session_id,
                "seq": put.seq,
                "stars": None if isinstance(given, CallFailed) else given,
                "judged_at": datetime.now(UTC),
                "is_simulated": put.is_simulated or judge.is_simulated,
            }
            for put, given in zip(responses, outcomes, strict=True)
        ]
        calls = read_call_frames(ledger, {unit: month})
        lake.land_together(
            [
                Batch("anchor_judgements", unit, get_table("anchor_judgements").frame(rows)),
                *(Batch("llm_calls", of, frame) for of, frame in calls.items()),
            ],
            stage="drift",
        )
        judged += len(rows)
    return judged


async def _judge_anchor(
    client: ModelClient, judge: RegisteredModel, put: PutResponse, run_id: str, unit: str, repeat: int
) -> int | CallFailed | None:
    """The judge's stars; None for none that can be read, the fault where it takes nothing."""
    asking = find_asking(judge)
    messages = asking.write_messages(put.question, put.response)
    for attempt in range(1, MOST_TRIES + 1):
        request = CallRequest(
            purpose=PURPOSE,
            messages=messages,
            run_id=run_id,
            unit=unit,
            repeat=repeat,
            salt=f"/{attempt}" if attempt > 1 else "",
            parameters=dict(asking.parameters),
        )
        try:
            reply = await client.complete(judge, request)
        except CallFailed as error:
            if not error.is_not_taken:
                raise
            return error
        stars = asking.parse_reply(reply.text).stars
        if stars is not None:
            return stars
    return None


def _arrange(
    stars: pl.DataFrame, occasion: str, all_stars: pl.DataFrame
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Responses × occasions, in one order of responses; NaN for what could not be read."""
    places = all_stars.select("session_id", "seq").unique().sort("session_id", "seq")
    wide = stars.pivot(on=occasion, index=["session_id", "seq"], values="stars", sort_columns=True)
    joined = places.join(wide, on=["session_id", "seq"], how="left").drop("session_id", "seq")
    return joined.cast(pl.Float64).fill_null(float("nan")).to_numpy()
