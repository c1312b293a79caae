"""The key span of a question: the part that is blanked.

It is chosen by rule, so that only someone who has read the question can complete it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

BLANK = "⟦?⟧"

# A number of two digits or more, with decimals or thousands as they are written.
_NUMBER = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d{2,})(?![\d]|[.,]\d|\.\.)")
_QUOTED = re.compile(r"《([^《》\n]{2,20})》|“([^“”\n]{2,20})”|\"([^\"\n]{3,30})\"|「([^「」\n]{2,20})」")
# Runs of Chinese without the words that carry no content.
_CHINESE = re.compile(
    r"(?:(?![的了是在和与及或等下列以上关于哪项正确错误说法中不有为对其一个这那])[\u4e00-\u9fff]){3,8}"
)
_ENGLISH = re.compile(r"\b[A-Za-z][A-Za-z\-]{5,}\b")
_LEAST_OPTION = 4
# A blank in quotation marks is no term.
_LEAST_CONTENT = 2


@dataclass(frozen=True)
class Span:
    """What is blanked.

    Attributes:
        kind: `number`, `term` (quoted or a title), `option` (the longest one) or `word`.
        text: the span itself.
        blanked: the question with BLANK in its place.
    """

    kind: str
    text: str
    blanked: str


def choose_span(stem: str, options: Sequence[str] = ()) -> Span | None:
    """The span of a question, by the first rule that finds one; null where none does.

    The last number of two digits or more; the last quoted term; the longest option, where options differ in length or there are
    long ones; the longest word. A span that stands elsewhere in the question, too, could be copied, and is passed over.
    """
    text = render_passage(stem, options)
    for kind, start, end in _list_spans(stem, options, text):
        found = text[start:end]
        if text.count(found) == 1 and sum(character.isalnum() for character in found) >= _LEAST_CONTENT:
            return Span(kind, found, text[:start] + BLANK + text[end:])
    return None


def render_passage(stem: str, options: Sequence[str]) -> str:
    """The question as it is replayed: the stem, then each option on a line with its letter."""
    lines = [
        stem.strip(),
        *(f"{chr(ord('A') + place)}. {option.strip()}" for place, option in enumerate(options)),
    ]
    return "\n".join(lines)


def _list_spans(stem: str, options: Sequence[str], text: str) -> list[tuple[str, int, int]]:
    own = stem.strip()
    spans = [("number", *match.span()) for match in reversed(list(_NUMBER.finditer(own)))]
    for match in reversed(list(_QUOTED.finditer(own))):
        group = next(place for place in range(1, 5) if match[place] is not None)
        spans.append(("term", *match.span(group)))
    for option in sorted(options, key=lambda one: -len(one.strip())):
        if len(option.strip()) >= _LEAST_OPTION:
            start = text.rfind(option.strip())
            spans.append(("option", start, start + len(option.strip())))
    words = [*_CHINESE.finditer(own), *_ENGLISH.finditer(own)]
    spans += [("word", *match.span()) for match in sorted(words, key=lambda one: -len(one[0]))]
    return spans
