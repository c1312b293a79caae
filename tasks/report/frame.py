"""The frame of the report site.

It holds the site's pages, the files that they share, and the writing of a page into it: a template, words in both languages, numbers for
people, all escaped. A site is a folder. Nothing in it asks for
anything outside: styles, scripts and data lie beside the pages, so that it opens from a disk as it does from a server.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tasks.report.labels import LABELS, SHORT_DISCIPLINES, Language, label
from tasks.report.look import SHARED_FOLDER
from tasks.report.panels import flatten_lists
from tasks.report.words import (
    describe_grade,
    describe_judge_checks,
    describe_override,
    describe_provisional,
    format_change,
    format_interval,
)
from tasks.texts import Words, write_safe_csv
from warehouse.stores.kept_files import copy_kept, keep_file
from warehouse.stores.whole_files import SHARED, writing_whole

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_SHARED: Final = (
    SHARED_FOLDER / "frame.css",
    SHARED_FOLDER / "frame.js",
    _TEMPLATES / "site.css",
    _TEMPLATES / "site.js",
)
_DRAWING: Final = "vega.js"


@dataclass(frozen=True)
class SitePage:
    """A page in the navigation; its file is `<name>.html`."""

    name: str
    title: Words


# In the order of the navigation.
SITE_PAGES: Final = (
    SitePage("index", LABELS["leaderboard"]),
    SitePage("candidate", ("模型", "Candidate")),
    SitePage("compare", ("比较", "Compare")),
    SitePage("trends", ("趋势", "Trends")),
    SitePage("judges", ("裁判", "Judges")),
    SitePage("stability", ("稳定性", "Stability")),
    SitePage("contamination", ("污染与泄漏", "Contamination")),
    SitePage("errors", ("错误原因", "Errors")),
    SitePage("bank", ("题库与消耗", "Bank and exposure")),
    SitePage("league", ("联赛", "Leagues")),
    SitePage("gscore", ("Gscore", "Gscore")),
    SitePage("cost", ("费用", "Cost")),
    SitePage("method", ("方法与验证", "Method")),
)


@dataclass(frozen=True)
class Issue:
    """What the pages of one rendering have in common.

    Attributes:
        folder: where the site lies; made where it is missing.
        language: the language that the pages open in; the reader can switch.
        generated_at: the time in the footer.
        caveats: what stands at the top of every page: a kind, its name and a sentence.

    Raises UsageError for a language that the site does not speak.
    """

    folder: Path
    language: Language = "zh"
    generated_at: dt.datetime | None = None
    caveats: Sequence[tuple[str, Words, Words]] = ()

    def __post_init__(self) -> None:
        label("title", self.language)

    @property
    def moment(self) -> str:
        """The time in the footer: now where none is given."""
        return (self.generated_at or dt.datetime.now(dt.UTC)).strftime("%Y-%m-%d %H:%M UTC")


_FOLDERS = (Path(__file__).parent / "templates", SHARED_FOLDER)


def write_page(
    issue: Issue,
    name: str,
    template: str,
    values: Mapping[str, Any],
    *,
    title: Words,
    current: str = "",
    scripts: Sequence[str] = (),
) -> Path:
    """Write `<name>.html` from a template that extends `layout.html.j2`; returns its path.

    What it shares with other pages is written, too. `current` is the page of the navigation that it belongs to, its own name by default. A
    page with `has_figures` in its values draws them in the browser. `scripts` are files of the templates' folder that it needs besides the
    common ones, and data in the folder of the site (with a slash in their names), in the order in which they are loaded.
    """
    issue.folder.mkdir(parents=True, exist_ok=True)
    has_figures = bool(values.get("has_figures"))
    _write_shared(issue.folder, scripts, has_figures=has_figures)
    path = issue.folder / f"{name}.html"
    page = {
        **values,
        "language": issue.language,
        "generated_at": issue.moment,
        "caveats": issue.caveats,
        "site": SITE_PAGES,
        "current": current or name,
        "page_title": title,
        "has_figures": has_figures,
        "scripts": scripts,
    }
    path.write_text(render_template(page, template), encoding="utf-8")
    return path


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV with a byte order mark for Chinese names and six significant digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = write_safe_csv(flatten_lists(frame.with_columns(pl.selectors.float().round_sig_figs(6))))
    path.write_bytes(b"\xef\xbb\xbf" + text.encode("utf-8"))


def _write_shared(folder: Path, scripts: Sequence[str], *, has_figures: bool) -> None:
    for path in (*_SHARED, *(_TEMPLATES / name for name in scripts if "/" not in name)):
        shutil.copyfile(path, folder / path.name)
    if has_figures:
        write_library(folder)


def write_library(folder: Path) -> None:
    """Write the large drawing library where it is not there."""
    from importlib.metadata import version

    made_by = f"vl-convert {version('vl-convert-python')}"
    library, kept = folder / _DRAWING, f"{made_by}.js".replace(" ", "-")
    mark = f"/* {made_by} */\n"
    # A kept one that is damaged would be in every report to come.
    if _is_marked(library, mark) or (copy_kept(kept, library) and _is_marked(library, mark)):
        return
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its types forget the default
    # Half of it would begin with the same mark, and stay.
    with writing_whole(library, SHARED) as draft:
        draft.write_text(mark + bundle, encoding="utf-8")
    keep_file(kept, partial(shutil.copyfile, library))


def _is_marked(library: Path, mark: str) -> bool:
    if not library.is_file():
        return False
    with library.open(encoding="utf-8", errors="replace") as text:
        return text.readline() == mark


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
        loader=FileSystemLoader(_FOLDERS),
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
    environment.filters["number"] = lambda value, digits=2: "–" if value is None else f"{value:z,.{digits}f}"
    return environment
