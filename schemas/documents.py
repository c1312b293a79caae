"""Source papers and their text."""

from __future__ import annotations

from schemas.table import Column, Table
from schemas.vocabulary import DISCIPLINES, LANGUAGES, SOURCE_KINDS

DOCUMENT_STATUSES = (
    "parsed",
    "held",
    "no_questions",
    "needs_libreoffice",
    "needs_ocr",
    "encrypted",
    "corrupt",
    "empty",
    "zip_bomb",
    "too_large",
    "unsupported",
    "timeout",
    "crashed",
    "removed",
)

DOCUMENTS = Table(
    name="documents",
    grain="One row per source paper (per distinct content), readable or not.",
    key=("document_id",),
    unit="a document",
    stage="ingest",
    own_columns=(
        Column.uuid("document_id", "UUIDv5 of the file's bytes."),
        Column.text("sha256", "SHA-256 of the file's bytes; names the archived original."),
        Column.text("document_name", "Name of the file as it was given."),
        Column("source_path", "text", "Path relative to the folder that was ingested."),
        Column.count("size_bytes", "Size of the file."),
        Column("media_type", "text", "Media type found in the content, whatever the suffix says."),
        Column("page_count", "int", "Pages or sheets; null where the format has none.", low=0),
        Column("converter", "text", "What turned the file into text."),
        Column("language", "text", "Main language of the text.", allowed=LANGUAGES),
        Column("discipline", "text", "Discipline of the whole paper, if one was found.", allowed=DISCIPLINES),
        Column("sub_discipline", "text", "Sub-discipline of the whole paper, if one was found."),
        Column("source_kind", "text", "Kind of exam.", allowed=SOURCE_KINDS),
        Column.text("status", "What came of reading it.", DOCUMENT_STATUSES),
        Column(
            "error",
            "text",
            "Why it could not be read or is held and what to do, or why it was removed; null otherwise.",
        ),
        Column.count("question_count", "Questions found."),
        Column("warnings", "texts", "Notes of the converter and the splitter."),
        Column(
            "expected_right_rate",
            "float",
            "Share of what the paper asks that is expected to be read right; null where it was not judged.",
            low=0,
            high=1,
        ),
        Column(
            "confidence_version",
            "text",
            "Fit by which it and its questions' confidence were computed; null where it was not judged.",
        ),
        Column(
            "reading",
            "text",
            "JSON of what was seen of the reading as a whole: the paper's contracts that it breaks, and the evidence for "
            "its confidence; null where it was not judged.",
        ),
        Column.moment("ingested_at", "When it was landed."),
    ),
)

DOCUMENT_TEXTS = Table(
    name="document_texts",
    grain="One row per document that gave text: the raw text before any cleaning.",
    key=("document_id",),
    unit="a document",
    stage="ingest",
    own_columns=(
        Column.uuid("document_id", "The document."),
        Column.text("text", "Text in reading order, UTF-8."),
        Column.count("char_count", "Length of the text in characters."),
        Column("page_offsets", "ints", "Character offset at which each page or sheet starts."),
        Column(
            "line_boxes",
            "ints",
            "Four numbers for each line of the text: left, top, right and bottom in thousandths of its page; null or "
            "empty where the format has no pages, or it was read before places were kept.",
        ),
        Column("converter", "text", "What turned the file into text."),
        Column("converter_version", "text", "Its version."),
    ),
)

DOCUMENT_RELEASES = Table(
    name="document_releases",
    grain="One row per held document that somebody released: its questions then go to review as they were read.",
    key=("document_id",),
    unit="a document",
    stage="ingest",
    own_columns=(
        Column.uuid("document_id", "The document."),
        Column.text("released_by", "Who released it: a user of the web desk, or of the machine."),
        Column.text("reason", "Why, in their words."),
        Column.moment("released_at", "When."),
    ),
)

LAYOUTS = Table(
    name="layouts",
    grain="One row per time that somebody corrected how a paper is divided: later papers of its source try this as well.",
    key=("document_id", "corrected_at"),
    unit="a document, and after its first time a slash and the number of the time",
    stage="ingest",
    own_columns=(
        Column.uuid("document_id", "The paper that was corrected."),
        Column.text(
            "source", "Where it comes from: the folder it was ingested with, and what made its file."
        ),
        Column.text(
            "marked_lines",
            "JSON of the correction: for each marked line its offset in the text, its role, its type, and its shape.",
        ),
        Column.text("corrected_by", "Who marked the lines."),
        Column.moment("corrected_at", "When."),
    ),
)

CONFIDENCE_FITS = Table(
    name="confidence_fits",
    grain="One row per fit of the confidence that was taken into use here; the latest one holds for what is read from then on.",
    key=("confidence_version",),
    unit="a fit",
    stage="ingest",
    own_columns=(
        Column.text("confidence_version", "Name of the fit, made of its numbers."),
        Column.text("fitted", "JSON of its numbers, and of what they were fitted on."),
        Column.text("applied_by", "Who took it into use."),
        Column.moment("applied_at", "When."),
    ),
)
