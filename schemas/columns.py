"""Columns that several tables share: the same quantity has one name and one sentence."""

from __future__ import annotations

from schemas.table import MONTH_PATTERN, Column
from schemas.vocabulary import DISCIPLINES, PARSE_STATUSES, PROMPT_STYLES

# --- where it belongs -----------------------------------------------------------------------------------------

RUN_ID = Column.text("run_id", "The run (one month's evaluation).")
MONTH = Column("month", "text", "Month of the run, YYYY-MM.", required=True, pattern=MONTH_PATTERN)
SESSION_ID = Column.text("session_id", "The session.")
SEQ = Column.number("seq", "Position in the session, from 1.")
SET_ID = Column.text("set_id", "The set.")
BANK_VERSION = Column.number("bank_version", "Bank version drawn from.")
BATCH_ID = Column.text("batch_id", "The review batch.")

# --- what was put ---------------------------------------------------------------------------------------------

QUESTION_UUID = Column.uuid("question_uuid", "The question.")
LINEAGE_UUID = Column.uuid("lineage_uuid", "Its lineage.")
STRATUM = Column.text("discipline", "Stratum.", DISCIPLINES)
PROMPT_STYLE = Column.text("prompt_style", "How the question was put.", PROMPT_STYLES)
REPEAT = Column.number("repeat", "Independent repeat, from 1.")

# --- who ------------------------------------------------------------------------------------------------------

MODEL = Column.text("model", "The candidate's name in the registry.")
ORGANISATION = Column.text("organisation", "Who owns the candidate.")
JUDGE = Column.text("judge", "The judge's name in the registry.")
IS_SIMULATED = Column.flag("is_simulated", "Whether a simulated candidate or judge took part.")

# --- what a model was asked, and what came back ---------------------------------------------------------------

PROMPT_VERSION = Column.text(
    "prompt_version", "Version of the wording that was asked with; what follows a stroke is its language."
)
OCCASION = Column.text("occasion", "Why or when it was asked.")
RAW = Column("raw", "text", "What the model returned, as it came; null where nothing was asked.")
PARSE_STATUS = Column.text("parse_status", "Whether it could be read.", PARSE_STATUSES)
CALL_KEY = Column.text("call_key", "Hash of the canonical request.")
INPUT_TOKENS = Column("input_tokens", "int", "Tokens sent.", low=0)
OUTPUT_TOKENS = Column("output_tokens", "int", "Tokens returned.", low=0)
COST_USD = Column("cost_usd", "float", "Cost.", low=0)
LATENCY_MS = Column("latency_ms", "float", "Wall time of the last attempt.", low=0)
ATTEMPTS = Column("attempts", "int", "HTTP attempts made for it.", low=0)
