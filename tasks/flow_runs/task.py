"""What goes with a flow run: its name, a summary of ids and counts, and its id in every landing that it makes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec, TypeVar

from prefect.artifacts import create_markdown_artifact
from prefect.context import FlowRunContext
from prefect.runtime import flow_run

from tasks.counts import render_markdown
from warehouse.lake.provenance import landing_provenance

P = ParamSpec("P")
T = TypeVar("T")


def name_run() -> str:
    """The name of the flow run that starts: `monthly-2026-12`, `ingest-3-files`, `judge-all`."""
    name, given = str(flow_run.flow_name), flow_run.parameters or {}
    now = datetime.now(UTC)
    if "paths" in given:
        count = sum(_count_files(Path(path)) for path in given["paths"])
        return f"{name}-{count}-file{'' if count == 1 else 's'}"
    if "month" in given:
        return f"{name}-{given.get('run_id') or given['month'] or now.strftime('%Y-%m')}"
    for parameter in ("run_id", "batch_id", "league_id"):
        if parameter in given:
            return f"{name}-{given[parameter] or 'all'}"
    return f"{name}-{now.date().isoformat()}"


def publish_summary(result: dict[str, object]) -> None:
    """Put the ids and counts of a flow next to its run in Prefect; without Prefect's API there is nowhere to put them."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    name = str(context.flow_run.name)
    create_markdown_artifact(
        key=str(flow_run.flow_name).replace("_", "-"), markdown=render_markdown(result), description=name
    )


def sign_landings(function: Callable[P, T]) -> Callable[P, T]:
    """What the task lands names its flow run in `landings.flow_run_id`; called outside a flow, it names none."""

    @functools.wraps(function)
    def signed(*arguments: P.args, **named: P.kwargs) -> T:
        with landing_provenance(flow_run.id):
            return function(*arguments, **named)

    return signed


def _count_files(path: Path) -> int:
    return sum(below.is_file() for below in path.rglob("*")) if path.is_dir() else 1
