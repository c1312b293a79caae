"""What the stores say of each other each night: checks, rows by month, schedules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tasks.running.flow_runs.record import MissedRun, find_missed_runs, select_unmade
from warehouse.lake import Lake
from warehouse.lake.reading import run_checks
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.exam.closed import count_closed_by_month, has_closed_since

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

# From a session's end to its landing, where somebody lands it at once.
ON_ITS_WAY = timedelta(hours=1)


@dataclass(frozen=True)
class MonthDifference:
    """A month of which the lake has other rows than the ledger has closed."""

    month: str
    table: str
    ledger_count: int
    lake_count: int

    def describe(self) -> str:
        """In words."""
        return f"{self.month}, {self.table}: {self.ledger_count} in the ledger, {self.lake_count} in the lake"


@dataclass(frozen=True)
class StoreFindings:
    """What a night's look came to.

    Attributes:
        checks: check → rows that offend; every check is named.
        months: months that were compared.
        differences: months whose rows differ.
        missed: scheduled runs that did not happen, and that nothing has made up for.
    """

    checks: dict[str, int]
    months: int
    differences: list[MonthDifference]
    missed: list[MissedRun]

    @property
    def problems(self) -> list[str]:
        """What is wrong, in sentences with the remedy; empty where nothing is."""
        return [
            *(
                f"check {name}: {count} rows offend (warehouse/sql/checks/{name}.sql selects them)"
                for name, count in self.checks.items()
                if count
            ),
            *(f"{one.describe()} (proctor doctor says more)" for one in self.differences),
            *(f"{one.describe()} ({one.remedy})" for one in self.missed),
        ]


def check_stores(
    ledger: Ledger, lake: Lake, *, now: datetime | None = None, left_out: Iterable[str] = ()
) -> StoreFindings:
    """Look at everything, reading only; missed runs of deployments in `left_out` do not count."""
    differences = find_month_differences(ledger, lake, now=now)
    return StoreFindings(
        {result.name: len(result.offending) for result in run_checks(lake)},
        len(lake.read("landed_exam_rows")),
        differences,
        select_unmade(find_missed_runs(ledger, now=now, left_out=left_out)),
    )


def find_month_differences(
    ledger: Ledger, lake: Lake, *, now: datetime | None = None, may_wait: bool = False
) -> list[MonthDifference]:
    """Months in which the lake has more or fewer rows than the ledger has closed.

    The rows are sessions, allocations or responses. Every question of a closed session is an allocation, and every answer a response. A
    month lost from either store is named with all of its rows. What closed within the last hour may be on its way; with `may_wait` all
    that the lake lacks may, for the next flow lands it.
    """
    moment = now or datetime.now(UTC)
    landed = {row["month"]: row for row in lake.read("landed_exam_rows").to_dicts()}
    # Read last: what the lake has by now was closed before.
    before = write_moment((moment - ON_ITS_WAY).timestamp())
    with ledger.read() as connection:
        closed = count_closed_by_month(connection)
        is_on_its_way = not may_wait and has_closed_since(connection, before)
        settled = count_closed_by_month(connection, before=before) if is_on_its_way else closed
    differences = []
    for month in sorted({*closed, *landed}):
        least, most = settled.get(month, (0, 0, 0)), closed.get(month, (0, 0, 0))
        for place, table in enumerate(("sessions", "allocations", "responses")):
            found = int(landed[month][table]) if month in landed else 0
            if found > most[place] or (found < least[place] and not may_wait):
                differences.append(MonthDifference(month, table, most[place], found))
    return differences
