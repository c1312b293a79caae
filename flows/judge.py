"""Judges give stars."""

from __future__ import annotations

from tasks.exam import close_overdue_sessions
from tasks.judging import judge_run
from tasks.operations.reconcile import reconcile_stores
from tasks.running.flow_runs import check_judged, flow, publish_summary, require_budget


@flow
def judge(
    run_id: str = "", only_unparsed: bool = False, in_batches: bool = False, waits: bool = False
) -> dict[str, object]:
    """Judge every response of a run that has no judgement yet.

    Args:
        run_id: run to judge; empty for every run.
        only_unparsed: ask again where no judgement could be read, and nothing else.
        in_batches: submit the calls as batches.
        waits: wait until the batches have ended.
    """
    require_budget()
    overdue = close_overdue_sessions()
    reconcile_stores(leaves_log=True)
    result = overdue | judge_run(run_id, only_unparsed, in_batches, waits)
    publish_summary(result)
    check_judged(result)
    return result
