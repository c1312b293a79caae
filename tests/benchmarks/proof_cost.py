"""What closing every stage in the log costs: a month, and its publication, with and without.

    python -m tests.benchmarks.proof_cost [pairs, default 5] [candidates, default 7] [questions, default 120]

Each turn is a process of its own on a copy of one home, pairs in turn order; without, nothing is hashed and no entry is written. The
simulated models answer from this process and are not counted. CPU seconds.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import yaml

from deployments.flow_runs import run_flow
from deployments.home import create_home
from deployments.model_server import build_answer_key, parse_profile, start_model_server
from schemas.settings import load_settings
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tests.benchmarks.history_rows import land_month
from tests.benchmarks.year_by_commands import BANK_SIZE, Year, describe_candidates
from tests.benchmarks.year_texts import describe_bank
from warehouse.lake import open_lake
from warehouse.ledger.engine.logs import stages

_MONTH = "2026-01"


def main(pairs: int = 5, candidates: int = 7, questions: int = 120) -> None:
    """Print each pair and the median ratio of each step."""
    year = Year(candidates, 1, questions)
    registry, profile = describe_candidates(year)
    bank = describe_bank(BANK_SIZE * len(EXAMINED_DISCIPLINES), EXAMINED_DISCIPLINES)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        base.mkdir()
        (base / "models.yaml").write_text(yaml.safe_dump(registry))
        variables = {
            "PROCTOR_NO_SERVER": "true",
            "PROCTOR_QUIET": "1",
            "PROCTOR_SET_SIZE": str(questions),
            "PROCTOR_LASTING_SETS": "1",
        }
        os.environ.update({**variables, "PROCTOR_HOME": str(base)})
        load_settings.cache_clear()
        settings = load_settings()
        create_home(settings)
        with open_lake(settings) as lake:
            land_month(lake, bank, datetime(2022, 12, 1, tzinfo=UTC))
            rows = lake.read("latest_bank")
        ratios: dict[str, list[float]] = {}
        with start_model_server(parse_profile(profile), build_answer_key(rows)) as server:
            for pair in range(pairs):
                found = {}
                for is_closed in (True, False) if pair % 2 == 0 else (False, True):
                    home = Path(folder) / "turn"
                    shutil.copytree(base, home)
                    code = f"from tests.benchmarks.proof_cost import hold; hold({candidates}, is_closed={is_closed})"
                    environment = os.environ | {
                        "PROCTOR_HOME": str(home),
                        "PROCTOR_SIMULATED_URL": server.url,
                    }
                    done = subprocess.run(
                        [sys.executable, "-c", code],
                        env=environment,
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                    if done.returncode:
                        raise RuntimeError(done.stderr[-2000:])
                    found[is_closed] = json.loads(done.stdout.splitlines()[-1])
                    shutil.rmtree(home)
                for step, cost in found[True].items():
                    ratios.setdefault(step, []).append(cost / found[False][step])
                shown = ", ".join(
                    f"{step} {cost:.3f} / {found[False][step]:.3f}" for step, cost in found[True].items()
                )
                print(f"pair {pair + 1}, load {os.getloadavg()[0]:.0f}: {shown}", flush=True)
    for step, each in ratios.items():
        print(f"{step}: median {statistics.median(each):.3f} ({min(each):.3f} to {max(each):.3f})")


def hold(candidates: int, *, is_closed: bool) -> None:
    """Hold the month of a home in this process, and print what each step took of CPU seconds."""
    if not is_closed:
        stages.close_landings = lambda *_: None
        stages._begin = lambda *_: False
        stages._iter_units = lambda *_: iter(())
        stages._close = lambda *_: 0
    names = list(yaml.safe_load(load_settings().registry_path.read_text())["models"])[:candidates]
    took = {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        began = time.process_time()
        run_id = run_flow("evaluate", month=_MONTH, candidates=names)["run_id"]
        run_flow("judge", run_id=run_id)
        took["sitting and judging"] = time.process_time() - began
        began = time.process_time()
        run_flow("publish", run_id=run_id)
        took["publication"] = time.process_time() - began
    print(json.dumps(took))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
