"""Columns that several tables share.

The same quantity has one name and one sentence in every table.

A table that needs another sentence or rule for its own sake says so with `dataclasses.replace`.
"""

from __future__ import annotations

from schemas.table import MONTH_PATTERN, UUID_PATTERN, Column
from schemas.vocabulary import DISCIPLINES, PARSE_STATUSES, PROMPT_STYLES

# --- where it belongs -----------------------------------------------------------------------------------------

RUN_ID = Column("run_id", "text", "The run (one month's evaluation).", required=True)
MONTH = Column("month", "text", "Month of the run, YYYY-MM.", required=True, pattern=MONTH_PATTERN)
SESSION_ID = Column("session_id", "text", "The session.", required=True)
SEQ = Column("seq", "int", "Position in the session, from 1.", required=True, low=1)
SET_ID = Column("set_id", "text", "The set.", required=True)
BANK_VERSION = Column("bank_version", "int", "Bank version drawn from.", required=True, low=1)
BATCH_ID = Column("batch_id", "text", "The review batch.", required=True)

# --- what was put ---------------------------------------------------------------------------------------------

QUESTION_UUID = Column("question_uuid", "text", "The question.", required=True, pattern=UUID_PATTERN)
LINEAGE_UUID = Column("lineage_uuid", "text", "Its lineage.", required=True, pattern=UUID_PATTERN)
STRATUM = Column("discipline", "text", "Stratum.", required=True, allowed=DISCIPLINES)
PROMPT_STYLE = Column(
    "prompt_style", "text", "How the question was put.", required=True, allowed=PROMPT_STYLES
)
REPEAT = Column("repeat", "int", "Independent repeat, from 1.", required=True, low=1)

# --- who ------------------------------------------------------------------------------------------------------

MODEL = Column("model", "text", "The candidate's name in the registry.", required=True)
ORGANISATION = Column("organisation", "text", "Who owns the candidate.", required=True)
JUDGE = Column("judge", "text", "The judge's name in the registry.", required=True)
IS_SIMULATED = Column(
    "is_simulated", "bool", "Whether a simulated candidate or judge took part.", required=True
)

# --- what a model was asked, and what came back ---------------------------------------------------------------

PROMPT_VERSION = Column(
    "prompt_version",
    "text",
    "Version of the wording that was asked with; what follows a stroke is its language.",
    required=True,
)
OCCASION = Column("occasion", "text", "Why or when it was asked.", required=True)
RAW = Column("raw", "text", "What the model returned, as it came; null where nothing was asked.")
PARSE_STATUS = Column(
    "parse_status", "text", "Whether it could be read.", required=True, allowed=PARSE_STATUSES
)
CALL_KEY = Column("call_key", "text", "Hash of the canonical request.", required=True)
INPUT_TOKENS = Column("input_tokens", "int", "Tokens sent.", low=0)
OUTPUT_TOKENS = Column("output_tokens", "int", "Tokens returned.", low=0)
COST_USD = Column("cost_usd", "float", "Cost.", low=0)
LATENCY_MS = Column("latency_ms", "float", "Wall time of the last attempt.", low=0)
ATTEMPTS = Column("attempts", "int", "HTTP attempts made for it.", low=0)
