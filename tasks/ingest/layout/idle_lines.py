"""Lines that a platform or a form prints around questions, told by words or repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from itertools import takewhile

from schemas import patterns as re
from tasks.ingest.layout.headings import MARKS_GROUP
from tasks.ingest.layout.pieces import MAX_LINE, IndexedLines, Piece
from tasks.ingest.words.answers import EXPLANATION_MARK, read_key, read_truth
from tasks.ingest.words.grammar import (
    answer_mark,
    answer_name,
    asking,
    is_section_title,
    is_status_line,
    may_open_status,
    signature,
    truth_word,
)
from tasks.ingest.words.labels import counts_questions
from tasks.ingest.words.lexicon import match_exactly
from tasks.ingest.words.points import BRACKETED, BRACKETED_SUM, POINT, POINTS
from tasks.ingest.words.signs import MARK


def drop_idle(lines: IndexedLines) -> IndexedLines:
    """Leave out what a platform or a form prints around questions, and dotted lines to write on."""
    pieces = lines.pieces
    idle = _find_status(lines)
    if ".." in lines.text:
        idle |= {
            place
            for place, piece in enumerate(pieces)
            if ".." in piece.text and _ANSWER_RULE.fullmatch(piece.text)
        }
    idle |= _find_titles(lines) | _find_signature(lines)
    return lines.replace({}, idle)


def _find_status(lines: IndexedLines) -> set[int]:
    """What a platform says of itself; one short word of it, `反馈`, only where it comes again."""
    found = {
        place: text
        for place in lines.open_where(may_open_status)
        if is_status_line(text := lines.pieces[place].text.strip())
    }
    times = Counter(found.values())
    return {
        place
        for place, text in found.items()
        if times[text] > 1
        or _WORD.fullmatch(text) is None
        or not any(
            at not in found and _WORD.fullmatch(lines.pieces[at].text.strip())
            for at in (place - 1, place + 1)
            if 0 <= at < len(lines.pieces)
        )
    }


# one Chinese word beside another: both are offered, or to be explained
_WORD = re.compile("[\u3400-\u9fff]{2,4}")


# `Signature: ________   Date: ________`
_PLACES = re.compile(r"[:：]\s*_{3,}")


def _find_signature(lines: IndexedLines) -> set[int]:
    """The line to be signed below the last question: no number counts on after it.

    It names a signature, as `Capital: ____ River: ____` does not.
    """
    found = [
        place
        for place, piece in enumerate(lines.pieces)
        if "__" in piece.text and len(_PLACES.findall(piece.text)) > 1 and signature().search(piece.text)
    ]
    last = found[-1] if found else -1
    is_below = any(place < last for place in lines.numbered)
    following = next((label.value for place, label in lines.numbered.items() if place > last), 1)
    return {last} if is_below and following == 1 else set()


_HOLDS_NEXT = re.compile(r"\s*(?:\W{0,2}\w\W{0,2}|.*[:：】\]])\s*")
_LONE_BRACKET = re.compile(r"\s*[【\[〔]\s*([^\W\d_]{2,10})\s*[】\]〕]\s*")


def _find_titles(lines: IndexedLines) -> set[int]:
    """The titles above numbers that name no type; in brackets from the first number on."""
    found: set[int] = set()
    asked = 0
    framed: dict[str, list[int]] = {}
    for place, label in enumerate(lines.labels):
        if not counts_questions(label):
            continue
        asked += 1
        if not place:
            continue
        above = lines.pieces[place - 1]
        text = above.text.strip()
        if len(text) > _LONGEST_REPEATED or above.kind == "table" or lines.labels[place - 1] is not None:
            continue
        bracket = _LONE_BRACKET.fullmatch(text)
        if is_section_title(text):
            # below `(C)` or `Answer:` it is what these hold
            last = lines.pieces[place - 2].text if place > 1 and label.value > 1 else ""
            held = _HOLDS_NEXT.fullmatch(last)
            if held is None and not text[0].islower():
                found.add(place - 1)
        elif (
            (asked == 1 or framed)
            and bracket
            and not (answer_name().search(text) or EXPLANATION_MARK.match(text) or match_exactly(bracket[1]))
        ):
            framed.setdefault(text, []).append(place - 1)
    if len(framed) > 1 and all(len(places) == 1 for places in framed.values()):
        found.update(places[0] for places in framed.values())
    return found


# So often short lines must come again, each time below another number, to be what a platform prints.
_LONGEST_REPEATED, _LEAST_REPEATED, _MOST_REPEATED = 24, 5, 0.6
# `____ / 2 P.`: room for the points of a question, which may be worth differently
_LEAST_POINTS = 3
# what was scored may stand before it, `2 / 2 pts`, `Not yet graded / 2 pts`
_POINTS = re.compile(
    rf"(?:[_….\s]*/\s*(?:#|\d{{1,3}}(?:[.,]\d)?)\s*\w{{0,8}}|"
    rf"(?:#|\d{{1,3}}(?:[.,]\d+)?|[^\W\d_]+(?:\s[^\W\d_]+){{0,3}})\s*/\s*(?:#|\d{{1,3}}(?:[.,]\d)?)\s*{POINT})\.?"
)
_CODE = re.compile(r"[;{}()（）\[\]=<>_?？:：|]")


def drop_repeated(lines: IndexedLines) -> IndexedLines:
    """Leave out `Report this question` and `Question 3 of 20`, where most questions have them."""
    pieces = lines.pieces
    below: dict[str, set[int]] = {}
    behind: dict[str, list[int]] = {}
    places: dict[str, list[int]] = {}
    numbered = 0
    for place, (piece, label) in enumerate(zip(pieces, lines.labels, strict=True)):
        text = piece.text.strip()
        if counts_questions(label):
            numbered += 1
            rest = text[label.end :].strip()
            if (
                0 < len(rest) <= _LONGEST_REPEATED
                and _stands_above(lines, place)
                and (_POINTS.fullmatch(rest) or not _asks(rest))
            ):
                shape = _DIGITS.sub("#", rest)
                worth = shape[shape.index("/") :] if _POINTS.fullmatch(rest) else shape
                behind.setdefault(worth, []).append(place)
        elif 1 < len(text) <= _LONGEST_REPEATED and label is None and piece.kind == "body":
            below.setdefault(text, set()).add(numbered)
            places.setdefault(text, []).append(place)
    least = max(_LEAST_REPEATED, _MOST_REPEATED * numbered)
    idle = {
        place
        for text, holders in below.items()
        if _is_usual(holders - {0}, numbered) and (_EMPTY.fullmatch(text) or _says_nothing(text))
        for place in places[text]
    }
    cut = {
        place: pieces[place].cut(0, label.end)
        for shape, found in behind.items()
        if "#" in shape and len(found) >= (_LEAST_POINTS if _POINTS.fullmatch(shape) else least)
        for place in found
        if (label := lines.labels[place]) is not None
    }
    return lines.replace(cut, idle)


def _is_usual(holders: Collection[int], numbered: int) -> bool:
    """Whether a line stands below most numbers from its first to its last."""
    if len(holders) < _LEAST_REPEATED:
        return False
    span = max(holders) - min(holders) + 1
    return len(holders) >= _MOST_REPEATED * max(span, numbered / 2)


_DIGITS = re.compile(r"\d+(?:[.,]\d+)?")
_ASKS = re.compile(r"[？?=+*×÷_]|[.。）)\]]$")


def _asks(text: str) -> bool:
    """Whether what stands behind a number may be a stem, or is a bracket with marks."""
    return _ASKS.search(text) is not None or MARKS_GROUP.match(text) is not None


def _stands_above(lines: IndexedLines, place: int) -> bool:
    """Whether the line below a number is neither numbered nor an option: the question itself."""
    if place + 1 == len(lines.pieces):
        return False
    label = lines.labels[place + 1]
    return (label is None or label.is_weak) and _OPTION_MARK.match(lines.pieces[place + 1].text) is None


# `[ ………… ]`: a place for the key
_EMPTY = re.compile(r"[（(\[【][\s._…‥·]*[)）\]】]")
# `x C x`, `答 C`: a letter of the options, as others have another one there
_LETTER_LAST = re.compile(r"(?<![^\W_\u3400-\u9fff])[A-J](?![^\W_])\W{0,3}(?:\w\W?)?$")


def _says_nothing(text: str) -> bool:
    """Whether a line is neither an option, a key, a judgement, a type nor code."""
    return (
        any(map(str.isalpha, text))
        and _LETTER_LAST.search(text) is None
        and not text.islower()
        and _CODE.search(text) is None
        and read_truth(text) is None
        and read_key(text) is None
        and answer_name().search(text) is None
        and EXPLANATION_MARK.match(f"{text}:") is None
        and match_exactly(text) is None
        and _LETTER_MARK.match(text) is None
    )


_OPTION_MARK = re.compile(r"\s*[（(\[]?[A-Ja-j]\s*[.．、:：)）\]]")
_LETTER_MARK = re.compile(r"[A-Ja-j](?:\W|$)")


# a dotted line to write on, with the number of the point and its marks: `1 ………… [2]`
_ANSWER_RULE = re.compile(
    rf"\s*(?:[（(]?(?:\d|[a-z]|[ivx]{{1,4}})[)）.]?)?\s*\.{{20,}}\s*(?:{BRACKETED_SUM})?\s*"
)


# So many questions must stand below a number that is alone on its line, and so many of what is printed at one place come again.
_LEAST_ALONE, _MOST_ALONE, _MOST_SAME, _FEW_VALUES, _MOST_VALUES = 4, 0.6, 0.7, 2, 0.4
_LEAST_AGAIN = 2


def drop_slots(lines: IndexedLines) -> IndexedLines:
    """Leave out what a platform prints below numbers alone, `Question 3`, and around options.

    At one place below the number, above the first option or below the last one it says one of a few things, in any language:
    `Correct`, `Mark 1.00 out of 1.00`, `Select one:`, `Your answer is incorrect.`. It asks nothing, and what is left of the
    questions asks without it: `Give the plural.` above `ox` stays.
    """
    numbers = [place for place, label in lines.numbered.items() if _is_alone(lines.pieces[place], label.end)]
    if len(numbers) < max(_LEAST_ALONE, _MOST_ALONE * len(lines.numbered)):
        return lines
    ends = [*numbers[1:], len(lines.pieces)]
    questions = own_lines = [[*range(first + 1, last)] for first, last in zip(numbers, ends, strict=True)]
    idle: set[int] = set()
    is_platform = False
    while slot := _find_slot(lines, [own[:1] for own in questions]):
        left = [own[1:] if set(own[:1]) & slot else own for own in questions]
        if any(_ENDS_SENTENCE.search(lines.pieces[place].text) for place in slot) or not _still_ask(
            lines, left, slot
        ):
            break  # what all of them ask
        idle |= slot
        is_platform = is_platform or _comes_always(lines, slot, len(questions))
        questions = left
    if not is_platform:  # `Anna` or `Ben` above each question says whom it is about
        idle, questions = set(), own_lines
    offered = [[at for at, place in enumerate(own) if _is_option(lines, place)] for own in questions]
    leads = [own[: at[0]] if at else [] for own, at in zip(questions, offered, strict=True)]
    above = [own[-1:] if len(own) > 1 else [] for own in leads]
    # `Select one:` tells how to choose what another line asks for
    others = [
        [*own[: at[0] - 1], *own[at[0] :]] if at else own for own, at in zip(questions, offered, strict=True)
    ]
    below = [own[at[-1] + 1 :] if at else [] for own, at in zip(questions, offered, strict=True)]
    told = _find_slot(lines, [own for own in above if own], chooses=True)
    if told and _still_ask(lines, [own for own, lead in zip(others, above, strict=True) if lead]):
        idle |= told
    if idle:  # `None of these` below the last letter may be offered
        idle |= _find_slot(lines, [own[:1] for own in below if own], judges=True)
    texts = {lines.pieces[place].text.strip() for place in idle}
    idle |= {
        place
        for place in range(numbers[0], len(lines.pieces))
        if lines.pieces[place].text.strip() in texts and not _is_option(lines, place)
    }
    return lines.replace({}, idle)


def _comes_always(lines: IndexedLines, slot: Collection[int], count: int) -> bool:
    """Whether most questions have one line at a place, but for its numbers: `Flag question`."""
    texts = (lines.pieces[place].text.strip() for place in slot)
    shapes = Counter(_DIGITS.sub("#", text) for text in texts if _CODE.search(text) is None)
    return max(shapes.values(), default=0) >= _MOST_SAME * count


def _is_alone(piece: Piece, end: int) -> bool:
    return piece.kind != "table" and not piece.text[end:].strip()


def _is_option(lines: IndexedLines, place: int) -> bool:
    text = lines.pieces[place].text
    return _OPTION_MARK.match(text) is not None or _BOX_MARK.match(text) is not None


def _still_ask(lines: IndexedLines, questions: Sequence[Sequence[int]], slot: Collection[int] = ()) -> bool:
    """Whether most questions ask by words or signs; or, without a slot, by a line as long."""
    longest = max((min(len(lines.pieces[place].text), _LONG_STEM) for place in slot), default=MAX_LINE)
    asked = 0
    for own in questions:
        texts = [lines.pieces[place].text for place in takewhile(partial(_is_no_option, lines), own)]
        offers = len(texts) < len(own) and len("".join(texts)) >= longest
        asked += offers or any(map(asking().search, texts))
    return asked >= _MOST_SAME * len(questions)


_LONG_STEM = 12


def _is_no_option(lines: IndexedLines, place: int) -> bool:
    return not _is_option(lines, place)


# what a sentence, or code, ends with: no badge does
_ENDS_SENTENCE = re.compile(r"[.。:：;；,，…{}()）\]]\s*$")
# `Correct answer: B`, `Richtig ist B`, `正确`: what may tell the key
_JUDGES = re.compile(
    rf"[:：=]|(?<![A-Za-z\d])[A-J]{{1,8}}(?![A-Za-z\d])|^\s*(?:[a-j]{{1,8}}|{truth_word()})\W*$"
)
_BOX_MARK = re.compile(r"\s*[○◯□☐▢☑☒◉●✓✔]\s*\S")


def _find_slot(
    lines: IndexedLines, places: Sequence[Sequence[int]], *, chooses: bool = False, judges: bool = False
) -> set[int]:
    """The lines at one place of most questions that say one of a few things and ask nothing.

    What tells how to choose asks by its verb, and what may tell the key stays where `judges`.
    """
    shown = {
        own[0]: lines.pieces[own[0]].text.strip().casefold()
        for own in places
        if own and len(lines.pieces[own[0]].text) <= _LONGEST_SAID
    }
    counts = Counter(shown.values())
    again = sum(count for count in counts.values() if count >= _LEAST_AGAIN)
    if (
        len(shown) < _LEAST_ALONE
        or again < _MOST_SAME * len(places)
        or len(counts) > max(_FEW_VALUES, _MOST_VALUES * len(shown))
    ):
        return set()
    texts = [lines.pieces[place].text for place in shown]
    asks = _ASKED if chooses else asking()
    if any(_names_field(text) or asks.search(text) or _REFERS.search(text) for text in texts):
        return set()
    if judges and any(map(_JUDGES.search, texts)):
        return set()
    return {place for place in shown if not _is_option(lines, place)}


_ASKED = re.compile(MARK)
# `Text A`: one of several things that are told apart
_REFERS = re.compile(r"(?<=\s)[A-J]\s*$")


_LONGEST_SAID = 60


_WORTH = re.compile(rf"\W*(?:{POINTS}|{BRACKETED})\W*")


def _names_field(text: str) -> bool:
    """Whether a line names a type, counts points, or opens a key or what explains one."""
    bare = text.strip(" .:：?？。")
    return (
        match_exactly(bare) is not None
        or _WORTH.fullmatch(text) is not None
        or _opens_answer(text)
        or EXPLANATION_MARK.match(text) is not None
    )


def _opens_answer(text: str) -> bool:
    """Whether a line opens an answer: `Correct` alone is said of one."""
    mark = answer_mark().match(text)
    return mark is not None and bool(mark[1] or text[mark.end() :].strip())
