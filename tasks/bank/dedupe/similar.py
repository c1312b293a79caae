"""Questions whose words are like those of one question, found among many at once.

An index in memory over the MinHash bands of the near-duplicates' search. What it holds asks a similar thing; numbers, options and
answers may differ, which near-duplicates may not.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import polars as pl

from schemas.lazy import np
from schemas.tables import get_table
from tasks.bank.dedupe.exact import normalise_contents
from tasks.bank.dedupe.signatures import BANDS, compute_sketches, estimate_jaccards

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

K = TypeVar("K", bound=Hashable)
_READ = ("question_type", "stem", "material", "options", "answer")


class SimilarQuestions(Generic[K]):
    """Questions by a key each, among which the likes of one are looked up.

    That takes a time which hardly grows with how many there are. For 100,000 questions it takes some 28 MB. It is not safe for threads.
    """

    def __init__(self) -> None:
        self._keys: list[K] = []
        self._places: dict[K, int] = {}
        # Not sorted in yet.
        self._added: list[tuple[NDArray[np.uint32], NDArray[np.uint8]]] = []
        self._order: NDArray[np.int32] | None = None
        self._values: NDArray[np.uint32] | None = None
        self._bands: NDArray[np.uint32] | None = None
        self._bytes: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, keys: Sequence[K], contents: Sequence[Mapping[str, object]]) -> None:
        """Add questions as rows with their content's fields; what is there already stays."""
        new = [place for place, key in enumerate(keys) if key not in self._places]
        keys, contents = [keys[place] for place in new], [contents[place] for place in new]
        if not keys:
            return
        schema = {name: get_table("questions").polars_schema[name] for name in _READ}
        rows = [{name: content.get(name) for name in _READ} for content in contents]
        forms = normalise_contents(pl.DataFrame(rows, schema=schema))
        alike = pl.Series([""] * len(rows), dtype=pl.String)
        sketches = compute_sketches(forms.texts, forms.options, alike)
        self._places |= {key: place for place, key in enumerate(keys, start=len(self._keys))}
        self._keys += keys
        self._added.append((sketches.bands, sketches.bytes))

    def find(self, key: K, *, least: float = 0.5) -> list[tuple[K, float]]:
        """What is at least so like the question of that key, the most alike first.

        Each comes with the share of 3-grams that both have in common. The share is an estimate with a standard error of 0.05; a pair of that likeness is missed as often as MinHash does.
        """
        place = self._places.get(key)
        if place is None:
            return []
        bands, values, order, bytes_ = self._sort()
        met = []
        for band in range(BANDS):
            wanted = bands[place, band]
            low, high = (
                np.searchsorted(values[band], wanted, "left"),
                np.searchsorted(values[band], wanted, "right"),
            )
            met.append(order[band, low:high])
        others = np.unique(np.concatenate(met))
        others = others[others != place]
        shares = estimate_jaccards(bytes_, np.stack([np.full(len(others), place), others], axis=1))
        best = np.argsort(-shares, kind="stable")
        return [(self._keys[others[at]], float(shares[at])) for at in best if shares[at] >= least]

    def _sort(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8]]:
        """Bands, each band's values in order, the places in that order, and the bytes of all."""
        if self._added:
            before = [] if self._bands is None or self._bytes is None else [(self._bands, self._bytes)]
            parts = [*before, *self._added]
            self._bands = np.concatenate([bands for bands, _ in parts])
            self._bytes = np.concatenate([bytes_ for _, bytes_ in parts])
            self._order = np.argsort(self._bands.T, axis=1, kind="stable").astype(np.int32)
            self._values = np.take_along_axis(self._bands.T, self._order.astype(np.int64), axis=1)
            self._added = []
        assert self._bands is not None and self._values is not None
        assert self._order is not None and self._bytes is not None
        return self._bands, self._values, self._order, self._bytes
