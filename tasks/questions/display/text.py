"""Text of a question as HTML that is safe to show.

Formulas become MathML, tables become tables, all else is escaped. Pure.

Line breaks and spaces stand as they are (programs are indented): the class `text` has `white-space: pre-wrap`.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Literal

from markupsafe import Markup

from schemas import patterns as re
from tasks.questions.display.formulas import LONGEST, render_formula
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


def render_text(text: str | None, language: Language = "en") -> Markup:
    """The text as blocks of HTML; `language` is of what is added, never of the text."""
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


def render_start(text: str, language: Language = "en", *, most: int) -> Markup:
    """The first characters of the text as HTML inside of a line; no formula is cut."""
    end, position = most, 0
    while (token := _TOKENS.search(text, position)) is not None and token.start() < most:
        inner = _find_dollar_formula(text, token.start()) if token["dollar"] else None
        position = token.end() if inner is None else token.start() + len(inner) + 2
        if position > most:
            # What the text begins with is shown however long it is.
            end = token.start() or position
    bare = next((one for one in _BARE.finditer(text) if one.end() > end), None)
    if bare is not None and bare.start() < end:
        end = bare.start() or bare.end()
    return render_line(text[:end], language) + ("…" if len(text) > end else "")


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
    """What stands between the dollar at `start` and the next, if a formula and no sum of money."""
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
