"""What it is expected to cost to let a model write variants, before any call is made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from schemas import patterns as re
from tasks.bank.augment.drafting import list_unwritten
from tasks.bank.augment.model_variants import TRIES
from tasks.bank.augment.requests import build_messages
from tasks.bank.augment.writing_tasks import WritingTask, list_writing_tasks
from tasks.models.budget import compute_cost
from tasks.models.registry import RegisteredModel
from warehouse.lake import Lake

# A character of Chinese, Japanese or Korean is about a token; of other scripts four of them are one.
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_LETTERS_PER_TOKEN = 4
# The JSON around what was asked for, and a statement about a material in words of the model's own.
_FRAME_TOKENS, _STATEMENT_TOKENS = 12, 30
# How many times as many tokens a thinking model returns, as for a run's plan.
_THINKING_FACTOR = 6.0
_SENTENCE = re.compile(r"[.。!！?？;；\n]+")


@dataclass(frozen=True)
class BatchEstimate:
    """What one method takes for one review batch, with one reply for each request.

    Attributes:
        batch_id: the review batch.
        method: the method.
        calls: requests.
        input_tokens: tokens sent.
        output_tokens: tokens returned.
        cost_usd: their cost; null where the registry has no price.
    """

    batch_id: str
    method: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True)
class WritingEstimate:
    """What is to be written, batch by batch; what was written before is not in it."""

    batches: tuple[BatchEstimate, ...]

    @property
    def calls(self) -> int:
        """Requests, each of which is sent at most `TRIES` times."""
        return sum(one.calls for one in self.batches)

    @property
    def cost_usd(self) -> float | None:
        """What all of it costs; null where a price is missing."""
        costs = [one.cost_usd for one in self.batches]
        return None if None in costs else sum(cost or 0.0 for cost in costs)

    @property
    def dearest_batch_usd(self) -> float | None:
        """What the dearest review batch costs, as budgets are for one; null without a price."""
        by_batch: dict[str, float] = {}
        for one in self.batches:
            if one.cost_usd is None:
                return None
            by_batch[one.batch_id] = by_batch.get(one.batch_id, 0.0) + one.cost_usd
        return max(by_batch.values(), default=0.0)

    def describe(self) -> dict[str, Any]:
        """The estimate as JSON values."""
        return {
            "calls": self.calls,
            "cost_usd": None if self.cost_usd is None else round(self.cost_usd, 4),
            "most_tries": TRIES,
            "batches": [asdict(one) for one in self.batches],
        }


def estimate_writing(
    lake: Lake, model: RegisteredModel, methods: Sequence[str], batch_id: str = ""
) -> WritingEstimate:
    """What the model would be asked about what it has not written yet.

    Nothing is sent, and nothing is landed. Calls that were paid for in a run that was stopped are counted all
    the same, although they are replayed.
    """
    found = []
    for unwritten in list_unwritten(lake, model, methods, batch_id):
        tasks = list_writing_tasks(unwritten.originals, unwritten.method)
        sent = sum(
            _count_tokens(json.dumps(build_messages(unwritten.method, **task.fields), ensure_ascii=False))
            for task in tasks
        )
        returned = sum(_count_returned(task, unwritten.method) for task in tasks)
        if model.mode == "thinking":
            returned = round(returned * _THINKING_FACTOR)
        found.append(
            BatchEstimate(
                batch_id=unwritten.batch_id,
                method=unwritten.method,
                calls=len(tasks),
                input_tokens=sent,
                output_tokens=returned,
                cost_usd=compute_cost(model, sent, returned),
            )
        )
    return WritingEstimate(tuple(found))


def _count_returned(task: WritingTask, method: str) -> int:
    """Tokens of the reply that is hoped for: about as long as what it says in other words."""
    if method != "material_to_true_false":
        return _FRAME_TOKENS + sum(_count_tokens(str(text)) for text in task.fields.values())
    material = str(task.fields["material"])
    sentences = max(1, sum(bool(text.strip()) for text in _SENTENCE.split(material)))
    each = _FRAME_TOKENS + _STATEMENT_TOKENS + _count_tokens(material) // sentences
    return _FRAME_TOKENS + int(task.fields["count"]) * each


def _count_tokens(text: str) -> int:
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // _LETTERS_PER_TOKEN)
