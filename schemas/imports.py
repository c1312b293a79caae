"""Other people's results: marks and responses that were made elsewhere, as they came."""

from __future__ import annotations

from schemas.table import Column, Table

IMPORT_KINDS = ("inspect", "lm_eval", "scores", "responses", "ratings", "records")

IMPORTED_MARKS = Table(
    name="imported_marks",
    grain="One row per mark of a response in an imported file; one per response where the file has no marks.",
    key=("import_id", "row_number"),
    unit="an imported file and benchmark",
    stage="import",
    own_columns=(
        Column.text("import_id", "SHA-256 of the file, shortened, and the benchmark."),
        Column.text("import_kind", "What was imported, or the tool that wrote it.", IMPORT_KINDS),
        Column.text("file_name", "Name of the file."),
        Column.number("row_number", "Number of the mark in the file, from 1."),
        Column.text("benchmark", "What the responses answer."),
        Column("category", "text", "Part of the benchmark; null where the file names none."),
        Column("task", "text", "Part of the category; null where the file names none."),
        Column.text("model", "The model as the file names it."),
        Column.text("item_id", "The question as the file names it."),
        Column("repeat", "int", "Repeat of the question, from 1; null where the file does not say.", low=1),
        Column("rater", "text", "Who gave the mark; null where the file does not say."),
        Column("metric", "text", "What was marked; null where the file has no marks."),
        Column("mark", "float", "The mark as a number; null where it is none."),
        Column("mark_text", "text", "The mark as it stood in the file, where it is no number."),
        Column("answer", "text", "The answer that was taken from the response."),
        Column("response", "text", "What the model wrote; null where the file does not hold it."),
        Column("scored_on", "date", "When it was scored; null where the file does not say."),
        Column(
            "record",
            "text",
            "The whole record as it stood in a log, on the first of its rows; null for tables.",
        ),
        Column.moment("imported_at", "When it was imported."),
    ),
)
