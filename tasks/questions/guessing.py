"""What a question's key gives away to somebody who does not read it.

Such a person always answers the same: true or false, one letter, or the longest of the options. What that earns on a set is its
chance level, beside which a score stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

LONGEST: Final = "longest"
_STATEMENT, _CHOICE = "true_false", "multiple_choice"


class BlindKey(NamedTuple):
    """Which answers that are always the same are right.

    Attributes:
        kind: `true_false`, `multiple_choice`, or `open` for a question that nobody answers blindly.
        choices: answers that there are, of which one is given.
        right: those of the rules that are right: `true`, `false`, a label, `longest`.
    """

    kind: str
    choices: int
    right: frozenset[str]


def find_blind_key(
    question_type: str, options: Iterable[Mapping[str, str | None]] | None, answer: Sequence[str]
) -> BlindKey:
    """Which rules answer this question right.

    Where several options are right, or none is known, no rule is: one option alone is no whole answer. Of options that are
    equally long the first is the longest. Options are null where a question has none.
    """
    if question_type == _STATEMENT:
        return BlindKey(_STATEMENT, 2, frozenset(answer) & {"true", "false"})
    offered = list(options or ())
    if question_type != _CHOICE or len(offered) < 2:
        return BlindKey("open", 0, frozenset())
    if len(answer) != 1:
        return BlindKey(_CHOICE, len(offered), frozenset())
    longest = max(offered, key=lambda option: len((option["text"] or "").strip()))["label"]
    right = {answer[0], LONGEST} if longest == answer[0] else {answer[0]}
    return BlindKey(_CHOICE, len(offered), frozenset(right))
