"""CG-Eval's answers in a PostgreSQL ledger.

They are read back as they came, resumed, and never asked for twice.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from deployments.model_server.texts import write_model_answer
from schemas.settings import Settings
from tasks.gscore.cgeval.answering import AnswerReport, answer_questions, read_answers
from tasks.gscore.cgeval.question_set import import_questions, read_questions
from tasks.models import ModelClient
from tests.tasks.gscore.world import write_question_file
from tests.tasks.models.simulation import make_model, start_server
from tests.warehouse.test_lake_postgres import server as postgres
from warehouse.ledger.engine.opening import open_ledger

__all__ = ["postgres"]

pytestmark = pytest.mark.service


def test_answers_are_read_back_and_resumed_on_postgresql_too(postgres: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    write_question_file(tmp_path / "questions.csv", per_subject=1)
    import_questions(settings, tmp_path / "questions.csv")
    questions = read_questions(settings)
    model = make_model("perfect", parameters={"temperature": 0, "max_tokens": 2048})
    host = postgres.split()[0].removeprefix("host=")
    with (
        open_ledger(f"postgresql://postgres@/postgres?host={host}") as ledger,
        start_server(perfect={"accuracy": {"default": 1.0}}) as server,
    ):

        async def ask(count: int) -> AnswerReport:
            async with ModelClient(ledger, settings, simulated_url=server.url) as client:
                return await answer_questions(ledger, settings, client, model, questions.head(count))

        asyncio.run(ask(5))
        report = asyncio.run(ask(questions.height))
        answers = read_answers(ledger, model, questions)
        assert server.state.requests["perfect"] == questions.height
    assert (report.resumed_count, report.is_complete) == (5, True)
    assert answers["response"].to_list() == [write_model_answer(prompt) for prompt in questions["prompt"]]
    assert answers["cost_usd"].null_count() == 0
