"""Publish with witnesses: the ledger keeps every edition's root; anybody can recompute it.

The order, so that a kill at any moment is mended by publishing again: the public files, the lake, the ledger's root together with
the entry of the public log, the file of that log.
"""

from __future__ import annotations

from collections.abc import Sequence

from schemas.settings import Settings
from tasks.editions.grades import keep_grades
from tasks.editions.public_entries import add_edition_entry, find_unlisted, prove_edition, write_files
from tasks.editions.publish import Edition, PublishingHooks, Revision, Step, publish_run
from tasks.exam.log import note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.public.log import keep_public_head, tell_witnesses
from tasks.running.approvals import Request, check_approved, finish
from tasks.running.claiming import hold_work
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import sittings
from warehouse.ledger.trust import editions


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
