r"""Text of a question as HTML that is safe to show.

Formulas become MathML, tables become tables, all else is escaped. Pure.

Line breaks and spaces stand as they are (programs are indented): the class `text` has `white-space: pre-wrap`.

A formula in LaTeX as MathML, which browsers draw by themselves; pure.

`latex2mathml` reads the LaTeX. What it writes is not trusted: `\text{<b>}` comes through as a tag, `\href` and `\style` as
attributes. Its tree is copied here, element by element, from closed lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from typing import Any, Literal
from xml.etree.ElementTree import Element

from markupsafe import Markup

from tasks.questions.display.tables import TextCell, TextTable, part_tables

Language = Literal["en", "zh"]
# What ingest writes where it found something that is no text, and what a reader is told.
_LOST = {
    "[image]": ("picture: see the original", "图：见原卷"),
    "[formula]": ("formula: see the original", "公式：见原卷"),
}
_NESTED = r"(?:[^{}\n]|\{(?:[^{}\n]|\{[^{}\n]*\})*\})*"
# Without delimiters only what is unmistakably LaTeX: Word's formulas come so. A run of it is one formula.
_BARE_PIECE = (
    rf"(?:\\(?:[dt]?frac|sqrt|overline|vec|hat|bar|mathrm|text|ce)(?:\[[^\]\n]*\])?(?:\{{{_NESTED}\}})+"
    rf"|[A-Za-z0-9)\]]?(?:[\^_]\{{{_NESTED}\}})+"
    r"|(?<![:\\/.\w])\\(?:[a-z]{2,}|[A-Z][a-z]+)(?![A-Za-z\\]))"
)
_BARE = re.compile(rf"{_BARE_PIECE}(?:[ ]?[A-Za-z0-9+\-=*/<>().,]{{0,12}}[ ]?{_BARE_PIECE})*")
_TOKENS = re.compile(
    r"\\\((?P<round>.{1,3000}?)\\\)|\\\[(?P<square>.{1,3000}?)\\\]|\$\$(?P<double>.{1,3000}?)\$\$"
    r"|(?P<begin>\\begin\{(?P<name>(?:equation|align|gather|cases|array|[bpvB]?matrix)\*?)\}.{1,3000}?\\end\{(?P=name)\})"
    r"|\\\$|(?P<dollar>\$)|(?P<lost>\[image\]|\[formula\])|\[picture:(?P<picture>[1-9]\d{0,3})\]"
    r"|<(?P<script>su[bp])>(?P<raised>[^<>\n]{1,40})</(?P=script)>|(?P<break><br\s*/?>)",
    re.DOTALL | re.IGNORECASE,
)
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


def render_text(text: str | None, language: Language = "en") -> Markup:
    """The text as blocks of HTML; empty for nothing.

    `language` is the language of what this function adds of its own, never of the text.
    """
    if not text:
        return Markup()
    blocks = [
        f'<div class="text">{"".join(_render_inline(part.strip(chr(10)), language))}</div>'
        if isinstance(part, str)
        else _render_table(part, language)
        for part in part_tables(text)
    ]
    return Markup("".join(blocks))  # noqa: S704 - every piece was escaped or made here


def render_line(text: str | None, language: Language = "en") -> Markup:
    """The text as HTML inside of a line: an option, a cell; tables are not looked for."""
    return Markup("".join(_render_inline(text or "", language)))  # noqa: S704 - every piece was escaped or made here


def _render_inline(text: str, language: Language) -> Iterator[str]:
    position = 0
    while (token := _TOKENS.search(text, position)) is not None:
        end = token.end()
        piece: str | None
        if token["dollar"]:
            inner = _find_dollar_formula(text, token.start())
            piece = "$" if inner is None else _render_source(inner, f"${inner}$", is_block=False)
            end = token.end() if inner is None else token.start() + len(inner) + 2
        elif token["lost"]:
            said = _LOST[token["lost"].lower()][language == "zh"]
            piece = f'<span class="lost">{escape(said)}</span>'
        elif token["picture"]:
            # Who may show the picture itself puts it in this place.
            number = token["picture"]
            piece = f'<span class="lost" data-picture="{number}">{"图" if language == "zh" else "picture "}{number}</span>'
        elif token["script"]:
            name = token["script"].lower()
            piece = f"<{name}>{escape(token['raised'])}</{name}>"
        elif token["break"]:
            piece = "\n"
        elif token[0] == r"\$":
            piece = "$"
        else:
            inner = token["round"] or token["square"] or token["double"] or token["begin"] or ""
            piece = _render_source(inner, token[0], is_block=not token["round"])
        yield from _render_plain(text[position : token.start()])
        yield piece
        position = end
    yield from _render_plain(text[position:])


def _find_dollar_formula(text: str, start: int) -> str | None:
    """What stands between the dollar at `start` and the next one.

    It is returned only if it is a formula and not a sum of money.
    """
    end = start + 1
    while (end := text.find("$", end)) > 0 and text[end - 1] == "\\":
        end += 1
    inner = text[start + 1 : end] if end > 0 else ""
    if not inner.strip() or "\n\n" in inner or len(inner) > LONGEST:
        return None
    if text[end + 1 : end + 2].isdigit() and not re.search(r"[\\^_]", inner):
        return None  # costs $5 and $6
    is_formula = re.search(r"[\\^_=+<>]", inner) or (inner == inner.strip() and " " not in inner)
    return inner if is_formula or re.fullmatch(r"\s*\w\s*", inner) else None


def _render_plain(text: str) -> Iterator[str]:
    """Text without delimiters: escaped, but for LaTeX that stands bare."""
    position = 0
    if "\\" in text or "_{" in text or "^{" in text:
        for found in _BARE.finditer(text):
            formula = render_formula(found[0].strip())
            if formula is None:
                continue
            yield escape(text[position : found.start()], quote=False)
            yield formula
            position = found.end()
    yield escape(text[position:], quote=False)


def _render_source(latex: str, whole: str, *, is_block: bool) -> str:
    """A formula, or its source where it cannot be read."""
    rendered = render_formula(latex.strip(), is_block=is_block)
    return rendered if rendered is not None else f'<code class="latex">{escape(whole)}</code>'


def _render_table(table: TextTable, language: Language) -> str:
    rows = []
    for number, row in enumerate(table.rows):
        tag = "th" if table.has_header and number == 0 else "td"
        rows.append("<tr>" + "".join(_render_cell(cell, tag, language) for cell in row) + "</tr>")
    return f'<div class="scroll"><table class="text">{"".join(rows)}</table></div>'


def _render_cell(cell: TextCell, tag: str, language: Language) -> str:
    spans = (f' colspan="{cell.columns}"' if cell.columns > 1 else "") + (
        f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    )
    return f"<{tag}{spans}>{''.join(_render_inline(cell.text, language))}</{tag}>"


@lru_cache(maxsize=4096)
def render_formula(latex: str, *, is_block: bool = False) -> str | None:
    """The formula as a `<math>` element.

    None where it cannot be read whole (then its source is shown).
    """
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
