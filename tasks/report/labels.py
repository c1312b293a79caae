"""The words of the report (labels.yaml), in Chinese and English."""

from __future__ import annotations

from typing import Final, Literal

from schemas.errors import UsageError
from tasks.texts import Words, read_bilingual

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")

_TEXTS: Final[dict[str, dict[str, Words]]] = read_bilingual("tasks.report", "labels.yaml")
# Of the pages that scripts draw: leaderboard, candidate, compare.
SITE_LABELS: Final = _TEXTS["scripts"]
# Column heads of the leaderboard, where ten whole names would not fit.
SHORT_DISCIPLINES: Final = _TEXTS["short_disciplines"]
LABELS: Final[dict[str, Words]] = {**_TEXTS["league"], **SITE_LABELS, **_TEXTS["pages"]}


def label(key: str, language: Language) -> str:
    """The word for `key`; raises UsageError for a language that the report does not speak."""
    if language not in LANGUAGES:
        raise UsageError(f"The report is in zh or en, not {language!r}.")
    zh, en = LABELS[key]
    return zh if language == "zh" else en
