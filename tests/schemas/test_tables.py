from __future__ import annotations

import re

import pyarrow as pa
import pytest

from schemas.errors import ContractError
from schemas.table import DUCKDB_TYPES
from schemas.tables import TABLES, get_table


def test_a_table_states_grain_key_and_one_sentence_per_column() -> None:
    for table in TABLES.values():
        assert table.grain.startswith("One row per "), table.name
        assert set(table.key) <= {column.name for column in table.own_columns}, table.name
        assert len(set(table.column_names)) == len(table.column_names), table.name
        assert table.partition_by is None or table.partition_by in table.column_names, table.name
        for column in table.columns:
            at = (table.name, column.name)
            assert column.about.endswith("."), at
            assert column.type in DUCKDB_TYPES, at
            assert re.fullmatch(r"[a-z][a-z0-9_]*", column.name), at
            # A closed list is of text, bounds are of numbers.
            assert column.allowed is None or column.type == "text", at
            assert (column.low is None and column.high is None) or column.type in ("int", "float"), at
            assert (column.type == "timestamp") == (column.name.endswith("_at") or column.name == "at"), at
            assert (column.type == "bool") == column.name.startswith(("is_", "has_", "was_")), at


def test_columns_of_one_name_have_one_type_in_every_table() -> None:
    types: dict[str, set[str]] = {}
    for table in TABLES.values():
        for column in table.columns:
            types.setdefault(column.name, set()).add(column.type)
    # A question has keys, a response one extracted answer.
    assert {name: found for name, found in types.items() if len(found) > 1} == {"answer": {"text", "texts"}}


def test_a_frame_is_built_from_rows_with_null_for_what_is_left_out() -> None:
    frame = get_table("bank_versions").frame([{"bank_version": 1}, {"bank_version": 2, "content_hash": "x"}])
    assert frame.select("bank_version", "question_count", "content_hash").rows() == [
        (1, None, None),
        (2, None, "x"),
    ]
    assert frame.schema == {
        name: kind
        for name, kind in get_table("bank_versions").polars_schema.items()
        if name != "landing_unit"
    }
    assert isinstance(frame.to_arrow(), pa.Table)


def test_an_unknown_column_or_table_is_refused() -> None:
    with pytest.raises(ContractError, match="colour"):
        get_table("runs").frame([{"run_id": "r", "colour": "red"}])
    with pytest.raises(ContractError, match="no table 'runz'"):
        get_table("runz")
