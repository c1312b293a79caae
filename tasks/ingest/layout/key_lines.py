"""Lines that are made of keys: `1、C  2、B`, `1-5 ABCDD`, `1√ 2×`, and keys without numbers.

The latter are written as the former, which are read everywhere: letters below ten questions, rows of numbers and of keys, keys one
below the other; answers that follow without a heading are given one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise, takewhile

from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite, say
from tasks.ingest.words.answers import ANSWER_STARTS, TRUTH_KEY, match_answer
from tasks.ingest.words.grammar import begins_asking, number_word, truth_word, truth_words
from tasks.ingest.words.labels import PARTS, parse_label, read_number

# what may stand before the number of an answer: `第`, `Question`, `(`, `【`, `#`
_OPEN = rf"[（(\[【#]?\s*+(?:{number_word()}\s*+)?"
_NUMBERED = re.compile(rf"{_OPEN}\d")
_KEY_SECTION = re.compile(r"(?:[IVX]{1,4}|[Ⅰ-Ⅻ]|[A-H]|[一二三四五六七八九十]{1,2})\s*[.、:：)]\s*(?=\d)")
# `Part 1:`, `A1型题：` before keys
_LEAD = re.compile(rf"(?:(?!\d)[^:：]{{0,16}})?[:：]\s*(?={_OPEN}\d)")
# `A1/A2型题  1.B  2.C`: the title of a section before all its keys
_TITLED = re.compile(rf"(?!\d)[^:：。？?]{{2,16}}?(?<!\d)\s+(?={_OPEN}\d)")
_LETTERS = r"[A-J](?:[、,，]\s?[A-J](?![A-Za-z]))+|[A-J]{1,8}(?:\s*[（(][A-J]{1,8}[)）])?"
KEY_MARK = rf"(?:{_LETTERS}|全选|{TRUTH_KEY}|[a-j](?![a-z])|[①-⑩]{{1,5}})"
_ENTRY = re.compile(
    rf"(?<![^\s,，;；。.、|]){_OPEN}(?:\d{{1,2}}[.．](?=\d{{1,2}}[\s、]))?(\d{{1,3}})\s*(?:题\s*)?(?:[.．、:：)）\]】\-–—=→>/]{{1,2}}|\s|(?=[（(][A-J√×✓✗TF对错]))\s*[（(]?({KEY_MARK})[)）]?(?=$|[\s,，;；。.、|])"
)
# nothing but keys that touch their numbers: `1√ 2×`, `1.A2.B3.C`, `(1)A (2)B`
_GLUED = re.compile(
    rf"[（(\[【]?(\d{{1,3}})([)）\]】]?\s*[.．、:：)）]?)\s*[（(]?([A-J]{{1,6}}|{truth_word()}|[TFYN]|[a-j](?![a-z]))[)）]?(?:[\s,，;；。、|]+|(?=[（(\[【]?\d)|$)"
)
_RANGE = re.compile(
    rf"{_OPEN}(\d{{1,3}})\s*(?:[-—–~～至到－]+|to)\s*(\d{{1,3}})\s*(?:小?题)?\s*[)）\]】]?\s*[.．、:：,，]?\s*"
)
_LETTERS_RUN = re.compile(
    rf"(?:\s*[（(]?\s*(?:{_LETTERS}|{truth_word()}|[TFYNVX]+|[a-j]+(?![a-z]))\s*[)）]?\s*[,，、;；]?\s*)+"
)
_DIGIT = re.compile(r"\d")
# what stands in no entry: no line that holds much of it is made of keys
_FOREIGN = re.compile(
    rf"[^\s第题\d.．、:：,，()（）\[\]【】#\-–—=→>/A-Za-z①-⑩{''.join(sorted(character for word in (*truth_words()[0], *truth_words()[1]) for character in word if not character.isascii()))}]+"
)


_STOPPED = re.compile(r"(?<![^\s,，;；。|])(\d{1,3})[.．、)）]\s+(?!\d{1,3}[.．、)）])(?=\S)")


@dataclass
class KeyEntry:
    """One answer: the number of its question, the answer as printed, an explanation."""

    number: int
    text: str
    explanation: str | None = None


def read_key_line(text: str) -> list[KeyEntry]:
    """Read a line that is made of keys; [] where it is not.

    So `1、C(D)  2、C  3、B`, `1-5 ABCDD 6-10 AABBC` and `1.√ 2.×`. A single entry `1. A` counts only where nothing else
    stands on the line.
    """
    # fresh entries: whoever reads a key writes into them
    return [KeyEntry(number, answer) for number, answer in _read_line(text)]


@lru_cache(maxsize=1 << 14)  # a line is looked at by several steps, in every reading of the paper
def _read_line(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((entry.number, entry.text) for entry in _read_entries(text))


# what OCR makes of a speck before a number: `~4)c`
_SPECKS = re.compile(r"(?<!\S)[~`'·‘’](?=\d{1,3}\s*[.．、)）])")


def _read_entries(text: str) -> list[KeyEntry]:
    if not _DIGIT.search(text):
        return _read_roman(text)
    stripped = _SPECKS.sub("", text).strip().strip("|").strip()
    if not _NUMBERED.match(stripped):
        section = _KEY_SECTION.match(stripped)  # `II. 1. C  2. B`
        stripped = stripped[section.end() :] if section else stripped
        colon = _LEAD.match(stripped)
        stripped = stripped[colon.end() :] if colon else stripped
        if not _NUMBERED.match(stripped):
            titled = _TITLED.match(stripped)
            entries = _read_entries(stripped[titled.end() :]) if titled is not None else []
            return entries if len(entries) > 1 and _runs_on(entries) else []
    entries = _read_ranges(stripped) or _read_cells(stripped)
    if entries:
        return entries
    foreign = _FOREIGN.search(stripped)
    if foreign is not None and foreign.end() - foreign.start() > 0.2 * len(stripped) + 2:
        return []  # most lines: what is left cannot make up four fifths of it
    solid = len("".join(stripped.split()))
    if solid - sum(map(len, _FOREIGN.findall(stripped))) < 0.8 * solid - 2:
        return []
    glued = _read_glued(stripped)
    if glued:
        return glued
    matches = list(_ENTRY.finditer(stripped))
    dense = sum(len("".join(match.group(0).split())) for match in matches)
    if not matches or dense < 0.8 * solid - 2:
        return []
    if len(matches) == 1 and "①" <= matches[0].group(2)[0] <= "⑩":
        return []  # `(1) ①②③` is one answer of its question
    if any(match[2].islower() for match in matches) and any(map(str.isalnum, _ENTRY.sub("", stripped))):
        return []  # `3. (a) P = 20 (b) 900` answers the parts of one question
    numbers = [int(match.group(1)) for match in matches]
    if any(right <= left for left, right in pairwise(numbers)):
        return []
    told = {int(match[1]) for match in _STOPPED.finditer(stripped)}
    if any(number - 1 in numbers for number in told.difference(numbers)):
        return []  # `1. B 2. C 3. 30` has an answer that is no key
    return [KeyEntry(int(match.group(1)), match.group(2)) for match in matches]


# `(i) b; (ii) c`, all in small letters or all in capitals
_ROMAN_ENTRY = re.compile(
    rf"[（(]?(?P<number>[ivx]{{1,5}}|[IVX]{{1,5}})[)）.]\s*[（(]?(?P<key>[a-j]|[A-J]|{truth_word()}|[TF])[)）]?\s*(?:[,，;；]\s*|[.。]?\s*$)"
)
_ROMAN_LEAD = re.compile(r"(?:[^:：]{0,24}[:：])?\s*")


def _read_roman(text: str) -> list[KeyEntry]:
    """Read `Section C: (i) b; (ii) c; (iii) a`, whose numbers run from the first; [] for others."""
    lead = _ROMAN_LEAD.match(text)
    at = lead.end() if lead is not None else 0
    entries: list[KeyEntry] = []
    while at < len(text):
        match = _ROMAN_ENTRY.match(text, at)
        if match is None or read_number(match["number"]) != len(entries) + 1:
            return []
        entries.append(KeyEntry(len(entries) + 1, match["key"]))
        at = match.end()
    return entries if len(entries) >= _LEAST_NAMED else []


def _runs_on(entries: Sequence[KeyEntry]) -> bool:
    return all(right.number == left.number + 1 for left, right in pairwise(entries))


def _read_glued(text: str) -> list[KeyEntry]:
    """Read `1√ 2× 3√` and `1.A2.B3.C`, whose numbers run one by one."""
    entries: list[KeyEntry] = []
    position = bare_letters = 0
    while position < len(text):
        match = _GLUED.match(text, position)
        if not match or (entries and int(match.group(1)) != entries[-1].number + 1):
            return []
        entries.append(KeyEntry(int(match.group(1)), match.group(3)))
        bare_letters += not match.group(2).strip() and match.group(3).isascii()
        position = match.end()
    if len(entries) == 1 and not bare_letters and not entries[0].text.isascii():
        return entries  # the last of its lines: `41√`
    return entries if len(entries) > (2 if bare_letters else 1) else []


def _read_ranges(text: str) -> list[KeyEntry]:
    entries, end = _take_ranges(text, 0)
    return entries if end == len(text) else []


def _take_ranges(text: str, position: int) -> tuple[list[KeyEntry], int]:
    """The keys of `1-5 BCCBB  6 D` from a place on, and where they end; none without a range."""
    entries: list[KeyEntry] = []
    has_range = False
    while position < len(text):
        match = _RANGE.match(text, position)
        if not match:
            single = _ENTRY.match(text, position)
            if single is None or (entries and int(single[1]) <= entries[-1].number):
                break
            entries.append(KeyEntry(int(single[1]), single[2]))
            position = _skip_stops(text, single.end())
            continue
        first, last = int(match.group(1)), int(match.group(2))
        run = _LETTERS_RUN.match(text, match.end())
        tokens = (
            _split_tokens(run.group(0), last - first + 1) if run and first <= last <= first + 60 else None
        )
        if run is None or tokens is None:
            break
        entries += [KeyEntry(first + offset, token) for offset, token in enumerate(tokens)]
        has_range = True
        position = _skip_stops(text, run.end())
    return (entries, position) if has_range else ([], 0)


def _skip_stops(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t,，;；。.|":
        position += 1
    return position


def _read_cells(text: str) -> list[KeyEntry]:
    """Read `1~5题 | C | AD |  | B | D`, and `1~5题 | CADBD | 6~8题 | ABC`."""
    cells = [cell.strip() for cell in text.split("|")]
    begins = [place for place, cell in enumerate(cells) if _RANGE.fullmatch(cell)]
    entries: list[KeyEntry] = []
    for begin, end in pairwise([*begins, len(cells)] if begins[:1] == [0] else []):
        match = _RANGE.fullmatch(cells[begin])
        keys = cells[begin + 1 : end]
        filled = [key for key in keys if key]
        if match is None or not filled or not all(map(_LETTERS_RUN.fullmatch, filled)):
            return []
        first, count = int(match.group(1)), int(match.group(2)) - int(match.group(1)) + 1
        if not 0 < count <= 61:
            return []
        tokens = _split_tokens(filled[0], count) if len(filled) == 1 else None
        if tokens is None and (len(keys) < count or any(keys[count:])):
            return []
        entries += [KeyEntry(first + offset, key) for offset, key in enumerate(tokens or keys[:count]) if key]
    return entries


def _split_tokens(text: str, count: int) -> list[str] | None:
    """Split `ABCDD`, `AB CD ABC`, `√×√` into `count` keys; None for another number."""
    spaced = [token for token in re.split(r"[\s,，、;；（()）]+", text.strip()) if token]
    if len(spaced) == count:
        return spaced
    tokens = _TOKEN.findall(text)
    return tokens if len(tokens) == count else None


_TOKEN = re.compile(rf"{truth_word()}|[A-JTFYNVXa-j]")


def write_key_blocks(lines: IndexedLines) -> list[Piece]:
    """Write blocks of keys as lines that number them, below the heading that is missing."""
    lines = _number_keys(_part_columns(_join_keys(_part_ranges(_part_headed(lines)))))
    return list(_open_answers(_write_bare_numbers(lines)).pieces)


_AFTER_HEAD = re.compile(r"\s*[:：]\s*")


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
    written: list[Piece] = []
    is_answered = False
    for piece, label in zip(lines.pieces, lines.labels, strict=True):
        is_answered = is_answered or _NAMES_ANSWERS.fullmatch(piece.text) is not None
        is_head = label is not None and label.style in ("part", "cn") and piece.kind != "table"
        end = label.end if is_head and label is not None else 0
        stop = _AFTER_HEAD.match(piece.text, end) if is_head else None
        end = stop.end() if stop is not None else end
        if (
            is_head
            and label is not None
            and label.style == "part"
            and len(read_key_line(piece.text[end:])) > 1
        ):
            written += [piece.cut(0, end), piece.cut(end)]
        elif is_head and is_answered and len(begins := _find_worded(piece.text, end)) > 1:
            written.append(piece.cut(0, end))
            for first, last in pairwise((*begins, len(piece.text))):
                one = piece.cut(first, last)
                match = _WORDED.match(one.text)
                written.append(
                    rewrite(one, match.start("words"), f"{match['number']}. ") if match is not None else one
                )
        else:
            written.append(piece)
    return IndexedLines(written) if len(written) > len(lines.pieces) else lines


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


_BARE_NUMBER = re.compile(r"\s*(\d{1,3})(?:\s+(?=\S)|\s*$)")


def _write_bare_numbers(lines: IndexedLines) -> IndexedLines:
    """Write bare numbers of answers below `答案`, `3 1956年` too, with stops where they run on.

    Keys in a line may count before them; one alone on its line stands above the first part of its answer.
    """
    titles = [
        place
        for place, piece in enumerate(lines.pieces)
        if len(piece.text) <= _LONGEST_ANSWER and _TITLE.fullmatch(piece.text) is not None
    ]
    found: dict[int, Piece] = {}
    last = 0
    for place in titles[-1:]:
        for at, piece in enumerate(lines.pieces[place + 1 :], start=place + 1):
            number, label, keys = _BARE_NUMBER.match(piece.text), lines.labels[at], read_key_line(piece.text)
            if keys and not found and keys[0].number == last + 1 and _runs_on(keys):
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
    return lines.replace(found) if last >= _LEAST_BARE else lines


def _opens_parts(lines: IndexedLines, place: int) -> bool:
    """Whether a line is the first part of an answer, `(a) …`."""
    label = lines.labels[place] if place < len(lines.labels) else None
    return label is not None and label.style in PARTS and label.value == 1


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
    is_counted = len(run) > _LEAST_NAMED and all(ord(key[0]) - 64 == number for _, number, key, _ in run)
    return not is_counted or _TITLE.fullmatch(lines.pieces[run[0][0] - 1].text) is not None


_BEFORE_RANGE = re.compile(rf"(?:(?!\d)[^:：]{{0,16}}[:：])?\s*(?={_OPEN}\d{{1,3}}\s*[-—–~～至到－])")


def _part_ranges(lines: IndexedLines) -> IndexedLines:
    """Put the answers in words behind a range of keys, `1-3 BAC  4.长江`, on a line of their own."""
    written: list[Piece] = []
    for piece in lines.pieces:
        before = _BEFORE_RANGE.match(piece.text) if _DIGIT.search(piece.text) is not None else None
        entries, end = _take_ranges(piece.text, before.end()) if before is not None else ([], 0)
        label = parse_label(piece.text[end:]) if entries else None
        is_next = label is not None and label.style == "num" and label.value == entries[-1].number + 1
        written += [piece.cut(0, end), piece.cut(end)] if is_next else [piece]
    return IndexedLines(written) if len(written) > len(lines.pieces) else lines


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
            _PAIR_KEY.fullmatch(one.text) for one in entries
        )
        is_key = (
            len(rows) >= (_LEAST_PAIRS if are_keys else _LEAST_ROWS)
            and sum(1 for row in rows if len(row) > 1) > len(rows) // 2
            and _runs_on(entries)
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
        if label is not None and label.style in _STYLES:
            asked.append(label.value)
        written.append(pieces[place])
        place += 1
    return IndexedLines(written) if len(written) != len(pieces) else lines


_MOST_ROWS, _LEAST_ASKED, _LEAST_PAIRS = 100, 0.6, 2
_PAIR_KEY = re.compile(rf"[（(]?(?:{KEY_MARK})[)）]?")


def _read_answers(piece: Piece) -> list[KeyEntry]:
    """The numbers and answers that a row has side by side; [] where it holds anything else."""
    if not piece.text.lstrip(" Q")[:1].isdecimal():
        return []
    entries: list[KeyEntry] = []
    cells = iter([cell.strip() for cell in _COLUMN_GAP.split(piece.text.strip()) if cell.strip()])
    for cell in cells:
        pair = _PAIR.fullmatch(cell) if len(cell) <= _LONGEST_ANSWER else None
        answer = (pair[2] if pair is not None else None) or next(cells, "")
        is_named = len(cell) <= _LONGEST_NAME and _PAIR_KEY.fullmatch(answer) is not None
        if not answer or (pair is None and not is_named):
            return []
        entries += [KeyEntry(int(pair[1]), answer)] if pair is not None else []
    return entries


_QUESTION_ROW = re.compile(r"\s*(\d{1,3})\s*[.．、]?\s*\|\s*[^|]{6}")
_STYLES = ("num", "paren", "nump", "bracket", "word", "bare")
_HEADS = ("cn", "part", "roman")
_BEFORE_BRACKET = re.compile(r"[^（(\[]{3,}")
_LEAST_NAMED, _LEAST_BARE = 3, 5
# `参考答案：` before keys
_KEY_LEAD = re.compile(
    rf"\s*[【\[(（]?\s*(?:[选選单單多判客][\u4e00-\u9fff]{{0,4}}[题題](?=答案|\s*[:：])|(?i:multiple[- ]choice)\s*(?=Answ|Key|[:：]))?(?:[参參]考|[标標][准準]|正确|正確)?(?:答案|Answers?|Keys?|ANSWERS?|KEYS?|(?<=[题題e])(?=\s*[:：]))\s*[】\])）]?\s*[:：]?\s*(?=[A-JTFYN]|{truth_word()})"
)
# what alone above keys says that they are
_TITLE = re.compile(
    r"\W*(?:(?:参考|标准|正确|试题)?答案|(?i:(?:answer|solution)s?(?: keys?)?|keys?|correct answers))\W*"
)
# one key, or several of one alphabet that touch each other
_LONE_KEY = re.compile(rf"[（(\[【]?\s*([A-J]+|[a-j]+|[TF]+|[YN]+|{truth_word()}+)\s*[)）\]】]?")
_IN_BRACKET = re.compile(r"([（(\[【])\s*([^\s（(\[【】\])）]+)\s*([】\])）])")
_BETWEEN_KEYS = re.compile(r"(?:[\s,，、;；.。|]|(?<=[A-J])[-–](?=[A-J](?![A-Za-z])))+")
# what a line of nothing but keys may begin with
_KEY_STARTS = frozenset("（([【ABCDEFGHIJTFYNabcdefghij,，、;；.。|") | frozenset(
    character for word in (*truth_words()[0], *truth_words()[1]) for character in (word[0], word[0].upper())
)


def _number_keys(lines: IndexedLines) -> IndexedLines:
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
        if not keys and label is not None and label.style in _STYLES and piece.kind != "table":
            if not label.is_weak:
                asked.add(label.value)
                numbers = (
                    [*numbers, label.value] if numbers and label.value == numbers[-1] + 1 else [label.value]
                )
            continue
        if not keys:
            lead = _KEY_LEAD.match(piece.text) if _may_open_block(piece.text.lstrip()[:1]) else None
            is_titled = 0 < place < len(pieces) and _TITLE.fullmatch(pieces[place - 1].text) is not None
            keys, last = _read_bare_keys(pieces, place, len(numbers or rows), lead, is_titled)
            if not keys:
                opens = match_answer(piece.text) is not None and _TITLE.fullmatch(piece.text) is None
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
        return (keys, place) if len(keys) >= _LEAST_NAMED or is_two else ([], place)
    keys = _count_out(tokens, count, is_whole=True)
    last = place
    if not keys and len(tokens) == 1:
        below = takewhile(lambda one: len(one) == 1, (_split_keys(one.text) for one in pieces[place + 1 :]))
        keys = [*tokens, *(one[0] for one in below)]
        last = place + len(keys) - 1
    is_meant = len(keys) == count >= (_LEAST_NAMED if is_titled else _LEAST_BARE) and (
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
    singles = [sign for one in tokens for sign in (_TOKEN.findall(one) if len(one) > 1 else [one])]
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


def _read_row(text: str, name: re.Pattern[str], cell: Callable[[str], object]) -> list[str]:
    """The cells of a row, without its name; [] where one is not what it should hold."""
    stripped = text.strip().strip("|").strip()
    named = name.match(stripped)
    rest = stripped[named.end() :] if named is not None else stripped
    cells = [one.strip() for one in _CELL_GAP.split(rest.strip(" |:：\t")) if one.strip()]
    if " | " in rest and len(cells) > _LEAST_NAMED and not cell(cells[0]) and _ROW_NAME.fullmatch(cells[0]):
        cells = cells[1:]  # a word of any language
    if not all(map(cell, cells)):
        cells = rest.replace("|", " ").strip(" :：").split()
    return cells if len(cells) > 1 and all(map(cell, cells)) else []


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
    keys = _read_row(pieces[place + 1].text, _KEY_NAME, _PAIR_KEY.fullmatch) if values else []
    if len(values) != len(keys) or any(right != left + 1 for left, right in pairwise(values)):
        return [], [], place
    first = [pieces[at].text.strip(" |").partition("|")[0].strip() for at in (place, place + 1)]
    is_named = all(
        name.match(cell) or _ROW_NAME.fullmatch(cell) is None or _PAIR_KEY.fullmatch(cell)
        for cell, name in zip(first, (_NUMBER_NAME, _KEY_NAME), strict=True)
    )
    # `Q1 | Q2 | Q3 | Q4` may be quarters
    if is_named and (not _COUNTS_BY_WORD.match(first[0]) or {*values} <= {*asked}):
        return values, keys, place + 1
    below = pieces[place + 2 : place + 2 + _ANSWERED_LINES]
    # of a file of answers, above which nothing asks; else the data of a question
    is_alone = len(values) >= _LEAST_BARE and not any(_OPTION.match(piece.text) for piece in below)
    if not ({*values} <= {*asked} if asked else is_alone):
        return [], [], place
    return values, keys, place + 1


_COUNTS_BY_WORD = re.compile(r"[^\W\d_]+\s?\d")
_ANSWERED_LINES = 40
_OPTION = re.compile(r"\s*[（(]?[A-D]\s*[)）.．、:：]\s*\S")
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


def _open_answers(lines: IndexedLines) -> IndexedLines:
    """Put `参考答案` above answers that follow, numbered again, without a heading."""
    pieces = lines.pieces
    labelled = [
        (index, label)
        for index, label in enumerate(lines.labels)
        if label is not None and label.style in _STYLES and pieces[index].kind != "table"
    ]
    for place, (index, label) in enumerate(labelled):
        is_as_many = (
            2 * place == len(labelled)
            # or a title above them stays in the last question
            and (lines.labels[index - 1] is not None or _OPTION.match(pieces[index - 1].text))
            and [one.value for _, one in labelled[:place]] == [*range(1, place + 1)]
            and all(_KEY_ALONE.fullmatch(pieces[at].text[one.end :]) for at, one in labelled[place:])
        )
        least = _LEAST_NAMED if is_as_many else _LEAST_BARE
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
        if any(_OPTION.match(piece.text) for piece in pieces[index + 1 : index + 40]):
            continue
        titles = [at for at in range(index) if _TITLE.fullmatch(pieces[at].text) is not None]
        if titles and not any(_OPTION.match(piece.text) for piece in pieces[titles[-1] : index]):
            heads = [
                at
                for at in range(titles[-1], index)
                if (title := lines.labels[at]) is not None and title.style in _HEADS
            ]
            if all(_is_above(pieces, at, titles[-1]) for at in heads):
                return lines  # of a further section of the answers
        above = [piece.text for piece in pieces[max(0, index - 3) : index]]
        if any(_REGION_WORDS.search(text) and len(text) < 60 for text in above):
            return lines
        above_it = lines.labels[index - 1]
        if above_it is not None and above_it.style in _HEADS and above_it.value == 1:
            index -= _is_above(pieces, index - 1, index - 1)  # `一、选择题`, again above its keys
        return IndexedLines([*pieces[:index], say(pieces[index], "参考答案"), *pieces[index:]])
    return lines
