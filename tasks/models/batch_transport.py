"""A provider's files and batches: uploaded, created, found again, looked at, read. Errors come back in words without content."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from tasks.models.replies import ParsedReply, parse_completion
from tasks.models.transport import Failure, read_api_error, read_status_failure

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch

T = TypeVar("T")

# Under this name our own name of a batch stands in its metadata: by it a batch is found whose answer was lost.
METADATA_KEY = "proctor_batch"
FINAL_STATUSES = ("completed", "failed", "expired", "cancelled")
_PATH: Literal["/v1/chat/completions"] = "/v1/chat/completions"
_LISTED_AT_ONCE = 100
# Looking and uploading may be repeated at will; creating may not.
_RETRIES = 3


@dataclass(frozen=True)
class ProviderBatch:
    """What a provider says of a batch."""

    provider_batch_id: str
    status: str
    output_file_id: str | None
    error_file_id: str | None
    error: str | None = None


@dataclass(frozen=True)
class BatchLine:
    """One line of a batch's results: the call it answers and what came of it."""

    call_key: str
    outcome: ParsedReply | Failure


async def upload_requests(endpoint: AsyncOpenAI, name: str, content: bytes) -> str | Failure:
    """Upload a file of requests; returns the provider's name of it. Nothing is billed by it."""
    kept = await _ask(
        endpoint.with_options(max_retries=_RETRIES).files.create(
            file=(f"{name}.jsonl", content, "application/jsonl"), purpose="batch"
        )
    )
    return kept if isinstance(kept, Failure) else kept.id


async def create_batch(
    endpoint: AsyncOpenAI, batch_id: str, file_id: str, window: str
) -> ProviderBatch | Failure:
    """Create a batch of an uploaded file, once: a failure with `is_bill_unknown` may have created it all the same."""
    return _read_batch(
        await _ask(
            endpoint.batches.create(
                input_file_id=file_id,
                endpoint=_PATH,
                completion_window=cast(Any, window),  # other providers know other windows
                metadata={METADATA_KEY: batch_id},
            )
        )
    )


async def find_batch(endpoint: AsyncOpenAI, batch_id: str) -> ProviderBatch | Failure | None:
    """The batch with our name in its metadata, by the provider's list; null where the list does not show it."""

    async def look() -> ProviderBatch | Failure | None:
        async for batch in endpoint.with_options(max_retries=_RETRIES).batches.list(limit=_LISTED_AT_ONCE):
            if (batch.metadata or {}).get(METADATA_KEY) == batch_id:
                return _read_batch(batch)
        return None

    return await _ask(look())


async def look_at_batch(endpoint: AsyncOpenAI, provider_batch_id: str) -> ProviderBatch | Failure:
    """How far the provider has got."""
    batches = endpoint.with_options(max_retries=_RETRIES).batches
    return _read_batch(await _ask(batches.retrieve(provider_batch_id)))


async def cancel_batch(endpoint: AsyncOpenAI, provider_batch_id: str) -> ProviderBatch | Failure:
    """Ask the provider to stop; what is done by then is answered, and billed."""
    batches = endpoint.with_options(max_retries=_RETRIES).batches
    return _read_batch(await _ask(batches.cancel(provider_batch_id)))


async def read_results(endpoint: AsyncOpenAI, found: ProviderBatch) -> list[BatchLine] | Failure:
    """Every readable line of a batch's output and errors, the first one of each call."""
    lines: dict[str, BatchLine] = {}
    for file_id in (found.output_file_id, found.error_file_id):
        if file_id is None:
            continue
        content = await _ask(endpoint.with_options(max_retries=_RETRIES).files.content(file_id))
        if isinstance(content, Failure):
            return content
        for line in _parse_lines(content.content.split(b"\n"), found.status):
            lines.setdefault(line.call_key, line)
    return list(lines.values())


async def delete_files(endpoint: AsyncOpenAI, file_ids: Iterable[str | None]) -> None:
    """Take our files from the provider: questions and replies are not to lie there. One that stays is no error."""
    for file_id in file_ids:
        if file_id is not None:
            await _ask(endpoint.files.delete(file_id))


async def _ask(asked: Awaitable[T]) -> T | Failure:
    import openai

    try:
        return await asked
    except openai.APIError as error:
        return read_api_error(error)
    except ValueError:
        # An answer that is not JSON; the message would quote it.
        return Failure("malformed", True, is_bill_unknown=True)


def _parse_lines(lines: Iterable[bytes], status: str) -> Iterable[BatchLine]:
    for line in lines:
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, Mapping) and isinstance(data.get("custom_id"), str):
            yield BatchLine(data["custom_id"], _parse_outcome(data, status))


def _parse_outcome(data: Mapping[str, Any], status: str) -> ParsedReply | Failure:
    response = data.get("response")
    if not isinstance(response, Mapping):
        # Not executed, because the batch expired or was cancelled; otherwise an error of the request's own.
        is_whole = status in ("expired", "cancelled", "failed")
        return Failure(f"batch_{status}" if is_whole else "no_response", True, is_bill_unknown=not is_whole)
    code = response.get("status_code")
    if isinstance(code, int) and code != 200:
        return read_status_failure(code, response.get("body"), {})
    return parse_completion(response.get("body")) or Failure("malformed", True, is_bill_unknown=True)


def _read_batch(batch: Batch | Failure) -> ProviderBatch | Failure:
    if isinstance(batch, Failure):
        return batch
    errors = batch.errors.data if batch.errors is not None else None
    error = next((one.code for one in errors or () if one.code), None)
    return ProviderBatch(str(batch.id), str(batch.status), batch.output_file_id, batch.error_file_id, error)
