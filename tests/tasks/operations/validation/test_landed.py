from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import html

from schemas.errors import ContractError, UsageError
from schemas.settings import Settings, load_settings
from schemas.tables import TABLES, get_table
from tasks.operations.validation.landed import BrokenRule, validate_landed
from tests.deployments.test_cli import invoke
from tests.fresh import open_new_lake
from tests.warehouse.sample_rows import (
    SECRET_STEM,
    allocation_frame,
    make_question,
    question_frame,
    session_frame,
)
from warehouse.lake import Batch, Lake
from warehouse.lake.suite import list_stretches, read_stretches
from warehouse.lake.suite.suite import UnitStretch

# Great Expectations takes seconds to import.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("great-expectations")]

MARKER = "机密标记-7f3a"


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with open_new_lake(Settings(home=tmp_path / "home")) as lake:
        yield lake


def land_two_months(lake: Lake) -> None:
    lake.land_together(
        [
            *(Batch("allocations", f"s{n}", allocation_frame(f"s{n}", "2026-01", 3)) for n in range(4)),
            *(Batch("allocations", f"t{n}", allocation_frame(f"t{n}", "2026-02", 3)) for n in range(2)),
            Batch("sessions", "s", session_frame(2)),
        ]
    )


def spoil(lake: Lake, statement: str) -> None:
    """Write without a landing what none would accept, as a fault of the lake would."""
    with lake.transaction() as connection:
        connection.execute(statement)


def test_stretches_hold_whole_units_of_one_month_and_every_row_once(lake: Lake) -> None:
    land_two_months(lake)
    table = get_table("allocations")

    stretches = list_stretches(lake, table, rows=7)
    assert stretches == [
        UnitStretch("2026-01", "s0", "s1", 6),
        UnitStretch("2026-01", "s2", "s3", 6),
        UnitStretch("2026-02", "t0", "t1", 6),
    ]
    frames = list(read_stretches(lake, table, stretches))
    assert [sorted(set(frame["landing_unit"])) for frame in frames] == [
        ["s0", "s1"], ["s2", "s3"], ["t0", "t1"],
    ]  # fmt: skip
    assert [frame.height for frame in frames] == [6, 6, 6]
    assert list_stretches(lake, table, "2026-02") == [UnitStretch("2026-02", "t0", "t1", 6)]
    assert [stretch.row_count for stretch in list_stretches(lake, table, rows=1)] == [3] * 6
    assert list_stretches(lake, get_table("questions")) == []


@pytest.mark.long
def test_a_lake_that_keeps_its_rules_has_a_page_per_table_and_nothing_broken(
    lake: Lake, tmp_path: Path
) -> None:
    land_two_months(lake)

    validation = validate_landed(lake, tmp_path / "validation")

    assert validation.broken == []
    counts = {one.table.name: one.row_count for one in validation.counts}
    assert counts.keys() == TABLES.keys()
    assert counts["allocations"] == 18
    assert counts["landings"] == 7
    assert validation.page == tmp_path / "validation" / "index.html"
    pages = {page.stem for page in (tmp_path / "validation" / "validations").rglob("*.html")}
    assert pages == set(TABLES)


def test_rows_that_break_a_rule_are_named_by_table_unit_and_rule_and_no_value_is_written(
    lake: Lake, tmp_path: Path
) -> None:
    lake.land("questions", "d1", question_frame([make_question(1), make_question(2)]))
    lake.land("questions", "d2", question_frame([make_question(3)]))
    spoil(lake, f"UPDATE questions SET discipline = '{MARKER}', stem = '{MARKER}' WHERE landing_unit = 'd1'")
    spoil(lake, "INSERT INTO questions SELECT * FROM questions WHERE landing_unit = 'd2'")

    validation = validate_landed(lake, tmp_path / "validation", table="questions")

    assert validation.broken == [
        BrokenRule("questions", "d1", "allowed: discipline", 2),
        BrokenRule("questions", "d2", "unique: question_uuid, revision, document_id", 1),
    ]
    files = [path for path in (tmp_path / "validation").rglob("*") if path.is_file()]
    assert len(files) > 3
    for path in files:
        content = path.read_bytes()
        for planted in (MARKER, SECRET_STEM, json.dumps(MARKER)[1:-1]):
            assert planted.encode() not in content, path
    page = next((tmp_path / "validation" / "validations").rglob("*.html")).read_text(encoding="utf-8")
    assert "Failed" in page
    # Opened in a browser, the pages fetch nothing from elsewhere.
    for path in files:
        if path.suffix == ".html":
            assert "default-src 'self'" in path.read_text(encoding="utf-8").split("<head>", 1)[1][:200]


def test_the_pages_link_to_pages_that_are_there(lake: Lake, tmp_path: Path) -> None:
    index = validate_landed(lake, tmp_path / "validation", table="sessions").page
    pages = [index, *(page for page in index.parent.rglob("*.html") if page != index)]
    assert len(pages) == 3
    for page in pages:
        tree: html.HtmlElement = html.fromstring(page.read_bytes())
        links = {str(link).split("#")[0].split("?")[0] for link in tree.xpath("//a/@href | //*/@data-url")}
        own = {link for link in links if link and not link.startswith(("http", "mailto"))}
        assert [link for link in own if not (page.parent / link).exists()] == []


def test_pages_of_another_time_are_replaced(lake: Lake, tmp_path: Path) -> None:
    for table in ("runs", "sessions"):
        validate_landed(lake, tmp_path / "validation", table=table)
    pages = {page.stem for page in (tmp_path / "validation" / "validations").rglob("*.html")}
    assert pages == {"sessions"}
    assert list(tmp_path.glob(".validation*")) == []


def test_a_month_selects_tables_that_have_months_and_only_its_rows(lake: Lake, tmp_path: Path) -> None:
    land_two_months(lake)
    spoil(lake, "UPDATE allocations SET seq = 0 WHERE landing_unit = 's1' AND seq = 1")

    later = validate_landed(lake, tmp_path / "validation", table="allocations", month="2026-02")
    assert ([one.row_count for one in later.counts], later.broken) == ([6], [])
    earlier = validate_landed(lake, tmp_path / "validation", table="allocations", month="2026-01")
    assert earlier.broken == [BrokenRule("allocations", "s1", "range: seq", 1)]
    with pytest.raises(UsageError, match="no table 'exams'"):
        validate_landed(lake, tmp_path / "validation", table="exams")
    with pytest.raises(UsageError, match="questions name no month"):
        validate_landed(lake, tmp_path / "validation", table="questions", month="2026-01")


@pytest.mark.long
def test_the_command_names_what_is_broken_and_a_nightly_run_fails_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from tasks.operations.validation import validate_lake

    settings = Settings(home=tmp_path / "home")
    with open_new_lake(settings) as lake:
        lake.land("sessions", "s", session_frame(2))
        spoil(lake, f"UPDATE sessions SET status = '{MARKER}' WHERE session_id = 'session-1'")
    monkeypatch.setenv("PROCTOR_HOME", str(settings.home))
    load_settings.cache_clear()
    with pytest.raises(ContractError) as nightly:
        validate_lake.fn("sessions", must_hold=True)

    done = invoke(settings.home, "validate", "--table", "sessions", "--json", "--no-server")

    assert done.exit_code == 1, done.stderr
    assert json.loads(done.stdout) == {
        "tables": {"sessions": 2},
        "row_count": 2,
        "broken": [{"table": "sessions", "unit": "s", "rule": "allowed: status", "row_count": 1}],
        "page": str(settings.home / "validation" / "index.html"),
    }
    assert "sessions, unit s: allowed: status (1)" in str(nightly.value)
    assert MARKER not in f"{nightly.value}{done.stdout}{done.stderr}{capfd.readouterr()}"
