"""Judges give stars to responses by units: a session, a judge and a version of its prompt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from schemas.errors import BudgetError, ContractError, ProctorError
from tasks.judging import prompts
from tasks.judging.addresses import find_address
from tasks.judging.asking import find_asking
from tasks.judging.keys import check_key
from tasks.models import (
    CallFailed,
    CallPending,
    CallRequest,
    ModelClient,
    SentPicture,
    compute_call_key,
    load_pictures,
)
from tasks.models.registry import RegisteredModel
from tasks.questions import QuestionContent, compute_short_rank
from tasks.questions.forms import describe_pictures

JudgementRow = dict[str, object]

PURPOSE = "judge"
MOST_TRIES = 3
# Responses under way at once, over all sessions: a session whose last response is slow holds no other back.
RESPONSES_AT_ONCE = 256
NO_ANSWER_REASON = "no answer"
FIRST_OCCASION = "first"

_QUESTION_COLUMNS = (
    "question_type",
    "language",
    "stem",
    "material",
    "options",
    "reference_answer",
    "explanation",
    "pictures",
)
_RESPONSE_COLUMNS = (
    "run_id",
    "session_id",
    "seq",
    "question_uuid",
    "model",
    "prompt_style",
    "month",
    "response",
    "answer",
    "answer_status",
    "is_simulated",
)
_JUDGED_COLUMNS = _RESPONSE_COLUMNS[: _RESPONSE_COLUMNS.index("response")]


@dataclass(frozen=True, slots=True)
class PutResponse:
    """A response and its question: all that is known of them where they are judged or labelled."""

    run_id: str
    session_id: str
    seq: int
    question_uuid: str
    model: str
    prompt_style: str
    month: str
    response: str = field(repr=False)
    answer: str | None = field(repr=False)
    answer_status: str
    is_simulated: bool
    question: QuestionContent

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> PutResponse:
        """The response in a row of join_questions."""
        fields = {name: row[name] for name in _RESPONSE_COLUMNS} | {
            "response": row["response"] or "",
            "is_simulated": bool(row["is_simulated"]),
        }
        return cls(**fields, question=QuestionContent.from_row({**row, "answer": row["reference_answer"]}))

    def describe(self) -> JudgementRow:
        """What every judgement says of the response that it is on."""
        return {name: getattr(self, name) for name in _JUDGED_COLUMNS}


class JudgingIncomplete(ProctorError):
    """`failed_count` units have no judgement for want of a reply; the others were judged."""

    def __init__(self, message: str, failed_count: int) -> None:
        super().__init__(message)
        self.failed_count = failed_count


class _NotTaken(CallFailed):
    """A judge's endpoint does not take a response, as one too long for it; with its judgement."""

    def __init__(self, error: CallFailed, row: JudgementRow) -> None:
        super().__init__(str(error), call_key=error.call_key, error=error.error, attempts=error.attempts)
        self.row = row


@dataclass(frozen=True)
class _Dealt:
    """Answers that go with a session, and where what becomes of them is noted."""

    put: list[PutResponse]
    mixture: _Mixture

    def note(self, outcomes: Sequence[JudgementRow | BaseException]) -> None:
        """Note what became of them; raises what ends everything."""
        for outcome in outcomes:
            if isinstance(outcome, CallFailed):
                self.mixture.failures.append(outcome)
            elif isinstance(outcome, BaseException):
                if not isinstance(outcome, CallPending):
                    raise outcome
            else:
                self.mixture.rows.append(outcome)


@dataclass(frozen=True)
class AskedStars:
    """What a judge gave, or that it could not be read.

    Attributes:
        stars: 0 to 3; null where no reply could be read.
        raw: its last reply; null where there was nothing to judge.
        cost_usd: what its replies cost; null where that of one is unknown.
        attempt: how often it was asked.
    """

    stars: int | None
    reason: str | None = field(repr=False)
    raw: str | None = field(repr=False)
    cost_usd: float | None
    attempt: int


# 0 stars by rule (SPEC 6.2) where there is nothing to judge, told apart by attempt 0.
_NOTHING_TO_JUDGE = AskedStars(stars=0, reason=NO_ANSWER_REASON, raw=None, cost_usd=0.0, attempt=0)


def name_unit(session_id: str, judge: str, wording: str | None = None, occasion: str = FIRST_OCCASION) -> str:
    """The unit of a judge's judgements of a session, by wording (without language) and occasion."""
    unit = f"{session_id}/{judge}/prompt-{wording or prompts.VERSION}"
    return unit if occasion == FIRST_OCCASION else f"{unit}/{occasion}"


def name_unit_of(row: JudgementRow) -> str:
    """The unit that a judgement belongs to."""
    return name_unit(
        str(row["session_id"]),
        str(row["judge"]),
        read_wording(str(row["prompt_version"])),
        str(row["occasion"]),
    )


def read_wording(prompt_version: str) -> str:
    """The version of the wording in a `prompt_version`, without its language."""
    return prompt_version.partition("/")[0]


def join_questions(responses: pl.DataFrame, bank: pl.DataFrame) -> pl.DataFrame:
    """Responses with what a judge needs of their questions; ContractError for one without."""
    if "pictures" not in bank.columns:
        bank = bank.with_columns(pictures=pl.lit(None))
    questions = bank.rename({"answer": "reference_answer"}).select(
        "bank_version", "question_uuid", *_QUESTION_COLUMNS
    )
    if "answer" not in responses.columns:
        responses = responses.with_columns(answer=pl.lit(None, dtype=pl.String))
    joined = responses.select(*_RESPONSE_COLUMNS, "bank_version").join(
        questions, on=["bank_version", "question_uuid"], how="left", validate="m:1"
    )
    if missing := joined["stem"].null_count():
        raise ContractError(
            f"{missing} responses have no question in the bank frame that was given; pass every version they name."
        )
    return joined


async def judge_responses(
    client: ModelClient,
    judges: Sequence[RegisteredModel],
    responses: pl.DataFrame,
    *,
    most_tries: int = MOST_TRIES,
    responses_at_once: int = RESPONSES_AT_ONCE,
    occasion: str = FIRST_OCCASION,
    mixed_in: Sequence[PutResponse] = (),
) -> AsyncGenerator[list[JudgementRow], None]:
    """Rows of `judgements`, one list per session and judge, as the units are finished.

    All are made with the present prompt.

    `responses` has the columns of join_questions. Empty and refused answers get 0 stars by rule, in each judge's name,
    without a call (`attempt` 0); answers that failed as calls are left out; a truncated answer is judged as it stands.
    A reply without readable stars is asked for again up to `most_tries` times in all, then recorded as unparsed. To
    judge unparsed ones again later, pass their responses with a new `occasion`: without it their replies are replayed.
    A session with a call in a batch under way is left out: the client knows its `pending` calls.
    `mixed_in` are answers that are asked among those of the sessions, so that a judge cannot tell them by their place, and come as
    units of their own when all sessions have. A judge with `sees_pictures` is sent those of the question, another is told in
    words what they show; `prompt_version` says which.
    Raises JudgingIncomplete at the end when calls failed; BudgetError and RegistryError at once.
    """
    groups = responses.filter(pl.col("answer_status") != "error").partition_by(
        "session_id", maintain_order=True
    )
    work = [(group.sort("seq"), judge) for group in groups for judge in judges]
    mixtures = {judge.name: _Mixture(mixed_in, len(groups)) for judge in judges}
    if mixed_in and not groups:
        work = [(responses.clear(), judge) for judge in judges]
    failures: list[CallFailed] = []
    running: set[asyncio.Task[list[JudgementRow]]] = set()
    lanes = _Lanes()
    try:
        while work or running:
            # The next session begins as soon as there are lanes free, not when an earlier one is whole.
            while work and (lanes.taken < responses_at_once or not running):
                group, judge = work.pop(0)
                put = [PutResponse.from_row(row) for row in group.iter_rows(named=True)]
                dealt = mixtures[judge.name].deal()
                ask = partial(_judge_response, client, judge, most_tries=most_tries, occasion=occasion)
                running.add(asyncio.create_task(_judge_unit(ask, put, dealt, lanes)))
                lanes.taken += len(put) + len(dealt.put)
            freed = asyncio.create_task(lanes.wait_for_room(responses_at_once)) if work else None
            waiting: set[asyncio.Task[Any]] = {*running, *([freed] if freed else [])}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if freed is not None:
                freed.cancel()
            done = {task for task in running if task.done()}
            running -= done
            for task in done:
                try:
                    judged = task.result()
                except CallPending:
                    continue
                except CallFailed as failure:
                    failures.append(failure)
                    continue
                if judged:
                    yield judged
    except BudgetError:
        # What else would begin is refused alike, and what is on its way is paid for.
        await asyncio.gather(*done, *running, return_exceptions=True)
        raise
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    for mixture in mixtures.values():
        failures += mixture.failures[:1]
        if mixture.is_whole:
            yield mixture.rows
    if failures:
        raise JudgingIncomplete(
            f"{len(failures)} of the sessions to judge are incomplete: {failures[0]} What was judged is kept.",
            len(failures),
        )


class _Lanes:
    """How many responses are under way, and a wait until there are fewer."""

    def __init__(self) -> None:
        self.taken = 0
        self._freed = asyncio.Event()

    def free(self, _: object) -> None:
        self.taken -= 1
        self._freed.set()

    async def wait_for_room(self, most: int) -> None:
        while self.taken >= most:
            self._freed.clear()
            await self._freed.wait()


class _Mixture:
    """Answers that are dealt out over sessions, and what became of them.

    Attributes:
        rows: judgements of those that were judged.
        failures: calls that failed; those in a batch under way are none.
    """

    def __init__(self, put: Sequence[PutResponse], session_count: int) -> None:
        self._put = list(put)
        self._left = session_count
        self._count = len(self._put)
        self.rows: list[JudgementRow] = []
        self.failures: list[CallFailed] = []

    def deal(self) -> _Dealt:
        """The next session's share of what is left."""
        count = -(-len(self._put) // max(1, self._left))
        self._left -= 1
        dealt, self._put = self._put[:count], self._put[count:]
        return _Dealt(dealt, self)

    @property
    def is_whole(self) -> bool:
        """Whether there were any, and all of them were judged."""
        return bool(self.rows) and len(self.rows) == self._count


async def _judge_unit(
    ask: Callable[[PutResponse], Coroutine[Any, Any, JudgementRow]],
    responses: list[PutResponse],
    dealt: _Dealt,
    lanes: _Lanes,
) -> list[JudgementRow]:
    """The judgements of a session, with what was dealt to it, asked alike and noted for itself."""
    tasks = {id(put): asyncio.create_task(ask(put)) for put in _mix(responses, dealt.put)}
    for task in tasks.values():
        task.add_done_callback(lanes.free)
    try:
        # A failed call does not waste those that run at the same time: their replies reach the ledger.
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    finally:
        for task in tasks.values():
            task.cancel()
    outcomes = [_read_outcome(tasks[id(put)]) for put in responses]
    # By rule, without a call, it may have judged any number.
    asked = [outcome for outcome in outcomes if isinstance(outcome, BaseException) or outcome["attempt"]]
    if 2 * sum(isinstance(outcome, _NotTaken) for outcome in asked) <= len(asked):
        # It takes the others: these go on to the next judge, as any that it gave nothing readable on.
        outcomes = [outcome.row if isinstance(outcome, _NotTaken) else outcome for outcome in outcomes]
    dealt.note([_read_outcome(tasks[id(put)]) for put in dealt.put])
    failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failed:
        # One that ends everything first, then what failed, then what waits.
        raise min(failed, key=lambda error: isinstance(error, CallFailed) + isinstance(error, CallPending))
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]


def _mix(responses: Sequence[PutResponse], dealt: Sequence[PutResponse]) -> list[PutResponse]:
    """Both in one order: the responses in theirs, what was dealt at places by lot."""
    places = [((number + 0.5) / len(responses), put) for number, put in enumerate(responses)]
    for put in dealt:
        rank = compute_short_rank("mix", put.session_id, put.seq)
        places.append((int.from_bytes(rank) / 256 ** len(rank), put))
    return [put for _, put in sorted(places, key=lambda place: place[0])]


def _read_outcome(task: asyncio.Task[JudgementRow]) -> JudgementRow | BaseException:
    return task.exception() or task.result()


async def _judge_response(
    client: ModelClient, judge: RegisteredModel, put: PutResponse, most_tries: int, occasion: str
) -> JudgementRow:
    request, version = describe_request(judge, put, occasion, client.archive)
    has_nothing = put.answer_status in ("empty", "refused") or not put.response.strip()
    asked, failure = _NOTHING_TO_JUDGE, None
    if not has_nothing:
        try:
            asked = await ask_stars(client, judge, request, most_tries=most_tries)
        except CallFailed as error:
            if not error.is_not_taken:
                raise
            asked, failure = AskedStars(None, None, None, 0.0, 1), error
    row = put.describe() | {
        "judge": judge.name,
        "prompt_version": version,
        "occasion": occasion,
        "is_simulated": put.is_simulated or judge.is_simulated,
        "key_verdict": check_key(put.question, put.answer),
        "address": find_address(put.response),
        "stars": asked.stars,
        "reason": asked.reason,
        "raw": asked.raw,
        "parse_status": "unparsed" if asked.stars is None else "parsed",
        "judged_at": datetime.now(UTC),
        "cost_usd": asked.cost_usd,
        "attempt": asked.attempt,
    }
    if failure is not None:
        raise _NotTaken(failure, row)
    return row


def describe_request(
    judge: RegisteredModel, put: PutResponse, occasion: str, archive: Path
) -> tuple[CallRequest, str]:
    """What a judge is asked of a response, and the version of the words it is asked in."""
    asking = find_asking(judge)
    version, shown = asking.name_version(put.question), put.question
    pictures: tuple[SentPicture, ...] = ()
    if (bare := put.question.bare).pictures:
        if judge.sees_pictures:
            version, pictures = f"{version}/pictures", load_pictures(archive, bare)
        else:
            version, shown = f"{version}/alt_text", replace(put.question, bare=describe_pictures(bare))
    request = CallRequest(
        purpose=PURPOSE,
        messages=asking.write_messages(shown, put.response),
        run_id=put.run_id,
        unit=name_unit(put.session_id, judge.name, asking.wording, occasion),
        salt="" if occasion == FIRST_OCCASION else occasion,
        parameters=dict(asking.parameters),
        pictures=pictures,
    )
    return request, version


def name_call(judge: RegisteredModel, put: PutResponse, occasion: str, attempt: int, archive: Path) -> str:
    """The key of the call with which a judge was asked for stars, at that attempt."""
    request, _ = describe_request(judge, put, occasion, archive)
    request = replace(request, salt=_salt(request.salt, attempt))
    return compute_call_key(judge, request, {**judge.parameters, **request.parameters})


def _salt(salt: str, attempt: int) -> str:
    return f"{salt}/{attempt}" if salt or attempt > 1 else ""


async def ask_stars(
    client: ModelClient, judge: RegisteredModel, request: CallRequest, *, most_tries: int = MOST_TRIES
) -> AskedStars:
    """The judge's stars for what the request shows it; asked again while nothing can be read."""
    asking = find_asking(judge)
    costs: list[float | None] = []
    for attempt in range(1, most_tries + 1):
        reply = await client.complete(judge, replace(request, salt=_salt(request.salt, attempt)))
        costs.append(reply.cost_usd)
        parsed = asking.parse_reply(reply.text)
        if parsed.stars is not None:
            break
    cost_usd = None if None in costs else sum(cost or 0.0 for cost in costs)
    return AskedStars(parsed.stars, parsed.reason, reply.text, cost_usd, attempt)
