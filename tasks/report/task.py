"""The report as Prefect sees it: read the marts → render → write the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from schemas.settings import load_settings
from tasks.models.registry import read_team_models
from tasks.proof import close_report
from tasks.report.frame import Issue
from tasks.report.labels import LABELS
from tasks.report.panels import Source
from tasks.report.site import REPORTS, name_team_folder, note_models, read_models, render_site
from tasks.running.flow_runs import RETRIED, step
from warehouse.lake import hold_rows, open_lake, open_narrow_lake
from warehouse.ledger.engine.opening import open_ledger

_OF_TEAM: Final = ("of_team", LABELS["of_team"], LABELS["of_team_about"])


@step(**RETRIED)
def render_reports(out_dir: str = "", team: str = "") -> dict[str, object]:
    """Render the site over the whole lake, or over what a team sees of it.

    An empty folder means `reports` under PROCTOR_HOME, and for a team a folder of its own there. Raises UsageError for a team that owns no
    model.
    """
    settings = load_settings()
    if team:
        # Read once: a model that changes hands meanwhile is on the site, and in the note of what it shows.
        models = read_team_models(settings, team)
        with open_narrow_lake(settings, models) as lake:
            own = Issue(Path(out_dir) if out_dir else name_team_folder(settings, team), caveats=[_OF_TEAM])
            if (shown := read_models(own.folder)) is not None:
                # A rendering that breaks off leaves pages of both.
                note_models(own.folder, shown | models)
            written = render_site(Source(lake.run_named, public_dir=None), own)
        note_models(own.folder, models)
        return {"report": str(written)}
    folder = Path(out_dir) if out_dir else settings.home / REPORTS
    with open_lake(settings, read_only=True) as lake, hold_rows(lake) as held:
        source = Source(held.run_named, public_dir=settings.public_dir, mark_query=held.mark)
        written = render_site(source, Issue(folder))
    with open_ledger(settings.ledger_address) as ledger:
        close_report(ledger, settings, folder)
    return {"report": str(written)}
