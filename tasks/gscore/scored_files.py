"""Gscore of a file of pairs of any size.

The file is read in pieces, scored in parts, and resumed after a kill.

A part is written aside and renamed, so it is there whole or not at all. The parts of a run lie in `<out>.parts/` under the
fingerprint of what was asked (input bytes, profile, similarity model, columns); the same request continues after the last
whole part, another request starts afresh. When all are there they are joined into `out` and the folder is removed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from schemas.errors import StoreError, UsageError
from tasks.gscore.metrics import METRICS
from tasks.gscore.metrics.pairs import NO_MODEL_NOTE, SCORE_COLUMNS, list_metric_columns, score_pairs
from tasks.gscore.metrics.profiles import DEFAULT_PROFILE, Profile, parse_profile
from tasks.gscore.metrics.similarity import EmbeddingModelError, Similarity, load_embedder
from tasks.gscore.pair_files import (
    PROBLEM_COLUMN,
    PairFile,
    check_output_format,
    open_pair_file,
    open_score_writer,
)
from warehouse.stores.whole_files import SHARED, writing_whole

Progress = Callable[[int, int], None]
"""Called with the number of pairs done (those of an earlier, interrupted run included) and the number of pairs in all."""

ROW_COLUMN = "row_number"

_PART_ROWS = 20_000
_PART_ROWS_WITH_SIMILARITY = 2_000
_PART_CHARACTERS = 10_000_000


@dataclass(frozen=True)
class FileScores:
    """What became of a file."""

    out: Path
    """The file with the scores."""

    row_count: int
    """Pairs in the input, and rows in `out`."""

    scored_count: int
    """Pairs with BLEU-4, ROUGE-2 and chrF; the others lack a text, and their row says so."""

    gscore_count: int
    """Pairs with a Gscore."""

    resumed_count: int
    """Pairs that an earlier, interrupted run had scored."""

    profile: str
    similarity_model: str | None

    message: str | None
    """Why there are no similarities, in a sentence for the person who asked; None when there are."""


@dataclass(frozen=True)
class FileScoring:
    """How the pairs of a file are scored.

    Attributes:
        profile: how BLEU-4, ROUGE-2 and chrF are computed.
        model: embedding model, a name, a folder or a loaded similarity; null for none.
        reference_column: the column of the references.
        response_column: the column of the responses.
        keep_texts: whether the two texts stand in the scores as well.
        cache: where embeddings are kept for later runs; null for this run alone.
        part_rows: pairs of a part, which is written at once.
        metrics: further metrics, by name.
    """

    profile: str | Profile = DEFAULT_PROFILE
    model: str | Path | Similarity | None = None
    reference_column: str = "reference"
    response_column: str = "response"
    keep_texts: bool = False
    cache: Path | None = None
    part_rows: int | None = None
    metrics: Sequence[str] = ()


def score_file(
    path: Path,
    out: Path,
    scoring: FileScoring | None = None,
    progress: Progress | None = None,
) -> FileScores:
    """Score every pair of a CSV, TSV, JSONL or Parquet file.

    Parquet, CSV or JSONL is written, with one row per pair in the same order.

    A row of `out` has the input's row number (from 1), the input's other columns (the two texts with `keep_texts` only) and the
    columns of `score.SCORE_COLUMNS`. Without a model, or with one that is not there, similarity and gscore are null, and `message`
    and each row say why. Memory does not grow with the number of pairs.

    Raises UsageError when the file cannot be read as what its suffix says, or lacks a column; StoreError when
    another process is writing the same `out`.
    """
    scoring = scoring or FileScoring()
    keep_texts, metrics = scoring.keep_texts, scoring.metrics
    chosen = parse_profile(scoring.profile)
    check_output_format(out)
    pairs = open_pair_file(path, scoring.reference_column, scoring.response_column)
    _check_free_names(pairs, list_metric_columns(metrics))
    if out.exists() and out.samefile(path):
        raise UsageError(f"The scores would replace {path.name} itself. Name another file for them.")
    folder = out.with_name(out.name + ".parts")
    folder.mkdir(parents=True, exist_ok=True)
    with (
        _only_writer(folder, out),
        _open_similarity(scoring.model, scoring.cache or folder / "embeddings.sqlite") as (
            similarity,
            message,
        ),
    ):
        parts = _Parts(folder / _compute_fingerprint(pairs, chosen, similarity, message, keep_texts, metrics))
        done = resumed = parts.read_row_count()
        if progress is not None:
            progress(done, pairs.row_count)
        rows = scoring.part_rows or (_PART_ROWS if similarity is None else _PART_ROWS_WITH_SIMILARITY)
        for batch in _cut_parts(pairs.read(skip=done), rows):
            scored = score_pairs(
                batch, chosen, similarity, missing_similarity_note=message or NO_MODEL_NOTE, metrics=metrics
            )
            parts.write(_finish_rows(scored, first_row=done + 1, keep_texts=keep_texts))
            done += len(batch)
            if progress is not None:
                progress(done, pairs.row_count)
        scored_count, gscore_count = parts.join(out)
    shutil.rmtree(folder, ignore_errors=True)
    return FileScores(
        out=out,
        row_count=done,
        scored_count=scored_count,
        gscore_count=gscore_count,
        resumed_count=resumed,
        profile=chosen.name,
        similarity_model=None if similarity is None else similarity.identity,
        message=message,
    )


def _check_free_names(pairs: PairFile, further: Sequence[str]) -> None:
    """Raise UsageError when a column to be kept has the name of a column to be added."""
    # The texts are called reference and response from here on, whatever their columns are called in the file.
    reserved = {*SCORE_COLUMNS, *further, PROBLEM_COLUMN, "reference", "response"}
    taken = sorted(reserved & set(pairs.other_columns))
    if taken:
        raise UsageError(
            f"{pairs.path.name} already has columns named {', '.join(taken)}, which the scores would take. Rename them."
        )


@contextmanager
def _only_writer(folder: Path, out: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder / "lock", timeout=0):
            yield
    except Timeout as error:
        raise StoreError(
            f"Another process is scoring into {out.name}. Wait for it, or name another file."
        ) from error


@contextmanager
def _open_similarity(
    model: str | Path | Similarity | None, cache: Path
) -> Iterator[tuple[Similarity | None, str | None]]:
    """Yield the similarity to use, or None and the reason why there is none.

    It closes what it loaded itself.
    """
    if model is None:
        yield None, NO_MODEL_NOTE
    elif not isinstance(model, str | Path):
        yield model, None
    else:
        try:
            embedder = load_embedder(model, cache=cache)
        except EmbeddingModelError as error:
            yield None, str(error)
            return
        with closing(embedder):
            yield embedder, None


def _compute_fingerprint(
    pairs: PairFile,
    profile: Profile,
    similarity: Similarity | None,
    message: str | None,
    keep_texts: bool,
    metrics: Sequence[str],
) -> str:
    """Return the name of the request: equal exactly when parts of an earlier run can be used."""
    request: dict[str, object] = {
        "input": pairs.content_hash,
        "suffix": pairs.path.suffix.lower(),
        "columns": [pairs.reference_column, pairs.response_column],
        "profile": profile.name,
        "similarity": None if similarity is None else similarity.identity,
        "message": message,
        "keep_texts": keep_texts,
        "layout": list(SCORE_COLUMNS),
    }
    if metrics:
        request["metrics"] = [
            [METRICS.find_entry(name).package, METRICS.find(name).identity] for name in metrics
        ]
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:16]


def _cut_parts(frames: Iterator[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """Yield frames of at most `rows` rows, fewer when the texts are long."""
    waiting: list[pl.DataFrame] = []
    waiting_rows = waiting_characters = 0
    for frame in frames:
        for piece in frame.iter_slices(rows) if len(frame) else [frame]:
            characters = sum(int(piece[name].str.len_chars().sum()) for name in ("reference", "response"))
            if waiting and (
                waiting_rows + len(piece) > rows or waiting_characters + characters > _PART_CHARACTERS
            ):
                yield pl.concat(waiting)
                waiting, waiting_rows, waiting_characters = [], 0, 0
            waiting.append(piece)
            waiting_rows += len(piece)
            waiting_characters += characters
    if waiting:
        yield pl.concat(waiting)


def _finish_rows(scored: pl.DataFrame, first_row: int, keep_texts: bool) -> pl.DataFrame:
    """Return the rows as they are written.

    They are numbered and without the texts; a reader's remark replaces the general one.
    """
    finished = scored.with_columns(similarity_note=pl.coalesce(PROBLEM_COLUMN, "similarity_note")).drop(
        PROBLEM_COLUMN, *(() if keep_texts else ("reference", "response"))
    )
    if ROW_COLUMN in finished.columns:
        return finished
    return finished.with_row_index(ROW_COLUMN, offset=first_row).cast({ROW_COLUMN: pl.Int64})


class _Parts:
    """The finished parts of one request: Parquet files numbered in order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)
        self._paths: list[Path] = []

    def read_row_count(self) -> int:
        """Return how many rows the unbroken sequence of whole parts has.

        Any part that follows is removed.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = 0
        for path in sorted(self._folder.iterdir()):
            try:
                if path != self._path(len(self._paths)):
                    raise pa.ArrowInvalid("not the next part")
                rows += pq.read_metadata(path).num_rows
                self._paths.append(path)
            except (pa.ArrowInvalid, OSError):
                path.unlink()
        return rows

    def write(self, rows: pl.DataFrame) -> None:
        """Add a part; it is on the disk when this returns."""
        path = self._path(len(self._paths))
        with writing_whole(path) as draft:
            rows.write_parquet(draft)
        self._paths.append(path)

    def join(self, out: Path) -> tuple[int, int]:
        """Write all parts as `out`, whole or not at all.

        Return how many rows have surface scores, and how many a Gscore.
        """
        scored = with_gscore = 0
        with writing_whole(out, SHARED) as draft, open_score_writer(draft, out.suffix) as write:
            for path in self._paths:
                rows = pl.read_parquet(path)
                scored += len(rows) - rows["bleu4"].null_count()
                with_gscore += len(rows) - rows["gscore"].null_count()
                write(rows)
        return scored, with_gscore

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:08d}.parquet"
