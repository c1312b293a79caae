"""Questions in Moodle's GIFT format: `::title:: stem {=right ~wrong}`, `{T}`, `{=answer}`, `{}`."""

from __future__ import annotations

import re

# Braces that hold what GIFT may hold: answers with = or ~, a judgement, a number, or nothing.
_BLOCK = re.compile(r"(?<!\\)\{(?P<inside>(?:[^{}\\]|\\.)*)(?<!\\)\}", re.DOTALL)
_TRUTHS = {"T": "true", "TRUE": "true", "F": "false", "FALSE": "false"}
_ANSWER = re.compile(
    r"(?<!\\)([=~])(?:%-?\d+(?:\.\d+)?%)?\s*((?:[^=~#\\]|\\.)*)(?:#(?:[^=~\\]|\\.)*)?", re.DOTALL
)
_TITLE = re.compile(r"^\s*::.*?::\s*", re.DOTALL)
_FORMAT = re.compile(r"^\s*\[(?:html|markdown|plain|moodle)\]\s*")
_LETTERS = "ABCDEFGHIJ"
_MIN_QUESTIONS = 2


def find_gift(text: str) -> list[dict[str, str]] | None:
    """Return the questions of a GIFT file as records, None where the text is none: blocks in braces, most with = or ~."""
    if text.count("{") < _MIN_QUESTIONS or "=" not in text:
        return None
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("//", "$CATEGORY"))]
    parts = [
        part
        for part in re.split(r"\n\s*\n|\n(?=::)|(?<=\})\s*\n|(?<=\}[.?!])\s*\n", "\n".join(lines))
        if part.strip()
    ]
    records = [record for part in parts if (record := _read_question(part)) is not None]
    return records if len(records) >= max(_MIN_QUESTIONS, 0.8 * len(parts)) else None


def _read_question(part: str) -> dict[str, str] | None:
    match = _BLOCK.search(part)
    if match is None:
        return None
    inside = match.group("inside").strip()
    before = _FORMAT.sub("", _TITLE.sub("", part[: match.start()])).strip()
    after = part[match.end() :].strip()
    stem = f"{before} ____ {after}" if after and inside[:1] in "=~" else f"{before} {after}".strip()
    record = {"question": _unescape(stem)}
    head = inside.partition("#")[0].strip().upper()
    answers = [(sign, _unescape(text.strip())) for sign, text in _ANSWER.findall(inside)]
    if not stem or "->" in inside:
        return None  # matching pairs have no place in a record
    if head in _TRUTHS:
        return record | {"type": "true_false", "answer": _TRUTHS[head]}
    if not inside:
        return record | {"type": "essay"}
    if not answers:
        return None
    if all(sign == "=" for sign, _ in answers):
        is_gap = "____" in stem
        return record | {"type": "fill_in_the_blank" if is_gap else "short_answer", "answer": answers[0][1]}
    letters = dict(zip(_LETTERS, answers, strict=False))
    options = {letter: text for letter, (_, text) in letters.items()}
    right = "".join(letter for letter, (sign, _) in letters.items() if sign == "=")
    return record | options | {"type": "multiple_choice", "answer": right}


def _unescape(text: str) -> str:
    return re.sub(r"\\([~=#{}:])", r"\1", text).strip()
