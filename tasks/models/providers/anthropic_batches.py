"""Batches in the form of Anthropic's message batches.

They are created with all their requests, looked at, ended and read. There are no files, and no place for our own name of a batch: it stands in the id of
every request, beside the call.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from schemas import patterns as re
from tasks.models.providers import BatchLine, BatchResults, ProviderBatch
from tasks.models.providers.anthropic_messages import parse_message, write_request
from tasks.models.providers.failures import (
    ask_sdk,
    read_refusal,
    read_result_line,
    read_status_failure,
    split_lines,
)
from tasks.models.replies import Failure, ParsedReply, keep_reply

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.messages import MessageBatch

T = TypeVar("T")

# An id has 64 characters at most: a call's 256 bits take 43 of them, and the rest is its batch's.
_KEY_LENGTH: Final = 43
_TAG_LENGTH: Final = 20
_PATH: Final = "/v1/messages/batches"
_WINDOW: Final = "24h"
# Looking may be repeated at will; creating may not.
_RETRIES: Final = 3
_LISTED_AT_ONCE: Final = 100
# Between the provider's clock and that of our ledger.
_CLOCKS_DIFFER: Final = timedelta(hours=1)
_KINDS: Final = ("succeeded", "errored", "canceled", "expired")
_NAME: Final = re.compile(r"^[\w.-]{1,200}$", re.ASCII)
OVERLOADED: Final = 529
# What is kept until the batch is created has a name, as a file would.
_HELD: Final = "held-"
_STATUSES: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class AnthropicBatches:
    """The batches of an endpoint."""

    def __init__(self, client: AsyncAnthropic) -> None:
        self.client = client
        self._held: dict[str, bytes] = {}
        # How many requests a batch has, as the provider said last.
        self._counts: dict[str, int] = {}

    async def close(self) -> None:
        """Close the connection."""
        await self.client.close()

    def write_line(self, call_key: str, request: Mapping[str, Any]) -> bytes:
        """A request as batches take it, without what concerns streams; no limit: refused there."""
        plain = {"max_tokens": 0} | {name: value for name, value in request.items() if name != "stream"}
        named, rest = write_request(plain)
        line = {"custom_id": call_key, "params": {**named, **rest}}
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        # Half an emoji, which no API takes, is one character that says so.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode() + b"\n"

    async def upload_requests(self, name: str, content: bytes) -> str | Failure:
        """Hold the requests until the batch is created, which takes both; nothing is billed."""
        self._held[f"{_HELD}{name}"] = content
        return f"{_HELD}{name}"

    async def create_batch(self, batch_id: str, file_id: str, window: str) -> ProviderBatch | Failure:
        """Create a batch of held requests, once; `is_bill_unknown`: it may have been created."""
        from anthropic.types.messages import MessageBatch

        if window != _WINDOW:
            return Failure("unknown_window", False)
        content = self._held.pop(file_id, None)
        if content is None:
            return Failure("no_requests", False)
        lines = [json.loads(line) for line in content.splitlines()]
        tag = _write_tag(batch_id)
        requests = [{**line, "custom_id": _pack_key(line["custom_id"]) + tag} for line in lines]
        created = self.client.post(_PATH, cast_to=MessageBatch, body={"requests": requests})
        outcome = self._read_batch(await _ask(created))
        if isinstance(outcome, Failure) and outcome.status_code == OVERLOADED:
            return replace(outcome, is_bill_unknown=False)  # turned away before any work
        return outcome

    async def find_batch(self, batch_id: str, since: datetime) -> ProviderBatch | Failure | None:
        """The batch, created about `since`, whose requests have our name of it in their ids.

        They are seen when a batch has ended, so that a failure is returned (`under_way`) while there is one that may yet be it.
        """
        tag = _write_tag(batch_id)

        async def look() -> ProviderBatch | Failure | None:
            is_any_open = False
            batches = self.client.with_options(max_retries=_RETRIES).messages.batches
            async for batch in batches.list(limit=_LISTED_AT_ONCE):
                # The newest come first.
                if batch.created_at < since - _CLOCKS_DIFFER:
                    break
                if batch.created_at > since + _CLOCKS_DIFFER:
                    continue
                if batch.processing_status != "ended":
                    is_any_open = True
                # One whose results are gone, or cannot be read, is nobody's that is looked for.
                elif await _ask(self._read_first_tag(str(batch.id))) == tag:
                    return self._read_batch(batch)
            return Failure("under_way", True) if is_any_open else None

        return await _ask(look())

    async def _read_first_tag(self, provider_batch_id: str) -> str | None:
        """What stands for a batch in the id of its first result; null where it is not ours."""
        async with self._open_results(provider_batch_id) as pieces:
            async for raw in split_lines(pieces):
                line = None if raw is None else read_result_line(raw)
                return None if line is None else str(line["custom_id"])[_KEY_LENGTH:]
        return None

    async def look_at_batch(self, provider_batch_id: str) -> ProviderBatch | Failure:
        """How far the provider has got."""
        batches = self.client.with_options(max_retries=_RETRIES).messages.batches
        return self._read_batch(await _ask(batches.retrieve(provider_batch_id)))

    async def cancel_batch(self, provider_batch_id: str) -> ProviderBatch | Failure:
        """Ask the provider to stop; what is done by then is answered, and billed."""
        batches = self.client.with_options(max_retries=_RETRIES).messages.batches
        return self._read_batch(await _ask(batches.cancel(provider_batch_id)))

    async def read_results(self, found: ProviderBatch, longest_reply: int) -> BatchResults | Failure:
        """Every readable line of a batch's results, the first one of each call.

        They are read line by line: text and reasoning of a reply are kept up to `longest_reply` characters. Where there are fewer than the batch has
        requests a failure is returned (`cut_results`): they are asked for again, and nothing is booked.
        """
        results = await _ask(self._read_lines(found.provider_batch_id, longest_reply))
        count = self._counts.get(found.provider_batch_id, 0)
        if isinstance(results, BatchResults) and results.is_whole and len(results.lines) < count:
            return Failure("cut_results", True)
        return results

    async def _read_lines(self, provider_batch_id: str, longest_reply: int) -> BatchResults:
        lines: dict[str, BatchLine] = {}
        async with self._open_results(provider_batch_id) as pieces:
            async for raw in split_lines(pieces):
                if raw is None:
                    return BatchResults(list(lines.values()), False)
                line = read_result_line(raw)
                key = None if line is None else _unpack_key(str(line["custom_id"]))
                if line is None or key is None or key in lines:
                    continue
                lines[key] = BatchLine(key, keep_reply(_parse_outcome(line), longest_reply))
        return BatchResults(list(lines.values()), True)

    @asynccontextmanager
    async def _open_results(self, provider_batch_id: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """The results from our address: the SDK would follow a reply's, with our key."""
        from anthropic import AsyncStream

        stream = await self.client.with_options(max_retries=_RETRIES).get(
            f"{_PATH}/{quote(provider_batch_id, safe='')}/results",
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
        )
        try:
            yield stream.response.aiter_bytes()
        finally:
            await stream.close()

    async def delete_files(self, file_ids: Iterable[str | None]) -> None:
        """Take our batch away, questions and replies with it; one that stays is no error."""
        for file_id in file_ids:
            if file_id is None or self._held.pop(file_id, None) is not None or file_id.startswith(_HELD):
                continue
            await _ask(self.client.messages.batches.delete(file_id))

    def _read_batch(self, batch: MessageBatch | Failure) -> ProviderBatch | Failure:
        """A batch in our words: ended, it is what most of its requests are."""
        if isinstance(batch, Failure):
            return batch
        # The SDK builds its types of whatever came.
        name, status = getattr(batch, "id", None), getattr(batch, "processing_status", None)
        counts = getattr(batch, "request_counts", None)
        found = [one for kind in _KINDS if isinstance(one := getattr(counts, kind, None), int)]
        if not isinstance(name, str) or not _NAME.match(name) or len(found) < len(_KINDS):
            return Failure("malformed", True, is_bill_unknown=True)
        succeeded, errored, cancelled, _ = found
        worked = succeeded + errored
        self._counts[name] = sum(found)
        if status == "ended":
            status = "completed" if worked else "cancelled" if cancelled else "expired"
        return ProviderBatch(name, str(status), name, None)


async def _ask(asked: Awaitable[T]) -> T | Failure:
    import anthropic

    return await ask_sdk(anthropic, asked)


def _write_tag(batch_id: str) -> str:
    """What stands for a batch in the ids of its requests."""
    return base64.urlsafe_b64encode(hashlib.sha256(batch_id.encode()).digest()).decode()[:_TAG_LENGTH]


def _pack_key(call_key: str) -> str:
    return base64.urlsafe_b64encode(bytes.fromhex(call_key)).decode().rstrip("=")


def _unpack_key(custom_id: str) -> str | None:
    """The call that an id is of; null for an id that is not ours."""
    if len(custom_id) != _KEY_LENGTH + _TAG_LENGTH:
        return None
    try:
        return base64.urlsafe_b64decode(custom_id[:_KEY_LENGTH] + "=").hex()
    except ValueError:
        return None


def _parse_outcome(line: Mapping[str, Any]) -> ParsedReply | Failure:
    result = line.get("result")
    kind = result.get("type") if isinstance(result, Mapping) else None
    if not isinstance(result, Mapping) or kind not in ("succeeded", "errored", "canceled", "expired"):
        return Failure("no_response", True, is_bill_unknown=True)
    if kind == "succeeded":
        return parse_message(result.get("message")) or Failure("malformed", True, is_bill_unknown=True)
    if kind == "errored":
        error = result.get("error")
        inner = error.get("error") if isinstance(error, Mapping) else None
        name = inner.get("type") if isinstance(inner, Mapping) else None
        failure = read_status_failure(_STATUSES.get(str(name), 500), error, {})
        outcome = read_refusal(failure)
        # What failed is not billed, whatever its status.
        if isinstance(outcome, Failure):
            return replace(outcome, is_bill_unknown=False)
        return replace(outcome, input_tokens=0, output_tokens=0)
    return Failure("batch_cancelled" if kind == "canceled" else "batch_expired", True)
