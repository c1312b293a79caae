"""The gate: from annotators' decisions to what passes (LLMEval-Fair §2.1). Pure.

A question passes when enough reviewers accept it, edits included. An edit counts as an accept of the corrected
question; reviewers agree when at most one correction is on the table and it leaves the key alone, or all of them
made the same one. Anything else goes to an adjudicator, whose decision stands. Without a full set of decisions a
question is not decided: it stays out, and is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from schemas.reviews import REJECT_REASONS
from tasks.questions import QuestionContent
from tasks.review.decisions.decision import Decision, Edit, GivenDecision
from tasks.review.decisions.item import Item

State = Literal["accepted", "rejected", "waiting", "disputed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a question stands, with the content and revision that this makes current."""

    item: Item
    state: State
    accept_count: int
    reject_count: int
    reject_reason: str | None
    was_edited: bool
    was_adjudicated: bool
    revision: int
    content: QuestionContent = field(repr=False)

    @property
    def is_settled(self) -> bool:
        """Whether no decision on it is waited for."""
        return self.state in ("accepted", "rejected")


def compute_outcomes(
    items: Iterable[Item], decisions: Iterable[Decision], review_count: int
) -> list[Outcome]:
    """Where every item stands, in the order given.

    `decisions` are at most one per question and annotator. A question is settled by as many agreeing ones as it has reviews.
    """
    by_question: dict[str, list[Decision]] = {}
    for decision in decisions:
        by_question.setdefault(decision.question_uuid, []).append(decision)
    return [compute_outcome(item, by_question.get(item.question_uuid, []), review_count) for item in items]


def compute_outcome(item: Item, decisions: Sequence[Decision], review_count: int) -> Outcome:
    """Where one question stands after `decisions`."""
    review_total = sum(not decision.is_adjudication for decision in decisions)
    verdicts = [decision.given for decision in decisions if decision.is_adjudication]
    accepts = [decision.given for decision in decisions if decision.given.decision != "reject"]
    rejects = [decision.given for decision in decisions if decision.given.decision == "reject"]

    state: State
    content = item.content
    if verdicts:
        state = "rejected" if verdicts[-1].decision == "reject" else "accepted"
        content = _correct(item.content, verdicts[-1])
    elif review_total < review_count:
        state = "waiting"
    elif len(rejects) >= review_count and len(rejects) > len(accepts):
        state = "rejected"
    elif len(accepts) >= review_count and len(accepts) > len(rejects):
        agreed = _agree_on_content(item.content, accepts)
        state = "disputed" if agreed is None else "accepted"
        content = agreed or item.content
    else:
        state = "disputed"

    was_edited = content != item.content
    return Outcome(
        item=item,
        state=state,
        accept_count=len(accepts),
        reject_count=len(rejects),
        reject_reason=_most_frequent_reason(rejects) if state == "rejected" else None,
        was_edited=was_edited,
        was_adjudicated=bool(verdicts),
        revision=item.revision + 1 if was_edited else item.revision,
        content=content,
    )


def _correct(content: QuestionContent, given: GivenDecision) -> QuestionContent:
    """The content as the decision leaves it."""
    edit = given.edit if given.decision == "edit" else None
    return (edit or Edit()).apply(content)


def _agree_on_content(content: QuestionContent, accepts: Sequence[GivenDecision]) -> QuestionContent | None:
    """The one question that the accepts mean; null when they mean different ones."""
    corrected = {_correct(content, given) for given in accepts} - {content}
    if not corrected:
        return content
    if len(corrected) > 1:
        return None
    result = next(iter(corrected))
    everybody_edited = all(given.decision == "edit" for given in accepts)
    # Who accepted the question as it stood vouched for its key: a correction of the key contradicts that.
    keeps_key = _key_texts(content) == _key_texts(result)
    return result if everybody_edited or keeps_key else None


def _key_texts(content: QuestionContent) -> list[str]:
    """The answer in words, of a choice the keyed texts: to reorder options is no change.

    Without options the order counts: of two blanks each has its own answer.
    """
    texts = {option.label: option.text for option in content.options}
    words = [texts.get(key, key) for key in content.answer]
    return sorted(words) if texts else words


def _most_frequent_reason(rejects: Sequence[GivenDecision]) -> str | None:
    counts = Counter(given.reject_reason for given in rejects if given.reject_reason)
    if not counts:
        return None
    return max(counts, key=lambda reason: (counts[reason], -REJECT_REASONS.index(reason)))
