"""The web desk at the size of the paper's bank.

It measures CPU per page and per decision, and how much memory they take.

228,604 questions × 2 reviews shared among 40 annotators in one batch (the worst case: a batch of a month is far smaller), against
a desk with 2,000 questions. `--small` takes 20,000 questions.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil
from fastapi.testclient import TestClient
from sqlalchemy import insert

from deployments.auth import Sessions
from deployments.web import create_app
from schemas.ledger.review import ReviewBatch
from schemas.settings import Settings
from tests.benchmarks.measure import Row, print_rows
from tests.deployments.web.kit import FORM_HEADER, SESSION_COOKIE, make_reference
from tests.tasks.review.conftest import make_question
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.rows import insert_rows
from warehouse.ledger.engine.tables import reviews, users
from warehouse.ledger.review import assigning

QUESTIONS, ANNOTATORS, REVIEWS = 228_604, 40, 2
BATCH, WHO = "2026-11-large", "annotator00"
DUE = "2099-01-01T00:00:00.000000+00:00"
REPEATS = 20
# A page that is looked at a few times a day and takes seconds.
SLOW, SLOW_REPEATS = "coordination of the batch", 3
# Who has decided how much before the measure: the first half of each queue, so that the next one lies deep in it.
DECIDED_SHARE = 0.5


def fill(ledger: Ledger, question_count: int) -> list[str]:
    """A batch of so many questions, half of it decided; returns what waits for one annotator."""
    now = now_text()
    base = make_question(1)
    content = {
        name: base[name]
        for name in (
            "question_type",
            "language",
            "stem",
            "material",
            "options",
            "answer",
            "explanation",
            "discipline",
            "sub_discipline",
            "source_kind",
        )
    }
    note = {
        "document_name": "paper.docx",
        "position": 1,
        "number_label": "1.",
        "parse_notes": [],
        "status": "parsed",
    }
    uuids = [
        str(uuid.UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835) % 2**128, version=4))
        for number in range(1, question_count + 1)
    ]
    items = [
        {
            "batch_id": BATCH, "question_uuid": one, "revision": 1, "lineage_uuid": one, "document_id": f"{place // 100:036d}", "discipline": "History",
            "content": content | note | {"stem": f"Question {place}: " + "what is asked here, at the length of a usual question? " * 3, "position": place % 100},
        }
        for place, one in enumerate(uuids)
    ]  # fmt: skip
    assignments = [
        {"batch_id": BATCH, "question_uuid": one, "annotator": f"annotator{(place + turn * 7) % ANNOTATORS:02d}", "role": "reviewer", "assigned_at": now, "due_at": DUE, "place": place + 1, "has_answer": True}
        for place, one in enumerate(uuids)
        for turn in range(REVIEWS)
    ]  # fmt: skip
    with ledger.write() as connection:
        connection.execute(
            insert(users),
            [
                {
                    "user_id": f"annotator{number:02d}",
                    "role": "annotator",
                    "is_active": True,
                    "created_at": now,
                }
                for number in range(ANNOTATORS)
            ]
            + [{"user_id": "coordinator", "role": "admin", "is_active": True, "created_at": now}],
        )
        batch = ReviewBatch(
            batch_id=BATCH, status="open", review_count=REVIEWS, created_at=now, due_at=DUE, closed_at=None
        )
        insert_rows(connection, [batch])
        assigning.insert_questions(connection, items)
        assigning.insert_assignments(connection, assignments)
        decided = [one for place, one in enumerate(assignments) if place < len(assignments) * DECIDED_SHARE]
        connection.execute(
            insert(reviews),
            [
                {
                    "batch_id": BATCH,
                    "question_uuid": one["question_uuid"],
                    "annotator": one["annotator"],
                    "decision": "accept",
                    "channel": "web",
                    "decided_at": now,
                }
                for one in decided
            ],
        )
    done = {(one["question_uuid"], one["annotator"]) for one in decided}
    return [
        str(one["question_uuid"])
        for one in assignments
        if one["annotator"] == WHO and (one["question_uuid"], WHO) not in done
    ]


def measure_desk(folder: Path, question_count: int) -> tuple[list[Row], float]:
    """CPU of each page and of a decision, and the memory that asking for them took, in MB."""
    settings = Settings(home=folder)
    folder.mkdir()
    rows: list[Row] = []
    with open_ledger(settings.ledger_address) as ledger:
        waiting = fill(ledger, question_count)
        gc.collect()
        app = create_app(settings, ledger=ledger, continue_batch=lambda _: None)
        with TestClient(app) as client:
            sessions: Sessions = app.state.sessions
            cookie = sessions.start(WHO)
            client.cookies.set(SESSION_COOKIE, cookie)
            client.headers[FORM_HEADER] = sessions.make_form_token(cookie.split(".")[0])
            references = iter([make_reference(app.state.key, WHO, BATCH, one) for one in waiting])
            first = next(references)

            def decide() -> int:
                path = f"/review/{BATCH}/question/{next(references)}/decision"
                return client.post(path, json={"decision": "accept", "seen": None}).status_code

            def coordinate() -> int:
                return client.get(
                    f"/coordination/{BATCH}", headers={"cookie": f"{SESSION_COOKIE}={coordinator}"}
                ).status_code

            coordinator = sessions.start("coordinator")
            asked: dict[str, Callable[[], int]] = {
                "my work": lambda: client.get("/").status_code,
                "list of 500 questions": lambda: client.get(f"/review/{BATCH}/list/questions").status_code,
                "its last page": lambda: (
                    client.get(f"/review/{BATCH}/list/questions?page={len(waiting) * 2 // 500}").status_code
                ),
                "next question": lambda: (
                    client.get(f"/review/{BATCH}/next/questions", follow_redirects=False).status_code
                ),
                "page of a question": lambda: client.get(f"/review/{BATCH}/question/{first}").status_code,
                "its card alone": lambda: client.get(f"/review/{BATCH}/question/{first}/card").status_code,
                "a decision": decide,
                SLOW: coordinate,
            }
            # What every desk takes once (templates, imports) is no growth with the size of the batch.
            client.get("/sign-in")
            before = psutil.Process().memory_info().rss
            for name, ask in asked.items():
                assert (status := ask()) in (200, 303), (name, status)
                repeats = SLOW_REPEATS if name == SLOW else REPEATS
                started, wall = time.process_time(), time.perf_counter()
                for _ in range(repeats):
                    assert (status := ask()) in (200, 303), (name, status)
                rows.append(
                    Row(
                        f"{question_count:,} questions: {name}",
                        (time.process_time() - started) / repeats,
                        (time.perf_counter() - wall) / repeats,
                    )
                )
            grown = (psutil.Process().memory_info().rss - before) / 1e6
    return rows, grown


def main() -> None:
    """Print both desks side by side."""
    large = 20_000 if "--small" in sys.argv else QUESTIONS
    with tempfile.TemporaryDirectory() as folder:
        for count in (2_000, large):
            rows, grown = measure_desk(Path(folder) / str(count), count)
            print_rows("The web desk", rows)
            print(f"memory that these pages took: {grown:.0f} MB")


if __name__ == "__main__":
    main()
