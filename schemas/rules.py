"""The rules of a table, as data: what every landed row must keep.

This module has no IO, and no library that evaluates the rules.

`warehouse/lake/validation.py` evaluates them as Polars expressions on every landing, `warehouse/lake/suite/suite.py` as a
Great Expectations suite over what has landed. A rule's name stands in `quarantine.rule`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from schemas.table import LANDING_UNIT, Column, Table


@dataclass(frozen=True)
class _ColumnRule:
    """A rule about one column."""

    KIND: ClassVar[str]
    column: str

    @property
    def name(self) -> str:
        """As quarantine names it."""
        return f"{self.KIND}: {self.column}"

    @property
    def columns(self) -> tuple[str, ...]:
        """What the rule reads."""
        return (self.column,)


@dataclass(frozen=True)
class Required(_ColumnRule):
    """The column is never null."""

    KIND = "required"


@dataclass(frozen=True)
class Allowed(_ColumnRule):
    """The column is null or one of a closed list of values."""

    KIND = "allowed"
    values: tuple[str, ...]


@dataclass(frozen=True)
class Range(_ColumnRule):
    """The column is null or lies between two numbers, inclusive; null leaves a side open."""

    KIND = "range"
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Pattern(_ColumnRule):
    """The column is null or matches a regular expression.

    In the expression `$` is the end of the text and nothing before it.

    The expression keeps to what regular expression engines share: no look-around, no reference back to a group.
    """

    KIND = "pattern"
    expression: str


@dataclass(frozen=True)
class Unique:
    """The key is unique within a landing (null equals null): later rows break the rule."""

    key: tuple[str, ...]

    @property
    def name(self) -> str:
        """As quarantine names it."""
        return f"unique: {', '.join(self.key)}"

    @property
    def columns(self) -> tuple[str, ...]:
        """What the rule reads: the key, and the unit within which it is unique."""
        return (*self.key, LANDING_UNIT.name)


Rule = Required | Allowed | Range | Pattern | Unique


@lru_cache(maxsize=128)
def list_rules(table: Table) -> tuple[Rule, ...]:
    """All that the contract says of a row, in the order of the columns, the key last."""
    return (*(rule for column in table.own_columns for rule in _list_column_rules(column)), Unique(table.key))


def list_rule_columns(table: Table) -> list[str]:
    """The columns that rules read, in their order: long texts without one need not be."""
    named = {column for rule in list_rules(table) for column in rule.columns}
    return [name for name in table.column_names if name in named]


def _list_column_rules(column: Column) -> list[Rule]:
    rules: list[Rule] = []
    if column.required:
        rules.append(Required(column.name))
    if column.allowed is not None:
        rules.append(Allowed(column.name, column.allowed))
    if column.low is not None or column.high is not None:
        rules.append(Range(column.name, column.low, column.high))
    if column.pattern is not None:
        rules.append(Pattern(column.name, column.pattern))
    return rules
