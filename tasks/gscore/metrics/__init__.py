"""What a metric is to Proctor: texts in pairs in, a number for each pair out.

Other packages bring theirs by the entry points `proctor.metrics`; `proctor gscore --metric NAME` adds their columns to the scores.
Gscore itself is CG-Eval's sum of our own metrics, whatever else is computed beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import numpy.typing as npt

from schemas.seams import Seam

if TYPE_CHECKING:
    from tasks.gscore.metrics.profiles import Profile

__all__ = ["METRICS", "Metric"]


class Metric(Protocol):
    """A metric of generated text against reference text.

    Attributes:
        columns: the scores that it gives for every pair, by the name of their column.
        identity: what must be the same for two scores to be comparable: its version, and that of a model it uses.
    """

    @property
    def columns(self) -> Sequence[str]:  # noqa: D102 - above
        ...

    @property
    def identity(self) -> str:  # noqa: D102 - above
        ...

    def score(
        self, references: Sequence[str], responses: Sequence[str], profile: Profile
    ) -> Mapping[str, npt.ArrayLike]:
        """The scores of pairs of (reference, response) in their order, by column.

        A score is NaN where a pair has none.

        Texts may be empty. `profile` says how n-grams are made and smoothed; a metric without any may leave it unread.
        """
        ...


METRICS: Final[Seam[Metric]] = Seam(
    "proctor.metrics",
    "metric",
    {"surface": "tasks.gscore.metrics.batch:SURFACE"},
    needs=("columns", "identity", "score"),
)
