"""What counts as a blank: a place in a stem that is to be filled in.

A blank is, as papers print it,

- a line: two underscores or more, also full-width (`____`, `＿＿`), or any number of dashed ones (`﹍`); a line that holds
  its own number (`__①__`, `___(2)___`) counts once;
- a single underscore that stands alone between white space or at an end of the text (`26.1 mm = _ dm`), since
  `x_1` has one too;
- round brackets of either width with nothing in them but white space and underscores (`( )`, `（　）`, `（__）`), which
  count once; black brackets `【 】` with nothing but white space; square brackets with two spaces or more (`[ ]` is an
  array or a box to tick);
- a dotted line of five ellipses or eight dots or more, unless it leads to a number or a word, as in a list of prices; up to four
  mean that something was left out of a quotation.

The brackets of a call, `main()`, are none: nothing stands in them, directly after a letter, a digit or an underscore
of the Latin script. An answer that is printed in its brackets, `（A）`, has to be taken out first.

Every stage asks here: the splitter when it tells a question's type and counts answers, the format rules, the templates
of variants, the requests to models. Only two things are settled elsewhere: how an empty bracket is written
(`tasks.ingest.words.cleaning`), and which blanks are equal for a question's identity (`tasks.questions.identity.normal_form`), which may
never change, because the UUIDs would.
"""

from __future__ import annotations

from schemas import patterns as re

# The first character is taken from one list, which the engine looks for at once: most lines have none of them.
_BLANK = re.compile(
    r"[（(_＿﹍【\[….](?:"
    r"(?<=[（(])[\s_＿]*[）)](?<![A-Za-z0-9_]\(\))"
    r"|(?<=[_＿])(?:[_＿]+[（(]?(?:[①-⑳]|\d{1,2})[)）]?[_＿]{2,}|[_＿]+|(?<!\S[_＿])(?!\S))"
    r"|(?<=﹍)﹍*|(?<=【)\s*】|(?<=\[)\s{2,}\]"
    r"|(?:(?<=…)…{4,}|(?<=\.)\.{7,})(?![A-Za-z0-9_.…])"
    r")"
)


def has_blank(text: str) -> bool:
    """Whether there is anything to fill in."""
    return _BLANK.search(text) is not None


def count_blanks(text: str) -> int:
    """How many blanks a text has."""
    return sum(1 for _ in _BLANK.finditer(text))


def fill_blanks(text: str, filling: str, *, most: int = 0) -> str:
    """The text with `filling` in its blanks: in the first `most` of them, or in all (0)."""
    return _BLANK.sub(lambda _: filling, text, count=most)


def is_call(text: str, start: int) -> bool:
    """Whether the empty bracket `()` at `start` belongs to a name before it, as in `main()`."""
    before = text[start - 1 : start] if start else ""
    return text.startswith("()", start) and before.isascii() and (before.isalnum() or before == "_")
