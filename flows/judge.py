"""Judges give stars."""

from __future__ import annotations

from prefect import flow

from tasks.exam.task import close_overdue_sessions
from tasks.flow_runs.success import check_judged
from tasks.flow_runs.task import name_run, publish_summary
from tasks.judging.task import judge_run
from tasks.reconcile.task import reconcile_stores


@flow(name="judge", flow_run_name=name_run)
def judge(
    run_id: str = "", only_unparsed: bool = False, in_batches: bool = False, waits: bool = False
) -> dict[str, object]:
    """Judge every response of a run that has no judgement yet; an empty `run_id` means every run.

    `only_unparsed` asks the judges again where no judgement could be read. `in_batches` submits calls as batches, and `waits` for
    them.
    """
    overdue = close_overdue_sessions()
    reconcile_stores()
    result = overdue | judge_run(run_id, only_unparsed, in_batches, waits)
    publish_summary(result)
    check_judged(result)
    return result
