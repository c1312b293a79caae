"""Texts and calculations that a simulated candidate writes.

They are for prompts that ask for a text or a calculation whose answer no key knows. Every prompt of that kind has one model answer, made from
nothing but the prompt (`write_model_answer`). A candidate keeps each clause of it, or its result, as often as its accuracy says and puts
something else in its place otherwise: so a better candidate writes what is closer to the model answer, and texts are never twice the same.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from deployments.model_server.profile import SimulatedModel, draw_index, draw_uniform
from schemas import patterns as re
from tasks.texts import read_texts

_LENGTH = re.compile(r"(?<!\d)(\d++)\s*个(?:汉)?字")
_TERM = re.compile(r"术语：(.+?)(?:，请|$)", re.S)
_SUBJECT = re.compile(r"(?:以下是|科目：)(.+?)(?:科目|。)")
_RESULT_ONLY = re.compile(r"阿拉伯数字(?:结果|表示的结果)")
_ASKED_UNIT = re.compile(r"[多几]少?([\u4e00-\u9fff])")
_FINAL = "最终答案："
_LONGEST = 600
_LONGEST_EXPRESSION = 200

_WORDING: Final[dict[str, Any]] = read_texts("deployments.model_server", "texts.yaml")
_CLAUSES = _WORDING["clauses"]
_STEPS = _WORDING["steps"]
_STRIDES = (3, 7, 9, 11, 13, 17)
_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def write_text_answer(model: SimulatedModel, prompt: str, draw: str, seed: str) -> str | None:
    """The candidate's answer to a prompt that asks for a text or a calculation; else None."""
    accuracy = model.accuracy["default"]
    place = (seed, model.name, prompt, draw)
    if _is_calculation(prompt):
        steps, result = _solve(prompt)
        if draw_uniform(*place, "result") >= accuracy:
            result = _bend(result)
        kept = [
            step
            if draw_uniform(*place, "step", index) < accuracy
            else _STEPS[draw_index(len(_STEPS), *place, "other step", index)]
            for index, step in enumerate(steps)
        ]
        return _join_calculation(prompt, kept, result)
    clauses = _write_clauses(prompt)
    if clauses is None:
        return None
    kept = [
        clause
        if draw_uniform(*place, index) < accuracy
        else _CLAUSES[draw_index(len(_CLAUSES), *place, "other", index)]
        for index, clause in enumerate(clauses)
    ]
    return _join_clauses(kept)


def write_model_answer(prompt: str) -> str | None:
    """The one answer that simulated candidates come close to; what to score them against."""
    if _is_calculation(prompt):
        return _join_calculation(prompt, *_solve(prompt))
    clauses = _write_clauses(prompt)
    return None if clauses is None else _join_clauses(clauses)


def _is_calculation(prompt: str) -> bool:
    return _FINAL in prompt or _RESULT_ONLY.search(prompt) is not None


def _write_clauses(prompt: str) -> list[str] | None:
    """Clauses up to the length asked for; null where none is asked for."""
    length = _LENGTH.search(prompt)
    if length is None:
        return None
    wanted = min(int(length[1]), _LONGEST)
    term, subject = _TERM.search(prompt), _SUBJECT.search(prompt)
    name = "这一问题" if term is None else term[1].strip()[:40]
    field = "该学科" if subject is None else subject[1].strip()
    clauses = [f"{name}是{field}中的基本内容"]
    # A stride that shares no factor with the number of clauses: none comes twice before all have come once.
    start, stride = (
        draw_index(len(_CLAUSES), prompt, "start"),
        _STRIDES[draw_index(len(_STRIDES), prompt, "stride")],
    )
    while sum(map(len, clauses)) + len(clauses) < wanted:
        clauses.append(_CLAUSES[(start + stride * len(clauses)) % len(_CLAUSES)])
    return clauses


def _join_clauses(clauses: list[str]) -> str:
    return "，".join(clauses) + "。"


def _solve(prompt: str) -> tuple[list[str], str]:
    """Steps and result: worked out where the question is an expression, invented otherwise."""
    question = prompt.rstrip().rpartition("\n")[2]
    worked = _evaluate(question)
    if _RESULT_ONLY.search(prompt):
        return [], worked if worked is not None else str(draw_index(99, prompt) + 1)
    count = 2 + draw_index(3, prompt, "count")
    first = draw_index(len(_STEPS), prompt, "step")
    steps = [_STEPS[(first + index) % len(_STEPS)] for index in range(count)]
    number = worked if worked is not None else str(draw_index(96, prompt, "result") + 2)
    if "latex" in prompt.lower():
        return [*steps, f"$$ x = {number} $$"], f"x={number}"
    unit = _ASKED_UNIT.search(question)
    return [*steps, f"所以结果是{number}。"], number + ("个" if unit is None else unit[1])


def _join_calculation(prompt: str, steps: list[str], result: str) -> str:
    if _RESULT_ONLY.search(prompt):
        return result
    return "\n".join([f"解：{steps[0]}", *steps[1:], f"{_FINAL}{result}"])


def _bend(result: str) -> str:
    """Another result of the same form."""
    return re.sub(r"\d+", lambda match: str(int(match.group()) + 1), result, count=1)


def _evaluate(question: str) -> str | None:
    """The value of an expression such as `88-20-12=`; null for what is none."""
    text = question.strip().rstrip("=＝?？ ").replace("×", "*").replace("÷", "/").replace("（", "(")
    text = text.replace("）", ")").replace("－", "-").replace("＋", "+")
    if not text or len(text) > _LONGEST_EXPRESSION or re.search(r"[^\d+\-*/(). ]", text):
        return None
    try:
        value = _compute(ast.parse(text, mode="eval").body)
    except (SyntaxError, ZeroDivisionError, ValueError, RecursionError):
        return None
    if value.denominator == 1:
        return str(value.numerator)
    decimal = f"{float(value):g}"
    return decimal if Fraction(decimal) == value else f"{value.numerator}/{value.denominator}"


def _compute(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_compute(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_compute(node.left), _compute(node.right))
    raise ValueError
