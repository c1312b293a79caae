"""Judges give stars to responses, unit by unit.

A unit is a session, a judge and a version of its prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import polars as pl

from schemas.errors import ContractError, ProctorError
from tasks.judging import prompts
from tasks.judging.addresses import find_address
from tasks.judging.asking import find_asking
from tasks.models import CallFailed, CallPending, CallRequest, ModelClient
from tasks.models.registry import RegisteredModel
from tasks.questions import QuestionContent

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


@dataclass(frozen=True, slots=True)
class PutResponse:
    """A response and the question that it answers.

    It is all that is known of them where they are judged or labelled.
    """

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


class JudgingIncomplete(ProctorError):
    """Some units could not be judged because a judge gave no reply; the others were judged.

    `failed_count` is the number of units that were not judged.
    """

    def __init__(self, message: str, failed_count: int) -> None:
        super().__init__(message)
        self.failed_count = failed_count


def name_unit(session_id: str, judge: str, wording: str | None = None, occasion: str = FIRST_OCCASION) -> str:
    """The unit with which a judge's judgements of a session are landed.

    Another wording or occasion makes another unit.

    `wording` is the version of the prompt without its language (default: the present one of our own kind of judge).
    """
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
    """Responses with what a judge needs of their questions.

    The bank's `answer` becomes `reference_answer`.

    Joined on question and bank version; `answer`, what was extracted of the response, may be missing. Raises ContractError when a response has no question in `bank`.
    """
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
) -> AsyncGenerator[list[JudgementRow], None]:
    """Rows of `judgements`, one list per session and judge, as the units are finished.

    All are made with the present prompt.

    `responses` has the columns of join_questions. Empty and refused answers get 0 stars by rule, in each judge's name,
    without a call (`attempt` 0); answers that failed as calls are left out; a truncated answer is judged as it stands.
    A reply without readable stars is asked for again up to `most_tries` times in all, then recorded as unparsed. To
    judge unparsed ones again later, pass their responses with a new `occasion`: without it their replies are replayed.
    A session with a call in a batch under way is left out: the client knows its `pending` calls.
    Raises JudgingIncomplete at the end when calls failed; BudgetError and RegistryError at once.
    """
    groups = responses.filter(pl.col("answer_status") != "error").partition_by(
        "session_id", maintain_order=True
    )
    work = [(group.sort("seq"), judge) for group in groups for judge in judges]
    failures: list[CallFailed] = []
    running: set[asyncio.Task[list[JudgementRow]]] = set()
    lanes = _Lanes()
    try:
        while work or running:
            # The next session begins as soon as there are lanes free, not when an earlier one is whole.
            while work and (lanes.taken < responses_at_once or not running):
                group, judge = work.pop(0)
                put = [PutResponse.from_row(row) for row in group.iter_rows(named=True)]
                running.add(asyncio.create_task(_judge_unit(client, judge, put, most_tries, occasion, lanes)))
                lanes.taken += len(put)
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
                yield judged
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
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


async def _judge_unit(
    client: ModelClient,
    judge: RegisteredModel,
    responses: list[PutResponse],
    most_tries: int,
    occasion: str,
    lanes: _Lanes,
) -> list[JudgementRow]:
    tasks = [
        asyncio.create_task(_judge_response(client, judge, put, most_tries, occasion)) for put in responses
    ]
    for task in tasks:
        task.add_done_callback(lanes.free)
    try:
        # A failed call does not waste those that run at the same time: their replies reach the ledger.
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
    failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failed:
        raise min(failed, key=_rank_failure)
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]


def _rank_failure(error: BaseException) -> int:
    """Which of several failures is to be reported first.

    First comes what ends everything, then what failed, then what only waits.
    """
    return isinstance(error, CallFailed) + isinstance(error, CallPending)


async def _judge_response(
    client: ModelClient, judge: RegisteredModel, put: PutResponse, most_tries: int, occasion: str
) -> JudgementRow:
    asking = find_asking(judge)
    messages = asking.write_messages(put.question, put.response)
    judgement: JudgementRow = {
        "run_id": put.run_id,
        "session_id": put.session_id,
        "seq": put.seq,
        "question_uuid": put.question_uuid,
        "model": put.model,
        "prompt_style": put.prompt_style,
        "month": put.month,
        "judge": judge.name,
        "prompt_version": asking.name_version(put.question),
        "occasion": occasion,
        "is_simulated": put.is_simulated or judge.is_simulated,
        "key_verdict": check_key(put.question, put.answer),
        "address": find_address(put.response),
    }
    if put.answer_status in ("empty", "refused") or not put.response.strip():
        return judgement | _rule_stars()
    cost_usd = 0.0
    salt = "" if occasion == FIRST_OCCASION else occasion
    for attempt in range(1, most_tries + 1):
        reply = await client.complete(
            judge,
            CallRequest(
                purpose=PURPOSE,
                messages=messages,
                run_id=put.run_id,
                unit=name_unit(put.session_id, judge.name, asking.wording, occasion),
                salt=f"{salt}/{attempt}" if salt or attempt > 1 else "",
                parameters=dict(asking.parameters),
            ),
        )
        cost_usd += reply.cost_usd or 0.0
        parsed = asking.parse_reply(reply.text)
        if parsed.stars is not None:
            break
    return judgement | {
        "stars": parsed.stars,
        "reason": parsed.reason,
        "raw": reply.text,
        "parse_status": "unparsed" if parsed.stars is None else "parsed",
        "judged_at": datetime.now(UTC),
        "cost_usd": cost_usd,
        "attempt": attempt,
    }


def check_key(question: QuestionContent, answer: str | None) -> str | None:
    """`right` or `wrong` by the key alone; None where the key cannot decide.

    It decides for the extracted answer to a true/false or choice question.
    """
    if answer is None or not question.answer:
        return None
    if question.question_type == "true_false":
        return "right" if answer == question.answer[0] else "wrong"
    if question.question_type == "multiple_choice":
        return "right" if sorted(answer) == sorted("".join(question.answer)) else "wrong"
    return None


def _rule_stars() -> JudgementRow:
    """0 stars by rule (SPEC 6.2), where there is nothing to judge.

    Attempt 0 distinguishes these rows from judged ones.
    """
    return {
        "stars": 0,
        "reason": NO_ANSWER_REASON,
        "raw": None,
        "parse_status": "parsed",
        "judged_at": datetime.now(UTC),
        "cost_usd": 0.0,
        "attempt": 0,
    }
