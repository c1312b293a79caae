"""What is printed around a question: its type, its marks, the remarks of a form."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.extraction import IMAGE, PICTURE_MARK
from tasks.ingest.words.answers import read_key, read_truth
from tasks.ingest.words.lexicon import FineType, match_exactly
from tasks.ingest.words.points import (
    BRACKETED,
    CLOSING,
    LEADING,
    NUMBER,
    POINT,
    POINTS,
    ROOM,
    TOTAL,
    read_points,
)

_PART_MARKS = re.compile(rf"{BRACKETED}|(?:[.?!:)\]]|\s{{2}}|\n)\s*\[\d{{1,2}}(?:\s*\+\s*\d{{1,2}})*\]")
_DIGIT = re.compile(r"\d")
_MARGIN = re.compile(r"(?<=[.?!)])(?:\s{3,}|\t\s*)(\d{1,2})\s*$")
_IN_MARGIN = re.compile(r"(?<=\S)(?:\s{3,}|\t\s*)\d{1,2}\s*$")
_BARE_MARKS_TAIL = re.compile(
    rf"(?<=[.?!…:)\]。？！])(?<!\d:)\s*(?:(?:[-–—/／]\s*)?{POINTS}|{ROOM}|\[\d{{1,2}}\])\s*$"
)
_GROUP = re.compile(r"\s*[（(\[【［]\s*([^（(\[【［）)\]】］\n]{1,24}?)\s*[)）\]】］]\s*[*＊]?\s*")
_TAIL_GROUP = re.compile(r"\s*[（(\[【]\s*([^（(\[【）)\]】\n]{1,24})\s*[)）\]】]\s*[*＊]?\s*$")
# `多选题 (10 分) 10分` after a stem, as platforms print it
_TAIL_NAME = re.compile(
    rf"(?:^|(?<=[？?。.！!）)\s]))\s*([\u4e00-\u9fff]{{2,6}}题)\s*({BRACKETED})(?:\s*{POINTS})?\s*$"
)
_PICTURES = re.compile(rf"(?:\s*{PICTURE_MARK.pattern})+\s*$")
_PART = re.compile(r"[\s,，、;；|/]+")
_WORTH = re.compile(LEADING)


@dataclass(frozen=True)
class Tag:
    """What a bracket beside a question says of it: `(单选题, 1分)`, `[多选]`, `（5分）`."""

    fine: FineType | None
    marks: float | None


def read_tag(inner: str) -> Tag | None:
    """Read what stands in a bracket as a type, as marks or both; None for anything else."""
    inner = inner.strip()
    fine = match_exactly(inner)
    if fine is not None or _WORTH.fullmatch(inner) is not None:
        return Tag(fine, read_points(inner) if fine is None else None)
    marks: float | None = None
    for part in _PART.split(re.sub(r"(?<=\d)\s+(?=[^\d\s])", "", inner)):
        worth = _WORTH.fullmatch(part)
        named = None if worth is not None else match_exactly(part)
        if worth is None and named is None:
            return None
        marks = read_points(part) if worth is not None else marks
        fine = named or fine
    return Tag(fine, marks)


def cut_tags(text: str) -> tuple[str, Tag]:
    """Return a question without the types and marks printed around it, and what they say."""
    fine: FineType | None = None
    marks: float | None = None
    while (opening := _GROUP.match(text)) is not None and opening.end() < len(text):
        tag = read_tag(opening.group(1))
        if tag is None:
            break
        fine, marks, text = fine or tag.fine, tag.marks if marks is None else marks, text[opening.end() :]
    kept, tag = cut_tail_tag(text)
    return kept, Tag(fine or tag.fine, tag.marks if marks is None else marks)


def cut_tail_tag(text: str) -> tuple[str, Tag]:
    """Return a stem without the type that is printed after it, in a bracket or with its marks."""
    named = _TAIL_NAME.search(text) if text.rstrip()[-1:] in "分)）" and "题" in text[-40:] else None
    fine = match_exactly(named.group(1)) if named is not None else None
    if named is not None and fine is not None and named.start() > 0:
        return text[: named.start()].rstrip(), Tag(fine, read_points(named[2]))
    closing = _TAIL_GROUP.search(text[-40:]) if text.rstrip()[-1:] in "】])）*＊" else None
    tag = read_tag(closing.group(1)) if closing is not None else None
    start = len(text) - len(text[-40:]) + closing.start() if closing is not None else 0
    if tag is not None and tag.fine is None and start:
        kept, before = cut_tail_tag(text[:start].rstrip())  # `… [单选题] (5分)`
        return (kept, Tag(before.fine, tag.marks)) if before.fine is not None else (text, Tag(None, None))
    if tag is None or tag.fine is None or start == 0:
        return text, Tag(None, None)
    return text[:start].rstrip(), tag


def take_tags(pieces: list[Piece], draft: Draft) -> list[Piece]:
    """Read `【单选题】`, `(多选)` and `（10分）` at the start of a question."""
    while len(pieces) > 1 and (outcome := _OUTCOME.fullmatch(pieces[0].text)):
        total = outcome.group("marks")
        draft.marks = read_points(total) if total and draft.marks is None else draft.marks
        pieces = pieces[1:]
    while len(pieces) > 1 and (tag := _read_tag_line(pieces[0].text)) is not None:
        draft.fine = tag.fine or draft.fine
        draft.marks = tag.marks if draft.marks is None else draft.marks
        pieces = pieces[1:]
    for _ in range(3):
        first = pieces[0]
        if first.text.lstrip()[:1] not in _TAG_STARTS:
            break
        opening = _GROUP.match(first.text)
        tag = read_tag(opening[1]) if opening is not None else None
        if opening is None or tag is None or (len(pieces) == 1 and opening.end() == len(first.text)):
            break
        draft.fine = tag.fine or draft.fine  # `(单选题, 1.5 分)`
        draft.marks = tag.marks if draft.marks is None else draft.marks
        rest = first.cut(opening.end())
        if tag.fine is None and rest.text[:1] in _AFTER_MARKS:
            rest = rest.cut(len(rest.text) - len(rest.text[1:].lstrip()))
        pieces = [rest, *pieces[1:]] if rest.text.strip() else pieces[1:]
    # `… [单选题]` after the stem, as survey programs print it
    kept, closing = cut_tail_tag(pieces[0].text)
    if closing.fine is not None and kept.strip():
        draft.fine = draft.fine or closing.fine
        draft.marks = draft.marks if draft.marks is not None else closing.marks
        pieces[0] = pieces[0].cut(0, len(kept))
    return pieces


def _read_tag_line(text: str) -> Tag | None:
    """What a line says that holds nothing but marks, with a type or none: `单选(2分)`, `1 pts`."""
    # a type alone may be the title of what is asked: `3. 计算`
    return read_tag(_BRACKETS.sub(" ", text)) if len(text) <= _LONGEST_TAG and _DIGIT.search(text) else None


_BRACKETS, _LONGEST_TAG = re.compile(r"[（()）\[\]【】]"), 24
# `CLO: <2>; Bloom Taxonomy Level: <Applying>   Marks: 9`, `[3+5=8]`, `[4, 6]`: what a form says of a question
_OUTCOME = re.compile(
    r"\s*(?:(?:C\.?L\.?O|P\.?L\.?O|CO|LO|SO|BL|BT|Bloom['’]?s?(?:\s+Taxonomy)?(?:\s+Level)?|Difficulty|Topic|Time)\b\s*[-:：#]+\s*[<(\[]?[\w ,&/+-]{1,24}[>)\]]?\s*[:;,.|]*\s*|"
    rf"(?:{TOTAL}\s*)?{POINT}\s*[-:：=]\s*\[?(?P<marks>{NUMBER})\]?\s*[;,.]?\s*|"
    r"[\[(]\s*\d{1,2}(?:\s*\+\s*\d{1,2})*\s*=\s*\d{1,3}\s*[\])]\s*|\[\d{1,3}(?:\s*,\s*\d{1,3})*\]\s*)+",
    re.IGNORECASE,
)
_TAG_STARTS = frozenset("（([【［")
_AFTER_MARKS = (":", "：", ".")


def take_margin_marks(body: list[Piece], draft: Draft) -> list[Piece]:
    """Take `… of the Otto cycle.      10`: marks in the right margin, after a wide gap."""
    if not body or draft.options or not body[-1].text.rstrip()[-1:].isdecimal():
        return body
    if sum(1 for piece in body if _IN_MARGIN.search(piece.text)) != 1:
        return body
    tail = _MARGIN.search(body[-1].text)
    if tail is None:
        return body
    draft.marks = draft.marks if draft.marks is not None else float(tail.group(1))
    return [*body[:-1], body[-1].cut(0, tail.start())]


def take_marks(draft: Draft) -> None:
    """Take the type and the marks at the end of a stem, `多选题 (10 分)`, `（10分）` or `5 pts`."""
    shown = _PICTURES.search(draft.stem) if IMAGE in draft.stem else None
    pictures = shown.group(0) if shown is not None else ""
    kept, tag = cut_tail_tag(draft.stem[: len(draft.stem) - len(pictures)])
    draft.stem = kept + pictures
    draft.fine = tag.fine or draft.fine
    draft.marks = tag.marks if draft.marks is None else draft.marks
    last = draft.stem.rstrip()[-1:]
    if _DIGIT.search(draft.stem[-_LONGEST_TAIL:]) is None:
        return
    if len(_PART_MARKS.findall(draft.stem)) > 1:
        _take_first_marks(draft)
        return  # marks of the parts stay where they are
    tail = CLOSING.search(draft.stem) if last in ")）]】］" else None
    tail = tail or _BARE_MARKS_TAIL.search(draft.stem)
    if tail and tail.start() > 0:
        draft.marks = draft.marks if draft.marks is not None else read_points(tail[0])
        draft.stem = draft.stem[: tail.start()].rstrip()


_OF_PART = re.compile(r"\s*[（(]?(?:\d{1,2}|[a-z]|[ivx]{1,4})[)）]")


def _take_first_marks(draft: Draft) -> None:
    """Take what a question with parts is worth from its first line, `阅读材料，回答问题。（20分）`."""
    first, _, rest = draft.stem.partition("\n")
    tail = CLOSING.search(first)
    worth = read_points(tail[0]) if tail is not None and _OF_PART.match(first) is None else None
    parts = [
        read_points(one[0]) or 0.0 for line in rest.split("\n") if (one := CLOSING.search(line)) is not None
    ]
    if tail is not None and tail.start() > 0 and worth is not None and len(parts) > 1 and worth >= sum(parts):
        draft.marks = draft.marks if draft.marks is not None else worth
        draft.stem = f"{first[: tail.start()].rstrip()}\n{rest}"


# `（难度系数C）`, `[CO2, L3]`, `-8M`: a bracket, or a number with a unit behind a dash, at the end of a question
_FORM_TAIL = re.compile(
    r"(?:\s*[（(\[【]\s*(?P<held>[^（(\[【）)\]】\n_]{2,40}?)\s*[)）\]】]|\s*(?<=\s)[-–—]\s?(?P<worth>\d{1,3}\s?[A-Za-z]{1,6}))\s*$"
)
# `(V / F)`, `Vrai / Faux`: two words or letters of which one is to be marked
_OFFERED_TAIL = re.compile(
    r"(?:(?<=[.?!…。？！)）])\s*+|(?<!\s)\s++)(?:[（(\[]\s*+)?(?P<one>[^\W\d_]{1,12})\s*+[/／|]\s*+(?P<other>[^\W\d_]{1,12})\s*+(?:[)）\]]\s*+)?(?:[（(][^()（）\d]{3,24}[)）]\s*)?$"
)
_VARYING = re.compile(r"\d+(?:\.\d+)?|(?<![A-Za-z0-9])[A-Z](?![A-Za-z0-9])")
_LEAST_TAILS, _LEAST_SHARE, _LEAST_OF_ALL = 4, 0.5, 3


def take_form_tails(drafts: Sequence[Draft]) -> None:
    """Take what most questions of a section end with, its numbers or letters varying, if no key."""
    _take_required(drafts)
    _take_boxes(drafts)
    _take_offered_truths(drafts)
    _take_form_words(drafts)
    _take_bare_worth(drafts)
    tails: dict[tuple[int, str], list[tuple[Draft, re.Match[str]]]] = defaultdict(list)
    counts = Counter(draft.section for draft in drafts)
    for draft in drafts:
        tail = _FORM_TAIL.search(draft.stem[-_LONGEST_TAIL:])
        said = (tail["held"] or tail["worth"]) if tail is not None else ""
        shape = _VARYING.sub("0", said)
        if tail is not None and shape.strip(" 0,.") and read_key(said) is None and read_truth(said) is None:
            tails[draft.section, shape].append((draft, tail))
    for (section, _), found in tails.items():
        varies = len({tail[0].strip() for _, tail in found}) > 1
        is_usual = len(found) >= max(_LEAST_TAILS, _LEAST_SHARE * counts[section])
        if varies and (is_usual or len(found) == max(_LEAST_OF_ALL, counts[section])):
            _cut_tails(found)


# `… mean? *`, `… mean? * 1 point`: what must be answered, as forms print it
_REQUIRED = re.compile(
    r"(?<=[^\d\s*＊])\s*[*＊]\s*(?:[（(]?\s*(?P<worth>\d{1,3}(?:[.,]\d)?\s*[^\W\d_]{1,8}\.?)\s*[)）]?)?\s*$"
)
# `int *`
_POINTER = re.compile(r"\b(?:int|char|void|float|double|long|short|bool|const|unsigned)\s*[*＊]")


def _take_required(drafts: Sequence[Draft]) -> None:
    """Take the star of a form, and the points behind it, where most questions have it."""
    found = [(draft, tail) for draft in drafts if (tail := _REQUIRED.search(draft.stem)) is not None]
    if any(_POINTER.search(draft.stem) for draft, _ in found):
        return
    if len(found) >= max(_LEAST_OF_ALL, _LEAST_SHARE * len(drafts)):
        _cut_tails(found)


_BOX = re.compile(r"\s[☐□▢▯]\s*$")


def _take_boxes(drafts: Sequence[Draft]) -> None:
    """Take the empty box behind the stems of choices, where most of a section have one."""
    counts = Counter(draft.section for draft in drafts)
    for (section,), found in _list_tails([draft for draft in drafts if draft.options], _BOX).items():
        if len(found) >= max(_LEAST_OF_ALL, _LEAST_SHARE * counts[section]):
            _cut_tails(found)


def _take_offered_truths(drafts: Sequence[Draft]) -> None:
    """Take `(V / F)`, `Vrai / Faux` from stems where all of a section end so, and it judges."""
    free = [draft for draft in drafts if not draft.options]
    for (section, one, other), found in _list_tails(free, _OFFERED_TAIL).items():
        group = [draft for draft in free if draft.section == section]
        judges = {read_truth(one), read_truth(other)} == {"true", "false"}
        is_typed = all(draft.question_type == "true_false" for draft in group)
        least = _MOST_OFFERED * len(group) if judges else len(group) if is_typed else len(drafts) + 1
        if len(found) >= max(_LEAST_OF_ALL, least):
            for draft, _ in found:
                draft.question_type = "true_false"
                draft.fine = draft.fine or match_exactly("true_false")
            _cut_tails(found)


def _list_tails(
    drafts: Sequence[Draft], pattern: re.Pattern[str]
) -> dict[tuple[Any, ...], list[tuple[Draft, re.Match[str]]]]:
    """What stems end with, by section and by the groups of the pattern."""
    found: dict[tuple[Any, ...], list[tuple[Draft, re.Match[str]]]] = defaultdict(list)
    for draft in drafts:
        tail = pattern.search(draft.stem[-_LONGEST_TAIL:])
        if tail is not None and tail.start() > 0:
            found[draft.section, *tail.groups()].append((draft, tail))
    return found


_WORD_TAIL = re.compile(r"(?<=[.?!。？！)）])\s*(?P<name>[^\W\d_][^.?!:：\n]{0,23})[:：][\s_]*$")


def _take_form_words(drafts: Sequence[Draft]) -> None:
    """Take `Correction: ____` from the stems of a section all of which end so."""
    asked = [draft for draft in drafts if not draft.options and draft.question_type != "fill_in_the_blank"]
    for (section, _), found in _list_tails(asked, _WORD_TAIL).items():
        if len(found) == max(_LEAST_OF_ALL, sum(1 for one in drafts if one.section == section)):
            _cut_tails(found)


# `… recognises L. (10)`: a number in brackets closes a line of every question, as no equation's does
_BARE_WORTH = re.compile(r"(?<=[\s.?!。？！)）])[^\S\n]*[（(\[]\s*(\d{1,3})\s*[)）\]]\s*(?=\n|$)")


def _take_bare_worth(drafts: Sequence[Draft]) -> None:
    """Take the number in brackets that closes one line of every question and counts nothing."""
    found = [[*_BARE_WORTH.finditer(draft.stem)] for draft in drafts]
    values = [int(own[0][1]) for own in found if len(own) == 1]
    if (
        len(values) < max(_LEAST_OF_ALL, len(drafts))
        or any(draft.options or draft.marks is not None for draft in drafts)
        or min(values) < _LEAST_WORTH
    ):
        return
    for draft, (tail,) in zip(drafts, found, strict=True):
        draft.stem = f"{draft.stem[: tail.start()].rstrip()}\n{draft.stem[tail.end() :].lstrip()}".strip()
        draft.marks = float(tail[1])


_LEAST_WORTH = 2
_LONGEST_TAIL, _MOST_OFFERED = 56, 0.7


def _cut_tails(found: Sequence[tuple[Draft, re.Match[str]]]) -> None:
    for draft, tail in found:
        kept = draft.stem[: len(draft.stem) - (len(tail.string) - tail.start())].rstrip()
        if not kept:
            continue
        draft.stem = kept
        said = tail.groupdict()
        worth = said.get("held") or said.get("worth") or ""
        if draft.marks is None and _WORTH.fullmatch(worth):
            draft.marks = read_points(worth)
