"""The numbers that count questions, and those that a line of answers answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.ingest.content.key_marks import split_inline
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.numbers import last_number
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.labels import COUNTING, is_sure

# So many of the questions before an answer part it must answer before they count as answered.
LEAST_GIVEN = 0.6


@dataclass(frozen=True)
class NumberRun:
    """The numbers that count questions, one by one, in the lines above an answer part."""

    style: str
    first: int
    last: int

    @property
    def count(self) -> int:
        """How many they are."""
        return self.last - self.first + 1


class NumberRuns:
    """The runs of numbers of lines that are added one after the other."""

    def __init__(self) -> None:
        self._runs: dict[str, NumberRun] = {}

    def add(self, piece: Piece) -> None:
        """Count a line, if its number counts questions."""
        label = piece.label
        if not is_sure(label, COUNTING):
            return
        own = self._runs.pop(label.style, None)  # the last one met is the last one kept
        if own is not None and label.value == own.last + 1:
            own = NumberRun(own.style, own.first, last_number(label.text) or label.value)
        elif own is None or own.last != label.value:
            own = NumberRun(label.style, label.value, label.value)
        self._runs[label.style] = own

    def find_last(self) -> NumberRun | None:
        """The last run that counts questions; None where nothing is counted."""
        found = [*self._runs.values()]
        outer = [run for run in found if run.style not in ("paren", "nump")]
        if found and found[-1].style in ("paren", "nump") and found[-1].first == 1 and outer:
            return outer[-1]
        return found[-1] if found else None


def find_run(pieces: Sequence[Piece]) -> NumberRun | None:
    """The last run of numbers that counts questions; None where nothing is counted."""
    runs = NumberRuns()
    for piece in pieces:
        runs.add(piece)
    return runs.find_last()


def list_values(piece: Piece) -> list[int]:
    """The numbers that a line of answers answers."""
    entries = read_key_line(piece.text)
    if entries:
        return [entry.number for entry in entries]
    inline = [number for number, _, _ in split_inline(piece)]
    label = piece.label
    return inline or (
        [*range(label.value, (last_number(label.text) or label.value) + 1)] if label is not None else []
    )
