"""What annotators decided on planted questions: row by row, and per annotator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tasks.questions import QuestionContent
from tasks.review.assigning.gold import judge_gold
from tasks.review.decisions import Edit, GivenDecision
from tasks.statistics.agreement import compute_share
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import gold

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class GoldScore:
    """What an annotator made of the planted questions that they decided on.

    Attributes:
        annotator: who.
        given_count: planted among their work.
        decided_count: of these, decided.
        right_count: accepted what is right, rejected or corrected what is not.
        missed_count: let a fault pass.
        false_alarm_count: rejected, or changed the key of, a question that is right.
        right_rate: share of the decided that is right, 0 to 1, with `low` and `high` of its 95% interval (Wilson); null
            without a decision.
    """

    annotator: str
    given_count: int
    decided_count: int
    right_count: int
    missed_count: int
    false_alarm_count: int
    right_rate: float | None
    low: float | None
    high: float | None


def read_gold_rows(connection: Connection, batch_id: str | None = None) -> list[dict[str, Any]]:
    """Rows of the table `gold_reviews`, of one batch or of all, open batches included.

    `decision` and `gold_result` are None until a decision is given.
    """
    return [_build_row(row) for row in gold.read_gold_reviews(connection, batch_id)]


def read_gold_scores(ledger: Ledger, batch_id: str | None = None) -> list[GoldScore]:
    """Per annotator, by name; those without a planted question have no row."""
    with ledger.read() as connection:
        return compute_gold_scores(read_gold_rows(connection, batch_id))


def compute_gold_scores(rows: Iterable[dict[str, Any]]) -> list[GoldScore]:
    """The scores of these rows, per annotator and by name."""
    results: dict[str, list[str | None]] = defaultdict(list)
    for row in rows:
        results[row["annotator"]].append(row["gold_result"])
    return [_score(name, given) for name, given in sorted(results.items())]


def _score(annotator: str, results: Sequence[str | None]) -> GoldScore:
    counts = Counter(result for result in results if result is not None)
    decided = counts.total()
    share = compute_share(counts["right"], decided) if decided else None
    return GoldScore(
        annotator=annotator,
        given_count=len(results),
        decided_count=decided,
        right_count=counts["right"],
        missed_count=counts["missed"],
        false_alarm_count=counts["false_alarm"],
        right_rate=share.value if share else None,
        low=share.low if share else None,
        high=share.high if share else None,
    )


def _build_row(row: dict[str, Any]) -> dict[str, Any]:
    result = None
    if row["decision"] is not None:
        edit = None if row["edited_fields"] is None else Edit.from_row(row["edited_fields"])
        given = GivenDecision(row["question_uuid"], row["decision"], edit=edit)
        content = QuestionContent.from_row(row["content"])
        result = judge_gold(row["kind"], row["true_answer"], content, given)
    names = ("batch_id", "question_uuid", "annotator", "discipline", "kind", "expected", "source_uuid")
    times = ("source_batch", "decision", "assigned_at", "decided_at")
    return {name: row[name] for name in (*names, *times)} | {"gold_result": result}
