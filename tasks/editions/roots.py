"""Publish with the ledger as a second witness: it keeps the root of every edition, and never lets go of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schemas.settings import Settings
from tasks.approvals import Request, check_approved, finish
from tasks.editions.publish import Edition, Revision, Step, publish_run
from warehouse.ledger import editions, exam

if TYPE_CHECKING:
    from warehouse.lake.store import Lake
    from warehouse.ledger.engine import Ledger


def publish_and_keep_root(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    run_id: str,
    revision: Revision | None = None,
    *,
    step: Step = lambda _: None,
) -> Edition:
    """Publish a run by the disciplines of its plan, and keep the roots of its editions in the ledger.

    A kill between the two leaves an edition without a root; publishing again keeps it. Raises as `publish_run` does.
    """
    overriding: list[Request] = []

    def confirm(request: Request) -> None:
        check_approved(ledger, settings, request)
        overriding.append(request)

    edition = publish_run(
        lake,
        settings,
        run_id,
        read_disciplines(ledger, settings, run_id),
        revision,
        step=step,
        confirm=confirm,
    )
    for request in overriding:
        finish(ledger, settings, request)
    published = lake.read("run_revisions", {"run_id": run_id})
    with ledger.write() as connection:
        for row in published.iter_rows(named=True):
            editions.keep_root(connection, str(row["edition_id"]), str(row["root_hash"]))
    return edition


def read_disciplines(ledger: Ledger, settings: Settings, run_id: str) -> Sequence[str]:
    """The disciplines that the run was planned with; those of the settings for one that this ledger does not know."""
    with ledger.read() as connection:
        run = exam.read_run(connection, run_id)
    return settings.disciplines if run is None else tuple(run["plan"]["shares"])
