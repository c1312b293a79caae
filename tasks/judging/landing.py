"""From landed responses to landed judgements, session by session."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, field

import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.holds import hold_work
from tasks.judging.judge import (
    JudgementRow,
    JudgingIncomplete,
    join_questions,
    judge_responses,
    name_unit,
    read_wording,
)
from tasks.models.budget import open_budget
from tasks.models.call_frames import read_call_frames
from tasks.models.client import ModelClient
from tasks.models.registry import RegisteredModel, read_registry
from tasks.progress import Progress
from warehouse.lake.store import Batch, Lake
from warehouse.ledger.engine import Ledger

# Landing costs about 0.1 CPU seconds whatever it holds; a kill repeats no paid call, only the landing.
ROWS_PER_LANDING = 20_000
SESSIONS_PER_READ = 50


@dataclass
class JudgingSummary:
    """What a run of the judges came to."""

    judged: int = 0
    unparsed: int = 0
    failed: int = 0
    judges: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    failure: str | None = None


async def judge_landed(
    ledger: Ledger, lake: Lake, settings: Settings, run_id: str | None, progress: Progress
) -> JudgingSummary:
    """Judge every landed response of the run that a judge has not judged, and land the judgements.

    Judged means by the present version of the prompt: a new one makes new rows next to the old, which stay as they are.
    Without a run, all runs are looked at, and those that a judge has judged whole, by whichever version, are left: a
    changed prompt must not pay for the whole history because nobody named a run.

    Simulated judges judge simulated runs only, real ones real runs only: one value per run.
    """
    registry = read_registry(settings.registry_path)
    summary = JudgingSummary()
    for kind in (False, True):
        sessions = _read_sessions(lake, run_id, is_simulated=kind)
        if sessions.is_empty():
            continue
        judges = [judge for judge in registry.judges(settings.judges) if judge.is_simulated is kind]
        summary.judges += [judge.name for judge in judges]
        for run in sessions["run_id"].unique(maintain_order=True):
            budget = open_budget(ledger, settings.budget_usd, run)
            async with ModelClient(ledger, settings, budget=budget) as client:
                names = sessions.filter(pl.col("run_id") == run)["session_id"].to_list()
                # Two judges of one run at once would pay for the same calls.
                with hold_work(settings, "judge", run, what=f"judging run {run}"):
                    for judge in judges:
                        left = _list_unjudged(lake, judge, names, is_named=run_id is not None)
                        await _judge_sessions(ledger, lake, client, judge, left, summary, progress)
                summary.calls.update(client.counts)
    return summary


async def _judge_sessions(
    ledger: Ledger,
    lake: Lake,
    client: ModelClient,
    judge: RegisteredModel,
    waiting: list[str],
    summary: JudgingSummary,
    progress: Progress,
) -> None:
    for start in range(0, len(waiting), SESSIONS_PER_READ):
        responses = _read_responses(lake, waiting[start : start + SESSIONS_PER_READ])
        pending: list[list[JudgementRow]] = []
        try:
            async with aclosing(judge_responses(client, [judge], responses)) as judged:
                async for rows in judged:
                    pending.append(rows)
                    progress.advance(len(rows))
                    if sum(map(len, pending)) >= ROWS_PER_LANDING:
                        _land(ledger, lake, pending, summary)
                        pending = []
        except JudgingIncomplete as error:
            summary.failed += error.failed_count
            summary.failure = str(error)
        finally:
            # What was judged before a budget ran out is paid for, and stays.
            if pending:
                _land(ledger, lake, pending, summary)


def _list_unjudged(lake: Lake, judge: RegisteredModel, sessions: list[str], *, is_named: bool) -> list[str]:
    """The sessions of a run that wait for the judge, in the given order.

    A run that was not named waits only where some session was never judged; it is then judged whole by one version.
    """
    if not is_named:
        found = lake.read("judged_sessions", {"judge": judge.name, "session_ids": sessions})
        if found.height == len(set(sessions)):
            return []
    units = {name_unit(name, judge.name): name for name in sessions}
    done = {units[unit] for unit in lake.landed("judgements", units)}
    return [name for name in sessions if name not in done]


def _land(ledger: Ledger, lake: Lake, units: list[list[JudgementRow]], summary: JudgingSummary) -> None:
    table = get_table("judgements")
    frames = {
        name_unit(
            str(rows[0]["session_id"]), str(rows[0]["judge"]), read_wording(str(rows[0]["prompt_version"]))
        ): table.frame(rows)
        for rows in units
    }
    calls = read_call_frames(ledger, {unit: frame["month"][0] for unit, frame in frames.items()})
    batches = [Batch("judgements", unit, frame) for unit, frame in frames.items()]
    batches += [Batch("llm_calls", unit, frame) for unit, frame in calls.items()]
    lake.land_together(batches, stage="judge")
    summary.judged += sum(frame["stars"].drop_nulls().len() for frame in frames.values())
    summary.unparsed += sum(frame["stars"].null_count() for frame in frames.values())


def _read_sessions(lake: Lake, run_id: str | None, *, is_simulated: bool) -> pl.DataFrame:
    return lake.read("sessions_to_judge", {"is_simulated": is_simulated, "run_id": run_id})


def _read_responses(lake: Lake, sessions: list[str]) -> pl.DataFrame:
    """Responses of these sessions with their questions, one scan of each table."""
    named = {"session_ids": sessions}
    responses, bank = lake.read("responses_of_sessions", named), lake.read("questions_of_sessions", named)
    return join_questions(responses, bank)
