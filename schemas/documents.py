"""Source papers and their text."""

from __future__ import annotations

from schemas.table import UUID_PATTERN, Column, Table
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
        Column("document_id", "text", "UUIDv5 of the file's bytes.", required=True, pattern=UUID_PATTERN),
        Column("sha256", "text", "SHA-256 of the file's bytes; names the archived original.", required=True),
        Column("document_name", "text", "Name of the file as it was given.", required=True),
        Column("source_path", "text", "Path relative to the folder that was ingested."),
        Column("size_bytes", "int", "Size of the file.", required=True, low=0),
        Column("media_type", "text", "Media type found in the content, whatever the suffix says."),
        Column("page_count", "int", "Pages or sheets; null where the format has none.", low=0),
        Column("converter", "text", "What turned the file into text."),
        Column("language", "text", "Main language of the text.", allowed=LANGUAGES),
        Column("discipline", "text", "Discipline of the whole paper, if one was found.", allowed=DISCIPLINES),
        Column("sub_discipline", "text", "Sub-discipline of the whole paper, if one was found."),
        Column("source_kind", "text", "Kind of exam.", allowed=SOURCE_KINDS),
        Column("status", "text", "What came of reading it.", required=True, allowed=DOCUMENT_STATUSES),
        Column(
            "error",
            "text",
            "Why it could not be read or is held and what to do, or why it was removed; null otherwise.",
        ),
        Column("question_count", "int", "Questions found.", required=True, low=0),
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
        Column("ingested_at", "timestamp", "When it was landed.", required=True),
    ),
)

DOCUMENT_TEXTS = Table(
    name="document_texts",
    grain="One row per document that gave text: the raw text before any cleaning.",
    key=("document_id",),
    unit="a document",
    stage="ingest",
    own_columns=(
        Column("document_id", "text", "The document.", required=True, pattern=UUID_PATTERN),
        Column("text", "text", "Text in reading order, UTF-8.", required=True),
        Column("char_count", "int", "Length of the text in characters.", required=True, low=0),
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
        Column("document_id", "text", "The document.", required=True, pattern=UUID_PATTERN),
        Column(
            "released_by",
            "text",
            "Who released it: a user of the web desk, or of the machine.",
            required=True,
        ),
        Column("reason", "text", "Why, in their words.", required=True),
        Column("released_at", "timestamp", "When.", required=True),
    ),
)

LAYOUTS = Table(
    name="layouts",
    grain="One row per time that somebody corrected how a paper is divided: later papers of its source try this as well.",
    key=("document_id", "corrected_at"),
    unit="a document, and after its first time a slash and the number of the time",
    stage="ingest",
    own_columns=(
        Column("document_id", "text", "The paper that was corrected.", required=True, pattern=UUID_PATTERN),
        Column(
            "source",
            "text",
            "Where it comes from: the folder it was ingested with, and what made its file.",
            required=True,
        ),
        Column(
            "marked_lines",
            "text",
            "JSON of the correction: for each marked line its offset in the text, its role, its type, and its shape.",
            required=True,
        ),
        Column("corrected_by", "text", "Who marked the lines.", required=True),
        Column("corrected_at", "timestamp", "When.", required=True),
    ),
)

CONFIDENCE_FITS = Table(
    name="confidence_fits",
    grain="One row per fit of the confidence that was taken into use here; the latest one holds for what is read from then on.",
    key=("confidence_version",),
    unit="a fit",
    stage="ingest",
    own_columns=(
        Column("confidence_version", "text", "Name of the fit, made of its numbers.", required=True),
        Column("fitted", "text", "JSON of its numbers, and of what they were fitted on.", required=True),
        Column("applied_by", "text", "Who took it into use.", required=True),
        Column("applied_at", "timestamp", "When.", required=True),
    ),
)
