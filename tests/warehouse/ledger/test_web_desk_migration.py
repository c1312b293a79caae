"""A ledger of the form before the web desk gets the places of the questions that are still to be read."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from schemas.settings import Settings
from tasks.review.annotators import Annotator
from tasks.review.assignment import assign_batch
from tests.tasks.review.conftest import NOW, add_annotators, make_frame, make_question
from tests.warehouse.ledger.older import make_older
from warehouse.ledger.opening import open_ledger
from warehouse.ledger.tables import review_assignments


def test_an_older_ledger_gets_the_order_of_its_papers_and_goes_back(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, review_count=1)
    paper = "0b8f1f0e-3d7c-5e0e-9c52-7b1f6a4d2c1"
    rows = [
        make_question(12, document_id=f"{paper}0"),
        make_question(3, document_id=f"{paper}0", answer=[]),
        make_question(1, document_id=f"{paper}1"),
    ]
    with open_ledger(settings.ledger_address) as ledger:
        add_annotators(ledger, Annotator("chen"))
        assign_batch(ledger, "b1", make_frame(rows), None, settings, NOW)
    make_older(settings.ledger_address, "0007")
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        table = review_assignments.c
        found = connection.execute(select(table.question_uuid, table.place, table.has_answer)).all()
    assert {tuple(row) for row in found} == {
        (rows[1]["question_uuid"], 1, False),
        (rows[0]["question_uuid"], 2, True),
        (rows[2]["question_uuid"], 3, True),
    }
