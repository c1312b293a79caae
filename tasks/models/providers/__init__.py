"""What a provider of models is to Proctor: one call, one reply; batches where it takes them.

A provider knows how its API words requests, replies and errors. It knows nothing of budgets, of what was asked before, of retries
and limits: these are the door's (`tasks/models/client.py`). Other packages bring theirs by the entry points `proctor.providers`,
and the registry names one in the field `api` of a provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol, runtime_checkable

from schemas.seams import Seam
from tasks.models.replies import Failure, ParsedReply, build_reply, note_source

__all__ = [
    "FINAL_STATUSES",
    "PROVIDERS",
    "BatchEndpoint",
    "BatchLine",
    "BatchResults",
    "Endpoint",
    "Failure",
    "ParsedReply",
    "Provider",
    "ProviderBatch",
    "build_reply",
    "note_source",
]

# What a provider says of a batch in the end; until then it says whatever it likes.
FINAL_STATUSES: Final = ("completed", "failed", "expired", "cancelled")


@dataclass(frozen=True)
class BatchResults:
    """What could be read of a batch's results, and whether its files were read to their ends."""

    lines: list[BatchLine]
    is_whole: bool


@runtime_checkable
class Endpoint(Protocol):
    """An open connection to a provider, used by one event loop."""

    async def send(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Send one request, once.

        Whatever goes wrong with it is returned, not raised, and carries no content of it.

        The request has `model`, `messages` (each with `role` and `content`) and the registered parameters beside them:
        `max_tokens`, `temperature`, `stream`, `seed`, `response_format` in OpenAI's words, and whatever else the registry has.
        The caller limits the time, cancels, and cuts what is too long to be kept.
        """
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


class Provider(Protocol):
    """What opens the connection to an address, with a key (`none` where none is registered)."""

    def __call__(self, url: str, key: str, timeout_s: float) -> Endpoint:
        """An open connection, on which a call may take `timeout_s` seconds.

        Raises UsageError for what is not installed.
        """
        ...


@dataclass(frozen=True)
class ProviderBatch:
    """What a provider says of a batch; `status` ends as one of FINAL_STATUSES."""

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


@runtime_checkable
class BatchEndpoint(Endpoint, Protocol):
    """A connection to a provider that takes batches too.

    Batches are files of requests, worked on within a window of time.
    """

    def write_line(self, call_key: str, request: Mapping[str, Any]) -> bytes:
        """A request as it stands in a file, with the key by which its result is known again."""
        ...

    async def upload_requests(self, name: str, content: bytes) -> str | Failure:
        """Upload a file of lines; returns the provider's name of it. Nothing is billed by it."""
        ...

    async def create_batch(self, batch_id: str, file_id: str, window: str) -> ProviderBatch | Failure:
        """Create a batch of an uploaded file, once.

        A failure with `is_bill_unknown` may have created it all the same.
        """
        ...

    async def find_batch(self, batch_id: str, since: datetime) -> ProviderBatch | Failure | None:
        """The batch that was created under our own name for it, about the moment `since`.

        The result is None where the provider does not show it.
        """
        ...

    async def look_at_batch(self, provider_batch_id: str) -> ProviderBatch | Failure:
        """How far the provider has got."""
        ...

    async def cancel_batch(self, provider_batch_id: str) -> ProviderBatch | Failure:
        """Ask the provider to stop; what is done by then is answered, and billed."""
        ...

    async def read_results(self, found: ProviderBatch, longest_reply: int) -> BatchResults | Failure:
        """Every readable line of a batch's results, the first one of each call.

        Its texts are kept up to `longest_reply` characters.
        """
        ...

    async def delete_files(self, file_ids: Iterable[str | None]) -> None:
        """Take our files away from the provider.

        Questions and replies are not to stay there. A file that does stay is no error.
        """
        ...


PROVIDERS: Final[Seam[Provider]] = Seam(
    "proctor.providers",
    "provider",
    {
        "openai": "tasks.models.providers.openai_calls:open_endpoint",
        # The simulated models speak OpenAI's words, at an address that is known only when they run.
        "simulated": "tasks.models.providers.openai_calls:open_endpoint",
        "anthropic": "tasks.models.providers.anthropic_calls:open_endpoint",
    },
    needs=("__call__",),
)
