"""Whether a paper shows any sign of an answer."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.region_titles import is_region_heading
from tasks.ingest.layout.key_lines import OPTION, read_key_line
from tasks.ingest.readers.emphasis import KINDS
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.words.answers import find_explanation, match_answer
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
# `Final: 1 b, 2 c, 3 b (not d)`
_LISTED = re.compile(
    r"(?:(?<![\w.])\d{1,3}\s?[.:、)）-]?\s?(?:[A-Ha-h]|[TF])(?![\w'’]|\s?[.．、:：)）])[^\n\d]{0,30}){3}",
    re.ASCII,
)
# So long may the letter of an option be, and so much of a longer text must stand out.
_LABEL, _LEAST_SHOWN = 2, 8
# one such line is an accident
_LEAST_KEYED = 2


@lru_cache(maxsize=1)
def _named() -> re.Pattern[str]:
    return re.compile(
        rf"(?:{answer_name().pattern}|\b(?:correct|right|key)|正确选项){_BEHIND}", re.IGNORECASE
    )


def shows_answers(text: str, questions: Sequence[Mapping[str, Any]], lines: Sequence[Line]) -> bool:
    """Whether a paper may print answers, though no question of it has one.

    It does where a line names an answer, explains one or lists keys, where two of the lines below the first question could end
    with a key, or where options or lines of two questions stand out among their others. Where a question has an answer it
    does; of a sheet, which has no `lines`, it is not told: it may.
    """
    if not lines or any(row["answer"] for row in questions):
        return True
    if _stand_out(questions, lines, join_lines(lines)[1]) >= _LEAST_KEYED:
        return True
    first = min((row["text_start"] or 0 for row in questions), default=0)
    keyed = start = 0
    for line in text.split("\n"):
        if (
            _named().search(line)
            or match_answer(line)
            or find_explanation(line)
            or is_region_heading(line)
            or (OPTION.match(line) is None and (read_key_line(line) or _LISTED.search(line)))
        ):
            return True
        keyed += start >= first and _KEYED.search(line) is not None
        start += len(line) + 1
    return keyed >= _LEAST_KEYED


def _stand_out(questions: Sequence[Mapping[str, Any]], lines: Sequence[Line], starts: Sequence[int]) -> int:
    """In how many questions up to half of the options stand out.

    Without options it is some line below the first. Bold print alone heads and names what is below free questions.
    """
    found = 0
    for row in questions:
        if row["text_start"] is None or row["text_end"] is None:
            continue
        own = lines[bisect_right(starts, row["text_start"]) - 1 : bisect_left(starts, row["text_end"])]
        options = [_fold(option["text"]) for option in row["options"]]
        marked = [
            _fold(line.text[first:last])
            for line in own
            for first, last, kind in line.emphasis
            if kind in KINDS and (options or kind != "bold")
        ]
        texts = options or [_fold(line.text) for line in own[1:]]
        shown = sum(any(text and _begins(one, text) for one in marked) for text in texts) if marked else 0
        found += 0 < shown <= (len(texts) / 2 if options else len(texts) - 1)
    return found


def _begins(stretch: str, text: str) -> bool:
    """Whether a stretch is the text or its first line, give or take the letter before it."""
    least = min(len(text), _LEAST_SHOWN)
    return any(len(stretch) - cut >= least and text.startswith(stretch[cut:]) for cut in range(_LABEL + 1))


_SIGNS = re.compile(r"[\W_]+")


def _fold(text: str) -> str:
    return _SIGNS.sub("", text).casefold()
