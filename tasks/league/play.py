"""Play a league, one round number after the other.

Rounds of the same number, of all domains and runs, are played at once and landed together. A round that has landed is
never played again. One that was stopped in the middle is played from the ledger of calls as far as it was paid for:
letters, topics and the memory that it is compared with are the same again, so its calls are, too.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.league.asking import LeagueCalls
from tasks.league.claim import ClaimedLeague, check_rules, hash_benchmark, name_run, name_unit, read_league
from tasks.league.domain import list_topics, pick_topic
from tasks.league.memory import MEMORY, load_encoder, read_collection, recall_rounds
from tasks.league.originality import Collection
from tasks.league.rounds import (
    JudgedRound,
    PlayedRound,
    RoundPlace,
    answer_question,
    gather_all,
    judge_answers,
)
from tasks.league.rows import FULL, Row, Tally, build_batches, describe_round, list_evaluations, name_place
from tasks.league.sandbox import run_answer, run_reference
from tasks.league.setting import set_question
from tasks.models import CallFailed, ModelClient, SharedClient, read_call_frames
from tasks.models.registry import RegisteredModel, check_callable, read_registry
from tasks.running.claiming import hold_work
from tasks.running.flow_runs.record import compute_patience
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.money.calls import read_call_months

if TYPE_CHECKING:
    from tasks.league.originality import Encode

STAGE = "league"
LANDING_EVERY_S = 15.0

Progress = Callable[[int, int], None]


@dataclass
class LeagueSummary:
    """What came of playing.

    Attributes:
        round_count: rounds that it has in this type of run.
        finished_count: those that are finished now.
        new_count: those that were finished this time.
        void_count: evaluations that were asked for and have no score, among those of this time.
        failed_count: rounds that stayed open because a call failed.
        calls: what the client did (sent, replayed, repeated, retried, failed).
        cost_usd: what the rounds of this time cost, calls of earlier times included.
    """

    league_id: str
    run_type: str
    round_count: int
    finished_count: int = 0
    new_count: int = 0
    void_count: int = 0
    failed_count: int = 0
    failure: str | None = None
    calls: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether every round is finished; otherwise the same command continues."""
        return self.finished_count == self.round_count


@dataclass(frozen=True)
class Playing:
    """How a league is played.

    Attributes:
        run_type: `full`, or `without_reference`: the finished rounds of the full run are judged again, without the reference answer.
        budget_usd: what it may cost; null for the limit of the settings.
        voids_failures: take calls that fail for good as void instead of leaving their rounds open.
    """

    run_type: str = FULL
    budget_usd: float | None = None
    voids_failures: bool = False


async def play_league(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    league_id: str,
    playing: Playing | None = None,
    *,
    progress: Progress | None = None,
) -> LeagueSummary:
    """Play what is not finished of a claimed league; what is paid for is not sent again.

    Raises UsageError when nothing can be
    played, BudgetError when the next call could exceed the budget (what is finished is landed), StoreError while another process plays it.
    """
    playing = playing or Playing()
    run_type, budget_usd = playing.run_type, playing.budget_usd
    claim = read_league(lake, settings, league_id)
    models = {model.name: model for model in check_rules(claim.rules, read_registry(settings.registry_path))}
    check_callable(models.values())
    with (
        hold_work(
            settings, STAGE, league_id, what=f"playing the league {league_id}", wait_s=compute_patience()
        ),
        ExitStack() as stack,
    ):
        board = _Board(ledger, lake, claim, models, run_type, playing.voids_failures)
        board.open_collections(load_encoder(settings, claim, stack) if run_type == FULL else None)
        limit_usd = settings.budget_usd if budget_usd is None else budget_usd
        async with SharedClient(ledger, settings, name_run(league_id), limit_usd) as client:
            try:
                await board.play(client, progress)
            finally:
                board.summary.calls = client.counts
    return board.summary


def list_rounds(claim: ClaimedLeague, run_type: str) -> list[list[RoundPlace]]:
    """All rounds by number, each list playable at once: each run begins with another asker."""
    seats = claim.rules.candidates
    return [
        [
            RoundPlace(domain, run_type, league_run, number, seats[(number + league_run - 2) % len(seats)])
            for domain in claim.domains
            for league_run in range(1, claim.rules.run_count + 1)
        ]
        for number in range(1, claim.round_count + 1)
    ]


def check_finished(lake: Lake, claim: ClaimedLeague, before: str) -> None:
    """Raise UsageError unless every round of the full run has landed; `before` says what waits."""
    units = [name_unit(claim.league_id, FULL, number) for number in range(1, claim.round_count + 1)]
    if missing := len(units) - len(lake.landed("league_rounds", units)):
        raise UsageError(
            f"{missing} of {len(units)} rounds of league {claim.league_id} are not finished. Play them with "
            f"`proctor league run {claim.league_id}` before {before}."
        )


class _Board:
    """The state of a league while it is played."""

    def __init__(
        self,
        ledger: Ledger,
        lake: Lake,
        claim: ClaimedLeague,
        models: Mapping[str, RegisteredModel],
        run_type: str,
        voids_failures: bool,
    ) -> None:
        self._ledger = ledger
        self._lake = lake
        self._claim = claim
        self._models = models
        self._voids_failures = voids_failures
        self._rounds = list_rounds(claim, run_type)
        units = [name_unit(claim.league_id, run_type, number) for number in range(1, claim.round_count + 1)]
        self._landed = lake.landed("league_rounds", units)
        if run_type != FULL:
            check_finished(lake, claim, "they are judged again")
        self.summary = LeagueSummary(
            claim.league_id, run_type, sum(map(len, self._rounds)), len(self._landed) * len(self._rounds[0])
        )
        self._tallies = self._read_tallies(run_type)
        self._benchmarks: dict[str, list[Collection]] = {}
        self._memory = Collection(MEMORY)
        self._kept: dict[int, list[tuple[str, str]]] = {}
        self._ready: list[Batch] = []
        self._called: list[str] = []
        self._landed_at = time.monotonic()

    def open_collections(self, encode: Encode | None) -> None:
        """Read what questions are compared with: files of the league and its domains, all memory."""
        if self.summary.run_type != FULL or self.summary.is_complete:
            return
        rules = self._claim.rules
        for path, digest in rules.benchmarks.items():
            if hash_benchmark(Path(path)) != digest:
                raise UsageError(
                    f"{path} is not what it was when league {self._claim.league_id} was claimed. Restore the file."
                )
        common = [read_collection(path, encode) for path in rules.benchmarks]
        for name, domain in self._claim.domains.items():
            self._benchmarks[name] = [
                *common,
                *(read_collection(path, encode) for path in domain.originality),
            ]
        self._memory = Collection(MEMORY, encode)
        past = self._lake.read(
            "league_memory", {"league_id": self._claim.league_id, "before": self._claim.created_at}
        )
        self._memory.add(past.filter(past["round"].is_null()).select("league_question_id", "stem").rows())
        for number, question_id, stem in (
            past.filter(past["round"].is_not_null()).select("round", "league_question_id", "stem").rows()
        ):
            self._kept.setdefault(number, []).append((question_id, stem))

    async def play(self, client: ModelClient, progress: Progress | None) -> None:
        """Play number after number; stop after one in which a round stayed open."""
        try:
            for number, places in enumerate(self._rounds, start=1):
                if progress is not None:
                    progress(self.summary.finished_count, self.summary.round_count)
                unit = name_unit(self._claim.league_id, self.summary.run_type, number)
                if unit not in self._landed:
                    await self._play_together(client, unit, places)
                    self._land(LANDING_EVERY_S)
                if self.summary.failed_count:
                    return
                # Only now: rounds of one number are not compared with each other, whichever is finished first.
                self._memory.add(sorted(self._kept.get(number, ())))
        finally:
            self._land(0)
        if progress is not None:
            progress(self.summary.finished_count, self.summary.round_count)

    async def _play_together(self, client: ModelClient, unit: str, places: Sequence[RoundPlace]) -> None:
        """Play rounds at once; they are ready to land when all are finished.

        What the others have is in the ledger of calls when one stays open, and costs nothing the next time. Raises what
        stopped a round, if it was no failed call.
        """
        recalled = {} if places[0].run_type == FULL else recall_rounds(self._lake, self._claim, places)
        self._called.append(unit)
        outcomes = await asyncio.gather(
            *(self._play_round(client, unit, place, recalled.get(place)) for place in places),
            return_exceptions=True,
        )
        failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        for failure in failures:
            if not isinstance(failure, CallFailed):
                raise failure
        if failures:
            self.summary.failed_count = len(failures)
            self.summary.failure = str(failures[0])
            return
        finished = [outcome for outcome in outcomes if isinstance(outcome, PlayedRound)]
        self._ready += build_batches(unit, [self._describe(played) for played in finished])
        self.summary.finished_count += len(finished)
        self.summary.new_count += len(finished)
        self.summary.cost_usd += sum(played.usage.cost_usd or 0.0 for played in finished)

    def _land(self, every_s: float) -> None:
        """Land what is ready and the calls that were made, when the last landing is so long ago.

        A landing costs as much for one number as for ten: where rounds take minutes each lands, where they take a moment a
        few land together. What a kill keeps from landing is in the ledger of calls.
        """
        if not self._called or time.monotonic() - self._landed_at < every_s:
            return
        with self._ledger.read() as connection:
            months = read_call_months(connection, self._called, without_purpose="")
        frames = read_call_frames(self._ledger, months)
        calls = [Batch("llm_calls", name, frame) for name, frame in frames.items()]
        self._lake.land_together([*self._ready, *calls], stage=STAGE)
        self._ready, self._called, self._landed_at = [], [], time.monotonic()

    async def _play_round(
        self, client: ModelClient, unit: str, place: RoundPlace, recalled: PlayedRound | None
    ) -> PlayedRound:
        rules = self._claim.rules
        line = LeagueCalls(
            client,
            name_run(self._claim.league_id),
            unit,
            name_place(self._claim, place),
            rules.temperature,
            rules.most_tries,
            self._voids_failures,
        )
        played = recalled or await self._ask_and_answer(line, place)
        put = played.question.put
        if put is None:
            return played
        answers = {
            answer.answerer: (answer.text, answer.execution)
            for answer in played.answers
            if answer.text is not None
        }
        played.evaluations = await judge_answers(
            line,
            self._claim,
            self._claim.domains[place.domain],
            # The same letters whether the reference is shown or not: nothing else is to differ.
            JudgedRound(put, answers, name_place(self._claim, place)),
            [self._models[name] for name in rules.candidates],
            with_reference=place.run_type == FULL,
        )
        return played

    async def _ask_and_answer(self, line: LeagueCalls, place: RoundPlace) -> PlayedRound:
        rules, domain = self._claim.rules, self._claim.domains[place.domain]
        topics = list_topics(domain, rules.season, rules.language) if rules.season else []
        question = await set_question(
            line,
            self._claim,
            domain,
            self._models[place.asker],
            pick_topic(topics, place.league_run, place.league_round),
            [*self._benchmarks.get(place.domain, ()), self._memory],
        )
        played = PlayedRound(place, question)
        if question.put is None:
            return played
        self._kept.setdefault(place.league_round, []).append((question.question_id, question.put.stem))
        others = [self._models[name] for name in rules.candidates if name != place.asker]
        played.answers = await answer_question(line, self._claim, domain, question.put.stem, others)
        if domain.runs_code and rules.runs_code:
            question.execution = await asyncio.to_thread(run_reference, question)
            played.answers = await gather_all(
                [asyncio.to_thread(run_answer, question, answer, domain) for answer in played.answers]
            )
        return played

    def _describe(self, played: PlayedRound) -> dict[str, list[Row]]:
        evaluations: list[Row] = list_evaluations(self._claim, played)
        tally = self._tallies.setdefault((played.place.domain, played.place.league_run), Tally())
        for row in evaluations:
            score = row["score"]
            tally.add(str(row["answerer"]), float(score) if isinstance(score, float) else None)
        rows = describe_round(self._claim, played, evaluations, tally)
        self.summary.void_count += int(str(rows["league_rounds"][0]["void_count"]))
        return rows

    def _read_tallies(self, run_type: str) -> dict[tuple[str, int], Tally]:
        rows = self._lake.read(
            "league_sums", {"league_id": self._claim.league_id, "run_type": run_type}
        ).to_dicts()
        sums: dict[tuple[str, int], dict[str, tuple[float, int]]] = {}
        for row in rows:
            sums.setdefault((row["domain"], row["league_run"]), {})[row["answerer"]] = (
                row["score_sum"],
                row["evaluation_count"],
            )
        return {place: Tally(found) for place, found in sums.items()}
