"""Where the site lies, and where that of a team."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from schemas.settings import Settings

# Under PROCTOR_HOME.
REPORTS: Final = "reports"
_OF_TEAMS: Final = "reports-of-teams"


def name_team_folder(settings: Settings, team: str) -> Path:
    """The folder of the site of a team, apart from the site of every model."""
    return settings.home / _OF_TEAMS / team
