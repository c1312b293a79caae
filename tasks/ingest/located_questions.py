"""Questions of a model, looked up letter by letter in a paper: what is not there is refused."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.ingest.confidence import compute_confidences, name_status, parse_reading, read_fit
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.fields import read_content
from tasks.ingest.content.key_regions import find_region
from tasks.ingest.content.keys import match_keys, part_region
from tasks.ingest.content.questions import make_questions
from tasks.ingest.documents import ParsedDocument
from tasks.ingest.layout.pieces import make_pieces
from tasks.ingest.places import Places, Span
from tasks.ingest.readers.extraction import Line
from tasks.ingest.words.labels import parse_label
from tasks.ingest.words.lexicon import match_type_name

NOTE = "assisted"


@dataclass(frozen=True)
class Located:
    """A question of the model found in the text: its draft, and how far it reaches there."""

    draft: Draft
    start: int
    end: int


def locate_questions(
    entries: Sequence[Mapping[str, Any]], text: str, start: int, stop: int, language: str | None
) -> tuple[list[Located], int]:
    """Find the model's questions in `text[start:stop]`.

    Those of which a piece is not there are refused, and counted. Stems must follow one another. An answer counts only
    where it stands between its stem and the next one.
    """
    places = Places(text, start, stop)
    spans: list[tuple[Mapping[str, Any], list[Span], list[Span]]] = []
    cursor = start
    refused = 0
    for entry in entries:
        stem = places.find_labelled(str(entry.get("number") or ""), entry.get("stem"), cursor)
        material = places.find_lines(entry.get("material"), start)
        if not stem or material is None:
            refused += 1
            continue
        spans.append((entry, stem, material))
        cursor = stem[-1][1]
    located: list[Located] = []
    for place, (entry, stem, material) in enumerate(spans):
        limit = spans[place + 1][1][0][0] if place + 1 < len(spans) else stop
        one = _locate_rest(entry, stem, material, places, limit, language)
        if one is None:
            refused += 1
        else:
            located.append(one)
    return located, refused


def _locate_rest(
    entry: Mapping[str, Any],
    stem: list[Span],
    material: list[Span],
    places: Places,
    limit: int,
    language: str | None,
) -> Located | None:
    """Options, answer and explanation of a question; None where an option is not there."""
    options: list[tuple[str, list[Span]]] = []
    cursor = stem[-1][1]
    raw = entry.get("options") or []
    for option in raw if isinstance(raw, list) else []:
        if not isinstance(option, dict):
            return None
        label = str(option.get("label") or "").strip(" .．、()（）").upper()
        lines = places.find_labelled(label, option.get("text"), cursor) if label else None
        if not lines or not re.fullmatch(r"[A-J]", label) or label in dict(options):
            return None
        options.append((label, lines))
        # columns are read line by line: an option may stand before the one that is listed before it
        cursor = min(lines[0][0], cursor) if lines[0][0] < limit else cursor
    end = max([stem[-1][1], *(lines[-1][1] for _, lines in options)])
    used = [*stem, *(span for _, lines in options for span in lines)]
    answer = places.find_answer(entry.get("answer"), stem[-1][1], limit, used)
    explanation = places.find_lines(entry.get("explanation"), stem[-1][1], limit) or []
    pieces = [
        *places.make_pieces(stem),
        *(piece for label, lines in options for piece in places.make_pieces(lines, f"{label}. ")),
        *(places.make_pieces(answer, "答案：") if answer else []),
        *(places.make_pieces(explanation, "解析：") if explanation else []),
    ]
    draft = read_content(pieces, match_type_name(str(entry.get("type") or "")), language, is_answered=False)
    if not draft.stem:
        return None
    number, begin = places.find_number(str(entry.get("number") or "").strip(), stem[0][0])
    label_found = parse_label(f"{number} x") if number else None
    draft.number_label = number
    draft.value = label_found.value if label_found else None
    if material:
        draft.material = "\n".join(piece.text.strip() for piece in places.make_pieces(material))
    draft.start = begin
    draft.end = max([end, *(span[1] for span in [*answer, *explanation] if span[1] <= limit)])
    draft.notes.append(NOTE)
    return Located(draft, begin, draft.end)


def make_rows(
    parsed: ParsedDocument, located: Sequence[Located], threshold: float, fit: str | None = None
) -> list[Row]:
    """Rows of the model's questions, with the answers that the rules had found for them."""
    assert parsed.text is not None
    drafts = [one.draft for one in located]
    _inherit_answers(drafts, parsed.questions)
    if parsed.document["status"] == "no_questions":
        _match_printed_keys(drafts, str(parsed.text["text"]), parsed.document["language"])
    notes = ["ocr"] if "rapidocr" in str(parsed.document["converter"]) else []
    rows, _ = make_questions(drafts, parsed.document, parsed.document["language"], notes)
    evidence, checked = parse_reading(parsed.document.get("reading"))
    compute_confidences(read_fit(fit), evidence, rows, checked.breaches)
    for row in rows:
        row["status"] = name_status(row, threshold)
    return rows


def _inherit_answers(drafts: Sequence[Draft], rows: Sequence[Row]) -> None:
    """Keep keys from the end of the paper with the question of the same number and place."""
    for draft in drafts:
        if draft.answer:
            continue
        labels = {label for label, _ in draft.options}
        for row in rows:
            if not row["answer"] or row["text_start"] is None or draft.value is None:
                continue
            label = parse_label(f"{row['number_label']} x")
            overlaps = row["text_start"] < draft.end and draft.start < row["text_end"]
            is_choice = row["question_type"] == "multiple_choice"
            if not overlaps or label is None or label.value != draft.value:
                continue
            if is_choice == bool(labels) and (not is_choice or set(row["answer"]) <= labels):
                draft.answer = list(row["answer"])
                draft.explanation = draft.explanation or row["explanation"]


def _match_printed_keys(drafts: Sequence[Draft], text: str, language: str | None) -> None:
    """Give the answers printed at the end of the paper to the model's questions."""
    lines = text.split("\n")
    starts: list[int] = []
    position = 0
    for line in lines:
        starts.append(position)
        position += len(line) + 1
    pieces = make_pieces([Line(line) for line in lines], starts)
    region = find_region(pieces)
    if region is not None:
        match_keys(drafts, part_region(pieces[region + 1 :]), language)


Row = dict[str, Any]
# Text between two questions belongs to a doubtful one up to this length; longer gaps are key tables and instructions.
MOST_GAP = 1_500
# Of the characters that the doubtful questions held, so many must stand in the model's questions.
LEAST_COVERAGE = 0.9


def find_stretches(parsed: ParsedDocument) -> list[tuple[int, int]]:
    """The stretches of the text that the rules left in doubt, as offsets in order.

    What the rules are sure of is in none. All of the text where no question was found; else every run of questions that
    a contract of the paper doubts, by itself or with its section, or that are below the confidence threshold, and the place of
    every contract that is broken, up to the sure questions around them.
    """
    if parsed.text is None:
        return []
    text = str(parsed.text["text"])
    if parsed.document["status"] == "no_questions":
        return [(0, len(text))] if text.strip() else []
    placed = sorted(
        (row for row in parsed.questions if row["text_start"] is not None and row["text_end"] is not None),
        key=lambda row: row["text_start"],
    )
    _, checked = parse_reading(parsed.document.get("reading"))
    sections = {breach.section for breach in checked.breaches if breach.section is not None}
    places = sorted({breach.place for breach in checked.breaches})

    def is_doubtful(row: Row) -> bool:
        at = bisect_left(places, row["text_start"])
        holds_breach = at < len(places) and places[at] < row["text_end"]
        return row["status"] == "low_confidence" or row.get("section") in sections or holds_breach

    sure = [row for row in placed if not is_doubtful(row)]
    doubtful = [(row["text_start"], row["text_end"]) for row in placed if is_doubtful(row)]
    for place in places:
        line_end = text.find("\n", place)
        doubtful.append((place, line_end if line_end >= 0 else len(text)))
    ends = sorted(one["text_end"] for one in sure)
    starts = [one["text_start"] for one in sure]
    stretches: list[tuple[int, int]] = []
    for first, last in sorted(doubtful):
        before = bisect_right(ends, first)
        after = bisect_left(starts, last)
        start = ends[before - 1] if before else 0
        end = starts[after] if after < len(starts) else len(text)
        start = start if first - start <= MOST_GAP else first
        end = end if end - last <= MOST_GAP else last
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    return stretches


def merge_rows(questions: Sequence[Row], rows: Sequence[Row], start: int, end: int) -> list[Row] | None:
    """The document's questions with those of a stretch replaced by the model's.

    None where the rules' are no worse. The model's must on average be surer than those that they replace, and must hold
    nearly all of their text; the rules' questions that none of the model's touches stay.
    """
    if not rows:
        return None
    inside = [
        row
        for row in questions
        if row["text_start"] is not None
        and start <= row["text_start"] < end
        and any(row["text_start"] < one["text_end"] and one["text_start"] < row["text_end"] for one in rows)
    ]
    if inside:
        if _mean_confidence(rows) <= _mean_confidence(inside):
            return None
        held = _covered(inside)
        if len(held & _covered(rows)) < LEAST_COVERAGE * len(held):
            return None
    replaced = {row["question_uuid"] for row in inside}
    kept = [row for row in questions if row["question_uuid"] not in replaced]
    known = {row["question_uuid"] for row in kept}
    merged = [*kept, *(row for row in rows if row["question_uuid"] not in known)]
    order = {id(row): place for place, row in enumerate(merged)}
    merged.sort(key=lambda row: (row["text_start"] if row["text_start"] is not None else -1, order[id(row)]))
    return [row | {"position": place} for place, row in enumerate(merged, start=1)]


def _mean_confidence(rows: Sequence[Row]) -> float:
    return sum(float(row["parse_confidence"]) for row in rows) / len(rows)


def _covered(rows: Sequence[Row]) -> set[int]:
    return {place for row in rows for place in range(row["text_start"], row["text_end"])}
