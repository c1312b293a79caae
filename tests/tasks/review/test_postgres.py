"""The review gate on a server ledger: the same rows, and two processes at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import GateError
from schemas.settings import Settings
from tasks.review.assigning.annotators import Annotator
from tasks.review.assigning.assignment import assign_batch
from tasks.review.closing import close_batch
from tasks.review.desk.queue import (
    count_batch_work,
    count_listed,
    list_queue,
    list_work,
    open_question,
    save_draft,
)
from tasks.review.overview.progress import read_batch_detail
from tasks.review.recording.desk import record
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
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.review import assigning

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
        assignments = assigning.read_assignments(connection, "b1")
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
        judges = assigning.read_assignments(connection, "b1", role="adjudicator")
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


def test_an_annotators_queue_is_the_same_on_a_server(server_ledger: Ledger, tmp_path: Path) -> None:
    rows = [make_question(number, answer=[] if number == 2 else ["B"]) for number in range(1, 5)]
    chen = [Annotator("chen")]
    assign_batch(server_ledger, "b1", make_frame(rows), chen, Settings(home=tmp_path, review_count=1), NOW)
    uuids = [row["question_uuid"] for row in rows]
    opened = [open_question(server_ledger, "b1", uuid, "chen") for uuid in uuids]
    assert [one and one.next_uuid for one in opened] == [uuids[2], None, uuids[3], uuids[0]]
    record(server_ledger, [make_submission("chen", give(uuids[0], "accept"))], LATER)
    assert list_work(server_ledger, "chen")[0].waiting == {"questions": 2, "unanswered": 1, "disputes": 0}
    assert count_batch_work(server_ledger, "b1", "chen") == (4, 1)
    assert count_listed(server_ledger, "b1", "chen") == {"questions": 3, "unanswered": 1, "disputes": 0}
    lines = list_queue(server_ledger, "b1", "chen", "questions", 1, 10)
    assert [(line.item_uuid, line.decision) for line in lines] == [(uuids[2], None), (uuids[3], None)]
    assert save_draft(server_ledger, "b1", uuids[2], "chen", {"comment": "half"}, LATER)
    draft = open_question(server_ledger, "b1", uuids[2], "chen")
    assert draft is not None
    assert draft.draft == {"draft": {"comment": "half"}, "saved_at": LATER}
    detail = read_batch_detail(server_ledger, "b1", LATER)
    assert [(share.name, share.decided_count, share.assigned_count) for share in detail.annotators] == [
        ("chen", 1, 4)
    ]
