"""One HTTP attempt: a reply, or a failure in words that carry no content."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from schemas.settings import LONGEST_REPLY
from tasks.models.registry import RegisteredModel
from tasks.models.replies import ParsedReply, build_reply, cut_reply, parse_completion

if TYPE_CHECKING:
    import openai
    from openai import AsyncOpenAI

_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
# A code is kept only when it is a word: anything else could be the endpoint quoting the question.
_CODE = re.compile(r"^[a-z][a-z0-9_.-]{0,40}$")
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "data_inspection_failed"})
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


# What is read of one reply, and of one line of a stream, before it is refused; what is kept of its text is far less.
MOST_REPLY_BYTES = 40_000_000


class _TooLarge(Exception):
    """An endpoint sends more than any reply has."""


@dataclass(frozen=True)
class Failure:
    """An attempt without a reply.

    Attributes:
        error: short class: an HTTP status with the endpoint's code, or `timeout`, `connection`, `cut_stream`, `malformed`.
        is_retryable: whether another attempt may help.
        retry_after_s: the pause that the endpoint asked for.
        status_code: HTTP status, where there was one.
        is_bill_unknown: whether the endpoint may have worked, and billed, all the same.
    """

    error: str
    is_retryable: bool
    retry_after_s: float | None = None
    status_code: int | None = None
    is_bill_unknown: bool = False

    def advise(self, model: RegisteredModel) -> str:
        """What to do about it."""
        if self.status_code in (401, 403):
            return f"Check the key in {model.key_variable or 'the endpoint'} and what it may use."
        if self.status_code == 404:
            return f"Check base_url and endpoint_model ({model.endpoint_model}) in the registry."
        if self.error.partition(" ")[2] in _QUOTA_CODES:
            return "The account's quota is used up: raise it, then run again."
        if not self.is_retryable:
            return "Check the model's parameters in the registry, then run again."
        return "Run again: the call is sent again and nothing that was answered is paid for twice."


async def send_request(
    endpoint: AsyncOpenAI, body: dict[str, Any], timeout_s: float, longest_reply: int = LONGEST_REPLY
) -> ParsedReply | Failure:
    """Send one chat completion within the time limit; whatever goes wrong with it is returned, not raised.

    Text and reasoning are each kept up to `longest_reply` characters.
    """
    import httpx2
    import openai

    try:
        async with asyncio.timeout(timeout_s):
            receive = _receive_stream if body.get("stream") else _receive_whole
            reply = await receive(endpoint, body)
            return cut_reply(reply, longest_reply) if isinstance(reply, ParsedReply) else reply
    except _TooLarge:
        return Failure("too_large", False, is_bill_unknown=True)
    except TimeoutError:
        return Failure("timeout", True, is_bill_unknown=True)
    except openai.APIStatusError as error:
        return read_status_failure(int(error.status_code), error.body, error.response.headers)
    except openai.APIConnectionError as error:
        return _read_connection_error(error)
    except openai.APIError as error:
        # An error event inside a stream.
        return Failure(f"stream {_read_code(error.body) or 'error'}", True, is_bill_unknown=True)
    except (httpx2.HTTPError, httpx2.StreamError):
        return Failure("cut_stream", True, is_bill_unknown=True)
    except (ValueError, RecursionError):
        # A chunk of the stream that is not JSON, or nested without end; the message would quote it.
        return Failure("malformed", True, is_bill_unknown=True)


async def _receive_whole(endpoint: AsyncOpenAI, body: dict[str, Any]) -> ParsedReply | Failure:
    """Read a reply that comes at once, in pieces, so that no endpoint fills the memory."""
    rest = {name: value for name, value in body.items() if name not in ("model", "messages")}
    content = bytearray()
    async with endpoint.chat.completions.with_streaming_response.create(
        model=body["model"], messages=body["messages"], extra_body=rest
    ) as response:
        async for piece in response.iter_bytes():
            content += piece
            if len(content) > MOST_REPLY_BYTES:
                raise _TooLarge
    return _parse_response(bytes(content))


def _parse_response(content: bytes) -> ParsedReply | Failure:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return Failure("malformed", True, is_bill_unknown=True)
    reply = parse_completion(data)
    if reply is None:
        return Failure("malformed", True, is_bill_unknown=True)
    return reply


async def _receive_stream(endpoint: AsyncOpenAI, body: dict[str, Any]) -> ParsedReply | Failure:
    """Collect a stream; one that ends without a finish reason was cut."""
    rest = {name: value for name, value in body.items() if name not in ("model", "messages", "stream")}
    rest.setdefault("stream_options", {"include_usage": True})
    stream = await endpoint.chat.completions.create(
        model=body["model"], messages=body["messages"], stream=True, extra_body=rest
    )
    # The library gathers a line until it ends.
    pieces = stream.response.aiter_bytes()
    stream.response.aiter_bytes = lambda *_: _limit_lines(pieces)  # type: ignore[method-assign, assignment]
    texts: list[str] = []
    reasonings: list[str] = []
    refusals: list[str] = []
    finish_reason: str | None = None
    fingerprint: str | None = None
    usage: dict[str, Any] = {}
    count = 0
    async for chunk in stream:
        fingerprint = chunk.system_fingerprint or fingerprint
        if chunk.usage is not None:
            usage = chunk.usage.model_dump()
        for choice in chunk.choices or ():
            delta = choice.delta
            extra = delta.model_extra or {}
            texts.append(delta.content or "")
            refusals.append(delta.refusal or "")
            reasonings.append(extra.get("reasoning_content") or extra.get("reasoning") or "")
            finish_reason = choice.finish_reason or finish_reason
            count += len(texts[-1]) + len(refusals[-1]) + len(reasonings[-1])
        if count > MOST_REPLY_BYTES:
            await stream.close()
            raise _TooLarge
    if finish_reason is None:
        return Failure("cut_stream", True, is_bill_unknown=True)
    return build_reply(
        content="".join(texts),
        reasoning="".join(reasonings) or None,
        refusal="".join(refusals) or None,
        finish_reason=finish_reason,
        usage=usage,
        fingerprint=fingerprint,
    )


async def _limit_lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces of a stream; raises _TooLarge within a line that no reply has."""
    length = 0
    async for piece in pieces:
        length = len(piece) - piece.rfind(b"\n") - 1 if b"\n" in piece else length + len(piece)
        if length > MOST_REPLY_BYTES:
            raise _TooLarge
        yield piece


def read_api_error(error: openai.APIError) -> Failure:
    """The failure that an error of the library stands for, where no reply was asked for."""
    import openai

    if isinstance(error, openai.APIStatusError):
        outcome = read_status_failure(int(error.status_code), error.body, error.response.headers)
        return outcome if isinstance(outcome, Failure) else Failure(str(error.status_code), False)
    if isinstance(error, openai.APIConnectionError):
        return _read_connection_error(error)
    return Failure("malformed", True, is_bill_unknown=True)


def _read_connection_error(error: openai.APIConnectionError) -> Failure:
    """Timeouts are connection errors to openai; its aiohttp transport calls every lost connection a ConnectTimeout."""
    import aiohttp
    import httpx2
    import openai

    cause = error.__cause__
    if cause is not None and isinstance(cause.__cause__, aiohttp.ClientConnectorError):
        return Failure("connection", True)  # never reached the endpoint: nothing to bill
    if isinstance(error, openai.APITimeoutError) and not isinstance(cause, httpx2.ConnectTimeout):
        return Failure("timeout", True, is_bill_unknown=True)
    return Failure("connection", True, is_bill_unknown=True)


def read_status_failure(status: int, body: object, headers: Mapping[str, str]) -> ParsedReply | Failure:
    """What a reply with an HTTP status other than 200 means: a refusal by a filter, or a failure."""
    code = _read_code(body)
    if status in (400, 403) and code in _FILTER_CODES:
        return ParsedReply(text="", finish_reason="content_filter", is_refusal=True)
    is_retryable = (status in _RETRYABLE_STATUS or status >= 500) and code not in _QUOTA_CODES
    return Failure(
        f"{status} {code}" if code else str(status),
        is_retryable,
        retry_after_s=read_retry_after(headers),
        status_code=status,
        is_bill_unknown=status >= 500,
    )


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The pause asked for, in seconds: `retry-after-ms`, or `Retry-After` in seconds or as a date."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / scale
        except (KeyError, ValueError):
            continue
        return seconds if 0 <= seconds < float("inf") else None
    try:
        moment = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _read_code(body: object) -> str | None:
    if not isinstance(body, Mapping):
        return None
    inner = body.get("error")
    for name in ("code", "type"):
        for place in (body, inner if isinstance(inner, Mapping) else {}):
            value = place.get(name)
            if isinstance(value, str) and _CODE.match(value):
                return value
    return None
