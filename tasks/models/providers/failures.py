"""What goes wrong at an HTTP API, in words that carry no content."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from schemas import patterns as re
from tasks.models.replies import QUOTA_CODES, Failure, ParsedReply

if TYPE_CHECKING:
    import ssl

    import httpx2

T = TypeVar("T")

_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
_CODE = re.compile(r"^[a-z][a-z0-9_.-]{0,40}$")
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "data_inspection_failed"})
# By what a provider's filter is known that has no code of its own: DeepSeek's and Anthropic's words, Zhipu's number.
_FILTERED = ("Content Exists Risk", "Output blocked by content filtering policy", "1301")
# Anthropic's words for an account without money, under the code of any request that is not taken.
_UNPAID = "Your credit balance is too low"

# A connection is made at once or not at all; a reply may take long.
CONNECT_S = 10.0
# What is read of one reply, and of one line of a stream, before it is refused; what is kept of its text is far less.
MOST_REPLY_BYTES = 40_000_000
# What is read of a batch's results: 20,000 bytes for each of 50,000 requests.
MOST_RESULT_BYTES = 1_000_000_000


class TooLarge(Exception):
    """An endpoint sends more than any reply has."""


def open_connection(kind: Callable[..., httpx2.AsyncClient]) -> httpx2.AsyncClient:
    """A connection of an SDK's kind that goes to the registered place alone."""
    return kind(verify=_trust(), event_hooks={"response": [_forget_other_place]})


@cache
def _trust() -> ssl.SSLContext:
    """The certificates that are trusted; to read them takes as long as thirty connections."""
    import httpx2

    return httpx2.create_ssl_context()


async def _forget_other_place(response: Any) -> None:
    """Let no question go to another place than the registered one.

    A file of results, which is only read, may lie elsewhere.
    """
    if response.request.method != "GET":
        response.headers.pop("location", None)


async def ask_sdk(sdk: Any, asked: Awaitable[T]) -> T | Failure:
    """What is asked through an SDK (`openai`, `anthropic`), or its exception as a failure."""
    import aiohttp
    import httpx2

    try:
        return await asked
    except TooLarge:
        return Failure("too_large", False, is_bill_unknown=True)
    except sdk.APIStatusError as error:
        if error.status_code < 300:  # an error event inside a stream that began well
            return _read_event(error.body)
        return read_status_failure(int(error.status_code), error.body, error.response.headers)
    except sdk.APIConnectionError as error:
        return _read_connection_error(error, is_timeout=isinstance(error, sdk.APITimeoutError))
    except sdk.APIResponseValidationError:
        return Failure("malformed", True, is_bill_unknown=True)
    except sdk.APIError as error:
        return _read_event(error.body)
    except (httpx2.HTTPError, httpx2.StreamError):
        # A stream or a file that ended before its end.
        return Failure("cut_stream", True, is_bill_unknown=True)
    except aiohttp.ClientError:
        # A reply that is no HTTP: the transport lets its own error through.
        return Failure("no_http", True, is_bill_unknown=True)
    except (AttributeError, TypeError, ValueError, RecursionError):
        # An answer, or a piece of one, that is not JSON, nested without end, or of another shape, of which an SDK makes something
        # without what its types promise; the message would quote it.
        return Failure("malformed", True, is_bill_unknown=True)


async def read_whole(pieces: AsyncIterator[bytes]) -> bytes:
    """A reply in pieces, so that no endpoint fills the memory; raises TooLarge."""
    content = bytearray()
    async for piece in pieces:
        content += piece
        if len(content) > MOST_REPLY_BYTES:
            raise TooLarge
    return bytes(content)


def limit_lines(response: Any) -> None:
    """Limit the lines of a stream, which an SDK gathers to their end; TooLarge is raised."""
    pieces = response.aiter_bytes()
    response.aiter_bytes = lambda *_: _limit_lines(pieces)


async def _limit_lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    length = 0
    async for piece in pieces:
        length = len(piece) - piece.rfind(b"\n") - 1 if b"\n" in piece else length + len(piece)
        if length > MOST_REPLY_BYTES:
            raise TooLarge
        yield piece


async def split_lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes | None]:
    """The lines of a file in pieces, cut where too long; null at the end of one too large."""
    rest = bytearray()
    count = 0
    async for piece in pieces:
        count += len(piece)
        if count > MOST_RESULT_BYTES:
            yield None
            return
        *ended, last = piece.split(b"\n")
        for part in ended:
            rest += part[: MOST_REPLY_BYTES - len(rest)]
            yield bytes(rest)
            rest.clear()
        rest += last[: MOST_REPLY_BYTES - len(rest)]
    yield bytes(rest)


def read_status_failure(status: int, body: object, headers: Mapping[str, str]) -> Failure:
    """What a reply with an HTTP status other than 200 means."""
    code = _read_code(body)
    is_retryable = (status in _RETRYABLE_STATUS or status >= 500) and code not in QUOTA_CODES
    return Failure(
        f"{status} {code}" if code else str(status),
        is_retryable,
        retry_after_s=read_retry_after(headers),
        status_code=status,
        is_bill_unknown=status >= 500,
    )


def read_refusal(outcome: ParsedReply | Failure) -> ParsedReply | Failure:
    """A refusal by the endpoint's filter is a reply; anything else is returned as it is."""
    if not isinstance(outcome, Failure) or outcome.code not in _FILTER_CODES:
        return outcome
    # Instead of a reply, or in the middle of a stream.
    is_refusal = outcome.status_code in (400, 403, None)
    return ParsedReply(text="", finish_reason="content_filter", is_refusal=True) if is_refusal else outcome


def read_result_line(raw: bytes) -> Mapping[str, Any] | None:
    """A line of a batch's results, with its `custom_id`; None for one that cannot be read."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, Mapping) and isinstance(data.get("custom_id"), str) else None


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The pause asked for, in seconds: `retry-after-ms`, or `Retry-After` as seconds or a date."""
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


def _read_event(body: object) -> Failure:
    """An error event inside a stream."""
    return Failure(f"stream {_read_code(body) or 'error'}", True, is_bill_unknown=True)


def _read_connection_error(error: Exception, *, is_timeout: bool) -> Failure:
    """Read an error of the connection.

    Timeouts are connection errors to the SDKs; their aiohttp transport calls every lost connection a
    ConnectTimeout.
    """
    import aiohttp
    import httpx2

    cause = error.__cause__
    if cause is not None and isinstance(cause.__cause__, aiohttp.ClientConnectorError):
        return Failure("connection", True)  # never reached the endpoint: nothing to bill
    if is_timeout and not isinstance(cause, httpx2.ConnectTimeout):
        return Failure("timeout", True, is_bill_unknown=True)
    return Failure("connection", True, is_bill_unknown=True)


def _read_code(body: object) -> str | None:
    """The code of an error, else its type; those of an inner error before its wrapping's."""
    if not isinstance(body, Mapping):
        return None
    inner = body.get("error")
    places = (inner if isinstance(inner, Mapping) else {}, body)
    if any(_is_filtered(place) for place in places):
        return "content_filter"
    if any(str(place.get("message")).startswith(_UNPAID) for place in places):
        return "billing_error"
    for name in ("code", "type"):
        for place in places:
            value = place.get(name)
            if is_code(value):
                return str(value)
    return None


def is_code(value: object) -> bool:
    """Whether it is a word; anything else could be the endpoint quoting the question."""
    return isinstance(value, str) and _CODE.match(value) is not None


def _is_filtered(error: Mapping[str, Any]) -> bool:
    """Whether a provider's filter speaks; OpenAI has one code for it and for what is no prompt."""
    code, message = str(error.get("code")), str(error.get("message"))
    return not {code, message}.isdisjoint(_FILTERED) or (
        code == "invalid_prompt" and message.startswith("Invalid prompt:")
    )
