"""Judgements of statements, as the statements of a section have them in common."""

from __future__ import annotations

from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft, by_section
from tasks.ingest.words.answers import read_judgement, read_truth
from tasks.ingest.words.grammar import truth_word

_LEAST_LETTERED = 3
# the place of a key: what it speaks of would stand below, and one line does
CLOSES_EMPTY = re.compile(r"[（(]\s*[)）][\s.。:：]*$")
# `True. Since …` on a line of its own
_JUDGED_BELOW = re.compile(
    rf"\n\s*((?:{truth_word()}|[TF])(?:\s*[.。,，;；:：!！]|\s+[-–—]|\s*$))", re.MULTILINE
)
_LEAST_JUDGED, _MOST_JUDGED = 2, 0.6


def read_judged_below(drafts: Sequence[Draft]) -> None:
    """Read `False. The moon has no light.` below statements, where most of a section do so."""
    for group in by_section(drafts, lambda draft: draft.question_type == "true_false"):
        open_ones = [draft for draft in group if not draft.answer]
        found = [(one, mark) for one in open_ones if (mark := _JUDGED_BELOW.search(one.stem)) is not None]
        judged = len(found) + len(group) - len(open_ones)
        if not found or judged < max(_LEAST_JUDGED, _MOST_JUDGED * len(group)):
            continue
        for draft, mark in found:
            truth, remark = read_judgement(draft.stem[mark.start(1) :])
            if truth is not None:
                draft.answer, draft.stem = [truth], draft.stem[: mark.start()].rstrip()
                draft.explanation = draft.explanation or remark
                draft.notes.append("answer_without_mark")


_LETTER_JUDGED = re.compile(r"[（(]\s*(?P<key>[AB])\s*[)）]\s*[.。]?\s*$")


def read_judged_letters(drafts: Sequence[Draft]) -> None:
    """Read `(A)` and `(B)` at the end of all statements of a section as true and false."""
    for group in by_section(drafts, lambda draft: draft.question_type == "true_false" and not draft.options):
        found = [_LETTER_JUDGED.search(draft.stem) for draft in group if not draft.answer]
        keys = {key["key"] for key in found if key is not None}
        if None in found or len(found) < _LEAST_LETTERED or len(keys) < len(("A", "B")):
            continue
        for draft in group:
            if (key := _LETTER_JUDGED.search(draft.stem)) is not None and not draft.answer:
                draft.answer = ["true" if key["key"] == "A" else "false"]
                draft.stem = f"{draft.stem[: key.start('key')]}{draft.stem[key.end('key') :]}"


# `… VRAI   FAUX`, `… True / False`: to choose from, behind a statement
_JUDGING = rf"(?:[√×✓✗✔✘]\s*)?(?:{truth_word()}|[TFVRJN])"
_BOTH_WORDS = re.compile(
    rf"(?<!\s)\s*+[（(\[]?\s*+(?P<one>{_JUDGING})(?:\s*+[/|,，、]\s*+|\s++)(?P<other>{_JUDGING})\s*+[)）\]]?\s*$"
)


_LONGEST_PAIR = 48


def cut_both_judgements(drafts: Sequence[Draft]) -> None:
    """Cut the two words to choose from behind the statements of a section, where most have them."""
    for group in by_section(drafts, lambda draft: draft.question_type == "true_false" and not draft.options):
        found = [
            (draft, mark)
            for draft in group
            if (mark := _BOTH_WORDS.search(draft.stem, max(len(draft.stem) - _LONGEST_PAIR, 0))) is not None
        ]
        if len(found) < max(_LEAST_JUDGED, _MOST_JUDGED * len(group)):
            continue
        for draft, mark in found:
            if mark.start() and read_truth(mark["one"][-1:]) != read_truth(mark["other"][-1:]):
                draft.stem = draft.stem[: mark.start()]


# `Cleaning`, `food poisoning`: what stands in the place of a word
_CORRECTION = re.compile(r"(?!\W*(?:略|没|不))[^\W\d_]{2,20}(?: [^\W\d_]{2,20}){0,2}")


def read_corrections(drafts: Sequence[Draft]) -> None:
    """Read a word as what corrects a false statement, where all others are called true."""
    for group in by_section(drafts, lambda draft: draft.question_type == "true_false" and not draft.options):
        corrected = [draft for draft in group if not draft.answer and "answer_unreadable" in draft.notes]
        others = [answer for draft in group for answer in draft.answer]
        if min(len(corrected), len(others)) < _LEAST_JUDGED or {*others} != {"true"}:
            continue
        if not all(_CORRECTION.fullmatch(draft.explanation or "") for draft in corrected):
            continue
        for draft in corrected:
            draft.answer = ["false"]
            draft.notes.remove("answer_unreadable")


_RING = re.compile(r"[Oo○〇◯]")


def read_rings(drafts: Sequence[Draft]) -> None:
    """Read `O` as true where `X` judges another statement of the section."""
    for group in by_section(drafts, lambda draft: not draft.options and bool(draft.answer)):
        if any(draft.question_type == "true_false" and draft.answer == ["false"] for draft in group):
            for draft in group:
                is_ring = len(draft.answer) == 1 and _RING.fullmatch(draft.answer[0].strip()) is not None
                is_place = draft.question_type == "true_false" or CLOSES_EMPTY.search(draft.stem) is not None
                if is_ring and is_place:
                    draft.question_type, draft.answer = "true_false", ["true"]
