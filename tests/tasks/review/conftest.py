"""A ledger with annotators, and questions as the splitter lands them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import insert

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.questions import BareQuestion
from tasks.questions.identity import compute_question_uuid
from tasks.review.assigning.annotators import Annotator
from tasks.review.assigning.assignment import assign_batch
from tasks.review.decisions.decision import Edit, GivenDecision
from tasks.review.recording.desk import Submission
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import users

NOW = "2026-11-02T08:00:00.000000+00:00"
LATER = "2026-11-03T08:00:00.000000+00:00"
AFTER_ALL = "2027-02-01T00:00:00.000000+00:00"
DOCUMENT = "0b8f1f0e-3d7c-5e0e-9c52-7b1f6a4d2c10"

QuestionMaker = Callable[..., dict[str, Any]]


def make_question(number: int, discipline: str | None = "Engineering", **changes: Any) -> dict[str, Any]:
    """A well-formed multiple-choice question; `changes` replace columns."""
    row: dict[str, Any] = {
        "revision": 1,
        "parent_uuid": None,
        "document_id": DOCUMENT,
        "document_name": "paper.docx",
        "position": number,
        "number_label": f"{number}.",
        "question_type": "multiple_choice",
        "discipline": discipline,
        "sub_discipline": None,
        "source_kind": "undergraduate_final",
        "language": "en",
        "stem": f"A shelf of {number} rows holds ( ) books.",
        "material": None,
        "options": [
            {"label": "A", "text": f"{number}0"},
            {"label": "B", "text": f"{number}1"},
            {"label": "C", "text": f"{number}2"},
        ],
        "answer": ["B"],
        "explanation": None,
        "parse_confidence": 0.9,
        "parse_notes": [],
        "status": "parsed",
        **changes,
    }
    row["question_uuid"] = compute_question_uuid(BareQuestion.from_row(row))
    row["lineage_uuid"] = row["question_uuid"]
    return row


def make_submission(
    annotator: str, *decisions: GivenDecision, batch_id: str = "b1", role: str = "reviewer"
) -> Submission:
    """Decisions as a web page would hand them in."""
    return Submission("web page", batch_id, annotator, role, "web", decisions)


def give(question_uuid: str, decision: str, **fields: Any) -> GivenDecision:
    """A decision without a fault; `fields` are the corrections of an edit in their stored form."""
    reason = "unclear" if decision == "reject" else None
    return GivenDecision(question_uuid, decision, reason, None, Edit.from_row(fields) if fields else None)


def make_frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """A frame of the lake table `questions`."""
    return get_table("questions").frame(rows)


def make_settings(home: Path) -> Settings:
    return Settings(home=home, review_count=2, review_daily_quota=10, review_due_days=30)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(tmp_path)


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    with open_annotated(settings) as opened:
        yield opened


@contextmanager
def open_annotated(settings: Settings) -> Iterator[Ledger]:
    """A ledger with its annotators."""
    with open_ledger(settings.ledger_address) as opened:
        add_annotators(
            opened,
            Annotator("chen", ("Engineering", "Law")),
            Annotator("dai", ("Engineering",)),
            Annotator("eva", ("Engineering", "History")),
            Annotator("fang", ("Law", "History")),
            Annotator("gu", None),
        )
        yield opened


def open_batch(ledger: Ledger, settings: Settings, count: int = 2) -> list[str]:
    """A batch `b1` of `count` questions for chen and dai; returns the questions' UUIDs."""
    rows = [make_question(number) for number in range(1, count + 1)]
    assign_batch(ledger, "b1", make_frame(rows), [Annotator("chen"), Annotator("dai")], settings, NOW)
    return [row["question_uuid"] for row in rows]


def add_annotators(ledger: Ledger, *annotators: Annotator) -> None:
    with ledger.write() as connection:
        for annotator in annotators:
            connection.execute(
                insert(users).values(
                    user_id=annotator.user_id,
                    role="annotator",
                    disciplines=None if annotator.disciplines is None else list(annotator.disciplines),
                    is_active=True,
                    created_at=NOW,
                )
            )
