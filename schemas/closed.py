"""What analyses say of closed months, frozen in a table `closed_NAME` for each."""

from __future__ import annotations

from dataclasses import replace

from schemas import columns
from schemas.table import Column, Table


def _closed(analysis: str, grain: str, key: tuple[str, ...], columns: tuple[Column, ...]) -> Table:
    return Table(
        name=f"closed_{analysis}",
        grain=f"{grain} Rows of `{analysis}` for closed months.",
        key=key,
        unit="a month",
        stage="publish",
        own_columns=columns,
    )


_JUDGE_A = replace(columns.JUDGE, name="judge_a", about="One judge.")
_JUDGE_B = replace(columns.JUDGE, name="judge_b", about="The other one.")
_JUDGED_AT = Column.moment("judged_at", "When.")

CLOSED_MONTHS = Table(
    name="closed_months",
    grain="One row per closed month: every run that was judged in it is published by the judge that its edition names.",
    key=("month",),
    unit="a month",
    stage="publish",
    own_columns=(
        columns.MONTH,
        Column.text(
            "basis_hash",
            "Hash of what its frozen rows were read from. They count as long as it is the present one; else the month is read again.",
        ),
    ),
)

CLOSED_SESSIONS_LEFT_OUT = _closed(
    "sessions_left_out",
    "One row per session that is not complete.",
    ("session_id",),
    (
        columns.MONTH,
        columns.RUN_ID,
        columns.SESSION_ID,
        columns.MODEL,
        columns.PROMPT_STYLE,
        columns.REPEAT,
        Column.count("question_count", "Questions allocated (N of S)."),
        Column.count("scored_count", "Those with stars."),
        Column.count("unanswered_count", "Those that nobody answered."),
        Column.count("unjudged_count", "Those that nobody judged."),
        Column.count("unparsed_count", "Those of which no judgement could be read."),
        Column(
            "unparsed_rate", "float", "Share of the candidate's answers of which none could be read.", low=0
        ),
        columns.IS_SIMULATED,
    ),
)

CLOSED_RESOLVED_JUDGEMENTS = _closed(
    "resolved_judgements",
    "One row per response that somebody else's stars count for.",
    ("session_id", "seq"),
    (
        columns.MONTH,
        columns.RUN_ID,
        columns.SESSION_ID,
        columns.SEQ,
        columns.QUESTION_UUID,
        columns.MODEL,
        columns.PROMPT_STYLE,
        columns.JUDGE,
        Column.text("counted_judge", "Whose stars count."),
        Column("stars", "int", "0 to 3.", low=0, high=3),
        Column("reason", "text", "Why they were given; null where the session's texts were erased."),
        columns.PROMPT_VERSION,
        columns.OCCASION,
        Column.flag("is_by_person", "Whether a person gave them."),
        _JUDGED_AT,
        columns.IS_SIMULATED,
    ),
)

CLOSED_UNPARSED_JUDGEMENTS = _closed(
    "unparsed_judgements",
    "One row per judgement that could not be read, of a response without stars.",
    ("session_id", "seq", "judge"),
    (
        columns.MONTH,
        columns.RUN_ID,
        columns.SESSION_ID,
        columns.SEQ,
        columns.QUESTION_UUID,
        columns.MODEL,
        columns.PROMPT_STYLE,
        columns.JUDGE,
        columns.PROMPT_VERSION,
        Column.flag("is_published", "Whether it is the primary judge's."),
        Column.count("attempt", "Attempts until it was given up."),
        _JUDGED_AT,
        columns.IS_SIMULATED,
    ),
)

CLOSED_JUDGE_AGREEMENT = _closed(
    "judge_agreement",
    "One row per pair of judges.",
    ("month", "judge_a", "judge_b", "is_simulated"),
    (
        columns.MONTH,
        _JUDGE_A,
        _JUDGE_B,
        Column.count("pair_count", "Responses that both judged."),
        Column("agreement_rate", "float", "Share with the same stars.", low=0, high=1),
        Column("kappa", "float", "Cohen's kappa; null where chance agreement is complete.", high=1),
        Column("mean_stars_a", "float", "Mean stars of judge_a.", low=0, high=3),
        Column("mean_stars_b", "float", "Mean stars of judge_b.", low=0, high=3),
        columns.IS_SIMULATED,
    ),
)

CLOSED_JUDGE_MEANS = _closed(
    "judge_means",
    "One row per judge and candidate.",
    ("month", "judge", "model", "is_simulated"),
    (
        columns.MONTH,
        columns.JUDGE,
        columns.MODEL,
        Column("mean_stars", "float", "Mean stars; null where nothing could be read.", low=0, high=3),
        Column.count("judged_count", "Responses with stars."),
        Column.count("unparsed_count", "Responses whose judgement could not be read."),
        columns.IS_SIMULATED,
        Column("mean_gap", "float", "Distance to the mean of all judges.", low=-3, high=3),
    ),
)
