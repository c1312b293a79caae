"""Whether a paper shows any sign of an answer that was not read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.region_titles import is_region_heading
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.readers.emphasis import KINDS
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.words.answers import find_explanation
from tasks.ingest.words.grammar import answer_name, truth_word

_KEY = rf"(?:[A-Ha-h](?:[\s,，、]*[A-Ha-h]){{0,5}}|[TFVX]|{truth_word()})"
# what says that an answer follows its name: `Answer: 5`, `【答案】`, `Richtig ist B`
_BEHIND = (
    r"\w{0,2}\s*(?:[:：=】\]]|(?:(?:is|ist|est|es|è|é|为|是)\s?)?(?:[（(]?(?-i:[A-H](?![\w’'/]|\s\w))|\d))"
)
# a key in brackets, on a line to write on, behind what asks, alone; a tick or a sign that stands at one option
_KEYED = re.compile(
    rf"[（(\[【]\s*{_KEY}\s*[)）\]】]\s*(?:[。.?？]|$)|_\s?{_KEY}\s?_|[_?？:：]\s*{_KEY}\s*$|^\s*{_KEY}\s*[.。]?\s*$|"
    r"^\s*[✅✔☑✓●◉☒★⭐]|\w\s*[✅✔☑✓√●◉☒★⭐*]\s*$|^\s*[^\w\s（(\[]{1,2}\s?[A-Ha-h]\s?[.．、)）]"
)
# one such line is an accident
_LEAST_KEYED = 2
# so much of an answer tells where it is printed
_BEGINNING = 8


@lru_cache(maxsize=1)
def _named() -> re.Pattern[str]:
    return re.compile(
        rf"(?:{answer_name().pattern}|\b(?:correct|right|key)|正确选项){_BEHIND}", re.IGNORECASE
    )


def shows_other_answers(text: str, questions: Sequence[Mapping[str, Any]], lines: Sequence[Line]) -> bool:
    """Whether a paper may print answers besides those that its questions have.

    It does where a line outside the answered questions names an answer, explains one or lists keys, where two of the lines
    below the first question could end with a key, or where lines of two questions stand out among their others. Without
    lines (`lines` of a sheet) it may.
    """
    if not lines or _stand_out(questions, lines, join_lines(lines)[1]) >= _LEAST_KEYED:
        return True
    answered = sorted(
        (row["text_start"], row["text_end"])
        for row in questions
        if row["answer"] and row["text_start"] is not None and row["text_end"] is not None
    )
    read = tuple({_fold(answer)[:_BEGINNING] for row in questions for answer in row["answer"]} - {""})
    first = min((row["text_start"] or 0 for row in questions), default=0)
    keyed = 0
    for start, line, below in _list_lines(text):
        at = bisect_right(answered, (start, len(text))) - 1
        if at >= 0 and start < answered[at][1]:
            continue
        named = _named().search(line)
        if named and any(_fold(said).startswith(read) for said in (line[named.end() :], below)):
            continue
        if named or find_explanation(line) or is_region_heading(line) or read_key_line(line):
            return True
        keyed += start >= first and _KEYED.search(line) is not None
    return keyed >= _LEAST_KEYED


def _stand_out(questions: Sequence[Mapping[str, Any]], lines: Sequence[Line], starts: Sequence[int]) -> int:
    """In how many questions without an answer some line below the first stands out, and not all of them do."""
    found = 0
    for row in questions:
        if row["answer"] or row["text_start"] is None or row["text_end"] is None:
            continue
        own = lines[bisect_right(starts, row["text_start"]) : bisect_left(starts, row["text_end"])]
        marked = sum(any(kind in KINDS for _, _, kind in line.emphasis) for line in own)
        found += 0 < marked < len(own)
    return found


def _list_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Where each line with text begins, the line, and the next."""
    found: list[tuple[int, str]] = []
    start = 0
    for line in text.split("\n"):
        if line.strip():
            found.append((start, line))
        start += len(line) + 1
    for at, (begin, line) in enumerate(found):
        yield begin, line, found[at + 1][1] if at + 1 < len(found) else ""


_SIGNS = re.compile(r"[\W_]+")


def _fold(text: str) -> str:
    return _SIGNS.sub("", text).casefold()
