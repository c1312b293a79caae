"""Where the site lies, and where that of a team."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from schemas.settings import Settings

# Under PROCTOR_HOME.
REPORTS: Final = "reports"
_OF_TEAMS: Final = "reports-of-teams"
_MODELS: Final = "models-shown"


def note_models(folder: Path, models: Iterable[str]) -> None:
    """Note beside a team's site which models it shows."""
    (folder / _MODELS).write_text(json.dumps(sorted(models)), encoding="utf-8")


def read_models(folder: Path) -> frozenset[str] | None:
    """The models that a team's site shows; null where there is no site of which that is known."""
    try:
        return frozenset(json.loads((folder / _MODELS).read_text("utf-8")))
    except (OSError, ValueError):
        return None


def name_team_folder(settings: Settings, team: str) -> Path:
    """The folder of the site of a team, apart from the site of every model."""
    return settings.home / _OF_TEAMS / team
