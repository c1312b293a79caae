"""A reading that somebody points at: lines by number, or words quoted from them.

Whoever reads is shown the lines of a paper, numbered, those of its answer file after them, and says which are what. The
questions are made of the paper's own characters: what is pointed at and not there is refused, and counted. The reading is
then held to the same contracts as every other.
"""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.choices import make_true_false
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.format_answers import take_format_answers, take_format_keys
from tasks.ingest.content.key_answers import apply_key, read_entry
from tasks.ingest.content.printed_marks import take_marks
from tasks.ingest.contracts.checking import check_reading, describe_breaches, note_breaches
from tasks.ingest.contracts.readings import Reading, Stretch
from tasks.ingest.layout.announcements import read_each
from tasks.ingest.layout.options import option_text
from tasks.ingest.layout.pieces import join_pieces
from tasks.ingest.layout.rules import leave_out_front_lists
from tasks.ingest.layout.series import Repeated
from tasks.ingest.second_reader.areas import PagePictures
from tasks.ingest.second_reader.finder import Finder
from tasks.ingest.second_reader.labels import (
    LABEL_BEFORE,
    cut_labels,
    cut_number,
    holds_number,
    leave_out_bars,
    list_names,
    opens_with,
    read_value,
)
from tasks.ingest.second_reader.notes import HOLDS_ANSWER, KEY_BY_READER, POINTED
from tasks.ingest.second_reader.shown import Pointed, ShownLines, as_list, read_place
from tasks.ingest.splitting import Split, prepare_pieces
from tasks.ingest.tables.numbered_cells import part_cells
from tasks.ingest.words.answers import read_key, read_truth
from tasks.ingest.words.cleaning import clean_text, detect_language
from tasks.ingest.words.kinds import are_truth_options, infer_free_type
from tasks.ingest.words.labels import is_sure, parse_label
from tasks.ingest.words.lexicon import FineType, find_fine_type
from tasks.ingest.words.points import BRACKETED, read_points


@dataclass(frozen=True)
class PointedReading:
    """The questions of a reading, and the numbers of those that are not in the paper.

    `placed` are the pictures, by their reader's numbers, of which it says where they belong.
    """

    split: Split
    refused: tuple[str, ...]
    placed: frozenset[int] = frozenset()


def read_pointed(
    shown: ShownLines, said: Mapping[str, Any], pages: PagePictures | None = None
) -> PointedReading:
    """The questions that a reader points at, in `said` as requests.py asks for it.

    Areas are cut out of `pages`; where these are missing there are none.
    """
    finder = Finder(shown)
    language = detect_language("\n".join(line.text for line in shown.lines[: shown.own]))
    stretches = list(_make_stretches(said.get("sections"), shown))
    entries = [entry for entry in as_list(said.get("questions")) if isinstance(entry, Mapping)]
    found = [one for entry in entries if (one := _find_parts(entry, finder)) is not None]
    _take_own_material(found)
    # all of them first: an answer of one stands in what another shows
    answered = list(_find_answers(found, finder))
    finder.keep_keys(span for one in answered for span in one.answer)
    placed = _place_pictures(answered, said.get("left_out"), finder, pages)
    # what asked by a picture alone that is withheld is no slip: the rules' reading of it would show that
    kept = {id(one.entry) for one in answered if one.is_short}
    answered = [one for one in answered if one.stem or any(spans for _, spans in one.options)]
    drafted = [_make_draft(one, finder, stretches, language) for one in answered]
    drafts = [draft for draft in drafted if draft.stem or draft.options]
    _cut_second_numbers(drafts)
    kept |= {
        id(one.entry) for one, draft in zip(answered, drafted, strict=True) if draft.stem or draft.options
    }
    refused = [str(entry.get("number") or "") for entry in entries if id(entry) not in kept]
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
    split = Split(drafts, [], language, warnings, checked, heads)
    return PointedReading(split, tuple(refused), placed)


def parse_said(text: str) -> dict[str, Any]:
    """What a reader said, from its JSON; empty where it is none."""
    said = json.loads(text)
    return said if isinstance(said, dict) else {}


def _make_stretches(sections: object, shown: ShownLines) -> Iterator[Stretch]:
    places = [
        (at, section)
        for section in as_list(sections)
        if isinstance(section, Mapping) and (at := read_place(section.get("line"))) is not None
    ]
    for index, (at, section) in enumerate(sorted(places, key=lambda one: one[0])):
        if at >= shown.own:
            continue
        text = shown.lines[at].text.strip()
        label = parse_label(text)
        value, style = (label.value, label.style) if is_sure(label, ("cn", "part")) else (None, "")
        fine = find_fine_type(str(section.get("type") or ""))
        yield Stretch(index, shown.starts[at], value, style, fine, text)


@dataclass
class _Parts:
    """Where the parts of one question stand.

    `holds_answer`: its text may print an answer that was pointed at and not found.
    """

    entry: Mapping[str, Any]
    number: str
    stem: list[Pointed]
    material: list[Pointed]
    options: list[tuple[str, list[Pointed]]]
    answer: list[Pointed] = field(default_factory=list)
    explanation: list[Pointed] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    holds_answer: bool = False
    # a picture is withheld: it shows the answer of some question, or is not there
    is_short: bool = False

    @property
    def asked(self) -> list[list[Pointed]]:
        """What candidates see, by its parts."""
        return [self.stem, self.material, *(spans for _, spans in self.options)]

    @property
    def printed(self) -> list[Pointed]:
        """What answers and explains."""
        return [*self.answer, *self.explanation]


_LETTERS = tuple("ABCDEFGHIJ")


def _read_label(named: str) -> str:
    """The letter that a reader calls an option by; the second is B."""
    text = named.strip(" .)(][").upper()
    is_place = text.isdecimal() and len(text) < 3 and 0 < int(text) <= len(_LETTERS)
    return _LETTERS[int(text) - 1] if is_place else text


def _read_key(said: object, named: Sequence[str]) -> list[str]:
    """The letters or judgement that an answer means, where a reader calls options `named`."""
    text = unicodedata.normalize("NFKC", ",".join(map(str, as_list(said))))
    if not named:
        return [truth] if (truth := read_truth(text)) is not None else []
    if all(map(str.isdecimal, named)):
        text = re.sub(r"\d+", lambda place: _read_label(place[0]), text)
    return read_key(text) or []


def _find_parts(entry: Mapping[str, Any], finder: Finder) -> _Parts | None:
    """Stem, material and options of a question; None where one of them is not in the paper."""
    stem, material = finder.find(entry.get("stem")), finder.find(entry.get("material"))
    offered = entry.get("options") or {}
    if stem is None or material is None or not isinstance(offered, Mapping):
        return None
    named = {unicodedata.normalize("NFKC", str(name)): references for name, references in offered.items()}
    options = {_read_label(name): finder.find(references) or [] for name, references in named.items()}
    spans = [*stem, *chain.from_iterable(options.values())]
    # an answer file asks nothing
    is_there = (
        spans and all(options.values()) and max(span.line for span in (*spans, *material)) < finder.shown.own
    )
    if not is_there or len(options) < len(offered) or not {*options} <= {*_LETTERS}:
        return None
    number, key = str(entry.get("number") or "").strip(), _read_key(entry.get("key"), [*named])
    return _Parts(entry, number, stem, material, sorted(options.items()), key=key)


def _take_own_material(found: Sequence[_Parts]) -> None:
    """Let what stands between the lines of one question, and no other needs, be in its stem."""
    uses = Counter(tuple(one.material) for one in found)
    for one in found:
        is_alone = one.material and uses[tuple(one.material)] == 1
        if is_alone and one.stem and one.material[0].line > one.stem[0].line:
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


def _is_own_text(answer: Pointed, one: _Parts) -> bool:
    """Whether a reader points at what is asked, and not at an answer.

    That is an option or a whole line of the stem, and of a passage what fills no blank of it.
    """
    line, first, last = answer.line, answer.first, answer.last
    own = [span for _, spans in one.options for span in spans]
    if answer.picture and any(span.picture == answer.picture for span in own):
        return True
    is_option = first < last and any(
        span.line == line and span.first <= first and last <= span.last for span in own
    )
    is_asked = answer.is_whole and any(span.line == line for span in one.stem)
    is_fill = one.entry.get("type") == "fill_in_the_blank"
    is_passage = answer.fills and not is_fill and any(span.line == line for span in one.material)
    return is_option or is_asked or is_passage


def _find_answers(found: Sequence[_Parts], finder: Finder) -> Iterator[_Parts]:
    for one in found:
        for reference in as_list(one.entry.get("answer")):
            line, quote = [*re.split("[:：]", str(reference), maxsplit=1), ""][:2]
            at = read_place(line)
            quote = quote.strip()
            span = finder.claim_answer(at, quote, one.number) if at is not None and quote else None
            is_short = at is not None and 0 < len(quote) <= _SHORT_ANSWER
            spans = [span] if span is not None else [] if is_short else finder.find(reference) or []
            one.holds_answer |= not spans and any(part.line == at for part in (*one.stem, *one.material))
            fills = not one.options and not one.key
            spans = [replace(span, fills=fills and not span.picture) for span in spans]
            one.answer += _leave_out_asked(spans, one, finder)
        one.explanation = _leave_out_asked(finder.find(one.entry.get("explanation")) or [], one, finder)
        finder.claim(one.printed)
        yield one


def _leave_out_asked(spans: Sequence[Pointed], one: _Parts, finder: Finder) -> list[Pointed]:
    """What answers or explains of what is pointed at: what is asked does so where it is marked."""
    return [span for span in spans if finder.is_marked(span) or not _is_own_text(span, one)]


def _place_pictures(
    found: Sequence[_Parts], left_out: object, finder: Finder, pages: PagePictures | None
) -> frozenset[int]:
    """Let every picture that is named be where it is named; one that answers is shown to nobody."""
    printed = [span for one in found for span in one.printed]
    answers = [span for one in found for span in one.printed if not _is_own_text(span, one)]
    asked = [span for one in found for part in one.asked for span in part]
    spans = [span for reference in as_list(left_out) for span in finder.find(reference) or ()]
    told = {span.picture for span in answers if span.picture}
    if pages is not None:
        finder.pictures.cut_areas([*asked, *printed], pages)
        told |= finder.pictures.find_telling(answers, pages)
    # also where the line of its mark is pointed at
    hidden = [mark for number in told if (mark := finder.pictures.find(f"picture {number}")) is not None]
    for one in found:
        for part in one.asked:
            kept = [span for span in part if span.picture not in told and finder.pictures.is_there(span)]
            one.is_short |= len(kept) < len(part)
            one.is_short |= any(not span.picture and span.holds(mark) for span in part for mark in hidden)
            part[:] = kept
    return finder.pictures.place([*spans, *asked, *printed, *hidden])


def _make_draft(one: _Parts, finder: Finder, stretches: Sequence[Stretch], language: str | None) -> Draft:
    fine = find_fine_type(str(one.entry.get("type") or ""))
    notes = [
        POINTED,
        *([HOLDS_ANSWER] if one.holds_answer else []),
        *(["needs_figure"] if one.is_short else []),
    ]
    if [letter for letter, _ in one.options] != [*_LETTERS[: len(one.options)]]:
        notes.append("option_missing")
    draft = Draft(fine=fine, notes=notes)
    beside = [span for _, spans in one.options for span in spans]
    # a picture may stand anywhere
    spans = [span for span in (*one.stem, *beside) if not span.picture] or [*one.stem, *beside]
    starts = finder.shown.starts
    draft.start = min(starts[span.line] + span.first for span in spans)
    draft.end = max(starts[span.line] + span.last for span in spans)
    at = bisect_right([stretch.place for stretch in stretches], draft.start) - 1
    section = stretches[at] if at >= 0 else None
    draft.section, draft.section_number = (section.index, section.number) if section else (0, None)
    names = [name for name in list_names(one.number) if len(name) <= _LONGEST_NUMBER]
    draft.number_label = next((name for name in names if finder.prints(name, spans[0].line)), "")
    draft.value = read_value(one.number)
    keys = finder.list_keys([*one.stem, *one.material])
    stem = finder.make_pieces(one.stem, [*one.printed, *beside, *keys])
    material = finder.make_pieces(one.material, keys)
    if one.stem and not holds_number(finder.read_before(one.stem[0]), one.number):
        stem[:1] = [cut_number(piece, one.number) for piece in stem[:1]]
    if material and (rest := cut_number(material[0], one.number, is_answer=True)) is not material[0]:
        # what begins with the number of a question is its own, but for what is called a text
        is_text = one.options or _IS_TEXT.match(rest.text)
        material, stem = ([rest, *material[1:]], stem) if is_text else ([], [rest, *material[1:], *stem])
    draft.stem = clean_text(join_pieces(stem), language)
    _take_marks(draft)
    draft.material = clean_text(join_pieces(material), language) or None
    offered = [(letter, finder.make_option(spans, one.printed)) for letter, spans in one.options]
    cleared = {
        letter for letter, spans in one.options if spans and LABEL_BEFORE.search(finder.read_before(spans[0]))
    }
    draft.option_pieces = cut_labels(offered, cleared)
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


_LONGEST_NUMBER = 20
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


def _set_answer(draft: Draft, one: _Parts, finder: Finder, language: str | None) -> None:
    """What is printed as the answer; a key that is not in what is pointed at is doubted."""
    explanation = clean_text(join_pieces(finder.make_pieces(one.explanation)), language) or None
    draft.explanation = explanation
    pieces = [leave_out_bars(piece) for piece in finder.make_pieces(one.answer)]
    if not pieces:
        return
    offered = {span.line for _, spans in one.options for span in spans if span.is_whole}
    if any(answer.line in offered for answer in one.answer):
        draft.notes.append("key_by_format")
    is_part = not one.key and not one.answer[0].is_whole
    entry = read_entry(draft.value or 0, [cut_number(pieces[0], one.number, is_answer=is_part), *pieces[1:]])
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


def _bound(drafts: Sequence[Draft], shown: ShownLines) -> None:
    """Let each question begin with its number and reach no further than the next begins."""
    ordered = sorted(drafts, key=lambda draft: draft.start)
    reached = 0
    for draft in ordered:
        at = bisect_right(shown.starts, draft.start, hi=shown.own) - 1
        above, number = at - 1, draft.number_label
        if above >= 0 and shown.starts[above] >= reached and not opens_with(shown.lines[at].text, number):
            draft.start = shown.starts[above] if opens_with(shown.lines[above].text, number) else draft.start
        reached = draft.end
    for draft, following in pairwise(ordered):
        if draft.start < following.start < draft.end:
            draft.end = following.start


def _type_by_questions(stretch: Stretch, drafts: Sequence[Draft]) -> Stretch:
    """A heading without its type where questions below are of another."""
    kinds = {draft.question_type for draft in drafts if draft.section == stretch.index}
    fits = stretch.fine is not None and kinds <= {stretch.fine.question_type, *stretch.fine.accepts}
    return stretch if fits else replace(stretch, fine=None)
