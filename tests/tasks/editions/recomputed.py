"""Every value of the leaderboard, computed again from the raw rows by other means.

It uses dictionaries and sums, and no estimator.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

import pytest

from tests.tasks.report.synthetic import REFERENCE
from warehouse.lake import Lake

MONTHS = ("2025-06", "2025-07")
STYLES = ("zero_shot", "few_shot", "chain_of_thought")


def recompute(frames: dict[str, Any]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """(month, style, model) → what the leaderboard must say.

    Every discipline has the same number of questions.
    """
    stars: dict[tuple[str, int], int] = {}
    # judge-a counts where it could be read, else judge-b.
    for row in frames["judgements"].sort("judge", descending=True).iter_rows(named=True):
        if row["stars"] is not None:
            stars[row["session_id"], row["seq"]] = row["stars"]
    asked = defaultdict(list)
    for row in frames["allocations"].iter_rows(named=True):
        asked[row["session_id"]].append((row["question_uuid"], row["discipline"], row["seq"]))
    sessions = frames["sessions"].rows(named=True)
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    mean = statistics.fmean
    for month in MONTHS:
        for style in STYLES:
            speaking = [
                session
                for session in sessions
                if session["prompt_style"] == style
                and (session["month"] == month or session["model"] == REFERENCE)
            ]
            reference: dict[str, list[int]] = defaultdict(list)
            for session in speaking:
                if session["model"] == REFERENCE:
                    for question, _, seq in asked[session["session_id"]]:
                        if (session["session_id"], seq) in stars:
                            reference[question].append(stars[session["session_id"], seq])
            for model in {session["model"] for session in speaking}:
                repeats: list[float] = []
                own: dict[str, list[int]] = defaultdict(list)
                by_discipline: dict[str, list[int]] = defaultdict(list)
                counts = dict.fromkeys(("question_count", "scored_count", "unparsed_count", "pair_count"), 0)
                for session in speaking:
                    if session["model"] != model:
                        continue
                    rows = asked[session["session_id"]]
                    values = {seq: stars.get((session["session_id"], seq)) for _, _, seq in rows}
                    counts["question_count"] += len(rows)
                    counts["scored_count"] += sum(value is not None for value in values.values())
                    counts["unparsed_count"] += sum(value is None for value in values.values())
                    repeats.append(100 * sum(value or 0 for value in values.values()) / (3 * len(rows)))
                    for question, discipline, seq in rows:
                        by_discipline[discipline].append(values[seq] or 0)
                        if question in reference:
                            counts["pair_count"] += 1
                            own[question].append(values[seq] or 0)
                # Means over the disciplines, and of each question over its repeats.
                place = {question: discipline for rows in asked.values() for question, discipline, _ in rows}

                def over_disciplines(
                    of_questions: dict[str, list[int]], place: dict[str, str] = place
                ) -> float:
                    parts: dict[str, list[float]] = defaultdict(list)
                    for question, values in of_questions.items():
                        parts[place[question]].append(mean(values))
                    return mean(mean(part) for part in parts.values())

                theirs = {question: reference[question] for question in own}
                found[month, style, model] = {
                    "score": mean(repeats),
                    "score_sd": statistics.stdev(repeats),
                    "lowest_score": min(repeats),
                    "highest_score": max(repeats),
                    "relative_score": 100.0
                    if model == REFERENCE
                    else 100 * over_disciplines(own) / over_disciplines(theirs),
                    "repeat_count": len(repeats),
                    **counts,
                    **{
                        name.lower().replace(" ", "_"): 10 * mean(values) / 3
                        for name, values in by_discipline.items()
                    },
                }
            scores = {
                model: row["score"] for (at, of, model), row in found.items() if (at, of) == (month, style)
            }
            for model, score in scores.items():
                found[month, style, model]["rank"] = 1 + sum(
                    other > score + 1e-12 for other in scores.values()
                )
    return found


def check_boards(lake: Lake, frames: dict[str, Any]) -> None:
    """Every value of the boards of these rows is that of the independent computation."""
    wanted, board = recompute(frames), lake.run_named("leaderboard_history")
    assert board.height == len(wanted) == len(MONTHS) * len(STYLES) * 6
    assert board["unparsed_count"].sum() > 0
    compared = 0
    for row in board.iter_rows(named=True):
        for name, value in wanted[row["month"], row["prompt_style"], row["model"]].items():
            assert row[name] == pytest.approx(value, abs=2.4e-9), (
                row["month"],
                row["prompt_style"],
                row["model"],
                name,
            )
            compared += 1
    assert compared >= 536
