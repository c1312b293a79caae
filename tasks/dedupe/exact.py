"""Exact duplicates: questions whose content is the same after normalisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def compute_content_key(row: Mapping[str, Any]) -> str:
    """What is asked, not what is answered: the UUID that the content has with its options in alphabetical order.

    Two questions have the same key when type, stem, material and the set of options are the same after normalisation.
    """
    from tasks.questions.identity import compute_question_uuid, normalise_for_key

    options = row.get("options") or []
    if not options and row.get("generator") == "template" and row["revision"] == 1:
        return str(row["question_uuid"])  # computed from this very content when the variant was made
    texts = sorted(normalise_for_key(option["text"]) for option in options)
    return compute_question_uuid(
        row["question_type"],
        row["stem"],
        row.get("material"),
        [{"label": "", "text": text} for text in texts],
    )


def list_answer_texts(row: Mapping[str, Any]) -> list[str]:
    """The answer in normalised words, sorted: keys count by the text of their option."""
    from tasks.questions.identity import normalise_for_key

    texts = {option["label"]: option["text"] for option in row.get("options") or []}
    return sorted(normalise_for_key(texts.get(key, key)) for key in row.get("answer") or [])
