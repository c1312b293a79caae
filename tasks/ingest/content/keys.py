"""Answers printed away from their questions.

They stand in a key line, or in an answer part at the end of the paper or in a file of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tasks.ingest.layout.headings import read_heading
from tasks.ingest.layout.key_lines import (
    KEY_MARK,
    KeyEntry,
    read_key_line,
)
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.layout.sections import Section, divide
from tasks.ingest.words.answers import ANSWER_MARK, METADATA, find_explanation, has_colon, read_key
from tasks.ingest.words.grammar import answer_mark
from tasks.ingest.words.labels import Label
from tasks.ingest.words.lexicon import FineType

_ONE_FOR_ALL = re.compile(r"\s*(?:第\s*)?(\d{1,3})\s*[-–—~～至]\s*(\d{1,3})\s*题?\s*[.．、:：]\s*(?=\S)")


_CELL_NAME = re.compile(r"\s*(题\s*号|答\s*案|序\s*号)\s+(?=[^\s|])")


_CELL_GAP = re.compile(r"\||\t|\s{2,}")


_NUMBER_CELL = re.compile(
    r"题\s*号|序\s*号|No\.?|(?:Questions?|Ques|Q|Item)\.?\s*(?:No\.?|Numbers?|#)?|Items?|#", re.IGNORECASE
)


_KEY_CELL = re.compile(r"答\s*案|Answers?|Ans\.?|Keys?|选项", re.IGNORECASE)


_INLINE = re.compile(r"(?:^\s*|\s+|[；;。]\s*)((?:[（(]\s*)?)(\d{1,3})\s*(?:[、)）．]|[.:：](?!\d))\s*")


@dataclass
class KeySection:
    """The answers below one heading of an answer part, or of one key line.

    Of a key line `fine` may be None. `parent` is the number of the section around it; `run` are keys without numbers,
    in the order of the questions.
    """

    number: int | None
    fine: FineType | None
    entries: list[KeyEntry] = field(default_factory=list)
    title: str = ""
    whole: KeyEntry | None = None
    parent: int | None = None
    run: str = ""


def read_region(
    pieces: Sequence[Piece], paths: Collection[tuple[int | None, int | None]] = ()
) -> list[KeySection]:
    """Read the answer part of a paper into its sections.

    `paths` are the numbers of the sections that hold the questions, each below that of the section around it.
    """
    nested = _read_nested(pieces, paths)
    if nested:
        return nested
    sections: list[KeySection] = []
    for section in divide(pieces):
        found = KeySection(section.number, section.fine, title=section.title)
        run = " ".join(piece.text.strip() for piece in section.pieces)
        if section.number is not None and len(run) < 400 and _BARE_RUN.fullmatch(run):
            found.run = run
            sections.append(found)
            continue
        label = section.pieces[0].label if section.pieces else None
        if (
            section.is_question
            and not _starts_numbers(section.pieces, label)
            and not read_key_line(section.pieces[0].text)
        ):
            number, pieces = 1, section.pieces
            if label is not None and label.style in ("num", "nump", "paren") and not label.is_weak:
                # `五、10．要点：…`: the question's own number
                number, pieces = label.value, [section.pieces[0].cut(label.end), *section.pieces[1:]]
            found.entries.append(_read_entry(number, pieces))
        else:
            found.entries = read_entries(section)
        if found.entries:
            if len(found.entries) > 1:
                found.whole = _read_entry(1, section.pieces)
            sections.append(found)
    return sections


# `一、②③②`, `三、× × √`, `二、AB ACD BC`: keys in the order of a section's questions
_BARE_RUN = re.compile(r"(?:[A-J①-⑩√×✓✗✔✘TF对错][\s,，、;；.。|]*){2,}")


_RUN_KEY = re.compile(r"[A-J①-⑩√×✓✗✔✘TF对错]")


def split_run(text: str, count: int) -> list[str]:
    """The keys of a run for `count` questions; empty where they do not come out.

    They are one sign each, or groups separated by white space and commas.
    """
    singles = _RUN_KEY.findall(text)
    if len(singles) == count:
        return singles
    groups = [group for group in re.split(r"[\s,，、;；.。|]+", text) if group]
    return groups if len(groups) == count else []


def _read_nested(
    pieces: Sequence[Piece], paths: Collection[tuple[int | None, int | None]]
) -> list[KeySection]:
    """Read `一、（一）1-5 BCABC` and, below it, `（二）1. ABC`.

    That is done where the questions stand in sections nested that way.
    """
    known = {path for path in paths if path[0] is not None}
    if not known:
        return []
    groups: list[tuple[int | None, int | None, list[Piece]]] = []
    outer: int | None = None
    for piece in pieces:
        rest = piece
        label = rest.label
        if label is not None and label.style == "cn":
            outer = label.value
            groups.append((None, outer, []))
            rest = rest.cut(label.end)
            label = rest.label
        if label is not None and label.style == "cnp" and (outer, label.value) in known:
            groups.append((outer, label.value, []))
            rest = rest.cut(label.end)
        if rest.text.strip() and groups:
            groups[-1][2].append(rest)
    if not any((parent, number) in known for parent, number, _ in groups):
        return []
    sections: list[KeySection] = []
    for parent, number, lines in groups:
        fine = next(
            (found.fine for line in lines[:1] if (found := read_heading(line.text)) is not None), None
        )
        entries = read_entries(Section(number=number, fine=None, pieces=lines))
        if entries:
            sections.append(KeySection(number, fine, entries, parent=parent))
    return sections


def _starts_numbers(pieces: Sequence[Piece], label: Label | None) -> bool:
    """Whether numbers begin here: a 1, or any number that a later line carries on."""
    if label is None or label.style not in ("num", "nump", "paren", "word"):
        return False
    return label.value == 1 or any(
        other is not None and other.style == label.style and other.value == label.value + 1
        for other in (piece.label for piece in pieces[1:])
    )


def read_entries(section: Section) -> list[KeyEntry]:
    """Read the answers of one section by their numbers, in whatever way they are printed."""
    entries: list[KeyEntry] = []
    if section.fine is not None and len(section.pieces) > 1:
        first = next((piece.label for piece in section.pieces if piece.label is not None), None)
        opening = ANSWER_MARK.match(section.pieces[0].text)
        if opening and (first is None or first.value > 1 or section.pieces[0].text[opening.end() :].strip()):
            return [_read_entry(1, section.pieces)]  # the answer of a section that is one question
    current: tuple[int, str, list[Piece]] | None = None
    pending_numbers: list[int] = []
    printed: dict[int, str] = {}
    for piece in section.pieces:
        row = read_table_numbers(piece.text)
        if row:
            pending_numbers = row
            continue
        if pending_numbers:
            keys = read_table_keys(piece.text, len(pending_numbers))
            if keys:
                entries += [KeyEntry(number, key) for number, key in zip(pending_numbers, keys, strict=True)]
                pending_numbers = []
                continue
            pending_numbers = []
        line = read_key_line(piece.text)
        if line and (len(line) > 1 or current is None or line[0].number == current[0] + 1):
            if current is not None:
                entries.append(_read_entry(current[0], current[2]))
                current = None
            if len(line) == 1:
                current = (line[0].number, "num", [piece.cut(piece.text.index(line[0].text))])
            else:
                entries += line
            continue
        several = _read_several(piece.text)
        if several and (current is None or several[0] == current[0] + 1):
            if current is not None:
                entries.append(_read_entry(current[0], current[2]))
            begin, until, end = several
            entries += [_read_entry(number, [piece.cut(end)]) for number in range(begin, until)]
            current = (until, "num", [piece.cut(end)])
            continue
        inline = split_inline(piece)
        if len(inline) > 1 and (current is None or inline[0][0] == current[0] + 1):
            if current is not None:
                entries.append(_read_entry(current[0], current[2]))
            for number, part in inline[:-1]:
                entries.append(_read_entry(number, [part]))
            current = (inline[-1][0], "num", [inline[-1][1]])
            continue
        label = piece.label
        expected = current[0] + 1 if current is not None else (entries[-1].number + 1 if entries else None)
        is_first = current is None and (expected is None or (label is not None and label.value == expected))
        if label is not None and label.style in (
            "num",
            "sub",
            "paren",
            "nump",
            "word",
            "bracket",
            "bare",
            "circ",
        ):
            follows = current is not None and _follows(current[0], current[1], label, piece.text[label.end :])
            if is_first or follows:
                if current is not None:
                    entries.append(_read_entry(current[0], current[2]))
                current = (label.value, label.style, [piece.cut(label.end)])
                printed[label.value] = label.text
                continue
        if current is not None:
            current[2].append(piece)
    if current is not None:
        entries.append(_read_entry(current[0], current[2]))
    for entry in entries:
        entry.label = printed.get(entry.number, "")
    if not entries and section.fine is not None and section.pieces:
        entries.append(_read_entry(1, section.pieces))
    return entries


_KEY_FIRST = re.compile(r"\s*[（(]?\s*(?:[A-J]{1,6}|[√×✓✗])\s*[)）]?\s*(?:$|[.。,，;；【（(]|解析|\s)")


def _follows(last: int, style: str, label: Label, rest: str) -> bool:
    """Whether a number opens the next answer: one more in the same form.

    Before a key one number may be missing.
    """
    is_key = ANSWER_MARK.match(rest) is not None or _KEY_FIRST.match(rest) is not None
    if label.value == last + 1:
        return label.style == style or is_key
    return is_key and label.style == style and last < label.value <= last + 3


def _read_several(text: str) -> tuple[int, int, int] | None:
    """Read `13-14. Answers will vary.`, one answer to several questions.

    Returned are the first and last number of the questions it answers, and where the answer begins.
    """
    match = _ONE_FOR_ALL.match(text)
    if match is None or not 0 < int(match.group(2)) - int(match.group(1)) < 10:
        return None
    return int(match.group(1)), int(match.group(2)), match.end()


def split_inline(piece: Piece) -> list[tuple[int, Piece]]:
    """Split `1、44（…）  2、10  3、3(2)` at its numbers, where they run 1 by 1 behind wide gaps."""
    marks = list(_INLINE.finditer(piece.text))
    # `1、…（2）…`: the bracketed number counts the points of the first answer
    marks = [mark for mark in marks if bool(mark.group(1)) == bool(marks[0].group(1))]
    if len(marks) < 2 or (marks[0].start() > 0 and piece.text[: marks[0].start()].strip()):
        return []
    numbers = [int(mark.group(2)) for mark in marks]
    chosen = [marks[0]]
    for mark, number in zip(marks[1:], numbers[1:], strict=True):
        if number == int(chosen[-1].group(2)) + 1:
            chosen.append(mark)
    parts = [
        (
            int(mark.group(2)),
            piece.cut(mark.end(), chosen[index + 1].start() if index + 1 < len(chosen) else None),
        )
        for index, mark in enumerate(chosen)
    ]
    return parts if len(parts) > 1 else []


def _read_entry(number: int, pieces: Sequence[Piece]) -> KeyEntry:
    text = join_pieces([piece for piece in pieces if piece.text.strip()]).strip()
    mark = ANSWER_MARK.match(text)
    if mark:
        text = text[mark.end() :].strip()
    text = METADATA.sub("", text).strip() if has_colon(text) else text
    said = answer_mark().match(text) if text else None
    if said is not None and read_key(text[said.end() :].strip(" .。")) is not None:
        text = text[said.end() :].strip(" .。")  # `The correct answer is A.`
    explanation = find_explanation(text)
    if explanation is None:
        return KeyEntry(number, text)
    key, why = text[: explanation.start()].strip(), text[explanation.end() :].strip()
    chosen = _CHOSEN.search(why) if not key else None
    return KeyEntry(number, key if chosen is None else chosen.group(1), why or None)


# `……，故选A。` closes a reason that has no key before it
_CHOSEN = re.compile(r"(?:选|为|是|(?i:\b(?:is|option)\b))\s*[:：]?\s*[（(]?([A-J]{1,6})[)）]?\s*[.。]?\s*$")


def _split_cells(text: str) -> list[str]:
    """Split a row at bars, tabs and wide gaps; behind `题号` or `答案` single spaces separate, too."""
    named = _CELL_NAME.match(text) if "号" in text or "案" in text else None
    if named is not None and "|" not in text and "\t" not in text:
        return [re.sub(r"\s", "", named.group(1)), *text[named.end() :].split()]
    return [cell.strip() for cell in _CELL_GAP.split(text) if cell.strip()]


def read_table_numbers(text: str) -> list[int]:
    """Read the first row of a key table: `题号 | 1 | 2 | 3`."""
    last = text.rstrip()[-1:]
    if not last.isdecimal() and last != "|":
        return []  # the last cell must be a number
    cells = _split_cells(text)
    if cells and _NUMBER_CELL.fullmatch(cells[0]):
        cells = cells[1:]
    elif not cells or not cells[0].isdecimal():
        return []
    numbers = [int(cell) for cell in cells if cell.isdecimal() and len(cell) < 5]
    is_run = len(numbers) == len(cells) >= 2 and all(right == left + 1 for left, right in pairwise(numbers))
    return numbers if is_run else []


def read_table_keys(text: str, count: int) -> list[str]:
    """Read the second row of a key table: `答案 | A | C | B`.

    Empty when it does not hold `count` keys.
    """
    cells = _split_cells(text)
    if cells and _KEY_CELL.fullmatch(cells[0]):
        cells = cells[1:]
    if len(cells) == count and all(re.fullmatch(KEY_MARK, cell) for cell in cells):
        return cells
    return []
