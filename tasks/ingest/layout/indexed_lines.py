"""The lines of a paper with the facts that many rules ask for, gathered in one pass.

The facts are what each line begins with, and which lines are short.

Most rules for marks concern lines that begin with one of a few characters. They go straight to those lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain

from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.labels import Label, may_label

SHORT = 4


class IndexedLines:
    """Lines that are never changed.

    A rule that rewrites some of them makes new ones; else it returns what it was given. `openings` are the places of
    the lines by their first character after white space (empty for a blank line), `short` the places of those with
    fewer than four characters between their white space.
    """

    __slots__ = ("_labels", "_openings", "_short", "_text", "pieces")

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self._openings: dict[str, list[int]] | None = None
        self._short: list[int] = []
        self._labels: list[Label | None] | None = None
        self._text: str | None = None

    @property
    def openings(self) -> dict[str, list[int]]:
        """The places of the lines by their first character."""
        if self._openings is None:
            openings: dict[str, list[int]] = {}
            for place, piece in enumerate(self.pieces):
                body = piece.text.strip()
                first = body[:1]
                if first in openings:
                    openings[first].append(place)
                else:
                    openings[first] = [place]
                if len(body) < SHORT:
                    self._short.append(place)
            self._openings = openings
        return self._openings

    @property
    def short(self) -> list[int]:
        """The places of the shortest lines, in order."""
        return self._short if self.openings else []

    def replace(self, changed: Mapping[int, Piece]) -> IndexedLines:
        """The lines with others in the places that are named."""
        if all(self.pieces[place] is piece for place, piece in changed.items()):
            return self
        pieces = list(self.pieces)
        for place, piece in changed.items():
            pieces[place] = piece
        return IndexedLines(pieces)

    def open_with(self, characters: Collection[str]) -> list[int]:
        """The places of the lines that begin with one of these characters, in order."""
        openings = self.openings
        if len(characters) < len(openings):
            found = [openings[first] for first in characters if first in openings]
        else:
            found = [places for first, places in openings.items() if first in characters]
        return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))

    def open_where(self, test: Callable[[str], bool]) -> list[int]:
        """The places of the lines whose first character passes a test, in order.

        The test must be quick, or remember what it found.
        """
        return sorted(
            chain.from_iterable(places for first, places in self.openings.items() if first and test(first))
        )

    def open_with_sign(self) -> list[int]:
        """The places of the lines that begin with a sign, in order.

        A sign is neither a letter nor a digit nor an underscore.
        """
        return self.open_where(is_sign)

    @property
    def text(self) -> str:
        """All lines, one below the other: one search in it spares a search in each."""
        if self._text is None:
            self._text = "\n".join([piece.text for piece in self.pieces])
        return self._text

    @property
    def labels(self) -> list[Label | None]:
        """The label of every line."""
        if self._labels is None:
            self._labels = [None] * len(self.pieces)
            for place in self.open_where(may_label):
                self._labels[place] = self.pieces[place].label
        return self._labels


def is_sign(character: str) -> bool:
    """Whether a character is neither a letter nor a digit nor an underscore.

    It is asked only of what is no white space.
    """
    return not (character.isalnum() or character == "_")
