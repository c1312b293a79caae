"""Runs, sets, sessions, allocations, responses: what was put to whom, and what came back."""

from __future__ import annotations

from schemas.columns import (
    ATTEMPTS,
    BANK_VERSION,
    COST_USD,
    INPUT_TOKENS,
    IS_SIMULATED,
    LATENCY_MS,
    LINEAGE_UUID,
    MODEL,
    MONTH,
    ORGANISATION,
    OUTPUT_TOKENS,
    PROMPT_STYLE,
    PROMPT_VERSION,
    QUESTION_UUID,
    REPEAT,
    RUN_ID,
    SEQ,
    SESSION_ID,
    SET_ID,
    STRATUM,
)
from schemas.table import Column, Table
from schemas.vocabulary import ANSWER_STATUSES, ERASURE_CAUSES

MODELS = Table(
    name="models",
    grain="One row per model of the registry, as it stood when a run was planned.",
    key=("run_id", "model"),
    unit="a run",
    stage="evaluate",
    own_columns=(
        RUN_ID,
        MODEL,
        ORGANISATION,
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
        Column("team", "text", "The team that owned it in the registry; null for none."),
        Column("input_price_usd", "float", "Price of a million input tokens.", low=0),
        Column("output_price_usd", "float", "Price of a million output tokens.", low=0),
        IS_SIMULATED,
    ),
)

RUNS = Table(
    name="runs",
    grain="One row per run.",
    key=("run_id",),
    unit="a run",
    stage="evaluate",
    own_columns=(
        RUN_ID,
        MONTH,
        Column("repetition", "text", "Name of a further run of the month; null for the month's own."),
        BANK_VERSION,
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
            "SHA-256 of the run's secret seed: proves the orders of its sessions when the seed is disclosed.",
        ),
        Column("planned_at", "timestamp", "When it was planned.", required=True),
        Column("closed_at", "timestamp", "When its last session closed."),
        IS_SIMULATED,
    ),
)

SETS = Table(
    name="sets",
    grain="One row per lineage of a set.",
    key=("set_id", "lineage_uuid"),
    unit="a set",
    stage="evaluate",
    own_columns=(
        SET_ID,
        Column("set_number", "int", "Its number in the season, from 1.", required=True, low=1),
        Column("season", "text", "Time in which one bank version is drawn from.", required=True),
        BANK_VERSION,
        LINEAGE_UUID,
        QUESTION_UUID,
        STRATUM,
        Column(
            "is_anchor",
            "bool",
            "Whether other organisations had answered the same question before: it links the set with earlier ones.",
            required=True,
        ),
        Column(
            "draw_hash",
            "text",
            "SHA-256 of the set's secret key: proves the draw when the key is disclosed; null for sets of earlier versions.",
        ),
        IS_SIMULATED,
    ),
)

SESSIONS = Table(
    name="sessions",
    grain="One row per session.",
    key=("session_id",),
    unit="a session",
    stage="evaluate",
    own_columns=(
        SESSION_ID,
        RUN_ID,
        MONTH,
        SET_ID,
        MODEL,
        ORGANISATION,
        PROMPT_STYLE,
        REPEAT,
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
        Column(
            "closed_at",
            "timestamp",
            "When its last answer was acknowledged, or when it was closed unfinished.",
        ),
        Column("deadline_at", "timestamp", "When it had to be finished; null where none was set."),
        Column(
            "close_reason", "text", "Why it was closed unfinished; null where all questions had their turn."
        ),
        IS_SIMULATED,
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
        RUN_ID,
        SESSION_ID,
        SEQ,
        QUESTION_UUID,
        LINEAGE_UUID,
        STRATUM,
        MONTH,
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
        RUN_ID,
        SESSION_ID,
        SEQ,
        QUESTION_UUID,
        LINEAGE_UUID,
        MODEL,
        ORGANISATION,
        PROMPT_STYLE,
        REPEAT,
        MONTH,
        BANK_VERSION,
        PROMPT_VERSION,
        Column(
            "response",
            "text",
            "Raw text that the candidate returned; empty text for an empty answer. Null where a session stands in erasures, as are "
            "reasoning and answer.",
        ),
        Column("reasoning", "text", "Separate reasoning text, where the endpoint gives one."),
        Column("answer", "text", "What was extracted as the answer; null where nothing was."),
        Column("answer_status", "text", "What became of the answer.", required=True, allowed=ANSWER_STATUSES),
        Column("finish_reason", "text", "Finish reason given by the endpoint."),
        INPUT_TOKENS,
        OUTPUT_TOKENS,
        COST_USD,
        LATENCY_MS,
        ATTEMPTS,
        Column("error", "text", "Error class of the endpoint, without content."),
        IS_SIMULATED,
    ),
)

ERASURES = Table(
    name="erasures",
    grain="One row per session whose texts were erased: answers and reasoning, and what judges wrote of them.",
    key=("session_id",),
    unit="an erasure",
    stage="erase",
    own_columns=(
        Column("erasure_id", "text", "The erasure: its run, and a number.", required=True),
        RUN_ID,
        SESSION_ID,
        MODEL,
        MONTH,
        Column("cause", "text", "What it was erased for.", required=True, allowed=ERASURE_CAUSES),
        Column("reason", "text", "Why, in somebody's words.", required=True),
        Column("erased_by", "text", "A user, or the account of a host.", required=True),
        Column("erased_at", "timestamp", "When.", required=True),
        Column("answer_count", "int", "Answers of the session that were erased.", required=True, low=0),
        Column("digest", "text", "Digest of the erasure, as the audit log has it.", required=True),
    ),
)
