"""Answers printed away from their questions, given to them by order, number and fit.

The numbers and headings of an answer part are matched with those of the questions as two texts are compared: what follows
in the same order counts most, and an answer that fits its question or prints it again counts for it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Any

from tasks.ingest.content.choices import set_choice_answer
from tasks.ingest.content.drafts import Draft
from tasks.ingest.layout.headings import MARKS_GROUP
from tasks.ingest.layout.key_lines import KeyEntry, read_key_line
from tasks.ingest.layout.pieces import Piece, join_pieces, rewrite
from tasks.ingest.layout.sections import divide
from tasks.ingest.readers.extraction import IMAGE
from tasks.ingest.words.answers import (
    ANSWER_MARK,
    METADATA,
    find_explanation,
    has_colon,
    read_key,
    read_truth,
    split_fillings,
)
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.grammar import answer_mark
from tasks.ingest.words.labels import parse_label
from tasks.ingest.words.lexicon import FineType
from tasks.questions import count_blanks

_FREE = ("short_answer", "essay", "calculation", "material_analysis")


@dataclass
class KeyPart:
    """The lines with answers below one heading.

    It is one of an answer part, or that of a section of questions, whose index is `own`.
    """

    pieces: Sequence[Piece]
    number: int | None = None
    fine: FineType | None = None
    own: int | None = None


@dataclass
class Matched:
    """What became of printed answers: how many found a question, and which found none.

    `is_other`: they print questions again that stand at other numbers here; so their numbers count another paper.
    """

    count: int = 0
    left: list[KeyEntry] = field(default_factory=list)
    is_other: bool = False


def part_region(pieces: Sequence[Piece]) -> list[KeyPart]:
    """The answer part of a paper by its headings."""
    return [KeyPart(one.pieces, one.number, one.fine) for one in divide(pieces) if one.pieces]


def match_keys(drafts: Sequence[Draft], parts: Sequence[KeyPart], language: str | None) -> Matched:
    """Give printed answers to their questions. A question that has an answer keeps it."""
    marks = _list_marks(parts)
    targets = _list_targets(drafts, max((mark.value or 0 for mark in marks), default=0))
    pairs = _align(marks, targets, [_look_ahead(parts, mark) for mark in marks])
    matched = Matched(is_other=_counts_otherwise(pairs, marks, targets))
    if matched.is_other:
        pairs = [one for one in pairs if one.is_echo]
    given = _cut_answers(parts, marks, targets, pairs)
    met = [
        (target.draft, entry) for target, entry in given if target is not None and target.draft is not None
    ]
    if len(met) > 1 and not any(_may_answer(draft, entry.text) for draft, entry in met):
        return Matched(0, [entry for _, entry in given])  # the answers of other questions, which count alike
    for draft, entry in _join_entries(met):
        apply_key(draft, entry, language)
    matched.count = len(met)
    matched.left = [entry for target, entry in given if target is None]
    return matched


@dataclass(frozen=True)
class _Mark:
    """What may open an answer, or the answers of a section.

    It knows where it stands, its number, and how surely it counts.
    """

    part: int
    piece: int
    begin: int
    end: int
    value: int | None
    style: str
    worth: float
    text: str | None = None
    fine: FineType | None = None
    own: int | None = None


@dataclass(frozen=True)
class _Target:
    """A question, a numbered blank, or the heading of a section, as answers may count it."""

    value: int | None
    style: str
    draft: Draft | None = None
    section: int = 0
    fine: FineType | None = None
    is_alone: bool = False
    is_heading: bool = False


@dataclass(frozen=True)
class _Pair:
    """A mark that opens the answer of a target, and whether it prints the question again."""

    mark: int
    target: int
    is_echo: bool


_HEADING = "heading"
_COUNTING = (
    "num",
    "sub",
    "paren",
    "nump",
    "word",
    "bracket",
    "bare",
    "circ",
    "cn",
    "cnp",
    "roman",
    "letter",
    "part",
)
_ALIKE = ("num", "paren", "word", "bracket", "bare", "sub")


def _list_marks(parts: Sequence[KeyPart]) -> list[_Mark]:
    marks: list[_Mark] = []
    for place, part in enumerate(parts):
        if part.number is not None or part.fine is not None or part.own is not None:
            marks.append(_Mark(place, -1, 0, 0, part.number, _HEADING, 0.0, fine=part.fine, own=part.own))
        if _read_run(part) is None:
            lines = (_list_line_marks(place, index, piece) for index, piece in enumerate(part.pieces))
            marks += _prefer_outer(list(chain.from_iterable(lines)))
    return marks


def _prefer_outer(marks: Sequence[_Mark]) -> list[_Mark]:
    """The marks of a part, those worth more that lie in no list within another of their form."""
    found: list[_Mark] = []
    runs: dict[str, list[int]] = {}  # the last numbers of the lists that are open, outer ones first
    for mark in marks:
        own = runs.setdefault(mark.style, [])
        value = mark.value or 0
        while own and value not in (1, own[-1] + 1) and any(value == last + 1 for last in own[:-1]):
            own.pop()
        if own and value == own[-1] + 1:
            own[-1] = value
        elif value == 1 or not own:
            own.append(value)
        found.append(replace(mark, worth=mark.worth + _OUTER) if len(own) == 1 else mark)
    return found


_OUTER = 0.1


def _list_line_marks(part: int, index: int, piece: Piece) -> list[_Mark]:
    keys = read_key_line(piece.text)
    if len(keys) == 1:
        end = piece.text.index(keys[0].text, piece.text.index(str(keys[0].number)))
        return [_Mark(part, index, 0, end, keys[0].number, "num", 0.8)]
    if keys:
        at = 0
        marks = []
        for entry in keys:
            found = piece.text.find(str(entry.number), at)
            at = max(at, found)
            marks.append(_Mark(part, index, max(found, 0), 0, entry.number, "num", 0.8, entry.text))
        return marks
    inline = split_inline(piece)
    if inline:
        return [_Mark(part, index, begin, end, number, "num", 0.2) for number, begin, end in inline]
    of_part = _OF_PART.match(piece.text)
    if of_part is not None:
        return [_Mark(part, index, 0, of_part.start(2), int(of_part[1]), "num", 0.3)]
    label = piece.label
    if label is None or label.style not in _COUNTING:
        return []
    worth = 0.0 if label.is_weak or label.style in ("bare", "circ") else 0.3
    own = _Mark(part, index, 0, label.end, label.value, label.style, worth)
    if label.style not in _SECTIONS:
        return [own]
    # `一、（一）1-5 BCABC`: a number within a number
    inner = _list_line_marks(part, index, piece.cut(label.end))
    shifted = (replace(mark, begin=mark.begin + label.end, end=mark.end + label.end) for mark in inner)
    return [own, *shifted]


# `5(a) One mark for …`: the answer of a part of question 5, where what counts is the 5
_OF_PART = re.compile(r"\s*(?:Q\.?\s*)?(\d{1,2})\s*([(（][a-h][)）])")
_INLINE = re.compile(r"(?:^\s*|\s+|[；;。]\s*)((?:[（(]\s*)?)(\d{1,3})\s*(?:[、)）．]|[.:：](?!\d))\s*")


def split_inline(piece: Piece) -> list[tuple[int, int, int]]:
    """The numbers of `1、44（…）  2、10  3、3(2)` that run 1 by 1, and where each begins and ends."""
    found = list(_INLINE.finditer(piece.text))
    # `1、…（2）…`: the bracketed number counts the points of the first answer
    found = [mark for mark in found if bool(mark.group(1)) == bool(found[0].group(1))]
    if len(found) < 2 or (found[0].start() > 0 and piece.text[: found[0].start()].strip()):
        return []
    chosen = found[:1]
    for mark in found[1:]:
        if int(mark.group(2)) == int(chosen[-1].group(2)) + 1:
            chosen.append(mark)
    return [(int(mark.group(2)), mark.start(), mark.end()) for mark in chosen] if len(chosen) > 1 else []


_NUMBERED_BLANK = re.compile(r"【\s*(\d{1,2})\s*】")


def _list_targets(drafts: Sequence[Draft], most: int) -> list[_Target]:
    """Questions and the headings of their sections, in order.

    `most` is the highest number of an answer.

    Of questions whose blanks are numbered, these are counted where the numbers of the answers reach as far.
    """
    counts = Counter(draft.section for draft in drafts)
    blanks = {
        id(draft): list(dict.fromkeys(map(int, _NUMBERED_BLANK.findall(draft.stem)))) for draft in drafts
    }
    by_blank = most > max((draft.value or 0 for draft in drafts), default=0)
    by_blank = by_blank and most <= max((max(found, default=0) for found in blanks.values()), default=0)
    targets: list[_Target] = []
    section = None
    for place, draft in enumerate(drafts, start=1):
        label = parse_label(f"{draft.number_label} x") if draft.number_label else None
        style = label.style if label is not None else ""
        is_alone = counts[draft.section] == 1
        is_heading = is_alone and draft.value == draft.section_number and style in _SECTIONS
        if draft.section != section and not is_heading:
            targets.append(_Target(draft.section_number, _HEADING, None, draft.section, draft.fine))
        section = draft.section
        value = draft.value if draft.value is not None else place
        for number in blanks[id(draft)] if by_blank and blanks[id(draft)] else [value]:
            targets.append(_Target(number, style, draft, draft.section, draft.fine, is_alone, is_heading))
    return targets


def _align(marks: Sequence[_Mark], targets: Sequence[_Target], aheads: Sequence[str]) -> list[_Pair]:
    """The pairs of marks and targets, in the order of both, that are worth most together."""
    by_value: dict[int | None, list[int]] = {}
    for place, target in enumerate(targets):
        by_value.setdefault(target.value, []).append(place)
    headings = [place for place, target in enumerate(targets) if target.draft is None or target.is_heading]
    echoes = _Echoes(targets)
    ladder = _Ladder(targets, len(marks))
    for index, (mark, ahead) in enumerate(zip(marks, aheads, strict=True)):
        steps: list[tuple[int, float, bool]] = []
        again = echoes.find(ahead) if mark.style != _HEADING else None
        places = headings if mark.style == _HEADING else by_value.get(mark.value, [])
        if len(places) > _MOST_PLACES:  # a bank of many sections: those about as far on as the mark
            about = bisect_left(places, index * len(targets) // len(marks))
            places = places[max(0, about - _MOST_PLACES // 2) : about + _MOST_PLACES // 2]
        for place in places if again is None or again in places else [*places, again]:
            worth = _weigh(mark, targets[place], ahead, place == again)
            if worth > 0:
                steps.append((place, worth, place == again))
        ladder.climb(index, steps)
    return ladder.read()


def _weigh(mark: _Mark, target: _Target, ahead: str, is_echo: bool) -> float:
    """How much speaks for it that a mark opens the answer of a target; 0 where it cannot."""
    is_same = mark.value is not None and mark.value == target.value
    if mark.style == _HEADING:
        if mark.own is not None and target.draft is None and mark.own == target.section:
            return _SURE
        alike = _compare_types(mark.fine, target.fine)
        if target.draft is not None:
            return 1.5 + alike if is_same else 0.0
        return is_same + alike if is_same or alike > 0 else 0.0
    if target.draft is None:
        return 0.5 if is_same and mark.style in _SECTIONS else 0.0
    if is_echo:
        return _SURE if is_same else _SURE - 1
    alike = (
        1.0
        if target.style == mark.style
        else 0.7
        if mark.style in _ALIKE and target.style in (*_ALIKE, "")
        else 0.2
    )
    fits = 0.3 if _may_answer(target.draft, mark.text or ahead) else 0.0
    return (0.2 if target.draft.answer else 0.5) + alike + mark.worth + fits


_SURE, _MOST_PLACES = 4.0, 80
_SECTIONS = ("cn", "cnp", "part", "roman", "word")


def _compare_types(one: FineType | None, other: FineType | None) -> float:
    if one is None or other is None:
        return 0.0
    if one.name == other.name:
        return 1.5
    return 1.0 if one.question_type == other.question_type else -0.5


class _Echoes:
    """The questions that answers may print again, by the beginning of their stems."""

    def __init__(self, targets: Sequence[_Target]) -> None:
        self.by_start: dict[str, list[tuple[int, str]]] = {}
        for place, target in enumerate(targets):
            if target.draft is not None and not target.draft.options:
                start = _fold(target.draft.stem)[:_LEAST_ECHOED]
                if len(start) == _LEAST_ECHOED:
                    self.by_start.setdefault(start, []).append((place, target.draft.stem))

    def find(self, text: str) -> int | None:
        """The question that a text begins with."""
        for place, stem in self.by_start.get(_fold(text)[:_LEAST_ECHOED], ()):
            if cut_echo(f"{text} …", stem) is not None:
                return place
        return None


_LEAST_ECHOED = 6


_NO_LETTERS = re.compile(r"[\W_]+")


def _fold(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


class _Ladder:
    """The best rising chain of pairs, built mark by mark: a tree of maxima over the targets.

    What a chain passes over costs little, a heading more than a question. So do the marks before its first and after its
    last: a list within an answer is not what counts the answers.
    """

    def __init__(self, targets: Sequence[_Target], count: int) -> None:
        self.count = count
        self.tree: list[tuple[float, Any]] = [(-math.inf, None)] * (len(targets) + 1)
        costs = (_PASSED if target.draft is not None else _PASSED_HEADING for target in targets)
        self.reach = list(accumulate(costs, initial=0.0))
        self.best: tuple[float, Any] = (0.0, None)

    def climb(self, mark: int, steps: Iterable[tuple[int, float, bool]]) -> None:
        """Let a mark open one of its targets, after the best chain before that."""
        reached = []
        for place, worth, is_echo in steps:
            score, chain = self._find_best(place)
            # the cost of what lies between two pairs is told by how far both reach
            score -= self.reach[place]
            fresh = -mark * _PASSED
            score, chain = (score, chain) if chain is not None and score > fresh else (fresh, None)
            reached.append((place, score + worth, (_Pair(mark, place, is_echo), chain)))
        for place, score, chain in reached:
            closed = score - (self.count - mark) * _PASSED
            if self.best[1] is None or closed > self.best[0]:
                self.best = (closed, chain)
            kept = (score + self.reach[place + 1], chain)
            at = place + 1
            while at < len(self.tree):
                if kept[0] > self.tree[at][0]:
                    self.tree[at] = kept
                at += at & -at

    def _find_best(self, count: int) -> tuple[float, Any]:
        best: tuple[float, Any] = (-math.inf, None)
        while count > 0:
            if self.tree[count][0] > best[0]:
                best = self.tree[count]
            count -= count & -count
        return best

    def read(self) -> list[_Pair]:
        """The pairs of the best chain, in order."""
        chain = self.best[1]
        found: list[_Pair] = []
        while chain is not None:
            found.append(chain[0])
            chain = chain[1]
        return found[::-1]


_PASSED, _PASSED_HEADING = 0.02, 0.2


def _look_ahead(parts: Sequence[KeyPart], mark: _Mark) -> str:
    """What follows a mark, as far as it tells whether it fits a question."""
    if mark.text is not None or mark.piece < 0:
        return mark.text or ""
    pieces = parts[mark.part].pieces[mark.piece : mark.piece + 3]
    return " ".join([pieces[0].text[mark.end :], *(piece.text for piece in pieces[1:])])[:_AHEAD]


_AHEAD = 400


def _counts_otherwise(chain: Sequence[_Pair], marks: Sequence[_Mark], targets: Sequence[_Target]) -> bool:
    """Whether most questions that answers print again have another number here."""
    echoes = [(marks[one.mark].value, targets[one.target].value) for one in chain if one.is_echo]
    other = sum(1 for printed, asked in echoes if printed != asked)
    return other > 1 and other > 0.5 * len(echoes)


def _cut_answers(
    parts: Sequence[KeyPart], marks: Sequence[_Mark], targets: Sequence[_Target], chain: Sequence[_Pair]
) -> list[tuple[_Target | None, KeyEntry]]:
    """The answers between marks, each with the question it answers, or None."""
    of_mark = {one.mark: targets[one.target] for one in chain}
    given: list[tuple[_Target | None, KeyEntry]] = []
    for place, part in enumerate(parts):
        inside = [index for index, mark in enumerate(marks) if mark.part == place]
        heading = next((of_mark.get(index) for index in inside if marks[index].style == _HEADING), None)
        numbered = [index for index in inside if marks[index].style != _HEADING]
        met = {index: one for index in numbered if (one := of_mark.get(index)) is not None}
        asked = [one for one in met.values() if one.draft is not None]
        whole = _find_whole(heading, asked, targets, [marks[one] for one in numbered])
        run = _read_run(part)
        if run is not None and heading is not None and heading.draft is None:
            given += _share_run(run, [one for one in targets if one.section == heading.section and one.draft])
        elif whole is not None:
            given.append((whole, read_entry(whole.value or 1, part.pieces)))
        else:
            opening = _list_openings(marks, numbered, met)
            for index in opening:
                mark, one = marks[index], met.get(index)
                following = (marks[other] for other in opening if other > index)
                end = next(
                    (other for other in following if (other.piece, other.begin) != (mark.piece, mark.begin)),
                    None,
                )
                if one is None or one.draft is not None:
                    given.append((one, _read_between(part, mark, end)))
    return given


def _list_openings(marks: Sequence[_Mark], numbered: Sequence[int], met: Mapping[int, _Target]) -> list[int]:
    """The marks that open something.

    They are those that were met, keys of a key line, and the next numbers in the form of these that no question has: answers
    of other questions.
    """
    found: list[int] = []
    last: _Mark | None = None
    known = {marks[index].value for index in met}
    for index in numbered:
        mark = marks[index]
        is_next = last is not None and mark.style == last.style and mark.value == (last.value or 0) + 1
        if (
            ((is_next or (last is None and not met)) and mark.value not in known and mark.worth > 0)
            or index in met
            or mark.text is not None
        ):
            found.append(index)
            last = mark
    return found


def _find_whole(
    heading: _Target | None, met: Sequence[_Target], targets: Sequence[_Target], numbered: Sequence[_Mark]
) -> _Target | None:
    """The one question that all of a part answers.

    Its heading is the question, or its numbers count the parts of it.
    """
    if heading is not None and heading.draft is not None:
        return heading
    if heading is not None and not met:
        held = [one for one in targets if one.section == heading.section and one.draft is not None]
        return held[0] if len(held) == 1 else None
    counted = [(mark.style, mark.value) for mark in numbered]
    unanswered = [one for one in met if one.draft is not None and not one.draft.answer]
    if len(counted) < 2 or len(unanswered) > 1 or not all(one.is_alone for one in unanswered):
        return None
    for target in reversed(targets):
        if (
            target.is_alone
            and target.draft is not None
            and not target.draft.options
            and not target.draft.answer
        ):
            labels = map(parse_label, target.draft.stem.split("\n"))
            parts = [(label.style, label.value) for label in labels if label is not None]
            if counted == parts[: len(counted)] or (target in met and counted[0][1] == 1):
                return target
    return None


# `一、②③②`, `三、× × √`, `二、AB ACD BC`: keys in the order of a section's questions
_BARE_RUN = re.compile(r"(?:[A-J①-⑩√×✓✗✔✘TF对错][\s,，、;；.。|]*){2,}")
_RUN_KEY = re.compile(r"[A-J①-⑩√×✓✗✔✘TF对错]")
_LONGEST_RUN = 400


def _read_run(part: KeyPart) -> str | None:
    """The keys of a part that holds nothing else, and no numbers; None where it holds more."""
    text = " ".join(piece.text.strip() for piece in part.pieces)
    return text if len(text) <= _LONGEST_RUN and _BARE_RUN.fullmatch(text) is not None else None


def _share_run(text: str, asked: Sequence[_Target]) -> list[tuple[_Target | None, KeyEntry]]:
    """Give keys without numbers to as many questions.

    They are one sign each, or groups with white space between them.
    """
    keys = _RUN_KEY.findall(text)
    if len(keys) != len(asked):
        keys = [group for group in re.split(r"[\s,，、;；.。|]+", text) if group]
    if len(keys) != len(asked):
        return [(None, KeyEntry(0, text))]
    return [(one, KeyEntry(one.value or 0, key)) for one, key in zip(asked, keys, strict=True)]


def _read_between(part: KeyPart, mark: _Mark, until: _Mark | None) -> KeyEntry:
    if mark.text is not None:
        return KeyEntry(mark.value or 0, mark.text)
    pieces = list(part.pieces[mark.piece : until.piece + 1 if until is not None else None])
    if until is not None:
        pieces[-1] = pieces[-1].cut(0, until.begin)
    pieces[0] = pieces[0].cut(mark.end)
    return read_entry(mark.value or 0, [_cut_cells(piece) for piece in pieces])


# `(a) | The wind turns it. | 2`, `1(b) | … | 1`: part, answer, and what it is worth
_ROW = re.compile(
    r"\s*(?:\d{1,2})?\s*(?P<part>[（(][a-h][)）](?:\s*[（(][ivx]+[)）])?)?\s*\|\s*(?P<own>\S.*?)\s*\|\s*\d{1,2}\s*$",
    re.DOTALL,
)


def _cut_cells(piece: Piece) -> Piece:
    """A row without the bars between its cells, its number and its marks."""
    row = _ROW.match(piece.text)
    if row is None:
        return piece
    part = f"{row['part']} " if row["part"] else ""
    return rewrite(piece.cut(0, row.end("own")), row.start("own"), part)


def read_entry(number: int, pieces: Sequence[Piece]) -> KeyEntry:
    """Read the lines of one answer: what is answered, and why."""
    text = join_pieces([piece for piece in pieces if piece.text.strip()]).strip()
    for pattern in (MARKS_GROUP, ANSWER_MARK):  # `(5分) 解答：…`
        mark = pattern.match(text)
        text = text[mark.end() :].strip() if mark is not None else text
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


def _join_entries(met: Sequence[tuple[Draft, KeyEntry]]) -> list[tuple[Draft, KeyEntry]]:
    """One entry for each question: the answers of its numbered blanks in a row."""
    of_draft: dict[int, list[KeyEntry]] = {}
    for draft, entry in met:
        of_draft.setdefault(id(draft), []).append(entry)
    joined: list[tuple[Draft, KeyEntry]] = []
    for draft in {id(draft): draft for draft, _ in met}.values():
        own = of_draft[id(draft)]
        remarks = [entry.explanation for entry in own if entry.explanation]
        texts = [_NUMBERED_BLANK.sub("", entry.text, count=1) for entry in own]
        joined.append((draft, KeyEntry(own[0].number, "；".join(texts), "\n".join(remarks) or None)))
    return joined


def _may_answer(draft: Draft, text: str) -> bool:
    if draft.options:
        labels = "".join(label for label, _ in draft.options)
        return re.match(
            rf"\s*[（(]?(?:[{labels}{labels.lower()}]{{1,8}}|\d)(?![A-Za-z])", text
        ) is not None or any(option and option in text for _, option in draft.options)
    letters = read_key(text)
    return draft.question_type in ("true_false", "multiple_choice") or letters is None


def apply_key(draft: Draft, entry: KeyEntry, language: str | None) -> None:
    """Set a question's answer from a key entry, unless it has one; a contradiction is noted."""
    if "answer_without_mark" in draft.notes and draft.question_type in _FREE and len(draft.answer) == 1:
        # the answer is printed elsewhere: what was taken for it is the rest of the question
        draft.stem = f"{draft.stem}\n{draft.answer.pop()}"
        draft.notes.remove("answer_without_mark")
    # a picture in the place of an answer is the place where it is to be drawn
    before = [text for text in draft.answer if text.replace(IMAGE, "").strip()]
    text = clean_text(entry.text, language)
    text = cut_echo(text, draft.stem) or text  # the question, or the term to be explained, again
    first, _, below = text.partition("\n")
    if len(first) <= _REMARK and (mark := ANSWER_MARK.match(below)) is not None:
        text = below[mark.end() :].strip()  # `（P4）第1章` above `答：…`
    draft.answer = []
    if draft.options:
        set_choice_answer(draft, text)
    elif draft.question_type == "true_false" or (
        read_truth(text) and draft.fine is None and len(draft.stem) > 8
    ):
        truth = read_truth(re.split(r"[\s,，。.;；（(]", text.strip())[0]) or {"A": "true", "B": "false"}.get(
            text.strip()
        )
        if truth:
            draft.question_type = "true_false"
            draft.answer = [truth]
            rest = text.strip()[len(re.split(r"[\s,，。.;；（(]", text.strip())[0]) :].strip(" ,，。.;；")
            draft.explanation = draft.explanation or rest or None
        else:
            draft.notes.append("answer_unreadable")
    elif draft.question_type == "fill_in_the_blank":
        draft.answer = split_fillings(text, count_blanks(draft.stem))
    elif draft.question_type == "multiple_choice":
        draft.answer = read_key(text) or []
    elif text:
        draft.answer = [text]
    if entry.explanation:
        draft.explanation = draft.explanation or clean_text(entry.explanation, language)
    if before and draft.answer and before != draft.answer:
        draft.notes.append("keys_disagree")
        draft.answer = before
    elif not draft.answer:
        draft.answer = before


_LEAST_ECHO = 2
_REMARK = 24
_MARK_AFTER = re.compile(
    r"[\s：:。.？?；;]*(?:[（(]\s*\d+(?:\.\d+)?\s*(?:分|points?|marks?|pts?)\s*[)）]\s*)?(?:[（(]?(?:参考)?(?:答案?|解答?|证明)\s*[:：]|(?i:answers?|solutions?|ans|proof)\s*[.:：])?\s*"
)


def cut_echo(text: str, stem: str) -> str | None:
    """Return what follows a question that an answer prints again before it, or None.

    White space and punctuation may differ. Of a term (a stem of a word or two) a colon must follow.
    """
    wanted = [character for character in stem if character.isalnum()]
    if len(wanted) < _LEAST_ECHO:
        return None
    met = 0
    for place, character in enumerate(text):
        if not character.isalnum():
            continue
        if met < len(wanted) and character.casefold() == wanted[met].casefold():
            met += 1
        else:
            return None
        if met == len(wanted):
            rest = text[place + 1 :]
            if len(wanted) < 12 and not re.match(r"\s*[：:]\s*\S", rest):
                return None
            mark = _MARK_AFTER.match(rest)
            rest = rest[mark.end() if mark is not None else 0 :].strip()
            return rest or None
    return None
