"""Exact duplicates: questions whose content is the same after normalisation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any


def compute_content_key(row: Mapping[str, Any]) -> str:
    """A hash over type, stem, material and options after normalisation: what is asked, not what is answered.

    Unlike the UUID it does not depend on the order or the labels of the options.
    """
    from tasks.ingest.identity import normalise_for_key

    parts = [
        row["question_type"],
        normalise_for_key(row["stem"]),
        normalise_for_key(row.get("material") or ""),
        "\x1e".join(sorted(normalise_for_key(option["text"]) for option in row.get("options") or [])),
    ]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def list_answer_texts(row: Mapping[str, Any]) -> list[str]:
    """The answer in normalised words, sorted: keys count by the text of their option."""
    from tasks.ingest.identity import normalise_for_key

    texts = {option["label"]: option["text"] for option in row.get("options") or []}
    return sorted(normalise_for_key(texts.get(key, key)) for key in row.get("answer") or [])
