"""Played rounds as rows of the lake: from ranks and scores to points, and to a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from schemas.errors import ContractError
from schemas.tables import get_table
from tasks.league.asking import Usage
from tasks.league.claim import ClaimedLeague
from tasks.league.rounds import GivenEvaluation, PlayedRound, RoundPlace
from tasks.league.setting import render_details
from warehouse.lake import Batch

Row = dict[str, object]

FULL = "full"
OCCASION = "round"
# The prompt of an evaluation that no judge was asked for; it is not void.
_NOT_ASKED = "none"


@dataclass(frozen=True)
class Standing:
    """Where a candidate stands: the mean over its evaluations, and its rank.

    The mean is None without an evaluation. Ranks count from 1, and equal means share the better rank.
    """

    model: str
    evaluation_count: int
    score: float | None
    rank: int | None


def name_place(claim: ClaimedLeague, place: RoundPlace) -> str:
    """The round's name, the same for every type of run: letters are drawn by it."""
    return f"{claim.league_id}/{place.domain}/run-{place.league_run}/round-{place.league_round}"


def list_evaluations(claim: ClaimedLeague, played: PlayedRound) -> list[Row]:
    """Rows of `league_evaluations`: one per judge and other answerer, also where nothing is."""
    return [row for given in played.evaluations for row in _evaluation_rows(claim, played, given)]


def describe_round(
    claim: ClaimedLeague, played: PlayedRound, evaluations: Sequence[Row], tally: Tally
) -> dict[str, list[Row]]:
    """Table → rows of a finished round; judged again, a round brings evaluations alone."""
    place = played.place
    judged = _name_judged(claim, place)
    scored = [row["score"] is not None for row in evaluations if row["prompt_version"] != _NOT_ASKED]
    rows: dict[str, list[Row]] = {
        "league_rounds": [
            judged
            | {
                "asker": place.asker,
                "answer_count": sum(answer.text is not None for answer in played.answers),
                "evaluation_count": sum(scored),
                "void_count": len(scored) - sum(scored),
                "finished_at": datetime.now(UTC),
            }
        ],
        "league_evaluations": list(evaluations),
        "league_rankings": [judged | asdict(standing) for standing in tally.rank(claim.rules.candidates)],
        "league_flags": [
            {name: row[name] for name in (*judged, "league_question_id", "judge", "answerer")}
            | {"template": template}
            for row, template in _list_flags(played, evaluations)
        ],
    }
    if place.run_type == FULL:
        rows |= {
            "league_questions": [_describe_question(claim, played)],
            "league_answers": _describe_answers(claim, played),
            "league_originality": _describe_originality(claim, played),
        }
    return rows


def build_batches(unit: str, rounds: Sequence[Mapping[str, list[Row]]]) -> list[Batch]:
    """One batch per table with the rows of several rounds; a table without rows has none."""
    rows: dict[str, list[Row]] = {}
    for one in rounds:
        for name, found in one.items():
            rows.setdefault(name, []).extend(found)
    return [Batch(name, unit, get_table(name).frame(found)) for name, found in rows.items() if found]


def _evaluation_rows(claim: ClaimedLeague, played: PlayedRound, given: GivenEvaluation) -> list[Row]:
    place = played.place
    letters = {name: label for label, name in given.labels.items()}
    first = next(iter(given.labels.values()), None)
    rows: list[Row] = []
    for answer in played.answers:
        if answer.answerer == given.judge:
            continue
        label = letters.get(answer.answerer)
        rank = (given.read.ranks or {}).get(label or "")
        score = (
            given.read.scores.get(label or "")
            if rank is None
            else float(compute_borda_points(len(claim.rules.candidates), rank))
        )
        usage = given.reply.usage if given.reply is not None and answer.answerer == first else None
        rows.append(
            _name_judged(claim, place)
            | {
                "league_question_id": played.question.question_id,
                "judge": given.judge,
                "answerer": answer.answerer,
                "label": label,
                "rank": rank,
                "score": score,
                "reason": given.read.reasons.get(label or ""),
                "raw": given.reply.raw if given.reply is not None and label is not None else None,
                "parse_status": "unparsed" if score is None else "parsed",
                "prompt_version": _NOT_ASKED if given.reply is None else given.reply.version,
                "occasion": OCCASION,
            }
            | _describe_usage(usage)
        )
    return rows


def _list_flags(played: PlayedRound, evaluations: Sequence[Row]) -> list[tuple[Row, str]]:
    """The evaluation and the template of every answer that a judge flagged."""
    by_pair = {(row["judge"], row["answerer"]): row for row in evaluations}
    return [
        (by_pair[given.judge, given.labels[label]], template)
        for given in played.evaluations
        for label, template in given.read.templates.items()
    ]


def _name_judged(claim: ClaimedLeague, place: RoundPlace) -> Row:
    return {
        "league_id": claim.league_id,
        "domain": place.domain,
        "run_type": place.run_type,
        "league_run": place.league_run,
        "round": place.league_round,
    }


def _describe_usage(usage: Usage | None) -> Row:
    names = ("input_tokens", "output_tokens", "cost_usd", "call_count")
    return {name: None if usage is None else getattr(usage, name) for name in names}


def _describe_question(claim: ClaimedLeague, played: PlayedRound) -> Row:
    question = played.question
    put = question.put
    return (
        _name_played(claim, played)
        | {
            "asker": question.asker,
            "topic": question.topic,
            "stem": None if put is None else put.stem,
            "reference_answer": None if put is None else put.reference_answer,
            "final_answer": question.final_answer,
            "principle": None if put is None else put.principle,
            "scoring_standard": None if put is None else put.scoring_standard,
            "details": render_details(question.details),
            "draft_count": question.draft_count,
            "self_consistency": question.self_consistency,
            "execution": question.execution,
            "raw": question.reply.raw,
            "parse_status": question.reply.parse_status,
            "prompt_version": question.reply.version,
            "occasion": OCCASION,
        }
        | _describe_usage(question.usage)
    )


def _name_played(claim: ClaimedLeague, played: PlayedRound) -> Row:
    place = _name_judged(claim, played.place)
    del place["run_type"]
    return place | {"league_question_id": played.question.question_id}


def _describe_answers(claim: ClaimedLeague, played: PlayedRound) -> list[Row]:
    return [
        _name_played(claim, played)
        | {
            "answerer": answer.answerer,
            "response": answer.text,
            "final_answer": answer.final_answer,
            "execution": answer.execution,
            "raw": answer.reply.raw,
            "parse_status": answer.reply.parse_status,
            "prompt_version": answer.reply.version,
            "occasion": OCCASION,
        }
        | _describe_usage(answer.reply.usage)
        for answer in played.answers
    ]


def _describe_originality(claim: ClaimedLeague, played: PlayedRound) -> list[Row]:
    return [
        _name_played(claim, played) | {"draft": number, **asdict(near), "is_too_near": is_too_near}
        for number, draft in enumerate(played.question.drafts, start=1)
        for near, is_too_near in zip(draft.nearness, draft.is_too_near, strict=True)
    ]


class Tally:
    """Sums and counts of the evaluations of each candidate; what could not be read is no 0."""

    def __init__(self, sums: Mapping[str, tuple[float, int]] | None = None) -> None:
        self._sums: dict[str, tuple[float, int]] = dict(sums or {})

    def add(self, model: str, score: float | None) -> None:
        """Count an evaluation; null is left out."""
        if score is None:
            return
        total, count = self._sums.get(model, (0.0, 0))
        self._sums[model] = (total + score, count + 1)

    def rank(self, models: Sequence[str]) -> list[Standing]:
        """The standing of every candidate, best first; those without an evaluation come last."""
        means = {
            model: self._sums[model][0] / self._sums[model][1]
            for model in models
            if self._sums.get(model, (0.0, 0))[1]
        }
        ordered = sorted(models, key=lambda model: (model not in means, -means.get(model, 0.0), model))
        return [
            Standing(
                model,
                self._sums.get(model, (0.0, 0))[1],
                means.get(model),
                1 + sum(other > means[model] for other in means.values()) if model in means else None,
            )
            for model in ordered
        ]


def compute_borda_points(candidate_count: int, rank: int) -> int:
    """Return N - 1 - r points for rank r, whatever the length of the judge's list.

    This is League of LLMs, as its tables are computed. With n = 8 the asker's list of seven earns 6 to 0, the other
    judges' lists of six earn 6 to 1. Raises ContractError for a rank that no judge can give.
    """
    if not 1 <= rank <= candidate_count - 1:
        raise ContractError(f"There is no rank {rank} in a league of {candidate_count}.")
    return candidate_count - 1 - rank
