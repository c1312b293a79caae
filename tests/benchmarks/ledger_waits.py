"""How often an answer waits for a ledger on PostgreSQL, over a link of 2 ms.

A run is sat in house as its flow sits it (protocol, paid call, budget), with replies that are there at once, by one session at
a time and by several. A wait is a piece that is sent to the server after it has answered the last one.
"""

from __future__ import annotations

import asyncio
import dataclasses
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tasks.models import ModelClient
from tasks.models.budget import open_budget
from tasks.models.providers import ParsedReply
from tests.tasks.exam.kit import sit_sessions
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from tests.warehouse.ledger.postgresql import start_postgresql
from tests.warehouse.ledger.slow_link import open_slow_link
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger


class Waits(NamedTuple):
    """What a sitting took: waits for the database and milliseconds for each answer."""

    answers: int
    waits: float
    wall_ms: float


class Endpoints:
    """Every endpoint answers at once."""

    def open(self, _model: object) -> Endpoints:
        return self

    async def send(self, _request: Mapping[str, Any]) -> ParsedReply:
        return ParsedReply("true. " * 40, finish_reason="stop", input_tokens=100, output_tokens=60)

    async def close(self) -> None:
        pass


def sit(
    ledger: Ledger, home: Path, session_count: int, question_count: int, count_waits: Callable[[], int] = int
) -> Waits:
    """Publish a run and sit it; what the sitting took, without the planning."""
    settings = make_settings(home, set_size=question_count, lasting_sets=1, set_policy="shared")
    models = [make_model(f"m{number}") for number in range(session_count - 1)]
    models.append(make_model("rho", roles=("candidate", "reference")))
    models = [dataclasses.replace(model, parameters={"max_tokens": 500}) for model in models]
    registry = make_registry(*models)
    plan = publish(ledger, settings, registry, make_bank(question_count, variants=0))

    async def run() -> Waits:
        client = ModelClient(ledger, settings, budget=open_budget(ledger, 1000.0, plan.run_id))
        client._endpoints = Endpoints()  # type: ignore[assignment]
        async with client:
            waits, begun = count_waits(), time.perf_counter()
            report = await sit_sessions(ledger, settings, registry, client, plan.run_id)
            waits, taken = count_waits() - waits, time.perf_counter() - begun
        assert report.is_complete, report
        return Waits(report.answer_count, waits / report.answer_count, taken / report.answer_count * 1e3)

    return asyncio.run(run())


def measure_answers(session_count: int, question_counts: tuple[int, int], delay_s: float = 0.001) -> Waits:
    """What each further answer takes: the difference of a short and a longer sitting."""
    found = []
    with start_postgresql(is_durable=True) as server, open_slow_link(server.folder, delay_s) as link:
        for question_count in question_counts:
            url = server.new_ledger_url().replace(str(server.folder), str(link.folder))
            with tempfile.TemporaryDirectory() as home, open_ledger(url) as ledger:
                found.append(sit(ledger, Path(home), session_count, question_count, lambda: link.wait_count))
    few, many = found
    count = many.answers - few.answers
    return Waits(
        count,
        (many.waits * many.answers - few.waits * few.answers) / count,
        (many.wall_ms * many.answers - few.wall_ms * few.answers) / count,
    )
