"""What the normal form of a text costs, on real stems.

It is compared with its plain wording, which is the yardstick of the tests.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from tasks.questions.identity import normalise_for_key
from tests.tasks.questions.normal_form_yardstick import normalise_plainly

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data"))
STEMS = 20_000
ROUNDS = 3


def main() -> None:
    """Print µs of CPU per text, best of three."""
    bank = pl.read_parquet(SHARED / "bank" / "question_bank.parquet", columns=["question"])
    stems = bank["question"].drop_nulls().sample(STEMS, seed=5).to_list()
    plain, quick = measure(normalise_plainly, stems), measure(normalise_for_key, stems)
    differing = sum(normalise_for_key(stem) != normalise_plainly(stem) for stem in stems)
    print(f"stems {len(stems)}, mean length {sum(map(len, stems)) / len(stems):.0f}, differing {differing}")
    print(f"µs per stem: plain {plain:.1f}, quick {quick:.1f}, ×{plain / quick:.1f}")


def measure(normalise: Callable[[str], str], texts: Sequence[str]) -> float:
    """µs of CPU per text, the best of some rounds."""
    seconds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for text in texts:
            normalise(text)
        seconds.append(time.process_time() - started)
    return min(seconds) / len(texts) * 1e6


if __name__ == "__main__":
    main()
