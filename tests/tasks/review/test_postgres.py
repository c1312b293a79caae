"""The review gate on a server ledger: the same rows, and two processes at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import GateError
from schemas.settings import Settings
from tasks.review.assignment import Annotator, assign_batch
from tasks.review.batches import assign_adjudicators, close_batch
from tasks.review.decisions import GivenDecision, record_decisions
from tests.tasks.review.conftest import NOW, add_annotators, make_frame, make_question
from tests.warehouse.test_lake_postgres import server as postgres_server
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger, open_ledger

pytestmark = pytest.mark.service

server = postgres_server
LATER = "2026-11-03T08:00:00.000000+00:00"


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
    for place, row in enumerate(assignments):
        words = GivenDecision(row["question_uuid"], "edit", edited_fields={"sub_discipline": "Shelving"})
        if place % 2:
            words = GivenDecision(row["question_uuid"], "reject", "unclear", "which?")
        record_decisions(server_ledger, "b1", row["annotator"], [words], "web", LATER)
    with pytest.raises(GateError, match="2 of 2 questions are not settled"):
        close_batch(server_ledger, "b1", LATER)
    assert assign_adjudicators(server_ledger, "b1", LATER).assigned_count == 2
    with server_ledger.read() as connection:
        judges = review.read_assignments(connection, "b1", role="adjudicator")
    for row in judges:
        verdict = GivenDecision(row["question_uuid"], "edit", edited_fields={"answer": ["A"]})
        summary = record_decisions(
            server_ledger, "b1", row["annotator"], [verdict], "web", LATER, role="adjudicator"
        )
    assert summary.is_complete
    closed = close_batch(server_ledger, "b1", LATER)
    assert closed.decisions.select("outcome", "revision", "answer", "was_adjudicated").unique().rows() == [
        ("accepted", 2, ["A"], True)
    ]
    assert closed.reviews.height == 6
