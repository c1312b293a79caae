"""How many questions of each discipline a set has, and what it means if too few are there.

A discipline's weight in S is fixed whatever its share (SPEC §5.1): a small discipline may have a smaller share, so that
it lasts as long as the others and is never silently absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.errors import GateError, UsageError


@dataclass(frozen=True)
class Shortfall:
    """A discipline that cannot fill its share of a set.

    Attributes:
        needed: lineages that the set needs at least.
        available: lineages that may still be put to the organisation.
        total: lineages of the discipline in the bank version.
    """

    discipline: str
    needed: int
    available: int
    total: int


class BankTooSmall(GateError):
    """The bank cannot serve anybody of a run; carries the numbers per discipline."""

    def __init__(self, message: str, shortfalls: Sequence[Shortfall]) -> None:
        super().__init__(message)
        self.shortfalls = tuple(shortfalls)


def compute_shares(set_size: int, disciplines: Sequence[str]) -> dict[str, int]:
    """Equal shares of a set; a remainder goes, one each, to the disciplines that come first."""
    share, remainder = divmod(set_size, len(disciplines))
    return {
        discipline: share + (1 if position < remainder else 0)
        for position, discipline in enumerate(disciplines)
    }


@dataclass(frozen=True)
class ShareRule:
    """The shares of a set, and how far they may fall short.

    Attributes:
        equal: discipline → its equal share.
        planned: discipline → its share, smaller where the bank has few of it.
        least: discipline → the smallest share that a set may have.
    """

    equal: Mapping[str, int]
    planned: Mapping[str, int]
    least: Mapping[str, int]
    totals: Mapping[str, int]

    def fit(self, available: Mapping[str, int]) -> tuple[dict[str, int], list[Shortfall]]:
        """The shares of one set from what is available, and the disciplines short of the least."""
        shares: dict[str, int] = {}
        shortfalls: list[Shortfall] = []
        for discipline, planned in self.planned.items():
            left, least = available[discipline], self.least[discipline]
            if left < least:
                shortfalls.append(Shortfall(discipline, least, left, self.totals[discipline]))
            share = planned if left - planned >= least else min(left, self.equal[discipline])
            shares[discipline] = min(share, left)
        return shares, shortfalls

    def count_sets(self, available: Mapping[str, int]) -> dict[str, int]:
        """Discipline → sets that can still be drawn for one organisation."""
        found: dict[str, int] = {}
        for discipline, planned in self.planned.items():
            if not planned:
                continue
            # What is left over below the least goes along with the last set, where the equal share has room for it.
            whole, rest = divmod(available[discipline], planned)
            found[discipline] = whole + (1 if rest >= self.least[discipline] else 0)
        return found


def plan_shares(
    set_size: int,
    totals: Mapping[str, int],
    *,
    is_capped: bool,
    lasting_sets: int,
    least_share: int,
    shares: Mapping[str, int] | None = None,
) -> ShareRule:
    """The rule for a bank version with so many lineages per discipline.

    With `is_capped`, a discipline that cannot give its equal share to `lasting_sets` sets gives as many as it can give
    to each of them, and never fewer than `least_share`; otherwise every set needs the whole equal share. `shares` are those that
    somebody has chosen in place of equal ones, knowing how long they last: they are not capped.
    """
    equal = compute_shares(set_size, list(totals)) if shares is None else dict(shares)
    if not is_capped:
        return ShareRule(equal, equal, equal, totals)
    least = {discipline: min(share, least_share) for discipline, share in equal.items()}
    if shares is not None:
        return ShareRule(equal, equal, least, totals)
    planned = {
        discipline: min(share, max(totals[discipline] // lasting_sets, least[discipline]))
        for discipline, share in equal.items()
    }
    return ShareRule(equal, planned, least, totals)


def read_shares(chosen: Mapping[str, int], disciplines: Sequence[str]) -> dict[str, int] | None:
    """Chosen shares in the order of disciplines; None where none are chosen.

    Raises UsageError unless there is one, of 1 or more, for each discipline that is examined and for no other.
    """
    if not chosen:
        return None
    wrong = sorted(set(chosen) ^ set(disciplines)) or sorted(
        name for name, share in chosen.items() if share < 1
    )
    if wrong:
        raise UsageError(
            f"PROCTOR_SET_SHARES must have one share of 1 or more for each discipline that is examined; look at {', '.join(wrong)}."
        )
    return {discipline: chosen[discipline] for discipline in disciplines}


def describe_shortfalls(shortfalls: Sequence[Shortfall]) -> str:
    """The numbers by discipline, for a message."""
    return "; ".join(
        f"{short.discipline}: {short.needed} needed, {short.available} left of {short.total}"
        for short in shortfalls
    )
