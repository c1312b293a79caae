"""The warnings and notes about what was perhaps not read that others look for."""

from __future__ import annotations

# A warning about losses: the summary of an ingest shows it.
NOT_READ = "Not read: "

# Notes of a question that may hold more than its own: the next question, another's answer or options.
MAY_HOLD_MORE = frozenset(
    (
        "stem_holds_next_question",
        "holds_number_of_its_kind",
        "holds_second_answer",
        "holds_second_options",
        "stem_holds_heading",
        "number_gap_after",
    )
)
