"""A month that another system writes for a flow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.exam import RunWishes, plan_month
from tasks.judging.calibration import watch_anchors
from tasks.operations.validation import validate_lake


@pytest.mark.parametrize("month", ["2027-1", "2026-13", "nov", "2026-11\n", "２０２６-11"])
def test_what_is_no_month_is_neither_planned_nor_paid_for_nor_found_valid(
    month: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    load_settings.cache_clear()
    try:
        begins: tuple[Callable[[], object], ...] = (
            lambda: plan_month.fn(RunWishes(month)),
            lambda: watch_anchors.fn(month),
            lambda: validate_lake.fn("responses", month),
        )
        for begin in begins:
            with pytest.raises(UsageError, match="is not a month: write it as YYYY-MM"):
                begin()
    finally:
        load_settings.cache_clear()
    assert not (tmp_path / "home").exists()
