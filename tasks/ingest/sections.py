"""Dividing a paper at its section headings, which set the type and the marks of the questions below them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.ingest.labels import Label
from tasks.ingest.lexicon import FineType, find_type_by_pattern, find_type_in_title, match_exactly, simplify
from tasks.ingest.pieces import Piece

_CN = "一二三四五六七八九十百"
MARKS = re.compile(
    r"(?:每\s*(?:小)?[题空道]\s*|each\s+|各\s*)?(\d+(?:\.\d+)?)\s*(?:分(?!钟)|pts?\b|points?\b|marks?\b|scores?\b|%)",
    re.IGNORECASE,
)
MARKS_EACH = re.compile(
    r"每\s*(?:小)?[题空道]?[题]?\s*[:：]?\s*(\d+(?:\.\d+)?)\s*分|(\d+(?:\.\d+)?)\s*(?:points?|pts?|marks?)\s*(?:for\s+)?(?:each|per|apiece|a\s+piece)|"
    r"each[^.;,]{0,30}?(\d+(?:\.\d+)?)\s*(?:points?|pts?|marks?)",
    re.IGNORECASE,
)
MARKS_GROUP = re.compile(
    r"^\s*[（(\[【]\s*(?:本[大小]?题\s*)?(?:共|满分|计)?\s*(\d+(?:\.\d+)?)\s*(?:分|'|′|pts?\.?|points?|marks?)\s*[)）\]】]\s*",
    re.IGNORECASE,
)
INSTRUCTION = re.compile(
    r"在?(?:每|下列)(?:小)?题?(?:各题|列出|给出|的|中|只有|有|至少)|下列各题|请将|将(?:正确|所选|答案)|(?:错选|多选|少选|漏选)|每(?:小)?题\d|判断下列|只有一(?:个|项)|答在|写在答题|答题纸|"
    r"本(?:大|小)?题(?:共|满分)|共\d+(?:小)?题|填(?:入|写|在|上)|正确的(?:打|划|画|填|写)|用[“\"]?√|"
    r"(?i:write your answers?|each (?:question|item|statement|correct)|there (?:is|are) (?:only|one|four)|for each (?:question|of)|directions?:|instructions?:|mark (?:each|the)|"
    r"choose the|points? (?:for )?each|\bof the following (?:questions|problems|terms|items|concepts)\b|identify (?:any |each |all )?(?:\w+ )?of the following|match (?:each|the|every) |word (?:bank|box|list)|circle the|write (?:the letter|[\"“]?T\b)|on the answer sheet|questions \d+\s*[-–~]\s*\d+ (?:carry|are worth))"
)
CHAPTER = re.compile(
    rf"^\s*(?:#*\s*)(?:第\s*[{_CN}\d]{{1,4}}\s*[章节单元讲课编篇]|(?:Chapter|CHAPTER|Unit|Lesson|Lecture|Module|Topic)\s+[\dIVX]+\b|"
    rf"(?:模拟|试卷|试题|真题|练习|测试|习题)[题试卷集]?\s*[（(]?[{_CN}\d]{{1,3}}[)）]?\s*$|导论|绪论|(?:.{{0,12}})(?:练习题|习题|测试题|试卷|复习题)[（(]?[{_CN}\dA-Da-d]{{0,3}}卷?[)）]?\s*$)"
)
_CHOOSE_SOME = re.compile(
    r"(?i)(?:select|answer|choose|do|attempt|identify|define|explain|discuss|solve|write (?:on|about)|complete)\s+(?:and answer\s+)?(?:(?:any|only|exactly|all)\s+)*(?:one|two|three|four|five|six|\d)\s+(?:\(\d\)\s+)?(?:of|from|out of|questions?|problems?|essays?|terms?)|任选|选做|(?:从|在)(?:下列|以下|下面).{0,12}(?:选|任)"
)
_REQUEST = re.compile(
    r"(?i)(?:design|prove|proof of|write|compute|calculate|derive|discuss|explain|define|program|analy[sz]e|match|complete|compare|describe|draw|find|give|show|state|translate)\s+(?:a|an|the|that|how|why|what|whether|your|two|three|any|in|\w+['’]s)\b"
)
_ONLY_MARKS = re.compile(
    r"[\s:：.\-–—(（\[]*(?:\d+(?:\.\d+)?\s*(?:points?|pts?|marks?|%|分)\s*)?[\s.)）\]]*", re.IGNORECASE
)
_TITLE_END = re.compile(
    r"[（(：:。．;；\[【]|\s{3,}|\.(?=\s|$)|[,，](?=\s*(?:每|共|本|each|\d))|\s(?=共?\d+\s*(?:分|小题|题))|[—–-]{2,}"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_NO_CHAPTER = re.compile(r"[？?。；;，,：]|[（(]\s*[)）]|_{2,}")
_STRONG_STYLES = ("cn", "part", "roman", "cnp")
_ENGLISH_LIMIT = 110


@dataclass
class Section:
    """A stretch of a paper below one heading. `fine` is its type, None where the heading names none.

    `pieces` are the lines below the heading, the rest of the heading line included where it is content.
    `is_question`: the heading is itself one question (`三、（10分）设……`).
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
    breaks: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Heading:
    """A line read as a section heading; `rest` is the index at which content begins on the same line."""

    label: Label | None
    title: str
    fine: FineType | None
    marks: float | None
    rest: int


def divide(pieces: Sequence[Piece]) -> list[Section]:
    """Return the sections of a paper in order; the first holds what stands before any heading."""
    headings = _find_headings(pieces)
    current = Section(is_cover=bool(headings))
    sections = [current]
    broke = False
    for index, piece in enumerate(pieces):
        heading = headings.get(index)
        if heading is not None:
            current = Section(
                number=heading.label.value if heading.label else None,
                style=heading.label.style if heading.label else "",
                label=heading.label.text if heading.label else "",
                title=heading.title,
                fine=heading.fine,
                marks=heading.marks,
                after_break=broke,
                start=piece.start,
            )
            broke = False
            sections.append(current)
            rest = piece.cut(heading.rest)
            if rest.text.strip():
                current.pieces.append(rest)
            continue
        if is_chapter(piece.text):
            broke = True
            current.breaks.add(len(current.pieces))
            continue
        current.pieces.append(piece)
    for section in sections:
        section.is_question = _is_question(section)
    return sections


def is_chapter(text: str) -> bool:
    """True for a line that only names a chapter or a further paper."""
    folded = text.strip()
    return len(folded) <= 40 and bool(CHAPTER.match(folded)) and not _NO_CHAPTER.search(folded)


def _find_headings(pieces: Sequence[Piece]) -> dict[int, Heading]:
    typed: dict[int, Heading] = {}
    for index, piece in enumerate(pieces):
        if piece.kind == "table":
            continue
        heading = read_heading(piece.text)
        if heading is None:
            continue
        is_sure = heading.label is not None and heading.label.style not in ("capital", "word")
        if is_sure or _starts_list(pieces, index, heading.label is not None):
            typed[index] = heading
    for index, heading in list(typed.items()):
        # `Question Two: 10 marks` above `Essay Questions` is the number of that section
        above = pieces[index - 1] if index else None
        label = above.label if above is not None else None
        if above is None or label is None or index - 1 in typed or heading.label is not None:
            continue
        if label.style in ("word", "part") and _ONLY_MARKS.fullmatch(above.text[label.end :]):
            typed[index - 1] = Heading(label, heading.title, heading.fine, heading.marks, len(above.text))
    found = dict(typed)
    # Headings without a type name (`三、（10分）设……`) count where they carry the sequence on.
    last: dict[str, int] = {}
    styles = {heading.label.style for heading in typed.values() if heading.label}
    has_numbers = False
    for index, piece in enumerate(pieces):
        if index in typed:
            label = typed[index].label
            if label is not None:
                last[label.style] = label.value
            continue
        if piece.kind == "table":
            continue
        label = piece.label
        has_numbers = has_numbers or (label is not None and label.style in ("num", "word"))
        if label is None or label.is_weak or label.style == "cnp":
            continue
        if label.style not in _STRONG_STYLES and not (label.style == "word" and "word" in styles):
            continue
        if has_numbers and not typed and label.style != "part":
            continue  # numbers stand above it: it counts statements inside a question
        if label.style == "roman" and len(piece.text.strip()) < 6:
            continue
        expected = last.get(label.style, 0) + 1
        if label.value != expected or (styles and label.style not in styles and label.style != "part"):
            continue
        if not last.get(label.style) and not _has_successor(pieces, index, label):
            continue
        last[label.style] = label.value
        text = piece.text[label.end :]
        marks = MARKS_GROUP.match(text)
        found[index] = Heading(label, "", None, float(marks.group(1)) if marks else None, label.end)
    return found


def _has_successor(pieces: Sequence[Piece], index: int, label: Label) -> bool:
    return any(
        other is not None and other.style == label.style and other.value == label.value + 1
        for other in (piece.label for piece in pieces[index + 1 :])
    )


def _starts_list(pieces: Sequence[Piece], index: int, needs_numbers: bool = False) -> bool:
    """An unlabelled heading counts where a numbered line follows closely, or where it is a title and nothing else."""
    if pieces[index].text.strip().endswith("题") and match_exactly(pieces[index].text.strip()) is not None:
        return index + 1 < len(pieces)
    for piece in pieces[index + 1 : index + 4]:
        label = piece.label
        if needs_numbers and label is not None:
            return label.style in ("num", "paren", "nump", "bracket", "wordp", "word") and not label.is_weak
        if label is not None and not (label.is_weak and label.style == "bare") and label.style != "letter":
            return True
        if INSTRUCTION.search(piece.text):
            continue
    return False


def read_heading(text: str) -> Heading | None:
    """Read one line as a heading that names a question type; None when it is not one."""
    from tasks.ingest.labels import parse_label

    stripped = text.lstrip("#* \t").strip()
    offset = text.find(stripped) if stripped else 0
    label = parse_label(stripped)
    if label is not None and label.style not in (*_STRONG_STYLES, "num", "word", "nump"):
        label = None
    if label is None:
        label = _read_capital(stripped)
    body = stripped[label.end :] if label else stripped
    shift = offset + (label.end if label else 0)
    unwrapped = body.strip("【】[]《》 \t*")
    if unwrapped != body and len(unwrapped) <= 14 and match_exactly(unwrapped):
        return Heading(label, unwrapped, match_exactly(unwrapped), None, len(text))
    title, end = _cut_title(body)
    if not title:
        return None
    is_strong = label is not None and label.style in (*_STRONG_STYLES, "capital", "word")
    fine = _match_title(title, is_strong)
    if fine is None:
        return None
    tail = body[end:]
    each = MARKS_EACH.search(body)
    marks = next((float(group) for group in each.groups() if group), None) if each else None
    rest = _skip_remarks(tail)
    remainder = tail[rest:].strip()
    if remainder and (INSTRUCTION.search(remainder[:80]) or len(remainder) < 6):
        remainder = ""
    if remainder and not is_strong:
        return None
    if label is not None and label.style == "word" and (remainder or match_exactly(title) is None):
        return None  # `Problem 1: True/False` heads a list, `Question 1. Essay on …` is a question
    return Heading(label, title, fine, marks, shift + end + rest if remainder else len(text))


def _read_capital(text: str) -> Label | None:
    """Read `B. True/False` or `(B) Essay`: a section's letter, which `_find_headings` lets count above a list only."""
    match = re.match(r"(?:\(([A-H])\)|([A-H])\s?[.)\-–:])\s+(?=[A-Z])", text)
    if match is None:
        return None
    letter = match.group(1) or match.group(2)
    return Label("capital", ord(letter) - ord("A") + 1, match.end(), match.group(0).strip())


def _cut_title(body: str) -> tuple[str, int]:
    """Return the title at the start of a heading and where it ends: at a bracket, colon, stop or wide gap."""
    match = _TITLE_END.search(body)
    end = match.start() if match else len(body)
    return body[:end].strip(), end


def _match_title(title: str, is_strong: bool) -> FineType | None:
    if len(title) > _ENGLISH_LIMIT or "？" in title or "?" in title:
        return None
    if _HAN.search(title):
        if len(title) > (18 if is_strong else 12):
            return None
        folded = re.sub(
            r"^(?:本|大)?题?型?[:：]?|^(?:以下|下列)(?:为|是)?", "", simplify(title).replace(" ", "")
        )
        fine = match_exactly(folded)
        if fine is not None:
            return fine
        fine = find_type_in_title(folded)
        if fine is None or not is_strong:
            return fine if fine is not None and _is_plain_title(folded, fine) else None
        is_title = re.search(r"(?:题|题型|部分|类|解释|问答|填空|判断|选择|作文)$", folded) is not None
        return fine if is_title else None
    words = title.split()
    if _REQUEST.match(title) and match_exactly(title) is None and not title.endswith("following"):
        return find_type_by_pattern(title) if is_strong else None  # `V. Design a cache` asks
    fine = match_exactly(title)
    if fine is not None:
        return fine
    if not is_strong:
        fine = find_type_in_title(title) if len(words) <= 4 else None
        return (
            fine
            if fine is not None and re.search(r"(?i)(?:questions?|section|problems?|items?)$", title)
            else None
        )
    if len(words) <= 5:
        return find_type_in_title(title)
    return find_type_by_pattern(title)


def _is_plain_title(title: str, fine: FineType) -> bool:
    """A title without a section number: it ends with a type's name, with at most a few characters before that."""
    return len(title) <= 8 and title.endswith(tuple(name for name in fine.names if name.endswith("题")))


def _skip_remarks(tail: str) -> int:
    """Return the index after the bracketed remarks, colons and mark counts that follow a title."""
    position = 0
    while position < len(tail):
        match = re.match(r"[\s：:。．.;；、,，—–-]+", tail[position:])
        if match:
            position += match.end()
            continue
        match = re.match(r"[（(\[【][^（()）]*(?:[（(][^()（）]*[)）][^（()）]*)*[)）\]】]", tail[position:])
        if not match:
            match = re.match(
                r"(?:共|每(?:小)?题|本大?题)?\s*\d+\s*(?:小题|题|分|points?|pts?|marks?)", tail[position:]
            )
        if not match:
            break
        position += match.end()
    return position


def _is_question(section: Section) -> bool:
    """Whether an untyped heading is one question by itself rather than the title of several."""
    if section.fine is not None or section.number is None or not section.pieces:
        return False
    first = section.pieces[0].text.strip()
    if _CHOOSE_SOME.search(first[:160]) or (
        len(first) < 60 and len(section.pieces) > 1 and _CHOOSE_SOME.search(section.pieces[1].text[:160])
    ):
        return False
    children = [piece.label for piece in section.pieces[1:]]
    first_number = next(
        (
            place
            for place, label in enumerate(children)
            if label is not None and label.style in ("num", "nump", "paren", "bracket", "word")
        ),
        None,
    )
    if MARKS_EACH.search(first) and first_number is not None and len(first) < 120:
        return False  # `Read the programs (5 points each)`
    numbered = [label for label in children if label is not None and label.style in ("num", "nump", "paren")]
    if not numbered or numbered[0].value != 1 or len(numbered) < 2:
        return True
    if len(numbered) and first_number and len(numbered) >= 2:
        between = [piece.text for piece in section.pieces[1 : first_number + 1]]
        if any(not INSTRUCTION.search(text) and len(text.strip()) > 8 for text in between):
            return True  # what is asked about stands above its parts
    is_short = len(first) <= (24 if re.search(r"[\u4e00-\u9fff]", first) else 60)
    return not (
        is_short
        and not re.search(r"[？?]|[：:]\s*(?:[（(\[].{0,16}[)）\]])?$", first)
        and not MARKS_GROUP.match(first)
    )
