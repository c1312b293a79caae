"""What judging a run costs is told before: by what its candidates' answers have cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deployments.commands.exam.plans import render_judging
from tasks.judging import estimate_answers
from tasks.models.registry import read_registry
from tests.tasks.judging.controls.planned import SET_SIZE, PlannedRun, open_planned_run
from tests.tasks.judging.controls.test_landing import SOUND

# By the prices: 900 tokens at 1 USD and 150 at 2 USD per million.
SHORT = 0.0012


def estimate(run: PlannedRun, month: str, **counts: int) -> dict[str, Any]:
    registry = read_registry(run.settings.registry_path)
    (row,) = estimate_answers(run.lake, run.settings, registry, counts, month, is_simulated=True)
    return row


def test_who_answers_at_length_costs_more_and_who_was_never_judged_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_planned_run(tmp_path / "home", monkeypatch, first_judge=SOUND) as run:
        found = estimate(run, "2026-12", alpha=30, beta=30)
        assert found == {
            "judge": "first-judge",
            "answer_count": 60,
            "cost_usd": pytest.approx(60 * SHORT),
            "has_met": False,
            "unmet": ["alpha", "beta"],
        }
        assert list(render_judging([found])) == [
            "  the run's 60 answers, to be judged by first-judge: about $0.07; it has judged nothing of alpha, beta yet, whose answers are "
            "taken for short; long ones cost more"
        ]
        run.settings = run.settings.model_copy(update={"judge_controls": 0})
        run.judge()
        month = run.lake.query("SELECT max(month) FROM llm_calls").item()
        with run.lake.transaction() as connection:
            connection.execute(
                "UPDATE llm_calls SET cost_usd = CASE WHEN regexp_extract(landing_unit, '^(.*)/first-judge/prompt-', 1) IN "
                "(SELECT session_id FROM sessions WHERE model = 'alpha') THEN 0.05 ELSE 0.01 END WHERE purpose = 'judge'"
            )
        known = estimate(run, month, alpha=10, beta=10)
        assert (known["cost_usd"], known["unmet"]) == (pytest.approx(10 * 0.05 + 10 * 0.01), [])
        assert list(render_judging([known])) == [
            "  the run's 20 answers, to be judged by first-judge: about $0.60"
        ]
        # Each of the three gave as many answers.
        assert SET_SIZE == 30
        some = estimate(run, month, beta=10, gamma=10)
        assert (some["cost_usd"], some["unmet"]) == (
            pytest.approx(10 * 0.01 + 10 * 0.07 / 3, rel=0.1),
            ["gamma"],
        )
        # What is older than a year says nothing of the prices of today.
        later = f"{int(month[:4]) + 2}{month[4:]}"
        assert estimate(run, later, alpha=10)["cost_usd"] == pytest.approx(10 * SHORT)
