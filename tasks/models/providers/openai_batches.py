"""A provider's files and batches in OpenAI's form.

They are uploaded, created, found again, looked at and read. Errors carry no content. Chat completions as
endpoints send them, read without trust.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from tasks.models.providers import BatchLine, BatchResults, ProviderBatch
from tasks.models.providers.failures import (
    ask_sdk,
    is_code,
    read_refusal,
    read_result_line,
    read_status_failure,
    split_lines,
)
from tasks.models.replies import Failure, ParsedReply, build_reply, keep_reply, note_source, read_text

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch

T = TypeVar("T")

# Under this name our own name of a batch stands in its metadata: by it a batch is found whose answer was lost.
METADATA_KEY = "proctor_batch"
_PATH: Literal["/v1/chat/completions"] = "/v1/chat/completions"
_LISTED_AT_ONCE = 100
# As long as a ledger keeps them.
_LONGEST_ID = 200
# Looking and uploading may be repeated at will; creating may not.
_RETRIES = 3


class OpenAIBatches:
    """The batches of an endpoint."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self.client = client

    async def close(self) -> None:
        """Close the connection."""
        await self.client.close()

    def write_line(self, call_key: str, request: Mapping[str, Any]) -> bytes:
        """A request as batches take it: without what concerns streams, as replies come whole."""
        plain = {name: value for name, value in request.items() if name not in ("stream", "stream_options")}
        line = {"custom_id": call_key, "method": "POST", "url": _PATH, "body": plain}
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace") + b"\n"

    async def upload_requests(self, name: str, content: bytes) -> str | Failure:
        """Upload a file of requests; returns the provider's name of it. Nothing is billed by it."""
        kept = await _ask(
            self.client.with_options(max_retries=_RETRIES).files.create(
                file=(f"{name}.jsonl", content, "application/jsonl"), purpose="batch"
            )
        )
        if isinstance(kept, Failure):
            return kept
        file_id: object = getattr(kept, "id", None)
        return file_id if isinstance(file_id, str) and file_id else Failure("malformed", True)

    async def create_batch(self, batch_id: str, file_id: str, window: str) -> ProviderBatch | Failure:
        """Create a batch of an uploaded file, once; `is_bill_unknown`: it may have been created."""
        return _read_batch(
            await _ask(
                self.client.batches.create(
                    input_file_id=file_id,
                    endpoint=_PATH,
                    completion_window=cast(Any, window),  # other providers know other windows
                    metadata={METADATA_KEY: batch_id},
                )
            )
        )

    async def find_batch(self, batch_id: str, since: datetime) -> ProviderBatch | Failure | None:
        """The batch with our name in its metadata, by the provider's list; None where it is not."""

        async def look() -> ProviderBatch | Failure | None:
            async for batch in self.client.with_options(max_retries=_RETRIES).batches.list(
                limit=_LISTED_AT_ONCE
            ):
                if (batch.metadata or {}).get(METADATA_KEY) == batch_id:
                    return _read_batch(batch)
            return None

        return await _ask(look())

    async def look_at_batch(self, provider_batch_id: str) -> ProviderBatch | Failure:
        """How far the provider has got."""
        batches = self.client.with_options(max_retries=_RETRIES).batches
        return _read_batch(await _ask(batches.retrieve(provider_batch_id)))

    async def cancel_batch(self, provider_batch_id: str) -> ProviderBatch | Failure:
        """Ask the provider to stop; what is done by then is answered, and billed."""
        batches = self.client.with_options(max_retries=_RETRIES).batches
        return _read_batch(await _ask(batches.cancel(provider_batch_id)))

    async def read_results(self, found: ProviderBatch, longest_reply: int) -> BatchResults | Failure:
        """Every readable line of a batch's output and errors, the first one of each call.

        The files are read line by line: text and reasoning of a reply are kept up to `longest_reply` characters, a line beyond
        what any reply has is no line, and of a file MOST_RESULT_BYTES are read.
        """
        lines: dict[str, BatchLine] = {}
        is_whole = True
        for file_id in (found.output_file_id, found.error_file_id):
            if file_id is None:
                continue
            is_end = await _ask(self._read_file(file_id, found.status, longest_reply, lines))
            if isinstance(is_end, Failure):
                return is_end
            is_whole = is_whole and is_end
        return BatchResults(list(lines.values()), is_whole)

    async def _read_file(
        self, file_id: str, status: str, longest_reply: int, lines: dict[str, BatchLine]
    ) -> bool:
        """Add the lines of a file to those that are there; whether it was read to its end."""
        files = self.client.with_options(max_retries=_RETRIES).files
        async with files.with_streaming_response.content(file_id) as response:
            async for raw in split_lines(response.iter_bytes()):
                if raw is None:
                    return False
                line = _parse_line(raw, status)
                if line is not None and line.call_key not in lines:
                    lines[line.call_key] = replace(line, outcome=keep_reply(line.outcome, longest_reply))
        return True

    async def delete_files(self, file_ids: Iterable[str | None]) -> None:
        """Take our files away, questions and replies with them; one that stays is no error."""
        for file_id in file_ids:
            if file_id is not None:
                await _ask(self.client.files.delete(file_id))


async def _ask(asked: Awaitable[T]) -> T | Failure:
    import openai

    return await ask_sdk(openai, asked)


def _parse_line(raw: bytes, status: str) -> BatchLine | None:
    """What a line says of a call; null for one that cannot be read."""
    data = read_result_line(raw)
    return None if data is None else BatchLine(data["custom_id"], _parse_outcome(data, status))


def _parse_outcome(data: Mapping[str, Any], status: str) -> ParsedReply | Failure:
    response = data.get("response")
    if not isinstance(response, Mapping):
        # Not executed, because the batch expired or was cancelled; otherwise an error of the request's own.
        is_whole = status in ("expired", "cancelled", "failed")
        return Failure(f"batch_{status}" if is_whole else "no_response", True, is_bill_unknown=not is_whole)
    code = response.get("status_code")
    if isinstance(code, int) and code != 200:
        return read_refusal(read_status_failure(code, response.get("body"), {}))
    return parse_completion(response.get("body")) or Failure("malformed", True, is_bill_unknown=True)


def _read_batch(batch: Batch | Failure) -> ProviderBatch | Failure:
    if isinstance(batch, Failure):
        return batch
    # The SDK builds its types of whatever came.
    name, status, output, refused = (
        getattr(batch, field, None) for field in ("id", "status", "output_file_id", "error_file_id")
    )
    is_named = isinstance(name, str) and 0 < len(name) <= _LONGEST_ID
    if not (
        is_named and isinstance(status, str) and all(isinstance(one, str | None) for one in (output, refused))
    ):
        return Failure("malformed", True, is_bill_unknown=True)
    errors = getattr(getattr(batch, "errors", None), "data", None)
    codes = (getattr(one, "code", None) for one in (errors if isinstance(errors, list) else ()))
    return ProviderBatch(
        str(name), status, output, refused, next((str(code) for code in codes if is_code(code)), None)
    )


def parse_completion(data: object) -> ParsedReply | None:
    """Read a chat completion; null when it does not have the shape of one."""
    if not isinstance(data, Mapping):
        return None
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return None
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        return None
    usage = data.get("usage")
    counts: Mapping[str, object] = usage if isinstance(usage, Mapping) else {}
    reply = build_reply(
        content=message.get("content"),
        reasoning=read_text(message.get("reasoning_content")) or read_text(message.get("reasoning")),
        refusal=message.get("refusal"),
        finish_reason=choices[0].get("finish_reason"),
        input_tokens=counts.get("prompt_tokens"),
        output_tokens=read_returned_tokens(counts),
        fingerprint=data.get("system_fingerprint"),
    )
    return note_source(reply, data.get("model"), read_cached_tokens(counts))


def read_returned_tokens(usage: Mapping[str, object]) -> object:
    """The tokens returned; xAI and Gemini count a model's thinking in the total alone."""
    sent, returned, whole = (usage.get(f"{name}_tokens") for name in ("prompt", "completion", "total"))
    if isinstance(sent, int) and isinstance(returned, int) and isinstance(whole, int):
        return max(returned, whole - sent)
    return returned


def read_cached_tokens(usage: Mapping[str, object]) -> object:
    """The tokens of a prompt from the endpoint's cache, said in one of two places."""
    details = usage.get("prompt_tokens_details")
    of_openai = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return usage.get("prompt_cache_hit_tokens") if of_openai is None else of_openai
