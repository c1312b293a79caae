"""A question as a card to be read from top to bottom, cut into parts that rows can show.

A row is at most 409 points high. A longer card continues in the row below, so that nothing is clipped.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.ingest import read_notes
from tasks.questions import read_options
from tasks.review.channels.workbook.cells import render_answer, render_options
from tasks.review.channels.workbook.mathematics import render_mathematics
from tasks.review.decisions import Edit, Item
from tasks.review.desk import WorkItem
from tasks.review.marking import clean_text
from tasks.review.words import Language, list_words

# Excel shows at most 409 points; fonts of other programs are a little higher, and the last line keeps some air.
MOST_ROW_POINTS = 405
LINE_POINTS = 16.5
PADDING_POINTS = 6
MOST_LINES = int((MOST_ROW_POINTS - PADDING_POINTS) / LINE_POINTS)
# A Chinese character takes a little more than two digits, by which the width of a column is counted.
WIDE, CAPITAL = 2.15, 1.25

HEADINGS: dict[str, tuple[str, str]] = {
    "doubts": ("PLEASE CHECK", "请留意"),
    "kept": ("YOUR DECISION", "您已有的结论"),
    "material": ("MATERIAL", "材料"),
    "stem": ("QUESTION", "题干"),
    "options": ("OPTIONS", "选项"),
    "answer": ("ANSWER", "答案"),
    "explanation": ("EXPLANATION", "解析"),
    "earlier": ("DECISIONS SO FAR", "已有意见"),
    "messages": ("WITH THE COORDINATOR", "与协调人的讨论"),
}
NO_ANSWER = (
    "none: write it into “New answer” and choose Edit, or reject",
    "无：请在“更正答案”中补上并选择“修改”，或退回",
)
_WRITERS = {
    "you": ("you", "您"),
    "coordinator": ("coordinator", "协调人"),
    "reviewer": ("reviewer {}", "审题人 {}"),
}
KEPT = (
    "is kept; it cannot be shown in these cells. Leave the row empty to keep it.",
    "已保存，但无法在单元格中完整显示。此行留空即保持不变。",
)
_WITH_MATHEMATICS = ("material", "stem", "options", "answer", "explanation", "earlier")


@dataclass(frozen=True, slots=True)
class CardParagraph:
    """A paragraph of a card: its section, empty where it continues the one above, and its text."""

    section: str
    heading: str
    text: str

    @property
    def whole(self) -> str:
        """Heading and text as they stand in the cell."""
        return self.heading + self.text


def render_card(one: WorkItem, language: Language, *, is_kept_unshown: bool = False) -> list[CardParagraph]:
    """The paragraphs of a question's card, with headings and words in that language.

    Of a decision that the cells to fill in cannot show (`is_kept_unshown`) the card says that it is kept.
    """
    content = one.item.content
    sections = [("doubts", "\n".join(list_doubts(one.item, language)))]
    if is_kept_unshown and one.own is not None:
        word = list_words("decisions", language)[one.own.given.decision]
        sections.append(("kept", f"{word} {_choose(KEPT, language)}"))
    answer = render_answer(content.answer, content.question_type)
    sections += [
        ("earlier", render_earlier_decisions(one, language)),
        ("messages", render_messages(one, language)),
        ("material", content.material or ""),
        ("stem", content.stem),
        ("options", "\n" + render_options(content.options) if content.options else ""),
        ("answer", _render_truth(answer, content.question_type, language) or _choose(NO_ANSWER, language)),
        ("explanation", content.explanation or ""),
    ]
    paragraphs = [CardParagraph("head", "", _render_head(one.item, language))]
    for name, text in sections:
        if not text.strip():
            continue
        shown = render_mathematics(text) if name in _WITH_MATHEMATICS else text
        first, *rest = clean_text(shown.rstrip()).splitlines() or [""]
        paragraphs.append(CardParagraph(name, name_heading(name, language), first))
        paragraphs += [CardParagraph("", "", line) for line in rest]
    return paragraphs


def name_heading(section: str, language: Language) -> str:
    """How a section begins."""
    return f"【{_choose(HEADINGS[section], language)}】"


def list_doubts(item: Item, language: Language) -> list[str]:
    """What reading the paper doubted, in sentences."""
    notes = read_notes()
    codes = item.source.parse_notes if item.source else ()
    return [
        (notes[code].zh if language == "zh" else notes[code].en) if code in notes else code for code in codes
    ]


def render_earlier_decisions(one: WorkItem, language: Language) -> str:
    """Earlier decisions without names: an adjudicator weighs reasons, not people."""
    decisions, reasons = list_words("decisions", language), list_words("reasons", language)
    lines = []
    for place, decision in enumerate(one.earlier, start=1):
        given = decision.given
        line = f"{place}. {decisions[given.decision]}"
        if given.reject_reason:
            line += f" ({reasons[given.reject_reason]})"
        if given.comment:
            line += f": {given.comment}"
        for name, value in sorted((given.edit or Edit()).as_row().items()):
            shown = render_options(read_options(value)) if name == "options" else value
            text = shown if isinstance(shown, str) else " ".join(map(str, shown or ())) or "(none)"
            line += f"\n   {name} → {text}"
        lines.append(line)
    return "\n" + "\n".join(lines) if lines else ""


def render_messages(one: WorkItem, language: Language) -> str:
    """What was written on the question, without names."""
    lines = []
    for message in one.messages:
        who = _choose(_WRITERS[message.who], language).format(message.name or "")
        lines.append(f"{message.written_at[:10]} {who}: {message.text}")
    return "\n" + "\n".join(lines) if lines else ""


def split_card(paragraphs: Sequence[CardParagraph], width: int) -> list[list[CardParagraph]]:
    """The card in parts of at most MOST_LINES lines, for a column of `width` characters."""
    parts: list[list[CardParagraph]] = [[]]
    left = MOST_LINES
    for paragraph in paragraphs:
        lines = list(wrap(paragraph.whole, width))
        begins = True
        while lines:
            if left < min(len(lines), 2) and parts[-1]:
                parts.append([])
                left = MOST_LINES
            taken, lines = lines[:left], lines[left:]
            left -= len(taken)
            text = "".join(taken)
            heading = paragraph.heading if begins else ""
            parts[-1].append(
                CardParagraph(paragraph.section if begins else "", heading, text[len(heading) :])
            )
            begins = False
    return parts


def compute_height(texts_and_widths: Sequence[tuple[str, int]]) -> float:
    """The height in points of a row with these texts, never more than a sheet can show."""
    lines = max(
        sum(sum(1 for _ in wrap(line, width)) for line in text.split("\n"))
        for text, width in texts_and_widths
    )
    return min(lines * LINE_POINTS + PADDING_POINTS, MOST_ROW_POINTS)


def wrap(line: str, width: int) -> Iterator[str]:
    """The lines into which a cell of `width` characters breaks a paragraph, nothing left out."""
    room = width * 0.95
    start, at, used = 0, 0, 0.0
    last_break = 0
    while at < len(line):
        size = measure(line[at])
        if used + size > room and at > start:
            end = last_break if last_break > start else at
            yield line[start:end]
            start = end
            used = sum(measure(character) for character in line[start:at])
            continue
        used += size
        at += 1
        # A cell breaks after a space, and between characters of which one is wide.
        if line[at - 1] in " -" or size >= WIDE or (at < len(line) and measure(line[at]) >= WIDE):
            last_break = at
    yield line[start:]


def measure(character: str) -> float:
    """The width of a character, in digits."""
    if unicodedata.east_asian_width(character) in "WFA":
        return WIDE
    if unicodedata.combining(character):
        return 0.0
    return CAPITAL if character.isupper() or character in "mwMW@%—…" else 1.0


def _render_head(item: Item, language: Language) -> str:
    content, source = item.content, item.source
    types, disciplines = list_words("question_types", language), list_words("disciplines", language)
    discipline = disciplines.get(content.discipline or "", content.discipline or "")
    place = " ".join(filter(None, (source.document_name, source.number_label))) if source else ""
    parts = (
        types.get(content.question_type, content.question_type),
        " / ".join(filter(None, (discipline, content.sub_discipline))),
        place,
    )
    return clean_text(" · ".join(part for part in parts if part)).replace("\n", " ")


def _render_truth(answer: str, question_type: str, language: Language) -> str:
    if question_type == "true_false" and language == "zh":
        return {"true": "对 (true)", "false": "错 (false)"}.get(answer, answer)
    return answer


def _choose(pair: tuple[str, str], language: Language) -> str:
    return pair[1] if language == "zh" else pair[0]
