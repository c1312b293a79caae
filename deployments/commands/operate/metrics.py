"""Numbers for Prometheus: `metrics`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import is_json, print_note, print_result
from schemas.errors import UsageError
from schemas.settings import load_settings
from warehouse.ledger.engine.opening import open_ledger

# Imported within the function: what brings Prometheus' client. Neither the help nor a wrong option waits for it.


def metrics(
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, help="Serve them on this port until interrupted."),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; another needs PROCTOR_METRICS_TOKEN.")
    ] = "127.0.0.1",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write them into this file, for a node exporter.")
    ] = None,
) -> None:
    """Numbers of runs for Prometheus, printed, written or served.

    They are flow runs, missed runs, how far the open runs of the exam are, and what the installation stands on: stores, disks, workers,
    sessions and answers that wait, backups.

    The exam API and the web desk count their own calls: `proctor exam serve --metrics 9701`, `proctor web --metrics 9702`.

    Example: proctor metrics --port 9700
    """
    from deployments.http import (
        PATH,
        list_run_metrics,
        render_run_metrics,
        serve_run_metrics,
        write_run_metrics,
    )

    if port is not None and out is not None:
        raise UsageError("--port serves the numbers and --out writes them once. Name one of the two.")
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        if port is not None:
            print_note(f"Metrics: http://{host}:{port}{PATH}. Stop with Ctrl-C.")
            serve_run_metrics(settings, ledger, host, port)
        elif out is not None:
            write_run_metrics(settings, ledger, out)
        elif is_json():
            print_result({"metrics": list_run_metrics(settings, ledger)})
        else:
            print(render_run_metrics(settings, ledger), end="")
