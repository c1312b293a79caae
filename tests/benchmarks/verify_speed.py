"""What verifying a month costs: python -m tests.benchmarks.verify_speed [unique|shared ...]

A month of the paper's size: 78,009 lineages, 18 organisations, 540 sessions or a few more of 1,013 questions each, every one of them
answered, which is 546,840 answers and more; with the policy `unique` every organisation has a set of its own, and the reference answers all of them. The
verifier runs as outsiders run it: in a bare Python, with CPU seconds and peak memory of that process. The bar is 60 CPU s.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.exam.public.verifying import find_verifier
from tests.tasks.exam.public.made import Made, make_bank
from tests.tasks.exam.public.maker import REFERENCE, Maker, RunPlan

BAR_S = 60
ORGANISATIONS = [f"organisation-{number:02d}" for number in range(18)]
SHARES: list[list[Any]] = [["Economics", 338, 0], ["Law", 338, 0], ["Science", 337, 0]]
STYLES = ("zero-shot", "few-shot", "chain-of-thought")


def make_month(folder: Path, policy: str) -> None:
    """Publish a run of the paper's size and its edition."""
    rng = random.Random(18)
    made = Made()
    maker = Maker(made, make_bank(rng, {name: 26_003 for name, _, _ in SHARES}), rng, unanswered_share=0.0)
    key = {"key": made.key_name, "public_key": made.public_key}
    made.add("begin", {"installation": "benchmark", **key, "has_former_runs": False})
    sets = {owner: f"2026/{place:04d}" for place, owner in enumerate(ORGANISATIONS, start=1)}
    if policy == "shared":
        sets = dict.fromkeys(ORGANISATIONS, "2026/0001")
    owners = {
        name: [owner for owner in ORGANISATIONS if sets[owner] == name] for name in sorted(set(sets.values()))
    }
    maker.add_run(
        RunPlan(
            run="2026-11",
            month="2026-11",
            season="2026",
            policy=policy,
            new=[(name, drawn_for, SHARES) for name, drawn_for in owners.items()],
            sittings=[(f"model-{owner}", owner, sets[owner], False) for owner in ORGANISATIONS]
            + [(REFERENCE, "reference", name, True) for name in owners],
            met={owner: set() for owner in (*ORGANISATIONS, "reference")},
            asked={},
            styles=STYLES,
            repeats=9 if policy == "unique" else 10,
        )
    )
    maker.publish("2026-11")
    made.write(folder)


def measure(folder: Path) -> tuple[float, float, str]:
    """CPU seconds and peak MB of the verifier, and its last line.

    Raises where the verifier does not accept the folder.
    """
    command = [sys.executable, "-I", "-S", str(find_verifier()), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        printed = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(printed)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed.splitlines()[-1]


def main(policies: Sequence[str] = ()) -> None:
    """Make each month and verify it."""
    for policy in policies or ["unique", "shared"]:
        with tempfile.TemporaryDirectory() as name:
            # In a process of its own: a child begins with the peak memory of its parent.
            maker = multiprocessing.get_context("spawn").Process(target=make_month, args=(Path(name), policy))
            maker.start()
            maker.join()
            if maker.exitcode:
                raise SystemExit(f"{policy}: could not be made")
            cpu_s, peak_mb, line = measure(Path(name))
            print(f"{policy}: {cpu_s:.1f} CPU s (bar {BAR_S}), {peak_mb:.0f} MB at most. {line}", flush=True)
            if cpu_s > BAR_S:
                raise SystemExit(f"{policy}: over the bar")


if __name__ == "__main__":
    main(sys.argv[1:])
