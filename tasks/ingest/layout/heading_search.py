"""Which lines are headings, by their neighbours and the sequence that they continue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from schemas import patterns as re
from tasks.ingest.layout.announcements import read_each
from tasks.ingest.layout.headings import (
    INSTRUCTED,
    INSTRUCTION,
    LEADING_MARKS,
    MARKS_GROUP,
    ONLY_WORTH,
    SHARES,
    STRONG_STYLES,
    Heading,
    has_options_ahead,
    read_capital,
    read_heading,
    sets_several,
    tells_how,
)
from tasks.ingest.layout.pieces import SHARED_OPTIONS, Piece
from tasks.ingest.words.grammar import asking, truth_word
from tasks.ingest.words.labels import COUNTING, Label, counts_questions, is_sure
from tasks.ingest.words.lexicon import FineType, find_type_by_pattern, match_exactly
from tasks.ingest.words.points import BRACKETED_SUM, COUNTS, COUNTS_POINTS, WORTH, read_points

# what may follow a title behind a number in brackets: marks and remarks that count
_ENDS_TITLE = re.compile(
    rf"\s*+(?:[:：]\s*+)?(?:{COUNTS}|[（(\[][^()（）\[\]]*[题空][^()（）\[\]]*[)）\]]|{WORTH}|共?\s*\d+\s*小?题)*\s*+(?:[:：。.]\s*+)?"
)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
# `[1]` alone on its line: what a question is worth, and no number
_WORTH_LINE = re.compile(rf"\s*{BRACKETED_SUM}\s*")
BULLET = re.compile(r"\s*(?:[-–—•·●▪◦■◆❖➢✦*])\s+(?=\S)")


def find_headings(pieces: Sequence[Piece]) -> dict[int, Heading]:
    """Return the headings among the lines of a paper, by their index."""
    typed: dict[int, Heading] = {}
    for index, piece in enumerate(pieces):
        if piece.kind == "table":
            continue
        if piece.label is not None and _stands_on_table(pieces, index) and sets_several(piece.text):
            title = piece.text[piece.label.end :]
            typed[index] = Heading(piece.label, title, None, None, len(piece.text), is_question=False)
            continue
        heading = read_heading(piece.text)
        if heading is None:
            continue
        style = heading.label.style if heading.label is not None else ""
        if style in ("capital", "word"):
            is_inside = _stands_in_options(pieces, index) or _goes_on_in_question(pieces, index, heading)
            is_heading = _heads_list(pieces, index, heading) and not is_inside
        elif style == "num" and _HAN.search(piece.text) is None:
            # `3. Programming` may as well be the title of a question
            is_named = match_exactly(heading.title) is not None
            is_heading = (heading.marks is not None and is_named) or _heads_list(pieces, index, heading)
            if heading.label is not None and LEADING_MARKS.match(piece.text[heading.label.end :]):
                # `3. (16 points) The reader-writer problem` asks; `1. (20 points) True or false` heads a list
                is_heading = (
                    is_heading and heading.fine is not None and heading.fine.question_type in INSTRUCTED
                )
        elif style == "nump" and not _ENDS_TITLE.fullmatch(piece.text.partition(heading.title)[2]):
            is_heading = False  # `(1) 计算(AD)+。` asks, whatever the type that its first word names
        else:
            holds_more = heading.rest < len(piece.text)  # `单选题：B A B`
            is_heading = bool(style) or holds_more or _starts_list(pieces, index)
        if is_heading and not _names_text(pieces, index):
            typed[index] = heading
    for index, heading in list(typed.items()):
        # `Question Two: 10 marks` above `Essay Questions` is the number of that section
        above = pieces[index - 1] if index else None
        label = above.label if above is not None else None
        if above is None or label is None or index - 1 in typed or heading.label is not None:
            continue
        if label.style in ("word", "part") and ONLY_WORTH.fullmatch(above.text[label.end :]):
            typed[index - 1] = Heading(label, heading.title, heading.fine, heading.marks, len(above.text))
    for index in (*_list_counted(pieces, typed), *_list_instructions(pieces, typed)):
        typed.pop(index, None)
    typed |= _continue_capitals(pieces, typed)
    found = {**_find_restarts(pieces, typed), **typed, **_find_alike(pieces, typed)} or _head_numbered_lists(
        pieces
    )
    # Headings without a type name (`三、（10分）设……`) count where they carry the sequence on.
    last: dict[str, int] = {}
    styles = {heading.label.style for heading in typed.values() if heading.label}
    has_numbers = False
    labels = [piece.label for piece in pieces]
    counted = _count_below(labels, typed)
    for index, label in enumerate(labels):
        if index in typed:
            label = typed[index].label
            if label is not None:
                last[label.style] = label.value
            continue
        if index in counted:
            has_numbers = True
            continue
        if label is None or pieces[index].kind == "table":
            continue
        piece = pieces[index]
        has_numbers = has_numbers or label.style in ("num", "word")
        if label.is_weak or label.style == "cnp":
            continue
        if label.style not in STRONG_STYLES and not (label.style in _SHARED and label.style in styles):
            continue
        if (
            has_numbers
            and not styles
            and label.style != "part"
            and not last.get(label.style)
            and (not typed or label.style == "roman")
        ):
            continue  # numbers stand above it: it counts statements inside a question
        text = piece.text[label.end :]
        if label.style == "part" and len(text) < _LONGEST_ABOVE and index + 1 in typed:
            # `第Ⅰ卷（选择题 共6分）` above `一、选择题` only holds sections
            found[index] = Heading(label, "", None, None, len(piece.text))
            last[label.style] = label.value
            continue
        expected = last.get(label.style, 0) + 1
        if label.value != expected or (styles and label.style not in styles and label.style != "part"):
            continue
        if not last.get(label.style) and not _has_successor(pieces, index, label):
            continue
        last[label.style] = label.value
        marks = MARKS_GROUP.match(text)
        found[index] = Heading(label, "", None, read_points(marks[0]) if marks else None, label.end)
    return found


_LONGEST_ABOVE = 40
# the marks that head sections in some papers and count questions in all
_SHARED = ("word", "num")


def _count_below(labels: Sequence[Label | None], typed: Mapping[int, Heading]) -> set[int]:
    """The lines whose numbers begin at 1 below a title, or above all of them, and count on.

    `1. 单选（40分）` above `1. …`, `2. …`: where the number that could head the next section is that of the next question, it
    counts. One above a further 1 heads what begins there; rules for candidates come further than the title below them.
    """
    found: set[int] = set()
    ahead: dict[str, list[int]] = {style: [] for style in _SHARED}
    is_above = True
    reached = dict.fromkeys(_SHARED, (-1, 0))
    for index, label in enumerate(labels):
        if index in typed:
            own = typed[index].label
            if own is not None and len(ahead.get(own.style, ())) >= own.value:
                found.update(ahead.pop(own.style))
            is_above, reached = False, dict.fromkeys(_SHARED, (-1, 0))
        elif is_sure(label, _SHARED):
            before, value = reached[label.style]
            if label.value == 1:
                found.discard(before)
            if label.value not in (1, value + 1):
                if label.value <= value:
                    reached[label.style] = -1, 0
                continue
            reached[label.style] = index, label.value
            if not is_above:
                found.add(index)
            elif label.value == 1:
                ahead[label.style] = [index]
            else:
                ahead[label.style].append(index)
    return found


def _names_text(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a line sets a text, `二、默写《静夜思》`: the next line is of its kind, or none."""
    label = pieces[index].label
    if label is None or not pieces[index].text.rstrip().endswith("》"):
        return False
    below = pieces[index + 1] if index + 1 < len(pieces) else None
    return below is None or (below.label is not None and below.label.style == label.style)


def _stands_on_table(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a table of questions stands right below a line."""
    return index + 1 < len(pieces) and pieces[index + 1].kind == "questions"


def drop_part_labels(pieces: Sequence[Piece]) -> list[Piece]:
    """The lines without the labels of `Part A. Write …`, `Part B. …` within one question.

    The question above them asks nothing by itself. Nothing is numbered or offered below them, and the numbers of
    questions go on after them, or the question before asks.
    """
    labels = [piece.label if piece.kind != "table" else None for piece in pieces]
    counted = [
        one if one is not None and one.style in ("bare", *COUNTING, "part") else None for one in labels
    ]
    found: set[int] = set()
    for first, label in enumerate(labels):
        if label is None or label.style != "part" or label.value != 1:
            continue
        owner = next((at for at in range(first - 1, -1, -1) if counted[at] is not None), -1)
        own = counted[owner] if owner >= 0 else None
        if own is None or own.style == "part" or has_options_ahead(pieces[owner:first]):
            continue
        others = (
            at
            for at in range(first + 1, len(pieces))
            if (one := counted[at]) is not None and one.style != "part"
        )
        end = next(others, len(pieces))
        parts = {at: one for at in range(first, end) if (one := counted[at]) is not None}
        asked = [pieces[at].text[one.end :] for at, one in parts.items()]
        after = labels[end] if end < len(pieces) else None
        goes_on = after is not None and (after.style, after.value) == (own.style, own.value + 1)
        above = next((at for at in range(owner - 1, -1, -1) if counted[at] is not None), -1)
        told = [pieces[owner].text[own.end :], *(piece.text for piece in pieces[owner + 1 : first])]
        if (
            len(parts) > 1
            and [one.value for one in parts.values()] == [*range(1, len(parts) + 1)]
            and all(map(asking().search, asked))
            and not has_options_ahead(pieces[first:end])
            and not any(map(asking().search, told))
            and (goes_on or _ask(pieces[max(above, 0) : owner]))
        ):
            found.update(parts)
    return [piece.with_label(None) if at in found else piece for at, piece in enumerate(pieces)]


def _ask(pieces: Sequence[Piece]) -> bool:
    """Whether a question's lines ask or offer."""
    return has_options_ahead(pieces) or any(asking().search(piece.text) for piece in pieces)


def _continue_capitals(pieces: Sequence[Piece], typed: Mapping[int, Heading]) -> dict[int, Heading]:
    """The lines with A, B, C one after the other, below each of which a list begins at 1."""
    found: dict[int, Heading] = {}
    last = 0
    for index in range(len(pieces)):
        own = typed[index].label if index in typed else None
        if own is not None and own.style == "capital":
            last = own.value
            continue
        text = pieces[index].text
        label = read_capital(text.strip()) if pieces[index].label is None else None
        if label is None or label.style != "capital" or label.value != last + 1:
            continue
        below = next((piece.label for piece in pieces[index + 1 : index + _NEAR + 1] if piece.label), None)
        is_list = is_sure(below, COUNTING) and below.value == 1
        if is_list and pieces[index].kind == "body" and not _stands_in_options(pieces, index):
            last = label.value
            title = text.strip()[label.end :]
            fine = find_type_by_pattern(title, INSTRUCTED)
            found[index] = Heading(label, title, fine, read_each(title), len(text), is_question=False)
    return found if last > 1 else {}


def _find_restarts(pieces: Sequence[Piece], typed: Mapping[int, Heading]) -> dict[int, Heading]:
    """The lines that tell how to answer, where numbers of questions begin again below them.

    The first numbers stand below such a line, too. Where the numbers above go on further down, or the line above
    sets no task, `3. A farmer grinds 20 kg.`, those below count parts of a question.
    """
    found: dict[int, Heading] = {}
    runs: dict[str, int] = {}  # how far each form of numbers has counted
    told: dict[str, FineType | None] = {}  # what the line above the last of them that begin says they are
    for index, piece in enumerate(pieces):
        label = piece.label
        if not is_sure(label, COUNTING):
            continue
        last, runs[label.style] = runs.get(label.style, 0), label.value
        if label.value != 1 or not index:
            continue
        at = index - 1
        while at and _OPTION.match(pieces[at].text):
            at -= 1
        at = at - 1 if at and pieces[at].text.endswith(SHARED_OPTIONS) else index - 1
        above = pieces[at]
        if above.label is not None or not above.kind == piece.kind == "body" or not tells_how(above):
            continue
        fine = find_type_by_pattern(above.text, INSTRUCTED)
        if last > 1 and label.style in told and _may_close(pieces[at - 1], told[label.style]):
            others = (pieces[place].label for place in range(index + 1, len(pieces)))
            below = (one.value for one in others if one and one.style == label.style and not one.is_weak)
            breaks = (value for place, value in enumerate(below, start=2) if value != place)
            titles = takewhile(
                lambda place: place in typed or pieces[place].label is None,
                range(at - 1, max(at - 4, -1), -1),
            )
            is_titled = any(one in typed or _SHARES_POINTS.search(pieces[one].text) for one in titles)
            if next(breaks, 1) == 1 and not is_titled:
                found[at] = Heading(None, "", fine, read_each(above.text), len(above.text))
        if not last or label.style in told:
            told[label.style] = fine
    return found


def _may_close(piece: Piece, fine: FineType | None) -> bool:
    """Whether a line may close a question: an option, what asks, what is to be judged."""
    label = piece.label
    is_statement = label is not None and fine is not None and fine.question_type == "true_false"
    asks = asking().search(piece.text, label.end if label is not None else 0)
    return is_statement or asks is not None or _OPTION.match(piece.text) is not None


_OPTION = re.compile(r"\s*[（(]?[A-Ha-h]\s*[.．、)）:：]")


_SHARES_POINTS = re.compile(COUNTS_POINTS)
_LEAST_ALIKE, _LONGEST_ALIKE, _LEAST_CAPITALS = 2, 40, 3


def _find_alike(pieces: Sequence[Piece], typed: dict[int, Heading]) -> dict[int, Heading]:
    """The lines in capitals above a list, where so are all headings: `CRITICAL THINKING`."""
    bare = [index for index, heading in typed.items() if heading.label is None]
    if len(bare) < _LEAST_ALIKE or not all(_is_loud(pieces[index].text) for index in bare):
        return {}
    return {
        index: Heading(None, "", None, None, len(piece.text))
        for index, piece in enumerate(pieces)
        if index not in typed
        and index > min(bare)
        and piece.kind == "body"
        and piece.label is None
        and _is_loud(piece.text)
        and not re.search(r"[?？_\d]", piece.text)
        and not pieces[index - 1].text.rstrip().endswith((":", "："))
        and not _is_loud(pieces[index - 1].text)
        and _opens_list(pieces, index)
    }


def _is_loud(text: str) -> bool:
    """Whether a line is in capitals; the letter of an option makes it none."""
    return (
        text.isupper()
        and len(text.strip()) <= _LONGEST_ALIKE
        and sum(map(str.isupper, text)) > _LEAST_CAPITALS
    )


def _opens_list(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a number stands below a line, with one line at most between."""
    return any(is_sure(piece.label, COUNTING) for piece in pieces[index + 1 : index + 3])


def _list_instructions(pieces: Sequence[Piece], typed: Mapping[int, Heading]) -> list[int]:
    """The sentences right below a title that tell how: `Answer any four questions.`"""
    return [
        below
        for above, below in pairwise(sorted(typed))
        if below - above <= _NEAR
        and typed[above].fine is not None
        and typed[below].label is None
        and match_exactly(typed[below].title) is None
        and tells_how(pieces[below])
        and not any(piece.label is not None for piece in pieces[above + 1 : below])
    ]


def _list_counted(pieces: Sequence[Piece], typed: Mapping[int, Heading]) -> list[int]:
    """The typed lines whose number counts on from a question's: `5. 默写。` after `4.`."""
    found: list[int] = []
    is_inside = False
    last: Label | None = None
    for index, piece in enumerate(pieces):
        label = piece.label
        if label is None or label.is_weak:
            continue
        is_inside = is_inside or label.style == "cn"
        if label.style != "num":
            continue
        goes_on = last is not None and label.value == last.value + 1 and label.text[-1:] == last.text[-1:]
        if index in typed and is_inside and goes_on and label.value > _LEAST_ABOVE:
            found.append(index)
        last = label if index not in typed or found[-1:] == [index] else None
    return found


_LEAST_ABOVE = 2
_INNER, _OUTER = ("nump", "paren", "circ", "bracket"), ("num", "bare")


def _head_numbered_lists(pieces: Sequence[Piece]) -> dict[int, Heading]:
    """The numbered lines that head lists: `2 Fill in the gaps. (5 marks each)` above `(1) …`.

    Numbers of another form begin again at 1 right below each of them, two at least. It says what every one of these questions is
    worth, as no question says of its parts, or it has no stop after its number, in a paper that offers options.
    """
    offers = has_options_ahead(pieces)
    labelled = [
        (index, label)
        for index, piece in enumerate(pieces)
        if (label := piece.label) is not None and label.style in (*_INNER, *_OUTER) and piece.kind != "table"
    ]
    found: dict[int, Heading] = {}
    for (index, label), (below, inner) in pairwise(labelled):
        if label.style in _OUTER and label.value == len(found) + 1 and inner.value == 1:
            marks = read_each(pieces[index].text)
            is_told = marks is not None or (label.style == "bare" and offers)
            if inner.style in _INNER and below - index <= _NEAR and is_told:
                title = pieces[index].text[label.end :].strip()
                known = read_heading(f"一、{title}")
                fine = known.fine if known is not None else None
                found[index] = Heading(label, title, fine, marks, len(pieces[index].text), is_question=False)
    others = any(label.style == "num" and index not in found for index, label in labelled)
    return found if len(found) > 1 and not others else {}


_NEAR = 3


def _has_successor(pieces: Sequence[Piece], index: int, label: Label) -> bool:
    return any(
        other is not None and other.style == label.style and other.value == label.value + 1
        for other in (piece.label for piece in pieces[index + 1 :])
    )


_LONGEST_PART = 30


def _goes_on_in_question(pieces: Sequence[Piece], index: int, heading: Heading) -> bool:
    """Whether `B) Fill in the blank:` is a part of the question above, which has `A) Rewrite …`."""
    label = heading.label
    if label is None or label.style != "capital" or label.value < len("AB"):
        return False
    before = f"{chr(ord('A') + label.value - len('AB'))}{label.text[1:]}"
    above = range(index - 1, max(index - _LONGEST_PART, -1), -1)
    for at in above:
        text = pieces[at].text.lstrip()
        if counts_questions(pieces[at].label) or label.text in text:
            return False  # a question between them, or an option B of the last one
        if text.startswith(before):
            is_above = any(counts_questions(pieces[place].label) for place in above if place < at)
            return is_above and read_heading(text) is None  # where A heads a section B does, too
    return False


def _stands_in_options(pieces: Sequence[Piece], index: int) -> bool:
    """Whether `C. Job analysis` follows `B.`, or stands above `D.`, as an option."""
    letter = pieces[index].text.strip()[:1]
    if letter in "ABCDEFG" and re.search(rf"\s[（(]?{chr(ord(letter) + 1)}\s*[.．、)）]", pieces[index].text):
        return True  # the next letter on the same line
    above = pieces[index - 1].text.strip() if index else ""
    below = pieces[index + 1].text.strip() if index + 1 < len(pieces) else ""
    return any(
        text[:1] == chr(ord(letter) + step) and text[1:2] in ".．、)） " and letter in "ABCDEFGH"
        for text, step in ((above, -1), (below, 1))
    )


def _heads_list(pieces: Sequence[Piece], index: int, heading: Heading) -> bool:
    """Whether the questions of a list follow a heading whose label could be a question's."""
    is_short_kind = heading.fine is not None and heading.fine.question_type in (
        "true_false",
        "fill_in_the_blank",
        "term_explanation",
    )
    own = heading.label.style if heading.label is not None else ""
    for place, piece in enumerate(pieces[index + 1 : index + 4], start=index + 1):
        label = piece.label
        if SHARES.match(piece.text):
            return True
        if own == "word" and label is not None and (label.style, label.value) == ("bare", 1):
            return True
        if label is not None and not label.is_weak and _WORTH_LINE.fullmatch(piece.text) is None:
            if label.style in ("num", "paren", "nump", "bracket", "wordp", "word", "dec"):
                return label.style != own or label.value == 1
            is_choice = heading.fine is not None and heading.fine.question_type == "multiple_choice"
            if label.style in ("romanp", "romanl"):
                return is_short_kind or is_choice
            # `23. … State true or false.` above `a. True   b. False` asks
            is_lettered = label.style in ("letter", "letterp")
            return is_short_kind and is_lettered and not _judgement().match(piece.text, label.end)
        if is_short_kind and BULLET.match(piece.text):
            return place + 1 < len(pieces) and BULLET.match(pieces[place + 1].text) is not None
    return False


@lru_cache(maxsize=1)
def _judgement() -> re.Pattern[str]:
    """What offers one judgement and nothing more, or the other one beside it."""
    return re.compile(rf"\s*{truth_word()}\s*(?:$|[（(]?[Bb]\s*[^\w\s])")


def _starts_list(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a numbered line follows an unlabelled heading, or it is only a title."""
    if pieces[index].text.strip().endswith("题") and match_exactly(pieces[index].text.strip()) is not None:
        return index + 1 < len(pieces)
    for piece in pieces[index + 1 : index + 4]:
        if piece.text.endswith(SHARED_OPTIONS):
            return True  # columns to be matched, written as numbers that share their options
        label = piece.label if _WORTH_LINE.fullmatch(piece.text) is None else None
        if label is not None and not (label.is_weak and label.style == "bare") and label.style != "letter":
            return True
        if INSTRUCTION.search(piece.text):
            continue
    return False
