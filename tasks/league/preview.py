"""What a league would take, before anything is paid: calls, tokens and cost by candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.league.claim import LeagueRules, build_domains
from tasks.league.domain import Domain
from tasks.league.wording import PutQuestion, ShownAnswer, render_answering, render_asking, render_judging
from tasks.models.budget import compute_cost
from tasks.models.registry import RegisteredModel

# A token is about three bytes: a Chinese character, or three letters.
BYTES_PER_TOKEN = 3


@dataclass(frozen=True)
class CandidatePreview:
    """What one candidate would take.

    Attributes:
        asking_calls: questions it sets, and its own later solutions of them.
        answering_calls: answers it gives.
        judging_calls: judgements it gives; each sees all answers of a round but its own.
        input_tokens: tokens sent, with replies as long as the domain's usual ones, or as the model's limit where that is less.
        cost_usd: their cost; null where a price is not registered.
        most_usd: cost if every reply were as long as the model's limit on tokens; null without a price or a limit.
    """

    model: str
    asking_calls: int
    answering_calls: int
    judging_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    most_usd: float | None


@dataclass(frozen=True)
class _Kind:
    """One kind of call: how many, and tokens of one."""

    count: int
    input_tokens: int
    output_tokens: int


def preview_league(
    rules: LeagueRules, models: Sequence[RegisteredModel], *, with_reference: bool = True
) -> list[CandidatePreview]:
    """The preview of each candidate without repeats; without a reference, judging alone."""
    domains = build_domains(rules)
    return [_preview(rules, domains, model, with_reference) for model in models]


def _preview(
    rules: LeagueRules, domains: Mapping[str, Domain], model: RegisteredModel, with_reference: bool
) -> CandidatePreview:
    kinds: dict[str, list[_Kind]] = {"ask": [], "answer": [], "judge": []}
    for domain in domains.values():
        for name, found in _list_kinds(rules, domain, with_reference).items():
            kinds[name] += found
    every = [kind for found in kinds.values() for kind in found]
    limit = model.parameters.get("max_completion_tokens") or model.parameters.get("max_tokens")
    sent = sum(kind.count * kind.input_tokens for kind in every)
    # No reply is longer than the model's limit, however long the domain's usual ones are.
    returned = sum(kind.count * min(kind.output_tokens, int(limit or kind.output_tokens)) for kind in every)
    counts = {name: sum(kind.count for kind in found) for name, found in kinds.items()}
    most = None if limit is None else compute_cost(model, sent, int(limit) * sum(counts.values()))
    return CandidatePreview(
        model.name,
        counts["ask"],
        counts["answer"],
        counts["judge"],
        sent,
        returned,
        compute_cost(model, sent, returned),
        most,
    )


def _list_kinds(rules: LeagueRules, domain: Domain, with_reference: bool) -> dict[str, list[_Kind]]:
    """The calls of one candidate in one domain: it asks once a run, answers, and judges all."""
    count, runs, language = len(rules.candidates), rules.run_count, rules.language
    tokens = domain.typical_tokens
    # A question comes with its reference; half of its tokens are taken to be the asking text.
    stem = "x" * (BYTES_PER_TOKEN * tokens["question"] // 2)
    question = PutQuestion(stem, stem)
    asking = _count_tokens(render_asking(domain, language, "topic").messages)
    answering = _count_tokens(render_answering(domain, language, stem).messages)
    answer = "x" * (BYTES_PER_TOKEN * tokens["answer"])

    def judging(answers: int) -> int:
        shown = [ShownAnswer("A", answer)] * answers
        return _count_tokens(
            render_judging(domain, language, question, shown, with_reference=with_reference).messages
        )

    # A ranking of one answer is not asked for.
    least = 2 if domain.aggregation == "borda" else 1
    judge = [
        _Kind(runs * times, judging(answers), tokens["judgement"])
        for times, answers in ((1, count - 1), (count - 1, count - 2))
        if answers >= least
    ]
    if not with_reference:
        return {"ask": [], "answer": [], "judge": judge}
    return {
        "ask": [
            _Kind(runs, asking, tokens["question"]),
            _Kind(runs * rules.self_consistency, answering, tokens["answer"]),
        ],
        "answer": [_Kind(runs * (count - 1), answering, tokens["answer"])],
        "judge": judge,
    }


def _count_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    return sum(len(message["content"].encode()) for message in messages) // BYTES_PER_TOKEN + 4
