"""Runs, sets, sessions, allocations, responses: what was put to whom, and what came back."""

from __future__ import annotations

from schemas import columns
from schemas.table import Column, Table
from schemas.vocabulary import ANSWER_STATUSES, ERASURE_CAUSES

MODELS = Table(
    name="models",
    grain="One row per model of the registry, as it stood when a run was planned.",
    key=("run_id", "model"),
    unit="a run",
    stage="evaluate",
    own_columns=(
        columns.RUN_ID,
        columns.MODEL,
        columns.ORGANISATION,
        Column("family", "text", "Series of the candidate."),
        Column("release_date", "date", "Day it was released."),
        Column.flag("is_open", "Whether its weights are public."),
        Column(
            "mode",
            "text",
            "Standard, or a thinking or search variant.",
            allowed=("standard", "thinking", "search"),
        ),
        Column("base_model", "text", "Base candidate of a thinking or search variant."),
        Column.text("endpoint_model", "Model name sent to the endpoint."),
        Column("team", "text", "The team that owned it in the registry; null for none."),
        Column("input_price_usd", "float", "Price of a million input tokens.", low=0),
        Column("output_price_usd", "float", "Price of a million output tokens.", low=0),
        columns.IS_SIMULATED,
    ),
)

RUNS = Table(
    name="runs",
    grain="One row per run.",
    key=("run_id",),
    unit="a run",
    stage="evaluate",
    own_columns=(
        columns.RUN_ID,
        columns.MONTH,
        Column("repetition", "text", "Name of a further run of the month; null for the month's own."),
        columns.BANK_VERSION,
        Column.text("reference_model", "The reference candidate (the SOTA of R)."),
        Column.number("set_size", "Lineages in a set."),
        Column.text("policy", "How sets are given out.", ("shared", "unique")),
        Column.text("status", "Open, closed, or published.", ("open", "closed", "published")),
        Column(
            "seed_hash",
            "text",
            "SHA-256 of the run's secret seed: proves the orders of its sessions when the seed is disclosed.",
        ),
        Column.moment("planned_at", "When it was planned."),
        Column("closed_at", "timestamp", "When its last session closed."),
        columns.IS_SIMULATED,
    ),
)

SETS = Table(
    name="sets",
    grain="One row per lineage of a set.",
    key=("set_id", "lineage_uuid"),
    unit="a set",
    stage="evaluate",
    own_columns=(
        columns.SET_ID,
        Column.number("set_number", "Its number in the season, from 1."),
        Column.text("season", "Time in which one bank version is drawn from."),
        columns.BANK_VERSION,
        columns.LINEAGE_UUID,
        columns.QUESTION_UUID,
        columns.STRATUM,
        Column.flag(
            "is_anchor",
            "Whether other organisations had answered the same question before: it links the set with earlier ones.",
        ),
        Column(
            "draw_hash",
            "text",
            "SHA-256 of the set's secret key: proves the draw when the key is disclosed; null for sets of earlier versions.",
        ),
        columns.IS_SIMULATED,
    ),
)

SESSIONS = Table(
    name="sessions",
    grain="One row per session.",
    key=("session_id",),
    unit="a session",
    stage="evaluate",
    own_columns=(
        columns.SESSION_ID,
        columns.RUN_ID,
        columns.MONTH,
        columns.SET_ID,
        columns.MODEL,
        columns.ORGANISATION,
        columns.PROMPT_STYLE,
        columns.REPEAT,
        Column.flag("is_reference", "Whether it is the reference candidate's sitting of the set."),
        Column.text("status", "State when landed.", ("planned", "open", "closed")),
        Column.count("question_count", "Questions allocated (N of S)."),
        Column.count("answered_count", "Questions answered."),
        Column("opened_at", "timestamp", "First opening."),
        Column(
            "closed_at",
            "timestamp",
            "When its last answer was acknowledged, or when it was closed unfinished.",
        ),
        Column("deadline_at", "timestamp", "When it had to be finished; null where none was set."),
        Column(
            "close_reason", "text", "Why it was closed unfinished; null where all questions had their turn."
        ),
        columns.IS_SIMULATED,
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
        columns.RUN_ID,
        columns.SESSION_ID,
        columns.SEQ,
        columns.QUESTION_UUID,
        columns.LINEAGE_UUID,
        columns.STRATUM,
        columns.MONTH,
        Column.moment("allocated_at", "When the order was fixed."),
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
        columns.RUN_ID,
        columns.SESSION_ID,
        columns.SEQ,
        columns.QUESTION_UUID,
        columns.LINEAGE_UUID,
        columns.MODEL,
        columns.ORGANISATION,
        columns.PROMPT_STYLE,
        columns.REPEAT,
        columns.MONTH,
        columns.BANK_VERSION,
        columns.PROMPT_VERSION,
        Column(
            "response",
            "text",
            "Raw text that the candidate returned; empty text for an empty answer. Null where a session stands in erasures, as are "
            "reasoning and answer.",
        ),
        Column("reasoning", "text", "Separate reasoning text, where the endpoint gives one."),
        Column("answer", "text", "What was extracted as the answer; null where nothing was."),
        Column.text("answer_status", "What became of the answer.", ANSWER_STATUSES),
        Column("finish_reason", "text", "Finish reason given by the endpoint."),
        columns.INPUT_TOKENS,
        columns.OUTPUT_TOKENS,
        columns.COST_USD,
        columns.LATENCY_MS,
        columns.ATTEMPTS,
        Column("error", "text", "Error class of the endpoint, without content."),
        columns.IS_SIMULATED,
    ),
)

ERASURES = Table(
    name="erasures",
    grain="One row per session whose texts were erased: answers and reasoning, and what judges wrote of them.",
    key=("session_id",),
    unit="an erasure",
    stage="erase",
    own_columns=(
        Column.text("erasure_id", "The erasure: its run, and a number."),
        columns.RUN_ID,
        columns.SESSION_ID,
        columns.MODEL,
        columns.MONTH,
        Column.text("cause", "What it was erased for.", ERASURE_CAUSES),
        Column.text("reason", "Why, in somebody's words."),
        Column.text("erased_by", "A user, or the account of a host."),
        Column.moment("erased_at", "When."),
        Column.count("answer_count", "Answers of the session that were erased."),
        Column.text("digest", "Digest of the erasure, as the audit log has it."),
    ),
)
