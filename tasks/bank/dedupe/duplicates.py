"""Which questions say the same, which of them stays, and why. Pure.

Questions are taken in order of preference and kept unless one that was kept before says the same: every dropped
question names one that it was compared with directly, and no chain of small differences joins strangers. A question that
is in the bank stays there. When an original is dropped its whole lineage goes with it; a dropped variant goes alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from schemas.lazy import np
from tasks.questions import ORIGINAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

IN_THE_BANK = "it is in the bank already"
STATEMENT = "; the two questions they were made from become the same statement"
CONTRADICTION = "; their answers differ, so look at both"

# Statements that are made from a question: two of them may come to the same.
STATEMENT_METHODS = ("multiple_choice_to_true_false", "declarative_rewrite", "material_to_true_false")

# In this order; the first that tells two questions apart is the reason. Sorted upwards: the lower value is preferred.
_UNKNOWN = pl.sum_horizontal(
    pl.col(name).is_null() | (pl.col(name) == "") for name in ("discipline", "sub_discipline", "source_kind")
)
PREFERENCES: tuple[tuple[str, pl.Expr], ...] = (
    (IN_THE_BANK, pl.col("is_known").not_()),
    ("it is an original, not a variant", pl.col("method") != ORIGINAL),
    ("more reviewers accepted it", -pl.col("accept_count").fill_null(0)),
    ("it has the longer explanation", -pl.col("explanation").str.len_chars().fill_null(0).cast(pl.Int64)),
    ("more is known about it (discipline, sub-discipline, source)", _UNKNOWN),
    ("it was accepted earlier", pl.col("decided_at").is_not_null()),
    ("it was accepted earlier", pl.col("decided_at")),
    ("equal in all respects: the lower UUID stays", pl.col("question_uuid")),
    ("equal in all respects: the lower UUID stays", pl.col("lineage_uuid")),
)
_PREFERENCE_NAMES = [
    value.meta.output_name() if value.meta.is_column() else f"preference_{place}"
    for place, (_, value) in enumerate(PREFERENCES)
]
# Matches whose reasons are looked for at once.
_MATCHES_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Member:
    """A question that stays whatever arrives: identity, origin, and answers in normal form."""

    question_uuid: str
    lineage_uuid: str
    document_id: str | None
    answers: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A question left out (by its place), the one that stays and why, and how alike they are."""

    place: int
    kept: Member
    method: str
    similarity: float
    reason: str


@dataclass(frozen=True)
class DedupeOutcome:
    """What becomes of arrivals, by place: the kept, the duplicates, lineages that go as a whole."""

    kept: NDArray[np.int64]
    found: Sequence[Duplicate]
    dropped_lineages: frozenset[str]


@dataclass(frozen=True)
class Likeness:
    """What is known of arrivals before it is decided which of them stay.

    It is given by place, in order of preference.

    Attributes:
        content_keys: what each asks, where another arrival or a question of the bank asks the same; else null.
        answers: what each answers in normal form, a list for each.
        copies: per place, the first place that asks and answers the same.
        near: such a first place → others that say nearly the same, with the similarity; both ways.
        member_of_key: questions that stay in the bank, by content key.
        member_of_uuid: the same by UUID, where an arrival has the UUID of a question of the bank.
        near_members: such a first place → questions of the bank that say nearly the same, with the similarity.
        former_of_key, near_former: the same of questions that have left the bank, or leave it now.
    """

    content_keys: pl.Series
    answers: pl.Series
    copies: NDArray[np.int64]
    near: Mapping[int, Sequence[tuple[int, float]]]
    member_of_key: Mapping[str, Member]
    member_of_uuid: Mapping[str, Member]
    near_members: Mapping[int, Sequence[tuple[Member, float]]]
    former_of_key: Mapping[str, Member]
    near_former: Mapping[int, Sequence[tuple[Member, float]]]


class _Match(NamedTuple):
    """A duplicate before its reason is known; `kept_place` null where one of the bank stays."""

    place: int
    kept_place: int | None
    kept: Member
    method: str
    similarity: float


def rank_by_preference(entries: pl.DataFrame) -> pl.DataFrame:
    """Entries (with a column `is_known`) without what they ask, the preferred ones first.

    Columns: place (that of the row in `entries`), document_id, method, and what is preferred, question_uuid and lineage_uuid at last.
    What they ask is long and stays where it is.
    """
    return (
        entries.select(
            pl.int_range(pl.len(), dtype=pl.UInt32).alias("place"),
            "document_id",
            "method",
            *(value.alias(name) for name, (_, value) in zip(_PREFERENCE_NAMES, PREFERENCES, strict=True)),
        )
    ).sort(_PREFERENCE_NAMES, maintain_order=True)


def decide(ranked: pl.DataFrame, likeness: Likeness) -> DedupeOutcome:
    """Which of the entries (`rank_by_preference`) stay; places are those in order of preference."""
    is_one_of_several = ranked["question_uuid"].is_duplicated() | ranked["question_uuid"].is_in(
        pl.Series(list(likeness.member_of_uuid), dtype=pl.String).implode()
    )
    near = np.isin(likeness.copies, np.array([*likeness.near, *likeness.near_members], dtype=np.int64))
    # All others stay without a look at each, unless their original goes.
    compared = np.flatnonzero(near | (is_one_of_several | likeness.content_keys.is_not_null()).to_numpy())
    some = ranked[compared]
    places = compared.tolist()
    uuids = dict(zip(places, some["question_uuid"].to_list(), strict=True))
    lineages = dict(zip(places, some["lineage_uuid"].to_list(), strict=True))
    documents = dict(zip(places, some["document_id"].to_list(), strict=True))
    matches: list[_Match] = []
    dropped: set[str] = set()
    # The first that was kept, by what several share: a content key, a UUID, or being near to another.
    first_of: dict[str | int, int] = {}

    def describe(place: int) -> Member:
        return Member(uuids[place], lineages[place], documents[place])

    def find_equal(place: int, name: str, members: Mapping[str, Member]) -> _Match | None:
        lineage = lineages[place]
        if (member := members.get(name)) is not None and member.lineage_uuid != lineage:
            return _Match(place, None, member, "exact", 1.0)
        if (first := first_of.get(name)) is not None and lineages[first] != lineage:
            return _Match(place, first, describe(first), "exact", 1.0)
        return None

    def find_near(place: int, copy: int) -> _Match | None:
        alike = [
            _Match(place, None, member, "near", similarity)
            for member, similarity in likeness.near_members.get(copy, ())
        ]
        alike += [
            _Match(place, first_of[other], describe(first_of[other]), "near", similarity)
            for other, similarity in likeness.near.get(copy, ())
            if other in first_of
        ]
        alike = [found for found in alike if found.kept.lineage_uuid != lineages[place]]
        return min(alike, key=_rank_match, default=None)

    for place, method, key, is_several, copy, is_near in zip(
        places,
        some["method"].to_list(),
        likeness.content_keys.gather(compared).to_list(),
        is_one_of_several.gather(compared).to_list(),
        likeness.copies[compared].tolist(),
        near[compared].tolist(),
        strict=True,
    ):
        if lineages[place] in dropped:
            continue
        uuid = uuids[place] if is_several else None
        match = find_equal(place, key, likeness.member_of_key) if key is not None else None
        if match is None and uuid is not None:
            match = find_equal(place, uuid, likeness.member_of_uuid)
        if match is None and is_near:
            match = find_near(place, copy)
        if match is not None:
            matches.append(match)
            if method == ORIGINAL:
                dropped.add(lineages[place])
            continue
        if key is not None:
            first_of.setdefault(key, place)
        if uuid is not None:
            first_of.setdefault(uuid, place)
        if is_near:
            first_of.setdefault(copy, place)
    is_kept = ranked["lineage_uuid"].is_in(pl.Series(sorted(dropped), dtype=pl.String).implode()).not_()
    kept = is_kept.to_numpy().copy()
    kept[[match.place for match in matches]] = False
    found = [
        duplicate
        for start in range(0, len(matches), _MATCHES_AT_ONCE)
        for duplicate in _give_reasons(ranked, matches[start : start + _MATCHES_AT_ONCE], likeness.answers)
    ]
    return DedupeOutcome(np.flatnonzero(kept), found, frozenset(dropped))


def _rank_match(match: _Match) -> tuple[float, int, str]:
    """The most similar first; of equals a question of the bank, then the preferred arrival."""
    place = -1 if match.kept_place is None else match.kept_place
    return -match.similarity, place, match.kept.question_uuid


def _give_reasons(ranked: pl.DataFrame, matches: Sequence[_Match], answers: pl.Series) -> list[Duplicate]:
    staying = [match.kept_place or 0 for match in matches]
    going = [match.place for match in matches]
    rows = zip(
        matches,
        ranked["method"].gather(going).to_list(),
        ranked[staying].select(_PREFERENCE_NAMES).rows(),
        ranked[going].select(_PREFERENCE_NAMES).rows(),
        answers.gather(staying).to_list(),
        answers.gather(going).to_list(),
        strict=True,
    )
    found = []
    for match, way, left, right, kept_words, words in rows:
        told = (
            reason for one, other, (reason, _) in zip(left, right, PREFERENCES, strict=True) if one != other
        )
        reason = IN_THE_BANK if match.kept_place is None else next(told, PREFERENCES[-1][0])
        if match.method == "exact" and way in STATEMENT_METHODS:
            reason += STATEMENT
        said = match.kept.answers if match.kept_place is None else tuple(kept_words)
        if match.method == "exact" and said != tuple(words):
            reason += CONTRADICTION
        found.append(Duplicate(match.place, match.kept, match.method, match.similarity, reason))
    return found
