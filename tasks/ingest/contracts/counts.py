"""Contracts on how many: announced counts, ranges, the score table, runs of numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.contracts.readings import ContractCheck, Reading
from tasks.ingest.layout.announcements import Announcement, read_announcement, read_range, read_sum
from tasks.ingest.layout.numbers import last_number
from tasks.ingest.words.labels import read_number
from tasks.ingest.words.points import FULL, POINT
from tasks.questions import count_blanks

# What a paper says of all its questions stands on its first lines.
_COVER_LINES = 30


def keep_announced_count(reading: Reading, found: ContractCheck) -> None:
    """As many questions stand below a heading as it announces."""
    for at, announced in _announced(reading):
        stretch, drafts = reading.stretches[at], _below(reading, at)
        counted = (*_measures(drafts), *_measures(_until_restart(drafts)))
        found.checked = True
        if announced.is_minimum:
            holds = max(counted) >= announced.counts[0]
        else:
            holds = any(count in counted for count in announced.counts)
        if holds:
            continue
        expected = min(announced.counts, key=lambda count: abs(count - len(drafts)))
        size = max(abs(expected - len(drafts)), 1)
        if len(drafts) < expected:
            found.missing += size
        else:
            for draft in drafts[:size]:
                found.doubt(draft)
        found.breach(
            stretch.place,
            size,
            f"Section {stretch.name!r} announces {expected} questions ({announced.words[:40]}), "
            f"{len(drafts)} were found.",
            stretch.index,
        )


_LONGEST_TITLE = 120


def keep_announced_here(reading: Reading, found: ContractCheck) -> None:
    """No question holds a line that announces others: `得分  三、判断题（共 20 分，每小题 2 分）`."""
    found.checked = bool(reading.drafts)
    heads = {line for one in reading.stretches for line in (one.heading, *one.lead.split("\n"))}
    for draft in reading.drafts:
        for piece in reading.inside.get(id(draft), ()):
            text = piece.text
            announced = read_announcement(text) if len(text) < _LONGEST_TITLE and text not in heads else None
            if announced is None or announced.is_minimum or max(announced.counts) < 2:
                continue
            if _parts(draft) in announced.counts:
                continue
            found.doubt(draft)
            found.miss(
                piece.start,
                announced.counts[0],
                f"Question {draft.number_label or draft.stem[:20]!r} holds a line that announces "
                f"{announced.counts[0]} questions ({announced.words[:40]}).",
                draft.section,
            )


def keep_announced_total(reading: Reading, found: ContractCheck) -> None:
    """The paper holds as many questions as its first lines announce."""
    # a reader that takes the announcement for a question does not do away with it
    asking = (draft for draft in reading.drafts if draft.options or read_announcement(draft.stem) is None)
    first = min((draft.start for draft in asking), default=None)
    stretches = [stretch for stretch in reading.stretches if stretch.heading]
    for piece in reading.pieces[:_COVER_LINES]:
        if (first is not None and piece.start >= first) or any(piece.start >= one.place for one in stretches):
            break
        text = piece.text
        announced = read_announcement(text) if len(text) < 300 else None
        if announced is None or "大题" in announced.words or max(announced.counts) < 3:
            continue
        found.checked = True
        counted = _measures(reading.drafts)
        expected = announced.counts[0]
        sections = len(_numbered_sections(reading))
        if any(count in (*counted, sections) for count in announced.counts) or (
            announced.is_minimum and len(reading.drafts) >= expected
        ):
            continue
        size = max(abs(expected - len(reading.drafts)), 1)
        found.missing = max(found.missing, expected - len(reading.drafts))
        found.breach(
            piece.start,
            size,
            f"The paper announces {expected} questions ({announced.words[:40]}), {len(reading.drafts)} were found.",
        )


def keep_announced_range(reading: Reading, found: ContractCheck) -> None:
    """The numbers that an instruction names are those of questions."""
    values = {draft.value for draft in reading.drafts if draft.value is not None}
    highest = max((last_number(draft.number_label) for draft in reading.drafts), default=0)
    for at, stretch in enumerate(reading.stretches):
        for text in (stretch.heading, stretch.lead):
            named = read_range(text)
            if named is None or not reading.drafts:
                continue
            first, last = named
            found.checked = True
            lost = [value for value in range(first, last + 1) if value not in values and value > highest]
            if not lost or _measures(_below(reading, at))[-1] >= last - first + 1:
                continue
            found.miss(
                stretch.place,
                len(lost),
                f"Section {stretch.name!r} speaks of the questions {first} to {last}, "
                f"{len(lost)} of which were not found.",
                stretch.index,
            )


_TABLE = re.compile(r"\s*(?:题\s*[号序型次]|大\s*题)\s*(?:[|\t]|\s)\s*(?=[一1ⅠI第])")
_TABLE_NUMERAL = re.compile(
    r"第?\s*([一二三四五六七八九十]{1,3}|[ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ]|\d{1,2}|[IVX]{1,4})\s*(?:大?题)?"
)


def keep_score_table(reading: Reading, found: ContractCheck) -> None:
    """As many sections hold questions as the score table (题号 一 二 三 四 总分) has columns."""
    for piece in reading.pieces[:_COVER_LINES]:
        head = piece.text.split("\n", 1)[0]
        if len(head) > 200 or _TABLE.match(head) is None:
            continue
        cells = [cell for cell in re.split(r"[|\t]|\s+", head) if cell.strip()][1:]
        numerals = [match for cell in cells if (match := _TABLE_NUMERAL.fullmatch(cell.strip()))]
        values = [read_number(match.group(1)) for match in numerals]
        if len(values) < 2 or values != list(range(1, len(values) + 1)):
            continue
        found.checked = True
        sections = _numbered_sections(reading)
        if len(values) in (len(sections), len(reading.drafts)) or not reading.drafts:
            continue
        marks = _sum_marks(reading)
        if len(values) > len(sections) and marks and marks in (_read_full_marks(reading), *_USUAL_MARKS):
            continue  # a form with more columns than the paper needs
        lost = len(values) - len(sections)
        size = abs(lost)
        found.missing += max(lost, 0)
        found.breach(
            piece.start,
            size,
            f"The score table has {len(values)} sections, {len(sections)} with questions were found.",
        )
        break


# What all the sections of a paper are usually worth.
_USUAL_MARKS = (100.0, 120.0, 150.0)
_FULL_MARKS = re.compile(
    rf"(?:[满滿总總]分|[全试]卷共)\s*(?:为|[:：])?\s*(\d{{2,3}})\s*分|{FULL}\s*{POINT}\s*[:：=-]?\s*(\d{{2,3}})(?!\d)"
)
# Of so many sections and with so large a share of the marks it can be told that some are missing.
_LEAST_SECTIONS, _LEAST_SHARE = 2, 0.4


def keep_marks(reading: Reading, found: ContractCheck) -> None:
    """The marks of the sections add up to those of the paper."""
    full, own = _read_full_marks(reading), _sum_marks(reading)
    if full is None or own is None or not reading.drafts or own < _LEAST_SHARE * full:
        return
    found.checked = True
    if own >= full:
        return
    size = max(round(len(reading.drafts) * (full - own) / own), 1)
    found.miss(
        reading.stretches[-1].place,
        size,
        f"The paper is worth {full:g} marks, its sections {own:g}: about {size} questions are missing.",
    )


def _read_full_marks(reading: Reading) -> float | None:
    """What the first lines say that the whole paper is worth."""
    first = min((one.place for one in reading.stretches if one.heading), default=None)
    for piece in reading.pieces[:_COVER_LINES]:
        if first is not None and piece.start >= first:
            return None
        match = _FULL_MARKS.search(piece.text) if len(piece.text) < 300 else None
        if match is not None:
            return float(match[1] or match[2])
    return None


def _sum_marks(reading: Reading) -> float | None:
    """The marks of all numbered sections together; None where one does not say its own."""
    sections = [
        one for one in reading.stretches if one.heading and one.number is not None and one.parent is None
    ]
    marks = [read_sum(one.heading) or read_sum(one.lead) for one in sections]
    own = [value for value in marks if value]
    return sum(own) if len(own) == len(sections) >= _LEAST_SECTIONS else None


def keep_number_runs(reading: Reading, found: ContractCheck) -> None:
    """The numbers of questions rise by one, and start again only below a heading."""
    found.checked = len(reading.drafts) > 1
    gaps: list[tuple[Draft, int]] = []
    turned: list[Draft] = []
    for before, draft in pairwise(reading.drafts):
        if before.section != draft.section or before.value is None or draft.value is None:
            continue
        last = last_number(before.number_label) or before.value
        if draft.value > last + 1:
            gaps.append((draft, draft.value - last - 1))
            found.doubt(before, "number_gap_after")
            found.notes.append((draft, "number_gap_before"))
        elif draft.value <= before.value and draft.value != 1:
            turned.append(draft)
            found.doubt(draft, "number_not_increasing")
    for draft, lost in gaps:
        found.missing += min(lost, 20)
        found.breach(
            draft.start,
            lost,
            f"{'One number is' if lost == 1 else f'{lost} numbers are'} missing before question {draft.number_label.rstrip('.')}.",
            draft.section,
        )
    for draft in _list_cut(reading):
        words = f"Question {draft.number_label} goes on from a number that is no question."
        found.missing += min((draft.value or 1) - 1, 20)
        found.breach(draft.start, 1, words, draft.section)
    for draft in turned:
        words = f"Question {draft.number_label} stands after one with the same or a higher number."
        found.breach(draft.start, 1, words, draft.section)


_NEAR_ABOVE = 6


def _list_cut(reading: Reading) -> list[Draft]:
    """The first questions of sections that go on from a number above, which nothing claims."""
    places, starts = sorted(reading.labels), sorted(draft.start for draft in reading.drafts)
    known = {one.place for one in reading.stretches} | set(reading.answer_parts)
    found: list[Draft] = []
    for first, *_ in reading.by_section.values():
        own = reading.labels.get(first.start)
        if own is None or first.value != own.value:
            continue
        at = bisect_left(places, first.start)
        above = (place for place in reversed(places[max(at - _NEAR_ABOVE, 0) : at]))
        alike = next((one for one in above if reading.labels[one].style == own.style), None)
        if alike is None or alike in known or reading.labels[alike].value != own.value - 1:
            continue
        # a question may begin behind its place for an answer: `____ 3. …`
        if reading.find_last(alike) is None and starts[bisect_left(starts, alike)] == first.start:
            found.append(first)
    return found


def _announced(reading: Reading) -> Iterator[tuple[int, Announcement]]:
    for at, stretch in enumerate(reading.stretches):
        for text in (stretch.heading, stretch.lead):
            announced = read_announcement(text[:400]) if text else None
            if announced is not None:
                yield at, announced
                break


def _below(reading: Reading, at: int) -> list[Draft]:
    """The questions of a section, those of its parts included.

    `at` is its place among the stretches. Parts follow their section; `第一部分 选择题（共40分）` stands above sections.
    """
    stretch = reading.stretches[at]
    found = list(reading.by_section.get(stretch.index, ()))
    for one in islice(reading.stretches, at + 1, None):
        is_part = one.parent is not None and one.parent == stretch.number
        holds = stretch.style == "part" and one.style != "part" and not reading.by_section.get(stretch.index)
        if not is_part and not holds:
            break
        found += reading.by_section.get(one.index, ())
    return found


def _until_restart(drafts: Sequence[Draft]) -> Sequence[Draft]:
    """The questions of a section up to where a further paper without headings begins at 1 again."""
    for at, (before, draft) in enumerate(pairwise(drafts), start=1):
        if draft.value == 1 and (before.value or 0) > 1:
            return drafts[:at]
    return drafts


def _measures(drafts: Sequence[Draft]) -> tuple[int, ...]:
    """In how many ways the questions of a section may be counted.

    As questions, with the parts of materials one by one, and by the last of their numbers.
    """
    parts = sum(_parts(draft) for draft in drafts)
    spread = sum(max(1, last_number(draft.number_label) - (draft.value or 0) + 1) for draft in drafts)
    return len(drafts), spread, parts


_PART = re.compile(r"(?m)^\s*[（(]?(\d{1,2}|[a-hA-H])[)）.．、]")


def _parts(draft: Draft) -> int:
    if draft.options:
        return 1
    marks = _PART.findall(draft.stem)
    numbers = [int(mark) if mark.isdecimal() else ord(mark) for mark in marks]
    if len(numbers) > 1 and all(right == left + 1 for left, right in pairwise(numbers)):
        return len(numbers)
    return max(1, count_blanks(draft.stem)) if draft.question_type == "fill_in_the_blank" else 1


def _numbered_sections(reading: Reading) -> set[tuple[int | None, int]]:
    """The sections that hold questions; parts of one section are one."""
    found: set[tuple[int | None, int]] = set()
    for stretch in reading.stretches:
        if stretch.index in reading.by_section and stretch.heading:
            found.add((stretch.parent, 0) if stretch.parent is not None else (stretch.number, stretch.index))
    return found
