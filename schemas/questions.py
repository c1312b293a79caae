"""Questions: what the splitter found, and fields that all later forms share."""

from __future__ import annotations

from schemas.table import UUID_PATTERN, Column, Table
from schemas.vocabulary import DISCIPLINES, LANGUAGES, QUESTION_TYPES, SOURCE_KINDS

QUESTION_STATUSES = ("parsed", "low_confidence", "no_answer")

IDENTITY = (
    Column.uuid("question_uuid", "UUIDv5 of the normalised content."),
    Column.number("revision", "1 as parsed; each accepted edit adds one."),
    Column.uuid("lineage_uuid", "The original question this one descends from."),
    Column(
        "parent_uuid",
        "text",
        "The question this one was made from; null for an original.",
        pattern=UUID_PATTERN,
    ),
)

CONTENT = (
    Column.text("question_type", "Type of the question.", QUESTION_TYPES),
    Column("discipline", "text", "Primary discipline; null until known.", allowed=DISCIPLINES),
    Column("sub_discipline", "text", "Sub-discipline; null where unknown."),
    Column("source_kind", "text", "Kind of exam it comes from.", allowed=SOURCE_KINDS),
    Column.text("language", "Language of the question.", LANGUAGES),
    Column.text("stem", "The asking text."),
    Column("material", "text", "Text that the question is about, shared by sibling questions."),
    Column("options", "options", "Offered answers with their labels; empty for other types."),
    Column(
        "answer",
        "texts",
        "Keys: labels for choices, true/false, else the reference answer(s); empty when none.",
    ),
    Column("explanation", "text", "Explanation of the answer, if the source gives one."),
    Column(
        "pictures",
        "pictures",
        "Its pictures: the number by which `[picture:1]` in a text names one, its SHA-256 (table `pictures`), and the place where it "
        "stands (stem, option, material, answer, explanation); null without one.",
    ),
)

PICTURE_KINDS = ("image", "formula", "page")

PICTURES = Table(
    name="pictures",
    grain="One row per picture that a question of a document holds, in its normal form; its bytes are a file of the archive.",
    key=("sha256", "document_id"),
    unit="a document, or a picture that an annotator made of it",
    stage="ingest",
    own_columns=(
        Column.text("sha256", "SHA-256 of its bytes in the archive."),
        Column.uuid("document_id", "The document it was found in."),
        Column.text("media_type", "`image/png` or `image/jpeg`."),
        Column.number("size_bytes", "Size of its bytes."),
        Column.number("width", "Pixels across."),
        Column.number("height", "Pixels down."),
        Column.text(
            "picture_kind",
            "`image`: taken out of the file as a picture; `formula`: the picture of a formula; `page`: cut out of a page.",
            PICTURE_KINDS,
        ),
        Column("alt_text", "text", "What its author says that it shows; null where nothing is said."),
        Column.text(
            "perceptual_hash",
            "64 bits of how it looks, in hexadecimal: pictures that look alike differ in few of them.",
        ),
        Column(
            "original_sha256",
            "text",
            "SHA-256 of the picture as the file holds it; null where it was cut out of a page.",
        ),
        Column("page", "int", "Page on which it stands first; 0 where the format has no pages.", low=0),
        Column(
            "box", "ints", "Left, top, right and bottom in thousandths of that page; empty where it has none."
        ),
    ),
)

QUESTIONS = Table(
    name="questions",
    grain="One row per question found in a document.",
    key=("question_uuid", "revision", "document_id"),
    unit="a document",
    stage="ingest",
    own_columns=(
        *IDENTITY,
        Column.uuid("document_id", "The document it was found in."),
        Column.text("document_name", "Its file name."),
        Column.number("position", "Place among the document's questions, from 1."),
        Column("number_label", "text", "Number as printed."),
        Column(
            "section", "int", "Place of its section in the paper, from 0; null where none was kept.", low=0
        ),
        *CONTENT,
        Column("marks", "float", "Marks the paper gives; null where unstated.", low=0),
        Column("text_start", "int", "Offset of its first character in `document_texts.text`.", low=0),
        Column("text_end", "int", "Offset just after its last character.", low=0),
        Column.share("parse_confidence", "How sure the splitter is."),
        Column("parse_notes", "texts", "Named reasons that lower the confidence."),
        Column.text("status", "Whether it needs special care in review.", QUESTION_STATUSES),
    ),
)
