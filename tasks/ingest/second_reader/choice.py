"""Two readings of one paper, by the rules and by a second reader, become one.

It is how data are entered twice: two that read by different means seldom err in the same way, so what both read alike is
nearly always right. Where they differ the second reader is believed, as far as the paper itself does not speak against it.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from schemas import patterns as re
from tasks.ingest.confidence import Terms, fold, name_status, parse_reading, settle
from tasks.ingest.contracts import KEY_SHOWN, UNREAD_LINES
from tasks.ingest.documents import IngestOptions, ParsedDocument
from tasks.ingest.second_reader.labels import read_core, read_value
from tasks.ingest.second_reader.notes import CONFIRMED, HOLDS_ANSWER, KEY_BY_READER, POINTED
from tasks.questions.pictures import PICTURE, write_mark

# What of each kind was right in papers that were read twice (docs/decisions/0122): questions that both read alike, those
# that the second reader reads otherwise, and those of them whose key is told by words.
BOTH, SECOND_ALONE, KEY_TOLD, FIRST_ALONE = 0.97, 0.85, 0.8, 0.5
VERSION = "two-readings/1"
# Of 57 papers that nobody had shown to the rules those expected to be right by less lost one question in four, others one in twelve.
_LEAST_EXPECTED = 0.8
# A second reading that keeps so much less of what the paper says of itself, counted in questions, is not taken, and none that finds
# a scrap of what the rules find.
_LEAST_SOUND, _LEAST_FOUND = 0.5, 0.2
# What neither reader can know: a text that holds its answer, what OCR or a lost option changed. Such a question is no surer than before.
_DOUBTS = {
    "ocr_unsure",
    "readings_differ",
    "option_empty",
    "option_missing",
    "options_equal",
    "answer_without_mark",
    "needs_figure",
}
_MOST_OF_SHOWN = 0.3


def is_doubtful(parsed: ParsedDocument) -> bool:
    """Whether a paper may have been read wrongly.

    It is held, broke a contract, has questions that are doubted, is not expected to be right nearly whole, or holds pictures, of
    which the rules put one in six to the wrong place (docs/decisions/0123).
    """
    if parsed.text is None or not str(parsed.text["text"]).strip():
        return False
    if parsed.document["status"] in ("held", "no_questions"):
        return True
    _, checked = parse_reading(parsed.document.get("reading"))
    expected = parsed.document.get("expected_right_rate")
    return (
        bool(checked.breaches or parsed.pictures)
        or any(row["status"] == "low_confidence" for row in parsed.questions)
        or (expected is not None and expected < _LEAST_EXPECTED)
    )


def choose_reading(
    first: ParsedDocument, second: ParsedDocument, options: IngestOptions
) -> tuple[ParsedDocument, bool]:
    """The better one of two readings, and whether that is the second.

    `first` is the rules' reading. The second is taken unless the paper itself speaks against it; its questions are as sure as the first
    makes them.
    """
    if not second.questions:
        return first if second.refused or not first.questions else _hold(first), False
    # what only the rules read, and is kept, is confirmed by nobody
    alike = {identify(row) for row in first.questions} & {identify(row) for row in second.questions}
    whole = _keep_passed_over(first, second)
    is_scrap = len(second.questions) < _LEAST_FOUND * len(first.questions)
    if is_scrap or _count_sound(whole) < _LEAST_SOUND * _count_sound(first):
        return _confirm(first, alike, _list_answering(second), options), False
    return _judge(whole, alike, options), True


def _hold(first: ParsedDocument) -> ParsedDocument:
    """The rules' reading of what a second reader takes for no paper, such as a sheet of answers."""
    reason = (
        f"Held: A second reader finds no question in it, the rules {len(first.questions)}. Correct how it is divided on the web desk, "
        "or release it as it is: `proctor documents release`."
    )
    questions = [
        row
        | {"parse_confidence": min(float(row["parse_confidence"]), FIRST_ALONE), "status": "low_confidence"}
        for row in first.questions
    ]
    return replace(first, document=first.document | {"status": "held", "error": reason}, questions=questions)


def _list_answering(parsed: ParsedDocument) -> set[str]:
    """The pictures that a reading calls part of an answer, by hash."""
    return {
        one["sha256"]
        for row in parsed.questions
        for one in row["pictures"] or ()
        if one["place"] in ("answer", "explanation")
    }


def _doubt_shown(row: dict[str, Any], answering: Collection[str]) -> dict[str, Any]:
    """A question, doubted where it shows a picture that the other reader calls an answer."""
    shown = {one["sha256"] for one in row["pictures"] or () if one["place"] in ("stem", "material", "option")}
    if not shown.intersection(answering):
        return row
    sure = min(float(row["parse_confidence"]), _MOST_OF_SHOWN)
    return row | {"parse_notes": [*row["parse_notes"], KEY_SHOWN], "parse_confidence": sure}


def _confirm(
    first: ParsedDocument,
    alike: Collection[tuple[str, ...]],
    answering: Collection[str],
    options: IngestOptions,
) -> ParsedDocument:
    """The rules' reading where the paper speaks against the other: what both read is surer."""
    count = sum(identify(row) in alike for row in first.questions)
    said = f"A second reader reads {count} of {len(first.questions)} questions of this paper alike. Its reading keeps less of what the paper says of itself, and was not taken."
    questions = [_doubt_shown(row, answering) for row in first.questions]
    if first.document["status"] != "held":
        questions = [_judge_question(row, alike) if identify(row) in alike else row for row in questions]
        questions = [row | {"status": name_status(row, options.confidence_threshold)} for row in questions]
    document = first.document | {"warnings": [*first.document["warnings"], said]}
    return replace(first, document=document, questions=questions)


def _keep_passed_over(first: ParsedDocument, second: ParsedDocument) -> ParsedDocument:
    """The second reading with the rules' questions that it passed over.

    These are those of which it pointed at what is not there, and those whose number it lacks between two others.
    """
    if first.text is None or second.text is None or first.text["text"] != second.text["text"]:
        return second
    refused = {*map(read_core, second.refused)}
    ordered = sorted(second.questions, key=lambda row: row["text_start"])
    starts = [row["text_start"] for row in ordered]
    values = [read_value(row["number_label"]) for row in ordered]
    known = {row["question_uuid"] for row in ordered}
    # what the second reader calls part of an answer is shown by no question
    answering = _list_answering(second)
    kept = []
    for row in first.questions:
        if answering & {one["sha256"] for one in row["pictures"] or ()}:
            continue
        number, value = read_core(row["number_label"]), read_value(row["number_label"])
        if row["text_start"] is None or not number or row["question_uuid"] in known:
            continue
        at = bisect_right(starts, row["text_start"])
        beside = slice(max(at - 1, 0), at + 1)
        is_free = all(
            one["text_end"] <= row["text_start"] or row["text_end"] <= one["text_start"]
            for one in ordered[beside]
        )
        fills = value is not None and at > 0 and values[beside] == [value - 1, value + 1]
        if is_free and (number in refused or fills):
            kept.append(row)
    if not kept:
        return second
    rows = sorted([*ordered, *kept], key=lambda row: row["text_start"])
    numbered = [row | {"position": place} for place, row in enumerate(rows, start=1)]
    return replace(
        second,
        document=second.document | {"question_count": len(numbered)},
        questions=numbered,
        pictures=list({one["sha256"]: one for one in (*second.pictures, *first.pictures)}.values()),
        picture_bytes={**first.picture_bytes, **second.picture_bytes},
    )


def identify(row: dict[str, Any]) -> tuple[str, ...]:
    """What of a question two readings must have alike to confirm one another."""
    named = {write_mark(one["number"]): str(one["sha256"]) for one in row["pictures"] or ()}

    def show(text: str | None) -> list[str]:
        return [named[mark[0]] for mark in PICTURE.finditer(text or "") if mark[0] in named]

    told = (row["question_type"], _fold(row["material"] or ""), _fold(row["stem"]))
    # above the question or in it, a picture is shown with it
    asked = sorted({*show(row["material"]), *show(row["stem"])})
    offered = (
        "".join([option["label"], _fold(option["text"]), *show(option["text"])]) for option in row["options"]
    )
    answered = ("".join([_fold(text), *show(text)]) for text in row["answer"])
    return (*told, *asked, *offered, "=", *answered)


# Signs that make another number or another formula; all other punctuation is layout.
_TELLING = re.compile(r"[-−](?=\s*[\w√(（])|(?<=\d)[.,:/](?=\d)|[%*/^!'′]")


def _fold(text: str) -> str:
    parts = _TELLING.split(normalised := unicodedata.normalize("NFKC", text))
    signs = [*_TELLING.findall(normalised), ""]
    return "".join(fold(part) + sign for part, sign in zip(parts, signs, strict=True))


def _count_sound(parsed: ParsedDocument) -> float:
    _, checked = parse_reading(parsed.document.get("reading"))
    return checked.score * len(parsed.questions)


def _judge(
    chosen: ParsedDocument, others: Collection[tuple[str, ...]], options: IngestOptions
) -> ParsedDocument:
    """The chosen reading with the confidence of two, held where that or contracts ask for it."""
    questions = [_judge_question(row, others) for row in chosen.questions]
    document = dict(chosen.document)
    _, checked = parse_reading(document.get("reading"))
    confirmed = sum(CONFIRMED in row["parse_notes"] for row in questions) / len(questions)
    # What two readers read alike is not doubted for what the paper says of itself; but both read what OCR misread.
    is_unread = any(breach.contract == UNREAD_LINES for breach in checked.breaches)
    kept = checked if is_unread else replace(checked, score=max(checked.score, confirmed))
    share = kept.score * sum(float(row["parse_confidence"]) for row in questions) / len(questions)
    document["confidence_version"] = VERSION
    settle(document, questions, round(share, 2), kept, Terms.from_options(vars(options)))
    return replace(chosen, document=document, questions=questions)


def _judge_question(row: dict[str, Any], others: Collection[tuple[str, ...]]) -> dict[str, Any]:
    notes = [note for note in row["parse_notes"] if note != CONFIRMED]
    own = float(row["parse_confidence"])
    if identify(row) in others:
        notes = [*(note for note in notes if note not in (POINTED, KEY_BY_READER)), CONFIRMED]
        sure = BOTH
    elif POINTED not in notes:
        sure = min(FIRST_ALONE, own)
    else:
        sure = KEY_TOLD if KEY_BY_READER in notes else SECOND_ALONE
    if _DOUBTS & {*notes}:
        sure = min(sure, own)
    if {HOLDS_ANSWER, KEY_SHOWN} & {*notes}:
        sure = min(sure, _MOST_OF_SHOWN)
    return row | {"parse_notes": notes, "parse_confidence": sure}
