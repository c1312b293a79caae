"""Who may look at which runs, models and reference answers; each look is in the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from schemas.settings import Settings
from tasks.models.registry import read_registry
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry

# Who sees runs, questions, answers and stars of every model. Whoever is of a team sees those of its models; others see none of it.
WATCHERS: Final = ("admin", "examiner", "analyst")
# Who also sees reference answers, explanations, and the reasons of judges, which quote them; as for exports.
REFERENCE_READERS: Final = ("admin", "examiner")
ACTION: Final = "look"
_LONGEST_TARGET: Final = 240
_ABSENT: Final = (0, 0)

Look = Literal["answers", "search", "answer", "answer_with_reference"]


# The models that somebody sees; None: all of them.
Sight = frozenset[str] | None


def find_sight(settings: Settings, role: str, teams: Sequence[str]) -> Sight:
    """The models that somebody of this role and these teams sees; empty for nobody's.

    A model is its team's as the registry now says, with all that it ever answered. Raises RegistryError for one that cannot be read.
    """
    if role in WATCHERS:
        return None
    return _read_owned(settings.registry_path, _name_state(settings.registry_path), tuple(teams))


def is_seen(sight: Sight, model: str) -> bool:
    """Whether a model is among those that somebody sees."""
    return sight is None or model in sight


def _name_state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return _ABSENT
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _read_owned(path: Path, state: tuple[int, int], teams: tuple[str, ...]) -> frozenset[str]:
    # Without a registry nobody owns anything.
    return read_registry(path).list_owned(teams) if teams and state != _ABSENT else frozenset()


def may_read_references(role: str) -> bool:
    """Whether somebody of that role sees reference answers."""
    return role in REFERENCE_READERS


def note_look(
    ledger: Ledger,
    user_id: str,
    look: Look,
    target: str,
    *,
    seq: int | None = None,
    address: str | None = None,
) -> None:
    """Write that somebody looks at questions or answers, before they are shown.

    The entry states who, at what kind, at which id; never a text.

    `target` is a session, or `RUN CANDIDATE` for a list; `seq` the position of a single question.
    """
    entry = Entry(
        ACTION, user_id=user_id, code=look, target=target[:_LONGEST_TARGET], seq=seq, address=address
    )
    with ledger.write() as connection:
        add_entry(connection, entry)
