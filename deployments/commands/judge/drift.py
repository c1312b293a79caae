"""Judges watched over the months: `drift draw|run|report`."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.checks import check_registry, check_run
from deployments.commands.options import Month, NoServer, read_month
from deployments.flow_runs import run_flow
from schemas.errors import GateError, UsageError
from schemas.settings import load_settings
from tasks.judging.calibration import draw_anchors
from warehouse.lake import open_lake

drift_app = typer.Typer(no_args_is_help=True)


@drift_app.command()
def draw(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A judged run.")],
    name: Annotated[str, typer.Option("--name", help="Name of the set. Default: anchors- and the run.")] = "",
    size: Annotated[int, typer.Option("--size", help="Responses in the set.")] = 200,
) -> None:
    """Draw the responses that are judged again every month.

    The set drawn last is the one in use.

    Example: proctor drift draw 2026-12
    """
    check_run(run_id)
    with open_lake(load_settings()) as lake:
        drawn = draw_anchors(lake, run_id, name or f"anchors-{run_id}", size=size)
    print_result(
        {
            "anchor_set": drawn["anchor_set"][0],
            "responses": drawn.height,
            "candidates": drawn["model"].n_unique(),
        },
        then="proctor drift run",
    )


@drift_app.command()
def run(month: Month = "", no_server: NoServer = False) -> None:
    """Let every judge in use judge the anchor set, once a month.

    In a judge's first month it does so three times.

    The monthly flow does the same. A judge that has changed publishes nothing until it was calibrated again and a new set was drawn.
    Exit code 3 when one has, 1 when a judge gave no reply; run it again and it continues.

    Example: proctor drift run --month 2027-01
    """
    check_registry()
    result = run_flow("drift", without_server=no_server, month=read_month(month))
    if not result["anchor_set"]:
        raise UsageError("There is no anchor set. `proctor drift draw RUN` draws one.")
    print_result(result, then="proctor drift report")
    if result["anchor_failure"]:
        raise typer.Exit(1)
    if result["changed_judges"]:
        raise GateError(
            f"Changed: {', '.join(result['changed_judges'])}. `proctor drift report` shows by how much."
        )


@drift_app.command()
def report() -> None:
    """What the anchor responses say of every judge, month by month.

    Example: proctor drift report
    """
    with open_lake(load_settings(), read_only=True) as lake:
        rows = lake.run_named("judge_drift_history").to_dicts()
    lines = [
        f"{row['judge']}, {row['month']}: {row['month_stars']:+.3f} stars against {row['first_month']}; since {row['since_month']} "
        f"{row['change_stars']:+.3f} (se {row['change_se']:.3f}), evidence {row['evidence']:.2f}"
        + (" ALARM" if row["is_alarm"] else "")
        for row in rows
    ] or ["No judge has judged an anchor set in two months yet."]
    print_result({"checks": rows}, lines=lines)
