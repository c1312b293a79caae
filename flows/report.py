"""Analysts get a page."""

from __future__ import annotations

from tasks.report import render_reports
from tasks.running.flow_runs import flow, publish_summary


@flow
def report(out_dir: str = "", team: str = "") -> dict[str, object]:
    """Render the report over the whole lake, or over what a team sees of it.

    Args:
        out_dir: folder of the pages; empty for `reports` under PROCTOR_HOME, or a team's own folder there.
        team: the team for whose members it is; empty for the report of every model.
    """
    result = render_reports(out_dir, team)
    publish_summary(result)
    return result
