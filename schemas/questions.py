"""Questions: what the splitter found, and fields that all later forms share.

Every later form of a question has these shared fields.
"""

from __future__ import annotations

from schemas.table import UUID_PATTERN, Column, Table
from schemas.vocabulary import DISCIPLINES, LANGUAGES, QUESTION_TYPES, SOURCE_KINDS

QUESTION_STATUSES = ("parsed", "low_confidence", "no_answer")

IDENTITY = (
    Column("question_uuid", "text", "UUIDv5 of the normalised content.", required=True, pattern=UUID_PATTERN),
    Column("revision", "int", "1 as parsed; each accepted edit adds one.", required=True, low=1),
    Column(
        "lineage_uuid",
        "text",
        "The original question this one descends from.",
        required=True,
        pattern=UUID_PATTERN,
    ),
    Column(
        "parent_uuid",
        "text",
        "The question this one was made from; null for an original.",
        pattern=UUID_PATTERN,
    ),
)

CONTENT = (
    Column("question_type", "text", "Type of the question.", required=True, allowed=QUESTION_TYPES),
    Column("discipline", "text", "Primary discipline; null until known.", allowed=DISCIPLINES),
    Column("sub_discipline", "text", "Sub-discipline; null where unknown."),
    Column("source_kind", "text", "Kind of exam it comes from.", allowed=SOURCE_KINDS),
    Column("language", "text", "Language of the question.", required=True, allowed=LANGUAGES),
    Column("stem", "text", "The asking text.", required=True),
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
        Column("sha256", "text", "SHA-256 of its bytes in the archive.", required=True),
        Column("document_id", "text", "The document it was found in.", required=True, pattern=UUID_PATTERN),
        Column("media_type", "text", "`image/png` or `image/jpeg`.", required=True),
        Column("size_bytes", "int", "Size of its bytes.", required=True, low=1),
        Column("width", "int", "Pixels across.", required=True, low=1),
        Column("height", "int", "Pixels down.", required=True, low=1),
        Column(
            "picture_kind",
            "text",
            "`image`: taken out of the file as a picture; `formula`: the picture of a formula; `page`: cut out of a page.",
            required=True,
            allowed=PICTURE_KINDS,
        ),
        Column("alt_text", "text", "What its author says that it shows; null where nothing is said."),
        Column(
            "perceptual_hash",
            "text",
            "64 bits of how it looks, in hexadecimal: pictures that look alike differ in few of them.",
            required=True,
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
        Column("document_id", "text", "The document it was found in.", required=True, pattern=UUID_PATTERN),
        Column("document_name", "text", "Its file name.", required=True),
        Column("position", "int", "Place among the document's questions, from 1.", required=True, low=1),
        Column("number_label", "text", "Number as printed."),
        Column(
            "section", "int", "Place of its section in the paper, from 0; null where none was kept.", low=0
        ),
        *CONTENT,
        Column("marks", "float", "Marks the paper gives; null where unstated.", low=0),
        Column("text_start", "int", "Offset of its first character in `document_texts.text`.", low=0),
        Column("text_end", "int", "Offset just after its last character.", low=0),
        Column("parse_confidence", "float", "How sure the splitter is.", required=True, low=0, high=1),
        Column("parse_notes", "texts", "Named reasons that lower the confidence."),
        Column(
            "status",
            "text",
            "Whether it needs special care in review.",
            required=True,
            allowed=QUESTION_STATUSES,
        ),
    ),
)
