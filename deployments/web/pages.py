"""Pages from templates: what every page knows, and how it is sent."""

from __future__ import annotations

import hashlib
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from deployments.auth import SignedIn
from deployments.web.show import choose_language, read_wording, say, say_of_reading
from deployments.web.visitor import COORDINATORS, is_watcher, read_sessions
from tasks.report import SHARED_FOLDER, describe_marks, name_purpose
from tasks.review import list_words

STATIC = Path(__file__).parent / "static"


def render_page(
    request: Request, template: str, visitor: SignedIn | None, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """A page, or a part of one, in the reader's language.

    Every template knows `say(name, …)`, `say_door(name)`, `words(topic)`, `describe_marks(marks)`, `name_purpose(purpose)`, `say_of_reading(text)`, `language`, `visitor`, `is_coordinator`, `is_watcher`, `form_token` (empty for who is
    not signed in) and `static(name)`; the rest is given. Everything that is put in is escaped.
    """
    return HTMLResponse(_render(request, template, visitor, **values), status)


def render_doors(request: Request, visitor: SignedIn) -> str:
    """The server's navigation for a page of the report, in both languages."""
    return _render(request, "report_doors.html", visitor, say_door=_say_both)


def _render(request: Request, template: str, visitor: SignedIn | None, **values: Any) -> str:
    language = choose_language(request)
    token = read_sessions(request).make_form_token(visitor.session_id) if visitor else ""
    known = {
        "say": lambda word, /, **parts: say(word, language, **parts),
        "say_door": lambda word: say(word, language),
        "wording": {name: both[language] for name, both in read_wording().items()},
        "describe_marks": lambda marks: describe_marks(marks, language),
        "say_of_reading": lambda text: say_of_reading(text, language),
        "name_purpose": lambda purpose: name_purpose(purpose, language),
        "words": lambda topic: list_words(topic, language),
        "language": language,
        "visitor": visitor,
        "is_coordinator": visitor is not None and visitor.role in COORDINATORS,
        "is_watcher": visitor is not None and is_watcher(visitor),
        "form_token": token,
        "path": request.url.path,
    }
    return _make_environment().get_template(template).render(known | values)


def _say_both(word: str) -> Markup:
    zh, en = (say(word, one) for one in ("zh", "en"))
    return Markup('<span class="zh" lang="zh">{}</span><span class="en" lang="en">{}</span>').format(zh, en)


def count_days(due_at: str, now: str) -> int:
    """Days of UTC, as its date is shown, until something is due; negative once it has passed."""
    days = (date.fromisoformat(due_at[:10]) - date.fromisoformat(now[:10])).days
    return min(days, -1) if due_at < now else days


@lru_cache(maxsize=1)
def _make_environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("deployments.web"), FileSystemLoader(SHARED_FOLDER)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["static"] = _name_static
    return environment


@lru_cache(maxsize=64)
def _name_static(name: str) -> str:
    """The address of a file beside the pages, another for another file: browsers may keep it."""
    path = next(path for folder in (STATIC, SHARED_FOLDER) if (path := folder / name).is_file())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"
