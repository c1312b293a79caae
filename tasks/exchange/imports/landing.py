"""Imported files land as they came, once; an import can be taken back, and come again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from schemas.errors import UsageError
from schemas.imports import IMPORTED_MARKS
from schemas.tables import get_table
from tasks.exchange.imports.logs import Log, parse_harness_samples, parse_inspect_log
from tasks.exchange.imports.tables import (
    MARK_FIELDS,
    SCORE_FIELDS,
    apply_mapping,
    melt_metrics,
    parse_marks,
    parse_scores,
)
from tasks.questions.forms import import_records, render_record
from tasks.texts import read_table
from warehouse.lake import Lake


@dataclass(frozen=True)
class ImportedFile:
    """What came of a file.

    Attributes:
        import_id: under which its rows stand; the benchmark for external scores.
        benchmark: what it is about.
        rows: rows that the file gave.
        models: models in it.
        without_mark: rows without a number as their mark.
        is_unchanged: whether the same was imported before.
    """

    import_id: str
    benchmark: str
    rows: int
    models: int
    without_mark: int
    is_unchanged: bool


@dataclass(frozen=True)
class Withdrawal:
    """What was taken back."""

    import_id: str
    benchmark: str
    file_name: str
    row_count: int


def import_inspect(lake: Lake, path: Path, benchmark: str | None = None) -> ImportedFile:
    """Land an Inspect log; raises what parse_inspect_log does."""
    log = parse_inspect_log(path)
    return _land_log(lake, path, "inspect", log, benchmark)


def import_harness(lake: Lake, path: Path, model: str, benchmark: str | None = None) -> ImportedFile:
    """Land samples of lm-evaluation-harness; raises what parse_harness_samples does."""
    return _land_log(lake, path, "lm_eval", parse_harness_samples(path, model, benchmark), benchmark, model)


def import_table(
    lake: Lake, path: Path, kind: str, benchmark: str, mapping: Mapping[str, str], metrics: Sequence[str] = ()
) -> ImportedFile:
    """Land a table that others made.

    It holds marks (`scores`), responses without marks, or people's marks (`ratings`).

    `metrics` are columns with a mark each. Raises UsageError for columns that are missing and rows that say nothing.
    """
    frame = read_table(path, as_text=[mapping.get(name, name) for name in MARK_FIELDS if name != "mark"])
    needed = ["model", "item_id"]
    if kind == "responses":
        needed.append("response")
    if metrics:
        frame = melt_metrics(frame, metrics, path.name)
    elif kind != "responses":
        needed.append("mark")
    if kind == "ratings":
        needed.append("rater")
    rows = parse_marks(apply_mapping(frame, mapping, MARK_FIELDS, needed, path.name), path.name)
    return _land_log(lake, path, kind, Log(benchmark, rows, len(rows)), benchmark)


def import_question_records(lake: Lake, path: Path, benchmark: str, model: str) -> ImportedFile:
    """Land records of figure 8 with their judges' stars; UsageError for a fault or no response."""
    rows: list[dict[str, object]] = []
    for record in import_records(path):
        if record.response is None:
            continue
        stars = None if record.judge is None else record.judge.stars
        rows.append(
            {
                "row_number": len(rows) + 1,
                "category": record.category,
                "task": record.sub_category,
                "model": model,
                "item_id": record.question_uuid,
                "metric": None if record.judge is None else "stars",
                "mark": None if stars is None else float(stars),
                "response": record.response,
                "record": render_record(record),
            }
        )
    if not rows:
        raise UsageError(f"{path.name} holds no response: there is nothing to take in.")
    return _land_log(lake, path, "records", Log(benchmark, rows, len(rows)), benchmark, model)


def import_external(
    lake: Lake, path: Path, benchmark: str, source: str, mapping: Mapping[str, str]
) -> ImportedFile:
    """Land others' scores by model and day in the place of the benchmark's earlier file."""
    table = read_table(path, as_text=[mapping.get(name, name) for name in SCORE_FIELDS if name != "score"])
    frame = apply_mapping(table, mapping, SCORE_FIELDS, SCORE_FIELDS, path.name)
    rows, empty = parse_scores(frame, benchmark=benchmark, source=source, name=path.name)
    if not rows:
        raise UsageError(f"{path.name} holds no score.")
    landing = lake.land(
        "external_scores", benchmark, get_table("external_scores").frame(rows), stage="import"
    )
    return ImportedFile(
        benchmark, benchmark, len(rows), len({row["model"] for row in rows}), empty, landing.is_unchanged
    )


def _land_log(
    lake: Lake, path: Path, kind: str, log: Log, benchmark: str | None, model: str | None = None
) -> ImportedFile:
    name = benchmark or log.benchmark
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    # Two models may have written the very same: of a file that does not name its model the id does.
    import_id = "/".join([digest, name, *([] if model is None else [model])])
    shared = {
        "import_id": import_id,
        "import_kind": kind,
        "file_name": path.name,
        "benchmark": name,
        "imported_at": datetime.now(UTC),
    }
    frame = get_table("imported_marks").frame([_repair(row) | shared for row in log.rows])
    landing = lake.land("imported_marks", import_id, frame, stage="import", ignore=("imported_at",))
    return ImportedFile(
        import_id,
        name,
        frame.height,
        frame["model"].n_unique(),
        frame["mark"].null_count(),
        landing.is_unchanged,
    )


def _repair(row: Mapping[str, object]) -> dict[str, object]:
    """The row with texts that any store can keep: half a surrogate pair is replaced."""
    return {
        name: value
        if not isinstance(value, str) or value.isascii()
        else value.encode("utf-8", "replace").decode()
        for name, value in row.items()
    }


def withdraw_import(lake: Lake, name: str) -> Withdrawal:
    """Empty the import of that name or id, which `landings` keeps; UsageError for none or many."""
    found = lake.read("imported_files", {"name": name}).to_dicts()
    # The id of one may begin another's.
    found = [row for row in found if row["import_id"] == name] or found
    if not found:
        raise UsageError(f"There is no import {name!r}; `proctor import list` shows their ids and files.")
    if len(found) > 1:
        several = ", ".join(f"{row['import_id']} ({row['file_name']})" for row in found[:8])
        raise UsageError(f"{name!r} fits {len(found)} imports: {several}. Give the id of one.")
    (row,) = found
    lake.land("imported_marks", row["import_id"], IMPORTED_MARKS.frame([]), stage="import")
    return Withdrawal(row["import_id"], row["benchmark"], row["file_name"], row["row_count"])


def list_namesakes(lake: Lake, import_id: str, file_name: str, benchmark: str) -> list[str]:
    """Other imports that this one may be meant to correct, and beside which it counts."""
    named = {"import_id": import_id, "file_name": file_name, "benchmark": benchmark}
    return lake.read("imported_namesakes", named)["import_id"].to_list()
