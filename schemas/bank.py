"""Variants, duplicates and the versioned bank."""

from __future__ import annotations

from schemas.questions import CONTENT, IDENTITY
from schemas.table import UUID_PATTERN, Column, Table
from schemas.vocabulary import QUESTION_TYPES

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
EXIT_REASONS = ("retired", "rejected", "edited", "duplicate", "not_made_again", "left_before")

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
    grain="One row per question left out because another one says the same, in the bank version for which it was found.",
    key=("bank_version", "dropped_uuid", "dropped_document_id"),
    unit="a bank version",
    stage="dedupe",
    own_columns=(
        Column("bank_version", "int", "Bank version for which it was found.", required=True, low=1),
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

_METHOD = Column(
    "method",
    "text",
    "`original`, or how the variant was made.",
    required=True,
    allowed=VARIANT_METHODS,
)
_QUESTION = Column("question_uuid", "text", "The question.", required=True, pattern=UUID_PATTERN)
_LINEAGE = Column("lineage_uuid", "text", "Its lineage.", required=True, pattern=UUID_PATTERN)
_ENTERED = Column(
    "from_version", "int", "The first bank version that holds it in this form.", required=True, low=1
)

BANK_CONTENTS = Table(
    name="bank_contents",
    grain="One row per question and revision that entered the bank, with its content; nothing is stored again while it stays.",
    key=("question_uuid", "lineage_uuid", "from_version"),
    unit="a bank version",
    stage="dedupe",
    row_group=16_384,
    own_columns=(
        *IDENTITY,
        _METHOD,
        Column("document_id", "text", "Document of its lineage."),
        _ENTERED,
        *CONTENT,
    ),
)

BANK_EXITS = Table(
    name="bank_exits",
    grain="One row per question and revision that left the bank.",
    key=("question_uuid", "lineage_uuid", "from_version"),
    unit="a bank version",
    stage="dedupe",
    own_columns=(
        _QUESTION,
        _LINEAGE,
        _ENTERED,
        Column("until_version", "int", "The first bank version without it.", required=True, low=2),
        Column("reason", "text", "Why it left.", required=True, allowed=EXIT_REASONS),
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
        Column(
            "duplicate_count",
            "int",
            "Questions found to be duplicates for it, and left out.",
            required=True,
            low=0,
        ),
        Column(
            "content_hash", "text", "SHA-256 over its question UUIDs and revisions, in order.", required=True
        ),
        Column("published_at", "timestamp", "When it was published.", required=True),
    ),
)

BANK_SOURCES = Table(
    name="bank_sources",
    grain="One row per unit of another table that a publication of the bank took in, as it was then.",
    key=("publication", "table_name", "unit"),
    unit="a publication",
    stage="dedupe",
    own_columns=(
        Column("publication", "int", "Publications so far, this one included.", required=True, low=1),
        Column(
            "bank_version", "int", "The bank version that was the latest one after it.", required=True, low=0
        ),
        Column("table_name", "text", "The table.", required=True),
        Column("unit", "text", "The unit.", required=True),
        Column("content_hash", "text", "What `landings` said of its content.", required=True),
    ),
)

BANK_RETIREMENTS = Table(
    name="bank_retirements",
    grain="One row per time that somebody took a question out of the bank, or back in; the latest word holds.",
    key=("question_uuid", "retired_at"),
    unit="a question, and after its first time a slash and the number of the time",
    stage="bank",
    own_columns=(
        _QUESTION,
        Column(
            "lineage_uuid",
            "text",
            "Its lineage; the same as the question for an original, which takes all its variants with it.",
            required=True,
            pattern=UUID_PATTERN,
        ),
        Column("is_retired", "bool", "True: taken out; false: taken back in.", required=True),
        Column("reason", "text", "Why, in somebody's words.", required=True),
        Column("retired_at", "timestamp", "When it was said.", required=True),
    ),
)

SEMANTIC_PAIRS = Table(
    name="semantic_pairs",
    grain="One row per pair of questions that an embedding model finds alike, for people to look at; nothing follows by itself.",
    key=("first_uuid", "second_uuid"),
    unit="a bank version and an embedding model",
    stage="dedupe",
    own_columns=(
        Column("bank_version", "int", "Bank version in which both are.", required=True, low=1),
        Column("first_uuid", "text", "One question.", required=True, pattern=UUID_PATTERN),
        Column("second_uuid", "text", "The other.", required=True, pattern=UUID_PATTERN),
        Column("cosine", "float", "Cosine of their stems.", required=True, low=-1, high=1),
        Column("encoder", "text", "The embedding model.", required=True),
    ),
)

QUESTION_SIGNATURES = Table(
    name="question_signatures",
    grain="One row per question and revision that entered the bank, and algorithm: what arrivals are compared with.",
    key=("question_uuid", "lineage_uuid", "from_version"),
    unit="an algorithm and a bank version",
    stage="dedupe",
    own_columns=(
        _QUESTION,
        _LINEAGE,
        Column("revision", "int", "Its revision.", required=True, low=1),
        _ENTERED,
        Column("algorithm", "text", "Version of everything below.", required=True),
        Column("question_type", "text", "Type of the question.", required=True, allowed=QUESTION_TYPES),
        Column(
            "content_key",
            "text",
            "Hash of type, stem, material and options in normal form; equal questions share it.",
            required=True,
        ),
        Column(
            "normal_text",
            "text",
            "Material and stem in normal form, never shown; null where the key alone is compared.",
        ),
        Column(
            "normal_options", "texts", "Options in normal form, sorted; null where the key alone is compared."
        ),
        Column("normal_answers", "texts", "The answer in normal form, keys by the text of their option."),
        Column(
            "bands",
            "ints",
            "MinHash bands: near-duplicates share at least one value in its place; null where the key alone is compared.",
        ),
    ),
)
