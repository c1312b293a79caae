"""Materials that questions share, and options printed once for several of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tasks.ingest.layout.headings import INSTRUCTION
from tasks.ingest.layout.options import offers_options, split_options
from tasks.ingest.layout.pieces import Piece, join_pieces, rewrite
from tasks.ingest.layout.sections import CHOOSE_SOME, OPTION_A, Section
from tasks.ingest.layout.signs import CASE, FIRST_OPTION, Chunk, is_instruction
from tasks.ingest.words.labels import Label

_MATERIAL = re.compile(
    r"^\s*(?:[（(【]?\s*\d+\s*[～~\-—–至]\s*\d+\s*(?:小)?题.{0,20}(?:共用|根据|基于|备选|材料|题干).{0,20}|【?(?:材料|案例|资料|背景材料|阅读材料)[一二三四五\d]?】?\s*[:：]|阅读(?:下列|以下|下面|上述)?.{0,12}(?:材料|史料|短文|案例|资料|文章|文字).{0,30}|[（(]?[一二三四五六七八九十\d]*[)）]?、?根据(?:以下|下列|下面)(?:材料|案例|资料|短文|一段文字).{0,20}|"
    r"(?i:questions?\s+\d+\s*(?:[-–~]|to|and|through)\s*\d+\s*(?:$|\s(?:are|is|refer|relate).{0,60})|(?:read|study) the (?:following )?(?:passage|text|case|material|paragraph).{0,60}|(?:reading\s+)?passage\s+(?:\d+|one|two|three|[A-D])\b.{0,30}|(?:case|reading) (?:study )?\d*\s*[:：]|word (?:bank|list|box)\b.{0,120}))"
)


_MATERIAL_STARTS = "（(【）)、材案资背阅一二三四五六七八九十根QqRrSsſPpCcWw"


# `设有关系 S、C、SC，试用 SQL 完成下列查询：` above numbered questions says what all of them are about
_GIVEN = re.compile(r"\s*(?:假?设(?![计备施立置])|假定|已知|现有|给定|某(?!些)|有(?:如下|以下|一))")


_LEADS = re.compile(r"(?:下列|以下|如下|下面|试|求|回答|完成|计算|写出|分析).{0,30}[：:]$")


_ASKS = re.compile(
    r"[？?]\s*(?:[（(][^（()）]{1,8}[)）])?\s*$|^\s*(?:问题?|请问|请回答|要求|试(?:问|分析|述))\s*[:：]?"
)


_RANGE = re.compile(
    r"(\d{1,3})\s*(?:[-–—~～至到]|to|through|and)\s*(\d{1,3})\s*(?:小)?(?:题|are|is|refer|relate)?",
    re.IGNORECASE,
)


_OPTION_LINE = re.compile(r"\s*[（(]?[A-Ja-j]\s*[)）.．、]")


_MATCHING = re.compile(r"(?:^|[^\w])B1?\s*型|配伍|共用(?:备选)?(?:答案|选项)")


_MATCH = re.compile(r"(?:\s{2,}|\t\s*|\s*\|\s*)(?:_+\s*)?([（(]?[A-Ja-j]\s?[.)）]\s*\S.*)$")


# a letter that only a cell or a gap sets apart: `鲁迅 | A 子夜`, `CPU | A | keeps data`
_BARE_LETTER = re.compile(r"(?:\s*\|\s*|\t\s*|\s{2,})([A-J])(\s*\|\s*|\s+)(?=\S)")


def _stop_letters(found: list[Chunk]) -> list[Chunk]:
    """Write the letters of a second column with a stop.

    That is done where every term has one and they count A, B, C …
    """
    letters = [_BARE_LETTER.search(lines[0].text) for _, lines, _ in found]
    counted = [match.group(1) for match in letters if match is not None]
    if len(counted) < 2 or len(counted) < len(found) or counted != list("ABCDEFGHIJ"[: len(counted)]):
        return found
    return [
        (label, [rewrite(lines[0], match.end(2), ". ", match.end(1)), *lines[1:]], material)
        for (label, lines, material), match in zip(found, letters, strict=True)
        if match is not None
    ]


# above the second list
_COLUMN_HEAD = re.compile(
    r"(?i)\s*(?:(?:column|list|group|set)\s+(?:[IVX]{1,3}|[A-C1-3]|one|two)|(?:answers?|definitions?|descriptions?|meanings?|choices?|options?)|"
    r"[A-BⅠⅡ甲乙]\s*[栏列组]|第[一二]\s*[栏列组]|[左右]\s*[栏列]|备选(?:项|答案))\s*[:：]?\s*"
)


def share_matches(found: list[Chunk], preamble: Sequence[Piece]) -> list[Chunk]:
    """Give every term of a matching section the whole list of what it may be matched with.

    The list stands above the terms, below the last of them, or beside them in a second column.
    """
    found = _stop_letters(found)
    beside = [
        (index, match)
        for index, (_, lines, _) in enumerate(found)
        for match in [_MATCH.search(lines[0].text)]
        if match is not None
    ]
    if len(beside) >= max(2, len(found) - 1):
        shared = [found[index][1][0].cut(match.start(1)) for index, match in beside]
        shared += [line for _, lines, _ in found for line in lines[1:]]
        if offers_options(shared, True):
            ends = {index: match.start() for index, match in beside}
            return [
                (label, [lines[0].cut(0, ends.get(index)), *shared], material)
                for index, (label, lines, material) in enumerate(found)
            ]
    label, lines, material = found[-1]
    below = split_options(lines, True)
    if below is not None and len(below.options) > 1 and below.stem:
        first = min(content[0].start for _, content in below.options)
        place = next((index for index, line in enumerate(lines) if line.end > first), len(lines))
        shared = list(lines[place:])
        own_lines = list(lines[:place])
        while len(own_lines) > 1 and _COLUMN_HEAD.fullmatch(own_lines[-1].text):
            own_lines.pop()
        return [
            *((other, [*own, *shared], passage) for other, own, passage in found[:-1]),
            (label, [*own_lines, *shared], material),
        ]
    above = split_options(preamble, True)
    if above is not None:
        first = min(content[0].start for _, content in above.options)
        place = next((index for index, line in enumerate(preamble) if line.end > first), len(preamble))
        return [(other, [*own, *preamble[place:]], passage) for other, own, passage in found]
    return found


_NUMBERED_GAP = re.compile(
    r"_{2,}\s*[（(]?(\d{1,3})[)）]?[.．]?\s*_{2,}|[（(]\s*(\d{1,3})\s*[)）]\s*_{2,}|_{2,}\s*[（(](\d{1,3})[)）]"
)


def split_bank(section: Section) -> tuple[list[Chunk], list[Piece]]:
    """Split a passage with numbered gaps, `___36___`, and the lettered list below it.

    The gaps are filled from the list. Every gap is a question: the gap as it is printed is its stem, the passage its
    material, the whole list its options. Returns them and the lines of the section that are left; no questions where
    the section is no such passage.
    """
    pieces = section.pieces
    start = next((place for place, piece in enumerate(pieces) if OPTION_A.match(piece.text)), None)
    if start is None or start == 0:
        return [], pieces
    gaps: list[tuple[int, Piece]] = []
    for piece in pieces[:start]:
        if (
            piece.label is not None
            and piece.label.style in ("num", "word", "paren")
            and not piece.label.is_weak
        ):
            return [], pieces  # questions of their own stand above the list
        gaps += [
            (int(next(filter(None, gap.groups()))), piece.cut(gap.start(), gap.end()))
            for gap in _NUMBERED_GAP.finditer(piece.text)
        ]
    numbers = [number for number, _ in gaps]
    if len(gaps) < 3 or numbers != list(range(numbers[0], numbers[0] + len(gaps))):
        return [], pieces
    end = start
    while end < len(pieces) and (_OPTION_LINE.match(pieces[end].text) or pieces[end - 1].wraps):
        end += 1
    shared = list(pieces[start:end])
    split = split_options(shared, True)
    if split is None or len(split.options) < len(gaps) or split.notes:
        return [], pieces
    passage = [
        piece
        for piece in pieces[:start]
        if not (is_instruction(piece) and not _NUMBERED_GAP.search(piece.text))
    ]
    while (
        len(passage) > 1
        and passage[0].text.strip()[:1] in "（("
        and not _NUMBERED_GAP.search(passage[0].text)
    ):
        passage = passage[1:]  # what is left of the heading
    text = join_pieces(passage)
    found: list[Chunk] = [
        (Label("num", number, 0, str(number)), [gap, *shared], text) for number, gap in gaps
    ]
    return found, list(pieces[end:])


def split_matching(section: Section) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split a section of `B型题`.

    A list of options stands above the questions that share it, list after list.
    """
    if not _MATCHING.search(section.title):
        return []
    found: list[tuple[Label | None, list[Piece], str | None]] = []
    shared: list[Piece] = []
    for piece in section.pieces:
        label = piece.label
        if _OPTION_LINE.match(piece.text):
            if shared and FIRST_OPTION.match(piece.text):
                shared = []
            shared.append(piece)
        elif label is not None and label.style in ("num", "paren", "nump", "bracket") and shared:
            found.append((label, [piece.cut(label.end)], None))
            found[-1][1].extend(shared)
        elif _MATERIAL.match(piece.text) or _RANGE.search(piece.text[:24]):
            shared = []
        elif found or shared:
            return []  # something else stands between: left to the numbers
    is_complete = all(len(lines) > 1 and offers_options(lines, True) for _, lines, _ in found)
    return found if len(found) > 1 and is_complete else []


def split_cases(section: Section) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split `案例一：… 问：… 案例二：… 问：…` into its cases.

    A case begins where the one before it has asked its questions. Cases below a question number, and cases whose
    questions offer options, are left to the numbers.
    """
    if section.fine is None or section.fine.question_type not in (
        "material_analysis",
        "short_answer",
        "essay",
    ):
        return []
    starts: list[int] = []
    asked = False
    for index, piece in enumerate(section.pieces):
        if CASE.match(piece.text):
            if not starts or asked:
                starts.append(index)
            asked = False
        elif not starts and piece.label is not None and not is_instruction(piece):
            return []
        elif piece.label is not None or _ASKS.search(piece.text):
            asked = True
    if len(starts) < 2 or not asked or split_options(section.pieces, False) is not None:
        return []
    ends = [*starts[1:], len(section.pieces)]
    return [
        (Label(section.style, place, 0, section.label), section.pieces[first:last], None)
        for place, (first, last) in enumerate(zip(starts, ends, strict=True), start=1)
    ]


def join_shared(
    found: list[tuple[Label | None, list[Piece], str | None]], section: Section
) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Make one question of the numbered questions below one material.

    That is not done where they offer options of their own.
    """
    joined: list[tuple[Label | None, list[Piece], str | None]] = []
    last: str | None = None
    singles: dict[int, tuple[Label | None, list[Piece], str | None]] = {}
    offered = {material for _, lines, material in found if offers_options(lines, False)}
    for label, lines, material in found:
        has_options = offers_options(lines, False)
        numbered = (
            [replace(lines[0], text=_put_label(label, lines[0].text), sources=())] if label else lines[:1]
        )
        if material is not None and material == last and joined and not has_options:
            joined[-1][1].extend([*numbered, *lines[1:]])
            singles.pop(len(joined) - 1, None)
        elif material is not None and not has_options:
            joined.append((None, [*numbered, *lines[1:]], material))
            singles[len(joined) - 1] = (label, lines, material)
        else:
            joined.append((label, lines, material))
        last = None if has_options else material
    for place, single in singles.items():
        if single[2] in offered:
            joined[place] = single  # a question of its own beside choice questions on the same text
    section_label = Label(section.style, section.number or 0, 0, section.label)
    return [
        (label or (section_label if section.number else None), lines, material)
        for label, lines, material in joined
    ]


def _put_label(label: Label, text: str) -> str:
    gap = "" if label.text[-1:] in "、．）】" or "⑴" <= label.text[-1:] <= "⒛" else " "
    return f"{label.text}{gap}{text.strip()}"


def _is_material(text: str) -> bool:
    first = text.lstrip()[:1]
    return (first in _MATERIAL_STARTS or first.isdecimal()) and _MATERIAL.match(text) is not None


def cut_material(lines: list[Piece], section: Section) -> tuple[list[Piece], list[Piece]]:
    """Separate the material of the next questions from the end of this one.

    In a section of material questions a material belongs to the question in which it stands, unless it names
    the questions that it serves; a question that begins `阅读材料` owns the material below it.
    """
    is_analysis = section.fine is not None and section.fine.question_type == "material_analysis"
    if lines and _is_material(lines[0].text):
        return lines, []
    for place, line in enumerate(lines):
        if is_analysis and not (
            CASE.match(line.text) or _RANGE.search(line.text[:60]) or offers_options(lines[:place], False)
        ):
            continue
        if place and _is_material(line.text) and (line.text.strip()[:1] not in "ABCD"):
            return lines[:place], lines[place:]
    return lines, []


def shared_options(lines: Sequence[Piece], expects_options: bool = False) -> list[Piece]:
    """The options that several questions share (`3～4题共用备选答案`): printed once, before them."""
    first = next((place for place, line in enumerate(lines) if _MATERIAL.match(line.text)), None)
    if first is None and expects_options and len(lines) < 12:
        start = next((place for place, line in enumerate(lines) if OPTION_A.match(line.text)), None)
        split = split_options(lines[start:], True) if start is not None else None
        if start is not None and split is not None and len(split.options) >= 4 and not split.notes:
            return list(lines[start:])
    if first is None or not offers_options(lines[first + 1 :], True):
        return []
    return list(lines[first + 1 :])


_BARE_RANGE = re.compile(r"(?i)\s*questions?\s+\d+\s*(?:[-–~]|to|and|through)\s*\d+\s*[:.]?\s*")


def names_range(piece: Piece) -> bool:
    """Whether a line only names the questions below it: `Questions 4-6`."""
    return _BARE_RANGE.fullmatch(piece.text) is not None


def read_material(lines: Sequence[Piece], section: Section) -> tuple[str | None, int | None]:
    """Return the material before questions and the last question number it serves.

    Instructions are no material.
    """
    lines = [line for line in lines if line.text.strip()]
    while (
        lines
        and (INSTRUCTION.search(lines[0].text) or CHOOSE_SOME.search(lines[0].text))
        and not _MATERIAL.match(lines[0].text)
        and len(lines[0].text) < 160
    ):
        lines = lines[1:]
    if not lines:
        return None, None
    if names_range(lines[0]):
        lines = lines[1:]  # `Questions 4-6` alone names no text
        return read_material(lines, section) if lines else (None, None)
    opening = next((place for place, line in enumerate(lines) if _MATERIAL.match(line.text)), 0)
    lines = lines[opening:]
    text = join_pieces(lines)
    if re.match(r"\s*(?:Directions?|Instructions?)\s*[:：]", lines[0].text) and len(lines) > 1:
        lines = lines[1:]
        text = join_pieces(lines)
    is_marked = _MATERIAL.match(lines[0].text) is not None
    is_analysis = section.fine is not None and (
        section.fine.question_type == "material_analysis" or section.fine.name == "cloze"
    )
    if (
        not is_marked
        and not (section.number and _GIVEN.match(lines[0].text) and _LEADS.search(lines[-1].text.rstrip()))
        and not (is_analysis and len(text) > 40)
        and not (section.fine is not None and section.fine.name == "cloze" and len(text) > 40)
        and not (section.fine is None and section.number and len(text) > 200)
    ):
        return None, None
    span = _RANGE.search(lines[0].text)
    return text, int(span.group(2)) if span else None
