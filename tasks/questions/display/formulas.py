r"""A formula in LaTeX as MathML, which browsers draw by themselves. Pure.

`latex2mathml` reads the LaTeX. What it writes is not trusted: `\text{<b>}` comes through as a tag, `\href` and `\style` as
attributes. Its tree is copied here, element by element, from closed lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from typing import Any
from xml.etree.ElementTree import Element

from schemas import patterns as re

# Longer than any formula of a paper; a reader that recurses is not given more.
LONGEST = 3_000
_TAGS = frozenset({
    "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "mpadded",
    "mphantom", "mover", "munder", "munderover", "msub", "msup", "msubsup", "mmultiscripts", "mprescripts",
    "none", "mtable", "mtr", "mtd", "menclose",
})  # fmt: skip
_ATTRIBUTES = frozenset({
    "display", "displaystyle", "mathvariant", "stretchy", "fence", "form", "separator", "lspace", "rspace",
    "minsize", "maxsize", "symmetric", "largeop", "movablelimits", "accent", "accentunder", "linethickness",
    "columnalign", "rowalign", "columnlines", "rowlines", "rowspacing", "columnspacing", "width", "height",
    "depth", "notation", "scriptlevel",
})  # fmt: skip
_VALUE = re.compile(r"[\w#.%+ -]{1,40}", re.ASCII)
# Letters that are words in a formula of a Chinese paper stand together, upright.
_WIDE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]+")
_TEXT = re.compile(r"(\\(?:text|mbox|textrm|textbf|textit|mathrm|operatorname)\s*\{[^{}]*\})")
_CIRCLED = re.compile(r"\\textcircled\s*\{\s*(1\d|20|[1-9])\s*\}")
# A place to write on, inside of a formula.
_BLANK = re.compile(r"_{2,}")
_CHEMISTRY = re.compile(r"\\ce\s*\{((?:[^{}]|\{[^{}]*\})*)\}")


class _UnreadError(ValueError):
    """The formula holds a command that is not known."""


@lru_cache(maxsize=4096)
def render_formula(latex: str, *, is_block: bool = False) -> str | None:
    """The formula as `<math>`; null where it cannot be read whole (its source is shown)."""
    if len(latex) > LONGEST or not latex.strip():
        return None
    from latex2mathml import converter

    source = _CHEMISTRY.sub(lambda found: rf"\mathrm{{{_read_chemistry(found.group(1))}}}", latex)
    source = _CIRCLED.sub(lambda found: rf"\text{{{chr(0x245F + int(found.group(1)))}}}", source)
    source = _BLANK.sub(lambda found: rf"\text{{{found.group(0)}}}", source)
    try:
        root = converter.convert_to_element(_wrap_wide(source), display="block" if is_block else "inline")
        return "".join(_write(root))
    except _UnreadError:
        return None
    except Exception:
        # the library raises a dozen kinds for what is no LaTeX, IndexError and RecursionError among them
        return None


def _write(element: Element) -> Iterator[str]:
    """An element with what is in it, if both are known."""
    if element.tag not in _TAGS:
        raise _UnreadError
    attributes = "".join(
        f' {name}="{escape(value)}"'
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES and _VALUE.fullmatch(value)
    )
    text = unescape(element.text or "")
    if text.startswith("\\") and element.tag in ("mi", "mo", "mtext") and len(text) > 1:
        raise _UnreadError
    yield f"<{element.tag}{attributes}>{escape(text)}"
    children: list[Any] = list(element)
    for child in children:
        yield from _write(child)
    yield f"</{element.tag}>"


def _wrap_wide(latex: str) -> str:
    """The LaTeX with wide letters as text, but where they are already."""
    return "".join(
        part if number % 2 else _WIDE.sub(lambda found: rf"\text{{{found.group(0)}}}", part)
        for number, part in enumerate(_TEXT.split(latex))
    )


def _read_chemistry(inside: str) -> str:
    r"""What `\ce{…}` of mhchem holds, as plain LaTeX.

    Numbers that follow letters are lowered, charges raised, and arrows drawn.
    """
    out = re.sub(r"<=>", r" \\rightleftharpoons ", inside)
    out = re.sub(r"->", r" \\rightarrow ", out)
    out = re.sub(r"(?<=[A-Za-z\])])(\d+)", r"_{\1}", out)
    return re.sub(r"\^(\d*[+-])", r"^{\1}", out)
