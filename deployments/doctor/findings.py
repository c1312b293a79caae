"""What a look at a home came to: findings, each with its severity and the way to mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Protocol

from schemas.errors import ProctorError, is_interruption
from warehouse.stores.files import ROOM_FIRST, WAY_BACK

Severity = Literal["fine", "note", "wrong"]

_MOST_NAMED: Final = 5
_AGAIN: Final = "mend what the other lines name, then run proctor doctor again"


class NoteFinding(Protocol):
    """Takes a finding: what was looked at, what was found, whether it is fine, what mends it."""

    def __call__(self, what: str, found: object, is_fine: bool, fix: str = "") -> None:
        """Take one finding."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Attributes:
        what: what was looked at.
        found: what was found.
        severity: `fine`; `note` for something that lacks and that nobody needs now; `wrong`, which makes the exit code 1.
        fix: what to do; null where there is nothing to do.
    """

    what: str
    found: str
    severity: Severity
    fix: str | None

    def describe(self) -> dict[str, Any]:
        """As `proctor doctor --json` prints it."""
        return {**asdict(self), "is_fine": self.severity != "wrong"}


class Findings:
    """Gathers findings; a failed check is itself a finding.

    A check that fails never keeps the others from being made.

    Args:
        full_disks: disks without room. While there are any, nothing that is read may be relied on, and nothing here
            advises to restore a backup.
    """

    def __init__(self, full_disks: Sequence[str] = ()) -> None:
        self.found: list[Finding] = []
        self.full_disks = list(full_disks)

    @property
    def problem_count(self) -> int:
        """How many are wrong."""
        return sum(one.severity == "wrong" for one in self.found)

    def __call__(self, what: str, found: object, is_fine: bool, fix: str = "") -> None:
        """Take a finding that is fine or wrong."""
        self._take(what, found, "fine" if is_fine else "wrong", fix)

    def remark(self, what: str, found: object, fix: str) -> None:
        """Take one of something that lacks, and that nobody needs now."""
        self._take(what, found, "note", fix)

    def look(self, what: str, check: Callable[..., None], *args: object) -> bool:
        """Make a check, which takes this as its last argument. Returns False where it raised.

        What the check raises is noted as `what`.
        """
        try:
            check(*args, self)
        except ProctorError as error:
            self(what, f"could not be looked at: {error}", False, _AGAIN)
        except Exception as error:
            if isinstance(error, RuntimeError) and is_interruption(error):
                raise
            # Of what others raise only the kind is shown: its words may quote a row, or an address with its password.
            why = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
            self(what, f"could not be looked at: {type(error).__name__}{why}", False, _AGAIN)
        else:
            return True
        return False

    def _take(self, what: str, found: object, severity: Severity, fix: str) -> None:
        # The remedy stands in the line below, once.
        text = str(found).replace(f" {WAY_BACK}", "")
        if severity == "wrong" and self.full_disks and "restore" in f"{text} {fix}".lower():
            fix = ROOM_FIRST
            if "restore" in text.lower():
                text = "cannot be judged while a disk has no room"
        self.found.append(Finding(what, text, severity, None if severity == "fine" else fix or None))


def name_some(units: Sequence[str]) -> str:
    """The first few of many names."""
    return ", ".join(units[:_MOST_NAMED]) + (" …" if len(units) > _MOST_NAMED else "")
