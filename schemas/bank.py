"""Variants, duplicates and the versioned bank."""

from __future__ import annotations

from schemas.questions import CONTENT, IDENTITY
from schemas.table import Column, Table
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
        Column.text("method", "How it was made.", VARIANT_METHODS),
        Column("option_label", "text", "Option of the parent that the statement is about."),
        Column.text("generator", "`template`, or the model that wrote it."),
        Column.text("prompt_version", "Version of the template or prompt."),
        Column("support", "text", "Sentence of the material that supports the answer."),
        *CONTENT,
        Column.moment("created_at", "When it was made."),
    ),
)

DUPLICATES = Table(
    name="duplicates",
    grain="One row per question left out because another one says the same, in the bank version for which it was found.",
    key=("bank_version", "dropped_uuid", "dropped_document_id", "kept_uuid"),
    unit="a bank version",
    stage="dedupe",
    own_columns=(
        Column.number("bank_version", "Bank version for which it was found."),
        Column.uuid("kept_uuid", "The question that stays."),
        Column.uuid("dropped_uuid", "The question left out, or one that had left before the other came in."),
        Column("kept_document_id", "text", "Document of the kept one."),
        Column("dropped_document_id", "text", "Document of the one left out."),
        Column.text("method", "How it was found.", DUPLICATE_METHODS),
        Column.share("similarity", "1 for exact; else the measured similarity."),
        Column.text("reason", "Why the kept one was preferred."),
    ),
)

_METHOD = Column.text("method", "`original`, or how the variant was made.", VARIANT_METHODS)
_QUESTION = Column.uuid("question_uuid", "The question.")
_LINEAGE = Column.uuid("lineage_uuid", "Its lineage.")
_ENTERED = Column.number("from_version", "The first bank version that holds it in this form.")

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
        Column.text("reason", "Why it left.", EXIT_REASONS),
    ),
)

BANK_VERSIONS = Table(
    name="bank_versions",
    grain="One row per published bank version.",
    key=("bank_version",),
    unit="a bank version",
    stage="dedupe",
    own_columns=(
        Column.number("bank_version", "Version, from 1."),
        Column.count("question_count", "Questions in it."),
        Column.count("lineage_count", "Lineages in it."),
        Column.count("duplicate_count", "Questions found to be duplicates for it, and left out."),
        Column.text("content_hash", "SHA-256 over its question UUIDs and revisions, in order."),
        Column.moment("published_at", "When it was published."),
    ),
)

BANK_SOURCES = Table(
    name="bank_sources",
    grain="One row per unit of another table that a publication of the bank took in, as it was then.",
    key=("publication", "table_name", "unit"),
    unit="a publication",
    stage="dedupe",
    own_columns=(
        Column.number("publication", "Publications so far, this one included."),
        Column.count("bank_version", "The bank version that was the latest one after it."),
        Column.text("table_name", "The table."),
        Column.text("unit", "The unit."),
        Column.text("content_hash", "What `landings` said of its content."),
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
        Column.uuid(
            "lineage_uuid",
            "Its lineage; the same as the question for an original, which takes all its variants with it.",
        ),
        Column.flag("is_retired", "True: taken out; false: taken back in."),
        Column.text("reason", "Why, in somebody's words."),
        Column.moment("retired_at", "When it was said."),
    ),
)

SEMANTIC_PAIRS = Table(
    name="semantic_pairs",
    grain="One row per pair of questions that an embedding model finds alike, for people to look at; nothing follows by itself.",
    key=("first_uuid", "second_uuid"),
    unit="a bank version and an embedding model",
    stage="dedupe",
    own_columns=(
        Column.number("bank_version", "Bank version in which both are."),
        Column.uuid("first_uuid", "One question."),
        Column.uuid("second_uuid", "The other."),
        Column("cosine", "float", "Cosine of their stems.", required=True, low=-1, high=1),
        Column.text("encoder", "The embedding model."),
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
        Column.number("revision", "Its revision."),
        _ENTERED,
        Column.text("algorithm", "Version of everything below."),
        Column.text("question_type", "Type of the question.", QUESTION_TYPES),
        Column.text(
            "content_key",
            "Hash of type, stem, material and options in normal form; equal questions share it.",
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
# Held back until the sample is reviewed; then in `variants`, or refused as a whole.
DRAFT_STATUSES = ("held", "released", "refused")
_BATCH = Column.text(
    "variant_batch_id", "The batch of variants: review batch, method, generator and version of the prompt."
)
VARIANT_BATCHES = Table(
    name="variant_batches",
    grain="One row per batch of variants that a model wrote: one method on the accepted questions of one review batch.",
    key=("variant_batch_id",),
    unit="a batch of variants",
    stage="augment",
    own_columns=(
        _BATCH,
        Column.text("batch_id", "The review batch of their parents."),
        Column.text("method", "How they were made.", VARIANT_METHODS),
        Column.text("generator", "The model that wrote them."),
        Column.text("prompt_version", "Version of the prompt."),
        Column.flag("is_simulated", "Whether the generator is a simulation."),
        Column.text(
            "status",
            "Held back until its sample is reviewed; then released, or refused as a whole.",
            DRAFT_STATUSES,
        ),
        Column.count("parent_count", "Options, materials or questions written about."),
        Column.count("variant_count", "Variants that kept all rules."),
        Column.count("fallback_count", "Options, materials or questions of which nothing passed."),
        Column.count("refused_count", "Replies and variants that broke a rule."),
        Column.count("sample_count", "Variants drawn for review."),
        Column(
            "failed_count",
            "int",
            "Variants of the sample that people rejected, or whose key they corrected.",
            low=0,
        ),
        Column.count("call_count", "Calls it took."),
        Column("cost_usd", "float", "What the calls cost; null where a price is unknown.", low=0),
        Column.moment("drafted_at", "When they were written."),
        Column("settled_at", "timestamp", "When they were released or refused; null while they are held."),
    ),
)
VARIANT_DRAFTS = Table(
    name="variant_drafts",
    grain="One row per variant that a model wrote and that kept all rules, whether its batch is released or not.",
    key=("question_uuid", "parent_uuid", "method"),
    unit="a batch of variants",
    stage="augment",
    own_columns=(
        _BATCH,
        Column.flag("is_sampled", "Whether it was drawn for review."),
        *VARIANTS.own_columns,
    ),
)
