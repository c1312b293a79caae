"""The stretches of a paper that its reading left doubtful.

And what a second reading of them may replace.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from tasks.ingest.confidence import parse_reading
from tasks.ingest.documents import ParsedDocument

Row = dict[str, Any]


# Text between two questions belongs to a doubtful one up to this length; longer gaps are key tables and instructions.
MOST_GAP = 1_500


# Of the characters that the doubtful questions held, so many must stand in the model's questions.
LEAST_COVERAGE = 0.9


def find_stretches(parsed: ParsedDocument) -> list[tuple[int, int]]:
    """The stretches of the text that the rules left in doubt, as offsets in order.

    What the rules are sure of is in none. All of the text where no question was found; else every run of questions that
    a contract of the paper doubts, by itself or with its section, or that are below the confidence threshold, and the place of
    every contract that is broken, up to the sure questions around them.
    """
    if parsed.text is None:
        return []
    text = str(parsed.text["text"])
    if parsed.document["status"] == "no_questions":
        return [(0, len(text))] if text.strip() else []
    placed = sorted(
        (row for row in parsed.questions if row["text_start"] is not None and row["text_end"] is not None),
        key=lambda row: row["text_start"],
    )
    _, checked = parse_reading(parsed.document.get("reading"))
    sections = {breach.section for breach in checked.breaches if breach.section is not None}
    places = sorted({breach.place for breach in checked.breaches})

    def is_doubtful(row: Row) -> bool:
        at = bisect_left(places, row["text_start"])
        holds_breach = at < len(places) and places[at] < row["text_end"]
        return row["status"] == "low_confidence" or row.get("section") in sections or holds_breach

    sure = [row for row in placed if not is_doubtful(row)]
    doubtful = [(row["text_start"], row["text_end"]) for row in placed if is_doubtful(row)]
    for place in places:
        line_end = text.find("\n", place)
        doubtful.append((place, line_end if line_end >= 0 else len(text)))
    ends = sorted(one["text_end"] for one in sure)
    starts = [one["text_start"] for one in sure]
    stretches: list[tuple[int, int]] = []
    for first, last in sorted(doubtful):
        before = bisect_right(ends, first)
        after = bisect_left(starts, last)
        start = ends[before - 1] if before else 0
        end = starts[after] if after < len(starts) else len(text)
        start = start if first - start <= MOST_GAP else first
        end = end if end - last <= MOST_GAP else last
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    return stretches


def merge_rows(questions: Sequence[Row], rows: Sequence[Row], start: int, end: int) -> list[Row] | None:
    """The document's questions with those of a stretch replaced by the model's.

    None where the rules' are no worse. The model's must on average be surer than those that they replace, and must hold
    nearly all of their text; the rules' questions that none of the model's touches stay.
    """
    if not rows:
        return None
    inside = [
        row
        for row in questions
        if row["text_start"] is not None
        and start <= row["text_start"] < end
        and any(row["text_start"] < one["text_end"] and one["text_start"] < row["text_end"] for one in rows)
    ]
    if inside:
        if _mean_confidence(rows) <= _mean_confidence(inside):
            return None
        held = _covered(inside)
        if len(held & _covered(rows)) < LEAST_COVERAGE * len(held):
            return None
    replaced = {row["question_uuid"] for row in inside}
    kept = [row for row in questions if row["question_uuid"] not in replaced]
    known = {row["question_uuid"] for row in kept}
    merged = [*kept, *(row for row in rows if row["question_uuid"] not in known)]
    order = {id(row): place for place, row in enumerate(merged)}
    merged.sort(key=lambda row: (row["text_start"] if row["text_start"] is not None else -1, order[id(row)]))
    return [row | {"position": place} for place, row in enumerate(merged, start=1)]


def _mean_confidence(rows: Sequence[Row]) -> float:
    return sum(float(row["parse_confidence"]) for row in rows) / len(rows)


def _covered(rows: Sequence[Row]) -> set[int]:
    return {place for row in rows for place in range(row["text_start"], row["text_end"])}
