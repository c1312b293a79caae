"""A page from its template: words in both languages, numbers for people, all escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.report.labels import LABELS, SHORT_DISCIPLINES, Language, label
from tasks.report.look import SHARED_FOLDER
from tasks.report.words import (
    describe_grade,
    describe_judge_checks,
    describe_override,
    describe_provisional,
    format_change,
    format_interval,
)

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = (Path(__file__).parent / "templates", SHARED_FOLDER)


def render_template(page: Mapping[str, Any], template: str) -> str:
    """The page's text; `page` holds what the template names, `language` among it."""
    return _make_environment(page["language"]).get_template(template).render(page)


# Parts that pages share are compiled once for all of them.
@cache
def _make_environment(language: Language) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup, escape

    def bilingual(key: str, **values: object) -> Markup:
        zh, en = (text.format(**values) if values else text for text in LABELS[key])
        return both.format(escape(zh), escape(en))

    def abbreviated(discipline: str) -> Markup:
        return both.format(*SHORT_DISCIPLINES[discipline])

    both = Markup('<span class="zh" lang="zh">{}</span><span class="en" lang="en">{}</span>')
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        t=bilingual, short=abbreviated, plain=lambda key: label(key, language), labels=LABELS
    )
    environment.globals.update(
        pair=lambda texts: both.format(*(escape(text) for text in texts)),
        plain_pair=lambda texts: texts[0] if language == "zh" else texts[1],
        override=lambda edition: both.format(
            escape(describe_override(edition, "zh")), escape(describe_override(edition, "en"))
        ),
        provisional=lambda edition: both.format(
            escape(describe_provisional(edition, "zh")), escape(describe_provisional(edition, "en"))
        ),
        judge_checks=lambda edition: both.format(
            escape(describe_judge_checks(edition, "zh")), escape(describe_judge_checks(edition, "en"))
        ),
        grade=lambda edition: both.format(
            escape(describe_grade(edition, "zh")), escape(describe_grade(edition, "en"))
        ),
        interval=format_interval,
        change=format_change,
    )
    environment.filters["number"] = lambda value, digits=2: "–" if value is None else f"{value:,.{digits}f}"
    return environment
