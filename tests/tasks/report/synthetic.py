"""A small season made by arithmetic.

It has six candidates of four organisations, two months, three styles and two repeats.

Every candidate has an ability per discipline; stars are drawn from it with a fixed seed. The answers, names and prices
are inventions. Both months are sat on the same two sets, as an in-house run with the `shared` policy does.
"""

from __future__ import annotations

import datetime as dt
import random
import uuid
from collections.abc import Sequence
from functools import cache
from typing import Any

import polars as pl

from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES, PROMPT_STYLES
from tests.tasks.judging.control_rows import make_control_rows

REFERENCE = "north-1-thinking"
CANDIDATES: tuple[dict[str, object], ...] = (
    {"model": "north-1", "organisation": "North", "family": "north", "release_date": dt.date(2025, 1, 15), "ability": 0.82},
    {"model": REFERENCE, "organisation": "North", "family": "north", "release_date": dt.date(2025, 4, 15), "ability": 0.93, "mode": "thinking", "base_model": "north-1"},
    {"model": "east-7b", "organisation": "East", "family": "east", "release_date": dt.date(2024, 3, 1), "ability": 0.46, "is_open": True},
    {"model": "east-70b", "organisation": "East", "family": "east", "release_date": dt.date(2025, 2, 1), "ability": 0.74, "is_open": True},
    {"model": "south-chat", "organisation": "South", "family": "south", "release_date": dt.date(2024, 9, 10), "ability": 0.63},
    {"model": "西湖-2", "organisation": "西湖", "family": "西湖", "release_date": dt.date(2025, 6, 5), "ability": 0.88},
)  # fmt: skip
JUDGES = ("judge-a", "judge-b")


def build_season(
    *, months: Sequence[str] = ("2025-06", "2025-07"), **options: Any
) -> dict[str, pl.DataFrame]:
    """Frames of every exam table by name, as they would be landed, in a dictionary of its own."""
    return dict(_make_season(tuple(months), **options))


@cache
def _make_season(
    months: tuple[str, ...],
    *,
    repeats: int = 2,
    questions_per_discipline: int = 4,
    unparsed_rate: float = 0.01,
    is_simulated: bool = False,
    is_calibrated: bool = True,
    seed: int = 7,
) -> dict[str, pl.DataFrame]:
    rng = random.Random(seed)
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in _TABLES}
    sets = _add_sets(rows, repeats, questions_per_discipline, is_simulated)
    for month_number, month in enumerate(months):
        run_id = f"run-{month}"
        planned_at = dt.datetime.fromisoformat(f"{month}-01T00:00:00+00:00")
        rows["runs"].append(
            {
                "run_id": run_id, "month": month, "bank_version": 1, "reference_model": REFERENCE,
                "set_size": questions_per_discipline * 10, "policy": "shared", "status": "published",
                "planned_at": planned_at, "closed_at": planned_at + dt.timedelta(days=2), "is_simulated": is_simulated,
            }
        )  # fmt: skip
        for judge in JUDGES:
            rows["judge_controls"] += make_control_rows(run_id, month, judge, "v1", is_simulated=is_simulated)
        for candidate in CANDIDATES:
            rows["models"].append(_model_row(candidate, run_id, is_simulated))
            # The reference answers each set once: its sittings of the first month serve the second.
            if candidate["model"] == REFERENCE and month_number > 0:
                continue
            for style in PROMPT_STYLES:
                for repeat in range(1, repeats + 1):
                    ability = float(str(candidate["ability"])) + 0.02 * month_number + _STYLE_SHIFT[style]
                    _add_session(
                        rows, rng, candidate, run_id, month, planned_at, f"set-{repeat}", sets[f"set-{repeat}"],
                        style, repeat, ability, unparsed_rate, is_simulated,
                    )  # fmt: skip
    if is_calibrated:
        for judge, kappa in zip(JUDGES, (0.9, 0.5), strict=True):
            for candidate in CANDIDATES:
                rows["calibration"].append(
                    {
                        "judge": judge,
                        "prompt_version": "v1",
                        "occasion": "first",
                        "model": candidate["model"],
                        "round": 1,
                        "weighting": "none",
                        "kappa": kappa,
                        "kappa_low": kappa - 0.1,
                        "kappa_high": min(1.0, kappa + 0.1),
                        "pair_count": 40,
                    }
                )
    return {name: get_table(name).frame(table_rows) for name, table_rows in rows.items()}


_TABLES = (
    "models",
    "runs",
    "sets",
    "sessions",
    "allocations",
    "responses",
    "judgements",
    "judge_controls",
    "calibration",
    "llm_calls",
)
_STYLE_SHIFT = {"zero_shot": 0.0, "few_shot": -0.03, "chain_of_thought": -0.01}


def _add_sets(
    rows: dict[str, list[dict[str, object]]], repeats: int, per_discipline: int, is_simulated: bool
) -> dict[str, list[tuple[str, str]]]:
    sets: dict[str, list[tuple[str, str]]] = {}
    for number in range(1, repeats + 1):
        set_id = f"set-{number}"
        sets[set_id] = []
        for discipline in EXAMINED_DISCIPLINES:
            for index in range(per_discipline):
                question = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{set_id}/{discipline}/{index}"))
                sets[set_id].append((question, discipline))
                rows["sets"].append(
                    {
                        "set_id": set_id, "set_number": number, "season": "s1", "bank_version": 1, "lineage_uuid": question,
                        "question_uuid": question, "discipline": discipline, "is_simulated": is_simulated,
                    }
                )  # fmt: skip
    return sets


def _model_row(candidate: dict[str, object], run_id: str, is_simulated: bool) -> dict[str, object]:
    return {
        "run_id": run_id, "model": candidate["model"], "organisation": candidate["organisation"],
        "family": candidate["family"], "release_date": candidate["release_date"],
        "is_open": candidate.get("is_open", False), "mode": candidate.get("mode", "standard"),
        "base_model": candidate.get("base_model"), "endpoint_model": str(candidate["model"]),
        "input_price_usd": 1.0, "output_price_usd": 4.0, "is_simulated": is_simulated,
    }  # fmt: skip


def _add_session(
    rows: dict[str, list[dict[str, object]]],
    rng: random.Random,
    candidate: dict[str, object],
    run_id: str,
    month: str,
    planned_at: dt.datetime,
    set_id: str,
    questions: list[tuple[str, str]],
    style: str,
    repeat: int,
    ability: float,
    unparsed_rate: float,
    is_simulated: bool,
) -> None:
    model = str(candidate["model"])
    session_id = f"{run_id}/{model}/{style}/{repeat}"
    shared = {
        "run_id": run_id, "month": month, "session_id": session_id, "model": model, "prompt_style": style, "is_simulated": is_simulated,
    }  # fmt: skip
    rows["sessions"].append(
        {
            **shared, "set_id": set_id, "organisation": candidate["organisation"], "repeat": repeat,
            "is_reference": model == REFERENCE, "status": "closed", "question_count": len(questions),
            "answered_count": len(questions), "opened_at": planned_at, "closed_at": planned_at + dt.timedelta(days=1),
        }
    )  # fmt: skip
    rows["llm_calls"].append(
        {
            "call_key": session_id, "purpose": "answer", "run_id": run_id, "model": model, "status": "done", "attempts": len(questions),
            "input_tokens": 200 * len(questions), "output_tokens": 400 * len(questions), "cost_usd": 0.0018 * len(questions),
            "latency_ms": 900.0, "started_at": planned_at, "month": month,
        }
    )  # fmt: skip
    order = list(enumerate(questions))
    rng.shuffle(order)
    for seq, (_, (question, discipline)) in enumerate(order, start=1):
        place = {
            "run_id": run_id,
            "month": month,
            "session_id": session_id,
            "seq": seq,
            "question_uuid": question,
        }
        rows["allocations"].append(
            {**place, "lineage_uuid": question, "discipline": discipline, "allocated_at": planned_at}
        )
        is_empty = rng.random() < 0.01
        rows["responses"].append(
            {
                **place, "lineage_uuid": question, "model": model, "organisation": candidate["organisation"],
                "prompt_style": style, "repeat": repeat, "bank_version": 1, "prompt_version": "v1",
                "response": "" if is_empty else "An answer.", "answer_status": "empty" if is_empty else "answered",
                "input_tokens": 200, "output_tokens": 400, "cost_usd": 0.0018, "latency_ms": 900.0, "attempts": 1,
                "is_simulated": is_simulated,
            }
        )  # fmt: skip
        ease = min(0.98, ability + _SHIFT[discipline])
        for judge in JUDGES:
            is_unparsed = not is_empty and rng.random() < unparsed_rate
            stars = (
                0
                if is_empty
                else (rng.choice((3, 3, 3, 2)) if rng.random() < ease else rng.choice((0, 0, 1)))
            )
            rows["judgements"].append(
                {
                    **place, "model": model, "prompt_style": style, "judge": judge, "stars": None if is_unparsed else stars,
                    "parse_status": "unparsed" if is_unparsed else "parsed", "prompt_version": "v1",
                    "judged_at": planned_at + dt.timedelta(days=1), "cost_usd": 0.001, "attempt": 0 if is_empty else 1, "occasion": "first",
                    "is_simulated": is_simulated,
                }
            )  # fmt: skip


_SHIFT = {
    "Engineering": 0.0, "Economics": 0.04, "Education": 0.02, "Law": 0.03, "Literature": -0.15, "Management": 0.04,
    "Science": -0.03, "History": 0.01, "Medicine": -0.06, "Military Science": -0.08,
}  # fmt: skip
