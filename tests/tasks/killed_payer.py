"""Run as a process by test_paid_kills.py.

The command is `python -m tests.tasks.killed_payer replay|judge HOME [SOURCE]`.

It does the paid work of a command without the flow around it, on the ledger and lake of HOME, and prints what it counted.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from schemas.settings import Settings
from tasks.contamination import ReplayRequest
from tasks.contamination.replay import replay_sources
from tasks.running import Progress
from tests.tasks.judging.kit import judge_landed
from tests.tasks.models.simulation import make_model
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


def main() -> None:
    """Pay until somebody kills this process, or all is done."""
    what, home, *rest = sys.argv[1:]
    settings = Settings(home=Path(home), judges=("first-judge",), call_concurrency=4)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        if what == "replay":
            summary = asyncio.run(
                replay_sources(ledger, lake, settings, ReplayRequest("r1", [make_model()], rest, 40))
            )
            counts = dict(summary.calls)
        else:
            with Progress("judge: responses") as progress:
                judged = asyncio.run(judge_landed(ledger, lake, settings, "run-1", progress))
            counts = dict(judged.calls)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
