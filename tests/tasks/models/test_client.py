"""Calls over real HTTP against the simulated server: replies, faults, retries, the ledger."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import RunningServer, build_answer_key
from schemas.errors import RegistryError
from schemas.settings import Settings
from tasks.models.call_frames import read_call_frames
from tasks.models.client import CallFailed, CallReply, ModelClient, compute_call_key
from tasks.models.providers.openai_calls import OpenAIEndpoint
from tasks.models.registry import RegisteredModel
from tasks.models.replies import ParsedReply
from tests.local_server import Handler, serve
from tests.paid_calls import count_calls, read_calls
from tests.tasks.models.simulation import (
    PARAMETERS,
    call_all,
    call_one,
    make_bank,
    make_model,
    make_request,
    start_server,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.money.calls import NewCall, read_call_rows, start_call


def read_row(ledger: Ledger) -> dict[str, Any]:
    with ledger.read() as connection:
        (row,) = read_calls(connection, run_id="run-1")
    return row


def test_a_reply_carries_text_usage_and_cost_and_is_in_the_ledger(ledger: Ledger) -> None:
    with start_server(build_answer_key(make_bank(1)), sim={"accuracy": 1.0, "explanation": 1.0}) as server:
        reply = call_one(ledger, server.url)
    assert reply.text.startswith("正确")
    assert (reply.status, reply.finish_reason, reply.attempts) == ("answered", "stop", 1)
    assert reply.fingerprint == "simulated"
    assert reply.input_tokens and reply.output_tokens
    assert reply.cost_usd == pytest.approx((reply.input_tokens + 2 * reply.output_tokens) / 1e6)
    row = read_row(ledger)
    assert row | {"started_at": "", "finished_at": "", "holder": ""} == {
        "holder": "",
        "extra_usd": 0.0,
        "call_key": reply.call_key,
        "purpose": "exam",
        "run_id": "run-1",
        "unit": "session-1",
        "endpoint": "provider-of-sim",
        "model": "sim",
        "status": "done",
        "attempts": 1,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "cost_usd": reply.cost_usd,
        "latency_ms": reply.latency_ms,
        "error": None,
        "started_at": "",
        "finished_at": "",
    }
    assert row["started_at"] <= row["finished_at"]


def test_an_answer_to_the_exam_is_kept_as_far_as_one_that_a_candidate_sends_itself(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(*_: object) -> ParsedReply:
        return ParsedReply("x" * 5_000, finish_reason="stop")

    monkeypatch.setattr(OpenAIEndpoint, "send", answer)
    settings = Settings(home=Path("unused"), longest_reply=1_000, longest_response=3_000)
    for purpose, kept in (("exam", 3_000), ("judge", 1_000)):
        reply = call_one(ledger, "http://127.0.0.1:1", make_request(purpose=purpose), settings=settings)
        assert len(reply.text) == kept


def test_an_answer_once_received_is_never_paid_for_twice(ledger: Ledger) -> None:
    with start_server() as server:
        first = call_one(ledger, server.url)
        again = call_one(ledger, server.url)
        assert server.state.requests["sim"] == 1
    assert again == first


def test_the_same_call_made_twice_at_once_is_sent_once(ledger: Ledger) -> None:
    with start_server(sim={"latency_ms": 50}) as server:
        replies, counts = call_all(ledger, server.url, [make_request()] * 5)
        assert server.state.requests["sim"] == 1
    assert {reply.text for reply in replies if isinstance(reply, CallReply)} == {replies[0].text}  # type: ignore[union-attr]
    assert counts["sent"] == 1


def test_another_repeat_salt_run_model_or_parameter_is_another_call(ledger: Ledger) -> None:
    model, request = make_model(), make_request()
    keys = {
        compute_call_key(model, request, PARAMETERS),
        compute_call_key(model, replace(request, repeat=2), PARAMETERS),
        compute_call_key(model, replace(request, salt="again"), PARAMETERS),
        compute_call_key(model, replace(request, run_id="run-2"), PARAMETERS),
        compute_call_key(model, replace(request, purpose="judge"), PARAMETERS),
        compute_call_key(make_model("other"), request, PARAMETERS),
        compute_call_key(replace(model, provider="elsewhere"), request, PARAMETERS),
        compute_call_key(model, request, {**PARAMETERS, "temperature": 1}),
        compute_call_key(model, make_request(1), PARAMETERS),
    }
    assert len(keys) == 9


def test_the_unit_and_the_order_of_parameters_do_not_change_the_call() -> None:
    model, request = make_model(), make_request()
    turned = dict(reversed(PARAMETERS.items()))
    assert compute_call_key(model, request, PARAMETERS) == compute_call_key(
        model, replace(request, unit="another"), turned
    )


@pytest.mark.parametrize(
    ("fault", "is_stream"),
    [
        ("rate_limit", False),
        ("rate_limit", True),
        ("server_error", False),
        ("server_error", True),
        ("cut_stream", False),
        ("cut_stream", True),
        ("malformed", False),
    ],
)
def test_a_passing_fault_is_retried_until_there_is_a_reply(
    ledger: Ledger, fault: str, is_stream: bool
) -> None:
    model = make_model(parameters={**PARAMETERS, "stream": is_stream})
    with start_server(sim={"faults": {fault: 1.0, "attempts": 2, "retry_after_s": 0.01}}) as server:
        reply = call_one(ledger, server.url, model=model)
        assert server.state.requests["sim"] == 3
        assert server.state.faults == {fault: 2}
    assert (reply.status, reply.attempts) == ("answered", 3)


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_no_question_goes_to_another_place_than_the_registered_one(
    ledger: Ledger, api: str, is_stream: bool
) -> None:
    told: list[object] = []

    class Elsewhere(Handler):
        def do_POST(self) -> None:
            told.append(self.read_json())
            self.send(200, {})

    class Moved(Handler):
        def do_POST(self) -> None:
            self.read_json()
            self.send(307, {}, {"Location": f"http://localhost:{elsewhere}/v1"})

    with serve(Elsewhere) as elsewhere, serve(Moved) as port:
        url = f"http://127.0.0.1:{port}/v1"
        parameters = {**PARAMETERS, "stream": is_stream}
        model = make_model(base_url=url, api=api, is_simulated=False, parameters=parameters)
        with pytest.raises(CallFailed, match=r"after 1 attempt\(s\): 307\. Check base_url"):
            call_one(ledger, "", model=model)
    assert told == []
    assert read_row(ledger)["extra_usd"] == 0.0


@pytest.mark.parametrize("word", ["error", "network_error", "insufficient_system_resource", "abort"])
def test_a_reply_that_its_server_broke_off_is_asked_for_again(ledger: Ledger, word: str) -> None:
    said = [word, "stop"]

    class Breaks(Handler):
        def do_POST(self) -> None:
            self.read_json()
            choice = {"message": {"content": "The answ"}, "finish_reason": said.pop(0)}
            self.send(200, {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})

    with serve(Breaks) as port:
        model = make_model(base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
        reply = call_one(ledger, "", model=model)
    assert (reply.status, reply.finish_reason, reply.attempts) == ("answered", "stop", 2)
    # Nobody says what the first one was billed.
    assert read_row(ledger)["extra_usd"] > 0.0


def test_what_answers_and_speaks_no_http_fails_without_a_trace_of_the_transport(ledger: Ledger) -> None:
    def answer() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.0 401 Unauthorized\r\nContent-Length: 2\r\n\r\nmore than two")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(CallFailed, match="no_http"):
            call_one(ledger, f"http://127.0.0.1:{listener.getsockname()[1]}/v1", most_attempts=1)


def test_a_stream_gives_the_same_reply_as_a_reply_at_once(ledger: Ledger) -> None:
    streaming = make_model(parameters={**PARAMETERS, "stream": True})
    with start_server(build_answer_key(make_bank(1)), sim={"is_thinking": True}) as server:
        whole = call_one(ledger, server.url)
        streamed = call_one(ledger, server.url, model=streaming)
    assert streamed.reasoning
    assert (streamed.text, streamed.reasoning, streamed.finish_reason, streamed.output_tokens) == (
        whole.text,
        whole.reasoning,
        whole.finish_reason,
        whole.output_tokens,
    )
    assert streamed.call_key != whole.call_key
    with ledger.read() as connection:
        rows = read_call_rows(connection, ["session-1"])
    assert [(row["answered_by"], row["is_simulated"]) for row in rows] == [("sim", True), ("sim", True)]


def test_a_call_that_failed_is_of_a_simulation_where_others_of_its_model_are(ledger: Ledger) -> None:
    with start_server(sim={}) as server:
        call_one(ledger, server.url)
    with ledger.write() as connection:
        for key, model in (("failed", "sim"), ("real", "alpha")):
            start_call(connection, NewCall(key, "check", None, "session-1", "p", model))
    (frame,) = read_call_frames(ledger, {"session-1": "2026-11"}).values()
    assert sorted(frame.select("status", "model", "is_simulated").rows()) == [
        ("done", "sim", True),
        ("started", "alpha", None),
        ("started", "sim", True),
    ]


def test_a_pause_asked_for_is_kept_by_every_call_to_the_provider(ledger: Ledger) -> None:
    with start_server(sim={"faults": {"rate_limit": 1.0, "attempts": 1, "retry_after_s": 0.4}}) as server:
        begun = time.monotonic()
        call_one(ledger, server.url, model=make_model(provider="paused"))
        assert time.monotonic() - begun >= 0.4


def test_a_hanging_endpoint_is_given_up_at_the_time_limit(ledger: Ledger) -> None:
    settings = Settings(call_timeout_s=0.3)
    with start_server(sim={"faults": {"hang": 1.0, "attempts": 1}}) as server:
        reply = call_one(ledger, server.url, settings=settings)
    assert (reply.status, reply.attempts) == ("answered", 2)


def test_a_lasting_fault_raises_is_kept_as_failed_and_is_sent_again_by_the_next_command(
    ledger: Ledger,
) -> None:
    with (
        start_server(sim={"faults": {"server_error": 1.0}}) as server,
        pytest.raises(
            CallFailed, match=r"'sim' at 'provider-of-sim' gave no reply after 3 attempt\(s\): 500"
        ) as caught,
    ):
        call_one(ledger, server.url, most_attempts=3)
    assert (caught.value.error, caught.value.attempts) == ("500 server_error", 3)
    assert {name: read_row(ledger)[name] for name in ("status", "attempts", "error")} == {
        "status": "failed",
        "attempts": 3,
        "error": "500 server_error",
    }
    with start_server() as server:
        assert call_one(ledger, server.url).status == "answered"
    assert {name: read_row(ledger)[name] for name in ("status", "attempts", "error")} == {
        "status": "done",
        "attempts": 1,
        "error": None,
    }


def test_a_refused_connection_is_an_infrastructure_error(ledger: Ledger) -> None:
    with start_server() as server:
        url = server.url
    with pytest.raises(CallFailed) as caught:
        call_one(ledger, url, most_attempts=2)
    assert (caught.value.error, caught.value.attempts) == ("connection", 2)


def test_an_unknown_model_is_not_tried_again(ledger: Ledger) -> None:
    with (
        start_server() as server,
        pytest.raises(CallFailed, match="Check base_url and endpoint_model") as caught,
    ):
        call_one(ledger, server.url, model=make_model("ghost"))
    assert (caught.value.error, caught.value.attempts) == ("404 model_not_found", 1)


@pytest.mark.parametrize(
    ("fault", "status", "finish_reason", "is_stream"),
    [
        ("empty", "empty", "stop", False),
        ("refusal", "refused", "content_filter", True),
        ("truncated", "truncated", "length", False),
        ("truncated", "truncated", "length", True),
    ],
)
def test_empty_refused_and_truncated_replies_are_values(
    ledger: Ledger, fault: str, status: str, finish_reason: str, is_stream: bool
) -> None:
    model = make_model(parameters={**PARAMETERS, "stream": is_stream})
    with start_server(sim={"faults": {fault: 1.0}}) as server:
        reply = call_one(ledger, server.url, model=model)
        assert server.state.requests["sim"] == 1
    assert (reply.status, reply.finish_reason, reply.attempts) == (status, finish_reason, 1)
    with ledger.read() as connection:
        assert count_calls(connection, "run-1") == {"started": 0, "done": 1, "failed": 0}


def test_a_reply_beyond_max_tokens_is_truncated(ledger: Ledger) -> None:
    with start_server() as server:
        reply = call_one(ledger, server.url, model=make_model(parameters={"max_tokens": 4}))
    assert (reply.status, reply.output_tokens) == ("truncated", 4)


def test_no_more_calls_are_in_flight_than_the_provider_allows(ledger: Ledger) -> None:
    model = make_model(max_concurrency=3, provider="narrow")
    most = 0
    in_flight = 0

    with start_server(sim={"latency_ms": 20}) as server:
        complete = server.state._complete

        async def count(request: Any) -> Any:
            nonlocal most, in_flight
            in_flight += 1
            most = max(most, in_flight)
            try:
                return await complete(request)
            finally:
                in_flight -= 1

        server.state._complete = count  # type: ignore[method-assign]
        call_all(ledger, server.url, [make_request(number) for number in range(20)], model)
    assert most == 3


def test_a_real_model_that_answers_as_a_simulation_is_refused(ledger: Ledger) -> None:
    with start_server() as server:
        model = make_model(base_url=server.url, is_simulated=False)
        with pytest.raises(RegistryError, match="registered as real"):
            call_one(ledger, server.url, model=model)
    assert read_row(ledger)["status"] == "failed"


def test_a_simulated_model_without_a_server_says_what_to_start(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROCTOR_SIMULATED_URL", raising=False)

    async def run() -> None:
        async with ModelClient(ledger, Settings()) as client:
            await client.complete(make_model(), make_request())

    with pytest.raises(RegistryError, match="PROCTOR_SIMULATED_URL"):
        asyncio.run(run())


def test_a_missing_key_is_named_before_anything_is_sent(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_KEY", raising=False)
    with start_server() as server:
        with pytest.raises(RegistryError, match="LAB_KEY is not set"):
            call_one(ledger, server.url, model=make_model(key_variable="LAB_KEY"))
        assert server.state.requests["sim"] == 0


@pytest.mark.parametrize("fault", ["none", "server_error", "malformed", "cut_stream", "rate_limit"])
def test_neither_key_nor_question_reaches_a_log_or_an_error(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    monkeypatch.setenv("LAB_KEY", "SECRETKEY77")
    logging.getLogger("openai").setLevel(logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    request = make_request(messages=[{"role": "user", "content": "QUESTIONMARK55 是否成立？"}])
    faults = {} if fault == "none" else {fault: 1.0, "retry_after_s": 0.01}
    said = ""
    with start_server(sim={"faults": faults}) as server:
        model = make_model(key_variable="LAB_KEY")
        try:
            call_one(ledger, server.url, request, model=model, most_attempts=2)
        except CallFailed as error:
            chained: BaseException | None = error
            while chained is not None:
                said += f"{chained} {chained.args} {vars(chained)}"
                chained = chained.__cause__ or chained.__context__
        assert server.state.requests["sim"] == (1 if fault == "none" else 2)
    said += "".join(record.getMessage() for record in caplog.records)
    assert "QUESTIONMARK55" not in said
    assert "SECRETKEY77" not in said
    with ledger.read() as connection:
        kept = str(read_calls(connection, run_id="run-1"))
    assert "QUESTIONMARK55" not in kept


def cancel_calls(ledger: Ledger, server: RunningServer, provider: str, count: int) -> None:
    """Start calls, one in flight at a time; cancel all once the server has the first."""

    async def run() -> None:
        model = make_model(max_concurrency=1, provider=provider)
        async with ModelClient(ledger, Settings(), simulated_url=server.url) as client:
            calls = [
                asyncio.create_task(client.complete(model, make_request(number))) for number in range(count)
            ]
            while not server.state.requests["sim"]:  # noqa: ASYNC110 - another thread counts them
                await asyncio.sleep(0.02)
            # What it said to the first is read by now, where it said something.
            await asyncio.sleep(0.5)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(run())
    ledger.writer.run(lambda connection: None)


def test_a_call_that_is_cancelled_in_flight_is_reported_when_it_is_repeated(ledger: Ledger) -> None:
    with start_server(sim={"latency_ms": 5000, "latency_spread": 0}) as server:
        cancel_calls(ledger, server, "cancelled-in-flight", 3)
    with ledger.read() as connection:
        assert count_calls(connection, "run-1") == {"started": 1, "done": 0, "failed": 0}
    with start_server() as server:
        model = make_model(provider="cancelled-in-flight")
        _, counts = call_all(ledger, server.url, [make_request(number) for number in range(3)], model)
    assert (counts["sent"], counts["repeated"]) == (3, 1)


def test_a_call_that_is_cancelled_before_it_is_sent_is_not_mistaken_for_one_in_flight(ledger: Ledger) -> None:
    with start_server(sim={"faults": {"rate_limit": 1.0, "retry_after_s": 5}}) as server:
        cancel_calls(ledger, server, "cancelled-before", 2)
    assert (read_row(ledger)["status"], read_row(ledger)["error"]) == ("failed", "cancelled")


def test_a_key_that_a_program_gives_is_sent_and_reaches_no_log(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with start_server() as server:
        call_one(ledger, server.url, model=make_model(key_command="printf SECRETKEY78"))
        assert server.state.requests["sim"] == 1
        with pytest.raises(RegistryError, match=r"needs the API key of .*'false'.* ended with 1") as caught:
            call_one(ledger, server.url, model=make_model(key_command="false SECRETKEY78"))
        assert server.state.requests["sim"] == 1
    said = str(caught.value) + "".join(record.getMessage() for record in caplog.records)
    assert "SECRETKEY78" not in said


def test_two_providers_at_one_address_are_each_asked_with_the_key_of_their_own_program(
    ledger: Ledger,
) -> None:
    keys = []

    class Answers(Handler):
        def do_POST(self) -> None:
            self.read_json()
            keys.append(self.headers["Authorization"])
            self.send(200, {"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}]})

    async def ask(port: int) -> None:
        async with ModelClient(ledger, Settings(home=Path("unused"))) as client:
            for team in ("north", "south"):
                address = {"base_url": f"http://127.0.0.1:{port}/v1", "key_command": f"printf key-of-{team}"}
                await client.complete(
                    make_model(provider=team, is_simulated=False, **address), make_request()
                )

    with serve(Answers) as port:
        asyncio.run(ask(port))
    assert keys == ["Bearer key-of-north", "Bearer key-of-south"]


@pytest.mark.parametrize("key", ["sk-\u200bSECRET", "sk-SECRET\nX: y", "“SECRET”"])
def test_a_key_that_no_request_can_carry_is_named_before_anything_is_booked(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("LAB_KEY", key)
    with pytest.raises(RegistryError, match="LAB_KEY has a character that no key has") as caught:
        call_one(ledger, "http://127.0.0.1:9/v1", model=make_model(key_variable="LAB_KEY"))
    assert "SECRET" not in str(caught.value)
    with ledger.read() as connection:
        assert list(read_calls(connection, run_id="run-1")) == []


def test_what_is_cancelled_before_it_is_sent_is_not_taken_for_a_lost_call(ledger: Ledger) -> None:
    async def begin(url: str, rounds: int) -> None:
        async with ModelClient(ledger, Settings(home=Path("unused")), simulated_url=url) as client:
            beginning = asyncio.create_task(client.complete(make_model(), make_request()))
            for _ in range(rounds):
                await asyncio.sleep(0)
            beginning.cancel()
            await asyncio.wait([beginning])

    def has_row() -> bool:
        with ledger.read() as connection:
            return bool(list(read_calls(connection, run_id="run-1")))

    with start_server(build_answer_key(make_bank(1))) as server:
        # As soon as its row is on the way to the ledger; what is cancelled before leaves nothing.
        for rounds in range(2, 10):
            asyncio.run(begin(server.url, rounds))
            if has_row():
                break
        assert (server.state.requests["sim"], read_row(ledger)["error"]) == (0, "cancelled")
        call_one(ledger, server.url)
    assert read_row(ledger)["extra_usd"] == 0.0


def test_what_is_asked_when_another_call_has_failed_is_not_sent(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Refuses(Handler):
        def do_POST(self) -> None:
            asked.append(self.read_json()["model"])
            self.send(400, {})

    async def ask_both(port: int) -> None:
        async with ModelClient(ledger, Settings(home=Path("unused"))) as client:

            async def find(model: RegisteredModel) -> None:
                # The account of the second one's provider is looked for meanwhile.
                await asyncio.sleep(0.5 if model.name == "second" else 0.0)

            monkeypatch.setattr(client, "find_provider_budget", find)
            models = [
                make_model(name, base_url=f"http://127.0.0.1:{port}/v1", is_simulated=False)
                for name in ("first", "second")
            ]
            await asyncio.gather(*(client.complete(model, make_request()) for model in models))

    with serve(Refuses) as port, pytest.raises(CallFailed):
        asyncio.run(ask_both(port))
    assert asked == ["first"]
