"""How the rest came to be: landings, quarantine, paid calls, accesses."""

from __future__ import annotations

from dataclasses import replace

from schemas import columns
from schemas.table import Column, Table

LANDINGS = Table(
    name="landings",
    grain="One row per landing: a unit of a table as it was last written.",
    key=("table_name", "unit"),
    unit="a landing",
    stage="all",
    own_columns=(
        Column.text("table_name", "The table."),
        Column.text("unit", "The unit."),
        Column.count("row_count", "Rows landed."),
        Column.count("rejected_count", "Rows sent to quarantine."),
        Column.text("content_hash", "Hash over the rows; the same content is landed once."),
        Column(
            "rows_hash", "text", "Hash over the rows as they lie; null for a landing of an earlier version."
        ),
        Column("flow_run_id", "text", "Flow run that landed it; null outside a flow."),
        Column.text("code_version", "Version of Proctor."),
        Column.moment("landed_at", "When."),
    ),
)

QUARANTINE = Table(
    name="quarantine",
    grain="One row per refused row and rule that it broke.",
    key=("table_name", "unit", "row_key", "rule"),
    unit="a landing",
    stage="all",
    own_columns=(
        Column.text("table_name", "Table it was meant for."),
        Column.text("unit", "Unit it came with."),
        Column.text("stage", "Stage that refused it."),
        Column.text("row_key", "Key of the row as JSON."),
        Column.text("rule", "The rule that it broke."),
        Column("row_json", "text", "The whole row as JSON, so that it can be corrected and landed."),
        Column.moment("quarantined_at", "When."),
    ),
)

RESTORE_CHECKS = Table(
    name="restore_checks",
    grain="One row per try of a backup: restored into an empty place, looked at, removed again.",
    key=("backup_id", "checked_at"),
    unit="a try",
    stage="operate",
    own_columns=(
        Column.text("backup_id", "The backup; the name of its folder where its list cannot be read."),
        Column.text("folder", "Where it lies."),
        Column.moment("begun_at", "When it was begun."),
        Column.moment("checked_at", "When it was tried."),
        Column("duration_s", "float", "Seconds that the try took.", required=True, low=0),
        Column.count("file_count", "Files that its list names."),
        Column.count("byte_count", "Their bytes."),
        Column.count("row_count", "Rows of its ledger that were restored."),
        Column.count("landed_count", "Landings of its lake that were compared with their hash."),
        Column.flag("is_good", "Whether nothing was missing and everything as it was."),
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
        columns.CALL_KEY,
        Column.text("purpose", "What it was for."),
        replace(columns.RUN_ID, about="The run it belongs to; null outside of one.", required=False),
        Column.text("model", "Model called."),
        Column.text("status", "Outcome.", ("started", "done", "failed")),
        columns.ATTEMPTS,
        columns.INPUT_TOKENS,
        columns.OUTPUT_TOKENS,
        columns.COST_USD,
        Column(
            "extra_usd",
            "float",
            "The most that attempts without a bill, and replies that came second, have cost beside it.",
            low=0,
        ),
        columns.LATENCY_MS,
        Column(
            "answered_by",
            "text",
            "The model that answered, as the endpoint names it; null where it names none, or nothing came.",
        ),
        Column("is_simulated", "bool", "True where a simulation answered; else null."),
        Column.moment("started_at", "When it was first sent."),
        columns.MONTH,
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
        Column.text("action", "What was tried."),
        Column("http_status", "int", "HTTP status that was returned.", required=True),
        Column("code", "text", "Word for the refusal; null when allowed."),
        Column.text("entry_hash", "Hash over this entry and the one before it."),
        Column.moment("accessed_at", "When it was tried."),
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
        replace(columns.RUN_ID, about="The run that it is of."),
        columns.MONTH,
        Column.text("session_id", "The session that it is of."),
        Column.text("table_name", "The ledger's table."),
        Column.text("row_key", "What names it there, as JSON."),
        Column("number", "int", "Place in the audit log; null for what is no entry of it."),
        Column.text("column_names", "Names of its columns, as JSON."),
        Column.text("row_json", "Its values in their order, as JSON."),
    ),
)
