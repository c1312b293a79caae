"""The marks of a paper, found by their own repetition.

They are written in the forms that the rules know.

One pass reads the beginning of every line as a shape: what opens it, a number or letter, what closes it. A shape whose
numbers run on through the paper counts questions, one whose letters run A B C again and again labels options, whatever
its stops and brackets are. What the rules know already is left as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.layout.answer_marks import (
    write_answer_places,
    write_answers,
    write_filled_places,
    write_led,
    write_repeated_headings,
    write_repeated_keys,
)
from tasks.ingest.layout.boxes import drop_lettered_boxes, part_boxes, tick_right, turn_boxes, write_boxes
from tasks.ingest.layout.exports import write_exports
from tasks.ingest.layout.heading_marks import (
    move_worth,
    write_bracketed_headings,
    write_framed,
    write_headings,
)
from tasks.ingest.layout.headings import STRONG_STYLES, is_instruction, read_heading
from tasks.ingest.layout.idle_lines import drop_idle, drop_repeated, drop_slots
from tasks.ingest.layout.mending import (
    drop_decoration,
    drop_upright,
    join_boxes,
    lower_numbers,
    open_cells,
    open_counts,
    open_details,
    open_numbered,
    open_numbers,
    open_options,
    part_lines,
    part_rows,
    raise_letters,
    write_bare_letters,
    write_truths,
)
from tasks.ingest.layout.numbered_options import write_numbered_options
from tasks.ingest.layout.option_marks import (
    OPENS_MARK,
    WIDTHS,
    write_alphabets,
    write_letters,
    write_unlettered,
)
from tasks.ingest.layout.pieces import IndexedLines, Piece, is_sign, rewrite
from tasks.ingest.layout.sections import OPTION_A
from tasks.ingest.layout.short_headings import write_short_headings
from tasks.ingest.layout.telling_signs import write_telling_signs, write_ticked_lists
from tasks.ingest.layout.unnumbered import (
    write_codes,
    write_counted,
    write_lettered_numbers,
    write_paired,
    write_titled,
    write_turns,
)
from tasks.ingest.layout.worded import write_worded_headings, write_worded_numbers, write_worded_options
from tasks.ingest.words.grammar import (
    asking,
    may_open_number_word,
    number_word,
)
from tasks.ingest.words.labels import counts_questions, is_sure, may_label, read_number
from tasks.ingest.words.points import BRACKETED
from tasks.ingest.words.signs import ends_with_mark

_NUMBER_CLOSE = r"[.．、,，:：;；)）\]】〕>》。·•\-–—~～/|]"
_NUMERAL = r"\d{1,4}|[一二三四五六七八九十百]{1,4}|[①-⑳㉑-㉟]|[ivxIVX]{1,5}"
_MAX_RUN = 400
# How many numbers must run on before a shape counts, and how much of a shape must run.
_MIN_RUN, _MIN_SHARE = 3, 0.7


class Mark(NamedTuple):
    """The beginning of a line as a mark: its shape, its value, and where the text begins."""

    piece: int
    shape: str
    value: int
    end: int


def write_marks(pieces: Sequence[Piece]) -> IndexedLines:
    """Return the lines with unusual marks in usual forms; characters keep their places."""
    lines = IndexedLines(pieces)
    for step in (
        join_boxes,
        drop_lettered_boxes,
        open_details,
        open_cells,
        open_options,
        open_counts,
        open_numbers,
        open_numbered,
        write_boxes,
        write_ticked_lists,
        turn_boxes,
        part_boxes,
        tick_right,
        write_filled_places,
        drop_slots,
        drop_idle,
        drop_repeated,
        write_answer_places,
        lower_numbers,
        raise_letters,
        write_titled,
        write_exports,
        write_worded_options,
        write_telling_signs,
        drop_decoration,
        part_lines,
        part_rows,
        drop_upright,
        write_bare_letters,
        write_truths,
        move_worth,
        _write_lone,
        write_lettered_numbers,
        write_paired,
        write_codes,
        _write_chaptered,
        write_turns,
        write_headings,
        write_short_headings,
        _write_numerals,
        _write_numbers,
        write_worded_numbers,
        write_worded_headings,
        write_framed,
        write_bracketed_headings,
        write_alphabets,
        write_letters,
        write_numbered_options,
        _cut_second_numbers,
        write_unlettered,
        write_counted,
        write_repeated_headings,
        write_answers,
        write_led,
        write_repeated_keys,
    ):
        lines = step(lines)
    return lines


_LONE_NUMBER = re.compile(r"\s*(\d{1,3})\s*")
_FIRST_OPTION_NEAR = 6


def _write_lone(lines: IndexedLines) -> IndexedLines:
    """Write `1` alone on a line above a question as `1. `.

    Such numbers run on from 1, and nothing else counts.
    """
    if lines.numbered:
        return lines
    pieces = lines.pieces
    found: list[int] = []
    for place in lines.short:
        match = _LONE_NUMBER.fullmatch(pieces[place].text)
        if match is None or int(match[1]) != len(found) + 1 or pieces[place].kind == "table":
            continue
        below = pieces[place + 1 : place + 1 + _FIRST_OPTION_NEAR]
        if below and (asking().search(below[0].text) or any(OPTION_A.match(one.text) for one in below)):
            found.append(place)
    # a page prints its number once, below its first question
    if len(found) < _MIN_RUN or any(
        OPTION_A.match(one.text) or ends_with_mark(one.text) for one in pieces[: found[0]]
    ):
        return lines
    return lines.replace(
        {
            place: rewrite(pieces[place], len(pieces[place].text), f"{number}.")
            for number, place in enumerate(found, start=1)
        }
    )


# `E3-1`, `BE 3-2`, `Ex. 4.1`: a kind of exercise and its chapter before the number
_CHAPTERED = re.compile(
    r"\s*(?!(?i:fig|tab|map|photo|chart|chapter|unit|step|source|line))(?P<chapter>[A-Z][A-Za-z]{0,7}\.?\s?\d{1,2})\s?[-–.](?P<number>\d{1,3})(?:[.:：)）]\s*|\s+)(?=[\w(（$“\"¿¡])"
)
_LEAST_CHAPTERED = 2


def _write_chaptered(lines: IndexedLines) -> IndexedLines:
    """Write `E3-1 …`, `E3-2 …` as `1. …`, `2. …`, where one chapter's numbers run from 1."""
    found: dict[str, list[tuple[int, re.Match[str]]]] = {}
    for place in lines.open_where(str.isupper):
        piece = lines.pieces[place]
        label = piece.label
        if piece.kind == "table" or (label is not None and not label.is_weak):
            continue
        match = _CHAPTERED.match(piece.text)
        if match is not None:
            found.setdefault(re.sub(r"\s", "", match["chapter"]), []).append((place, match))
    counted: dict[int, re.Match[str]] = {}
    for own in found.values():
        run, share = _find_run([int(match["number"]) for _, match in own])
        first = [int(own[at][1]["number"]) for at in run[:_LEAST_CHAPTERED]]
        if share == 1 and first == [1, 2] and _stands_below_title(lines, own[0][0]):
            counted |= dict(own)
    return lines.write(counted, lambda match: f"{int(match['number'])}. ")


def _stands_below_title(lines: IndexedLines, place: int) -> bool:
    """Whether the line above is a title, or there is none."""
    above = lines.pieces[place - 1].text.rstrip() if place else ""
    return not above or (lines.labels[place - 1] is None and above[-1].isalnum())


_NUMBER_SHAPE = re.compile(
    rf"\s*+(?P<open>{OPENS_MARK}{{0,2}}\s*+(?:{number_word()})?\s*+{OPENS_MARK}?|[（(]\s*+(?:{number_word()})?)\s*+(?P<number>{_NUMERAL})[ \t]?"
    rf"(?P<word>题(?:目)?)?\s?(?P<close>{_NUMBER_CLOSE}{{0,3}})(?P<gap>\s*)"
)
_NUMERAL_START = re.compile(r"[\d一二三四五六七八九十百①-⑳㉑-㉟ivxIVX]")


def read_mark(index: int, piece: Piece, *, before_digits: bool = False) -> Mark | None:
    """Read the beginning of a line as a number with what opens and closes it, or None.

    `before_digits` also where digits touch it, `14·2023年`: its neighbours must tell that it counts.
    """
    match = _NUMBER_SHAPE.match(piece.text)
    if match is None:
        return None
    value = read_number(match.group("number"))
    rest = piece.text[match.end() :]
    is_worded = _LETTER.search(match.group("open")) is not None
    # `QUESTÃO 01` stands above its question
    if value is None or not 0 < value < 1000 or not (rest.strip() or is_worded):
        return None
    close = match.group("close")
    gap = match.group("gap") or piece.text[match.end("number") : match.end("number") + 1].strip(r"\S")
    gap = gap if gap.isspace() else ""
    opening = re.sub(r"\s|\d", "", match.group("open")).casefold()
    # `問題1（20点）`, `問1（2）`, `問1【誤】`
    is_before_bracket = bool(opening) and rest[:1] in tuple("（(【[")
    is_alone = is_worded and not rest.strip()
    if not (close or gap or match.group("word") or is_before_bracket or is_alone):
        return None
    if (
        not opening
        and not close
        and not match.group("word")
        and (
            not match.group("number").isascii()
            or not match.group("number").isdigit()
            or not re.match(r"[A-Za-z\u4e00-\u9fff“《]", rest)
        )
    ):
        return None  # a bare number stands before a word
    if rest[:1].isdigit() and not before_digits and (not gap or (close and close[-1] in "-–—~～:：/.,，%")):
        return None  # `1-5 ABCDD`, `1:30`, `3.14`, `1/2`
    if match.group("word") and rest.rstrip(" )）") == "图":
        return None  # `第1题图`
    if re.search(r"[=<>%*/]", close) and re.match(r"\s*[\w(]*\s*[=<>]", rest):
        return None  # a formula
    kind = _numeral_kind(match.group("number"))
    closing = close.translate(WIDTHS).replace(" ", "")
    if is_worded:
        # beside a word signs say nothing: `Câu 14.`, `Câu 15 (1,5 điểm).`, `【問1】`, `問1（2）`
        opening, closing = "".join(_LETTER.findall(opening)), ""
    return Mark(index, f"{opening}|{kind}|{'题' if match.group('word') else ''}{closing}", value, match.end())


_LETTER = re.compile(r"[^\W\d_]")


def _numeral_kind(token: str) -> str:
    if token[0].isdigit() and token.isascii():
        return "1"
    if "①" <= token[0] <= "㉟":
        return "①"
    return "i" if token.isascii() else "一"


def _may_open_number(first: str) -> bool:
    """Whether a number with whatever opens it, or a label, may begin with this character."""
    return (
        may_label(first)
        or is_sign(first)
        or _NUMERAL_START.match(first) is not None
        or may_open_number_word(first)
    )


# with what Roman numerals and circled numbers begin a line
_NUMERAL_STARTS = frozenset("IVX") | frozenset(map(chr, (*range(0x2160, 0x216C), *range(0x2460, 0x2474))))


def _write_numerals(lines: IndexedLines) -> IndexedLines:
    """Write `I. Why …`, `①水是____。` as `1. …` where nothing else counts and all of them ask.

    The answers to them may count alike.
    """
    found = lines.open_with(_NUMERAL_STARTS)
    own = [(place, label) for place in found if (label := lines.labels[place]) is not None]
    styles = {label.style for label in lines.labels if label is not None and not label.is_weak}
    values = [label.value for _, label in own]
    count = values.index(1, 1) if 1 in values[1:] else len(values)
    if len(styles) != 1 or styles.isdisjoint(("roman", "circ")) or count < _MIN_RUN:
        return lines
    if values != [*range(1, count + 1), *range(1, len(values) - count + 1)] or len(values) > 2 * count:
        return lines
    last = own[count - 1][0]
    for place, label in own[:count]:
        piece = lines.pieces[place]
        offers = any(OPTION_A.match(one.text) for one in lines.pieces[place + 1 : place + 2])
        heads = place < last and place + 1 not in found and read_heading(piece.text) is not None
        asks = asking().search(piece.text[label.end :]) is not None and not heads
        if not (offers or asks) or is_instruction(piece):
            return lines
    written = {place: rewrite(lines.pieces[place], label.end, f"{label.value}. ") for place, label in own}
    for place in range(last + 1, len(lines.pieces)):
        piece = lines.pieces[place]
        circled = [*_CIRCLED.finditer(piece.text)]  # `答案：①B ②C ③A`
        if [read_number(one[0]) for one in circled] == [*range(1, count + 1)]:
            for number, one in reversed([*enumerate(circled, start=1)]):
                piece = rewrite(piece, one.end(), f" {number}. ", one.start())
            written[place] = piece
    return lines.replace(written)


_CIRCLED = re.compile("[①-⑳]")


_WORTH = re.compile(rf"\s*{BRACKETED}\s*")


def _write_numbers(lines: IndexedLines) -> IndexedLines:
    """Write the numbers of a shape that runs through the paper as `1. `."""
    shapes: dict[str, list[Mark]] = {}
    touching: list[Mark] = []
    known: list[tuple[int, int]] = []
    pieces = lines.pieces
    for index in lines.open_where(_may_open_number):
        piece = pieces[index]
        if piece.kind == "table" or _WORTH.fullmatch(piece.text) is not None:
            continue  # `[2 marks]` on a line of its own counts nothing
        label = piece.label
        if counts_questions(label):
            known.append((index, label.value))
            continue
        if (
            label is not None
            and not label.is_weak
            and label.style not in ("circ", "romanp", "romanl", "bare")
        ):
            continue
        mark = read_mark(index, piece)
        if mark is not None:
            shapes.setdefault(mark.shape, []).append(mark)
        elif (mark := read_mark(index, piece, before_digits=True)) is not None:
            touching.append(mark)
    best_known = len(_find_run([value for _, value in known])[0])
    best: list[Mark] = []
    for shape, marks in shapes.items():
        run, through = _find_run([mark.value for mark in marks])
        is_part = len(run) < 4 or known or best_known > 2
        if shape.split("|")[1] != "1" and is_part and len(run) < max(8, 3 * best_known):
            continue  # Roman, circled and Chinese numbers count parts where others count questions
        if shape == "|1|" and _hold_parts(marks, lines):
            best, best_known = marks, 0
            break  # `２　次の文を読み…` above `(1)`, `(2)`
        if shape == "|1|" and (len(run) < 8 or through < 0.9 or best_known > 2):
            continue  # bare numbers: nothing else may count, and nearly all must run on
        if len(run) >= _MIN_RUN and through >= _MIN_SHARE and len(run) > len(best):
            # all of them: the numbers of an answer part begin anywhere
            last = max(marks[place].value for place in run)
            best = [mark for mark in marks if mark.value <= last]
    sections: list[Mark] = []
    for shape, marks in shapes.items():
        own = sorted([*marks, *(mark for mark in touching if mark.shape == shape)])
        sections += own if _count_section(shape, own, pieces) else []
    if len(best) <= max(2, 0.5 * best_known) and not _hold_lists(best, known, pieces):
        best = []
    best = [*(_fill_holes(best, touching) if best else ()), *sections]
    return lines.replace({mark.piece: _number(pieces[mark.piece], mark) for mark in best})


# `問4 ★`: how often somebody got it wrong
_STARS = re.compile(r"[\s★☆※◎▲!！]*")


def _number(piece: Piece, mark: Mark) -> Piece:
    """A line with its number in the usual form; signs alone behind it say nothing."""
    end = len(piece.text) if _STARS.fullmatch(piece.text, mark.end) else mark.end
    return rewrite(piece, end, f"{mark.value}. ")


def _count_section(shape: str, marks: Sequence[Mark], pieces: Sequence[Piece]) -> bool:
    """Whether a word, `Bài 1 (1,0 điểm): …`, counts the questions below one heading."""
    word, kind = shape.split("|")[:2]
    above = pieces[marks[0].piece - 1] if marks[0].piece else None
    heads = above is not None and (
        (above.label is not None and above.label.style in STRONG_STYLES)
        or read_heading(above.text) is not None
    )
    values = [mark.value for mark in marks]
    count = max(values)
    below = [pieces[mark.piece + 1].label for mark in marks if mark.piece + 1 < len(pieces)]
    if sum(is_sure(label, ("num",)) and label.value == 1 for label in below) > len(marks) / 2:
        return False  # `Bài 1: Cối xay` above `1. …` heads a list
    return (
        kind == "1"
        and heads
        and count > 1
        and re.fullmatch(number_word(), word, re.IGNORECASE) is not None
        and values in ([*range(1, count + 1)], [*range(1, count + 1)] * 2)
    )


def _fill_holes(best: Sequence[Mark], touching: Sequence[Mark]) -> list[Mark]:
    """The marks with those before digits whose value comes next and stands nowhere else."""
    found: list[Mark] = []
    told = {mark.value for mark in best}
    own = [mark for mark in touching if mark.shape == best[0].shape]
    for mark in sorted([*best, *own]):
        is_next = bool(found) and mark.value == found[-1].value + 1
        if mark not in own or (is_next and mark.value not in told):
            found.append(mark)
    return found


# what is offered below parts makes questions of them
_OFFERS_KANA = re.compile(r"[\s（(]*[Aa①ア]\s*[)）.．、\s]\s*\S")


def _hold_parts(marks: Sequence[Mark], lines: IndexedLines) -> bool:
    """Whether numbers run from 1 and bracketed parts begin at 1 below each, nowhere else."""
    begins = [
        place for place, label in enumerate(lines.labels) if is_sure(label, ("nump",)) and label.value == 1
    ]
    numbers = [mark.piece for mark in marks]
    counts_else = any(is_sure(label, ("num", "word", "bracket", "paren")) for label in lines.labels)
    counts_else = counts_else or any(_OFFERS_KANA.match(piece.text) for piece in lines.pieces)
    return (
        [mark.value for mark in marks] == [*range(1, len(marks) + 1)]
        and len(marks) >= _MIN_RUN
        and [bisect_right(numbers, place) for place in begins] == [*range(1, len(marks) + 1)]
        and not counts_else
    )


_LEAST_LISTED, _MOST_LISTED, _SHARE_LISTED = 3, 7, 0.7


def _hold_lists(marks: Sequence[Mark], known: Sequence[tuple[int, int]], pieces: Sequence[Piece]) -> bool:
    """Whether most numbers of a shape have options below: `問3` above `(1)` to `(5)`."""
    numbers = [mark.piece for mark in marks]
    lists: dict[int, list[int]] = {}
    for place, value in known:
        owner = bisect_right(numbers, place)
        own = lists.setdefault(owner, [])
        if owner and value == len(own) + 1:
            own.append(place)
    lengths = [len(own) for owner, own in lists.items() if owner and own]
    usual = max(set(lengths), key=lengths.count, default=0)
    return (
        len(marks) >= _MIN_RUN
        and _LEAST_LISTED <= usual <= _MOST_LISTED
        and lengths.count(usual) >= _SHARE_LISTED * len({mark.value for mark in marks})
        and not any(asking().search(pieces[place].text) for own in lists.values() for place in own)
    )


def _find_run(values: Sequence[int]) -> tuple[list[int], float]:
    """The places of numbers that run on, or start again at 1, and their share of all."""
    kept: list[int] = []
    last = 0
    for place, value in enumerate(values[: 50 * _MAX_RUN]):
        if last < value <= last + 3 or (value == 1 and last >= 1) or (not kept and value <= 200):
            kept.append(place)
            last = value
    share = len(kept) / len(values) if values else 0.0
    steps = sum(1 for left, right in pairwise(kept) if values[right] == values[left] + 1)
    return (kept, share) if steps >= 0.6 * max(len(kept) - 1, 1) else ([], 0.0)


_SECOND = re.compile(r"\s*[,，]?\s*\d{1,3}\s*[.．、](?!\d)\s*(?=\S)|\s*[,，]\s*")


def _cut_second_numbers(lines: IndexedLines) -> IndexedLines:
    """Drop the number that most questions had in a bank: `第 3 题,57、…`."""
    pieces = lines.pieces
    numbered = [(index, label.end) for index, label in enumerate(lines.labels) if is_sure(label, ("word",))]
    seconds = [(index, end, _SECOND.match(pieces[index].text[end:])) for index, end in numbered]
    if len(numbered) < 5 or sum(1 for *_, match in seconds if match) < 0.7 * len(numbered):
        return lines
    return lines.replace(
        {
            index: rewrite(pieces[index], end + match.end(), " ", end)
            for index, end, match in seconds
            if match is not None
        }
    )
