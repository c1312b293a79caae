"""The tables of a paper that hold questions or keys, read where they stand among its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.key_regions import is_region_heading
from tasks.ingest.layout.key_lines import KeyEntry, read_key_line
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.extraction import Line
from tasks.ingest.tables.question_tables import (
    QuestionTable,
    find_key_tables,
    find_question_tables,
    read_question_table,
)
from tasks.ingest.words.lexicon import FineType


class PaperTables:
    """The tables of a document that hold one question to a row.

    They are read when their section is known.
    """

    def __init__(self, lines: Sequence[Line], starts: Sequence[int], language: str | None) -> None:
        self.lines, self.starts, self.language = lines, starts, language
        self.warnings: list[str] = []
        self.tables: list[QuestionTable] = find_question_tables(lines)
        taken = {line for table in self.tables for line in table.lines}
        self.keys = [(span, keys) for span, keys in find_key_tables(lines) if span.start not in taken]

    def replace_rows(self, pieces: list[Piece]) -> list[Piece]:
        """Put one piece of kind `questions` in the place of every such table.

        Key lines are put in the place of a key table.
        """
        tables = {self.starts[line]: place for place, table in enumerate(self.tables) for line in table.lines}
        keys = {self.starts[line]: place for place, (span, _) in enumerate(self.keys) for line in span}
        if not tables and not keys:
            return pieces
        kept: list[Piece] = []
        seen: set[str] = set()
        for piece in pieces:
            is_table = piece.start in tables
            if not is_table and piece.start not in keys:
                kept.append(piece)
                continue
            place = tables[piece.start] if is_table else keys[piece.start]
            if f"{is_table}{place}" in seen:
                continue
            seen.add(f"{is_table}{place}")
            if is_table:
                kept.append(replace(piece, text="▦", sources=(piece.start,), kind="questions", table=place))
            else:
                kept.extend(_write_keys(piece, self.keys[place][1], kept))
        return kept

    def read(self, pieces: Sequence[Piece], section: int, fine: FineType | None) -> list[Draft]:
        """Return the questions of all tables among the pieces.

        `fine` is the type that their section names.
        """
        drafts: list[Draft] = []
        for piece in pieces:
            if piece.table >= 0:
                found, warnings = read_question_table(
                    self.tables[piece.table], self.lines, self.starts, section, fine, self.language
                )
                drafts.extend(found)
                self.warnings.extend(warnings)
        return drafts


def _write_keys(piece: Piece, entries: Sequence[KeyEntry], before: Sequence[Piece]) -> list[Piece]:
    """Write the rows of a key table as the lines that key lines are read from."""
    if any(is_region_heading(other.text) for other in before):
        texts = [
            f"{entry.number}. {entry.text}" + (f" 解析：{entry.explanation}" if entry.explanation else "")
            for entry in sorted(entries, key=lambda entry: entry.number)
        ]
    else:
        texts = ["  ".join(f"{entry.number}. {entry.text}" for entry in entries)]
        if not read_key_line(texts[0]):
            return [piece]
    return [replace(piece, text=text, sources=(), kind="body") for text in texts]
