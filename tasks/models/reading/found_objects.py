"""The JSON objects of a reply, found without trust in what stands around them."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from schemas import patterns as re
from tasks.models.reading.voices import Voice, find_voice

# How many characters are read in vain before a text counts as tangled; each beginning that leads nowhere counts as `_FAULT` more,
# what is nested too deep as `_TANGLED`, and an object that is found as `_FOUND`.
_MOST_EFFORT = 2_000_000
_FAULT = 200
_TANGLED = 20_000
_FOUND = 2_000
_OBJECT = re.compile(r"\{(?=\s*[\"}])")
# What models get wrong in JSON: a backslash that begins no escape begins a word of TeX, and a comma may stand before the end.
_WRONG = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(?P<backslash>\\)|(?P<comma>,)(?=\s*[}\]])')


@dataclass(frozen=True)
class FoundObject:
    """A JSON object in a text.

    Attributes:
        value: the object; a name that it has twice with different values has null.
        start: where it begins in the text.
        end: where it ends.
        voice: whose words it is, by what stands around it.
    """

    value: dict[str, Any]
    start: int
    end: int
    voice: Voice


def find_objects(text: str, *, repair: bool = False) -> list[FoundObject] | None:
    """The outermost JSON objects of a text, in order.

    The result is None where their braces are too tangled to be read in reasonable time. `repair`: one that is
    wrong by a lone backslash or a comma too many is read all the same.
    """
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_join_pairs)
    forms = [_Form(text, None), _Form(text, _WRONG)] if repair else [_Form(text, None)]
    found: list[FoundObject] = []
    effort = end = 0
    for match in _OBJECT.finditer(text):
        start = match.start()
        if start < end:
            continue
        for form in forms:
            place = form.place(start)
            try:
                # Of the rest alone: an error counts the lines before it.
                value, length = decoder.raw_decode(form.text[place:])
            except json.JSONDecodeError as error:
                effort += error.pos + _FAULT
            except (ValueError, RecursionError):
                effort += _TANGLED
            else:
                end = form.place_back(place + length)
                effort += _FOUND
                found.append(FoundObject(value, start, end, find_voice(text, start, end)))
                break
        if effort > _MOST_EFFORT:
            return None
    return found


def parse_json_object(text: str, key: str) -> dict[str, Any] | None:
    """The one JSON object of a reply that has the key; None for none, or several that differ."""
    objects = find_objects(drop_thinking(text)) or ()
    found = [one.value for one in objects if key in one.value and one.voice != "quoted"]
    return found[0] if found and all(value == found[0] for value in found) else None


def drop_thinking(text: str) -> str:
    """A reply without the tagged thinking that it begins with, where something follows it."""
    if not text.lstrip().startswith("<think>"):
        return text
    _, closed, rest = text.partition("</think>")
    return rest if closed and rest.strip() else text


class _Form:
    """A text, or its JSON put right, and which place of the one is which of the other."""

    def __init__(self, text: str, wrong: re.Pattern[str] | None) -> None:
        pieces: list[str] = []
        self._shifts, self._places, self._places_back = [0], [0], [0]
        last = 0
        for match in wrong.finditer(text) if wrong else ():
            if match.lastgroup is None:
                continue
            instead = "\\\\" if match["backslash"] else ""
            pieces += text[last : match.start()], instead
            last = match.end()
            self._shifts.append(self._shifts[-1] + len(instead) - 1)
            self._places.append(last)
            self._places_back.append(last + self._shifts[-1])
        self.text = "".join([*pieces, text[last:]]) if pieces else text

    def place(self, place: int) -> int:
        return place + self._shifts[bisect_right(self._places, place) - 1]

    def place_back(self, place: int) -> int:
        return place - self._shifts[bisect_right(self._places_back, place) - 1]


def _join_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, part in pairs:
        value[name] = part if name not in value or value[name] == part else None
    return value
