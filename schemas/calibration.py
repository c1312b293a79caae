"""Judges held to people: what was drawn to be rated, who agrees, what follows for scores."""

from __future__ import annotations

from dataclasses import replace

from schemas import columns
from schemas.editions import EDITION_ID
from schemas.table import Column, Table
from schemas.vocabulary import DISCIPLINES

CALIBRATION_OCCASION = replace(
    columns.OCCASION, about="When it was calibrated: `first`, or the month, YYYY-MM."
)
WORDING = replace(columns.PROMPT_VERSION, about="Version of the judge's prompt, without its language.")
_ROUND = Column.number("round", "Round, from 1.")
_DISCIPLINE = Column.text("discipline", "Discipline of the question.", DISCIPLINES)
_FAMILY = Column("family", "text", "Series of the candidate; null where none is registered.")
_OPTION = Column(
    "option_place",
    "text",
    "Whether the answer names the first option (A, or true) or a later one; null where it names none, or several.",
    allowed=("first", "later"),
)
_LENGTH = Column.count("response_length", "Characters of the response.")

GROUP_KINDS = (
    "all",
    "discipline",
    "candidate",
    "family",
    "family_of_judge",
    "prompt_style",
    "response_length",
    "option_place",
)


def _interval(
    name: str, what: str, low: float | None = None, high: float | None = None
) -> tuple[Column, ...]:
    """The two ends of a 95% interval."""
    return (
        Column(f"{name}_low", "float", f"Lower end of the 95% interval of {what}.", low=low, high=high),
        Column(f"{name}_high", "float", f"Upper end of the 95% interval of {what}.", low=low, high=high),
    )


def _kappa(weighting: str) -> tuple[Column, ...]:
    about = {"none": "Unweighted kappa", "linear": "Linear kappa", "quadratic": "Quadratic kappa"}[weighting]
    name = f"kappa_{weighting}"
    return (
        Column(name, "float", f"{about}; null where it is undefined.", low=-1, high=1),
        *_interval(name, name, -1, 1),
    )


CALIBRATION_SAMPLES = Table(
    name="calibration_samples",
    grain="One row per response drawn for people to rate, by occasion and round.",
    key=("occasion", "round", "session_id", "seq"),
    unit="an occasion and round",
    stage="calibrate",
    own_columns=(
        CALIBRATION_OCCASION,
        _ROUND,
        columns.RUN_ID,
        columns.MONTH,
        columns.SESSION_ID,
        columns.SEQ,
        columns.QUESTION_UUID,
        _DISCIPLINE,
        columns.MODEL,
        columns.ORGANISATION,
        _FAMILY,
        columns.PROMPT_STYLE,
        _LENGTH,
        _OPTION,
        Column(
            "drawn_stars",
            "int",
            "Stars of the judge by which the draw was spread; null where it gave none. No rater sees them.",
            low=0,
            high=3,
        ),
        Column.number("pool_count", "Responses of the candidate that could be drawn."),
        Column("raters", "texts", "Users who rate it."),
        Column.moment("drawn_at", "When it was drawn."),
        columns.IS_SIMULATED,
    ),
)

CALIBRATION_PAIRS = Table(
    name="calibration_pairs",
    grain="One row per rated response, round, judge and version of its prompt: the people's stars beside the judge's.",
    key=("occasion", "round", "session_id", "seq", "judge", "prompt_version"),
    unit="an occasion and round",
    stage="calibrate",
    own_columns=(
        CALIBRATION_OCCASION,
        _ROUND,
        columns.RUN_ID,
        columns.MONTH,
        columns.SESSION_ID,
        columns.SEQ,
        columns.JUDGE,
        WORDING,
        Column("judged_stars", "int", "The judge's stars.", required=True, low=0, high=3),
        Column(
            "agreed_stars",
            "int",
            "The raters' consensus, against which kappa is.",
            required=True,
            low=0,
            high=3,
        ),
        Column(
            "mean_stars",
            "float",
            "Mean of all raters' stars, against which bias is.",
            required=True,
            low=0,
            high=3,
        ),
        Column.text(
            "rule",
            "What settled the consensus: more than half of the raters, their median rounded down, or an adjudicator.",
            ("majority", "median", "adjudicated"),
        ),
        Column(
            "rater_count", "int", "Raters of the response, the adjudicator included.", required=True, low=2
        ),
        columns.MODEL,
        columns.ORGANISATION,
        _FAMILY,
        Column(
            "is_own_family",
            "bool",
            "Whether candidate and judge are of one family or organisation; null where the judge is not registered.",
        ),
        _DISCIPLINE,
        columns.PROMPT_STYLE,
        _LENGTH,
        _OPTION,
        Column.text(
            "length_group", "Third of the sample by length of the response.", ("short", "medium", "long")
        ),
        columns.IS_SIMULATED,
    ),
)

CALIBRATION_GROUPS = Table(
    name="calibration_groups",
    grain="One row per judge, version of its prompt, occasion, round and group of rated responses.",
    key=("judge", "prompt_version", "occasion", "round", "group_kind", "group_name"),
    unit="an occasion",
    stage="calibrate",
    own_columns=(
        columns.JUDGE,
        WORDING,
        CALIBRATION_OCCASION,
        Column.count("round", "Round, from 1; 0 for all rounds of the occasion."),
        Column.text("group_kind", "What the responses have in common.", GROUP_KINDS),
        Column.text(
            "group_name",
            "Which one: a discipline, candidate, family, style, third by length, place of the option; `own` or `other` family; `all`.",
        ),
        Column.number("pair_count", "Responses rated by people and judge."),
        Column.share("agreement_rate", "Share with the same stars from both."),
        *_interval("agreement", "agreement_rate", 0, 1),
        Column(
            "bias",
            "float",
            "Mean of the judge's stars less the raters' mean: above 0, the judge is generous.",
            required=True,
            low=-3,
            high=3,
        ),
        *_interval("bias", "bias"),
        *_kappa("none"),
        *_kappa("linear"),
        *_kappa("quadratic"),
    ),
)

JUDGE_DIFFERENCES = Table(
    name="judge_differences",
    grain="One row per occasion and pair of judges (each by a version of its prompt) that judged the same rated responses.",
    key=("occasion", "judge_a", "prompt_version_a", "judge_b", "prompt_version_b"),
    unit="an occasion",
    stage="calibrate",
    own_columns=(
        CALIBRATION_OCCASION,
        Column.text("judge_a", "The judge that agrees more with people."),
        Column.text("prompt_version_a", "Version of its prompt, without the language."),
        Column.text("judge_b", "The other judge."),
        Column.text("prompt_version_b", "Version of its prompt, without the language."),
        Column.number("pair_count", "Responses rated by people and judged by both."),
        Column.share("agreement_a", "Agreement rate of judge_a on them."),
        Column.share("agreement_b", "Agreement rate of judge_b on them."),
        Column("difference", "float", "agreement_a less agreement_b.", required=True, low=-1, high=1),
        *_interval("difference", "difference", -1, 1),
        Column.share("p_value", "McNemar's exact test that both agree equally often."),
        Column.flag("is_distinguishable", "Whether p_value is at most 5%."),
    ),
)

CORRECTED_SCORES = Table(
    name="corrected_scores",
    grain="One row per edition, prompt style, candidate, estimator and state of the ratings.",
    key=("edition_id", "prompt_style", "model", "estimator", "ratings_hash"),
    unit="an edition and state of the ratings",
    stage="calibrate",
    own_columns=(
        EDITION_ID,
        columns.MONTH,
        columns.PROMPT_STYLE,
        columns.MODEL,
        Column.text(
            "estimator",
            "`prediction_powered`: the candidate's own ratings correct the judge; `family_effects`: those of all "
            "candidates, by the judge's score, by whether they are of its family, and most of all those of the candidate's family.",
            ("prediction_powered", "family_effects"),
        ),
        Column.text("ratings_hash", "Hash of the rated responses that it rests on."),
        columns.JUDGE,
        WORDING,
        Column(
            "score", "float", "S as it was published, by the judge alone.", required=True, low=0, high=100
        ),
        Column(
            "corrected_score",
            "float",
            "S, corrected for the judge, 0 to 100.",
            required=True,
            low=0,
            high=100,
        ),
        Column("corrected_se", "float", "Its standard error.", required=True, low=0),
        *_interval("corrected", "corrected_score", 0, 100),
        Column(
            "judge_weight",
            "float",
            "λ: how much the judge's stars count, one for all candidates.",
            required=True,
        ),
        Column.count("rated_count", "Rated responses of the candidate in this style."),
        Column.moment("corrected_at", "When it was computed."),
        columns.IS_SIMULATED,
    ),
)

ANCHOR_RESPONSES = Table(
    name="anchor_responses",
    grain="One row per response that is judged again every month.",
    key=("anchor_set", "session_id", "seq"),
    unit="an anchor set",
    stage="drift",
    own_columns=(
        Column.text("anchor_set", "Name of the set."),
        columns.RUN_ID,
        columns.MONTH,
        columns.SESSION_ID,
        columns.SEQ,
        columns.QUESTION_UUID,
        _DISCIPLINE,
        columns.MODEL,
        Column.moment("drawn_at", "When it was drawn."),
        columns.IS_SIMULATED,
    ),
)

ANCHOR_JUDGEMENTS = Table(
    name="anchor_judgements",
    grain="One row per anchor response, judge, version of its prompt, month and repeat.",
    key=("anchor_set", "judge", "prompt_version", "judged_month", "repeat", "session_id", "seq"),
    unit="an anchor set, judge, version of the prompt, month and repeat",
    stage="drift",
    partition_by="judged_month",
    own_columns=(
        Column.text("anchor_set", "Name of the set."),
        columns.JUDGE,
        WORDING,
        replace(columns.MONTH, name="judged_month", about="Month in which it was judged, YYYY-MM."),
        Column.number("repeat", "1; in the first month the set is judged several times, numbered from 1."),
        columns.SESSION_ID,
        columns.SEQ,
        Column("stars", "int", "0 to 3; null means unparsed.", low=0, high=3),
        Column.moment("judged_at", "When."),
        columns.IS_SIMULATED,
    ),
)

JUDGE_DRIFT = Table(
    name="judge_drift",
    grain="One row per anchor set, judge, version of its prompt and month after the first.",
    key=("anchor_set", "judge", "prompt_version", "month"),
    unit="an anchor set, judge, version of the prompt and month",
    stage="drift",
    own_columns=(
        Column.text("anchor_set", "Name of the set."),
        columns.JUDGE,
        WORDING,
        replace(columns.MONTH, about="Month of the check, YYYY-MM."),
        Column.text("first_month", "The judge's first month with the set, YYYY-MM."),
        Column.number("month_count", "Months that followed it, this one included."),
        Column(
            "response_count", "int", "Anchor responses with stars on every occasion.", required=True, low=2
        ),
        Column("month_stars", "float", "Mean stars of this month less the first month's.", required=True),
        Column.text("since_month", "Month in which a change has most likely begun, YYYY-MM."),
        Column("change_stars", "float", "Mean stars since then less those before.", required=True),
        Column("change_se", "float", "Its standard error.", required=True, low=0),
        Column(
            "evidence",
            "float",
            "Evidence of a change, in units of the bound: above 1 is an alarm.",
            required=True,
            low=0,
        ),
        Column.flag("is_alarm", "Whether the bound was crossed in this month or an earlier one."),
        columns.IS_SIMULATED,
    ),
)
