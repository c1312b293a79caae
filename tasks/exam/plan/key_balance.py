"""Whether the keys of a new set lie evenly, and what one would get unread: counts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tasks.questions import BlindKey, find_blind_key
from tasks.statistics.scores import compute_chance

if TYPE_CHECKING:
    import polars as pl

    from tasks.exam.plan.sharing import DrawnSet

# Standard errors by which a key may be more frequent than an even draw makes it.
_MOST_ERRORS: Final = 3.0


@dataclass(frozen=True)
class KeyBalance:
    """The keys of a set that a run draws.

    Attributes:
        counts: how many questions each answer that is always the same gets right: `true`, `false`, a label, `longest`.
        chance_score: S of the best such answer, two stars for a right one, 0 to 100; null where a discipline has no question.
        uneven: keys that are right more often than an even draw makes them, by more than three standard errors.
    """

    set_number: int
    counts: Mapping[str, int]
    chance_score: float | None
    chance_answers: str
    uneven: tuple[str, ...] = ()


def weigh_keys(sets: Iterable[DrawnSet], contents: pl.DataFrame) -> tuple[KeyBalance, ...]:
    """The balance of each new set; `contents` has the questions of its lineages."""
    keys = {
        row["question_uuid"]: find_blind_key(row["question_type"], row["options"], row["answer"])
        for row in contents.select("question_uuid", "question_type", "options", "answer").iter_rows(
            named=True
        )
    }
    return tuple(_weigh(drawn, [keys[item.question_uuid] for item in drawn.items]) for drawn in sets)


def _weigh(drawn: DrawnSet, keys: Sequence[BlindKey]) -> KeyBalance:
    names = [share.discipline for share in drawn.shares]
    level = compute_chance(
        np.array([names.index(item.discipline) for item in drawn.items], dtype=np.int64),
        [key.kind for key in keys],
        [key.right for key in keys],
        np.full(len(names), 1.0 / len(names)),
    )
    counts = Counter(rule for key in keys for rule in key.right)
    return KeyBalance(
        set_number=drawn.set_number,
        counts=dict(sorted(counts.items())),
        chance_score=None if np.isnan(level.score) else round(level.score, 1),
        chance_answers=", ".join(level.rules),
        uneven=tuple(rule for rule in sorted(counts) if _is_uneven(rule, keys)),
    )


def _is_uneven(rule: str, keys: Sequence[BlindKey]) -> bool:
    """Whether a rule is right more often than one of as many choices would be, drawn evenly."""
    found = [key for key in keys if key.right]
    if rule in ("true", "false"):
        chances = [0.5 for key in found if key.kind == "true_false"]
    else:
        chances = [1.0 / key.choices for key in found if key.kind == "multiple_choice"]
    count = sum(rule in key.right for key in found)
    error = sum(chance * (1.0 - chance) for chance in chances) ** 0.5
    return bool(chances) and count - sum(chances) > _MOST_ERRORS * error
