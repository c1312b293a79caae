"""A provider with the messages API, behind the same ledger, budget and retries."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlalchemy import select

from schemas.settings import Settings
from tasks.models.batches.collection import cancel_open_batch
from tasks.models.budget.reservations import Budget
from tasks.models.client import CallFailed, CallReply
from tasks.models.registry.file import BatchTerms
from tasks.models.registry.models import RegisteredModel, Registry
from tests.tasks.models.anthropic_server import (
    KEY,
    Fault,
    Message,
    MessagesServer,
    list_events,
    serve_messages,
    write_message,
)
from tests.tasks.models.batch_work import Round, make_requests, work
from tests.tasks.models.simulation import call_one, make_model, make_request
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.tables import llm_calls
from warehouse.ledger.money.batches import list_call_batches
from warehouse.ledger.money.budgets import read_account
from warehouse.ledger.money.calls import read_spent_usd

THINKING = {"type": "thinking", "thinking": "一加一是二。", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "ZW5j"}
TEXT = {"type": "text", "text": "正确。"}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MESSAGES_KEY", KEY)


def make_claude(server: MessagesServer, **changes: Any) -> RegisteredModel:
    values: dict[str, Any] = {
        "base_url": server.url,
        "key_variable": "TEST_MESSAGES_KEY",
        "api": "anthropic",
        "is_simulated": False,
        "provider": "anthropic",
        "parameters": {"max_tokens": 200, "output_config": {"effort": "low"}},
    }
    return make_model("claude", **values | changes)


def ask(ledger: Ledger, server: MessagesServer, **options: Any) -> CallReply:
    return call_one(ledger, "unused", model=options.pop("model", None) or make_claude(server), **options)


def read_rows(ledger: Ledger) -> list[tuple[str, int, float | None, float | None]]:
    with ledger.read() as connection:
        found = connection.execute(
            select(llm_calls.c.status, llm_calls.c.attempts, llm_calls.c.cost_usd, llm_calls.c.extra_usd)
        )
        return [tuple(row) for row in found]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_reply_keeps_its_thinking_apart_and_costs_what_its_usage_says(
    ledger: Ledger, is_streamed: bool
) -> None:
    usage = {
        "input_tokens": 1000,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 300,
        "output_tokens": 400,
    }
    message = Message((THINKING, REDACTED, TEXT), usage=usage)
    with serve_messages(lambda body, number: message) as server:
        parameters = {"max_tokens": 200, "thinking": {"type": "adaptive"}} | (
            {"stream": True} if is_streamed else {}
        )
        reply = ask(ledger, server, model=make_claude(server, parameters=parameters))
    assert (reply.text, reply.reasoning, reply.finish_reason, reply.status) == (
        "正确。",
        "一加一是二。",
        "end_turn",
        "answered",
    )
    # 1 USD for a million tokens in, 2 for a million out; what a cache held counts as read.
    assert (reply.input_tokens, reply.output_tokens) == (1500, 400)
    assert reply.cost_usd == pytest.approx(0.0023)
    ((status, attempts, cost_usd, reserved_usd),) = read_rows(ledger)
    assert (status, attempts, reserved_usd) == ("done", 1, 0.0)
    assert cost_usd == pytest.approx(0.0023)
    with ledger.read() as connection:
        stored = connection.execute(select(llm_calls.c.reply)).scalar_one()
    assert (stored["cached_tokens"], stored["answered_by"]) == (200, "claude")


def test_a_request_is_worded_as_the_api_words_it(ledger: Ledger) -> None:
    schema = {"type": "object", "properties": {"stars": {"type": "integer"}}}
    request = make_request(
        messages=[
            {"role": "system", "content": "Mark with care."},
            {"role": "user", "content": "Q"},
            {"role": "assistant", "content": "A"},
            {"role": "user", "content": "Again"},
        ],
        parameters={
            "max_completion_tokens": 64,
            "stop": "END",
            "seed": 7,
            "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}},
        },
    )
    with serve_messages(lambda body, number: Message()) as server:
        ask(ledger, server, request=request)
    assert server.asked == [
        {
            "model": "claude",
            "max_tokens": 64,
            "system": "Mark with care.",
            "messages": request.messages[1:],
            "stop_sequences": ["END"],
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": schema}},
        }
    ]


ENDS = (
    (Message((), stop_reason="refusal"), "refused"),
    (Message(({"type": "text", "text": "正"},), stop_reason="max_tokens"), "truncated"),
    (Message((THINKING,), stop_reason="max_tokens"), "truncated"),
    (Message((TEXT,), stop_reason="model_context_window_exceeded"), "truncated"),
    (Message((TEXT,), stop_reason="stop_sequence"), "answered"),
    (Message(({"type": "text", "text": " "},)), "empty"),
)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_how_a_reply_ended_is_a_value(ledger: Ledger, is_streamed: bool) -> None:
    with serve_messages(lambda body, number: ENDS[number - 1][0]) as server:
        model = make_claude(server, parameters={"max_tokens": 9} | ({"stream": True} if is_streamed else {}))
        for number, (message, status) in enumerate(ENDS):
            reply = ask(ledger, server, model=model, request=make_request(number))
            assert (reply.status, reply.finish_reason, reply.attempts) == (status, message.stop_reason, 1)


def test_429_and_529_are_tried_again_after_the_pause_asked_for_and_bill_nothing(ledger: Ledger) -> None:
    faults = [Fault(429, "rate_limit_error", {"retry-after": "0.3"}), Fault(529, "overloaded_error")]
    budget = Budget(1.0)
    with serve_messages(lambda body, number: faults[number - 1] if number <= 2 else Message()) as server:
        reply = ask(ledger, server, budget=budget)
    assert (reply.attempts, len(server.asked), reply.text) == (3, 3, "B")
    cost = (100 * 1.0 + 20 * 2.0) / 1e6
    ((status, attempts, cost_usd, reserved_usd),) = read_rows(ledger)
    assert (status, attempts, reserved_usd) == ("done", 3, 0.0)
    assert cost_usd == pytest.approx(cost)


def test_a_server_error_may_have_been_billed_and_is_booked_at_its_most(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Fault(500, "api_error") if number == 1 else Message()) as server:
        ask(ledger, server)
    ((status, attempts, _, extra),) = read_rows(ledger)
    assert (status, attempts) == ("done", 2)
    assert extra is not None and extra > 200 * 2.0 / 1e6


@pytest.mark.parametrize(
    ("fault", "error", "advice"),
    [
        (
            Fault(401, "authentication_error"),
            "401 authentication_error",
            "Check the key in TEST_MESSAGES_KEY",
        ),
        (Fault(404, "not_found_error"), "404 not_found_error", "Check base_url and endpoint_model (claude)"),
        (Fault(402, "billing_error"), "402 billing_error", "The account's quota is used up"),
        (Fault(402, "unknown_error"), "402 unknown_error", "The account's quota is used up"),
        (Fault(413, "request_too_large"), "413 request_too_large", "Check the model's parameters"),
    ],
)
def test_an_error_for_good_is_not_tried_again_and_names_what_to_do(
    ledger: Ledger, fault: Fault, error: str, advice: str
) -> None:
    with serve_messages(lambda body, number: fault) as server, pytest.raises(CallFailed) as caught:
        ask(ledger, server)
    assert (caught.value.error, caught.value.attempts) == (error, 1)
    assert advice in str(caught.value)
    assert "QUOTED-QUESTION" not in str(caught.value)


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (Message((TEXT,), cut_after=5), "cut_stream"),
        (Message((TEXT,), fails_with="overloaded_error"), "stream overloaded_error"),
    ],
)
def test_a_stream_that_breaks_is_asked_for_again(ledger: Ledger, broken: Message, error: str) -> None:
    with serve_messages(lambda body, number: broken if number == 1 else Message((TEXT,))) as server:
        model = make_claude(server, parameters={"max_tokens": 200, "stream": True})
        assert ask(ledger, server, model=model).attempts == 2
    with serve_messages(lambda body, number: broken) as server, pytest.raises(CallFailed) as caught:
        model = make_claude(server, parameters={"max_tokens": 200, "stream": True})
        ask(ledger, server, model=model, request=make_request(1), most_attempts=2)
    assert (caught.value.error, caught.value.attempts) == (error, 2)


def test_the_server_answers_in_the_shapes_that_the_sdk_reads() -> None:
    from anthropic.types import Message as SdkMessage
    from anthropic.types import RawMessageStreamEvent

    body = {"model": "m"}
    for answer in (Message((THINKING, REDACTED, TEXT)), Message((), stop_reason="refusal")):
        SdkMessage.model_validate(write_message(body, answer), strict=True)
        reader = TypeAdapter(RawMessageStreamEvent)
        kinds = {
            reader.validate_python(event).type
            for event in list_events(body, answer)
            if event["type"] != "ping"
        }
        assert {"message_start", "message_delta", "message_stop"} <= kinds


def test_a_reply_that_is_no_message_is_no_empty_one(ledger: Ledger) -> None:
    with (
        serve_messages(lambda body, number: Message("words")) as server,  # type: ignore[arg-type]
        pytest.raises(CallFailed) as caught,
    ):
        # A text in the place of blocks is spelled out as a list of letters: blocks of no kind.
        ask(ledger, server, model=make_claude(server, endpoint_model="m"), most_attempts=1)
    assert caught.value.error == "malformed"


def test_without_a_limit_of_tokens_nothing_is_sent(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Message()) as server, pytest.raises(CallFailed) as caught:
        ask(ledger, server, model=make_claude(server, parameters={}))
    assert caught.value.error == "no_max_tokens"
    assert "Check the model's parameters in the registry" in str(caught.value)
    assert server.asked == []


def make_batched(server: MessagesServer) -> RegisteredModel:
    return make_claude(server, batch=BatchTerms(least_requests=1), cached_input_price_usd=0.1)


def work_batched(ledger: Ledger, server: MessagesServer, **options: Any) -> Round:
    """One command with `--batch`: collect, ask for six, submit."""
    return work(ledger, "unused", make_requests(6), make_batched(server), **options)


def test_a_batch_has_the_replies_at_half_the_price_whatever_becomes_of_some(ledger: Ledger) -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 100, "output_tokens": 20}
    with serve_messages(lambda body, number: Message(usage=usage)) as server:
        first = work_batched(ledger, server)
        assert (first.submitted, first.pending, first.problems) == (6, 6, [])
        ((_, requests),) = server.batches.requests.items()
        assert {one["params"]["max_tokens"] for one in requests} == {200}
        assert work_batched(ledger, server).pending == 6
        server.batches.fates = {0: "errored", 1: "expired"}
        server.batches.open.clear()
        second = work_batched(ledger, server)
        # The one that failed by itself is sent singly; what the batch did not get to goes into the next one.
        assert (second.collected.counts["done"], second.submitted, len(server.asked)) == (4, 1, 1)
        assert server.batches.deleted == ["msgbatch_1"]
        server.batches.fates = {}
        server.batches.open.clear()
        last = work_batched(ledger, server)
    assert [reply.text for reply in last.outcomes if isinstance(reply, CallReply)] == ["B"] * 6
    # 100 tokens at 1 USD a million, 100 of the cache at .1, 20 at 2: half of it in batches.
    whole = (100 * 1 + 100 * 0.1 + 20 * 2) / 1e6
    with ledger.read() as connection:
        account = read_account(connection, "run-1")
    assert account is not None
    assert account.spent_usd == pytest.approx(whole + 5 * whole / 2)
    assert account.reserved_usd == pytest.approx(0)


def test_what_a_filter_turned_away_in_a_batch_is_refused_and_not_billed(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Message()) as server:
        work_batched(ledger, server)
        server.batches.fates = dict.fromkeys(range(6), "errored")
        server.batches.said = "Output blocked by content filtering policy"
        server.batches.open.clear()
        found = work_batched(ledger, server)
    assert [(one.status, one.cost_usd) for one in found.outcomes if isinstance(one, CallReply)] == [
        ("refused", 0.0)
    ] * 6
    with ledger.read() as connection:
        assert read_spent_usd(connection, "run-1") == 0.0


def test_a_batch_whose_creation_was_not_answered_is_found_by_the_ids_of_its_requests(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Message()) as server:
        others = [{"custom_id": "theirs", "params": {"model": "m"}}]
        server.batches.requests |= {f"msgbatch_of_others_{number}": others for number in range(3)}
        # Of one the results are gone, and one that is open is too old to be ours.
        server.batches.faults["msgbatch_of_others_0/results"] = Fault(404, "not_found_error")
        server.batches.open.add("msgbatch_of_others_1")
        server.batches.ages["msgbatch_of_others_1"] = 1
        server.batches.loses_answers = True
        first = work_batched(ledger, server)
        assert "did not say whether it took a batch" in first.problems[0]
        # As long as it is under way nobody can tell that it is ours, and nothing is sent again.
        second = work_batched(ledger, server)
        assert "said nothing of batch-" in second.collected.problems[0]
        assert "It is asked again by the next command" in second.collected.problems[0]
        assert (second.pending, second.submitted, len(server.batches.requests)) == (6, 0, 4)
        server.batches.open.remove("msgbatch_4")
        third = work_batched(ledger, server)
        assert (third.collected.counts["done"], third.collected.problems) == (6, [])
    assert server.asked == []


def test_a_batch_that_never_came_to_be_is_given_up_beside_others_that_are_open(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Message()) as server:
        server.batches.requests["msgbatch_of_others"] = [{"custom_id": "theirs", "params": {"model": "m"}}]
        server.batches.open.add("msgbatch_of_others")
        server.batches.ages["msgbatch_of_others"] = 1
        # The answer to the creation says nothing that can be read, and there is no batch.
        server.batches.faults["create"] = b"<html>"
        assert "did not say whether it took a batch" in work_batched(ledger, server).problems[0]
        second = work_batched(ledger, server)
    assert second.collected.counts["lost"] == 6
    assert second.submitted == 6


def test_results_that_do_not_come_whole_are_asked_for_again_and_nothing_is_booked(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Message()) as server:
        work_batched(ledger, server)
        server.batches.open.clear()
        for said in (b"<html>", b"", b"{}"):
            server.batches.faults["results"] = said
            found = work_batched(ledger, server)
            assert "said nothing of batch-" in found.collected.problems[0]
            assert (found.pending, server.batches.deleted, server.asked) == (6, [], [])
        last = work_batched(ledger, server)
    assert last.collected.counts["done"] == 6


def test_what_is_no_batch_ends_no_command(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Message()) as server:
        work_batched(ledger, server)
        for said in (
            b"[]",
            b"null",
            b"{}",
            b'{"id": "a", "processing_status": "ended"}',
            b'{"id": "a\\u0000b", "request_counts": {}}',
        ):
            server.batches.faults["msgbatch_1"] = said
            found = work_batched(ledger, server)
            assert "said nothing of batch-" in found.collected.problems[0], said
            assert (found.pending, found.submitted) == (6, 0), said


def test_a_creation_that_was_turned_away_is_no_batch_and_costs_nothing(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Message()) as server:
        server.batches.faults["create"] = Fault(529, "overloaded_error")
        first = work_batched(ledger, server)
        assert "took no batch of 'claude': 529 overloaded_error" in first.problems[0]
        assert work_batched(ledger, server).submitted == 6
    with ledger.read() as connection:
        assert read_spent_usd(connection, "run-1") == 0


def test_half_an_emoji_in_a_question_loses_no_batch(ledger: Ledger) -> None:
    odd = make_request(messages=[{"role": "user", "content": "half \ud83d of one"}])
    with serve_messages(lambda body, number: Message()) as server:
        found = work(ledger, "unused", [odd, *make_requests(2)], make_batched(server))
        assert (found.submitted, found.problems) == (3, [])
        ((_, requests),) = server.batches.requests.items()
        assert "half \ufffd of one" in [one["params"]["messages"][0]["content"] for one in requests]


def test_a_batch_that_was_cancelled_costs_nothing_and_is_asked_again(ledger: Ledger) -> None:
    with serve_messages(lambda body, number: Message()) as server:
        work_batched(ledger, server)
        with ledger.read() as connection:
            (batch,) = list_call_batches(connection)
        model = make_batched(server)
        registry = Registry({model.name: model})
        settings = Settings(home=Path("unused"))
        status = asyncio.run(cancel_open_batch(ledger, settings, registry, batch.batch_id))
        assert status == "cancelled"
        again = work_batched(ledger, server)
        assert (again.submitted, len(server.batches.requests)) == (6, 2)
    with ledger.read() as connection:
        assert read_spent_usd(connection, "run-1") == 0
