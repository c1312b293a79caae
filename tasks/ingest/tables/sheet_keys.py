"""Answers that a sheet keeps apart from its questions: in rows, across, or in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.key_answers import apply_key, may_answer
from tasks.ingest.content.keys import match_keys, read_keys
from tasks.ingest.content.region_titles import is_region_heading
from tasks.ingest.layout.key_lines import KeyEntry, read_key_line
from tasks.ingest.readers.extraction import Line, Sheet
from tasks.ingest.tables.sheet_tables import counts_across, find_sides
from tasks.ingest.words.columns import find_role
from tasks.ingest.words.lexicon import match_type_name


def answer_by(
    sheet: Sheet, drafts: Sequence[Draft], columns: Mapping[str, Sequence[str]] | None, language: str | None
) -> tuple[int, int]:
    """Give questions the answers of a table that asks nothing.

    Returns how many answers it holds, and how many were matched.
    """
    keys = _read_rows(sheet, columns)
    if keys:
        return len(keys), sum(_answer(drafts, key, keys, language) for key in keys)
    lines = [
        Line("  ".join(cell.replace("\n", " ") for cell in row if cell.strip()))
        for row in sheet.rows
        if any(row)
    ]
    named = [sheet.name, *(line.text for line in lines[:1])]
    is_named = any(map(is_region_heading, named)) or counts_across([row for row in sheet.rows if any(row)])
    if not is_named and not all(read_key_line(line.text) for line in lines):
        return 0, 0
    matched = match_keys(drafts, read_keys(lines), language)
    return matched.count + len(matched.left), matched.count


# The number of a question, the type that its row names, and its answer.
_Key = tuple[str, str, KeyEntry]


def _read_rows(sheet: Sheet, columns: Mapping[str, Sequence[str]] | None) -> list[_Key]:
    """The answers below `题号 | 答案`, with the type and explanation of each row, else []."""
    for index, head in enumerate(sheet.rows):
        found: list[_Key] = []
        for left, right in find_sides(head):
            roles: dict[str | None, int] = {}
            for column, cell in enumerate(head[left:right], left):
                roles.setdefault(find_role(cell, columns), column)
            if not {"number", "answer"} <= roles.keys():
                continue
            for row in sheet.rows[index + 1 :]:
                told = {role: row[at].strip() if at < len(row) else "" for role, at in roles.items()}
                if told["number"] and told["answer"]:
                    entry = KeyEntry(0, told["answer"], told.get("explanation") or None)
                    found.append((told["number"], told.get("type", ""), entry))
        if found:
            return found
    return []


def _answer(drafts: Sequence[Draft], key: _Key, keys: Sequence[_Key], language: str | None) -> bool:
    """Give its question an answer; of several with this number and type the first without one."""
    number, named, entry = key
    fine = match_type_name(named)
    alike = [draft for draft in drafts if draft.number_label == number]
    if fine is not None:
        alike = [draft for draft in alike if (draft.fine or fine).question_type == fine.question_type]
    elif len(alike) > sum(1 for other, _, _ in keys if other == number):
        return False  # not all of them have an answer here: which one has is not told
    open_to = [draft for draft in alike if not draft.answer and may_answer(draft, entry.text)]
    if open_to:
        apply_key(open_to[0], entry, language)
    return bool(open_to)
