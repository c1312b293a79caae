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
