"""What a team is called: in the registry, in settings, in a folder of reports."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(r"\w[\w.-]{0,59}")
TEAM_NAMES: Final = "A team has letters, digits, `_`, `-` and dots in its name, at most 60"


def is_team_name(name: str) -> bool:
    """Whether a team may have that name; any of them may also name a folder."""
    return _NAME.fullmatch(name) is not None
