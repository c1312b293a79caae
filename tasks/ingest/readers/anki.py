"""Notes that Anki exports as text: a few lines `#separator:tab`, then a note to a line.

Fields are HTML; a gap of a cloze note is written `{{c1::what fills it::a hint}}`.
"""

from __future__ import annotations

import csv
import html
import io
from typing import Final

from schemas import patterns as re
from tasks.ingest.readers.extraction import Extraction, Sheet

_SEPARATORS: Final = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":", "space": " "}
_SETTING = re.compile(r"#(?P<name>[a-z][a-z ]*):(?P<value>.*)")
# the columns that say where a note belongs
_OF_NOTE: Final = ("notetype column", "deck column", "tags column", "guid column")
_SIDES: Final = 2
_BREAK = re.compile(r"<(?:br|/div|/p|/li)\b[^<>]*>\s*", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
_GAP = re.compile(r"\{\{c\d+::(?P<held>.*?)(?:::[^{}]*)?\}\}", re.DOTALL)


def find_anki(text: str) -> Extraction | None:
    """The notes of an export as a sheet of questions and answers; None where a text is none."""
    if not text.startswith("#"):
        return None
    settings: dict[str, str] = {}
    rest = text
    while (match := _SETTING.match(rest)) is not None:
        settings[match["name"]] = match["value"].strip()
        rest = rest[match.end() :].lstrip("\r\n")
    delimiter = _SEPARATORS.get(settings.get("separator", "").lower())
    if delimiter is None:
        return None
    is_html = settings.get("html") == "true"
    left_out = {int(value) - 1 for name in _OF_NOTE if (value := settings.get(name, "")).isdecimal()}
    rows = [["Question", "Answer"]]
    for row in csv.reader(io.StringIO(rest, newline=""), delimiter=delimiter):
        fields = [_read_field(cell, is_html) for at, cell in enumerate(row) if at not in left_out]
        if any(fields[_SIDES:]):
            return None  # a note type of its own: which field answers is not told
        if any(fields):
            front, back = [*fields, "", ""][:_SIDES]
            gaps = [match["held"] for match in _GAP.finditer(front)]
            rows.append([_GAP.sub("____", front), "; ".join(gaps)] if gaps else [front, back])
    return Extraction("anki", "", sheets=[Sheet("", rows)]) if len(rows) > 1 else None


def _read_field(text: str, is_html: bool) -> str:
    if not is_html:
        return text.strip()
    lines = html.unescape(_TAG.sub("", _BREAK.sub("\n", text))).replace("\xa0", " ").split("\n")
    return "\n".join(line.strip() for line in lines if line.strip())
