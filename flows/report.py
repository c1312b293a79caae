"""Analysts get a page."""

from __future__ import annotations

from prefect import flow

from tasks.report.task import render_reports


@flow(name="report")
def report(out_dir: str = "") -> dict[str, object]:
    """Render the report over the whole lake; an empty `out_dir` means `reports` under PROCTOR_HOME."""
    return render_reports(out_dir)
