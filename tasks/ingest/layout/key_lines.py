"""Lines that are made of keys: `1、C  2、B`, `1-5 ABCDD`, `1√ 2×`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.words.answers import TRUTH_KEY
from tasks.ingest.words.grammar import number_word, truth_word, truth_words
from tasks.ingest.words.labels import COUNTING, read_number
from tasks.ingest.words.once import once_a_paper

# what may stand before the number of an answer: `第`, `Question`, `(`, `【`, `#`
NUMBER_LEAD = rf"[（(\[【#]?\s*+(?:{number_word()}\s*+)?"
_NUMBERED = re.compile(rf"{NUMBER_LEAD}\d")
_KEY_SECTION = re.compile(r"(?:[IVX]{1,4}|[Ⅰ-Ⅻ]|[A-H]|[一二三四五六七八九十]{1,2})\s*[.、:：)]\s*(?=\d)")
# `Part 1:`, `A1型题：` before keys
_LEAD = re.compile(rf"(?:(?!\d)[^:：]{{0,16}})?[:：]\s*(?={NUMBER_LEAD}\d)")
# `A1/A2型题  1.B  2.C`: the title of a section before all its keys
_TITLED = re.compile(rf"(?!\d)[^:：。？?]{{2,16}}?(?<!\d)\s+(?={NUMBER_LEAD}\d)")
_LETTERS = r"[A-J](?:[、,，]\s?[A-J](?![A-Za-z]))+|[A-J]{1,8}(?:\s*[（(][A-J]{1,8}[)）])?"
KEY_MARK = rf"(?:{_LETTERS}|全选|{TRUTH_KEY}|[a-j](?![a-z])|[①-⑩]{{1,5}})"
_ENTRY = re.compile(
    rf"(?<![^\s,，;；。.、|]){NUMBER_LEAD}(?:\d{{1,2}}[.．](?=\d{{1,2}}[\s、]))?(\d{{1,3}})\s*(?:题\s*)?(?:[.．、:：)）\]】\-–—=→>/]{{1,2}}|\s|(?=[（(][A-J√×✓✗TF对错]))\s*[（(]?({KEY_MARK})[)）]?(?=$|[\s,，;；。.、|])"
)
# nothing but keys that touch their numbers: `1√ 2×`, `1.A2.B3.C`, `(1)A (2)B`
_GLUED = re.compile(
    rf"[（(\[【]?(\d{{1,3}})([)）\]】]?\s*[.．、:：)）]?)\s*[（(]?([A-J]{{1,6}}|{truth_word()}|[TFYN]|[a-j](?![a-z]))[)）]?(?:[\s,，;；。、|]+|(?=[（(\[【]?\d)|$)"
)
_RANGE = re.compile(
    rf"{NUMBER_LEAD}(\d{{1,3}})\s*(?:[-—–~～至到－]+|to)\s*(\d{{1,3}})\s*(?:小?题)?\s*[)）\]】]?\s*[.．、:：,，]?\s*"
)
_LETTERS_RUN = re.compile(
    rf"(?:\s*[（(]?\s*(?:{_LETTERS}|{truth_word()}|[TFYNVX]+|[a-j]+(?![a-z]))\s*[)）]?\s*[,，、;；]?\s*)+"
)
KEY_TOKEN = re.compile(rf"{truth_word()}|[A-JTFYNVXa-j]")
DIGIT = re.compile(r"\d")
# what alone above keys says that they are
KEYS_TITLE = re.compile(
    r"\W*(?:(?:参考|标准|正确|试题)?答案|(?i:(?:answer|solution)s?(?: keys?)?|keys?|correct answers))\W*"
)
OPTION = re.compile(r"\s*[（(]?[A-D]\s*[)）.．、:：]\s*\S")
KEY_CELL = re.compile(rf"[（(]?(?:{KEY_MARK})[)）]?")
# forms of the numbers that keys have, or the questions above them
KEYED_NUMBERS = (*COUNTING, "bare")
# so many keys are no accident below a title or in a list, and so many without either
LEAST_NAMED, LEAST_BARE = 3, 5
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


@once_a_paper
def _read_line(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((entry.number, entry.text) for entry in _read_entries(text))


# what OCR makes of a speck before a number: `~4)c`
_SPECKS = re.compile(r"(?<!\S)[~`'·‘’](?=\d{1,3}\s*[.．、)）])")


def _read_entries(text: str) -> list[KeyEntry]:
    if not DIGIT.search(text):
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
            return entries if len(entries) > 1 and rise_by_one(entries) else []
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
    return entries if len(entries) >= LEAST_NAMED else []


def rise_by_one(entries: Sequence[KeyEntry]) -> bool:
    """Whether the numbers of keys rise one by one."""
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
    entries, end = take_ranges(text, 0)
    return entries if end == len(text) else []


def take_ranges(text: str, position: int) -> tuple[list[KeyEntry], int]:
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
    tokens = KEY_TOKEN.findall(text)
    return tokens if len(tokens) == count else None
