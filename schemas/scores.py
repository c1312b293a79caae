"""Scores besides the stars: Gscore, external benchmarks, contamination replays, resamples."""

from __future__ import annotations

from schemas.columns import IS_SIMULATED, MODEL, MONTH, PROMPT_STYLE, SET_ID
from schemas.editions import EDITION_ID
from schemas.table import Column, Table
from schemas.vocabulary import DISCIPLINES

GSCORES = Table(
    name="gscores",
    grain="One row per scored answer of a candidate, run, profile and similarity model.",
    key=("run_id", "item_id", "model", "profile", "similarity_model"),
    unit="a candidate's answers of a run, scored",
    stage="gscore",
    own_columns=(
        Column.text("run_id", "The run: one set of questions put to the candidates once."),
        Column.text("session_id", "The candidate's answers of the run, as in human_ratings."),
        Column.number("seq", "Place of the question in its set, from 1."),
        Column.text("item_id", "Question of the bank, or number in an imported set."),
        MODEL,
        Column.flag("is_simulated", "Whether the answer was simulated."),
        Column("category", "text", "Category in the question file: one of CG-Eval's six, or a discipline."),
        Column("subject", "text", "Subject in the question file: one of CG-Eval's 55, or a sub-discipline."),
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
        Column.text("profile", "Metric profile.", ("cgeval-paper", "standard")),
        Column.text("similarity_model", "Embedding model with its content hash; `none` without one."),
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
        Column.text("benchmark", "Name of the benchmark."),
        Column("scored_on", "date", "Date of the published score.", required=True),
        Column("score", "float", "Published score.", required=True),
        Column.text("source", "Where it was published."),
    ),
)

REPLAYS = Table(
    name="replays",
    grain="One row per contamination replay: a question of a source, a candidate, a completion.",
    key=("replay_id", "model", "source", "item_id", "completion"),
    unit="a replay",
    stage="contamination",
    own_columns=(
        Column.text("replay_id", "The replay."),
        MODEL,
        Column.text("source", "`bank`, or the public set."),
        Column.text("item_id", "The question."),
        Column.number("completion", "Completion, 1 to 3."),
        Column(
            "is_correct", "bool", "Whether the blanked span was recalled; null when it could not be compared."
        ),
        Column("completed_text", "text", "What the model wrote."),
        Column("is_simulated", "bool", "Whether the model is simulated."),
    ),
)

REPLAY_SPANS = Table(
    name="replay_spans",
    grain="One row per question of a replay and source: what was blanked in it.",
    key=("replay_id", "source", "organisation", "item_id"),
    unit="a replay, source and organisation",
    stage="contamination",
    own_columns=(
        Column.text("replay_id", "The replay."),
        Column.text("source", "`bank`, or the public set."),
        Column.text(
            "organisation",
            "Whose candidates are asked: of the bank only what they were put before; `all` for a public set.",
        ),
        Column.text("item_id", "The question."),
        Column.text("language", "Language of the question.", ("zh", "en")),
        Column.text("span_kind", "The rule that chose the span.", ("number", "term", "option", "word")),
        Column.text("span_text", "The span."),
        Column.text("blanked_text", "The question with a mark in its place."),
    ),
)

_SET_QUESTIONS = Column.number("question_count", "Questions of the set that every candidate has stars for.")
_SEED = Column.count("seed", "Where the draws start: the same seed gives the same rows.")

BOOTSTRAP_SCORES = Table(
    name="bootstrap_scores",
    grain="One row per edition, prompt style, set, candidate and resample of the set's questions.",
    key=("edition_id", "prompt_style", "set_id", "model", "sample_size", "resample"),
    unit="an edition and prompt style",
    stage="stability",
    own_columns=(
        EDITION_ID,
        MONTH,
        PROMPT_STYLE,
        SET_ID,
        MODEL,
        Column.number("resample", "Resample of this size, from 1."),
        Column.number("sample_size", "Questions drawn, with replacement."),
        _SET_QUESTIONS,
        Column.flag(
            "is_larger_than_set",
            "Whether more were drawn than the set has: how much less S would move by more such questions, not what others would say.",
        ),
        Column("discipline", "text", "Discipline; null for all in their fixed weights.", allowed=DISCIPLINES),
        Column("score", "float", "S of the resample, 0 to 100.", required=True, low=0, high=100),
        Column.flag("is_reference", "Whether it is the reference candidate."),
        _SEED,
        IS_SIMULATED,
    ),
)

RATING_CURVES = Table(
    name="rating_curves",
    grain="One row per edition, prompt style, set, method, sample size and candidate: its rating on samples of that size.",
    key=("edition_id", "prompt_style", "set_id", "method", "sample_size", "model"),
    unit="an edition and prompt style",
    stage="stability",
    own_columns=(
        EDITION_ID,
        MONTH,
        PROMPT_STYLE,
        SET_ID,
        Column.text(
            "method",
            "How the candidates are rated: S, whose order is that of R; Elo; or Bradley-Terry.",
            ("score", "elo", "bradley_terry"),
        ),
        Column.number("sample_size", "Questions in a sample, drawn without replacement."),
        _SET_QUESTIONS,
        Column.number("sample_count", "Samples drawn of this size."),
        MODEL,
        Column(
            "rating", "float", "Mean over the samples: S (0 to 100), or a rating about 1,000.", required=True
        ),
        Column("rating_sd", "float", "Its standard deviation over the samples.", required=True, low=0),
        Column.number("rank", "Place by rating; equal ratings share it."),
        Column.number("full_rank", "Place by S on all questions of the set."),
        Column(
            "spearman",
            "float",
            "Mean rank correlation of a sample's order with that by S on all questions; null for fewer than three candidates.",
            low=-1,
            high=1,
        ),
        Column("spearman_sd", "float", "Its standard deviation over the samples.", low=0),
        _SEED,
        IS_SIMULATED,
    ),
)
