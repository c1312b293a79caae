"""What endpoints send is read without trust."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tasks.models.replies import ParsedReply, compute_status, parse_completion
from tasks.models.transport import read_retry_after


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
        (ParsedReply("不便回答", finish_reason="stop", is_refusal=True), "refused"),
        (ParsedReply("", finish_reason="content_filter"), "refused"),
    ],
)
def test_the_status_tells_what_became_of_the_answer(reply: ParsedReply, status: str) -> None:
    assert compute_status(reply) == status


def test_a_pause_is_read_in_seconds_milliseconds_or_as_a_date() -> None:
    assert read_retry_after({"retry-after": "1.5"}) == 1.5
    assert read_retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert read_retry_after({"retry-after": moment}) == pytest.approx(30, abs=2)
    assert read_retry_after({"retry-after": "soon"}) is None
    assert read_retry_after({}) is None
