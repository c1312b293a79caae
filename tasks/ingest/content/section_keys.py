"""Keys between the questions of a paper: in a section, or in the one line that closes it."""

from __future__ import annotations

from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.content.key_marks import KeyPart, split_inline
from tasks.ingest.content.number_runs import LEAST_GIVEN, find_run, list_values
from tasks.ingest.content.region_titles import is_region_heading
from tasks.ingest.layout.headings import FIRST_OPTION, read_heading
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.options import offers_options
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.sections import Section
from tasks.ingest.words.answers import ANSWER_MARK, ANSWER_STARTS, match_answer
from tasks.ingest.words.labels import COUNTING, counts_questions


def take_key_lines(section: Section, index: int, keys: list[KeyPart]) -> list[Piece]:
    """Take key lines (`1、CDE 2、CD …`) out of a section: they answer its questions."""
    kept: list[Piece] = []
    found: list[Piece] = []
    # the numbers of a section that is one question are its parts
    block = None if section.is_question or _ASKS_ONCE.search(section.heading) else _find_block(section)
    asked = [place for place, piece in enumerate(section.pieces) if _asks_or_offers(piece)]
    numbers = {piece.label.value for piece in section.pieces if counts_questions(piece.label)}
    for place, piece in enumerate(section.pieces[: block[0] if block is not None else None]):
        entries = read_key_line(piece.text)
        is_last = not asked or place > asked[-1]
        # the letters of `Answers: 1 B, 2 A, 3 C, 4 B` run from A to B, too
        is_own = is_last and {entry.number for entry in entries} == numbers
        is_named = ANSWER_MARK.match(piece.text) or (is_own and _NAMED_ROW.match(piece.text))
        is_key = is_named or not offers_options([piece], True)
        if len(entries) >= 2 and is_key and (is_last or _TELLS_DATA.search(piece.text) is None):
            if not found and entries[0].number == 1 and len(kept) > 1 and _names_keys(kept[-1]):
                kept.pop()
            found.append(piece)
        elif not (len(piece.text) < 10 and piece is section.pieces[-1] and is_region_heading(piece.text)):
            kept.append(piece)
    if block is not None:
        begin, offset = block
        found += [section.pieces[begin].cut(offset), *section.pieces[begin + 1 :]]
    if found:
        keys.append(KeyPart(found, section.number, section.fine, index))
    return kept


# `Ключ: 1 – B, 2 – A`: a word of any language before the first number
_NAMED_ROW = re.compile(r"\s*[^\W\d_]{3,16}\s*[:：]\s*[（(]?\d")
# `（共1小题，每小题16分）`
_ASKS_ONCE = re.compile(r"共\s*[1１一]\s*[小大]?题")
# above a question, `Buses: 1/A 2/B` is what it shows
_TELLS_DATA = re.compile(r"\d\s*[>/]\s*[A-Ja-j]")


def _asks_or_offers(piece: Piece) -> bool:
    return not read_key_line(piece.text) and (
        counts_questions(piece.label) or FIRST_OPTION.match(piece.text) is not None
    )


def _names_keys(piece: Piece) -> bool:
    """Whether a line is a word or two and nothing else, as what names the keys below it."""
    text = piece.text.strip(" :：-—=")
    return (
        len(text) <= 16 and piece.label is None and re.fullmatch(r"[^\W\d]+(?: [^\W\d]+)?", text) is not None
    )


def _find_block(section: Section) -> tuple[int, int] | None:
    """Where the one `答案：1）… 2）…` that answers the questions above it begins: piece and index."""
    marked = [
        (index, mark.end())
        for index, piece in enumerate(section.pieces)
        if piece.text.lstrip()[:1] in ANSWER_STARTS and (mark := ANSWER_MARK.match(piece.text)) is not None
    ]
    run = find_run(section.pieces[: marked[0][0]]) if len(marked) == 1 else None
    if run is None or run.count < 2:
        return None
    index, end = marked[0]
    parts = (section.pieces[index].cut(end), *section.pieces[index + 1 :])
    given = [
        value
        for piece in parts
        # numbers of another form are points within an answer
        if piece.label is None or piece.label.style == run.style
        for value in list_values(piece)
    ]
    is_run = given == [*range(run.first, run.first + len(given))] and run.first + len(given) <= run.last + 1
    return (index, end) if is_run and len(given) >= max(2, LEAST_GIVEN * run.count) else None


_LINE_OF_ANSWERS = re.compile(
    r"\s*(?:【?(?:参考|标准|正确)?答案】?\s*[:：]?|[^\d\s:：，。]{0,6}答案[^\d\s:：，。]{0,6}\s*[:：]|(?i:(?:answer|solution)s?(?:\s+keys?)?|keys?)\s*(?:[（(][^()（）]{1,24}[)）]\s*)?[:：])\s*(?=[（(]?\d{1,3}\s*(?:[.．、)）~～\-—至]|[a-jA-J]\b))"
)
_LINE_STARTS = tuple("AaSsKk")


def part_answers(pieces: Sequence[Piece]) -> list[Piece]:
    """Put the one line of answers that closes a paper below a line `答案：` of its own.

    The line looks like `答案：1.C 2.A 3.…`.
    """
    found = [
        index
        for index, piece in enumerate(pieces)
        if ("答案" in piece.text or piece.text.lstrip()[:1] in _LINE_STARTS)
        and _LINE_OF_ANSWERS.match(piece.text) is not None
    ]
    if len(found) != 1 or any(read_heading(piece.text) is not None for piece in pieces[found[0] + 1 :]):
        return list(pieces)
    piece = pieces[found[0]]
    if "答案" not in piece.text and any(
        (place > found[0] and other.label is not None and other.label.style in COUNTING)
        or (other is not piece and match_answer(other.text) is not None)
        for place, other in enumerate(pieces)
    ):
        return list(pieces)  # `Answer: 1. It is cheap. 2. It is light.` of one question
    mark = _LINE_OF_ANSWERS.match(piece.text)
    rest = piece.cut(mark.end() if mark is not None else 0)
    if len(split_inline(rest)) < 2 and len(read_key_line(rest.text)) < 2:
        return list(pieces)
    head = piece.cut(0, len(piece.text) - len(rest.text))
    return [*pieces[: found[0]], head, rest, *pieces[found[0] + 1 :]]
