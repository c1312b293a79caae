"""What a table is: grain, key and one sentence per column.

From a `Table` come the Arrow schema, the lake table with its comments, its rules (`schemas.rules`) and the data
dictionary (`schemas.dictionary`). No IO.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from schemas.lazy import pl

MONTH_PATTERN = r"^[1-9]\d{3}-(0[1-9]|1[0-2])$"
UUID_PATTERN = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"

# The column types we use, with their names in DuckDB. Lists and structs keep options and answers queryable.
DUCKDB_TYPES = {
    "text": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "bool": "BOOLEAN",
    "timestamp": "TIMESTAMPTZ",
    "date": "DATE",
    "texts": "VARCHAR[]",
    "ints": "BIGINT[]",
    "options": 'STRUCT("label" VARCHAR, "text" VARCHAR)[]',
    "pictures": 'STRUCT("number" BIGINT, "sha256" VARCHAR, "place" VARCHAR)[]',
}


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: as analysts type it; suffixes as in the style guide (`_uuid _id _at _month _count _rate _ms _usd`).
        type: a key of `DUCKDB_TYPES`.
        about: one sentence, without unit guesses: what the value means, and what null means.
        required: null is refused.
        allowed: the closed list of values, where there is one.
        low: smallest accepted number, inclusive.
        high: largest accepted number, inclusive.
        pattern: regular expression that text must match.
    """

    name: str
    type: str
    about: str
    required: bool = False
    allowed: tuple[str, ...] | None = None
    low: float | None = None
    high: float | None = None
    pattern: str | None = None

    # The kinds of which most columns are. None of them is ever null.

    @classmethod
    def text(cls, name: str, about: str, allowed: tuple[str, ...] | None = None) -> Column:
        """Any text, or one of those that are allowed."""
        return cls(name, "text", about, required=True, allowed=allowed)

    @classmethod
    def uuid(cls, name: str, about: str) -> Column:
        """A UUID, as text."""
        return cls(name, "text", about, required=True, pattern=UUID_PATTERN)

    @classmethod
    def flag(cls, name: str, about: str) -> Column:
        """True or false."""
        return cls(name, "bool", about, required=True)

    @classmethod
    def moment(cls, name: str, about: str) -> Column:
        """When something was."""
        return cls(name, "timestamp", about, required=True)

    @classmethod
    def count(cls, name: str, about: str) -> Column:
        """How many, from 0."""
        return cls(name, "int", about, required=True, low=0)

    @classmethod
    def number(cls, name: str, about: str) -> Column:
        """A whole number from 1, such as a place or a version."""
        return cls(name, "int", about, required=True, low=1)

    @classmethod
    def share(cls, name: str, about: str) -> Column:
        """A share, 0 to 1."""
        return cls(name, "float", about, required=True, low=0, high=1)


LANDING_UNIT = Column("landing_unit", "text", "The unit of work this row was landed with.", required=True)


@dataclass(frozen=True)
class Table:
    """A lake table.

    Attributes:
        name: the table's name, an interface for analysts.
        grain: what one row is.
        key: columns that are unique together within a landing.
        unit: the natural unit of work that is landed, replaced and counted at once.
        columns: in order; `landing_unit` is appended to every table.
        partition_by: column by which Parquet files are split (large tables: by month).
        stage: the stage of the pipeline that writes it.
        is_frozen: a landed unit is never landed with other content: what was published does not change.
        row_group: rows that a Parquet file packs together, null for DuckDB's own 122,880. Whoever reads a table holds a group
            unpacked, which is a hundred megabytes where rows are texts.
    """

    name: str
    grain: str
    key: tuple[str, ...]
    unit: str
    stage: str
    own_columns: tuple[Column, ...]
    partition_by: str | None = None
    is_frozen: bool = False
    row_group: int | None = None

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The table's own columns and the unit they were landed with."""
        return (*self.own_columns, LANDING_UNIT)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def polars_schema(self) -> dict[str, pl.DataType]:
        """Polars types by column, for building and casting frames; the rules check what may be null."""
        types: dict[str, pl.DataType] = {
            "text": pl.String(),
            "int": pl.Int64(),
            "float": pl.Float64(),
            "bool": pl.Boolean(),
            "timestamp": pl.Datetime("us", "UTC"),
            "date": pl.Date(),
            "texts": pl.List(pl.String()),
            "ints": pl.List(pl.Int64()),
            "options": pl.List(pl.Struct({"label": pl.String(), "text": pl.String()})),
            "pictures": pl.List(
                pl.Struct({"number": pl.Int64(), "sha256": pl.String(), "place": pl.String()})
            ),
        }
        return {column.name: types[column.type] for column in self.columns}

    def frame(self, rows: Sequence[dict[str, object]]) -> pl.DataFrame:
        """A frame of this table's own columns from dicts: missing is null, an unknown key raises."""
        from schemas.errors import ContractError

        names = [column.name for column in self.own_columns]
        known = set(names)
        for row in rows:
            if extra := set(row) - known:
                raise ContractError(
                    f"{self.name}: unknown columns {sorted(extra)}; see docs/data-dictionary.md."
                )
        schema = {name: self.polars_schema[name] for name in names}
        return pl.DataFrame(
            [{name: row.get(name) for name in names} for row in rows], schema=schema, strict=False
        )
