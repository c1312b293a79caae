"""A new candidate enters a finished league by matches before judges of the league."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.league.anonymity import draw_sequence
from tasks.league.asking import LeagueCalls
from tasks.league.claim import ClaimedLeague, check_rules, describe_candidates, name_run, read_league
from tasks.league.domain import Domain
from tasks.league.play import check_finished
from tasks.league.rounds import (
    GivenAnswer,
    GivenEvaluation,
    JudgedRound,
    answer_question,
    gather_all,
    judge_answers,
)
from tasks.league.wording import PutQuestion
from tasks.models import ModelClient, SharedClient, read_call_frames
from tasks.models.registry import RegisteredModel, check_callable, read_registry
from tasks.running.claiming import hold_work
from tasks.statistics.ratings import EntryRating, compute_bradley_terry, compute_entry_rating
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.money.calls import read_call_months

OCCASION = "entry"


@dataclass(frozen=True)
class EntrantRating:
    """An entrant's result in a domain.

    It has the matches, those without a result, the rating with its 95% interval, and the rank that the entrant
    would have.
    """

    domain: str
    entrant: str
    match_count: int
    void_count: int
    rating: float
    rating_low: float
    rating_high: float
    rank: int
    candidate_count: int


@dataclass(frozen=True)
class _Question:
    """A question of the league with the answers that it got."""

    league_run: int
    league_round: int
    question_id: str
    put: PutQuestion
    answers: Mapping[str, tuple[str, str | None]]


@dataclass(frozen=True)
class _Match:
    """One match as it is drawn."""

    question: _Question
    opponent: str
    judge: str


@dataclass(frozen=True)
class EntryRequest:
    """Who enters a league, and by what.

    Attributes:
        candidate: the model that enters; it is none of the league's.
        budget_usd: what the league may cost; null for the limit of the settings.
    """

    candidate: str
    match_count: int
    budget_usd: float | None = None


async def enter_candidate(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    league_id: str,
    entry: EntryRequest,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[EntrantRating]:
    """Play an entrant's matches in every domain and land them.

    What was paid for is not paid again.

    Each question is put once before any is used a second time with another opponent. Judges of neither family are preferred.
    Raises UsageError for a candidate of the league, one of the other kind (simulated, real), a league that is not finished,
    or fewer matches than were landed before.
    """
    candidate, match_count, budget_usd = entry.candidate, entry.match_count, entry.budget_usd
    claim = read_league(lake, settings, league_id)
    registry = read_registry(settings.registry_path)
    members = {model.name: model for model in check_rules(claim.rules, registry)}
    entrant = registry.get(candidate)
    if candidate in members:
        raise UsageError(f"{candidate} is a candidate of league {league_id} already. Name another model.")
    if entrant.is_simulated != claim.is_simulated:
        raise UsageError(f"{candidate} cannot enter: simulated candidates play with simulated ones alone.")
    check_finished(lake, claim, "somebody enters: matches are drawn among all its questions")
    check_callable([entrant, *members.values()])
    ratings = []
    with hold_work(settings, "league", league_id, what=f"playing the league {league_id}"):
        limit_usd = settings.budget_usd if budget_usd is None else budget_usd
        async with SharedClient(ledger, settings, name_run(league_id), limit_usd) as client:
            for place, domain in enumerate(claim.domains.values()):
                matches = _Entry(ledger, lake, claim, domain, members, entrant)
                ratings.append(await matches.play(client, match_count))
                if progress is not None:
                    progress((place + 1) * match_count, len(claim.domains) * match_count)
    return ratings


def rate_members(pairs: pl.DataFrame, names: Sequence[str]) -> dict[str, float]:
    """Bradley-Terry ratings of `pairs` (winner, loser, win_count), mean 1000; equal is half."""
    places = {name: place for place, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for winner, loser, count in pairs.select("winner", "loser", "win_count").iter_rows():
        wins[places[winner], places[loser]] += count
    return dict(zip(names, compute_bradley_terry(wins).tolist(), strict=True))


class _Entry:
    """An entrant's matches in one domain."""

    def __init__(
        self,
        ledger: Ledger,
        lake: Lake,
        claim: ClaimedLeague,
        domain: Domain,
        members: Mapping[str, RegisteredModel],
        entrant: RegisteredModel,
    ) -> None:
        self._ledger = ledger
        self._lake = lake
        self._claim = claim
        self._domain = domain
        self._members = members
        self._entrant = entrant
        self._unit = f"{name_run(claim.league_id)}/{domain.name}/entry/{entrant.name}"

    async def play(self, client: ModelClient, match_count: int) -> EntrantRating:
        """Draw, play, rate and land the matches."""
        asked = {"league_id": self._claim.league_id, "domain": self._domain.name}
        landed = self._lake.read("league_match_count", {**asked, "entrant": self._entrant.name}).item()
        if match_count < landed:
            raise UsageError(
                f"{self._entrant.name} has {landed} matches in {self._domain.name} already. Ask for as many, or for more."
            )
        matches = self._draw(self._read_questions(asked), match_count)
        ratings = rate_members(self._lake.read("league_pair_wins", asked), list(self._members))
        line = LeagueCalls(
            client,
            name_run(self._claim.league_id),
            self._unit,
            self._unit,
            self._claim.rules.temperature,
            self._claim.rules.most_tries,
        )
        try:
            answers = await self._answer(line, matches)
            judged = await gather_all(
                [self._judge(line, number, match, answers) for number, match in enumerate(matches, start=1)]
            )
            rows, rating = self._describe(matches, answers, judged, ratings)
            self._lake.land_together(
                [
                    Batch("league_matches", self._unit, get_table("league_matches").frame(rows)),
                    Batch(
                        "league_candidates",
                        f"{name_run(self._claim.league_id)}/entry/{self._entrant.name}",
                        get_table("league_candidates").frame(
                            describe_candidates(
                                self._claim.league_id, [self._entrant], "entrant", self._members.values()
                            )
                        ),
                    ),
                ],
                stage="league",
            )
        finally:
            self._land_calls()
        return EntrantRating(
            domain=self._domain.name,
            entrant=self._entrant.name,
            match_count=len(rows),
            void_count=sum(row["result"] is None for row in rows),
            rating=rating.rating,
            rating_low=rating.low,
            rating_high=rating.high,
            rank=1 + sum(other > rating.rating for other in ratings.values()),
            candidate_count=len(ratings) + 1,
        )

    def _read_questions(self, asked: Mapping[str, object]) -> list[_Question]:
        questions: dict[str, _Question] = {}
        for row in self._lake.read("league_answers_to_meet", asked).iter_rows(named=True):
            found = questions.setdefault(
                row["league_question_id"],
                _Question(
                    row["league_run"],
                    row["round"],
                    row["league_question_id"],
                    PutQuestion(
                        row["stem"], row["reference_answer"] or "", row["principle"], row["scoring_standard"]
                    ),
                    {},
                ),
            )
            assert isinstance(found.answers, dict)
            found.answers[row["answerer"]] = (row["response"], row["execution"])
        if not questions:
            raise UsageError(
                f"League {self._claim.league_id} has no answered question in {self._domain.name}. Play it with "
                f"`proctor league run {self._claim.league_id}` first."
            )
        return list(questions.values())

    def _draw(self, questions: Sequence[_Question], count: int) -> list[_Match]:
        """Matches in an order that only the key's holder can foresee; a shorter draw begins it."""
        key, name = self._claim.key, self._entrant.name
        by_id = {question.question_id: question for question in questions}
        order = [by_id[one] for one in draw_sequence(key, by_id, "entry", name)]
        matches = []
        for number in range(count):
            question = order[number % len(order)]
            turn = number // len(order)
            opponents = draw_sequence(key, question.answers, "opponents", name, question.question_id)
            opponent = opponents[turn % len(opponents)]
            judges = draw_sequence(
                key,
                [judge for judge in self._members if judge != opponent],
                "judges",
                name,
                question.question_id,
                turn,
            )
            families = {_family(self._entrant), _family(self._members[opponent])}
            outside = [judge for judge in judges if _family(self._members[judge]) not in families]
            matches.append(_Match(question, opponent, (outside or judges)[0]))
        return matches

    async def _answer(self, line: LeagueCalls, matches: Sequence[_Match]) -> dict[str, GivenAnswer]:
        """The entrant's answer to every question that is drawn, by question."""
        questions = list(dict.fromkeys(match.question.question_id for match in matches))
        stems = {match.question.question_id: match.question.put.stem for match in matches}
        given = await gather_all(
            [
                answer_question(line, self._claim, self._domain, stems[question], [self._entrant])
                for question in questions
            ]
        )
        return {question: answers[0] for question, answers in zip(questions, given, strict=True)}

    async def _judge(
        self, line: LeagueCalls, number: int, match: _Match, answers: Mapping[str, GivenAnswer]
    ) -> GivenEvaluation | None:
        """What the judge of a match says; null when there is no answer to judge."""
        own = answers[match.question.question_id]
        if own.text is None:
            return None
        place = f"{self._unit}/match-{number}"
        shown = {
            self._entrant.name: (own.text, own.execution),
            match.opponent: match.question.answers[match.opponent],
        }
        evaluations = await judge_answers(
            line,
            self._claim,
            self._domain,
            JudgedRound(match.question.put, shown, place),
            [self._members[match.judge]],
            with_reference=True,
        )
        return evaluations[0]

    def _describe(
        self,
        matches: Sequence[_Match],
        answers: Mapping[str, GivenAnswer],
        judged: Sequence[GivenEvaluation | None],
        ratings: Mapping[str, float],
    ) -> tuple[list[dict[str, object]], EntryRating]:
        """Rows of `league_matches`, each with the rating after it, and the last rating."""
        met: list[float] = []
        results: list[float] = []
        rating = compute_entry_rating(met, results)
        seen: set[str] = set()
        rows: list[dict[str, object]] = []
        for number, (match, given) in enumerate(zip(matches, judged, strict=True), start=1):
            question, own = match.question, answers[match.question.question_id]
            result = None if given is None else _find_result(given, self._entrant.name)
            if result is not None:
                met.append(ratings[match.opponent])
                results.append(result)
                rating = compute_entry_rating(met, results)
            usage = None if given is None or given.reply is None else given.reply.usage
            labels = {} if given is None else {name: label for label, name in given.labels.items()}
            rows.append(
                {
                    "league_id": self._claim.league_id,
                    "domain": self._domain.name,
                    "entrant": self._entrant.name,
                    "match": number,
                    "league_run": question.league_run,
                    "round": question.league_round,
                    "league_question_id": question.question_id,
                    "opponent": match.opponent,
                    "judge": match.judge,
                    "label": labels.get(self._entrant.name),
                    "result": result,
                    "response": own.text,
                    "rating": rating.rating,
                    "rating_low": rating.low,
                    "rating_high": rating.high,
                    "input_tokens": None if usage is None else usage.input_tokens,
                    "output_tokens": None if usage is None else usage.output_tokens,
                    "cost_usd": None if usage is None else usage.cost_usd,
                    "answer_cost_usd": None if question.question_id in seen else own.reply.usage.cost_usd,
                    "call_count": None if usage is None else usage.call_count,
                    "raw": None if given is None or given.reply is None else given.reply.raw,
                    "parse_status": "unparsed" if result is None else "parsed",
                    "prompt_version": "none" if given is None or given.reply is None else given.reply.version,
                    "occasion": OCCASION,
                }
            )
            seen.add(question.question_id)
        return rows, rating

    def _land_calls(self) -> None:
        with self._ledger.read() as connection:
            months = read_call_months(connection, [self._unit], without_purpose="")
        frames = read_call_frames(self._ledger, months)
        self._lake.land_together(
            [Batch("llm_calls", unit, frame) for unit, frame in frames.items()], stage="league"
        )


def _find_result(given: GivenEvaluation, entrant: str) -> float | None:
    """1, 0.5 or 0 for the entrant; null when the judge could not be read."""
    values: dict[str, float] = {}
    for label, name in given.labels.items():
        if given.read.ranks is not None:
            values[name] = -float(given.read.ranks[label])
        elif label in given.read.scores:
            values[name] = given.read.scores[label]
    if len(values) < 2:
        return None
    own = values.pop(entrant)
    other = next(iter(values.values()))
    return 0.5 if own == other else float(own > other)


def _family(model: RegisteredModel) -> str:
    return model.family or model.organisation
