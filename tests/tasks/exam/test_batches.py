"""In-house candidates asked in their provider's batches; every answer counts once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from deployments.model_server import RunningServer, parse_profile, start_model_server
from schemas.settings import Settings
from tasks.exam.log.check import check_ledger
from tasks.exam.sitting import SittingReport, sit_sessions
from tasks.exam.task import sit_in_batches
from tasks.models import ModelClient
from tasks.models.batches import BatchClient, collect_batches
from tasks.models.registry import Registry
from tasks.models.registry.file import BatchTerms
from tests.tasks.exam.answer_rows import read_response_rows
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import sittings

PROFILE = {"seed": "test", "models": {"alpha": {}, "rho": {}}}


class Hall:
    """A planned run of six questions for a candidate and the reference, both with batches."""

    def __init__(self, folder: Path, ledger: Ledger, server: RunningServer, window: int) -> None:
        self.settings: Settings = make_settings(folder / "home", pending_window=window)
        self.ledger, self.server = ledger, server
        registry = make_registry(
            make_model("alpha", is_simulated=True, base_url=server.url),
            make_model("rho", is_simulated=True, base_url=server.url, roles=("reference",)),
        )
        self.run_id = publish(ledger, self.settings, registry, make_bank(), is_simulated=True).run_id
        batched = {
            name: replace(model, batch=BatchTerms(least_requests=1))
            for name, model in registry.models.items()
        }
        self.registry = Registry(batched)

    def sit(self) -> tuple[SittingReport, dict[str, int]]:
        async def run() -> tuple[SittingReport, dict[str, int]]:
            await collect_batches(self.ledger, self.settings, self.registry)
            async with BatchClient(self.ledger, self.settings) as client:
                report, counts = await sit_in_batches(
                    self.ledger, self.settings, self.registry, client, self.run_id
                )
                return report, dict(counts)

        return asyncio.run(run())

    def sit_singly(self) -> SittingReport:
        async def run() -> SittingReport:
            async with ModelClient(self.ledger, self.settings) as client:
                return await sit_sessions(self.ledger, self.settings, self.registry, client, self.run_id)

        return asyncio.run(run())

    def read_answers(self) -> list[tuple[Any, ...]]:
        """What was answered, by candidate and position."""
        with self.ledger.read() as connection:
            assert check_ledger(connection).findings == ()
            names = {
                row.session_id: row.model for row in sittings.list_sessions(connection, run_id=self.run_id)
            }
            rows = read_response_rows(connection, list(names))
        return sorted(
            (names[row["session_id"]], row["seq"], row["response"]) for row in rows if row["answered_at"]
        )


def test_a_run_sat_in_batches_is_answered_once_and_closes_after_as_many_batches_as_its_window_asks_for(
    tmp_path: Path,
) -> None:
    with (
        start_model_server(parse_profile(PROFILE)) as server,
        open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger,
    ):
        hall = Hall(tmp_path, ledger, server, window=3)
        report, counts = hall.sit()
        assert (report.answer_count, report.failures, report.pending_count) == (0, [], 2)
        assert (counts["batched"], server.state.batches.created) == (6, 2)
        # Nobody who sits singly meanwhile sends what is in a batch, and nothing is noted as failed.
        assert hall.sit_singly().pending_count == 2
        report, _ = hall.sit()
        assert (report.answer_count, report.pending_count, server.state.batches.created) == (6, 2, 4)
        report, _ = hall.sit()
        assert (report.answer_count, report.pending_count, report.is_run_closed) == (6, 0, True)
        assert not any(server.state.requests.values())
        assert [(model, seq) for model, seq, _ in hall.read_answers()] == [
            (model, seq) for model in ("alpha", "rho") for seq in range(1, 7)
        ]
