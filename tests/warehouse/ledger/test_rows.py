"""One definition of a table makes its schema, its row, and the conversion of the two."""

from __future__ import annotations

import copy
import pickle
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Boolean, Float, Integer, MetaData, String, Table, select

import schemas.ledger.engine
import schemas.ledger.exam
import schemas.ledger.money
import schemas.ledger.review
import schemas.ledger.trust
from schemas.ledger.row import Index, LedgerRow, column, moment, number_key
from warehouse.ledger.engine import tables
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.rows import insert_rows, read_row, read_rows

ROOMS = (
    schemas.ledger.engine,
    schemas.ledger.exam,
    schemas.ledger.money,
    schemas.ledger.review,
    schemas.ledger.trust,
)
ROWS = {
    row.stored.name: row
    for room in ROOMS
    for row in vars(room).values()
    if isinstance(row, type) and issubclass(row, LedgerRow) and row is not LedgerRow
}


class Visit(
    LedgerRow,
    table="visits",
    indexes=(Index("ix_visits_late", ("visited_at",), where="guest is not null"),),
    unique={"uq_visits_guest": ("guest", "visited_at")},
    checks={"number": "number > 0"},
):
    """A visit, for these tests.

    Its first line is the grain.
    """

    number: int = number_key(is_counted=False)
    guest: str | None = column(20, "Who came; null for nobody known.")
    kind: str = column(5, allowed=("short", "long"), default="short")
    has_paid: bool = column(stored_default=False)
    seen: list[str] | None = column()
    weight: float = column()
    visited_at: str = moment()

    @property
    def is_long(self) -> bool:
        return self.kind == "long"


def make_row(row: type[LedgerRow], *, with_nulls: bool) -> LedgerRow:
    """A row with a value of its type in every column; or with nulls wherever they may be."""
    hints = typing.get_type_hints(row)
    values: dict[str, Any] = {}
    for told in row.stored.columns:
        kinds = typing.get_args(hints[told.name]) or (hints[told.name],)
        if with_nulls and type(None) in kinds:
            values[told.name] = None
            continue
        made = {"int": 2, "bigint": 2**40, "float": 0.25, "bool": True, "json": {"a": [1, "题", None]}}
        text = "题" * min(told.size or 9, 9)
        values[told.name] = told.allowed[0] if told.allowed else made.get(told.type, text)
    if "number = 1" in row.stored.checks.values():
        values["number"] = 1
    return row(**values)


def list_with_referred() -> list[type[LedgerRow]]:
    """Every kind of row, those that others refer to first."""
    return [ROWS[table.name] for table in tables.metadata.sorted_tables]


def test_every_table_is_made_from_a_row_and_every_row_has_a_table() -> None:
    assert ROWS.keys() == tables.metadata.tables.keys()
    made = {table.name for table in vars(tables).values() if isinstance(table, Table)}
    assert made == ROWS.keys()


def test_a_table_says_its_grain_its_key_and_the_kind_of_every_column() -> None:
    kinds = {"text": String, "int": Integer, "bigint": Integer, "float": Float, "bool": Boolean, "json": JSON}
    for name in ROWS:
        told, table = ROWS[name].stored, tables.metadata.tables[name]
        assert told.grain.endswith(".") and len(told.grain) <= 90, name
        assert told.key == tuple(column.name for column in table.primary_key) != (), name
        assert [
            (found.name, isinstance(found.type, kinds[said.type]), found.nullable, found.comment or "")
            for found, said in zip(table.columns, told.columns, strict=True)
        ] == [(said.name, True, not said.required, said.about) for said in told.columns], name


def test_a_row_of_every_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    for with_nulls in (False, True):
        rows = {row: make_row(row, with_nulls=with_nulls) for row in list_with_referred()}
        with (
            open_ledger(f"sqlite:///{tmp_path / f'{with_nulls}.sqlite'}") as ledger,
            ledger.write() as connection,
        ):
            # What a new ledger has is out of the way.
            for table in reversed(tables.metadata.sorted_tables):
                connection.execute(table.delete())
            insert_rows(connection, list(rows.values()))
            found = {
                row: read_rows(connection, row, select(tables.metadata.tables[row.stored.name]))
                for row in rows
            }
        assert found == {row: [made] for row, made in rows.items()}


def test_a_definition_makes_the_schema_the_row_and_the_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "metadata", MetaData(naming_convention=tables.metadata.naming_convention))
    table = tables.make_table(Visit)
    assert Visit.stored.grain == "A visit, for these tests."
    assert [
        (one.name, str(one.type), one.nullable, one.primary_key, one.comment) for one in table.columns
    ] == [
        ("number", "INTEGER", False, True, None),
        ("guest", "VARCHAR(20)", True, False, "Who came; null for nobody known."),
        ("kind", "VARCHAR(5)", False, False, None),
        ("has_paid", "BOOLEAN", False, False, None),
        ("seen", "JSON", True, False, None),
        ("weight", "FLOAT", False, False, None),
        ("visited_at", "VARCHAR(32)", False, False, None),
    ]
    assert {*(str(one.name) for one in table.constraints), *(str(one.name) for one in table.indexes)} == {
        "pk_visits",
        "uq_visits_guest",
        "ck_visits_kind",
        "ck_visits_number",
        "ix_visits_late",
    }
    given = Visit(number=1, guest=None, has_paid=True, seen=["a"], weight=0.5, visited_at="2026-11-24")
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger, ledger.write() as connection:
        table.create(connection)
        connection.execute(table.insert(), [given.as_values()])
        connection.exec_driver_sql(
            "insert into visits (number, kind, weight, visited_at) values (2, 'long', 1, '2026-11-25')"
        )
        first, second = read_rows(connection, Visit, select(table).order_by(table.c.number))
        assert read_row(connection, Visit, select(table).where(table.c.number == 3)) is None
    assert first == given
    assert (first.has_paid, first.seen, first.is_long) == (True, ["a"], False)
    assert (second.has_paid, second.seen, second.is_long) == (False, None, True)


def test_a_row_is_a_value_that_cannot_be_changed() -> None:
    row = Visit(number=1, guest="ann", has_paid=True, seen=None, weight=0.5, visited_at="2026-11-24")
    assert row.kind == "short"
    assert row.replace(kind="long") == Visit(**{**row.as_values(), "kind": "long"}) != row
    assert (hash(row), repr(row)) == (hash(row.replace()), repr(row.replace()))
    assert pickle.loads(pickle.dumps(row)) == copy.deepcopy(row) == row
    changes: tuple[Callable[[], None], ...] = (
        lambda: setattr(row, "kind", "long"),
        lambda: delattr(row, "kind"),
    )
    for change in changes:
        with pytest.raises(AttributeError, match=r"Visit\.kind"):
            change()


def test_a_row_that_lacks_a_value_or_has_one_too_many_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Visit: missing \['seen', 'weight'\], unknown \['colour'\]"):
        Visit(number=1, guest=None, has_paid=True, visited_at="", colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unknown"):
        Visit(**make_row(Visit, with_nulls=False).as_values(), colour="red")  # type: ignore[call-arg]
