"""How much faster several workers are on one month than one alone.

    python -m tests.benchmarks.several_workers [REPEATS]

Two candidates answer twelve questions each for each of REPEATS, and a judge judges them: answers to a question that are equal by one call.
A reply takes a second and a worker has two calls in flight, so what counts is how calls are spread and not the cores. The workers are processes on two hosts of their own name, on one
PostgreSQL that waits for every commit; a month's time is the one from the start of who conducts it to its end, helpers being there.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from schemas.settings import Settings
from tasks.running.sharing import count_sharers
from tests.tasks.shared_run import make_answerable_bank, plan_shared_run, start_models
from tests.tasks.test_queue import CANDIDATES, WORKERS, Workers, working
from tests.tasks.test_shared_runs import share_on_postgresql
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from warehouse.ledger.engine.opening import open_ledger

SIZE = 12


def measure_month(
    postgresql: PostgresqlServer, folder: Path, names: list[str], repeats: int
) -> tuple[float, int]:
    """Seconds that a month takes these workers, and its calls, each of which is made once."""
    folder.mkdir()
    bank = make_answerable_bank(SIZE)
    values = [one | {"repeats": repeats} for one in share_on_postgresql(postgresql, folder, SIZE)[:2]]
    settings = Settings(**values[0])
    plan_shared_run(settings, bank)
    with start_models(bank, latency_ms=1000, latency_spread=0.0) as server:
        workers = Workers(values, server, names)
        with working(workers), open_ledger(settings.ledger_address) as ledger:
            for name in names[1:]:
                workers.start(name)
            while count_sharers(ledger) < len(names):
                time.sleep(0.1)
            began = time.monotonic()
            workers.start(names[0])
            workers.processes[names[0]].join()
            took_s = time.monotonic() - began
            assert workers.processes[names[0]].exitcode == 0
        assert set(server.state.repeats.values()) == {1}
        calls = len(server.state.repeats)
    return took_s, calls


def main(repeats: int = 50) -> None:
    """Print the seconds of one worker, of two and of four, and what these are faster."""
    print(f"{CANDIDATES * SIZE * repeats} answers, all of them judged", flush=True)
    alone_s = 0.0
    with tempfile.TemporaryDirectory() as folder, start_postgresql(is_durable=True) as postgresql:
        for names in (["w1"], ["w1", "w3"], list(WORKERS)):
            took_s, calls = measure_month(postgresql, Path(folder) / str(len(names)), names, repeats)
            alone_s = alone_s or took_s
            print(
                f"{len(names)} workers: {calls} calls in {took_s:.0f} s, {alone_s / took_s:.2f} times as fast",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
