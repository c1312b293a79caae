"""Questions from JSON records, by the names of their keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.ingest.tables.packed_options import read_named_key, read_option_flags, read_options
from tasks.ingest.tables.record_questions import read_record
from tasks.ingest.tables.sheets import SheetSplit, read_integer
from tasks.ingest.words.cleaning import detect_language
from tasks.ingest.words.columns import find_role
from tasks.ingest.words.lexicon import match_type_name


def split_records(
    records: Sequence[Mapping[str, Any]], columns: Mapping[str, Sequence[str]] | None = None
) -> SheetSplit:
    """Read the questions of JSON records by the names of their keys.

    The text is one record per line.
    """
    result = SheetSplit([], "")
    lines: list[str] = []
    offset = 0
    sample = [
        str(value)
        for record in records[:200]
        for name, value in record.items()
        if isinstance(value, str) and find_role(str(name), columns) in ("stem", "material", "explanation")
    ]
    result.language = detect_language(" ".join(sample))
    missing = 0
    for number, record in enumerate(records, start=1):
        line = json.dumps(record, ensure_ascii=False, default=str)
        fields: dict[str, Any] = {}
        options: list[tuple[str, str]] = []
        stem_name = ""
        for name, value in record.items():
            if re.fullmatch(r"(?i)(?:option|choice|选项)?[\s_]*([a-h])", str(name)) and isinstance(
                value, str | int | float
            ):
                options.append((str(name).strip()[-1].upper(), str(value)))
                continue
            role = find_role(str(name), columns)
            if role is not None and len(role) == 1:  # a mapping file says that this key holds one option
                options.append((role, str(value)))
                continue
            if role is None and name == "section":
                role = "type" if match_type_name(str(value)) else None
            if value in (None, "", []) or role is None:
                continue
            if role not in fields or (role == "stem" and _is_plainer(str(name), stem_name)):
                fields[role] = value
                stem_name = str(name) if role == "stem" else stem_name
        if "stem" in fields and isinstance(fields["stem"], str):
            given = read_options(fields["options"], result.language) if "options" in fields else options
            texts = {role: _flatten(value) for role, value in fields.items() if role != "options"}
            answer = fields.get("answer")
            if (
                isinstance(answer, int)
                and not isinstance(answer, bool)
                and 0 <= answer < len(given)
                and given
            ):
                # a number in a record is an index from 0, as every data set with lists of choices has it
                texts["answer"] = given[answer][0]
            elif isinstance(answer, bool):
                texts["answer"] = "true" if answer else "false"
            elif "options" in fields:
                named = read_named_key(fields["options"], answer) if answer is not None else ""
                texts["answer"] = named or texts.get("answer") or read_option_flags(fields["options"])
            draft = read_record(texts, given, None, result.language)
            draft.number_label = str(texts.get("number", number))
            draft.value = read_integer(draft.number_label)
            draft.start, draft.end = offset, offset + len(line)
            result.drafts.append(draft)
        else:
            missing += 1
        lines.append(line)
        offset += len(line) + 1
    if missing:
        names = ", ".join(repr(str(name)[:20]) for name in list(records[0])[:12]) if records else ""
        result.warnings.append(
            f"{missing} of {len(records)} records have no question text; the first one's keys are {names}."
        )
    result.text = "\n".join(lines)
    return result


_PLAIN_STEM = re.compile(r"(?i)question|stem|prompt|problem|题干|题目|问题|试题")


def _is_plainer(name: str, known: str) -> bool:
    """Whether one key names the asking text more plainly than another.

    So `question` beside `title`.
    """
    return _PLAIN_STEM.search(name) is not None and _PLAIN_STEM.search(known) is None


def _flatten(value: Any) -> str:
    if isinstance(value, list):
        return (
            "；".join(_flatten(item) for item in value)
            if not all(isinstance(item, str) and re.fullmatch(r"[A-J]", item) for item in value)
            else "".join(value)
        )
    if isinstance(value, dict):
        return "；".join(f"{key}: {_flatten(item)}" for key, item in value.items())
    return str(value)
