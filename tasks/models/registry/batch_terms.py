"""What the registry says of a model's batch endpoint: calls that may wait, at a lower price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.models.registry.file import EntryPlace, check_names, read_number, read_text

BATCH_FIELDS = ("window", "price_share", "most_requests", "most_mb", "least_requests")
DEFAULT_WINDOW = "24h"
DEFAULT_PRICE_SHARE = 0.5
# Providers take more (OpenAI: 50,000 requests, 200 MB); what is lost with one batch is to stay small.
DEFAULT_MOST_REQUESTS = 10_000
DEFAULT_MOST_MB = 50.0
DEFAULT_LEAST_REQUESTS = 10


@dataclass(frozen=True)
class BatchTerms:
    """How a model takes batches.

    Attributes:
        window: the time within which the provider answers, as its API words it (`completion_window`).
        price_share: share of the prices of a single call that a call in a batch costs.
        most_requests: the most requests of one batch.
        most_mb: the most megabytes of one batch's file.
        least_requests: fewer requests than so many are not worth the wait, and are sent singly.
    """

    window: str = DEFAULT_WINDOW
    price_share: float = DEFAULT_PRICE_SHARE
    most_requests: int = DEFAULT_MOST_REQUESTS
    most_mb: float = DEFAULT_MOST_MB
    least_requests: int = DEFAULT_LEAST_REQUESTS


def parse_batch_terms(place: EntryPlace, entry: Mapping[str, Any]) -> BatchTerms | None:
    """The field `batch` of a model.

    It is None where the field is left out, that is, where the model takes no batches.
    """
    value = entry.get("batch")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise place.error("batch", "expected fields", "Write `batch: {}` for the usual terms")
    check_names(place, value, BATCH_FIELDS)
    share = read_number(place, value, "price_share")
    if share is not None and share > 1:
        raise place.error("batch.price_share", f"{share:g} is above 1", "Write 0.5 for half the price")
    return BatchTerms(
        window=read_text(place, value, "window") or DEFAULT_WINDOW,
        price_share=DEFAULT_PRICE_SHARE if share is None else share,
        most_requests=_whole(place, value, "most_requests", DEFAULT_MOST_REQUESTS),
        most_mb=read_number(place, value, "most_mb", least=0.001) or DEFAULT_MOST_MB,
        least_requests=_whole(place, value, "least_requests", DEFAULT_LEAST_REQUESTS),
    )


def _whole(place: EntryPlace, value: Mapping[str, Any], name: str, default: int) -> int:
    number = read_number(place, value, name, least=1)
    if number is None:
        return default
    if number != int(number):
        raise place.error(f"batch.{name}", f"{number!r} is not a whole number", "Correct it")
    return int(number)
