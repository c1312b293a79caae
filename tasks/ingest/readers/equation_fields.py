"""Word's EQ fields (ECMA-376 part 1 §17.16.5.22) as LaTeX and plain signs."""

from __future__ import annotations

from collections.abc import Callable

from schemas import patterns as re
from tasks.ingest.readers.scripts import lower_text, raise_text
from tasks.ingest.words.cleaning import is_cjk

EQUATION_FIELD = re.compile(r"^\s*EQ\s", re.IGNORECASE)
# `\* jc2 \* "Font:宋体" \* hps10`: how the result looks
_SWITCH = re.compile(r'\\\*\s*(?:"[^"]*"|[^\s\\"]+)')
_COMMAND = re.compile(
    r"\\([abdfilorsx])((?:\\[a-z]{2,3}(?:\s?\d+|\\.|(?=[^\w\s\\(])[^\s])?){0,6})\s*(?=\()", re.IGNORECASE
)
_SIGN_OPTION = re.compile(r"\\([lrb])c\\?(.)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([(),;\\])")
_DEEPEST = 12
_ARROWS, _BARS = "→⇀➝", "-－—¯ˉ―"
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_SIGNS = {"\\su": r"\sum", "\\pr": r"\prod", "\\in": r"\int"}


def render_equation_field(code: str) -> str:
    """What an EQ field shows, of what its code says."""
    return _render(_SWITCH.sub("", EQUATION_FIELD.sub("", code)).strip(), 0)


def _render(text: str, depth: int) -> str:
    parts: list[str] = []
    place = 0
    while (match := _COMMAND.search(text, place)) is not None and depth < _DEEPEST:
        arguments, end = _split(text, match.end())
        parts += [
            _ESCAPED.sub(r"\1", text[place : match.start()]),
            _WRITERS[match[1].casefold()](arguments, match[2], depth + 1),
        ]
        place = end
    return "".join(parts) + _ESCAPED.sub(r"\1", text[place:])


def _split(text: str, start: int) -> tuple[list[str], int]:
    """The arguments in the bracket that opens at `start`, and where it has closed."""
    level, begin = 0, start + 1
    found: list[str] = []
    place = start
    while place < len(text):
        sign = text[place]
        if sign == "\\" and text[place + 1 : place + 2] in tuple("(),;"):
            place += 1
        elif sign == "(":
            level += 1
        elif sign == ")":
            level -= 1
            if not level:
                return [*found, text[begin:place].strip()], place + 1
        elif sign in ",;，" and level == 1 and text[place : place + 2] != "，,":  # that belongs to a line
            found.append(text[begin:place].strip())
            begin = place + 1
        place += 1
    return [*found, text[begin:].strip()], len(text)


def _fraction(arguments: list[str], options: str, depth: int) -> str:
    return rf"\frac{{{_render(arguments[0], depth)}}}{{{_render(','.join(arguments[1:]), depth)}}}"


def _root(arguments: list[str], options: str, depth: int) -> str:
    degree = _render(arguments[0], depth) if len(arguments) > 1 else ""
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_render(arguments[-1], depth)}}}"


def _script(arguments: list[str], options: str, depth: int) -> str:
    shown = [_render(one, depth) for one in arguments]
    if len(shown) > 1:
        return raise_text(shown[0]) + lower_text(shown[-1])
    return (lower_text if "\\do" in options.casefold() else raise_text)(shown[0])


_OVER = re.compile(r"\\s((?:\\(?:up|do|ai|di)\s?\d*)*)\s*(?=\()", re.IGNORECASE)


def _overstrike(arguments: list[str], options: str, depth: int) -> str:
    """What stands over, below or across its base: an arrow, a bar, a sound, two scripts."""
    base, over, below = "", "", ""
    for one in arguments:
        match = _OVER.match(one)
        if match is None:
            base += _render(one, depth)
            continue
        inner = _render(_split(one, match.end())[0][0], depth)
        over, below = (over, below + inner) if "do" in match[1].casefold() else (over + inner, below)
    if len(arguments) == len("ab") and not over + below and "\\ac" not in options.casefold():
        return raise_text(_render(arguments[0], depth)) + lower_text(_render(arguments[1], depth))
    if not base and over in _ARROWS:
        base, below = below, ""
    if over and over in _ARROWS:
        return rf"\overrightarrow{{{base}}}"
    if over and over in _BARS:
        return rf"\overline{{{base}}}"
    if base and over and all(map(is_cjk, base)):
        return f"{base}({over})"
    return base + raise_text(over) + lower_text(below)


def _array(arguments: list[str], options: str, depth: int) -> str:
    shown = [_render(one, depth) for one in arguments]
    return shown[0] if len(shown) == 1 else r"\begin{matrix}" + r" \\ ".join(shown) + r"\end{matrix}"


def _bracket(arguments: list[str], options: str, depth: int) -> str:
    inner = _render(",".join(arguments), depth)
    signs = {match[1].casefold(): match[2] for match in _SIGN_OPTION.finditer(options)}
    if "b" in signs:
        signs |= {"l": signs["b"], "r": _CLOSING.get(signs["b"], signs["b"])}
    left, right = signs.get("l", "" if signs else "("), signs.get("r", "" if signs else ")")
    if left == "{" and not right:
        return rf"\left\{{{inner}\right."
    return f"{left}{inner}{right}"


def _integral(arguments: list[str], options: str, depth: int) -> str:
    low, high, inner = ([_render(one, depth) for one in arguments] + ["", "", ""])[:3]
    sign = _SIGNS.get(options.casefold()[:3], r"\int")
    return f"{sign}_{{{low}}}^{{{high}}} {inner}"


def _box(arguments: list[str], options: str, depth: int) -> str:
    inner = _render(",".join(arguments), depth)
    return rf"\overline{{{inner}}}" if "\\to" in options.casefold() else inner


def _list(arguments: list[str], options: str, depth: int) -> str:
    return ",".join(_render(one, depth) for one in arguments)


_WRITERS: dict[str, Callable[[list[str], str, int], str]] = {
    "f": _fraction,
    "r": _root,
    "s": _script,
    "o": _overstrike,
    "a": _array,
    "b": _bracket,
    "i": _integral,
    "x": _box,
    "l": _list,
    "d": _list,
}
