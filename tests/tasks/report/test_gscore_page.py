"""The page of generated text, from rows of gscores to cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lxml import html

from schemas.tables import get_table
from tasks.report.frame import Issue
from tasks.report.gscore_page import read_gscore_panels, write_gscore_page
from tasks.report.panels import Source
from tests.tasks.report.conftest import NOON, OpenSeason


def make_score(
    model: str, number: int, category: str, gscore: float | None, **changes: Any
) -> dict[str, Any]:
    return {
        "run_id": "cgeval",
        "session_id": f"cgeval/cgeval/{model}",
        "seq": number,
        "item_id": f"item-{number}",
        "model": model,
        "is_simulated": False,
        "category": category,
        "subject": f"{category}-1",
        "item_kind": "definition",
        "gscore": gscore,
        "bleu4": 0.25,
        "profile": "cgeval-paper",
        "similarity_model": "tiny@abc",
        **changes,
    }  # fmt: skip


def make_frames(*rows: dict[str, Any], **tables: pl.DataFrame) -> dict[str, pl.DataFrame]:
    frames = {"gscores": get_table("gscores").frame(list(rows)), **tables}
    return {name: frame.with_columns(landing_unit=pl.lit("unit")) for name, frame in frames.items()}


SCORES = [
    make_score("alpha", 1, "司法考试", 0.5),
    make_score("alpha", 2, "司法考试", 0.7),
    make_score("alpha", 3, "数学计算", 0.2, item_kind="arithmetic", accuracy=0.2, bleu4=None),
    make_score("西湖-2", 1, "司法考试", 0.8),
    make_score("西湖-2", 3, "数学计算", 1.0, item_kind="arithmetic", accuracy=1.0, bleu4=None),
]


def render(open_season: OpenSeason, folder: Path, *rows: dict[str, Any], **named: Any) -> html.HtmlElement:
    source = Source(open_season(make_frames(*rows, **named)))
    assert write_gscore_page(source, Issue(folder, generated_at=NOON))
    return html.document_fromstring((folder / "gscore.html").read_text("utf-8"))


def read_table(page: html.HtmlElement, name: str) -> list[list[str]]:
    return [
        [cell.text_content().strip() for cell in row.xpath("td | th")]
        for row in page.xpath(f"//table[contains(@class, '{name}')]/tbody/tr")
    ]


def test_candidates_stand_by_the_unweighted_mean_of_their_categories(
    open_season: OpenSeason, tmp_path: Path
) -> None:
    page = render(open_season, tmp_path, *SCORES)
    rows = read_table(page, "overall")
    assert [row[:5] for row in rows] == [
        ["1", "西湖-2", "90.00", "80.00", "100.00"],
        ["2", "alpha", "40.00", "60.00", "20.00"],
    ]
    assert [row[-2:] for row in rows] == [["2", "0"], ["3", "0"]]
    assert read_table(page, "subjects") == [
        ["司法考试", "司法考试-1", "80.00", "60.00", "2"],
        ["数学计算", "数学计算-1", "100.00", "20.00", "1"],
    ]
    assert {row[1] for row in read_table(page, "kinds")} == {"名词解释definition", "小学计算arithmetic"}


def test_without_gscores_there_is_a_panel_that_says_what_fills_the_page(
    open_season: OpenSeason, tmp_path: Path
) -> None:
    source = Source(open_season({}))
    (tmp_path / "gscore.csv").write_text("of models that were shown before")
    assert not write_gscore_page(source, Issue(tmp_path))
    assert list(tmp_path.iterdir()) == []
    (panel,) = read_gscore_panels(source)
    assert panel.frame.is_empty() and panel.filled_by == ("proctor cgeval run", "proctor cgeval score")


def test_the_page_stands_in_the_site_s_frame_with_its_data_beside_it(
    open_season: OpenSeason, tmp_path: Path
) -> None:
    page = render(open_season, tmp_path, *SCORES)
    assert page.xpath("//nav//a[@aria-current='page']/@href") == ["gscore.html"]
    assert page.xpath("//main//a/@href") == ["gscore.csv"]
    assert page.xpath("//script/@src | //link[@rel='stylesheet']/@href | //img/@src") == [
        "frame.css",
        "site.css",
        "frame.js",
        "site.js",
    ]
    table = pl.read_csv(tmp_path / "gscore.csv")
    assert dict(table.filter(model="alpha").select("subject", "gscore").iter_rows()) == pytest.approx(
        {"司法考试-1": 60.0, "数学计算-1": 20.0}
    )


def test_simulated_candidates_are_left_out_beside_real_ones_and_marked_alone(
    open_season: OpenSeason, tmp_path: Path
) -> None:
    simulated = [row | {"model": f"sim-{row['model']}", "is_simulated": True} for row in SCORES]
    mixed = render(open_season, tmp_path / "mixed", *SCORES, *simulated)
    assert {row[1] for row in read_table(mixed, "overall")} == {"alpha", "西湖-2"}
    assert "sim-" not in (tmp_path / "mixed" / "gscore.csv").read_text("utf-8")
    assert mixed.xpath("//div[contains(@class, 'simulated')]") == []
    alone = render(open_season, tmp_path / "alone", *simulated)
    assert all("模拟数据" in row[1] for row in read_table(alone, "overall"))
    assert len(alone.xpath("//div[contains(@class, 'simulated')]")) == 1


def test_editions_are_never_mixed_and_missing_gscores_are_said(
    open_season: OpenSeason, tmp_path: Path
) -> None:
    without = [row | {"gscore": None, "similarity_model": "none"} for row in SCORES[:2]]
    page = render(open_season, tmp_path, *SCORES, *without)
    assert len(page.xpath("//section//table[contains(@class, 'overall')]")) == 2
    (note,) = page.xpath("//div[contains(@class, 'unscored')]")
    assert "2 answers have no Gscore" in note.text_content()
    unranked = next(row for row in read_table(page, "overall") if row[0] == "–")
    assert unranked[1:4] == ["alpha", "–", "–"]


def test_agreement_with_people_is_shown_where_people_have_rated(
    open_season: OpenSeason, tmp_path: Path
) -> None:
    scores = [make_score("alpha", number, "司法考试", number / 10) for number in range(1, 9)]
    ratings = get_table("human_ratings").frame(
        [
            {"session_id": row["session_id"], "seq": row["seq"], "rater": "li", "round": 1, "scale": "score_0_1",
             "value": row["gscore"], "rated_at": NOON}
            for row in scores
        ]
    )  # fmt: skip
    page = render(open_season, tmp_path, *scores, human_ratings=ratings)
    (row,) = read_table(page, "agreement")
    assert (row[0], row[4], row[-1]) == ("Gscore", "1.000", "8")


def test_a_hostile_name_stays_text(open_season: OpenSeason, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    page = render(open_season, tmp_path, make_score(hostile, 1, "司法考试", 0.5))
    assert "<script>alert" not in (tmp_path / "gscore.html").read_text("utf-8")
    assert hostile in read_table(page, "overall")[0][1]
