"""Which questions say the same, which of them stays, and why. Pure.

Questions are taken in order of preference and kept unless one that was kept before says the same: every dropped
question names one that it was compared with directly, and no chain of small differences joins strangers. When an
original is dropped its whole lineage goes with it; a dropped variant goes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tasks.dedupe.exact import NormalForm, compute_content_key, normalise_content
from tasks.dedupe.near import asks_the_same, build_text, compute_similarity, list_candidate_pairs
from tasks.questions.question import ORIGINAL, Question, QuestionContent
from tasks.questions.variant import TEMPLATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# These differ from their siblings, and from their parent's near-duplicates, by an option or an order only: whether
# they are duplicates follows from their parents, or from equal words.
EXACT_ONLY_METHODS = ("multiple_choice_to_true_false", "permuted_options")


@dataclass(frozen=True)
class Entry:
    """A question that wants into the bank.

    Attributes:
        question: what it asks, and who it is.
        document_id: the paper of its lineage; null where unknown.
        generator: what made a variant; null for an original, and for a question carried over from the previous bank.
        is_known: it is in the previous bank.
        is_new: it is not, or not in this revision: it has to be compared with everything.
        accept_count: accepts it got in review.
        decided_at: when it was accepted, as text that sorts.
    """

    question: Question = field(repr=False)
    document_id: str | None = None
    generator: str | None = None
    is_known: bool = False
    is_new: bool = True
    accept_count: int = 0
    decided_at: str = ""

    @cached_property
    def normal(self) -> NormalForm:
        """Its normal form, computed when something is first compared by it."""
        return normalise_content(self.question.content)

    @cached_property
    def content_key(self) -> str:
        """What it asks, as one id: see compute_content_key."""
        question = self.question
        if self.generator == TEMPLATE and question.revision == 1 and not question.content.options:
            return question.question_uuid  # computed from this very content when the variant was made
        return compute_content_key(self.normal)


@dataclass(frozen=True)
class Duplicate:
    """A question left out, the one that stays, how alike they are and why that one was preferred."""

    kept: Entry = field(repr=False)
    dropped: Entry = field(repr=False)
    method: str
    similarity: float
    reason: str


# In this order; the first that tells two questions apart is the reason. A lower value is preferred.
PREFERENCES: tuple[tuple[str, Callable[[Entry], Any]], ...] = (
    ("it is in the bank already", lambda entry: not entry.is_known),
    ("it is an original, not a variant", lambda entry: entry.question.method != ORIGINAL),
    ("more reviewers accepted it", lambda entry: -entry.accept_count),
    ("it has an explanation", lambda entry: not entry.question.content.explanation),
    (
        "more is known about it (discipline, sub-discipline, source)",
        lambda entry: _count_unknown(entry.question.content),
    ),
    ("it was accepted earlier", lambda entry: entry.decided_at),
    (
        "equal in all respects: the lower UUID stays",
        lambda entry: (entry.question.question_uuid, entry.question.lineage_uuid),
    ),
)


def find_duplicates(
    entries: Sequence[Entry],
    *,
    threshold: float,
    encode: Callable[[Sequence[str]], NDArray[np.float32]] | None = None,
    semantic_threshold: float = 0.95,
) -> tuple[list[Entry], list[Duplicate]]:
    """Split `entries` into those that stay, in order of preference, and the duplicates among them.

    Exact duplicates are looked for among all; nearly equal ones only where one of the two is new.
    """
    ordered = sorted(entries, key=lambda entry: tuple(value(entry) for _, value in PREFERENCES))
    neighbours = _find_neighbours(ordered, threshold, encode, semantic_threshold)
    kept: list[Entry] = []
    found: list[Duplicate] = []
    is_kept = [False] * len(ordered)
    dropped_lineages: set[str] = set()
    first_with_key: dict[str, Entry] = {}
    for place, entry in enumerate(ordered):
        lineage = entry.question.lineage_uuid
        if lineage in dropped_lineages:
            continue
        key = entry.content_key
        match = _find_match(entry, first_with_key.get(key), neighbours.get(place, []), ordered, is_kept)
        if match is not None:
            found.append(match)
            if entry.question.method == ORIGINAL:
                dropped_lineages.add(lineage)
            continue
        is_kept[place] = True
        kept.append(entry)
        first_with_key.setdefault(key, entry)
    return kept, found


def _find_match(
    entry: Entry,
    same_content: Entry | None,
    neighbours: Sequence[tuple[int, str, float]],
    ordered: Sequence[Entry],
    is_kept: Sequence[bool],
) -> Duplicate | None:
    lineage = entry.question.lineage_uuid
    if same_content is not None and same_content.question.lineage_uuid != lineage:
        reason = _give_reason(same_content, entry)
        if same_content.normal.answers != entry.normal.answers:
            reason += "; their answers differ, so look at both"
        return Duplicate(same_content, entry, "exact", 1.0, reason)
    alike = [(similarity, -place, method) for place, method, similarity in neighbours if is_kept[place]]
    if not alike:
        return None
    similarity, place, method = max(alike)
    other = ordered[-place]
    return Duplicate(other, entry, method, similarity, _give_reason(other, entry))


def _find_neighbours(
    ordered: Sequence[Entry],
    threshold: float,
    encode: Callable[[Sequence[str]], NDArray[np.float32]] | None,
    semantic_threshold: float,
) -> dict[int, list[tuple[int, str, float]]]:
    """Per place, the more preferred places that say nearly the same, with method and similarity."""
    places = [place for place, entry in enumerate(ordered) if entry.question.method not in EXACT_ONLY_METHODS]
    texts = [build_text(ordered[place].normal) for place in places]
    is_new = [ordered[place].is_new for place in places]
    neighbours: dict[int, list[tuple[int, str, float]]] = {}

    def add(first: int, second: int, method: str, similarity: float) -> None:
        neighbours.setdefault(places[second], []).append((places[first], method, similarity))

    def are_siblings(first: int, second: int) -> bool:
        one, other = ordered[places[first]].question, ordered[places[second]].question
        return one.lineage_uuid == other.lineage_uuid

    for first, second in list_candidate_pairs(texts, is_new):
        if are_siblings(first, second):
            continue
        similarity = compute_similarity(texts[first], texts[second], threshold)
        if similarity is not None:
            add(first, second, "near", similarity)
    if encode is not None and texts:
        from tasks.dedupe.semantic import list_similar_pairs

        vectors = encode([text.stem for text in texts])
        for first, second, cosine in list_similar_pairs(vectors, semantic_threshold, is_new):
            if not are_siblings(first, second) and asks_the_same(texts[first], texts[second], threshold):
                add(first, second, "semantic", cosine)
    return neighbours


def _give_reason(kept: Entry, dropped: Entry) -> str:
    for reason, value in PREFERENCES:
        if value(kept) != value(dropped):
            return reason
    return PREFERENCES[-1][0]


def _count_unknown(content: QuestionContent) -> int:
    return sum(not known for known in (content.discipline, content.sub_discipline, content.source_kind))
