"""Splitting a paper's text into questions by rules for layouts, never for single papers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from tasks.ingest.answers import (
    ANSWER_MARK,
    EXPLANATION_MARK,
    has_colon,
    read_key,
    read_truth,
    split_fillings,
)
from tasks.ingest.cleaning import clean_text, detect_language
from tasks.ingest.content import (
    BLANK_NUMBER,
    Draft,
    drop_asking_lead,
    make_true_false,
    read_content,
    set_choice_answer,
)
from tasks.ingest.emphasis import take_format_keys
from tasks.ingest.extraction import Line
from tasks.ingest.keys import (
    KeyEntry,
    KeySection,
    find_region,
    find_region_headings,
    is_region_heading,
    part_answers,
    read_entries,
    read_key_line,
    read_region,
    read_table_keys,
    read_table_numbers,
    split_inline,
)
from tasks.ingest.kinds import BLANK
from tasks.ingest.labels import Label, parse_label
from tasks.ingest.lexicon import FineType, match_type_name
from tasks.ingest.options import offers_options, split_options
from tasks.ingest.pieces import Piece, join_pieces, make_pieces
from tasks.ingest.sections import (
    BULLET,
    CHOOSE_SOME,
    INSTRUCTION,
    MARKS_GROUP,
    OPTION_A,
    Section,
    divide,
    is_chapter,
)
from tasks.ingest.sequences import Candidate, choose_questions
from tasks.ingest.tables import QuestionTable, find_key_tables, find_question_tables, read_question_table

QUESTION_STYLES = (
    "word",
    "wordp",
    "num",
    "sub",
    "bracket",
    "nump",
    "paren",
    "dec",
    "capnum",
    "cn",
    "cnp",
    "circ",
    "bare",
    "roman",
    "romanp",
    "romanl",
    "letter",
    "letterp",
)
_NOTICE = re.compile(
    r"^\s*(?:注意事项|考生须知|考生注意|答题须知|注意|说明|Instructions?|Notes?|Notice|Directions?|INSTRUCTIONS?)\s*[:：]?\s*$",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"(?:姓\s*名|学\s*号|班\s*[级别]|准考证号|座位号|考试时间|考试形式|考试方式|考试科目|任课教师|出卷|命题人|审核|得\s*分|评卷人|阅卷人|总\s*分|Name|Student\s*(?:ID|No)|Score)\s*[:：_]",
)
_MATERIAL = re.compile(
    r"^\s*(?:[（(【]?\s*\d+\s*[～~\-—–至]\s*\d+\s*(?:小)?题.{0,20}(?:共用|根据|基于|备选|材料|题干).{0,20}|【?(?:材料|案例|资料|背景材料|阅读材料)[一二三四五\d]?】?\s*[:：]|阅读(?:下列|以下|下面|上述)?.{0,12}(?:材料|史料|短文|案例|资料|文章|文字).{0,30}|[（(]?[一二三四五六七八九十\d]*[)）]?、?根据(?:以下|下列|下面)(?:材料|案例|资料|短文|一段文字).{0,20}|"
    r"(?i:questions?\s+\d+\s*(?:[-–~]|to|and|through)\s*\d+\s+(?:are|is|refer|relate).{0,60}|(?:read|study) the (?:following )?(?:passage|text|case|material|paragraph).{0,60}|passage\s+(?:\d+|one|two|three|[A-D])\b.{0,30}|(?:case|reading) (?:study )?\d*\s*[:：]|word (?:bank|list|box)\b.{0,120}))"
)
_MATERIAL_STARTS = "（(【）)、材案资背阅一二三四五六七八九十根QqRrSsſPpCcWw"
# `设有关系 S、C、SC，试用 SQL 完成下列查询：` above numbered questions says what all of them are about
_GIVEN = re.compile(r"\s*(?:假?设(?![计备施立置])|假定|已知|现有|给定|某(?!些)|有(?:如下|以下|一))")
_LEADS = re.compile(r"(?:下列|以下|如下|下面|试|求|回答|完成|计算|写出|分析).{0,30}[：:]$")
_CASE = re.compile(
    r"^\s*【?(?:案例|材料|史料|资料|Case|CASE|Passage|PASSAGE|Text)\s*(?:[一二三四五六七八九]|\d|[IVX]+|[A-D])\s*】?\s*(?:[:：.、]|$)"
)
_ASKS = re.compile(
    r"[？?]\s*(?:[（(][^（()）]{1,8}[)）])?\s*$|^\s*(?:问题?|请问|请回答|要求|试(?:问|分析|述))\s*[:：]?"
)
_RANGE = re.compile(
    r"(\d{1,3})\s*(?:[-–—~～至到]|to|through|and)\s*(\d{1,3})\s*(?:小)?(?:题|are|is|refer|relate)?",
    re.IGNORECASE,
)
# begins with the digit and looks back from it: a search skips to digits
_INLINE_NUMBER = re.compile(r"(\d(?<=[\s。.；;）)？?]\d)\d{0,2})\s*[.．、]\s*(?=[^\d\s])")
_LEADING_BRACKET = re.compile(
    r"^\s*([（(\[]\s*(?:[A-J]{0,6}|√|×|✓|✗|○|对|错|T|F|True|False)\s*[)）\]])\s*(?=[（(]?\d{1,3}\s*[.．、)）](?!\d))"
)
_LEADING_CHOICE = re.compile(
    r"^\s*(?:T|True|TRUE)\s*(?:\s|/|or)\s*(?:F|False|FALSE)\s*(?:_+\s*)?(?=(?:Q\s*)?\d{1,3}\s*[.．、)）]\s*\S)"
)
_LEADING_BLANK = re.compile(
    r"^\s*_{1,}\s*([A-Ja-j]{1,6}|√|×|✓|✗|T|F|True|False|TRUE|FALSE|)\s*_{1,}\s*(?=(?:Q\s*)?\d{1,3}\s*[.．、)）]\s*\S)"
)
_OPTION_A = re.compile(r"\s*[（(]?[Aa]\s*[)）.．、]")
_OPTION_LINE = re.compile(r"\s*[（(]?[A-Ja-j]\s*[)）.．、]")
_RULE = re.compile(r"[-—–=*_·.…~\s]{3,}")
_PAPER_END = re.compile(
    r"[-—–=*▒▓\s]*(?:以下(?:为)?(?:试题|答题)区域?.{0,60}|(?:试卷|试题|全卷)?(?:完|结束|END|The end)|"
    r"(?:this is )?(?:the )?end\s*of\s*(?:the )?(?:question )?(?:paper|exam|examination|test|quiz|questions|section \w+|part \w+)|"
    r"good luck|(?:sub)?total(?: marks| points)?\s*[:：=]?\s*[(\[]?\d{1,3}(?: marks?| points?| pts?)?[)\]]?|"
    r"[\[(]?(?:please )?turn (?:the )?(?:page|over)(?: the page)?[\])]?|p\.?\s?t\.?\s?o\.?|you are on page \d+\s*of\s*\d+|"
    r"(?:see|go to|continued? on) (?:the )?(?:next )?page(?: \d+)?|(?:this )?page (?:is )?(?:intentionally )?(?:left )?blank|"
    r"page\s*\d{1,3}(?:\s*(?:of|/)\s*\d{1,3})?|第\s*\d{1,3}\s*页\s*[,，]?\s*(?:共\s*\d{1,3}\s*页)?)[。.!！\s▒▓\-—–=*]*",
    re.IGNORECASE,
)
_END_STARTS = "-—–=*▒▓以试全完结第[(TtEeGgSsſPpYyCc"
_AFTER_TITLE = re.compile(r"[^。？?；;_]{2,40}?\s+(?=一\s*[、.．]\s*[\u4e00-\u9fff]{2,8}题)")
_MATCHING = re.compile(r"(?:^|[^\w])B1?\s*型|配伍|共用(?:备选)?(?:答案|选项)")
_LEADING_TAG = re.compile(r"\s*[【\[（(]\s*([\u4e00-\u9fff]{2,8})\s*[】\])）]\s*(?=[\d（(第])")
_SCORE_TABLE = re.compile(
    r"^[\s|]*(?:题\s*号|得\s*分|评卷人|总\s*分|阅卷人|分\s*数|签\s*名|Question|Score|Marks)[\s|]"
)

# `第 2 页 共 4 页`, alone or behind the paper's short title
# `科目名称：分析化学（A）     第 2 页 共 2 页`: with the number of pages told, whatever stands before
_PAGE_OF = re.compile(
    r"[^。？?；;_]{0,40}第\s*\d{1,3}\s*页\s*[,，/、]?\s*[（(]?\s*共\s*\d{1,3}\s*页\s*[)）]?\s*"
)
_PAGE_NUMBER = re.compile(
    r"[^。？?；;：:（(]{0,40}?(?:第\s*[\d一二三四五六七八九十_]{1,3}\s*页\s*[,，/、]?\s*[（(]?\s*(?:共\s*[\d一二三四五六七八九十_]{1,3}\s*页)?|"
    r"共\s*[\d一二三四五六七八九十_]{1,3}\s*页\s*[,，/、]?\s*第\s*[\d一二三四五六七八九十_]{1,3}\s*页)\s*[)）]?[\s|\-—–·]*|"
    r"[\-—–·~]\s*\d{1,3}\s*[\-—–·~]|[Pp]age\s*\d{1,3}(?:\s*(?:of|/)\s*\d{1,3})?"
)
# the marker's boxes above a section: `得分 | 评卷人`
_MARKER_BOX = re.compile(
    r"(?:(?:本题)?得\s*分|评\s*[卷阅]\s*(?:人|教师)|阅\s*卷\s*(?:人|教师)|题\s*分|复\s*[核查]\s*人|评\s*分(?:人)?|核\s*分\s*人|统\s*分\s*人|签\s*[名字]|[\s|:：_/（）()])+"
)
_MARKER = re.compile(r"[分人名师]")
# the sealing line: `…密…封…线…`, `装订线内请勿答题`
_SEAL = re.compile(
    r"[密封线装订内外请勿不要准得答题卷上写字号姓名班级学院专业考生：:….·•\-—─━_=○〇◎\s|（）()※]+"
)


@dataclass
class Split:
    """The questions of one paper, the answers that found no question, and sentences on what was odd."""

    drafts: list[Draft]
    keys: list[KeySection] = field(default_factory=list)
    language: str | None = None
    warnings: list[str] = field(default_factory=list)


def split_lines(lines: Sequence[Line], starts: Sequence[int]) -> Split:
    """Split the lines of a document into drafts of questions.

    `starts` are the offsets of the lines in the raw text. Answers printed at the end of the paper are
    matched to their questions; those that match none are returned in `keys` (a separate answer file
    consists of nothing else).
    """
    pieces = make_pieces(lines, starts)
    language = detect_language("\n".join(piece.text for piece in pieces if not _asks_name(piece.text)))
    result = Split([], language=language)
    tables = _Tables(lines, starts, language, result.warnings)
    body, regions = _take_regions(part_answers(tables.replace_rows(pieces)))
    keys: list[tuple[int, KeySection]] = []
    drafts: list[Draft] = []
    for part, (part_pieces, region) in enumerate(zip(body, regions, strict=True)):
        part_drafts, part_keys = _split_part(part_pieces, language, tables)
        answered = tables.read(region, len(part_drafts), None)
        found = read_region([piece for piece in region if piece.table < 0]) if region else []
        part_drafts = _merge_repeated(part_drafts, answered, language)
        unmatched = match_keys(part_drafts, [*part_keys, *found], language)
        keys.extend((part, section) for section in unmatched)
        drafts.extend(part_drafts)
    result.keys = [section for _, section in keys]
    result.drafts = drafts
    take_format_keys(drafts, lines, starts)
    if result.keys and drafts:
        count = sum(len(section.entries) for section in result.keys)
        result.warnings.append(f"{count} printed answers match no question.")
    report_gaps(result)
    return result


def _asks_name(text: str) -> bool:
    return (has_colon(text) or "_" in text) and _FORM.search(text) is not None


class _Tables:
    """The tables of a document that hold one question to a row, read when their section is known."""

    def __init__(
        self, lines: Sequence[Line], starts: Sequence[int], language: str | None, warnings: list[str]
    ) -> None:
        self.lines, self.starts, self.language, self.warnings = lines, starts, language, warnings
        self.tables: list[QuestionTable] = find_question_tables(lines)
        taken = {line for table in self.tables for line in table.lines}
        self.keys = [(span, keys) for span, keys in find_key_tables(lines) if span.start not in taken]

    def replace_rows(self, pieces: list[Piece]) -> list[Piece]:
        """Put one piece of kind `questions` in the place of every such table, key lines in that of a key table."""
        tables = {self.starts[line]: place for place, table in enumerate(self.tables) for line in table.lines}
        keys = {self.starts[line]: place for place, (span, _) in enumerate(self.keys) for line in span}
        if not tables and not keys:
            return pieces
        kept: list[Piece] = []
        seen: set[str] = set()
        for piece in pieces:
            is_table = piece.start in tables
            if not is_table and piece.start not in keys:
                kept.append(piece)
                continue
            place = tables[piece.start] if is_table else keys[piece.start]
            if f"{is_table}{place}" in seen:
                continue
            seen.add(f"{is_table}{place}")
            if is_table:
                kept.append(replace(piece, text="▦", sources=(piece.start,), kind="questions", table=place))
            else:
                kept.extend(_write_keys(piece, self.keys[place][1], kept))
        return kept

    def read(self, pieces: Sequence[Piece], section: int, fine: FineType | None) -> list[Draft]:
        """Return the questions of all tables among the pieces; `fine` is the type that their section names."""
        drafts: list[Draft] = []
        for piece in pieces:
            if piece.table >= 0:
                found, warnings = read_question_table(
                    self.tables[piece.table], self.lines, self.starts, section, fine, self.language
                )
                drafts.extend(found)
                self.warnings.extend(warnings)
        return drafts


def _write_keys(piece: Piece, entries: Sequence[KeyEntry], before: Sequence[Piece]) -> list[Piece]:
    """Write the rows of a key table as the lines that key lines are read from."""
    if any(is_region_heading(other.text) for other in before):
        texts = [
            f"{entry.number}. {entry.text}" + (f" 解析：{entry.explanation}" if entry.explanation else "")
            for entry in sorted(entries, key=lambda entry: entry.number)
        ]
    else:
        texts = ["  ".join(f"{entry.number}. {entry.text}" for entry in entries)]
        if not read_key_line(texts[0]):
            return [piece]
    return [replace(piece, text=text, sources=(), kind="body") for text in texts]


def _merge_repeated(drafts: list[Draft], answered: Sequence[Draft], language: str | None) -> list[Draft]:
    """Add the questions of the tables in an answer part, unless they only repeat questions with their answers."""
    if not answered:
        return drafts
    by_stem = {re.sub(r"\W+", "", draft.stem): draft for draft in drafts}
    added: list[Draft] = []
    for draft in answered:
        known = by_stem.get(re.sub(r"\W+", "", draft.stem))
        if known is None:
            added.append(draft)
            continue
        known.answer = known.answer or draft.answer
        known.explanation = known.explanation or draft.explanation
    return [*drafts, *added]


def _take_regions(pieces: list[Piece]) -> tuple[list[list[Piece]], list[list[Piece]]]:
    """Separate question parts from answer parts; a chapter that begins inside an answer part ends it."""
    bodies: list[list[Piece]] = []
    regions: list[list[Piece]] = []
    rest = pieces
    headings = find_region_headings(pieces)
    while rest:
        index = find_region(rest, headings)
        while index is not None and _find_next_section(rest, index) is not None:
            # the answers of one section, read with it
            index = find_region(rest, [heading for heading in headings if heading > index])
        if index is None:
            bodies.append(rest)
            regions.append([])
            break
        end = len(rest)
        for place in range(index + 2, len(rest)):
            if is_chapter(rest[place].text) and _has_options_ahead(rest[place : place + 60]):
                end = place
                break
        bodies.append(rest[:index])
        regions.append(rest[index + 1 : end])
        rest = rest[end:]
        headings = [heading - end for heading in headings if heading >= end]
    return bodies, regions


def _find_next_section(pieces: Sequence[Piece], index: int) -> int | None:
    """Return where questions go on behind the answers of one section: at the heading with the next number.

    The answers of a whole paper begin with the first section again.
    """
    from tasks.ingest.sections import read_heading

    before = (read_heading(pieces[place].text) for place in range(index - 1, -1, -1))
    last = next((found.label for found in before if found is not None and found.label is not None), None)
    if last is None:
        return None
    for place in range(index + 1, len(pieces)):
        heading = read_heading(pieces[place].text)
        if heading is not None and heading.label is not None:
            is_next = (heading.label.style, heading.label.value) == (last.style, last.value + 1)
            return place if is_next else None
    return None


def _has_options_ahead(pieces: Sequence[Piece]) -> bool:
    return any(_OPTION_A.match(piece.text) for piece in pieces)


def _split_part(
    pieces: list[Piece], language: str | None, tables: _Tables
) -> tuple[list[Draft], list[KeySection]]:
    pieces = _letter_options(pieces)
    if len(pieces) > 2 and pieces[-1].text.strip() == pieces[0].text.strip():
        pieces = pieces[:-1]  # the title again, above the answers
    pieces = [
        _move_tag(_move_bracket(piece))
        for piece in _drop_page_numbers(_drop_notices(pieces))
        if not _is_noise(piece, language)
    ]
    for index, piece in enumerate(pieces[:6]):
        title = _AFTER_TITLE.match(piece.text)
        if title is not None:
            pieces[index] = piece.cut(title.end())
    sections = divide(_drop_titles(pieces))
    has_typed = any(section.fine is not None for section in sections)
    keys: list[KeySection] = []
    chunks: list[tuple[int, Section, Label | None, list[Piece], str | None]] = []
    carry: int | None = None
    drafts: list[Draft] = []
    for number, section in enumerate(sections):
        in_tables = tables.read(section.pieces, number, section.fine)
        if in_tables:
            drafts.extend(in_tables)
            for draft in in_tables:
                draft.marks = draft.marks if draft.marks is not None else section.marks
            section.pieces = [piece for piece in section.pieces if piece.table < 0]
            section.is_question = False
        section.pieces = _take_key_lines(section, keys)
        if in_tables and all(piece.label is None for piece in section.pieces):
            continue  # what is left besides the tables are instructions
        if number == 0 and section.is_cover and has_typed and not _has_options_ahead(section.pieces):
            continue
        if section.is_question:
            own = Label(section.style, section.number or 0, 0, section.label)
            chunks.append((number, section, own, section.pieces, None))
            continue
        found, carry = _split_section(section, carry)
        chunks.extend((number, section, label, lines, material) for label, lines, material in found)
    is_answered = _prints_answers([lines for _, _, _, lines, _ in chunks])
    has_tables = bool(drafts)
    filled = _find_filled(chunks)
    for number, section, label, lines, material in chunks:
        fine = None if label is not None and label.style == "bonus" else section.fine
        draft = read_content(lines, fine, language, is_answered or number in filled)
        if not draft.stem and not draft.options:
            continue
        draft.section = number
        draft.section_number = section.number
        draft.number_label = label.text if label else ""
        draft.value = label.value if label else None
        _cut_own_number(draft)
        draft.material = drop_asking_lead(clean_text(material, language)) if material else draft.material
        if draft.material and not draft.options and draft.question_type in ("short_answer", "essay"):
            draft.question_type = "material_analysis"
        if draft.marks is None:
            draft.marks = section.marks
        if lines:
            draft.start, draft.end = lines[0].start, max(line.end for line in lines)
        drafts.append(draft)
    _read_filled(drafts, language)
    _read_trailing_letters(drafts)
    if has_tables:
        drafts.sort(key=lambda draft: draft.start)
    return drafts, keys


_FILLED = re.compile(r"_{2,}([^_\n]{1,40})_{2,}")
_BETWEEN_BLANKS = re.compile(
    r"\s*(?:[和与及或、，,;；：:的是在为]|and\b|or\b|to\b|of\b|the\b|is\b|[.。])|.*[，。；,;]\s*$|\s*$"
)


def _read_filled(drafts: Sequence[Draft], language: str | None) -> None:
    """Read answers written on the lines to fill in, `a stream of ____tokens____`, where a whole section does so.

    One question tells nothing: `____ differs from ____` looks the same.
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


_TRAILING_LETTER = re.compile(r"(?<=\S)\s+([A-H])$")


def _read_trailing_letters(drafts: Sequence[Draft]) -> None:
    """Read keys printed bare behind the stems, `… level need is D`, where every question of a section has one."""
    groups: dict[int, list[Draft]] = {}
    for draft in drafts:
        if draft.options:
            groups.setdefault(draft.section, []).append(draft)
    for group in groups.values():
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
                draft.answer, draft.stem = [match.group(1)], draft.stem[: match.start()]


def _cut_own_number(draft: Draft) -> None:
    """Drop the question's own number before its answer: `答案：1.就绪，执行` below question 1."""
    if not draft.answer or draft.value is None or draft.question_type != "fill_in_the_blank":
        return
    own = re.match(rf"{draft.value}\s*[.．、]\s*(?=\D)", draft.answer[0])
    if own and not any(re.match(rf"{draft.value + 1}\s*[.．、]", text) for text in draft.answer[1:]):
        draft.answer[0] = draft.answer[0][own.end() :]


def _begins(text: str, characters: str) -> bool:
    """Whether a line begins with one of these characters: most do not, and need no closer look."""
    return text.lstrip()[:1] in characters


def _drop_notices(pieces: list[Piece]) -> list[Piece]:
    """Leave out the numbered rules below `注意事项` on a cover: up to the first heading or option."""
    from tasks.ingest.sections import read_heading

    kept: list[Piece] = []
    index = 0
    while index < len(pieces):
        if (
            _begins(pieces[index].text, "注考答说NnIiDdİı")
            and _NOTICE.match(pieces[index].text)
            and index < 0.3 * len(pieces) + 3
        ):
            place = index + 1
            while place < len(pieces) and place < index + 25:
                if read_heading(pieces[place].text) is not None or _has_options_ahead(
                    pieces[place : place + 2]
                ):
                    break
                place += 1
            has_heading = place < min(len(pieces), index + 25)
            if has_heading and read_heading(pieces[place].text) is not None:
                index = place
                continue
        kept.append(pieces[index])
        index += 1
    return kept


_PAGE_TAIL = re.compile(
    r"(.{0,60}?)[\s|,–—-]*\b(?:Page|page|PAGE|p\.)\s*\d{1,3}(?:\s*(?:of|/)\s*\d{1,3})?\s*"
)


def _drop_page_numbers(pieces: list[Piece]) -> list[Piece]:
    """Leave out the page numbers that a converter left in the text: lone numbers that rise one by one, far apart."""
    furniture: dict[str, list[int]] = {}
    for index, piece in enumerate(pieces):
        text = piece.text
        is_named = "age" in text or "PAGE" in text or "p." in text
        page = _PAGE_TAIL.fullmatch(text) if is_named and text.rstrip()[-1:].isdecimal() else None
        if page:
            furniture.setdefault(page.group(1).strip(), []).append(index)
    running = {index for places in furniture.values() if len(places) > 1 for index in places}
    if running:
        pieces = [piece for index, piece in enumerate(pieces) if index not in running]
    lone = [
        (index, int(piece.text))
        for index, piece in enumerate(pieces)
        if len(piece.text.strip()) <= 3 and piece.text.strip().isdecimal()
    ]
    if len(lone) < 2:
        return pieces
    steps = pairwise(lone)
    if any(number != last + 1 or index - before < 8 for (before, last), (index, number) in steps):
        return pieces
    dropped = {index for index, _ in lone}
    return [piece for index, piece in enumerate(pieces) if index not in dropped]


_NUMBER_KEY = re.compile(
    r"\s*(?:(?:the )?(?:correct )?(?:answer|ans|key)(?: is)?)\s*[:：.]?\s*[(]?([1-6])[)]?(?=\s*(?:$|[.,;。，)]|\s))",
    re.IGNORECASE,
)


def _letter_options(pieces: list[Piece]) -> list[Piece]:
    """Write options that are numbered 1 2 3 4, and their key `Answer: 2`, with letters.

    Only where a paper does so throughout: a run from 1 stands right before each of several such keys.
    """
    runs: list[tuple[int, list[tuple[int, Label]]]] = []
    for index, piece in enumerate(pieces):
        key = _NUMBER_KEY.match(piece.text) if _begins(piece.text, "TtCcAaKk\u212a") else None
        if not key:
            continue
        run: list[tuple[int, Label]] = []
        for place in range(index - 1, max(index - 16, -1), -1):
            label = pieces[place].label
            if label is None or label.style not in ("num", "paren", "nump", "circ"):
                continue
            if run and (label.style != run[0][1].style or label.value != run[0][1].value - 1):
                break
            run.insert(0, (place, label))
            if label.value == 1:
                break
        if len(run) in (3, 4, 5, 6) and run[0][1].value == 1 and int(key.group(1)) <= len(run):
            runs.append((index, run))
    if len(runs) < 2:
        return pieces
    changed = list(pieces)
    for index, run in runs:
        for place, label in run:
            changed[place] = _relabel(pieces[place], pieces[place].text.index(label.text), label.end, label)
        key = _NUMBER_KEY.match(pieces[index].text)
        if key:
            piece = pieces[index]
            letter = chr(ord("A") + int(key.group(1)) - 1)
            text = f"{piece.text[: key.start(1)]}{letter}{piece.text[key.end(1) :]}"
            changed[index] = replace(piece, text=text)
    return changed


def _relabel(piece: Piece, begin: int, end: int, label: Label) -> Piece:
    """Return an option with a letter in place of its number."""
    mark = f"{chr(ord('A') + label.value - 1)}. "
    rest = piece.cut(end)
    source = piece.sources[begin] if begin < len(piece.sources) else piece.start
    return replace(
        piece, text=mark + rest.text, sources=(*([source] * len(mark)), *rest.sources), label_length=0
    )


def _move_bracket(piece: Piece) -> Piece:
    """Put an answer bracket printed before the number, `（√）1. …`, behind the text, where others print it."""
    if not _begins(piece.text, "T_（(["):
        return piece
    choice = _LEADING_CHOICE.match(piece.text)
    if choice:
        return piece.cut(choice.end())  # `T F 1. …`: one of the two is to be circled
    blank = _LEADING_BLANK.match(piece.text)
    if blank:
        rest = piece.cut(blank.end())
        if not blank.group(1):
            return rest
        letter = piece.cut(blank.start(1), blank.end(1))
        body = rest.text.rstrip()
        return replace(
            piece,
            text=f"{body} ({letter.text.upper() if len(letter.text) == 1 else letter.text})",
            sources=(
                *rest.sources[: len(body)],
                letter.start,
                letter.start,
                *letter.sources,
                letter.end - 1,
            ),
            label_length=0,
        )
    match = _LEADING_BRACKET.match(piece.text)
    if not match or re.search(r"[（(]\s*[B-D]\s*[)）]", piece.text[match.end() :]):
        return piece
    rest, bracket = piece.cut(match.end()), piece.cut(match.start(1), match.end(1))
    return replace(
        piece,
        text=f"{rest.text.rstrip()}{bracket.text}",
        sources=(*rest.sources[: len(rest.text.rstrip())], *bracket.sources),
    )


def _move_tag(piece: Piece) -> Piece:
    """Put a type printed before the number, `[单选题]1. …`, behind the number."""
    match = _LEADING_TAG.match(piece.text) if _begins(piece.text, "【[（(") else None
    if not match or match_type_name(match.group(1)) is None:
        return piece
    rest = piece.cut(match.end())
    label = rest.label
    if label is None or label.is_weak:
        return piece
    tag, number, text = piece.cut(0, match.end()), rest.cut(0, label.end), rest.cut(label.end)
    return replace(
        piece,
        text=f"{number.text}{tag.text}{text.text}",
        sources=(*number.sources, *tag.sources, *text.sources),
    )


def _drop_titles(pieces: list[Piece]) -> list[Piece]:
    """Leave out the paper's title where it is printed again before a chapter."""
    if not pieces:
        return pieces
    title = pieces[0].text.strip()
    return [
        piece
        for index, piece in enumerate(pieces)
        if not (
            index
            and piece.text.strip() == title
            and len(title) > 3
            and is_chapter(_text_at(pieces, index + 1))
        )
    ]


def _text_at(pieces: Sequence[Piece], index: int) -> str:
    return pieces[index].text if index < len(pieces) else ""


def _is_noise(piece: Piece, language: str | None) -> bool:
    text = piece.text.strip()
    if piece.kind == "table" and _SCORE_TABLE.match(text) and not re.search(r"[\u4e00-\u9fff]{12,}", text):
        # an answer table (题号 | 1 | 2) is read elsewhere; a score table has Chinese or no numbers
        return not re.search(r"\b1\b.*\b2\b", text)
    if len(text) < 120 and (has_colon(text) or "_" in text) and len(_FORM.findall(text)) >= 2:
        return True
    if len(text) < 80 and _PAGE_OF.fullmatch(text):
        return True
    if (
        len(text) < 70
        and ("页" in text or "age" in text or text[0] in "-—–·~")
        and _PAGE_NUMBER.fullmatch(text)
        and (piece.label is None or text[0] in "-—–·第共" or ("第" in text and "共" in text))
    ):
        return True
    if len(text) < 40 and not text.isascii() and _is_marker_box(text):
        return True
    if "线" in text and len(text) < 200 and _SEAL.fullmatch(text) and re.search(r"密|封|装|订", text):
        return True
    if text[0] in "-—–=*_·.…~" and _RULE.fullmatch(text):
        return True
    return text[0] in _END_STARTS and _PAPER_END.fullmatch(text) is not None


def _is_marker_box(text: str) -> bool:
    return _MARKER.search(text) is not None and _MARKER_BOX.fullmatch(text) is not None


def _take_key_lines(section: Section, keys: list[KeySection]) -> list[Piece]:
    """Take key lines (`1、CDE 2、CD …`) out of a section: they answer its questions."""
    kept: list[Piece] = []
    found = KeySection(section.number, section.fine, title=section.title)
    pending: tuple[Piece, list[int]] | None = None
    block = _find_block(section)
    if block is not None:
        begin, offset = block
        answers = [section.pieces[begin].cut(offset), *section.pieces[begin + 1 :]]
        answers = [piece for piece in answers if piece.text.strip()]
        found.entries.extend(read_entries(Section(fine=section.fine, pieces=answers)))
    for piece in section.pieces[: block[0] if block is not None else None]:
        if pending is not None:
            cells = read_table_keys(piece.text, len(pending[1]))
            if cells:
                found.entries.extend(map(KeyEntry, pending[1], cells))
                pending = None
                continue
            kept.append(pending[0])
            pending = None
        numbers = read_table_numbers(piece.text)
        if numbers:
            pending = (piece, numbers)
            continue
        entries = read_key_line(piece.text)
        if len(entries) >= 2 and not offers_options([piece], True):
            found.entries.extend(entries)
        elif not (
            is_region_heading(piece.text)
            and len(piece.text) < 10
            and kept is not None
            and _is_last(section, piece)
        ):
            kept.append(piece)
    if pending is not None:
        kept.append(pending[0])
    if found.entries:
        keys.append(found)
        while kept and is_region_heading(kept[-1].text):
            kept.pop()
    return kept


def _find_block(section: Section) -> tuple[int, int] | None:
    """Return where the answers of a whole section begin below its questions: `答案：1）… 2）…`, the piece and the index.

    The first answer repeats the number of the first question, and there are several of both.
    """
    first: Label | None = None
    seen = 0
    for index, piece in enumerate(section.pieces):
        label = piece.label
        if label is not None and not label.is_weak and label.style in ("num", "nump", "paren", "bracket"):
            if first is None:
                first = label
            seen += label.style == first.style and label.value == first.value + seen
            continue
        mark = ANSWER_MARK.match(piece.text)
        if mark is None or first is None or seen < 2:
            continue
        rest = piece.cut(mark.end())
        follows = rest if rest.text.strip() else None
        if follows is None and index + 1 < len(section.pieces):
            follows = section.pieces[index + 1]
        start = follows.label if follows is not None else None
        if start is None or (start.style, start.value) != (first.style, first.value):
            continue
        following = [other.label for other in section.pieces[index + 1 :]]
        goes_on = any(
            label is not None and label.style == first.style and label.value == first.value + 1
            for label in following
        )
        if goes_on or (follows is rest and len(split_inline(rest)) > 1):
            return index, mark.end()
    return None


def _is_last(section: Section, piece: Piece) -> bool:
    return bool(section.pieces) and section.pieces[-1] is piece


def _split_section(
    section: Section, carry: int | None
) -> tuple[list[tuple[Label | None, list[Piece], str | None]], int | None]:
    """Return (label, lines, material) of every question in a section, and the last number used."""
    pieces = section.pieces
    expects_options = section.fine is not None and section.fine.question_type == "multiple_choice"
    cases = _split_cases(section)
    if cases and not _goes_on(section, carry):
        return cases, carry
    matching = _split_matching(section)
    if matching:
        last = matching[-1][0]
        return matching, last.value if last is not None else carry
    marks, style = _find_candidates(section, carry, expects_options)
    if not marks:
        return _split_unnumbered(section), carry
    chosen = choose_questions([mark[2] for mark in marks], carry, expects_options)
    picks = [marks[index] for index in chosen]
    if not picks:
        return _split_unnumbered(section), carry
    found: list[tuple[Label | None, list[Piece], str | None]] = []
    material: str | None = None
    material_until: int | None = None
    first_piece, first_begin, _, _ = picks[0]
    preamble = list(pieces[:first_piece])
    if first_begin:
        preamble.append(pieces[first_piece].cut(0, first_begin))
    if _is_single(section, preamble, picks):
        own = Label(section.style, section.number or 0, 0, section.label) if section.number else None
        return [(own, [piece for piece in pieces if not _is_instruction(piece)], None)], carry
    material, material_until = _read_material(preamble, section)
    shared = _shared_options(preamble, expects_options)
    for place, (index, begin, candidate, label) in enumerate(picks):
        following = picks[place + 1] if place + 1 < len(picks) else None
        lines = _lines_between(pieces, index, begin + label.end, following)
        if lines:
            # the question's place in the text begins at its number
            first = pieces[index]
            lines[0] = replace(
                lines[0], start=first.sources[begin] if begin < len(first.sources) else first.start
            )
        lines = [_cut_echo(line, candidate.value) for line in lines[:2]] + lines[2:]
        lines, tail = _cut_material(lines, section)
        if section.breaks:
            lines = _cut_breaks(lines, pieces, index, section.breaks)
        lines = _drop_part_heading(lines)
        if material_until is not None and candidate.value > material_until:
            material, material_until, shared = None, None, []
        if shared and not offers_options(lines, True):
            found.append((label, [*lines, *shared], None))
        else:
            found.append((label, lines, material))
        if tail:
            material, material_until = _read_material(tail, section)
            shared = _shared_options(tail)
    del style
    found = _cut_bonus(found)
    if expects_options:
        found = _move_leading_keys(found)
    if section.fine is not None and section.fine.name == "matching":
        found = _share_matches(found, preamble)
    if section.fine is not None and section.fine.question_type == "material_analysis":
        found = _join_shared(found, section)
    return found, picks[-1][2].value


_PART_HEADING = re.compile(
    r"\s*(?:[（(]?[B-H][)）]|[B-H]\s*[.．、:：])\s*(?:Directions?\s*[:：]\s*)?(?:[请将把]*(?:下列|以下|下面|下述|划线)|"
    r"(?:英译汉|汉译英|中译英|英译中)|(?i:(?:translate|rewrite|complete|fill|answer|correct|explain|choose|match|combine)"
    r"\s.{0,40}\b(?:following|below|sentences|words|phrases|questions)\b))"
)


def _drop_part_heading(lines: list[Piece]) -> list[Piece]:
    """Drop `B. Translate the following into English.` from the end of a question: it opens the next part.

    Below options it stays: there a letter counts an option.
    """
    if len(lines) < 2 or any(OPTION_A.match(line.text) for line in lines):
        return lines
    return lines[:-1] if _PART_HEADING.match(lines[-1].text) else lines


_LEADING_KEY = re.compile(r"\s*([A-H])\s+(?=[A-Z_\u4e00-\u9fff])")


def _move_leading_keys(
    found: list[tuple[Label | None, list[Piece], str | None]],
) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Put keys printed right behind the numbers, `1.B Which …`, behind the stems, where nearly all questions have one."""
    matches = [_LEADING_KEY.match(lines[0].text) if lines else None for _, lines, _ in found]
    letters = [match.group(1) for match in matches if match]
    if len(letters) < 2 or len(letters) < 0.8 * len(found) or set(letters) == {"A"}:
        return found
    moved: list[tuple[Label | None, list[Piece], str | None]] = []
    for (label, lines, material), match in zip(found, matches, strict=True):
        if match is None:
            moved.append((label, lines, material))
            continue
        letter = lines[0].cut(match.start(1), match.end(1))
        mark = replace(letter, text=f"Answer: {letter.text}", sources=(letter.start,) * 9, label_length=0)
        head = replace(lines[0].cut(match.end()), start=lines[0].start)
        moved.append((label, [head, *lines[1:], mark], material))
    return moved


_BONUS = re.compile(
    r"\s*((?:Bonus|BONUS|Extra [Cc]redit|EXTRA CREDIT)(?: (?:[Qq]uestion|[Pp]roblem|QUESTION|PROBLEM))?|附加题)\s*(?=[:：（(\[])[:：]?\s*"
)


def _cut_bonus(
    found: list[tuple[Label | None, list[Piece], str | None]],
) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Make a question of `Bonus (5 pts): …` behind the last numbered one."""
    label, lines, material = found[-1]
    for place, line in enumerate(lines[1:], start=1):
        bonus = _BONUS.match(line.text)
        if bonus and (line.text[bonus.end() :].strip() or place + 1 < len(lines)):
            own = Label("bonus", label.value + 1 if label is not None else 1, 0, bonus.group(1))
            rest = [replace(line.cut(bonus.end()), start=line.start), *lines[place + 1 :]]
            return [*found[:-1], (label, lines[:place], material), (own, rest, None)]
    return found


_ECHO = re.compile(r"\s+(\d{1,3})[.)]\s*_{3,}\s*$")


def _cut_echo(line: Piece, value: int) -> Piece:
    """Drop the place for the answer at the end of a stem, `… of the firm.   3) _____`: it repeats the number."""
    echo = _ECHO.search(line.text) if line.text.rstrip().endswith("___") else None
    return line.cut(0, echo.start()) if echo and int(echo.group(1)) == value else line


_Chunk = tuple[Label | None, list[Piece], str | None]
_MATCH = re.compile(r"(?:\s{2,}|\t\s*|\s*\|\s*)(?:_+\s*)?([（(]?[A-Ja-j]\s?[.)）]\s*\S.*)$")


def _share_matches(found: list[_Chunk], preamble: Sequence[Piece]) -> list[_Chunk]:
    """Give every term of a matching section the whole list of what it may be matched with.

    The list stands above the terms, below the last of them, or beside them in a second column.
    """
    beside = [
        (index, match)
        for index, (_, lines, _) in enumerate(found)
        for match in [_MATCH.search(lines[0].text)]
        if match is not None
    ]
    if len(beside) >= max(2, len(found) - 1):
        shared = [found[index][1][0].cut(match.start(1)) for index, match in beside]
        shared += [line for _, lines, _ in found for line in lines[1:]]
        if offers_options(shared, True):
            ends = {index: match.start() for index, match in beside}
            return [
                (label, [lines[0].cut(0, ends.get(index)), *shared], material)
                for index, (label, lines, material) in enumerate(found)
            ]
    label, lines, material = found[-1]
    below = split_options(lines, True)
    if below is not None and len(below.options) > 1 and below.stem:
        first = min(content[0].start for _, content in below.options)
        place = next((index for index, line in enumerate(lines) if line.end > first), len(lines))
        shared = list(lines[place:])
        return [
            *((other, [*own, *shared], passage) for other, own, passage in found[:-1]),
            (label, [*lines[:place], *shared], material),
        ]
    above = split_options(preamble, True)
    if above is not None:
        first = min(content[0].start for _, content in above.options)
        place = next((index for index, line in enumerate(preamble) if line.end > first), len(preamble))
        return [(other, [*own, *preamble[place:]], passage) for other, own, passage in found]
    return found


def _split_matching(section: Section) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split a section of `B型题`: a list of options stands above the questions that share it, list after list."""
    if not _MATCHING.search(section.title):
        return []
    found: list[tuple[Label | None, list[Piece], str | None]] = []
    shared: list[Piece] = []
    for piece in section.pieces:
        label = piece.label
        if _OPTION_LINE.match(piece.text):
            if shared and _OPTION_A.match(piece.text):
                shared = []
            shared.append(piece)
        elif label is not None and label.style in ("num", "paren", "nump", "bracket") and shared:
            found.append((label, [piece.cut(label.end)], None))
            found[-1][1].extend(shared)
        elif _MATERIAL.match(piece.text) or _RANGE.search(piece.text[:24]):
            shared = []
        elif found or shared:
            return []  # something else stands between: left to the numbers
    is_complete = all(len(lines) > 1 and offers_options(lines, True) for _, lines, _ in found)
    return found if len(found) > 1 and is_complete else []


def _goes_on(section: Section, carry: int | None) -> bool:
    """Whether the numbers below short-answer passages go on from the section before: they count questions then."""
    if not carry or section.fine is None or section.fine.question_type == "material_analysis":
        return False
    numbers = [piece.label.value for piece in section.pieces if piece.label and piece.label.style == "num"]
    return len(numbers) > 1 and numbers == list(range(carry + 1, carry + 1 + len(numbers)))


def _split_cases(section: Section) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split `案例一：… 问：… 案例二：… 问：…`: a case begins where the one before it has asked its questions.

    Cases below a question number, and cases whose questions offer options, are left to the numbers.
    """
    if section.fine is None or section.fine.question_type not in (
        "material_analysis",
        "short_answer",
        "essay",
    ):
        return []
    starts: list[int] = []
    asked = False
    for index, piece in enumerate(section.pieces):
        if _CASE.match(piece.text):
            if not starts or asked:
                starts.append(index)
            asked = False
        elif not starts and piece.label is not None and not _is_instruction(piece):
            return []
        elif piece.label is not None or _ASKS.search(piece.text):
            asked = True
    if len(starts) < 2 or not asked or split_options(section.pieces, False) is not None:
        return []
    ends = [*starts[1:], len(section.pieces)]
    return [
        (Label(section.style, place, 0, section.label), section.pieces[first:last], None)
        for place, (first, last) in enumerate(zip(starts, ends, strict=True), start=1)
    ]


def _is_single(section: Section, preamble: Sequence[Piece], picks: Sequence[_Mark]) -> bool:
    """Whether the numbers below a free-response heading count the parts of one question, whose text precedes them."""
    kind = section.fine.question_type if section.fine is not None else None
    if kind not in ("calculation", "short_answer", "essay") or picks[0][2].value != 1:
        return False
    text = join_pieces([piece for piece in preamble if not _is_instruction(piece)])
    is_part_style = picks[0][3].style in ("nump", "paren", "circ")
    return len(text) >= (12 if is_part_style else 60)


def _is_instruction(piece: Piece) -> bool:
    text = piece.text.strip()
    return len(text) < 120 and (
        INSTRUCTION.search(text) is not None
        or (len(text) < 30 and re.search(r"回答|作答|要求写出|(?i:answer|choose)", text) is not None)
    )


def _join_shared(
    found: list[tuple[Label | None, list[Piece], str | None]], section: Section
) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Make one question of the numbered questions below one material, unless they offer options of their own."""
    joined: list[tuple[Label | None, list[Piece], str | None]] = []
    last: str | None = None
    singles: dict[int, tuple[Label | None, list[Piece], str | None]] = {}
    offered = {material for _, lines, material in found if offers_options(lines, False)}
    for label, lines, material in found:
        has_options = offers_options(lines, False)
        numbered = (
            [replace(lines[0], text=_put_label(label, lines[0].text), sources=())] if label else lines[:1]
        )
        if material is not None and material == last and joined and not has_options:
            joined[-1][1].extend([*numbered, *lines[1:]])
            singles.pop(len(joined) - 1, None)
        elif material is not None and not has_options:
            joined.append((None, [*numbered, *lines[1:]], material))
            singles[len(joined) - 1] = (label, lines, material)
        else:
            joined.append((label, lines, material))
        last = None if has_options else material
    for place, single in singles.items():
        if single[2] in offered:
            joined[place] = single  # a question of its own beside choice questions on the same text
    section_label = Label(section.style, section.number or 0, 0, section.label)
    return [
        (label or (section_label if section.number else None), lines, material)
        for label, lines, material in joined
    ]


def _put_label(label: Label, text: str) -> str:
    gap = "" if label.text[-1:] in "、．）】" or "⑴" <= label.text[-1:] <= "⒛" else " "
    return f"{label.text}{gap}{text.strip()}"


_Mark = tuple[int, int, Candidate, Label]


def _find_candidates(section: Section, carry: int | None, expects_options: bool) -> tuple[list[_Mark], str]:
    """Return the numbers of the style that counts questions in this section."""
    labelled: list[tuple[int, Label]] = []
    for index, piece in enumerate(section.pieces):
        if piece.kind == "table":
            continue
        label = piece.label
        if label is not None and label.style in QUESTION_STYLES:
            labelled.append((index, label))
    style = _choose_style(labelled, carry, section)
    if style is None:
        return [], ""
    spots: list[tuple[int, int, Label, bool]] = []
    for index, label in labelled:
        if label.style == style or (style == "num" and label.style == "bare"):
            spots.append((index, 0, label, False))
    if style == "num":
        for index, piece in enumerate(section.pieces):
            for match in _INLINE_NUMBER.finditer(piece.text):
                if match.start() > 0:
                    spots.append(
                        (
                            index,
                            match.start(),
                            Label(
                                "num",
                                int(match.group(1)),
                                match.end() - match.start(),
                                match.group(0).strip(),
                            ),
                            True,
                        )
                    )
    if style == "paren" and section.fine is not None and section.fine.question_type != "multiple_choice":
        for index, label in labelled:
            if label.style == "paren":
                spots.extend(
                    (
                        index,
                        match.start(),
                        Label("paren", int(match.group(1)), match.end() - match.start(), match.group(0)),
                        True,
                    )
                    for match in re.finditer(r"(?<=\s\s)(\d{1,3})[)）]\s*(?=\S)", section.pieces[index].text)
                )
    spots.sort(key=lambda spot: (spot[0], spot[1]))
    kind = section.fine.question_type if section.fine else None
    is_short_kind = kind in ("multiple_choice", "true_false", "fill_in_the_blank")
    rows = _find_rows(section, spots) if kind in ("term_explanation", "short_answer") else set()
    marks: list[_Mark] = []
    for place, (index, begin, label, is_inline) in enumerate(spots):
        end = spots[place + 1][0] if place + 1 < len(spots) else len(section.pieces)
        has_options = _shows_options(section.pieces, index, begin + label.end, end, expects_options)
        before = spots[place - 1][0] if place else 0
        broke = any(before < position <= index for position in section.breaks) or any(
            _CASE.match(piece.text) for piece in section.pieces[before + 1 : index]
        )
        is_weak = label.is_weak or (style == "num" and label.style == "bare")
        hint = 0.5 if not is_inline and _stop(label) != _stop(spots[0][2]) else 0.0
        rest = section.pieces[index].text[begin + label.end :]
        if style == "num" and label.is_weak and not has_options and not re.match(r"\d{4}\s*年|\d{5,}", rest):
            hint += 1.0  # `3.14` at a line's start is rather a decimal
        if is_inline and kind == "term_explanation":
            hint -= 1.0
        if is_inline and is_short_kind and (has_options or not expects_options):
            before_text = section.pieces[index].text[:begin]
            hint -= 1.0 if re.search(r"[。？?！；;]\s*$|[)）]\s{2,}$", before_text) else 0.0
        if (index, begin) in rows:
            hint -= 1.0
        marks.append(
            (
                index,
                begin,
                Candidate(label.value, is_weak, is_inline, has_options, broke, hint, _until(label)),
                label,
            )
        )
    return marks, style


def _find_rows(section: Section, spots: Sequence[tuple[int, int, Label, bool]]) -> set[tuple[int, int]]:
    """Return the places of numbers inside lines that list short questions in a row: `1. FOB   2. CIF   3. L/C`."""
    found: set[tuple[int, int]] = set()
    lines: dict[int, list[tuple[int, int, Label, bool]]] = {}
    for spot in spots:
        lines.setdefault(spot[0], []).append(spot)
    for index, row in lines.items():
        values = [spot[2].value for spot in row]
        text = section.pieces[index].text
        if len(row) < 2 or row[0][1] or values != list(range(values[0], values[0] + len(values))):
            continue
        ends = [spot[1] for spot in row[1:]] + [len(text)]
        parts = [text[spot[1] + spot[2].end : end] for spot, end in zip(row, ends, strict=True)]
        is_wide = all(re.search(r"\s{2,}$|\t$", part) for part in parts[:-1])
        if all(len(part.strip()) <= 40 for part in parts) and (is_wide or len(row) >= 3):
            found.update((spot[0], spot[1]) for spot in row[1:])
    return found


def _until(label: Label) -> int:
    """The second number of `4-6.`, else 0."""
    return _last_number(label.text) if label.style == "num" else 0


def _last_number(label: str) -> int:
    last = label.replace("–", "-").partition("-")[2].strip(" .)")
    return int(last) if last.isdigit() else 0


def _stop(label: Label) -> str:
    """The kind of stop behind a number: papers that write `1.` for questions write `1、` for the parts of an answer."""
    return "、" if "、" in label.text else "."


def _shows_options(pieces: Sequence[Piece], index: int, begin: int, end: int, expects_options: bool) -> bool:
    """Whether options begin on this line or on the next ones before the next number."""
    window = [
        pieces[index].cut(min(begin, len(pieces[index].text))),
        *pieces[index + 1 : min(max(end, index + 1), index + 14)],
    ]
    return offers_options(window, expects_options)


def _choose_style(labelled: Sequence[tuple[int, Label]], carry: int | None, section: Section) -> str | None:
    """Choose the style that counts questions: explicit words first, then the first that begins at 1 or goes on."""
    strong = [(index, label) for index, label in labelled if not label.is_weak]
    counts: dict[str, int] = {}
    for _, label in strong:
        counts[label.style] = counts.get(label.style, 0) + 1
    if counts.get("word", 0) >= 1:
        words = [label for _, label in strong if label.style == "word"]
        if len(words) > 1 or not any(label.style == "num" for _, label in strong):
            return "word"
    for _, label in strong:
        if label.style in ("letter", "letterp", "romanl", "romanp", "dec"):
            continue  # these number the parts of a question
        if label.style == "circ" and (len(counts) > 1 or section.fine is None):
            continue
        if label.style == "sub" and counts["sub"] < 2:
            continue  # rather a decimal
        if label.value == 1 or (carry is not None and label.value == carry + 1):
            return label.style
    kind = section.fine.question_type if section.fine is not None else None
    parts = {"multiple_choice": ("romanp", "romanl", "dec")}.get(
        kind or "",
        ("romanp", "romanl", "letterp", "letter", "dec")
        if kind in ("true_false", "fill_in_the_blank", "term_explanation")
        else ("dec",),
    )
    for _, label in strong:
        # below `1. True or False` or `1. Choose the best answer` the parts are the questions
        if label.style in parts and label.value == 1 and counts[label.style] > 1:
            return label.style
    main = [style for style in ("num", "sub", "nump", "paren", "bracket", "cnp") if counts.get(style, 0) >= 2]
    if main:
        return max(main, key=lambda style: counts[style])
    run = [label.value for _, label in labelled if label.style == "num"]
    if len(run) > 1 and run == list(range(1, len(run) + 1)):
        return "num"  # some of them before a digit, `1.1911年`
    weak = [label for _, label in labelled if label.is_weak]
    values = [label.value for label in weak]
    if len(weak) >= 2 and values[0] == 1 and 2 in values:
        return weak[0].style
    if len(weak) == 1 and values == [1] and section.fine is not None:
        return weak[0].style
    return None


def _lines_between(pieces: Sequence[Piece], index: int, begin: int, following: _Mark | None) -> list[Piece]:
    if following is not None and following[0] == index:
        return [pieces[index].cut(begin, following[1])]
    lines = [pieces[index].cut(begin)]
    last = following[0] if following is not None else len(pieces)
    lines.extend(pieces[index + 1 : last])
    if following is not None and following[1]:
        lines.append(pieces[last].cut(0, following[1]))
    return [line for line in lines if line.text.strip()] or lines[:1]


def _cut_breaks(lines: list[Piece], pieces: Sequence[Piece], index: int, breaks: set[int]) -> list[Piece]:
    """Drop what a chapter title leaves at the end of the question before it."""
    stops = [pieces[place].start for place in breaks if index < place < len(pieces)]
    if not stops or not lines:
        return lines
    stop = min(stops)
    return [line for line in lines if line.start < stop] or lines[:1]


def _is_material(text: str) -> bool:
    first = text.lstrip()[:1]
    return (first in _MATERIAL_STARTS or first.isdecimal()) and _MATERIAL.match(text) is not None


def _cut_material(lines: list[Piece], section: Section) -> tuple[list[Piece], list[Piece]]:
    """Separate the material of the next questions from the end of this one.

    In a section of material questions a material belongs to the question in which it stands, unless it names
    the questions that it serves; a question that begins `阅读材料` owns the material below it.
    """
    is_analysis = section.fine is not None and section.fine.question_type == "material_analysis"
    if lines and _is_material(lines[0].text):
        return lines, []
    for place, line in enumerate(lines):
        if is_analysis and not (
            _CASE.match(line.text) or _RANGE.search(line.text[:60]) or offers_options(lines[:place], False)
        ):
            continue
        if place and _is_material(line.text) and (line.text.strip()[:1] not in "ABCD"):
            return lines[:place], lines[place:]
    return lines, []


def _shared_options(lines: Sequence[Piece], expects_options: bool = False) -> list[Piece]:
    """The options that several questions share (`3～4题共用备选答案`): printed once, before them."""
    first = next((place for place, line in enumerate(lines) if _MATERIAL.match(line.text)), None)
    if first is None and expects_options and len(lines) < 12:
        start = next((place for place, line in enumerate(lines) if OPTION_A.match(line.text)), None)
        split = split_options(lines[start:], True) if start is not None else None
        if start is not None and split is not None and len(split.options) >= 4 and not split.notes:
            return list(lines[start:])
    if first is None or not offers_options(lines[first + 1 :], True):
        return []
    return list(lines[first + 1 :])


def _read_material(lines: Sequence[Piece], section: Section) -> tuple[str | None, int | None]:
    """Return the material before questions and the last question number it serves; instructions are no material."""
    lines = [line for line in lines if line.text.strip()]
    while (
        lines
        and (INSTRUCTION.search(lines[0].text) or CHOOSE_SOME.search(lines[0].text))
        and not _MATERIAL.match(lines[0].text)
        and len(lines[0].text) < 160
    ):
        lines = lines[1:]
    if not lines:
        return None, None
    opening = next((place for place, line in enumerate(lines) if _MATERIAL.match(line.text)), 0)
    lines = lines[opening:]
    text = join_pieces(lines)
    if re.match(r"\s*(?:Directions?|Instructions?)\s*[:：]", lines[0].text) and len(lines) > 1:
        lines = lines[1:]
        text = join_pieces(lines)
    is_marked = _MATERIAL.match(lines[0].text) is not None
    is_analysis = section.fine is not None and (
        section.fine.question_type == "material_analysis" or section.fine.name == "cloze"
    )
    if (
        not is_marked
        and not (section.number and _GIVEN.match(lines[0].text) and _LEADS.search(lines[-1].text.rstrip()))
        and not (is_analysis and len(text) > 40)
        and not (section.fine is not None and section.fine.name == "cloze" and len(text) > 40)
        and not (section.fine is None and section.number and len(text) > 200)
    ):
        return None, None
    span = _RANGE.search(lines[0].text)
    return text, int(span.group(2)) if span else None


def _split_unnumbered(section: Section) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split a typed section without numbers: terms of one line, one per line, or a single question."""
    if section.fine is None:
        return _split_dialogue(section.pieces)
    pieces = [
        piece for piece in section.pieces if not (INSTRUCTION.search(piece.text) and len(piece.text) < 120)
    ]
    kind = section.fine.question_type
    if not pieces and section.pieces and kind in ("essay", "short_answer", "calculation"):
        # `Part V Writing` with nothing but `Directions: Write …`: the directions are the question
        opening = section.pieces[0]
        lead = re.match(r"(?i)\s*(?:directions?|instructions?)\s*[:：]\s*", opening.text)
        pieces = [opening.cut(lead.end()) if lead else opening, *section.pieces[1:]]
    if not pieces:
        return []
    if kind == "term_explanation":
        terms: list[tuple[Label | None, list[Piece], str | None]] = []
        for piece in map(_cut_bullet, pieces):
            if len(piece.text) > 200:
                return [(None, pieces, None)]
            for first, last in _term_spans(piece.text):
                terms.append((None, [piece.cut(first, last)], None))
        return terms
    if kind == "multiple_choice":
        return _split_by_options(pieces)
    if kind in ("true_false", "fill_in_the_blank") and section.fine.name != "cloze":
        chunks: list[tuple[Label | None, list[Piece], str | None]] = []
        for piece in pieces:
            if chunks and (ANSWER_MARK.match(piece.text) or EXPLANATION_MARK.match(piece.text.lstrip())):
                chunks[-1][1].append(piece)  # it answers the line above
            else:
                chunks.append((None, [_cut_bullet(piece)], None))
        return chunks
    label = Label(section.style, section.number or 0, 0, section.label) if section.number else None
    return [(label, pieces, None)]


_ASKED = re.compile(r"\s*(?:Q|Ques|Question|问)\s*[:：]\s*(?=\S)")
_REPLIED = re.compile(r"\s*(?:A|Ans)\s*[:：]\s*(?=\S)")


def _split_dialogue(pieces: Sequence[Piece]) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split `Q: …` `A: …` pairs, where a paper has no numbers."""
    asked = [index for index, piece in enumerate(pieces) if _ASKED.match(piece.text)]
    if len(asked) < 2:
        return []
    found: list[tuple[Label | None, list[Piece], str | None]] = []
    for place, index in enumerate(asked):
        last = asked[place + 1] if place + 1 < len(asked) else len(pieces)
        lines: list[Piece] = []
        for piece in pieces[index:last]:
            match = _ASKED.match(piece.text) if piece is pieces[index] else _REPLIED.match(piece.text)
            if match and piece is not pieces[index] and not re.match(r"\s*Ans", piece.text):
                rest = piece.cut(match.end())
                mark = "Answer: "
                lines.append(
                    replace(
                        rest, text=mark + rest.text, sources=(*([piece.start] * len(mark)), *rest.sources)
                    )
                )
            else:
                lines.append(piece.cut(match.end()) if match and piece is pieces[index] else piece)
        found.append((None, lines, None))
    return found


def _cut_bullet(piece: Piece) -> Piece:
    bullet = BULLET.match(piece.text)
    return piece.cut(bullet.end()) if bullet else piece


def _split_by_options(pieces: Sequence[Piece]) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split unnumbered choice questions: a stem begins after the last option of the one before."""
    found: list[tuple[Label | None, list[Piece], str | None]] = []
    current: list[Piece] = []
    has_options = False
    for piece in pieces:
        is_option = re.match(r"\s*[（(]?[A-J]\s*[)）.．、:：]", piece.text) is not None
        is_answer = (
            re.match(r"\s*(?:【?(?:正确|参考)?答案|Answer|【?解析|Explanation)", piece.text) is not None
        )
        if has_options and not is_option and not is_answer:
            found.append((None, current, None))
            current, has_options = [], False
        has_options = has_options or is_option
        current.append(piece)
    if current and has_options:
        found.append((None, current, None))
    return found


def _term_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the terms on one line, separated by wide gaps, 、 ； or, failing those, single spaces."""
    for separator in (
        r"\s{2,}|\t|[；;|]\s*",
        r"[、]",
        r"\s+" if re.search(r"[\u4e00-\u9fff]", text) else r"[,，]\s*",
    ):
        spans = [(match.start(), match.end()) for match in re.finditer(rf"(?:(?!{separator}).)+", text)]
        spans = [(first, last) for first, last in spans if text[first:last].strip(" ,，。.;；、")]
        if len(spans) > 1:
            return spans
    return [(0, len(text))]


_ANSWER_PLACE = re.compile(r"[（(]\s*[A-J√×✓✗TF对错\s、,，]{0,12}[)）]")
_OFFERED = re.compile(r"[（(]\s*A\s*[)）][\s\S]*[（(]\s*B\s*[)）]")
_JUDGED = re.compile(r"[（(]\s*(?:√|×|✓|✗|T|F|对|错)\s*[)）]\s*[^A-J(（]")
_KEYED = re.compile(r"[（(]\s*(?:[A-J]{1,6}|√|×|✓|✗|T|F|对|错)\s*[)）]\s*[^A-J(（]")


def _is_lone_key(text: str) -> bool:
    """Whether a line is one to six letters from A to J and nothing else."""
    return 0 < len(text) <= 6 and not text.strip("ABCDEFGHIJ")


def _prints_answers(chunks: Sequence[list[Piece]]) -> bool:
    """Whether this paper prints answers with its questions: keys in brackets, bare letters, √ and ×."""
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


def _find_filled(chunks: Sequence[tuple[int, Section, Label | None, list[Piece], str | None]]) -> set[int]:
    """Return the fill-in sections whose blanks are filled: no question has an empty one, most have `（一年）`."""
    found: dict[int, list[str]] = {}
    for number, section, _, lines, _ in chunks:
        if section.fine is not None and section.fine.question_type == "fill_in_the_blank":
            found.setdefault(number, []).append(join_pieces(lines))
    return {
        number
        for number, texts in found.items()
        if not any(BLANK.search(text) for text in texts)
        and sum(1 for text in texts if re.search(r"（[^（()）]{1,40}）|_[^_\s]{1,30}_", text))
        >= max(2, 0.6 * len(texts))
    }


_FREE = ("short_answer", "essay", "calculation", "material_analysis")


def match_keys(drafts: Sequence[Draft], keys: Sequence[KeySection], language: str | None) -> list[KeySection]:
    """Give printed answers to their questions; return the sections of keys none of whose answers found one.

    A key section belongs to the question section with the same type and number, else the same number,
    else the same type; without sections the question number decides. A question that has an answer keeps it.
    """
    unmatched: list[KeySection] = []
    used: set[tuple[int, int]] = set()
    by_section: dict[int, list[Draft]] = {}
    for draft in drafts:
        by_section.setdefault(draft.section, []).append(draft)
    values = [draft.value for draft in drafts if draft.value is not None]
    known = set(values)
    for place, key in enumerate(keys):
        target = _find_target(drafts, key, place, len(keys), used, by_section)
        numbers = {entry.number for entry in key.entries}
        whole = _find_whole(target, key)
        if whole is None and not numbers & {draft.value for draft in target.values()} and numbers <= known:
            # a key printed below the last section answers the whole paper
            target = _by_number(drafts) if len(values) == len(known) else target
            whole = _find_whole(target, key)
        matched = 0
        if whole is not None:
            used.add((whole.section, key.entries[0].number))
            apply_key(whole, key.whole or _join_entries(key), language)
            continue
        for entry in key.entries:
            asked = target.get(entry.number)
            if asked is not None:
                matched += 1
                used.add((asked.section, entry.number))
                apply_key(asked, entry, language)
        if not matched:
            unmatched.append(key)
    return unmatched


def _find_whole(target: dict[int, Draft], key: KeySection) -> Draft | None:
    """Return the one question whose parts the answers of this key section count."""
    drafts = {id(draft): draft for draft in target.values()}
    if len(drafts) != 1 or len(key.entries) < 2:
        return None
    draft = next(iter(drafts.values()))
    parts = [label.value for label in map(parse_label, draft.stem.split("\n")) if label is not None]
    numbers = [entry.number for entry in key.entries]
    is_alone = draft.section_number is not None and draft.value == draft.section_number
    is_whole = not draft.options and numbers[0] == 1 and (set(numbers) <= set(parts) or is_alone)
    return draft if is_whole else None


def _join_entries(key: KeySection) -> KeyEntry:
    lines = [
        f"{entry.label or f'{entry.number}.'}{'' if entry.label[-1:] in '、．）' else ' '}{entry.text}"
        for entry in key.entries
    ]
    remarks = [entry.explanation for entry in key.entries if entry.explanation]
    return KeyEntry(key.entries[0].number, "\n".join(lines), "\n".join(remarks) or None)


def _find_target(
    drafts: Sequence[Draft],
    key: KeySection,
    place: int,
    count: int,
    used: set[tuple[int, int]],
    by_section: dict[int, list[Draft]],
) -> dict[int, Draft]:
    groups = list(by_section.values())
    if key.fine is not None:
        same = [
            group
            for group in groups
            if group[0].fine is not None
            and (group[0].fine.name == key.fine.name or group[0].fine.question_type == key.fine.question_type)
        ]
        exact = [group for group in same if group[0].fine is not None and group[0].fine.name == key.fine.name]
        candidates = exact or same
        numbered_alike = [group for group in candidates if group[0].section_number == key.number]
        candidates = numbered_alike or candidates
        fresh = (
            group
            for group in candidates
            if not any((draft.section, draft.value or 0) in used for draft in group)
        )
        if candidates:
            return _by_number(next(fresh, candidates[0]))
    if key.number is not None and key.fine is None:
        placed = [group for group in groups if group[0].section_number == key.number]
        unused = (
            group for group in placed if not any((draft.section, draft.value or 0) in used for draft in group)
        )
        if placed:
            return _by_number(next(unused, placed[0]))
        numbered = [
            group[0] for group in by_section.values() if len(group) == 1 and group[0].value == key.number
        ]
        if numbered:
            return {1: numbered[0], key.number: numbered[0]}
    if len(groups) == count and place < len(groups) and count > 1:
        return _by_number(groups[place])
    # a section that is one question counts by its own numeral, not by the numbers of the others
    others = [
        draft
        for draft in drafts
        if len(by_section[draft.section]) > 1 or draft.value is None or draft.value != draft.section_number
    ]
    for among in (drafts, others):
        values = [draft.value for draft in among if draft.value is not None]
        if values and len(values) == len(set(values)):
            return _by_number(among)
    return _by_number(groups[0]) if groups and count == 1 else {}


def _by_number(drafts: Sequence[Draft]) -> dict[int, Draft]:
    found: dict[int, Draft] = {}
    for place, draft in enumerate(drafts, start=1):
        found.setdefault(draft.value if draft.value is not None else place, draft)
    if len(drafts) == 1:
        found.setdefault(1, drafts[0])
    return found


def apply_key(draft: Draft, entry: KeyEntry, language: str | None) -> None:
    """Set a question's answer from a key entry, unless it has one; a contradiction is noted."""
    if "answer_without_mark" in draft.notes and draft.question_type in _FREE and len(draft.answer) == 1:
        # the answer is printed elsewhere: what was taken for it is the rest of the question
        draft.stem = f"{draft.stem}\n{draft.answer.pop()}"
        draft.notes.remove("answer_without_mark")
    before = list(draft.answer)
    text = clean_text(entry.text, language)
    echo = draft.stem.strip(" 。.：:？?")
    if 1 < len(echo) < 60 and re.match(r"\s*[：:]\s*\S", text[len(echo) :]) and text.startswith(echo):
        text = text[len(echo) :].lstrip(" ：:")  # `目标管理：以目标为导向……`: the term again
    draft.answer = []
    if draft.options:
        set_choice_answer(draft, text)
    elif draft.question_type == "true_false" or (
        read_truth(text) and draft.fine is None and len(draft.stem) > 8
    ):
        truth = read_truth(re.split(r"[\s,，。.;；（(]", text.strip())[0]) or {"A": "true", "B": "false"}.get(
            text.strip()
        )
        if truth:
            draft.question_type = "true_false"
            draft.answer = [truth]
            rest = text.strip()[len(re.split(r"[\s,，。.;；（(]", text.strip())[0]) :].strip(" ,，。.;；")
            draft.explanation = draft.explanation or rest or None
        else:
            draft.notes.append("answer_unreadable")
    elif draft.question_type == "fill_in_the_blank":
        draft.answer = split_fillings(text, len(BLANK.findall(draft.stem)))
    elif draft.question_type == "multiple_choice":
        draft.answer = read_key(text) or []
    elif text:
        draft.answer = [text]
    if entry.explanation:
        draft.explanation = draft.explanation or clean_text(entry.explanation, language)
    if before and draft.answer and before != draft.answer:
        draft.notes.append("keys_disagree")
        draft.answer = before
    elif not draft.answer:
        draft.answer = before


def report_gaps(result: Split) -> None:
    """Note missing and repeated numbers on the questions around them."""
    last: Draft | None = None
    for draft in result.drafts:
        if (
            last is not None
            and draft.section == last.section
            and draft.value is not None
            and last.value is not None
        ):
            if draft.value > (_last_number(last.number_label) or last.value) + 1:
                draft.notes.append("number_gap_before")
            elif draft.value <= last.value and draft.value != 1:
                draft.notes.append("number_not_increasing")
        last = draft


__all__ = ["MARKS_GROUP", "Split", "apply_key", "make_true_false", "match_keys", "split_lines"]
