"""What a league remembers: collections of questions, and rounds that were played before."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.settings import Settings
from tasks.league.asking import Reply, Usage
from tasks.league.claim import ClaimedLeague
from tasks.league.originality import Collection, read_benchmark
from tasks.league.rounds import GivenAnswer, PlayedRound, RoundPlace
from tasks.league.setting import SetQuestion
from tasks.league.wording import PutQuestion
from warehouse.lake import Lake

if TYPE_CHECKING:
    from tasks.league.originality import Encode

MEMORY = "memory"


def recall_rounds(
    lake: Lake, claim: ClaimedLeague, places: Sequence[RoundPlace]
) -> dict[RoundPlace, PlayedRound]:
    """Questions and answers of the rounds of one number, as the full run has them, without cost."""
    asked = {"league_id": claim.league_id, "round": places[0].league_round}
    questions = {
        (row["domain"], row["league_run"]): row
        for row in lake.read("league_questions_of_round", asked).to_dicts()
    }
    answers = lake.read("league_answers_of_round", asked).to_dicts()
    seats = {name: seat for seat, name in enumerate(claim.rules.candidates)}
    silent: Reply[dict[str, str]] = Reply(None, None, "none")
    recalled: dict[RoundPlace, PlayedRound] = {}
    for place in places:
        row = questions[place.domain, place.league_run]
        put = (
            None
            if row["stem"] is None
            else PutQuestion(
                row["stem"], row["reference_answer"] or "", row["principle"], row["scoring_standard"]
            )
        )
        question = SetQuestion(
            row["league_question_id"], row["asker"], row["topic"], put, None, {}, [], silent, Usage()
        )
        given = [
            GivenAnswer(one["answerer"], one["response"], None, one["execution"], silent)
            for one in sorted(answers, key=lambda one: seats[one["answerer"]])
            if one["league_question_id"] == row["league_question_id"]
        ]
        recalled[place] = PlayedRound(place, question, given)
    return recalled


def read_collection(path: str, encode: Encode | None) -> Collection:
    """The questions of a file, named for the file."""
    collection = Collection(Path(path).name, encode)
    collection.add(read_benchmark(Path(path)))
    return collection


def load_encoder(settings: Settings, claim: ClaimedLeague, stack: ExitStack) -> Encode | None:
    """The configured embedding model as a function; null where the league leaves similarity out."""
    name = claim.rules.embedding
    if not name:
        return None
    from tasks.gscore import load_embedder

    cache = settings.home / "league" / "embeddings.sqlite"
    return stack.enter_context(closing(load_embedder(name, cache=cache))).stack_vectors
