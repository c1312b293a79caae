"""The final answer of a calculation: found in a response, and brought to one standard form.

CG-Eval (section 4.8) extracts, standardises and compares; it does not publish its rules. These are ours: they remove only what
cannot change a value (white space, typography, LaTeX spelling), so that two answers that differ stay different.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from schemas import patterns as re

FoundBy = Literal["final_answer_marker", "answer_marker", "boxed", "last_line", "nothing"]
_CHARACTERS = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | {
        "\u3000": " ", "。": ".", "、": ",", "−": "-", "–": "-", "—": "-", "﹣": "-", "’": "'", "‘": "'", "′": "'", "“": '"', "”": '"',
        "×": r"\times ", "÷": r"\div ", "·": r"\cdot ", "⋅": r"\cdot ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "±": r"\pm ",
        "π": r"\pi ", "∞": r"\infty ", "°": r"^\circ ", "√": r"\sqrt ", "∪": r"\cup ", "∈": r"\in ",
        "²": "^2", "³": "^3", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}",
        "$": "", "*": "*", "\u200b": "", "\ufeff": "",
    }
)  # fmt: skip
_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\*\*|`", ""),
        (r"\\[()\[\]]", ""),
        (r"\\(?:left|right|big|Big|bigg|Bigg|displaystyle|textstyle|limits)(?![A-Za-z])\s*\.?", ""),
        (r"\\(?:qquad|quad)(?![A-Za-z])|\\[,;:! ]|~", " "),
        (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
        (r"\\(?:leqslant|leq)(?![A-Za-z])", r"\\le"),
        (r"\\(?:geqslant|geq)(?![A-Za-z])", r"\\ge"),
        (r"\\neq(?![A-Za-z])", r"\\ne"),
        (r"\\lt(?![A-Za-z])", "<"),
        (r"\\gt(?![A-Za-z])", ">"),
        (r"\\%", "%"),
        (r"\\(?:lor|vee)(?![A-Za-z])|(?<![A-Za-z\\])or(?![A-Za-z])|或者", "或"),
        # x^10 means ten to whoever wrote it; braces keep an index apart from a digit after it
        (r"([\^_])\s*(\d+|[A-Za-z])", r"\1{\2}"),
        # white space separates a command from a letter after it, and means nothing elsewhere
        (r"(\\[A-Za-z]+)\s+(?=[A-Za-z])", "\\1\0"),
        (r"\s+", ""),
        ("\0", " "),
        (r"\^\{\\prime\}|\^\\prime(?![A-Za-z])|\\prime(?![A-Za-z])", "'"),
        (r"\^\{\\circ\}", r"^\\circ"),
        (r"\\frac(\d)(?=[\d{])", r"\\frac{\1}"),
        (r"(\\frac\{[^{}]*\})(\d)", r"\1{\2}"),
        (r"\\sqrt(\d)", r"\\sqrt{\1}"),
        (r"(?<![\d.])\.(?=\d)", "0."),
        (r"(\d\.\d*?)0+(?!\d)", r"\1"),
        (r"(\d)\.(?!\d)", r"\1"),
    )
)  # fmt: skip
_WRAPPERS = re.compile(
    r"\\(?:text|textrm|textbf|mathrm|mathbf|mathit|rm|mbox|operatorname|boxed|fbox)\s*(?=\{)"
)
_LEADS = re.compile(r"^(?:答案|答|所以|因此|故|即|解得|得|原式)?(?:是|为|[:,=])*(?=.)")
_ONE_NUMBER = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


class FinalAnswer(NamedTuple):
    """What a response gives as its result, and the way there."""

    answer: str | None
    """The answer as written; None when the response is empty."""

    found_by: FoundBy
    """The rule that found it: a last line is a guess, a marker is not."""

    steps: str
    """What stands before the answer. (Section 3.3 compares the extracted process, section 4.8 the entire one: this is the first.)"""


_MARKERS: tuple[tuple[FoundBy, re.Pattern[str]], ...] = (
    ("final_answer_marker", re.compile(r"(?:最终|最后)(?:的)?(?:答案|结果)[\s*_]*(?:是|为)?[\s*_]*[:：]|final\s+answer[\s*_]*(?:is)?[\s*_]*[:：]", re.I)),
    ("answer_marker", re.compile(r"(?:答案|答)[\s*_]*(?:是|为)?[\s*_]*[:：]|\banswer[\s*_]*(?:is)?[\s*_]*[:：]", re.I)),
)  # fmt: skip
_EMPHASIS = "*_`# \t"


def parse_final_answer(response: str) -> FinalAnswer:
    """Return the final answer of a response, as text.

    It is the text after the last marker (“最终答案：”, then “答案：”), else the last box, else the last line.
    """
    for found_by, pattern in _MARKERS:
        for match in reversed(list(pattern.finditer(response))):
            lines = [line.strip(_EMPHASIS) for line in response[match.end() :].splitlines()]
            answer = next((line for line in lines if line), None)
            if answer is not None:
                return FinalAnswer(answer, found_by, response[: match.start()].rstrip(_EMPHASIS + "\r\n"))
    start = response.rfind(r"\boxed{")
    if start >= 0:
        inside = parse_braces(response, start + len(r"\boxed"))
        if inside is not None:
            return FinalAnswer(inside, "boxed", response[:start].rstrip())
    kept = response.rstrip()
    if not kept:
        return FinalAnswer(None, "nothing", "")
    head, _, last = kept.rpartition("\n")
    return FinalAnswer(last.strip(_EMPHASIS), "last_line", head.rstrip())


def parse_braces(text: str, start: int) -> str | None:
    """Return what the braces that open at `start` enclose; None when they are not closed."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[start + 1 : index]
    return None


def compute_standard_answer(answer: str) -> str:
    r"""Return an answer's standard form, with units and order kept.

    The form is equal for two spellings of the same characters.

    Values are not computed: 1/2, 0.5 and \frac{1}{2} stay three different answers.
    """
    text = _remove_wrappers(answer.translate(_CHARACTERS))
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    text = text.strip('.,;:!"')
    text = _LEADS.sub("", text)
    return text.replace(",", "") if _ONE_NUMBER.fullmatch(text) else text


def _remove_wrappers(text: str) -> str:
    r"""Replace \text{…} and its like by what they enclose."""
    while match := _WRAPPERS.search(text):
        inside = parse_braces(text, match.end())
        if inside is None:
            return text[: match.start()] + text[match.end() :]
        text = text[: match.start()] + inside + text[match.end() + len(inside) + 2 :]
    return text
