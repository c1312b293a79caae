"""The lines of one section divided into its questions, with what several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile

from schemas import patterns as re
from tasks.ingest.layout.heading_search import BULLET
from tasks.ingest.layout.headings import INSTRUCTION, ONLY_WORTH, SHARES, is_instruction, opens_case
from tasks.ingest.layout.numbers import Mark, choose_questions, find_candidates
from tasks.ingest.layout.options import offers_options, split_options
from tasks.ingest.layout.pieces import PASSAGE, Piece, join_pieces
from tasks.ingest.layout.sections import CHOOSE_SOME, OPTION_A, Section
from tasks.ingest.readers.extraction import PICTURE_MARK
from tasks.ingest.words.answers import ANSWER_MARK, EXPLANATION_MARK
from tasks.ingest.words.labels import Label
from tasks.ingest.words.lexicon import simplify
from tasks.ingest.words.once import once_a_paper


def split_section(
    section: Section, carry: int | None
) -> tuple[list[tuple[Label | None, list[Piece], str | None]], int | None]:
    """Return (label, lines, material) of every question in a section, and the last number used."""
    pieces = section.pieces
    expects_options = section.fine is not None and section.fine.question_type == "multiple_choice"
    marks = find_candidates(section, carry, expects_options)
    if not marks:
        return split_unnumbered(section), carry
    chosen = choose_questions([mark[2] for mark in marks], carry, expects_options)
    picks = [marks[index] for index in chosen]
    if not picks:
        return split_unnumbered(section), carry
    found: list[tuple[Label | None, list[Piece], str | None]] = []
    material: str | None = None
    material_until: int | None = None
    first_piece, first_begin, _, _ = picks[0]
    preamble = list(pieces[:first_piece])
    if first_begin:
        preamble.append(pieces[first_piece].cut(0, first_begin))
    if _is_single(section, preamble, picks):
        own = Label(section.style, section.number or 0, 0, section.label) if section.number else None
        return [(own, list(dropwhile(is_instruction, pieces)), None)], carry
    material, material_until = read_material(preamble, section)
    if material is None and section.number:
        # a figure between a heading and its first question is that of all its questions
        shown = [mark[0] for piece in preamble for mark in PICTURE_MARK.finditer(piece.text)]
        material = "\n".join(shown) or None
    shared = shared_options(preamble, expects_options)
    grouped = max((one.label.value for one in preamble if one.label and one.label.style == "cnp"), default=0)
    for place, (index, begin, candidate, label) in enumerate(picks):
        following = picks[place + 1] if place + 1 < len(picks) else None
        lines = _lines_between(pieces, index, begin + label.end, following)
        if lines:
            # the question's place in the text begins at its number
            first = pieces[index]
            lines[0] = lines[0].begin_at(first.sources[begin] if begin < len(first.sources) else first.start)
        lines, group = _cut_group(lines, grouped) if following is not None else (lines, [])
        grouped += bool(group)
        lines, tail = cut_material(lines, section)
        tail = [*tail, *group]
        if material_until is not None and candidate.value > material_until:
            material, material_until, shared = None, None, []
        if shared and not offers_options(lines, True):
            found.append((label, [*lines, *shared], None))
        else:
            found.append((label, lines, material))
        if tail:
            told, until = read_material(tail, section)
            if told is not None or not names_range(tail[0]):
                material, material_until = told, until
            shared = shared_options(tail)
    if section.fine is not None and section.fine.question_type == "material_analysis":
        found = join_shared(found, section)
    return found, picks[-1][2].value


def _cut_group(lines: list[Piece], last: int) -> tuple[list[Piece], list[Piece]]:
    """A question without `（二）选考题` below it, where `（一）` was the last group above."""
    for place, piece in enumerate(lines):
        if place and piece.label is not None and piece.label.style == "cnp":
            is_next = last and piece.label.value == last + 1
            return (lines[:place], lines[place:]) if is_next else (lines, [])
    return lines, []


def _is_single(section: Section, preamble: Sequence[Piece], picks: Sequence[Mark]) -> bool:
    """Whether the numbers below a free-response heading count the parts of one question."""
    kind = section.fine.question_type if section.fine is not None else None
    if kind not in ("calculation", "short_answer", "essay") or picks[0][2].value != 1:
        return False
    if picks[0][3].style == "word" or any(SHARES.match(piece.text) for piece in preamble):
        return False  # `Question 1:` never counts parts
    text = join_pieces([piece for piece in preamble if not is_instruction(piece)])
    is_part_style = picks[0][3].style in ("nump", "paren", "circ")
    return len(text) >= (12 if is_part_style else 60)


def _lines_between(pieces: Sequence[Piece], index: int, begin: int, following: Mark | None) -> list[Piece]:
    if following is not None and following[0] == index:
        return [pieces[index].cut(begin, following[1])]
    lines = [pieces[index].cut(begin)]
    last = following[0] if following is not None else len(pieces)
    lines.extend(pieces[index + 1 : last])
    if following is not None and following[1]:
        lines.append(pieces[last].cut(0, following[1]))
    return [line for line in lines if line.text.strip()] or lines[:1]


def split_unnumbered(section: Section) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split a typed section without numbers: terms, or a single question."""
    if section.fine is None:
        offered = sum(1 for piece in section.pieces if OPTION_A.match(piece.text))
        return _split_by_options(section.pieces) if offered >= 3 else []
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
            if len(piece.text) > _LONGEST_TERMS:
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
            re.match(r"\s*(?:【?(?:正确|参考)?答案|(?i:Answer)|【?解析|Explanation)", piece.text) is not None
        )
        if has_options and not is_option and not is_answer:
            found.append((None, current, None))
            current, has_options = [], False
        has_options = has_options or is_option
        current.append(piece)
    if current and has_options:
        found.append((None, current, None))
    return found


_LONGEST_TERMS = 200


def _term_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the terms on one line, between wide gaps, 、 ； or single spaces."""
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


_MATERIAL = re.compile(
    r"^\s*(?:[（(【\[]?\s*\d+\s*[～~\-—–至]\s*\d+\s*(?:小)?题.{0,20}(?:共用|根据|基于|备选|材料|题干|读[^，。]{0,6}图|[上下]图).{0,20}|【?(?:材料|案例|资料|背景材料|阅读材料)[一二三四五\d]?】?\s*[:：]|阅读(?:下列|以下|下面|上述)?.{0,12}(?:材料|史料|短文|案例|资料|文章|文字).{0,30}|[（(]?[一二三四五六七八九十\d]*[)）]?、?根据(?:以下|下列|下面)(?:材料|案例|资料|短文|一段文字).{0,20}|"
    r"(?i:questions?\s+\d+\s*(?:[-–~]|to|and|through)\s*\d+\s*(?:$|\s(?:are|is|refer|relate).{0,60})|(?:read|study) the (?:following )?(?:passage|text|case|material|paragraph).{0,60}|(?:reading\s+)?passage\s+(?:\d+|one|two|three|[A-D])\b.{0,30}|(?:case|reading) (?:study )?\d*\s*[:：]|word (?:bank|list|box)\b.{0,120}))"
)
# `下图为等高线地形图，读图回答1～2题。`
_LONGEST_LEAD = 120
# what is read or looked at: no pencil, no answer sheet
_SHOWN = r"(?:figure|diagram|graph|chart|map|picture|drawing|photograph|table|data|passage|text|extract|article|story|poem|information|program)s?"
_ENDS_BY_RANGE = re.compile(
    r"(?:完成|回答|解答)\s*(?:下面|下列)?第?\s*\d+\s*[～~\-—–至、和]\s*\d+\s*[两二小]?题\s*[。．.:：]?\s*$"
    rf"|(?i:(?:answer|(?:(?:\buse|\brefer|\bstudy|\blook|\bsee|following)\b.{{0,40}}\b{_SHOWN}|\b{_SHOWN}\b.{{0,30}}(?:below|above))\b.{{0,40}}\bfor)"
    r"\s+(?:the\s+)?questions?\s+\d+"
    r"(?:,\s*\d+)*,?\s*(?:[-–~]|to|and|through)\s*\d+\s*[.:]?\s*$)"
)
# `据此完成第4题。`, of one question
_ENDS_BY_ONE = re.compile(
    r"(?:(?:完成|回答|解答)\s*第\s*(?P<number>\d{1,3})\s*小?题\s*[。．.:：]?|(?i:answer\s+question)\s+(?P<own>\d{1,3})\s*[.:]?)\s*$"
)
_MATERIAL_STARTS = "（(【[）)、材案资背阅一二三四五六七八九十根QqRrSsſPpCcWw"
# `设有关系 S、C、SC，试用 SQL 完成下列查询：` above numbered questions says what all of them are about
_GIVEN = re.compile(r"\s*(?:假?设(?![计备施立置])|假定|已知|现有|给定|某(?!些)|有(?:如下|以下|一))")
_LEADS = re.compile(r"(?:下列|以下|如下|下面|试|求|回答|完成|计算|写出|分析).{0,30}[：:]$")
_RANGE = re.compile(
    r"(\d{1,3})\s*(?:[-–—~～至到]|[、和](?=\s*\d+\s*[两二]?小?题)|to|through|and)\s*(\d{1,3})\s*(?:小)?(?:题|are|is|refer|relate)?",
    re.IGNORECASE,
)


def join_shared(
    found: list[tuple[Label | None, list[Piece], str | None]], section: Section
) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Make one question of those below a material without options, unless it names them."""
    first_of: dict[str, int] = {}
    for label, _, material in found:
        if material is not None and label is not None and label.style == "num":
            first_of.setdefault(material, label.value)
    if len(first_of) > 1:
        return found  # below one heading each material has questions of its own
    joined: list[tuple[Label | None, list[Piece], str | None]] = []
    last: str | None = None
    singles: dict[int, tuple[Label | None, list[Piece], str | None]] = {}
    offered = {material for _, lines, material in found if offers_options(lines, False)}
    for label, lines, material in found:
        has_options = offers_options(lines, False)
        numbered = (
            [replace(lines[0], text=_put_label(label, lines[0].text), sources=())] if label else lines[:1]
        )
        if material is not None and label is not None and _names_number(material, label):
            joined.append((label, lines, material))
            last = None
            continue
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


def _names_number(material: str, label: Label) -> bool:
    """Whether a material says that it serves this question, `完成1～5题`."""
    if label.style != "num":
        return False
    told = next((line for line in material.split("\n") if _ENDS_BY_RANGE.search(line[-_LONGEST_LEAD:])), None)
    spans = list(_RANGE.finditer(told)) if told is not None else []
    return bool(spans) and int(spans[-1][1]) <= label.value <= int(spans[-1][2])


def _put_label(label: Label, text: str) -> str:
    gap = "" if label.text[-1:] in "、．）】" or "⑴" <= label.text[-1:] <= "⒛" else " "
    return f"{label.text}{gap}{text.strip()}"


# `（14分）` after a line that says what the questions are about
_LAST_BRACKET = re.compile(r"(?<=[。．.:：题])\s?[（(\[][^（()）\[\]]{1,12}[)）\]]\s?$")


@once_a_paper
def _is_material(text: str) -> bool:
    text = _LAST_BRACKET.sub("", simplify(text))
    first = text.lstrip()[:1]
    may_open = first in _MATERIAL_STARTS or first.isdecimal()
    return (may_open and _MATERIAL.match(text) is not None) or (
        ("题" in text[-5:] or "uestion" in text[-24:])
        and any(ends.search(text[-_LONGEST_LEAD:]) for ends in (_ENDS_BY_RANGE, _ENDS_BY_ONE))
    )


# `VOCABULARY (Questions 14–22)`, `Grammatik (Aufgaben 5 bis 9)`: a title and the numbers below it
_TITLED_RANGE = re.compile(
    r"[^\d.。?？!:：_()（）]{3,40}[（(]\s*[^\W\d_]{1,12}\.?\s*\d{1,3}\s*(?:[-–—~～至到]|to|bis|au?|al)\s*\d{1,3}\s*[题題]?\s*[)）]\s*"
)
_LONGEST_TITLE = 70


def cut_material(lines: list[Piece], section: Section) -> tuple[list[Piece], list[Piece]]:
    """Separate the material of the next questions from the end of this one.

    In a section of material questions a material belongs to the question in which it stands, unless it names
    the questions that it serves; a question that begins `阅读材料` owns the material below it.
    """
    is_analysis = section.fine is not None and section.fine.question_type == "material_analysis"
    if lines and _is_material(lines[0].text):
        return lines, []
    for place, line in enumerate(lines):
        if place and len(line.text) <= _LONGEST_TITLE and _TITLED_RANGE.fullmatch(line.text):
            return lines[:place], lines[place:]
        if is_analysis and not (
            opens_case(line.text) or _RANGE.search(line.text[:60]) or offers_options(lines[:place], False)
        ):
            continue
        if place and _is_material(line.text) and (line.text.strip()[:1] not in "ABCD"):
            begin = _find_paragraph(lines, place, 1)
            return lines[:begin], lines[begin:]
    return lines, []


_SIGN = re.compile(r"^\s*[◎※◆◇▲△★☆■●]\s*")
_SIGNED = re.compile(r"\s*[◎※◆◇▲△★☆■●]\s*\S")
_MOST_ABOVE = 12


def _find_paragraph(lines: Sequence[Piece], place: int, least: int = 0) -> int:
    """The line on which the paragraph that ends here begins: by its sign (`◎`), or a break."""
    for above in range(place, max(least, place - _MOST_ABOVE) - 1, -1):
        if _SIGNED.match(lines[above].text):
            return above
    while place > least and lines[place - 1].wraps and OPTION_A.search(lines[place - 1].text) is None:
        place -= 1
    return place


def shared_options(lines: Sequence[Piece], expects_options: bool = False) -> list[Piece]:
    """The options that several questions share (`3～4题共用备选答案`): printed once, before them."""
    first = next((place for place, line in enumerate(lines) if _MATERIAL.match(line.text)), None)
    if first is None and expects_options and len(lines) < 12:
        start = next((place for place, line in enumerate(lines) if OPTION_A.match(line.text)), None)
        split = split_options(lines[start:], True) if start is not None else None
        if start is not None and split is not None and len(split.options) >= 4 and not split.notes:
            return list(lines[start:])
    told = SHARES.match(lines[first].text) if first is not None else None
    if first is None or (told and told["text"]) or not offers_options(lines[first + 1 :], True):
        return []
    return list(lines[first + 1 :])


# `阅读材料，并回答问题。`, `Read the passage and answer the questions.`: nothing is to be read there
_SAYS_TO_READ = re.compile(
    r"(?:请?(?:仔细|认真)?阅读(?:下列|以下|下面|上述|所给)?(?:材料|史料|短文|案例|资料|文章|文字)\s*[,，]?\s*(?:并|然后)?\s*(?:按要求|根据要求)?(?:回答|完成|解答)?(?:下列|以下|下面|后面的|相关|有关|文后)?(?:的)?(?:各题|问题|题目|小题|试题)?|"
    r"(?i:(?:read|study) the (?:following )?(?:passages?|texts?|cases?|materials?|paragraphs?)(?: carefully)?(?:,? (?:and|then) answer (?:all )?(?:the )?(?:following )?questions?(?: below| that follow)?)?))\s*[。.:：]?\s*"
)
_BARE_RANGE = re.compile(r"(?i)\s*questions?\s+\d+\s*(?:[-–~]|to|and|through)\s*\d+\s*[:.]?\s*")


def names_range(piece: Piece) -> bool:
    """Whether a line only names the questions below it: `Questions 4-6`."""
    return _BARE_RANGE.fullmatch(piece.text) is not None


# What an exercise gives stands above its questions, however short it is.
_EXERCISE = re.compile(r"(?i)exercice\b")


def read_material(lines: Sequence[Piece], section: Section) -> tuple[str | None, int | None]:
    """The material before questions and the last question number it serves."""
    lines = [line for line in lines if line.text.strip()]
    if lines and ONLY_WORTH.fullmatch(lines[0].text):
        lines = lines[1:]  # `Exercice 2 (5 points)`
    while (
        lines
        and (INSTRUCTION.search(lines[0].text) or CHOOSE_SOME.search(lines[0].text))
        and not _is_material(lines[0].text)
        and len(lines[0].text) < 160
    ):
        lines = lines[1:]
    if not lines:
        return None, None
    if names_range(lines[0]):
        lines = lines[1:]  # `Questions 4-6` alone names no text
        return read_material(lines, section) if lines else (None, None)
    opening = next((place for place, line in enumerate(lines) if _is_material(line.text)), 0)
    begin = _find_paragraph(lines, opening) if opening else 0
    if begin < opening and _is_material(lines[opening].text):
        # a paragraph that names its questions at its end
        lines, opening = lines[begin:], opening - begin
    else:
        lines, opening = lines[opening:], 0
    sign = _SIGN.match(lines[0].text)
    if sign is not None and sign.end() < len(lines[0].text):
        lines = [lines[0].cut(sign.end()), *lines[1:]]
    text = join_pieces(lines).replace(PASSAGE, "").strip()
    if len(lines) == 1 and _SAYS_TO_READ.fullmatch(text) is not None:
        return None, None  # what is to be read stands within the question
    is_marked = _is_material(lines[opening].text)
    is_analysis = section.fine is not None and (
        section.fine.question_type == "material_analysis" or section.fine.name == "cloze"
    )
    if (
        not is_marked
        and not (section.number and _GIVEN.match(lines[0].text) and _LEADS.search(lines[-1].text.rstrip()))
        and not (is_analysis and len(text) > 40)
        and not (
            section.fine is None
            and section.number
            and (len(text) > 200 or (_EXERCISE.match(section.label) and text.endswith(".")))
        )
    ):
        return None, None
    told = next((line for line in lines if SHARES.match(line.text)), None)
    if told is not None:
        text = join_pieces([line for line in lines if line is not told])
    named = (told or lines[opening]).text
    spans, one = list(_RANGE.finditer(named)), _ENDS_BY_ONE.search(named)
    last = spans[-1].group(2) if spans else one and (one["number"] or one["own"])
    return text, int(last) if last else None
