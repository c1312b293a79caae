"""All that is known of one question of the bank.

That is where it comes from, who met it, how hard it is, and what it earned.
"""

from __future__ import annotations

from typing import Any

from tasks.bank.retirement import find_question
from warehouse.lake import Lake

# Part of the card → the query that reads it, and what it asks by.
_PARTS = {
    "entries": ("card_entries", "question_uuid"),
    "lineage": ("card_lineage", "lineage_uuid"),
    "reviews": ("card_reviews", "question_uuid"),
    "duplicates": ("card_duplicates", "question_uuid"),
    "exposure": ("card_exposure", "lineage_uuid"),
    "difficulty": ("card_difficulty", "question_uuid"),
    "results": ("card_results", "question_uuid"),
}


def read_card(lake: Lake, name: str) -> dict[str, Any]:
    """The card of the question whose UUID begins with `name`.

    Raises UsageError for none, or for several questions.

    Beside the question: `entries` (since which version it is in the bank, until which), `lineage` (the original and its
    variants), `reviews`, `duplicates` (what was left out for its sake, or why it was left out), `exposure` (organisations that
    met the lineage), `difficulty` and `results` by edition. Every part is a list of rows, empty where nothing is known.
    """
    entry = find_question(lake, name)
    parts = {part: lake.read(read, {key: entry[key]}).to_dicts() for part, (read, key) in _PARTS.items()}
    return {**entry, **parts}
