"""A worker's part of another's run, and the call behind a judgement by what was asked."""

from __future__ import annotations

import asyncio

from schemas.errors import ProctorError
from schemas.settings import Settings
from tasks.judging.controls import RunControls
from tasks.judging.judge import PutResponse, name_call
from tasks.judging.kinds import JUDGES
from tasks.judging.landing import JOB, RunJudging, name_lane, read_put_responses
from tasks.judging.summary import JudgingSummary
from tasks.models import ModelClient
from tasks.models.budget import open_budget
from tasks.models.registry import read_registry
from tasks.running import Progress
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.leases.jobs import list_jobs
from warehouse.ledger.engine.ledger import Ledger


def help_to_judge(ledger: Ledger, settings: Settings, run_id: str) -> dict[str, int]:
    """Judge what waits of the run, by the judges it waits for, until nothing does; counts."""
    models = read_registry(settings.registry_path).models.values()
    with ledger.read() as connection:
        lanes = {job.lane for job in list_jobs(connection, JOB, run_id)}
    summary = JudgingSummary()

    async def judge_waiting(lake: Lake, progress: Progress) -> None:
        budget = open_budget(ledger, settings.budget_usd, run_id)
        async with ModelClient(ledger, settings, budget=budget) as client:
            for judge in (one for one in models if "judge" in one.roles and name_lane(one) in lanes):
                wanted = {"is_simulated": judge.is_simulated, "run_id": run_id, "judges": []}
                sessions = lake.read("sessions_to_judge", wanted)
                if not sessions.is_empty():
                    controls = RunControls(ledger, lake, run_id, settings.judge_controls)
                    await RunJudging(ledger, lake, client, sessions, controls, summary, progress).help(judge)

    with open_lake(settings) as lake, Progress(f"help {run_id}: judgements") as progress:
        asyncio.run(judge_waiting(lake, progress))
    return {"judgements": summary.judged + summary.unparsed}


class CallFinder:
    """Names the calls of one session's judgements; responses and registry are read once."""

    def __init__(self, lake: Lake, settings: Settings, session_id: str, month: str) -> None:
        self._settings = settings
        self._put: dict[int, PutResponse] = {}
        try:
            self._models = read_registry(settings.registry_path).models
            rows = read_put_responses(lake, [session_id], [month])
        except ProctorError:
            # Erased, or without a registry: the call is then known by its reply alone.
            self._models = {}
        else:
            self._put = {int(row["seq"]): PutResponse.from_row(row) for row in rows.iter_rows(named=True)}

    def find(self, seq: int, judge: str, occasion: str, attempt: int) -> str | None:
        """The key of the call; null where the judge is registered no more, or the text is gone."""
        put, model = self._put.get(seq), self._models.get(judge)
        if put is None or model is None:
            return None
        try:
            return name_call(model, put, occasion, attempt, self._settings.archive_dir)
        except ProctorError:
            return None

    def read_stars(self, judge: str, text: str) -> int | None:
        """What a reply says, read by the judge's kind; of one that is registered no more, by ours."""
        model = self._models.get(judge)
        return JUDGES.find("stars" if model is None else model.judge_kind).parse_reply(text).stars
