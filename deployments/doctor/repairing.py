"""A repair in words: what was found, what cannot be proved, and what is done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.operations.repair import Repair


def describe_repair(found: Repair, *, yes: bool) -> list[str]:
    """The lines of `proctor doctor --repair`."""
    return list(_iter_lines(found, yes=yes))


def _iter_lines(found: Repair, *, yes: bool) -> Iterator[str]:
    if not found.lost and not found.other_faults:
        yield "Nothing to repair: every store knows all that was acknowledged."
        return
    for path, (known, acknowledged) in found.lost.items():
        yield f"{path} knows {known} commits, and {acknowledged} were acknowledged."
    for fault in found.other_faults:
        yield f"The {fault}. This is nothing that --repair mends: proctor doctor says what to do."
    if found.other_faults:
        return
    for what, lines in (
        ("Missing", found.missing),
        ("Cannot be proved", found.unproved),
        ("Not lost", found.held),
    ):
        yield from (f"{what}: {line}." for line in lines)
    yield "Done:" if found.is_done else "What --repair does:"
    yield from (f"  {number}. {step}" for number, step in enumerate(found.steps, 1))
    if found.copy is not None:
        yield f"What was there before, and the report: {found.copy}"
    yield _conclude(found, yes=yes)


def _conclude(found: Repair, *, yes: bool) -> str:
    if found.is_done:
        return "The stores are accepted again. Next: proctor doctor, proctor exam audit, then the command that was refused."
    if found.missing:
        return (
            "The stores stay refused: something acknowledged is missing. Put back the log or the newer file if it lies anywhere; else "
            "restore the newest backup into a new folder (PROCTOR_HOME=NEW proctor restore BACKUP), and keep this one."
        )
    if found.used_by:
        return "The stores stay refused until those processes have ended." + (
            "" if yes else " Nothing was changed."
        )
    return "Nothing was changed. --yes does it; what cannot be proved is accepted with it, and the audit log says so."
