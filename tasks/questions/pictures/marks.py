"""How a text names a picture: `[picture:2]` is picture 2 of its question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

PICTURE: Final = re.compile(r"\[picture:([1-9]\d{0,3})\]")


def write_mark(number: int) -> str:
    """What stands in a text for a picture."""
    return f"[picture:{number}]"


def leave_out_pictures(text: str) -> str:
    """The text without its pictures, and without the space that they leave."""
    if "[picture:" not in text:
        return text
    return re.sub(r"[ \t]*\n\s*", "\n", PICTURE.sub(" ", text)).strip()


def list_marked(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts that may hold pictures, by place: first those that a candidate sees."""
    yield "material", row.get("material") or ""
    yield "stem", row.get("stem") or ""
    for option in row.get("options") or ():
        yield "option", option["text"] or ""
    for answer in row.get("answer") or ():
        yield "answer", answer or ""
    yield "explanation", row.get("explanation") or ""


def place_pictures(row: Mapping[str, Any], pictures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The pictures that the texts of a question name, each where it is named first.

    A picture that no text names any more is left out; a number without a picture stays unexplained, which the rule
    `pictures_are_there` finds.
    """
    hashes = {int(one["number"]): str(one["sha256"]) for one in pictures}
    places: dict[int, str] = {}
    for place, text in list_marked(row):
        for mark in PICTURE.finditer(text) if "[picture:" in text else ():
            places.setdefault(int(mark[1]), place)
    return [
        {"number": number, "sha256": hashes[number], "place": place}
        for number, place in sorted(places.items())
        if number in hashes
    ]
