"""Replays of questions with a blank: three completions each, and whether the span came back."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.contamination.spans import (
    BLANK,
    VERSION,
    choose_span,
    is_recalled,
    render_passage,
    render_replay,
)
from tasks.exchange.imports import apply_mapping
from tasks.models import CallFailed, CallRequest, ModelClient, read_call_frames
from tasks.models.budget import open_budget
from tasks.models.registry import RegisteredModel
from tasks.questions import draw_order
from tasks.running.claiming import claim_work
from tasks.texts import read_table
from warehouse.lake import Batch, Lake, Landing
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.trust.organisations import list_names

PURPOSE = "contamination"
COMPLETIONS = 3
BANK = "bank"
EVERYBODY = "all"
SET_FIELDS = ("item_id", "question", "options", "language")


@dataclass
class ReplaySummary:
    """What a replay came to.

    Attributes:
        replay_id: its name.
        questions: source → questions replayed, by organisation for the bank.
        without_span: questions in which no rule found a span.
        begun_otherwise: sources of which the replay has other than the asked number of questions since it was begun.
        completions: completions landed now.
        refused: calls that the endpoint did not take, kept in `quarantine` now.
        models: who was asked.
        calls: what became of the calls.
    """

    replay_id: str
    questions: dict[str, int] = field(default_factory=dict)
    without_span: int = 0
    begun_otherwise: list[str] = field(default_factory=list)
    completions: int = 0
    refused: int = 0
    models: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class ReplayRequest:
    """What is replayed.

    Attributes:
        replay_id: its name.
        models: who is asked.
        sources: `bank`, or files (question, options, item_id).
        size: the most questions of a source.
        mapping: which column of a file is which, ours to the file's.
    """

    replay_id: str
    models: Sequence[RegisteredModel]
    sources: Sequence[str]
    size: int = 1_000
    mapping: Mapping[str, str] = field(default_factory=dict)


async def replay_sources(
    ledger: Ledger, lake: Lake, settings: Settings, request: ReplayRequest
) -> ReplaySummary:
    """Replay up to `size` questions of each source to every model.

    The tables `replay_spans` and `replays` are landed. Of the bank a model is shown only what its
    organisation was put before: a replay gives nothing away. Spans are chosen once and kept; what a model has
    completed is not asked again, and after a kill replies that were paid for are taken from the ledger.
    What the endpoint does not take goes to quarantine, unless it does not take most. A model whose calls fail stops no
    other one.
    Raises UsageError for a source without questions or under another's name, CallFailed and BudgetError.
    """
    replay_id = request.replay_id
    summary = ReplaySummary(replay_id)
    run_id = f"contamination/{replay_id}"
    _check_names(request.sources)
    failed: list[CallFailed] = []
    with claim_work(ledger, "contamination", replay_id, what=f"replaying {replay_id}"):
        budget = open_budget(ledger, settings.budget_usd, run_id)
        for source in request.sources:
            name = _name_source(source)
            for model in request.models:
                spans = _prepare_spans(ledger, lake, request, source, model, summary)
                try:
                    # Of a model that fails nothing more is sent once its own client is left.
                    async with ModelClient(ledger, settings, budget=budget) as client:
                        landed = await _replay(ledger, lake, client, model, spans, name, replay_id)
                except CallFailed as error:
                    failed.append(error)
                    continue
                summary.completions += landed.row_count
                summary.refused += landed.rejected_count
                summary.calls.update(client.counts)
    if failed:
        raise failed[0]
    summary.models = [model.name for model in request.models]
    return summary


def read_set(path: Path, mapping: Mapping[str, str]) -> list[dict[str, object]]:
    """Questions of a public set: item_id, question, options and language.

    The options may be a list or its JSON. Without a column of ids a question is known by its number in the
    file, and by both where its id stands there before (ids often begin anew with each subject); without a column of languages
    that follows from its characters. Raises UsageError for a file that cannot be read or has
    no questions.
    """
    frame = read_table(path, as_text=True)
    known = dict(mapping)
    for ours, theirs in (("item_id", "source_id"), ("language", "lang")):
        if ours not in known and ours not in frame.columns and theirs in frame.columns:
            known[ours] = theirs
    found = apply_mapping(frame, known, SET_FIELDS, ("question",), path.name)
    rows: list[dict[str, object]] = []
    taken: set[str] = set()
    for number, row in enumerate(found.iter_rows(named=True), start=1):
        stem = str(row["question"] or "").strip()
        if stem:
            name = str(number if row["item_id"] in (None, "") else row["item_id"])
            while name in taken:
                name += f"/{number}"
            taken.add(name)
            rows.append(
                {
                    "item_id": name,
                    "stem": stem,
                    "options": _read_options(row["options"], f"{path.name}, row {number}"),
                    "language": row["language"] if row["language"] in ("zh", "en") else guess_language(stem),
                }
            )
    return rows


def guess_language(text: str) -> str:
    """`zh` for a text with Chinese characters, else `en`."""
    return "zh" if any("\u4e00" <= character <= "\u9fff" for character in text) else "en"


def _name_source(source: str) -> str:
    return BANK if source == BANK else Path(source).stem


def _check_names(sources: Sequence[str]) -> None:
    """Raise UsageError for two sources of one name: what was asked of one would pass for both."""
    names = [_name_source(source) for source in dict.fromkeys([BANK, *sources])]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"Two sources are named {twice[0]!r}: a file is known by its name without the suffix, and the bank as {BANK!r}. Rename one."
        )


def _prepare_spans(
    ledger: Ledger,
    lake: Lake,
    request: ReplayRequest,
    source: str,
    model: RegisteredModel,
    summary: ReplaySummary,
) -> pl.DataFrame:
    """The spans of a source for an organisation: those that were landed, else new ones."""
    replay_id = request.replay_id
    name = _name_source(source)
    owner = model.organisation if source == BANK else EVERYBODY
    unit = f"{replay_id}/{name}/{owner}"
    kept = lake.read("replay_spans_of", {"replay_id": replay_id, "source": name, "organisation": owner})

    def read() -> Sequence[Mapping[str, object]]:
        return _read_bank(ledger, lake, model) if source == BANK else read_set(Path(source), request.mapping)

    if not kept.is_empty():
        questions = read() if source != BANK or kept.height < request.size else []
        if source != BANK:
            _check_same_questions(kept, questions, Path(source), request)
        # Fewer than asked for are all of a small source; what was begun in full is not counted again.
        if kept.height != request.size and kept.height != min(request.size, sum(map(_has_span, questions))):
            summary.begun_otherwise = sorted({*summary.begun_otherwise, name})
    else:
        questions = read()
        rows: list[dict[str, object]] = []
        for question in draw_order(
            questions, "replay", replay_id, name, name=lambda one: str(one["item_id"])
        ):
            if len(rows) == request.size:
                break
            span = choose_span(str(question["stem"]), question["options"])  # type: ignore[arg-type]
            if span is None:
                summary.without_span += 1
                continue
            rows.append(
                {
                    "replay_id": replay_id,
                    "source": name,
                    "organisation": owner,
                    "item_id": question["item_id"],
                    "language": question["language"],
                    "span_kind": span.kind,
                    "span_text": span.text,
                    "blanked_text": span.blanked,
                }
            )
        if not rows:
            what = (
                f"{owner} was put no question of the bank before"
                if source == BANK
                else f"{name} has no question with a span"
            )
            raise UsageError(f"{what}: there is nothing to replay.")
        kept = get_table("replay_spans").frame(rows).unique("item_id", keep="first").sort("item_id")
        lake.land("replay_spans", unit, kept, stage="contamination")
    summary.questions[f"{name} ({owner})" if source == BANK else name] = kept.height
    return kept


def _has_span(question: Mapping[str, object]) -> bool:
    return choose_span(str(question["stem"]), question["options"]) is not None  # type: ignore[arg-type]


def _check_same_questions(
    kept: pl.DataFrame, questions: Sequence[Mapping[str, object]], path: Path, request: ReplayRequest
) -> None:
    """Raise UsageError where the replay's questions of that name are those of another file.

    They are known by their texts: an id of 007 was once read as 7.
    """
    known = {
        render_passage(str(one["stem"]), one["options"])  # type: ignore[arg-type]
        for one in questions
    }
    for blanked, span in kept.select("blanked_text", "span_text").iter_rows():
        if blanked.replace(BLANK, span) not in known:
            raise UsageError(
                f"The replay {request.replay_id} has questions under the name {path.stem!r} that are not in this {path.name}. Rename the "
                "file, or begin a replay of another --name."
            )


async def _replay(
    ledger: Ledger,
    lake: Lake,
    client: ModelClient,
    model: RegisteredModel,
    spans: pl.DataFrame,
    name: str,
    replay_id: str,
) -> Landing:
    unit = f"{replay_id}/{name}/{model.name}/prompt-{VERSION}"
    if lake.landed("replays", [unit]):
        return Landing("replays", unit, 0, 0, is_unchanged=True)
    places = [(row, number) for row in spans.iter_rows(named=True) for number in range(1, COMPLETIONS + 1)]
    outcomes = await asyncio.gather(
        *[_complete(client, model, row, number, unit, replay_id) for row, number in places]
    )
    failed = [outcome for outcome in outcomes if isinstance(outcome, CallFailed)]
    if 2 * len(failed) > len(places):
        raise failed[0]
    rows: list[dict[str, object]] = []
    refused: list[dict[str, object]] = []
    for (row, number), outcome in zip(places, outcomes, strict=True):
        key: dict[str, object] = {"replay_id": replay_id, "model": model.name, "source": name}
        key |= {"item_id": row["item_id"], "completion": number}
        if isinstance(outcome, CallFailed):
            refused.append(_refuse(unit, key, outcome.error))
            continue
        recalled = is_recalled(str(row["span_text"]), str(row["span_kind"]), outcome)
        rows.append(
            {**key, "is_correct": recalled, "completed_text": outcome, "is_simulated": model.is_simulated}
        )
    calls = read_call_frames(ledger, {unit: now_text()[:7]})
    quarantine = get_table("quarantine").frame(refused)
    landings = lake.land_together(
        [
            Batch("replays", unit, get_table("replays").frame(rows), refused=quarantine),
            *(Batch("llm_calls", of, frame) for of, frame in calls.items()),
        ],
        stage="contamination",
    )
    return landings[0]


def _refuse(unit: str, key: Mapping[str, object], error: str) -> dict[str, object]:
    """The row of `quarantine` of a completion that the endpoint did not take."""
    return {
        "table_name": "replays",
        "unit": unit,
        "stage": "contamination",
        "row_key": json.dumps(key, ensure_ascii=False, sort_keys=True),
        "rule": "endpoint_takes_the_question",
        "row_json": json.dumps({**key, "error": error}, ensure_ascii=False, sort_keys=True),
        "quarantined_at": datetime.now(UTC),
    }


async def _complete(
    client: ModelClient,
    model: RegisteredModel,
    row: Mapping[str, object],
    number: int,
    unit: str,
    replay_id: str,
) -> str | CallFailed:
    """What the model wrote, or why its endpoint does not take the question."""
    request = CallRequest(
        purpose=PURPOSE,
        messages=render_replay(str(row["blanked_text"]), str(row["language"])),
        run_id=f"contamination/{replay_id}",
        unit=unit,
        repeat=number,
    )
    try:
        return (await client.complete(model, request)).text
    except CallFailed as error:
        if not error.is_not_taken:
            raise
        return error


def _read_bank(ledger: Ledger, lake: Lake, model: RegisteredModel) -> list[dict[str, object]]:
    with ledger.read() as connection:
        names = list_names(connection, model.organisation, is_simulated=model.is_simulated)
    met = lake.read("met_questions", {"organisations": names, "is_simulated": model.is_simulated})
    return [
        {
            "item_id": row["question_uuid"],
            "stem": row["stem"],
            "options": [option["text"] for option in row["options"] or []],
            "language": row["language"],
        }
        for row in met.iter_rows(named=True)
    ]


def _read_options(value: object, place: str) -> list[str]:
    """Options without their letters."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise UsageError(f"{place}: the options are no JSON list.") from None
    if isinstance(value, dict):
        # Texts beside their letters, or a text by letter; a table gives each row the letters of all.
        value = value["text"] if isinstance(value.get("text"), list) else list(value.values())
    if not isinstance(value, list | tuple | pl.Series):
        raise UsageError(f"{place}: the options are no list.")
    texts = [one.get("text") if isinstance(one, dict) else one for one in value if one is not None]
    if not all(isinstance(one, str | int | float) for one in texts):
        raise UsageError(
            f"{place}: an option is no text. Write the options as texts, or as objects with a text."
        )
    return [str(one).removeprefix(f"({chr(ord('A') + number)})").strip() for number, one in enumerate(texts)]
