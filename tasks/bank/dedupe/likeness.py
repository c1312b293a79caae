"""What arrivals have in common with each other and with the questions of the bank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import polars as pl

from schemas.lazy import np
from tasks.bank.dedupe.duplicates import Likeness, Member
from tasks.bank.dedupe.index import Signatures
from tasks.bank.dedupe.near import list_candidate_pairs, list_pairs_with_known
from tasks.bank.dedupe.signatures import BANDS, estimate_jaccards
from tasks.bank.dedupe.verify import verify_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Four and a half standard errors: of a hundred thousand true pairs less than one is lost by its estimate.
_ESTIMATE_MARGIN = 0.2
_SAME = ("question_uuid", "lineage_uuid")
_KEY = (*_SAME, "from_version")


class KnownBank(Protocol):
    """The bank as arrivals meet it: what is in it, and what its index says.

    Attributes:
        version: the latest version; 0 before the first.
    """

    version: int

    @property
    def members(self) -> pl.DataFrame:
        """Its questions: question_uuid, lineage_uuid, revision, document_id, from_version."""

    def find_keys(self, content_keys: Sequence[str]) -> pl.DataFrame:
        """Entries with one of these keys.

        Columns: question_uuid, lineage_uuid, from_version, content_key, normal_answers.
        """

    def read_bands(self) -> tuple[pl.DataFrame, NDArray[np.uint32]]:
        """Entries that are compared by more than their key, and their bands.

        Columns of the entries: question_uuid, lineage_uuid, from_version.
        """

    def find_forms(self, question_uuids: Sequence[str]) -> pl.DataFrame:
        """Normal forms of these questions, beside question_uuid, lineage_uuid and from_version."""

    def find_looks(self, sha256s: Sequence[str]) -> Mapping[str, str]:
        """Pictures of its own and these, in order of preference → the first that looks the same."""


_MEMBER: dict[str, pl.DataType] = {
    "question_uuid": pl.String(),
    "lineage_uuid": pl.String(),
    "from_version": pl.Int64(),
}
_ANSWERS: dict[str, pl.DataType] = {"normal_answers": pl.List(pl.String())}
_FORMS: dict[str, pl.DataType] = {
    "question_type": pl.String(),
    "content_key": pl.String(),
    "normal_text": pl.String(),
    "normal_options": pl.List(pl.String()),
    **_ANSWERS,
}


class _NothingKnown:
    """No bank yet, and no index: nothing is found in it."""

    version = 0
    members = pl.DataFrame(schema={**_MEMBER, "revision": pl.Int64(), "document_id": pl.String()})

    def find_keys(self, content_keys: Sequence[str]) -> pl.DataFrame:
        """No entry has any of these keys."""
        return pl.DataFrame(schema={**_MEMBER, "content_key": pl.String(), **_ANSWERS})

    def read_bands(self) -> tuple[pl.DataFrame, NDArray[np.uint32]]:
        """No entry, no band."""
        return pl.DataFrame(schema=_MEMBER), np.empty((0, BANDS), dtype=np.uint32)

    def find_forms(self, question_uuids: Sequence[str]) -> pl.DataFrame:
        """No entry is one of these questions."""
        return pl.DataFrame(schema={**_MEMBER, **_FORMS})

    def find_looks(self, sha256s: Sequence[str]) -> Mapping[str, str]:
        """Each picture by itself: there is nothing to look like."""
        return {sha256: sha256 for sha256 in sha256s}


NOTHING_KNOWN = _NothingKnown()


def find_likeness(
    arrivals: pl.DataFrame, signatures: Signatures, known: KnownBank, staying: pl.DataFrame, threshold: float
) -> Likeness:
    """Compare arrivals with each other, and with members of the bank that stay or left.

    The arrivals are in order of preference. The cost follows from the arrivals and from what they resemble:
    the bank is looked up in its index, which keeps what has left.
    """
    forms = signatures.forms
    copies = _find_copies(forms)
    near: dict[int, list[tuple[int, float]]] = {}
    for left, right, similarity in list_near_pairs(signatures, copies, threshold):
        near.setdefault(left, []).append((right, similarity))
        near.setdefault(right, []).append((left, similarity))
    member_of_key: dict[str, Member] = {}
    former_of_key: dict[str, Member] = {}
    near_members: dict[int, list[tuple[Member, float]]] = {}
    near_former: dict[int, list[tuple[Member, float]]] = {}
    if known.version and not forms.is_empty():
        for key, member, stays in _list_members(forms["content_key"], known, staying):
            (member_of_key if stays else former_of_key)[key] = member
        for place, member, stays, similarity in _list_near_members(signatures, known, staying, threshold):
            (near_members if stays else near_former).setdefault(place, []).append((member, similarity))
    same_uuid = arrivals.select("question_uuid").join(
        staying.select("question_uuid", "lineage_uuid", "document_id"), on="question_uuid"
    )
    is_shared = pl.col("content_key").is_duplicated() | pl.col("content_key").is_in(
        pl.Series(list(member_of_key), dtype=pl.String).implode()
    )
    return Likeness(
        content_keys=forms.select(pl.when(is_shared).then("content_key")).to_series(),
        answers=forms["normal_answers"],
        copies=copies,
        near=near,
        member_of_key=member_of_key,
        member_of_uuid={row[0]: Member(*row) for row in same_uuid.iter_rows()},
        near_members=near_members,
        former_of_key=former_of_key,
        near_former=near_former,
    )


def _mark_staying(entries: pl.DataFrame, staying: pl.DataFrame) -> pl.DataFrame:
    """Entries of the bank with their document and `stays`; of those that left neither.

    What a question said before it was corrected stays with it: a copy with the same fault is none to put in its place.
    """
    held = staying.select(*_SAME, "document_id", stays=pl.lit(value=True))
    return entries.join(held, on=_SAME, how="left").with_columns(pl.col("stays").fill_null(value=False))


def _list_members(
    content_keys: pl.Series, known: KnownBank, staying: pl.DataFrame
) -> Iterator[tuple[str, Member, bool]]:
    """Content key, an entry of the bank that has it, and whether that stays."""
    found = _mark_staying(known.find_keys(content_keys.unique().to_list()), staying)
    rows = found.sort("content_key", *_KEY, descending=True).select(
        "content_key", "question_uuid", "lineage_uuid", "document_id", "normal_answers", "stays"
    )
    for key, question, lineage, document, words, stays in rows.iter_rows():
        yield key, Member(question, lineage, document, tuple(words or ())), stays


def list_near_pairs(
    signatures: Signatures, copies: Sequence[int] | NDArray[np.int64], threshold: float
) -> Iterator[tuple[int, int, float]]:
    """Pairs of places (lower first) nearly the same, with likeness; of equals the first only."""
    first = np.asarray(copies, dtype=np.int64)
    chosen = np.flatnonzero(first[signatures.near_places] == signatures.near_places)
    pairs = chosen[list_candidate_pairs(signatures.sketches.bands[chosen])]
    likely = estimate_jaccards(signatures.sketches.bytes, pairs) >= threshold - _ESTIMATE_MARGIN
    places = signatures.near_places[pairs[likely]]
    yield from verify_pairs(places, signatures.forms, signatures.forms, threshold)


def _list_near_members(
    signatures: Signatures, known: KnownBank, staying: pl.DataFrame, threshold: float
) -> Iterator[tuple[int, Member, bool, float]]:
    """Place, an entry of the bank that is near, whether that stays, and the similarity."""
    if not len(signatures.near_places):
        return
    ids, bands = known.read_bands()
    pairs = list_pairs_with_known(signatures.sketches.bands, bands)
    hits = np.unique(pairs[:, 1])
    if not len(hits):
        return
    found = _mark_staying(ids[hits].with_columns(pl.Series("hit", hits, dtype=pl.Int64)), staying)
    forms = found.join(known.find_forms(found["question_uuid"].to_list()), on=_KEY).sort("hit")
    place_of = np.full(len(ids), -1, dtype=np.int64)
    place_of[forms["hit"].to_numpy()] = np.arange(forms.height)
    both = np.stack([signatures.near_places[pairs[:, 0]], place_of[pairs[:, 1]]], axis=1)
    members = [
        (Member(question, lineage, document), stays)
        for question, lineage, document, stays in forms.select(
            "question_uuid", "lineage_uuid", "document_id", "stays"
        ).iter_rows()
    ]
    for left, right, similarity in verify_pairs(both[both[:, 1] >= 0], signatures.forms, forms, threshold):
        yield left, *members[right], similarity


def _find_copies(forms: pl.DataFrame) -> NDArray[np.int64]:
    """Per place, the first one that asks and answers the same."""
    copies = np.arange(forms.height)
    several = (
        forms.select("content_key", "normal_answers", pl.int_range(pl.len(), dtype=pl.Int64).alias("place"))
        .filter(pl.col("content_key").is_duplicated())
        .with_columns(pl.col("normal_answers").list.join("\x1f"))
        .with_columns(pl.col("place").min().over("content_key", "normal_answers").alias("first"))
    )
    copies[several["place"].to_numpy()] = several["first"].to_numpy()
    return copies
