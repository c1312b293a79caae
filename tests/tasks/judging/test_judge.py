"""Judges over real HTTP: a row per response and judge, none guessed or paid for twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from deployments.model_server import build_answer_key
from schemas.errors import BudgetError, ContractError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.judging.judge import JudgementRow, JudgingIncomplete, join_questions, judge_responses, name_unit
from tasks.judging.prompts import REPLY_SCHEMA
from tasks.models import ModelClient
from tasks.models.budget import Budget
from tasks.models.registry import RegisteredModel
from tests.local_server import Handler, serve
from tests.paid_calls import read_calls
from tests.tasks.judging.simulated_run import find_true_stars, make_full_bank, make_responses, sit
from tests.tasks.models.simulation import make_model, start_server
from warehouse.ledger.engine.ledger import Ledger

JUDGE = make_model("judge", roles=("judge",))
SOUND = {"kind": "judge", "agreement": 1.0}


def judge(
    ledger: Ledger,
    url: str,
    responses: pl.DataFrame,
    judges: Sequence[RegisteredModel] = (JUDGE,),
    *,
    budget: Budget | None = None,
    most_attempts: int = 3,
    **options: Any,
) -> list[list[JudgementRow]]:
    async def run() -> list[list[JudgementRow]]:
        async with ModelClient(
            ledger, Settings(), budget=budget, simulated_url=url, backoff_s=0.01, most_attempts=most_attempts
        ) as client:
            return [unit async for unit in judge_responses(client, judges, responses, **options)]

    return asyncio.run(run())


def flatten(units: list[list[JudgementRow]]) -> pl.DataFrame:
    return (
        get_table("judgements")
        .frame([row for unit in units for row in unit])
        .sort("judge", "session_id", "seq")
    )


def test_a_sound_judge_gives_every_response_its_true_stars(ledger: Ledger) -> None:
    bank = make_full_bank(40)
    with start_server(
        build_answer_key(bank), sim={"accuracy": 0.6, "explanation": 0.7}, judge=SOUND
    ) as server:
        responses = join_questions(make_responses(sit(ledger, server.url, 40)), bank)
        (unit,) = judge(ledger, server.url, responses)
    assert [row["seq"] for row in unit] == list(range(1, 41))
    assert [row["stars"] for row in unit] == find_true_stars(bank, responses)
    assert len({row["stars"] for row in unit}) >= 3
    first = dict(unit[0])
    assert isinstance(first.pop("judged_at"), datetime)
    assert first.pop("cost_usd") > 0  # type: ignore[operator]
    assert first.pop("reason")
    assert first.pop("raw")
    assert first == {
        "run_id": "run-1",
        "session_id": "session-1",
        "seq": 1,
        "question_uuid": responses["question_uuid"][0],
        "model": "sim",
        "prompt_style": "zero_shot",
        "month": "2026-10",
        "judge": "judge",
        "stars": unit[0]["stars"],
        "parse_status": "parsed",
        "prompt_version": "1/zh",
        "occasion": "first",
        "attempt": 1,
        "is_simulated": True,
        "key_verdict": None,
        "address": None,
    }


def test_every_judge_judges_every_session_in_a_unit_of_its_own(ledger: Ledger) -> None:
    bank = make_full_bank(6)
    judges = [JUDGE, make_model("second", roles=("judge",))]
    with start_server(build_answer_key(bank), judge=SOUND, second=SOUND) as server:
        both = pl.concat(
            [make_responses([("正确。", "answered")] * 6, session_id=session) for session in ("s1", "s2")]
        )
        units = judge(ledger, server.url, join_questions(both, bank), judges)
    found = sorted((str(unit[0]["session_id"]), str(unit[0]["judge"]), len(unit)) for unit in units)
    assert found == [("s1", "judge", 6), ("s1", "second", 6), ("s2", "judge", 6), ("s2", "second", 6)]
    with ledger.read() as connection:
        named = {row["unit"] for row in read_calls(connection, run_id="run-1")}
    assert named <= {name_unit(session, name) for session in ("s1", "s2") for name in ("judge", "second")}


def test_empty_and_refused_answers_get_no_stars_by_rule_without_a_call(ledger: Ledger) -> None:
    bank = make_full_bank(3)
    replies = [("", "empty"), ("对不起，我不能回答。", "refused"), ("  ", "truncated")]
    with start_server(build_answer_key(bank), judge=SOUND) as server:
        (unit,) = judge(ledger, server.url, join_questions(make_responses(replies), bank))
        assert server.state.requests["judge"] == 0
    columns = ("stars", "parse_status", "attempt", "cost_usd", "reason", "raw", "judge")
    assert {tuple(row[column] for column in columns) for row in unit} == {
        (0, "parsed", 0, 0.0, "no answer", None, "judge")
    }


def test_a_truncated_answer_is_judged_as_it_stands(ledger: Ledger) -> None:
    bank = make_full_bank(1)
    with start_server(build_answer_key(bank), judge=SOUND) as server:
        (unit,) = judge(
            ledger, server.url, join_questions(make_responses([("正确。因为", "truncated")]), bank)
        )
        assert server.state.requests["judge"] == 1
        # Right, with a reason that breaks off before it says anything.
        assert unit[0]["stars"] == 2


def test_an_answer_that_failed_as_a_call_is_not_judged(ledger: Ledger) -> None:
    bank = make_full_bank(2)
    replies = [("", "error"), ("错误。", "answered")]
    with start_server(build_answer_key(bank), judge=SOUND) as server:
        (unit,) = judge(ledger, server.url, join_questions(make_responses(replies), bank))
    assert [row["seq"] for row in unit] == [2]


def test_an_unreadable_judgement_is_asked_for_again_and_then_recorded_as_unparsed(ledger: Ledger) -> None:
    bank = make_full_bank(1)
    responses = join_questions(make_responses([("正确。", "answered")]), bank)
    with start_server(build_answer_key(bank), judge={**SOUND, "unparsed": 1.0}) as server:
        (unit,) = judge(ledger, server.url, responses, most_tries=3)
        assert server.state.requests["judge"] == 3
        assert (unit[0]["stars"], unit[0]["parse_status"], unit[0]["attempt"]) == (None, "unparsed", 3)
        assert unit[0]["raw"]
        with ledger.read() as connection:
            paid = sum(row["cost_usd"] for row in read_calls(connection, run_id="run-1"))
        assert unit[0]["cost_usd"] == pytest.approx(paid)


def test_a_judgement_that_is_readable_the_second_time_counts_both_attempts(ledger: Ledger) -> None:
    bank = make_full_bank(60)
    responses = join_questions(make_responses([("正确。", "answered")] * 60), bank)
    with start_server(build_answer_key(bank), judge={**SOUND, "unparsed": 0.4}) as server:
        (unit,) = judge(ledger, server.url, responses, most_tries=12)
        assert server.state.requests["judge"] == sum(int(str(row["attempt"])) for row in unit)
    assert {row["parse_status"] for row in unit} == {"parsed"}
    assert {1, 2} < {row["attempt"] for row in unit}
    assert [row["stars"] for row in unit] == find_true_stars(bank, responses)


def test_judging_again_pays_for_nothing_and_another_occasion_asks_again(ledger: Ledger) -> None:
    bank = make_full_bank(5)
    responses = join_questions(make_responses([("正确。", "answered")] * 5), bank)
    with start_server(build_answer_key(bank), judge=SOUND) as server:
        first = flatten(judge(ledger, server.url, responses))
        again = flatten(judge(ledger, server.url, responses))
        assert server.state.requests["judge"] == 5
        assert again.drop("judged_at").equals(first.drop("judged_at"))
        judge(ledger, server.url, responses, occasion="again-1")
        assert server.state.requests["judge"] == 10


def test_a_judge_without_a_reply_leaves_its_unit_out_and_says_so_when_the_others_are_done(
    ledger: Ledger,
) -> None:
    bank = make_full_bank(4)
    responses = join_questions(make_responses([("正确。", "answered")] * 4), bank)
    judges = [make_model("broken", roles=("judge",)), JUDGE]
    seen: list[list[JudgementRow]] = []

    async def run(url: str) -> None:
        async with ModelClient(
            ledger, Settings(), simulated_url=url, backoff_s=0.01, most_attempts=2
        ) as client:
            async for unit in judge_responses(client, judges, responses):
                seen.append(unit)

    broken = {**SOUND, "faults": {"server_error": 1.0}}
    with (
        start_server(build_answer_key(bank), judge=SOUND, broken=broken) as server,
        pytest.raises(JudgingIncomplete, match="1 of the sessions to judge are incomplete"),
    ):
        asyncio.run(run(server.url))
    assert [(unit[0]["judge"], len(unit)) for unit in seen] == [("judge", 4)]


def test_a_budget_that_is_used_up_stops_judging(ledger: Ledger) -> None:
    bank = make_full_bank(10)
    responses = join_questions(make_responses([("正确。", "answered")] * 10), bank)
    with start_server(build_answer_key(bank), judge=SOUND) as server:
        with pytest.raises(BudgetError):
            judge(ledger, server.url, responses, budget=Budget(0.004))
        assert 0 < server.state.requests["judge"] < 10


def test_a_budget_that_is_used_up_cuts_off_no_call_that_is_paid_for(ledger: Ledger) -> None:
    bank = make_full_bank(3)
    responses = pl.concat(
        join_questions(make_responses([(f"正确{name}", "answered")] * 3, session_id=name), bank)
        for name in "abcdefgh"
    )
    asked: list[str] = []

    class Slow(Handler):
        def do_POST(self) -> None:
            asked.append(str(self.read_json()["messages"]))
            # The first two cost so much that nothing else may begin, while others are on their way.
            is_dear = len(asked) <= 2
            time.sleep(0.05 if is_dear else 0.5)
            choice = {"message": {"content": '{"stars": 2, "reason": "r"}'}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 20_000 if is_dear else 1, "completion_tokens": 1}
            self.send(200, {"choices": [choice], "usage": usage})

    with serve(Slow) as port:
        real = make_model("real", base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        with pytest.raises(BudgetError):
            judge(ledger, "", responses, [real], budget=Budget(0.02))
        assert 0 < len(asked) < 24
        assert len(judge(ledger, "", responses, [real])) == 8
    assert len(asked) == 24


def test_a_response_that_a_judge_does_not_take_is_unparsed_and_the_others_are_judged(ledger: Ledger) -> None:
    bank = make_full_bank(3)
    answers = [("正确。", "answered"), ("很长" * 50, "answered"), ("错误。", "answered")]

    class Takes(Handler):
        def do_POST(self) -> None:
            if "很长很长" in str(self.read_json()["messages"]):
                self.send(400, {"error": {"code": "context_length_exceeded"}})
                return
            choice = {"message": {"content": '{"stars": 2, "reason": "r"}'}, "finish_reason": "stop"}
            self.send(200, {"choices": [choice]})

    with serve(Takes) as port:
        real = make_model("real", base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        (unit,) = judge(ledger, "", join_questions(make_responses(answers), bank), [real])
        assert [(row["seq"], row["stars"], row["parse_status"], row["raw"] is None) for row in unit] == [
            (1, 2, "parsed", False),
            (2, None, "unparsed", True),
            (3, 2, "parsed", False),
        ]
        # Where it takes none that it is asked about, something else is wrong than a response.
        ruled = [("", "empty"), answers[1], ("", "refused")]
        with pytest.raises(JudgingIncomplete, match="400 context_length_exceeded"):
            judge(ledger, "", join_questions(make_responses(ruled, session_id="s2"), bank), [real])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": "billing_hard_limit_reached"}, "billing_hard_limit_reached"),
        (
            {"type": "invalid_request_error", "message": "Your credit balance is too low to access it."},
            "billing_error",
        ),
    ],
)
def test_a_judge_whose_account_has_no_more_money_leaves_the_rest_of_a_session_unjudged(
    ledger: Ledger, error: dict[str, str], code: str
) -> None:
    bank = make_full_bank(3)
    asked: list[str] = []

    class Ends(Handler):
        def do_POST(self) -> None:
            asked.append(str(self.read_json()["messages"]))
            if len(asked) == 3:
                self.send(400, {"error": error})
                return
            choice = {"message": {"content": '{"stars": 2, "reason": "r"}'}, "finish_reason": "stop"}
            self.send(200, {"choices": [choice]})

    with serve(Ends) as port:
        real = make_model("real", base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        responses = join_questions(make_responses([("正确。", "answered")] * 3), bank)
        with pytest.raises(JudgingIncomplete, match=f"400 {code}. The account's quota is used up"):
            judge(ledger, "", responses, [real])
        (unit,) = judge(ledger, "", responses, [real])
    assert ([row["parse_status"] for row in unit], len(asked)) == (["parsed"] * 3, 4)


def test_a_response_whose_question_is_not_in_the_bank_is_refused() -> None:
    responses = make_responses([("正确。", "answered")] * 2)
    with pytest.raises(ContractError, match="1 responses have no question"):
        join_questions(responses, make_full_bank(1))


@pytest.mark.parametrize("offers_schema", [False, True])
def test_a_judge_is_held_to_a_schema_only_where_its_endpoint_offers_it(offers_schema: bool) -> None:
    bank = make_full_bank(1)
    responses = join_questions(make_responses([("正确。", "answered")]), bank)
    asked: list[Any] = []

    class Client:
        archive = Path()

        async def complete(self, _model: Any, request: Any) -> Any:
            asked.append(request.parameters)
            return SimpleNamespace(text='{"stars": 2, "reason": "r"}', cost_usd=0.0)

    async def run() -> None:
        judge = make_model("judge", offers_schema=offers_schema)
        async for _ in judge_responses(Client(), [judge], responses):  # type: ignore[arg-type]
            pass

    asyncio.run(run())
    assert asked == [{"response_format": REPLY_SCHEMA} if offers_schema else {}]


def test_what_a_judgement_cost_is_unknown_where_the_price_is(ledger: Ledger) -> None:
    bank = make_full_bank(1)
    responses = join_questions(make_responses([("正确。", "answered")]), bank)
    with start_server(build_answer_key(bank), judge=SOUND) as server:
        (unit,) = judge(ledger, server.url, responses, [replace(JUDGE, output_price_usd=None)])
    assert (unit[0]["parse_status"], unit[0]["cost_usd"]) == ("parsed", None)


def test_one_slow_response_does_not_hold_the_other_sessions() -> None:
    """Room for 8, sessions of 5: while one response hangs, all others are judged."""
    bank = make_full_bank(5)
    responses = pl.concat(
        [
            join_questions(
                make_responses(
                    [(f"答{number}-{seq}", "answered") for seq in range(5)], session_id=f"s{number}"
                ),
                bank,
            )
            for number in range(10)
        ]
    )

    class Client:
        """Answers at once, but for one response, which waits to be let go."""

        def __init__(self) -> None:
            self.gate = asyncio.Event()
            self.archive = Path()

        async def complete(self, _model: Any, request: Any) -> Any:
            if "答0-0" in request.messages[0]["content"]:
                await self.gate.wait()
            return SimpleNamespace(text='{"stars": 2, "reason": "r"}', cost_usd=0.0)

    async def run() -> list[str]:
        client = Client()
        finished: list[str] = []
        async for unit in judge_responses(
            client,  # type: ignore[arg-type]
            [make_model("judge")],
            responses,
            responses_at_once=8,
        ):
            finished.append(str(unit[0]["session_id"]))
            if len(finished) == 9:
                client.gate.set()
        return finished

    found = asyncio.run(asyncio.wait_for(run(), timeout=60))
    assert found[-1] == "s0"
    assert sorted(found[:-1]) == [f"s{number}" for number in range(1, 10)]
