"""Fits remembered for tests of what is made from them.

A season that was fitted once in a run of the tests is not fitted again, whichever worker needs it; and its chain is a
quarter as long as an examination's.
"""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from threading import Lock

import numpy as np
import pytest

from tasks.editions import equating
from tasks.statistics.items import GradedFit, GradedRows, KnownQuestions, Scale, fit_graded_response
from tests.shared import find_shared_folder

_FITS: dict[str, GradedFit] = {}
_IS_FITTING = Lock()


@contextmanager
def remembering_fits() -> Iterator[None]:
    """An edition's fit of the same answers and known questions is what it was the first time.

    For pages, gates and landings. Not for tests that ask whether a number comes out again.
    """

    def fit(
        rows: GradedRows,
        *,
        known: KnownQuestions | None = None,
        scale: Scale | None = None,
        draws: int = 100,
    ) -> GradedFit:
        asked = f"{_digest(rows)} {_digest(known)} {_digest(scale)} {draws}"
        key = hashlib.sha256(asked.encode()).hexdigest()
        if key not in _FITS:
            _FITS[key] = _read_fit(key) or _keep_fit(key, _fit_shortly(rows, known, scale, draws))
        return copy.deepcopy(_FITS[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equating, "fit_graded_response", fit)
        yield


def _fit_shortly(
    rows: GradedRows, known: KnownQuestions | None, scale: Scale | None, draws: int
) -> GradedFit:
    """As many draws as an examination keeps, after a quarter of its sweeps."""
    # One at a time: what a thread puts back would be what another one had set.
    with _IS_FITTING, pytest.MonkeyPatch.context() as patch:
        patch.setattr("tasks.statistics.items.graded_response.WARM_UP", 50)
        patch.setattr("tasks.statistics.items.graded_response.EVERY", 1)
        return fit_graded_response(rows, known=known, scale=scale, draws=draws)


def _read_fit(key: str) -> GradedFit | None:
    """What another worker has fitted."""
    try:
        fit: GradedFit = pickle.loads((find_shared_folder() / f"fit-{key}").read_bytes())
    except FileNotFoundError:
        return None
    return fit


def _keep_fit(key: str, fit: GradedFit) -> GradedFit:
    kept = find_shared_folder() / f"fit-{key}"
    draft = kept.with_name(f"{kept.name}-{os.getpid()}")
    draft.write_bytes(pickle.dumps(fit))
    draft.rename(kept)
    return fit


def _digest(given: GradedRows | KnownQuestions | Scale | None) -> str:
    """Of every number in every field."""
    digest = hashlib.sha256()
    for field in fields(given) if given is not None else ():
        values = np.asarray(getattr(given, field.name))
        digest.update(f"{field.name} {values.dtype} {values.shape} ".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()
