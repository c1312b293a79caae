"""The process in which two expressions are compared by sympy.

It runs as `python -m tasks.gscore.calculation.symbolic_worker`.

Reads one JSON list of two LaTeX texts per line, answers one of true, false or null (not mathematics) per line. It may be
killed at any moment: whoever started it watches the time.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

from tasks.gscore.calculation.latex_math import NotMathematics, parse_latex

_POINTS = 8
_DIGITS = 40
_NEGLIGIBLE = 1e-25
_MEMORY_BYTES = 2 * 1024**3


def serve_comparisons() -> None:
    """Answer the lines of standard input until it closes."""
    import sympy

    _limit_memory()
    print("ready", sympy.__version__, flush=True)  # noqa: T201
    for line in sys.stdin:
        one, other = json.loads(line)
        try:
            verdict: bool | None = is_equal(parse_latex(one), parse_latex(other))
        except (
            NotMathematics,
            ArithmeticError,
            MemoryError,
            RecursionError,
            TypeError,
            ValueError,
            AttributeError,
        ):
            verdict = None
        print(json.dumps(verdict), flush=True)  # noqa: T201


def is_equal(one: Any, other: Any) -> bool | None:
    """Return whether two sympy expressions have the same value wherever both have one.

    Returns None when they have none anywhere.

    They are compared to 40 digits at random points of both signs: two elementary expressions that agree at all of them
    are equal for all practical purposes, and unlike simplification this ends.
    """
    import sympy

    if one == other:
        return True
    if one.free_symbols != other.free_symbols and (one - other).simplify() != 0:
        return False
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    draw = random.Random(0)
    compared = 0
    for attempt in range(_POINTS if symbols else 1):
        sign = -1 if attempt % 2 else 1
        point = {symbol: sign * sympy.Rational(draw.randint(1, 10_000), 3_001) for symbol in symbols}
        a, b = (complex_value(expression.subs(point)) for expression in (one, other))
        if a is None or b is None:
            if (a is None) != (b is None):
                return False
            continue
        compared += 1
        if abs(a - b) > _NEGLIGIBLE * max(1, abs(a), abs(b)):
            return False
    return True if compared else None


def complex_value(expression: Any) -> Any:
    """Return the expression's value to 40 digits; None when it is infinite or undefined."""
    value = expression.evalf(_DIGITS)
    return value if value.is_number and value.is_finite else None


def _limit_memory() -> None:
    """Make 9^{9^9} an error here and not everyone's trouble."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    except (ImportError, ValueError, OSError):
        return  # no such limit on this system: the time limit remains


if __name__ == "__main__":
    serve_comparisons()
