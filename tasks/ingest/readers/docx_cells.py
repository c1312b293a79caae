"""Paragraphs and table cells of a Word document as they were read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Paragraph:
    """A paragraph's automatic number, its text, and the stretches of the text that stand out."""

    label: str
    text: str
    emphasis: list[tuple[int, int, str]]

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
