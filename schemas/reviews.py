"""The expert review gate."""

from __future__ import annotations

from schemas.columns import BATCH_ID, LINEAGE_UUID, QUESTION_UUID
from schemas.questions import CONTENT
from schemas.table import Column, Table

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

_WHO = (BATCH_ID, QUESTION_UUID, Column.text("annotator", "The annotator's user id."))

REVIEW_ASSIGNMENTS = Table(
    name="review_assignments",
    grain="One row per question and annotator it was given to.",
    key=("batch_id", "question_uuid", "annotator"),
    unit="a review batch",
    stage="review",
    own_columns=(
        *_WHO,
        Column("discipline", "text", "Discipline by which it was assigned."),
        Column.text("role", "First reviewers, or the adjudicator.", ("reviewer", "adjudicator")),
        Column.moment("assigned_at", "When it was assigned."),
        Column.moment("due_at", "When the decision is due."),
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
        Column.text("decision", "What the annotator decided.", DECISIONS),
        Column("reject_reason", "text", "Why it was rejected.", allowed=REJECT_REASONS),
        Column("comment", "text", "The annotator's remark."),
        Column("edited_fields", "text", "Corrected fields as JSON; null unless the decision is edit."),
        Column.text("channel", "How the decision came in.", REVIEW_CHANNELS),
        Column.moment("decided_at", "When it was given."),
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
        Column.number("number", "From 1 for each question, in the order of writing."),
        Column("annotator", "text", "With whom; null: with everybody who has the question."),
        Column.text(
            "author",
            "User id of who wrote it; `proctor review assign` of the reason for which a question is read again.",
        ),
        Column.flag("is_coordinator", "Whether a coordinator wrote it."),
        Column.text("message", "What was written."),
        Column.moment("written_at", "When."),
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
        Column.uuid("question_uuid", "The question as reviewed."),
        Column.number("revision", "Revision that the decision made current."),
        LINEAGE_UUID,
        Column("document_id", "text", "Document it came from; null for an LLM-made variant."),
        Column.text("outcome", "Passed, refused, or left out as undecided.", OUTCOMES),
        Column("reject_reason", "text", "Most frequent reason given.", allowed=REJECT_REASONS),
        Column.count("accept_count", "Accepts and edits."),
        Column.count("reject_count", "Rejects."),
        Column.flag("was_edited", "Whether an edit was applied."),
        Column(
            "read_passage",
            "text",
            "Hash of the text that it asked about before an edit; null where that stays.",
        ),
        Column.flag("was_adjudicated", "Whether an adjudicator settled it."),
        *CONTENT,
        Column.moment("decided_at", "When the gate closed on it."),
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
        Column.uuid("question_uuid", "The question as it was shown."),
        Column.text("annotator", "The annotator's user id."),
        Column("discipline", "text", "Discipline of the question."),
        Column.text(
            "kind",
            "Accepted or rejected by an earlier batch, or accepted and its key made wrong on purpose.",
            GOLD_KINDS,
        ),
        Column.text("expected", "The known decision.", ("accept", "reject")),
        Column.uuid("source_uuid", "The settled question it was made from."),
        Column.text("source_batch", "The review batch that settled that question."),
        Column("decision", "text", "What the annotator decided; null for nothing.", allowed=DECISIONS),
        Column(
            "gold_result",
            "text",
            "Right, a fault let pass, or a false alarm; null without a decision.",
            allowed=GOLD_RESULTS,
        ),
        Column.moment("assigned_at", "When it was assigned."),
        Column("decided_at", "timestamp", "When it was decided."),
    ),
)
