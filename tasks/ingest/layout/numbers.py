"""Which of the printed numbers count questions, and which only number parts inside one.

A cheapest-path search over all numbers of one style: 1 2 3 [1 2] 4 reads as four questions of which the third holds a
list, because every other reading leaves numbers unexplained.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.layout.headings import opens_case
from tasks.ingest.layout.options import offers_options_in
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.sections import Section
from tasks.ingest.words.labels import PARTS, Label
from tasks.ingest.words.once import once_a_paper

# begins with the digit and looks back from it: a search skips to digits
_YEAR = re.compile(r"\d{4}\s*年|\d{5,}")
_INLINE_NUMBER = re.compile(r"(\d(?<=[\s。.；;）)？?]\d)\d{0,2})\s*[.．、]\s*(?=[^\d\s])")
_WIDE_BEFORE = re.compile(r"\S\s{6,}$")
# more than any other reading of a number saves
_GIVEN = 30.0
# `1. prompt the user` right below `(d) The program needs to:`
_BELOW_PART = 2.0


def find_candidates(section: Section, carry: int | None, expects_options: bool) -> list[Mark]:
    """Return the numbers of the style that counts questions in this section."""
    labelled: list[tuple[int, Label]] = []
    for index, piece in enumerate(section.pieces):
        if piece.kind == "table":
            continue
        label = piece.label
        if label is not None and label.style != "part":
            labelled.append((index, label))
    labelled = _leave_out_points(labelled, section.pieces)
    style = _choose_style(labelled, carry, section)
    if style is None:
        return []
    spots: list[tuple[int, int, Label, bool]] = []
    for index, label in labelled:
        if label.style == style or (style == "num" and label.style == "bare"):
            spots.append((index, 0, label, False))
    if style == "num":
        for index, piece in enumerate(section.pieces):
            spots.extend([(index, begin, label, True) for begin, label in _find_inline(piece.text)])
    spots.sort(key=lambda spot: (spot[0], spot[1]))
    kind = section.fine.question_type if section.fine else None
    is_short_kind = kind in ("multiple_choice", "true_false", "fill_in_the_blank")
    marks: list[Mark] = []
    cases = [index for index, piece in enumerate(section.pieces) if opens_case(piece.text)]
    first_stop = _stop(spots[0][2])
    below_parts = _list_below_parts(labelled, spots)
    for place, (index, begin, label, is_inline) in enumerate(spots):
        end = spots[place + 1][0] if place + 1 < len(spots) else len(section.pieces)
        has_options = _shows_options(section.pieces, index, begin + label.end, end, expects_options)
        before = spots[place - 1][0] if place else 0
        broke = any(before < position <= index for position in section.breaks)
        if cases and not broke:
            case = bisect_right(cases, before)
            broke = case < len(cases) and cases[case] < index
        if style == "word" and label.text == spots[0][2].text and label.value == 1 and place + 1 < len(spots):
            # no `Problem 2` has a `Problem 1` and a `Problem 2` within it: a further paper begins
            broke = broke or spots[place + 1][2].value == label.value + 1
        is_weak = label.is_weak or (style == "num" and label.style == "bare")
        hint = 0.5 if not is_inline and _stop(label) != first_stop else 0.0
        after = section.pieces[index].text[begin + label.end :]
        if index in below_parts and not (broke or has_options):
            hint += _BELOW_PART
        if style == "num" and label.is_weak and not has_options and after[:1].isdigit():
            # `3.14` at a line's start is rather a decimal
            hint += 0.0 if _YEAR.match(after) else 1.0
        if is_inline and kind == "term_explanation":
            hint -= 1.0
        if is_inline and is_short_kind and (has_options or not expects_options):
            before_text = section.pieces[index].text[:begin]
            hint -= 1.0 if re.search(r"[。？?！；;]\s*$|[)）]\s{2,}$", before_text) else 0.0
        if is_inline and _WIDE_BEFORE.search(section.pieces[index].text[:begin]):
            hint -= 1.0  # the columns of a page, read as one line
        if label.is_given and not is_inline:
            hint -= _GIVEN
        candidate = Candidate(label.value, is_weak, is_inline, has_options, broke, hint, _until(label))
        marks.append((index, begin, candidate, label))
    return marks


def _list_below_parts(
    labelled: Sequence[tuple[int, Label]], spots: Sequence[tuple[int, int, Label, bool]]
) -> set[int]:
    """The lines of lists 1, 2 … right below a part of an earlier 1, which rather have them."""
    first = next((index for index, _, label, _ in spots if label.value == 1), len(labelled))
    found: set[int] = set()
    for (before, above), (index, label) in pairwise(labelled):
        opens = label.value == 1 and above.style in PARTS and first < index
        if opens or (before in found and (label.style, label.value) == (above.style, above.value + 1)):
            found.add(index)
    return found


def _leave_out_points(labelled: list[tuple[int, Label]], pieces: Sequence[Piece]) -> list[tuple[int, Label]]:
    """The labels without `[4]` on lines of their own, where these do not rise: they tell worth."""
    alone = {
        index: label.value
        for index, label in labelled
        if label.style == "bracket" and not pieces[index].text[label.end :].strip()
    }
    if all(first < second for first, second in pairwise(alone.values())):
        return labelled
    return [(index, label) for index, label in labelled if index not in alone]


@once_a_paper
def _find_inline(text: str) -> tuple[tuple[int, Label], ...]:
    """The numbers inside a line, and where each begins."""
    return tuple(
        (match.start(), Label("num", int(match[1]), match.end() - match.start(), match[0].strip()))
        for match in _INLINE_NUMBER.finditer(text)
        if match.start() > 0
    )


def _until(label: Label) -> int:
    """The second number of `4-6.`, else 0."""
    return last_number(label.text) if label.style == "num" else 0


def last_number(label: str) -> int:
    """The last number of a label that counts several questions, `4-6.`; 0 for others."""
    if "-" not in label and "–" not in label:
        return 0
    last = label.replace("–", "-").partition("-")[2].strip(" .)")
    return int(last) if last.isdecimal() else 0


def _stop(label: Label) -> str:
    """The kind of stop after a number: `1.` for questions, `1、` for parts of an answer."""
    return "、" if "、" in label.text else "."


def _shows_options(pieces: Sequence[Piece], index: int, begin: int, end: int, expects_options: bool) -> bool:
    """Whether options begin on this line or on the next ones before the next number."""
    following = pieces[index + 1 : min(max(end, index + 1), index + 14)]
    window = [pieces[index].text[begin:], *[piece.text for piece in following]]
    return offers_options_in(window, expects_options)


def _choose_style(labelled: Sequence[tuple[int, Label]], carry: int | None, section: Section) -> str | None:
    """Choose the style that counts questions: words, then what begins at 1 or continues."""
    strong = [(index, label) for index, label in labelled if not label.is_weak]
    counts: dict[str, int] = {}
    for _, label in strong:
        counts[label.style] = counts.get(label.style, 0) + 1
    if counts.get("word", 0) >= 1:
        words = [label for _, label in strong if label.style == "word"]
        if len(words) > 1 or not any(label.style == "num" for _, label in strong):
            return "word"
    goes_on = carry is not None and any(
        label.style == "num" and label.value == carry + 1 for _, label in strong
    )
    for _, label in strong:
        if label.style in PARTS or (goes_on and label.style == "cnp"):
            continue  # `（一）阅读下面的短文，完成6～8题。` above `6.`
        if label.style == "circ" and (len(counts) > 1 or counts["circ"] < 2 or section.fine is None):
            continue
        if label.value == 1 or (carry is not None and label.value == carry + 1):
            return label.style
    kind = section.fine.question_type if section.fine is not None else None
    parts = {"multiple_choice": ("romanp", "romanl", "dec")}.get(
        kind or "",
        ("romanp", "romanl", "letterp", "letter", "dec")
        if kind in ("true_false", "fill_in_the_blank", "term_explanation")
        else ("dec",),
    )
    for _, label in strong:
        # below `1. True or False` or `1. Choose the best answer` the parts are the questions
        if label.style in parts and label.value == 1 and counts[label.style] > 1:
            return label.style
    main = [style for style in ("num", "sub", "nump", "paren", "bracket", "cnp") if counts.get(style, 0) >= 2]
    if main:
        return max(main, key=lambda style: counts[style])
    roman = next((style for style in _ROMAN if _offers_each(section.pieces, strong, style)), None)
    if roman is not None:
        return roman
    run = [label.value for _, label in labelled if label.style == "num"]
    if len(run) > 1 and run == list(range(1, len(run) + 1)):
        return "num"  # some of them before a digit, `1.1911年`
    if section.fine is not None and len(strong) == 1 and strong[0][0] == 0:
        lone = strong[0][1]
        if lone.style in ("num", "paren", "bracket") and lone.value > (carry or 0):
            return lone.style  # the only question of its section, whose number leaves some out
    weak = [label for _, label in labelled if label.is_weak]
    values = [label.value for label in weak]
    if len(weak) >= 2 and values[0] == 1 and 2 in values:
        return weak[0].style
    return None


_ROMAN, _LEAST_ROMAN = ("romanp", "romanl"), 3


def _offers_each(pieces: Sequence[Piece], strong: Sequence[tuple[int, Label]], style: str) -> bool:
    """Whether numbers that mostly count parts begin at 1 and each has options below it."""
    own = [(index, label.value) for index, label in strong if label.style == style]
    if len(own) < _LEAST_ROMAN or [value for _, value in own] != [*range(1, len(own) + 1)]:
        return False
    ends = [*(index for index, _ in own[1:]), len(pieces)]
    return all(
        offers_options_in([piece.text for piece in pieces[index:end]], True)
        for (index, _), end in zip(own, ends, strict=True)
    )


# Any reading may take any number for the next question at a price below this one: one that stands behind the best by
# more never overtakes it.
_DEAREST = 16.0
_MANY, _BEAM = 8, 120
# two questions with the same number by mistake
_REPEATED = 2.5


class Candidate(NamedTuple):
    """A printed number that may start a question.

    `is_weak`: may be ordinary text. `is_inline`: stands inside a line. `has_options`: options follow before
    the next candidate. `after_break`: a chapter or part begins between the last candidate and this one.
    `indent_hint`: cost added for reading it as a question (evidence against), negative for evidence in favour.
    `until`: the last of several numbers that one question has (`4-6. Name three …`), else 0.
    """

    value: int
    is_weak: bool = False
    is_inline: bool = False
    has_options: bool = False
    after_break: bool = False
    hint: float = 0.0
    until: int = 0


# The line, the place in it where it begins, the number as a candidate, and its label.
Mark = tuple[int, int, Candidate, Label]


def choose_questions(candidates: Sequence[Candidate], carry: int | None, expects_options: bool) -> list[int]:
    """The indices of the candidates that start questions; `carry` is the last number before."""
    # state: (last question number or 0, last number of the nested list or 0) → (cost, chosen path)
    states: dict[tuple[int, int], tuple[float, _Path | None]] = {(0, 0): (0.0, None)}
    # where no number is 1 and none continues from the section before, the paper is an excerpt: it may begin at any
    follows = {1} if carry is None else {1, carry + 1}
    start_price = 3.0 if any(candidate.value in follows for candidate in candidates) else 0.5
    is_first = True
    offered = [0, *accumulate(int(candidate.has_options) for candidate in candidates)]
    for index, candidate in enumerate(candidates):
        following: dict[tuple[int, int], tuple[float, _Path | None]] = {}
        may_be_text = candidate.is_weak or candidate.is_inline
        as_question = (candidate.until or candidate.value, 0)
        for (last, nested), (cost, path) in states.items():
            price = _price_question(candidate, last, carry, start_price)
            if price is not None and candidate.value == last and not nested and not may_be_text:
                price = _REPEATED  # two questions have the same number by mistake: no list begins so
            if price is not None:
                if expects_options and path is not None and offered[index] == offered[path.place]:
                    price += 1.5
                total = cost + price + candidate.hint
                known = following.get(as_question)
                if known is None or total < known[0]:
                    following[as_question] = (total, _Path(index, path))
            state, total = _nest(candidate, last, nested, cost, expects_options)
            known = following.get(state)
            if known is None or total < known[0]:
                following[state] = (total, path)
            if may_be_text:
                total = cost + (0.0 if candidate.is_inline else 0.2)
                known = following.get((last, nested))
                if known is None or total < known[0]:
                    following[(last, nested)] = (total, path)
        is_first = False
        if len(following) > _MANY:
            limit = min(cost for cost, _ in following.values()) + _DEAREST
            following = {state: told for state, told in following.items() if told[0] <= limit}
        if len(following) > _BEAM:
            following = dict(sorted(following.items(), key=lambda item: item[1][0])[:_BEAM])
        states = following
    if is_first:
        return []
    _, path = min(states.values(), key=lambda item: item[0])
    chosen: list[int] = []
    while path is not None:
        chosen.append(path.place)
        path = path.before
    return chosen[::-1]


class _Path(NamedTuple):
    place: int
    before: _Path | None


def _price_question(candidate: Candidate, last: int, carry: int | None, start_price: float) -> float | None:
    value = candidate.value
    if last == 0:
        is_start = value == 1 or (carry is not None and value == carry + 1)
        price = 0.0 if is_start else start_price
        is_next = is_start
    elif value == last + 1 or (candidate.after_break and value == 1):
        price, is_next = 0.0, True
    elif last + 1 < value <= last + 6:
        price, is_next = 2.0 + (value - last - 1), False
    elif value == 1 and last > 1:
        price, is_next = 4.0, False
    elif value == last:
        price, is_next = 5.0, False
    elif value < last and candidate.has_options:
        price, is_next = 7.0, False
    else:
        price, is_next = 9.0, False
    if candidate.is_inline and not is_next:
        return None
    if candidate.is_weak:
        price += 0.1 if is_next else 4.0
    if candidate.is_inline:
        price += 0.8
    if candidate.has_options:
        price -= 0.5
    return price


def _nest(
    candidate: Candidate, last: int, nested: int, cost: float, expects_options: bool
) -> tuple[tuple[int, int], float]:
    extra = 3.0 if candidate.has_options and expects_options else (1.5 if candidate.has_options else 0.0)
    if last == 0:
        # numbers before the first question: instructions to candidates
        return (0, 0), cost + 1.2 + extra
    if candidate.value == 1:
        return (last, 1), cost + 1.0 + extra
    if nested and candidate.value == nested + 1:
        return (last, nested + 1), cost + 0.1 + extra
    return (last, nested), cost + (0.3 if candidate.is_weak else 3.0) + extra
