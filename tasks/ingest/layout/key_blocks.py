"""Keys printed away from their questions, without saying so.

They are written as the key lines that are read everywhere. A line of letters closes ten questions; answers follow at
the end without a heading; each type has a heading of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tasks.ingest.layout.indexed_lines import IndexedLines
from tasks.ingest.layout.key_lines import KEY_MARK
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.answers import ANSWER_MARK, ANSWER_STARTS
from tasks.ingest.words.labels import Label, may_label
from tasks.ingest.words.lexicon import match_exactly

_STYLES = ("num", "paren", "nump", "bracket", "word", "bare")
_BLOCK = re.compile(
    r"\s*[【\[(（]?\s*(?:参考|标准|正确)?(?:答案|Answers?|Keys?|ANSWERS?|KEYS?)\s*[】\])）]?\s*[:：]?\s*(?P<keys>(?:[A-J]{1,8}[\s,，、;；.]*){2,}|[A-J]{4,}|(?:[√×✓✗TF]\s*[,，、;；]?\s*){4,})\s*$"
)
# without a word it must answer every question above it
_BARE_BLOCK = re.compile(
    r"\s*(?P<keys>[A-J]{5,}|(?:[A-J]{5}\s+)+[A-J]{1,5}|(?:[A-J][\s,，、;；]+){4,}[A-J])\s*[.。]?\s*"
)
_KEY = re.compile(r"[A-J√×✓✗]")
_TYPED_HEADING = re.compile(
    r"\s*(?:[一二三四五六七八九十]{1,3}\s*[、.．]\s*|[IVX]{1,4}[.、]\s*)?(?P<title>[\u4e00-\u9fff]{2,10}?)(?:部分)?的?(?:参考|标准|正确)?答案\s*(?P<range>[（(][^（()）]{0,16}[)）])?\s*[:：]?\s*(?P<rest>.*)$"
)
_OPTION = re.compile(r"\s*[（(]?[A-D]\s*[)）.．、:：]\s*\S")
# what stands behind the number of an answer: a key alone or with its explanation, or the mark of an answer
_ANSWERS = re.compile(
    r"\s*(?:[（(]?\s*(?:[A-J](?:[\s,，、]*[A-J]){0,7}|√|×|✓|✗|对|错|正确|错误|True|False|T|F)\s*[)）]?\s*[.。,，;；]?\s*(?:$|【|解析|[（(]|因为|Explanation|\s{2,}|:|：)|【?(?:参考|正确|标准)?答案\s*[】:：]|\[答案\])",
    re.IGNORECASE,
)
_REGION_WORDS = re.compile(r"答案|评分标准|(?i:answers?|keys?|solutions?)")
_MIN_KEYS = 5


def write_key_blocks(lines: IndexedLines) -> list[Piece]:
    """Write blocks of keys as lines that number them.

    The heading that is missing above an answer part is put there.
    """
    return list(_open_answers(_part_typed_headings(_number_blocks(_join_lone(_join_rows(lines))))).pieces)


# what the pattern of a block may begin with, and Latin letters before which the pattern is tried
_BLOCK_STARTS = frozenset("【[（(参标正答AaKk") | ANSWER_STARTS


def _may_open_block(first: str) -> bool:
    return first in _BLOCK_STARTS or may_label(first)


def _number_blocks(lines: IndexedLines) -> IndexedLines:
    """Write `参考答案：DACCC CDBAD` below ten questions as `11.D 12.A …`."""
    changed: dict[int, Piece] = {}
    numbers: list[Label] = []
    answered = 0  # numbers that had an answer of their own below them
    for index in lines.open_where(_may_open_block):
        piece, label = lines.pieces[index], lines.labels[index]
        if label is not None and label.style in _STYLES and piece.kind != "table":
            numbers.append(label)
            continue
        match = (
            _BLOCK.match(piece.text) if "案" in piece.text or piece.text.lstrip()[:1] in "AaKk[(" else None
        )
        bare = _BARE_BLOCK.fullmatch(piece.text) if match is None else None
        if match is None and bare is None:
            if ANSWER_MARK.match(piece.text) is not None:
                answered = len(numbers)
            continue
        run: list[int] = []
        for other in reversed(numbers[answered:]):
            if run and other.value != run[0] - 1:
                continue
            run.insert(0, other.value)
        found = match or bare
        keys = _split_block(found.group("keys"), len(run)) if found is not None else None
        if keys is None or len(keys) < 3 or (match is None and len(keys) != len(run)):
            answered = len(numbers)
            continue
        values = run[-len(keys) :]
        text = "  ".join(f"{value}.{key}" for value, key in zip(values, keys, strict=True))
        changed[index] = replace(piece, text=text, sources=(piece.start,) * len(text))
        numbers, answered = [], 0
    return lines.replace(changed)


def _split_block(text: str, available: int) -> list[str] | None:
    """The keys of a block, one for each of at most `available` questions.

    They are single characters, or groups separated by white space.
    """
    singles = _KEY.findall(text)
    groups = re.findall(r"[A-J]+|[√×✓✗]", text)
    by_five = all(len(group) == 5 for group in groups[:-1]) and len(groups[-1]) <= 5
    if len(singles) <= available and (by_five or len(groups) == 1 or available == len(singles)):
        return singles
    if len(groups) <= available and not by_five:
        return groups
    return None


_CELL_GAP = re.compile(r"\||\t|\s{2,}")
_NUMBER_NAME = re.compile(
    r"题\s*号|序\s*号|(?i:No\.?|(?:Questions?|Ques|Q|Item)\.?\s*(?:No\.?|Numbers?|#)?|Items?)|#"
)
_KEY_NAME = re.compile(r"答\s*案|选项|(?i:Answers?|Ans\.?|Keys?)")
_KEY_CELL = re.compile(KEY_MARK)


def _read_row(text: str, name: re.Pattern[str], cell: Callable[[str], object]) -> list[str]:
    """The cells of a row, without its name; empty where one of them is not what the row should hold.

    They stand between bars, tabs or wide gaps, and after a name between any.
    """
    stripped = text.strip().strip("|").strip()
    named = name.match(stripped)
    rest = stripped[named.end() :] if named is not None else stripped
    cells = [one.strip() for one in _CELL_GAP.split(rest.strip(" |:：\t")) if one.strip()]
    if not all(map(cell, cells)):
        cells = rest.replace("|", " ").strip(" :：").split()
    return cells if len(cells) > 1 and all(map(cell, cells)) else []


def _may_open_row(first: str) -> bool:
    return first in "题序NnQqIi|:：#" or first.isdecimal()


def _ends_row(text: str) -> bool:
    last = text.rstrip()[-1:]
    return last == "|" or last.isdecimal()


def _join_rows(lines: IndexedLines) -> IndexedLines:
    """Write a row of numbers and the row of keys below it as one key line."""
    pieces = lines.pieces
    changed: dict[int, Piece] = {}
    dropped: set[int] = set()
    for place in lines.open_where(_may_open_row):
        if place + 1 == len(pieces) or place in dropped or not _ends_row(pieces[place].text):
            continue
        values = [int(value) for value in _read_row(pieces[place].text, _NUMBER_NAME, str.isdecimal)]
        keys = _read_row(pieces[place + 1].text, _KEY_NAME, _KEY_CELL.fullmatch) if values else []
        if not keys or len(values) != len(keys) or values != list(range(values[0], values[0] + len(keys))):
            continue
        text = "  ".join(f"{value}.{key}" for value, key in zip(values, keys, strict=True))
        changed[place] = replace(
            pieces[place], text=text, sources=(pieces[place].start,) * len(text), kind="body"
        )
        dropped.add(place + 1)
    if not changed:
        return lines
    return IndexedLines([changed.get(place, one) for place, one in enumerate(pieces) if place not in dropped])


_LONE = re.compile(r"\s*[（(\[【]?\s*([A-J]{1,4}|[√×✓✗TF对错]|True|False|正确|错误)\s*[)）\]】]?\s*")


def _join_lone(lines: IndexedLines) -> IndexedLines:
    """Write keys one below the other, as many as the questions above them, as one key line."""
    pieces = lines.pieces
    lone = {
        place: match.group(1)
        for place, piece in enumerate(pieces)
        if len(piece.text) < 12 and (match := _LONE.fullmatch(piece.text)) is not None
    }
    changed: dict[int, Piece] = {}
    dropped: set[int] = set()
    for first in sorted(lone):
        if first - 1 in lone:
            continue
        last = first
        while last + 1 in lone:
            last += 1
        keys = [lone[place] for place in range(first, last + 1)]
        numbers: list[int] = []
        for place in range(first - 1, -1, -1):
            label = lines.labels[place]
            if label is None or label.style not in _STYLES or label.is_weak:
                continue
            if numbers and label.value != numbers[0] - 1:
                break
            numbers.insert(0, label.value)
        if len(keys) < _MIN_KEYS or len(keys) != len(numbers) or len(set(keys)) < 2:
            continue
        text = "  ".join(f"{number}.{key}" for number, key in zip(numbers, keys, strict=True))
        changed[first] = replace(pieces[first], text=text, sources=(pieces[first].start,) * len(text))
        dropped.update(range(first + 1, last + 1))
    if not changed:
        return lines
    return IndexedLines(
        [changed.get(place, piece) for place, piece in enumerate(pieces) if place not in dropped]
    )


def _part_typed_headings(lines: IndexedLines) -> IndexedLines:
    """Part `单选题参考答案（1-140）： 1-10 ABD…` into its heading and its keys.

    That is done where every type has such a line.
    """
    if "答案" not in lines.text:
        return lines
    pieces = lines.pieces
    found: dict[int, re.Match[str]] = {}
    for index, piece in enumerate(pieces):
        match = (
            _TYPED_HEADING.match(piece.text) if "答案" in piece.text[:24] and len(piece.text) < 400 else None
        )
        if match is not None and match_exactly(match.group("title")) is not None:
            found[index] = match
    if not found or any(_OPTION.match(piece.text) for piece in pieces[min(found) :]):
        return lines
    changed: list[Piece] = []
    for index, piece in enumerate(pieces):
        heading = found.get(index)
        if heading is None:
            changed.append(piece)
            continue
        if index == min(found):
            changed.append(replace(piece, text="参考答案", sources=(piece.start,) * 4))
        title = heading.group("title")
        title = title if title.endswith("题") else f"{title}题"
        changed.append(replace(piece, text=title, sources=(piece.start,) * len(title)))
        rest = piece.cut(heading.start("rest"))
        if rest.text.strip():
            changed.append(rest)
    return IndexedLines(changed)


def _open_answers(lines: IndexedLines) -> IndexedLines:
    """Put `参考答案` above answers that follow the questions without a heading.

    There the numbers start over, and keys stand after them.
    """
    pieces = lines.pieces
    labelled = [
        (index, label)
        for index, label in enumerate(lines.labels)
        if label is not None and label.style in _STYLES and pieces[index].kind != "table"
    ]
    for place, (index, label) in enumerate(labelled):
        if label.value != 1 or place < _MIN_KEYS or not _ANSWERS.match(pieces[index].text[label.end :]):
            continue
        head = labelled[place : place + 12]
        keyed = [one for one in head if _ANSWERS.match(pieces[one[0]].text[one[1].end :])]
        values = [one[1].value for one in keyed]
        if (
            len(keyed) < _MIN_KEYS
            or len(keyed) < 0.8 * len(head)
            or values != list(range(1, len(values) + 1))
        ):
            continue
        if any(_OPTION.match(piece.text) for piece in pieces[index + 1 : index + 40]):
            continue
        above = [piece.text for piece in pieces[max(0, index - 3) : index]]
        if any(_REGION_WORDS.search(text) and len(text) < 60 for text in above):
            return lines
        opening = replace(pieces[index], text="参考答案", sources=(pieces[index].start,) * 4)
        return IndexedLines([*pieces[:index], opening, *pieces[index:]])
    return lines
