"""Which rows break a rule: `schemas.rules` as Polars expressions, as the suite has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import polars as pl

from schemas.errors import ContractError
from schemas.rules import Allowed, Pattern, Range, Required, Rule, Unique, list_rules
from schemas.table import Table


@dataclass(frozen=True)
class RefusedRow:
    """A row that breaks a rule: its position in the frame, from 0, and the rule's name."""

    position: int
    rule: str


def find_refusals(table: Table, frame: pl.DataFrame) -> list[RefusedRow]:
    """The rows of `frame` that break a rule, once per rule, by position; ContractError."""
    if frame.is_empty():
        return []
    rules = list_rules(table)
    try:
        marks = frame.select(_express_broken(rule).alias(rule.name) for rule in rules)
    except pl.exceptions.PolarsError:
        raise ContractError(
            f"Rule {_find_faulty(rules, frame).name!r} of table {table.name} could not be evaluated. Check the column's "
            "type and rules in schemas/; a pattern has neither look-around nor references back."
        ) from None
    # To ask where costs a query for each rule, to ask whether does not.
    refusals = [
        RefusedRow(position, mark.name) for mark in marks if mark.any() for position in mark.arg_true()
    ]
    return sorted(refusals, key=lambda refusal: (refusal.position, refusal.rule))


def _express_broken(rule: Rule) -> pl.Expr:
    """True where a row breaks the rule; null breaks only what is required or there already."""
    match rule:
        case Required(column):
            return pl.col(column).is_null()
        case Allowed(column, values):
            return pl.col(column).is_in(values).not_().fill_null(value=False)
        case Range(column, low, high):
            sides = [pl.col(column) < low] if low is not None else []
            sides += [pl.col(column) > high] if high is not None else []
            return pl.any_horizontal(sides).fill_null(value=False)
        case Pattern(column, expression):
            # Polars' `$` is the end of the text alone, as the contract means it.
            return pl.col(column).cast(pl.String).str.contains(expression).not_().fill_null(value=False)
        case Unique():
            return pl.struct(rule.columns).is_first_distinct().not_()
        case _:
            assert_never(rule)


def _find_faulty(rules: tuple[Rule, ...], frame: pl.DataFrame) -> Rule:
    """The first rule that fails by itself: Polars does not say which expression failed."""
    for rule in rules:
        try:
            frame.select(_express_broken(rule))
        except pl.exceptions.PolarsError:
            return rule
    return rules[-1]
