"""Who sits the simulated years.

They are families of candidates with their releases, prices, profiles and the months that they sit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import numpy as np
import polars as pl

from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES

FAMILIES = (
    "Amber",
    "Birch",
    "Cedar",
    "Delta",
    "Ember",
    "Fjord",
    "Grove",
    "Heron",
    "Indigo",
    "Juniper",
    "Kelp",
    "Larch",
)
# Two families of one owner, so that an organisation is not a family.
OWNERS = {"Larch": "Amber Lab"}
# Name after the family's, ability above the family's, price of a million output tokens, and when it was released, as a share of
# the time shown (below 0: before it).
KINDS = (
    ("2", 0.55, 6.0, -0.45),
    ("2-thinking", 0.55, 14.0, -0.2),
    ("1", 0.0, 2.0, -1.2),
    ("3", 1.0, 10.0, None),
    ("2-mini", 0.1, 0.6, -0.35),
)
# What thinking adds, in logits: most where an answer is worked out.
THINKING_GAIN = {"Science": 0.6, "Engineering": 0.55, "Economics": 0.35, "Law": 0.25}
STYLE_GAIN = {"zero_shot": 0.0, "few_shot": 0.08, "chain_of_thought": 0.16}


@dataclass(frozen=True)
class Sitter:
    """A candidate as the years know it.

    Attributes:
        model, organisation, family: as in `models`.
        ability: discipline → ability in logits.
        mode, base_model: as in `models`.
        is_open: whether its weights are public.
        release_date: the day it was released.
        months: the months that it sits.
        input_price_usd, output_price_usd: of a million tokens.
        answer_tokens: tokens of a usual answer.
    """

    model: str
    organisation: str
    family: str
    ability: Mapping[str, float] = field(repr=False)
    mode: str
    base_model: str | None
    is_open: bool
    release_date: date
    months: tuple[str, ...] = field(repr=False)
    input_price_usd: float
    output_price_usd: float
    answer_tokens: int

    def list_abilities(self, disciplines: np.ndarray, style: str) -> np.ndarray:
        """Abilities for questions of these disciplines under a prompt style.

        The disciplines are places in `EXAMINED_DISCIPLINES`.
        """
        by_code = np.array([self.ability[name] for name in EXAMINED_DISCIPLINES])
        # Who thinks anyway gains little from being told to.
        share = 0.2 if self.mode == "thinking" else 1.0
        abilities: np.ndarray = by_code[disciplines] + share * STYLE_GAIN[style]
        return abilities


def list_months(count: int, first: str = "2025-01") -> list[str]:
    """So many months from the first on."""
    year, month = (int(part) for part in first.split("-"))
    return [f"{year + (month - 1 + n) // 12}-{(month - 1 + n) % 12 + 1:02d}" for n in range(count)]


def make_sitters(count: int, months: Sequence[str], random: np.random.Generator) -> list[Sitter]:
    """So many candidates, five to a family.

    The first one is the reference, and sits every month.

    The third generations enter while the months pass, some first generations leave, and a few candidates sit every other month.
    """
    start = datetime.fromisoformat(f"{months[0]}-01").replace(tzinfo=UTC)
    days = 30.4 * len(months)
    sitters: list[Sitter] = []
    for number in range(count):
        place, kind = divmod(number, len(KINDS))
        family = FAMILIES[place % len(FAMILIES)] + (
            f" {place // len(FAMILIES) + 1}" if place >= len(FAMILIES) else ""
        )
        suffix, gain, price, released = KINDS[kind]
        if suffix == "2":
            level = 1.5 - 3.0 * place / max(1, count // len(KINDS) - 1)
            profile = {name: level + random.normal(0, 0.22) for name in EXAMINED_DISCIPLINES}
        is_thinking = suffix.endswith("thinking")
        if released is None:
            released = 0.12 + 0.75 * ((place * 5) % 12) / 12
        release = start + timedelta(days=released * (days if released > 0 else 365) + 3 * place)
        base = f"{family.lower().replace(' ', '-')}"
        sitters.append(
            Sitter(
                model=f"{base}-{suffix}",
                organisation=OWNERS.get(family, f"{family} Lab"),
                family=family,
                ability={
                    name: ability
                    + gain
                    + (THINKING_GAIN.get(name, 0.12) if is_thinking else 0.0)
                    + random.normal(0, 0.06)
                    for name, ability in profile.items()
                },
                mode="thinking" if is_thinking else "standard",
                base_model=f"{base}-2" if is_thinking else None,
                is_open=place % 2 == 1,
                release_date=release.date(),
                months=_choose_months(months, release, place, suffix),
                input_price_usd=price / 4,
                output_price_usd=price * (0.4 if place % 2 else 1.0),
                answer_tokens=1400 if is_thinking else 120 + 40 * (place % 4),
            )
        )
    return sitters


def _choose_months(months: Sequence[str], release: datetime, place: int, suffix: str) -> tuple[str, ...]:
    """The months that a candidate sits, from the month after its release on.

    A third of the first generations leave, and a few sit every other month.
    """
    sat = [month for month in months if month > f"{release:%Y-%m}"]
    if suffix == "1" and place % 3 == 2:
        sat = sat[: max(2, len(months) * (4 + place) // 16)]
    if suffix == "2-mini" and place % 4 == 1:
        sat = sat[::2]
    return tuple(sat)


def describe_models(sitters: Sequence[Sitter], month: str) -> pl.DataFrame:
    """Rows of `models` for a month's run, with their landing unit."""
    names = (
        "model",
        "organisation",
        "family",
        "release_date",
        "is_open",
        "mode",
        "base_model",
        "input_price_usd",
        "output_price_usd",
    )
    rows = [
        {name: getattr(sitter, name) for name in names} | {"run_id": month, "endpoint_model": sitter.model}
        for sitter in sitters
    ]
    return get_table("models").frame(rows).with_columns(landing_unit=pl.lit(month))
