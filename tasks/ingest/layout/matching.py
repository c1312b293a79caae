"""What several questions choose from: a second column, a box above or below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from schemas import patterns as re
from tasks.ingest.layout.furniture import move_brackets
from tasks.ingest.layout.headings import CASE, INSTRUCTION, SHARES, STRONG_STYLES, read_heading
from tasks.ingest.layout.options import offers_options_in, option_text, split_options
from tasks.ingest.layout.pieces import BESIDE, PASSAGE, IndexedLines, Piece, is_sign, rewrite, run_on, say
from tasks.ingest.layout.sections import OPTION_A
from tasks.ingest.layout.short_headings import heads_list
from tasks.ingest.words.labels import KNOWN_NUMBERS, Label, counts_questions, is_sure, parse_label

_LEAST_ROWS = 3


def write_matching(lines: IndexedLines) -> IndexedLines:
    """Part `9. lamp | A. gives light` into the options that the numbers share, and these."""
    if not any(label is not None and label.value > 1 for label in lines.labels):
        return lines
    kept: list[Piece] = []
    place = 0
    while place < len(lines.pieces):
        items, options, end = _read_rows(lines, place)
        if len(items) >= _LEAST_ROWS and _is_part(items[0]):
            if kept:
                kept[-1] = replace(kept[-1], wraps=False)
            kept += [*items, *options]  # of one question, which offers them to all its items
            place = end
        elif len(items) >= _LEAST_ROWS and _asks_to_match(kept, items[0]) and not _is_headed(lines, place):
            kept += [*(item.with_label(None) for item in items), *(one.with_label(None) for one in options)]
            place = end
        elif len(items) >= _LEAST_ROWS:
            first, last = items[0].label, items[-1].label
            kept += [
                *([_lead(items[0], first.value, last.value)] if first and last else []),
                *options,
                *items,
            ]
            place = end
        else:
            kept.append(lines.pieces[place])
            place += 1
    return lines if len(kept) == len(lines.pieces) else IndexedLines(kept)


def _is_headed(lines: IndexedLines, place: int) -> bool:
    """Whether the line above is of a form that heads several lists: `Exercise 3. Match …`."""
    above = lines.labels[place - 1] if place else None
    own = [at for at, label in lines.numbered.items() if above is not None and label.style == above.style]
    return sum(heads_list(lines, at) for at in own) > 1


def _asks_to_match(above: Sequence[Piece], item: Piece) -> bool:
    """Whether the line above tells to match, and items count anew: `14. Match …`, `1. lamp`."""
    label = above[-1].label if above else None
    return (
        counts_questions(label)
        and item.label is not None
        and item.label.value == 1
        and label.value > 1
        and _MATCHES.search(above[-1].text) is not None
    )


def _lead(head: Piece, first: int, last: int, what: str = "备选答案") -> Piece:
    """A line in the place of another that says which questions share what is below it."""
    return replace(say(head, f"{first}～{last}题共用{what}"), wraps=False)


def _read_rows(lines: IndexedLines, begin: int) -> tuple[list[Piece], list[Piece], int]:
    """The numbered items and the lettered options of rows from a line on, and where they end."""
    items: list[Piece] = []
    options: list[Piece] = []
    first = _read_label(lines.pieces[begin])
    if not is_sure(first, (*KNOWN_NUMBERS, *_PARTS)):
        return items, options, begin
    place = begin
    for place in range(begin, len(lines.pieces)):
        piece, label = lines.pieces[place], _read_label(lines.pieces[place])
        if options and label is None and _runs_on(options[-1], piece):
            options[-1] = _join(options[-1], piece)
            continue
        beside = [*BESIDE.finditer(piece.text)]  # a second letter is an option of the same question
        if len(beside) != 1 or ord(beside[0]["letter"].upper()) != ord("A") + len(options):
            break
        left = piece.text[: beside[0].start()]
        is_next = label is not None and (label.style, label.value) == (first.style, first.value + len(items))
        if is_next and len(items) == len(options) and label is not None and left[label.end :].strip():
            place_ahead = _LEADING_PLACE.match(left)
            begin_at = place_ahead.end() if place_ahead is not None else len(left) - len(left.lstrip())
            items.append(replace(piece.cut(begin_at, _end_item(left)), kind="body"))
        elif left.strip(" |_"):
            break
        options.append(replace(piece.cut(beside[0].end()), kind="body"))
    else:
        place = len(lines.pieces)
    return items, options, place


def _end_item(left: str) -> int:
    """Where an item ends before empty cells for its letter, `11. VAT | ____`."""
    while (kept := left.rstrip(" \t_")).endswith("|"):
        left = kept[:-1]
    return len(left)


# what numbers the items within one question
_PARTS = ("romanp", "romanl", "letterp")
_LEADING_PLACE = re.compile(r"\s*(?:_+|[（(]\s*[)）])\s*")


def _read_label(piece: Piece) -> Label | None:
    """The number of an item; the place for its letter may stand before it: `____ (i) lamp`."""
    if piece.label is not None or not piece.text.lstrip().startswith(("_", "(", "（")):
        return piece.label
    lead = _LEADING_PLACE.match(piece.text)
    label = parse_label(piece.text[lead.end() :]) if lead is not None else None
    return label._replace(end=label.end + lead.end()) if lead is not None and label is not None else None


def _is_part(item: Piece) -> bool:
    return item.label is not None and item.label.style in _PARTS


def lists_items(texts: Sequence[str]) -> bool:
    """Whether lines number the items of one question, `(i)` `(ii)` `(iii)`."""
    labels = [parse_label(text) for text in texts]
    items = [label.value for label in labels if label is not None and label.style in _PARTS]
    return len(items) >= _LEAST_ROWS and items == [*range(1, len(items) + 1)]


def _runs_on(option: Piece, piece: Piece) -> bool:
    """Whether a line goes on with the sentence of the option above it."""
    text = piece.text.strip()
    return (
        piece.kind == "body"
        and text[:1].islower()
        and option.text.rstrip()[-1:] not in (".", "。", ";", "；")
        and BESIDE.search(piece.text) is None
    )


def _join(option: Piece, piece: Piece) -> Piece:
    head = rewrite(option, len(option.text), " ", len(option.text.rstrip()))
    return replace(run_on(head, piece), kind=option.kind)


# the lines of a box, of a question below it, and those above it that may say what it is for; the longest word or sentence in it
_MOST_LINES, _MOST_OF_ITEM, _LINES_ABOVE, _LONGEST_OFFERED = 14, 3, 3, 90
_LINE, _BRACKETS = re.compile(r"_{2,}"), re.compile(r"[（(\[【]\s*[)）\]】]")
_MATCHES = re.compile(
    r"(?i)\b(?:match|relie[zr]?|associe[zr]?|ordnen? |verbinde|relaciona|empareja|abbina|collega|соотнес|установите соответствие|dopasuj|połącz|jodohkan|eşleştir|nối|ghép|verbind)|配对|匹配|连线|连一连|搭配"
)


def write_banks(lines: IndexedLines) -> IndexedLines:
    """Say of a box of lettered words that the questions below it share it."""
    kept: list[Piece] = []
    place = settled = 0
    moved = move_brackets(lines)  # `(  )1. The cat is ____ the box.`
    while place < len(moved.pieces):
        bank = _read_bank(moved, place) if moved.pieces[place].text.lstrip(" |")[:1] in _BANK_STARTS else None
        column = None
        if bank is None and moved.pieces[place].text.lstrip(" |")[:1] in _BANK_STARTS:
            column = _read_second_column(moved, settled, place)
        if bank is not None:
            written, place = bank
            settled = place
            kept += written
        elif column is not None:
            first, written, end = column
            del kept[len(kept) - (place - first) :]
            place = settled = end
            kept += written
        else:
            kept.append(moved.pieces[place])
            place += 1
    return lines if len(kept) == len(lines.pieces) else IndexedLines(kept)


_BANK_STARTS = frozenset("Aa（(①")


# what tells one of two columns from the other: `Column A`, `List II`, `甲栏`
_WHICH = re.compile(r"\b(?:[A-BXY]|[IⅠⅡ]{1,2}|[12])\b|[甲乙左右一二]|(?<![A-Za-z])[AB](?![A-Za-z])")
_COMBINES = re.compile(r"[A-Za-z\d]\s*[-–—]\s*[A-Za-z\d]\b|[\W\d]+$|[①-⑳]")


def _read_second_column(lines: IndexedLines, settled: int, begin: int) -> tuple[int, list[Piece], int] | None:
    """Short numbered lines with the lettered lines below them, that are to be matched.

    A line above says so, or two titles do, `Column A` and `Column B`. What is returned begins and ends at these places.
    """
    pieces = lines.pieces
    below = begin - 1 if begin and begin - 1 not in lines.numbered else begin
    first = below
    while first > settled and first - 1 in lines.numbered:
        label, after = lines.labels[first - 1], lines.labels[first]
        if first < below and (not label or not after or label[:2] != (after.style, after.value - 1)):
            break
        first -= 1
    head, last = (lines.labels[at] if first < below else None for at in (first, below - 1))
    if head is None or last is None or below - first < _LEAST_ROWS:
        return None
    above = [pieces[at].text.strip() for at in range(max(first - _LINES_ABOVE, settled), first)]
    titles = [_WHICH.sub("", text).strip(" :：") for text in (*above[-1:], pieces[below].text.strip())]
    are_columns = below < begin and len(titles) == 2 and titles[0].casefold() == titles[1].casefold() != ""
    is_asked = any(map(_MATCHES.search, above)) and not any(
        at in lines.numbered for at in range(max(first - _LINES_ABOVE, settled), first)
    )
    if not (are_columns or is_asked):
        return None
    end = _find_end(lines, begin)
    offered, rest = _read_box(pieces[begin:end])
    if len(offered) < below - first or any(_COMBINES.match(option_text(own)[3:]) for own in offered):
        return None
    lead = _lead(pieces[first], head.value, last.value)
    top = first - 1 if are_columns else first
    if top > settled and _MATCHES.search(pieces[top - 1].text) and not _parts(lines, top - 1):
        top -= 1
    return top, [lead, *chain.from_iterable(offered), *pieces[first:below], *rest], end


def _read_bank(lines: IndexedLines, begin: int) -> tuple[list[Piece], int] | None:
    """A box of words written as shared options, and the first question below it."""
    first = next((at for at in range(begin, begin + _MOST_LINES) if at in lines.numbered), begin)
    if first == begin:
        return None  # before the walk back, which would be made from every line of a list without an end
    number = next((at for at in range(begin - 1, -1, -1) if at in lines.numbered or _parts(lines, at)), -1)
    between = [piece.text for piece in lines.pieces[max(number + 1, begin - _LINES_ABOVE) : begin]]
    if number >= 0 and number in lines.numbered and not any(map(INSTRUCTION.search, between)):
        return None  # these are the options of the question above
    items = _list_items(lines, first)
    head, last = (lines.labels[items[at][0]] for at in (0, -1)) if items else (None, None)
    if len(items) < _LEAST_ROWS or head is None or last is None:
        return None
    above = [piece.text for piece in lines.pieces[max(begin - _LINES_ABOVE, 0) : begin]]
    if any(map(SHARES.match, above[-1:])) or any(_parts(lines, at) for at in range(begin + 1, first)):
        return None
    texts = [[lines.pieces[at].text for at in item] for item in items]
    if any(offers_options_in(text, True) for text in texts):
        return None
    if any(_count_places("\n".join(text)) != 1 for text in texts) and not any(map(_MATCHES.search, above)):
        return None
    offered, below = _read_box(lines.pieces[begin:first])
    if len(offered) < _LEAST_ROWS:
        return None
    return [*below, _lead(lines.pieces[begin], head.value, last.value), *chain.from_iterable(offered)], first


def _find_end(lines: IndexedLines, begin: int) -> int:
    """The line below a box: a number, a heading, or what is too far away."""
    last = min(len(lines.pieces), begin + _MOST_LINES)
    return next(
        (at for at in range(begin, last) if at in lines.numbered or _parts(lines, at)), max(last, begin)
    )


def _read_box(pieces: Sequence[Piece]) -> tuple[list[list[Piece]], list[Piece]]:
    """The lettered lines of a box, written `A. `, and what is below; nothing where it is none."""
    split = split_options(pieces, True)
    if split is None or split.stem or split.notes:
        return [], []
    label, own = split.options[-1]
    ends = next((at for at in range(1, len(own)) if not own[at - 1].wraps), len(own))
    split.options[-1] = (label, own[:ends])  # below the box stands at most an example
    if not all(0 < len(option_text(lines)) <= _LONGEST_OFFERED for _, lines in split.options):
        return [], []
    return [
        [replace(rewrite(lines[0], 0, f"{label}. "), kind="body"), *lines[1:]]
        for label, lines in split.options
    ], own[ends:]


# `22.____`, `__22__`, `(22) ____`: a numbered gap of a text
_GAP = re.compile(
    r"(?<!\d)(?P<stopped>\d{1,3})\s?[.．、)）]?\s?_{2,}|_+\s?[（(\[【]?(?P<inside>\d{1,3})[)）\]】]?\s?_+|[（(\[【]\s?(?P<closed>\d{1,3})\s?[)）\]】]\s?_{2,}"
)
_MOST_ABOVE, _MOST_BETWEEN = 12, 3
_BOX_OPENS = re.compile(r"\s*[|（(\[]?\s*[Aa](?:\s*[)）\].．、]|\s)\s*\S")


def write_gaps(lines: IndexedLines) -> IndexedLines:
    """Write a question for each numbered gap of a text, with the sentences below the text."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for place, piece in enumerate(lines.pieces):
        gaps = [*_GAP.finditer(piece.text)] if "__" in piece.text and piece.kind != "table" else []
        if gaps:
            found[place] = [(int(gap[gap.lastgroup or 0]), *gap.span()) for gap in gaps]
    written: dict[int, list[Piece]] = {}
    while found:
        run: list[int] = []
        numbers: list[int] = []
        for place, held in found.items():
            own = [number for number, _, _ in held]
            goes_on = not run or (place - run[-1] <= _MOST_BETWEEN and own[0] == numbers[-1] + 1)
            if not goes_on or own != [*range(own[0], own[0] + len(own))]:
                break
            run.append(place)
            numbers += own
        if len(numbers) >= _LEAST_ROWS and any(gap[1] for place in run for gap in found[place]):
            written |= _write_gaps(lines, run, numbers, found)
        for place in run or [next(iter(found))]:
            del found[place]
    return lines.part(written)


def _write_gaps(
    lines: IndexedLines,
    run: Sequence[int],
    numbers: Sequence[int],
    found: Mapping[int, list[tuple[int, int, int]]],
) -> dict[int, list[Piece]]:
    """What replaces the lines of a text with gaps and its box; {} where there is no box."""
    pieces = lines.pieces
    begin = next((at for at in range(run[-1] + 1, run[-1] + 2 + _MOST_BETWEEN) if _opens_box(pieces, at)), 0)
    if not begin or any(_parts(lines, at) for at in range(run[0] + 1, begin)):
        return {}
    end = _find_end(lines, begin)
    offered, below = _read_box(pieces[begin:end])
    if len(offered) < len(numbers):
        return {}
    first = run[0]
    while (
        first
        and run[0] - first < _MOST_ABOVE
        and not _parts(lines, first - 1)
        and first - 1 not in lines.numbered
    ):
        first -= 1
    written: dict[int, list[Piece]] = {place: [] for place in range(begin, end)}
    places: dict[int, int] = {}
    for place in run:
        piece = pieces[place]
        for number, opens, closes in reversed(found[place]):
            places[number] = piece.sources[opens] if opens < len(piece.sources) else piece.start
            piece = rewrite(piece, closes, f"__{number}__", opens)
        written[place] = [piece]
    lead = _lead(pieces[first], numbers[0], numbers[-1], "材料")
    written[first] = [lead, *written.get(first, [pieces[first]])]
    for number in numbers:
        (opening, *rest), *others = offered
        asked = replace(rewrite(opening, 0, f"{number}. "), start=places[number])
        written[begin] += [asked, *rest, *chain.from_iterable(others)]
    written[begin] += below
    return written


_LONE_LETTER = re.compile(r"\s*([A-F])\s*")
_SHORTEST_TEXT, _LEAST_TEXTS = 12, 2


# `13-14.` on a line of its own
_LONE_RANGE = re.compile(
    r"\s*[（(]?(\d{1,3})\s?[-–—~～至]\s?(\d{1,3})\s?[.．、:：)）]?\s*题?\s*[.．、:：)）]?\s*"
)


# `※ [7~9] Read …`: the questions that a task in the same line is of
_LED_RANGE = re.compile(
    r"\s*[※＊*★☆■◆●▶]?\s*[\[【［〔]\s*(?P<first>\d{1,3})(?:\s*[-–—~～∼〜至]\s*(?P<last>\d{1,3}))?\s*[\]】］〕]\s*(?=[^\s\d])"
)


def write_ranges(lines: IndexedLines) -> IndexedLines:
    """Say of `13-14.` alone above a text, and of `[7~9] Read …`, that these questions share it."""
    changed: dict[int, Piece] = {}
    for place, piece in enumerate(lines.pieces):
        match = _LONE_RANGE.fullmatch(piece.text) if len(piece.text) <= _LONGEST_RANGE else None
        if match is None or piece.kind == "table" or not int(match[1]) < int(match[2]):
            continue
        if _counts_from(lines, place, int(match[1])) and _opens_text(lines, place):
            changed[place] = _lead(piece, int(match[1]), int(match[2]), "材料")
    led = lines.find(_LED_RANGE, is_sign)
    ranges = [match for match in led.values() if match["last"] and int(match["first"]) < int(match["last"])]
    written = lines.replace(changed)
    if len(ranges) < _LEAST_TEXTS or not all(
        _counts_from(lines, place, int(match["first"])) for place, match in led.items()
    ):
        return written
    parts: dict[int, list[Piece]] = {}
    for place, match in led.items():
        piece, first = written.pieces[place], int(match["first"])
        lead = _lead(piece, first, int(match["last"] or first), "材料")
        parts[place] = [lead, piece.cut(match.end()).with_label(None)]
    return written.part(parts)


def _counts_from(lines: IndexedLines, place: int, first: int) -> bool:
    """Whether the next number below a line is the first of a range."""
    below = range(place + 1, min(place + 1 + _LONGEST_PASSAGE, len(lines.pieces)))
    asked = next((at for at in below if at in lines.numbered), place)
    label = lines.labels[asked]
    return label is not None and label.value == first


_LONGEST_RANGE = 16


def write_passages(lines: IndexedLines) -> IndexedLines:
    """Say that a text begins at letters A B C that stand alone above it, or at `案例二`."""
    lines = _write_gapped(_write_cases(lines))
    found = [
        (place, ord(match[1]) - ord("A"))
        for place in lines.short
        if (match := _LONE_LETTER.fullmatch(lines.pieces[place].text)) is not None
    ]
    is_series = all(value in (0, before + 1) for (_, before), (_, value) in pairwise(found))
    if (
        len(found) < _LEAST_TEXTS
        or found[0][1]
        or not is_series
        or not all(_opens_text(lines, one) for one, _ in found)
    ):
        return lines
    return lines.replace({place: rewrite(lines.pieces[place], 0, PASSAGE) for place, _ in found})


# `（2）A．3 B．4` below `TCP/IP模型有（2）层`
_GAP_STYLES, _OFFERS_AT_ONCE = ("nump", "paren"), re.compile(r"\s*A\s*[.．、]")
_OPTION_LINE = re.compile(r"\s*[（(]?[A-H]\s*[.．、)）]")
_BULLET_SIGN = re.compile(r"\s*[●•◆■]?\s*")


def _write_gapped(lines: IndexedLines) -> IndexedLines:
    """Say where each text begins whose numbered gaps have their options right below it."""
    begins: set[int] = set()
    text, own = "", 0
    gaps = 0
    is_text = False
    for place, (piece, label) in enumerate(zip(lines.pieces, lines.labels, strict=True)):
        if label is None and _OPTION_LINE.match(piece.text) is None:
            text, own = (text, own) if is_text else ("", place)
            text += piece.text
            is_text = True
            continue
        is_text = False
        if (
            label is not None
            and label.style in _GAP_STYLES
            and _OFFERS_AT_ONCE.match(piece.text[label.end :])
        ):
            if re.search(rf"[（(]\s*{label.value}\s*[)）]", text) is None:
                return lines  # a question without a text
            gaps += 1
            begins.add(own)
    if gaps < _LEAST_ROWS or len(begins) < _LEAST_TEXTS:
        return lines
    return lines.replace(
        {
            place: rewrite(piece, mark.end(), PASSAGE)
            for place in begins
            if (mark := _BULLET_SIGN.match((piece := lines.pieces[place]).text)) is not None
        }
    )


_CASE_STARTS = frozenset("【案材史资CPT")


def _write_cases(lines: IndexedLines) -> IndexedLines:
    """Say that a text begins at `Case 2` alone on a line, above it and its questions."""
    found = [
        place for place in lines.open_with(_CASE_STARTS) if CASE.fullmatch(lines.pieces[place].text.strip())
    ]
    titles = [lines.pieces[place].text.strip() for place in found]
    half = len(found) // 2
    again = found[half:] if titles[:half] == titles[half:] else []  # above the answers
    found = found[:half] if again else found
    if len(found) < _LEAST_TEXTS or not all(_opens_text(lines, one) for one in found):
        return lines
    for place, following in pairwise(found):
        if not any(is_sure(label, ("num",)) for label in lines.labels[place + 1 : following]):
            return lines  # two materials of one question
    return lines.replace({place: rewrite(lines.pieces[place], 0, PASSAGE) for place in found}, again)


def _opens_text(lines: IndexedLines, place: int) -> bool:
    """Whether a text stands below a line, and a question below that."""
    below = range(place + 1, min(place + 1 + _LONGEST_PASSAGE, len(lines.pieces)))
    first = next(iter(below), None)
    if (
        first is None
        or first in lines.numbered
        or _parts(lines, first)
        or OPTION_A.match(lines.pieces[first].text)
    ):
        return False
    asked = next((at for at in below if at in lines.numbered), None)
    said = sum(len(lines.pieces[at].text) for at in below if asked is not None and at < asked)
    return said >= _SHORTEST_TEXT


_LONGEST_PASSAGE = 60


def _opens_box(pieces: Sequence[Piece], place: int) -> bool:
    return place < len(pieces) and _BOX_OPENS.match(pieces[place].text) is not None


def _count_places(text: str) -> int:
    """The places for a word: lines to write on, else empty brackets."""
    return len(_LINE.findall(text)) or len(_BRACKETS.findall(text))


def _parts(lines: IndexedLines, place: int) -> bool:
    """Whether a line heads a section."""
    is_part = is_sure(lines.labels[place], STRONG_STYLES)
    return is_part or read_heading(lines.pieces[place].text) is not None


def _list_items(lines: IndexedLines, first: int) -> list[list[int]]:
    """The places of the lines of each of the questions that count on from a place."""
    items = [[first]]
    for place in range(first + 1, len(lines.pieces)):
        label, own = lines.labels[place], lines.labels[items[-1][0]]
        if label is not None and own is not None and not label.is_weak:
            if (label.style, label.value) != (own.style, own.value + 1):
                break
            items.append([place])
        elif len(items[-1]) == _MOST_OF_ITEM or read_heading(lines.pieces[place].text):
            break
        else:
            items[-1].append(place)
    return items
