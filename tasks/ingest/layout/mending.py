"""Lines mended before their marks are read: decoration, brackets, numbers, margins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import is_

from schemas import patterns as re
from tasks.ingest.layout.headings import tells_how
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.pieces import IndexedLines, Piece, is_sign, rewrite
from tasks.ingest.words.answers import match_answer, read_truth
from tasks.ingest.words.grammar import (
    answer_mark,
    answer_name,
    asking,
    is_status_line,
    may_open_status,
    number_word,
    task,
)
from tasks.ingest.words.labels import HEADING, counts_questions, is_sure, parse_label
from tasks.ingest.words.signs import closes_asking

_DECORATION = re.compile(
    r"\s*(?:\[image\]|[^\w\s（()）\[【〔「“”‘’\"'$\\+\-–—.。,，、;；:：?？!！/<>=|#&@%^~`{}]|_{3,}+)+\s*"
    r"(?=(?:\d{1,3}|[A-Ja-j]|[一二三四五六七八九十]{1,3})\s*[.．、:：)）]|[（(\[【][A-J\d一二三四五六七八九十]{1,2}[)）\]】]|"
    r"(?:答案|参考答案|正确答案|解析|【答案】|【解析】|Answers?|Ans)\s*[:：]|【|第)"
)


def drop_decoration(lines: IndexedLines) -> IndexedLines:
    """Drop a picture, a star, a bullet or a rule before a label.

    So in `★1.`, `[image]A.`, `____二、`; √ and × stay.
    """
    changed: dict[int, Piece] = {}
    for place in lines.open_where(_may_decorate):
        piece = lines.pieces[place]
        match = _DECORATION.match(piece.text) or _LIST_SIGN.match(piece.text) or _match_form(piece.text)
        if match is not None and not any(sign in match.group(0) for sign in "√×✓✗✔✘☑☒○◯□☐▢*"):
            changed[place] = replace(piece.cut(match.end()), start=piece.start)
    return lines.replace(changed)


# the sign of a list before an option that has its letter: `- A. a = b`
_LIST_SIGN = re.compile(r"\s*[-–—+]\s+(?=[（(]?[A-Ja-j]\s*[.．、:：)）]\s*\S)")
_FORM_LEAD = re.compile(r"\s*([^\W\d_]{2,6}?)\s*(?=[一二三四五六七八九十]{1,3}\s*[、.．])")


def _match_form(text: str) -> re.Match[str] | None:
    """The words of a form that run into a heading: `得分四、`."""
    match = _FORM_LEAD.match(text)
    return match if match is not None and is_status_line(match[1]) else None


def _may_decorate(first: str) -> bool:
    return first == "_" or is_sign(first) or may_open_status(first)


# The cells of a form are short and stand in several rows; more than one row has a title of its own beside them.
_LONGEST_FORM_CELL, _LEAST_ROWS = 8, 2


def open_cells(lines: IndexedLines) -> IndexedLines:
    """Take the title out of a row whose other cells are a form: `得分 | 评卷人 | 三、简答题（每题6分，共30分）`."""
    rows = {place: _part_cells(piece.text) for place, piece in enumerate(lines.pieces) if " | " in piece.text}
    counts = Counter(text for cells in rows.values() for text in {text for text, _, _ in cells})
    changed: dict[int, Piece] = {}
    for place, cells in rows.items():
        own = [cell for cell in cells if cell[0] and not _is_form(cell[0], counts)]
        if len(own) != 1 or not any(text and _is_form(text, counts) for text, _, _ in cells):
            continue
        text, first, last = own[0]
        label = parse_label(text)
        if not is_sure(label, (*HEADING, "num", "word")):
            continue
        cell = lines.pieces[place].cut(first, last)
        changed[place] = replace(cell, kind="body", end=lines.pieces[place].end)
    return lines.replace(changed)


_LETTER_CELL = re.compile(r"[（(]?([A-Ja-j])\s*[)）.．、:：]?")
_LEAST_OFFERED = 2


def open_options(lines: IndexedLines) -> IndexedLines:
    """Write rows that offer options as lines: `* | c. | the owner` as `C. the owner *`."""
    written: list[Piece] = []
    offered: list[tuple[int, Piece]] = []
    for piece in (*lines.pieces, None):
        option = _read_option_row(piece) if piece is not None else None
        if option is not None and option[0] == len(offered):
            offered.append((len(written), option[1]))
        else:
            if len(offered) >= _LEAST_OFFERED:
                for place, line in offered:
                    written[place] = line
                first = offered[0][0]
                if first and written[first - 1].kind == "table" and not written[first - 1].text.strip(" |"):
                    del written[first - 1]  # the empty head of the table
            offered = [(len(written), option[1])] if option is not None and option[0] == 0 else []
        if piece is not None:
            written.append(piece)
    return lines if all(map(is_, written, lines.pieces)) else IndexedLines(written)


# `选项 | 小计 | 比例` above `绿区(答案) | 45 | 90%`, and below all of them how many have answered
_COUNTS_HEAD = re.compile(
    r"[\s|]*(?:选项\s*\|\s*小计|(?i:(?:options?|choices?)\s*\|\s*(?:responses?|counts?|votes?)))\s*\|[^|\d]+[\s|]*"
)
_COUNTED_ROW = re.compile(r"[\s|]*+(?P<text>[^|]{0,200}[^|\s])\s*\|\s*\d+\s*\|[^|%％]*\d\s*[%％][\s|]*")
_ALL_COUNTED = re.compile(r"[\s|]*[^|]{2,20}\|\s*\d+[\s|]*")
_SAID_RIGHT = re.compile(r"\s*[（(]\s*(?:正确答案|答案|(?i:correct(?: answer)?))\s*[)）]\s*$")


def open_counts(lines: IndexedLines) -> IndexedLines:
    """Write the rows of a report of how often options were chosen as boxes."""
    pieces = lines.pieces
    changed: dict[int, Piece] = {}
    left_out: set[int] = set()
    for head in lines.find(_COUNTS_HEAD, "| 选OoCc"):
        rows: dict[int, re.Match[str]] = {}
        for place in range(head + 1, len(pieces)):
            row = _COUNTED_ROW.fullmatch(pieces[place].text) if pieces[place].kind == "table" else None
            if row is None:
                break
            rows[place] = row
        if pieces[head].kind != "table" or len(rows) < _LEAST_OFFERED:
            continue
        left_out.add(head)
        below = max(rows) + 1
        if (
            below < len(pieces)
            and pieces[below].kind == "table"
            and _ALL_COUNTED.fullmatch(pieces[below].text)
        ):
            left_out.add(below)
        for place, row in rows.items():
            said = _SAID_RIGHT.search(row["text"])
            end = row.start("text") + said.start() if said is not None else row.end("text")
            bare = replace(pieces[place].cut(0, end), kind="body")
            changed[place] = rewrite(bare, row.start("text"), "☐ " if said is None else "☑ ")
    return lines.replace(changed, left_out)


def _read_option_row(piece: Piece) -> tuple[int, Piece] | None:
    """The place of the option that a row offers, and the row as a line; None where it has none."""
    if piece.kind != "table" or " | " not in piece.text:
        return None
    filled = [cell for cell in _part_cells(piece.text) if cell[0]]
    signs = [cell for cell in filled if len(cell[0]) <= 2 and not cell[0].isalnum()]
    rest = [cell for cell in filled if cell not in signs or _LETTER_CELL.fullmatch(cell[0])]
    if len(rest) != 2 or len(signs) > 2:
        return None
    match = _LETTER_CELL.fullmatch(rest[0][0])
    if match is None or rest[0][1] > rest[1][1]:
        return None
    letter = match[1].upper()
    line = replace(rewrite(piece, rest[1][1], f"{letter}. "), kind="body")
    sign = next((cell[0] for cell in signs if cell not in rest), "")
    if sign:
        line = rewrite(line, len(line.text), f" {sign}", len(line.text.rstrip()))
    return ord(letter) - ord("A"), line


_NUMBER_ROW = re.compile(
    rf"\s*(?:{number_word()}\s*)?(\d{{1,3}})\s*[题題]?\s*[.．、)）:：]?\s*\|\s*(?=[^\s|])(?=[^|]*(?:\|\s*(?P<marks>[^|\s][^|]{{0,15}}?)\s*)?\|?\s*$)"
)
_LEAST_NUMBERED, _MOST_NUMBERED = 3, 0.9
_NUMBERS, _BOX_CELL = re.compile(r"\d+(?:[.,]\d+)?"), re.compile("[○◯□☐▢☑☒]")


def open_numbers(lines: IndexedLines) -> IndexedLines:
    """Write `3 | Which …` as `3. Which …` where the numbers of such rows run on.

    A third cell tells what each is worth, and goes. Rows of a box and a text below them become lines, too.
    """
    pieces = lines.pieces
    rows = {
        place: match
        for place, piece in enumerate(pieces)
        if piece.kind == "table" and (match := _NUMBER_ROW.match(piece.text)) is not None
    }
    worth = Counter(_NUMBERS.sub("#", match["marks"]) for match in rows.values() if match["marks"])
    rows = {
        place: match
        for place, match in rows.items()
        if not match["marks"] or worth[_NUMBERS.sub("#", match["marks"])] >= _MOST_NUMBERED * len(rows)
    }
    heads = [place for place in rows if place + 1 not in rows]
    return _open_rows(
        lines, {place: (int(one[1]), _number(pieces[place], one)) for place, one in rows.items()}, heads
    )


def _number(row: Piece, match: re.Match[str]) -> Piece:
    """A row that begins with its number as a line, without the cell of what it is worth."""
    row = row.cut(0, row.text.rindex("|", 0, match.start("marks"))) if match["marks"] else row
    return replace(rewrite(row, match.end(), f"{match[1]}. "), kind="body")


def _open_rows(
    lines: IndexedLines, numbered: Mapping[int, tuple[int, Piece]], heads: Collection[int]
) -> IndexedLines:
    """Numbered rows as lines, and those of a box and a text, of an answer, or of one text below.

    The numbers of nearly all of them, those of `heads`, run on from 1.
    """
    run = [place for at, place in enumerate(heads, start=1) if numbered[place][0] == at]
    if len(run) < max(_LEAST_NUMBERED, _MOST_NUMBERED * len(numbered)):
        return lines
    opened = {place: numbered[place][1] for place in run}
    for place, row in enumerate(lines.pieces[run[0] :], start=run[0]):
        filled = [cell for cell in _part_cells(row.text) if cell[0]]
        if place in numbered or row.kind != "table":
            continue
        name = filled[0][0].rstrip(":：") if filled else ""
        if len(filled) == 2 and (_BOX_CELL.fullmatch(name) or answer_mark().fullmatch(f"{name}:")):
            _, begin, end = filled[1]
            mark = f"{name} " if _BOX_CELL.fullmatch(name) else f"{name}: "
            opened[place] = replace(rewrite(row.cut(0, end), begin, mark), kind="body")
        elif len(filled) == 1:
            opened[place] = replace(row.cut(*filled[0][1:]), kind="body")
    return lines.replace(opened)


# what stands beside a question: its key, or room for it
_KEY_CELL = re.compile(r"[（(\[]?\s*(?P<key>[A-Ha-h]{1,4}|[√×✓✗TF对错○]|[\s_]*)\s*[)）\]]?")


def open_numbered(lines: IndexedLines) -> IndexedLines:
    """Write rows of one numbered cell as lines, a key beside it before it: `(B) | 1. Which …`.

    Their numbers run on from 1, and no line before the last of them is numbered.
    """
    pieces = lines.pieces
    rows = {
        place: row
        for place, piece in enumerate(pieces)
        if piece.kind == "table" and (row := _read_numbered(piece)) is not None
    }
    if len(rows) < _LEAST_NUMBERED or any(
        place < max(rows) and pieces[place].kind != "table" for place in lines.numbered
    ):
        return lines
    return _open_rows(lines, rows, rows)


def _read_numbered(row: Piece) -> tuple[int, Piece] | None:
    """The number of a row that has one cell beside at most a key, and the row as a line."""
    cells = [cell for cell in _part_cells(row.text.rstrip(" |")) if cell[0]]
    asked = [cell for cell in cells if not _KEY_CELL.fullmatch(cell[0])]
    label = parse_label(asked[0][0]) if len(asked) == 1 and len(cells) <= len(asked) + 1 else None
    if not counts_questions(label):
        return None
    line = replace(row.cut(*asked[0][1:]), kind="body")
    keys = [match["key"] for cell in cells if (match := _KEY_CELL.fullmatch(cell[0])) is not None]
    return label.value, rewrite(line, 0, f"（{keys[0].strip()}）") if keys else line


_FOLDED = re.compile(
    r"</?details[^<>]{0,40}>|<summary>(?P<title>(?:[^<>]|</?(?:b|i|strong|em)>){0,60})(?:</summary>|$)|</summary>|</?(?:p|div)>"
)
_TAG = re.compile(r"<[^<>]*>")


def open_details(lines: IndexedLines) -> IndexedLines:
    """Write what Markdown folds away, `<summary>Show answer</summary>`, behind `Answer:`."""
    if not all(tag in lines.text for tag in ("<details", "<summary", "</summary>", "</details>")):
        return lines  # `What is <summary>?`
    kept: list[Piece] = []
    lead = ""
    for piece in lines.pieces:
        said = ""
        for match in reversed([*_FOLDED.finditer(piece.text)]):
            title = _TAG.sub("", match["title"] or "").strip(" :：")
            said = "Answer: " if answer_name().search(title) else f"{title}: " if title else said
            piece = rewrite(piece, match.end(), said if title else "", match.start())
        if lead and piece.text.strip():
            piece, lead = piece if match_answer(piece.text) else rewrite(piece, 0, lead), ""
        if said and piece.text.strip() == said.strip():
            lead = said  # what was folded away begins on the next line
        elif piece.text.strip():
            kept.append(piece)
    return IndexedLines(kept)


_ASKED_ABOVE = re.compile(r"\s*[★☆※◆●▲■►▶*]\s*\S.*|\W*\w.*[？?：:]\s*")
_NUMBERED_OPTIONS = re.compile(
    r"\s*(?P<number>\d{1,3}\s*[.．、)）])\s*(?=[（(]?A(?:\s*[.．、)）]\s*\S|\s.*\sB\s))"
)
_LEAST_ASKED_ABOVE = 2


def lower_numbers(lines: IndexedLines) -> IndexedLines:
    """Put numbers before options, `13. A sea  B land`, before the asking line above."""
    pieces = lines.pieces
    numbered = {
        place: match
        for place, piece in enumerate(pieces)
        if place
        and piece.kind != "table"
        and not read_key_line(piece.text)
        and (match := _NUMBERED_OPTIONS.match(piece.text)) is not None
    }
    below = [
        place
        for place in numbered
        if lines.labels[place - 1] is None and _OPTION_LINE.match(pieces[place - 1].text) is None
    ]
    asked = (
        below if len(below) == len(numbered) > _LEAST_ASKED_ABOVE else _find_asked(pieces, numbered, below)
    )
    if not asked:
        return lines
    changed: dict[int, Piece] = {}
    for place in asked:
        changed[place - 1] = rewrite(pieces[place - 1], 0, f"{numbered[place]['number']} ")
        changed[place] = pieces[place].cut(numbered[place].end())
    return lines.replace(changed)


_OPTION_LINE = re.compile(r"\s*[（(]?[A-Ja-j]\s*[.．、)）]")


def _find_asked(
    pieces: Sequence[Piece], numbered: Mapping[int, re.Match[str]], below: Sequence[int]
) -> list[int]:
    """The places of two numbers or more that run on, each below a line that asks."""
    found: list[int] = []
    run: list[int] = []
    for place in (*numbered, -1):
        asks = place in below and _ASKED_ABOVE.fullmatch(pieces[place - 1].text) is not None
        goes_on = run and place >= 0 and _read_value(numbered[place]) == _read_value(numbered[run[-1]]) + 1
        if asks and (goes_on or not run):
            run.append(place)
            continue
        found += run if len(run) >= _LEAST_ASKED_ABOVE else []
        run = [place] if asks else []
    return found


def _read_value(match: re.Match[str]) -> int:
    return int(match["number"].rstrip(" .．、)）"))


_LETTERED = re.compile(r"\s*([A-H])(?:(?P<stop>\s*[.．、:：)）])|\s?(?=[\u4e00-\u9fff“《]))")


def write_bare_letters(lines: IndexedLines) -> IndexedLines:
    """Write `A农民` as `A. 农民` where lines run A B C … and others of them have a stop."""
    changed: dict[int, Piece] = {}
    run: list[tuple[int, re.Match[str]]] = []
    for place, piece in enumerate((*lines.pieces, None)):
        match = _LETTERED.match(piece.text) if piece is not None and piece.kind != "table" else None
        value = ord(match[1]) - ord("A") if match is not None else -1
        if match is not None and value == len(run) and (not run or run[-1][0] == place - 1):
            run.append((place, match))
            continue
        bare = [(at, one) for at, one in run if one["stop"] is None]
        if len(run) > _LEAST_OFFERED and 0 < len(bare) < len(run):
            changed |= {at: rewrite(lines.pieces[at], one.end(), f"{one[1]}. ") for at, one in bare}
        run = [(place, match)] if match is not None and value == 0 else []
    return lines.replace(changed)


_ANY_LETTER = re.compile(r"(?<![A-Za-z\d.])([A-Ha-h])(?=\s?[.．、:：)）])")
_LEAST_LETTERS = 3


def raise_letters(lines: IndexedLines) -> IndexedLines:
    """Write `a. salt b. iron C. wood D. glass` with capitals: a scan shows some small."""
    changed: dict[int, Piece] = {}
    for place in lines.open_with("Aa（("):
        piece = lines.pieces[place]
        letters = [match for match in _ANY_LETTER.finditer(piece.text) if piece.kind != "table"]
        said = "".join(match[1] for match in letters)
        is_run = len(said) >= _LEAST_LETTERS and said.upper() == "ABCDEFGH"[: len(said)]
        if is_run and not said.isupper() and not said.islower():
            for match in letters:
                piece = rewrite(piece, match.end(), match[1].upper(), match.start())
            changed[place] = piece
    return lines.replace(changed or _raise_rows(lines))


# `1. Which is a fruit?   a. carrot   b. apple   c. potato`
_SMALL_LETTER = re.compile(r"(?<=\s)[(（]?([a-h])\s?[.．)）]\s*(?=\S)")
_LEAST_SMALL, _MOST_SMALL = 3, 0.7


def _raise_rows(lines: IndexedLines) -> dict[int, Piece]:
    """Write small letters that offer short words behind most stems as capitals."""
    changed: dict[int, Piece] = {}
    numbered = 0
    for place, label in enumerate(lines.labels):
        piece = lines.pieces[place]
        if not is_sure(label, ("num", "paren", "word")):
            continue
        numbered += 1
        marks = [*_SMALL_LETTER.finditer(piece.text, label.end)]
        if len(marks) < _LEAST_SMALL or "".join(one[1] for one in marks) != "abcdefgh"[: len(marks)]:
            continue
        ends = [*(one.start() for one in marks[1:]), len(piece.text)]
        cells = [piece.text[one.end() : end] for one, end in zip(marks, ends, strict=True)]
        stem = piece.text[label.end : marks[0].start()].strip()
        # `Define: a. cell  b. tissue` has parts
        is_task = task().match(stem) is not None and not closes_asking(stem)
        if stem and not is_task and not any(map(asking().search, cells)):
            for one in marks:
                piece = rewrite(piece, one.end(1), one[1].upper(), one.start(1))
            changed[place] = piece
    return changed if len(changed) >= max(_LEAST_SMALL, _MOST_SMALL * numbered) else {}


# So many pairs of lines must say *true* and *false* for those to be what is offered.
_LONGEST_TRUTH, _LEAST_PAIRS = 12, 3


def write_truths(lines: IndexedLines) -> IndexedLines:
    """Write `T` above `F` as the options `A. T` and `B. F`, where lines say so again and again."""
    pieces = lines.pieces
    told = [_tell_truth(piece) for piece in pieces]
    pairs = [
        place
        for place in range(1, len(told) - 1)
        if told[place - 1] is None and {told[place], told[place + 1]} == {"true", "false"}
    ]
    if len(pairs) < _LEAST_PAIRS:
        return lines
    return lines.replace(
        {
            place + number: rewrite(
                pieces[place + number], _find_sign_end(pieces[place + number].text), f"{letter}. "
            )
            for place in pairs
            for number, letter in enumerate("AB")
        }
    )


# `- True`, `○ Falsch`: what a list puts before its entries
_BULLET = re.compile(r"\s*(?:[-–—*•·▪◦○●◯□☐]\s+)?")


def _find_sign_end(text: str) -> int:
    mark = _BULLET.match(text)
    return mark.end() if mark is not None else 0


def _tell_truth(piece: Piece) -> str | None:
    text = piece.text[_find_sign_end(piece.text) :].strip()
    return read_truth(text) if 0 < len(text) <= _LONGEST_TRUTH and piece.kind != "table" else None


def _is_form(text: str, counts: Counter[str]) -> bool:
    key = _KEY_CELL.fullmatch(text)
    if len(text) > _LONGEST_FORM_CELL or (key is not None and key["key"].strip("_ ")):
        return False
    return counts[text] >= _LEAST_ROWS or is_status_line(text)


def _part_cells(text: str) -> list[tuple[str, int, int]]:
    """The cells of a row: their text, and where each begins and ends."""
    cells: list[tuple[str, int, int]] = []
    position = 0
    for part in text.split(" | "):
        cells.append((part.strip(), position, position + len(part)))
        position += len(part) + len(" | ")
    return cells


_INSIDE = re.compile(r"(?<=[\s。.；;])第\s*(\d{1,3})\s*题(?=\s*[,，.、:：]|\s)")


def part_lines(lines: IndexedLines) -> IndexedLines:
    """Begin a line at `第 18 题` inside one, where it is the next number."""
    if sum(1 for label in lines.labels if label is not None and label.style == "word") < 5:
        return lines
    parted: list[Piece] = []
    last = 0
    for piece in lines.pieces:
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
    return IndexedLines(parted)


# `0 1`, `0 1 . 2`: a number in boxes, a digit in each
_BOXED = re.compile(r"\s*(\d) (\d)(?:\s*[.．]\s*(\d))?\s+(?=\D)")


def join_boxes(lines: IndexedLines) -> IndexedLines:
    """Write `0 1 . 2 Explain …` as the second part of question 1, where such numbers run on."""
    found = {
        place: match
        for place, piece in enumerate(lines.pieces)
        if piece.text.lstrip()[:1] == "0" or piece.text.lstrip()[1:2] == " "
        if (match := _BOXED.match(piece.text)) is not None
    }
    values = [int(match[1] + match[2]) for match in found.values()]
    steps = {later - earlier for earlier, later in pairwise(values)}
    if len(values) < _LEAST_BOXED or values[0] != 1 or not steps <= {0, 1} or steps == {0}:
        return lines
    changed: dict[int, Piece] = {}
    last = 0
    for (place, match), value in zip(found.items(), values, strict=True):
        number = f"{value}. " if value != last else ""
        part = f"({match[3]}) " if match[3] and not number else ""
        changed[place] = rewrite(lines.pieces[place], match.end(), number + part)
        last = value
    return lines.replace(changed)


_LEAST_BOXED = 3
_BESIDE_NUMBER = re.compile(
    r"(?<=\s\s)(\d{1,3})\s?[.．、)）]\s*(?=\S)|(?<=\t)(\d{1,3})\s?[.．、)）]\s*(?=\S)"
)
# what is left open: a sum ends with its sign or has a place for what it makes
_SUM = re.compile(r"[=＝≈]\s*$|[○〇]|_{2,}|[（(]\s*[)）]")
_LONGEST_SUM = 60


def part_rows(lines: IndexedLines) -> IndexedLines:
    """Begin a line at each sum of a row, `1. 5+3=__   2. 9-4=__`, and in rows below one task."""
    rows: dict[int, list[Piece]] = {}
    last, told = 0, -2  # the last number, the last line that sets a task
    run: list[int] = []
    wanted: set[int] = set()
    for place, (piece, label) in enumerate(zip(lines.pieces, lines.labels, strict=True)):
        if label is None:
            told = place if not run and tells_how(piece) else told
            continue
        found = [*_BESIDE_NUMBER.finditer(piece.text)] if label.style in _ROW_STYLES else []
        ends = [0, *(one.start() for one in found), len(piece.text)]
        cells = [piece.cut(first, end) for first, end in pairwise(ends)]
        values = [label.value, *(int(one[1] or one[2]) for one in found)]
        is_row = _counts_on(values) and all(len(cell.text.strip()) <= _LONGEST_SUM for cell in cells)
        if not is_row or label.value != last + 1 or not run:
            run = [place] if is_row and found and label.value == 1 and place == told + 1 else []
        else:
            run.append(place)
        last = values[-1]
        if found and is_row:
            rows[place] = cells
            if all(_SUM.search(cell.text) for cell in cells):
                wanted.add(place)
        if len(run) >= _LEAST_ROWS and not any(read_key_line(lines.pieces[one].text) for one in run):
            wanted.update(run)
    return lines.part(
        {
            place: [replace(cell, kind="body", wraps=False) for cell in rows[place]]
            for place in wanted & rows.keys()
        }
    )


_ROW_STYLES = ("num", "paren")


def _counts_on(values: Sequence[int]) -> bool:
    return values == [*range(values[0], values[0] + len(values))]


_LEAST_UPRIGHT = 4


def drop_upright(lines: IndexedLines) -> IndexedLines:
    """Drop four lines or more of one character each: what a margin says downwards."""
    runs: list[list[int]] = []
    for place in lines.short:
        text = lines.pieces[place].text.strip()
        if len(text) != 1 or text.isascii():
            continue
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return lines.replace({}, {place for run in runs if len(run) >= _LEAST_UPRIGHT for place in run})
