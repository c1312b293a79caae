"""Rows of the lake's `quarantine` for questions and variants that broke a rule."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from tasks.questions import Question
from tasks.questions.variants import Variant


def build_refused_question(
    unit: str, question: Question, row: Mapping[str, object], rule: str, at: datetime
) -> dict[str, object]:
    """The refused question, the rule it broke, and its whole `row`, to be corrected and landed."""
    key = {"question_uuid": question.question_uuid, "revision": question.revision}
    return _build_row(unit, key, row, rule, at)


def build_refused_variant(unit: str, variant: Variant, rule: str, at: datetime) -> dict[str, object]:
    """The refused variant and the rule that it broke; the whole variant goes along."""
    question = variant.question
    key: dict[str, object] = {"question_uuid": question.question_uuid, "revision": question.revision}
    if variant.option_label is not None:
        key |= {"parent_uuid": question.parent_uuid, "option_label": variant.option_label}
    return _build_row(unit, key, variant.as_row(), rule, at)


def build_refused_reply(
    unit: str, parent: Question, method: str, attempt: int, text: str, rule: str, at: datetime
) -> dict[str, object]:
    """A model's reply not of the form asked for, as it came, with its question."""
    key: dict[str, object] = {"parent_uuid": parent.question_uuid, "method": method, "attempt": attempt}
    return _build_row(unit, key, key | {"reply": text}, rule, at)


def _build_row(
    unit: str, key: Mapping[str, object], row: Mapping[str, object], rule: str, at: datetime
) -> dict[str, object]:
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
