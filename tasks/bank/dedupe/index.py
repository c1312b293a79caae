"""The bank's index, once per question as it enters: exact key, normal form, MinHash bands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from schemas.lazy import np
from schemas.tables import get_table
from tasks.bank.dedupe.exact import normalise_contents
from tasks.bank.dedupe.near import Text, describe_alike
from tasks.bank.dedupe.signatures import BANDS, ROWS, Sketches, compute_sketches

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Changes with everything that a key, a normal form or a band follows from: the index is then computed anew.
ALGORITHM = "nfkc-simplified/3-grams/minhash-16x5/2"
# These differ from their siblings, and from their parent's near-duplicates, by an option or an order only: whether
# they are duplicates follows from their parents, or from equal words.
EXACT_ONLY_METHODS = ("multiple_choice_to_true_false", "permuted_options")
_ROWS_AT_ONCE = 20_000
# What a signature follows from.
_READ = ("method", "question_type", "stem", "material", "options", "answer", "pictures")


@dataclass(frozen=True)
class Signatures:
    """What the index holds of some questions, row by row.

    Attributes:
        forms: columns question_type, content_key, normal_text, normal_options, normal_answers; the normal text and options
            are null where a question is compared by its key alone.
        sketches: a row for each question that is compared by more than its key, in order.
        near_places: the places of these questions in `forms`.
    """

    forms: pl.DataFrame = field(repr=False)
    sketches: Sketches = field(repr=False)
    near_places: NDArray[np.int64] = field(repr=False)

    def take(self, places: Sequence[int]) -> Signatures:
        """Those at the given places, in that order."""
        row_of = np.full(self.forms.height, -1, dtype=np.int64)
        row_of[self.near_places] = np.arange(len(self.near_places))
        rows = row_of[np.asarray(places, dtype=np.int64)]
        some = rows[rows >= 0]
        taken = Sketches(self.sketches.bands[some], self.sketches.bytes[some])
        return Signatures(self.forms[list(places)], taken, np.flatnonzero(rows >= 0))


def compute_signatures(contents: pl.DataFrame, order: pl.Series | None = None) -> Signatures:
    """Keys, normal forms and sketches of rows with a method, in `order` where one is given."""
    if order is not None:
        # A look-up in many chunks would put them together each time.
        contents = contents.select(_READ).rechunk()

    near_count = contents.height - int(contents["method"].is_in(EXACT_ONLY_METHODS).sum())
    bands, bytes_ = np.empty((near_count, BANDS), np.uint32), np.empty((near_count, BANDS * ROWS), np.uint8)
    near_places = np.empty(near_count, np.int64)
    forms: list[pl.DataFrame] = []
    filled = 0
    starts = range(0, max(1, contents.height), _ROWS_AT_ONCE)
    for start in starts:
        some = _compute_some(_take(contents, order, slice(start, start + _ROWS_AT_ONCE)))
        # Put where they stay at once: a list of them would be held beside what is made of it.
        place = slice(filled, filled + len(some.near_places))
        bands[place], bytes_[place] = some.sketches.bands, some.sketches.bytes
        near_places[place] = some.near_places + start
        filled = place.stop
        forms.append(some.forms)
    return Signatures(pl.concat(forms), Sketches(bands, bytes_), near_places)


def _take(contents: pl.DataFrame, order: pl.Series | None, rows: slice) -> pl.DataFrame:
    """The part of some rows that signatures are computed from."""
    return contents[rows].select(_READ) if order is None else contents[order[rows]]


def _compute_some(contents: pl.DataFrame) -> Signatures:
    found = normalise_contents(contents)
    forms = pl.DataFrame(
        {
            "question_type": contents["question_type"],
            "content_key": found.content_keys,
            "normal_text": found.texts,
            "normal_options": found.options,
            "normal_answers": found.answers,
        }
    )
    is_near = contents["method"].is_in(EXACT_ONLY_METHODS).not_()
    places = np.flatnonzero(is_near.to_numpy())
    compared = forms if len(places) == forms.height else forms[places]
    sketches = compute_sketches(compared["normal_text"], compared["normal_options"], describe_alike(compared))
    if len(places) < forms.height:
        forms = forms.with_columns(
            pl.when(is_near).then(pl.col(name)).alias(name) for name in ("normal_text", "normal_options")
        )
    return Signatures(forms, sketches, places)


def frame_signatures(entries: pl.DataFrame, signatures: Signatures) -> pl.DataFrame:
    """Rows of `question_signatures` for entries with their place in the bank, in their order."""
    packed = pl.DataFrame(
        {"place": signatures.near_places, "bands": signatures.sketches.bands.astype("int64")},
        schema={"place": pl.Int64, "bands": pl.Array(pl.Int64, BANDS)},
    ).with_columns(pl.col("bands").arr.to_list())
    names = [column.name for column in get_table("question_signatures").own_columns]
    return (
        pl.concat(
            [entries.select("question_uuid", "lineage_uuid", "revision", "from_version"), signatures.forms],
            how="horizontal",
        )
        .with_columns(
            pl.int_range(pl.len(), dtype=pl.Int64).alias("place"), pl.lit(ALGORITHM).alias("algorithm")
        )
        .join(packed, on="place", how="left", maintain_order="left")
        .select(names)
    )


def read_texts(forms: pl.DataFrame) -> Iterator[Text]:
    """The normal forms of rows of the index, for comparison."""
    for kind, text, options, answers in forms.select(
        "question_type", "normal_text", "normal_options", "normal_answers"
    ).iter_rows():
        yield Text(kind, text or "", tuple(options or ()), tuple(answers or ()))
