"""Runs, sets, sessions, allocations, responses: what was put to whom, and what came back."""

from __future__ import annotations

from schemas.table import MONTH_PATTERN, UUID_PATTERN, Column, Table
from schemas.vocabulary import ANSWER_STATUSES, DISCIPLINES, PROMPT_STYLES

_RUN = Column("run_id", "text", "The run (one month's evaluation).", required=True)
_SESSION = Column("session_id", "text", "The session.", required=True)
_SEQ = Column("seq", "int", "Position in the session, from 1.", required=True, low=1)
_QUESTION = Column("question_uuid", "text", "The question put.", required=True, pattern=UUID_PATTERN)
_LINEAGE = Column("lineage_uuid", "text", "Its lineage.", required=True, pattern=UUID_PATTERN)
_MODEL = Column("model", "text", "The candidate's name in the registry.", required=True)
_MONTH = Column("month", "text", "Month of the run, YYYY-MM.", required=True, pattern=MONTH_PATTERN)
_STYLE = Column("prompt_style", "text", "How the question was put.", required=True, allowed=PROMPT_STYLES)
_REPEAT = Column("repeat", "int", "Independent repeat, from 1.", required=True, low=1)
_SIMULATED = Column(
    "is_simulated", "bool", "Whether a simulated candidate or judge took part.", required=True
)

MODELS = Table(
    name="models",
    grain="One row per model of the registry, as it stood when a run was planned.",
    key=("run_id", "model"),
    unit="a run",
    stage="evaluate",
    own_columns=(
        _RUN,
        _MODEL,
        Column("organisation", "text", "Who owns the candidate.", required=True),
        Column("family", "text", "Series of the candidate."),
        Column("release_date", "date", "Day it was released."),
        Column("is_open", "bool", "Whether its weights are public.", required=True),
        Column(
            "mode",
            "text",
            "Standard, or a thinking or search variant.",
            allowed=("standard", "thinking", "search"),
        ),
        Column("base_model", "text", "Base candidate of a thinking or search variant."),
        Column("endpoint_model", "text", "Model name sent to the endpoint.", required=True),
        Column("input_price_usd", "float", "Price of a million input tokens.", low=0),
        Column("output_price_usd", "float", "Price of a million output tokens.", low=0),
        _SIMULATED,
    ),
)

RUNS = Table(
    name="runs",
    grain="One row per run.",
    key=("run_id",),
    unit="a run",
    stage="evaluate",
    own_columns=(
        _RUN,
        _MONTH,
        Column("bank_version", "int", "Bank version that was drawn from.", required=True, low=1),
        Column("reference_model", "text", "The reference candidate (the SOTA of R).", required=True),
        Column("set_size", "int", "Lineages in a set.", required=True, low=1),
        Column("policy", "text", "How sets are given out.", required=True, allowed=("shared", "unique")),
        Column(
            "status",
            "text",
            "Open, closed, or published.",
            required=True,
            allowed=("open", "closed", "published"),
        ),
        Column(
            "seed_hash",
            "text",
            "SHA-256 of the run's secret seed: proves the draw when the seed is disclosed.",
        ),
        Column("planned_at", "timestamp", "When it was planned.", required=True),
        Column("closed_at", "timestamp", "When its last session closed."),
        _SIMULATED,
    ),
)

SETS = Table(
    name="sets",
    grain="One row per lineage of a set.",
    key=("set_id", "lineage_uuid"),
    unit="a set",
    stage="evaluate",
    own_columns=(
        Column("set_id", "text", "The set.", required=True),
        Column("set_number", "int", "Its number in the season, from 1.", required=True, low=1),
        Column("season", "text", "Time in which one bank version is drawn from.", required=True),
        Column("bank_version", "int", "Bank version drawn from.", required=True, low=1),
        _LINEAGE,
        _QUESTION,
        Column("discipline", "text", "Stratum.", required=True, allowed=DISCIPLINES),
        _SIMULATED,
    ),
)

SESSIONS = Table(
    name="sessions",
    grain="One row per session.",
    key=("session_id",),
    unit="a session",
    stage="evaluate",
    own_columns=(
        _SESSION,
        _RUN,
        _MONTH,
        Column("set_id", "text", "The set that was sat.", required=True),
        _MODEL,
        Column("organisation", "text", "Who owns the candidate.", required=True),
        _STYLE,
        _REPEAT,
        Column(
            "is_reference",
            "bool",
            "Whether it is the reference candidate's sitting of the set.",
            required=True,
        ),
        Column("status", "text", "State when landed.", required=True, allowed=("planned", "open", "closed")),
        Column("question_count", "int", "Questions allocated (N of S).", required=True, low=0),
        Column("answered_count", "int", "Questions answered.", required=True, low=0),
        Column("opened_at", "timestamp", "First opening."),
        Column("closed_at", "timestamp", "When its last answer was acknowledged."),
        _SIMULATED,
    ),
)

ALLOCATIONS = Table(
    name="allocations",
    grain="One row per question at a position in a session.",
    key=("session_id", "seq"),
    unit="a session",
    stage="evaluate",
    partition_by="month",
    own_columns=(
        _RUN,
        _SESSION,
        _SEQ,
        _QUESTION,
        _LINEAGE,
        Column("discipline", "text", "Stratum.", required=True, allowed=DISCIPLINES),
        _MONTH,
        Column("allocated_at", "timestamp", "When the order was fixed.", required=True),
    ),
)

RESPONSES = Table(
    name="responses",
    grain="One row per answered allocation.",
    key=("session_id", "seq"),
    unit="a session",
    stage="evaluate",
    partition_by="month",
    own_columns=(
        _RUN,
        _SESSION,
        _SEQ,
        _QUESTION,
        _LINEAGE,
        _MODEL,
        Column("organisation", "text", "Who owns the candidate.", required=True),
        _STYLE,
        _REPEAT,
        _MONTH,
        Column("bank_version", "int", "Bank version drawn from.", required=True, low=1),
        Column("prompt_version", "text", "Version of instruction and style.", required=True),
        Column("response", "text", "Raw text that the candidate returned; empty text for an empty answer."),
        Column("reasoning", "text", "Separate reasoning text, where the endpoint gives one."),
        Column("answer", "text", "What was extracted as the answer; null where nothing was."),
        Column("answer_status", "text", "What became of the answer.", required=True, allowed=ANSWER_STATUSES),
        Column("finish_reason", "text", "Finish reason given by the endpoint."),
        Column("input_tokens", "int", "Tokens sent.", low=0),
        Column("output_tokens", "int", "Tokens returned.", low=0),
        Column("cost_usd", "float", "Cost of the call that was kept.", low=0),
        Column("latency_ms", "float", "Wall time of the call.", low=0),
        Column("attempts", "int", "HTTP attempts made for it.", low=0),
        Column("error", "text", "Error class of the endpoint, without content."),
        _SIMULATED,
    ),
)
