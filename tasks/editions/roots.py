"""Publish with witnesses: the ledger keeps every edition's root; anybody can recompute it.

The order, so that a kill at any moment is mended by publishing again: the public files, the lake, the ledger's root together with
the entry of the public log, the file of that log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.settings import Settings
from schemas.tables import TABLES
from tasks.editions.grades import keep_grades
from tasks.editions.public_entries import add_edition_entry, find_unlisted, prove_edition, write_files
from tasks.editions.publish import (
    Edition,
    PublishingHooks,
    Revision,
    Step,
    complete_hashes,
    compute_root,
    hash_tables,
    publish_run,
)
from tasks.exam.log import note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.public.log import keep_public_head, tell_witnesses
from tasks.running.approvals import Request, check_approved, finish
from tasks.running.claiming import hold_work
from warehouse.lake import Lake
from warehouse.lake.upkeep import read_unit
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import sittings
from warehouse.ledger.trust import editions


@dataclass(frozen=True)
class EditionFault:
    """An edition that is not as it was published, and how that shows."""

    edition_id: str
    finding: str


def publish_and_keep_root(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    run_id: str,
    revision: Revision | None = None,
    *,
    step: Step = lambda _: None,
) -> Edition:
    """Publish a run by its plan's disciplines; keep its roots and enter them in the public log."""
    proofs = {}
    overriding: list[Request] = []

    def prove(edition: Edition) -> None:
        proofs[edition.edition_id] = write_files(ledger, lake, settings, edition)

    def confirm(request: Request) -> None:
        check_approved(ledger, settings, request)
        overriding.append(request)

    edition = publish_run(
        lake,
        settings,
        run_id,
        read_disciplines(ledger, settings, run_id),
        revision,
        hooks=PublishingHooks(step=step, confirm=confirm, before_landing=prove),
    )
    for request in overriding:
        finish(ledger, settings, request)
    note_keys(ledger, settings, open_signer(settings))
    with hold_work(settings, "publish-edition", run_id, what=f"publishing {run_id}", wait_s=600):
        published = lake.read("run_revisions", {"run_id": run_id})
        with ledger.read() as connection:
            unlisted = find_unlisted(connection, run_id, published)
        for row in unlisted:
            name = str(row["edition_id"])
            if name not in proofs and (proof := prove_edition(ledger, lake, settings, row)) is not None:
                proofs[name] = proof
        with ledger.write() as connection:
            for row in published.iter_rows(named=True):
                editions.keep_root(connection, str(row["edition_id"]), str(row["root_hash"]))
            for row in unlisted:
                if (proof := proofs.get(str(row["edition_id"]))) is not None:
                    add_edition_entry(connection, row, proof)
    # Who reads the edition finds a head that covers it, and witnesses have it.
    keep_public_head(ledger, settings)
    tell_witnesses(ledger, settings)
    keep_grades(ledger, settings, lake)
    return edition


def read_disciplines(ledger: Ledger, settings: Settings, run_id: str) -> Sequence[str]:
    """The disciplines of the run's plan; those of the settings for a run unknown to this ledger."""
    with ledger.read() as connection:
        run = sittings.read_run(connection, run_id)
    return settings.disciplines if run is None else tuple(run.plan["shares"])


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
