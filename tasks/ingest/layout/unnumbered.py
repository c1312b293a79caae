"""What is told without usual numbers or letters, written in the forms that rules know.

Questions and answers that take turns, each opened by a word of its own, questions with a code (`T1A01`, `BIO-0042`) for a number,
and options that are only as many lines below each question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, pairwise

from schemas import patterns as re
from tasks.ingest.layout.headings import read_heading
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.option_marks import are_answered
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite
from tasks.ingest.words.grammar import answer_mark, asking, number_word
from tasks.ingest.words.signs import closes_asking

_LEAD = re.compile(r"\W{0,3}([^\W\d_]{1,12})\W{0,2}[:：]\W{0,2}\s*(?=\S)")
# by words that say of themselves that they open a question, two are enough
_LEAST_TURNS, _LEAST_NAMED_TURNS = 4, 2
_ASKED = re.compile(rf"(?:{number_word()}|问|問)")


def write_turns(lines: IndexedLines) -> IndexedLines:
    """Number questions that one word opens and another answers: `Q: …`, `A: …`."""
    pieces = lines.pieces
    if sum(1 for label in lines.labels if label is not None and not label.is_weak) >= _LEAST_TURNS:
        return lines
    leads = [
        (place, match[1].casefold(), match.end())
        for place, piece in enumerate(pieces)
        if piece.kind != "table" and (match := _LEAD.match(piece.text)) is not None
    ]
    turns = Counter(
        (left[1], right[1]) for left, right in pairwise(leads) if _answers(right[1]) and not _answers(left[1])
    )
    usual = turns.most_common(1)
    if not usual:
        return lines
    (opens, closes), count = usual[0]
    if count < (_LEAST_NAMED_TURNS if _ASKED.fullmatch(opens) else _LEAST_TURNS):
        return lines
    if count < _LEAST_TURNS and lines.numbered:
        return lines  # what two say, above the questions about it
    if sum(1 for left, right in pairwise(leads) if (left[1], right[1]) == ("a", "b")) > _USUAL_SHARE * count:
        return lines  # `A: …`, `B: …` are options
    said = [word for _, word, _ in leads if word in (opens, closes)]
    if (said[0], said[-1]) == (closes, opens):
        return lines  # `Key: …`, `Feedback: …` below questions
    asked = {pieces[place].text[end:] for place, word, end in leads if word == opens}
    if len(asked) < _USUAL_SHARE * count:
        return lines  # a field of questions, of few values
    changed: dict[int, Piece] = {}
    count = 0
    for place, word, end in leads:
        if word == opens:
            count += 1
            changed[place] = rewrite(pieces[place], end, f"{count}. ")
        elif word == closes:
            changed[place] = rewrite(pieces[place], end, "答案：")
    return lines.replace(changed)


# `T1A01 (C) [97.1]`, `ID: BIO-0042`, `#4711 Which …`: a code, a key in brackets, what else stands in brackets, the stem
_CODED = re.compile(
    r"\s*(?:ID\s*[:：#]?\s*|\[\s*)?(?P<code>#\d{2,8}|[A-Za-z]{1,8}(?:[-_.]?\d+[A-Za-z]?){1,4}|[A-Za-z]{1,8}(?:[-_.][A-Za-z\d]{1,8}){0,3}[-_.]\d{1,8})"
    r"\s*[\]:：.)）]?(?:\s+|$)(?P<key>[（(\[]\s*[A-J]{1,6}\s*[)）\]]\s*)?(?P<said>(?:[（(\[][^（()）\[\]]{1,24}[)）\]]\s*){0,3})(?P<stem>.*)"
)
_LETTERS, _FIGURES = re.compile("[A-Za-z]"), re.compile(r"\d")
_KEY_BEHIND = re.compile(
    r"\s*[\]:：.)）=\-–—|]*\s*(?P<key>[（(\[]?[A-J]{1,6}[)）\]]?)\s*[.。]?(?:\s+[-–—:].*)?"
)
_LEAST_CODED, _MOST_CODED = 4, 0.8
_OPTION_A = re.compile(r"\s*[（(]?[Aa]\s*[)）.．、:：]\s*\S")


def write_codes(lines: IndexedLines) -> IndexedLines:
    """Number questions that have codes of one shape, each its own: `T1A01 (C) [97.1]`."""
    pieces = lines.pieces
    found: dict[str, list[tuple[int, re.Match[str]]]] = {}
    for place, piece in enumerate(pieces):
        match = _CODED.fullmatch(piece.text) if piece.kind != "table" else None
        if match is not None and (lines.labels[place] is None or match["code"][0] == "#"):
            shape = _FIGURES.sub("0", _LETTERS.sub("A", match["code"]))
            found.setdefault(shape, []).append((place, match))
    coded = max(found.values(), key=len, default=[])
    counted = len(lines.numbered)
    numbers = {
        code: at for at, code in enumerate(dict.fromkeys(match["code"] for _, match in coded), start=1)
    }
    # the same code again, before a key, answers its question
    keys = {
        place: (numbers[match["code"]], key.start("key"))
        for place, match in coded[len(numbers) :]
        if (key := _KEY_BEHIND.fullmatch(match.string, match.end("code"))) is not None
    }
    coded = coded[: len(numbers)]
    if len(coded) < max(_LEAST_CODED, counted + 1) or len({match["code"] for _, match in coded}) < len(coded):
        return lines
    ends = [place for place, _ in coded[1:]] + [len(pieces)]
    offering = sum(
        1
        for (place, _), end in zip(coded, ends, strict=True)
        if any(_OPTION_A.match(piece.text) for piece in pieces[place + 1 : end])
    )
    if offering < _MOST_CODED * len(coded):
        return lines
    signs = Counter(piece.text.strip() for piece in pieces if not any(map(str.isalnum, piece.text)))
    idle = {sign for sign, count in signs.items() if count >= _MOST_CODED * (len(coded) - 1)}
    written: list[Piece] = []
    opening = dict(coded)
    lead: tuple[Piece, str] | None = None
    is_closed = False
    for place, piece in enumerate(pieces):
        if piece.text.strip() in idle:
            is_closed = True
            continue
        if is_closed and place not in opening and place not in keys:
            continue  # a title between the sign that closes a question and the next code
        is_closed = False
        if place in keys:
            number, begin = keys[place]
            written.append(rewrite(piece, begin, f"{number}. "))
            continue
        if place in opening:
            match = opening[place]
            lead = (piece, f"{numbers[match['code']]}. {match['key'] or ''}")
            if not match["stem"].strip():
                continue
            piece = piece.cut(match.start("stem"))
        if lead is not None:
            piece, lead = rewrite(piece, 0, lead[1]).begin_at(lead[0].start), None
        written.append(piece)
    return IndexedLines(written)


# `1.1 What is …`, `A1. State …`: a section and the number in it
_PAIRED = re.compile(
    r"(?<![\w.．])(?P<section>\d{1,2}(?=[.．])|[A-H])[.．]?(?P<number>\d{1,2})(?![.．]?\d)(?:\s?[.．、:：)）–—]\s*|\s+|(?=[\u3400-\u9fff]))(?=\S)"
)
_LEAST_PAIRED = 4
# `Часть B: ` before the keys of a section, and keys that count from 1 in each
_SECTION_LEAD = re.compile(r"\s*[^\W\d_]{3,9}\s+(?P<section>[A-H])\s*[.:：]\s*")
_SECTION_ENTRY = re.compile(
    r"(?P<number>\d{1,2})\s*[-–—.:)]\s*(?=(?P<key>[A-Ja-j]{1,8}|\d{1,6})(?:[\s,;.]+|$))(?P=key)[\s,;.]*"
)
# Cyrillic letters that name sections as the Latin ones do that they look like
_LOOKS_LATIN = str.maketrans("АВСЕН", "ABCEH")
_CYRILLIC = re.compile(
    r"(?<!\w)[АВСЕН](?=\d{1,2}\s*[.)–—:])|(?<=[Чч]асть )[АВСЕН](?!\w)|(?<=ЧАСТЬ )[АВСЕН](?!\w)"
)


def write_paired(lines: IndexedLines) -> IndexedLines:
    """Number `1.1 …`, `1.2 …`, `2.1 …` or `A1. …`, `B1. …` through.

    They run on, and nothing else counts but lists below each of them, which begin at 1.
    """
    own = _write_latin(lines)
    pieces = own.pieces
    found: list[tuple[int, re.Match[str]]] = []
    listed = 0
    for place in own.open_where(_may_pair):
        match = _PAIRED.match(pieces[place].text.lstrip()) if pieces[place].kind != "table" else None
        label = own.numbered.get(place)
        if match is not None:
            found.append((place, match))
            listed = 0
        elif label is not None and found and (label.style, label.value) == ("paren", listed + 1):
            listed = label.value
        elif label is not None and read_heading(pieces[place].text) is None:
            return lines
    numbers: dict[tuple[str, str], int] = {}
    last = ("", 0)
    for _, match in found:
        section, number = match["section"], int(match["number"])
        if (section, match["number"]) in numbers:
            break  # the answers begin
        if (section, number) != (last[0], last[1] + 1) and (number != 1 or not section > last[0]):
            return lines
        numbers[section, match["number"]] = len(numbers) + 1
        last = (section, number)
    if len(numbers) < _LEAST_PAIRED or len({section for section, _ in numbers}) < 2:
        return lines
    asked = found[: len(numbers)]
    asks = sum(
        1
        for place, _ in asked
        if asking().search(pieces[place].text)
        or any(_OPTION_A.match(piece.text) for piece in pieces[place + 1 : place + 2])
        or place + 1 in own.numbered
    )
    if asks < _MOST_CODED * len(asked):
        return lines
    changed: dict[int, Piece] = {}
    for place in range(len(pieces)):
        piece = pieces[place]
        if place < asked[0][0]:
            changed[place] = piece
            continue
        is_key = place > asked[-1][0]
        pairs = [one for one in _PAIRED.finditer(piece.text) if (one["section"], one["number"]) in numbers]
        told = [numbers[one["section"], one["number"]] for one in pairs]
        is_run = is_key and len(told) > 1 and told == [*range(told[0], told[0] + len(told))]
        begins = bool(pairs) and not piece.text[: pairs[0].start()].strip()
        for number, one in reversed([*zip(told, pairs, strict=True)][: None if is_run else int(begins)]):
            piece = rewrite(piece, one.end(), f"{number}. ", one.start())
        lead = _SECTION_LEAD.match(piece.text) if is_key else None
        if lead is not None and (is_run or not pairs):
            piece = _number_through(piece, lead, numbers, is_run=is_run)
        changed[place] = piece
    return lines.replace(changed)


def _number_through(
    piece: Piece, lead: re.Match[str], numbers: Mapping[tuple[str, str], int], *, is_run: bool
) -> Piece:
    """The keys of `Part B: 1-C, 2-A` with the numbers that its questions have now."""
    if is_run:
        return piece.cut(lead.end())
    entries: list[re.Match[str]] = []
    at = lead.end()
    while at < len(piece.text) and (entry := _SECTION_ENTRY.match(piece.text, at)) is not None:
        entries.append(entry)
        at = entry.end()
    values = [(lead["section"], entry["number"]) for entry in entries]
    if at < len(piece.text) or len(entries) < 2 or not all(value in numbers for value in values):
        return piece
    for value, entry in reversed([*zip(values, entries, strict=True)]):
        piece = rewrite(piece, entry.start("key"), f"{numbers[value]}. ", entry.start())
    return piece.cut(lead.end())


def _write_latin(lines: IndexedLines) -> IndexedLines:
    """The lines with Latin letters for Cyrillic ones that count alike, `А1.`, `Часть В`."""
    changed = {
        place: replace(piece, text=_CYRILLIC.sub(_to_latin, piece.text))
        for place, piece in enumerate(lines.pieces if any(map(lines.text.__contains__, "АВС")) else ())
        if _CYRILLIC.search(piece.text) is not None
    }
    return lines.replace(changed)


def _to_latin(found: re.Match[str]) -> str:
    return found[0].translate(_LOOKS_LATIN)


# `NEW QUESTION 12` alone on its line
_TITLED = re.compile(
    rf"\s*(?P<lead>[^\W\d_][^\d\n:：.。]{{1,24}}?)\s(?P<word>{number_word()})\s*(?P<number>\d{{1,3}})\s*[.．:：]?\s*"
)
_LEAST_TITLED = 3


def write_titled(lines: IndexedLines) -> IndexedLines:
    """Drop the words that all titles above questions begin with, `NEW QUESTION 1`.

    The titles count from 1, nothing else does, and no options stand above the first.
    """
    if lines.numbered:
        return lines
    found: list[tuple[int, re.Match[str]]] = []
    for place, piece in enumerate(lines.pieces):
        match = _TITLED.fullmatch(piece.text) if len(piece.text) <= _LONGEST_TITLE else None
        if match is not None and piece.kind == "body":
            found.append((place, match))
    leads = {match["lead"].casefold() for _, match in found}
    numbers = [int(match["number"]) for _, match in found]
    if len(found) < _LEAST_TITLED or len(leads) > 1 or numbers != [*range(1, len(found) + 1)]:
        return lines
    places = [place for place, _ in found]
    is_above = any(_OPTION_A.match(piece.text) for piece in lines.pieces[: places[0]])
    if is_above or any(below == place + 1 for place, below in pairwise([*places, len(lines.pieces)])):
        return lines
    return lines.replace({place: lines.pieces[place].cut(match.start("word")) for place, match in found})


_LONGEST_TITLE = 48


def _may_pair(first: str) -> bool:
    return first.isdecimal() or first in "ABCDEFGH（("


def _answers(word: str) -> bool:
    return word == "a" or answer_mark().fullmatch(f"{word}:") is not None


_LEAST_COUNTED, _USUAL_SHARE = 5, 0.7
_FEWEST, _MOST, _LONGEST = 3, 6, 90
_OPENS_ANSWER = re.compile(r"\s*[【\[]?\s*\S{1,16}\s*[】\]:：]")
_OFFERS = re.compile(r"(?:[:：]|\.{3}|…)[\s.。]*$")


def write_counted(lines: IndexedLines) -> IndexedLines:
    """Letter the lines below questions where these are short, and as many below most."""
    pieces = lines.pieces
    numbered = [place for place in lines.numbered if not read_key_line(pieces[place].text)]
    if len(numbered) < _LEAST_COUNTED:
        return lines
    groups: list[list[int]] = []
    stems: list[int] = []
    for first, last in pairwise([*numbered, len(pieces)]):
        group: list[int] = []
        label = lines.labels[first]
        is_alone = label is not None and not pieces[first].text[label.end :].strip()
        stems.append(first + is_alone)  # `Question 1` stands above the question
        for place in range(stems[-1] + 1, last):
            text = pieces[place].text
            mark = answer_mark().match(text)  # `Correct answer: …`
            if _OPENS_ANSWER.match(text) or (mark is not None and mark[1]) or pieces[place].kind == "table":
                break
            group.append(place)
        groups.append(group)
    sizes = Counter(len(group) for group in groups if _FEWEST <= len(group) <= _MOST)
    usual, count = sizes.most_common(1)[0] if sizes else (0, 0)
    if count < max(_LEAST_COUNTED, _USUAL_SHARE * len(groups)):
        return lines
    offered = [(first, group) for first, group in zip(stems, groups, strict=True) if len(group) == usual]
    texts = [pieces[place].text for _, group in offered for place in group]
    asks = sum(
        1 for first, _ in offered if closes_asking(pieces[first].text) or _OFFERS.search(pieces[first].text)
    )
    if (
        (asks < _USUAL_SHARE * len(offered) and not are_answered([group for _, group in offered], pieces))
        or any(lines.labels[place] is not None for _, group in offered for place in group)
        or any(len(text) > _LONGEST or _LETTERED.match(text) or asking().search(text) for text in texts)
    ):
        return lines
    return lines.replace(
        {
            place: rewrite(pieces[place], 0, f"{letter}. ")
            for _, group in offered
            for letter, place in zip("ABCDEF", group, strict=False)
        }
    )


_LETTERED = re.compile(r"\s*[（(\[]?[A-Ja-j]\s*[)）\].．、:：]")


_LATIN = str.maketrans("АБВСГ", "ABBCG")
_NAMED_KEY = re.compile(r"(?:^|(?<=[\s,，;；:：]))(?P<name>[A-HАБВСГ]\d{1,2})\s*[-–—.:=)]?\s*(?=\S)")
_LEAST_LETTERED, _LEAST_NAMED_KEYS = 3, 0.6
_COUNTING = ("num", "nump", "word", "bracket", "cn")


def write_lettered_numbers(lines: IndexedLines) -> IndexedLines:
    """Count `A1. A2. B1.` through a paper, and the keys that name them.

    So where nothing else counts, every part counts from 1, and a key names most of them. The questions keep their names.
    """
    names: dict[str, int] = {}
    parts: dict[int, list[Piece]] = {}
    for place, label in enumerate(lines.labels):
        if label is None or label.is_weak or lines.pieces[place].kind == "table":
            continue
        if label.style in _COUNTING:
            return lines
        name = label.text.strip(".)").translate(_LATIN)
        if label.style != "capnum" or name in names:
            continue
        if label.value > 1 and f"{name[0]}{label.value - 1}" not in names:
            return lines
        names[name] = len(names) + 1
        counted = label._replace(style="num", value=names[name], is_given=True)
        parts[place] = [lines.pieces[place].with_label(counted)]
    if len(names) < _LEAST_LETTERED or len({name[0] for name in names}) < 2:
        return lines
    keyed: dict[int, list[re.Match[str]]] = {}
    for place, piece in islice(enumerate(lines.pieces), max(parts) + 1, None):
        found = [*_NAMED_KEY.finditer(piece.text)]
        if found and all(mark["name"].translate(_LATIN) in names for mark in found):
            # `B2 – A1 C2`: what one of them says may look like a name above it
            last = 0
            for mark in found:
                value = names[mark["name"].translate(_LATIN)]
                if value > last:
                    keyed.setdefault(place, []).append(mark)
                    last = value
    if sum(map(len, keyed.values())) < _LEAST_NAMED_KEYS * len(names):
        return lines
    for place, marks in keyed.items():
        piece = lines.pieces[place]
        lead = piece.cut(0, marks[0].start())
        parts[place] = [lead] if lead.text.strip() else []
        for mark, end in zip(marks, [*(one.start() for one in marks[1:]), len(piece.text)], strict=True):
            own = piece.cut(mark.start(), len(piece.text[:end].rstrip(" ,，;；")))
            number = names[mark["name"].translate(_LATIN)]
            parts[place].append(rewrite(own, mark.end() - mark.start(), f"{number}. "))
    return lines.part(parts)
