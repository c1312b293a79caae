"""How many questions of a leaked text are found in a bank of real ones.

They are leaked word for word, and reworded.

    python -m tests.benchmarks.leak_matching [--bank 20000] [--leaked 300]

The bank is drawn from the real questions beside the checkout (`PROCTOR_SHARED_DATA`). Reworded means mechanically so: the clauses of
the stem in reverse order, the options too, and a share of all characters replaced by ones of other questions. What a person or a model writes
anew is not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from tasks.contamination.leaked_texts import REWORDED, find_questions, split_text

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
RATES = (0.0, 0.1, 0.2, 0.3, 0.4)


def read_bank(count: int, generator: np.random.Generator) -> pl.DataFrame:
    """So many of the real questions, each a lineage of its own; equal ones once."""
    table = pl.read_parquet(SHARED / "bank" / "question_bank.parquet").unique(
        "norm_sha1", keep="first", maintain_order=True
    )
    some = table[np.sort(generator.choice(table.height, min(count, table.height), replace=False))]
    offered = [
        [{"label": chr(65 + place), "text": str(text)} for place, text in enumerate(json.loads(cell or "[]"))]
        for cell in some["options"].to_list()
    ]
    names = [f"{place:06d}" for place in range(some.height)]
    return pl.DataFrame(
        {
            "question_uuid": names,
            "lineage_uuid": names,
            "stem": some["question"],
            "material": [None] * len(names),
            "options": offered,
        },
        schema_overrides={
            "material": pl.String,
            "options": pl.List(pl.Struct({"label": pl.String, "text": pl.String})),
        },
    )


def write_question(row: dict[str, object], rate: float, letters: str, generator: np.random.Generator) -> str:
    """A question as a leak has it: as it is, or reworded where `rate` is above 0."""
    stem = str(row["stem"])
    options = [option["text"] for option in row["options"]]  # type: ignore[attr-defined]
    if rate:
        stem = "，".join(reversed(re.split(r"[，,；;。]", stem)))
        options = options[::-1]
    lines = [re.sub(r"\s+", " ", stem), *(f"{chr(65 + place)}. {text}" for place, text in enumerate(options))]
    shown = "\n".join(re.sub(r"\s+", " ", line) for line in lines)
    return "".join(
        letters[generator.integers(len(letters))]
        if not letter.isspace() and generator.random() < rate
        else letter
        for letter in shown
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bank", type=int, default=20_000)
    parser.add_argument("--leaked", type=int, default=300)
    chosen = parser.parse_args(arguments)
    generator = np.random.default_rng(0)
    every = read_bank(chosen.bank + chosen.leaked, generator)
    leaked = set(generator.choice(every.height, 2 * chosen.leaked, replace=False).tolist())
    places = sorted(leaked)
    strangers = places[::2]
    bank = every[[place for place in range(every.height) if place not in set(strangers)]]
    letters = "".join(every["stem"].head(2_000).to_list())
    for name, wanted, rate in [
        *((f"characters replaced: {rate:.0%}", places[1::2], rate) for rate in RATES),
        ("not in the bank", strangers, 0.0),
    ]:
        rows = every[wanted].to_dicts()
        written = [write_question(row, rate, letters, generator) for row in rows]
        text = "\n\n".join(f"{number}. {question}" for number, question in enumerate(written, 1))
        split = len(split_text(text))
        found = find_questions(written, bank)
        right = [match for match in found if rows[match.piece]["lineage_uuid"] == match.lineage_uuid]
        reworded = [match for match in found if match.method == REWORDED]
        wrong = len(found) - len(right)
        print(
            f"{name}: split into {split} pieces of {len(rows)}, found {len(right) / len(rows):.3f}, "
            f"wrongly {wrong / len(rows):.3f} ({wrong / max(1, len(found)):.3f} of matches; "
            f"of {len(reworded)} reworded {sum(match not in right for match in reworded)})",
            flush=True,
        )


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
