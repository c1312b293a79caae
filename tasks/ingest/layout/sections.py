"""Dividing a paper at its section headings, which set the type and the marks of the questions below them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.labels import Label, read_number
from tasks.ingest.words.lexicon import (
    FineType,
    find_type_by_pattern,
    find_type_in_title,
    match_exactly,
    simplify,
)
from tasks.questions.blanks import has_blank

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
    r"^\s*[（(\[【]\s*(?:本[大小]?题\s*)?(?:共|满分|计)?\s*(\d+(?:\.\d+)?)\s*(?:分|'|′|pts?\.?|points?|marks?|mks?\.?|%)\s*[)）\]】]\s*",
    re.IGNORECASE,
)
INSTRUCTION = re.compile(
    r"在?(?:每|下列)(?:小)?题?(?:各题|列出|给出|的|中|只有|有|至少)|下列各题|请将|将(?:正确|所选|答案)|(?:错选|多选|少选|漏选)|每(?:小)?题\d|判断下列|只有一(?:个|项)|答在|写在答题|答题纸|"
    r"本(?:大|小)?题(?:共|满分)|共\d+(?:小)?题|填(?:入|写|在|上)|正确的(?:打|划|画|填|写)|用[“\"]?√|"
    r"(?i:write your answers?|each (?:question|item|statement|correct)|there (?:is|are) (?:only|one|four)|for each (?:question|of)|directions?:|instructions?:|mark (?:each|the)|"
    r"choose the|points? (?:for )?each|\bof the following (?:questions|problems|terms|items|concepts)\b|identify (?:any |each |all )?(?:\w+ )?of the following|match (?:each|the|every) |word (?:bank|box|list)|circle the|\boptions are (?:given|provided)|write (?:only )?(?:the letter|[\"“'‘]?T\b)|on the answer sheet|questions \d+\s*[-–~]\s*\d+ (?:carry|are worth))"
)
CHAPTER = re.compile(
    rf"^\s*(?:#*\s*)(?:第\s*[{_CN}\d]{{1,4}}\s*[章节单元讲课编篇]|第[一二三四五六七八九十]部分\s+(?!.*题)|(?:Chapter|CHAPTER|Unit|Lesson|Lecture|Module|Topic)\s+[\dIVX]+\b|"
    rf"(?:模拟|试卷|试题|真题|练习|测试|习题)[题试卷集]?\s*[（(]?[{_CN}\d]{{1,3}}[)）]?\s*$|导论|绪论|(?:.{{0,12}})(?:练习题|习题|测试题|试卷|复习题)[（(]?[{_CN}\dA-Da-d]{{0,3}}卷?[)）]?\s*$)"
)
_GLUED_TITLE = re.compile(r"([\u4e00-\u9fff]{2,10})\s*[:：]?\s*(?=\d{1,3}\s*[.．、:：)）\-—~～至到\s])")
_KEY_START = "0123456789第（("
_CAPITALS = "(（ABCDEFGHIVX"
_CAPITAL = re.compile(r"(?:\(([A-H])\)|([A-H])\s?[.)\-–:])\s+(?=[A-Z])")
_ROMAN_WORD = re.compile(r"(I{1,3}|IV|VI{0,3}|IX|X)\s+(?=[A-Z][a-z])")
_CAPITAL_TITLE = re.compile(r"(?:[（(]([A-H])[)）]|([A-H])\s?[.．、])\s*(?=[\u4e00-\u9fff]{2,8}\s*$)")
_TITLE_LEAD = re.compile(r"^(?:本|大)?题?型?[:：]?|^(?:以下|下列)(?:为|是)?")
_TITLE_TAIL = re.compile(r"(?:题|题型|部分|类|解释|问答|填空|判断|选择|作文)$")
_ENGLISH_TAIL = re.compile(r"(?i)(?:questions?|section|problems?|items?)$")
_SPACED_NUMERAL = re.compile(rf"([{_CN}]{{1,3}}(?=\s)|[IVX]{{1,4}}(?=\s)|[Ⅰ-Ⅻ])\s*(?=[\u4e00-\u9fff])")
_BRACKETED_RANGE = re.compile(r"\s*[（(]\s*\d{1,3}\s*[-—–~～至到]\s*\d{1,3}\s*题?\s*[)）]")
CHOOSE_SOME = re.compile(
    r"(?i)(?:select|answer|choose|do|attempt|identify|define|explain|discuss|solve|write (?:on|about)|complete)\s+(?:and answer\s+)?(?:(?:any|only|exactly|all)\s+)*(?:one|two|three|four|five|six|\d)\s+(?:\(\d\)\s+)?(?:of|from|out of|questions?|problems?|essays?|terms?)|任选|选做|(?:从|在)(?:下列|以下|下面).{0,12}(?:选|任)"
)
_REQUEST = re.compile(
    r"(?i)(?:design|prove|proof of|write|compute|calculate|derive|discuss|explain|define|program|analy[sz]e|match|complete|compare|describe|draw|find|give|show|state|translate)\s+(?:a|an|the|that|how|why|what|whether|your|two|three|any|in|\w+['’]s)\b"
)
_LEADING_MARKS = re.compile(
    r"\s*[(（\[][^()（）\[\]]{0,40}(?:points?|pts?\.?|marks?|mks?|%|分)[^()（）\[\]]{0,24}[)）\]]\s*[:：.]?\s*",
    re.IGNORECASE,
)
_ONLY_MARKS = re.compile(
    r"[\s:：.\-–—(（\[]*(?:\d+(?:\.\d+)?\s*(?:points?|pts?|marks?|%|分)\s*)?[\s.)）\]]*", re.IGNORECASE
)
_TITLE_END = re.compile(
    r"[（(：:。．;；\[【]|\s{3,}|\.(?=\s|$)|[,，](?=\s*(?:每|共|本|对的|正确的|请|将|把|用|在|从|先|要求|下列|根据|选出|each|\d))|\s(?=共?\d+\s*(?:分|小题|题))|[—–-]{2,}"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_TWO_LANGUAGES = re.compile(
    r"(?P<first>[\u4e00-\u9fff]{2,12})\s*[/／]?\s*[A-Za-z][A-Za-z/ &'’-]{2,60}|[A-Za-z][A-Za-z/ &'’-]{2,60}?\s*[/／]?\s*(?P<second>[\u4e00-\u9fff]{2,12})"
)
_REMARK_GAP = re.compile(r"[\s：:。．.;；、,，—–-]+")
_REMARK = re.compile(
    r"[（(\[【][^（()）]*(?:[（(][^()（）]*[)）][^（()）]*)*[)）\]】]|"
    r"(?:共|每(?:小)?题|本大?题)?\s*\d+\s*(?:小题|题|分|points?|pts?|marks?)"
)
_NO_CHAPTER = re.compile(r"[？?。；;，,：]")
OPTION_A = re.compile(r"\s*[（(\[]?[Aa]\s*[)）\].．、]\s*\S")
READ_PASSAGE = re.compile(r"(?i)\b(?:read|study) the (?:following )?(?:passage|text|extract|poem|article)\b")
_INSTRUCTED = ("true_false", "multiple_choice", "fill_in_the_blank")
BULLET = re.compile(r"\s*(?:[-–—•·●▪◦■◆❖➢✦*])\s+(?=\S)")
_STRONG_STYLES = ("cn", "part", "roman", "cnp")
_ENGLISH_LIMIT = 110


@dataclass
class Section:
    """A stretch of a paper below one heading. `fine` is its type, None where the heading names none.

    `pieces` are the lines below the heading, the rest of the heading line included where it is content.
    `is_question`: the heading is itself one question (`三、（10分）设……`). `parent` is the number of the section that
    holds this one (`一、选择题` above `（二）多项选择题`).
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
    last = 0
    for section in sections:
        section.is_question = _is_question(section, last)
        if section.fine is None and not section.is_question:
            section.marks = None  # `Section A [20 marks]` tells the sum
        last = max(
            (value for value in _child_numbers(section) if value == last + 1 or value > 1), default=last
        )
    return sections


def _child_numbers(section: Section) -> list[int]:
    """The numbers of the lines of a section, without those in brackets, which count parts."""
    labels = (piece.label for piece in section.pieces if piece.kind != "table")
    return [
        label.value
        for label in labels
        if label is not None and label.style in ("num", "paren", "word", "bracket") and not label.is_weak
    ]


def is_chapter(text: str) -> bool:
    """True for a line that only names a chapter or a further paper."""
    folded = text.strip()
    if len(folded) > 40 or not CHAPTER.match(folded):
        return False
    return not _NO_CHAPTER.search(folded) and not has_blank(folded)


def _find_headings(pieces: Sequence[Piece]) -> dict[int, Heading]:
    typed: dict[int, Heading] = {}
    for index, piece in enumerate(pieces):
        if piece.kind == "table":
            continue
        heading = read_heading(piece.text)
        if heading is None:
            continue
        style = heading.label.style if heading.label is not None else ""
        if style in ("capital", "word"):
            is_heading = _heads_list(pieces, index, heading) and not _stands_in_options(pieces, index)
        elif style == "num" and piece.text.isascii():
            # `3. Programming` may as well be the title of a question
            is_named = match_exactly(heading.title) is not None
            is_heading = (heading.marks is not None and is_named) or _heads_list(pieces, index, heading)
            if heading.label is not None and _LEADING_MARKS.match(piece.text[heading.label.end :]):
                # `3. (16 points) The reader-writer problem` asks; `1. (20 points) True or false` heads a list
                is_heading = (
                    is_heading and heading.fine is not None and heading.fine.question_type in _INSTRUCTED
                )
        else:
            is_heading = bool(style) or _starts_list(pieces, index) or _heads_text(pieces, index, heading)
        if is_heading:
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
    if "num" in styles and any(
        following is not None and following.style == "num"
        for index, heading in typed.items()
        for following in [_next_label(pieces, index)]
        if heading.label is not None and heading.label.style == "num"
    ):
        styles.discard("num")  # the questions are counted in the same style as the sections
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
        if label.style not in _STRONG_STYLES and not (
            label.style in ("word", "num") and label.style in styles
        ):
            continue
        if (
            has_numbers
            and not styles
            and label.style != "part"
            and not last.get(label.style)
            and (not typed or label.style == "roman")
        ):
            continue  # numbers stand above it: it counts statements inside a question
        if label.style == "roman" and len(piece.text.strip()) < 6 and not last.get("roman"):
            continue
        expected = last.get(label.style, 0) + 1
        if label.value != expected or (styles and label.style not in styles and label.style != "part"):
            continue
        if not last.get(label.style) and not _has_successor(pieces, index, label):
            continue
        last[label.style] = label.value
        text = piece.text[label.end :]
        if label.style == "part" and len(text) < 40 and index + 1 in typed:
            # `第Ⅰ卷（选择题 共6分）` above `一、选择题` only holds sections
            found[index] = Heading(label, "", None, None, len(piece.text))
            continue
        marks = MARKS_GROUP.match(text)
        found[index] = Heading(label, "", None, float(marks.group(1)) if marks else None, label.end)
    return found | _find_parts(pieces, found)


def _find_parts(pieces: Sequence[Piece], headings: dict[int, Heading]) -> dict[int, Heading]:
    """`（一）基础部分`, `（二）提高部分` below `二、填空题`: parts of a section, where the numbers start at 1 in each."""
    found: dict[int, Heading] = {}
    outer: Heading | None = None
    last = 0
    for index, piece in enumerate(pieces):
        label = piece.label
        heading = headings.get(index)
        if heading is not None:
            is_part = heading.label is not None and heading.label.style == "cnp"
            outer = outer if is_part else heading
            last = heading.label.value if is_part and heading.label is not None else 0
            continue
        if (
            label is None
            or label.style != "cnp"
            or outer is None
            or outer.fine is None
            or label.value != last + 1
        ):
            continue
        title = piece.text[label.end :].strip()
        first = pieces[index + 1].label if index + 1 < len(pieces) else None
        if first is None or first.style not in ("num", "paren") or first.value != 1:
            continue
        if not title or len(title) > 24 or re.search(r"[？?。；;]$", title) or has_blank(title):
            continue
        last = label.value
        found[index] = Heading(label, title, outer.fine, _read_marks(title) or outer.marks, len(piece.text))
    return found if len(found) > 1 else {}


def _ends_with_keys(text: str) -> bool:
    title = _GLUED_TITLE.match(text.strip()) or re.match(r"[^:：]{2,16}[:：]", text.strip())
    return title is not None and _holds_keys(text.strip()[title.end() :])


def _has_successor(pieces: Sequence[Piece], index: int, label: Label) -> bool:
    return any(
        other is not None and other.style == label.style and other.value == label.value + 1
        for other in (piece.label for piece in pieces[index + 1 :])
    )


def _next_label(pieces: Sequence[Piece], index: int) -> Label | None:
    return next((piece.label for piece in pieces[index + 1 : index + 4] if piece.label is not None), None)


def _stands_in_options(pieces: Sequence[Piece], index: int) -> bool:
    """Whether `C. Job analysis` is an option: the letter before it stands on the line above, or `B.` below `A.`."""
    letter = pieces[index].text.strip()[:1]
    if letter in "ABCDEFG" and re.search(rf"\s[（(]?{chr(ord(letter) + 1)}\s*[.．、)）]", pieces[index].text):
        return True  # the next letter on the same line
    above = pieces[index - 1].text.strip() if index else ""
    below = pieces[index + 1].text.strip() if index + 1 < len(pieces) else ""
    return any(
        text[:1] == chr(ord(letter) + step) and text[1:2] in ".．、)） " and letter in "ABCDEFGH"
        for text, step in ((above, -1), (below, 1))
    )


def _heads_list(pieces: Sequence[Piece], index: int, heading: Heading) -> bool:
    """Whether the questions of a list follow a heading whose label could as well be that of one question.

    Letters and bullets list questions only where a question is one line: statements, terms, gaps.
    """
    is_short_kind = heading.fine is not None and heading.fine.question_type in (
        "true_false",
        "fill_in_the_blank",
        "term_explanation",
    )
    own = heading.label.style if heading.label is not None else ""
    for place, piece in enumerate(pieces[index + 1 : index + 4], start=index + 1):
        label = piece.label
        if label is not None and not label.is_weak:
            if label.style in ("num", "paren", "nump", "bracket", "wordp", "word", "dec"):
                return label.style != own or label.value == 1
            is_choice = heading.fine is not None and heading.fine.question_type == "multiple_choice"
            if label.style in ("romanp", "romanl"):
                return is_short_kind or is_choice
            return is_short_kind and label.style in ("letter", "letterp")
        if is_short_kind and BULLET.match(piece.text):
            return place + 1 < len(pieces) and BULLET.match(pieces[place + 1].text) is not None
    return False


def _heads_text(pieces: Sequence[Piece], index: int, heading: Heading) -> bool:
    """Whether `Essay (40 points)` stands above one question without a number."""
    text = pieces[index].text.strip()
    if index + 1 >= len(pieces) or heading.fine is None or match_exactly(heading.title) is None:
        return False
    if heading.fine.question_type not in ("essay", "short_answer", "calculation", "material_analysis"):
        return False
    has_marks = MARKS.search(text) is not None
    following = pieces[index + 1]
    is_text = following.label is None and len(following.text.strip()) > 30
    return is_text and (has_marks or (heading.fine.name == "essay" and text == heading.title))


def _starts_list(pieces: Sequence[Piece], index: int) -> bool:
    """An unlabelled heading counts where a numbered line follows closely, or where it is a title and nothing else."""
    if re.search(r"\d", pieces[index].text) and _ends_with_keys(pieces[index].text):
        return True
    if pieces[index].text.strip().endswith("题") and match_exactly(pieces[index].text.strip()) is not None:
        return index + 1 < len(pieces)
    for piece in pieces[index + 1 : index + 4]:
        label = piece.label
        if label is not None and not (label.is_weak and label.style == "bare") and label.style != "letter":
            return True
        if INSTRUCTION.search(piece.text):
            continue
    return False


@lru_cache(maxsize=1 << 14)  # a line is looked at by several steps
def read_heading(text: str) -> Heading | None:
    """Read one line as a heading that names a question type; None when it is not one."""
    from tasks.ingest.words.labels import parse_label

    stripped = text.lstrip("#* \t").strip()
    offset = text.find(stripped) if stripped else 0
    label = parse_label(stripped)
    if label is not None and label.style not in (*_STRONG_STYLES, "num", "word", "nump"):
        label = None
    if label is None:
        label = _read_capital(stripped) or _read_spaced(stripped)
    body = stripped[label.end :] if label else stripped
    shift = offset + (label.end if label else 0)
    unwrapped = body.strip("【】[]《》 \t*")
    if unwrapped != body and len(unwrapped) <= 14 and match_exactly(unwrapped):
        return Heading(label, unwrapped, match_exactly(unwrapped), None, len(text))
    lead = _LEADING_MARKS.match(body) if label is not None and label.style in ("word", "num") else None
    if lead:  # `Q1 [12 marks] Circle the best answer.`
        body, shift = body[lead.end() :], shift + lead.end()
    elif label is not None and label.style in _STRONG_STYLES:
        lead = _LEADING_MARKS.match(body)  # `一、（每小题5分，共30分）简答题`
        named = body[lead.end() :].strip(" 。.:：") if lead else ""
        fine = match_exactly(named) if named else None
        if fine is not None:
            return Heading(label, named, fine, _read_marks(body), len(text))
    title, end = _cut_title(body)
    if not title:
        return None
    glued = _GLUED_TITLE.match(body)
    if glued and glued.end() < end and match_exactly(glued.group(1)):
        title, end = glued.group(1), glued.end(1)  # `单选题 1.A 2.C`
    is_strong = label is not None and label.style in (*_STRONG_STYLES, "capital", "word")
    fine = _match_title(title, is_strong)
    if fine is None and label is not None and label.style in ("word", "num") and len(body) <= _ENGLISH_LIMIT:
        fine = None if re.search(r"[？?]", body) else find_type_by_pattern(body)
        if fine is not None and fine.question_type in _INSTRUCTED:
            return Heading(label, body, fine, _read_marks(body), len(text))
        return None
    if fine is None:
        return None
    tail = body[end:]
    marks = _read_marks(body)
    rest = _skip_remarks(tail)
    remainder = tail[rest:].strip()
    if _BRACKETED_RANGE.match(tail) and _holds_keys(tail.strip()):
        rest, remainder = 0, tail.strip()  # `单选题（1~5）ABBBD`
    has_keys = bool(remainder) and remainder[0] in _KEY_START and _holds_keys(remainder)
    if remainder and not has_keys and (INSTRUCTION.search(remainder[:80]) or len(remainder) < 6):
        remainder = ""
    if remainder and not has_keys and _TOTAL.search(remainder):
        remainder = ""
    if remainder and not is_strong and not has_keys:
        return None
    if remainder and label is not None and label.style in ("word", "capital"):
        remainder = "" if len(remainder) <= 60 else remainder
    if (
        label is not None
        and label.style == "word"
        and (len(remainder) > 60 or not _is_sure_title(title, fine))
    ):
        return None  # `Problem 1: True/False` heads a list, `Question 1. Essay on …` is a question
    return Heading(label, title, fine, marks, shift + end + rest if remainder else len(text))


# `代码题：要求代码完整……（总分40分）` tells how to answer
_TOTAL = re.compile(r"[（(,，]\s*(?:总分|总计|合计|共|满分|每题|每小题)[^（()）]{0,12}分\s*[)）]?\s*$")


def _is_sure_title(title: str, fine: FineType) -> bool:
    """Whether a title is a type's name, or tells how to answer a list: `Circle the best answer`."""
    if match_exactly(title) is not None:
        return True
    return fine.question_type in _INSTRUCTED and find_type_by_pattern(title) is fine


def _read_marks(body: str) -> float | None:
    each = MARKS_EACH.search(body)
    return next((float(group) for group in each.groups() if group), None) if each else None


def _read_capital(text: str) -> Label | None:
    """Read `B. True/False` or `(B) Essay`: a section's letter, which `_find_headings` lets count above a list only."""
    if text[:1] not in _CAPITALS:
        return None
    match = _CAPITAL.match(text)
    if match is None:
        # `II Short answer questions`: a numeral without a stop
        roman = _ROMAN_WORD.match(text)
        value = read_number(roman.group(1)) if roman else None
        if roman and value:
            return Label("roman", value, roman.end(), roman.group(1))
        match = _CAPITAL_TITLE.match(text)
        if match is None or match_exactly(text[match.end() :].strip()) is None:
            return None
    letter = match.group(1) or match.group(2)
    return Label("capital", ord(letter) - ord("A") + 1, match.end(), match.group(0).strip())


def _read_spaced(text: str) -> Label | None:
    """Read `二 简答题`, `Ⅱ 填空`: a numeral without a stop counts only before the name of a type."""
    match = _SPACED_NUMERAL.match(text)
    if match is None:
        return None
    name = re.match(r"[\u4e00-\u9fff]{2,10}", text[match.end() :])
    if name is None or match_exactly(name.group(0)) is None:
        return None
    style = "cn" if "\u4e00" <= match.group(1)[0] <= "\u9fff" else "roman"
    return Label(style, read_number(match.group(1)) or 0, match.end(), match.group(1))


def _holds_keys(text: str) -> bool:
    return bool(read_key_line(text))


def _cut_title(body: str) -> tuple[str, int]:
    """Return the title at the start of a heading and where it ends: at a bracket, colon, stop or wide gap."""
    match = _TITLE_END.search(body)
    end = match.start() if match else len(body)
    return body[:end].strip(), end


def _match_title(title: str, is_strong: bool) -> FineType | None:
    if len(title) > _ENGLISH_LIMIT or "？" in title or "?" in title:
        return None
    if _HAN.search(title):
        mixed = _TWO_LANGUAGES.fullmatch(title)
        if mixed:  # `判断题 True/False`, `Short answers 简答题`
            fine = match_exactly(simplify(mixed.group("first") or mixed.group("second")))
            if fine is not None:
                return fine
        if len(title) > (18 if is_strong else 12):
            return None
        folded = simplify(title).replace(" ", "")
        if folded[:1] in "本大题型:：以下":
            folded = _TITLE_LEAD.sub("", folded)
        fine = match_exactly(folded)
        if fine is not None:
            return fine
        if not is_strong:
            fine = find_type_in_title(folded) if len(folded) <= 8 and folded.endswith("题") else None
            return fine if fine is not None and _is_plain_title(folded, fine) else None
        return find_type_in_title(folded) if _TITLE_TAIL.search(folded) else None
    words = title.split()
    if _REQUEST.match(title) and match_exactly(title) is None and not title.endswith("following"):
        return find_type_by_pattern(title) if is_strong else None  # `V. Design a cache` asks
    fine = match_exactly(title)
    if fine is not None:
        return fine
    if not is_strong:
        return find_type_in_title(title) if len(words) <= 4 and _ENGLISH_TAIL.search(title) else None
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
        match = _REMARK_GAP.match(tail, position)
        if match:
            position = match.end()
            continue
        match = _REMARK.match(tail, position)
        if not match:
            break
        position = match.end()
    return position


_ONLY_SUM = re.compile(
    r"[\s:：.\-–—]*(?:Answer\s+(?:any|all)\s+\w+\s*)?[(\[（【]?[\d\s×x*=+.]*(?:points?|pts?|marks?|分)?[\s)\]）】]*[.:]?\s*",
    re.IGNORECASE,
)


def _is_question(section: Section, last: int = 0) -> bool:
    """Whether an untyped heading is one question by itself rather than the title of several.

    `last` is the number of the last question before it: numbers that continue from it count questions.
    """
    if section.fine is not None or section.number is None or not section.pieces:
        return False
    first = section.pieces[0].text.strip()
    children_numbers = _child_numbers(section)
    if children_numbers and re.fullmatch(r"(?i)questions?\s*(?:[(\[].*[)\]])?", first):
        return False
    if last and children_numbers and children_numbers[0] == last + 1 and section.style == "part":
        return False
    if section.style == "part" and _ONLY_SUM.fullmatch(first) and len(children_numbers) >= 2:
        return False  # `Part II: [6 x 2 = 12 marks]` stands above a list
    if section.style == "part" and _opens_list(section, last):
        return False
    own = [piece.label for piece in section.pieces if piece.text.lstrip()[:1] in "ABCDEFGH"]
    if sum(1 for label in own if label is not None and label.style == "capnum") > 1:
        return False  # `A1.` `A2.` below `Part A`
    offered = sum(1 for piece in section.pieces if OPTION_A.match(piece.text))
    if offered > 1 and (section.style == "part" or len(children_numbers) > 1):
        return False  # several choice questions
    if section.style == "part" and any(READ_PASSAGE.search(piece.text) for piece in section.pieces[:3]):
        return len(children_numbers) < 2
    if CHOOSE_SOME.search(first[:160]) or (
        len(first) < 60 and len(section.pieces) > 1 and CHOOSE_SOME.search(section.pieces[1].text[:160])
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
    if len(numbered) < 2 or (numbered[0].value != 1 and numbered[1].value != numbered[0].value + 1):
        return True
    if len(numbered) and first_number and len(numbered) >= 2:
        between = [piece.text for piece in section.pieces[1 : first_number + 1]]
        if any(not INSTRUCTION.search(text) and len(text.strip()) > 8 for text in between):
            return True  # what is asked about stands above its parts
    if _lists_questions(first, section, numbered):
        return False
    is_short = len(first) <= (24 if re.search(r"[\u4e00-\u9fff]", first) else 60)
    return not (
        is_short
        and not re.search(r"[？?]|[：:]\s*(?:[（(\[].{0,16}[)）\]])?$", first)
        and not MARKS_GROUP.match(first)
    )


def _opens_list(section: Section, last: int) -> bool:
    """Whether `Section A` stands right above a question: `Question 1 (5 marks)`, or `1. …` with its `2. …` below."""
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


_TELLS = re.compile(
    r"请|根据|选择|选出|填|写出|读一读|阅读|判断|连线|连一连|翻译|找出|用.{0,12}(?:填空|造句)|完成|补充|改写|排序|序号|(?i:choose|fill|complete|circle|match|rewrite|translate|answer|put|write|correct)"
)
_PLACE = re.compile(r"_{2,}|[（(]\s*[)）]|[（(]\s*A\s*[.．、]|^\s*[（(\[]?A\s*[.．、)）]")


def _lists_questions(first: str, section: Section, numbered: Sequence[Label]) -> bool:
    """Whether `六、根据首字母写出单词（19分）` tells how to answer the numbered questions below it, each with its place.

    `设……（10分）` above three numbered parts asks one question: it tells nothing, and its parts have no places.
    """
    values = [label.value for label in numbered if label.style == numbered[0].style]
    if len(values) < 3 or values != list(range(1, len(values) + 1)) or len(first) > 90:
        return False
    if not _TELLS.search(first) or re.search(r"[？?]\s*(?:[（(].{0,16}[)）])?$", first):
        return False
    places = sum(
        1
        for index, piece in enumerate(section.pieces)
        if piece.label is not None
        and piece.label.style == numbered[0].style
        and any(_PLACE.search(line.text) for line in section.pieces[index : index + 2])
    )
    return places >= 0.6 * len(values)
