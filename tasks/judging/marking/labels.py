"""Classes that people give to failed responses."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from schemas.errors import UsageError
from tasks.judging.error_samples import FORM, land_labels, read_failures, read_sample
from tasks.judging.judge import PutResponse
from tasks.judging.marking.work import MarkItem, Work, WorkSummary, order_items
from tasks.review.marking import compute_key
from warehouse.lake import Lake


def find_label_work(lake: Lake, person: str) -> list[WorkSummary]:
    """The sample of failures that was drawn last: everybody who may label sees it."""
    try:
        sample = read_sample(lake)
    except UsageError:
        return []
    name = str(sample["sample_id"][0])
    landed = lake.read("error_labels_of", {"sample_id": name}).filter(pl.col("labeller") == person).height
    return [WorkSummary("label", name, sample.height, landed)]


def open_label_work(lake: Lake, name: str, person: str) -> Work:
    """The failed responses of a sample, with what a model thought.

    Raises UsageError where there is no such sample.
    """
    sample = read_sample(lake, name)
    own: dict[tuple[str, int], str] = {}
    thought: dict[tuple[str, int], str] = {}
    for row in lake.read("error_labels_of", {"sample_id": name}).iter_rows(named=True):
        place = (row["session_id"], row["seq"])
        if row["is_human"]:
            own |= {place: row["error_class"]} if row["labeller"] == person else {}
        elif row["error_class"]:
            thought[place] = row["error_class"]
    items = [
        MarkItem(
            compute_key(name, put.session_id, put.seq),
            tuple(FORM.marks),
            put.question,
            (("response", put.response),),
            landed=own.get((put.session_id, put.seq), ""),
            hint=thought.get((put.session_id, put.seq), ""),
        )
        for put in map(PutResponse.from_row, read_failures(lake, sample).iter_rows(named=True))
    ]
    return Work("label", name, person, order_items(items))


def land_label_marks(lake: Lake, name: str, person: str, marks: Mapping[str, str]) -> None:
    """Land classes by key, as the import of a workbook does."""
    land_labels(lake, read_sample(lake, name), person, marks)
