"""The month that is meant, as people and other systems write it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from schemas.errors import UsageError
from schemas.table import MONTH_PATTERN


def choose_month(text: str, name: str = "month") -> str:
    """A month as it was written, or the present one for none; UsageError names what was written.

    What is no month would be planned and paid for, and its rows refused by every table.
    """
    if not text:
        return datetime.now(UTC).strftime("%Y-%m")
    if not re.fullmatch(MONTH_PATTERN, text, re.ASCII):
        raise UsageError(f"{name} {text!r} is not a month: write it as YYYY-MM, for example 2026-11.")
    return text
