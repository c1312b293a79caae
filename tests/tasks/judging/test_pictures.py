"""Judges of answers to questions that ask about pictures."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

from schemas.errors import StoreError
from schemas.tables import get_table
from tasks.judging.judge import join_questions, judge_responses
from tasks.models import ModelClient
from tasks.questions.pictures import name_picture
from tests.tasks.exam.world import AnsweringClient, make_bank, make_model

PICTURE = b"\x89PNG\r\n\x1a\nwhat it shows"
SHA256 = hashlib.sha256(PICTURE).hexdigest()


class ArchiveClient(AnsweringClient):
    """A client that knows where pictures lie, as the real one does."""

    def __init__(self, archive: Path) -> None:
        super().__init__()
        self.archive = archive


def make_judged(archive: Path) -> pl.DataFrame:
    """One response to a question about a picture, and one to a question without."""
    path = name_picture(archive, SHA256)
    path.parent.mkdir(parents=True)
    path.write_bytes(PICTURE)
    picture = {"number": 1, "sha256": SHA256, "place": "stem", "alt_text": "two resistors"}
    rows = [dict(row) for row in make_bank(2, variants=0).head(2).iter_rows(named=True)]
    rows[0] |= {"stem": "Name the parts of [picture:1].", "pictures": [picture]}
    bank = pl.DataFrame(
        rows,
        schema_overrides={
            "pictures": pl.List(
                pl.Struct(
                    {"number": pl.Int64, "sha256": pl.String, "place": pl.String, "alt_text": pl.String}
                )
            )
        },
    )
    responses = get_table("responses").frame(
        [
            {
                "run_id": "run",
                "session_id": "session",
                "seq": seq,
                "question_uuid": row["question_uuid"],
                "bank_version": 1,
                "model": "alpha",
                "prompt_style": "zero_shot",
                "month": "2026-11",
                "response": "A",
                "answer_status": "answered",
                "is_simulated": False,
            }
            for seq, row in enumerate(rows, start=1)
        ]
    )
    return join_questions(responses, bank)


def judge(
    responses: pl.DataFrame, archive: Path, *, sees: bool
) -> tuple[list[dict[str, Any]], AnsweringClient]:
    client = ArchiveClient(archive)
    model = replace(make_model("judge", roles=("judge",)), sees_pictures=sees)

    async def run() -> list[dict[str, Any]]:
        units = judge_responses(cast(ModelClient, client), [model], responses, most_tries=1)
        return [dict(row) async for unit in units for row in unit]

    return sorted(asyncio.run(run()), key=lambda row: row["seq"]), client


def test_a_judge_that_sees_gets_the_picture_and_another_what_it_shows_in_words(tmp_path: Path) -> None:
    responses = make_judged(tmp_path)
    seen, client = judge(responses, tmp_path, sees=True)
    assert [row["prompt_version"].split("/")[1:] for row in seen] == [["en", "pictures"], ["en"]]
    asked = {request.messages[-1]["content"]: request.pictures for request in client.requests}
    (shown,) = [text for text, pictures in asked.items() if pictures]
    assert "Name the parts of [picture:1]." in shown
    assert [(picture.sha256, picture.data) for picture in asked[shown]] == [(SHA256, PICTURE)]
    told, client = judge(responses, tmp_path, sees=False)
    assert [row["prompt_version"].split("/")[1:] for row in told] == [["en", "alt_text"], ["en"]]
    assert not any(request.pictures for request in client.requests)
    assert any("[Picture 1: two resistors]" in request.messages[-1]["content"] for request in client.requests)


def test_a_judge_is_never_shown_a_changed_picture(tmp_path: Path) -> None:
    responses = make_judged(tmp_path)
    name_picture(tmp_path, SHA256).write_bytes(PICTURE + b"!")
    with pytest.raises(StoreError, match="is not the picture that its name says"):
        judge(responses, tmp_path, sees=True)
