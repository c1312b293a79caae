"""Statements judged in three ways, `TRUE`, `FALSE` or `NOT GIVEN`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.words.answers import read_truth
from tasks.ingest.words.grammar import third_word, truth_word
from tasks.questions import has_blank

# The three words as instructions have them, the third, which is rare, as the last, with what each means between them.
_BETWEEN = re.compile(r"[^\n]{0,90}\n?[^\n]{0,12}")
_JUDGING_WORD = re.compile(rf"(?<![^\W_]){truth_word()}(?![^\W_\u3400-\u9fff])")
_THIRD_WORD = re.compile(third_word())
_THIRD = re.compile(rf"\s*{third_word()}\s*[.。]?\s*")
_RANGE = re.compile(r"(\d{1,3})\s*(?:[-–—~～至到]|to|bis|au?|al)\s*(\d{1,3})")
_LEAST_JUDGED = 2


def offer_three_judgements(drafts: Sequence[Draft]) -> None:
    """Let statements offer the three judgements that instructions name or answers give."""
    for section in {draft.section for draft in drafts}:
        stated = [
            draft
            for draft in drafts
            if draft.section == section and not draft.options and not has_blank(draft.stem)
        ]
        judged = [draft for draft in stated if _judge(draft) is not None]
        thirds = [draft.answer[0] for draft in judged if _judge(draft) == "third"]
        for draft in stated:
            words = _find_words(draft) if _judge(draft) is not None or not draft.answer else None
            if words is None and thirds and draft in judged and len(judged) > _LEAST_JUDGED:
                words = ["True", "False", thirds[0].strip(" .。")]
            if words is not None:
                _offer(draft, words)


def _judge(draft: Draft) -> str | None:
    """The judgement that answers a question: `true`, `false` or `third`; None for others."""
    if len(draft.answer) != 1 or draft.question_type == "multiple_choice":
        return None
    return "third" if _THIRD.fullmatch(draft.answer[0]) else read_truth(draft.answer[0])


def _find_words(draft: Draft) -> list[str] | None:
    """The three words that the instructions above a question name; None for none."""
    text = draft.material or ""
    for third in _THIRD_WORD.finditer(text):
        judging: dict[str | None, re.Match[str]] = {}
        for word in _JUDGING_WORD.finditer(text, max(third.start() - _REACH, 0), third.start()):
            judging.setdefault(read_truth(word[0]), word)
        said = [*judging.values(), third]
        between = [text[one.end() : other.start()] for one, other in pairwise(said)]
        if len(said) < 3 or not all(map(_BETWEEN.fullmatch, between)):
            continue
        ranges = list(_RANGE.finditer(text, max(said[0].start() - _REACH, 0), third.end() + _REACH))
        own = [(int(one[1]), int(one[2])) for one in ranges]
        above = [pair for pair, one in zip(own, ranges, strict=True) if one.start() < said[0].start()]
        first, last = (above or own or [(0, 0)])[-1 if above else 0]
        if draft.value and first <= draft.value <= last:
            return [word[0] for word in said]
    return None


_REACH = 240


def _offer(draft: Draft, words: Sequence[str]) -> None:
    judged = _judge(draft)
    draft.options = list(zip("ABC", words, strict=True))
    draft.question_type = "multiple_choice"
    draft.answer = [
        label
        for label, word in draft.options
        if judged is not None and judged == (read_truth(word) or "third")
    ]
