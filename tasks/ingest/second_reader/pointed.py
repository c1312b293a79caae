"""A reading that somebody points at: lines by number, or words quoted from them.

Whoever reads is shown the lines of a paper, numbered, those of its answer file after them, and says which are what. The
questions are made of the paper's own characters: what is pointed at and not there is refused, and counted. The reading is
then held to the same contracts as every other.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from tasks.ingest.content.choices import make_true_false
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.format_answers import take_format_answers, take_format_keys
from tasks.ingest.content.key_answers import apply_key, read_entry
from tasks.ingest.content.printed_marks import take_marks
from tasks.ingest.contracts.checking import check_reading, describe_breaches, note_breaches
from tasks.ingest.contracts.readings import Reading, Stretch
from tasks.ingest.layout.announcements import read_each
from tasks.ingest.layout.options import option_text
from tasks.ingest.layout.pieces import Piece, join_pieces, make_pieces, rewrite, say
from tasks.ingest.layout.rules import leave_out_front_lists
from tasks.ingest.layout.series import Repeated
from tasks.ingest.readers.extraction import (
    PICTURE_MARK,
    Extraction,
    Line,
    blank_picture_numbers,
    join_lines,
)
from tasks.ingest.splitting import Split, prepare_pieces
from tasks.ingest.tables.numbered_cells import part_cells
from tasks.ingest.words.answers import read_key, read_truth
from tasks.ingest.words.cleaning import clean_text, detect_language
from tasks.ingest.words.kinds import are_truth_options, infer_free_type
from tasks.ingest.words.labels import parse_label, read_number
from tasks.ingest.words.lexicon import FineType, find_fine_type
from tasks.ingest.words.points import BRACKETED, read_points

POINTED, KEY_BY_READER = "assisted", "key_by_reader"
# A line is shown up to this length; what is longer holds no single question.
_LONGEST_SHOWN = 4_000
# Stretches that stand out stand between these signs where a line is shown.
_OPENS, _CLOSES = "⟦", "⟧"
# Where so large a part of the lines stands out, print says nothing.
_MOST_STANDING_OUT = 0.5


@dataclass(frozen=True)
class ShownLines:
    """The numbered lines of a paper; from `own` on they are those of its answer file."""

    lines: Sequence[Line]
    starts: Sequence[int]
    own: int

    def describe(self) -> dict[str, Any]:
        """What is shown of every line, and the pages of the paper's own."""
        standing_out = sum(1 for line in self.lines if line.emphasis)
        is_marked = standing_out <= _MOST_STANDING_OUT * len(self.lines)
        return {
            "lines": [_render(line, is_marked) for line in self.lines],
            "own": self.own,
            "pages": [line.page for line in self.lines[: self.own]],
        }


def show_lines(paper: Extraction, companion: Extraction | None) -> ShownLines:
    """The lines of a paper and of its answer file that say anything; a file of records has none."""
    lines: list[Line] = []
    starts: list[int] = []
    own = after = 0
    for extraction in (paper, companion):
        found = [] if extraction is None else list_lines(extraction)
        text, offsets, _ = join_lines(found)
        for line, start in zip(found, offsets, strict=True):
            if line.kind != "furniture" and line.text.strip():
                lines.append(line)
                starts.append(after + start)
        after += len(text) + 1
        own = len(lines) if extraction is paper else own
    return ShownLines(lines, starts, own)


def list_lines(extraction: Extraction) -> list[Line]:
    """The lines of a document, the rows of sheets as lines."""
    rows = [row for sheet in extraction.sheets for row in sheet.rows if any(cell.strip() for cell in row)]
    return extraction.lines or [
        Line(" | ".join(cell.replace("\n", " ").strip() for cell in row)) for row in rows
    ]


def _render(line: Line, is_marked: bool) -> str:
    text = line.text
    stretches = sorted({(first, last) for first, last, _ in line.emphasis}) if is_marked else []
    for first, last in reversed(_merge(stretches)):
        if text[first:last].strip():
            text = f"{text[:first]}{_OPENS}{text[first:last]}{_CLOSES}{text[last:]}"
    return " ".join(blank_picture_numbers(text).split())[:_LONGEST_SHOWN]


def _merge(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in stretches:
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


@dataclass(frozen=True)
class PointedReading:
    """The questions of a reading, and the numbers of those that are not in the paper."""

    split: Split
    refused: tuple[str, ...]


def read_pointed(shown: ShownLines, said: Mapping[str, Any]) -> PointedReading:
    """The questions that a reader points at, in `said` as requests.py asks for it."""
    finder = _Finder(shown)
    language = detect_language("\n".join(line.text for line in shown.lines[: shown.own]))
    stretches = list(_make_stretches(said.get("sections"), shown))
    entries = [entry for entry in _list(said.get("questions")) if isinstance(entry, Mapping)]
    made = [_find_parts(entry, finder) for entry in entries]
    found = [one for one in made if one is not None]
    _take_own_material(found)
    # all of them first: an answer of one stands in what another shows
    answered = list(_find_answers(found, finder))
    finder.keys = [span for one in answered if one.key for span in one.answer]
    drafts = [_make_draft(one, finder, stretches, language) for one in answered]
    drafts = [draft for draft in drafts if draft.stem or draft.options]
    _cut_second_numbers(drafts)
    refused = [
        str(entry.get("number") or "") for entry, one in zip(entries, made, strict=True) if one is None
    ]
    _bound(drafts, shown)
    stretches = [_type_by_questions(stretch, drafts) for stretch in stretches]
    own = shown.lines[: shown.own]
    take_format_keys(drafts, own, shown.starts[: shown.own])
    take_format_answers(drafts, own, shown.starts[: shown.own])
    pieces = leave_out_front_lists(prepare_pieces(*part_cells(own, shown.starts[: shown.own])))
    reading = Reading(drafts, pieces, stretches, (), finder.list_claimed(pieces), Repeated(pieces))
    checked, results = check_reading(reading)
    note_breaches(results)
    heads = tuple(stretch.place for stretch in stretches)
    warnings = describe_breaches(checked)
    return PointedReading(Split(drafts, [], language, warnings, checked, heads), tuple(refused))


def parse_said(text: str) -> dict[str, Any]:
    """What a reader said, from its JSON; empty where it is none."""
    said = json.loads(text)
    return said if isinstance(said, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _make_stretches(sections: object, shown: ShownLines) -> Iterator[Stretch]:
    places = [
        (at, section)
        for section in _list(sections)
        if isinstance(section, Mapping) and (at := _read_place(section.get("line"))) is not None
    ]
    for index, (at, section) in enumerate(sorted(places, key=lambda one: one[0])):
        if at >= shown.own:
            continue
        text = shown.lines[at].text.strip()
        label = parse_label(text)
        is_numbered = label is not None and label.style in ("cn", "part")
        yield Stretch(
            index,
            shown.starts[at],
            label.value if label is not None and is_numbered else None,
            label.style if label is not None and is_numbered else "",
            find_fine_type(str(section.get("type") or "")),
            text,
        )


@dataclass(frozen=True)
class Pointed:
    """Characters of one line, from `first` to `last`, or the line as a whole."""

    line: int
    first: int
    last: int
    is_whole: bool = False


_REFERENCE = re.compile(r"\s*(\d{1,6})\s*(?:[-–~]\s*(\d{1,6})\s*$|[:：](.*)|$)", re.DOTALL)
_MOST_LINES = 400


def _read_place(value: object) -> int | None:
    text = str(value).strip()
    return int(text) if text.isdecimal() and len(text) < 7 else None


class _Finder:
    """Looks up what is pointed at; knows what of the paper is claimed."""

    def __init__(self, shown: ShownLines) -> None:
        self.shown = shown
        self._folded: dict[int, tuple[str, list[int]]] = {}
        self._answers: dict[int, list[tuple[int, int]]] = {}
        # the printed keys of all questions: none of them is shown with another question
        self.keys: list[Pointed] = []
        self._pieces: dict[int, list[Piece]] = {}
        for piece in make_pieces(shown.lines, shown.starts):
            self._pieces.setdefault(bisect_right(shown.starts, piece.start) - 1, []).append(piece)

    def find(self, references: object) -> list[Pointed] | None:
        """The spans that references name, in their order; [] for none, None where one is not there."""
        spans: list[Pointed] = []
        for reference in _list(references):
            found = self._find_one(reference)
            if found is None:
                return None
            spans.extend(found)
        return spans

    def _find_one(self, reference: object) -> list[Pointed] | None:
        match = _REFERENCE.fullmatch(str(reference))
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < len(self.shown.lines) or last - first > _MOST_LINES:
            return None
        quote = (match[3] or "").strip()
        if not quote:
            return [self.whole(at) for at in range(first, last + 1)]
        for at in self.list_near(first):
            places = self.list_quoted(at, quote)
            if places:
                return [self._span(at, *places[0])]
        return None

    def list_near(self, line: int) -> list[int]:
        """A line and its neighbours: a number may be off by one."""
        return [at for at in (line, line + 1, line - 1) if 0 <= at < len(self.shown.lines)]

    def whole(self, at: int) -> Pointed:
        """A line as a whole."""
        return Pointed(at, 0, len(self.shown.lines[at].text), is_whole=True)

    def _span(self, at: int, first: int, last: int) -> Pointed:
        text = self.shown.lines[at].text
        return Pointed(at, first, last, not text[:first].strip() and not text[last:].strip())

    def list_quoted(self, at: int, quote: str) -> list[tuple[int, int]]:
        """Where a line holds a quotation: white space, width of characters and blanks do not count."""
        if at not in self._folded:
            self._folded[at] = fold_quoted(self.shown.lines[at].text)
        text, offsets = self._folded[at]
        needle, _ = fold_quoted(quote)
        found: list[tuple[int, int]] = []
        place = text.find(needle) if needle else -1
        while place >= 0:
            found.append(
                (offsets[place], _end_mark(self.shown.lines[at].text, offsets[place + len(needle) - 1] + 1))
            )
            place = text.find(needle, place + 1)
        return found

    def claim_answer(self, line: int, quote: str, number: str) -> Pointed | None:
        """The place of a short answer on a line that answers nothing yet and is no part of a word.

        That behind the number of its question, else one that stands out in print, else the first.
        """
        for at in self.list_near(line):
            text = self.shown.lines[at].text
            taken = self._answers.setdefault(at, [])
            quoted = self.list_quoted(at, quote)
            places = [place for place in quoted if _is_apart(text, *place)]
            behind = _find_behind(text, number)
            places.sort(
                key=lambda place: (
                    place[0] not in behind,
                    not self._stands_out(at, place),
                    not _is_set_apart(text, *place),
                )
            )
            for first, last in places:
                is_free = all(last <= one or first >= other for one, other in taken)
                if is_free or first in behind:
                    taken.append((first, last))
                    return Pointed(at, first, last)
        return None

    def _stands_out(self, at: int, place: tuple[int, int]) -> bool:
        return any(first <= place[0] and place[1] <= last for first, last, _ in self.shown.lines[at].emphasis)

    def is_labelled_before(self, span: Pointed) -> bool:
        """Whether the label of an option stands before what is pointed at, and so is no part of it."""
        return _LABEL_BEFORE.search(self.shown.lines[span.line].text[: span.first]) is not None

    def is_numbered_before(self, span: Pointed, core: str) -> bool:
        """Whether the number of a question stands before what is pointed at, and so is no part of it."""
        before = self.shown.lines[span.line].text[: span.first]
        return bool(core) and re.search(rf"(?<!\w)0*{re.escape(core)}(?!\w)", before) is not None

    def claim(self, spans: Iterable[Pointed]) -> None:
        """Let characters be those of an answer."""
        for span in spans:
            self._answers.setdefault(span.line, []).append((span.first, span.last))

    def list_claimed(self, pieces: Sequence[Piece]) -> frozenset[int]:
        """The beginnings of the paper's lines that answers stand in."""
        starts = [piece.start for piece in pieces]
        found: set[int] = set()
        for at, spans in self._answers.items():
            if spans and at < self.shown.own:
                begin = self.shown.starts[at]
                end = begin + len(self.shown.lines[at].text)
                found.update(starts[bisect_left(starts, begin) : bisect_right(starts, end)])
        return frozenset(found)

    def make_pieces(
        self, spans: Sequence[Pointed], without: Sequence[Pointed] = (), gap: str = ""
    ) -> list[Piece]:
        """Cleaned lines of these spans; `gap` stands where one holds others."""
        answers = {one.line for one in without if one.is_whole}
        # a line that is the answer, but for what is the answer as a whole: an option or a term is both
        asked = [span for span in spans if span.line not in answers] or spans
        return [
            part
            for span in asked
            for piece in self._pieces.get(span.line, ())
            for part in self._cut(piece, span, without, gap)
        ]

    def _cut(self, piece: Piece, span: Pointed, without: Sequence[Pointed], gap: str) -> list[Piece]:
        start = self.shown.starts[span.line]

        def place(offset: int) -> int:
            return bisect_left(piece.sources, start + offset)

        part = piece if span.is_whole else piece.cut(place(span.first), place(span.last))
        inside = [
            one
            for one in without
            if one.line == span.line and span.first <= one.first < one.last <= span.last
        ]
        for one in sorted(inside, key=lambda one: -one.first):
            first, last = (
                bisect_left(part.sources, start + one.first),
                bisect_left(part.sources, start + one.last),
            )
            left = f"{part.text[:first]}{part.text[last:]}"
            # an option or a term that is the answer as a whole is both
            if first < last and _WORDS.search(left) is not None:
                part = rewrite(part, last, gap, first)
        return [part] if part.text.strip() else []


def _end_mark(text: str, place: int) -> int:
    """The end of a quotation behind the number of the picture that it ends with."""
    return place + 1 if text[place : place + 1] != blank_picture_numbers(text)[place : place + 1] else place


# a row of keys without numbers
_KEY_RUN = re.compile(r"[A-Ja-jTF√×]+")


def _is_apart(text: str, first: int, last: int) -> bool:
    """Whether a short answer is no part of a word or a number, and no label of an option."""
    before, behind = text[max(first - 1, 0) : first], text[last : last + 1]
    if (text[first].isdigit() and before.isdigit()) or (text[last - 1].isdigit() and behind.isdigit()):
        return False
    if (
        not text[:first].strip(" \t*-([（【")
        and re.match(r"\s*[)）.．、:：\]】]\s*\S", text[last:])
        and last - first == 1
    ):
        return False
    if before.islower() or behind.islower():
        return False
    if (before.isupper() and before.isascii()) or (behind.isupper() and behind.isascii()):
        word = re.search(r"[^\W\d_]*$", text[:first])[0] + re.match(r"[^\W\d_]*", text[first:])[0]  # type: ignore[index]
        return _KEY_RUN.fullmatch(word) is not None
    return True


def _is_set_apart(text: str, first: int, last: int) -> bool:
    """Whether brackets hold a short answer, or it ends its line."""
    is_held = (
        re.search(r"[(（\[【:：]\s*$", text[:first]) is not None
        and re.match(r"\s*[)）\]】]|\s*$", text[last:]) is not None
    )
    return is_held or not text[last:].strip(" .。)）]】")


# more than a letter or a number that labels
_WORDS = re.compile(r"[^\W_]{2}|[^\W_]\W+[^\W_]|[\u2e80-\U0003ffff]")


def _find_behind(text: str, number: str) -> set[int]:
    """The places right behind a number and what closes it: `3. B`, `3B`, `(3) B`."""
    core = read_core(number)
    if not core:
        return set()
    found = re.finditer(rf"(?<![0-9A-Za-z–~-]){re.escape(core)}(?![0-9])\s*[^\w\s]{{0,3}}\s*", text)
    return {match.end() for match in found}


# What of a number counts: `Q1`, `Problem 1`, `第1题` and `８` are 1 and 8
_CORE = re.compile(r"\d+(?:[.-]\d+)*[a-z]?|[一二三四五六七八九十百]+|[①-⑳]|[IVXivx]{1,6}|[A-Za-z]")


def read_core(number: str) -> str:
    """What of a printed number counts, "" for none."""
    found = _CORE.findall(unicodedata.normalize("NFKC", number))
    return found[-1] if found else ""


# What a copyist writes otherwise without changing a word: width, quotes, dashes, brackets.
_FORMS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | str.maketrans(
    "“”‘’–—―−【】＿", "\"\"''----[]_"
)
_LEFT_OUT = f"\u200b\ufeff\u00ad{_OPENS}{_CLOSES}"


def fold_quoted(text: str) -> tuple[str, list[int]]:
    """The characters without white space, blanks as one `_`, and the place of each in the text."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(blank_picture_numbers(text)):
        if character.isspace() or character in _LEFT_OUT:
            continue
        character = character.translate(_FORMS)
        if character == "_" and characters and characters[-1] == "_":
            continue
        characters.append(character)
        places.append(place)
    return "".join(characters), places


_LABEL_BEFORE = re.compile(r"(?:^|[\W_])(?:[A-Ja-j]|[①-⑩])\s*[)）.．、:：\]】]?\s*$")


@dataclass
class _Parts:
    """Where the parts of one question stand."""

    entry: Mapping[str, Any]
    number: str
    stem: list[Pointed]
    material: list[Pointed]
    options: list[tuple[str, list[Pointed]]]
    answer: list[Pointed] = field(default_factory=list)
    explanation: list[Pointed] = field(default_factory=list)
    key: list[str] = field(default_factory=list)


_LETTER = re.compile(r"[A-J]")
_KEY = re.compile(r"[A-J](?:[\s,;、，；/&+]*[A-J])*")


def _read_key(said: object) -> list[str]:
    text = "".join(map(str, said)) if isinstance(said, list) else "" if said is None else str(said)
    text = unicodedata.normalize("NFKC", text).strip()
    if text.casefold() in ("true", "false"):
        return [text.casefold()]
    return sorted(set(re.findall(r"[A-J]", text.upper()))) if _KEY.fullmatch(text.upper()) else []


def _find_parts(entry: Mapping[str, Any], finder: _Finder) -> _Parts | None:
    """Stem, material and options of a question; None where one of them is not in the paper."""
    stem, material = finder.find(entry.get("stem")), finder.find(entry.get("material"))
    offered = entry.get("options")
    if stem is None or material is None or not isinstance(offered or {}, Mapping):
        return None
    options: list[tuple[str, list[Pointed]]] = []
    for label, references in (offered or {}).items():
        spans = finder.find(references)
        if not spans or _LETTER.fullmatch(str(label)) is None:
            return None
        options.append((str(label), spans))
    if not stem and not options:
        return None
    if any(span.line >= finder.shown.own for span in stem):
        return None  # an answer file asks nothing
    return _Parts(entry, str(entry.get("number") or "").strip(), stem, material, options)


def _take_own_material(found: Sequence[_Parts]) -> None:
    """Let what stands between the lines of one question, and no other needs, be in its stem."""
    uses = Counter(tuple(one.material) for one in found)
    for one in found:
        if (
            one.material
            and one.stem
            and one.material[0].line > one.stem[0].line
            and uses[tuple(one.material)] == 1
        ):
            one.stem = sorted([*one.stem, *one.material], key=lambda part: (part.line, part.first))
            one.material = []


_SECOND_NUMBER = re.compile(r"[,，\s]{0,2}\d{1,3}\s*[.．、,，]\s*(?=\D)")
_LEAST_NUMBERED, _MOST_NUMBERED = 3, 0.5


def _cut_second_numbers(drafts: Sequence[Draft]) -> None:
    """Drop the numbers that most stems have beside that of their question: `第 1 题  10. …`."""
    matches = [(draft, match) for draft in drafts if (match := _SECOND_NUMBER.match(draft.stem)) is not None]
    if len(matches) >= max(_LEAST_NUMBERED, _MOST_NUMBERED * len(drafts)):
        for draft, match in matches:
            draft.stem = draft.stem[match.end() :]


# What one or a few signs long is looked for beside what was answered before: a row of keys has every letter often.
_SHORT_ANSWER = 6


def _find_answers(found: Sequence[_Parts], finder: _Finder) -> Iterator[_Parts]:
    for one in found:
        one.key = _read_key(one.entry.get("key"))
        for reference in _list(one.entry.get("answer")):
            line, _, quote = str(reference).partition(":")
            at = _read_place(line)
            if at is not None and 0 < len(quote.strip()) <= _SHORT_ANSWER:
                span = finder.claim_answer(at, quote.strip(), one.number)
                one.answer += [] if span is None else [span]
                continue
            spans = finder.find(reference) or []
            finder.claim(spans)
            one.answer += spans
        one.explanation = finder.find(one.entry.get("explanation")) or []
        finder.claim(one.explanation)
        yield one


# what stands in a sentence for the words that fill it
_GAP = "____"


def _make_draft(one: _Parts, finder: _Finder, stretches: Sequence[Stretch], language: str | None) -> Draft:
    fine = find_fine_type(str(one.entry.get("type") or ""))
    draft = Draft(fine=fine, notes=[POINTED])
    spans = [*one.stem, *(span for _, spans in one.options for span in spans)]
    own = [
        (finder.shown.starts[span.line] + span.first, finder.shown.starts[span.line] + span.last)
        for span in spans
    ]
    draft.start, draft.end = min(first for first, _ in own), max(last for _, last in own)
    at = bisect_right([stretch.place for stretch in stretches], draft.start) - 1
    section = stretches[at] if at >= 0 else None
    draft.section, draft.section_number = (section.index, section.number) if section else (0, None)
    printed = [*one.answer, *one.explanation]
    core = read_core(one.number)
    draft.number_label = one.number
    draft.value = read_number(core) if "." not in core and "-" not in core else None
    beside = [span for _, spans in one.options for span in spans]
    stem = finder.make_pieces(
        one.stem, [*printed, *beside, *finder.keys], "" if one.options or one.key else _GAP
    )
    material = finder.make_pieces(one.material, finder.keys)
    if one.stem and not finder.is_numbered_before(one.stem[0], core):
        stem[:1] = [_cut_number(piece, one.number) for piece in stem[:1]]
    if material and (rest := _cut_number(material[0], one.number)) is not material[0]:
        # what begins with the number of a question is its own, but for what is called a text
        is_text = one.options or _IS_TEXT.match(rest.text)
        material, stem = ([rest, *material[1:]], stem) if is_text else ([], [rest, *material[1:], *stem])
    draft.stem = clean_text(join_pieces(stem), language)
    _take_marks(draft)
    draft.material = clean_text(join_pieces(material), language) or None
    offered = [(letter, finder.make_pieces(spans, printed)) for letter, spans in one.options]
    cleared = {letter for letter, spans in one.options if finder.is_labelled_before(spans[0])}
    draft.option_pieces = (
        _cut_labels(offered)
        if not cleared
        else [
            (
                letter,
                pieces if letter in cleared or not pieces else [_cut_letter(pieces[0], letter), *pieces[1:]],
            )
            for letter, pieces in offered
        ]
    )
    draft.options = [
        (letter, clean_text(option_text(pieces), language)) for letter, pieces in draft.option_pieces
    ]
    if draft.marks is None and section is not None:
        draft.marks = read_each(section.heading)
    draft.question_type = _name_type(draft, fine)
    _set_answer(draft, one, finder, language)
    if draft.options and are_truth_options([text for _, text in draft.options]):
        make_true_false(draft)
    return draft


_IS_TEXT = re.compile(r"\s*(?:阅读|材料|案例|资料|(?i:read|text|passage|material|source|case)\b)")
_FIRST_MARKS = re.compile(rf"\s*{BRACKETED}\s*(?=\S)")


def _take_marks(draft: Draft) -> None:
    """Take the marks at either end of a stem."""
    first = _FIRST_MARKS.match(draft.stem)
    if first is not None:
        draft.marks = read_points(first[0])
        draft.stem = draft.stem[first.end() :]
    take_marks(draft)


def _name_type(draft: Draft, fine: FineType | None) -> str:
    if draft.options:
        return "multiple_choice"
    if fine is None or fine.question_type == "multiple_choice":
        return infer_free_type(draft.stem, draft.material)
    return fine.question_type


def _set_answer(draft: Draft, one: _Parts, finder: _Finder, language: str | None) -> None:
    """What is printed as the answer; a key that is not in what is pointed at is doubted."""
    explanation = clean_text(join_pieces(finder.make_pieces(one.explanation)), language) or None
    draft.explanation = explanation
    pieces = [_leave_out_bars(piece) for piece in finder.make_pieces(one.answer)]
    if not pieces:
        return
    if any(
        span.is_whole and span.line == answer.line
        for answer in one.answer
        for _, spans in one.options
        for span in spans
    ):
        draft.notes.append("key_by_format")
    entry = read_entry(
        draft.value or 0,
        [
            (_cut_number if one.key or one.answer[0].is_whole else _cut_key_number)(pieces[0], one.number),
            *pieces[1:],
        ],
    )
    entry.explanation = explanation or entry.explanation
    if not one.key or not (draft.options or draft.question_type == "true_false"):
        apply_key(draft, entry, language)
        return
    text = entry.text.strip()
    read = read_key(text) if draft.options else [truth] if (truth := read_truth(text)) else None
    if read == one.key:
        draft.answer = read
        return
    apply_key(draft, entry, language)
    if draft.answer != one.key and all(key in dict(draft.options) for key in one.key if draft.options):
        is_among = bool(draft.options) and all(letter in text for letter in one.key)
        draft.answer = list(one.key)
        draft.notes = [note for note in draft.notes if note not in ("answer_unreadable", "keys_disagree")]
        draft.notes += [] if is_among else [KEY_BY_READER]


# a sign, a word or a tag in brackets, `n.`
_BEFORE_NUMBER = r"[\W_]*(?:第\s*|[^\W\d_]{1,12}[\s.\]】)）:：]{0,3}(?:n[.°]|no\.?|nr\.?|#)?\s*)?"


def _leave_out_bars(piece: Piece) -> Piece:
    """A row of a table as text: an answer has no cells."""
    return piece if piece.kind != "table" else say(piece, " ".join(piece.text.replace(" | ", " ").split()))


def _cut_number(piece: Piece, number: str) -> Piece:
    """A line without its question's number: `3.`, `**Q3.**`, `第3题`, `[单选]3.`, `Problem n. 3`."""
    core = read_core(number)
    if not core:
        return piece
    text = unicodedata.normalize("NFKC", piece.text)
    if len(text) != len(piece.text):
        text = piece.text
    match = re.match(
        rf"{_BEFORE_NUMBER}0*{re.escape(core)}(?P<close>\s*(?:题|小题)?[^\w\s(\[“\"'$]*\s*(?:[-–—]\s+)?)",
        text,
    )
    if match is None or not piece.text[match.end() :].strip():
        return piece
    is_parted = bool(match["close"]) or not text[match.end()].isascii() or not text[match.end()].isalnum()
    return piece.cut(match.end()) if is_parted else piece


def _cut_key_number(piece: Piece, number: str) -> Piece:
    """A printed answer without its question's number before it; `3.5 m` and `3 m` are answers."""
    core = read_core(number)
    match = (
        re.match(
            rf"[\s(（\[【*]*(?:第\s*)?0*{re.escape(core)}\s*题?\s*[.．、:：)）\]】]+(?!\d)\s*(?=\S)",
            piece.text,
        )
        if core
        else None
    )
    return piece if match is None else piece.cut(match.end())


_BOX = re.compile(r"\s*(?:[-*•·+]\s+)?(?:[□☐☑☒○◯●◉✓✔✅❌✗✘]️?|\[[ xX√✓]?\]|\([ xX√✓]?\))*\s*")
# the second, third … label of options, however they are labelled
_DRESSES = (
    "ABCDEFGHIJ",
    "abcdefghij",
    "①②③④⑤⑥⑦⑧⑨⑩",
    tuple(str(number) for number in range(1, 11)),
    ("i", "ii", "iii", "iv", "v"),
)


def _cut_labels(options: Sequence[tuple[str, list[Piece]]]) -> list[tuple[str, list[Piece]]]:
    """Options without boxes, and without labels where all have one of the same kind."""
    cleared = []
    for letter, pieces in options:
        match = _BOX.match(pieces[0].text) if pieces else None
        rest = [pieces[0].cut(match.end()), *pieces[1:]] if match is not None else pieces
        cleared.append((letter, rest if rest and rest[0].text.strip() else pieces))
    if not all(pieces for _, pieces in cleared):
        return cleared
    for dress in (*_DRESSES, _read_dress([pieces[0].text for _, pieces in cleared])):
        matches = [
            re.match(
                rf"(?:{PICTURE_MARK.pattern})?\s*[(（\[【<]?\s*{re.escape(label)}(?P<close>\s*[)）\]】>.．、:：\-–]*[\s|]*)(?=[^\s|])",
                pieces[0].text,
            )
            for label, (_, pieces) in zip(dress, cleared, strict=False)
        ]
        found = [match for match in matches if match is not None]
        if len(found) < len(cleared):
            continue
        rests = [pieces[0].text[match.end() :] for match, (_, pieces) in zip(found, cleared, strict=True)]
        is_wide = not any(rest[0].isascii() for rest in rests)
        if all(match["close"] for match in found) or is_wide or not dress[0].isascii():
            return [
                (letter, [pieces[0].cut(match.end()), *pieces[1:]])
                for match, (letter, pieces) in zip(found, cleared, strict=True)
            ]
    return [(letter, [_cut_letter(pieces[0], letter), *pieces[1:]]) for letter, pieces in cleared]


_OTHER_LETTER = re.compile(r"\s*[(（\[]?([^\W\d_])\s*[)）\].．、:：]")


def _read_dress(texts: Sequence[str]) -> tuple[str, ...]:
    """The labels of options in another alphabet, `а) б) в)`; () where they do not go up."""
    found = [match[1] for text in texts if (match := _OTHER_LETTER.match(text)) is not None]
    goes_up = all(one < other for one, other in pairwise(found))
    return tuple(found) if len(found) == len(texts) and goes_up else ()


def _cut_letter(piece: Piece, letter: str) -> Piece:
    """An option without its letter, where others were pointed at without theirs."""
    match = re.match(
        rf"\s*(?:[(（\[【]\s*{letter}\s*[)）\]】]|{letter}\s*[)）.．、:：]|{letter}\s*(?=[\u2e80-\U0003ffff]))\s*(?=\S)",
        piece.text,
        re.IGNORECASE,
    )
    return piece if match is None else piece.cut(match.end())


def _bound(drafts: Sequence[Draft], shown: ShownLines) -> None:
    """Let each question begin with its number and reach no further than the next begins."""
    ordered = sorted(drafts, key=lambda draft: draft.start)
    reached = 0
    for draft in ordered:
        at = bisect_right(shown.starts, draft.start, hi=shown.own) - 1
        core = read_core(draft.number_label)
        above = at - 1
        if core and above >= 0 and shown.starts[above] >= reached and not _opens(shown.lines[at].text, core):
            draft.start = shown.starts[above] if _opens(shown.lines[above].text, core) else draft.start
        reached = draft.end
    for draft, following in pairwise(ordered):
        if draft.start < following.start < draft.end:
            draft.end = following.start


def _opens(text: str, core: str) -> bool:
    """Whether a line begins with a number: `Zadanie 5. (0-1)`, `**5**`."""
    return re.match(rf"\W*(?:[^\W\d_]{{1,12}}\W{{1,3}})?0*{re.escape(core)}(?![\w])", text) is not None


def _type_by_questions(stretch: Stretch, drafts: Sequence[Draft]) -> Stretch:
    """A heading without its type where questions below are of another."""
    kinds = {draft.question_type for draft in drafts if draft.section == stretch.index}
    fits = stretch.fine is not None and kinds <= {stretch.fine.question_type, *stretch.fine.accepts}
    return stretch if fits else replace(stretch, fine=None)
