"""Read the answer out of a response: labels, true or false, or the final answer.

For statistics and for simulated judges; stars are given by judges, who read the whole response.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_FINAL = re.compile(
    r"(?:最终答案|答案|final answer|answer)\s*(?:是|为|is)?\s*[:：]\s*(?P<answer>.+)",
    re.IGNORECASE | re.DOTALL,
)
# The negatives first: 不正确 contains 正确.
_FALSE = re.compile(
    r"不正确|不成立|不对|错误|错|\bfalse\b|\bincorrect\b|\bnot (?:true|correct)\b|\bwrong\b|×|✗",
    re.IGNORECASE,
)
_TRUE = re.compile(r"正确|成立|对|\btrue\b|\bcorrect\b|√|✓", re.IGNORECASE)
# One label or several, and then something that ends them: "A mistake" does not answer A.
_LABELS = re.compile(
    r"(?<![A-Za-z])([A-Z](?:\s*(?:[,，、;；和与及/]|and|&)?\s*[A-Z])*)(?![A-Za-z'’])"
    r"(?=\s*(?:$|\n|[^\sA-Za-z]|(?:is|are|because|since|as)\b))"
)


def parse_answer(question_type: str, text: str, labels: Sequence[str] = ()) -> str | None:
    """What a response answers: labels in order (`AC`), `true` or `false`, or the final answer's first line.

    Null where nothing can be read; never a guess.
    """
    text = text.strip()
    if not text:
        return None
    finals = list(_FINAL.finditer(text))
    final = finals[-1].group("answer").strip() if finals else None
    if question_type == "true_false":
        return _parse_truth(final or text)
    if question_type == "multiple_choice":
        return _parse_labels(final or text, labels)
    if final is None:
        return None
    return final.split("\n", 1)[0].strip() or None


def _parse_truth(text: str) -> str | None:
    false, true = _FALSE.search(text), _TRUE.search(text)
    if false is None and true is None:
        return None
    if false is not None and (true is None or false.start() <= true.start()):
        return "false"
    return "true"


def _parse_labels(text: str, labels: Sequence[str]) -> str | None:
    match = _LABELS.search(text)
    if match is None:
        return None
    found = sorted(set(re.findall(r"[A-Z]", match.group(1))))
    if labels and not set(found) <= set(labels):
        return None
    return "".join(found)
