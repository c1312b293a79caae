"""Answers that stand in the blanks and brackets of the questions, through a whole paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.free_answers import BLANK_NUMBER
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.layout.sections import Section
from tasks.ingest.words.answers import read_truth
from tasks.ingest.words.cleaning import clean_text
from tasks.ingest.words.labels import Label
from tasks.questions import has_blank

_FILLED = re.compile(r"_{2,}([^_\n]{1,40})_{2,}")


_BETWEEN_BLANKS = re.compile(
    r"\s*(?:[和与及或、，,;；：:的是在为]|and\b|or\b|to\b|of\b|the\b|is\b|[.。])|.*[，。；,;]\s*$|\s*$"
)


def read_filled(drafts: Sequence[Draft], language: str | None) -> None:
    """Read answers written on the lines to fill in, where a whole section does so.

    They look like `a stream of ____tokens____`. One question tells nothing: `____ differs from ____` looks the same.
    """
    groups: dict[int, list[Draft]] = {}
    for draft in drafts:
        if draft.question_type == "fill_in_the_blank":
            groups.setdefault(draft.section, []).append(draft)
    for group in groups.values():
        open_ones = [draft for draft in group if not draft.answer and "__" in draft.stem]
        if not open_ones or (len(open_ones) < 2 and not any(draft.answer for draft in group)):
            continue
        found = [_FILLED.findall(draft.stem) for draft in open_ones]
        runs = [len(re.findall(r"_+", draft.stem)) for draft in open_ones]
        if any(count != 2 * len(texts) for count, texts in zip(runs, found, strict=True)):
            continue
        if any(
            _BETWEEN_BLANKS.match(text) or BLANK_NUMBER.fullmatch(text) for texts in found for text in texts
        ):
            continue
        for draft, texts in zip(open_ones, found, strict=True):
            draft.answer = [text.strip() for text in texts]
            draft.stem = clean_text(_FILLED.sub("____", draft.stem), language)
            draft.notes.append("answer_without_mark")


_EMPTY_LEAD = re.compile(r"[（(]\s*[)）]\s*(?=\S)")
_BEFORE_LETTER = re.compile(r"\s*(?:[-–—=→>:：]+|(?i:\b(?:ans(?:wer)?|key))\s*[.:：]?)\s*$")
_TRAILING_LETTER = re.compile(r"(?<=\S)\s+([A-H])$")


def read_trailing_letters(drafts: Sequence[Draft]) -> None:
    """Read keys printed bare after the stems, where every question of a section has one.

    They look like `… level need is D`.
    """
    groups: dict[int, list[Draft]] = {}
    for draft in drafts:
        if draft.options:
            groups.setdefault(draft.section, []).append(draft)
    for group in groups.values():
        lead = [draft for draft in group if draft.answer and _EMPTY_LEAD.match(draft.stem)]
        if len(lead) >= max(3, 0.8 * len(group)):
            for draft in lead:  # `（B）How …`: the keys stand before the stems, in no blank of theirs
                draft.stem = _EMPTY_LEAD.sub("", draft.stem, count=1)
        open_ones = [draft for draft in group if not draft.answer]
        matches = [_TRAILING_LETTER.search(draft.stem) for draft in open_ones]
        letters = [match.group(1) for match in matches if match]
        if (
            len(group) < 3
            or len(letters) < len(open_ones)
            or len({*letters, *(key for draft in group for key in draft.answer)}) < 2
        ):
            continue
        for draft, match in zip(open_ones, matches, strict=True):
            if match is not None and match.group(1) in {label for label, _ in draft.options}:
                draft.answer = [match.group(1)]
                draft.stem = _BEFORE_LETTER.sub("", draft.stem[: match.start()])


_LEAST_REPEATED = 5


def drop_form_lines(drafts: Sequence[Draft]) -> None:
    """Drop the lines of a form around the stems, `Text:` above and `Options:` below, the same in most questions."""
    stems = [draft.stem.split("\n") for draft in drafts]
    for place in (0, -1):
        counts = Counter(lines[place].strip() for lines in stems if len(lines) > 1)
        for line, count in counts.most_common(2):
            is_name = 0 < len(line) <= 24 and line[-1] in ":：" and not has_blank(line)
            if not is_name or count < max(_LEAST_REPEATED, 0.3 * len(drafts)):
                continue
            for draft, lines in zip(drafts, stems, strict=True):
                if len(lines) > 1 and lines[place].strip() == line:
                    del lines[place]
                    draft.stem = "\n".join(lines).strip()


# `……的是（）。-D:a lighthouse`, `……缴纳党费。-对:`: a key after a dash, and what it says
_KEYED_TAIL = re.compile(
    r"\s*[-–—|=→>]+\s*(?:([A-J]{1,6})|(对|错|正确|错误|√|×|[Tt]rue|[Ff]alse))\s*(?:[:：.．、]\s*([^\n]*))?$"
)
_LEAST_TAILED = 0.8


def read_tails(drafts: Sequence[Draft]) -> None:
    """Read keys that follow the stems after a dash, where nearly every question of a section has one.

    Of a question without options the answer is what the key is printed to say.
    """
    groups: dict[int, list[Draft]] = {}
    for draft in drafts:
        groups.setdefault(draft.section, []).append(draft)
    for group in groups.values():
        tails = [_KEYED_TAIL.search(draft.stem) for draft in group]
        if len(group) < 3 or sum(map(bool, tails)) < _LEAST_TAILED * len(group):
            continue
        for draft, tail in zip(group, tails, strict=True):
            if tail is None or draft.answer or not draft.stem[: tail.start()].strip():
                continue
            letters, truth, said = tail.groups()
            if truth is not None:
                draft.question_type, draft.answer = "true_false", [str(read_truth(truth))]
            elif draft.options or said:
                draft.answer = sorted(letters) if draft.options else [said.strip()]
            else:
                continue
            draft.stem = draft.stem[: tail.start()].rstrip()


_ASKS = re.compile(
    r"(?:请?(?:简述|简要|试述|论述|说明|解释|阐述|列举|列出|叙述|比较|写出)|什么是|(?:briefly\s+)?(?:explain|describe|define|list|state|discuss)\b)",
    re.IGNORECASE,
)
_POINTS_ON = re.compile(
    r"下列|下面|如下|以下|下图|下表|所示|[:：]\s*$|\b(?:following|below|given|figure|table|output|code|program)\b",
    re.IGNORECASE,
)
_LEAST_BELOW = 4
_ANSWERED_BELOW = ("short_answer", "term_explanation", "calculation", "essay", "fill_in_the_blank")


def read_answers_below(drafts: Sequence[Draft]) -> None:
    """Read answers printed without a mark below their questions.

    Most questions of a section of free-response questions must have one. The first line asks, and nothing below it
    does. One question tells nothing: data and code stand below questions, too.
    """
    groups: dict[int, list[Draft]] = {}
    for draft in drafts:
        if not draft.options and draft.question_type in _ANSWERED_BELOW:
            groups.setdefault(draft.section, []).append(draft)
    for group in groups.values():
        if len(group) < _LEAST_BELOW or any(draft.answer for draft in group):
            continue
        shaped = [draft for draft in group if _is_answered_below(draft.stem)]
        followed = sum(1 for draft in group if "\n" in draft.stem)  # some may be left unanswered
        if len(shaped) < max(_LEAST_BELOW, 0.75 * followed, 0.5 * len(group)):
            continue
        for draft in shaped:
            draft.stem, _, answer = draft.stem.partition("\n")
            draft.answer = [answer.strip()]
            draft.notes.append("answer_without_mark")


def _is_answered_below(stem: str) -> bool:
    first, _, below = stem.partition("\n")
    asks = first.rstrip().endswith(("？", "?")) or _ASKS.match(first) is not None
    asks = asks or (has_blank(first) and len(below) < 60)
    return (
        asks
        and bool(below.strip())
        and _POINTS_ON.search(first) is None
        and "？" not in below
        and "?" not in below
        and not any(_ASKS.match(line.lstrip("（(0123456789)）.、 ")) for line in below.split("\n"))
    )


# one pattern for all numbers: a pattern of its own for each would be compiled for every question
_OWN_NUMBER = re.compile(r"(\d+)\s*[.．、]\s*(?=\D)")
_NUMBER = re.compile(r"(\d+)\s*[.．、]")


def cut_own_number(draft: Draft) -> None:
    """Drop the question's own number before its answer: `答案：1.就绪，执行` below question 1."""
    if not draft.answer or draft.value is None or draft.question_type != "fill_in_the_blank":
        return
    own = _OWN_NUMBER.match(draft.answer[0])
    if own is None or own.group(1) != str(draft.value):
        return
    others = (_NUMBER.match(text) for text in draft.answer[1:])
    if not any(other is not None and other.group(1) == str(draft.value + 1) for other in others):
        draft.answer[0] = draft.answer[0][own.end() :]


_ANSWER_PLACE = re.compile(r"[（(]\s*[A-J√×✓✗TF对错\s、,，]{0,12}[)）]")


_OFFERED = re.compile(r"\A(?>[\s\S]*?[（(]\s*A\s*[)）])[\s\S]*[（(]\s*B\s*[)）]")


_JUDGED = re.compile(r"[（(]\s*(?:√|×|✓|✗|T|F|对|错)\s*[)）]\s*[^A-J(（]")


_KEYED = re.compile(r"[（(]\s*(?:[A-J]{1,6}|√|×|✓|✗|T|F|对|错)\s*[)）]\s*[^A-J(（]")


def _is_lone_key(text: str) -> bool:
    """Whether a line is one to six letters from A to J and nothing else."""
    return 0 < len(text) <= 6 and not text.strip("ABCDEFGHIJ")


def prints_answers(chunks: Sequence[list[Piece]]) -> bool:
    """Whether this paper prints answers with its questions.

    They are keys in brackets, bare letters, √ and ×.
    """
    answered = asked = 0
    for lines in chunks:
        text = "\n".join(line.text for line in lines)
        is_keyed = False
        if "(" in text or "（" in text:
            asked += _ANSWER_PLACE.search(text) is not None
            keyed = _JUDGED if _OFFERED.search(text) else _KEYED
            is_keyed = keyed.search(text + " \n") is not None
        if is_keyed or any(_is_lone_key(line.text.strip()) for line in lines[1:]):
            answered += 1
    return answered >= 3 and answered >= 0.5 * max(asked, 1) and answered >= 0.2 * len(chunks)


def find_filled(chunks: Sequence[tuple[int, Section, Label | None, list[Piece], str | None]]) -> set[int]:
    """Return the fill-in sections whose blanks are filled.

    In these no question has an empty blank, and most have one like `（一年）`.
    """
    found: dict[int, list[str]] = {}
    for number, section, _, lines, _ in chunks:
        if section.fine is not None and section.fine.question_type == "fill_in_the_blank":
            found.setdefault(number, []).append(join_pieces(lines))
    return {
        number
        for number, texts in found.items()
        if not any(has_blank(text) for text in texts)
        and sum(1 for text in texts if re.search(r"（[^（()）]{1,40}）|_[^_\s]{1,30}_", text))
        >= max(2, 0.6 * len(texts))
    }
