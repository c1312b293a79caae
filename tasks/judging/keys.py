"""What a question's key alone says of the answer that was extracted from a response."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from schemas import patterns as re
from tasks.gscore import compute_standard_answer
from tasks.questions import QuestionContent

_NUMBER: Final = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?")


def check_key(question: QuestionContent, answer: str | None) -> str | None:
    """`right` or `wrong` by the key alone; None where the key cannot decide."""
    if answer is None or not question.answer:
        return None
    if question.question_type == "true_false":
        return "right" if answer == question.answer[0] else "wrong"
    if question.question_type == "multiple_choice":
        return "right" if sorted(answer) == sorted("".join(question.answer)) else "wrong"
    if question.question_type in ("calculation", "fill_in_the_blank") and len(question.answer) == 1:
        return _compare_results(question.answer[0], answer)
    return None


def _compare_results(key: str, answer: str) -> str | None:
    """Whether two results are one; None where their words differ and they are no plain numbers."""
    wanted, found = compute_standard_answer(key), compute_standard_answer(answer)
    if wanted and wanted == found:
        return "right"
    if not (_NUMBER.fullmatch(wanted) and _NUMBER.fullmatch(found)):
        return None
    first, second = Decimal(wanted), Decimal(found)
    coarser = max((first, second), key=lambda number: int(number.as_tuple().exponent))
    step = Decimal(1).scaleb(int(coarser.as_tuple().exponent))
    return "wrong" if abs(first - second) >= step else "right" if first == second else None
