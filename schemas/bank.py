"""Variants, duplicates and the versioned bank."""

from __future__ import annotations

from schemas.questions import CONTENT, IDENTITY
from schemas.table import UUID_PATTERN, Column, Table

VARIANT_METHODS = (
    "original",
    "multiple_choice_to_true_false",
    "declarative_rewrite",
    "material_to_true_false",
    "paraphrase",
    "permuted_options",
    "free_response",
)
DUPLICATE_METHODS = ("exact", "near", "semantic")

VARIANTS = Table(
    name="variants",
    grain="One row per question made from an accepted question; the original itself is not repeated here.",
    key=("question_uuid", "parent_uuid", "method"),
    unit="a review batch",
    stage="augment",
    own_columns=(
        *IDENTITY,
        Column("method", "text", "How it was made.", required=True, allowed=VARIANT_METHODS),
        Column("option_label", "text", "Option of the parent that the statement is about."),
        Column("generator", "text", "`template`, or the model that wrote it.", required=True),
        Column("prompt_version", "text", "Version of the template or prompt.", required=True),
        Column("support", "text", "Sentence of the material that supports the answer."),
        *CONTENT,
        Column("created_at", "timestamp", "When it was made.", required=True),
    ),
)

DUPLICATES = Table(
    name="duplicates",
    grain="One row per question left out of a bank version because another one says the same.",
    key=("bank_version", "dropped_uuid", "dropped_document_id"),
    unit="a bank version",
    stage="dedupe",
    own_columns=(
        Column("bank_version", "int", "Bank version in which it was found.", required=True, low=1),
        Column("kept_uuid", "text", "The question that stays.", required=True, pattern=UUID_PATTERN),
        Column("dropped_uuid", "text", "The question left out.", required=True, pattern=UUID_PATTERN),
        Column("kept_document_id", "text", "Document of the kept one."),
        Column("dropped_document_id", "text", "Document of the one left out."),
        Column("method", "text", "How it was found.", required=True, allowed=DUPLICATE_METHODS),
        Column(
            "similarity", "float", "1 for exact; else the measured similarity.", required=True, low=0, high=1
        ),
        Column("reason", "text", "Why the kept one was preferred.", required=True),
    ),
)

BANK = Table(
    name="bank",
    grain="One row per question and bank version: what may be examined.",
    key=("bank_version", "question_uuid"),
    unit="a bank version",
    stage="dedupe",
    own_columns=(
        Column("bank_version", "int", "Version of the bank.", required=True, low=1),
        *IDENTITY,
        Column(
            "method",
            "text",
            "`original`, or how the variant was made.",
            required=True,
            allowed=VARIANT_METHODS,
        ),
        Column("document_id", "text", "Document of its lineage."),
        *CONTENT,
    ),
)

BANK_VERSIONS = Table(
    name="bank_versions",
    grain="One row per published bank version.",
    key=("bank_version",),
    unit="a bank version",
    stage="dedupe",
    own_columns=(
        Column("bank_version", "int", "Version, from 1.", required=True, low=1),
        Column("question_count", "int", "Questions in it.", required=True, low=0),
        Column("lineage_count", "int", "Lineages in it.", required=True, low=0),
        Column("duplicate_count", "int", "Questions left out as duplicates.", required=True, low=0),
        Column(
            "content_hash", "text", "SHA-256 over its question UUIDs and revisions, in order.", required=True
        ),
        Column("published_at", "timestamp", "When it was published.", required=True),
    ),
)
