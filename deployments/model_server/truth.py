"""What a response is truly worth in the simulation.

This is the stars that an errorless marker would give.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from deployments.model_server.key import KnownQuestion, build_answer_key, parse_answer_key
from tasks.exam import extract_answer
from tasks.questions import BareQuestion, Option
from tasks.questions.forms import render_question

if TYPE_CHECKING:
    import polars as pl

# The simulated candidates' explanations: what they say tells how good they are. Several of each, so that answers differ.
EXPLANATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "zh": {
        "reasonable": (
            "依据相关概念的定义逐条核对，结论与题意一致。",
            "从基本原理出发推导，各步条件都满足，结论成立。",
            "结合该领域的通行结论，可以排除其他可能。",
        ),
        "partial": (
            "大体思路是这样，但其中有的环节没有展开说明。",
            "主要依据如此，个别条件未作讨论。",
        ),
        "wrong": (
            "凭印象作此判断，没有更多依据。",
            "这里把两个不同的概念当作同一个来用。",
        ),
    },
    "en": {
        "reasonable": (
            "Checked against the definitions point by point, the conclusion fits what is asked.",
            "It follows from the basic principle, and each condition on the way is met.",
            "What is generally established in the field rules out the alternatives.",
        ),
        "partial": (
            "The main line is this, though some of the steps are left open.",
            "This is the chief ground; some of the conditions are not discussed.",
        ),
        "wrong": (
            "This is an impression; there is no further ground for it.",
            "Two different concepts are taken for the same one here.",
        ),
    },
}

_JUNK = re.compile(r"[\s，。；、：,.;:!?！？“”\"'（）()]+")


class ErrorlessMarker:
    """Marks simulated responses to questions of a bank as an errorless person would."""

    def __init__(self, bank: pl.DataFrame) -> None:
        self._key = parse_answer_key(build_answer_key(bank))

    def mark(self, question: BareQuestion, response: str) -> int | None:
        """0 to 3 stars; null for a question that the bank does not have."""
        entry = self._key.find(render_question(question))
        return None if entry is None else compute_true_stars(entry, response)


def is_right(entry: KnownQuestion, response: str) -> bool:
    """Whether a response gives the key.

    The key is the labels, the truth value, or every reference answer in its words.
    """
    if not entry.answer:
        return False
    if entry.question_type in ("multiple_choice", "true_false"):
        options = tuple(Option(label, "") for label in entry.labels)
        found = extract_answer(BareQuestion(entry.question_type, entry.language, "", None, options), response)
        if entry.question_type == "true_false":
            return found == entry.answer[0]
        return found == "".join(label for label in entry.labels if label in entry.answer)
    text = _normalise(response)
    return all(_normalise(answer) in text for answer in entry.answer)


def find_quality(response: str) -> str:
    """`reasonable`, `partial` or `wrong`: how good the explanation of a simulated response is."""
    for texts in EXPLANATIONS.values():
        for quality in ("wrong", "partial"):
            if any(text in response for text in texts[quality]):
                return quality
    return "reasonable"


def compute_true_stars(entry: KnownQuestion, response: str) -> int:
    """Stars by the scale of LLMEval-Fair; 0 for a blank one, no third star without a reason."""
    if not response.strip():
        return 0
    if not _has_reason(entry, response):
        return 2 if is_right(entry, response) else 0
    quality = find_quality(response)
    if is_right(entry, response):
        return 3 if quality == "reasonable" else 2
    return 0 if quality == "wrong" else 1


def _has_reason(entry: KnownQuestion, response: str) -> bool:
    reasons = [text for texts in EXPLANATIONS.values() for known in texts.values() for text in known]
    return any(reason in response for reason in (*reasons, *filter(None, [entry.explanation])))


def _normalise(text: str) -> str:
    return _JUNK.sub("", unicodedata.normalize("NFKC", text)).casefold()
