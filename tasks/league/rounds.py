"""One round: a candidate asks, the others answer, and every candidate judges.

Every candidate judges all answers but its own. Nothing here writes: a round is data until it is finished, and
lands whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field

from tasks.league.anonymity import T, draw_labels
from tasks.league.asking import LeagueCalls, Reply, Usage
from tasks.league.claim import ClaimedLeague
from tasks.league.domain import Domain
from tasks.league.parsing import ReadEvaluation, parse_fields, parse_ranking, parse_scores
from tasks.league.setting import SetQuestion
from tasks.league.wording import PutQuestion, ShownAnswer, render_answering, render_judging
from tasks.models import CallFailed
from tasks.models.registry import RegisteredModel


@dataclass(frozen=True)
class RoundPlace:
    """Which round: of which domain, run and type of run, and whose turn it is."""

    domain: str
    run_type: str
    league_run: int
    league_round: int
    asker: str


@dataclass(frozen=True)
class GivenAnswer:
    """What an answerer gave.

    The text is None when it could not be read, the execution is None when it was not run.
    """

    answerer: str
    text: str | None
    final_answer: str | None
    execution: str | None
    reply: Reply[dict[str, str]]


@dataclass(frozen=True)
class GivenEvaluation:
    """What a judge gave: the letters as they were drawn for it, and what could be read.

    The reply is None when the judge was not asked.
    """

    judge: str
    labels: dict[str, str]
    read: ReadEvaluation
    reply: Reply[ReadEvaluation] | None


@dataclass
class PlayedRound:
    """A finished round; a question that could not be read has no answers and no evaluations."""

    place: RoundPlace
    question: SetQuestion
    answers: list[GivenAnswer] = field(default_factory=list)
    evaluations: list[GivenEvaluation] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Calls, tokens and cost of the round."""
        total = Usage()
        total.add(self.question.usage)
        for answer in self.answers:
            total.add(answer.reply.usage)
        for evaluation in self.evaluations:
            if evaluation.reply is not None:
                total.add(evaluation.reply.usage)
        return total


@dataclass(frozen=True)
class JudgedRound:
    """What judges see of a round.

    Attributes:
        answers: answerer → text and what running it came to.
        place: what the letters are drawn by.
    """

    question: PutQuestion
    answers: Mapping[str, tuple[str, str | None]]
    place: str


async def answer_question(
    line: LeagueCalls, claim: ClaimedLeague, domain: Domain, stem: str, answerers: Sequence[RegisteredModel]
) -> list[GivenAnswer]:
    """Every answerer answers alone, in a context of its own; the answers are in their order.

    Raises CallFailed when a call failed.
    """
    prompt = render_answering(domain, claim.rules.language, stem)
    text_key = _find_key(domain, "response")
    final_key = _find_key(domain, "final_answer")

    async def answer(model: RegisteredModel) -> GivenAnswer:
        reply = await line.ask(model, "answer", prompt, lambda text: parse_fields(text, domain.answer))
        values = reply.value or {}
        return GivenAnswer(model.name, values.get(text_key), values.get(final_key), None, reply)

    return await gather_all([answer(model) for model in answerers])


async def judge_answers(
    line: LeagueCalls,
    claim: ClaimedLeague,
    domain: Domain,
    judged: JudgedRound,
    judges: Sequence[RegisteredModel],
    *,
    with_reference: bool,
) -> list[GivenEvaluation]:
    """Every judge judges all answers but its own, under letters and in an order drawn for it.

    A ranking of fewer than two answers says nothing: it is not asked for. Raises CallFailed when a call failed.
    """
    question, answers, place = judged.question, judged.answers, judged.place

    async def judge(model: RegisteredModel) -> GivenEvaluation:
        labels = draw_labels(claim.key, (name for name in answers if name != model.name), place, model.name)
        least = 2 if domain.aggregation == "borda" else 1
        if len(labels) < least:
            return GivenEvaluation(model.name, labels, ReadEvaluation(), None)
        shown = [ShownAnswer(label, *answers[name]) for label, name in labels.items()]
        prompt = render_judging(domain, claim.rules.language, question, shown, with_reference=with_reference)
        role = "judge" if with_reference else "judge_alone"
        reply = await line.ask(model, role, prompt, lambda text: read_evaluation(domain, text, list(labels)))
        read = reply.value
        if read is None and reply.raw is not None and domain.aggregation == "score_100":
            # After the last try the scores that could be read stand; the others are void.
            read = parse_scores(reply.raw, list(labels))
        return GivenEvaluation(model.name, labels, read or ReadEvaluation(), reply)

    return await gather_all([judge(model) for model in judges])


def read_evaluation(domain: Domain, text: str, labels: Sequence[str]) -> ReadEvaluation | None:
    """What a judge's reply says of every letter; null when it does not say it of all."""
    if domain.aggregation == "borda":
        read = parse_ranking(text, labels)
        return read if read.ranks is not None else None
    read = parse_scores(text, labels)
    return read if set(read.scores) == set(labels) else None


async def gather_all(work: Sequence[Awaitable[T]]) -> list[T]:
    """Return the results in order.

    One that fails does not waste those that run at the same time: their replies reach the ledger.

    Raises what is no failed call first, then the first failed call.
    """
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
    failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failed:
        raise next((error for error in failed if not isinstance(error, CallFailed)), failed[0])
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]


def _find_key(domain: Domain, column: str) -> str:
    return next((item.key for item in domain.answer if item.column == column), "")
