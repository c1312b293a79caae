"""A candidate's answers in a run, one of them whole: from the lake, else from the ledger."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tasks.questions import BareQuestion, QuestionContent
from tasks.watching.answers.lines import WAITING, AnswerLine, GivenStars, Key
from tasks.watching.runs import WatchedRun
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import watching

_EXCERPT = 240


@dataclass(frozen=True, slots=True)
class AnswerExcerpt:
    """How a question and its answer begin, null for none; `erased_at` of an erased answer."""

    question: str | None
    answer: str | None
    erased_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """One answer with all that is known of it.

    Attributes:
        line: its line.
        question: the question; with its reference answer only where that was asked for; null where it is nowhere.
        response: text, reasoning, answer, answer_status, finish_reason, input_tokens, output_tokens, cost_usd, latency_ms, attempts,
            error, erased_at (null where its texts are there); null before there is one.
        judgements: judge, stars, parse_status, prompt_version, occasion, attempt, judged_at, address; with reason and key_verdict only
            where the reference answer was asked for.
    """

    line: AnswerLine
    question: QuestionContent | None
    response: dict[str, Any] | None
    judgements: list[dict[str, Any]]


def list_answers(ledger: Ledger, lake: Lake | None, run: WatchedRun, model: str) -> list[AnswerLine]:
    """Every question handed to the candidate, without texts, by style, repeat and position."""
    scope = {"run_id": run.run_id, "month": run.month, "model": model}
    if run.is_landed and lake is not None:
        return [
            _make_line(row, tuple(GivenStars(one["judge"], one["stars"]) for one in row["marks"] or ()))
            for row in lake.read("watched_allocations", scope).iter_rows(named=True)
        ]
    marks: dict[Key, list[GivenStars]] = defaultdict(list)
    if lake is not None:
        for row in lake.read("watched_marks", scope).iter_rows(named=True):
            marks[row["session_id"], row["seq"]].append(GivenStars(row["judge"], row["stars"]))
    with ledger.read() as connection:
        rows = watching.list_handed_out(connection, run.run_id, model)
    return [_make_line(row, tuple(marks.get((row["session_id"], row["seq"]), ()))) for row in rows]


def find_text(
    ledger: Ledger, lake: Lake | None, run: WatchedRun, model: str, lines: Sequence[AnswerLine], text: str
) -> set[Key]:
    """Which answers hold a text in any case, or answer a question that does."""
    if run.is_landed and lake is not None:
        asked = {"run_id": run.run_id, "month": run.month, "model": model, "text": text}
        return {(str(session), int(str(seq))) for session, seq in lake.read_rows("watched_matches", asked)}
    lowered = text.lower()
    with ledger.read() as connection:
        found = watching.list_responses_with(connection, run.run_id, model, text)
        contents = watching.read_set_contents(connection, {line.set_id for line in lines})
    # Stored JSON may have escaped what is searched: the fields themselves are looked at.
    held = {
        place
        for place, content in contents.items()
        if any(lowered in str(content.get(name) or "").lower() for name in ("stem", "material"))
    }
    return found | {line.key for line in lines if (line.set_id, line.lineage_uuid) in held}


def read_excerpts(
    ledger: Ledger, lake: Lake | None, run: WatchedRun, lines: Sequence[AnswerLine]
) -> dict[Key, AnswerExcerpt]:
    """How the questions and answers of a page begin."""
    if not lines:
        return {}
    with ledger.read() as connection:
        contents = watching.read_contents(connection, ((line.set_id, line.lineage_uuid) for line in lines))
        answers = {} if run.is_landed else watching.read_excerpts(connection, [line.key for line in lines])
    erased: dict[Key, datetime] = {}
    stems = {place: str(content.get("stem") or "")[:_EXCERPT] for place, content in contents.items()}
    if lake is not None and run.is_landed:
        asked = {
            "month": run.month,
            "first_session_id": min(line.session_id for line in lines),
            "last_session_id": max(line.session_id for line in lines),
            "keys": [f"{line.session_id} {line.seq}" for line in lines],
        }
        # Of a few rows of one part of a month several threads would each unpack the same: twice the CPU, and no sooner.
        with lake.one_thread():
            rows = lake.read_rows("watched_excerpts", asked)
        answers = {(str(session), int(str(seq))): str(text or "") for session, seq, text, _ in rows}
        erased = {
            (str(session), int(str(seq))): at for session, seq, _, at in rows if isinstance(at, datetime)
        }
    missing = sorted({line.question_uuid for line in lines if (line.set_id, line.lineage_uuid) not in stems})
    banked: dict[str, str] = {}
    if missing and lake is not None:
        rows = lake.read_rows("watched_stems", {"question_uuids": missing})
        banked = {str(uuid): str(text) for uuid, text in rows}
    return {
        line.key: AnswerExcerpt(
            stems.get((line.set_id, line.lineage_uuid), banked.get(line.question_uuid)),
            answers.get(line.key),
            erased.get(line.key),
        )
        for line in lines
    }


def read_answer(
    ledger: Ledger, lake: Lake | None, run: WatchedRun, line: AnswerLine, *, with_reference: bool
) -> WholeAnswer:
    """One answer whole; reference and reasons are not even read without `with_reference`."""
    question = _read_question(ledger, lake, run, line, with_reference)
    place: dict[str, object] = {"session_id": line.session_id, "seq": line.seq, "month": run.month}
    response: dict[str, Any] | None = None
    if run.is_landed and lake is not None:
        with lake.one_thread():
            rows = lake.read("watched_answer", place).to_dicts()
        response = rows[0] if rows else None
    else:
        with ledger.read() as connection:
            row = watching.read_response(connection, line.session_id, line.seq)
        response = None if row is None else {**row, "answer": None, "erased_at": None}
    judgements: list[dict[str, Any]] = []
    if lake is not None:
        with lake.one_thread():
            judgements = lake.read(
                "watched_reasons" if with_reference else "watched_judgements", place
            ).to_dicts()
    return WholeAnswer(line, question, response, judgements)


def _make_line(row: Mapping[Any, Any], marks: tuple[GivenStars, ...]) -> AnswerLine:
    return AnswerLine(
        session_id=row["session_id"],
        seq=row["seq"],
        set_id=row["set_id"],
        prompt_style=row["prompt_style"],
        repeat=row["repeat"],
        question_uuid=row["question_uuid"],
        lineage_uuid=row["lineage_uuid"],
        discipline=row["discipline"],
        answer_status=row["answer_status"] or WAITING,
        marks=marks,
    )


def _read_question(
    ledger: Ledger, lake: Lake | None, run: WatchedRun, line: AnswerLine, with_reference: bool
) -> QuestionContent | None:
    if lake is not None:
        name = "watched_reference" if with_reference else "watched_question"
        asked = {"question_uuid": line.question_uuid, "bank_version": run.bank_version}
        rows = lake.read(name, asked).to_dicts()
        if rows:
            return QuestionContent.from_row(rows[0])
    with ledger.read() as connection:
        contents = watching.read_contents(connection, [(line.set_id, line.lineage_uuid)])
    found = contents.get((line.set_id, line.lineage_uuid))
    if found is None:
        return None
    row = json.loads(found) if isinstance(found, str) else found
    return QuestionContent(BareQuestion.from_row(row), discipline=line.discipline)
