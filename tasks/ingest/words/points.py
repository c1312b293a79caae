"""What counts points and questions in any language: `(5分)`, `[2 marks]`, `je 1,5 Punkte`.

Fragments for patterns, made of the words of grammar.yaml. They have no groups, mind no case and begin at a number or a bracket, so that a
search takes time with the length of a text. What is worth how much is read from what they matched.
"""

from __future__ import annotations

from typing import Final

from schemas import patterns as re
from tasks.ingest.words.word_lists import WORDS, match_words

NUMBER: Final = r"\d{1,3}(?:[.,]\d{1,2})?(?!\d)"
# `30分钟`, `3分之1` are no points
POINT: Final = rf"(?i:{match_words(WORDS['point_words'])})(?!(?<=分)[钟鐘之])(?:(?<![分점])\.)?"
EACH: Final = rf"(?i:{match_words(WORDS['each_words'])})"
TOTAL: Final = rf"(?i:{match_words(WORDS['total_words'])})\.?"
QUESTION: Final = rf"(?i:{match_words(WORDS['question_words'])})"
POINTS: Final = rf"(?<!\d)(?<!\d[.,]){NUMBER}\s*{POINT}"
# where brackets, a sum or `each` say that points are counted, letters do
UNIT: Final = rf"(?:{POINT}|{match_words(WORDS['point_signs'])}\.?)"
# an M for marks stands right behind its number: with a gap it is a measure
_SIGNED: Final = rf"(?:\s*{UNIT}|M)"
# `/ 2`, `___ / 2`: room for the points that somebody gives
_OF: Final = r"[_….]{0,40}\s*[/／]\s*"
# `0–2 pkt`: at most so many
_FROM: Final = r"0\s*[-–—]\s*"
FULL: Final = rf"(?i:{match_words([*WORDS['total_words'], *WORDS['worth_words']])})\.?"
_LEAD: Final = rf"(?:[本此][大小]?[题題]\s*)?(?:{FULL}\s*[:：]?\s*|{_OF}|{_FROM})?"
WORTH: Final = rf"{_LEAD}{NUMBER}{_SIGNED}(?:\s+{TOTAL})?"
_INSIDE: Final = rf"{WORTH}|{_OF}{NUMBER}|(?:(?:{FULL}\s*)?{POINT}|{FULL})\s*[:：=]\s*{NUMBER}"
BRACKETED: Final = rf"[（(\[【［]\s*(?:{_INSIDE})\s*[)）\]】］]"
# of what a paper leads off with even `(20%)`, `(5')` and `(0–2)` count points
LEADING: Final = rf"(?:{_INSIDE}|{NUMBER}\s*[mp%'′]|{_FROM}[1-4])"
OPENING: Final = rf"[（(\[【［]\s*{LEADING}\s*[)）\]】］]"
# a line to write the points on, in any word for them
ROOM: Final = rf"(?:_+\s*|…+)[/／]\s*{NUMBER}\s*[^\W\d_]{{0,8}}\.?"
# `3+5`, `10 x 2 = 20`, with a word or without
SUM: Final = rf"{NUMBER}(?:\s*[+xX×*=/]\s*{NUMBER}){{0,4}}{_SIGNED}?"
# as what single questions are worth: `[120]` refers to something
SMALL_SUM: Final = rf"(?!\d{{3}}){SUM}"
BRACKETED_SUM: Final = rf"[（(\[［]\s*{SMALL_SUM}\s*[)）\]］]"
# a bracket that counts points or questions among other words: `（共20分，每小题2分）`
_OTHER: Final = r"[^()（）\[\]【】［］\n]{0,40}"
_COUNTED: Final = rf"[\d一二两三四五六七八九十](?:{_SIGNED}|%)|{POINT}\s*[:：=]?\s*\d"
COUNTS: Final = (
    rf"[（(\[【［]{_OTHER}?(?:{_COUNTED}|[\d一二两三四五六七八九十]\s*{QUESTION}){_OTHER}[)）\]】］]"
)
# that counts points: `(Choose 3 problems)` is a rule for candidates
COUNTS_POINTS: Final = rf"[（(\[【［]{_OTHER}?(?:{_COUNTED}){_OTHER}[)）\]】］]"
CLOSING: Final = re.compile(rf"{BRACKETED}\s*$")
_FIRST_NUMBER: Final = re.compile(rf"(?!{_FROM}){NUMBER}")


def read_points(text: str) -> float | None:
    """The first number of what a fragment matched, `1,5 pkt` as 1.5; None without one."""
    found = _FIRST_NUMBER.search(text)
    return float(found[0].replace(",", ".")) if found is not None else None
