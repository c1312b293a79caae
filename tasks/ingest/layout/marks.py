"""The marks of a paper, found by their own repetition and written in the forms that the rules know.

One pass reads the beginning of every line as a shape: what opens it, a number or letter, what closes it. A shape whose
numbers run on through the paper counts questions, one whose letters run A B C again and again labels options, whatever
its stops and brackets are. What the rules know already is left as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from tasks.ingest.layout.bullets import write_unlettered
from tasks.ingest.layout.pieces import Piece, rewrite
from tasks.ingest.layout.sections import read_heading
from tasks.ingest.words.grammar import answer_mark, is_status_line, number_word
from tasks.ingest.words.labels import read_number
from tasks.ingest.words.lexicon import match_exactly

_OPEN = r"[^\w\s√×（()）“”‘’\"'$\\+\-–—]"
_CLOSE = r"[^\w\s“‘\"'$\\+√×]"
_NUMBER_CLOSE = r"[.．、,，:：;；)）\]】〕>》。·•\-–—~～/|]"
_NUMERAL = r"\d{1,4}|[一二三四五六七八九十百]{1,4}|[①-⑳㉑-㉟]|[ivxIVX]{1,5}"
_MAX_RUN = 400
# How many numbers must run on before a shape counts, and how much of a shape must run.
_MIN_RUN, _MIN_SHARE = 3, 0.7


class Mark(NamedTuple):
    """The beginning of a line read as a mark: its shape, its value, where the text behind it begins."""

    piece: int
    shape: str
    value: int
    end: int


def write_marks(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the lines with unusual marks in usual forms; every character keeps its place in the raw text."""
    found = [_drop_decoration(piece) for piece in pieces if not is_status_line(piece.text.strip())]
    found = _drop_upright(_part_lines(_join_brackets(found)))
    found = _write_headings(found)
    found = _write_numbers(_mend_first(found))
    found = _write_letters(found)
    found = _write_digits(found)
    found = write_unlettered(_cut_second_numbers(found))
    found = _write_repeated_headings(found)
    usual = _find_usual_leads(found)
    return [
        piece if place and _ROW_OF_NUMBERS.fullmatch(found[place - 1].text) else _write_answer(piece, usual)
        for place, piece in enumerate(found)
    ]


# above `答案 A B C`: the numbers of a key table
_ROW_OF_NUMBERS = re.compile(r"\D{0,8}(?:\d{1,3}[\s|]+)+\d{1,3}[\s|]*")


_DECORATION = re.compile(
    r"\s*(?:\[image\]|[^\w\s（()）\[【〔「“”‘’\"'$\\+\-–—.。,，、;；:：?？!！/<>=|#&@%^~`{}]|_{3,})+\s*"
    r"(?=(?:\d{1,3}|[A-Ja-j]|[一二三四五六七八九十]{1,3})\s*[.．、:：)）]|[（(\[【][A-J\d一二三四五六七八九十]{1,2}[)）\]】]|"
    r"(?:答案|参考答案|正确答案|解析|【答案】|【解析】|Answers?|Ans)\s*[:：]|【|第)"
)


def _drop_decoration(piece: Piece) -> Piece:
    """Drop a picture, a star, a bullet or a rule before a label: `★1.`, `[image]A.`, `____二、`; √ and × stay."""
    if piece.text[:1].isalnum():
        return piece
    match = _DECORATION.match(piece.text)
    if match is None or any(sign in match.group(0) for sign in "√×✓✗✔✘☑☒○◯□☐▢*"):
        return piece
    return replace(piece.cut(match.end()), start=piece.start)


def _join_brackets(pieces: list[Piece]) -> list[Piece]:
    """Join `（` on a line of its own, as converters leave it, with the line that it opens."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].text.strip() in ("（", "(", "【", "[") and piece.kind != "table":
            opening = joined.pop()
            sign = opening.text.strip()
            piece = replace(
                piece, text=sign + piece.text.lstrip(), start=opening.start,
                sources=(opening.start, *piece.sources[len(piece.text) - len(piece.text.lstrip()) :]), label_length=0,
            )  # fmt: skip
        joined.append(piece)
    return joined


_INSIDE = re.compile(r"(?<=[\s。.；;])第\s*(\d{1,3})\s*题(?=\s*[,，.、:：]|\s)")


def _part_lines(pieces: list[Piece]) -> list[Piece]:
    """Begin a line at `第 18 题` inside one, where it is the next number of a paper that counts so."""
    labels = [piece.label for piece in pieces if piece.label is not None and piece.label.style == "word"]
    if len(labels) < 5:
        return pieces
    parted: list[Piece] = []
    last = 0
    for piece in pieces:
        rest = piece
        while True:
            label = rest.label
            last = label.value if label is not None and label.style == "word" else last
            inside = next((one for one in _INSIDE.finditer(rest.text) if int(one.group(1)) == last + 1), None)
            if inside is None or not rest.text[: inside.start()].strip():
                break
            parted.append(rest.cut(0, inside.start()))
            rest = rest.cut(inside.start())
        parted.append(rest)
    return parted


def _drop_upright(pieces: list[Piece]) -> list[Piece]:
    """Drop what is printed from top to bottom in a page's margin: four lines or more of one character each."""
    is_single = [len(piece.text.strip()) == 1 and not piece.text.strip().isascii() for piece in pieces]
    kept: list[Piece] = []
    place = 0
    while place < len(pieces):
        end = place
        while end < len(pieces) and is_single[end]:
            end += 1
        if end - place < 4:
            kept.extend(pieces[place : max(end, place + 1)])
        place = max(end, place + 1)
    return kept


_HEADING = re.compile(
    r"\s*[^\w\s]?\s*(?:第\s*)?([一二三四五六七八九十]{1,3}|[Ⅰ-Ⅻ])\s*(?:大?题|部分)?\s*[^\w\s（(]{0,2}\s*(?=[（(]?[\u4e00-\u9fffA-Z])"
)
_TITLE = re.compile(r"[（(][^（()）]*[)）]|[^\u4e00-\u9fffA-Za-z（(/ -]|\s{2,}")
_SECTIONS = ("cn", "part", "roman", "cnp")
_LETTERED = re.compile(r"\s*([A-H])\s*[.．、:：)]\s*(?=[A-Z\u4e00-\u9fff])")


def _write_headings(pieces: list[Piece]) -> list[Piece]:
    """Write `一。单选题`, `【一】单选题`, `第一题 单选题`, `二 简答题` as `一、单选题`, where the rest names a type."""
    changed = list(pieces)
    for index, piece in enumerate(pieces):
        text = piece.text
        if len(text) > 90 or not re.search(r"[一二三四五六七八九十Ⅰ-Ⅻ]", text[:6]):
            continue
        match = _HEADING.match(text)
        if match is None or piece.kind == "table":
            continue
        heading = read_heading(text)
        if heading is not None and heading.label is not None and heading.label.style in _SECTIONS:
            continue
        title = _TITLE.split(text[match.end() :].strip(), maxsplit=1)[0].strip()
        if title.startswith(("题", "部分")) or match_exactly(title) is None:
            continue
        changed[index] = rewrite(piece, match.end(), f"{match.group(1)}、")
    return _write_counted(_write_lettered(changed))


_COUNTED = re.compile(r"\s*(\d{1,2})\s{2,}(?=[A-Z\u4e00-\u9fff])")


def _write_counted(pieces: list[Piece]) -> list[Piece]:
    """Write `1   Short answer questions`, `2   Multiple choice questions` as `Part 1. …`, where the numbers run on."""
    found: list[tuple[int, re.Match[str]]] = []
    for index, piece in enumerate(pieces):
        match = (
            _COUNTED.match(piece.text) if piece.text.lstrip()[:1].isdigit() and len(piece.text) < 90 else None
        )
        if match is not None:
            title = re.split(r"[（(:：\[]|\s{2,}", piece.text[match.end() :], maxsplit=1)[0].strip()
            if match_exactly(title) is not None:
                found.append((index, match))
    if len(found) < 2 or [int(match.group(1)) for _, match in found] != list(range(1, len(found) + 1)):
        return pieces
    for index, match in found:
        pieces[index] = rewrite(pieces[index], match.end(), f"Part {match.group(1)}. ")
    return pieces


def _write_lettered(pieces: list[Piece]) -> list[Piece]:
    """Write `A. Multiple Choice`, `B. True or False` as `Part A. …`, where at least two of them name types in a row."""
    found: list[tuple[int, re.Match[str]]] = []
    for index, piece in enumerate(pieces):
        match = _LETTERED.match(piece.text) if piece.text.lstrip()[:1] in "ABCDEFGH" else None
        if match is None or len(piece.text) > 90:
            continue
        title = re.split(r"[（(:：\[]|\s{2,}", piece.text[match.end() :], maxsplit=1)[0].strip()
        if match_exactly(title) is not None:
            found.append((index, match))
    letters = [match.group(1) for _, match in found]
    runs = sum(1 for left, right in pairwise(letters) if ord(right) == ord(left) + 1)
    indices = [index for index, _ in found]
    if (
        not letters
        or letters[0] != "A"
        or runs < 1
        or any(right == left + 1 for left, right in pairwise(indices))
    ):
        return pieces
    for index, match in found:
        pieces[index] = rewrite(pieces[index], match.end(), f"Part {match.group(1)}. ")
    return pieces


_LOOKS_LIKE_ONE = re.compile(r"\s*(?P<one>[Il|丨])\s*[.．、,，]\s*(?=\S)")


def _mend_first(pieces: list[Piece]) -> list[Piece]:
    """Write `I. ` as `1. ` where 2 and 3 follow it as the next numbers: what a scanner makes of a one."""
    for index, piece in enumerate(pieces):
        match = _LOOKS_LIKE_ONE.match(piece.text) if piece.text.lstrip()[:1] in "Il|丨" else None
        if match is None:
            continue
        following = [
            other.label.value
            for other in pieces[index + 1 : index + 60]
            if other.label is not None and other.label.style == "num" and not other.label.is_weak
        ]
        before = [
            other.label for other in pieces[:index] if other.label is not None and other.label.style == "num"
        ]
        if following[:2] == [2, 3] and not before:
            return [*pieces[:index], rewrite(piece, match.end(), "1. "), *pieces[index + 1 :]]
    return pieces


def _number_shape() -> re.Pattern[str]:
    return re.compile(
        rf"\s*(?P<open>{_OPEN}{{0,2}}\s*(?:{number_word()})?\s*{_OPEN}?|[（(]\s*(?:{number_word()})?)\s*(?P<number>{_NUMERAL})[ \t]?"
        rf"(?P<word>题(?:目)?)?\s?(?P<close>{_NUMBER_CLOSE}{{0,3}})(?P<gap>\s*)"
    )


_NUMBER_SHAPE = _number_shape()
# forms that count questions without help
_KNOWN_NUMBERS = ("num", "nump", "paren", "word", "bracket", "sub")


def read_mark(index: int, piece: Piece) -> Mark | None:
    """Read the beginning of a line as a number with whatever opens and closes it; None where it is none."""
    match = _NUMBER_SHAPE.match(piece.text)
    if match is None:
        return None
    value = read_number(match.group("number"))
    rest = piece.text[match.end() :]
    if value is None or not 0 < value < 1000 or not rest.strip():
        return None
    close = match.group("close")
    gap = match.group("gap") or piece.text[match.end("number") : match.end("number") + 1].strip(r"\S")
    gap = gap if gap.isspace() else ""
    opening = re.sub(r"\s|\d", "", match.group("open")).casefold()
    if not close and not gap and not match.group("word"):
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
    if rest[:1].isdigit() and (not gap or close[-1:] in "-–—~～:：/.,，%"):
        return None  # `1-5 ABCDD`, `1:30`, `3.14`, `1/2`
    if re.search(r"[=<>%*/]", close) and re.match(r"\s*[\w(]*\s*[=<>]", rest):
        return None  # a formula
    kind = _numeral_kind(match.group("number"))
    closing = close.translate(_WIDTHS).replace(" ", "")
    return Mark(index, f"{opening}|{kind}|{'题' if match.group('word') else ''}{closing}", value, match.end())


_WIDTHS = str.maketrans("．，：；）（】【！", ".,:;)(][!")


def _numeral_kind(token: str) -> str:
    if token[0].isdigit() and token.isascii():
        return "1"
    if "①" <= token[0] <= "㉟":
        return "①"
    return "i" if token.isascii() else "一"


def _write_numbers(pieces: list[Piece]) -> list[Piece]:
    """Write the numbers of a shape that runs through the paper as `1. `, unless the rules read it as it stands."""
    shapes: dict[str, list[Mark]] = {}
    known: list[int] = []
    known_first = 0
    for index, piece in enumerate(pieces):
        if piece.kind == "table":
            continue
        label = piece.label
        if label is not None and not label.is_weak and label.style in _KNOWN_NUMBERS:
            known.append(label.value)
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
    best_known = len(_find_run(known)[0])
    best: list[Mark] = []
    for shape, marks in shapes.items():
        run, through = _find_run([mark.value for mark in marks])
        is_part = len(run) < 4 or (known and known_first < marks[0].piece) or best_known > 2
        if shape.split("|")[1] != "1" and is_part and len(run) < max(8, 3 * best_known):
            continue  # Roman, circled and Chinese numbers count parts where others count questions
        if shape == "|1|" and (len(run) < 8 or through < 0.9 or best_known > 2):
            continue  # bare numbers: nothing else may count, and nearly all must run on
        if len(run) >= _MIN_RUN and through >= _MIN_SHARE and len(run) > len(best):
            # all of them: the numbers of an answer part begin anywhere
            last = max(marks[place].value for place in run)
            best = [mark for mark in marks if mark.value <= last]
    if len(best) <= max(2, 0.5 * best_known) or _is_nested(best, pieces):
        return pieces
    changed = list(pieces)
    for mark in best:
        changed[mark.piece] = rewrite(pieces[mark.piece], mark.end, f"{mark.value}. ")
    return changed


def _is_nested(marks: Sequence[Mark], pieces: Sequence[Piece]) -> bool:
    """Whether known numbers stand around these all along: they count parts of questions then."""
    if sum(1 for mark in marks if mark.value == 1) < 2:
        return False
    inside = 0
    for mark in marks:
        if mark.value != 1:
            continue
        before = next(
            (piece.label for piece in reversed(pieces[: mark.piece]) if piece.label is not None), None
        )
        inside += before is not None and before.style in _KNOWN_NUMBERS and not before.is_weak
    return inside > 1


def _find_run(values: Sequence[int]) -> tuple[list[int], float]:
    """The places of numbers that go on from one to the next (or start again at 1), and the share of all that do."""
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


def _cut_second_numbers(pieces: list[Piece]) -> list[Piece]:
    """Drop the number that a question had in the bank it was drawn from: `第 3 题,57、…`, where most questions have one."""
    numbered = [
        (index, piece.label.end)
        for index, piece in enumerate(pieces)
        if piece.label is not None and piece.label.style == "word" and not piece.label.is_weak
    ]
    seconds = [(index, end, _SECOND.match(pieces[index].text[end:])) for index, end in numbered]
    if len(numbered) < 5 or sum(1 for *_, match in seconds if match) < 0.7 * len(numbered):
        return pieces
    changed = list(pieces)
    for index, end, match in seconds:
        if match is not None:
            changed[index] = rewrite(pieces[index], end + match.end(), " ", end)
    return changed


_LETTER_SHAPE = re.compile(
    rf"(?P<before>^|\s)(?P<open>{_OPEN}?)(?P<letter>[A-Ja-j])(?P<close>\s*{_CLOSE}{{1,2}}|(?=[\u4e00-\u9fff“《])|(?=\d)|\s+)(?=\s*\S)"
)
# what layout/options.py reads everywhere without help
_PLAIN = re.compile(r"[Aa][.、:)]\Z|[（(\[【][Aa][)\]】]\Z")


def _write_letters(pieces: list[Piece]) -> list[Piece]:
    """Write the letters of a shape that runs A B C below several questions as `A. `: `a>`, `A-`, `A]`, `A。`, `A　`."""
    shapes: dict[str, list[tuple[int, re.Match[str]]]] = {}
    for index, piece in enumerate(pieces):
        for match in _LETTER_SHAPE.finditer(piece.text):
            case = "a" if match.group("letter").islower() else "A"
            close = match.group("close").strip().translate(_WIDTHS)
            shapes.setdefault(f"{match.group('open')}{case}{close}", []).append((index, match))
    plain = 0
    wanted: dict[int, list[re.Match[str]]] = {}
    for shape, found in shapes.items():
        sets = _find_sets(found, pieces)
        is_plain = _PLAIN.match(shape) is not None and "A" in shape
        if is_plain:
            plain = max(plain, len(sets))
        elif "a" in shape and _PLAIN.match(shape) and not _offers_answers(sets, pieces):
            continue  # parts of questions
        elif len(sets) >= (2 if "A" in shape else 3):
            for index, match in (one for group in sets for one in group):
                wanted.setdefault(index, []).append(match)
    if not wanted or plain > sum(len(one) for one in wanted.values()):
        return pieces
    changed = list(pieces)
    for index, matches in wanted.items():
        piece = pieces[index]
        for match in sorted(matches, key=lambda one: -one.start()):
            begin = match.end("before")
            # wide enough to part options on one line
            lead = "  " if piece.text[:begin].strip() else ""
            piece = rewrite(piece, match.end("close"), f"{lead}{match.group('letter').upper()}. ", begin)
        changed[index] = piece
    return changed


def _find_sets(
    found: Sequence[tuple[int, re.Match[str]]], pieces: Sequence[Piece]
) -> list[list[tuple[int, re.Match[str]]]]:
    """The sets A B C (D …) of one shape that stand together: from three letters on, on one line or on lines that follow.

    Every set begins a line and has a line above it that is no option.
    """
    sets: list[list[tuple[int, re.Match[str]]]] = []
    current: list[tuple[int, re.Match[str]]] = []
    for index, match in found:
        letter = match.group("letter").upper()
        at_start = not pieces[index].text[: match.end("before")].strip()
        if letter == "A" and at_start:
            if len(current) >= 3:
                sets.append(current)
            current = [(index, match)]
        elif (
            current
            and ord(letter) == ord(current[-1][1].group("letter").upper()) + 1
            and index - current[-1][0] <= 3
        ):
            current.append((index, match))
    if len(current) >= 3:
        sets.append(current)
    return [group for group in sets if group[0][0] > 0]


def _offers_answers(sets: Sequence[Sequence[tuple[int, re.Match[str]]]], pieces: Sequence[Piece]) -> bool:
    """Whether lists of small letters offer answers: they ask nothing, are short, and mostly of one length."""
    texts = [pieces[index].text[match.end("close") :] for group in sets for index, match in group]
    lengths = [len(group) for group in sets]
    usual = max(set(lengths), key=lengths.count) if lengths else 0
    asking = sum(1 for text in texts if _ASKS.search(text) or _DEMANDS.match(text))
    return (
        len(sets) >= 3
        and usual >= 4
        and lengths.count(usual) >= 0.6 * len(sets)
        and asking <= 0.1 * len(texts)
        and sum(map(len, texts)) <= 90 * len(texts)
    )


_DIGIT = re.compile(
    r"\s*(?P<open>[（(\[]?)\s*(?P<number>\d{1,2}|[①-⑩])\s*(?P<close>[)）\].．、:：>]?)\s*(?=\S)"
)
_ASKS = re.compile(
    r"[？?]\s*$|[（(\[]\s*\d+\s*(?:分|marks?|points?|pts?)|_{3,}|[（(]\s+[)）]|（）", re.IGNORECASE
)
_DEMANDS = re.compile(
    r"(?i)\s*(?:find|prove|show|explain|define|describe|calculate|compute|draw|write|state|list|give|discuss|determine|what|why|how|derive)\b|求|证明|试|说明|简述|解释|计算|写出|画出|分析|论述|请"
)
_HAS_LETTERS = re.compile(r"(?:^|\s)[（(\[]?[A-Da-d]\s*[.．、:：)）\]>]")


def _write_digits(pieces: list[Piece]) -> list[Piece]:
    """Write options that are numbered 1 2 3 4 below each question with letters; `A.` … are read in their place.

    A paper does so throughout: most questions have a list that starts at 1 again, ends right before the next number,
    asks nothing, is mostly of one length, and no letters stand anywhere.
    """
    pieces = _part_cells(pieces)
    lists = _find_lists(pieces)
    if len(lists) < 3:
        return pieces
    inside = [pieces[index].text for group in lists for index in group]
    if sum(
        1 for text in inside if _ASKS.search(text) or _DEMANDS.match(_DIGIT.sub("", text, count=1))
    ) > 0.1 * len(inside):
        return pieces
    lengths = [len(group) for group in lists]
    usual = max(set(lengths), key=lengths.count)
    if lengths.count(usual) < 0.4 * len(lists) or not 2 <= usual <= 7:
        return pieces
    if sum(1 for piece in pieces if _HAS_LETTERS.match(piece.text)) > 0.2 * len(lists):
        return pieces
    if sum(len(text) for text in inside) > 90 * len(inside):
        return pieces
    changed = list(pieces)
    for group in lists:
        for place, index in enumerate(group):
            match = _DIGIT.match(pieces[index].text)
            if match is not None and place < 10:
                changed[index] = rewrite(pieces[index], match.end(), f"{'ABCDEFGHIJ'[place]}. ")
        above = group[0] - 1
        if re.fullmatch(
            r"\W*(?:answers?|options?|choices?|选项|备选答案|答案)\W*",
            changed[above].text.strip(),
            re.IGNORECASE,
        ):
            changed[above] = replace(changed[above], text="", sources=())
    return [piece for piece in changed if piece.text.strip()]


_CELL = re.compile(r"(?:^|(?<=\s\s)|(?<=\t))\s*[（(]?(?P<number>\d)[)）][.．、]?\s*(?=\S)")


def _part_cells(pieces: list[Piece]) -> list[Piece]:
    """Give `1) river   2) valley` a line for each, where a paper does so several times and has no letters."""
    cells = {
        index: marks
        for index, piece in enumerate(pieces)
        if piece.kind != "table"
        for marks in [list(_CELL.finditer(piece.text))]
        if len(marks) > 1
        and not piece.text[: marks[0].start()].strip()
        and all(
            int(right.group("number")) == int(left.group("number")) + 1 for left, right in pairwise(marks)
        )
    }
    long = sum(1 for index, marks in cells.items() if len(pieces[index].text) > 8 * len(marks))
    lettered = sum(1 for piece in pieces if _HAS_LETTERS.match(piece.text))
    if long < 3 or long < 0.8 * len(cells) or lettered > 0.2 * long:
        return pieces
    parted: list[Piece] = []
    for index, piece in enumerate(pieces):
        marks = cells.get(index, [])
        stops = [*(mark.start() for mark in marks[1:]), len(piece.text)]
        starts = [mark.start() for mark in marks]
        parted.extend(
            [piece.cut(start, stop) for start, stop in zip(starts, stops, strict=True)] if marks else [piece]
        )
    return parted


def _find_lists(pieces: Sequence[Piece]) -> list[list[int]]:
    """The lines of every list 1 2 3 … that stands inside a question: at least two, and nine in ten questions have one."""
    numbers: list[tuple[int, str, int]] = []
    for index, piece in enumerate(pieces):
        label = piece.label
        if (
            label is None
            or piece.kind == "table"
            or label.style not in ("num", "paren", "nump", "word", "circ", "bracket", "bare")
        ):
            continue
        if label.style == "bare" and label.is_weak:
            continue
        numbers.append((index, label.style, label.value))
    lists: list[list[int]] = []
    place, last, asked = 0, 0, 0
    inner_form = ""
    within = 0  # questions from the first that has a list to the last
    style = numbers[0][1] if numbers else ""
    while place < len(numbers):
        index, own, value = numbers[place]
        is_question = own == style and (value == last + 1 or (last == 0 and value == 1))
        if not is_question and not (own == style and last < value <= last + 3):
            place += 1
            continue
        asked += 1
        last = value
        inner = place + 1
        group: list[int] = []
        while (
            inner < len(numbers)
            and numbers[inner][2] == len(group) + 1
            and (not group or numbers[inner][1] == numbers[place + 1][1])
        ):
            if (
                own == numbers[inner][1]
                and len(group)
                and numbers[inner][2] == last + 1
                and _goes_on(numbers, inner, last + 1)
            ):
                break
            group.append(numbers[inner][0])
            inner += 1
        follows = inner >= len(numbers) or (numbers[inner][1] == style and numbers[inner][2] > last)
        form = numbers[place + 1][1] if place + 1 < len(numbers) else ""
        # lists in another form, `(1) … (2) …` below `1) … 2) …`, count parts
        if len(group) >= 2 and follows and group[0] > index and form == (inner_form or form):
            inner_form = form
            within = asked if lists else 1
            asked = max(asked, 1) if lists else 1
            lists.append(group)
            place = inner
        else:
            place += 1
    return lists if len(lists) >= 0.7 * max(within, 1) else []


def _goes_on(numbers: Sequence[tuple[int, str, int]], place: int, value: int) -> bool:
    """Whether the number at this place begins a question: a list from 1 stands below it."""
    return place + 1 < len(numbers) and numbers[place + 1][2] == 1


_ANSWER_HEADING = re.compile(
    r"\s*[【\[（(]?\s*(?:(?:Model|Sample|Suggested|Reference)\s+)?(?:Answers?(?:\s*Keys?)?|Solutions?|参考答案|答案|解答|Key)\s*[】\])）]?\s*[:：]?\s*",
    re.IGNORECASE,
)


def _write_repeated_headings(pieces: list[Piece]) -> list[Piece]:
    """Write `Answer Key` on a line of its own as the mark of an answer, where one stands below nearly every question."""
    places = [index for index, piece in enumerate(pieces) if _ANSWER_HEADING.fullmatch(piece.text)]
    if len(places) < 3:
        return pieces
    numbers = [
        index
        for index, piece in enumerate(pieces)
        if piece.label is not None and not piece.label.is_weak and piece.label.style in _KNOWN_NUMBERS
    ]
    between = sum(1 for left, right in pairwise(places) if any(left < number < right for number in numbers))
    if between < 0.7 * (len(places) - 1):
        return pieces
    changed = list(pieces)
    for index in places:
        text = pieces[index].text
        mark = "答案：" if re.search(r"[\u4e00-\u9fff]", text) else "Answer:"
        changed[index] = rewrite(pieces[index], len(text), mark)
    return changed


_KEY_LIKE = re.compile(
    r"\s*[（(]?(?:[A-Ja-j](?:[\s,，、;；/&]*(?:and\s*)?[A-Ja-j]){0,9}|√|×|✓|✗|✔|✘|对|错|正确|错误|True|False|T|F)[)）]?\s*[.。]?\s*(?:$|[,，;；(（\n]|\s{2,})",
    re.IGNORECASE,
)
_LAST_BRACKET = re.compile(r"[)）\]】]\s*$")


def _find_usual_leads(pieces: Sequence[Piece]) -> set[str]:
    """The words that open at least three keys of a paper (`答案 B`): they open its other answers, too."""
    leads: Counter[str] = Counter()
    for piece in pieces:
        match = answer_mark().match(piece.text) if piece.kind != "table" else None
        if match is not None and _names_answer(match.group(0)) and _KEY_LIKE.match(piece.text[match.end() :]):
            leads[match.group(0).strip()] += 1
    return {lead for lead, count in leads.items() if count >= 3}


def _write_answer(piece: Piece, usual: Collection[str]) -> Piece:
    """Write `Ans- B`, `the correct answer is: X`, `答案→B`, `答案 B` as `Answer: B` or `答案：B`."""
    text = piece.text
    if piece.kind == "table":
        return piece
    match = answer_mark().match(text)
    if match is None:
        return piece
    rest = text[match.end() :]
    separator = match.group(1).strip()
    lead = match.group(0)
    word = "答案：" if re.search(r"[\u4e00-\u9fff]", lead) else "Answer: "
    if not rest.strip():
        is_mark = (
            _is_separator(separator) and _names_answer(lead) and re.search(r"(?i)\b(?:is|are)\b|[为是]", lead)
        )
        return rewrite(piece, len(text), word.strip()) if is_mark else piece
    if rest[:1] in "：:":
        return piece
    is_key = _KEY_LIKE.match(rest) is not None
    has_copula = re.search(r"(?i)\b(?:is|are)\b|[为是选]", lead) is not None
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
    return re.search(r"答案|正解|标答|(?i:answer|\bans\b|solution|\bkey\b|\bsol\b)", lead) is not None
