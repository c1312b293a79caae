"""What the models in sight cost by month, with the judging of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.lake import Lake

if TYPE_CHECKING:
    import polars as pl


def read_costs(lake: Lake, from_month: str | None, through_month: str | None) -> pl.DataFrame:
    """The rows of the analysis `cost_by_team` of these months, the latest month first.

    `lake` has what is in sight alone.
    """
    asked = {"from_month": from_month, "through_month": through_month}
    return lake.run_named("cost_by_team", asked).sort(
        ["month", "team", "model", "purpose"], descending=[True, False, False, False], nulls_last=True
    )
