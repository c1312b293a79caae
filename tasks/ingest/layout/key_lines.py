"""Lines that are made of keys: `1、C  2、B`, `1-5 ABCDD`, `1√ 2×`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_NUMBERED = re.compile(r"[（(]?(?:第\s*|Q\.?\s?)?\d")


_KEY_SECTION = re.compile(r"(?:[IVX]{1,4}|[A-H]|[一二三四五六七八九十]{1,2})\s*[.、:：)]\s*(?=\d)")


_LEAD = re.compile(r"[^\d:：]{0,16}[:：]\s*(?=(?:Q\.?\s?)?\d)")


KEY_MARK = r"(?:[A-J]{1,8}(?:\s*[（(][A-J]{1,8}[)）])?|[A-J](?:[、,，][A-J])+|√|×|✓|✗|✔|✘|○|对|错|正确|错误|True|False|TRUE|FALSE|[TF]|[a-e])"


_ENTRY = re.compile(
    rf"(?:^|(?<=[\s,，;；。.、|]))(?:第\s*|Q\.?\s?)?(?:\d{{1,2}}[.．](?=\d{{1,2}}[\s、]))?(\d{{1,3}})\s*(?:题\s*)?(?:[.．、:：)）\-–—=→]{{1,2}}|\s)\s*[（(]?({KEY_MARK})[)）]?(?=$|[\s,，;；。.、|])"
)


# nothing but keys that touch their numbers: `1√ 2×`, `1.A2.B3.C`, `(1)A (2)B`
_GLUED = re.compile(
    r"[（(]?(\d{1,3})([)）]?\s*[.．、:：)）]?)\s*([A-J]{1,6}|[√×✓✗✔✘TF对错]|正确|错误)(?:[\s,，;；。、|]+|(?=[（(]?\d)|$)"
)


_RANGE = re.compile(
    r"[（(]?\s*(?:第\s*)?(\d{1,3})\s*(?:[-—–~～至到－]+|to)\s*(\d{1,3})\s*(?:小?题)?\s*[)）]?\s*[.．、:：]?\s*"
)


_LETTERS_RUN = re.compile(rf"(?:\s*[（(]?\s*{KEY_MARK}\s*[)）]?\s*[,，、;；]?\s*)+")


_DIGIT = re.compile(r"\d")


# what stands in no entry: no line that holds much of it is made of keys
_FOREIGN = re.compile(r"[^\s第题Q\d.．、:：,，()（）\-–—=→A-Ja-e√×✓✗✔✘○对错正确误TrueFalsRULS]+")


@dataclass
class KeyEntry:
    """One answer: the number of its question, the answer as printed, an explanation."""

    number: int
    text: str
    explanation: str | None = None
    label: str = ""


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


def _read_entries(text: str) -> list[KeyEntry]:
    if not _DIGIT.search(text):
        return []
    stripped = text.strip().strip("|").strip()
    if not _NUMBERED.match(stripped):
        section = _KEY_SECTION.match(stripped)  # `II. 1. C  2. B`
        stripped = stripped[section.end() :] if section else stripped
        colon = _LEAD.match(stripped)
        stripped = stripped[colon.end() :] if colon else stripped
        if not _NUMBERED.match(stripped):
            return []
    entries = _read_ranges(stripped)
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
    numbers = [int(match.group(1)) for match in matches]
    if any(right <= left for left, right in pairwise(numbers)):
        return []
    return [KeyEntry(int(match.group(1)), match.group(2)) for match in matches]


def _read_glued(text: str) -> list[KeyEntry]:
    """Read `1√ 2× 3√` and `1.A2.B3.C`.

    The numbers run one by one and nothing else stands on the line.
    """
    entries: list[KeyEntry] = []
    position = bare_letters = 0
    while position < len(text):
        match = _GLUED.match(text, position)
        if not match or (entries and int(match.group(1)) != entries[-1].number + 1):
            return []
        entries.append(KeyEntry(int(match.group(1)), match.group(3)))
        bare_letters += not match.group(2).strip() and match.group(3) not in "√×✓✗✔✘"
        position = match.end()
    if len(entries) == 1 and not bare_letters and entries[0].text in "√×✓✗✔✘":
        return entries  # the last of its lines: `41√`
    return entries if len(entries) > (2 if bare_letters else 1) else []


def _read_ranges(text: str) -> list[KeyEntry]:
    entries: list[KeyEntry] = []
    position = 0
    while position < len(text):
        match = _RANGE.match(text, position)
        if not match:
            rest = text[position:].strip(" \t,，;；。.|")
            return entries if not rest else []
        first, last = int(match.group(1)), int(match.group(2))
        run = _LETTERS_RUN.match(text, match.end())
        if not run or last < first or last - first > 60:
            return []
        tokens = _split_tokens(run.group(0), last - first + 1)
        if tokens is None:
            return []
        entries += [KeyEntry(first + offset, token) for offset, token in enumerate(tokens)]
        position = run.end()
        while position < len(text) and text[position] in " \t,，;；。.|":
            position += 1
    return entries


def _split_tokens(text: str, count: int) -> list[str] | None:
    """Split `ABCDD`, `AB CD ABC`, `√×√` into `count` keys.

    None where the number does not come out.
    """
    spaced = [token for token in re.split(r"[\s,，、;；（()）]+", text.strip()) if token]
    if len(spaced) == count:
        return spaced
    tokens = re.findall(r"True|False|TRUE|FALSE|正确|错误|[A-J√×✓✗✔✘对错TF]", text)
    return tokens if len(tokens) == count else None
