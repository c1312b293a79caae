"""The whole site, in a browser and for those who read it in another way.

Every page is in its frame, its data is beside it, and nothing comes from outside.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from lxml import html

from tasks.report.frame import SITE_PAGES, Issue
from tasks.report.panel_pages import PanelPage, write_panels
from tasks.report.panels import NamedQuery, Panel, Source
from tasks.report.site import PANEL_PAGES, render_site
from tasks.report.verdict_sentences import render_sentence, say_pair
from tests.browser import needs_browser
from tests.tasks.report.conftest import NOON

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "</script><script>alert(1)</script>"


def read_page(path: Path) -> html.HtmlElement:
    return html.document_fromstring(path.read_text("utf-8"))


def test_a_name_is_text_in_the_table_the_sentence_and_the_figure(tmp_path: Path) -> None:
    from tasks.report.axes import Axis, Group
    from tasks.report.panel_charts import dots
    from tasks.report.panels import Cell

    frame = pl.DataFrame({"model": [HOSTILE], "value": [1.5]})
    panel = Panel(
        name="odd",
        title=("甲", "A"),
        about=("乙", "B"),
        query="leaderboard",
        frame=frame,
        cells=(Cell("model", ("模型", "Candidate")), Cell("value", ("值", "Value"), "number")),
        finding=(HOSTILE, HOSTILE),
        draw=dots(frame, name=Group("model"), value=Axis("value", ("值", "value"))),
    )
    page = PanelPage("errors", ("", ""), lambda _: [panel])
    path = write_panels(Issue(tmp_path), page, [panel], is_simulated=False)
    assert "<script>alert" not in path.read_text("utf-8")
    shown = read_page(path)
    assert shown.xpath("string(//tbody//th)") == HOSTILE
    (spec,) = shown.xpath("//script[@type='application/json']/text()")
    assert json.loads(spec)["layer"]
    assert shown.xpath("//div[@class='fig']/@data-en") == [HOSTILE]
    assert pl.read_csv(tmp_path / "data" / "errors-odd.csv").rows() == [(HOSTILE, 1.5)]
    assert "FROM" in shown.xpath("string(//pre)")
    # Simulated rows say so on a page that is not simulated as a whole.
    assert not shown.xpath("//section//span[@class='tag warn']")
    trial = replace(panel, frame=frame.with_columns(is_simulated=True))
    write_panels(Issue(tmp_path), page, [trial], is_simulated=False)
    assert len(read_page(path).xpath("//section//span[@class='tag warn']")) == 1
    # Rows that no sentence sums up, as those of a single resample, are drawn under the panel's title.
    write_panels(Issue(tmp_path), page, [replace(panel, finding=None)], is_simulated=False)
    assert read_page(path).xpath("//div[@class='fig']/@data-en") == ["A"]
    # What no query gives any more (a model that another team has now) is not in the folder either.
    write_panels(Issue(tmp_path), page, [replace(panel, frame=frame.clear())], is_simulated=False)
    assert not (tmp_path / "data" / "errors-odd.csv").exists()


@pytest.fixture(scope="module")
def site(season: NamedQuery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the real season: rendered once, only read."""
    folder = tmp_path_factory.mktemp("site")
    render_site(Source(season), Issue(folder, generated_at=NOON))
    return folder


@pytest.mark.long
def test_every_page_lies_in_the_folder_with_the_data_of_its_figures(site: Path, season: NamedQuery) -> None:
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert {f"{page.name}.html" for page in SITE_PAGES} <= files
    for page in PANEL_PAGES:
        shown = read_page(site / f"{page.name}.html")
        links = set(shown.xpath("//main//a[@download]/@href"))
        assert links <= files
        assert len(links) == sum(panel.frame.height > 0 for panel in page.read(Source(season)))
        assert len(shown.xpath("//p[@class='empty']")) + len(links) == len(
            shown.xpath("//section[h2/@id]")
        ) - (page.name == "method")
    for path in site.glob("*.html"):
        text = path.read_text("utf-8")
        addresses = set(re.findall(r"https?://[^\"'\s<>)]+", text))
        # Names of standards, which nothing is asked for.
        assert {
            one for one in addresses if "w3.org" not in one and "vega.github.io/schema" not in one
        } == set()
        assert read_page(path).xpath("//script[not(@src) and not(@type='application/json')]") == []
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 5_000_000


@pytest.mark.long
def test_the_same_lake_gives_the_same_site(site: Path, season: NamedQuery, tmp_path: Path) -> None:
    render_site(Source(season), Issue(tmp_path, generated_at=NOON))
    for path in site.rglob("*"):
        if path.is_file():
            assert (tmp_path / path.relative_to(site)).read_bytes() == path.read_bytes(), path.name


def open_page(
    browser: Browser, path: Path, address: str = "", width: int = 1400, locale: str = "zh-CN"
) -> tuple[Page, list[str]]:
    """The page, drawn, and what its console said and what it asked for beyond the folder."""
    page = browser.new_page(viewport={"width": width, "height": 900}, locale=locale)
    noticed: list[str] = []
    page.on("console", lambda message: noticed.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noticed.append(f"error: {error}"))
    page.on(
        "request",
        lambda asked: (
            None if asked.url.startswith((path.parent.as_uri(), "data:")) else noticed.append(asked.url)
        ),
    )
    page.goto(path.as_uri() + address)
    page.wait_for_function("document.querySelectorAll('.fig:not([data-is-drawn])').length === 0")
    return page, noticed


@pytest.mark.long
@needs_browser[0]
@needs_browser[1]
@pytest.mark.parametrize("width", [1400, 390])
def test_every_page_draws_without_a_request_a_message_or_a_scroll_bar_across(
    site: Path, browser: Browser, width: int
) -> None:
    for one in SITE_PAGES:
        page, noticed = open_page(browser, site / f"{one.name}.html", "#lang=en", width)
        assert noticed == [], one.name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, one.name
        assert page.evaluate("document.documentElement.lang") == "en"
        here = page.locator(".doors a[aria-current]").bounding_box()
        assert here is not None, one.name
        assert here["x"] + here["width"] <= width, f"{one.name} is out of sight in its row"
        cut = """places => places.filter(one => one.getBoundingClientRect().right > one.closest('svg').getBoundingClientRect().right)
            .map(one => one.textContent)"""
        assert page.eval_on_selector_all(".fig .role-legend-label text", cut) == [], one.name
        page.close()


@pytest.mark.long
@needs_browser[0]
@needs_browser[1]
@pytest.mark.parametrize("address", ["#lang=zh&theme=light", "#lang=en&theme=dark"])
def test_no_page_has_a_serious_finding_of_axe(site: Path, browser: Browser, address: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for one in SITE_PAGES:
        page, _ = open_page(browser, site / f"{one.name}.html", address)
        page.evaluate("document.querySelectorAll('details').forEach(function (one) { one.open = true; })")
        found = [
            (one.name, finding["id"], [node["html"][:160] for node in finding["nodes"][:3]])
            for finding in Axe().run(page).response["violations"]
            if finding["impact"] in ("serious", "critical")
        ]
        assert found == []
        page.close()


@pytest.mark.long
@needs_browser[0]
@needs_browser[1]
def test_a_phone_shows_the_lines_of_the_trend_with_their_names(site: Path, browser: Browser) -> None:
    page, _ = open_page(browser, site / "trends.html", "#lang=en", 390)
    page.wait_for_selector("[aria-labelledby='months'] .fig[data-is-drawn] svg")
    cut = """place => { const seen = place.getBoundingClientRect().right;
        return [...place.querySelectorAll('text')].filter(one => one.getBoundingClientRect().right > seen).map(one => one.textContent) }"""
    assert page.eval_on_selector("[aria-labelledby='months']", cut) == []
    page.close()


@needs_browser[0]
@needs_browser[1]
def test_language_and_theme_stand_in_the_address_and_go_along(site: Path, browser: Browser) -> None:
    page, _ = open_page(browser, site / "judges.html")
    assert page.locator("h1").inner_text() == "裁判"
    page.get_by_role("button", name="English").click()
    page.get_by_role("button", name="Dark").click()
    page.get_by_role("link", name="Where judges disagree").click()
    assert page.url.endswith("judges.html#lang=en&theme=dark&at=disagreements")
    assert page.evaluate("document.activeElement.id") == "disagreements"
    page.wait_for_function(
        "document.querySelectorAll('.fig svg').length === document.querySelectorAll('.fig').length"
    )
    assert "stars" in page.locator(".fig").last.inner_text()
    page.get_by_role("link", name="Cost", exact=True).click()
    assert page.url.endswith("cost.html#lang=en&theme=dark")
    page.wait_for_function("document.querySelector('h1').innerText === 'Cost'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 25)"
    # What was chosen is remembered: an address without a choice opens as the last one did.
    page.goto((site / "bank.html").as_uri())
    page.reload()
    assert page.locator("h1").inner_text() == "Bank and exposure"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()


@pytest.mark.long
@needs_browser[0]
@needs_browser[1]
@pytest.mark.parametrize(("locale", "title"), [("zh-CN", "裁判"), ("en-GB", "Judges"), ("fr-FR", "裁判")])
def test_a_page_opens_in_the_language_of_the_browser(
    site: Path, browser: Browser, locale: str, title: str
) -> None:
    page, noticed = open_page(browser, site / "judges.html", locale=locale)
    assert (page.locator("h1").inner_text(), page.title(), noticed) == (title, title, [])
    page.close()


@pytest.mark.long
@needs_browser[0]
@needs_browser[1]
def test_a_candidate_and_a_comparison_are_what_their_address_names(
    site: Path, browser: Browser, season: NamedQuery
) -> None:
    board = season("leaderboard", {})
    first, second = board["model"][0], board["model"][3]
    page, noticed = open_page(browser, site / "index.html", "#lang=en")
    page.get_by_role("link", name=first, exact=True).first.click()
    page.wait_for_function("document.getElementById('who') && document.getElementById('who').textContent")
    assert page.locator("#who").inner_text() == first
    assert f"{board['score'][0]:.2f}" in page.locator("#standing").inner_text()
    changes = season("change_by_discipline", {"model": first})
    told = page.locator("#why-body tbody tr")
    assert told.count() == changes.filter(pl.col("points").is_not_null()).height
    # What the page computes is that of the numbers before they were rounded to what it prints.
    kept = page.evaluate("window.proctorData.candidates.changes")
    points = [
        point or 0 for point, model in zip(kept["points"], kept["model"], strict=True) if model == first
    ]
    assert sum(points) / 100 == pytest.approx(changes["points"].sum(), abs=0.01)
    law = board["law"]
    gaps = page.locator("#profile-body tbody tr", has_text="Law").locator("td").nth(2)
    assert float(gaps.inner_text()) == pytest.approx(law[0] - law.mean(), abs=0.0501)
    assert re.fullmatch(r"[+-]?\d\.\d", gaps.inner_text())
    page.get_by_label("Choose a candidate").select_option(label=second)
    assert page.locator("#who").inner_text() == second
    assert "candidate.html#" in page.url and "model=" in page.url and noticed == []
    page.close()

    page, noticed = open_page(browser, site / "compare.html", f"#lang=en&models={second},{first}")
    pair = season("rank_comparisons", {}).filter(
        pl.col("model_a").is_in([first, second]) & pl.col("model_b").is_in([first, second])
    )
    sign = 1 if pair["model_a"][0] == second else -1
    rows = page.locator("#pairs tbody tr")
    assert rows.first.locator("td").first.inner_text() == f"{sign * pair['difference'][0]:+.2f}"
    known = season("discipline_differences", {}).filter(
        pl.col("model_a").is_in([first, second]) & pl.col("model_b").is_in([first, second])
    )
    assert rows.count() == 1 + known.height
    verdict = season("verdicts", {"model_a": second, "model_b": first}).row(0, named=True)
    told_apart = known.filter(pl.col("is_distinguishable").is_not_null()).to_dicts()
    said = [render_sentence(one)[1] for one in say_pair(verdict, told_apart)]
    assert page.locator("#pairs .finding").inner_text() == said[0]
    assert page.locator("#pairs ul.verdict li").all_inner_texts() == said[1:]
    assert page.locator("#chosen li").count() == 2
    page.get_by_role("button", name=f"Remove {first}").click()
    assert "Choose at least two" in page.locator("#pairs").inner_text()
    page.get_by_label("Add a candidate").select_option(index=1)
    assert page.locator("#chosen li").count() == 2 and "models=" in page.url and noticed == []
    page.close()


@needs_browser[0]
@needs_browser[1]
@pytest.mark.long
def test_the_board_fits_a_page_of_1400_pixels_and_every_score_opens_its_answers(
    site: Path, browser: Browser, tmp_path: Path
) -> None:
    served = tmp_path / "served"
    shutil.copytree(site, served)
    for name in ("index.html", "candidate.html"):
        text = (served / name).read_text("utf-8")
        # As the desk serves it.
        (served / name).write_text(text.replace("<html ", '<html data-answers="/answers-of" ', 1), "utf-8")
    page, noticed = open_page(browser, served / "index.html", "#lang=en")
    assert noticed == []
    cut = "(() => { const room = document.querySelector('.scroll.wide'); return room.scrollWidth - room.clientWidth; })()"
    assert page.evaluate(cut) == 0
    # S, equated score and R; the disciplines come with all columns.
    shown = page.locator("#board tbody tr").first.locator("a.answers:visible")
    assert shown.count() == 3
    page.locator("#columns").check()
    assert page.evaluate(cut) > 0
    assert shown.count() > 3
    assert "columns=all" in page.url
    page.locator("#board tbody tr").first.locator("th a").click()
    page.wait_for_selector("table.sortable a.answers")
    months = page.locator("table.sortable", has=page.locator("th", has_text="Equated")).first
    assert months.locator("tbody tr").last.locator("a.answers").count() == 3
    page.close()
