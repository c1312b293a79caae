"""Rows of the lake's `quarantine` for questions and variants that broke a rule."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any


def build_quarantine_row(unit: str, row: Mapping[str, Any], rule: str, at: datetime) -> dict[str, Any]:
    """One refused row and the rule that it broke; the whole row goes along so that it can be corrected and landed."""
    key = {"question_uuid": row["question_uuid"], "revision": row["revision"]}
    if row.get("option_label") is not None:
        key |= {"parent_uuid": row["parent_uuid"], "option_label": row["option_label"]}
    return {
        "table_name": "variants",
        "unit": unit,
        "stage": "augment",
        "row_key": json.dumps(key, ensure_ascii=False, sort_keys=True),
        "rule": rule,
        "row_json": json.dumps(dict(row), ensure_ascii=False, sort_keys=True, default=_encode),
        "quarantined_at": at,
    }


def _encode(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a question's row")
