"""The fitted numbers of the confidence, and what they make of evidence."""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

from schemas.errors import UsageError

# A fitted step is never surer: a question that nothing speaks against may still be wrong.
_MOST_SURE = 0.99


@dataclass(frozen=True)
class Fit:
    """Weights of the evidence for a question and for a paper, and what their sums are worth.

    `question` and `paper` weigh evidence in a logistic sum, `""` is the constant. `steps` are the knots of what such a share
    turned out to be on papers that were left out: (share by the sum, share that was right), between which a line is drawn.
    `made` says of what it was fitted.
    """

    question: Mapping[str, float]
    paper: Mapping[str, float]
    steps: Sequence[tuple[float, float]] = ((0.0, 0.0), (1.0, 1.0))
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """A name made of the numbers: the same numbers have the same name."""
        numbers = json.dumps(
            [sorted(self.question.items()), sorted(self.paper.items()), list(self.steps)], sort_keys=True
        )
        return hashlib.sha256(numbers.encode()).hexdigest()[:12]

    def expect_right(self, evidence: Mapping[str, float]) -> float:
        """How likely a question of this evidence is fully right."""
        return min(_MOST_SURE, interpolate(self.steps, _sum_up(self.question, evidence)))

    def expect_share(self, evidence: Mapping[str, float]) -> float:
        """What share of a paper of this evidence is right; what was not found is wrong."""
        return _sum_up(self.paper, evidence)

    def render(self) -> str:
        """The fit as JSON, as it is kept."""
        value = {
            "question": dict(sorted(self.question.items())),
            "paper": dict(sorted(self.paper.items())),
            "steps": [list(step) for step in self.steps],
            "made": dict(self.made),
        }
        return json.dumps(value, ensure_ascii=False, indent=1)


def parse_fit(text: str) -> Fit:
    """The fit in a JSON text.

    Raises:
        UsageError: it is no such JSON.
    """
    try:
        value = json.loads(text)
        return Fit(
            {str(name): float(weight) for name, weight in value["question"].items()},
            {str(name): float(weight) for name, weight in value["paper"].items()},
            tuple((float(first), float(second)) for first, second in value["steps"]),
            value["made"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"The fit of the confidence cannot be read ({error}). Make it again with `proctor ingest learn`."
        ) from None


@lru_cache(maxsize=1)
def read_packaged_fit() -> Fit:
    """The fit that comes with the program."""
    return parse_fit(
        resources.files("tasks.ingest.confidence").joinpath("fit.json").read_text(encoding="utf-8")
    )


@lru_cache(maxsize=4)
def read_fit(text: str | None) -> Fit:
    """The fit in a text, or the one that comes with the program."""
    return parse_fit(text) if text else read_packaged_fit()


def _sum_up(weights: Mapping[str, float], evidence: Mapping[str, float]) -> float:
    total = weights.get("", 0.0) + sum(
        weights[name] * value for name, value in evidence.items() if name in weights
    )
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def interpolate(steps: Sequence[tuple[float, float]], value: float) -> float:
    """The value on the line between the knots; beyond the first and last knot it is theirs."""
    at = bisect_right([first for first, _ in steps], value)
    if at == 0:
        return steps[0][1]
    if at == len(steps):
        return steps[-1][1]
    (left, low), (right, high) = steps[at - 1], steps[at]
    return low + (high - low) * (value - left) / (right - left) if right > left else high
