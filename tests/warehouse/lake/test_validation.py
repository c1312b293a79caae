from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from schemas.errors import ContractError
from schemas.rules import list_rules
from schemas.table import MONTH_PATTERN, UUID_PATTERN, Column, Table
from schemas.tables import TABLES
from warehouse.lake.suite import find_suite_refusals
from warehouse.lake.suite.suite import build_suite
from warehouse.lake.validation import RefusedRow, find_refusals

Find = Callable[[Table, pl.DataFrame], list[RefusedRow]]

SHELF = Table(
    name="shelf",
    grain="One row per book.",
    key=("book_id", "copy"),
    unit="a shelf",
    stage="test",
    own_columns=(
        Column("book_id", "text", "The book.", required=True, pattern=r"^b\d+$"),
        Column("copy", "int", "Its copy.", required=True, low=1, high=3),
        Column("language", "text", "Its language.", allowed=("zh", "en")),
        Column("price_usd", "float", "Its price.", low=0),
        Column("is_lent", "bool", "Whether it is lent.", required=True),
        Column("tags", "texts", "Its tags."),
    ),
)


def shelf_frame(*rows: dict[str, Any], unit: str = "u") -> pl.DataFrame:
    whole = {"book_id": "b1", "copy": 1, "language": "zh", "price_usd": 2.5, "is_lent": False, "tags": ["x"]}
    return SHELF.frame([whole | row for row in rows]).with_columns(pl.lit(unit).alias("landing_unit"))


# Great Expectations takes seconds to import: what runs it is slow, and stays in one worker.
GREAT_EXPECTATIONS = (pytest.mark.slow, pytest.mark.xdist_group("great-expectations"))


@pytest.fixture(
    params=[
        pytest.param(find_refusals, id="polars"),
        pytest.param(find_suite_refusals, id="great_expectations", marks=GREAT_EXPECTATIONS),
    ]
)
def find(request: pytest.FixtureRequest) -> Find:
    """Each execution of the rules; what one refuses the other refuses."""
    execution: Find = request.param
    return execution


@pytest.mark.slow
@pytest.mark.xdist_group("great-expectations")
def test_a_suite_holds_one_expectation_per_rule_of_the_contract() -> None:
    assert [rule.name for rule in list_rules(SHELF)] == [
        "required: book_id",
        "pattern: book_id",
        "required: copy",
        "range: copy",
        "allowed: language",
        "range: price_usd",
        "required: is_lent",
        "unique: book_id, copy",
    ]
    suite = build_suite(SHELF)
    assert [expectation.meta["rule"] for expectation in suite.expectations] == [
        rule.name for rule in list_rules(SHELF)
    ]


@pytest.mark.slow
@pytest.mark.xdist_group("great-expectations")
def test_every_table_has_a_suite_that_an_empty_frame_satisfies() -> None:
    for table in TABLES.values():
        assert len(build_suite(table).expectations) == len(list_rules(table)) > 1, table.name
        empty = table.frame([]).with_columns(pl.lit("u").alias("landing_unit"))
        assert find_refusals(table, empty) == find_suite_refusals(table, empty) == [], table.name


def test_rows_that_keep_every_rule_are_not_refused_and_null_breaks_only_what_is_required(find: Find) -> None:
    frame = shelf_frame(
        {}, {"copy": 2, "language": None, "price_usd": None, "tags": None}, {"copy": 3, "price_usd": 0.0}
    )
    assert find(SHELF, frame) == []


def test_every_rule_names_the_rows_that_break_it_by_position(find: Find) -> None:
    frame = shelf_frame(
        {"copy": 1},
        {"copy": 2, "book_id": None},
        {"copy": 3, "book_id": "book 1"},
        {"book_id": "b2", "copy": 4},
        {"book_id": "b3", "language": "fr", "price_usd": -0.01},
        {"book_id": "b4", "is_lent": None, "copy": None},
        {"copy": 1, "language": "en"},
        {"copy": 1, "language": "fr"},
    )
    assert find(SHELF, frame) == [
        RefusedRow(1, "required: book_id"),
        RefusedRow(2, "pattern: book_id"),
        RefusedRow(3, "range: copy"),
        RefusedRow(4, "allowed: language"),
        RefusedRow(4, "range: price_usd"),
        RefusedRow(5, "required: copy"),
        RefusedRow(5, "required: is_lent"),
        RefusedRow(6, "unique: book_id, copy"),
        RefusedRow(7, "allowed: language"),
        RefusedRow(7, "unique: book_id, copy"),
    ]


def test_a_key_is_unique_within_a_unit_only(find: Find) -> None:
    assert find(SHELF, shelf_frame({}, unit="a").vstack(shelf_frame({}, unit="b"))) == []


def test_a_rule_that_cannot_be_evaluated_is_a_fault_of_ours_not_of_the_rows(find: Find) -> None:
    frame = shelf_frame({}).with_columns(price_usd=pl.lit("dear: 机密"))
    with pytest.raises(ContractError, match="range: price_usd") as fault:
        find(SHELF, frame)
    assert "机密" not in str(fault.value)


def test_months_and_uuids_are_held_to_their_form(find: Find, capfd: pytest.CaptureFixture[str]) -> None:
    table = Table(
        "dated", "One row per x.", ("month", "uuid"), "x", "test",
        (Column("month", "text", "M.", pattern=MONTH_PATTERN), Column("uuid", "text", "U.", pattern=UUID_PATTERN)),
    )  # fmt: skip
    good = "0f8fad5b-d9cb-469f-a165-70867728950e"
    frame = table.frame(
        [
            {"month": "2026-12", "uuid": good},
            {"month": "2026-13", "uuid": good},
            {"month": "2026-1", "uuid": good},
            {"month": "2026-01", "uuid": good.upper()},
            {"month": "2026-01\n", "uuid": None},
        ]
    ).with_columns(pl.lit("u").alias("landing_unit"))
    assert [(refusal.position, refusal.rule) for refusal in find(table, frame)] == [
        (1, "pattern: month"),
        (2, "pattern: month"),
        (3, "pattern: uuid"),
        (4, "pattern: month"),
    ]
    # Neither progress bars nor warnings reach the terminal.
    assert capfd.readouterr().err == ""


def test_a_key_with_a_null_in_it_is_a_key_like_any_other(find: Find) -> None:
    frame = shelf_frame({"book_id": None}, {"book_id": None}, {"book_id": None, "copy": 2})

    assert [one.position for one in find(SHELF, frame) if one.rule.startswith("unique")] == [1]


def test_a_pattern_that_only_some_engines_know_is_a_fault_of_ours() -> None:
    ahead = Table(
        "ahead", "One row per x.", ("x",), "x", "test", (Column("x", "text", "X.", pattern=r"^(?!b)\w+$"),)
    )  # fmt: skip
    frame = ahead.frame([{"x": "a"}]).with_columns(pl.lit("u").alias("landing_unit"))

    with pytest.raises(ContractError, match=r"pattern: x.*look-around"):
        find_refusals(ahead, frame)


def test_every_rule_of_the_contract_can_be_evaluated_on_a_landing() -> None:
    for table in TABLES.values():
        rows = table.frame([{}]).with_columns(pl.lit("u").alias("landing_unit"))
        assert {refusal.rule for refusal in find_refusals(table, rows)} == {
            f"required: {column.name}" for column in table.own_columns if column.required
        }, table.name
