"""Whether editions are as published: rows against their roots, here and in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.tables import TABLES
from tasks.editions.publish import complete_hashes, compute_root, hash_tables
from warehouse.lake.upkeep import read_unit

if TYPE_CHECKING:
    from warehouse.lake import Lake


@dataclass(frozen=True)
class EditionFault:
    """An edition that is not as it was published, and how that shows."""

    edition_id: str
    finding: str


def find_changed_editions(
    lake: Lake, roots: Mapping[str, str], hashes: Mapping[str, str] | None = None
) -> list[EditionFault]:
    """The editions whose root is no longer the ledger's; `hashes` are of rows read already."""
    frozen = [table.name for table in TABLES.values() if table.is_frozen and table.name != "editions"]
    faults: list[EditionFault] = []
    editions = lake.read("run_revisions")
    for head in editions.iter_rows(named=True):
        name = str(head["edition_id"])
        known = complete_hashes({table: (hashes or {}).get(f"{table}/{name}") for table in frozen})
        # What does not fit is read before it is said: of an earlier version's landings no hash is known.
        if compute_root(head, known) != head["root_hash"] and (
            compute_root(
                head,
                hash_tables({table: read_unit(lake, table, name, str(head["month"])) for table in frozen}),
            )
            != head["root_hash"]
        ):
            faults.append(EditionFault(name, "its rows are not those that were published"))
        elif roots.get(name) is None:
            faults.append(
                EditionFault(name, "the ledger has no root of it; publish the run again to keep one")
            )
        elif roots[name] != head["root_hash"]:
            faults.append(
                EditionFault(name, "its root is not the one that the ledger kept when it was published")
            )
    faults += [
        EditionFault(name, "the ledger knows it, and the lake has lost it")
        for name in sorted(set(roots) - set(editions["edition_id"]))
    ]
    return faults
