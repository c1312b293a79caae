"""A process that sits and judges a run as the commands do, without the flow around them.

There is also a run to be shared by several such processes.

Imported once by a fork server, so that a further process costs a fork and not the imports. It is a real process all the
same: it can be killed, and shares nothing with the others but ledger, lake, keys and models.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import polars as pl

from deployments.model_server import RunningServer
from schemas.errors import BudgetError
from schemas.settings import Settings
from tasks.exam.public.bank import blinding
from tasks.models import ModelClient
from tasks.models.budget import open_budget
from tasks.models.registry import read_registry
from tasks.running import Progress
from tests.tasks.exam.kit import land_run, sit_sessions
from tests.tasks.exam.world import DISCIPLINES, make_bank, publish
from tests.tasks.judging.kit import judge_landed
from tests.tasks.models.simulation import start_server
from tests.warehouse.bank_rows import land_bank_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

RUN = "2026-11"
PRICE_IN, PRICE_OUT = 1.0, 2.0
CANDIDATES = ("sim-a", "sim-b")
JUDGE = "sim-judge"
REGISTRY = "providers:\n  simulated: {base_url: simulated, max_concurrency: 2}\nmodels:\n" + "".join(
    f"  {name}: {{provider: simulated, organisation: {name} labs, is_open: false, roles: [{roles}], "
    f"input_price_usd: {PRICE_IN}, output_price_usd: {PRICE_OUT}, release_date: 2026-01-01, "
    "parameters: {temperature: 0, max_tokens: 120}}\n"
    for name, roles in (("sim-a", "candidate"), ("sim-b", "candidate, reference"), (JUDGE, "judge"))
)
# What differs from one execution to the next: moments, durations, who was first, what a killed attempt may have cost.
PASSING = frozenset(
    {"latency_ms", "attempts", "extra_usd", "landing_unit", "flow_run_id", "code_version", "unit"}
)
TABLES = ("runs", "models", "sets", "sessions", "allocations", "responses", "judgements", "llm_calls")


# What a worker imports as it goes: the server that forks has it already.
PRELOADED = (
    "aiohttp",
    "duckdb_extension_ducklake",
    "httpx2",
    "jwt",
    "openai.resources.chat",
    "psycopg",
    "pyarrow",
    __name__,
)


def fork_context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return context


def start_worker(values: dict[str, Any], what: str, notes: Path) -> ForkServerProcess:
    """Start a process that does its part (`sit`, `judge` or `both`).

    It notes what it counted, as JSON.
    """
    process = fork_context().Process(target=run_worker, args=(values, what, str(notes)))
    process.start()
    return process


def run_worker(values: dict[str, Any], what: str, notes: str) -> None:
    """Do the part of one worker, in its process.

    `simulated_url` is where the models are, and `backoff_s` is the first pause after a failed attempt.
    """
    values = dict(values)
    os.environ["PROCTOR_SIMULATED_URL"] = values.pop("simulated_url")
    os.environ["PROCTOR_QUIET"] = "1"
    if "backoff_s" in values:
        assert ModelClient.__init__.__kwdefaults__ is not None
        ModelClient.__init__.__kwdefaults__["backoff_s"] = values.pop("backoff_s")
    settings = Settings(**values)
    counts: Counter[str] = Counter()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        try:
            if what in ("sit", "both"):
                asyncio.run(_sit(ledger, lake, settings, counts))
            if what in ("judge", "both"):
                with Progress("judge") as progress:
                    judged = asyncio.run(judge_landed(ledger, lake, settings, RUN, progress))
                counts.update(judged.calls)
                counts["judgements"] = judged.judged
        except BudgetError:
            counts["over_budget"] += 1
    Path(notes).write_text(json.dumps(counts), "utf-8")
    if "PROCTOR_TEST_CPU" in os.environ:
        print(f"{what}: {time.process_time():.2f} CPU s", file=sys.stderr)


async def _sit(ledger: Ledger, lake: Lake, settings: Settings, counts: Counter[str]) -> None:
    registry = read_registry(settings.registry_path)
    budget = open_budget(ledger, settings.budget_usd, RUN)
    async with ModelClient(ledger, settings, budget=budget) as client:
        try:
            report = await sit_sessions(ledger, settings, registry, client, RUN)
        finally:
            counts.update(client.counts)
    counts["answers"] = report.answer_count
    counts["left_open"] = len(report.failures)
    land_run(ledger, lake, RUN)


def make_answerable_bank(size: int) -> pl.DataFrame:
    """So many lineages per discipline; whoever judges finds a key to each question."""
    bank = make_bank(size, has_keys=True)
    is_choice = pl.col("question_type") == "multiple_choice"
    return bank.with_columns(
        answer=pl.when(is_choice).then(pl.lit(["A"])).otherwise(pl.col("answer")),
        explanation=pl.lit("So it is by definition."),
    )


def plan_shared_run(settings: Settings, bank: pl.DataFrame, *, budget_usd: float | None = None) -> None:
    """Land the bank and publish the run, as an examiner would have done before."""
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        settings.registry_path.write_text(REGISTRY, "utf-8")
        # What is drawn follows from the seed and from the installation's names of lineages: both are the same everywhere.
        key = settings.secrets_path / blinding.FILE
        key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key.write_text("5e" * 32)
        key.chmod(0o600)
        land_bank_rows(lake, bank)
        publish(
            ledger,
            settings.model_copy(update={"budget_usd": budget_usd}),
            read_registry(settings.registry_path),
            bank,
            run_id=RUN,
            is_simulated=True,
            candidates=list(CANDIDATES),
        )


def make_values(home: Path, size: int, **changes: Any) -> dict[str, Any]:
    """The settings of a home, as plain values."""
    return {
        "home": home,
        "disciplines": DISCIPLINES,
        "set_size": size,
        "repeats": 2,
        "prompt_styles": ("zero_shot",),
        "lasting_sets": 1,
        "call_concurrency": 2,
        "judges": (JUDGE,),
    } | changes


def start_models(
    bank: pl.DataFrame, *, latency_ms: int = 10, latency_spread: float = 0.5, **faults: Any
) -> RunningServer:
    """Both candidates and the judge, at so many milliseconds a reply.

    `faults` meet all of them.
    """
    from deployments.model_server import build_answer_key

    traits: dict[str, Any] = {"latency_ms": latency_ms, "latency_spread": latency_spread, "faults": faults}
    return start_server(
        build_answer_key(bank),
        models={**{name: dict(traits) for name in CANDIDATES}, JUDGE: {"kind": "judge", **traits}},
    )


def read_billed_usd(server: RunningServer) -> float:
    """What the models would bill for everything that they worked on."""
    price = {"prompt_tokens": PRICE_IN, "completion_tokens": PRICE_OUT}
    return sum(count * price[kind] for (_, kind), count in server.state.billed.items()) / 1e6


def read_tables(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """Every table of the run, without what differs from one execution to the next."""
    found: dict[str, list[dict[str, Any]]] = {}
    with open_lake(settings, read_only=True) as lake, lake.read_transaction():
        for table in TABLES:
            frame = lake.query(f"SELECT * FROM {table}")
            kept = [name for name in frame.columns if name not in PASSING and not name.endswith("_at")]
            found[table] = sorted(frame.select(kept).to_dicts(), key=lambda row: json.dumps(row, default=str))
    return found
