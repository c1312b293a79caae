"""A backup every night, and as many kept as are set."""

from __future__ import annotations

from tasks.operations.backups import keep_backups
from tasks.running.flow_runs import RECORDED, flow, name_run, publish_summary


@flow(name="backup", flow_run_name=name_run, **RECORDED)
def backup() -> dict[str, object]:
    """Make a backup in the folder of PROCTOR_BACKUPS, then delete those that need not be kept.

    Without that setting nothing is done.
    """
    result = keep_backups()
    publish_summary(result)
    return result
