"""A bank version as a draw sees it: lineages by discipline, their public names and slots."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from schemas.errors import ContractError, GateError
from tasks.exam.plan.bank.packed import Codes, Hashes, Lists, UuidPlaces, Uuids, pack_uuids
from tasks.exam.public.bank import BankRows, FrameRows, lineage_name, passage_name

T = TypeVar("T")

# Statements that are made from the options of a choice: their keys say which option was taken.
_MADE_FROM_CHOICES: Final = ("multiple_choice_to_true_false", "declarative_rewrite")
_NO_PASSAGE: Final = "00" * 16
_TRUTHS: Final = (None, "true", "false")


@dataclass(frozen=True)
class BankIndex:
    """A bank version as the draw sees it.

    A lineage is known by its position. The disciplines follow each other.

    Attributes:
        lineage_uuids: lineage by position; sorted within a discipline.
        positions: lineage → its position.
        spans: discipline → first position and the one after the last.
        question_uuids: all questions, those of a lineage beside each other.
        questions: by position, the lineage's questions, sorted.
        truths: by position and question, `true` or `false` for a statement made from a choice, else null.
        revisions: by position and question, its revision.
        names: by position, the 32 bytes that stand for the lineage in what is published.
        passages: by position, the passage that it asks about, as others do or once did, from 0; -1 for none.
        passage_names: by passage, the 32 bytes that stand for it in what is published.
        former: lineage that is not here, but was in this or an earlier version of the bank → the passage of those here.
        secret: what names and salts are made with.
    """

    bank_version: int
    lineage_uuids: Uuids
    positions: UuidPlaces
    spans: Mapping[str, tuple[int, int]]
    question_uuids: Uuids
    questions: Lists[str]
    truths: Lists[str | None]
    revisions: Lists[int]
    names: Hashes = field(repr=False)
    passages: NDArray[np.int32] = field(repr=False)
    passage_names: Hashes = field(repr=False)
    former: Mapping[str, int] = field(repr=False)
    secret: bytes = field(repr=False)

    def count(self, discipline: str) -> int:
        """The lineages of a discipline."""
        first, end = self.spans[discipline]
        return end - first

    def count_unmet(self, met: NDArray[np.bool_]) -> dict[str, int]:
        """Discipline → lineages that are not in the mask."""
        return {
            discipline: int(end - first - np.count_nonzero(met[first:end]))
            for discipline, (first, end) in self.spans.items()
        }

    def name_lineages(self, lineages: Collection[str]) -> dict[str, bytes]:
        """What stands for each of some lineages, all of this bank version, in what is published."""
        found = self.positions.find_all(lineages).tolist()
        return {lineage: self.names[position] for lineage, position in zip(lineages, found, strict=True)}

    def add_siblings(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mask with every lineage beside that asks about the passage of one that is in it."""
        is_met = np.zeros(len(self.passage_names), dtype=np.bool_)
        held = self.passages[mask]
        is_met[held[held >= 0]] = True
        if not is_met.any():
            return mask
        return mask | ((self.passages >= 0) & is_met[self.passages])

    def count_texts(self, span: slice, mask: NDArray[np.bool_]) -> int:
        """How many lineages of a span are in its mask, those that ask about one passage once."""
        held = self.passages[span][mask]
        return int(np.count_nonzero(held < 0)) + len(np.unique(held[held >= 0]))

    def count_repeated(self, positions: Sequence[int]) -> int:
        """How many of some lineages ask about a passage that another of them has."""
        held = [passage for passage in self.passages[list(positions)].tolist() if passage >= 0]
        return len(held) - len(set(held))

    def name_shared(self, position: int) -> list[bytes]:
        """What a bank's file says of the passage of a lineage, 32 bytes each; empty without one.

        It is the name of the passage and, beside the first lineage of each, those of the lineages that are not here.
        """
        passage = int(self.passages[position])
        if passage < 0:
            return []
        return [self.passage_names[passage], *self._former_names.get(position, ())]

    @cached_property
    def _former_names(self) -> dict[int, list[bytes]]:
        """First lineage of a passage → the names of those that are not here, in order."""
        first = dict(
            zip(*(part.tolist() for part in np.unique(self.passages, return_index=True)), strict=True)
        )
        names: dict[int, list[bytes]] = {}
        for lineage, passage in self.former.items():
            names.setdefault(first[passage], []).append(lineage_name(self.secret, lineage))
        return {position: sorted(held) for position, held in names.items()}

    def list_slots(self, position: int) -> list[str]:
        """The question that each slot of a lineage holds; see `weigh_questions`."""
        return self._fill_slots(position, self.questions[position])

    def list_slot_places(self, position: int) -> list[int]:
        """The same as places in the column of all questions."""
        first, end = (int(place) for place in self.questions.offsets[position : position + 2])
        return self._fill_slots(position, range(first, end))

    def _fill_slots(self, position: int, held: Iterable[T]) -> list[T]:
        weights = weigh_questions(self.truths[position])
        return [one for one, weight in zip(held, weights, strict=True) for _ in range(weight)]

    def make_mask(self) -> NDArray[np.bool_]:
        """A mask over positions with nothing in it."""
        return np.zeros(len(self.lineage_uuids), dtype=np.bool_)

    def locate(self, lineages: Iterable[str]) -> NDArray[np.int64]:
        """The positions of those lineages that this bank version has in its disciplines."""
        found = self.positions.find_all(lineages)
        return found[found >= 0]

    def locate_read(self, lineages: Iterable[str]) -> NDArray[np.int64]:
        """The positions of those that ask about a passage of some lineages that are not here."""
        read = {self.former[lineage] for lineage in lineages if lineage in self.former}
        return np.flatnonzero(np.isin(self.passages, list(read))) if read else np.empty(0, np.int64)


def weigh_questions(truths: Sequence[str | None]) -> list[int]:
    """How many slots each question of a lineage has, by its truth.

    One slot is drawn, each with the same probability. Statements made from a choice are mostly false, because most options
    are wrong: true and false ones have equal weight together, and the weight of all statements is their share of the
    questions. A lineage whose statements all have one truth is asked in another form, where it has one.
    """
    others, true, false = (truths.count(truth) for truth in (None, "true", "false"))
    if not true or not false:
        return [0 if others and truth is not None else 1 for truth in truths]
    of_truth = {None: 2 * true * false, "true": (true + false) * false, "false": (true + false) * true}
    # Without other forms their weight has no part in it.
    divisor = math.gcd(*(weight for truth, weight in of_truth.items() if truth in truths))
    return [of_truth[truth] // divisor for truth in truths]


def index_bank(
    bank: pl.DataFrame | BankRows, disciplines: Sequence[str], secret: bytes, *, picture_share: float = 1.0
) -> BankIndex:
    """Index the rows of one bank version (columns of `warehouse/sql/reads/bank_index.sql`).

    A lineage belongs to the discipline of its first question by UUID. Of the lineages of a discipline at most `picture_share` have
    pictures, those whose public names come first: what is drawn evenly from the index has that share. Raises GateError for an empty bank and
    ContractError for several versions at once.
    """
    rows = FrameRows(bank) if isinstance(bank, pl.DataFrame) else bank
    read = _Reading()
    rows.feed_index(read.take)
    rows.feed_former(read.take_former)
    return read.index(disciplines, secret, picture_share)


class _Reading:
    """The rows of a bank as they come, a column each, and the index of all of them."""

    def __init__(self) -> None:
        self._versions: set[int] = set()
        self._lineages, self._questions = bytearray(), bytearray()
        self._revisions, self._disciplines, self._truths = array("i"), array("h"), array("b")
        self._passages = bytearray()
        self._former_lineages, self._former_passages = bytearray(), bytearray()
        self._pictures = bytearray()
        self._known: dict[str, int] = {}

    def take(self, rows: Sequence[Sequence[Any]]) -> None:
        """Rows of the query, in its order of columns."""
        versions, questions, revisions, lineages, disciplines, methods, answers, passages, pictures = zip(
            *rows, strict=True
        )
        self._pictures += bytes(map(bool, pictures))
        self._versions.update(versions)
        self._questions += pack_uuids(questions)
        self._lineages += pack_uuids(lineages)
        self._revisions.extend(revisions)
        known = self._known
        self._disciplines.extend(
            -1 if name is None else known.setdefault(name, len(known)) for name in disciplines
        )
        self._truths.extend(map(_find_truth, methods, answers))
        self._passages += bytes.fromhex("".join(passage or _NO_PASSAGE for passage in passages))

    def take_former(self, rows: Sequence[Sequence[Any]]) -> None:
        """Lineages with texts that they asked about in an earlier version."""
        lineages, passages = zip(*rows, strict=True)
        self._former_lineages += pack_uuids(lineages)
        self._former_passages += bytes.fromhex("".join(passages))

    def index(self, disciplines: Sequence[str], secret: bytes, picture_share: float = 1.0) -> BankIndex:
        """The index; what was read is given up."""
        if not self._versions:
            raise GateError(
                "The bank version has no questions. Publish a bank version first (`proctor dedupe`)."
            )
        if len(self._versions) != 1:
            raise ContractError(
                f"A run draws from one bank version; the rows are of {sorted(self._versions)}."
            )
        taken, starts, spans = self._sort(disciplines)
        if len(starts) and any(self._pictures) and picture_share < 1:
            taken, starts, spans = self._limit_pictures(taken, starts, spans, secret, picture_share)
        held = np.frombuffer(self._lineages, dtype="S16")
        uuids = Uuids(held[taken[starts]].tobytes())
        questions = Uuids(np.frombuffer(self._questions, dtype="S16")[taken].tobytes())
        offsets = np.append(starts, len(taken)).astype(np.int32)
        names = bytearray()
        for lineage in uuids:
            names += lineage_name(secret, lineage)
        passages, keys, former = self._share_passages(uuids.array)
        return BankIndex(
            bank_version=int(self._versions.pop()),
            lineage_uuids=uuids,
            positions=UuidPlaces(uuids),
            spans=spans,
            question_uuids=questions,
            questions=Lists(offsets, questions),
            truths=Lists(offsets, Codes(_TRUTHS, np.frombuffer(self._truths, dtype=np.int8)[taken])),
            revisions=Lists(
                offsets, array("i", np.frombuffer(self._revisions, dtype=np.int32)[taken].tobytes())
            ),
            names=Hashes(bytes(names)),
            passages=passages,
            passage_names=Hashes(b"".join(passage_name(secret, key) for key in keys)),
            former=former,
            secret=secret,
        )

    def _limit_pictures(
        self,
        taken: NDArray[np.int64],
        starts: NDArray[np.int64],
        spans: Mapping[str, tuple[int, int]],
        secret: bytes,
        share: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, tuple[int, int]]]:
        """What `_sort` gives, without the lineages with pictures beyond their share."""
        has = np.maximum.reduceat(np.frombuffer(self._pictures, dtype=np.uint8)[taken], starts)
        uuids = Uuids(np.frombuffer(self._lineages, dtype="S16")[taken[starts]].tobytes())
        is_kept = np.ones(len(starts), dtype=np.bool_)
        kept_spans: dict[str, tuple[int, int]] = {}
        end = 0
        for name, (first, last) in spans.items():
            shown = np.flatnonzero(has[first:last]) + first
            most = int(share / (1 - share) * (last - first - len(shown)) + 1e-9)
            by_name = sorted(shown.tolist(), key=lambda place: lineage_name(secret, uuids[place]))
            is_kept[by_name[most:]] = False
            begin, end = end, end + int(np.count_nonzero(is_kept[first:last]))
            kept_spans[name] = (begin, end)
        sizes = np.diff(np.append(starts, len(taken)))
        taken = taken[np.repeat(is_kept, sizes)]
        starts = np.append(0, np.cumsum(sizes[is_kept]))[:-1]
        return taken, starts, kept_spans

    def _share_passages(
        self, held: NDArray[np.bytes_]
    ) -> tuple[NDArray[np.int32], list[bytes], dict[str, int]]:
        """The passage of each lineage, -1 for none; each passage's 16 bytes; and `former`."""
        texts = np.frombuffer(self._passages + self._former_passages, dtype="S16")
        is_text = texts != b""
        named = np.frombuffer(self._lineages + self._former_lineages, dtype="S16")[is_text]
        lineages, owner = np.unique(named, return_inverse=True)
        keys, text = np.unique(texts[is_text], return_inverse=True)
        # Texts that one lineage asked about, as before and after an edit, are one passage: the first of them stands for it.
        joined = np.arange(len(keys))
        while True:
            of = np.full(len(lineages), len(keys))
            np.minimum.at(of, owner, joined[text])
            before, joined = joined, joined.copy()
            np.minimum.at(joined, text, of[owner])
            if np.array_equal(before, joined):
                break
        is_here = np.isin(lineages, held)
        shared = np.bincount(of, minlength=len(keys)) >= 2
        shared &= np.bincount(of[is_here], minlength=len(keys)) >= 1
        number = np.where(shared, np.cumsum(shared) - 1, -1)[of].astype(np.int32)
        passages = np.full(len(held), -1, dtype=np.int32)
        order = np.argsort(held)
        passages[order[np.searchsorted(held, lineages[is_here], sorter=order)]] = number[is_here]
        gone = ~is_here & (number >= 0)
        former = dict(zip(Uuids(lineages[gone].tobytes()), number[gone].tolist(), strict=True))
        return passages, [key.ljust(16, b"\0") for key in keys[shared].tolist()], former

    def _sort(
        self, disciplines: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, tuple[int, int]]]:
        """The rows drawn from, by discipline, lineage and question; lineages' starts; spans."""
        lineages = np.frombuffer(self._lineages, dtype="S16")
        questions = np.frombuffer(self._questions, dtype="S16")
        _, lineage = np.unique(lineages, return_inverse=True)
        _, question = np.unique(questions, return_inverse=True)
        rows = np.lexsort((question, lineage))
        # The first of several lineages that hold it, whatever the order of the rows: a draw must be repeatable.
        _, first = np.unique(question[rows], return_index=True)
        rows = rows[np.sort(first)]
        of, codes = lineage[rows], np.frombuffer(self._disciplines, dtype=np.int16)[rows]
        # A lineage belongs to the first of its questions that says to which.
        named = np.flatnonzero(codes >= 0)
        owner, at = np.unique(of[named], return_index=True)
        places = np.full(int(lineage.max()) + 1, -1, dtype=np.int64)
        order = {name: place for place, name in enumerate(disciplines)}
        by_code = np.array([order.get(name, -1) for name in self._known], dtype=np.int64)
        if len(owner):
            places[owner] = by_code[codes[named[at]]]
        kept = np.flatnonzero(places[of] >= 0)
        kept = kept[np.argsort(places[of[kept]], kind="stable")]
        rows, of = rows[kept], of[kept]
        starts = np.flatnonzero(np.append(True, of[1:] != of[:-1])) if len(of) else np.empty(0, np.int64)
        counts = np.bincount(places[of[starts]], minlength=len(disciplines))
        ends = np.cumsum(counts)
        spans = {
            name: (int(ends[place] - counts[place]), int(ends[place]))
            for place, name in enumerate(disciplines)
        }
        return rows, starts, spans


def _find_truth(method: str, answer: Sequence[str] | None) -> int:
    """The place in `_TRUTHS` of a question's truth; only a statement made from a choice has one."""
    if method not in _MADE_FROM_CHOICES or not answer or answer[0] not in ("true", "false"):
        return 0
    return 1 if answer[0] == "true" else 2
