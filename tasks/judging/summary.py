"""What judging came to, in counts and sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tasks.models import ModelClient
from tasks.models.batches import BatchClient


@dataclass
class JudgingSummary:
    """What a run of the judges came to.

    Attributes:
        controls: judgements of control answers, which are in no score.
        resolved: responses of which somebody else, or the same judge asked again, could be read.
        unresolved: responses that nobody's judgement could be read of so far: they count 0, and block publication.
        failed: units that a judge gave no reply for.
        failure: what went wrong, in a sentence; null where nothing did.
        pending: calls in batches under way, or gathered for the next one.
        notes: what else is to be known of batches, in sentences.
    """

    judged: int = 0
    unparsed: int = 0
    controls: int = 0
    resolved: int = 0
    unresolved: int = 0
    failed: int = 0
    judges: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    failure: str | None = None
    pending: int = 0
    notes: list[str] = field(default_factory=list)


def add_calls(summary: JudgingSummary, client: ModelClient) -> None:
    """Count what a client did for a run."""
    summary.calls.update(client.counts)
    summary.pending += len(client.pending)
    if isinstance(client, BatchClient):
        summary.calls.update(Counter(batched=client.submitted) if client.submitted else {})
        summary.notes += client.problems
        summary.failed += client.refused
        if client.refused:
            summary.failure = client.problems[0]
