"""Questions in Moodle's GIFT format.

They are written `::title:: stem {=right ~wrong}`, `{T}`, `{=answer}`, `{}`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Braces that hold what GIFT may hold: answers with = or ~, a judgement, a number, or nothing.
_BLOCK = re.compile(r"(?<!\\)\{(?P<inside>(?:[^{}\\]|\\.)*)(?<!\\)\}", re.DOTALL)
_TRUTHS = {"T": "true", "TRUE": "true", "F": "false", "FALSE": "false"}
_ANSWER = re.compile(
    r"(?<!\\)([=~])(?:%(-?\d+(?:\.\d+)?)%)?\s*((?:[^=~#\\]|\\.)*)(?:#(?:[^=~\\]|\\.)*)?", re.DOTALL
)
_NUMBER = re.compile(r"#\s*=?\s*(?:%[\d.]+%)?\s*(-?\d+(?:\.\d+)?)(?:\s*\.\.\s*(-?\d+(?:\.\d+)?))?")
_TITLE = re.compile(r"^\s*::.*?::\s*", re.DOTALL)
_FORMAT = re.compile(r"^\s*\[(?:html|markdown|plain|moodle)\]\s*")
_MIN_QUESTIONS = 2


def find_gift(text: str) -> list[dict[str, str]] | None:
    """Return the questions of a GIFT file as records, None where the text is none.

    It is one where there are blocks in braces, most with = or ~.
    """
    if text.count("{") < _MIN_QUESTIONS or "=" not in text:
        return None
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("//", "$CATEGORY"))]
    parts = [
        part
        for part in re.split(r"\n\s*\n|\n(?=::)|(?<=\})\s*\n|(?<=\}[.?!])\s*\n", "\n".join(lines))
        if part.strip()
    ]
    questions = [found for part in parts if (found := _read_question(part))]
    if len(questions) < max(_MIN_QUESTIONS, 0.8 * len(parts)):
        return None
    return [record for found in questions for record in found]


def _read_question(part: str) -> list[dict[str, str]]:
    """The records of one block.

    There is one question, or one for each pair that is to be matched; none where the block is no question.
    """
    match = _BLOCK.search(part)
    if match is None:
        return []
    inside = match.group("inside").strip()
    before = _FORMAT.sub("", _TITLE.sub("", part[: match.start()])).strip()
    after = part[match.end() :].strip()
    stem = f"{before} ____ {after}" if after and inside[:1] in "=~" else f"{before} {after}".strip()
    record = {"question": _unescape(stem)}
    head = inside.partition("#")[0].strip().upper()
    answers = [(sign, worth, _unescape(text.strip())) for sign, worth, text in _ANSWER.findall(inside)]
    number = _NUMBER.match(inside)
    if not stem:
        return []
    if head in _TRUTHS:
        return [record | {"type": "true_false", "answer": _TRUTHS[head]}]
    if not inside:
        return [record | {"type": "essay"}]
    if number is not None:
        shown = "–".join(part for part in number.groups() if part)
        return [record | {"type": "short_answer", "answer": shown}]
    if not answers:
        return []
    if all("->" in text for _, _, text in answers):
        pairs = [text.partition("->") for _, _, text in answers]
        return ask_pairs(record["question"], [(left.strip(), right.strip()) for left, _, right in pairs])
    if all(sign == "=" for sign, _, _ in answers):
        is_gap = "____" in stem
        return [record | {"type": "fill_in_the_blank" if is_gap else "short_answer", "answer": answers[0][2]}]
    letters = dict(zip(LETTERS, answers, strict=False))
    options = {letter: text for letter, (_, _, text) in letters.items()}
    right = "".join(letter for letter, (sign, _, _) in letters.items() if sign == "=")
    # where no answer is right alone, those that earn a share of the marks are right together
    right = right or "".join(
        letter for letter, (_, worth, _) in letters.items() if worth and float(worth) > 0
    )
    return [record | options | {"type": "multiple_choice", "answer": right}]


def _unescape(text: str) -> str:
    return re.sub(r"\\([~=#{}:])", r"\1", text).strip()


LETTERS = "ABCDEFGHIJ"


def ask_pairs(stem: str, sides: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """A choice for every left side among all right sides.

    The asking text stands above each of them. A left side without a right one has no answer; a right side without a
    left one is offered all the same.
    """
    offered = list(dict.fromkeys(right for _, right in sides if right))
    if not 2 <= len(offered) <= len(LETTERS):
        return []
    options = dict(zip(LETTERS, offered, strict=False))
    return [
        {
            "material": stem,
            "question": left,
            **options,
            "type": "multiple_choice",
            "answer": LETTERS[offered.index(right)] if right else "",
        }
        for left, right in sides
        if left
    ]
