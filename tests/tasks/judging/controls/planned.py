"""A simulated run that was planned, sat and landed, and judges to judge it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from deployments.model_server import RunningServer, build_answer_key, parse_profile, start_model_server
from schemas.settings import Settings
from tasks.judging.landing import judge_landed
from tasks.judging.summary import JudgingSummary
from tasks.judging.task import JudgingChoices, judge_collected
from tasks.running import Progress
from tests.fresh import copy_home, make_once, open_new_lake
from tests.tasks.exam.kit import land_run, sit_sessions
from tests.tasks.exam.world import (
    AnsweringClient,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from tests.warehouse.bank_rows import BANK, land_bank_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

JUDGE = """  {name}:
    provider: simulated
    organisation: Lab
    roles: [judge]
    is_open: false
    parameters: {{max_tokens: 300}}
    input_price_usd: 1.0
    output_price_usd: 2.0
    batch: {{least_requests: 1}}
"""
SET_SIZE = 30
# Of alpha, beta and the reference.
ANSWERS = 3 * SET_SIZE
ASKED = 56


@dataclass
class PlannedRun:
    """The run, its stores, and the server with its judges."""

    ledger: Ledger
    lake: Lake
    settings: Settings
    server: RunningServer
    run_id: str

    def judge(self, run_id: str | None = "", **options: Any) -> JudgingSummary:
        with Progress("judge: responses") as progress:
            return asyncio.run(
                judge_landed(
                    self.ledger,
                    self.lake,
                    self.settings,
                    self.run_id if run_id == "" else run_id,
                    progress,
                    **options,
                )
            )

    def judge_in_batches(self, **options: Any) -> JudgingSummary:
        with Progress("judge: responses") as progress:
            return asyncio.run(
                judge_collected(
                    self.ledger,
                    self.lake,
                    self.settings,
                    self.run_id,
                    progress,
                    JudgingChoices(in_batches=True, **options),
                )
            )

    def read_controls(self) -> pl.DataFrame:
        return self.lake.query(
            "select * exclude (judged_at, cost_usd) from judge_controls order by judge, prompt_version, kind, question_uuid"
        )


def make_keyed_bank() -> pl.DataFrame:
    """Choices, statements and short answers with keys."""
    rows = make_bank(40, has_keys=True).to_dicts()
    for number, row in enumerate(rows):
        row["explanation"] = f"It follows from rule {number}."
        if row["question_type"] == "multiple_choice":
            row["answer"] = ["AB"[number % 2]]
        if number % 4 == 1:
            row |= {"question_type": "short_answer", "options": [], "answer": [f"outcome {number}."]}
    return BANK.frame(rows)


@contextmanager
def open_planned_run(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    batches: dict[str, Any] | None = None,
    **judges: dict[str, Any],
) -> Iterator[PlannedRun]:
    """The run in a home, each judge of this profile; a name's underscores are hyphens."""
    models = {name.replace("_", "-"): {"kind": "judge", **profile} for name, profile in judges.items()}
    settings = _make_settings(home, tuple(models))
    planned, run_id = _make_home(tuple(models))
    copy_home(planned, settings)
    profile = parse_profile({"seed": "test", "batches": batches or {}, "models": models})
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        start_model_server(profile, build_answer_key(make_keyed_bank())) as server,
    ):
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        yield PlannedRun(ledger, lake, settings, server, run_id)


@cache
def _make_home(judges: tuple[str, ...]) -> tuple[Path, str]:
    """A closed home with the run sat and landed, made once for all workers; only copied."""
    made = make_once(f"planned-run-{'-'.join(judges)}", lambda folder: _sit_run(folder, judges))
    return made / "home", (made / "run_id").read_text("utf-8")


def _sit_run(folder: Path, judges: tuple[str, ...]) -> None:
    settings = _make_settings(folder / "home", judges)
    rho = make_model("rho", roles=("candidate", "reference"), is_simulated=True)
    registry = make_registry(
        make_model("alpha", is_simulated=True), make_model("beta", is_simulated=True), rho
    )
    bank = make_keyed_bank()
    with open_ledger(settings.ledger_address) as ledger, open_new_lake(settings) as lake:
        entries = "".join(JUDGE.format(name=name) for name in judges)
        settings.registry_path.write_text(
            f"providers:\n  simulated: {{base_url: simulated}}\nmodels:\n{entries}", "utf-8"
        )
        plan = publish(ledger, settings, registry, bank, is_simulated=True)
        asyncio.run(sit_sessions(ledger, settings, registry, AnsweringClient(), plan.run_id))
        land_bank_rows(lake, bank)
        land_run(ledger, lake, plan.run_id)
    (folder / "run_id").write_text(plan.run_id, "utf-8")


def _make_settings(home: Path, judges: tuple[str, ...]) -> Settings:
    return make_settings(home, set_size=SET_SIZE, judges=judges, judge_ratings_gate=0, budget_usd=100.0)
