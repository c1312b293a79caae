"""Mending what OCR does to the marks of a paper.

They are numbers of headings and questions, and letters of options.

A mark is mended where its neighbours leave no doubt what it was: the number between 4 and 6, the letter between B and
D. Nothing else in a line is touched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, zip_longest

from schemas import patterns as re
from tasks.ingest.readers.extraction import Line
from tasks.ingest.words.cleaning import is_cjk
from tasks.ingest.words.lexicon import find_type_in_title

# From the start of a character to that of the next one, in pitches of the Chinese characters of its line.
CJK_PITCH = 1.4
LATIN_PITCH = 1.15
SURE_PITCH = 2.2
# The same in pitches of the letters of a line without them, where no space was read and where one was; so many show a pitch.
LETTER_PITCH, WIDE_PITCH = 2.5, 3.0
LEAST_PITCHES = 4
# What a wide gap stands before, where it parts options.
LABELS = frozenset("ABCDEFGH")

# What the Chinese numbers of headings are taken for: strokes look like dashes, equals signs and kana.
_STROKES = {
    **dict.fromkeys("—–-－ー_一", "一"),
    **dict.fromkeys("=＝ニ二", "二"),
    **dict.fromkeys("三≡Ξ彡", "三"),
    **dict.fromkeys("+＋十", "十"),
    **dict.fromkeys("入人八", "八"),
}
_HEADING = re.compile(rf"\s*([{re.escape(''.join(_STROKES))}四五六七九])\s*([、.．])\s*(?=[^\s\d])")
_LOST_NUMBER = re.compile(r"\s*、\s*(?=[^\s\d])")
# what is left of a blank before the number of its question: `_4)`
_WORN_BLANK = re.compile(r"^\s*_+\s*(?=\d{1,3}\s*[.．、)）])")
# a speck before a number: `·IV. 书面表达`
_SPECK = re.compile(r"^\s*[·•'`]\s*(?=(?:\d{1,2}|[IVX]{1,4}|[Ⅰ-Ⅹ一二三四五六七八九十]{1,2})\s*[、.．])")
# `答案：1、√2、×3、·√`: keys in a row, whose spaces are lost
_KEYS_IN_ROW = re.compile(
    r"\s*(?:[^\d\s]{1,8}[:：]\s*)?(?:\d{1,3}\s*[、.．]\s*[·•]?\s*(?:[A-H]{1,6}|[√×✓✗])\s*){2,}"
)
# the place of a key at the end of a line, whose far bracket no box held: `最大的是（`, `其目的是：（B`
_OPEN_PLACE = re.compile(r"(?<=[\u3000-\u9fff：？])\s*[(（]\s*[A-H]{0,5}\s*$")
_CLOSES = re.compile(r"[^(（]*[)）]")
_CHINESE = "一二三四五六七八九十"
_OPTION_LABEL = re.compile(r"(?:^|(?<=[\s\u3000-\u9fff)）;；。]))[（(]?([A-E])\s*[.．、)）]")


def repair_lines(lines: Sequence[Line]) -> list[Line]:
    """Mend what OCR does to the marks of a paper.

    Mended are the strokes of 一、 and 二、, and options glued to their neighbour. A lost number before `、` is given back
    where the line names a type of questions. Nothing else is touched.
    """
    repaired: list[Line] = []
    last = 0
    for line in lines:
        text = line.text
        heading = _HEADING.match(text)
        lost = None if heading else _LOST_NUMBER.match(text)
        if heading and (heading.group(2) == "、" or heading.group(1) in _CHINESE):
            number = _STROKES.get(heading.group(1), heading.group(1))
            text = f"{number}、{text[heading.end() :]}"
            last = _CHINESE.index(number) + 1
        elif lost and len(text) < 80 and last < len(_CHINESE) and find_type_in_title(text) is not None:
            text = f"{_CHINESE[last]}、{text[lost.end() :]}"
            last += 1
        text = _part_keys(_SPECK.sub("", _WORN_BLANK.sub("____ ", text)))
        repaired.append(replace(line, text=_part_options(text)))
    repaired = _repair_statements(_close_places(repaired))
    return _repair_options(_fill_numbers(_repair_numbers(repaired)))


_ROMANS = "ⅠⅡⅢⅣⅤⅥⅦⅧ"
_SPELLED = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII")
# `Ⅰ. 规模`: a statement; `仅Ⅱ、、IV`: an option that names some of them
_STATEMENT = re.compile(rf"(?:^|(?<=\s))([{_ROMANS}]|[IV]{{1,4}})\s*[.．、]\s*(?=[^\s{_ROMANS}])")
# `1. 规模  Ⅱ. 稳定`
_FIRST_STATEMENT = re.compile(r"\s*[1lI|]\s*[.．、][^\n]*[\s。；;]Ⅱ\s*[.．、]")
_NAMED = re.compile(rf"(?:[{_ROMANS}]|[IV1l|]{{0,4}})(?:、(?:[{_ROMANS}]|[IV1l|]{{0,4}}))+(?![^\W\d_])")


def _repair_statements(lines: Sequence[Line]) -> list[Line]:
    """Give back the numerals of statements that options name.

    They rise, and none is above the last. A numeral that is lost, or read as a stroke, is written where only one can stand in its place.
    """
    repaired: list[Line] = []
    last = 0
    for line, below in zip_longest(lines, lines[1:]):
        if _FIRST_STATEMENT.match(f"{line.text}\n{below.text if below else ''}"):
            line = replace(line, text=f"Ⅰ{line.text.lstrip()[1:]}")
        if _NUMBER.match(line.text):
            last = 0
        if _LETTER.match(line.text):
            line = replace(line, text=_write_named(line.text, last))
        else:
            last = max([last, *(_read_roman(mark[1]) for mark in _STATEMENT.finditer(line.text))])
        repaired.append(line)
    return repaired


def _write_named(text: str, last: int) -> str:
    """The text of options with all numerals of the statements that they name."""
    return _NAMED.sub(lambda run: _write_romans(run[0], last), text)


def _read_roman(numeral: str) -> int:
    return _SPELLED.index(numeral) + 1 if numeral in _SPELLED else _ROMANS.find(numeral) + 1


def _write_romans(run: str, last: int) -> str:
    """A run of numerals up to the last statement, `Ⅱ、、IV`, in full where one alone fits."""
    named = run.split("、")
    if not any(one and one in _ROMANS for one in named):
        return run
    # what was read holds where it may: a stroke is any numeral, a `V` may have lost its own
    known = [0 if one in ("", "1", "l", "|", "I", "V") else _read_roman(one) for one in named]
    fits = [
        picked
        for picked in combinations(range(1, last + 1), len(named))
        if all(value in (0, own) for value, own in zip(known, picked, strict=True))
        and all(one != "V" or own > 3 for one, own in zip(named, picked, strict=True))
        and all(one != "I" or own < 4 for one, own in zip(named, picked, strict=True))
    ]
    return "、".join(_ROMANS[own - 1] for own in fits[0]) if len(fits) == 1 else run


def _part_keys(text: str) -> str:
    """Keys in a row with spaces between them, and without specks."""
    if _KEYS_IN_ROW.fullmatch(text) is None:
        return text
    return re.sub(r"(?<=[A-H√×✓✗])(?=\d)", "  ", re.sub("[·•]", "", text))


def _close_places(lines: Sequence[Line]) -> list[Line]:
    """Close the place of a key at the end of a line, where the next line does not."""
    return [
        replace(line, text=f"{line.text.rstrip()}）")
        if _OPEN_PLACE.search(line.text) and not (below and _CLOSES.match(below.text))
        else line
        for line, below in zip_longest(lines, lines[1:])
    ]


_NUMBER = re.compile(r"\s*(?:(Q)\s?)?(\d{1,2})\s*([.．、)）])\s*(?=\S)")
# `3How`, `11a) Write`, `3a Write`, `L5. Write`: the stop lost, a stroke of a tick read as a letter
_GLUED_NUMBER = re.compile(
    r"\s*(?:Q\s?|[A-PR-Za-pr-z|/](?=\d{1,2}[.．]))?(\d{1,2})\s?(?:[.．]\s*)?(?=[A-Z][a-z]+\b|[a-c]\s?[)）]|a\s+[A-Z])"
)
_HEADLESS = re.compile(r"\s*[.．]\s*(?=[A-Z][a-z])")
# `Y0.`, `À.`: a token before a stop that holds what is left of a number; options are none
_WORN_NUMBER = re.compile(r"\s*([^\s\u3000-\u9fff.．、]{1,2})\s?[.．、]\s*(?=[A-Z\u4e00-\u9fff“\"'(（])")
# the heading of a part of the paper, behind which numbers begin again
_PART = re.compile(r"(?i)\s*(?:part|section|unit)\b|\s*[一二三四五六七八九十]+\s*[、.．]")
_NO_NUMBER = frozenset("ABCDEFGHabcdefgh①②③④⑤⑥⑦⑧⑨⑩·•-—(（)）")


def _repair_numbers(lines: Sequence[Line]) -> list[Line]:
    """Give back a stop after a number that continues the count, or the number of a stop."""
    repaired: list[Line] = []
    last = 0
    word = _find_number_word(lines)
    for line in lines:
        text = line.text
        number = _NUMBER.match(text)
        glued = _GLUED_NUMBER.match(text) if number is None else None
        headless = _HEADLESS.match(text) if number is None and glued is None else None
        if number is not None:
            last = int(number.group(2))
        elif glued is not None and last <= int(glued.group(1)) <= last + 2:
            last = int(glued.group(1))
            text = f"{word}{last}. {text[glued.end() :]}"
        elif headless is not None and last:
            last += 1
            text = f"{word}{last}. {text[headless.end() :]}"
        repaired.append(replace(line, text=text))
    return repaired


def _find_number_word(lines: Sequence[Line]) -> str:
    """`Q` where most numbers of the paper stand behind it, else nothing."""
    words = [match.group(1) for line in lines if (match := _NUMBER.match(line.text))]
    return "Q" if sum(1 for word in words if word) > max(2, len(words) / 2) else ""


def _fill_numbers(lines: list[Line]) -> list[Line]:
    """Give back numbers of which a pen left a part, as those around them call for."""
    word = _find_number_word(lines)
    known = [
        (index, int(match.group(2)))
        for index, line in enumerate(lines)
        if line.kind != "furniture"
        and (match := _NUMBER.match(line.text))
        and bool(match.group(1)) == bool(word)
    ]
    repaired = list(lines)

    def write(index: int, number: int, end: int) -> None:
        repaired[index] = replace(lines[index], text=f"{word}{number}. {lines[index].text[end:].lstrip()}")

    for (_, first), (middle, wrong), (_, last) in zip(known, known[1:], known[2:], strict=False):
        match = _NUMBER.match(lines[middle].text)
        if match is None:
            continue
        if first + 2 == last and wrong not in (first + 1, last):
            write(middle, first + 1, match.end())
        elif last == 2 and wrong > 2 and middle and _PART.match(lines[middle - 1].text):
            write(middle, 1, match.end())
    for (before, first), (behind, last) in pairwise([(-1, 0), *known, (len(lines), 0)]):
        wanted: list[tuple[int, bool]] = []
        if last == first + 2 and before >= 0:
            wanted = [(first + 1, True)]
        elif last <= 2:
            wanted = [(first + 1, False)] if first > 1 else []
            wanted += [(1, True)] if last == 2 and first != 1 else []
        start = before + 1
        for number, is_bound in wanted:
            found = [
                (index, end)
                for index in range(start, behind)
                if lines[index].kind != "furniture"
                and (
                    end := _find_worn(lines[index].text, number, is_bound)
                    or (is_bound and before >= 0 and _find_alone(lines[index], number, lines[before]))
                )
            ]
            if len(found) == 1:
                write(found[0][0], number, found[0][1])
                start = found[0][0] + 1
    return repaired


def _find_alone(line: Line, number: int, before: Line) -> int:
    """Where a line ends that is this number alone, below the one before; 0 for marks."""
    is_below = abs(line.look.left - before.look.left) < line.look.size
    return len(line.text) if is_below and line.text.strip() == str(number) else 0


def _find_worn(text: str, number: int, is_bound: bool) -> int:
    """Where a line goes on behind what may be left of this number; 0 for none."""
    glued = re.match(rf"\s*(?:Q\s?)?{number}\s?(?=[A-Z][a-z]*\s|[\u4e00-\u9fff])", text)
    if glued is not None and is_bound:
        return glued.end()
    worn = _WORN_NUMBER.match(text)
    if worn is None:
        return 0
    token, digits = worn.group(1), str(number)
    if len(token) != len(digits) or token[0] in _NO_NUMBER:
        return 0
    agreeing = [left == right for left, right in zip(token, digits, strict=True) if left.isdigit()]
    return worn.end() if all(agreeing) and (is_bound or agreeing) else 0


_LETTER = re.compile(r"\s*([（(]?)([A-H])\s*([)）.．、])")
_LETTERS = re.compile(r"(?:^|\s)[（(]?[A-H]\s*[)）.．、]")
# one sign and a closing bracket: `0) 12`, `P) The`, `) Animals`
_WORN_LETTER = re.compile(r"\s*[（(]?[^\s)）]?\s?[)）]\s*(?=\S)")
_LOST_LETTER = re.compile(r"\s*[.．、]\s*(?=\S)")
# what else the letter of an option is read as, before a stop
_LETTER_LIKE = {"A": "4a", "B": "8&3b", "C": "Gc(", "D": "0OQod", "E": "Fe", "F": "Pf", "G": "6Cg", "H": "h"}
_LONGEST_OPTION = 120


def _repair_options(lines: list[Line]) -> list[Line]:
    """Give back the letters that ticks cover, as those around them call for."""
    repaired = list(lines)
    usual = _find_usual_count(lines)
    for stretch in _part_questions(lines):
        letters = _read_letters(lines, stretch)
        if letters is None or len(letters) < 2:
            continue
        for (first, left), (last, right) in pairwise(letters):
            wanted = [chr(code) for code in range(ord(left) + 1, ord(right))]
            places = _choose(lines, range(first + 1, last), wanted)
            _write_letters(repaired, places, wanted, lines[first])
        top, letter = letters[0]
        wanted = [chr(code) for code in range(ord("A"), ord(letter))]
        above = range(max(stretch.start, top - len(wanted)), top)
        if len(above) == len(wanted) and all(
            _find_letter_end(lines[index].text, name) for index, name in zip(above, wanted, strict=True)
        ):
            _write_letters(repaired, list(above), wanted, lines[top])
        _repair_last(lines, repaired, stretch, letters[-1], usual)
    return repaired


def _part_questions(lines: Sequence[Line]) -> Iterator[range]:
    """The lines between two question numbers, the first one's own line left out."""
    forms = [
        (index, bool(match.group(1)), match.group(3) in ")）")
        for index, line in enumerate(lines)
        if (match := _NUMBER.match(line.text))
    ]
    usual = Counter(form[1:] for form in forms).most_common(1)
    starts = [index for index, *form in forms if tuple(form) == usual[0][0]]
    for first, last in pairwise([-1, *starts, len(lines)]):
        yield range(first + 1, last)


def _read_letters(lines: Sequence[Line], stretch: range) -> list[tuple[int, str]] | None:
    """The lines that begin with an option and its letter, as far as letters rise."""
    letters: list[tuple[int, str]] = []
    for index in stretch:
        match = _LETTER.match(lines[index].text)
        if match is None:
            continue
        if len(_LETTERS.findall(lines[index].text)) > 1:
            return None
        if not letters or match.group(2) > letters[-1][1]:
            letters.append((index, match.group(2)))
    return letters


def _find_usual_count(lines: Sequence[Line]) -> int:
    """How many options most questions have that have all from A on; 0 where unknown."""
    counts: Counter[int] = Counter()
    for stretch in _part_questions(lines):
        letters = _read_letters(lines, stretch) or []
        if len(letters) > 1 and [letter for _, letter in letters] == list("ABCDEFGH"[: len(letters)]):
            counts[len(letters)] += 1
    usual = counts.most_common(1)
    return usual[0][0] if usual and usual[0][1] > 1 else 0


def _choose(lines: Sequence[Line], between: range, wanted: Sequence[str]) -> list[int]:
    """The lines between two options that the missing letters belong to."""
    if not wanted:
        return []
    if any(len(lines[index].text) > _LONGEST_OPTION or lines[index].kind == "furniture" for index in between):
        return []
    if len(between) == len(wanted):
        return list(between)
    worn = [index for index in between if any(_find_letter_end(lines[index].text, name) for name in wanted)]
    return worn if len(worn) == len(wanted) else []


def _repair_last(
    lines: Sequence[Line], repaired: list[Line], stretch: range, last: tuple[int, str], usual: int
) -> None:
    """Give back the letters after the last one: worn ones, one before the next question."""
    place, letter = last
    while place + 1 < stretch.stop and letter < "H":
        place, letter = place + 1, chr(ord(letter) + 1)
        text = lines[place].text
        is_short = ord(letter) - ord("A") < usual
        end = _find_letter_end(text, letter) if is_short else 0
        worn = re.match(r"\s*[A-Za-z0-9]\s*[)）]\s*(?=\S)", text)
        if worn is not None:
            end = worn.end()
        is_alone = place + 1 == stretch.stop < len(lines) and ord(letter) - ord("A") + 1 == usual
        if not end and not (is_alone and len(text) < _LONGEST_OPTION and lines[place].kind == "body"):
            return
        _write_letters(repaired, [place], [letter], lines[last[0]])


def _find_letter_end(text: str, letter: str) -> int:
    """Where a line goes on behind what may be left of this option's letter; 0 where it is none."""
    forms = (
        rf"\s*[（(]?{letter}\s?[yjlI|\]}}!]?\s?(?=[A-Z0-9\u4e00-\u9fff(（])",
        rf"\s*[（(]?[{re.escape(_LETTER_LIKE[letter])}]\s?[.．、]\s*(?=\S)",
        rf"\s*[（(]?{letter}\s?[:：;；,，·。]\s*(?=\S)",
    )
    matches = (_WORN_LETTER.match(text), *(re.match(form, text) for form in forms), _LOST_LETTER.match(text))
    return max((match.end() for match in matches if match is not None), default=0)


def _write_letters(lines: list[Line], places: Sequence[int], letters: Sequence[str], beside: Line) -> None:
    """Write the letters of options as the one of the line beside them is printed."""
    form = _LETTER.match(beside.text)
    opening, stop = (form[1], form[3]) if form is not None else ("", ")")
    for place, letter in zip(places, letters, strict=False):
        text = lines[place].text
        rest = text[_find_letter_end(text, letter) :].strip()
        lines[place] = replace(lines[place], text=f"{opening}{letter}{stop} {rest}")


# `1). 10 ms`: the two strokes of a D, apart
_SPLIT_D = re.compile(r"(?:^|(?<=\s))[1lI|][)）]\s?[.．,，]\s*(?=\S)")


def _part_options(text: str) -> str:
    """Part glued options, `C.HRRND.RR`, where the other labels leave no doubt."""
    text = _SPLIT_D.sub("D. ", text, count=1)
    labels = [match.group(1) for match in _OPTION_LABEL.finditer(text)]
    if len(labels) >= 3 and labels == sorted(set(labels)):
        for letter in "ABCD":
            glued = list(re.finditer(rf"(?<=[A-Za-z0-9\u2160-\u217f]){letter}(?=[.．、]\s*\S)", text))
            if letter not in labels and len(glued) == 1:
                text = f"{text[: glued[0].start()]} {text[glued[0].start() :]}"
    return _part_row(text)


_FIRST_LABEL = re.compile(r"\s*([（(]?)([A-Fa-f])\s?([.．、)）])")


def _part_row(text: str) -> str:
    """A row of options, parted where the next letter follows with the first one's stop."""
    first = _FIRST_LABEL.match(text)
    if first is None:
        return text
    opening, letter, stop = first.groups()
    if not opening and all(f"({chr(ord(letter) + step)}{stop}" in text for step in (1, 2)):
        return _part_row(f"({text.lstrip()}")  # `a) 2 (b) 4 (c) 6`: the first bracket is lost
    if opening and all(text.count(f"{opening}{one}{stop}") == 1 for one in "ABCD"):
        return re.sub(rf"(?<=\S)(?={re.escape(opening)}[B-D]{re.escape(stop)})", "  ", text)
    place, cuts = first.end(), []
    while True:
        letter = chr(ord(letter) + 1)
        found = re.compile(rf"{re.escape(opening)}{letter}\s?{re.escape(stop)}").search(text, place + 1)
        if found is None:
            break
        before = text[found.start() - 1]
        if before.isascii() and before.isalpha() and before.isupper() == letter.isupper():
            return text
        if not before.isspace():
            cuts.append(found.start())
        place = found.end()
    is_run = letter >= chr(ord(first.group(2)) + 3)
    for cut in reversed(cuts if is_run else ()):
        text = f"{text[:cut]}  {text[cut:]}"
    return text


def restore_gaps(text: str, starts: Sequence[tuple[str, float]]) -> str:
    """Put back the spaces that OCR drops between terms and before option labels.

    `starts` are the characters of the text, without spaces, with the abscissa at which each begins. What is wider than
    the usual pitch of the Chinese characters of the box by nearly half (places are known to a quarter) is a gap. A box
    without them has the pitch of its letters, which differ: a gap is wider than two of them.
    """
    letters = [letter for letter in text if not letter.isspace()]
    if letters != [letter for letter, _ in starts] or len(letters) < 5:
        return text
    steps = [right - left for (_, left), (_, right) in pairwise(starts)]
    pairs = list(zip(steps, letters, letters[1:], strict=False))
    # stops have a width of their own
    pitches = sorted(
        step
        for step, one, other in pairs
        if _is_square(one) and _is_square(other) and one.isalnum() and other.isalnum()
    )
    is_square = len(pitches) >= LEAST_PITCHES
    if not is_square:
        joined = [step for step, one, other in pairs if one.isalnum() and other.isalnum()]
        pitches = sorted(joined if len(joined) >= LEAST_PITCHES else steps)
    if len(pitches) < LEAST_PITCHES:
        return text
    # of few letters, some before gaps, the lower middle
    pitch = pitches[len(pitches) // 2 if is_square else (len(pitches) - 1) // 2]
    if pitch <= 0:  # of a blurred line all places may be one
        return text
    # where places are known only to half a pitch, a step of one and a half says nothing
    sure = SURE_PITCH if is_square and _measure_grain(pitches) > 0.3 * pitch else 0.0
    parts: list[str] = []
    place = -1
    for index, character in enumerate(text):
        parts.append(character)
        if character.isspace():
            continue
        place += 1
        following = text[index + 1 : index + 2]
        if place >= len(steps) or not character.isalnum():
            continue
        if following.isspace():
            if steps[place] > WIDE_PITCH * pitch and letters[place + 1] in LABELS:
                parts.append(" " * min(round(steps[place] / pitch - 1), 8))
            continue
        if not following.isalnum():
            continue
        usual = max(CJK_PITCH if _is_square(character) else LATIN_PITCH, sure) if is_square else LETTER_PITCH
        if steps[place] > usual * pitch:
            parts.append(" " * max(1, min(round(steps[place] / pitch - 1), 8)))
    return "".join(parts)


def _is_square(character: str) -> bool:
    """Whether a character is as wide as the others of its kind: Chinese, kana, hangul."""
    return is_cjk(character) or "\u3040" <= character <= "\u30ff" or "\uac00" <= character <= "\ud7a3"


def _measure_grain(steps: Sequence[float]) -> float:
    """The finest distance between two sizes of steps (sorted); 0 for one size."""
    jumps = [right - left for left, right in pairwise(steps) if right - left > 2]
    return min(jumps, default=0.0)
