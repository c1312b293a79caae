"""CPU and wall time per question of the protocol alone: no model, no HTTP, no landing.

    python -m tests.benchmarks.exam_speed [--sessions 32] [--questions 200]

Every session runs as a coroutine in this process, answers at once, and asks for the next question in the same
transaction (`submit_and_next`); answers are durable (SQLite, WAL, synchronous=FULL) before they are acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from schemas.settings import Settings
from tasks.exam.protocol import Answer, make_protocol
from tasks.exam.protocol.tokens import issue_token, open_keys
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import sittings

RESPONSE = "true. Because every power of ten leaves one when it is divided by nine. " * 8


def measure_protocol(session_count: int, question_count: int, *, combined: bool = True) -> dict[str, float]:
    """Milliseconds of CPU and wall per answered question, over all sessions."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        # One lasting set: with more, small shares would make the sets smaller than asked.
        settings = make_settings(home, set_size=question_count, lasting_sets=1)
        models = [make_model(f"m{number}") for number in range(session_count)]
        registry = make_registry(*models, make_model("rho", roles=("reference",)))
        with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as ledger:
            plan = publish(ledger, settings, registry, make_bank(question_count, variants=0))
            with ledger.read() as connection:
                rows = sittings.list_sessions(connection, run_id=plan.run_id)
            sessions = [(row.session_id, row.user_id) for row in rows if row.model != "rho"]
            cpu, wall = _cpu(), time.perf_counter()
            count = asyncio.run(_sit_all(ledger, settings, sessions, combined=combined))
            cpu, wall = _cpu() - cpu, time.perf_counter() - wall
    return {"cpu_ms": cpu / count * 1e3, "wall_ms": wall / count * 1e3, "questions": float(count)}


async def _sit_all(
    ledger: Ledger, settings: Settings, sessions: list[tuple[str, str]], *, combined: bool
) -> int:
    """Sit every session at once; returns how many answers were acknowledged."""
    protocol = make_protocol(ledger, settings, is_in_house=True)
    keys = open_keys(settings)
    door = protocol

    async def sit(session_id: str, user_id: str) -> int:
        answered = 0
        token = issue_token(keys, user_id, session_id, ["sit"], 3600).text
        lease = await door.open_session(token, session_id)
        put = await door.next_question(token, lease)
        while put is not None:
            if combined:
                _, put = await door.submit_and_next(token, lease, put.seq, Answer(RESPONSE))
            else:
                await door.submit_answer(token, lease, put.seq, Answer(RESPONSE))
                put = await door.next_question(token, lease)
            answered += 1
        return answered

    return sum(await asyncio.gather(*(sit(*session) for session in sessions)))


def _cpu() -> float:
    times = os.times()
    return times.user + times.system


def main(arguments: Sequence[str] = ()) -> None:
    """Print one line per way of asking."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=32)
    parser.add_argument("--questions", type=int, default=200)
    chosen = parser.parse_args(arguments)
    for name, combined in (("submit_and_next", True), ("submit, then next", False)):
        result = measure_protocol(chosen.sessions, chosen.questions, combined=combined)
        print(
            f"{name}: {result['cpu_ms']:.3f} ms CPU, {result['wall_ms']:.3f} ms wall per question "
            f"({result['questions']:.0f} questions, {chosen.sessions} sessions)"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
