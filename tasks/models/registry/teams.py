"""What a team owns, and the lake as its members see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.errors import UsageError, suggest
from schemas.settings import Settings
from tasks.models.registry.models import read_registry

if TYPE_CHECKING:
    from warehouse.lake import Lake


def open_team_lake(settings: Settings, team: str) -> Lake:
    """The lake for reading, with the rows of a team's models alone.

    Raises UsageError for a team that owns none.
    """
    from warehouse.lake import open_narrow_lake

    registry = read_registry(settings.registry_path)
    models = registry.list_owned([team])
    if not models:
        known = sorted({model.team for model in registry.models.values() if model.team is not None})
        named = f"The teams are {', '.join(known)}." if known else "Write `team: NAME` below a model first."
        raise UsageError(
            f"No model of {settings.registry_path} is of the team {team!r}.{suggest(team, known)} {named}"
        )
    return open_narrow_lake(settings, models)
