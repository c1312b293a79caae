"""What every metric keeps to, as a function for the tests of whoever writes one."""

from __future__ import annotations

from typing import Final

import numpy as np

from tasks.gscore.metrics import Metric
from tasks.gscore.metrics.profiles import PROFILES

_TEXTS: Final = ("", " ", "a", "the cat sat", "光合作用", "e\u0301 \U0001f600", "x " * 5000)


def check_metric(metric: Metric) -> None:
    """Score every pair of some texts by every profile, together and one by one.

    Raises AssertionError naming the rule that is broken: columns with names of their own, an identity, one number for each pair in
    each column, none of them infinite, and the same for a pair whatever is scored beside it.
    """
    assert metric.identity, "identity says what must be the same for two scores to be comparable"
    assert len(set(metric.columns)) == len(metric.columns) > 0, "columns has names, each once"
    assert all(name.isidentifier() and name == name.lower() for name in metric.columns), (
        "columns are in small_letters"
    )
    references = [one for one in _TEXTS for _ in _TEXTS]
    responses = [other for _ in _TEXTS for other in _TEXTS]
    for profile in PROFILES.values():
        found = {
            name: np.asarray(values, dtype=float)
            for name, values in metric.score(references, responses, profile).items()
        }
        assert set(found) == set(metric.columns), (
            f"the scores are of {sorted(found)}, not of {sorted(metric.columns)}"
        )
        for name, values in found.items():
            assert values.shape == (len(references),), (
                f"{name}: {values.shape} scores of {len(references)} pairs"
            )
            assert not np.isinf(values).any(), f"{name}: an infinite score; NaN stands for none"
        for place in range(0, len(references), 5):
            alone = metric.score(references[place : place + 1], responses[place : place + 1], profile)
            for name in found:
                same = np.isclose(np.asarray(alone[name], dtype=float)[0], found[name][place], equal_nan=True)
                assert same, f"{name}: pair {place} has another score by itself"
        assert all(len(np.asarray(values)) == 0 for values in metric.score([], [], profile).values())
