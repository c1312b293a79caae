"""The report site for those who watch, as rendered last, numbers linked to their answers."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from deployments.auth import SignedIn
from deployments.web.pages import render_doors, render_page
from deployments.web.run_routes import open_lake_for
from deployments.web.visitor import Config, Watcher, read_sight
from schemas import patterns as re
from schemas.settings import Settings
from schemas.vocabulary import DISCIPLINES, PROMPT_STYLES
from tasks.report import REPORTS, name_team_folder, read_models
from tasks.watching import WATCHERS, Sight, find_sat_run

# The files of a site: pages, and beside them or in `data` what they load and link.
_NAME: Final = re.compile(r"(?:data/)?[\w-][\w.-]*\.(html|css|js|csv)")
_KINDS: Final = {"css": "text/css", "js": "text/javascript", "csv": "text/csv"}
# As the pages say themselves; figures are drawn by a library that compiles their scales.
_POLICY: Final = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-eval'; img-src data:; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
# Where the frame of a page has its navigation, and where its script finds that numbers open answers.
# No folder of this name is ever made.
_NO_SITE: Final = "no-report"
_DOORS: Final = '<nav class="doors"'
_ROOT: Final = "<html "


def add_report_routes(app: FastAPI) -> None:
    """Add the report site and the way from its numbers to answers."""

    @app.get("/report/{name:path}")
    def show_report(request: Request, visitor: Watcher, settings: Config, name: str = "") -> Response:
        folder = _find_folder(settings, visitor, read_sight(request, visitor))
        found = _NAME.fullmatch(name or "index.html")
        if found is None:
            raise HTTPException(404)
        path = folder / found.group()
        if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            if name in ("", "index.html"):
                return render_page(request, "report_none.html", visitor)
            raise HTTPException(404)
        if found[1] != "html":
            return Response(path.read_bytes(), media_type=_KINDS[found[1]])
        doors = render_doors(request, visitor)
        text = path.read_text("utf-8").replace(_ROOT, f'{_ROOT}data-answers="/answers-of" ', 1)
        return HTMLResponse(
            text.replace(_DOORS, f"{doors}{_DOORS}", 1), headers={"content-security-policy": _POLICY}
        )

    @app.get("/answers-of")
    def open_answers(
        request: Request, visitor: Watcher, edition: str, model: str, style: str, discipline: str = ""
    ) -> Response:
        """The list of answers behind a published number."""
        lake = open_lake_for(request, read_sight(request, visitor))
        if lake is None or style not in PROMPT_STYLES or discipline not in ("", *DISCIPLINES):
            raise HTTPException(404)
        run_id = find_sat_run(lake, edition, model, style)
        if run_id is None:
            raise HTTPException(404)
        query = {"model": model, "style": style} | ({"discipline": discipline} if discipline else {})
        return RedirectResponse(f"/runs/{quote(run_id, safe='')}/answers?{urlencode(query)}", 303)


def _find_folder(settings: Settings, visitor: SignedIn, sight: Sight) -> Path:
    """The site of every model, or that of the first of somebody's teams for which one was made.

    One that shows a model which is the team's no more is not there until it is made again.
    """
    if visitor.role in WATCHERS or sight is None:
        return settings.home / REPORTS
    made = [
        folder
        for team in visitor.teams
        if (shown := read_models(folder := name_team_folder(settings, team))) is not None
        and shown <= set(sight)
    ]
    return made[0] if made else settings.home / _NO_SITE
