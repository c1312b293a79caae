"""Blocks of keys, written as lines that number them, which are read everywhere.

Keys one below the other, answers in columns side by side or behind the name of a section; answers that follow without a
heading are given one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise, takewhile

from schemas import patterns as re
from tasks.ingest.layout.key_lines import (
    DIGIT,
    KEY_CELL,
    KEY_MARK,
    KEYED_NUMBERS,
    KEYS_TITLE,
    LEAST_BARE,
    LEAST_NAMED,
    NUMBER_LEAD,
    OPTION,
    KeyEntry,
    read_key_line,
    rise_by_one,
    take_ranges,
)
from tasks.ingest.layout.key_rows import number_keys
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite, say
from tasks.ingest.words.grammar import begins_asking, truth_word
from tasks.ingest.words.labels import HEADING, PARTS, parse_label


def write_key_blocks(lines: IndexedLines) -> list[Piece]:
    """Write blocks of keys as lines that number them, below the heading that is missing."""
    lines = number_keys(_part_columns(_join_keys(_part_ranges(_part_headed(lines)))))
    return list(_open_answers(_write_bare_numbers(lines)).pieces)


_BEFORE_RANGE = re.compile(rf"(?:(?!\d)[^:：]{{0,16}}[:：])?\s*(?={NUMBER_LEAD}\d{{1,3}}\s*[-—–~～至到－])")


def _part_ranges(lines: IndexedLines) -> IndexedLines:
    """Put the answers in words behind a range of keys, `1-3 BAC  4.长江`, on a line of their own."""
    parts: dict[int, list[Piece]] = {}
    for place, piece in enumerate(lines.pieces):
        before = _BEFORE_RANGE.match(piece.text) if DIGIT.search(piece.text) is not None else None
        entries, end = take_ranges(piece.text, before.end()) if before is not None else ([], 0)
        label = parse_label(piece.text[end:]) if entries else None
        if label is not None and label.style == "num" and label.value == entries[-1].number + 1:
            parts[place] = [piece.cut(0, end), piece.cut(end)]
    return lines.part(parts)


# `13 exciting 14 discussion`, `1. thirsty  2. sweet`: answers in words behind their numbers
_WORDED = re.compile(
    r"\s*(?P<number>\d{1,3})(?:\s*[.．、)）:：]\s*|\s+)(?P<words>[^\W\d][^\d]{0,60}?)\s*(?=\d|$)"
)
# `KEY Progress Test 3`, `答案`: below it stand answers
_NAMES_ANSWERS = re.compile(
    r"\W*(?:(?:参考|标准|正确|试题)?答案|(?i:(?:answer\s+)?keys?|answers?|solutions?)\b)[^?？]{0,60}"
)


def _part_headed(lines: IndexedLines) -> IndexedLines:
    """Put answers behind the name of a section, `Section C: (i) b; (ii) c`, on lines below it."""
    parts: dict[int, list[Piece]] = {}
    is_answered = False
    for place, (piece, label) in enumerate(zip(lines.pieces, lines.labels, strict=True)):
        is_answered = is_answered or _NAMES_ANSWERS.fullmatch(piece.text) is not None
        if label is None or label.style not in ("part", "cn") or piece.kind == "table":
            continue
        if label.style == "part" and len(read_key_line(piece.text[label.end :])) > 1:
            parts[place] = [piece.cut(0, label.end), piece.cut(label.end)]
        elif is_answered and len(begins := _find_worded(piece.text, label.end)) > 1:
            answers = [piece.cut(first, last) for first, last in pairwise((*begins, len(piece.text)))]
            matches = [(one, match) for one in answers if (match := _WORDED.match(one.text)) is not None]
            parts[place] = [
                piece.cut(0, label.end),
                *(rewrite(one, match.start("words"), f"{match['number']}. ") for one, match in matches),
            ]
    return lines.part(parts)


def _find_worded(text: str, begin: int) -> list[int]:
    """Where answers in words begin that are all a line holds, their numbers one by one; else []."""
    begins: list[int] = []
    at, number = begin, 0
    while at < len(text):
        match = _WORDED.match(text, at)
        if match is None or (number and int(match["number"]) != number + 1):
            return []
        begins.append(match.start("number"))
        at, number = match.end(), int(match["number"])
    return begins


_NUMBER_ALONE, _KEY_ALONE = (
    re.compile(r"\s*(\d{1,3})\s*[.．、)）:：]?\s*"),
    re.compile(rf"\s*({KEY_MARK})\s*"),
)
# `1B` on a line of its own
_GLUED_ALONE = re.compile(rf"\s*(\d{{1,3}})\s?([A-J]|[TF]|{truth_word()})\s*")
_LONGEST_ALONE = 11


def _join_keys(lines: IndexedLines) -> IndexedLines:
    """Write `1B`, `2C` on lines of their own, and numbers and keys that take turns, as `1. B`."""
    changed: dict[int, Piece] = {}
    dropped: set[int] = set()
    run: list[tuple[int, int, str, int]] = []  # the line, the number, the key, over how many lines
    place = 0
    while place <= len(lines.pieces):
        found = _read_alone(lines.pieces, place)
        if found is not None and (not run or (found[0], found[2]) == (run[-1][1] + 1, run[-1][3])):
            run.append((place, *found))
            place += found[2]
            continue
        if _are_keys(lines, run):
            changed |= {at: say(lines.pieces[at], f"{number}. {key}") for at, number, key, _ in run}
            dropped |= {at + 1 for at, *_, step in run if step > 1}
        place += not run
        run = []
    return lines.replace(changed, dropped)


def _read_alone(pieces: Sequence[Piece], place: int) -> tuple[int, str, int] | None:
    """The number and the key that one line holds alone, or two, and how many they are."""
    if place >= len(pieces) or len(pieces[place].text) > _LONGEST_ALONE:
        return None
    glued = _GLUED_ALONE.fullmatch(pieces[place].text)
    if glued is not None:
        return int(glued[1]), glued[2], 1
    number = _NUMBER_ALONE.fullmatch(pieces[place].text)
    below = number is not None and place + 1 < len(pieces) and _KEY_ALONE.fullmatch(pieces[place + 1].text)
    return (int(number[1]), below[1], 2) if number is not None and below else None


def _are_keys(lines: IndexedLines, run: Sequence[tuple[int, int, str, int]]) -> bool:
    """Whether numbers with keys are a key; `1A`, `2B`, `3C`, `4D` below no title are names."""
    if len(run) < _LEAST_ROWS or run[0][3] > 1:
        return len(run) >= _LEAST_ROWS and run[0][1] == 1
    is_counted = len(run) > LEAST_NAMED and all(ord(key[0]) - 64 == number for _, number, key, _ in run)
    return not is_counted or KEYS_TITLE.fullmatch(lines.pieces[run[0][0] - 1].text) is not None


_PAIR = re.compile(r"(?:Q\s*)?(\d{1,3})\s*[.．、)）:：-]{0,2}(?:\s+(\S.*))?")
# `R1 | a`: of a question with a name of its own
_LONGEST_NAME = 4
_COLUMN_GAP = re.compile(r"\s{3,}|\t|\s\|\s")
_LONGEST_ANSWER, _LEAST_ROWS = 40, 3


def _part_columns(lines: IndexedLines) -> IndexedLines:
    """Give each answer of columns side by side, `1  v    12  chlorine`, its own line.

    So where the rows leave no number out, and answer questions above them: in words most of these.
    """
    pieces = lines.pieces
    asked: list[int] = []
    written: list[Piece] = []
    place = 0
    while place < len(pieces):
        rows = [*takewhile(bool, (_read_answers(piece) for piece in pieces[place : place + _MOST_ROWS]))]
        rows = rows if rows and len(rows[0]) > 1 else []
        entries = sorted(chain.from_iterable(rows), key=lambda entry: entry.number)
        values = [entry.number for entry in entries]
        are_keys = len({one.text for one in entries}) > 1 and all(
            KEY_CELL.fullmatch(one.text) for one in entries
        )
        is_key = (
            len(rows) >= (_LEAST_PAIRS if are_keys else _LEAST_ROWS)
            and sum(1 for row in rows if len(row) > 1) > len(rows) // 2
            and rise_by_one(entries)
            and {*values} <= {*asked}
            and (are_keys or len(values) >= _LEAST_ASKED * len({*asked}))
            and not all(read_key_line(piece.text) for piece in pieces[place : place + len(rows)])
        )
        if is_key:
            texts = [f"{entry.number}. {entry.text}" for entry in entries]
            for at, text in enumerate(["  ".join(texts)] if are_keys else texts):
                written.append(say(pieces[place + min(at, len(rows) - 1)], text))
            place += len(rows)
            continue
        label = lines.labels[place]
        if label is not None and label.style in KEYED_NUMBERS:
            asked.append(label.value)
        written.append(pieces[place])
        place += 1
    return IndexedLines(written) if len(written) != len(pieces) else lines


_MOST_ROWS, _LEAST_ASKED, _LEAST_PAIRS = 100, 0.6, 2


def _read_answers(piece: Piece) -> list[KeyEntry]:
    """The numbers and answers that a row has side by side; [] where it holds anything else."""
    if not piece.text.lstrip(" Q")[:1].isdecimal():
        return []
    entries: list[KeyEntry] = []
    cells = iter([cell.strip() for cell in _COLUMN_GAP.split(piece.text.strip()) if cell.strip()])
    for cell in cells:
        pair = _PAIR.fullmatch(cell) if len(cell) <= _LONGEST_ANSWER else None
        answer = (pair[2] if pair is not None else None) or next(cells, "")
        is_named = len(cell) <= _LONGEST_NAME and KEY_CELL.fullmatch(answer) is not None
        if not answer or (pair is None and not is_named):
            return []
        entries += [KeyEntry(int(pair[1]), answer)] if pair is not None else []
    return entries


_BARE_NUMBER = re.compile(r"\s*(\d{1,3})(?:\s+(?=\S)|\s*$)")


def _write_bare_numbers(lines: IndexedLines) -> IndexedLines:
    """Write bare numbers of answers below `答案`, `3 1956年` too, with stops where they run on.

    Keys in a line may count before them; one alone on its line stands above the first part of its answer.
    """
    titles = [
        place
        for place, piece in enumerate(lines.pieces)
        if len(piece.text) <= _LONGEST_ANSWER and KEYS_TITLE.fullmatch(piece.text) is not None
    ]
    found: dict[int, Piece] = {}
    last = 0
    for place in titles[-1:]:
        for at, piece in enumerate(lines.pieces[place + 1 :], start=place + 1):
            number, label, keys = _BARE_NUMBER.match(piece.text), lines.labels[at], read_key_line(piece.text)
            if keys and not found and keys[0].number == last + 1 and rise_by_one(keys):
                last = keys[-1].number
            elif (
                number is not None
                and int(number[1]) == last + 1
                and (number.end() < len(piece.text) or _opens_parts(lines, at + 1))
            ):
                last += 1
                found[at] = rewrite(piece, number.end(), f"{last}. ")
            elif label is not None and label.style != "bare" and not (found and label.style in PARTS):
                return lines
    return lines.replace(found) if last >= LEAST_BARE else lines


def _opens_parts(lines: IndexedLines, place: int) -> bool:
    """Whether a line is the first part of an answer, `(a) …`."""
    label = lines.labels[place] if place < len(lines.labels) else None
    return label is not None and label.style in PARTS and label.value == 1


def _open_answers(lines: IndexedLines) -> IndexedLines:
    """Put `参考答案` above answers that follow, numbered again, without a heading."""
    pieces = lines.pieces
    labelled = [
        (index, label)
        for index, label in enumerate(lines.labels)
        if label is not None and label.style in KEYED_NUMBERS and pieces[index].kind != "table"
    ]
    for place, (index, label) in enumerate(labelled):
        is_as_many = (
            2 * place == len(labelled)
            # or a title above them stays in the last question
            and (lines.labels[index - 1] is not None or OPTION.match(pieces[index - 1].text))
            and [one.value for _, one in labelled[:place]] == [*range(1, place + 1)]
            and all(_KEY_ALONE.fullmatch(pieces[at].text[one.end :]) for at, one in labelled[place:])
        )
        least = LEAST_NAMED if is_as_many else LEAST_BARE
        if label.value != 1 or place < least or not _is_answer(pieces[index].text[label.end :]):
            continue
        head = labelled[place : place + 12]
        keyed = [one for one in head if _is_answer(pieces[one[0]].text[one[1].end :])]
        values = [one[1].value for one in keyed]
        if (
            len(keyed) < least
            or len(keyed) < (1 if is_as_many else 0.8) * len(head)
            or values != list(range(1, len(values) + 1))
        ):
            continue
        if any(OPTION.match(piece.text) for piece in pieces[index + 1 : index + 40]):
            continue
        titles = [at for at in range(index) if KEYS_TITLE.fullmatch(pieces[at].text) is not None]
        if titles and not any(OPTION.match(piece.text) for piece in pieces[titles[-1] : index]):
            heads = [
                at
                for at in range(titles[-1], index)
                if (title := lines.labels[at]) is not None and title.style in HEADING
            ]
            if all(_is_above(pieces, at, titles[-1]) for at in heads):
                return lines  # of a further section of the answers
        above = [piece.text for piece in pieces[max(0, index - 3) : index]]
        if any(_REGION_WORDS.search(text) and len(text) < 60 for text in above):
            return lines
        above_it = lines.labels[index - 1]
        if above_it is not None and above_it.style in HEADING and above_it.value == 1:
            index -= _is_above(pieces, index - 1, index - 1)  # `一、选择题`, again above its keys
        return IndexedLines([*pieces[:index], say(pieces[index], "参考答案"), *pieces[index:]])
    return lines


_BEFORE_BRACKET = re.compile(r"[^（(\[]{3,}")
# what stands behind the number of an answer: a key alone or with its explanation, or the mark of an answer
_ANSWERS = re.compile(
    rf"\s*(?:[（(]?\s*(?:[A-J](?:[\s,，、]*[A-J]){{0,7}}|{truth_word()}|T|F)\s*[)）]?\s*[.。,，;；]?\s*(?:$|【|解析|[（(]|因为|Explanation|\s{{2,}}|:|：)|【?(?:参考|正确|标准)?答案\s*[】:：]|\[答案\])",
    re.IGNORECASE,
)
_REGION_WORDS = re.compile(r"答案|评分标准|(?i:answers?|keys?|solutions?)")


def _is_answer(text: str) -> bool:
    """Whether an answer stands behind a number; `a)   Explain …` is a part of a question."""
    match = _ANSWERS.match(text)
    return match is not None and not begins_asking(text[match.end() :])


def _is_above(pieces: Sequence[Piece], place: int, last: int) -> bool:
    """Whether a title stands above the last of these lines, too, with a bracket or without."""
    title = _BEFORE_BRACKET.match(pieces[place].text.strip())
    return title is not None and any(piece.text.strip().startswith(title[0]) for piece in pieces[:last])
