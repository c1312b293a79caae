"""A league that was played, as rows of the lake.

It has abilities, a favour of judges for their own family, and voids as asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl

from schemas.tables import get_table

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
FAMILIES = {
    "amber-1": "Amber", "amber-2": "Amber", "birch-1": "Birch", "birch-2": "Birch",
    "cedar-1": "Cedar", "delta-1": "Delta", "elm-1": "Elm", "fir-1": "Fir",
}  # fmt: skip


@dataclass(frozen=True)
class Spec:
    """What is played: eight candidates, the earlier the better."""

    league_id: str = "autumn"
    domains: tuple[str, ...] = ("mathematics", "programming")
    runs: int = 2
    favour: float = 0.0
    void_judge: str = ""
    run_types: tuple[str, ...] = ("full",)
    is_simulated: bool = False
    seed: int = 1


def build_league(spec: Spec) -> dict[str, pl.DataFrame]:
    """Frames by table.

    Mathematics is ranked (Borda, n - 1 - r), and every other domain is scored from 0 to 100.
    """
    generator = np.random.default_rng(spec.seed)
    names = list(FAMILIES)
    ability = dict(zip(names, np.linspace(2.0, -2.0, len(names)), strict=True))
    rows: dict[str, list[dict[str, Any]]] = {
        "leagues": [
            {
                "league_id": spec.league_id, "origin": "played", "domains": list(spec.domains), "run_count": spec.runs,
                "round_count": len(names), "temperature": 1.0, "is_simulated": spec.is_simulated, "created_at": NOON,
            }
        ],
        "league_candidates": [
            {"league_id": spec.league_id, "model": name, "organisation": family, "family": family, "joined": "member",
             "is_simulated": spec.is_simulated}
            for name, family in FAMILIES.items()
        ],
        "league_rounds": [], "league_questions": [], "league_answers": [], "league_evaluations": [],
        "league_originality": [], "league_validations": [],
    }  # fmt: skip
    for domain in spec.domains:
        for run in range(1, spec.runs + 1):
            for number, asker in enumerate(names, start=1):
                _play(rows, spec, generator, ability, (domain, run, number, asker))
    return {name: get_table(name).frame(own) for name, own in rows.items()}


def _play(
    rows: dict[str, list[dict[str, Any]]],
    spec: Spec,
    generator: np.random.Generator,
    ability: dict[str, float],
    place: tuple[str, int, int, str],
) -> None:
    domain, run, number, asker = place
    question = f"{spec.league_id}-{domain}-{run}-{number}"
    of_round = {"league_id": spec.league_id, "domain": domain, "league_run": run, "round": number}
    reply = {"raw": f"raw of {question}", "parse_status": "parsed", "prompt_version": "1/en", "occasion": "round",
             "input_tokens": 100, "output_tokens": 50, "cost_usd": 0.001, "call_count": 1}  # fmt: skip
    rows["league_questions"].append(
        of_round | reply | {"league_question_id": question, "asker": asker, "topic": "numbers", "draft_count": 1,
                            "stem": f"MARKED QUESTION {question}", "reference_answer": f"MARKED REFERENCE {question}"}
    )  # fmt: skip
    rows["league_originality"].append(
        of_round | {"league_question_id": question, "draft": 1, "compared_with": "gsm8k", "ngram_overlap": 0.05,
                    "similarity": 0.4, "is_too_near": False}
    )  # fmt: skip
    rows["league_validations"] += [
        {"league_id": spec.league_id, "league_question_id": question, "person": person, "is_valid": person != "zhao" or run > 1,
         "decided_at": NOON}
        for person in ("li", "wang", "zhao")
    ]  # fmt: skip
    quality = {name: ability[name] + generator.normal(0, 0.7) for name in ability if name != asker}
    rows["league_answers"] += [
        of_round | reply | {"league_question_id": question, "answerer": name, "response": f"MARKED ANSWER of {name}"}
        for name in quality
    ]  # fmt: skip
    for run_type in spec.run_types:
        rows["league_rounds"].append(
            of_round | {"run_type": run_type, "asker": asker, "answer_count": 7, "finished_at": NOON}
        )
        for judge in ability:
            seen = {
                name: value + generator.normal(0, 0.4) + spec.favour * (FAMILIES[name] == FAMILIES[judge])
                for name, value in quality.items()
                if name != judge
            }
            order = sorted(seen, key=lambda name: -seen[name])
            for name in seen:
                is_void = judge == spec.void_judge
                rank = order.index(name) + 1
                score = (
                    7.0 - rank if domain == "mathematics" else float(np.clip(70 + 10 * seen[name], 0, 100))
                )
                rows["league_evaluations"].append(
                    of_round | reply | {
                        "run_type": run_type, "league_question_id": question, "judge": judge, "answerer": name,
                        "rank": None if is_void or domain != "mathematics" else rank,
                        "score": None if is_void else score,
                        "reason": None if is_void else f"MARKED REASON of {judge}",
                        "raw": f"raw of {judge}", "parse_status": "unparsed" if is_void else "parsed",
                    }
                )  # fmt: skip
