"""What candidates score that know nothing and want stars, beside honest ones.

    python -m tests.benchmarks gaming_candidates

One month by the real commands, on a bank of statements, choices and open questions in equal parts. Two simulated judges: one that errs
now and then, and one that gives all stars to whoever asks for them.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

import deployments.model_server
from schemas.settings import Settings
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tests.benchmarks.year_by_commands import Year, hold_months
from tests.benchmarks.year_texts import answer_question, describe_bank
from warehouse.lake import open_lake

QUESTIONS = 300
PROFILE = Path(deployments.model_server.__file__).parent / "profiles" / "gaming.yaml"
REFERENCE = "sim-reference"


def main() -> None:
    """Hold the month and print a line for each candidate."""
    with tempfile.TemporaryDirectory() as folder:
        settings = hold_gaming_month(Path(folder))
        print(f"\n## Candidates that want stars, {QUESTIONS} questions\n")
        print(f"{'candidate':<30}{'S':>7}{'chance':>8}{'above':>8}{'gullible judge':>16}")
        for row in read_scores(settings).iter_rows(named=True):
            print(
                f"{row['model']:<30}{row['score']:>7.1f}{row['chance_score']:>8.1f}{row['corrected_score']:>8.1f}"
                f"{row['gullible_score']:>16.1f}"
            )


def hold_gaming_month(home: Path, questions: int = QUESTIONS) -> Settings:
    """The month, published by the first judge."""
    profile = yaml.safe_load(PROFILE.read_text(encoding="utf-8"))
    models: dict[str, Any] = {}
    for name, traits in profile["models"].items():
        role = "judge" if traits.get("kind") == "judge" else "candidate"
        roles = [role, "reference"] if name == REFERENCE else [role]
        models[name] = _register(traits["owned_by"], roles)
    names = [name for name, one in models.items() if "candidate" in one["roles"]]
    registry = {
        "providers": {"simulated": {"base_url": "simulated", "max_concurrency": 32}},
        "organisations": dict.fromkeys(sorted({str(one["organisation"]) for one in models.values()})),
        "models": models,
    }
    year = Year(candidates=len(names), months=1, questions=questions, settings=(("lasting_sets", "2"),))
    return hold_months(home, year, describe_keyed_bank(questions * 4), registry, profile)


def describe_keyed_bank(count: int) -> dict[str, pl.DataFrame]:
    """A bank of statements, choices among four and open questions in equal parts."""
    random = np.random.default_rng(7)
    frames = describe_bank(count, EXAMINED_DISCIPLINES)
    rows = frames["bank_contents"].to_dicts()
    for number, row in enumerate(rows):
        kind = number // len(EXAMINED_DISCIPLINES) % 3
        row["question_type"] = ("true_false", "multiple_choice", "short_answer")[kind]
        row["answer"] = [answer_question(number, row["question_type"])]
        if kind == 0:
            row["answer"] = [str(random.choice(["true", "false"], p=[0.45, 0.55]))]
        elif kind == 1:
            row["answer"] = [str(random.choice(list("ABCD")))]
            row["options"] = [
                {"label": label, "text": f"It is the {label} of chapter {number}."} for label in "ABCD"
            ]
    return {**frames, "bank_contents": pl.DataFrame(rows, schema=frames["bank_contents"].schema)}


def read_scores(settings: Settings) -> pl.DataFrame:
    """S of each candidate with its chance level, and what the gullible judge gave."""
    with contextlib.ExitStack() as stack:
        lake = stack.enter_context(open_lake(settings, read_only=True))
        return lake.query(
            """
            SELECT s.model, s.score, s.chance_score, s.chance_answers, s.corrected_score, g.gullible_score
            FROM edition_scores AS s
            LEFT JOIN (
                SELECT model, avg(stars) / 3 * 100 AS gullible_score FROM judgements WHERE judge = 'judge-b' GROUP BY model
            ) AS g USING (model)
            WHERE s.discipline = 'all' ORDER BY s.score
            """
        )


def _register(owner: str, roles: list[str]) -> dict[str, Any]:
    return {
        "provider": "simulated", "organisation": owner, "release_date": "2025-12-01", "is_open": False,
        "parameters": {"temperature": 0}, "input_price_usd": 0.0, "output_price_usd": 0.0, "roles": roles,
    }  # fmt: skip


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
