"""What a lake finds before it runs a query: the month judged last, and which are closed.

A closed month has frozen rows in the tables `closed_NAME`. They count as long as the month's files and rows are those that they were
read from, so that a later fact of a month brings it back among those that are read whole. What they rest on is named by the catalog:
no row of the history is read to know it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

from warehouse.lake.quoting import quote_text
from warehouse.lake.reading.parts import Fetch, TablePart, read_part_files
from warehouse.lake.reading.queries import Query, read_queries

# What the frozen rows of a month rest on: of split tables its files, of the others its rows. Not calibrations: the judge of a run that
# is published is that of its edition.
_SPLIT: Final = ("allocations", "judgements", "responses")
_WHOLE: Final = ("editions", "sessions")
_LAST_OF_ALL: Final = "9999-12"


def list_frozen() -> list[Query]:
    """The analyses whose rows of closed months are frozen."""
    return [query for query in read_queries("analyses").values() if query.frozen_order]


def find_values(fetch: Fetch, names: Collection[str]) -> dict[str, object]:
    """The values of parameters of `FOUND`, as of the snapshot that `fetch` reads."""
    found: dict[str, object] = {}
    if "judged_month" in names:
        found["judged_month"] = _find_judged_month(fetch)
    if "real_month" in names:
        found["real_month"] = _find_judged_month(fetch, "AND NOT is_simulated")
    if "jury_month" in names:
        found["jury_month"] = fetch("SELECT max(month) FROM jury_scores")[0][0]
    if "real_jury_month" in names:
        found["real_jury_month"] = fetch("SELECT max(month) FROM jury_scores WHERE NOT is_simulated")[0][0]
    if "open_from" in names:
        found["open_from"], found["open_to"] = _find_open_months(fetch)
    return found


def read_bases(fetch: Fetch) -> dict[str, str]:
    """Month → the hash of what frozen rows of it rest on, for every month with judgements."""
    files = read_part_files(fetch)
    parts = {
        month: [f"{table} {file.name}" for table in _SPLIT for file in files.get(TablePart(table, month), ())]
        for table, month in files
        if table == "judgements"
    }
    for table in _WHOLE:
        for month, count, total in fetch(
            f"SELECT month, count(*), sum(hash(own)::HUGEINT)::VARCHAR FROM {table} AS own GROUP BY month"
        ):
            if str(month) in parts:
                parts[str(month)].append(f"{table} {count} {total}")
    return {
        month: hashlib.sha256("\n".join([_digest_definitions(), *of]).encode()).hexdigest()
        for month, of in parts.items()
    }


def read_closed(fetch: Fetch) -> dict[str, str]:
    """Month → the hash of what its frozen rows were read from."""
    return {str(month): str(basis) for month, basis in fetch("SELECT month, basis_hash FROM closed_months")}


def _find_open_months(fetch: Fetch) -> tuple[str, str]:
    """The first and the last month that have to be read; some between may be closed."""
    bases, closed = read_bases(fetch), read_closed(fetch)
    opened = sorted(month for month, basis in bases.items() if closed.get(month) != basis)
    # A month that was frozen and has no judgement any more is read, and found empty.
    opened += [month for month in closed if month not in bases]
    return (min(opened), max(opened)) if opened else (_LAST_OF_ALL, "")


def _find_judged_month(fetch: Fetch, which: str = "") -> str | None:
    """The last month with such a judgement: rows are looked for, as a file may have none left."""
    months = [part.value for part in read_part_files(fetch) if part.table == "judgements"]
    for month in sorted(months, reverse=True):
        if fetch(f"SELECT 1 FROM judgements WHERE month = {quote_text(month)} {which} LIMIT 1"):
            return month
    return None


@lru_cache(maxsize=1)
def _digest_definitions() -> str:
    """Of every statement that frozen rows follow from: a later version freezes them again."""
    queries: Mapping[str, Query] = {
        **read_queries("marts"),
        **read_queries("staging"),
        **{query.name: query for query in list_frozen()},
    }
    digest = hashlib.sha256()
    for name, query in sorted(queries.items()):
        digest.update(f"{name}\n{query.body}\n".encode())
    return digest.hexdigest()
