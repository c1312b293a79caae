"""Assigning the paper's 228,604 questions, two reviews each, to 40 annotators.

The annotators have two to four disciplines. It measures CPU and memory.

Through the ledger on SQLite as `proctor review assign` does it: a batch of all, one of what fits the default quota, and the
question of how far everybody is. Each in a process of its own; the questions are made before the clock starts.
Run: python -m tests.benchmarks.review_assignment [all|fits] [questions]
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from pathlib import Path

import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from schemas.vocabulary import DISCIPLINES

PAPER = 228_604
PEOPLE = 40
NOW = "2026-11-02T08:00:00.000000+00:00"
QUOTAS = {"all": 450, "fits": 50}


def main(arguments: list[str] | None = None) -> None:
    """Both measures, or the one that is named."""
    given = sys.argv[1:] if arguments is None and __name__ == "__main__" else arguments or []
    if len(given) == 2:
        print(json.dumps(measure(given[0], int(given[1]))))
        return
    for name in given or QUOTAS:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.review_assignment", name, str(PAPER)],
            capture_output=True,
            text=True,
        )
        print(f"\n## {PAPER:,} questions × 2 reviews × {PEOPLE} annotators, quota {QUOTAS[name]} × 30 days\n")
        if done.returncode:
            print(f"failed: {done.stderr[-600:]}")
            continue
        for label, value in json.loads(done.stdout.splitlines()[-1]).items():
            print(f"{label:<58}{value:>14,.2f}" if isinstance(value, float) else f"{label:<58}{value:>14,}")


def measure(name: str, count: int) -> dict[str, float]:
    """One assignment, and what it gave."""
    from tasks.review.assigning import assign_batch
    from tasks.review.assigning.annotators import Annotator
    from tasks.review.overview import list_workloads
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.trust.users import add_user

    mixer = random.Random(20)
    people = [
        Annotator(f"annotator-{number:02}", tuple(mixer.sample(DISCIPLINES, mixer.randint(2, 4))))
        for number in range(PEOPLE)
    ]
    with tempfile.TemporaryDirectory() as folder:
        frame = _make_elsewhere(count, Path(folder) / "questions.parquet")
        settings = Settings(home=Path(folder), review_daily_quota=QUOTAS[name])
        with open_ledger(settings.ledger_address) as ledger:
            with ledger.write() as connection:
                for one in people:
                    add_user(connection, user_id=one.user_id, role="annotator", disciplines=one.disciplines)
            before_mb, started = _peak_mb(), _clock()
            summary = assign_batch(ledger, None, frame, None, settings, NOW)
            assigned_s = _clock() - started
            started = _clock()
            loads = list_workloads(ledger, settings, NOW)
            status_s = _clock() - started
            with ledger.read() as connection:
                twice = connection.exec_driver_sql(
                    "SELECT count(*) FROM (SELECT question_uuid FROM review_assignments GROUP BY 1 "
                    "HAVING count(DISTINCT annotator) <> 2)"
                ).scalar()
        counts = Counter({one.annotator: one.open_count for one in loads})
        return {
            "CPU s to assign": assigned_s,
            "MB more at the peak": float(_peak_mb() - before_mb),
            "MB of the questions": float(frame.estimated_size() // 2**20),
            "MB of the ledger": float((Path(folder) / "ledger.sqlite").stat().st_size // 2**20),
            "questions assigned": summary.question_count,
            "assignments": summary.assignment_count,
            "questions left out, and named by discipline": sum(
                one.question_count for one in summary.left_out
            ),
            "least and most work of an annotator: least": min(counts.values()),
            "most": max(counts.values()),
            "questions without two different annotators": int(twice or 0),
            "CPU s for everybody's workload": status_s,
        }


def _make_elsewhere(count: int, path: Path) -> pl.DataFrame:
    """The questions, made in another process: what that takes is no part of the peak."""
    code = (
        "import random, sys; from pathlib import Path; from tests.benchmarks import review_assignment as made; "
        "made.make_questions(int(sys.argv[1]), random.Random(21)).write_parquet(Path(sys.argv[2]))"
    )
    subprocess.run([sys.executable, "-c", code, str(count), str(path)], check=True)
    return pl.read_parquet(path)


def make_questions(count: int, mixer: random.Random) -> pl.DataFrame:
    """Rows of the table `questions` with about as much text as real ones.

    They are in papers of a hundred.
    """
    weights = [mixer.random() + 0.3 for _ in DISCIPLINES]
    words = "下列关于该理论的说法中正确的一项是在市场经济条件下企业应当根据实际情况制定发展战略".strip()
    rows = []
    for number in range(count):
        own = str(uuid.UUID(int=mixer.getrandbits(128), version=4))
        stem = f"{number}. " + "".join(mixer.choices(words, k=60)) + "（ ）"
        options = [{"label": label, "text": "".join(mixer.choices(words, k=14))} for label in "ABCD"]
        rows.append(
            {
                "question_uuid": own,
                "revision": 1,
                "lineage_uuid": own,
                "parent_uuid": None,
                "document_id": str(uuid.UUID(int=number // 100 + 1, version=4)),
                "document_name": f"paper-{number // 100:05}.docx",
                "position": number % 100 + 1,
                "number_label": f"{number % 100 + 1}.",
                "question_type": "multiple_choice",
                "discipline": mixer.choices(DISCIPLINES, weights)[0],
                "sub_discipline": None,
                "source_kind": "undergraduate_final",
                "language": "zh",
                "stem": stem,
                "material": None,
                "options": options,
                "answer": [mixer.choice("ABCD")],
                "explanation": "".join(mixer.choices(words, k=80)),
                "parse_confidence": 0.9,
                "parse_notes": [],
                "status": "parsed",
            }
        )
    return get_table("questions").frame(rows)


def _clock() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
