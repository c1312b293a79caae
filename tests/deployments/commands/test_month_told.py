"""A month ends with what was done, where it is to be seen, and what is not well."""

from __future__ import annotations

from typing import Any

from deployments.commands.exam.month_told import render_month

WELL: dict[str, Any] = {
    "run_id": "2026-11",
    "sessions": 2,
    "answers": 32,
    "open_sessions": [],
    "judged_responses": 32,
    "judged_controls": 56,
    "judges": ["lab-judge"],
    "edition_id": "2026-11/1",
    "published_candidates": 2,
    "is_published_now": True,
    "is_outdated": False,
    "report": "reports/index.html",
    "notes": [],
}


def test_a_month_without_fault_is_told_in_four_lines() -> None:
    assert render_month(WELL) == [
        "Run 2026-11: 32 answers in 2 sessions; 32 judged by lab-judge beside control answers.",
        "Edition 2026-11/1: 2 candidates, published now.",
        "To be seen: proctor sql leaderboard, and reports/index.html",
        "Everything was answered and judged.",
    ]


def test_what_is_not_well_is_one_line_with_its_numbers() -> None:
    left_open = [{"model": name, "reason": "no reply"} for name in ("b", "a", "a")]
    faults = {
        "open_sessions": left_open,
        "unparsed_judgements": 3,
        "failed_judgements": 1,
        "overridden_gates": ["ratings"],
        "changed_judges": ["lab-judge"],
        "unwatched_judges": ["new-judge (its first month with autumn is 2026-12)"],
        "failure": "the judge is away.",
        "edition_id": "",
    }
    assert render_month(WELL | faults)[1:] == [
        "Nothing is published.",
        "Not well: sessions of a, b that stayed open: 3 (no reply); judgements that failed: 1; judgements that could not be read: 3; "
        "gates overridden: ratings; judges that changed under their name: lab-judge; "
        "judges that were not watched: new-judge (its first month with autumn is 2026-12); the judge is away.",
    ]
    nobody = "Nobody is due, so that nothing was sat."
    assert render_month({"run_id": ""}) == [nobody]
    assert render_month({"run_id": "", "changed_judges": ["lab-judge"]}) == [
        nobody,
        "Not well: judges that changed under their name: lab-judge.",
    ]
