"""A month that another system writes for a flow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flows.drift import drift
from flows.evaluate import evaluate
from flows.monthly import monthly
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.operations.validation import validate_lake


@pytest.mark.parametrize("month", ["2027-1", "2026-13", "0026-11", "nov", "2026-11\n", "２０２６-11"])
def test_what_is_no_month_is_neither_planned_nor_paid_for_nor_found_valid(
    month: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    load_settings.cache_clear()
    try:
        begins: tuple[Callable[[], object], ...] = (
            # Chosen where a flow begins: what runs over the end of a month stays in it.
            lambda: evaluate.fn(month=month),
            lambda: monthly.fn(month=month),
            lambda: drift.fn(month=month),
            lambda: validate_lake.fn("responses", month),
        )
        for begin in begins:
            with pytest.raises(UsageError, match="is not a month: write it as YYYY-MM"):
                begin()
    finally:
        load_settings.cache_clear()
    assert not (tmp_path / "home").exists()
