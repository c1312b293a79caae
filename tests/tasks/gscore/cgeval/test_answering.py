"""CG-Eval's questions put to a model over real HTTP.

They are put as they are, once, within the budget, and resumed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from deployments.model_server import RunningServer
from deployments.model_server.texts import write_model_answer
from schemas.errors import BudgetError, StoreError, UsageError
from schemas.settings import Settings
from tasks.gscore.cgeval.answering import AnswerReport, answer_questions, name_session, read_answers
from tasks.gscore.cgeval.question_set import import_questions, read_questions
from tasks.models import ModelClient
from tasks.models.budget import Budget
from tests.paid_calls import count_calls
from tests.tasks.gscore.world import write_question_file
from tests.tasks.models.simulation import make_model, start_server
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

MODEL = make_model("perfect", parameters={"temperature": 0, "max_tokens": 2048})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", call_concurrency=8)


@pytest.fixture
def questions(settings: Settings, tmp_path: Path) -> pl.DataFrame:
    write_question_file(tmp_path / "questions.csv")
    import_questions(settings, tmp_path / "questions.csv")
    return read_questions(settings)


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    settings.home.mkdir(parents=True, exist_ok=True)
    with open_ledger(settings.ledger_address) as opened:
        yield opened


def ask(
    ledger: Ledger,
    settings: Settings,
    server: RunningServer,
    questions: pl.DataFrame,
    *,
    budget: Budget | None = None,
    model: Any = MODEL,
    run_id: str = "cgeval",
) -> AnswerReport:
    async def run() -> AnswerReport:
        async with ModelClient(
            ledger, settings, budget=budget, simulated_url=server.url, most_attempts=2, backoff_s=0.001
        ) as client:
            return await answer_questions(ledger, settings, client, model, questions, run_id)

    return asyncio.run(run())


def perfect(**changes: Any) -> RunningServer:
    return start_server(perfect={"accuracy": {"default": 1.0}, **changes})


def test_every_question_is_put_with_its_own_prompt_as_it_is(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    with perfect() as server:
        report = ask(ledger, settings, server, questions)
    assert (report.is_complete, report.statuses) == (True, {"answered": questions.height})
    answers = read_answers(ledger, MODEL, questions)
    # The simulation answers from nothing but the prompt: one character changed, and another text comes back.
    assert answers["response"].to_list() == [write_model_answer(prompt) for prompt in questions["prompt"]]
    assert answers["seq"].to_list() == list(range(1, questions.height + 1))


def test_the_same_again_sends_nothing_and_another_run_asks_anew(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    with perfect() as server:
        first = ask(ledger, settings, server, questions)
        again = ask(ledger, settings, server, questions)
        sent = server.state.requests["perfect"]
        ask(ledger, settings, server, questions, run_id="second")
        sent_later = server.state.requests["perfect"]
    assert (first.resumed_count, again.resumed_count) == (0, questions.height)
    assert (sent, sent_later) == (questions.height, 2 * questions.height)
    assert again.calls["sent"] == 0
    assert again.cost_usd == pytest.approx(first.cost_usd)


def test_questions_with_the_same_prompt_have_an_answer_each(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    twins = questions.with_columns(prompt=pl.lit(questions["prompt"][0]))
    with perfect(accuracy={"default": 0.5}) as server:
        ask(ledger, settings, server, twins)
    answers = read_answers(ledger, MODEL, twins)
    assert answers["call_key"].n_unique() == twins.height
    assert answers["response"].n_unique() > 1


def test_a_budget_stops_before_it_is_exceeded_and_more_money_goes_on(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    with perfect() as server:
        with pytest.raises(BudgetError):
            ask(ledger, settings, server, questions, budget=Budget(0.008))
        answered = read_answers(ledger, MODEL, questions)["response"].drop_nulls()
        sent_before = server.state.requests["perfect"]
        assert 0 < len(answered) == sent_before < questions.height
        report = ask(ledger, settings, server, questions, budget=Budget(10.0))
        assert server.state.requests["perfect"] - sent_before == questions.height - len(answered)
    assert report.is_complete
    assert report.resumed_count == len(answered)


def test_a_failing_endpoint_leaves_questions_open_and_the_next_time_goes_on(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    with perfect(faults={"server_error": 0.5, "attempts": 2}) as server:
        report = ask(ledger, settings, server, questions)
        assert 0 < report.failed_count < questions.height
        assert report.answered_count == questions.height - report.failed_count
        assert not report.is_complete
        assert report.failure is not None and "perfect" in report.failure
        again = ask(ledger, settings, server, questions)
    assert again.is_complete
    assert again.resumed_count == report.answered_count


def test_an_endpoint_that_is_down_is_given_up_after_some_questions(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    with perfect(faults={"server_error": 1.0}) as server:
        report = ask(ledger, settings, server, questions)
    assert report.answered_count == 0
    assert 16 <= report.failed_count < questions.height


def test_empty_and_refused_answers_are_answers_and_are_not_asked_again(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    with perfect(faults={"empty": 0.3, "refusal": 0.3}) as server:
        report = ask(ledger, settings, server, questions)
        assert set(report.statuses) == {"answered", "empty", "refused"}
        assert ask(ledger, settings, server, questions).calls["sent"] == 0
    assert report.is_complete


def test_another_configuration_of_the_model_has_answered_nothing(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    with perfect() as server:
        ask(ledger, settings, server, questions)
    warmer = make_model("perfect", parameters={"temperature": 1, "max_tokens": 2048})
    assert read_answers(ledger, warmer, questions)["response"].null_count() == questions.height


def test_two_processes_do_not_ask_the_same_model_at_once(
    ledger: Ledger, settings: Settings, questions: pl.DataFrame
) -> None:
    async def run() -> list[Any]:
        async with ModelClient(ledger, settings, simulated_url=server.url) as client:
            return await asyncio.gather(
                *(answer_questions(ledger, settings, client, MODEL, questions) for _ in range(2)),
                return_exceptions=True,
            )

    with perfect() as server:
        outcomes = asyncio.run(run())
        assert server.state.requests["perfect"] == questions.height
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["AnswerReport", "StoreError"]
    assert any(isinstance(outcome, StoreError) and "Wait for it" in str(outcome) for outcome in outcomes)


def test_calls_are_counted_under_the_run(ledger: Ledger, settings: Settings, questions: pl.DataFrame) -> None:
    with perfect() as server:
        ask(ledger, settings, server, questions)
    with ledger.read() as connection:
        assert count_calls(connection, "cgeval") == {"started": 0, "done": questions.height, "failed": 0}


@pytest.mark.parametrize("run_id", ["", "a/b", "x" * 41, "考试"])
def test_a_run_has_a_plain_name(run_id: str) -> None:
    with pytest.raises(UsageError, match="not a name for a run"):
        name_session(run_id, "m")


def test_questions_are_imported_once_as_they_are(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    with pytest.raises(UsageError, match="proctor cgeval import"):
        read_questions(settings)
    write_question_file(path)
    first, again = import_questions(settings, path), import_questions(settings, path)
    assert (first.is_unchanged, again.is_unchanged) == (False, True)
    assert (first.question_count, first.subject_count, first.category_count) == (52, 7, 6)
    assert first.path.read_bytes() == path.read_bytes()
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="lacks the columns"):
        import_questions(settings, path)
    assert read_questions(settings).height == 52


def test_a_file_that_another_one_replaces_is_kept_and_comes_back(settings: Settings, tmp_path: Path) -> None:
    write_question_file(tmp_path / "whole.csv")
    write_question_file(tmp_path / "part.csv", per_subject=3)
    import_questions(settings, tmp_path / "whole.csv")
    other = import_questions(settings, tmp_path / "part.csv")
    former = other.former_path
    assert former is not None and former.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert (other.left_count, read_questions(settings).height) == (
        52 - other.question_count,
        other.question_count,
    )
    back = import_questions(settings, former)
    assert (back.left_count, read_questions(settings).height) == (0, 52)
    assert import_questions(settings, former).former_path is None
