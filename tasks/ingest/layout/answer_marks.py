"""The marks of answers, written in the usual forms.

They are `Ans- B`, `答案→B`, and `Answer Key` below every question.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence

from tasks.ingest.layout.indexed_lines import IndexedLines
from tasks.ingest.layout.pieces import Piece, rewrite
from tasks.ingest.words.grammar import answer_mark, may_open_answer
from tasks.ingest.words.labels import KNOWN_NUMBERS

# above `答案 A B C`: the numbers of a key table
_ROW_OF_NUMBERS = re.compile(r"\D{0,8}(?:\d{1,3}[\s|]+)+\d{1,3}[\s|]*")


_ANSWER_HEADING = re.compile(
    r"\s*[【\[（(]?\s*(?:(?:Model|Sample|Suggested|Reference|Show|View|See|Reveal|Hide|Click\s+(?:here\s+)?(?:to\s+(?:show|see|view)|for))\s+(?:the\s+)?)?(?:查看|显示|点击查看)?(?:Answers?(?:\s*Keys?)?|Solutions?|参考答案|答案|解答|Key)\s*[】\])）]?\s*[:：]?\s*",
    re.IGNORECASE,
)


# in either case, with the two other letters that a pattern takes for k and s
_ANSWER_HEADING_STARTS = frozenset("【[（(MmSsRrVvHhCcAaKk\u212aſ查显点参答解")


def write_repeated_headings(lines: IndexedLines) -> IndexedLines:
    """Write `Answer Key` on a line of its own as the mark of an answer.

    That is done where one stands below nearly every question.
    """
    pieces = lines.pieces
    places = [
        index
        for index in lines.open_with(_ANSWER_HEADING_STARTS)
        if _ANSWER_HEADING.fullmatch(pieces[index].text)
    ]
    if len(places) < 3:
        return lines
    numbers = [
        index
        for index, label in enumerate(lines.labels)
        if label is not None and not label.is_weak and label.style in KNOWN_NUMBERS
    ]
    following = [bisect_right(numbers, left) for left in places]
    between = sum(
        1
        for first, right in zip(following, places[1:], strict=False)
        if first < len(numbers) and numbers[first] < right
    )
    if between < 0.7 * (len(places) - 1):
        return lines
    changed: dict[int, Piece] = {}
    for index in places:
        text = pieces[index].text
        mark = "答案：" if re.search(r"[\u4e00-\u9fff]", text) else "Answer:"
        changed[index] = rewrite(pieces[index], len(text), mark)
    return lines.replace(changed)


_KEY_LIKE = re.compile(
    r"\s*[（(]?(?:[A-Ja-j](?:[\s,，、;；/&]*(?:and\s*)?[A-Ja-j]){0,9}|√|×|✓|✗|✔|✘|对|错|正确|错误|True|False|T|F)[)）]?\s*[.。]?\s*(?:$|[,，;；(（\n]|\s{2,})",
    re.IGNORECASE,
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_COPULA = re.compile(r"(?i)\b(?:is|are)\b|[为是选]")
_ANSWER_NAME = re.compile(r"答案|正解|标答|(?i:answer|\bans\b|solution|\bkey\b|\bsol\b)")
_LAST_BRACKET = re.compile(r"[)）\]】]\s*$")


def write_answers(lines: IndexedLines) -> IndexedLines:
    """Write what opens an answer in the usual way, but not below a row of numbers.

    There it opens a row of keys.
    """
    pieces = lines.pieces
    marked: list[tuple[int, re.Match[str]]] = []
    for place in lines.open_where(may_open_answer):
        piece = pieces[place]
        match = answer_mark().match(piece.text) if piece.kind != "table" else None
        if match is not None:
            marked.append((place, match))
    usual = _find_usual_leads([match for _, match in marked])
    changed: dict[int, Piece] = {}
    for place, match in marked:
        if place == 0 or not _ROW_OF_NUMBERS.fullmatch(pieces[place - 1].text):
            written = _write_answer(pieces[place], match, usual)
            if written is not pieces[place]:
                changed[place] = written
    return lines.replace(changed)


def _find_usual_leads(marks: Sequence[re.Match[str]]) -> set[str]:
    """The words that open at least three keys of a paper (`答案 B`).

    They open its other answers, too.
    """
    leads: Counter[str] = Counter()
    for match in marks:
        if _names_answer(match.group(0)) and _KEY_LIKE.match(match.string[match.end() :]):
            leads[match.group(0).strip()] += 1
    return {lead for lead, count in leads.items() if count >= 3}


def _write_answer(piece: Piece, match: re.Match[str], usual: Collection[str]) -> Piece:
    """Write `Ans- B`, `the correct answer is: X`, `答案→B`, `答案 B` as `Answer: B` or `答案：B`."""
    text = piece.text
    rest = text[match.end() :]
    separator = match.group(1).strip()
    lead = match.group(0)
    word = "答案：" if _HAN.search(lead) else "Answer: "
    if not rest.strip():
        is_mark = (
            _is_separator(separator) and _names_answer(lead) and re.search(r"(?i)\b(?:is|are)\b|[为是]", lead)
        )
        return rewrite(piece, len(text), word.strip()) if is_mark else piece
    if rest[:1] in "：:":
        return piece
    is_key = _KEY_LIKE.match(rest) is not None
    has_copula = _COPULA.search(lead) is not None
    if (
        not is_key
        and lead.strip() not in usual
        and not ((has_copula or _is_separator(separator)) and _names_answer(lead))
    ):
        return piece
    if lead.strip()[:1] in "（([【" and not separator and _LAST_BRACKET.search(rest):
        # `（答案 B）`: the bracket closes behind the key
        piece = piece.cut(0, len(text.rstrip()) - 1)
    if lead.strip() in ("答案：", "Answer:", "答："):
        return piece
    return rewrite(piece, match.end(), word)


def _is_separator(text: str) -> bool:
    return bool(text) and any(sign in text for sign in ":：-–—→=>】]")


def _names_answer(lead: str) -> bool:
    """`答：` and `解：` open a worked answer whose own words follow: they are read as they stand."""
    return _ANSWER_NAME.search(lead) is not None
