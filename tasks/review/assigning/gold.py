"""Questions with a known decision among an annotator's work: drawn, planted, and judged.

The known decision comes from earlier questions: accepted ones as they are, rejected ones for a fault that can be seen, and
accepted ones whose key was made wrong on purpose. They are handed out like all others and are no review of the bank.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from schemas.settings import Settings
from tasks.questions import BareQuestion, QuestionContent
from tasks.questions.identity import compute_question_uuid
from tasks.review.assigning.annotators import NO_DISCIPLINE, Annotator
from tasks.review.decisions import Edit, GivenDecision, Item
from tasks.statistics.agreement import compute_share
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning, gold
from warehouse.stores.secrets import read_home_key

if TYPE_CHECKING:
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Connection

Kind = Literal["accepted", "rejected", "spoiled"]
# Of each discipline and outcome this many settled questions are drawn from: enough that annotators meet different ones.
MOST_PER_DISCIPLINE = 500
Result = Literal["right", "missed", "false_alarm"]


@dataclass(frozen=True)
class GoldQuestion:
    """A question as it is shown, and the decision that is known.

    Attributes:
        item: as it is shown: revision 1, and the identity of its content, like every question that waits.
        kind: `accepted` and `rejected` as they were settled, `spoiled` with a key made wrong.
        true_answer: of a spoiled one the answer that is right.
        source_uuid, source_batch: the settled question, and the batch that settled it.
    """

    item: Item
    kind: Kind
    true_answer: tuple[str, ...] | None
    source_uuid: str
    source_batch: str

    @property
    def expected(self) -> str:
        """The known decision."""
        return "accept" if self.kind == "accepted" else "reject"


@dataclass(frozen=True)
class GoldSupply:
    """Settled questions to plant, their share of everybody's work, and the key of the draw."""

    rows: Sequence[Mapping[str, Any]] = field(repr=False)
    share: float
    key: bytes = field(repr=False)


NO_GOLD = GoldSupply((), 0.0, b"")


@dataclass(frozen=True)
class Planted:
    """A planted question, and who is given it."""

    gold: GoldQuestion
    annotators: tuple[str, ...]

    def as_row(self, batch_id: str) -> dict[str, Any]:
        """The row of the ledger table `review_gold`."""
        answer = self.gold.true_answer
        return {
            "batch_id": batch_id,
            "question_uuid": self.gold.item.question_uuid,
            "kind": self.gold.kind,
            "expected": self.gold.expected,
            "true_answer": None if answer is None else list(answer),
            "source_uuid": self.gold.source_uuid,
            "source_batch": self.gold.source_batch,
        }


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


def read_gold_supply(settings: Settings, lake: Lake, share: float) -> GoldSupply:
    """What can be planted of the settled questions; empty for a share of 0.

    What was retired since may be wrong in just what an annotator is tried by.
    """
    if share <= 0:
        return NO_GOLD
    key = read_home_key(settings, "review_gold", "Delete it otherwise; later draws will be others.")
    salt = hmac.digest(key, b"pool", hashlib.sha256).hex()
    rows = lake.read("settled_questions", {"salt": salt, "most": MOST_PER_DISCIPLINE})
    rows = rows.join(lake.read("retired_questions"), on="question_uuid", how="anti", maintain_order="left")
    return GoldSupply(rows.to_dicts(), share, key)


def plant(
    connection: Connection,
    supply: GoldSupply,
    batch_id: str,
    work: Mapping[str, Sequence[str]],
    people: Sequence[Annotator],
    kinds: Mapping[str, tuple[str | None, str]],
) -> list[Planted]:
    """Draw for everybody their share of the supply; another batch draws others.

    Each of its questions is of a discipline that they review and was never read by them; none is drawn twice. At least one for
    each with `work` (question → annotators), where there is any; of the disciplines and languages of that work (`kinds`, by
    question) as long as there are such, so that none stands out.
    """
    if not supply.rows:
        return []
    golds = [make_gold(row, supply.key, batch_id) for row in supply.rows]
    # What is read again just now is known no more.
    doubted = _list_doubted(connection, golds)
    golds = [
        gold for gold in golds if gold.item.question_uuid not in work and gold.source_uuid not in doubted
    ]
    past = assigning.read_past_decisions(
        connection, sorted({one for gold in golds for one in (gold.source_uuid, gold.item.question_uuid)})
    )
    counts: dict[str, int] = {}
    usual: dict[str, set[tuple[str | None, str]]] = {}
    for uuid, names in work.items():
        for name in names:
            counts[name] = counts.get(name, 0) + 1
            usual.setdefault(name, set()).add(kinds[uuid])
    given: dict[str, list[str]] = {}
    chosen: dict[str, GoldQuestion] = {}
    for person in people:
        name = person.user_id
        able = {
            gold.item.question_uuid: gold
            for gold in golds
            if person.can_review(gold.item.content.discipline or NO_DISCIPLINE)
            and name not in past.get(gold.source_uuid, set()) | past.get(gold.item.question_uuid, set())
        }
        order = sorted(able, key=lambda uuid: _draw(supply.key, batch_id, name, uuid))
        wanted = max(1, round(counts.get(name, 0) * supply.share)) if name in counts else 0
        alike = [
            uuid
            for uuid in order
            if (able[uuid].item.content.discipline, able[uuid].item.content.language)
            in usual.get(name, set())
        ]
        others = [uuid for uuid in order if uuid not in set(alike)]
        for uuid in (_alternate(alike, able) + _alternate(others, able))[:wanted]:
            chosen[uuid] = able[uuid]
            given.setdefault(uuid, []).append(name)
    return [Planted(chosen[uuid], tuple(names)) for uuid, names in sorted(given.items())]


def _list_doubted(connection: Connection, golds: Sequence[GoldQuestion]) -> set[str]:
    """Those of the settled questions that lie in another batch, which is not closed."""
    settled = {gold.source_uuid: gold.source_batch for gold in golds}
    closed = {batch.batch_id for batch in assigning.read_batches(connection) if batch.is_closed}
    of = assigning.read_batched_questions(connection, list(settled))
    return {uuid for uuid, name in of.items() if name not in closed and name != settled[uuid]}


def _alternate(order: Sequence[str], golds: Mapping[str, GoldQuestion]) -> list[str]:
    """In the drawn order, by turns one to accept and one to reject, as long as there are both."""
    good = [uuid for uuid in order if golds[uuid].expected == "accept"]
    bad = [uuid for uuid in order if golds[uuid].expected == "reject"]
    first, second = (good, bad) if order and order[0] in good else (bad, good)
    both = [uuid for pair in zip(first, second, strict=False) for uuid in pair]
    return both + first[len(second) :] + second[len(first) :]


def make_gold(row: Mapping[str, Any], key: bytes, batch_id: str) -> GoldQuestion:
    """What a row of `settled_questions` is shown as; half of those that can be are spoiled."""
    content = QuestionContent.from_row(row)
    drawn = _draw(key, batch_id, "spoil", row["question_uuid"])
    wrong = spoil_key(content, drawn) if row["outcome"] == "accepted" and drawn[0] % 2 else None
    kind: Kind = "rejected" if row["outcome"] == "rejected" else "accepted" if wrong is None else "spoiled"
    shown = content if wrong is None else replace(content, answer=wrong)
    shown_row = dict(row) | shown.as_row()
    item = Item.from_question(
        shown_row | {"question_uuid": compute_question_uuid(BareQuestion.from_row(shown_row)), "revision": 1}
    )
    true_answer = None if wrong is None else content.answer
    return GoldQuestion(item, kind, true_answer, row["question_uuid"], row["batch_id"])


def spoil_key(content: QuestionContent, drawn: bytes) -> tuple[str, ...] | None:
    """A drawn wrong key of a choice with one key or of a true/false question; null for others."""
    if content.question_type == "true_false" and content.answer in (("true",), ("false",)):
        return ("false",) if content.answer == ("true",) else ("true",)
    labels = [option.label for option in content.options]
    if content.question_type != "multiple_choice" or len(content.answer) != 1 or len(labels) < 2:
        return None
    others = [label for label in labels if label not in content.answer]
    return (others[drawn[1] % len(others)],)


def judge_gold(
    kind: str, true_answer: Collection[str] | None, content: QuestionContent, given: GivenDecision
) -> Result:
    """What a decision on a planted question was: right, a missed fault, or a false alarm.

    A fault is seen by a rejection and by an edit; an edit of a spoiled key must put the right one back. Who corrects the key
    of a question that was right gives a false alarm; who corrects other things of it does not.
    """
    corrected = (given.edit or Edit()).apply(content)
    if kind == "accepted":
        is_kept = given.decision == "accept" or (
            given.decision == "edit" and set(corrected.answer) == set(content.answer)
        )
        return "right" if is_kept else "false_alarm"
    if given.decision == "reject":
        return "right"
    is_restored = true_answer is None or set(corrected.answer) == set(true_answer)
    return "right" if given.decision == "edit" and is_restored else "missed"


def _draw(key: bytes, *parts: str) -> bytes:
    """A keyed hash: who does not know the key of the home cannot tell what was drawn."""
    return hmac.digest(key, "\x1f".join(parts).encode(), hashlib.sha256)


def read_gold_rows(connection: Connection, batch_id: str | None = None) -> list[dict[str, Any]]:
    """Rows of `gold_reviews`, of one batch or all; without a decision its fields are null."""
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
