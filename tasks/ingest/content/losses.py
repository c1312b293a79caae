"""What of a paper was not read, or was read twice.

It is said of the document, and noted at the questions that it may be in.

A question that is silently wrong is worse than one that is missing: numbers that no question claims, a second answer or
heading inside one question, and questions unlike their neighbours all lower the confidence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from tasks.ingest.content.drafts import Draft
from tasks.ingest.layout.headings import is_chapter, may_open_title, read_heading
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.answers import ANSWER_MARK, ANSWER_STARTS
from tasks.ingest.words.labels import Label, parse_label
from tasks.ingest.words.warnings import NOT_READ

_COUNTING = ("num", "paren", "nump", "word", "bracket", "sub", "capnum")
# Below this share of claimed text a paper was hardly understood; a cover, a form and instructions stay within it.
MIN_COVERAGE = 0.6
MIN_TEXT = 1_000
_SHOWN = 8


def note_losses(drafts: Sequence[Draft], pieces: Sequence[Piece], answer_parts: Collection[int]) -> list[str]:
    """Note doubts at the questions and return sentences about what no question claims.

    `answer_parts` are the starts of the lines that answers were read from.
    """
    spans = _Spans(drafts)
    unclaimed: list[Piece] = []
    shared = {_fold(line)[:24] for draft in drafts if draft.material for line in draft.material.split("\n")}
    lost = total = 0
    for piece in pieces:
        total += len(piece.text)
        if spans.find(piece.start) is not None or piece.start in answer_parts or _is_known(piece):
            continue
        if not _counts(piece.label) and _fold(piece.text)[:24] in shared:
            continue
        lost += len(piece.text)
        if _counts(piece.label):
            unclaimed.append(piece)
    _note_inside(drafts, pieces, spans)
    _note_keys_inside(drafts, pieces, spans, answer_parts)
    _note_gaps(drafts)
    note_neighbours(drafts)
    warnings: list[str] = []
    if unclaimed and drafts:
        places = ", ".join(str(piece.start) for piece in unclaimed[:_SHOWN])
        more = " …" if len(unclaimed) > _SHOWN else ""
        warnings.append(
            f"{NOT_READ}{len(unclaimed)} numbered lines belong to no question, heading or key "
            f"(at characters {places}{more} of the text)."
        )
    if drafts and total > MIN_TEXT and lost > (1 - MIN_COVERAGE) * total:
        warnings.append(f"{NOT_READ}{lost} of {total} characters belong to no question, heading or key.")
        for draft in drafts:
            draft.notes.append("paper_hardly_covered")
    return [*warnings, *_describe(drafts)]


def _fold(text: str) -> str:
    return "".join(character for character in text[:60] if character.isalnum())


class _Spans:
    """Which question a place in the text belongs to."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self.drafts = sorted(
            (draft for draft in drafts if draft.end > draft.start), key=lambda draft: draft.start
        )
        self.starts = [draft.start for draft in self.drafts]

    def find(self, place: int) -> Draft | None:
        at = bisect_right(self.starts, place) - 1
        # questions that share options or a passage overlap: look back a little
        for index in range(at, max(-1, at - 12), -1):
            if self.drafts[index].end > place:
                return self.drafts[index]
        return None

    def find_last(self, place: int) -> Draft | None:
        """The question that began last before this place, where the place is still in it.

        Lists that several questions share do not count twice.
        """
        at = bisect_right(self.starts, place) - 1
        draft = self.drafts[at] if at >= 0 else None
        return draft if draft is not None and draft.end > place else None


def _is_known(piece: Piece) -> bool:
    """A heading, a chapter or a key line: read, though part of no question."""
    text = piece.text
    return (
        piece.kind in ("table", "questions")
        or len(text.strip()) < 2
        or is_chapter(text)
        or len(read_key_line(text)) > 0
        or (len(text) < 200 and read_heading(text) is not None)
    )


def _counts(label: Label | None) -> bool:
    return label is not None and not label.is_weak and label.style in _COUNTING


def _note_inside(drafts: Sequence[Draft], pieces: Sequence[Piece], spans: _Spans) -> None:
    """Note numbers, answers, options and headings that one question should not hold.

    These are numbers that run on, second answers, second lists of options, and headings inside the question.
    """
    inside: dict[int, list[Piece]] = {}
    for piece in pieces:
        draft = spans.find_last(piece.start)
        if draft is not None and piece.start > draft.start:
            inside.setdefault(id(draft), []).append(piece)
    for draft in drafts:
        held = inside.get(id(draft), [])
        own = parse_label(f"{draft.number_label} x") if draft.number_label else None
        labels = [piece.label for piece in held if piece.kind != "table" and piece.label is not None]
        is_shared = draft.fine is not None and draft.fine.name == "matching"
        if own is not None and draft.value is not None and not is_shared:
            style = own.style
            values = [label.value for label in labels if label.style == style and not label.is_weak]
            stop = own.text[-1:]
            alike = [label for label in labels if label.style == style and label.text[-1:] == stop]
            if draft.value + 1 in values and values != list(range(1, len(values) + 1)):
                draft.notes.append("stem_holds_next_question")
            elif (
                alike and style in ("num", "word", "bracket") and [label.value for label in alike][:1] != [1]
            ):
                draft.notes.append("holds_number_of_its_kind")
        if len(held) > 1 and draft.question_type in ("multiple_choice", "true_false"):
            # `Answer: B` and `Solution: …` are one answer and its reasons
            answers = [name for piece in held if (name := _name_answer(piece.text))]
            if len(set(answers)) < len(answers):
                draft.notes.append("holds_second_answer")
            letters = [match[1].upper() for piece in held if (match := _OPTION.match(piece.text))]
            if min(letters.count("A"), letters.count("B")) > 1:
                draft.notes.append("holds_second_options")
        for piece in held:
            if _heads_section(piece):
                draft.notes.append("stem_holds_heading")
                break


_DIGIT = re.compile(r"\d")
_KEYED = ("multiple_choice", "true_false", "fill_in_the_blank")
_MIN_KEYS = 3


def _note_keys_inside(
    drafts: Sequence[Draft], pieces: Sequence[Piece], spans: _Spans, answer_parts: Collection[int]
) -> None:
    """Note a key line inside a question, and the questions that lack an answer.

    The keys are theirs, and were not read so.
    """
    if all(one.answer for one in drafts):
        return
    holding: list[Draft] = []
    for piece in pieces:
        if piece.start in answer_parts or piece.kind == "table" or _DIGIT.search(piece.text) is None:
            continue
        draft = spans.find_last(piece.start)
        if (
            draft is None
            or piece.start <= draft.start
            or (draft.question_type == "multiple_choice" and not draft.answer)
        ):
            continue
        keys = read_key_line(_KEY_LEAD.sub("", piece.text))
        numbers = {entry.number for entry in keys}
        if len(keys) >= _MIN_KEYS and any(one.value in numbers and not one.answer for one in drafts):
            holding.append(draft)
    for draft in holding:
        draft.notes.append("text_holds_answer")
    if holding:
        for draft in drafts:
            if not draft.answer and draft.question_type in _KEYED:
                draft.notes.append("answer_part_without_it")


_KEY_LEAD = re.compile(r"^[^\d:：]{0,12}[:：、.．]\s*")


_OPTION = re.compile(r"\s*[（(\[]?([ABab])\s*[)）\].．、]\s*\S")


_NO_LETTERS = re.compile(r"[\W\d_]+")


def _name_answer(text: str) -> str:
    """The word that opens an answer on this line, empty where none does."""
    match = ANSWER_MARK.match(text) if text.lstrip()[:1] in ANSWER_STARTS else None
    word = _NO_LETTERS.sub("", match.group(0)).casefold() if match is not None else ""
    return word if len(word) > 1 and word not in ("解答", "参考解答") else ""


def _heads_section(piece: Piece) -> bool:
    if len(piece.text) > 60 or piece.kind == "table":
        return False
    label = piece.label
    if label.style not in ("cn", "part") if label is not None else not may_open_title(piece.text):
        return False
    heading = read_heading(piece.text)
    return heading is not None and heading.label is not None and heading.label.style in ("cn", "part")


def _note_gaps(drafts: Sequence[Draft]) -> None:
    """Note the question above a missing number: it may have swallowed that one."""
    for before, draft in pairwise(drafts):
        if "number_gap_before" in draft.notes:
            before.notes.append("number_gap_after")


def note_neighbours(drafts: Sequence[Draft]) -> None:
    """Note a choice that has not as many options as its section, and a lone unanswered question.

    The first has fewer or more options than nearly all of its section; the second alone has no answer.
    """
    sections: dict[int, list[Draft]] = {}
    for draft in drafts:
        sections.setdefault(draft.section, []).append(draft)
    for group in sections.values():
        choices = [draft for draft in group if draft.question_type == "multiple_choice"]
        if len(choices) >= 5:
            usual, count = Counter(len(draft.options) for draft in choices).most_common(1)[0]
            for draft in choices if count >= 0.8 * len(choices) else ():
                if len(draft.options) < usual:
                    draft.notes.append("fewer_options_than_others")
        for kind in {draft.question_type for draft in group}:
            alike = [draft for draft in group if draft.question_type == kind]
            answered = sum(1 for draft in alike if draft.answer)
            if len(alike) >= 4 and answered >= 0.6 * len(alike):
                for draft in alike:
                    if not draft.answer:
                        draft.notes.append("only_one_without_answer")


_TOLD = (
    ("stem_holds_next_question", "questions hold the number of the next one"),
    ("holds_number_of_its_kind", "questions hold another number in the form of their own"),
    ("holds_second_answer", "questions hold a second answer"),
    ("holds_second_options", "questions hold a second list of options"),
    ("stem_holds_heading", "questions hold a heading"),
    ("number_gap_before", "questions stand behind a missing number"),
)


def _describe(drafts: Sequence[Draft]) -> list[str]:
    counts = Counter(note for draft in drafts for note in set(draft.notes))
    found = [f"{counts[note]} {sentence}" for note, sentence in _TOLD if counts[note]]
    return [f"{NOT_READ}perhaps more than is shown: {'; '.join(found)}."] if found else []
