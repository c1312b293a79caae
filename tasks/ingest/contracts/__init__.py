"""What a paper says of itself, and whether a reading of it keeps that."""

from __future__ import annotations

from dataclasses import dataclass

# The breach that is no contract of the paper's: what OCR could not read.
UNREAD_LINES = "unread_lines"
# The note of a question that shows its key, and the contract that a paper breaks where several do: it is held.
KEY_SHOWN = "key_shown"


@dataclass(frozen=True)
class Breach:
    """A contract of the paper that a reading does not keep.

    `contract` is its name (`announced_count`), `place` the offset in the raw text, `size` the questions that it
    concerns (characters, for text that nothing claims), `words` the sentence that a person reads: what was found, where,
    and what the paper says. `section` is the index that the drafts of the section carry, None where it concerns the paper.
    """

    contract: str
    place: int
    size: int
    words: str
    section: int | None = None


@dataclass(frozen=True)
class Checked:
    """How far a reading keeps what the paper says of itself.

    `kept` counts the contracts that could be checked and hold. `score` lies between 0 and 1: the questions that no
    breach concerns, among those found and those missed. `margin` is how much more the reading keeps than the next best, 1
    where there was no other.
    """

    breaches: tuple[Breach, ...] = ()
    kept: int = 0
    score: float = 1.0
    margin: float = 1.0
