"""Pictures in the texts of a question, numbered as the question has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tasks.ingest.content.drafts import Draft
from tasks.ingest.readers.extraction import FORMULA, IMAGE, PICTURE_MARK, SHOWN_MARK, read_picture_number
from tasks.questions.pictures import write_mark


@dataclass
class KeptPictures:
    """The pictures of a document by the number that its reader gave them.

    A number in `empty` shows nothing, one in neither could not be read.
    """

    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    empty: set[int] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    def list_rows(self, sha256s: Iterable[str]) -> list[dict[str, Any]]:
        """The rows of the pictures with these hashes, each once, in the order of the document."""
        wanted = set(sha256s)
        found: dict[str, dict[str, Any]] = {}
        for _, row in sorted(self.rows.items()):
            if row["sha256"] in wanted:
                found.setdefault(row["sha256"], row)
        return list(found.values())


def name_pictures(
    texts: Sequence[tuple[str, str]], kept: KeptPictures
) -> tuple[list[str], list[dict[str, Any]]]:
    """The texts of a question with their pictures named from 1, and these pictures.

    Texts are given with their places.

    The mark of a picture that is missing stays as it was.
    """
    numbers: dict[str, int] = {}
    pictures: list[dict[str, Any]] = []

    def name(place: str, mark: re.Match[str]) -> str:
        number = read_picture_number(mark)
        row = kept.rows.get(number) if number is not None else None
        if number in kept.empty and mark["sign"] == IMAGE:
            return ""
        if row is None:
            return mark["sign"]
        sha256 = row["sha256"]
        if sha256 not in numbers:
            numbers[sha256] = len(numbers) + 1
            pictures.append({"number": numbers[sha256], "sha256": sha256, "place": place})
        return write_mark(numbers[sha256])

    written = [
        SHOWN_MARK.sub(lambda mark, place=place: name(place, mark), text)  # type: ignore[misc]
        if IMAGE in text or FORMULA in text
        else text
        for place, text in texts
    ]
    return written, pictures


# "如图1", "下图", "the figure below".
SPEAKS_OF_FIGURE = re.compile(
    r"(?:如|见|下|上|右|左|由)(?:下)?图|图\s*\d|(?i:\b(?:figure|diagram|graph|picture)\b(?: below| above| \d)?.{0,12}(?:shows?|shown|below|above))|(?i:shown in (?:the )?(?:fig|diagram))"
)


def give_to_who_refers(drafts: Sequence[Draft]) -> None:
    """Move a picture that closes a question to the next one where only that speaks of a figure.

    Of two questions in one section; the next has no picture of its own. That it was moved is among its doubts.
    """
    for draft, following in pairwise(drafts):
        shown = "".join(text for _, text in following.options)
        if (
            draft.section != following.section
            or not SPEAKS_OF_FIGURE.search(following.stem)
            or IMAGE in following.stem
            or IMAGE in shown
            or SPEAKS_OF_FIGURE.search(draft.stem)
        ):
            continue
        *before, last = (draft.stem, *(text for _, text in draft.options))
        tail = _TAIL.search(last)
        # A picture in other options, too, says that this one is an option's.
        if tail is None or any(IMAGE in text for text in before[1:]):
            continue
        if draft.options:
            draft.options[-1] = draft.options[-1][0], last[: tail.start()]
        else:
            draft.stem = last[: tail.start()]
        following.stem = f"{following.stem}\n{tail[0].strip()}"
        following.notes.append("figure_between")


_TAIL = re.compile(rf"(?<=\S)(?:\s*{PICTURE_MARK.pattern})+\s*$")


def settle_pictures(stem: str, options: Sequence[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """Stem and options with the picture below the last option in the stem.

    It is the question's where no other option has one, and this option says something besides.
    """
    options = list(options)
    if len(options) < 2 or IMAGE not in options[-1][1] or any(IMAGE in text for _, text in options[:-1]):
        return stem, options
    label, text = options[-1]
    tail = _TAIL.search(text)
    if tail is None:
        return stem, options
    options[-1] = label, text[: tail.start()]
    return f"{stem}\n{tail[0].strip()}", options
