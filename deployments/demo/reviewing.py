"""Fill in a review workbook's own cells as annotators would, from a list of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from tasks.review import Language, parse_word
from tasks.review.channels import (
    FIRST_ROW,
    HIDDEN_SHEET,
    NO_ANSWER,
    SHEET,
    list_columns,
    name_heading,
    render_input_cells,
    render_mathematics,
)
from tasks.review.decisions import Edit, GivenDecision


@dataclass(frozen=True)
class Verdict:
    """What an annotator decides about one question of one paper, other than to accept it."""

    document_name: str
    stem_start: str
    decision: str
    comment: str
    reject_reason: str | None = None
    edit: Edit | None = None


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of `review.yaml`, by source file and the question's first words."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))

    def document_name(paper: str) -> str:
        source = yaml.safe_load((path.parent / f"{paper}.yaml").read_text(encoding="utf-8"))
        return Path(source["file"]).name

    rejections = [
        Verdict(
            document_name(row["paper"]), row["stem"], "reject", row["comment"], reject_reason=row["reason"]
        )
        for row in content["rejections"]
    ]
    edits = [
        Verdict(
            document_name(row["paper"]),
            row["stem"],
            "edit",
            row["comment"],
            edit=Edit.from_row(row["fields"]),
        )
        for row in content["edits"]
    ]
    return rejections + edits


def fill_workbook(path: Path, verdicts: Sequence[Verdict]) -> int:
    """Write a decision by every open card, accepting what no verdict is about; how many."""
    from openpyxl import load_workbook

    book = load_workbook(path)
    language = cast("Language", book[HIDDEN_SHEET]["A7"].value)
    sheet = book[SHEET]
    places = {str(cell.value): cell.column for cell in sheet[1] if cell.value}
    columns = {column.name: places[column.header] for column in list_columns(language)}
    cards: dict[str, list[str]] = {}
    first_rows: dict[str, int] = {}
    for row in range(FIRST_ROW, sheet.max_row + 1):
        uuid = str(sheet.cell(row, columns["question_uuid"]).value or "")
        if uuid:
            cards.setdefault(uuid, []).append(str(sheet.cell(row, columns["card"]).value))
            first_rows.setdefault(uuid, row)
    filled = 0
    for uuid, row in first_rows.items():
        if sheet.cell(row, columns["decision"]).value:
            continue
        verdict = _find_verdict("\n".join(cards[uuid]), verdicts, language)
        given = GivenDecision(
            uuid, verdict.decision, verdict.reject_reason, verdict.comment or None, verdict.edit
        )
        for name, value in render_input_cells(given, _name_type(cards[uuid][0], language)).items():
            sheet.cell(row, columns[name]).value = value
        filled += 1
    book.save(path)
    return filled


def _find_verdict(card: str, verdicts: Sequence[Verdict], language: Language) -> Verdict:
    """The verdict about the question of a card, which names its paper in its first line."""
    head = card.partition("\n")[0]
    stem = _squeeze(card.partition(name_heading("stem", language))[2])
    for verdict in verdicts:
        start = _squeeze(render_mathematics(verdict.stem_start))
        if verdict.document_name in head and stem.startswith(start):
            return verdict
    return _judge_by_sight(card, language)


def _name_type(card: str, language: Language) -> str:
    """The type in a card's first line, as a code."""
    return parse_word(card.partition(" · ")[0], "question_types") or ""


def _judge_by_sight(card: str, language: Language) -> Verdict:
    """The verdict where none is listed: accepted, unless it has no answer."""
    if name_heading("answer", language) + NO_ANSWER[language == "zh"] in card:
        return Verdict("", "", "reject", "没有答案。 No answer was read.", reject_reason="formatting")
    return Verdict("", "", "accept", "")


def _squeeze(value: object) -> str:
    return "".join(str(value or "").split())
