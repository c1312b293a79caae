"""Scores besides the stars: Gscore, external benchmarks, contamination replays, resamples."""

from __future__ import annotations

from schemas.columns import MODEL, MONTH
from schemas.table import Column, Table
from schemas.vocabulary import DISCIPLINES

GSCORES = Table(
    name="gscores",
    grain="One row per scored answer of a candidate, run, profile and similarity model.",
    key=("run_id", "item_id", "model", "profile", "similarity_model"),
    unit="a candidate's answers of a run, scored",
    stage="gscore",
    own_columns=(
        Column("run_id", "text", "The run: one set of questions put to the candidates once.", required=True),
        Column(
            "session_id", "text", "The candidate's answers of the run, as in human_ratings.", required=True
        ),
        Column("seq", "int", "Place of the question in its set, from 1.", required=True, low=1),
        Column("item_id", "text", "Question of the bank, or number in an imported set.", required=True),
        MODEL,
        Column("is_simulated", "bool", "Whether the answer was simulated.", required=True),
        Column("category", "text", "One of CG-Eval's six categories."),
        Column("subject", "text", "One of its 55 subjects."),
        Column(
            "item_kind",
            "text",
            "How the item is scored: as a text, a calculation with steps, or a bare result.",
            allowed=("definition", "short_answer", "calculation", "arithmetic"),
        ),
        Column(
            "answer_status",
            "text",
            "What came back; null where the candidate has not answered yet.",
            allowed=("answered", "empty", "refused", "truncated"),
        ),
        Column("response", "text", "What the candidate wrote; null where it has not answered yet."),
        Column("call_key", "text", "The call that was paid for, as in llm_calls."),
        Column("bleu4", "float", "BLEU-4, 0 to 1; null for calculations.", low=0, high=1),
        Column("rouge2", "float", "ROUGE-2, 0 to 1; null for calculations.", low=0, high=1),
        Column("chrf", "float", "chrF, 0 to 1; null for calculations.", low=0, high=1),
        Column(
            "similarity", "float", "Cosine of embeddings; null without a model.", low=-1.0001, high=1.0001
        ),
        Column("answer", "text", "Final answer found in a calculation's response, as written."),
        Column("answer_found_by", "text", "The rule that found it; `last_line` is a guess."),
        Column("standard_answer", "text", "The same in standard form."),
        Column("expected_answer", "text", "Final answer of the reference in standard form."),
        Column("accuracy", "float", "Exact match of the standard forms: the one that counts.", low=0, high=1),
        Column(
            "accuracy_unordered", "float", "The same with roots and unknowns in any order.", low=0, high=1
        ),
        Column(
            "accuracy_symbolic",
            "float",
            "The same with equal values in other forms; null where that could not be decided.",
            low=0,
            high=1,
        ),
        Column("step_chrf", "float", "chrF of a calculation's steps, 0 to 1.", low=0, high=1),
        Column("gscore", "float", "Gscore, 0 to 1; null when a part is missing.", low=-0.31, high=1.0001),
        Column("profile", "text", "Metric profile.", required=True, allowed=("cgeval-paper", "standard")),
        Column(
            "similarity_model",
            "text",
            "Embedding model with its content hash; `none` without one.",
            required=True,
        ),
        Column("similarity_note", "text", "Why a value is null or special."),
        Column("reference_count", "int", "References that the answer was scored against.", low=0),
        Column(
            "reference_mode",
            "text",
            "How several references were joined; null where there is one.",
            allowed=("best", "mean"),
        ),
    ),
)

EXTERNAL_SCORES = Table(
    name="external_scores",
    grain="One row per model, benchmark and date.",
    key=("model", "benchmark", "scored_on"),
    unit="an imported file",
    stage="import",
    own_columns=(
        MODEL,
        Column("benchmark", "text", "Name of the benchmark.", required=True),
        Column("scored_on", "date", "Date of the published score.", required=True),
        Column("score", "float", "Published score.", required=True),
        Column("source", "text", "Where it was published.", required=True),
    ),
)

REPLAYS = Table(
    name="replays",
    grain="One row per contamination replay: a question, a candidate, a completion.",
    key=("replay_id", "model", "item_id", "completion"),
    unit="a replay",
    stage="contamination",
    own_columns=(
        Column("replay_id", "text", "The replay.", required=True),
        MODEL,
        Column("source", "text", "`bank`, or the public set.", required=True),
        Column("item_id", "text", "The question.", required=True),
        Column("completion", "int", "Completion, 1 to 3.", required=True, low=1),
        Column(
            "is_correct", "bool", "Whether the blanked span was recalled; null when it could not be compared."
        ),
    ),
)

BOOTSTRAP_SCORES = Table(
    name="bootstrap_scores",
    grain="One row per candidate, month and resample.",
    key=("model", "month", "resample", "sample_size"),
    unit="a run",
    stage="rank",
    own_columns=(
        MODEL,
        MONTH,
        Column("resample", "int", "Resample, from 1.", required=True, low=1),
        Column("sample_size", "int", "Questions drawn.", required=True, low=1),
        Column("discipline", "text", "Discipline; null for all.", allowed=DISCIPLINES),
        Column("score", "float", "S of the resample, 0 to 100.", required=True, low=0, high=100),
    ),
)
