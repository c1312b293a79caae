"""Rows of one unit that memory need not hold: written, hashed and landed in parts."""

from __future__ import annotations

import io
import shutil
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from schemas.errors import StoreError
from schemas.tables import get_table
from warehouse.lake.connecting import spill_path
from warehouse.lake.frames import hash_rows, start_hash, write_lines

# Rows that are held, and lines that are sorted, before they go to the disk.
_ROWS_HELD = 400_000
_LINES_SORTED = 150_000
_BYTES_READ = 1 << 20


class RowParts:
    """Rows of a table in the order in which they came: those of `files`, then those of `frame`.

    Files lie in the home's folder for what spills, as long as this object lives. Raises StoreError where they cannot be written or read.

    Args:
        table: whose rows.
        home: of the installation; the system's own folder for what passes where it is null.
    """

    def __init__(self, table: str, home: Path | None = None) -> None:
        self.frame = get_table(table).frame([])
        self.files: list[Path] = []
        self._null_counts = [0] * self.frame.width
        self._spilled = 0
        self._home = home
        self._folder: str | None = None

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self._spilled + self.frame.height

    def add(self, frame: pl.DataFrame) -> None:
        """Add rows in the table's own columns and types."""
        self.frame = frame if self.frame.is_empty() else pl.concat([self.frame, frame])
        if self.frame.height > _ROWS_HELD:
            with explain_spilling():
                path = Path(self._make_folder()) / f"{len(self.files):06d}.parquet"
                self.frame.write_parquet(path, compression="lz4", row_group_size=_LINES_SORTED)
            self._null_counts = self._count_nulls()
            self._spilled += self.frame.height
            self.files.append(path)
            self.frame = self.frame.clear()

    def hash(self) -> str:
        """What `hash_rows` gives of all rows in one frame: sorted runs merged from the disk."""
        if not self.files:
            return hash_rows(self.frame)
        counts = dict(zip(self.frame.columns, self._count_nulls(), strict=True))
        names = sorted(name for name, count in counts.items() if count < self.height)
        digest = start_hash(names)
        with explain_spilling(), tempfile.TemporaryDirectory(dir=self._make_folder()) as folder:
            runs = [
                _write_run(part.select(names), Path(folder) / f"{number:06d}")
                for number, part in enumerate(self._iter_slices())
            ]
            for lines in _merge(runs):
                digest.update(b"".join(lines))
        return digest.hexdigest()

    def _count_nulls(self) -> list[int]:
        own = self.frame.null_count().row(0)
        return [before + count for before, count in zip(self._null_counts, own, strict=True)]

    def _iter_slices(self) -> Iterator[pl.DataFrame]:
        for path in self.files:
            yield from pl.read_parquet(path).iter_slices(_LINES_SORTED)
        yield from self.frame.iter_slices(_LINES_SORTED)

    def _make_folder(self) -> str:
        if self._folder is None:
            spill = Path(tempfile.gettempdir()) / "proctor" if self._home is None else spill_path(self._home)
            spill.parent.mkdir(parents=True, exist_ok=True)
            self._folder = tempfile.mkdtemp(prefix=f"{spill.name}-", dir=spill.parent)
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


@contextmanager
def explain_spilling() -> Iterator[None]:
    """Raise StoreError where parts cannot be written or read within the block."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(
            f"Rows that memory need not hold cannot be written beside the home's other files for a while, or read again "
            f"({type(error).__name__}); nothing was landed. Check free disk space and permissions under duckdb/ of PROCTOR_HOME, then run "
            "again."
        ) from None


def _write_run(frame: pl.DataFrame, path: Path) -> Path:
    """Write the rows as lines of JSON in order."""
    import pyarrow as pa

    lines = sorted(line + b"\n" for line in write_lines(frame))
    with pa.output_stream(str(path), compression="lz4") as file:
        for start in range(0, len(lines), 1_000):
            file.write(b"".join(lines[start : start + 1_000]))
    return path


def _merge(paths: list[Path]) -> Iterator[list[bytes]]:
    """All lines of sorted files in order, some at a time."""
    runs = [_Run(path) for path in paths]
    while runs := [run for run in runs if run.lines]:
        # What a run has not read yet comes at or after the last line that it holds.
        bound = min(run.lines[-1] for run in runs)
        yield sorted(line for run in runs for line in run.take(bound))


class _Run:
    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self._file = io.BufferedReader(pa.input_stream(str(path), compression="lz4"), _BYTES_READ)
        self.lines = self._read()

    def take(self, bound: bytes) -> list[bytes]:
        """The lines up to and with the bound, which are then no more held."""
        count = bisect_right(self.lines, bound)
        found, self.lines = self.lines[:count], self.lines[count:]
        self.lines = self.lines or self._read()
        return found

    def _read(self) -> list[bytes]:
        lines = self._file.readlines(_BYTES_READ)
        if not lines:
            self._file.close()
        return lines
