"""Notices as Prefect sees them: whom a failed run is told to. Names and ids alone."""

from __future__ import annotations

from prefect import task

from schemas.errors import FlowError
from schemas.settings import load_settings
from tasks.faults import hide_content
from tasks.notices.notices import Notice, read_recipients, send_notice

# A notice that cannot be given is a failed run itself; nobody is told of that one, or it would never end.
_OWN_FLOW = "notify"


@task(name="send_notices", retries=2, retry_delay_seconds=[10, 60])
@hide_content
def send_notices(failed_run: str, event: str = "", flow_run_id: str = "") -> dict[str, object]:
    """Tell everybody whom the settings name; a run of `notify` itself is not told of.

    Raises FlowError when somebody could not be told; the others have been, and are told again by the next try.
    """
    if failed_run.startswith(f"{_OWN_FLOW}-"):
        return {"told": 0}
    recipients = read_recipients(load_settings().notify)
    notice = Notice(failed_run, event.rpartition(".")[2] or "Failed", flow_run_id.rpartition(".")[2])
    failures = send_notice(notice, recipients)
    if failures:
        named = "; ".join(f"{name}: {reason}" for name, reason in failures.items())
        raise FlowError(
            f"{len(failures)} of {len(recipients)} could not be told of {failed_run}: {named}.",
            {"told": len(recipients) - len(failures)},
        )
    return {"told": len(recipients)}
