"""Dividing a paper at its section headings, which set type and marks of what is below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas import patterns as re
from tasks.ingest.layout.announcements import read_each, read_sum
from tasks.ingest.layout.heading_search import find_headings
from tasks.ingest.layout.headings import (
    MARKS_GROUP,
    ONLY_WORTH,
    SHARES,
    TELLS_HOW,
    is_chapter,
    is_instruction,
)
from tasks.ingest.layout.options import offers_options
from tasks.ingest.layout.outlines import Outline
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.grammar import begins_asking
from tasks.ingest.words.labels import COUNTING, Label, is_sure
from tasks.ingest.words.lexicon import FineType
from tasks.ingest.words.points import BRACKETED
from tasks.questions import has_blank

CHOOSE_SOME = re.compile(
    r"(?i)(?:select|answer|choose|do|attempt|identify|define|explain|discuss|solve|write (?:on|about)|complete)\s+(?:and answer\s+)?(?:(?:any|only|exactly|all)\s+)*(?:one|two|three|four|five|six|\d)\s+(?:\(\d\)\s+)?(?:of|from|out of|questions?|problems?|parts?|essays?|terms?)|任选|选做|(?:从|在)(?:下列|以下|下面).{0,12}(?:选|任)"
)
OPTION_A = re.compile(r"\s*[（(\[]?[Aa]\s*[)）\].．、]\s*\S")
READ_PASSAGE = re.compile(r"(?i)\b(?:read|study) the (?:following )?(?:passage|text|extract|poem|article)\b")


@dataclass
class Section:
    """A stretch of a paper below one heading.

    `fine` is its type, None where the heading names none. `pieces` are the lines below the heading, the rest of the
    heading line included where it is content. `is_question`: the heading is itself one question (`三、（10分）设……`).
    `parent` is the number of the section that holds this one (`一、选择题` above `（二）多项选择题`). `heading` is the
    heading as printed. `is_fixed` is what an outline says of `is_question`, `own` the title as a line of the question that
    the heading may be.
    """

    number: int | None = None
    style: str = ""
    label: str = ""
    title: str = ""
    fine: FineType | None = None
    marks: float | None = None
    pieces: list[Piece] = field(default_factory=list)
    is_question: bool = False
    is_cover: bool = False
    after_break: bool = False
    start: int = 0
    parent: int | None = None
    breaks: set[int] = field(default_factory=set)
    heading: str = ""
    is_fixed: bool | None = None
    own: Piece | None = None

    @property
    def begins_below(self) -> bool:
        """Whether its first line is not the rest of its heading's own line."""
        return bool(self.pieces) and self.pieces[0].start >= self.start + len(self.heading)


def divide(pieces: Sequence[Piece], outline: Outline | None = None) -> list[Section]:
    """The sections of a paper; the first holds what stands before any heading."""
    headings = find_headings(pieces)
    if outline is not None and outline.alone:
        headings = {index: one for index, one in headings.items() if one.fine is not None}
    if outline is not None and outline.headings:
        headings |= {
            index: outline.headings[piece.start]
            for index, piece in enumerate(pieces)
            if piece.start in outline.headings
        }
    if outline is not None and outline.given:
        headings = {
            index: one for index, one in headings.items() if pieces[index].start not in outline.numbers
        }
    current = Section(is_cover=bool(headings))
    sections = [current]
    broke = False
    outer: int | None = None
    for index, piece in enumerate(pieces):
        heading = headings.get(index)
        if heading is not None:
            style = heading.label.style if heading.label else ""
            outer = outer if style == "cnp" else heading.label.value if heading.label else None
            current = Section(
                number=heading.label.value if heading.label else None,
                style=heading.label.style if heading.label else "",
                label=heading.label.text if heading.label else "",
                title=heading.title,
                fine=heading.fine,
                marks=heading.marks,
                after_break=broke,
                start=piece.start,
                parent=outer if style == "cnp" else None,
                heading=piece.text,
                is_fixed=heading.is_question,
            )
            broke = False
            sections.append(current)
            rest = piece.cut(heading.rest)
            if rest.text.strip():
                current.pieces.append(rest)
            elif heading.title and heading.label is not None and heading.fine is None:
                current.own = piece.cut(heading.label.end).begin_at(piece.start)
            continue
        if is_chapter(piece.text):
            broke = True
            current.breaks.add(len(current.pieces))
            continue
        current.pieces.append(piece)
    last = 0
    for section in sections:
        section.is_question = _is_question(section, last) if section.is_fixed is None else section.is_fixed
        if section.is_question and section.own is not None:
            # `三、水车的转动。` asks together with what stands below it
            section.pieces.insert(0, section.own)
        if section.fine is None and not section.is_question:
            section.marks = read_each(section.heading)  # `Section A [20 marks]` tells the sum
        elif section.is_question and section.marks is None and section.begins_below:
            section.marks = read_sum(section.heading)  # `题一.（40分）`
        last = max(
            (value for value in _child_numbers(section) if value == last + 1 or value > 1), default=last
        )
    return sections


def _child_numbers(section: Section) -> list[int]:
    """The numbers of the lines of a section, without those in brackets, which count parts."""
    labels = (piece.label for piece in section.pieces if piece.kind != "table")
    return [label.value for label in labels if is_sure(label, ("num", "paren", "word", "bracket"))]


def _is_question(section: Section, last: int = 0) -> bool:
    """Whether an untyped heading is one question; `last` is the number before it."""
    if section.fine is not None or section.number is None or not section.pieces:
        return False
    first = section.pieces[0].text.strip()
    children_numbers = _child_numbers(section)
    if last and children_numbers and _counts_on(children_numbers, last):
        return False
    if section.style == "part" and ONLY_WORTH.fullmatch(first) and len(children_numbers) >= 2:
        return False  # `Part II: [6 x 2 = 12 marks]` stands above a list
    if section.style == "part" and _opens_list(section, last):
        return False
    own = [piece.label for piece in section.pieces if piece.text.lstrip()[:1] in "ABCDEFGH"]
    if sum(1 for label in own if label is not None and (label.style == "capnum" or label.is_given)) > 1:
        return False  # `A1.` `A2.` below `Part A`
    offered = sum(1 for piece in section.pieces if OPTION_A.match(piece.text))
    shares = any(SHARES.match(piece.text) for piece in section.pieces)
    if (offered > 1 or shares) and (section.style == "part" or len(children_numbers) > 1):
        return False  # several choice questions
    if section.style == "part" and any(READ_PASSAGE.search(piece.text) for piece in section.pieces[:3]):
        return len(children_numbers) < 2
    if CHOOSE_SOME.search(first[:160]) or (
        len(first) < 60 and len(section.pieces) > 1 and CHOOSE_SOME.search(section.pieces[1].text[:160])
    ):
        # `Q4. Solve any two of the following.` above letters: they number its parts
        return section.style == "word" and not children_numbers
    children = [piece.label for piece in section.pieces[1:]]
    first_number = next(
        (place for place, label in enumerate(children) if label is not None and label.style in COUNTING),
        None,
    )
    if read_each(first) is not None and first_number is not None and len(first) < 120:
        return False  # `Read the programs (5 points each)`
    numbered = [label for label in children if label is not None and label.style in ("num", "nump", "paren")]
    if len(numbered) < 2 or (numbered[0].value != 1 and numbered[1].value != numbered[0].value + 1):
        return not _heads_one(first, section)
    if first_number is not None:
        between = section.pieces[0 if section.begins_below else 1 : first_number + 1]
        if any(not is_instruction(piece) and len(piece.text.strip()) > 8 for piece in between):
            return True  # what is asked about stands above its parts
    if _lists_questions(first, section, numbered):
        return False
    is_short = len(first) <= (24 if re.search(r"[\u4e00-\u9fff]", first) else 60)
    asks_itself = re.search(r"[？?]|[：:]\s*(?:[（(\[].{0,16}[)）])?$", first) and not _NAMES_LIST.search(
        first
    )
    return not (is_short and not asks_itself and not MARKS_GROUP.match(first))


def _counts_on(values: Sequence[int], last: int) -> bool:
    """Whether numbers count through the paper, a table of questions between them and the last."""
    return values[0] == last + 1 or (
        values[0] > last and len(values) > 1 and values == [*range(values[0], values[0] + len(values))]
    )


def _opens_list(section: Section, last: int) -> bool:
    """Whether `Section A` stands right above `Question 1 (5 marks)`, or `1. …`."""
    label = section.pieces[0].label
    if label is None or label.is_weak or label.value not in (1, last + 1):
        return False
    return label.style == "word" or (
        label.style in ("num", "paren", "bracket")
        and any(
            (other.style, other.value) == (label.style, label.value + 1)
            for piece in section.pieces[1:]
            if (other := piece.label) is not None
        )
    )


_NAMES_LIST = re.compile(r"(?:下列|以下|下面)[^？?]{0,12}[：:]\s*$|\bthe following\b[^?]{0,24}:\s*$")
_BRACKETS = re.compile(r"[（(\[][^()（）\[\]]*[)）\]]")


def _heads_one(first: str, section: Section) -> bool:
    """Whether `二、短论（20 分）` is the bare title above the only question of its section, `1. …`."""
    title = _BRACKETS.sub("", first).strip(" :：")
    label = section.pieces[1].label if len(section.pieces) > 1 else None
    return len(title) <= 6 and is_sure(label, ("num",)) and label.value == 1


_OFFERED = re.compile(r"[（(]\s*A\s*[.．、]|^\s*[（(\[]?A\s*[.．、)）]")


def _lists_questions(first: str, section: Section, numbered: Sequence[Label]) -> bool:
    """Whether `六、根据首字母写出单词（19分）` says how to answer the numbered questions below it.

    Each of the questions has its place. `设……（10分）` above three numbered parts asks one question: it says nothing of how
    to answer, and its parts have no places.
    """
    values = [label.value for label in numbered if label.style == numbered[0].style]
    if len(values) < 3 or values != list(range(1, len(values) + 1)) or len(first) > 90:
        return False
    if not TELLS_HOW.search(first) or re.search(r"[？?]\s*(?:[（(].{0,16}[)）])?$", first):
        return False
    places = sum(
        1
        for index, piece in enumerate(section.pieces)
        if piece.label is not None
        and piece.label.style == numbered[0].style
        and any(
            has_blank(line.text) or _OFFERED.search(line.text) for line in section.pieces[index : index + 2]
        )
    )
    return places >= 0.6 * len(values)


# `Développement construit (/3)`, `Document study (4 points)`: a title with what it is worth
_WORTH_TITLE = re.compile(
    rf"[^?？!！.:：\u3400-\u9fff]{{2,60}}?\s*(?:{BRACKETED}|[（(\[]\s*\d{{1,3}}\s*[)）\]])\s*", re.IGNORECASE
)


def drop_title(section: Section) -> list[Piece]:
    """The lines of a question that is a section, without the title above what it asks."""
    if section.style != "part" or len(section.pieces) < 2:
        return section.pieces
    first, *rest = section.pieces
    text = first.text[first.label.end if first.label is not None else 0 :].strip(" –—-")
    return rest if _WORTH_TITLE.fullmatch(text) and not begins_asking(text) else section.pieces


def may_choose(section: Section, questions: Sequence[Sequence[Piece]]) -> bool:
    """Whether a section is not an `Objective test` whose questions offer no options."""
    is_objective = section.fine is not None and section.fine.name == "objective"
    return not is_objective or any(offers_options(lines, True) for lines in questions)
