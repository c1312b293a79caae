"""What is told without any number or letter, written in the forms that the rules know.

Questions and answers that take turns, each opened by a word of its own, and options that are only as many lines below each
question.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite
from tasks.ingest.words.grammar import answer_mark, asking
from tasks.ingest.words.labels import KNOWN_NUMBERS

_LEAD = re.compile(r"\W{0,3}([^\W\d_]{1,12})\W{0,2}[:：]\W{0,2}\s*(?=\S)")
_LEAST_TURNS = 4


def write_turns(lines: IndexedLines) -> IndexedLines:
    """Number questions that one word opens and another answers: `Q: …`, `A: …`."""
    pieces = lines.pieces
    if sum(1 for label in lines.labels if label is not None and not label.is_weak) >= _LEAST_TURNS:
        return lines
    leads = [
        (place, match[1].casefold(), match.end())
        for place, piece in enumerate(pieces)
        if piece.kind != "table" and (match := _LEAD.match(piece.text)) is not None
    ]
    turns = Counter(
        (left[1], right[1]) for left, right in pairwise(leads) if _answers(right[1]) and not _answers(left[1])
    )
    usual = turns.most_common(1)
    if not usual or usual[0][1] < _LEAST_TURNS:
        return lines
    (opens, closes), count = usual[0]
    asked = {pieces[place].text[end:] for place, word, end in leads if word == opens}
    if len(asked) < _USUAL_SHARE * count:
        return lines  # a field of questions, of few values
    changed: dict[int, Piece] = {}
    count = 0
    for place, word, end in leads:
        if word == opens:
            count += 1
            changed[place] = rewrite(pieces[place], end, f"{count}. ")
        elif word == closes:
            changed[place] = rewrite(pieces[place], end, "答案：")
    return lines.replace(changed)


def _answers(word: str) -> bool:
    return word == "a" or answer_mark().fullmatch(f"{word}:") is not None


_LEAST_COUNTED, _USUAL_SHARE = 5, 0.7
_FEWEST, _MOST, _LONGEST = 3, 6, 90
_OPENS_ANSWER = re.compile(r"\s*[【\[]?\s*\S{1,16}\s*[】\]:：]")
_OFFERS = re.compile(r"(?:[？?:：]|_{2,}|[（(]\s*[)）]|\.{3}|…)[\s.。]*$")


def write_counted(lines: IndexedLines) -> IndexedLines:
    """Letter the lines below questions where these are short, and as many below most."""
    pieces = lines.pieces
    numbered = [
        place
        for place, label in enumerate(lines.labels)
        if label is not None and not label.is_weak and label.style in KNOWN_NUMBERS
    ]
    if len(numbered) < _LEAST_COUNTED:
        return lines
    groups: list[list[int]] = []
    for first, last in pairwise([*numbered, len(pieces)]):
        group: list[int] = []
        for place in range(first + 1, last):
            if _OPENS_ANSWER.match(pieces[place].text) or pieces[place].kind == "table":
                break
            group.append(place)
        groups.append(group)
    sizes = Counter(len(group) for group in groups if _FEWEST <= len(group) <= _MOST)
    usual, count = sizes.most_common(1)[0] if sizes else (0, 0)
    if count < max(_LEAST_COUNTED, _USUAL_SHARE * len(groups)):
        return lines
    offered = [(first, group) for first, group in zip(numbered, groups, strict=True) if len(group) == usual]
    texts = [pieces[place].text for _, group in offered for place in group]
    asks = sum(1 for first, _ in offered if _OFFERS.search(pieces[first].text))
    if (
        asks < _USUAL_SHARE * len(offered)
        or any(lines.labels[place] is not None for _, group in offered for place in group)
        or any(len(text) > _LONGEST or _LETTERED.match(text) or asking().search(text) for text in texts)
    ):
        return lines
    return lines.replace(
        {
            place: rewrite(pieces[place], 0, f"{letter}. ")
            for _, group in offered
            for letter, place in zip("ABCDEF", group, strict=False)
        }
    )


_LETTERED = re.compile(r"\s*[（(\[]?[A-Ja-j]\s*[)）\].．、:：]")
