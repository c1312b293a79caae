"""From ranks and scores to points, and from points to a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.errors import ContractError


@dataclass(frozen=True)
class Standing:
    """Where a candidate stands: the mean over its evaluations, and its rank.

    The mean is None without an evaluation. Ranks count from 1, and equal means share the better rank.
    """

    model: str
    evaluation_count: int
    score: float | None
    rank: int | None


class Tally:
    """Sums and counts of the evaluations of each candidate.

    What could not be read is not counted, and does not count as 0.
    """

    def __init__(self, sums: Mapping[str, tuple[float, int]] | None = None) -> None:
        self._sums: dict[str, tuple[float, int]] = dict(sums or {})

    def add(self, model: str, score: float | None) -> None:
        """Count an evaluation; null is left out."""
        if score is None:
            return
        total, count = self._sums.get(model, (0.0, 0))
        self._sums[model] = (total + score, count + 1)

    def rank(self, models: Sequence[str]) -> list[Standing]:
        """The standing of every candidate, best first; those without an evaluation come last."""
        means = {
            model: self._sums[model][0] / self._sums[model][1]
            for model in models
            if self._sums.get(model, (0.0, 0))[1]
        }
        ordered = sorted(models, key=lambda model: (model not in means, -means.get(model, 0.0), model))
        return [
            Standing(
                model,
                self._sums.get(model, (0.0, 0))[1],
                means.get(model),
                1 + sum(other > means[model] for other in means.values()) if model in means else None,
            )
            for model in ordered
        ]


def compute_borda_points(candidate_count: int, rank: int) -> int:
    """Return N - 1 - r points for rank r, whatever the length of the judge's list.

    This is League of LLMs, as its tables are computed.

    With n = 8 the asker's list of seven earns 6 to 0, the other judges' lists of six earn 6 to 1. Raises ContractError
    for a rank that no judge can give.
    """
    if not 1 <= rank <= candidate_count - 1:
        raise ContractError(f"There is no rank {rank} in a league of {candidate_count}.")
    return candidate_count - 1 - rank
