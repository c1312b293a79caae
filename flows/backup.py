"""A backup every night, and as many kept as are set."""

from __future__ import annotations

from tasks.operations.backups import keep_backups
from tasks.running.flow_runs import flow, publish_summary


@flow
def backup() -> dict[str, object]:
    """Make a backup in the folder of PROCTOR_BACKUPS, then delete those that need not be kept.

    Without that setting nothing is done.
    """
    result = keep_backups()
    publish_summary(result)
    return result
