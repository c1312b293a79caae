"""Keys without numbers, in a row or after a word, get those of the questions above them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise, takewhile

from schemas import patterns as re
from tasks.ingest.layout.key_lines import (
    KEY_CELL,
    KEY_TOKEN,
    KEYED_NUMBERS,
    KEYS_TITLE,
    LEAST_BARE,
    LEAST_NAMED,
    OPTION,
)
from tasks.ingest.layout.pieces import IndexedLines, Piece, say
from tasks.ingest.words.answers import ANSWER_STARTS, match_answer
from tasks.ingest.words.grammar import number_word, truth_word, truth_words

_QUESTION_ROW = re.compile(r"\s*(\d{1,3})\s*[.．、]?\s*\|\s*[^|]{6}")
# `参考答案：` before keys
_KEY_LEAD = re.compile(
    rf"\s*[【\[(（]?\s*(?:[选選单單多判客][\u4e00-\u9fff]{{0,4}}[题題](?=答案|\s*[:：])|(?i:multiple[- ]choice)\s*(?=Answ|Key|[:：]))?(?:[参參]考|[标標][准準]|正确|正確)?(?:答案|Answers?|Keys?|ANSWERS?|KEYS?|(?<=[题題e])(?=\s*[:：]))\s*[】\])）]?\s*[:：]?\s*(?=[A-JTFYN]|{truth_word()})"
)
# one key, or several of one alphabet that touch each other
_LONE_KEY = re.compile(rf"[（(\[【]?\s*([A-J]+|[a-j]+|[TF]+|[YN]+|{truth_word()}+)\s*[)）\]】]?")
_IN_BRACKET = re.compile(r"([（(\[【])\s*([^\s（(\[【】\])）]+)\s*([】\])）])")
_BETWEEN_KEYS = re.compile(r"(?:[\s,，、;；.。|]|(?<=[A-J])[-–](?=[A-J](?![A-Za-z])))+")
# what a line of nothing but keys may begin with
_KEY_STARTS = frozenset("（([【ABCDEFGHIJTFYNabcdefghij,，、;；.。|") | frozenset(
    character for word in (*truth_words()[0], *truth_words()[1]) for character in (word[0], word[0].upper())
)


def number_keys(lines: IndexedLines) -> IndexedLines:
    """Give keys in a row, after a word, or alone, the numbers of the questions above them."""
    pieces = lines.pieces
    changed: dict[int, Piece] = {}
    dropped: set[int] = set()
    numbers: list[int] = []  # of the questions above that have no answer of their own
    rows: list[int] = []  # where nothing else counts: of the rows of a table of questions
    asked: set[int] = set()
    for place, piece in enumerate(pieces):
        label = lines.labels[place]
        if place in dropped:
            continue
        row = _QUESTION_ROW.match(piece.text) if piece.kind == "table" else None
        if row is not None and int(row[1]) == len(rows) + 1:
            rows.append(int(row[1]))
        values, keys, last = _read_row_pair(pieces, place, asked)
        if not keys and label is not None and label.style in KEYED_NUMBERS and piece.kind != "table":
            if not label.is_weak:
                asked.add(label.value)
                numbers = (
                    [*numbers, label.value] if numbers and label.value == numbers[-1] + 1 else [label.value]
                )
            continue
        if not keys:
            lead = _KEY_LEAD.match(piece.text) if _may_open_block(piece.text.lstrip()[:1]) else None
            is_titled = 0 < place < len(pieces) and KEYS_TITLE.fullmatch(pieces[place - 1].text) is not None
            keys, last = _read_bare_keys(pieces, place, len(numbers or rows), lead, is_titled)
            if not keys:
                opens = match_answer(piece.text) is not None and KEYS_TITLE.fullmatch(piece.text) is None
                numbers = [] if lead is not None or opens or is_titled else numbers
                continue
            values = (numbers or rows)[-len(keys) :]
        changed[place] = say(piece, "  ".join(f"{at}.{key}" for at, key in zip(values, keys, strict=True)))
        dropped.update(range(place + 1, last + 1))
        numbers = []
    return lines.replace(changed, dropped)


# what the word before a block may begin with
_BLOCK_STARTS = frozenset("【[（(参參标標正答选選单單多判客AaKkMm") | ANSWER_STARTS


def _may_open_block(first: str) -> bool:
    return first in _BLOCK_STARTS


def _read_bare_keys(
    pieces: Sequence[Piece], place: int, count: int, lead: re.Match[str] | None, is_titled: bool
) -> tuple[list[str], int]:
    """The keys, `count` at most, of lines that hold nothing else, and the last line."""
    first = pieces[place].text[lead.end() if lead is not None else 0 :]
    tokens = _split_keys(first)
    if not tokens or not count:
        return [], place
    if lead is not None:
        keys = _count_out(tokens, count, is_whole=False)
        # `参考答案：√×`, `ABC；ABC` of two: one choice could have two letters
        is_two = len(keys) == count == 2 and (not keys[0].isascii() or max(map(len, keys)) > 1)
        return (keys, place) if len(keys) >= LEAST_NAMED or is_two else ([], place)
    keys = _count_out(tokens, count, is_whole=True)
    last = place
    if not keys and len(tokens) == 1:
        below = takewhile(lambda one: len(one) == 1, (_split_keys(one.text) for one in pieces[place + 1 :]))
        keys = [*tokens, *(one[0] for one in below)]
        last = place + len(keys) - 1
    is_meant = len(keys) == count >= (LEAST_NAMED if is_titled else LEAST_BARE) and (
        last == place or len(set(keys)) > 1
    )
    return (keys, last) if is_meant else ([], place)


def _split_keys(text: str) -> list[str]:
    """What stands between white space and commas, where all of it is keys."""
    text = text.strip()
    if len(text) > _LONGEST_BLOCK or text[:1] not in _KEY_STARTS:
        return []
    found: list[str] = []
    for token in _BETWEEN_KEYS.split(_IN_BRACKET.sub(r"\1\2\3", text)):
        key = _LONE_KEY.fullmatch(token) if token else None
        if key is not None:
            found.append(key.group(1))
        elif token:
            return []
    joined = "".join(one for one in found if len(one) == 1 and one.isascii())
    # `D. a deed` is an option: keys have one case
    return found if joined == joined.upper() or joined == joined.lower() else []


_LONGEST_BLOCK = 600


def _count_out(tokens: Sequence[str], count: int, *, is_whole: bool) -> list[str]:
    """At most `count` keys: the signs of `DACCC CDBAD`, or groups between white space."""
    by_five = all(len(one) == 5 for one in tokens[:-1]) and len(tokens[-1]) <= 5
    singles = [sign for one in tokens for sign in (KEY_TOKEN.findall(one) if len(one) > 1 else [one])]
    if len(singles) == count or (not is_whole and len(singles) <= count and (by_five or len(tokens) == 1)):
        return singles
    return (
        list(tokens)
        if len(tokens) == count or (not is_whole and len(tokens) <= count and not by_five)
        else []
    )


_CELL_GAP = re.compile(r"\||\t|\s{2,}")
_NUMBER_NAME = re.compile(
    r"题\s*号|序\s*号|(?i:No\.?|(?:Questions?|Ques|Q|Item)\.?\s*(?:No\.?|Numbers?|#)?|Items?)|#"
)
_KEY_NAME = re.compile(r"答\s*案|选项|(?i:Answers?|Ans\.?|Keys?)")
_NUMBER_CELL = re.compile(rf"(?:{number_word()}\s*)?\d{{1,3}}")
_ROW_NAME = re.compile(r"[^\W\d_][^\d|]{0,15}")


def _read_row_pair(
    pieces: Sequence[Piece], place: int, asked: Collection[int]
) -> tuple[list[int], list[str], int]:
    """The numbers of a row, the keys of the row below it, and its place.

    Where no known name says so, the numbers must have been asked above.
    """
    text = pieces[place].text
    last = text.rstrip()[-1:]
    if place + 1 == len(pieces) or not (last == "|" or last.isdecimal()):
        return [], [], place
    values = [
        int(re.sub(r"\D", "", value)) for value in _read_row(text, _NUMBER_NAME, _NUMBER_CELL.fullmatch)
    ]
    keys = _read_row(pieces[place + 1].text, _KEY_NAME, KEY_CELL.fullmatch) if values else []
    if len(values) != len(keys) or any(right != left + 1 for left, right in pairwise(values)):
        return [], [], place
    first = [pieces[at].text.strip(" |").partition("|")[0].strip() for at in (place, place + 1)]
    is_named = all(
        name.match(cell) or _ROW_NAME.fullmatch(cell) is None or KEY_CELL.fullmatch(cell)
        for cell, name in zip(first, (_NUMBER_NAME, _KEY_NAME), strict=True)
    )
    # `Q1 | Q2 | Q3 | Q4` may be quarters
    if is_named and (not _COUNTS_BY_WORD.match(first[0]) or {*values} <= {*asked}):
        return values, keys, place + 1
    below = pieces[place + 2 : place + 2 + _ANSWERED_LINES]
    # of a file of answers, above which nothing asks; else the data of a question
    is_alone = len(values) >= LEAST_BARE and not any(OPTION.match(piece.text) for piece in below)
    if not ({*values} <= {*asked} if asked else is_alone):
        return [], [], place
    return values, keys, place + 1


def _read_row(text: str, name: re.Pattern[str], cell: Callable[[str], object]) -> list[str]:
    """The cells of a row, without its name; [] where one is not what it should hold."""
    stripped = text.strip().strip("|").strip()
    named = name.match(stripped)
    rest = stripped[named.end() :] if named is not None else stripped
    cells = [one.strip() for one in _CELL_GAP.split(rest.strip(" |:：\t")) if one.strip()]
    if " | " in rest and len(cells) > LEAST_NAMED and not cell(cells[0]) and _ROW_NAME.fullmatch(cells[0]):
        cells = cells[1:]  # a word of any language
    if not all(map(cell, cells)):
        cells = rest.replace("|", " ").strip(" :：").split()
    return cells if len(cells) > 1 and all(map(cell, cells)) else []


_COUNTS_BY_WORD = re.compile(r"[^\W\d_]+\s?\d")
_ANSWERED_LINES = 40
