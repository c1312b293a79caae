"""What was published of a month, each cell of it leading to the answers behind it."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.editions import ALL_DISCIPLINES
from schemas.vocabulary import DISCIPLINES
from warehouse.lake import Lake


@dataclass(slots=True)
class ResultRow:
    """A candidate in a month's run, zero-shot.

    Attributes:
        model: the candidate.
        sat_in_run_id: the run in which it answered; null where that is not known.
        score: S, 0 to 100; null where a discipline that has weight is missing.
        score_low, score_high: ends of its 95% interval.
        question_count: questions that were asked, repeats counted (N).
        rank_text: its rank, and in brackets the ranks that the data do not rule out.
        disciplines: score on 0 to 10 by discipline.
    """

    model: str
    sat_in_run_id: str | None
    score: float | None = None
    score_low: float | None = None
    score_high: float | None = None
    question_count: int = 0
    rank_text: str = ""
    disciplines: dict[str, float | None] = field(default_factory=dict)


@dataclass(slots=True)
class MonthRun:
    """What is published of one run of a month.

    Attributes:
        run_id: the run.
        edition_id: its last edition.
        grade: how it is attested, as its operator states it.
        marks: what is to be known of it, as in the view edition_marks; null for nothing.
        disciplines: the disciplines that anybody has a score in, in their usual order.
        rows: the candidates, the best first.
    """

    run_id: str
    edition_id: str
    grade: str
    marks: str | None
    disciplines: list[str] = field(default_factory=list)
    rows: list[ResultRow] = field(default_factory=list)


def list_published_months(lake: Lake) -> list[str]:
    """Months of which something is published, the latest first."""
    return [str(month) for (month,) in lake.read_rows("watched_months")]


def find_sat_run(lake: Lake, edition_id: str, model: str, style: str) -> str | None:
    """The run in which a candidate gave the answers that an edition counts; null for none."""
    asked = {"edition_id": edition_id, "model": model, "prompt_style": style}
    rows = lake.read("sat_run", asked)["sat_in_run_id"].to_list()
    return str(rows[0]) if rows else None


def read_month(lake: Lake, month: str) -> list[MonthRun]:
    """All that is published of a month, by run: its own first, then its repetitions."""
    runs: dict[str, MonthRun] = {}
    rows: dict[tuple[str, str], ResultRow] = {}
    for cell in lake.read("watched_scores", {"month": month}).iter_rows(named=True):
        run = runs.setdefault(
            cell["run_id"], MonthRun(cell["run_id"], cell["edition_id"], cell["grade"], cell["marks"])
        )
        key = (cell["run_id"], cell["model"])
        if key not in rows:
            rows[key] = ResultRow(cell["model"], cell["sat_in_run_id"])
            run.rows.append(rows[key])
        if cell["discipline"] == ALL_DISCIPLINES:
            row = rows[key]
            row.score, row.score_low, row.score_high = cell["score"], cell["score_low"], cell["score_high"]
            row.question_count = cell["question_count"]
            row.rank_text = _write_rank(cell["rank"], cell["rank_low"], cell["rank_high"])
        else:
            rows[key].disciplines[cell["discipline"]] = None if cell["score"] is None else cell["score"] / 10
    for run in runs.values():
        met = {name for row in run.rows for name in row.disciplines}
        run.disciplines = [name for name in DISCIPLINES if name in met]
        run.rows.sort(key=lambda row: (row.score is None, -(row.score or 0.0), row.model))
    return list(runs.values())


def _write_rank(rank: int | None, low: int | None, high: int | None) -> str:
    if rank is None:
        return ""
    return str(rank) if low is None or low == high else f"{rank} ({low}–{high})"
