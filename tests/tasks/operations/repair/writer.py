"""A process that sits a month and stays.

It answers a given number of questions, reports that, and waits in the next one until it is killed. Run as `python -m
tests.tasks.operations.repair.writer HOME ANSWERS`; `checkpoint` before the last answer puts all before it into the files.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tasks.exam import SittingPart
from tasks.models import CallReply, CallRequest
from tasks.models.registry import RegisteredModel, Registry
from tests.tasks.exam.kit import sit_sessions
from tests.tasks.exam.world import AnsweringClient, make_model, make_registry, make_settings
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam.sittings import list_open_runs
from warehouse.ledger.money.calls import FinishedCall, NewCall, finish_call, start_call


def make_candidates() -> Registry:
    return make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))


class PayingClient(AnsweringClient):
    """Writes its calls to the ledger, as the real client does; after `most` it answers nothing."""

    def __init__(self, ledger: Ledger, most: int | None = None, *, checkpoints: bool = False) -> None:
        super().__init__()
        self._ledger = ledger
        self._most = most
        self._checkpoints = checkpoints

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        if self._most is not None and len(self.requests) >= self._most:
            self._stay()
        reply = await super().complete(model, request)
        if self._checkpoints and len(self.requests) == self._most:
            with self._ledger.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(FULL)")
        with self._ledger.write() as connection:
            call = NewCall(
                reply.call_key, request.purpose, request.run_id, str(request.unit), "own", model.name
            )
            start_call(connection, call)
            finish_call(
                connection, FinishedCall(reply.call_key, "done", 1, {"text": reply.text}, 10, 5, 0.25, 1.5)
            )
        return reply

    def _stay(self) -> None:
        # Whatever was answered is committed: the sitter asks for the next question after it.
        print("waiting", flush=True)
        sys.stdin.read()


def main(home: Path, answers: int, *, checkpoints: bool) -> None:
    settings = make_settings(home, call_concurrency=1)
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.read() as connection:
            run_id = list_open_runs(connection)[0]
        client = PayingClient(ledger, answers, checkpoints=checkpoints)
        asyncio.run(
            sit_sessions(
                ledger, settings, make_candidates(), client, run_id, part=SittingPart(max_sessions=1)
            )
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), checkpoints="checkpoint" in sys.argv)
