"""The expert review gate."""

from __future__ import annotations

from schemas.columns import BATCH_ID, LINEAGE_UUID, QUESTION_UUID
from schemas.questions import CONTENT
from schemas.table import UUID_PATTERN, Column, Table

DECISIONS = ("accept", "reject", "edit")
REJECT_REASONS = (
    "factual_error",
    "irrelevant_answer",
    "unclear",
    "duplicate",
    "misclassified",
    "formatting",
    "other",
)
OUTCOMES = ("accepted", "rejected", "undecided")
GOLD_KINDS = ("accepted", "rejected", "spoiled")
GOLD_RESULTS = ("right", "missed", "false_alarm")
REVIEW_CHANNELS = ("workbook", "web", "label_studio", "adjudication")

_WHO = (
    BATCH_ID,
    QUESTION_UUID,
    Column("annotator", "text", "The annotator's user id.", required=True),
)

REVIEW_ASSIGNMENTS = Table(
    name="review_assignments",
    grain="One row per question and annotator it was given to.",
    key=("batch_id", "question_uuid", "annotator"),
    unit="a review batch",
    stage="review",
    own_columns=(
        *_WHO,
        Column("discipline", "text", "Discipline by which it was assigned."),
        Column(
            "role",
            "text",
            "First reviewers, or the adjudicator.",
            required=True,
            allowed=("reviewer", "adjudicator"),
        ),
        Column("assigned_at", "timestamp", "When it was assigned.", required=True),
        Column("due_at", "timestamp", "When the decision is due.", required=True),
    ),
)

REVIEWS = Table(
    name="reviews",
    grain="One row per decision of an annotator on a question (the last one given).",
    key=("batch_id", "question_uuid", "annotator"),
    unit="a review batch",
    stage="review",
    own_columns=(
        *_WHO,
        Column("decision", "text", "What the annotator decided.", required=True, allowed=DECISIONS),
        Column("reject_reason", "text", "Why it was rejected.", allowed=REJECT_REASONS),
        Column("comment", "text", "The annotator's remark."),
        Column("edited_fields", "text", "Corrected fields as JSON; null unless the decision is edit."),
        Column("channel", "text", "How the decision came in.", required=True, allowed=REVIEW_CHANNELS),
        Column("decided_at", "timestamp", "When it was given.", required=True),
        Column(
            "guideline_version",
            "int",
            "Guidelines under which it was given; null before the first version.",
            low=1,
        ),
    ),
)

REVIEW_MESSAGES = Table(
    name="review_messages",
    grain="One row per message between annotators and coordinators on a question. None of them is a decision.",
    key=("batch_id", "question_uuid", "number"),
    unit="a review batch",
    stage="review",
    own_columns=(
        BATCH_ID,
        QUESTION_UUID,
        Column("number", "int", "From 1 for each question, in the order of writing.", required=True, low=1),
        Column("annotator", "text", "With whom; null: with everybody who has the question."),
        Column("author", "text", "User id of who wrote it.", required=True),
        Column("is_coordinator", "bool", "Whether a coordinator wrote it.", required=True),
        Column("message", "text", "What was written.", required=True),
        Column("written_at", "timestamp", "When.", required=True),
    ),
)

REVIEW_DECISIONS = Table(
    name="review_decisions",
    grain="One row per question of a closed batch: what the gate decided, with the content that passed.",
    key=("batch_id", "question_uuid"),
    unit="a review batch",
    stage="review",
    own_columns=(
        BATCH_ID,
        Column("question_uuid", "text", "The question as reviewed.", required=True, pattern=UUID_PATTERN),
        Column("revision", "int", "Revision that the decision made current.", required=True, low=1),
        LINEAGE_UUID,
        Column("document_id", "text", "Document it came from; null for an LLM-made variant."),
        Column(
            "outcome", "text", "Passed, refused, or left out as undecided.", required=True, allowed=OUTCOMES
        ),
        Column("reject_reason", "text", "Most frequent reason given.", allowed=REJECT_REASONS),
        Column("accept_count", "int", "Accepts and edits.", required=True, low=0),
        Column("reject_count", "int", "Rejects.", required=True, low=0),
        Column("was_edited", "bool", "Whether an edit was applied.", required=True),
        Column("was_adjudicated", "bool", "Whether an adjudicator settled it.", required=True),
        *CONTENT,
        Column("decided_at", "timestamp", "When the gate closed on it.", required=True),
    ),
)

GOLD_REVIEWS = Table(
    name="gold_reviews",
    grain="One row per planted question and annotator it was given to. None of them is a review of the bank.",
    key=("batch_id", "question_uuid", "annotator"),
    unit="a review batch",
    stage="review",
    own_columns=(
        BATCH_ID,
        Column("question_uuid", "text", "The question as it was shown.", required=True, pattern=UUID_PATTERN),
        Column("annotator", "text", "The annotator's user id.", required=True),
        Column("discipline", "text", "Discipline of the question."),
        Column(
            "kind",
            "text",
            "Accepted or rejected by an earlier batch, or accepted and its key made wrong on purpose.",
            required=True,
            allowed=GOLD_KINDS,
        ),
        Column("expected", "text", "The known decision.", required=True, allowed=("accept", "reject")),
        Column(
            "source_uuid",
            "text",
            "The settled question it was made from.",
            required=True,
            pattern=UUID_PATTERN,
        ),
        Column("source_batch", "text", "The review batch that settled that question.", required=True),
        Column("decision", "text", "What the annotator decided; null for nothing.", allowed=DECISIONS),
        Column(
            "gold_result",
            "text",
            "Right, a fault let pass, or a false alarm; null without a decision.",
            allowed=GOLD_RESULTS,
        ),
        Column("assigned_at", "timestamp", "When it was assigned.", required=True),
        Column("decided_at", "timestamp", "When it was decided."),
    ),
)
