"""Responses of simulated candidates, answered over real HTTP, for judging tests."""

from __future__ import annotations

import uuid
from typing import Any

import polars as pl

from deployments.model_server import build_answer_key
from deployments.model_server.key import compute_true_stars, parse_answer_key
from tasks.models import CallReply
from tasks.questions import BareQuestion
from tasks.questions.forms import render_question
from tests.tasks.models.simulation import BANK_SCHEMA, call_all, make_model, make_question, make_request
from warehouse.ledger.engine.ledger import Ledger


def make_full_bank(count: int) -> pl.DataFrame:
    """A bank of so many statements with identity and version."""
    rows = [
        make_question(number) | {"bank_version": 1, "question_uuid": str(uuid.UUID(int=number))}
        for number in range(count)
    ]
    return pl.DataFrame(
        rows, schema={**BANK_SCHEMA, "bank_version": pl.Int64(), "question_uuid": pl.String()}
    )


def make_responses(
    replies: list[tuple[str, str]], *, session_id: str = "session-1", **changes: Any
) -> pl.DataFrame:
    """Responses from (text, answer_status), question by question."""
    rows = [
        {
            "run_id": "run-1",
            "session_id": session_id,
            "seq": seq,
            "question_uuid": str(uuid.UUID(int=seq - 1)),
            "model": "sim",
            "prompt_style": "zero_shot",
            "month": "2026-10",
            "bank_version": 1,
            "response": text,
            "answer_status": status,
            "is_simulated": True,
        }
        | changes
        for seq, (text, status) in enumerate(replies, start=1)
    ]
    return pl.DataFrame(rows)


def sit(ledger: Ledger, url: str, count: int, model: str = "sim") -> list[tuple[str, str]]:
    """The replies of a candidate to the first questions."""
    outcomes, _ = call_all(ledger, url, [make_request(number) for number in range(count)], make_model(model))
    return [(reply.text, reply.status) for reply in outcomes if isinstance(reply, CallReply)]


def find_true_stars(bank: pl.DataFrame, responses: pl.DataFrame) -> list[int]:
    """The stars that an errorless marker would give."""
    key = parse_answer_key(build_answer_key(bank))
    stars = []
    for row, response in zip(bank.to_dicts(), responses["response"], strict=False):
        entry = key.find(render_question(BareQuestion.from_row(row)))
        assert entry is not None
        stars.append(compute_true_stars(entry, response))
    return stars
