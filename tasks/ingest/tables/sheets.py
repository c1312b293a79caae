"""Questions from the rows of sheets and from records, by the roles of their columns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.ingest.content.emphasis import take_choices
from tasks.ingest.content.fields import Draft, make_true_false, set_choice_answer, split_material
from tasks.ingest.layout.options import option_text, split_options, strip_separators
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.extraction import FORMULA, Sheet
from tasks.ingest.words.answers import read_key, read_truth, split_fillings
from tasks.ingest.words.cleaning import clean_line, clean_text, detect_language
from tasks.ingest.words.columns import Header, find_header, find_role, fold_header, guess_columns
from tasks.ingest.words.kinds import are_truth_options, infer_free_type
from tasks.ingest.words.lexicon import FineType, find_type_in_title, match_exactly, match_type_name
from tasks.questions.blanks import count_blanks

_SCHEMA_CELL = re.compile(
    r"^(?:int|integer|string|str|float|double|bool|boolean|text|long|date|datetime|json|varchar(?:\(\d+\))?|(?:int|string|float)\[\]|\{.*\}(?:\[\])?|"
    r"server|client|server/client|client/server|required|optional|必填|选填|非必填|可选|id|key|name|desc|question|option|image\w*|answer|relation|tag|\w*Option)$"
)
_NOTE = re.compile(
    r"\s*(?:注|说明|备注|合计|共计|共|总计|以上|note|total|end)\b|\s*(?:注|说明|备注|合计)", re.IGNORECASE
)

_SUM = re.compile(r"\s*(?:合\s*计|总\s*计|小\s*计|共\s*计|(?i:(?:sub)?total))\s*[:：]?\s*")


@dataclass
class SheetSplit:
    """The questions of all sheets, the raw text (one line per row), the start of each row, warnings."""

    drafts: list[Draft]
    text: str
    warnings: list[str] = field(default_factory=list)
    language: str | None = None


def split_sheets(sheets: Sequence[Sheet], columns: Mapping[str, Sequence[str]] | None = None) -> SheetSplit:
    """Read the questions of every sheet that maps to question columns; report the headers of those that do not.

    `columns` adds header names by role (from a mapping file). A sheet that holds only numbers and answers
    answers the questions of the other sheets.
    """
    parts: list[str] = []
    offset = 0
    result = SheetSplit([], "")
    key_sheets: list[tuple[str, dict[str, tuple[str, str]]]] = []
    sheets_read = 0
    language = detect_language("\n".join("\n".join(row) for sheet in sheets for row in sheet.rows[:300]))
    for number, sheet in enumerate(sheets):
        title = f"[{sheet.name}]" if sheet.name else ""
        spans: list[tuple[int, int]] = []
        if title:
            parts.append(title)
            offset += len(title) + 1
        for row in sheet.rows:
            line = "\t".join(
                cell.replace("\t", " ").replace("\r", "").replace("\n", "⏎") for cell in row
            ).rstrip()
            spans.append((offset, offset + len(line)))
            parts.append(line)
            offset += len(line) + 1
        if not any(cell.strip() for row in sheet.rows for cell in row):
            continue
        header = find_header(sheet.rows, columns) or guess_columns(sheet.rows)
        if header is None:
            keys = _read_key_sheet(sheet, columns)
            if keys:
                key_sheets.append((sheet.name, keys))
            else:
                result.warnings.append(_describe_unknown(sheet))
            continue
        sheets_read += 1
        drafts, warnings = read_rows(sheet, header, spans, number, language)
        result.drafts.extend(drafts)
        result.warnings.extend(warnings)
        if sheet.is_hidden and drafts:
            result.warnings.append(f"Sheet {sheet.name!r} is hidden; its {len(drafts)} questions were read.")
    for name, keys in key_sheets:
        _apply_key_sheet(result, name, keys)
    result.text = "\n".join(parts)
    result.language = language
    return result


def _read_sheet_type(name: str) -> FineType | None:
    """The type that a sheet's name is, or ends with; `C#编程开发` is a subject."""
    folded = re.sub(r"[\d_|（()）\s-]+", " ", name).strip()
    fine = match_exactly(folded)
    if fine is not None or not re.search(r"题(?:型|库)?$|(?i:questions?|choice|false)$", folded):
        return fine
    return find_type_in_title(folded)


def _describe_unknown(sheet: Sheet) -> str:
    rows = [[cell.strip() for cell in row if cell.strip()] for row in sheet.rows[:30]]
    widest = max(rows, key=len, default=[])
    names = ", ".join(repr(cell[:20]) for cell in widest[:12])
    return (
        f"Sheet {sheet.name!r} maps to no question column and was not read; its headers are {names}. "
        "Name them in a mapping file if it holds questions."
    )


@dataclass
class _Row:
    """One question's cells: those of a row and of the rows that continue it."""

    record: dict[str, str]
    options: dict[str, str]
    fine: FineType | None
    label: str
    start: int
    end: int
    index: int = 0


def read_rows(
    sheet: Sheet,
    header: Header,
    spans: Sequence[tuple[int, int]],
    number: int,
    language: str | None,
    default: FineType | None = None,
) -> tuple[list[Draft], list[str]]:
    """Return the questions of the rows below a header, and sentences on rows that were left out.

    `spans` are the first and last offsets of the rows in the raw text, `default` is the type where no cell
    names one.
    """
    warnings: list[str] = []
    name = f"Sheet {sheet.name!r}" if sheet.name else "A table"
    rows, empty, schema_rows = _collect_rows(sheet, header, spans, default)
    drafts: list[Draft] = []
    for row in rows:
        draft = read_record(row.record, list(row.options.items()), row.fine, language)
        _check_filler(draft, row.record)
        draft.section = number
        draft.value = _read_integer(row.record.get("number", ""))
        draft.number_label = row.label
        draft.start, draft.end = row.start, row.end
        drafts.append(draft)
    _read_number_keys(drafts)
    for marked in sheet.marked.values():
        chosen = [
            [label for label, column in header.options.items() if (row.index, column) in marked]
            for row in rows
        ]
        if take_choices(drafts, chosen):
            break
    if empty:
        warnings.append(f"{name}: {empty} numbered rows have no question text and were left out.")
    if schema_rows:
        warnings.append(f"{name}: {schema_rows} further header rows below the header were left out.")
    return drafts, warnings


def _collect_rows(
    sheet: Sheet, header: Header, spans: Sequence[tuple[int, int]], default: FineType | None
) -> tuple[list[_Row], int, int]:
    found: list[_Row] = []
    fine = default
    if fine is None and sheet.name:
        fine = _read_sheet_type(sheet.name)
    empty = schema_rows = 0
    names = [fold_header(name) for name in header.names]
    for index in range(header.row + 1, len(sheet.rows)):
        row = sheet.rows[index]
        filled = [cell for cell in row if cell.strip()]
        if not filled:
            continue
        if index <= header.row + 4 and not found and _is_schema_row(row):
            schema_rows += 1
            continue
        if names and [fold_header(cell) for cell in row][: len(names)] == names:
            continue  # the header printed again
        if len(filled) == 1 and (title := _read_title(filled[0])) is not None:
            fine = title
            continue
        record = {role: _cell(row, column) for role, column in header.columns.items()}
        options = {
            label: FORMULA if (index, column) in sheet.unsaved else _cell(row, column)
            for label, column in header.options.items()
        }
        if len(header.blanks) > 1:
            record["answer"] = "；".join(
                text for text in (_cell(row, column) for column in header.blanks) if text.strip()
            )
        if record.get("sub_stem", "").strip():
            material = record.get("stem", "").strip() or (
                found[-1].record.get("material", "") if found else ""
            )
            record |= {"material": material, "stem": record["sub_stem"]}
            record["type"] = record.get("sub_type", "").strip() or record.get("type", "")
        if _SUM.fullmatch(record.get("number", "") or record.get("stem", "")):
            continue  # `合计 | 20题` below the questions
        first, last = spans[index]
        if found and _goes_on(found[-1], record, options):
            _append_row(found[-1], record, options)
            found[-1].end = last
            continue
        if not record.get("stem", "").strip():
            is_numbered = re.search(r"\d", record.get("number", "")) is not None
            if is_numbered or any(record.get(role, "").strip() for role in ("answer", "options", "type")):
                empty += 1
            continue
        label = record.get("number", "").strip() or str(index + sheet.first_row)
        found.append(_Row(record, options, fine, label, first, last, index))
    return found, empty, schema_rows


def _read_title(cell: str) -> FineType | None:
    """The type that a row with a single cell names, as a heading between the questions."""
    from tasks.ingest.layout.sections import read_heading

    heading = read_heading(clean_line(cell)[0])
    return match_type_name(cell) or (heading.fine if heading is not None else None)


def _goes_on(before: _Row, record: Mapping[str, str], options: Mapping[str, str]) -> bool:
    """Whether a row continues the one before: it has neither number nor stem, or repeats both (merged cells)."""
    stem, number = record.get("stem", "").strip(), record.get("number", "").strip()
    offered = record.get("options", "").strip()
    if not stem and not number:
        is_taken = any(
            text.strip() and before.options.get(label, "").strip() for label, text in options.items()
        )
        if is_taken or (record.get("answer", "").strip() and before.record.get("answer", "").strip()):
            return False  # a question whose text is missing (a picture), not the rest of the one before
        return bool(offered or any(text.strip() for text in options.values()))
    is_bare = not any(text.strip() for role, text in record.items() if role != "stem")
    if is_bare and not any(text.strip() for text in options.values()):
        if re.match(r"[（(]?[A-J]\s*[)）.．、:：]", stem):
            return not any(text.strip() for text in before.options.values())
        runs_on = not re.search(r"[。？?！!）)_.；;:：]\s*$", before.record["stem"])
        return runs_on and bool(before.record.get("number", "").strip()) and not _NOTE.match(stem)
    if stem != before.record.get("stem", "").strip() or number != before.record.get("number", "").strip():
        return False
    # one option to a row: the cells beside it are merged
    return bool(offered) and offered != before.record.get("options", "").strip().split("\n")[-1]


def _append_row(before: _Row, record: Mapping[str, str], options: Mapping[str, str]) -> None:
    stem = record.get("stem", "").strip()
    if re.match(r"[（(]?[A-J]\s*[)）.．、:：]", stem):
        record = {**record, "stem": "", "options": stem}
    for role, text in record.items():
        known = before.record.get(role, "")
        if text.strip() and text.strip() not in known.split("\n"):
            before.record[role] = f"{known}\n{text}" if known.strip() else text
    for label, text in options.items():
        known = before.options.get(label, "")
        if text.strip() and text.strip() != known.strip():
            before.options[label] = f"{known}\n{text}" if known.strip() else text


def _read_number_keys(drafts: Sequence[Draft]) -> None:
    """Read keys that are numbers, `2` for B, where the sheet's keys are nearly all numbers within the options."""
    _count_number_keys(drafts)
    for draft in drafts:
        if draft.number_keys and are_truth_options([text for _, text in draft.options]):
            make_true_false(draft)


def _count_number_keys(drafts: Sequence[Draft]) -> None:
    keyed = [draft for draft in drafts if draft.options and (draft.answer or draft.number_keys)]
    numbered = [draft for draft in keyed if draft.number_keys]
    if len(numbered) < 0.8 * len(keyed) or all(draft.answer for draft in numbered):
        return
    first = 0 if any(0 in draft.number_keys for draft in numbered) else 1
    for draft in numbered:
        labels = [label for label, _ in draft.options]
        if all(first <= number < first + len(labels) for number in draft.number_keys):
            draft.answer = sorted({labels[number - first] for number in draft.number_keys})


def _cell(row: Sequence[str], column: int) -> str:
    return row[column] if column < len(row) else ""


def _read_integer(text: str) -> int | None:
    match = re.search(r"\d+", text)
    return int(match.group(0)) if match else None


def _is_schema_row(row: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in row if cell.strip()]
    return len(filled) >= 2 and sum(1 for cell in filled if _SCHEMA_CELL.match(cell)) >= 0.7 * len(filled)


def _check_filler(draft: Draft, record: Mapping[str, str]) -> None:
    """Drop a key that only repeats the chapter cell: an author's filler, no answer."""
    answer, chapter = record.get("answer", "").strip(), record.get("chapter", "").strip()
    if answer and answer == chapter and draft.options:
        draft.answer = []
        draft.notes.append("answer_is_filler")


def read_record(
    record: Mapping[str, str],
    options: Sequence[tuple[str, str]],
    default: FineType | None,
    language: str | None,
) -> Draft:
    """Make a question of one row or record. `options` are (label, text) with empty texts allowed."""
    draft = Draft(fine=match_type_name(record.get("type", "")) or default)
    stem = _clean(record.get("stem", ""), language)
    draft.material = _clean(record.get("material", ""), language) or None
    draft.explanation = _clean(record.get("explanation", ""), language) or None
    draft.discipline = record.get("discipline", "").strip() or None
    draft.sub_discipline = record.get("sub_discipline", "").strip() or None
    marks = re.match(r"\s*(\d+(?:\.\d+)?)", record.get("marks", ""))
    draft.marks = float(marks.group(1)) if marks else None
    given = [(label, _clean(text, language)) for label, text in options]
    pairs = [(label, _strip_label(label, text)) for label, text in given if text]
    if not pairs and record.get("options", "").strip():
        pairs = split_packed_options(record["options"], language)
    kind = draft.fine.question_type if draft.fine else None
    if not pairs and kind in (None, "multiple_choice"):
        stem, pairs = _take_options_from_stem(stem, kind == "multiple_choice", language)
    stem = re.sub(r"^\s*\d{1,4}\s*[.、．]\s*(?=\D)", "", stem) if record.get("number") else stem
    draft.stem = stem
    answer = _clean(record.get("answer", ""), language)
    if record.get("type", "").strip() and match_type_name(record["type"]) is None:
        draft.notes.append("type_unknown")
    texts = strip_separators([text for _, text in pairs])
    pairs = [(label, text) for (label, _), text in zip(pairs, texts, strict=True)]
    if kind not in (None, "multiple_choice", "true_false") and pairs:
        _settle_stored_answer(draft, pairs, answer, kind)
        return draft
    if pairs and len(pairs) >= 2:
        draft.options = pairs
        draft.question_type = "multiple_choice"
        if kind == "true_false" or are_truth_options(texts):
            _set_key(draft, answer)
            if are_truth_options(texts) and not draft.number_keys:
                make_true_false(draft)
            return draft
        _set_key(draft, answer)
        if not answer:
            _take_key_from_stem(draft, language)
        return draft
    _settle_plain(draft, pairs, answer, kind, language)
    return draft


def _set_key(draft: Draft, answer: str) -> None:
    if not answer:
        return
    named = re.fullmatch(r"(?i)\s*(?:选项|备选项|option|choice|answer|opt)[\s_\-]*(\d)\s*", answer)
    if named and 0 < int(named.group(1)) <= len(draft.options):
        draft.answer = [draft.options[int(named.group(1)) - 1][0]]
        return
    if re.fullmatch(r"\s*\d+(?:\s*[,，;；、]\s*\d+)*\s*", answer):
        # whether a number counts from 0 or from 1, or is itself an option, only the whole column can tell
        draft.number_keys = [int(token) for token in re.findall(r"\d+", answer)]
        if not any(text == answer for _, text in draft.options):
            draft.notes.append("key_is_a_number")
            return
    set_choice_answer(draft, answer)


def _take_key_from_stem(draft: Draft, language: str | None) -> None:
    from tasks.ingest.words.answers import read_bracketed_key

    found = read_bracketed_key(draft.stem, "".join(label for label, _ in draft.options))
    if found is not None:
        draft.answer, draft.stem = found.answer, clean_text(found.text, language)


def _settle_stored_answer(draft: Draft, pairs: list[tuple[str, str]], answer: str, kind: str) -> None:
    """A bank with option columns only: the answer of a free question stands in column A, its key says `A`."""
    draft.question_type = kind
    letters = read_key(answer, "".join(label for label, _ in pairs)) if answer else None
    by_label = dict(pairs)
    if letters is not None:
        stored = [by_label[letter] for letter in letters]
    elif not answer or answer in by_label.values():
        stored = [text for _, text in pairs]
    else:
        stored = [answer]
    if kind == "fill_in_the_blank" and len(pairs) > 1 and letters is not None and len(letters) == 1:
        stored = [text for _, text in pairs]
    draft.answer = stored if kind == "fill_in_the_blank" else ["\n".join(stored)]


def _settle_plain(
    draft: Draft, pairs: list[tuple[str, str]], answer: str, kind: str | None, language: str | None
) -> None:
    truth = read_truth(answer) if answer else None
    if kind is None:
        if truth is not None and answer not in ("1", "0"):
            kind = "true_false"
        else:
            kind = infer_free_type(draft.stem, draft.material)
    draft.question_type = kind
    if kind == "material_analysis" and not draft.material:
        draft.material, draft.stem = split_material(draft.stem)
    if kind == "true_false":
        word = truth or {"A": "true", "B": "false"}.get(answer.strip().upper())
        if word is None and answer:
            first = re.split(r"[\s,，。.;；:：]", answer.strip())[0]
            word = read_truth(first)
            if word is not None:
                draft.explanation = (
                    draft.explanation or answer.strip()[len(first) :].strip(" ,，。.;；:：") or None
                )
            else:
                draft.notes.append("answer_unreadable")
        draft.answer = [word] if word else []
        draft.stem = re.sub(r"\s*[（(]\s*[)）]\s*[。.]?\s*$", "", draft.stem).rstrip() or draft.stem
        return
    if kind == "multiple_choice":
        draft.notes.append("options_missing")
        draft.answer = read_key(answer) or []
        return
    if not answer and pairs:
        answer = "\n".join(text for _, text in pairs)
    if answer:
        draft.answer = (
            split_fillings(answer, count_blanks(draft.stem)) if kind == "fill_in_the_blank" else [answer]
        )
    del language


def _clean(text: str, language: str | None) -> str:
    if not text.strip():
        return ""
    lines = re.split(r"\r\n|\r|\n|<br\s*/?>", text)
    return clean_text("\n".join(clean_line(line)[0] for line in lines), language)


def _strip_label(label: str, text: str) -> str:
    """Drop a label that the cell repeats (`A.苹果` in column A)."""
    match = re.match(rf"[（(]?{label}[)）]?\s*[.．、:：]\s*|[（(]{label}[)）]\s*", text)
    return text[match.end() :].strip() if match and match.end() < len(text) else text


def split_packed_options(text: str, language: str | None) -> list[tuple[str, str]]:
    """Split options that share one cell: `A.x B.y`, lines, `A;x,B;y`, `x|y|z`, `["x", "y"]`, `{"A": "x"}`."""
    stripped = text.strip()
    if stripped[:1] in "[{":
        try:
            return read_options(json.loads(stripped), language)
        except json.JSONDecodeError:
            pass
    labelled = list(
        re.finditer(r"(?:^|(?<=[,，;；|\s$#]))[（(]?([A-J])[)）]?\s*[;；:：.．、,，=\-－]\s*", stripped)
    )
    chain: list[re.Match[str]] = []
    for match in labelled:
        if match.group(1) == chr(ord("A") + len(chain)):
            chain.append(match)
    if len(chain) >= 2 and chain[0].start() == 0:
        pairs = []
        for index, match in enumerate(chain):
            end = chain[index + 1].start() if index + 1 < len(chain) else len(stripped)
            pairs.append(
                (match.group(1), _clean(stripped[match.end() : end].strip().strip(",，;；|$#"), language))
            )
        if all(value for _, value in pairs):
            return pairs
    pieces = [_as_piece(line) for line in stripped.splitlines() if line.strip()]
    split = split_options(pieces, True)
    if split is not None and not split.stem:
        return [(label, _clean(option_text(found), language)) for label, found in split.options]
    for separator in ("\n", "$;$", "|", "$$", "###", "；", ";", "、", "\t", ",", "，"):
        parts = [part.strip() for part in stripped.split(separator) if part.strip()]
        if 2 <= len(parts) <= 10:
            return [(chr(ord("A") + index), _clean(part, language)) for index, part in enumerate(parts)]
    return []


def _as_piece(line: str) -> Piece:
    text, sources = clean_line(line)
    return Piece(text, 0, len(line), tuple(sources))


def _take_options_from_stem(
    stem: str, is_choice: bool, language: str | None
) -> tuple[str, list[tuple[str, str]]]:
    """Options written into the stem's own cell."""
    split = split_options([_as_piece(line) for line in stem.splitlines()], is_choice)
    if split is None or not split.stem or len(split.options) < 2:
        return stem, []
    pairs = [(label, _clean(option_text(found), language)) for label, found in split.options]
    return clean_text("\n".join(piece.text for piece in split.stem), language), pairs


def read_options(value: Any, language: str | None) -> list[tuple[str, str]]:
    """Read the options of a record: a list of texts, of {label, text} objects, or an object by label."""
    if isinstance(value, str):
        return split_packed_options(value, language)
    if isinstance(value, dict):
        pairs = [
            (str(key).strip().upper(), _clean(str(text), language))
            for key, text in value.items()
            if str(text).strip()
        ]
        if all(re.fullmatch(r"[A-J]", label) for label, _ in pairs):
            return pairs
        return [(chr(ord("A") + index), text) for index, (_, text) in enumerate(pairs)]
    if not isinstance(value, list):
        return []
    pairs = []
    for index, item in enumerate(value[:10]):
        label = chr(ord("A") + index)
        if isinstance(item, dict):
            text = next(
                (
                    item[key]
                    for key in ("text", "content", "value", "option", "内容", "选项内容")
                    if key in item
                ),
                "",
            )
            named = next(
                (item[key] for key in ("label", "key", "id", "name", "标号", "选项") if key in item), label
            )
            label = str(named).strip().upper() if re.fullmatch(r"[A-Ja-j]", str(named).strip()) else label
        elif isinstance(item, list) and len(item) == 2:
            label, text = str(item[0]).strip().upper()[:1] or label, item[1]
        else:
            text = item
        cleaned = _strip_label(label, _clean(str(text), language))
        pairs.append((label, cleaned))
    return [(label, text) for label, text in pairs if text]


def split_records(
    records: Sequence[Mapping[str, Any]], columns: Mapping[str, Sequence[str]] | None = None
) -> SheetSplit:
    """Read the questions of JSON records by the names of their keys; the text is one record per line."""
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
            if role is not None and role not in fields and value not in (None, "", []):
                fields[role] = value
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
            draft = read_record(texts, given, None, result.language)
            draft.number_label = str(texts.get("number", number))
            draft.value = _read_integer(draft.number_label)
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


def _read_key_sheet(sheet: Sheet, columns: Mapping[str, Sequence[str]] | None) -> dict[str, tuple[str, str]]:
    """Read a sheet of numbers and answers: {number: (answer, explanation)}; empty when it is none."""
    for index, row in enumerate(sheet.rows[:30]):
        roles: dict[str, int] = {}
        for column, cell in enumerate(row):
            role = find_role(cell, columns)
            if role is not None:
                roles.setdefault(role, column)
        if "answer" in roles and "number" in roles:
            return {
                _cell(entry, roles["number"]).strip(): (
                    _cell(entry, roles["answer"]).strip(),
                    _cell(entry, roles["explanation"]).strip() if "explanation" in roles else "",
                )
                for entry in sheet.rows[index + 1 :]
                if _cell(entry, roles["number"]).strip() and _cell(entry, roles["answer"]).strip()
            }
    return {}


def _apply_key_sheet(result: SheetSplit, name: str, keys: Mapping[str, tuple[str, str]]) -> None:
    from tasks.ingest.content.key_matching import apply_key
    from tasks.ingest.layout.key_lines import KeyEntry

    matched = 0
    for draft in result.drafts:
        found = keys.get(draft.number_label)
        if found is None or draft.answer:
            continue
        apply_key(draft, KeyEntry(draft.value or 0, found[0], found[1] or None), result.language)
        matched += 1
    if matched < len(keys):
        result.warnings.append(
            f"Sheet {name!r} holds {len(keys)} answers; {matched} were matched to questions by number."
        )
