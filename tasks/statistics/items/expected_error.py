"""The error to be expected of an equated score, before anybody has answered.

Three parts, in points of a score from 0 to 100. A candidate's own answers: what is left of a question's stars when its difficulty
is known, over the root of their number. The link: anchors have been answered by some before and are answered by others now, and
both means are uncertain. Questions of one bank drawn at random are a link of their own, however weak: two sets have the same
difficulty up to the drawing. The two links are weighed by their information.

The two spreads are set so that the forecast meets the median errors that simulated years published (tests/benchmarks/year_by_commands.py)
where errors include the calibration's own: 3.3 to 3.7 points with 60 candidates at 120 questions, 1.7 to 2.1 with 7 at 500, which are 3.5 and
2.1 by this formula. A real bank's spreads may be others, so that the figure says which of two plans is better, and about how far scores
may be trusted.
"""

from __future__ import annotations

import math

# Points that one answer strays from what candidate and question lead to expect, and questions from each other.
ANSWER_SPREAD = 34.0
QUESTION_SPREAD = 27.0
# Answers to what was answered before, for a discipline on average: with fewer the link is weaker than S compares months by itself, and
# equated scores are withheld. Simulated in two groups, in a bank that gets harder by .15 logits a season (validity_equating --groups 2):
# seven candidates on 500 questions, with 80, err by 2.1 points in the second season, S by 1.6; ten on 500, with 110, by 1.8 and 2.0.
LEAST_LINK = 100.0


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
