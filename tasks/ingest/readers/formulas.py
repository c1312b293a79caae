"""Office formulas (OMML, ECMA-376 part 1 §22.1) as LaTeX."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from tasks.ingest.readers.numbering import find_child, local_name, read_attribute

_OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint", "⋃": r"\bigcup",
    "⋂": r"\bigcap", "∐": r"\coprod", "⋁": r"\bigvee", "⋀": r"\bigwedge",
}  # fmt: skip
_ACCENTS = {
    "\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0305": r"\overline", "\u0307": r"\dot",
    "\u0308": r"\ddot", "\u20d7": r"\vec", "→": r"\vec", "\u030c": r"\check", "\u0306": r"\breve", "^": r"\hat",
    "~": r"\tilde", "¯": r"\bar", "˙": r"\dot", "\u20d1": r"\vec",
}  # fmt: skip
_FUNCTIONS = {"sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "lg", "lim", "max", "min", "sup", "inf", "exp",
              "det", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "gcd", "deg", "dim", "ker", "arg"}  # fmt: skip


def render_omml(element: etree._Element) -> str:
    """Return the formula as LaTeX without delimiters."""
    return _content(element).strip()


def _content(element: etree._Element | None) -> str:
    if element is None:
        return ""
    parts: list[str] = []
    for child in element:
        part = _node(child)
        # a command's name must not run into the letters that follow it
        if parts and part[:1].isascii() and part[:1].isalpha() and _ends_in_command(parts[-1]):
            parts.append(" ")
        parts.append(part)
    return "".join(parts)


def _ends_in_command(text: str) -> bool:
    _, slash, tail = text.rpartition("\\")
    return bool(slash) and tail.isascii() and tail.isalpha()


def _node(element: etree._Element) -> str:
    name = local_name(element)
    if name in ("del", "moveFrom") or name.endswith("Pr"):
        return ""
    if name == "t":
        return element.text or ""
    writer = _WRITERS.get(name)
    return writer(element) if writer else _content(element)


def _group(element: etree._Element, name: str) -> str:
    return "{" + _content(find_child(element, name)).strip() + "}"


def _property(element: etree._Element, properties: str, name: str) -> str | None:
    found = find_child(find_child(element, properties), name)
    return None if found is None else (read_attribute(found, "val") or "")


def _fraction(element: etree._Element) -> str:
    kind = _property(element, "fPr", "type")
    if kind == "lin":
        return f"{_content(find_child(element, 'num'))}/{_content(find_child(element, 'den'))}"
    if kind == "noBar":
        return rf"\binom{_group(element, 'num')}{_group(element, 'den')}"
    return rf"\frac{_group(element, 'num')}{_group(element, 'den')}"


def _root(element: etree._Element) -> str:
    degree = _content(find_child(element, "deg")).strip()
    return rf"\sqrt[{degree}]{_group(element, 'e')}" if degree else rf"\sqrt{_group(element, 'e')}"


def _base(element: etree._Element) -> str:
    base = _content(find_child(element, "e"))
    is_atom = (
        len(base) <= 1 or (base.startswith("\\") and base[1:].isalpha()) or base.startswith(("(", "\\left"))
    )
    return base if is_atom or base.isdigit() else "{" + base + "}"


def _nary(element: etree._Element) -> str:
    sign = _property(element, "naryPr", "chr")
    text = _OPERATORS.get("∫" if sign is None else sign, sign or "")
    lower, upper = _content(find_child(element, "sub")), _content(find_child(element, "sup"))
    text += f"_{{{lower}}}" if lower else ""
    text += f"^{{{upper}}}" if upper else ""
    return f"{text} {_content(find_child(element, 'e'))}"


def _delimiters(element: etree._Element) -> str:
    left, right = _property(element, "dPr", "begChr"), _property(element, "dPr", "endChr")
    divider = _property(element, "dPr", "sepChr")
    left, right = "(" if left is None else left, ")" if right is None else right
    body = ("|" if divider is None else divider).join(
        _content(child) for child in element if local_name(child) == "e"
    )
    escaped = {"{": r"\{", "}": r"\}", "": ".", "⟨": r"\langle ", "⟩": r"\rangle ", "‖": r"\|"}
    if "\\frac" in body or "\\begin" in body or left == "" or right == "":
        return rf"\left{escaped.get(left, left)}{body}\right{escaped.get(right, right)}"
    return escaped.get(left, left) + body + escaped.get(right, right)


def _matrix(element: etree._Element) -> str:
    rows = [
        " & ".join(_content(cell) for cell in row if local_name(cell) == "e")
        for row in element
        if local_name(row) == "mr"
    ]
    return r"\begin{matrix}" + r" \\ ".join(rows) + r"\end{matrix}"


def _equations(element: etree._Element) -> str:
    rows = [_content(child) for child in element if local_name(child) == "e"]
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def _function(element: etree._Element) -> str:
    name = _content(find_child(element, "fName")).strip()
    head, mark, tail = name.partition("_")
    text = ("\\" + head if head in _FUNCTIONS else head) + mark + tail
    return f"{text} {_content(find_child(element, 'e'))}"


def _accent(element: etree._Element) -> str:
    sign = _property(element, "accPr", "chr")
    return _ACCENTS.get("\u0302" if sign is None else sign, r"\hat") + _group(element, "e")


def _bar(element: etree._Element) -> str:
    place = _property(element, "barPr", "pos")
    return (r"\overline" if place == "top" else r"\underline") + _group(element, "e")


def _limit(sign: str) -> Callable[[etree._Element], str]:
    def write(element: etree._Element) -> str:
        base = _content(find_child(element, "e")).strip()
        base = "\\" + base if base in _FUNCTIONS else base
        return f"{base}{sign}{{{_content(find_child(element, 'lim'))}}}"

    return write


def _group_character(element: etree._Element) -> str:
    place = _property(element, "groupChrPr", "pos")
    sign = _property(element, "groupChrPr", "chr")
    if sign in ("→", "⇒", "⟶"):
        return rf"\xrightarrow{_group(element, 'e')}"
    return (r"\overbrace" if place == "top" else r"\underbrace") + _group(element, "e")


def _run(element: etree._Element) -> str:
    return "".join(child.text or "" for child in element if local_name(child) == "t")


_WRITERS: dict[str, Callable[[etree._Element], str]] = {
    "r": _run,
    "f": _fraction,
    "rad": _root,
    "sSup": lambda element: f"{_base(element)}^{_group(element, 'sup')}",
    "sSub": lambda element: f"{_base(element)}_{_group(element, 'sub')}",
    "sSubSup": lambda element: f"{_base(element)}_{_group(element, 'sub')}^{_group(element, 'sup')}",
    "sPre": lambda element: f"{{}}_{_group(element, 'sub')}^{_group(element, 'sup')}{_base(element)}",
    "nary": _nary,
    "d": _delimiters,
    "m": _matrix,
    "eqArr": _equations,
    "func": _function,
    "acc": _accent,
    "bar": _bar,
    "limLow": _limit("_"),
    "limUpp": _limit("^"),
    "groupChr": _group_character,
}
