"""The newest backup is restored every night, into a place of its own."""

from __future__ import annotations

from tasks.operations.backups import try_newest_backup
from tasks.running.flow_runs import flow, publish_summary


@flow
def restore_check() -> dict[str, object]:
    """Restore the newest backup into an empty place, look at all of it, and remove the place.

    Fails where anything is missing or not as it was, so that whoever is told of failed runs is told of this.
    """
    result = try_newest_backup()
    publish_summary(result)
    return result
