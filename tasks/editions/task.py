"""Publishing as Prefect sees it: one run, by its id."""

from __future__ import annotations

from schemas.editions import GRADES
from schemas.errors import GateError, UsageError
from schemas.settings import load_settings
from tasks.editions.grades import keep_grades
from tasks.editions.publish import Revision
from tasks.editions.roots import publish_and_keep_root
from tasks.exam.closed import land_access_log
from tasks.running import Progress
from tasks.running.approvals import ApprovalNeeded
from tasks.running.flow_runs import step
from warehouse.lake import open_lake
from warehouse.lake.upkeep import close_months, look_at_rows
from warehouse.ledger.engine.opening import open_ledger


@step()
def grade_editions() -> dict[str, object]:
    """State every edition's grade again, once witnesses were told."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        found = keep_grades(ledger, settings)
    return {
        "editions": len(found),
        "witnessed_editions": sum(one.grade != GRADES[0] for one in found.values()),
    }


@step()
def publish_edition(
    run_id: str,
    is_revision: bool = False,
    reason: str = "",
    overridden: list[str] | None = None,
    is_gate_reported: bool = False,
    is_recalibrated: bool = False,
) -> dict[str, object]:
    """Publish a run once; an empty id means that there is none.

    With `is_gate_reported` a shut gate is part of the result, so that the work after it is still done; else GateError is
    raised.
    """
    if not run_id:
        return {"edition_id": "", "is_published_now": False}
    settings = load_settings()
    revision = Revision(is_revision, reason or None, tuple(overridden or ()), is_recalibrated)
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        Progress("publish: steps") as progress,
    ):
        try:
            edition = publish_and_keep_root(
                ledger, lake, settings, run_id, revision, step=lambda _: progress.advance()
            )
        except ApprovalNeeded as waiting:
            return {"edition_id": "", "is_published_now": False, "waits_for": str(waiting)}
        except (GateError, UsageError) as error:
            if not is_gate_reported:
                raise
            return {"edition_id": "", "is_published_now": False, "refusal": str(error)}
        close_months(lake)
        # What publishing wrote into the audit log lands with it, not with the next run.
        land_access_log(ledger, lake)
        if edition.is_new:
            # What a month has brought is read once, while it is published: the next doctor reads the bytes of these files.
            look_at_rows(lake)
    return {
        "edition_id": edition.edition_id,
        "is_published_now": edition.is_new,
        "is_outdated": edition.is_outdated,
        "published_candidates": edition.candidate_count,
        "overridden_gates": list(edition.overridden),
    }
