"""The error to be expected of an equated score, before anybody has answered.

Three parts, in points of a score from 0 to 100. A candidate's own answers: what is left of a question's stars when its difficulty
is known, over the root of their number. The link: anchors have been answered by some before and are answered by others now, and
both means are uncertain. Questions of one bank drawn at random are a link of their own, however weak: two sets have the same
difficulty up to the drawing. The two links are weighed by their information.

The two spreads are set so that the forecast meets what simulated exams came to (tests/benchmarks): median published errors of 2.7 to 2.9
points with 7 candidates and 2.0 to 2.4 with 60 at 120 questions, which are 3.0 and 2.5 by this formula; .87 with 60 candidates at
1,000 questions, which is .81. A real bank's spreads may be others, so that the figure says which of two plans is better, and about how
far scores may be trusted.
"""

from __future__ import annotations

import math

# Points that one answer strays from what candidate and question lead to expect, and questions from each other.
ANSWER_SPREAD = 24.0
QUESTION_SPREAD = 19.0


def expect_equated_se(
    question_count: int,
    *,
    anchor_count: int = 0,
    answers_before: float = 0.0,
    answers_now: float = 1.0,
    is_same_bank: bool = True,
) -> float | None:
    """Standard error of an equated score, in points of 100; null where nothing links the set.

    Args:
        question_count: questions of the set.
        anchor_count: those of them that others have answered before.
        answers_before: how many have answered an anchor, on average.
        answers_now: how many are to answer the set now.
        is_same_bank: whether the first questions of the scale were drawn from the same bank version.
    """
    information = 0.0
    if anchor_count and answers_before:
        spread = 1.0 / answers_before + 1.0 / max(answers_now, 1.0)
        information += anchor_count / (ANSWER_SPREAD**2 * spread)
    if is_same_bank:
        information += question_count / (2.0 * QUESTION_SPREAD**2)
    if not information or not question_count:
        return None
    return math.sqrt(ANSWER_SPREAD**2 / question_count + 1.0 / information)
