"""The page of a league, from scores to cells.

The tests check what it shows, what it keeps to itself, and that it needs no network.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from filelock import FileLock
from lxml import html

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.league.statistics import ImportRequest, StatisticsRequest, import_scores, write_statistics
from tasks.report.frame import Issue
from tasks.report.league_page import render_league
from tasks.report.pages.leagues import ABOUT, read_leagues
from tasks.report.panel_pages import PanelPage, write_panels
from tasks.report.panels import Source
from tests.browser import act_on, needs_browser, read_found, read_requests, run_browser
from tests.tasks.league.statistics.synthetic import FAMILIES, NOON, Spec, build_league
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake import Batch, Lake, open_lake

QUICK = StatisticsRequest(resamples=100, repeats=2)
MARKED = re.compile(r"MARKED \w+")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A league of two domains, judged in both ways, and an imported one."""
    folder = tmp_path_factory.mktemp("league")
    with open_lake(Settings(home=folder / "home")) as opened:
        spec = Spec(runs=1, void_judge="fir-1", run_types=("full", "without_reference"))
        opened.land_together(
            [Batch(name, spec.league_id, frame) for name, frame in build_league(spec).items()]
        )
        write_statistics(opened, "autumn", QUICK)
        _sit_exam(opened)
        beside = Spec("winter", domains=("programming",), runs=1, is_simulated=True)
        opened.land_together([Batch(name, "winter", frame) for name, frame in build_league(beside).items()])
        write_statistics(opened, "winter", QUICK)
        scores = folder / "scores.csv"
        scores.write_text("asker,answerer,score\na,b,70\na,c,50\nb,a,80\nb,c,40\nc,a,90\nc,b,60\n")
        import_scores(opened, [scores], ImportRequest("elsewhere", "law"))
        write_statistics(opened, "elsewhere", QUICK)
        yield opened


def _sit_exam(lake: Lake) -> None:
    """An edition of simulated candidates.

    They are six of the league's eight, in the order of their names.
    """
    edition = {"edition_id": "r1/1", "run_id": "r1", "month": "2026-01", "revision": 1, "is_simulated": True}
    standings = [
        {"edition_id": "r1/1", "month": "2026-01", "model": name, "is_simulated": True, "sat_month": "2026-01",
         "rank": rank, "standing_score": 90.0 - rank}
        for rank, name in enumerate(list(FAMILIES)[:6], start=1)
    ]  # fmt: skip
    for table, rows in (("editions", [edition]), ("edition_standings", standings)):
        lake.land(table, "r1/1", fill_rows(get_table(table), rows).drop("landing_unit"))


@pytest.fixture(scope="module")
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page without questions, which is only read.

    It is rendered once for all workers, since the browser's tests may run in another worker.
    """
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    folder = shared / "league-page"
    with FileLock(shared / "league-page.lock"):
        if not folder.exists():
            lake: Lake = request.getfixturevalue("lake")
            draft = tmp_path_factory.mktemp("page")
            render_league(lake.run_named, "autumn", draft, language="en", generated_at=NOON)
            draft.rename(folder)
    return folder / "league-autumn.html"


@pytest.fixture(scope="module")
def page(path: Path) -> html.HtmlElement:
    return html.document_fromstring(path.read_text("utf-8"))


def read_table(page: html.HtmlElement, name: str, place: int = 0) -> list[list[str]]:
    table = page.xpath(f"//table[contains(concat(' ', @class, ' '), ' {name} ')]")[place]
    return [[cell.text_content().strip() for cell in row.xpath("td | th")] for row in table.xpath("tbody/tr")]


def test_the_ranking_has_a_row_for_each_candidate_with_its_intervals(
    lake: Lake, page: html.HtmlElement
) -> None:
    rows = read_table(page, "ranking", 1)
    expected = lake.run_named(
        "league_ranking", {"league_id": "autumn", "domain": "programming", "run_type": "full"}
    )
    assert [row[1] for row in rows] == expected["model"].to_list()
    assert [row[3] for row in rows] == [f"{score:.2f}" for score in expected["score"]]
    assert [row[-1] for row in rows] == [str(count) for count in expected["void_count"]]
    first = expected.row(0, named=True)
    assert rows[0][4] == f"{first['answer_low']:.2f} … {first['answer_high']:.2f}"


def test_every_figure_is_there_for_the_domains_that_have_it(page: html.HtmlElement) -> None:
    headings = [heading.text_content() for heading in page.xpath("//h3/span[@lang='en']")]
    assert headings.count("Scores on each asker's questions") == 2
    assert headings.count("Judges and answerers") == 2
    assert headings.count("Top-k overlap") == 2
    # Borda points are the same for every question: there is nothing to set solving against.
    assert headings.count("Solving and setting") == 1
    pictures = page.xpath("//figure//div[@class='en']/svg")
    assert len(pictures) == 7
    assert all(len(picture.xpath(".//*")) > 20 for picture in pictures)


def test_the_radar_has_a_shape_for_each_answerer_with_all_askers_but_itself(page: html.HtmlElement) -> None:
    radar = page.xpath("//figure//div[@class='en']/svg")[0]
    shapes = radar.xpath(".//polygon[@fill-opacity]")
    assert [len(shape.get("points").split()) for shape in shapes] == [7] * 8
    assert {text.text for text in radar.xpath(".//text")} == set(FAMILIES)


def test_pairs_overlaps_families_replays_and_both_types_of_run_are_tables(page: html.HtmlElement) -> None:
    overlaps = read_table(page, "overlaps")
    assert [row[0] for row in overlaps] == ["1", "2", "3", "4", "5", "6", "7"]
    assert overlaps[3][4] == "0.5595"
    assert {row[0] for row in read_table(page, "families")} == {"Amber", "Birch"}
    assert [row[1] for row in read_table(page, "replays")][-1] == "100%"
    assert len(read_table(page, "run-types")) == 16
    assert len(read_table(page, "costs")) == 2 * 8 * 3
    assert "No candidate of this league has sat the exam." in page.text_content()


def test_without_the_flag_no_question_reference_answer_or_reason_is_on_the_page(path: Path) -> None:
    texts = path.read_text("utf-8") + path.with_suffix(".csv").read_text("utf-8")
    assert MARKED.findall(texts) == []
    assert "raw of" not in texts


def test_an_imported_league_is_marked_and_shows_what_its_file_allows(lake: Lake, tmp_path: Path) -> None:
    page: html.HtmlElement = html.document_fromstring(
        render_league(lake.run_named, "elsewhere", tmp_path, generated_at=NOON).read_text("utf-8")
    )
    assert len(page.xpath("//div[contains(@class, 'imported')]")) == 1
    assert [row[1] for row in read_table(page, "ranking")] == ["a", "b", "c"]
    # No judges are known: no cells, no families, no overlap.
    assert page.xpath("//table[@class='families' or @class='overlaps']") == []


def test_league_and_exam_stand_side_by_side_and_with_the_flag_questions_are_shown(
    lake: Lake, tmp_path: Path
) -> None:
    shown = render_league(
        lake.run_named, "winter", tmp_path, language="en", with_questions=True, generated_at=NOON
    )
    text = shown.read_text("utf-8")
    page: html.HtmlElement = html.document_fromstring(text)
    rows = read_table(page, "beside")
    sat = {row[0]: (row[4], row[6]) for row in rows if row[4] != "–"}
    assert sat == {name: (str(rank), "2026-01") for rank, name in enumerate(list(FAMILIES)[:6], start=1)}
    assert [row[1] for row in rows] == [str(rank) for rank in range(1, 9)]
    assert [row[0] for row in rows if row[4] == "–"] == ["elm-1", "fir-1"]
    found = lake.run_named("league_agreement", {"league_id": "winter"}).filter(
        compared_with="exam", method="spearman"
    )
    row = found.row(0, named=True)
    assert row["candidate_count"] == 6 and row["correlation"] > 0.9
    (said,) = page.xpath("//p[@class='exam']")
    assert (
        f"{row['correlation']:.3f} ({row['correlation_low']:.2f} … {row['correlation_high']:.2f})"
        in said.text_content()
    )
    # Simulated candidates are never compared with real ones.
    assert lake.run_named("league_agreement", {"league_id": "autumn"}).filter(compared_with="exam").is_empty()

    # The page says at its top that it shows questions.
    assert len(page.xpath("//div[contains(@class, 'revealed')]")) == 1
    questions = page.xpath("//details[@class='question']")
    assert len(questions) == 8
    assert set(MARKED.findall(text)) == {"MARKED QUESTION", "MARKED REFERENCE"}
    first = " ".join(questions[0].text_content().split())
    assert "5-gram overlap 0.050" in first and "(gsm8k)" in first and "2 for, 1 against" in first


def test_the_page_of_leagues_ranks_each_domain_and_links_to_the_leagues_beside_it(
    lake: Lake, path: Path, tmp_path: Path
) -> None:
    shutil.copy(path, tmp_path)
    panels = read_leagues(Source(lake.run_named))
    page = PanelPage("league", ABOUT, read_leagues)
    listed = html.document_fromstring(
        write_panels(Issue(tmp_path, generated_at=NOON), page, panels, is_simulated=False).read_text("utf-8")
    )
    sections = [panel.title[1] for panel in panels]
    assert [title for title in sections if title.startswith("autumn")] == [
        "autumn · mathematics",
        "autumn · programming",
    ]
    # Only the page of one league lies in the folder.
    assert listed.xpath("//main//a[starts-with(@href, 'league-')]/@href") == ["league-autumn.html"] * 2
    ranked = lake.run_named(
        "league_ranking", {"league_id": "autumn", "domain": "programming", "run_type": "full"}
    )
    data = tmp_path / "data" / f"league-{panels[sections.index('autumn · programming')].name}.csv"
    assert pl.read_csv(data)["model"].to_list() == ranked["model"].to_list()


@pytest.mark.long
def test_a_hostile_name_stays_text(lake: Lake, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    scores = pl.DataFrame(
        {"asker": ["a", "a", hostile, "b"], "answerer": [hostile, "b", "a", "a"], "score": [9.0, 5, 7, 6]}
    )
    scores.write_csv(tmp_path / "x.csv")
    import_scores(lake, [tmp_path / "x.csv"], ImportRequest("hostile", "law"))
    write_statistics(lake, "hostile", QUICK)

    text = render_league(lake.run_named, "hostile", tmp_path, generated_at=NOON).read_text("utf-8")

    assert "<script>alert" not in text
    assert hostile in [row[1] for row in read_table(html.document_fromstring(text), "ranking")]


@pytest.mark.long
def test_the_same_lake_gives_the_same_page_and_an_unknown_league_none(
    lake: Lake, path: Path, tmp_path: Path
) -> None:
    again = render_league(lake.run_named, "autumn", tmp_path, language="en", generated_at=NOON)
    assert again.read_text("utf-8") == path.read_text("utf-8")
    with pytest.raises(UsageError, match="spring has no statistics"):
        render_league(lake.run_named, "spring", tmp_path)
    with pytest.raises(UsageError, match="zh or en"):
        render_league(lake.run_named, "autumn", tmp_path, language="fr")  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.service
@needs_browser[1]
def test_the_page_draws_without_a_network_request_or_a_console_message(path: Path, tmp_path: Path) -> None:
    net_log, picture = tmp_path / "net.json", tmp_path / "page.png"

    done = run_browser(path, tmp_path / "profile", f"--screenshot={picture}", f"--log-net-log={net_log}")

    assert "CONSOLE" not in done.stderr
    assert read_requests(net_log) == []
    assert picture.stat().st_size > 100_000


@pytest.mark.service
@needs_browser[1]
@pytest.mark.long
def test_headings_sort_and_the_language_changes(lake: Lake, path: Path, tmp_path: Path) -> None:
    script = """
        function names() { return Array.from(document.querySelectorAll('table.ranking')[1].tBodies[0].rows).map(function (row) { return row.cells[1].textContent; }); }
        var found = {ranked: names()};
        var heads = document.querySelectorAll('table.ranking')[1].querySelectorAll('thead th');
        heads[3].querySelector('button').click(); heads[3].querySelector('button').click();
        found.rising = names();
        document.querySelector('.languages [data-language=zh]').click();
        found.heading = document.querySelector('h1').innerText;
        found.wide = document.documentElement.scrollWidth <= window.innerWidth;
        return found;
    """
    found = read_found(run_browser(act_on(path, tmp_path, script), tmp_path / "profile", "--dump-dom").stdout)

    ranked = lake.run_named(
        "league_ranking", {"league_id": "autumn", "domain": "programming", "run_type": "full"}
    )["model"].to_list()
    assert found == {"ranked": ranked, "rising": ranked[::-1], "heading": "大模型联赛 autumn", "wide": True}
