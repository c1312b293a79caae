"""Judgements by LLMs, ratings by people, calibration and error labels."""

from __future__ import annotations

from schemas.table import MONTH_PATTERN, UUID_PATTERN, Column, Table
from schemas.vocabulary import PARSE_STATUSES, PROMPT_STYLES

_SESSION = Column("session_id", "text", "The session.", required=True)
_SEQ = Column("seq", "int", "Position in the session, from 1.", required=True, low=1)
_RUN = Column("run_id", "text", "The run.", required=True)
_MONTH = Column("month", "text", "Month of the run, YYYY-MM.", required=True, pattern=MONTH_PATTERN)
_MODEL = Column("model", "text", "The candidate.", required=True)
_SIMULATED = Column(
    "is_simulated", "bool", "Whether a simulated candidate or judge took part.", required=True
)

ERROR_CLASSES = (
    "disciplinary_knowledge",
    "misunderstanding",
    "logical_reasoning",
    "factual_inaccuracy",
    "format_compliance",
)

JUDGEMENTS = Table(
    name="judgements",
    grain="One row per response and judge.",
    key=("session_id", "seq", "judge"),
    unit="a session and judge",
    stage="judge",
    partition_by="month",
    own_columns=(
        _RUN,
        _SESSION,
        _SEQ,
        Column("question_uuid", "text", "The question.", required=True, pattern=UUID_PATTERN),
        _MODEL,
        Column("prompt_style", "text", "How the question was put.", required=True, allowed=PROMPT_STYLES),
        _MONTH,
        Column("judge", "text", "The judge's name in the registry.", required=True),
        Column("stars", "int", "0 to 3; null means unparsed, never 0.", low=0, high=3),
        Column("reason", "text", "Reason the judge gave."),
        Column("raw", "text", "What the judge returned."),
        Column("parse_status", "text", "Whether stars could be read.", required=True, allowed=PARSE_STATUSES),
        Column("prompt_version", "text", "Version of the judge's prompt.", required=True),
        Column("judged_at", "timestamp", "When.", required=True),
        Column("cost_usd", "float", "Cost of the calls.", low=0),
        Column(
            "attempt",
            "int",
            "Attempts until parsed or given up; 0 where an empty or refused answer got 0 stars by rule.",
            required=True,
            low=0,
        ),
        _SIMULATED,
    ),
)

HUMAN_RATINGS = Table(
    name="human_ratings",
    grain="One row per response, rater, round and scale.",
    key=("session_id", "seq", "rater", "round", "scale"),
    unit="a rating batch",
    stage="calibrate",
    own_columns=(
        _SESSION,
        _SEQ,
        Column("rater", "text", "The rater's user id.", required=True),
        Column("round", "int", "Calibration round, from 1.", required=True, low=1),
        Column("scale", "text", "Scale of the value.", required=True, allowed=("stars_0_3", "score_0_1")),
        Column("value", "float", "The rating.", required=True, low=0, high=3),
        Column("rated_at", "timestamp", "When it was given.", required=True),
    ),
)

CALIBRATION = Table(
    name="calibration",
    grain="One row per judge, candidate, round and weighting.",
    key=("judge", "model", "round", "weighting"),
    unit="a calibration round",
    stage="calibrate",
    own_columns=(
        Column("judge", "text", "The judge.", required=True),
        _MODEL,
        Column("round", "int", "Round, from 1.", required=True, low=1),
        Column(
            "weighting", "text", "Weighting of kappa.", required=True, allowed=("none", "linear", "quadratic")
        ),
        Column(
            "kappa",
            "float",
            "Cohen's kappa against the raters' consensus; null when undefined.",
            low=-1,
            high=1,
        ),
        Column("pair_count", "int", "Responses rated by both.", required=True, low=0),
    ),
)

ERROR_LABELS = Table(
    name="error_labels",
    grain="One row per failed response, labeller.",
    key=("session_id", "seq", "labeller"),
    unit="a label batch",
    stage="calibrate",
    own_columns=(
        _SESSION,
        _SEQ,
        _MODEL,
        Column("labeller", "text", "Rater or LLM that gave the label.", required=True),
        Column("is_human", "bool", "Whether a person gave it.", required=True),
        Column("error_class", "text", "Class of the failure.", required=True, allowed=ERROR_CLASSES),
        Column("sample_size", "int", "Failed responses drawn in this batch.", low=0),
    ),
)
