from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from lxml import html

from schemas.errors import UsageError
from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.report.board_data import describe_board
from tasks.report.charts import draw_trend, spread_apart, write_spec
from tasks.report.frame import SITE_PAGES
from tasks.report.labels import LABELS
from tasks.report.pages.cost import read_cost
from tasks.report.pages.judges import read_judges
from tasks.report.pages.leaderboard import choose_edition
from tasks.report.pages.trends import read_trends
from tasks.report.panels import NamedQuery, Source
from tests.tasks.report.conftest import NOON, OpenSeason, render_leaderboard
from tests.tasks.report.synthetic import CANDIDATES, REFERENCE, build_season
from warehouse.lake.reading.queries import read_queries

HOSTILE = "<script>alert(1)</script>"


def read_page(path: Path) -> html.HtmlElement:
    return html.document_fromstring(path.read_text("utf-8"))


def shown_models(page: html.HtmlElement) -> list[str]:
    rows = page.xpath("//table[@id='board']/tbody/tr[not(@hidden)]")
    return [row.xpath("string(th[@scope='row']/a)") for row in rows]


def banners(page: html.HtmlElement) -> list[str]:
    return [
        banner.get("class").removeprefix("banner ")
        for banner in page.xpath("//div[contains(@class,'banner')][not(@hidden)]")
    ]


@pytest.fixture(scope="module")
def odd_season(open_season: OpenSeason) -> NamedQuery:
    """A season with odd rows.

    A candidate has markup for a name, no candidate has a release date, and there are scores on another benchmark.
    """
    frames = {
        name: frame.with_columns(pl.col("model").replace("south-chat", HOSTILE))
        if "model" in frame.columns
        else frame
        for name, frame in build_season().items()
    }
    frames["models"] = frames["models"].with_columns(pl.lit(None, dtype=pl.Date).alias("release_date"))
    names = [HOSTILE if one["model"] == "south-chat" else one["model"] for one in CANDIDATES]
    frames["external_scores"] = get_table("external_scores").frame(
        [
            {
                "model": model,
                "benchmark": "Public set",
                "scored_on": NOON.date(),
                "score": float(number),
                "source": "invented",
            }
            for number, model in enumerate(names)
        ]
    )
    return open_season(frames)


@pytest.fixture(scope="module")
def odd_path(odd_season: NamedQuery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its page: rendered once, only read."""
    return render_leaderboard(odd_season, tmp_path_factory.mktemp("odd"))


@pytest.fixture(scope="module")
def odd_page(odd_path: Path) -> html.HtmlElement:
    return read_page(odd_path)


def test_the_page_opens_with_the_latest_month_zero_shot_in_order_of_rank(
    season: NamedQuery, report_path: Path
) -> None:
    page = read_page(report_path)

    leaderboard = season("leaderboard", {})
    assert shown_models(page) == leaderboard["model"].to_list()
    assert set(leaderboard["month"]) == {"2025-07"}
    first = page.xpath("//table[@id='board']/tbody/tr[not(@hidden)]")[0]
    cells = [cell.text_content().strip() for cell in first.xpath("td")]
    best = leaderboard.row(0, named=True)
    assert cells[1] == f"{best['score']:.2f}"
    assert cells[2] == f"{best['score_low']:.1f}–{best['score_high']:.1f}"
    # No key of this season is in the bank, so that its chance level is not known.
    assert (cells[7], best["corrected_score"]) == ("–", None)
    assert f"{best['equated_score']:.2f}" in cells[3]
    assert cells[4] == "100.00"
    assert cells[5] == f"{best['rank_low']}–{best['rank_high']}"
    assert cells[6] == best["rank_group"] == "A"
    assert f"与另外 {best['rank_high'] - best['rank_low']} 个模型无法区分" in cells[8]


def test_the_page_opens_with_no_month_of_which_only_a_repetition_is_there() -> None:
    rows = [("2026-07", False), ("2026-08", True)]
    history = pl.DataFrame(rows, schema=["month", "is_repetition"], orient="row").with_columns(
        prompt_style=pl.lit("zero_shot")
    )
    assert choose_edition(history) == ("2026-07", "zero_shot")
    assert choose_edition(history.tail(1)) == ("2026-08", "zero_shot")


def test_neighbours_that_cannot_be_told_apart_are_said_to_be_so(
    season: NamedQuery, report_path: Path
) -> None:
    page = read_page(report_path)

    rows = page.xpath("//section[@aria-labelledby='neighbours']//tbody/tr")
    models = season("leaderboard", {})["model"].to_list()
    assert [(row.xpath("string(th)"), row.xpath("string(td[1])")) for row in rows] == list(pairwise(models))
    known = {
        frozenset((pair["model_a"], pair["model_b"])): pair["is_distinguishable"]
        for pair in season("rank_comparisons", {}).iter_rows(named=True)
    }
    words = {True: "可以区分", False: "两者无法区分"}
    assert [row.xpath("string(td[5]//span[@lang='zh'])") for row in rows] == [
        words[known[frozenset(pair)]] for pair in pairwise(models)
    ]
    # Every difference is of the better less the worse.
    assert all(float(row.xpath("string(td[2])")) >= 0 for row in rows)


def test_everybody_stands_in_the_current_standing_with_the_month_and_a_badge(
    season: NamedQuery, report_path: Path
) -> None:
    rows = read_page(report_path).xpath("//section[@aria-labelledby='standing']//tbody/tr")

    assert [
        (
            row.xpath("string(td[1])"),
            row.xpath("string(th)"),
            row.xpath("string(td[5])"),
            row.xpath("string(td[6]/span[@lang='en'])"),
        )
        for row in rows
    ] == [
        (str(row["rank"]), row["model"], row["sat_month"], LABELS[row["comparability"]][1])
        for row in season("standings", {}).iter_rows(named=True)
    ]


def test_the_board_has_the_disciplines_that_were_examined_and_no_others(season: NamedQuery) -> None:
    history = season("leaderboard_history", {})
    assert describe_board(history)["disciplines"] == list(EXAMINED_DISCIPLINES)
    other = history.with_columns(arts=pl.col("law"), law=pl.lit(None, pl.Float64))
    assert describe_board(other)["disciplines"] == [
        *(name for name in EXAMINED_DISCIPLINES if name != "Law"),
        "Arts",
    ]


def test_an_overridden_gate_a_revision_and_a_repetition_are_marked(
    open_season: OpenSeason, tmp_path: Path
) -> None:
    frames = build_season(months=["2025-06", "2025-07"])
    # Both runs are of one month: the later one is a repetition.
    frames = {
        name: frame.with_columns(month=pl.lit("2025-07")) if "month" in frame.columns else frame
        for name, frame in frames.items()
    }
    run_named = open_season(frames)
    history = run_named("leaderboard_history", {})
    assert history["is_repetition"].sum() == history.height / 2

    def overridden(name: str, params: dict[str, object]) -> pl.DataFrame:
        frame = run_named(name, params)
        if "overridden_gates" in frame.columns:
            frame = frame.with_columns(
                overridden_gates=pl.Series([["ratings", "later"]] * frame.height, dtype=pl.List(pl.String)),
                override_reason=pl.lit("Nobody <b>rated</b> in May."),
                revision=pl.lit(2),
            )
        return frame

    path = render_leaderboard(overridden, tmp_path, language="en")

    page = read_page(path)
    assert banners(page) == ["gates", "gates", "repetition"]
    gates = page.xpath("//div[contains(@class,'gates')][not(@hidden)]")[0].xpath("string(span[@class='en'])")
    assert gates == (
        "the calibration rests on too few ratings, later. A person decided to publish all the same; the reason: "
        "Nobody <b>rated</b> in May."
    )
    shown = page.xpath("//table[@id='board']/tbody/tr[not(@hidden)]")
    marked = [row for row in shown if row.xpath("th/span[contains(@class,'warn')]")]
    assert len(shown) == 2 * len(CANDIDATES) and marked == shown[len(CANDIDATES) :]
    lines = page.xpath("//p[@class='edition'][not(@hidden)]")
    assert [
        ("run-2025-06/1" in line.text_content(), "Revision 2" in " ".join(line.text_content().split()))
        for line in lines
    ] == [(True, True), (False, True)]
    table = pl.read_csv(path.parent / "data" / "index-editions.csv")
    assert set(table["overridden_gates"]) == {"ratings; later"}


def test_what_has_no_equated_score_has_its_cause_on_the_page_and_in_its_data(
    season: NamedQuery, tmp_path: Path
) -> None:
    def unequated(name: str, params: dict[str, object]) -> pl.DataFrame:
        frame = season(name, params)
        if "unequated_because" in frame.columns:
            frame = frame.with_columns(
                equated_score=pl.lit(None, dtype=pl.Float64), unequated_because=pl.lit("questions")
            )
        return frame

    path = render_leaderboard(unequated, tmp_path, language="en")

    said = read_page(path).xpath("//p[contains(@class,'unequated')]")[0].xpath("string(span[@class='en'])")
    assert said == "No equated score: a discipline has too few questions."
    text = (path.parent / "data" / "board.js").read_text("utf-8")
    board = json.loads(text[text.index("= {") + 2 :].rstrip().removesuffix(";"))
    assert {edition["unequated"][1] for edition in board["editions"]} == {said}


def test_every_month_and_style_is_on_the_page(report_path: Path) -> None:
    page = read_page(report_path)

    # Without scripts the edition that the page opens with; the script has them all.
    assert len(page.xpath("//table[@id='board']/tbody/tr")) == len(CANDIDATES)
    text = (report_path.parent / "data" / "board.js").read_text("utf-8")
    board = json.loads(text[text.index("= {") + 2 :].rstrip().removesuffix(";"))
    assert [(edition["month"], edition["style"], len(edition["model"])) for edition in board["editions"]] == [
        (month, style, len(CANDIDATES))
        for month in ("2025-07", "2025-06")
        for style in ("zero_shot", "few_shot", "chain_of_thought")
    ]
    assert page.xpath("//select[@id='month']/option/@value") == ["2025-07", "2025-06"]
    assert page.xpath("//select[@id='style']/option/@value") == ["zero_shot", "few_shot", "chain_of_thought"]


def test_a_calibrated_real_season_has_no_banner(report_path: Path) -> None:
    assert banners(read_page(report_path)) == []


def test_what_the_judge_was_tried_with_stands_above_the_board_and_in_the_data_of_every_edition(
    report_path: Path,
) -> None:
    (said, *_) = read_page(report_path).xpath("//p[contains(@class,'checks')]")
    sentence = said.xpath("string(span[@class='en'])")
    assert (
        sentence
        == "The judge was tried: 56 control answers, 0 judged wrong, references at least 3.0 stars above the others"
    )
    assert "对照作答 56 份，错判 0 份" in said.xpath("string(span[@class='zh'])")


def test_a_simulated_uncalibrated_season_says_so_in_banners(
    simulated_season: NamedQuery, tmp_path: Path
) -> None:
    page = read_page(render_leaderboard(simulated_season, tmp_path, language="en"))

    assert banners(page) == ["simulated", "provisional"]
    text = page.xpath("string(//div[contains(@class,'simulated')])")
    assert "SIMULATED" in text and "模拟数据" in text
    # Every figure that could be cut out of the page carries the mark too.
    assert len(page.xpath("//figcaption[span[contains(@class,'warn')]]")) == 1


@pytest.fixture(scope="module")
def both(open_season: OpenSeason) -> NamedQuery:
    """A month of real candidates and of simulated ones of other names."""
    return open_season(build_both("2025-07", "2025-07"))


def test_simulated_candidates_beside_real_ones_are_left_out_unless_asked_for_and_then_marked(
    both: NamedQuery, tmp_path: Path
) -> None:
    run_named = both
    default = read_page(render_leaderboard(run_named, tmp_path / "default"))
    asked = read_page(render_leaderboard(run_named, tmp_path / "asked", include_simulated=True))

    assert {model.startswith("sim-") for model in shown_models(default)} == {False}
    assert banners(default) == []
    assert sum(model.startswith("sim-") for model in shown_models(asked)) == len(CANDIDATES)
    assert banners(asked) == ["simulated"]
    marked = asked.xpath("//table[@id='board']/tbody/tr[not(@hidden)][th/span[contains(@class,'warn')]]")
    assert len(marked) == len(CANDIDATES)


def test_no_query_tells_of_simulated_candidates_beside_real_ones_unless_asked_for_or_without_saying_so(
    both: NamedQuery,
) -> None:
    run_named = both
    unsaid, unasked = set(), set()
    for name, query in read_queries("analyses").items():
        takes = "simulated" in {parameter.name for parameter in query.parameters}
        for asked in [{}, *([{"simulated": True}] if takes else [])]:
            frame = run_named(name, dict(asked))
            texts = (
                frame.select(pl.col(pl.String).str.starts_with("sim-").any()).row(0) if frame.height else ()
            )
            if any(texts):
                unsaid |= {name} - ({name} if "is_simulated" in frame.columns else set())
                unasked |= {name} if not asked else set()
    # What was paid was paid; what judges did is told month by month.
    assert unasked == {
        *("cost_by_model", "cost_by_team"),
        *("judge_means", "judge_control_answers", "resolved_judgements"),
    }
    assert unsaid == set()
    # The pages show of them what they show of candidates.
    for panel in (*read_judges(Source(run_named)), *read_cost(Source(run_named))):
        assert panel.frame.is_empty() or not panel.frame["is_simulated"].any(), panel.name
    assert {panel.name for panel in read_cost(Source(run_named)) if panel.frame.height} == {
        "points",
        "months",
        "models",
    }


def build_both(real_month: str, simulated_month: str) -> dict[str, pl.DataFrame]:
    """A month of real candidates, and one of simulated candidates of other names."""
    real = build_season(months=[real_month])
    invented = {
        name: frame.with_columns(
            pl.col(name).replace_strict(
                {value: value and f"sim-{value}" for value in frame[name].unique()}, return_dtype=pl.String
            )
            for name in (
                "run_id",
                "session_id",
                "model",
                "base_model",
                "set_id",
                "reference_model",
                "call_key",
            )
            if name in frame.columns
        )
        for name, frame in build_season(months=[simulated_month], is_simulated=True).items()
        if name != "calibration"
    }
    return {
        name: pl.concat([frame, *([invented[name]] if name in invented else [])])
        for name, frame in real.items()
    }


def test_the_page_needs_the_styles_and_scripts_beside_it_and_no_network(report_path: Path) -> None:
    page = read_page(report_path)

    beside = sorted(entry.name for entry in report_path.parent.iterdir())
    assert beside == [
        "board.js", "data", "frame.css", "frame.js", "index.html", "leaderboard.csv", "leaderboard.js", "site.css", "site.js", "vega.js",
    ]  # fmt: skip
    assert page.xpath("//script/@src | //img/@src | //iframe") == [
        "frame.js", "vega.js", "site.js", "data/board.js", "board.js", "leaderboard.js",
    ]  # fmt: skip
    assert page.xpath("//link/@href") == ["data:,", "frame.css", "site.css"]
    assert (
        page.xpath("//script[not(@src) and not(@type='application/json')] | //@onclick | //@onsubmit") == []
    )
    assert b"vega" in (report_path.parent / "vega.js").read_bytes()
    addresses = set(re.findall(r"https?://[^\"'\s<>)]+", report_path.read_text("utf-8")))
    assert {
        address for address in addresses if "w3.org" not in address and "vega.github.io/schema" not in address
    } == set()


def test_every_page_of_the_site_is_in_the_navigation(report_path: Path) -> None:
    links = read_page(report_path).xpath("//header//nav//a")
    assert [link.get("href") for link in links] == [f"{page.name}.html" for page in SITE_PAGES]
    assert [link.get("aria-current") for link in links] == ["page"] + [None] * (len(SITE_PAGES) - 1)


def test_a_figure_speaks_both_languages_and_says_its_finding(season: NamedQuery, report_path: Path) -> None:
    page = read_page(report_path)

    (drawing,) = page.xpath("//div[@class='fig']")
    spec = page.xpath("string(//script[@class='spec'])")
    assert "工学" in spec and "Engineering" in spec and "西湖-2" in spec
    best = season("discipline_heatmap", {}).sort("gap", descending=True).row(0, named=True)
    assert drawing.get("data-en").startswith(f"{best['model']} stands furthest above the mean")
    assert drawing.get("aria-label") == drawing.get("data-zh")
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert page.xpath("//table//th[not(@scope)]") == []


def test_the_evidence_of_every_edition_is_listed(season: NamedQuery, report_path: Path) -> None:
    page = read_page(report_path)

    rows = page.xpath("//section[@aria-labelledby='behind']//tbody/tr")
    cells = [[cell.text_content().strip() for cell in row.xpath("th | td")] for row in rows]
    assert len(cells) == 6
    expected_unparsed = int(season("leaderboard", {})["unparsed_count"].sum())
    assert cells[0][:1] + cells[0][3:10] == [
        "2025-07",
        "run-2025-07",
        "1",
        REFERENCE,
        "judge-a",
        str(len(CANDIDATES)),
        "480",
        str(expected_unparsed),
    ]
    assert "2025-08-01 12:00 UTC" in page.xpath("string(//footer)")


def test_scores_stand_beside_other_benchmarks(odd_season: NamedQuery) -> None:
    panel = next(panel for panel in read_trends(Source(odd_season)) if panel.name == "external")

    rho = odd_season("external_correlation", {})["spearman_rho"][0]
    (found,) = panel.frame.iter_rows(named=True)
    assert (found["benchmark"], found["candidate_count"]) == ("Public set", 6)
    assert found["spearman_rho"] == pytest.approx(rho)


def test_another_model_behind_the_same_name_is_told(odd_season: NamedQuery) -> None:
    def name(month: str, named: str, *, is_new: bool) -> dict[str, object]:
        row = {"month": month, "model": "alpha", "purpose": "exam", "answered_by": named, "call_count": 1}
        row |= {"is_simulated": named == "trial"}
        return row | {"name_count": 1, "is_new": is_new, "first_at": NOON, "last_at": NOON}

    rows = [name("2025-06", "alpha-06", is_new=False), name("2025-07", "alpha-07", is_new=True)]
    rows.append(name("2025-07", "trial", is_new=True))

    def run_named(query: str, params: dict[str, object]) -> pl.DataFrame:
        return pl.DataFrame(rows) if query == "answering_models" else odd_season(query, params)

    panel = next(panel for panel in read_trends(Source(run_named)) if panel.name == "named")
    assert panel.finding is not None
    assert "alpha (as alpha-07 since 2025-07)" in panel.finding[1]
    assert panel.frame["answered_by"].to_list() == ["alpha-07"]


def test_names_are_shown_as_text_not_as_markup(odd_path: Path, odd_page: html.HtmlElement) -> None:
    assert "<script>alert" not in odd_path.read_text("utf-8")
    assert HOSTILE in shown_models(odd_page)


def test_the_data_can_be_downloaded_with_chinese_names_intact(report_path: Path) -> None:
    data = report_path.with_name("leaderboard.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    table = pl.read_csv(data)
    assert table.height == 36
    assert "西湖-2" in set(table["model"])


def test_a_lake_without_a_judged_session_gives_a_page_that_says_so(
    open_season: OpenSeason, tmp_path: Path
) -> None:
    page = read_page(render_leaderboard(open_season({}), tmp_path))

    assert LABELS["empty"][0] in page.xpath("string(//p[@class='empty'])")
    assert page.xpath("//table | //figure") == []


def test_the_same_lake_gives_the_same_page(season: NamedQuery, report_path: Path, tmp_path: Path) -> None:
    again = render_leaderboard(season, tmp_path, generated_at=NOON)

    assert again.read_bytes() == report_path.read_bytes()


def test_another_language_is_refused(season: NamedQuery, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'fr'"):
        render_leaderboard(season, tmp_path, language="fr")  # type: ignore[arg-type]


def test_a_day_of_a_chart_begins_where_the_page_is_read(season: NamedQuery) -> None:
    """Without a time it is a day of UTC: in the Americas a release was shown a day early."""
    drawn = [
        write_spec(panel.draw("en"))
        for panel in read_trends(Source(season))
        if panel.name in ("release", "families") and panel.draw is not None
    ]
    days = re.findall(r'"(?:day|month|from)": "([^"]+)"', json.dumps(drawn))
    assert (len(drawn), len(days) > 60, {day[10:] for day in days}) == (2, True, {"T00:00"})


def test_candidates_without_a_release_date_are_not_plotted_against_it(
    odd_season: NamedQuery, odd_page: html.HtmlElement
) -> None:
    panel = next(panel for panel in read_trends(Source(odd_season)) if panel.name == "release")
    assert panel.frame.height == 0
    assert len(shown_models(odd_page)) == len(CANDIDATES)


def test_names_of_lines_keep_apart_and_as_near_their_points_as_that_allows() -> None:
    assert spread_apart([1.0, 5.0, 9.0], 2.0) == [1.0, 5.0, 9.0]
    assert spread_apart([5.0, 5.0, 5.0], 2.0) == [3.0, 5.0, 7.0]
    assert spread_apart([1.0, 1.5, 10.0], 1.0) == [0.75, 1.75, 10.0]


def test_a_month_without_a_session_is_a_gap_in_the_trend() -> None:
    frame = pl.DataFrame(
        {
            "month": ["2025-01", "2025-03"],
            "model": ["a", "a"],
            "score": [50.0, 60.0],
            "score_low": [45.0, 55.0],
            "score_high": [55.0, 65.0],
            "rank": [1, 1],
        }
    )
    rows = write_spec(draw_trend(frame, "en"))
    texts = re.findall(r'"month": "([^"]+)", "score": (null|[\d.]+)', json.dumps(rows, sort_keys=True))
    months = dict.fromkeys(texts)
    assert [score for month, score in months if month.startswith("2025-02")] == ["null"]
    assert '"month:T"' not in json.dumps(rows) and '"temporal"' in json.dumps(rows)
