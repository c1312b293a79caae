"""Topics of a season.

Each quarter takes the next few of a domain's list, so that every topic has its turn.
"""

from __future__ import annotations

import re
from datetime import date

from schemas.errors import UsageError
from tasks.league.domain import Domain

_SEASON = re.compile(r"(\d{4})-Q([1-4])")


def name_season(day: date) -> str:
    """The season of a day, `YYYY-Qn`."""
    return f"{day.year}-Q{(day.month + 2) // 3}"


def list_topics(domain: Domain, season: str, language: str) -> list[str]:
    """The season's topics in a language; none where the domain has none.

    Raises UsageError for a text that is not a season.
    """
    match = _SEASON.fullmatch(season)
    if match is None:
        raise UsageError(f"{season!r} is no season: write the year and the quarter, for example 2026-Q4.")
    topics = domain.topics.get(language, ())
    if not topics or not domain.topics_per_season:
        return []
    start = (int(match[1]) * 4 + int(match[2]) - 1) * domain.topics_per_season
    return [topics[(start + place) % len(topics)] for place in range(domain.topics_per_season)]


def pick_topic(topics: list[str], league_run: int, league_round: int) -> str | None:
    """The topic of a round: each run begins with another one; null without topics."""
    return topics[(league_run + league_round - 2) % len(topics)] if topics else None
