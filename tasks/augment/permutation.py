"""The same choice with its options in another order: a memorised letter no longer helps. By template, no model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from schemas.questions import CONTENT
from tasks.augment.true_false import refers_to_other_options

METHOD = "permuted_options"
PROMPT_VERSION = "permuted-options/1"
# An explanation or stem that names a letter would name the wrong one after the permutation. “A tree” names none.
_NAMED_LETTER = re.compile(r"(?<![A-Za-z])(?:[B-H]|A(?!\s+[a-z]))(?![A-Za-z])")


def make_permuted_variant(question: Mapping[str, Any], made_at: datetime) -> dict[str, Any] | None:
    """The question with its options in an order that a hash of its UUID fixes; never the order it has.

    Null when the order matters: an option refers to others (“all of the above”), or the stem names a letter. An
    explanation that names a letter is left out.
    """
    from tasks.questions.identity import compute_question_uuid

    options = question["options"] or []
    if (
        question["question_type"] != "multiple_choice"
        or len(options) < 2
        or any(refers_to_other_options(option["text"]) for option in options)
        or _NAMED_LETTER.search(question["stem"])
    ):
        return None
    order = _draw_order(question["question_uuid"], len(options))
    labels = [option["label"] for option in options]
    moved = [
        {"label": label, "text": options[place]["text"]} for label, place in zip(labels, order, strict=True)
    ]
    new_label = {labels[place]: label for label, place in zip(labels, order, strict=True)}
    explanation = question.get("explanation")
    content = {column.name: question.get(column.name) for column in CONTENT} | {
        "options": moved,
        "answer": sorted(new_label[key] for key in question["answer"]),
        "explanation": None if explanation and _NAMED_LETTER.search(explanation) else explanation,
    }
    return {
        "question_uuid": compute_question_uuid(
            "multiple_choice", question["stem"], question.get("material"), moved
        ),
        "revision": 1,
        "lineage_uuid": question["lineage_uuid"],
        "parent_uuid": question["question_uuid"],
        "method": METHOD,
        "option_label": None,
        "generator": "template",
        "prompt_version": PROMPT_VERSION,
        "support": None,
        **content,
        "created_at": made_at,
    }


def _draw_order(salt: str, count: int) -> list[int]:
    order = sorted(range(count), key=lambda place: hashlib.sha256(f"{salt}\x1f{place}".encode()).digest())
    return order if order != list(range(count)) else [*order[1:], order[0]]
