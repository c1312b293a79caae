"""The options of plan, evaluate and commit: which run is meant, and what it is to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from deployments.commands.options import Month, read_month, split_names
from tasks.exam.plan import RunWishes

Candidates = Annotated[
    str,
    typer.Option(
        "--candidates", help="Names from the registry, comma separated. Default: those that are due."
    ),
]

RunName = Annotated[
    str,
    typer.Option(
        "--run",
        "--run-id",
        help="The run; a name that is not there yet names a further run of the month. Default: the month's own.",
    ),
]

Outside = Annotated[
    str,
    typer.Option(
        "--outside", help="Candidates that sit through the exam API with their own client, comma separated."
    ),
]

Repetition = Annotated[
    str,
    typer.Option(
        "--repetition",
        help="Name of a further run of the month; `week` names it for this week. Default: the month's own run.",
    ),
]

RenewReference = Annotated[
    bool, typer.Option("--renew-reference", help="Let the reference answer again every set of the run.")
]

Bridge = Annotated[
    bool,
    typer.Option(
        "--bridge/--no-bridge",
        help="Let the former reference sit the run too when the reference has changed and no run has bridged the two.",
    ),
]

DrawSize = Annotated[
    int,
    typer.Option(
        "--draw",
        min=0,
        help="A fresh draw of so many questions beside the month's run: zero-shot, once each, as a repetition draw-SIZE.",
    ),
]


@dataclass(frozen=True)
class RunOptions:
    """Which run is meant, and what it is to be."""

    month: Month = ""
    candidates: Candidates = ""
    outside: Outside = ""
    run_id: RunName = ""
    repetition: Repetition = ""
    draw: DrawSize = 0
    renew_reference: RenewReference = False
    bridge: Bridge = True

    def read(self) -> RunWishes:
        """What is wished; raises UsageError for a month that is none."""
        return RunWishes(
            month=read_month(self.month),
            candidates=split_names(self.candidates),
            outside=split_names(self.outside) or (),
            run_id=self.run_id or None,
            repetition=self.repetition or None,
            draw=self.draw,
            is_reference_renewed=self.renew_reference,
            is_bridging=self.bridge,
        )

    def list_parameters(self) -> dict[str, Any]:
        """The same as parameters of the flow `evaluate`."""
        return {
            "month": read_month(self.month),
            "candidates": split_names(self.candidates),
            "run_id": self.run_id,
            "outside": split_names(self.outside),
            "repetition": self.repetition,
            "renew_reference": self.renew_reference,
            "bridge": self.bridge,
            "draw": self.draw,
        }
