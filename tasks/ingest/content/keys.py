"""Answers printed away from their questions, given to them by order, number and fit.

The numbers and headings of an answer part are matched with those of the questions as two texts are compared: what follows
in the same order counts most, and an answer that fits its question or prints it again counts for it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.key_answers import apply_key, cut_echo, may_answer, read_entry
from tasks.ingest.content.key_marks import (
    CAPITAL,
    HEADING,
    NUMBERED_BLANK,
    SECTIONS,
    KeyMark,
    KeyPart,
    Target,
    drop_headers,
    list_marks,
    list_targets,
    look_ahead,
    read_run,
)
from tasks.ingest.content.region_titles import is_region_heading
from tasks.ingest.layout.furniture import drop_page_numbers, is_noise
from tasks.ingest.layout.headings import RUN_OF_KEYS
from tasks.ingest.layout.key_blocks import write_key_blocks
from tasks.ingest.layout.key_lines import KeyEntry
from tasks.ingest.layout.pieces import IndexedLines, Piece, make_pieces, rewrite
from tasks.ingest.layout.sections import divide
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.words.answers import TRUTH_KEY
from tasks.ingest.words.labels import parse_label
from tasks.ingest.words.lexicon import FineType
from tasks.questions import has_blank


@dataclass
class Matched:
    """What became of printed answers; `is_other`: their numbers count another paper."""

    count: int = 0
    left: list[KeyEntry] = field(default_factory=list)
    is_other: bool = False


def read_keys(lines: Sequence[Line]) -> list[KeyPart]:
    """The answers of lines that hold nothing else, by their headings."""
    _, starts, _ = join_lines(lines)
    pieces = [
        piece
        for piece in write_key_blocks(IndexedLines(drop_page_numbers(make_pieces(lines, starts))))
        if not is_noise(piece)
    ]
    heads = (index for index, piece in enumerate(pieces[:8]) if is_region_heading(piece.text))
    first = next((index for index in heads if all(piece.label is None for piece in pieces[:index])), -1)
    return part_region(drop_headers(pieces[first + 1 :]))


def part_region(pieces: Sequence[Piece]) -> list[KeyPart]:
    """The answer part of a paper by its headings."""
    parts = [KeyPart(one.pieces, one.number, one.fine) for one in divide(pieces) if one.pieces]
    return [one for part in parts for one in _part_runs(part)]


def _part_runs(part: KeyPart) -> list[KeyPart]:
    """A part of its own for each `一、BCBAA`, `Section B: TF` that no heading was seen in."""
    runs = {
        index: rest
        for index, piece in enumerate(part.pieces)
        if piece.label is not None
        and piece.label.style in ("cn", "part")
        and RUN_OF_KEYS.fullmatch((rest := piece.cut(piece.label.end)).text.strip())
    }
    if part.number is not None or not runs:
        return [part]
    found: list[KeyPart] = []
    for index, piece in enumerate(part.pieces):
        if index in runs and piece.label is not None:
            found.append(KeyPart([runs[index]], piece.label.value))
        elif found and found[-1].number is None:
            found[-1].pieces = [*found[-1].pieces, piece]
        else:
            found.append(KeyPart([piece], None, part.fine))
    return found


def choose_parts(drafts: Sequence[Draft], pieces: Sequence[Piece]) -> list[KeyPart]:
    """The answer part of a paper by its headings, or whole where that answers more questions."""
    parts = part_region(pieces)
    if len(parts) < 2 or any(read_run(part) is not None for part in parts):
        return parts
    whole = [KeyPart(pieces)]
    return whole if _count_met(drafts, whole) > _count_met(drafts, parts) else parts


def _count_met(drafts: Sequence[Draft], parts: Sequence[KeyPart]) -> int:
    """How many questions the marks of an answer part open an answer of."""
    _, targets, pairs = _align_parts(drafts, parts)
    return len({id(targets[one.target].draft) for one in pairs if targets[one.target].draft is not None})


def _align_parts(
    drafts: Sequence[Draft], parts: Sequence[KeyPart]
) -> tuple[list[KeyMark], list[Target], list[Pair]]:
    """The marks of answers, what they may answer, and which do."""
    marks = list_marks(parts)
    targets = list_targets(drafts, max((mark.value or 0 for mark in marks), default=0))
    return marks, targets, align(marks, targets, [look_ahead(parts, mark) for mark in marks])


def match_keys(drafts: Sequence[Draft], parts: Sequence[KeyPart], language: str | None) -> Matched:
    """Give printed answers to their questions. A question that has an answer keeps it."""
    marks, targets, pairs = _align_parts(drafts, parts)
    matched = Matched(is_other=counts_otherwise(pairs, marks, targets))
    if matched.is_other:
        pairs = [one for one in pairs if one.is_echo]
    given = _cut_answers(parts, marks, targets, pairs)
    met = [
        (target.draft, entry) for target, entry in given if target is not None and target.draft is not None
    ]
    if len(met) > 1 and not any(may_answer(draft, entry.text) for draft, entry in met):
        return Matched(0, [entry for _, entry in given])  # the answers of other questions, which count alike
    for draft, entry in _join_entries(met):
        apply_key(draft, entry, language)
    matched.count = len(met)
    left = [entry for target, entry in given if target is None]
    lone = _find_alone(drafts, left) if met and not matched.is_other else {}
    for entry, draft in lone.values():
        apply_key(draft, entry, language)
    matched.left = [entry for entry in left if id(entry) not in lone]
    return matched


def _find_alone(drafts: Sequence[Draft], left: Sequence[KeyEntry]) -> dict[int, tuple[KeyEntry, Draft]]:
    """Keys whose number one choice alone has, by their identity, wherever it stands."""
    asked = Counter(draft.value for draft in drafts if draft.options)
    counted = Counter(entry.number for entry in left)
    return {
        id(entry): (entry, draft)
        for entry in left
        for draft in drafts
        if draft.value == entry.number
        and asked[draft.value] == counted[entry.number] == 1
        and draft.options
        and not draft.answer
        and entry.text.strip() in {label for label, _ in draft.options}
    }


def _cut_answers(
    parts: Sequence[KeyPart], marks: Sequence[KeyMark], targets: Sequence[Target], chain: Sequence[Pair]
) -> list[tuple[Target | None, KeyEntry]]:
    """The answers between marks, each with the question it answers, or None."""
    of_mark = {one.mark: targets[one.target] for one in chain}
    given: list[tuple[Target | None, KeyEntry]] = []
    of_part: dict[int, list[int]] = {}
    for index, mark in enumerate(marks):
        of_part.setdefault(mark.part, []).append(index)
    for place, part in enumerate(parts):
        inside = of_part.get(place, [])
        heading = next((of_mark.get(index) for index in inside if marks[index].style == HEADING), None)
        numbered = [index for index in inside if marks[index].style != HEADING]
        met = {index: one for index in numbered if (one := of_mark.get(index)) is not None}
        asked = [one for one in met.values() if one.draft is not None]
        is_parted = any(_SECOND_PART.search(piece.text) for piece in part.pieces)
        whole = _find_whole(heading, asked, targets, [marks[one] for one in numbered], is_parted)
        run = read_run(part)
        if run is not None and heading is not None and heading.draft is None:
            given += _share_run(run, [one for one in targets if one.section == heading.section and one.draft])
        elif whole is not None:
            first = marks[numbered[0]] if numbered else None
            is_own = first is not None and (first.style, first.value) == (whole.style, whole.value)
            lines = list(part.pieces)
            if (
                first is not None
                and is_own
                and first.piece == 0
                and not lines[0].text[: first.begin].strip()
                and all(marks[one].style != first.style for one in numbered[1:])
            ):
                lines[0] = lines[0].cut(first.end)  # `1. 解：（1）…（2）…`
            given.append((whole, read_entry(whole.value or 1, lines)))
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


def _list_openings(marks: Sequence[KeyMark], numbered: Sequence[int], met: Mapping[int, Target]) -> list[int]:
    """The marks that were met, keys of a key line, and numbers of other questions' answers."""
    found: list[int] = []
    last: KeyMark | None = None
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
    heading: Target | None,
    met: Sequence[Target],
    targets: Sequence[Target],
    numbered: Sequence[KeyMark],
    is_parted: bool,
) -> Target | None:
    """The one question that all of a part answers: its heading, or the one that has its parts."""
    if heading is not None and heading.draft is not None:
        return heading
    if heading is not None and not met:
        held = [one for one in targets if one.section == heading.section and one.draft is not None]
        return held[0] if len(held) == 1 else None
    if heading is not None and len(numbered) == len(met) == 1 and numbered[0].style in _PARTS:
        only = met[0]
        if only.is_alone and only.style not in _PARTS and only.draft is not None and is_parted:
            return only  # `（1）0.05（2）0`
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


_PARTS = ("nump", "circ")
_SECOND_PART = re.compile(r"[（(]\s*2\s*[)）]|②")
_RUN_KEY = re.compile(rf"[A-Ja-j①-⑩TF]|{TRUTH_KEY}")


def _share_run(text: str, asked: Sequence[Target]) -> list[tuple[Target | None, KeyEntry]]:
    """Give keys without numbers to as many questions."""
    keys = _RUN_KEY.findall(text)
    if len(keys) != len(asked):
        keys = [group for group in re.split(r"[\s,，、;；.。|]+", text) if group]
    if len(keys) != len(asked):
        return [(None, KeyEntry(0, text))]
    return [(one, KeyEntry(one.value or 0, key)) for one, key in zip(asked, keys, strict=True)]


def _read_between(part: KeyPart, mark: KeyMark, until: KeyMark | None) -> KeyEntry:
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
    """A row without its number, its marks, and its empty cells."""
    row = _ROW.match(piece.text)
    if row is not None:
        part = f"{row['part']} " if row["part"] else ""
        piece = rewrite(piece.cut(0, row.end("own")), row.start("own"), part)
    end = len(piece.text.rstrip(" |"))
    # `|x|` has no space before its own bar
    return piece.cut(0, end) if piece.text[end : end + 2] == " |" else piece


def _join_entries(met: Sequence[tuple[Draft, KeyEntry]]) -> list[tuple[Draft, KeyEntry]]:
    """One entry for each question: the answers of its numbered blanks in a row."""
    of_draft: dict[int, list[KeyEntry]] = {}
    for draft, entry in met:
        of_draft.setdefault(id(draft), []).append(entry)
    joined: list[tuple[Draft, KeyEntry]] = []
    for draft in {id(draft): draft for draft, _ in met}.values():
        own = of_draft[id(draft)]
        remarks = [entry.explanation for entry in own if entry.explanation]
        texts = [NUMBERED_BLANK.sub("", entry.text, count=1) for entry in own]
        joined.append((draft, KeyEntry(own[0].number, "；".join(texts), "\n".join(remarks) or None)))
    return joined


@dataclass(frozen=True)
class Pair:
    """A mark that opens the answer of a target, and whether it prints the question again."""

    mark: int
    target: int
    is_echo: bool


def align(marks: Sequence[KeyMark], targets: Sequence[Target], aheads: Sequence[str]) -> list[Pair]:
    """The pairs of marks and targets, in the order of both, that are worth most together."""
    by_value: dict[int | None, list[int]] = {}
    for place, target in enumerate(targets):
        by_value.setdefault(target.value, []).append(place)
    headings = [place for place, target in enumerate(targets) if target.draft is None or target.is_heading]
    echoes = _Echoes(targets)
    costs = [_PASSED if target.draft is not None else _PASSED_HEADING for target in targets]
    ladder = _Ladder(costs, len(marks))
    for index, (mark, ahead) in enumerate(zip(marks, aheads, strict=True)):
        steps: list[tuple[int, float, bool]] = []
        again = echoes.find(ahead) if mark.style != HEADING else None
        places = headings if mark.style == HEADING else by_value.get(mark.value, [])
        if len(places) > _MOST_PLACES:  # a bank of many sections: those about as far on as the mark
            about = bisect_left(places, index * len(targets) // len(marks))
            places = places[max(0, about - _MOST_PLACES // 2) : about + _MOST_PLACES // 2]
        for place in places if again is None or again in places else [*places, again]:
            worth = _weigh(mark, targets[place], ahead, place == again)
            if worth > 0:
                steps.append((place, worth, place == again))
        ladder.climb(index, steps)
    return ladder.read()


def align_numbers(
    given: Sequence[Hashable], asked: Sequence[Hashable], is_answered: Sequence[bool]
) -> dict[int, int]:
    """Which question each answer is of, by their places.

    As many as may be in the order of both, since every section may begin with 1, rather those that have no answer; then those
    whose number one question has.
    """
    places: dict[Hashable, list[int]] = {}
    for place, number in enumerate(asked):
        places.setdefault(number, []).append(place)
    ladder = _Ladder([_PASSED] * len(asked), len(given))
    for index, number in enumerate(given):
        # how many are met counts for more than what is passed over
        ladder.climb(index, [(place, 100.0 - is_answered[place], False) for place in places.get(number, ())])
    found = {pair.target: pair.mark for pair in ladder.read()}
    for index, number in enumerate(given):
        if len(own := places.get(number, [])) == 1:
            found.setdefault(own[0], index)
    return {index: place for place, index in found.items()}


def _weigh(mark: KeyMark, target: Target, ahead: str, is_echo: bool) -> float:
    """How much speaks for it that a mark opens the answer of a target; 0 where it cannot."""
    is_same = mark.value is not None and mark.value == target.value
    if mark.style == HEADING:
        if mark.own is not None and target.draft is None and mark.own == target.section:
            return _SURE
        alike = _compare_types(mark.fine, target.fine)
        if target.draft is not None:
            return 1.5 + alike if is_same else 0.0
        return is_same + alike if is_same or alike > 0 else 0.0
    if target.draft is None:
        return 0.5 if is_same and mark.style in SECTIONS else 0.0
    if mark.style == CAPITAL:
        return 0.0
    if is_echo:
        return _SURE if is_same else _SURE - 1
    alike = (
        1.0
        if target.style == mark.style
        else 0.7
        if (mark.style in _ALIKE and target.style in (*_ALIKE, ""))
        or (mark.style in SECTIONS and target.style in SECTIONS)
        else 0.2
    )
    fits = 0.3 if may_answer(target.draft, mark.text or ahead) else 0.0
    if not target.draft.options and has_blank(target.draft.stem):
        # of two questions the one with a blank is answered in a word
        fits += 0.1 if len(_NEXT_NUMBER.split(ahead, maxsplit=1)[0]) <= _FEW else -0.1
    return (0.2 if target.draft.answer else 0.5) + alike + mark.worth + fits


_NEXT_NUMBER, _FEW = re.compile(r"\s\(?\d{1,3}[.．、)]"), 24
_SURE, _MOST_PLACES = 4.0, 80
_ALIKE = ("num", "paren", "word", "bracket", "bare", "sub")


def _compare_types(one: FineType | None, other: FineType | None) -> float:
    if one is None or other is None:
        return 0.0
    if one.name == other.name:
        return 1.5
    return 1.0 if one.question_type == other.question_type else -0.5


class _Echoes:
    """The questions that answers may print again, by the beginning of their stems."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.by_start: dict[str, list[tuple[int, str]]] = {}
        for place, target in enumerate(targets):
            if target.draft is not None and not target.draft.options:
                start = _fold_start(target.draft.stem)
                if len(start) == _LEAST_ECHOED:
                    self.by_start.setdefault(start, []).append((place, target.draft.stem))

    def find(self, text: str) -> int | None:
        """The question that a text begins with."""
        for place, stem in self.by_start.get(_fold_start(text), ()) if self.by_start else ():
            if cut_echo(f"{text} …", stem) is not None:
                return place
        return None


_LEAST_ECHOED = 6
_NO_LETTERS = re.compile(r"[\W_]+")


def _fold_start(text: str) -> str:
    """The first letters of a text, folded; most texts show them before they are long."""
    start = _NO_LETTERS.sub("", text[:_NEAR]).casefold()
    if len(start) < _LEAST_ECHOED and len(text) > _NEAR:
        start = _NO_LETTERS.sub("", text).casefold()
    return start[:_LEAST_ECHOED]


_NEAR = 24


class _Ladder:
    """The best rising chain of pairs, built mark by mark: a tree of maxima over the targets.

    What a chain passes over costs little, a heading more than a question. So do the marks before its first and after its
    last: a list within an answer is not what counts the answers.
    """

    def __init__(self, costs: Sequence[float], count: int) -> None:
        self.count = count
        self.tree: list[tuple[float, Any]] = [(-math.inf, None)] * (len(costs) + 1)
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
            reached.append((place, score + worth, (Pair(mark, place, is_echo), chain)))
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

    def read(self) -> list[Pair]:
        """The pairs of the best chain, in order."""
        chain = self.best[1]
        found: list[Pair] = []
        while chain is not None:
            found.append(chain[0])
            chain = chain[1]
        return found[::-1]


_PASSED, _PASSED_HEADING = 0.02, 0.2


def counts_otherwise(chain: Sequence[Pair], marks: Sequence[KeyMark], targets: Sequence[Target]) -> bool:
    """Whether most questions that answers print again have another number here."""
    echoes = [(marks[one.mark].value, targets[one.target].value) for one in chain if one.is_echo]
    other = sum(1 for printed, asked in echoes if printed != asked)
    return other > 1 and other > 0.5 * len(echoes)
