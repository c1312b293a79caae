"""Paragraphs and table cells of a Word document as they were read."""

from __future__ import annotations

from dataclasses import dataclass

from tasks.ingest.readers.extraction import PLAIN, Look


@dataclass
class Paragraph:
    """A paragraph: its automatic number, its text, what stands out in it, how it is printed."""

    label: str
    text: str
    emphasis: list[tuple[int, int, str]]
    look: Look = PLAIN

    @property
    def line(self) -> str:
        """The number and the text together."""
        return self.label + self.text


@dataclass
class Cell:
    """A cell of a table: its paragraphs, its text, its columns.

    A cell merged with the one above has that one's text.
    """

    paragraphs: list[Paragraph]
    text: str
    width: int


def text_above(rows: list[list[Cell]], column: int) -> str:
    """The text of the cell above one that begins in this column of the grid.

    Empty where there is none.
    """
    place = 0
    for cell in rows[-1] if rows else []:
        if place == column:
            return cell.text
        place += cell.width
    return ""
