"""What somebody sees at each address who has a team and no role that sees every model."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).with_name("team_routes.yaml")


@cache
def read_team_routes() -> dict[str, dict[str, str]]:
    """Application → route (`GET /runs`) → what was decided of it."""
    applications: dict[str, dict[str, str]] = _read()["applications"]
    return applications


@cache
def read_decisions() -> dict[str, str]:
    """The decisions that there are, a sentence for each."""
    decisions: dict[str, str] = _read()["decisions"]
    return decisions


@cache
def _read() -> dict[str, Any]:
    import yaml

    content: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return content
