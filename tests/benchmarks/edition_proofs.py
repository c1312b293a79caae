"""What an edition's public files cost.

They are every answer and every judgement of a month in their trees, and the files on the disk.

546,840 answers over a bank of 78,009 lineages, as `_write_sessions` gets them from a real publication; hashes of answers are
given, as the ledger gives them. Beside it: one question's path in the trees of a bank of that size, as it is disclosed.
Run: python -m tests.benchmarks.edition_proofs [answers]
"""

from __future__ import annotations

import hashlib
import json
import random
import resource
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from tasks.editions.public_files import CountedQuestion, write_edition_files
from tasks.exam.public import digest
from tests.tasks.editions.kit import Basis, JudgeInOrder
from tests.tasks.exam.kit import follow_path, make_path

ANSWERS = 546_840
LINEAGES = 78_009
OF_SESSION = 1_000


def main(arguments: list[str] | None = None) -> None:
    """Print CPU seconds and peaks of memory as JSON."""
    count = int((arguments or [str(ANSWERS)])[0])
    basis, head, scores = _make_month(count)
    before_mb, started = _peak_mb(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        write_edition_files(Path(folder), bytes(32), head, scores, basis, _give_hashes)
        written = time.process_time()
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    peak_mb = _peak_mb()
    leaves = [digest("proctor lineage", place) for place in range(LINEAGES)]
    at = time.process_time()
    path = make_path(leaves, LINEAGES // 3)
    follow_path(leaves[LINEAGES // 3], LINEAGES // 3, LINEAGES, path)
    proved = time.process_time()
    print(
        json.dumps(
            {
                "answers": count,
                "sessions": basis.sessions.height,
                "CPU s: trees and files": round(written - started, 2),
                "MB of the files": round(size / 1e6, 1),
                "peak MB": round(peak_mb),
                "of these the program and the month's rows": round(before_mb),
                "CPU s: the path of one lineage": round(proved - at, 2),
            },
            indent=1,
        )
    )


def _give_hashes(row: Mapping[str, Any], questions: Sequence[CountedQuestion]) -> Mapping[int, str]:
    return {
        question.seq: hashlib.sha256(f"{row['session_id']} {question.seq}".encode()).hexdigest()
        for question in questions
    }


def _make_month(count: int) -> tuple[Basis, dict[str, Any], pl.DataFrame]:
    rng = random.Random(7)
    lineages = [str(uuid.UUID(int=rng.getrandbits(128))) for _ in range(LINEAGES)]
    sets = [rng.sample(lineages, OF_SESSION) for _ in range(60)]
    parts, sessions = [], []
    for number in range(-(-count // OF_SESSION)):
        size = min(OF_SESSION, count - number * OF_SESSION)
        session = f"2026-11/{number:04}"
        stars = [rng.randrange(4) for _ in range(size)]
        parts.append(
            pl.DataFrame(
                {
                    "session_id": [session] * size,
                    "seq": list(range(1, size + 1)),
                    "lineage_uuid": sets[number % 60][:size],
                    "stars": pl.Series(stars, dtype=pl.Int8),
                    "score_status": ["scored"] * size,
                }
            )
        )
        sessions.append(
            {
                "session_id": session,
                "sat_in_run_id": "2026-11",
                "set_id": f"2026/{number % 60:04}",
                "model": f"model-{number % 60}",
                "organisation": f"organisation-{number % 20}",
                "prompt_style": "zero_shot",
                "repeat": number // 60 + 1,
                "is_reference": False,
                "is_complete": True,
                "is_closed": True,
                "question_count": size,
            }
        )
    run = {"run_id": "2026-11", "month": "2026-11", "reference_model": "model-0", "is_simulated": True}
    basis = Basis(run, pl.DataFrame(sessions), pl.concat(parts), (JudgeInOrder("judge", "1"),), {}, {})
    head = {
        "edition_id": "2026-11/1",
        "run_id": "2026-11",
        "revision": 1,
        "month": "2026-11",
        "published_at": datetime.now(UTC),
        "reference_model": "model-0",
        "judge": "judge",
        "judge_prompt_version": "1",
        "weights": "{}",
    }
    names = ("discipline", "model", "prompt_style", "question_count", "score", "relative_score", "pair_count")
    scores = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    return basis, head, scores


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(sys.argv[1:])
