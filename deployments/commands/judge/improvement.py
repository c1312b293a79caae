"""Which candidates improved since a month: improvement."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson, read_month
from schemas.settings import load_settings
from tasks.editions import write_improvements
from warehouse.lake import open_lake


def improvement(
    since: Annotated[
        str, typer.Option("--since", help="Month as YYYY-MM. Default: the first that was published.")
    ] = "",
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Of simulated candidates instead of real ones.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell how S of each candidate moved since a month, and whether it is more than noise.

    All candidates are told together. Every publication does it since the first month. Keeps what `proctor sql improvement_since` shows.

    Example: proctor improvement --since 2026-09
    """
    with open_lake(load_settings()) as lake:
        found = write_improvements(
            lake, is_simulated=simulated, since_month=read_month(since) if since else None
        )
    told = found.filter(found["p_together"] <= 0.05)
    month = found["since_month"][0] if found.height else None
    print_result(
        {
            "since_month": month,
            "through_month": found["through_month"][0] if found.height else None,
            "candidates": found["model"].n_unique(),
            "rows": found.height,
            "more_than_noise": told.height,
        },
        as_json=as_json,
        then=f"proctor sql improvement_since --param since_month={month}" if month else "",
    )
