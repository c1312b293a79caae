"""Accepted questions and variants become a bank version without duplicates."""

from __future__ import annotations

from tasks.bank.dedupe import publish_bank
from tasks.exam.public.log import note_rejections
from tasks.operations.reconcile import reconcile_stores
from tasks.running.flow_runs import flow, publish_summary


@flow
def dedupe(rebuild: bool = False) -> dict[str, object]:
    """Compare what is new with the bank and publish a new version, if anything changed.

    Args:
        rebuild: compare everything again, not only what is new.
    """
    reconcile_stores()
    result = publish_bank(is_rebuilt=rebuild) | note_rejections()
    publish_summary(result)
    return result
