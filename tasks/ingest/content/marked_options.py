"""Keys that a paper shows by marking options.

The mark is a sign of any kind, or bold, colour, underline or highlight.

What marks some options and not all, once in most questions, is the key, whatever it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from tasks.ingest.content.drafts import Draft
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.emphasis import KINDS
from tasks.ingest.readers.extraction import Line

# How few questions can show that the paper means its emphasis as keys, and how many of all must have it.
MIN_QUESTIONS = 3
MIN_SHARE = 0.7
_FULL, _NONE = 0.7, 0.1


# a sign before or after an option's text, in a bracket or bare; what ends sentences and formulas is none
_BEHIND = re.compile(
    r"\s*([（(\[【<]\s*[^（()）\[\]【】<>]{1,16}?\s*[)）\]】>]|[^\w\s。.，,;；、:：?？!！()（）\[\]【】{}'\"“”‘’<>%°+/\-=…~\u0300-\u036f]++\ufe0f?)\s*$"
)
_BEFORE = re.compile(
    r"\s*([^\w\s。.，,;；、:：?？!！()（）\[\]【】{}'\"“”‘’<>%°+/\-=…~$¥€£&@\\|∀-⋿]++\ufe0f?)\s*(?=\S)"
)


def take_signs(drafts: Sequence[Draft]) -> None:
    """Give choice questions without a key the options that a sign marks, and take the sign away.

    `4 GB ✅`, `* a mill`, `a ship (correct)`: it counts where most open questions have it, on some options and not all.
    """
    asked = [
        draft
        for draft in drafts
        if draft.question_type == "multiple_choice" and draft.options and not draft.answer
    ]
    for pattern in (_BEHIND, _BEFORE):
        held: dict[str, list[list[str]]] = {}
        for place, draft in enumerate(asked):
            for label, text in draft.options:
                sign = pattern.search(text) if pattern is _BEHIND else pattern.match(text)
                if sign is not None:
                    name = sign.group(1).strip().casefold()
                    held.setdefault(name, [[] for _ in asked])[place].append(label)
        for name, chosen in held.items():
            if sum(1 for labels in chosen if labels) < 0.3 * len(asked) or not take_choices(asked, chosen):
                continue
            for draft in asked:
                draft.options = [(label, _cut_sign(text, pattern, name)) for label, text in draft.options]
            return


def _cut_sign(text: str, pattern: re.Pattern[str], name: str) -> str:
    sign = pattern.search(text) if pattern is _BEHIND else pattern.match(text)
    if sign is None or sign.group(1).strip().casefold() != name:
        return text
    return (text[: sign.start()] + text[sign.end() :]).strip()


def take_format_keys(drafts: Sequence[Draft], lines: Sequence[Line], starts: Sequence[int]) -> None:
    """Give choice questions without a key the options that stand out.

    That is done where the whole paper does so. One way of standing out counts where at least three questions, and seven
    in ten of those without a key, have some options in it entirely and the others not at all, where it agrees with the
    keys that are printed, and where it does not always fall on the same letter. The question gets the note
    `key_by_format`.
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for line, start in zip(lines, starts, strict=True):
        for first, last, kind in line.emphasis:
            spans.setdefault(kind, []).append((start + first, start + last))
    asked = [draft for draft in drafts if draft.question_type == "multiple_choice" and draft.option_pieces]
    is_open = sum(1 for draft in asked if not draft.answer) >= MIN_QUESTIONS
    if not spans or not is_open:
        return  # too few questions lack a key
    spans["any"] = [span for kind in spans for span in spans[kind]]
    letters = [
        [
            (label, [place for piece in pieces for place in _list_letters(piece)])
            for label, pieces in draft.option_pieces
        ]
        for draft in asked
    ]
    for kind in (*KINDS, "any"):
        if kind in spans and take_choices(asked, _read_choices(letters, sorted(spans[kind]))):
            return


def take_choices(drafts: Sequence[Draft], chosen: Sequence[Sequence[str] | None]) -> bool:
    """Give the questions without a key the options that stand out; return whether it was done.

    It is done only where they stand out consistently. `chosen` are the labels of every question that stand out, None
    where only parts of options do.
    """
    pairs = [
        (draft, None if labels is None or len(labels) == len(draft.options) else list(labels))
        for draft, labels in zip(drafts, chosen, strict=True)
        if draft.question_type == "multiple_choice" and draft.options
    ]
    if not _is_consistent(pairs):
        return False
    for draft, labels in pairs:
        if labels and not draft.answer:
            draft.answer = sorted(labels)
            draft.notes.append("key_by_format")
    return True


def _read_choices(
    asked: Sequence[Sequence[tuple[str, Sequence[int]]]], spans: Sequence[tuple[int, int]]
) -> list[list[str] | None]:
    """The options of every question that stand out entirely.

    `asked` tells where the letters of each option stand. [] where none stands out, None where it is no choice.
    """
    firsts = [first for first, _ in spans]
    reach: list[int] = []
    for _, last in spans:
        reach.append(max(last, reach[-1]) if reach else last)

    def share_out(places: Sequence[int]) -> float:
        if not places or max(places) < firsts[0] or min(places) >= reach[-1]:
            return 0.0
        found = 0
        for place in places:
            at = bisect_right(firsts, place) - 1
            found += at >= 0 and place < reach[at]
        return found / len(places)

    choices: list[list[str] | None] = []
    for options in asked:
        shares = [(label, share_out(places)) for label, places in options]
        labels = [label for label, share in shares if share >= _FULL]
        is_clear = all(share >= _FULL or share <= _NONE for _, share in shares)
        choices.append(labels if is_clear and len(labels) < len(shares) else None)
    return choices


def _list_letters(piece: Piece) -> list[int]:
    """Where the letters and digits of a line stand in the raw text."""
    pairs = zip(piece.text, piece.sources, strict=False)
    return [source for character, source in pairs if character.isalnum()]


def _is_consistent(pairs: Sequence[tuple[Draft, list[str] | None]]) -> bool:
    open_pairs = [(draft, labels) for draft, labels in pairs if not draft.answer]
    told = [(draft, labels) for draft, labels in open_pairs if labels]
    if len(told) < MIN_QUESTIONS or len(told) < MIN_SHARE * len(open_pairs):
        return False
    single = [
        labels for draft, labels in told if draft.fine is not None and draft.fine.name == "single_choice"
    ]
    if sum(1 for labels in single if len(labels) > 1) > 0.1 * len(single):
        return False
    if len(told) > MIN_QUESTIONS and len({tuple(labels) for _, labels in told}) == 1:
        return False
    printed = [(draft, labels) for draft, labels in pairs if draft.answer and labels]
    differing = sum(1 for draft, labels in printed if draft.answer != labels)
    return differing <= 0.1 * max(len(printed), len(told))
