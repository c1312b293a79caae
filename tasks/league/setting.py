"""An asker sets a question: drafted again while too near to others, solved again on request."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.gscore import compute_standard_answer
from tasks.league.asking import LeagueCalls, Reply, Usage
from tasks.league.claim import ClaimedLeague
from tasks.league.domain import Domain
from tasks.league.originality import Collection, Nearness
from tasks.league.parsing import parse_fields
from tasks.league.wording import PutQuestion, render_answering, render_asking
from tasks.models.registry import RegisteredModel


@dataclass(frozen=True)
class ComparedDraft:
    """One draft of a question against the collections that it was compared with."""

    nearness: tuple[Nearness, ...]
    is_too_near: tuple[bool, ...]


@dataclass
class SetQuestion:
    """A question as it was set.

    Attributes:
        question_id: says neither whose it is nor which round's.
        topic: what it was to be about; null for none.
        put: what is put and judged; null when no draft could be read.
        final_answer: the reference answer's result; null where there is none.
        details: the other fields, by key.
        drafts: every draft that could be read.
        usage: all drafts, and the solutions of self-consistency.
        self_consistency: share of the asker's own solutions with the same result; null when not asked.
        execution: what running the reference came to; null when it was not run.
    """

    question_id: str
    asker: str
    topic: str | None
    put: PutQuestion | None
    final_answer: str | None
    details: dict[str, str]
    drafts: list[ComparedDraft]
    reply: Reply[dict[str, str]]
    usage: Usage
    self_consistency: float | None = None
    execution: str | None = None
    draft_count: int = field(default=1)


async def set_question(
    line: LeagueCalls,
    claim: ClaimedLeague,
    domain: Domain,
    asker: RegisteredModel,
    topic: str | None,
    collections: Sequence[Collection],
) -> SetQuestion:
    """Ask for a question until it is far enough from the collections.

    It is asked for `most_drafts` times at most.

    The last draft stands even where it is too near; its row says so. Raises CallFailed when a call failed.
    """
    rules = claim.rules
    drafts: list[ComparedDraft] = []
    usage = Usage()
    earlier: str | None = None
    number = 0
    for number in range(1, rules.most_drafts + 1):
        prompt = render_asking(domain, rules.language, topic, earlier)
        reply = await line.ask(
            asker, "ask", prompt, lambda text: parse_fields(text, domain.question), f"draft-{number}"
        )
        usage.add(reply.usage)
        if reply.value is None:
            break
        stem = _pick(domain, reply.value, "stem") or ""
        draft = compare_draft(stem, collections, rules.most_overlap, rules.most_similarity)
        drafts.append(draft)
        if not any(draft.is_too_near):
            break
        earlier = stem
    values = reply.value
    question = SetQuestion(
        question_id=name_question(line.place),
        asker=asker.name,
        topic=topic,
        put=None if values is None else _put(domain, values),
        final_answer=None if values is None else _pick(domain, values, "final_answer"),
        details={}
        if values is None
        else {
            item.key: values[item.key]
            for item in domain.question
            if item.column is None and item.key in values
        },
        drafts=drafts,
        reply=reply,
        usage=usage,
        draft_count=number,
    )
    if rules.self_consistency and question.put is not None and question.final_answer:
        question.self_consistency = await _solve_again(line, claim, domain, asker, question)
    return question


def compare_draft(
    stem: str, collections: Sequence[Collection], most_overlap: float, most_similarity: float
) -> ComparedDraft:
    """How near a draft is to each collection that holds anything, and whether that is too near."""
    found = tuple(one.compare(stem) for one in collections if len(one))
    return ComparedDraft(
        found,
        tuple(
            near.ngram_overlap > most_overlap
            or (near.similarity is not None and near.similarity > most_similarity)
            for near in found
        ),
    )


def name_question(place: str) -> str:
    """The id of a round's question."""
    return f"q-{hashlib.sha256(place.encode()).hexdigest()[:16]}"


def render_details(details: dict[str, str]) -> str | None:
    """The fields without a column of their own as JSON; null where there are none."""
    return json.dumps(details, ensure_ascii=False) if details else None


async def _solve_again(
    line: LeagueCalls, claim: ClaimedLeague, domain: Domain, asker: RegisteredModel, question: SetQuestion
) -> float:
    """Share of the asker's own later solutions that have the reference's result.

    A solution that cannot be read counts as one without it.
    """
    assert question.put is not None and question.final_answer is not None
    prompt = render_answering(domain, claim.rules.language, question.put.stem)
    replies = await asyncio.gather(
        *(
            line.ask(
                asker, "check", prompt, lambda text: parse_fields(text, domain.answer), f"solution-{number}"
            )
            for number in range(1, claim.rules.self_consistency + 1)
        )
    )
    wanted = compute_standard_answer(question.final_answer)
    same = 0
    for reply in replies:
        question.usage.add(reply.usage)
        key = next((item.key for item in domain.answer if item.column == "final_answer"), "")
        result = (reply.value or {}).get(key)
        same += result is not None and compute_standard_answer(result) == wanted
    return same / len(replies)


def _put(domain: Domain, values: dict[str, str]) -> PutQuestion:
    return PutQuestion(
        stem=_pick(domain, values, "stem") or "",
        reference_answer=_pick(domain, values, "reference_answer") or "",
        principle=_pick(domain, values, "principle"),
        scoring_standard=_pick(domain, values, "scoring_standard"),
    )


def _pick(domain: Domain, values: dict[str, str], column: str) -> str | None:
    return next((values.get(item.key) for item in domain.question if item.column == column), None)
