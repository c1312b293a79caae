"""What is wished of a month's run, before anything is planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RunWishes:
    """What is wished of a run; what is not said is as the settings and the month have it.

    Attributes:
        month: YYYY-MM.
        candidates: registry names; null for those that are due.
        outside: candidates that sit through the exam API with their own client; these make `unique` the default policy.
        run_id: name of the run, or of one that is published; null for the month's own.
        repetition: name of a further run of the month, whose id is then the month's and this name; `week` names it for this week.
        draw: questions of a fresh draw beside the month's run; 0 for none.
        is_simulated: whether simulated candidates sit it; null for what those are who are named.
        is_reference_renewed: let the reference answer again every set of the run that it has answered.
        is_bridging: let a former reference sit this run too when the reference has changed.
    """

    month: str
    candidates: Sequence[str] | None = None
    outside: Sequence[str] = ()
    run_id: str | None = None
    repetition: str | None = None
    draw: int = 0
    is_simulated: bool | None = None
    is_reference_renewed: bool = False
    is_bridging: bool = True
