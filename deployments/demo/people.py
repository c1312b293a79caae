"""Simulated people of the demo.

They rate responses, name the causes of failures, and score texts. What they give goes through the desk or a workbook, as a person's would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from deployments.model_server import ErrorlessMarker, draw_uniform
from schemas.judgements import ERROR_CLASSES
from tasks.judging.marking import MarkItem, give_mark, land_given, open_work, read_given

if TYPE_CHECKING:
    import polars as pl

    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Ledger

# So often a person gives a star more or less than an errorless one would, and names another cause than the model.
_ERRS: Final = 0.015
_DISAGREES: Final = 0.2


def rate_round(ledger: Ledger, lake: Lake, bank: pl.DataFrame, name: str, raters: Sequence[str]) -> int:
    """Let every rater give stars for what is theirs in a round; returns how many were given now.

    Disputes are settled in a second pass.
    """
    marker = ErrorlessMarker(bank)

    def choose(rater: str, item: MarkItem) -> str:
        stars = marker.mark(item.question.bare, item.texts[0][1]) if item.question else None
        if stars is None:
            return item.marks[0]
        luck = draw_uniform("rater", rater, item.key)
        if luck < _ERRS:
            stars += 1 if stars == 0 or (stars < 3 and luck < _ERRS / 2) else -1
        return str(stars)

    return sum(_mark_work(ledger, lake, "rating", name, rater, choose) for _ in range(2) for rater in raters)


def label_failures(ledger: Ledger, lake: Lake, sample_id: str, person: str) -> int:
    """Let a person confirm or correct what a model thought of each failure of a sample."""

    def choose(person: str, item: MarkItem) -> str:
        luck = draw_uniform("label", person, item.key)
        return (
            item.hint
            if item.hint and luck > _DISAGREES
            else ERROR_CLASSES[int(luck * 1e6) % len(ERROR_CLASSES)]
        )

    return _mark_work(ledger, lake, "label", sample_id, person, choose)


def score_texts(lake: Lake, sample: pl.DataFrame, name: str, rater: str, workbook: Path) -> None:
    """Let a person score the texts of a sample in its workbook.

    The score is as much as a text has of its reference, in tenths.
    """
    from openpyxl import load_workbook

    from tasks.gscore.people import export_rating_workbook, land_ratings

    export_rating_workbook(sample, workbook)
    book = load_workbook(workbook)
    for key, _, _, reference, response, score, _ in book["scores"].iter_rows(min_row=2):
        share = _share_of(str(reference.value), str(response.value or ""))
        noise = (draw_uniform("score", rater, str(key.value)) - 0.5) / 5
        score.value = round(min(1.0, max(0.0, share + noise)), 1)
    book.save(workbook)
    land_ratings(lake, workbook, sample, name, rater)


def _share_of(reference: str, text: str) -> float:
    """The share of the reference's pairs of characters that a text has."""
    pairs = {reference[at : at + 2] for at in range(len(reference) - 1)}
    return sum(pair in text for pair in pairs) / max(len(pairs), 1)


def _mark_work(
    ledger: Ledger, lake: Lake, kind: str, name: str, person: str, choose: Callable[[str, MarkItem], str]
) -> int:
    work = open_work(lake, kind, name, person)
    given = read_given(ledger, work)
    open_items = [item for item in work.items.values() if item.key not in given]
    for item in open_items:
        give_mark(ledger, work, item.key, choose(person, item))
    land_given(ledger, lake, kind, name, person)
    return len(open_items)
