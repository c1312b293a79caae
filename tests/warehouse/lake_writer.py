"""A process that lands units until it is done or killed.

It says of each unit when it was acknowledged.

Imported once by a fork server, so that a new writer costs a fork and not the imports.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Mapping
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401 - preloaded for the forks
import polars as pl  # noqa: F401

from schemas.settings import Settings
from tests.warehouse.sample_rows import allocation_frame, session_frame
from warehouse.lake import Batch, Lake, open_lake
from warehouse.lake.files import NewFiles
from warehouse.lake.upkeep import merge_small_files

ROWS = 40


def fork_context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def run_writer(
    values: dict[str, Any],
    name: str,
    count: int,
    acknowledged: str,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Land `count` units in two tables each.

    Every third landing replaces an earlier unit by its next version.

    `environment`: variables that the fork server, which may be older than they are, does not know.
    """
    os.environ.update(environment or {})
    target = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with open_lake(Settings.model_validate(values)) as lake:
        for number in range(count):
            if number % 3 == 2:
                land_version(lake, f"{name}-{number - 2}", 2)
                os.write(target, f"{name}-{number - 2} 2\n".encode())
            else:
                land_version(lake, f"{name}-{number}", 1)
                os.write(target, f"{name}-{number} 1\n".encode())


def merge_until(values: dict[str, Any], moment: int) -> None:
    """Merge small files, and be killed before the new file of so many parts is committed."""
    flush, writes = NewFiles.flush, []

    def flush_or_die(self: NewFiles) -> list[Path]:
        writes.append(self)
        if len(writes) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return flush(self)

    NewFiles.flush = flush_or_die  # type: ignore[method-assign]
    with open_lake(Settings.model_validate(values)) as lake:
        merge_small_files(lake, "2026-02")


def land_version(lake: Lake, unit: str, version: int) -> None:
    """A version is told by `answered_count` and by the number of rows."""
    lake.land_together(
        [
            Batch("sessions", unit, session_frame(ROWS + version, answered_count=version)),
            Batch("allocations", unit, allocation_frame(unit, "2026-01", ROWS + version)),
        ]
    )


def read_acknowledged(folder: Path) -> dict[str, int]:
    """Unit → the highest version that any writer was told was landed."""
    versions: dict[str, int] = {}
    for path in folder.glob("*.acknowledged"):
        for line in path.read_text().splitlines():
            unit, version = line.split()
            versions[unit] = max(versions.get(unit, 0), int(version))
    return versions


def find_faults(lake: Lake, acknowledged: dict[str, int]) -> list[str]:
    """What is lost, partial or mixed; reads everything as of one moment."""
    with lake.read_transaction():
        sessions = lake.query(
            "SELECT landing_unit, count(*), min(answered_count), max(answered_count) FROM sessions GROUP BY ALL"
        ).rows()
        allocations = dict(lake.query("SELECT landing_unit, count(*) FROM allocations GROUP BY ALL").rows())
        landings = dict(lake.query("SELECT table_name || '/' || unit, row_count FROM landings").rows())
    held = {unit: version for unit, _, version, _ in sessions}
    faults = [
        f"{unit}: acknowledged {v}, held {held.get(unit)}"
        for unit, v in acknowledged.items()
        if held.get(unit, 0) < v
    ]
    for unit, count, lowest, highest in sessions:
        whole = ROWS + lowest
        counts = (
            count,
            allocations.get(unit),
            landings.get(f"sessions/{unit}"),
            landings.get(f"allocations/{unit}"),
        )
        if lowest != highest or set(counts) != {whole}:
            faults.append(f"{unit}: versions {lowest} to {highest}, rows {counts}")
    if len(landings) != 2 * len(sessions) or len(allocations) != len(sessions):
        faults.append(
            f"{len(sessions)} units, {len(landings)} landings, {len(allocations)} units of allocations"
        )
    return faults
