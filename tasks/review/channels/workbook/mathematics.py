r"""Mathematics in a cell: simple LaTeX in Unicode (`$x^2$` → x², `\frac{1}{2}` → 1/2).

A formula that Unicode cannot hold is left as it stands, whole: half a formula is worse than LaTeX.
"""

from __future__ import annotations

import unicodedata

from schemas import patterns as re

_SPANS = re.compile(
    r"\$\$(.{1,3000}?)\$\$|\$([^$\n]{1,3000}?)\$|\\\((.{1,3000}?)\\\)|\\\[(.{1,3000}?)\\\]", re.DOTALL
)
# Outside of delimiters only what is unmistakably LaTeX: a command with a brace, or a brace that is raised or lowered.
# Word's formulas come without delimiters. `C:\\pi` is a path.
_NESTED = r"(?:[^{}\n]|\{[^{}\n]*\})*"
_BARE = re.compile(
    rf"(?:[A-Za-z0-9)]?[\^_]\{{{_NESTED}\}}|\\(?:[dt]?frac|sqrt)(?:\{{{_NESTED}\}}|\[[^\]\n]*\])+"
    r"|(?<![:\\/.])\\[A-Za-z]{2,}(?![A-Za-z\\]))"
)
_COMMANDS = {
    name: unicodedata.lookup(f"GREEK SMALL LETTER {greek}")
    for name, greek in {
        "alpha": "ALPHA", "beta": "BETA", "gamma": "GAMMA", "delta": "DELTA", "zeta": "ZETA", "eta": "ETA",
        "theta": "THETA", "iota": "IOTA", "kappa": "KAPPA", "lambda": "LAMDA", "mu": "MU", "nu": "NU", "xi": "XI",
        "pi": "PI", "rho": "RHO", "sigma": "SIGMA", "tau": "TAU", "upsilon": "UPSILON", "chi": "CHI", "psi": "PSI",
        "omega": "OMEGA", "epsilon": "EPSILON", "varepsilon": "EPSILON", "phi": "PHI", "varphi": "PHI",
    }.items()
} | {
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω", "times": "×", "div": "÷", "cdot": "·", "pm": "±", "mp": "∓", "le": "≤", "leq": "≤",
    "ge": "≥", "geq": "≥", "neq": "≠", "ne": "≠", "approx": "≈", "equiv": "≡", "sim": "∼", "infty": "∞", "in": "∈",
    "notin": "∉", "subset": "⊂", "subseteq": "⊆", "cup": "∪", "cap": "∩", "emptyset": "∅", "forall": "∀",
    "exists": "∃", "neg": "¬", "land": "∧", "wedge": "∧", "lor": "∨", "vee": "∨", "to": "→", "rightarrow": "→",
    "leftarrow": "←", "Rightarrow": "⇒", "Leftrightarrow": "⇔", "leftrightarrow": "↔", "sum": "∑", "prod": "∏",
    "int": "∫", "oint": "∮", "partial": "∂", "nabla": "∇", "angle": "∠", "perp": "⊥", "parallel": "∥", "degree": "°",
    "circ": "∘", "prime": "′", "ldots": "…", "cdots": "⋯", "dots": "…", "quad": " ", "qquad": "  ", "sin": "sin",
    "cos": "cos", "tan": "tan", "log": "log", "ln": "ln", "lim": "lim", "max": "max", "min": "min", "exp": "exp",
    "propto": "∝", "ll": "≪", "gg": "≫", "hbar": "ℏ", "ell": "ℓ", "left": "", "right": "", "displaystyle": "",
    "triangle": "△", "therefore": "∴", "because": "∵", "oplus": "⊕", "otimes": "⊗", "mid": "∣", "setminus": "∖",
}  # fmt: skip
_RAISED = dict(
    zip("0123456789+-=()abcdefghijklmnoprstuvwxyzTABDEGHIJKLMNOPRUVW", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵁⱽᵂ", strict=True)
) | {"′": "′", "∘": "°", "*": "*", "−": "⁻"}  # fmt: skip
_LOWERED = dict(zip("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)) | {
    "β": "ᵦ", "γ": "ᵧ", "ρ": "ᵨ", "φ": "ᵩ", "χ": "ᵪ",
}  # fmt: skip
_ATOM = re.compile(r"^(?:\w|[⁰¹²³⁴-ⁿ₀-ₜ′°√.])+$")
# Under a bar or a root: one number or one symbol with what is raised or lowered; `1/ab` would be read in two ways.
_TIGHT_ATOM = re.compile(r"^(?:[0-9.]+|√?\w[⁰¹²³⁴-ⁿ₀-ₜ′°]*)$")


class _TooHardError(ValueError):
    """Unicode cannot hold this formula."""


def render_mathematics(text: str) -> str:
    """The text with its simple formulas in Unicode; others stay, delimiters included."""
    if not any(mark in text for mark in "$\\^_"):
        return text
    pieces, end = [], 0
    for span in _SPANS.finditer(text):
        inner = next(group for group in span.groups() if group is not None)
        pieces += [_render_bare(text[end : span.start()]), _render_span(inner, span.group(0))]
        end = span.end()
    return "".join((*pieces, _render_bare(text[end:])))


def _render_bare(text: str) -> str:
    def render(found: re.Match[str]) -> str:
        whole = found.group(0)
        rendered = _try_to_render(whole, whole)
        beside = text[: found.start()][-1:] + text[found.end() :][:1]
        is_loose = rendered != whole and re.match(r"\\(?:[dt]?frac|sqrt)", whole)
        is_tight = is_loose and re.search(r"[A-Za-z0-9(^_\\]", beside)
        return f"({rendered})" if is_tight else rendered

    return _BARE.sub(render, text)


def _render_span(inner: str, whole: str) -> str:
    # `costs $5 and $6` is money: its inside has no sign of mathematics and begins or ends with a space.
    if not re.search(r"[\\^_=+<>]|^\s*\w\s*$|^\w+\(", inner) and (inner != inner.strip() or " " in inner):
        return whole
    return _try_to_render(inner, whole)


def _try_to_render(inner: str, whole: str) -> str:
    try:
        rendered, _ = _render_group(inner.strip(), 0, "")
    except (_TooHardError, RecursionError):
        return whole
    return rendered


def _render_group(text: str, at: int, closing: str) -> tuple[str, int]:
    """What stands from `at` to the closing brace (or the end), and the place after it."""
    out = ""
    while at < len(text):
        if text[at] == closing:
            return out, at + 1
        start = at
        if text[at] in "^_":
            inner, at = _render_argument(text, at + 1)
            out += _shift(inner, _RAISED if text[start] == "^" else _LOWERED)
            continue
        piece, at = _render_piece(text, at)
        # A line of text has no bars and no grouping: what a fraction or a root holds together needs brackets there.
        is_loose = text[start] == "{" or re.match(r"\\(?:[dt]?frac|sqrt)(?![A-Za-z])", text[start:])
        beside = text[at:].lstrip()[:1]
        if is_loose and piece and not (text[start] == "{" and _ATOM.match(piece)):
            is_raised = beside in ("^", "_") and beside != ""
            is_tight = text[start] != "{" and (re.search(r"[\w)√]$", out) or re.match(r"[\w(\\{]", beside))
            if is_raised or (
                is_tight and not re.match(r"\\(?:times|cdot|div|pm|le|ge|ne|to|approx|right)", text[at:])
            ):
                piece = f"({piece})"
        out += piece
    if closing:
        raise _TooHardError
    return out, at


def _render_argument(text: str, at: int) -> tuple[str, int]:
    while at < len(text) and text[at] == " ":
        at += 1
    if at >= len(text):
        raise _TooHardError
    return _render_piece(text, at)


def _render_piece(text: str, at: int) -> tuple[str, int]:
    """One symbol, command or group."""
    if text[at] == "{":
        return _render_group(text, at + 1, "}")
    if text[at] in "}&~":
        raise _TooHardError
    if text[at] != "\\":
        return text[at], at + 1
    name = re.match(r"\\([A-Za-z]+|.)", text[at:], re.DOTALL)
    if name is None:
        raise _TooHardError
    word, at = name.group(1), at + name.end()
    if word in ("frac", "dfrac", "tfrac"):
        above, at = _render_argument(text, at)
        below, at = _render_argument(text, at)
        return f"{_bracket(above, _ATOM)}/{_bracket(below, _TIGHT_ATOM)}", at
    if word == "sqrt":
        degree = ""
        if text[at : at + 1] == "[":
            inside, at = _render_group(text, at + 1, "]")
            degree = _shift(inside, _RAISED)
        under, at = _render_argument(text, at)
        return f"{degree}√{_bracket(under, _TIGHT_ATOM)}", at
    if word in ("text", "mathrm", "mathbf", "mathit", "operatorname", "rm"):
        return _render_argument(text, at)
    if word in ",;:! ":
        return ("" if word == "!" else " "), at
    if word in "{}%$#&_":
        return word, at
    if word not in _COMMANDS:
        raise _TooHardError
    symbol = _COMMANDS[word]
    # The space that ends a command's name is none of the formula; before a letter it keeps words apart (`sin x`).
    if text[at : at + 1] == " " and not (symbol.isascii() and symbol.isalpha()):
        at += 1
    return symbol, at


def _shift(text: str, table: dict[str, str]) -> str:
    if not text or any(character not in table for character in text):
        raise _TooHardError
    return "".join(table[character] for character in text)


def _bracket(text: str, atom: re.Pattern[str]) -> str:
    return text if atom.match(text) else f"({text})"
