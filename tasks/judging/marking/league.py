"""Verdicts that people give in a league.

They are on its questions, and on answers that judges took for memorised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.judging.marking.work import MarkItem, Work, WorkSummary, order_items
from tasks.league.people import PersonVerdict, land_verdicts, read_waiting
from warehouse.lake import Lake

YES, NO = "yes", "no"


def find_league_work(lake: Lake, person: str) -> list[WorkSummary]:
    """The leagues in which a question or a flagged answer waits for this person."""
    found = []
    for name in lake.read("leagues_known", {})["league_id"]:
        questions, flags = read_waiting(lake, name, person)
        if questions or flags:
            found.append(WorkSummary("league", name, len(questions) + len(flags), 0))
    return found


def open_league_work(lake: Lake, name: str, person: str) -> Work:
    """What waits for somebody in a league; nothing for a league that is none."""
    questions, flags = read_waiting(lake, name, person)
    items = [
        MarkItem(key, (YES, NO), texts=_describe_question(row), needs_note=(NO,))
        for key, row in questions.items()
    ]
    items += [MarkItem(key, (YES, NO), texts=_describe_flag(row)) for key, row in flags.items()]
    return Work("league", name, person, order_items(items))


def land_league_marks(
    lake: Lake, name: str, person: str, marks: Mapping[str, str], notes: Mapping[str, str]
) -> None:
    """Land verdicts by key, as the import of a workbook does; what waits no longer is left."""
    given = [PersonVerdict(key, mark == YES, notes.get(key, "")) for key, mark in marks.items()]
    land_verdicts(lake, name, person, given)


def _describe_question(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (
        ("league_asks_valid", ""),
        ("domain", str(row["domain"])),
        ("stem", row["stem"]),
        ("reference", row["reference_answer"] or ""),
        ("standard", row["scoring_standard"] or row["principle"] or ""),
    )


def _describe_flag(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (
        ("league_asks_memorised", ""),
        ("stem", row["stem"]),
        ("reference", row["reference_answer"] or ""),
        ("response", row["response"] or ""),
        ("template", "\n".join(row["templates"] or ())),
    )
