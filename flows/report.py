"""Analysts get a page."""

from __future__ import annotations

from prefect import flow

from tasks.report import render_reports
from tasks.running.flow_runs import RECORDED, name_run, publish_summary


@flow(name="report", flow_run_name=name_run, **RECORDED)
def report(out_dir: str = "") -> dict[str, object]:
    """Render the report over the whole lake.

    Args:
        out_dir: folder of the pages; empty for `reports` under PROCTOR_HOME.
    """
    result = render_reports(out_dir)
    publish_summary(result)
    return result
