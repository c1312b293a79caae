"""What a ledger table is: a class with one annotated field per column.

Its instances are the table's rows.

From the class come the SQLAlchemy table (`warehouse.ledger.engine.tables`), the typed row that is read and written, and what type
checkers know of its fields. No IO, and no SQLAlchemy: whoever needs a row alone does not pay for a database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import get_annotations
from typing import Any, ClassVar, Self, dataclass_transform

from schemas.table import Column

# What a field's annotation says of its column; everything else is kept as JSON.
_TYPES = {"str": "text", "int": "int", "float": "float", "bool": "bool"}
_NULL = " | None"
_MISSING: Any = object()


@dataclass(frozen=True)
class StoredColumn(Column):
    """One column of a ledger table; `allowed` is a check of the database.

    Attributes:
        size: most characters of a text; null for no limit.
        is_key: whether it is part of the primary key.
        refers_to: `table.column` that it names a row of, whose type it has.
        default: what a new row gets where nothing is given; `_MISSING` for none.
        stored_default: the same, given by the database, as SQL or a truth value.
        is_counted: whether the database numbers the rows; null where a key of one number decides.
    """

    size: int | None = None
    is_key: bool = False
    refers_to: str | None = None
    default: Any = _MISSING
    stored_default: str | bool | None = None
    is_counted: bool | None = None

    @property
    def has_default(self) -> bool:
        """Whether a row may be made without it."""
        return self.default is not _MISSING


@dataclass(frozen=True)
class Index:
    """An index of a ledger table; `where` makes it one of some rows only, as SQL."""

    name: str
    columns: tuple[str, ...]
    is_unique: bool = False
    where: str | None = None


@dataclass(frozen=True)
class StoredTable:
    """A ledger table.

    Attributes:
        grain: what one row is.
        columns: in order.
        indexes: what rows are looked for by, besides their key.
        unique: columns that are unique together, by the constraint's name.
        checks: conditions of the database as SQL, by name, besides the closed lists of columns.
        first_rows: rows that a new ledger has.
    """

    name: str
    grain: str
    columns: tuple[StoredColumn, ...]
    indexes: tuple[Index, ...]
    unique: Mapping[str, tuple[str, ...]]
    checks: Mapping[str, str]
    first_rows: tuple[Mapping[str, Any], ...]

    @property
    def key(self) -> tuple[str, ...]:
        """Columns of the primary key."""
        return tuple(column.name for column in self.columns if column.is_key)


def column(
    size: int | None = None,
    about: str = "",
    *,
    key: bool = False,
    refers_to: str | None = None,
    allowed: tuple[str, ...] | None = None,
    default: Any = _MISSING,
    stored_default: str | bool | None = None,
) -> Any:
    """What a column is besides its name, its type and whether it may be null.

    Those are said by its annotation; see `StoredColumn`.

    `about` is the column's comment in the database: changing it needs a migration.
    """
    return {
        "type": None,
        "about": about,
        "allowed": allowed,
        "size": size,
        "is_key": key,
        "refers_to": refers_to,
        "default": default,
        "stored_default": stored_default,
        "is_counted": None,
    }


def number_key(about: str = "", *, is_counted: bool) -> Any:
    """A key of whole numbers: counted by the engine, or given with the row."""
    return column(about=about, key=True) | {"is_counted": is_counted}


def long_number(about: str) -> Any:
    """A whole number that may need 64 bits."""
    return column(about=about) | {"type": "bigint"}


def moment(about: str = "") -> Any:
    """A time in UTC as ISO text: both engines keep its microseconds, and its order."""
    return column(32, about)


@dataclass_transform(
    kw_only_default=True, frozen_default=True, field_specifiers=(column, number_key, long_number, moment)
)
class LedgerRow:
    """A row, frozen, made from its values by name.

    It equals another of its class with equal values.

    A subclass with `table` declares that table, its docstring's first line being the grain; one without adds what is known of a row
    besides its columns. Dataclasses would do the same, and take a millisecond for each class wherever the ledger is opened.
    """

    stored: ClassVar[StoredTable]
    _fields: ClassVar[dict[str, StoredColumn]] = {}

    def __init_subclass__(
        cls,
        *,
        table: str | None = None,
        indexes: tuple[Index, ...] = (),
        unique: Mapping[str, tuple[str, ...]] | None = None,
        checks: Mapping[str, str] | None = None,
        first_rows: tuple[Mapping[str, Any], ...] = (),
    ) -> None:
        own = {
            name: _make_column(name, annotation, cls.__dict__[name])
            for name, annotation in get_annotations(cls).items()
        }
        for name in own:
            delattr(cls, name)
        cls._fields = cls._fields | own
        if table is not None:
            grain = (cls.__doc__ or "").partition("\n")[0]
            columns = tuple(cls._fields.values())
            cls.stored = StoredTable(table, grain, columns, indexes, unique or {}, checks or {}, first_rows)

    def __init__(self, **values: Any) -> None:
        if values.keys() != self._fields.keys():
            values = self._complete(values)
        self.__dict__.update(values)

    def as_values(self) -> dict[str, Any]:
        """The values by name, as they are written."""
        return {name: self.__dict__[name] for name in self._fields}

    def replace(self, **changes: Any) -> Self:
        """The row with other values for these columns."""
        return type(self)(**{**self.__dict__, **changes})

    def _complete(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values with defaults added; TypeError for a missing or unknown one."""
        given = {name: field.default for name, field in self._fields.items() if field.has_default} | values
        if given.keys() != self._fields.keys():
            missing, unknown = self._fields.keys() - given.keys(), given.keys() - self._fields.keys()
            raise TypeError(f"{type(self).__name__}: missing {sorted(missing)}, unknown {sorted(unknown)}.")
        return given

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed: use replace().")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted.")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.as_values().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.as_values().items())})"


def _make_column(name: str, annotation: str, said: Mapping[str, Any]) -> StoredColumn:
    told = said["type"] or _TYPES.get(annotation.removesuffix(_NULL), "json")
    return StoredColumn(**{**said, "name": name, "type": told, "required": not annotation.endswith(_NULL)})
