"""What has landed is held to the rules of its table, by Great Expectations, with Data Docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import UsageError, suggest
from schemas.table import Table
from schemas.tables import TABLES
from warehouse.lake import Lake
from warehouse.lake.suite import (
    TableCounts,
    find_suite_refusals,
    has_months,
    list_stretches,
    read_stretches,
    write_data_docs,
)


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


def validate_landed(
    lake: Lake,
    folder: Path,
    *,
    table: str = "",
    month: str = "",
    advance: Callable[[int], None] = lambda _: None,
) -> Validation:
    """Run the suite of every table (or of one) over its rows, and write the pages.

    With a month, it runs over the rows of that month only. With a month, only tables whose rows name their month are
    read. Raises UsageError for a table that does not exist or has no months. `advance` is told of rows as they are
    done. The lake is read as of one moment.
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
        listed = f" The tables are {', '.join(TABLES)}."
        raise UsageError(f"There is no table {table!r}.{suggest(table, TABLES) or listed}")
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
