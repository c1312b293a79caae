"""The public log is sealed and witnessed."""

from __future__ import annotations

from prefect import flow

from tasks.exam.public.log import seal_log
from tasks.running.flow_runs import RECORDED, name_run, publish_summary


@flow(name="seal", flow_run_name=name_run, **RECORDED)
def seal() -> dict[str, object]:
    """Sign the head of the public log.

    Then give it to the witnesses that PROCTOR_WITNESSES names.

    Fails when the file is not what the ledger has, and when a witness could not be told.
    """
    result = seal_log()
    publish_summary(result)
    return result
