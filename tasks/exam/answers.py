"""Read the answer out of a response.

An answer is the labels of a choice, true or false, or a marked final answer. What is extracted serves statistics and
analysts; judges always read the whole response. Where nothing can be read with confidence the answer is null, never a
guess.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from schemas import patterns as re
from tasks.questions import BareQuestion

_MARK: Final = re.compile(
    r"(?:最终答案|最后答案|正确答案|正确选项|答案|结论|final\s+answer|correct\s+answer|answer|conclusion)"
    r"\s*(?:应该是|应为|应是|应选|选择|是|为|选|is|are|would\s+be)?\s*(?:option)?\s*[:：]?\s*",
    re.IGNORECASE,
)
_BOXED: Final = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_LATEX_TEXT: Final = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}")
_DECORATION: Final = re.compile(r"[*_`#>【】「」“”\"'《》$]")

# Short words count only where they are a verdict: 对于, 是否 and "no one" are none.
_FALSE_WORDS: Final = (
    r"不正确|不对|不成立|不是正确的|错误|错的|有误|错(?!综)|否(?![则认定])|"
    r"\bnot\s+(?:true|correct|right|valid)\b|\buntrue\b|\bincorrect\b|\bfalse\b|\bwrong\b|\bno\b(?=\s*(?:[,.;:!]|$))|×|✗|✘|❌"
)
_TRUE_WORDS: Final = (
    r"正确|成立|对(?![于应此比象称方策立待照内外])|是的|是(?=\s*(?:[，。,.！!]|$))|"
    r"\btrue\b|\bcorrect\b|\bright\b(?!-)|\byes\b|√|✓|✔|✅"
)
_TRUTH_FIRST: Final = re.compile(rf"\W*(?:(?P<false>{_FALSE_WORDS})|(?P<true>{_TRUE_WORDS}))", re.IGNORECASE)
_VERDICT: Final = re.compile(
    r"(?:说法|表述|命题|观点|判断|陈述|论断|结论|statement|claim|proposition)"
    r"[^\n。.;；]{0,12}?"
    rf"(?:(?P<false>{_FALSE_WORDS})|(?P<true>正确|对的|成立|\btrue\b|\bcorrect\b))",
    re.IGNORECASE,
)
# Nothing here gives back spaces that it took: a response of a million spaces would be tried at each of them, again and again.
_SEPARATOR: Final = r"\s*+(?:(?:[,，、;；/&+]|和|与|及|以及|\band\b)\s*+)?"
# An answer stands directly after its mark, and among the last ones: a response may be made of marks alone.
_MOST_MARKS: Final = 200
_LONGEST_TAIL: Final = 4_000


def extract_answer(bare: BareQuestion, response: str) -> str | None:
    """What a response answers, in the form of the bank's keys; null where nothing can be read."""
    text = _DECORATION.sub("", _LATEX_TEXT.sub(r"\1", _unbox(response))).strip()
    if not text:
        return None
    if bare.question_type == "true_false":
        return _extract_truth(text)
    if bare.question_type == "multiple_choice":
        return _extract_labels(text, [option.label for option in bare.options])
    return _extract_final(text)


def _unbox(response: str) -> str:
    """A boxed result is the final answer, wherever it stands."""
    boxes: list[str] = _BOXED.findall(response)
    return f"{response}\nFinal answer: {boxes[-1]}" if boxes else response


def _extract_truth(text: str) -> str | None:
    for tail in _marked(text):
        if match := _TRUTH_FIRST.match(tail):
            return _truth(match)
    if match := _TRUTH_FIRST.match(text):
        return _truth(match)
    verdicts = list(_VERDICT.finditer(text))
    return _truth(verdicts[-1]) if verdicts else None


def _truth(match: re.Match[str]) -> str:
    return "false" if match.group("false") else "true"


def _extract_labels(text: str, labels: list[str]) -> str | None:
    if not labels:
        return None
    one = "(?:" + "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True)) + ")"
    bracketed = rf"[(（\[]?\s*+{one}(?:\s*+[)）\]])?"
    # A label ends where no word continues it: "A." and "A、" are labels, "Apple" and "A student" are not.
    several = re.compile(
        rf"[(（\[]?\s*+({bracketed}(?:{_SEPARATOR}{bracketed})*)(?![A-Za-z0-9'])(?!\s+[a-z])"
    )
    for tail in _marked(text):
        if match := several.match(tail):
            return _join_labels(match.group(1), one, labels)
    if match := several.match(text):
        return _join_labels(match.group(1), one, labels)
    chosen = list(
        re.finditer(
            rf"(?:选择|应选|故选|选|choose|select|option)\s*+(?:[:：]\s*+)?({several.pattern})", text, re.I
        )
    )
    if chosen:
        return _join_labels(chosen[-1].group(1), one, labels)
    return None


def _join_labels(found: str, one: str, labels: list[str]) -> str:
    named = set(re.findall(one, found))
    return "".join(label for label in labels if label in named)


def _extract_final(text: str) -> str | None:
    for tail in _marked(text):
        line = tail.strip().split("\n", 1)[0].strip()
        if line:
            return line[:500]
    return None


def _marked(text: str) -> list[str]:
    """What stands after each mark of an answer, the last mark first."""
    ends = deque((match.end() for match in _MARK.finditer(text)), maxlen=_MOST_MARKS)
    return [text[end : end + _LONGEST_TAIL] for end in reversed(ends)]
