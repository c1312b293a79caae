"""How the rest came to be: landings, quarantine, paid calls, accesses."""

from __future__ import annotations

from dataclasses import replace

from schemas.columns import (
    ATTEMPTS,
    CALL_KEY,
    COST_USD,
    INPUT_TOKENS,
    LATENCY_MS,
    MONTH,
    OUTPUT_TOKENS,
    RUN_ID,
)
from schemas.table import Column, Table

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
        Column(
            "rows_hash", "text", "Hash over the rows as they lie; null for a landing of an earlier version."
        ),
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

RESTORE_CHECKS = Table(
    name="restore_checks",
    grain="One row per try of a backup: restored into an empty place, looked at, removed again.",
    key=("backup_id", "checked_at"),
    unit="a try",
    stage="operate",
    own_columns=(
        Column(
            "backup_id",
            "text",
            "The backup; the name of its folder where its list cannot be read.",
            required=True,
        ),
        Column("folder", "text", "Where it lies.", required=True),
        Column("begun_at", "timestamp", "When it was begun.", required=True),
        Column("checked_at", "timestamp", "When it was tried.", required=True),
        Column("duration_s", "float", "Seconds that the try took.", required=True, low=0),
        Column("file_count", "int", "Files that its list names.", required=True, low=0),
        Column("byte_count", "int", "Their bytes.", required=True, low=0),
        Column("row_count", "int", "Rows of its ledger that were restored.", required=True, low=0),
        Column(
            "landed_count",
            "int",
            "Landings of its lake that were compared with their hash.",
            required=True,
            low=0,
        ),
        Column("is_good", "bool", "Whether nothing was missing and everything as it was.", required=True),
        Column("problem", "text", "What was wrong; null for a good one."),
    ),
)

LLM_CALLS = Table(
    name="llm_calls",
    grain="One row per paid call, without prompt or reply.",
    key=("call_key",),
    unit="a session; a session, judge and version of the prompt; or a batch",
    stage="all",
    partition_by="month",
    own_columns=(
        CALL_KEY,
        Column("purpose", "text", "What it was for.", required=True),
        replace(RUN_ID, about="The run it belongs to; null outside of one.", required=False),
        Column("model", "text", "Model called.", required=True),
        Column("status", "text", "Outcome.", required=True, allowed=("started", "done", "failed")),
        ATTEMPTS,
        INPUT_TOKENS,
        OUTPUT_TOKENS,
        COST_USD,
        LATENCY_MS,
        Column("started_at", "timestamp", "When it was first sent.", required=True),
        MONTH,
    ),
)

ACCESS_LOG = Table(
    name="access_log",
    grain="One row per attempt to use the exam, and per act of administration.",
    key=("access_id",),
    unit="a page of 10,000 entries",
    stage="evaluate",
    own_columns=(
        Column("access_id", "int", "Number of the entry, in order.", required=True),
        Column("user_id", "text", "User named by the token; null when it could not be read."),
        Column("session_id", "text", "Session named by the token or path."),
        Column("action", "text", "What was tried.", required=True),
        Column("http_status", "int", "HTTP status that was returned.", required=True),
        Column("code", "text", "Word for the refusal; null when allowed."),
        Column("entry_hash", "text", "Hash over this entry and the one before it.", required=True),
        Column("accessed_at", "timestamp", "When it was tried.", required=True),
    ),
)

ARCHIVED_ROWS = Table(
    name="archived_rows",
    grain="One row per row of a closed run that has left the ledger.",
    key=("table_name", "row_key"),
    unit="a part of a run",
    stage="operate",
    partition_by="month",
    row_group=20_000,
    own_columns=(
        replace(RUN_ID, about="The run that it is of."),
        MONTH,
        Column("session_id", "text", "The session that it is of.", required=True),
        Column("table_name", "text", "The ledger's table.", required=True),
        Column("row_key", "text", "What names it there, as JSON.", required=True),
        Column("number", "int", "Place in the audit log; null for what is no entry of it."),
        Column("column_names", "text", "Names of its columns, as JSON.", required=True),
        Column("row_json", "text", "Its values in their order, as JSON.", required=True),
    ),
)
