"""Completing a question from memory: its key span, how it is asked for, and what matches it.

The span is chosen by rule, so that only someone who has read the question can complete it. Completions are matched in
Chinese and English.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas import patterns as re
from tasks.questions.forms import Messages

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
_SAID_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_LABEL = re.compile(r"^(?:answer|missing words?|答案|缺失(?:的)?(?:内容|文字))\s*[:：]\s*", re.IGNORECASE)
_JUNK = re.compile(r"[\s\W_]+")
# How much more than the span a completion may hold: who lists many guesses has recalled none.
_MOST_EXTRA_CHARACTERS = 6
_MOST_EXTRA_WORDS = 3
# Recorded with every replay: a changed word below needs a new version.
VERSION = "1"
_REQUEST = {
    "zh": "下面是一道试题的原文，其中一处被“{blank}”代替。请凭记忆写出被代替的原文，只写这一处，不要作答，也不要解释。",
    "en": 'Below is the text of an exam question in which one passage was replaced by "{blank}". Write the original passage from '
    "memory, and nothing else: do not answer the question, do not explain.",
}
_PASSAGE = re.compile(
    r"^=== passage (?P<tag>[0-9a-f]{12}) ===\n(?P<text>.*?)\n^=== end (?P=tag) ===$", re.DOTALL | re.MULTILINE
)


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


def is_recalled(span: str, kind: str, completion: str) -> bool | None:
    """Whether the completion's first line gives the span.

    None where there is nothing to compare. A number must be the only number there, equal in value. Any other
    span must stand there, without regard to case, width, spaces and punctuation, with at most 6 characters
    (Chinese) or 3 words (English) beside it.
    """
    line = next((one.strip() for one in completion.splitlines() if one.strip()), "")
    said = _LABEL.sub("", unicodedata.normalize("NFKC", line))
    if not _JUNK.sub("", said):
        return None
    if kind == "number":
        numbers = {_read_number(one) for one in _SAID_NUMBER.findall(said)}
        return numbers == {_read_number(unicodedata.normalize("NFKC", span))}
    wanted, found = (
        _JUNK.sub("", unicodedata.normalize("NFKC", span)).casefold(),
        _JUNK.sub("", said).casefold(),
    )
    if not wanted or wanted not in found:
        return False
    if any("\u4e00" <= character <= "\u9fff" for character in wanted):
        return len(found) - len(wanted) <= _MOST_EXTRA_CHARACTERS
    return len(said.split()) - len(span.split()) <= _MOST_EXTRA_WORDS


def _read_number(text: str) -> float:
    return float(text.replace(",", ""))


def render_replay(blanked: str, language: str) -> Messages:
    """The messages that ask for the span."""
    tag = hashlib.sha256(blanked.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    request = _REQUEST[language].format(blank=BLANK)
    return [{"role": "user", "content": f"{request}\n\n=== passage {tag} ===\n{blanked}\n=== end {tag} ==="}]


def extract_passage(messages: Sequence[Mapping[str, str]]) -> str | None:
    """The question with its blank inside the messages; null when there is none."""
    match = _PASSAGE.search(messages[-1]["content"]) if messages else None
    return None if match is None or BLANK not in match["text"] else match["text"]
