"""Gscore of calculation items (CG-Eval, sections 3.3.2 and 4.8).

The final answer decides, and the steps earn part of what it misses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import polars as pl

from schemas import patterns as re
from schemas.errors import ContractError
from tasks.gscore.calculation.final_answer import compute_standard_answer, parse_final_answer
from tasks.gscore.calculation.symbolic import SymbolicComparer
from tasks.gscore.metrics.batch import score_surface
from tasks.gscore.metrics.profiles import DEFAULT_PROFILE, Profile, parse_profile

STEP_WEIGHT = 0.3

CalculationKind = Literal["arithmetic", "word_problem", "derivation"]
CALCULATION_KINDS: tuple[CalculationKind, ...] = ("arithmetic", "word_problem", "derivation")

CALCULATION_COLUMNS: dict[str, pl.DataType] = {
    "answer": pl.String(),
    "answer_found_by": pl.String(),
    "standard_answer": pl.String(),
    "standard_reference": pl.String(),
    "accuracy": pl.Float64(),
    "accuracy_unordered": pl.Float64(),
    "accuracy_symbolic": pl.Float64(),
    "step_chrf": pl.Float64(),
    "gscore": pl.Float64(),
    "profile": pl.String(),
}
_ALTERNATIVES = re.compile("或")
_UNKNOWN = re.compile(r"([A-Za-z]|\\[A-Za-z]+)(?:_\{?\w+\}?)?('*(?:\([A-Za-z]\))?)=(?=[^=])(.*)")


class _Item(NamedTuple):
    kind: CalculationKind
    answer: str | None
    found_by: str
    reference_answer: str
    reference_steps: str
    response_steps: str


class _Parts(NamedTuple):
    """An answer in its parts."""

    values: list[tuple[str, str]]
    """(name, value): the name of an unknown without its number, or empty."""

    is_ordered: bool


def score_calculations(
    items: pl.DataFrame, profile: str | Profile = DEFAULT_PROFILE, symbolic_time_limit: float | None = 2.0
) -> pl.DataFrame:
    """Return `items` with the columns of `CALCULATION_COLUMNS` added, row for row.

    `items` has `kind` (arithmetic, word_problem, derivation), `reference` (the worked solution), `response`, and may have
    `reference_answer`; where that is null or absent, the answer is taken from the reference.

    `accuracy` (1 or 0) is the exact comparison of standard forms and the one that counts: gscore is `compute_calculation_gscore`
    of it. Two others are given next to it: `accuracy_unordered` also lets roots and unknowns come in any order,
    `accuracy_symbolic` also accepts equal values in other forms (a fraction for a decimal; but also an unfactored
    polynomial for its factors); null where that could not be decided within `symbolic_time_limit` seconds, and everywhere when
    that is None. Step chrF is the profile's, over the texts before the answers. A null response or reference gives nulls.
    """
    chosen = parse_profile(profile)
    _check_columns(items)
    rows = items.to_dicts()
    parsed = [_parse_item(row) for row in rows]
    chrf = iter(
        score_surface(
            [item.reference_steps for item in parsed if item is not None],
            [item.response_steps for item in parsed if item is not None],
            chosen,
        ).chrf.tolist()
    )
    records: list[dict[str, object]] = []
    with SymbolicComparer(symbolic_time_limit or 0.0) as comparer:
        ask = comparer.is_equal if symbolic_time_limit is not None else None
        for item in parsed:
            records.append({} if item is None else _score_item(item, next(chrf), ask))
    scores = pl.DataFrame(
        {name: [record.get(name) for record in records] for name in CALCULATION_COLUMNS},
        schema=CALCULATION_COLUMNS,
    ).with_columns(profile=pl.lit(chosen.name))
    return pl.concat([items, scores], how="horizontal")


def compute_calculation_gscore(accuracy: float, step_chrf: float, kind: CalculationKind) -> float:
    """Return `accuracy + (1 - accuracy) * 0.3 * step_chrf`.

    Arithmetic items get their accuracy only.
    """
    if kind == "arithmetic":
        return accuracy
    return accuracy + (1 - accuracy) * STEP_WEIGHT * step_chrf


def _parse_item(row: dict[str, str | None]) -> _Item | None:
    reference, response, given = row["reference"], row["response"], row.get("reference_answer")
    if response is None or (reference is None and given is None):
        return None
    found = parse_final_answer(response)
    expected = parse_final_answer(reference or "")
    answer = given if given is not None else expected.answer
    kind: CalculationKind = row["kind"]  # type: ignore[assignment]
    if answer is None:
        return None
    # A reference whose last line was guessed to be its answer keeps that line as a step when the answer is given.
    is_guess = given is not None and expected.found_by in ("last_line", "nothing")
    return _Item(
        kind,
        found.answer,
        found.found_by,
        answer,
        (reference or "") if is_guess else expected.steps,
        found.steps,
    )


def _score_item(
    item: _Item, step_chrf: float, ask: Callable[[str, str], bool | None] | None
) -> dict[str, object]:
    expected = compute_standard_answer(item.reference_answer)
    answer = compute_standard_answer(item.answer) if item.answer is not None else ""
    exact = answer == expected and answer != ""
    unordered = exact or is_same_answer(answer, expected)
    symbolic: bool | None = unordered or None
    if not unordered and ask is not None:
        if item.kind == "arithmetic":
            answer = answer.rpartition("=")[2]
        symbolic = is_same_answer(answer, expected, ask)
    return {
        "answer": item.answer,
        "answer_found_by": item.found_by,
        "standard_answer": compute_standard_answer(item.answer) if item.answer is not None else None,
        "standard_reference": expected,
        "accuracy": float(exact),
        "accuracy_unordered": float(bool(unordered)),
        "accuracy_symbolic": None if symbolic is None or ask is None else float(symbolic),
        "step_chrf": step_chrf,
        "gscore": compute_calculation_gscore(float(exact), step_chrf, item.kind),
    }


def is_same_answer(one: str, other: str, ask: Callable[[str, str], bool | None] | None = None) -> bool | None:
    """Return whether two standard answers have the same parts.

    Parts are compared in order when they are values, and in any order when they are roots or named unknowns.

    With `ask`, parts are the same when they are equal in value; None when that could not be decided.
    """
    if not one or not other:
        return False
    ours, theirs = _parse_parts(one), _parse_parts(other)
    if len(ours.values) != len(theirs.values):
        return False
    if ours.is_ordered and theirs.is_ordered:
        verdicts = [_is_same_part(a, b, ask) for a, b in zip(ours.values, theirs.values, strict=True)]
        return False if False in verdicts else None if None in verdicts else True
    return _match_parts(ours.values, theirs.values, ask)


def _match_parts(
    ours: list[tuple[str, str]], theirs: list[tuple[str, str]], ask: Callable[[str, str], bool | None] | None
) -> bool | None:
    """Pair every part with an equal one; equality is transitive, so the first fit will do."""
    left = list(theirs)
    undecided = False
    for part in ours:
        verdicts = [_is_same_part(part, other, ask) for other in left]
        if True in verdicts:
            del left[verdicts.index(True)]
        elif None in verdicts:
            undecided = True
        else:
            return False
    return None if undecided else True


def _is_same_part(
    one: tuple[str, str], other: tuple[str, str], ask: Callable[[str, str], bool | None] | None
) -> bool | None:
    # A lone value may stand for a lone unknown: 2 for x=2.
    if one[0] and other[0] and one[0] != other[0]:
        return False
    if one[1] == other[1]:
        return True
    if ask is None:
        return False
    (ours, our_unit), (theirs, their_unit) = _split_unit(one[1]), _split_unit(other[1])
    if our_unit != their_unit:
        return False
    return ask(ours, theirs)


def _split_unit(value: str) -> tuple[str, str]:
    """Split 12.50元/千克 into 12.50 and 元/千克: units are compared as they are."""
    match = re.fullmatch(r"([^\u4e00-\u9fff]*?)(/?[\u4e00-\u9fff].*)", value)
    return (match[1], match[2]) if match else (value, "")


def _parse_parts(answer: str) -> _Parts:
    pieces = [piece for part in _ALTERNATIVES.split(answer) for piece in _split_outside_brackets(part)]
    values: list[tuple[str, str]] = []
    for piece in pieces:
        match = _UNKNOWN.fullmatch(piece)
        name, value = (match[1] + match[2], match[3]) if match else ("", piece)
        if r"\pm" in value and value.count(r"\pm") == 1:
            values += [(name, value.replace(r"\pm", sign).removeprefix("+").strip()) for sign in "+-"]
        else:
            values.append((name, value))
    has_names = all(name for name, _ in values)
    has_alternatives = _ALTERNATIVES.search(answer) is not None or r"\pm" in answer
    # “x=1或-3” names its unknown once
    if has_alternatives and values and values[0][0]:
        values = [(name or values[0][0], value) for name, value in values]
    return _Parts(values, is_ordered=not (has_alternatives or (has_names and len(values) > 1)))


def _split_outside_brackets(text: str) -> list[str]:
    pieces, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "({[") - (character in ")}]")
        if character in ",;" and depth <= 0:
            pieces.append(text[start:index])
            start = index + 1
    pieces.append(text[start:])
    return [piece for piece in (piece.strip() for piece in pieces) if piece]


def _check_columns(items: pl.DataFrame) -> None:
    for name in ("kind", "reference", "response"):
        if name not in items.columns:
            raise ContractError(f"The calculation items have no column {name!r}; they have {items.columns}.")
    unknown = sorted(set(items["kind"].drop_nulls()) - set(CALCULATION_KINDS))
    if unknown or items["kind"].null_count():
        raise ContractError(
            f"The column 'kind' of the calculation items holds {unknown or 'nulls'}; it must be one of {', '.join(CALCULATION_KINDS)}."
        )
    taken = sorted(set(items.columns) & set(CALCULATION_COLUMNS))
    if taken:
        raise ContractError(
            f"The calculation items already have columns named {', '.join(taken)}. Leave them out."
        )
