"""How the rest came to be: landings, quarantine, paid calls, accesses."""

from __future__ import annotations

from schemas.table import MONTH_PATTERN, Column, Table

LANDINGS = Table(
    name="landings",
    grain="One row per landing: a unit of a table as it was last written.",
    key=("table_name", "unit"),
    unit="a landing",
    stage="all",
    own_columns=(
        Column("table_name", "text", "The table.", required=True),
        Column("unit", "text", "The unit.", required=True),
        Column("row_count", "int", "Rows landed.", required=True, low=0),
        Column("rejected_count", "int", "Rows sent to quarantine.", required=True, low=0),
        Column("content_hash", "text", "Hash over the rows; the same content is landed once.", required=True),
        Column("flow_run_id", "text", "Flow run that landed it; null outside a flow."),
        Column("code_version", "text", "Version of Proctor.", required=True),
        Column("landed_at", "timestamp", "When.", required=True),
    ),
)

QUARANTINE = Table(
    name="quarantine",
    grain="One row per refused row and rule that it broke.",
    key=("table_name", "unit", "row_key", "rule"),
    unit="a landing",
    stage="all",
    own_columns=(
        Column("table_name", "text", "Table it was meant for.", required=True),
        Column("unit", "text", "Unit it came with.", required=True),
        Column("stage", "text", "Stage that refused it.", required=True),
        Column("row_key", "text", "Key of the row as JSON.", required=True),
        Column("rule", "text", "The rule that it broke.", required=True),
        Column("row_json", "text", "The whole row as JSON, so that it can be corrected and landed."),
        Column("quarantined_at", "timestamp", "When.", required=True),
    ),
)

LLM_CALLS = Table(
    name="llm_calls",
    grain="One row per paid call, without prompt or reply.",
    key=("call_key",),
    unit="a session, a session and judge, or a batch",
    stage="all",
    partition_by="month",
    own_columns=(
        Column("call_key", "text", "Hash of the canonical request.", required=True),
        Column("purpose", "text", "What it was for.", required=True),
        Column("run_id", "text", "Run it belongs to."),
        Column("model", "text", "Model called.", required=True),
        Column("status", "text", "Outcome.", required=True, allowed=("started", "done", "failed")),
        Column("attempts", "int", "HTTP attempts.", low=0),
        Column("input_tokens", "int", "Tokens sent.", low=0),
        Column("output_tokens", "int", "Tokens returned.", low=0),
        Column("cost_usd", "float", "Cost.", low=0),
        Column("latency_ms", "float", "Wall time of the last attempt.", low=0),
        Column("started_at", "timestamp", "When it was first sent.", required=True),
        Column("month", "text", "Month, YYYY-MM.", required=True, pattern=MONTH_PATTERN),
    ),
)

ACCESS_LOG = Table(
    name="access_log",
    grain="One row per attempt to use the exam API.",
    key=("access_id",),
    unit="a day",
    stage="evaluate",
    own_columns=(
        Column("access_id", "int", "Number of the entry, in order.", required=True),
        Column("user_id", "text", "User named by the token; null when it could not be read."),
        Column("session_id", "text", "Session named by the token or path."),
        Column("action", "text", "What was tried.", required=True),
        Column("status", "int", "HTTP status that was returned.", required=True),
        Column("code", "text", "Word for the refusal; null when allowed."),
        Column("entry_hash", "text", "Hash over this entry and the session's previous one.", required=True),
        Column("at", "timestamp", "When.", required=True),
    ),
)
