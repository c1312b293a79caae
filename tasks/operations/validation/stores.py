"""What the stores say of each other, looked at every night.

It covers the lake's checks, rows by month against the ledger, and schedules.

Hold everything that has landed to the rules of its table, and write Data Docs.

This is done with Great Expectations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from schemas.table import Table
from schemas.tables import TABLES
from tasks.running.flow_runs.record import MissedRun, find_missed_runs, select_unmade
from warehouse.lake import Lake
from warehouse.lake.reading import run_checks
from warehouse.lake.suite import (
    TableCounts,
    find_suite_refusals,
    has_months,
    list_stretches,
    read_stretches,
    write_data_docs,
)
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.exam.closed import count_closed_by_month

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


@dataclass(frozen=True)
class BrokenRule:
    """Rows of a unit that have landed and break a rule of their table; no value of them."""

    table: str
    unit: str
    rule: str
    row_count: int


@dataclass(frozen=True)
class Validation:
    """What was validated, what breaks a rule, and where the pages lie."""

    counts: list[TableCounts]
    broken: list[BrokenRule]
    page: Path


def check_stores(
    ledger: Ledger, lake: Lake, *, now: datetime | None = None, left_out: Iterable[str] = ()
) -> StoreFindings:
    """Look at everything; reads only.

    `left_out` names deployments whose missed runs do not count.
    """
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

    The rows are sessions, allocations or responses.

    Every question of a closed session is an allocation, and every answer a response. A month lost from either store is named with all of
    its rows. What closed within the last hour may be on its way; with `may_wait` all that the
    lake lacks may, for the next flow lands it.
    """
    moment = now or datetime.now(UTC)
    with ledger.read() as connection:
        settled = count_closed_by_month(connection, before=write_moment((moment - ON_ITS_WAY).timestamp()))
    landed = {row["month"]: row for row in lake.read("landed_exam_rows").to_dicts()}
    # Read last: what the lake has by now was closed before.
    with ledger.read() as connection:
        closed = count_closed_by_month(connection)
    differences = []
    for month in sorted({*closed, *landed}):
        least, most = settled.get(month, (0, 0, 0)), closed.get(month, (0, 0, 0))
        for place, table in enumerate(("sessions", "allocations", "responses")):
            found = int(landed[month][table]) if month in landed else 0
            if found > most[place] or (found < least[place] and not may_wait):
                differences.append(MonthDifference(month, table, most[place], found))
    return differences


def validate_landed(
    lake: Lake,
    folder: Path,
    *,
    table: str = "",
    month: str = "",
    advance: Callable[[int], None] = lambda _: None,
) -> Validation:
    """Run the suite of every table (or of one) over its rows, and write the pages.

    With a month, it runs over the rows of that month only.

    With a month, only tables whose rows name their month are read. Raises UsageError for a table that does not exist
    or has no months. `advance` is told of rows as they are done. The lake is read as of one moment.
    """
    counts, broken = [], []
    with lake.read_transaction():
        for one in select_tables(table, month):
            found = _count_broken(lake, one, month or None, advance)
            broken += [BrokenRule(one.name, unit, rule, n) for (unit, rule), n in sorted(found[1].items())]
            by_rule: Counter[str] = Counter()
            for (_, rule), n in found[1].items():
                by_rule[rule] += n
            counts.append(TableCounts(one, found[0], by_rule))
    return Validation(counts, broken, write_data_docs(folder, counts))


def select_tables(table: str, month: str) -> Sequence[Table]:
    """The tables that are validated; an empty name means all, an empty month all months."""
    if table and table not in TABLES:
        raise UsageError(f"There is no table {table!r}; the tables are {', '.join(TABLES)}.")
    named = [TABLES[table]] if table else list(TABLES.values())
    if not month:
        return named
    with_months = [one for one in named if has_months(one)]
    if not with_months:
        raise UsageError(f"Rows of {table} name no month; leave --month out to validate all of them.")
    return with_months


def _count_broken(
    lake: Lake, table: Table, month: str | None, advance: Callable[[int], None]
) -> tuple[int, Counter[tuple[str, str]]]:
    """Rows read, and (unit, rule) → rows that break it."""
    row_count = 0
    broken: Counter[tuple[str, str]] = Counter()
    for frame in read_stretches(lake, table, list_stretches(lake, table, month)):
        units = frame["landing_unit"]
        broken.update(
            (units[refusal.position], refusal.rule) for refusal in find_suite_refusals(table, frame)
        )
        row_count += frame.height
        advance(frame.height)
    return row_count, broken
