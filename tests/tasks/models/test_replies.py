"""What endpoints send is read without trust."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import ModuleType

import pytest

from schemas.settings import LONGEST_REPLY
from tasks.models.providers import (
    BatchLine,
    BatchResults,
    ProviderBatch,
    anthropic_calls,
    failures,
    openai_calls,
)
from tasks.models.providers.failures import read_refusal, read_retry_after, read_status_failure
from tasks.models.providers.openai_batches import parse_completion
from tasks.models.providers.openai_calls import OpenAIEndpoint, open_endpoint
from tasks.models.replies import Failure, ParsedReply, compute_status, cut_reply
from tests.local_server import Handler, serve
from tests.tasks.models.simulation import make_model


def test_what_to_do_names_an_address_without_its_password() -> None:
    model = make_model(base_url="https://ann:word@lab.example:8000/v1?key=word")
    assert (
        Failure("connection", True)
        .advise(model)
        .startswith("Nothing answers at https://lab.example:8000/v1: start")
    )


@asynccontextmanager
async def open_at(port: int) -> AsyncIterator[OpenAIEndpoint]:
    endpoint = open_endpoint(f"http://127.0.0.1:{port}", "none", 60.0)
    try:
        yield endpoint
    finally:
        await endpoint.close()


def make_completion(**message: object) -> dict[str, object]:
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        "system_fingerprint": "fp_1",
    }


def test_thinking_written_into_the_answer_is_kept_apart() -> None:
    reply = parse_completion(make_completion(content="<think>\n先算再答\n</think>\n\n正确。"))
    assert reply == ParsedReply("正确。", "先算再答", "stop", False, 7, 3, "fp_1")


def test_thinking_that_never_ends_is_no_answer() -> None:
    reply = parse_completion(make_completion(content="<think>还在想"))
    assert reply is not None
    assert (reply.text, reply.reasoning) == ("", "还在想")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own_is_found_under_either_name(name: str) -> None:
    reply = parse_completion(make_completion(content="B", **{name: "因为"}))
    assert reply is not None
    assert (reply.text, reply.reasoning) == ("B", "因为")


def test_content_in_parts_is_joined() -> None:
    reply = parse_completion(
        make_completion(content=[{"type": "text", "text": "A"}, {"type": "text", "text": "C"}])
    )
    assert reply is not None
    assert reply.text == "AC"


def test_half_an_emoji_and_nul_do_not_keep_a_reply_from_being_stored() -> None:
    data = json.loads(json.dumps(make_completion(content="好\ud83d\0的 \ud83d\ude00")))
    reply = parse_completion(data)
    assert reply is not None
    assert reply.text == "好\ufffd的 😀"
    assert reply.text.encode()


def test_a_reply_without_usage_has_no_counts() -> None:
    data = make_completion(content="A")
    del data["usage"]
    reply = parse_completion(data)
    assert reply is not None
    assert (reply.input_tokens, reply.output_tokens) == (None, None)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_thinking_that_an_endpoint_counts_in_its_total_alone_is_paid_for(is_streamed: bool) -> None:
    # xAI's own example of a reply: 32 + 9 + 110 of thinking.
    usage = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 151}
    name = "delta" if is_streamed else "message"
    body = json.dumps({"choices": [{name: {"content": "B"}, "finish_reason": "stop"}], "usage": usage})

    async def ask(port: int) -> ParsedReply | Failure:
        async with open_at(port) as endpoint:
            asked = {"model": "m", "messages": []} | ({"stream": True} if is_streamed else {})
            return await endpoint.send(asked)

    said = f"data: {body}\n\ndata: [DONE]\n\n" if is_streamed else body
    kind = "text/event-stream" if is_streamed else "application/json"
    with serve_pieces(kind, said.encode(), []) as (port, _):
        outcome = asyncio.run(ask(port))
    assert outcome == ParsedReply("B", finish_reason="stop", input_tokens=32, output_tokens=119)


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"choices": []}, {"choices": [{}]}, {"choices": ["x"]}, {"choices": [{"message": None}]}],
)
def test_what_is_no_completion_is_not_taken_for_an_empty_one(data: object) -> None:
    assert parse_completion(json.loads(json.dumps(data))) is None


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (ParsedReply("正确", finish_reason="stop"), "answered"),
        (ParsedReply("  \n", finish_reason="stop"), "empty"),
        (ParsedReply("正", finish_reason="length"), "truncated"),
        (ParsedReply("", finish_reason="length"), "truncated"),
        (ParsedReply("正", finish_reason="model_length"), "truncated"),
        (ParsedReply("不便回答", finish_reason="stop", is_refusal=True), "refused"),
        (ParsedReply("", finish_reason="content_filter"), "refused"),
        (ParsedReply("", finish_reason="sensitive"), "refused"),
    ],
)
def test_the_status_tells_what_became_of_the_answer(reply: ParsedReply, status: str) -> None:
    assert compute_status(reply) == status


def test_a_text_beyond_the_limit_is_cut_at_a_character_with_its_size_and_hash_kept() -> None:
    long = "答" * 300_000
    reply = parse_completion(make_completion(content=long, reasoning_content=long))
    assert reply is not None
    reply = cut_reply(reply, LONGEST_REPLY)
    digest = hashlib.sha256(long.encode()).hexdigest()
    assert reply.whole == {name: {"bytes": 900_000, "sha256": digest} for name in ("text", "reasoning")}
    mark = f"\n[cut here by Proctor: the whole has 900000 bytes, SHA-256 {digest}]"
    assert reply.text == reply.reasoning == "答" * (LONGEST_REPLY - len(mark)) + mark
    assert compute_status(reply) == "truncated"
    exact = parse_completion(make_completion(content="a" * LONGEST_REPLY))
    assert exact is not None and cut_reply(exact, LONGEST_REPLY) is exact
    assert compute_status(exact) == "answered"
    assert cut_reply(reply, LONGEST_REPLY) is reply
    # Cut again at a lower limit it names the whole, and not what was left of it.
    again = cut_reply(reply, 1_000)
    assert again.whole == reply.whole
    assert again.text == "答" * (1_000 - len(mark)) + mark


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_reply_of_30_mb_is_kept_cut_and_one_without_an_end_is_not_read_whole(is_streamed: bool) -> None:
    sent = 0

    class Endless(Handler):
        def do_POST(self) -> None:
            nonlocal sent
            body = self.read_json()
            pieces = 30 if body["model"] == "long" else 1_000
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if is_streamed else "application/json")
            self.end_headers()
            sent = 0
            with suppress(OSError):
                if not is_streamed:
                    self.wfile.write(b'{"choices": [{"finish_reason": "stop", "message": {"content": "')
                for _ in range(pieces):
                    text = "a" * 1_000_000
                    delta = {"choices": [{"index": 0, "delta": {"content": text}}]}
                    self.wfile.write(
                        f"data: {json.dumps(delta)}\n\n".encode() if is_streamed else text.encode()
                    )
                    sent += 1
                if is_streamed:
                    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
                    self.wfile.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())
                else:
                    self.wfile.write(b'"}}]}')

    async def ask(port: int, model: str) -> ParsedReply | Failure:
        async with open_at(port) as endpoint:
            body = {"model": model, "messages": [{"role": "user", "content": "x"}]}
            outcome = await endpoint.send(body | ({"stream": True} if is_streamed else {}))
            return cut_reply(outcome, LONGEST_REPLY) if isinstance(outcome, ParsedReply) else outcome

    with serve(Endless) as port:
        kept = asyncio.run(ask(port, "long"))
        assert isinstance(kept, ParsedReply) and kept.whole is not None
        assert kept.whole["text"]["bytes"] == 30_000_000
        assert len(kept.text) == LONGEST_REPLY
        outcome = asyncio.run(ask(port, "endless"))
        assert isinstance(outcome, Failure)
        assert (outcome.error, outcome.is_retryable, outcome.is_bill_unknown) == ("too_large", False, True)
        assert sent < 200


@pytest.mark.parametrize("is_streamed", [False, True])
def test_json_that_is_nested_without_end_is_a_malformed_reply(is_streamed: bool) -> None:
    async def ask(port: int) -> ParsedReply | Failure:
        async with open_at(port) as endpoint:
            body = {"model": "m", "messages": []} | ({"stream": True} if is_streamed else {})
            return await endpoint.send(body)

    head, kind = (b"data: ", "text/event-stream") if is_streamed else (b"", "application/json")
    with serve_pieces(kind, head, [b"[" * 200_000, b"\n\n"]) as (port, _):
        assert asyncio.run(ask(port)) == Failure("malformed", True, is_bill_unknown=True)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (
            [{"delta": {"content": "B\ud83d"}}, {"delta": {"content": "\ude00"}}, {"finish_reason": "stop"}],
            "B😀",
        ),
        ([{"delta": {"content": "B"}}, {"delta": None, "finish_reason": "stop"}], "B"),
        ([{"delta": {"content": [{"type": "thinking", "thinking": []}]}}, {"delta": {"content": "B"}}], "B"),
        ([{"delta": {"content": 3, "reasoning": {"a": 1}}}, {"delta": {"content": "B"}}], "B"),
        (["x"], None),
        ("x", None),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_stream_of_another_shape_is_read_as_far_as_it_goes_and_raises_nothing(
    pieces: list[object], text: str | None
) -> None:
    async def ask(port: int) -> ParsedReply | Failure:
        async with open_at(port) as endpoint:
            return await endpoint.send({"model": "m", "messages": [], "stream": True})

    choices = [[one] for one in pieces] if text else [pieces]
    sent = [*choices, [{"delta": {}, "finish_reason": "stop"}]]
    events = b"".join(f"data: {json.dumps({'choices': some})}\n\n".encode() for some in sent)
    with serve_pieces("text/event-stream", b"", [events, b"data: [DONE]\n\n"]) as (port, _):
        outcome = asyncio.run(ask(port))
    assert outcome == (
        Failure("malformed", True, is_bill_unknown=True)
        if text is None
        else ParsedReply(text, finish_reason="stop")
    )


@pytest.mark.parametrize("provider", [openai_calls, anthropic_calls])
def test_no_header_of_the_environment_goes_to_a_provider_or_takes_the_place_of_its_key(
    provider: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_CUSTOM_HEADERS", "Authorization: Bearer MINE\nX-Mine: MINE")
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "MINE")
    sent: list[str] = []

    class Notes(Handler):
        def do_POST(self) -> None:
            sent.append(str(self.headers))
            self.send(200, {})

        def do_GET(self) -> None:
            self.do_POST()

    async def ask(port: int) -> None:
        endpoint = provider.open_endpoint(f"http://127.0.0.1:{port}", "OURS", 10.0)
        await endpoint.send({"model": "m", "messages": [], "max_tokens": 5})
        await endpoint.look_at_batch("b1")
        await endpoint.close()

    with serve(Notes) as port:
        asyncio.run(ask(port))
    assert len(sent) == 2
    assert all("OURS" in headers and "MINE" not in headers for headers in sent)


@pytest.mark.parametrize("provider", [openai_calls, anthropic_calls])
@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize(
    "error",
    [
        {"code": "invalid_request_error", "message": "Content Exists Risk"},
        {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"},
        {"code": "invalid_prompt", "message": "Invalid prompt: your prompt was flagged"},
        {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
    ],
)
def test_what_a_filter_turns_away_is_refused_however_its_provider_says_so(
    provider: ModuleType, is_streamed: bool, error: dict[str, str]
) -> None:
    class Filters(Handler):
        def do_POST(self) -> None:
            self.read_json()
            self.send(400, {"type": "error", "error": error})

    async def ask(port: int) -> ParsedReply | Failure:
        endpoint = provider.open_endpoint(f"http://127.0.0.1:{port}", "none", 10.0)
        asked = {"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": 5}
        try:
            outcome: ParsedReply | Failure = await endpoint.send(asked | {"stream": is_streamed})
            return outcome
        finally:
            await endpoint.close()

    with serve(Filters) as port:
        outcome = asyncio.run(ask(port))
    assert isinstance(outcome, ParsedReply) and compute_status(outcome) == "refused"


def test_a_request_that_is_no_prompt_is_not_taken_for_a_refused_one() -> None:
    body = {"error": {"code": "invalid_prompt", "message": "messages is empty"}}
    failure = read_status_failure(400, body, {})
    assert read_refusal(failure) is failure


def test_a_pause_is_read_in_seconds_milliseconds_or_as_a_date() -> None:
    assert read_retry_after({"retry-after": "1.5"}) == 1.5
    assert read_retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert read_retry_after({"retry-after": moment}) == pytest.approx(30, abs=2)
    assert read_retry_after({"retry-after": "soon"}) is None
    assert read_retry_after({}) is None


def test_one_line_without_an_end_is_not_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library gathers the lines of a stream: what it waits for is limited too."""
    monkeypatch.setattr(failures, "MOST_REPLY_BYTES", 3_000_000)

    async def ask(port: int) -> ParsedReply | Failure:
        async with open_at(port) as endpoint:
            return await endpoint.send({"model": "m", "messages": [], "stream": True})

    with serve_pieces("text/event-stream", b'data: {"id": "', [b"a" * 1_000_000] * 300) as (port, sent):
        outcome = asyncio.run(ask(port))
        assert isinstance(outcome, Failure)
        assert (outcome.error, outcome.is_retryable, outcome.is_bill_unknown) == ("too_large", False, True)
        assert len(sent) < 100


def test_results_of_a_batch_are_cut_line_by_line_and_a_file_without_an_end_is_read_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failures, "MOST_REPLY_BYTES", 400_000)
    monkeypatch.setattr(failures, "MOST_RESULT_BYTES", 3_000_000)

    def write_line(key: str, content: str) -> bytes:
        body = make_completion(content=content)
        return json.dumps({"custom_id": key, "response": {"status_code": 200, "body": body}}).encode() + b"\n"

    async def read(port: int) -> BatchResults | Failure:
        async with open_at(port) as endpoint:
            found = ProviderBatch("b1", "completed", "file-1", None)
            return await endpoint.read_results(found, longest_reply=1_000)

    # The second line is longer than any reply; the one after it is read all the same, across the pieces.
    file = write_line("k1", "a" * 2_000) + write_line("k2", "b" * 900_000) + write_line("k3", "yes")
    pieces = [file[start : start + 70_000] for start in range(0, len(file), 70_000)]
    with serve_pieces("application/jsonl", b"", pieces) as (port, _):
        results = asyncio.run(read(port))
    assert isinstance(results, BatchResults) and results.is_whole
    replies = {line.call_key: line.outcome for line in results.lines}
    assert replies.keys() == {"k1", "k3"}
    first, last = replies["k1"], replies["k3"]
    assert isinstance(first, ParsedReply) and isinstance(last, ParsedReply) and first.whole is not None
    assert (len(first.text), first.whole["text"]["bytes"], last.text) == (1_000, 2_000, "yes")
    # Of a file without an end the lines before the limit are kept: they are paid for.
    for endless in (b"x" * 99 + b"\n", b"x" * 100):
        with serve_pieces("application/jsonl", write_line("k1", "paid"), [endless * 10_000] * 300) as (
            port,
            sent,
        ):
            outcome = asyncio.run(read(port))
            assert isinstance(outcome, BatchResults) and not outcome.is_whole
            assert [line.call_key for line in outcome.lines] == ["k1"]
            assert len(sent) < 100


BATCH = {"id": "batches/1", "status": "completed", "output_file_id": "f1"}
READ_BATCH = ProviderBatch("batches/1", "completed", "f1", None)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (BATCH, READ_BATCH),
        (BATCH | {"errors": []}, READ_BATCH),
        (
            BATCH | {"errors": {"data": ["x", {"code": "What is 2?"}, {"code": "token_limit_exceeded"}]}},
            replace(READ_BATCH, error="token_limit_exceeded"),
        ),
        (BATCH | {"id": None}, None),
        (BATCH | {"output_file_id": 7}, None),
        ({"error": "x"}, None),
        ([], None),
        ("x", None),
    ],
)
def test_a_batch_of_another_shape_is_malformed_and_raises_nothing(
    said: object, read: ProviderBatch | None
) -> None:
    async def ask(port: int) -> list[object]:
        async with open_at(port) as endpoint:
            return [await endpoint.look_at_batch("b1"), await endpoint.create_batch("b1", "f", "24h")]

    with serve_pieces("application/json", json.dumps(said).encode(), []) as (port, _):
        found = asyncio.run(ask(port))
    wanted = Failure("malformed", True, is_bill_unknown=True) if read is None else read
    assert found == [wanted, wanted]


@pytest.mark.parametrize("said", [{"error": "x"}, {"id": None}, [], "x"])
def test_a_file_that_nobody_named_was_not_taken(said: object) -> None:
    async def upload(port: int) -> str | Failure:
        async with open_at(port) as endpoint:
            return await endpoint.upload_requests("name", b"{}\n")

    with serve_pieces("application/json", json.dumps(said).encode(), []) as (port, _):
        assert asyncio.run(upload(port)) == Failure("malformed", True)


def test_a_line_of_a_batch_that_its_server_broke_off_is_no_reply() -> None:
    body = {"choices": [{"message": {"content": "The answ"}, "finish_reason": "error"}]}
    line = json.dumps({"custom_id": "k1", "response": {"status_code": 200, "body": body}}).encode()

    async def read(port: int) -> BatchResults | Failure:
        async with open_at(port) as endpoint:
            found = ProviderBatch("b1", "completed", "file-1", None)
            return await endpoint.read_results(found, longest_reply=1_000)

    with serve_pieces("application/jsonl", line, []) as (port, _):
        results = asyncio.run(read(port))
    broken = Failure("broken_off", True, is_bill_unknown=True)
    assert results == BatchResults([BatchLine("k1", broken)], is_whole=True)


@contextmanager
def serve_pieces(kind: str, head: bytes, pieces: list[bytes]) -> Iterator[tuple[int, list[int]]]:
    """A server that answers everything with these pieces, one by one, until its caller goes."""
    sent: list[int] = []

    class Pieces(Handler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.do_GET()

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(head)
                for piece in pieces:
                    self.wfile.write(piece)
                    sent.append(len(piece))

    with serve(Pieces) as port:
        yield port, sent
