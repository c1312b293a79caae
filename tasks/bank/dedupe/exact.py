"""What questions say once spelling is taken away, and the key that equal questions share.

Taken away are width, case, white space, punctuation that papers write in several ways (`tasks.questions.identity.normal_form`), the
difference between traditional and simplified characters, and the order of options: for keys alone, never for a text that is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING

import polars as pl

from schemas.lazy import np
from tasks.questions.identity import normalise_column
from tasks.questions.pictures import PICTURE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BETWEEN_PARTS = "\x1f"


@dataclass(frozen=True)
class NormalForms:
    """The normal forms of some questions, in columns without nulls.

    Attributes:
        texts: material and stem as one text.
        options: the offered texts, a sorted list for each question, without their labels.
        answers: the answer in words, a list: keys count by the text of their option. It is sorted, but for blanks.
        content_keys: what is asked, not what is answered: equal where type, stem, material and options are.
    """

    texts: pl.Series
    options: pl.Series
    answers: pl.Series
    content_keys: pl.Series


def normalise_contents(contents: pl.DataFrame) -> NormalForms:
    """The normal forms of rows of questions.

    The rows have the columns `question_type`, `stem`, `material`, `options`, `answer` and, where there are any, `pictures`: a
    picture counts as a word that only its bytes have.
    """
    contents = _show_pictures(contents)
    stems, materials = contents["stem"].fill_null(""), contents["material"].fill_null("")
    texts, shorts = _normalise(stems), materials
    if len(places := np.flatnonzero((materials != "").to_numpy())):
        wholes = (materials.gather(places) + "\n").rename("whole") + stems.gather(places)
        texts = texts.scatter(places, _normalise(wholes))
        shorts = materials.scatter(places, _normalise(materials.gather(places)))
        stems = _normalise(stems)
    else:
        stems = texts
    counts = _measure(contents["options"])
    offered = _normalise(_flatten(contents["options"], "text"))
    options = _sort_within(offered, counts)
    parts = pl.DataFrame(
        {"kind": contents["question_type"], "stem": stems, "material": shorts, "options": options}
    ).select(
        pl.concat_str("kind", "stem", "material", separator=_BETWEEN_PARTS)
        + pl.when(pl.col("options").list.len() > 0)
        .then(pl.lit(_BETWEEN_PARTS) + pl.col("options").list.join(_BETWEEN_PARTS))
        .otherwise(pl.lit(""))
    )
    return NormalForms(
        texts=texts,
        options=options,
        answers=_read_answers(contents, offered, counts),
        content_keys=pl.Series(
            [
                blake2b(part.encode(), digest_size=16).hexdigest()
                for part in parts.to_series().fill_null("").to_list()
            ],
            dtype=pl.String,
        ),
    )


def _show_pictures(contents: pl.DataFrame) -> pl.DataFrame:
    """The rows with the hash of each picture in the place of its number."""
    if "pictures" not in contents.columns:
        return contents
    held = (contents["pictures"].list.len().fill_null(0) > 0).arg_true().to_list()
    if not held:
        return contents
    texts = {name: contents[name].to_list() for name in ("stem", "material", "options", "answer")}
    for place in held:
        words = {
            f"[picture:{one['number']}]": f" picture{one['sha256'][:24]} "
            for one in contents["pictures"][place]
        }

        def show(text: str | None, words: dict[str, str] = words) -> str | None:
            return None if text is None else PICTURE.sub(lambda mark: words.get(mark[0], mark[0]), text)

        texts["stem"][place], texts["material"][place] = (
            show(texts["stem"][place]),
            show(texts["material"][place]),
        )
        texts["options"][place] = [one | {"text": show(one["text"])} for one in texts["options"][place] or ()]
        texts["answer"][place] = [show(text) for text in texts["answer"][place] or ()]
    return contents.with_columns(
        pl.Series(name, values, dtype=contents.schema[name]) for name, values in texts.items()
    )


def _normalise(texts: pl.Series) -> pl.Series:
    return normalise_column(texts, fold_traditional_codes)


def _read_answers(contents: pl.DataFrame, offered: pl.Series, counts: NDArray[np.int64]) -> pl.Series:
    """A key counts by the text of its option, any other answer by its own words."""
    given, sizes = _flatten(contents["answer"]), _measure(contents["answer"])
    rows = np.arange(contents.height)
    labels = pl.DataFrame(
        {"row": np.repeat(rows, counts), "label": _flatten(contents["options"], "label"), "words": offered}
    )
    if labels.select("row", "label").is_duplicated().any():
        labels = labels.unique(["row", "label"], keep="last", maintain_order=True)
    words = (
        pl.DataFrame({"row": np.repeat(rows, sizes), "label": given})
        .join(labels, on=["row", "label"], how="left", maintain_order="left")["words"]
        .rename("answer")
    )
    if len(places := np.flatnonzero(words.is_null().to_numpy())):
        words = words.scatter(places, _normalise(given.gather(places)))
    return _sort_within(words, sizes, contents["question_type"].ne_missing("fill_in_the_blank").to_numpy())


def _measure(lists: pl.Series) -> NDArray[np.int64]:
    return lists.list.len().fill_null(0).cast(pl.Int64).to_numpy()


def _flatten(lists: pl.Series, field: str | None = None) -> pl.Series:
    """The items of all lists one after the other; a null item is an empty text."""
    items = lists.filter(lists.list.len().fill_null(0) > 0).explode()
    return (items if field is None else items.struct.field(field)).cast(pl.String).fill_null("")


def _sort_within(
    items: pl.Series, sizes: NDArray[np.int64], is_sorted: NDArray[np.bool_] | None = None
) -> pl.Series:
    """Lists of these sizes, each (or these) sorted; Polars sorts a list as a column of its own."""
    import pyarrow as pa

    if len(sizes) and sizes.max() > 1:
        ranks = np.empty(len(items), dtype=np.int64)
        ranks[items.arg_sort().to_numpy()] = np.arange(len(items))
        rows = np.repeat(np.arange(len(sizes)), sizes)
        if is_sorted is not None:
            ranks = np.where(is_sorted[rows], ranks, np.arange(len(items)))
        items = items.gather(np.argsort(rows * len(items) + ranks))
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    lists = pl.from_arrow(
        pa.LargeListArray.from_arrays(pa.array(offsets), items.to_arrow().cast(pa.large_string()))
    )
    assert isinstance(lists, pl.Series)
    return lists


def fold_traditional(text: str) -> str:
    """The text with the simplified form of every traditional character; as long as before."""
    return text.translate(_read_characters())


def fold_traditional_codes(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The same of code points."""
    found: NDArray[np.uint32] = _build_table()[codes]
    return found


@cache
def _read_characters() -> dict[int, int]:
    """Code of a traditional character → code of the simplified one."""
    path = files("schemas") / "data" / "simplified_characters.txt"
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {
        ord(traditional): ord(simplified)
        for above, below in zip(lines[::2], lines[1::2], strict=True)
        for traditional, simplified in zip(above, below, strict=True)
    }


@cache
def _build_table() -> NDArray[np.uint32]:
    characters = _read_characters()
    table = np.arange(0x110000, dtype=np.uint32)
    table[list(characters)] = list(characters.values())
    return table
