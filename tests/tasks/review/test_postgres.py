"""The review gate on a server ledger: the same rows, and two processes at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import GateError
from schemas.settings import Settings
from tasks.review.annotators import Annotator
from tasks.review.assignment import assign_batch
from tasks.review.closing import close_batch
from tasks.review.desk import record
from tests.tasks.review.conftest import (
    LATER,
    NOW,
    add_annotators,
    give,
    make_frame,
    make_question,
    make_submission,
)
from tests.warehouse.test_lake_postgres import server as postgres_server
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger, open_ledger

pytestmark = pytest.mark.service

server = postgres_server


@pytest.fixture
def server_ledger(server: str) -> Iterator[Ledger]:
    import psycopg

    with psycopg.connect(f"{server} dbname=postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS review")
        connection.execute("CREATE DATABASE review")
    host = server.split()[0].removeprefix("host=")
    with open_ledger(f"postgresql:///review?host={host}&user=postgres") as ledger:
        add_annotators(ledger, *(Annotator(name) for name in ("chen", "dai", "eva")))
        yield ledger


def test_two_assignments_at_once_open_one_batch(server_ledger: Ledger, tmp_path: Path) -> None:
    frame = make_frame([make_question(number) for number in range(1, 41)])
    settings = Settings(home=tmp_path)
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda _: assign_batch(server_ledger, None, frame, None, settings, NOW), range(4))
        )
    assert sorted(summary.is_new for summary in found) == [False, False, False, True]
    assert len({summary.batch_id for summary in found}) == 1


def test_a_batch_goes_from_assignment_to_close(server_ledger: Ledger, tmp_path: Path) -> None:
    frame = make_frame([make_question(1), make_question(2)])
    assign_batch(server_ledger, "b1", frame, None, Settings(home=tmp_path), NOW)
    with server_ledger.read() as connection:
        assignments = review.read_assignments(connection, "b1")
    handed_in = [
        make_submission(
            row["annotator"],
            give(row["question_uuid"], "reject")
            if place % 2
            else give(row["question_uuid"], "edit", sub_discipline="Shelving"),
        )
        for place, row in enumerate(assignments)
    ]
    report = record(server_ledger, handed_in, LATER)
    assert (report.complete_batches, [one.assigned_count for one in report.adjudications]) == ([], [2])
    with pytest.raises(GateError, match="2 of 2 questions are not settled"):
        close_batch(server_ledger, "b1", LATER)
    with server_ledger.read() as connection:
        judges = review.read_assignments(connection, "b1", role="adjudicator")
    verdicts = [
        make_submission(
            row["annotator"], give(row["question_uuid"], "edit", answer=["A"]), role="adjudicator"
        )
        for row in judges
    ]
    assert record(server_ledger, verdicts, LATER).complete_batches == ["b1"]
    closed = close_batch(server_ledger, "b1", LATER)
    assert closed.decisions.select("outcome", "revision", "answer", "was_adjudicated").unique().rows() == [
        ("accepted", 2, ["A"], True)
    ]
    assert closed.reviews.height == 6
