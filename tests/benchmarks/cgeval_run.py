"""CG-Eval's 11,000 questions end to end, against a simulated candidate over real HTTP.

It measures CPU per question and stage.

    python -m tests.benchmarks.cgeval_run [--questions 11000] [--no-kill]

`proctor cgeval answer` is killed (kill -9) half way and run again, then the answers are scored against the simulation's
model answers (no embedding model: similarity is measured by gscore_speed) and exported. The server runs in a process
of its own and is not counted. Needs ../shared/data; nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import polars as pl

from tests.benchmarks.measure import Row, measure_command, print_rows
from tests.tasks.gscore.kit import read_cgeval_questions
from tests.tasks.gscore.world import write_reference_file, write_registry

ROOT = Path(__file__).resolve().parents[2]
PROCTOR = str(Path(sys.executable).with_name("proctor"))
SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", ROOT.parent / "shared" / "data"))
MODEL = "sim-candidate"


def main(arguments: Sequence[str] = ()) -> None:
    """Run it and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=11_000)
    parser.add_argument("--no-kill", action="store_true")
    chosen = parser.parse_args(arguments)
    source = SHARED / "bank" / "cgeval_questions.csv"
    if not source.exists():
        print("(cgeval_run: skipped, ../shared/data is not there)")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = pl.read_csv(source, infer_schema=False)
        table.gather_every(max(1, table.height // chosen.questions)).head(chosen.questions).write_csv(
            folder / "questions.csv"
        )
        questions = read_cgeval_questions(folder / "questions.csv")
        write_reference_file(folder / "references.csv", questions)
        write_registry(folder / "models.yaml", MODEL)
        with _Server(folder) as url:
            environment = {
                **{k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))},
                "PROCTOR_HOME": str(folder / "home"),
                "PROCTOR_REGISTRY": str(folder / "models.yaml"),
                "PROCTOR_SIMULATED_URL": url,
                "PROCTOR_QUIET": "1",
            }
            _run(folder, environment, questions.height, is_killed=not chosen.no_kill)


def _run(folder: Path, environment: Mapping[str, str], count: int, *, is_killed: bool) -> None:
    def measure(stage: str, *words: str) -> Row:
        return measure_command(stage, [PROCTOR, "cgeval", *words], environment)

    measure_command("init", [PROCTOR, "init"], environment)
    rows = [measure("import", "import", str(folder / "questions.csv"))]
    answer = ("answer", "--model", MODEL)
    kept = 0
    if is_killed:
        kept = _kill_half_way(folder / "home" / "ledger.sqlite", environment, answer, count // 2)
    resumed = measure(f"answer {count - kept:,} (after kill -9 at {kept:,})", *answer)
    again = measure("answer again: nothing left to ask", *answer)
    rows += [resumed, again]
    per_question = (resumed.cpu_s - again.cpu_s) / max(1, count - kept) * 1000
    scoring = ("--model", MODEL, "--references", str(folder / "references.csv"), "--embedding", "none")
    for profile in ("cgeval-paper", "standard"):
        rows.append(measure(f"score, {profile}", "score", *scoring, "--profile", profile))
    rows.append(measure("export", "export", str(folder / "submission.csv"), "--model", MODEL))
    print_rows(f"CG-Eval, {count:,} questions", rows)
    print(
        f"\nanswering: {per_question:.2f} ms CPU per question, imports and the landing of the calls included"
    )
    print(f"scoring:   {rows[3].cpu_s / count * 1000:.2f} ms CPU per question, start and landing included")
    with closing(sqlite3.connect(folder / "home" / "ledger.sqlite")) as ledger:
        calls = dict(ledger.execute("select status, count(*) from llm_calls group by status").fetchall())
    print(f"calls in the ledger: {json.dumps(calls)}")


def _kill_half_way(ledger: Path, environment: Mapping[str, str], answer: Sequence[str], after: int) -> int:
    """Kill the command when so many answers are in the ledger; returns how many are."""
    process = subprocess.Popen(
        [PROCTOR, "cgeval", *answer],
        env=dict(environment),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while _count_done(ledger) < after:
        if process.poll() is not None:
            raise RuntimeError("The command ended before it could be killed.")
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return _count_done(ledger)


def _count_done(ledger: Path) -> int:
    if not ledger.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True, timeout=5)) as connection:
            query = "select count(*) from llm_calls where status = 'done'"
            return int(connection.execute(query).fetchone()[0])
    except sqlite3.OperationalError:  # not created yet
        return 0


class _Server:
    """The simulated model server in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> str:
        profile, ready = self._folder / "profile.yaml", self._folder / "ready"
        profile.write_text(json.dumps({"models": {MODEL: {"accuracy": {"default": 0.7}}}}))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "deployments.model_server", "--profile", str(profile), "--ready-file", str(ready)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        while not ready.exists():
            if self._process.poll() is not None:
                raise RuntimeError("The simulated model server did not start.")
            time.sleep(0.05)
        return ready.read_text()

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
