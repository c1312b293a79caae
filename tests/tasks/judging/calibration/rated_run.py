"""A judged run of six candidates in a lake, its questions, and three people who may rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from openpyxl import load_workbook

from schemas.settings import Settings
from tests.fresh import copy_home, make_once, open_new_lake
from tests.tasks.editions.season import land_frames
from tests.tasks.report.synthetic import build_season
from tests.warehouse.bank_rows import BANK, land_bank_rows
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

RUN = "run-2025-06"
PEOPLE = ("ann", "bo", "cy")
REGISTRY = """
providers:
  lab: {base_url: "http://127.0.0.1:9/v1"}
models:
  judge-a: {provider: lab, organisation: North, family: north, roles: [judge], is_open: false}
  judge-b: {provider: lab, organisation: Elsewhere, roles: [judge], is_open: false}
"""


@contextmanager
def open_rated_run(home: Path) -> Iterator[tuple[Settings, Ledger, Lake]]:
    """One month of a season that nobody has calibrated; responses of 10 to 609 characters."""
    settings = Settings(home=home, judge_ratings_gate=100)
    copy_home(_make_home(), settings)
    with open_lake(settings) as lake, open_ledger(settings.ledger_address) as ledger:
        yield settings, ledger, lake


@cache
def _make_home() -> Path:
    """The same for every test, landed once for all workers; only copied."""
    return make_once("rated-run", _land_run)


def _land_run(home: Path) -> None:
    settings = Settings(home=home)
    frames = build_season(months=("2025-06",), is_calibrated=False)
    responses = frames["responses"]
    lengths = [10 + number % 600 for number in range(responses.height)]
    frames["responses"] = responses.with_columns(
        response=pl.when(pl.col("answer_status") == "answered")
        .then(pl.Series(["x" * length for length in lengths]))
        .otherwise("response")
    )
    questions = responses["question_uuid"].unique().sort()
    bank = [
        {
            "question_uuid": question,
            "lineage_uuid": question,
            "bank_version": 1,
            "question_type": "true_false",
            "language": "en",
            "stem": f"Statement {number}.",
            "answer": ["true"],
        }
        for number, question in enumerate(questions)
    ]
    with open_new_lake(settings) as lake, open_ledger(settings.ledger_address) as ledger:
        land_frames(lake, frames)
        land_bank_rows(lake, fill_rows(BANK, bank).drop("landing_unit"))
        settings.registry_path.write_text(REGISTRY, "utf-8")
        with ledger.write() as connection:
            for name in PEOPLE:
                add_user(connection, user_id=name, role="annotator")


def fill_workbook(path: Path, give: Callable[[str, int], Any]) -> None:
    """Write what `give` returns of key and row number into the column of stars."""
    workbook = load_workbook(path)
    sheet = workbook["answers"]
    for row in range(2, sheet.max_row + 1):
        sheet.cell(row, 5).value = give(str(sheet.cell(row, 1).value), row)
    workbook.save(path)
