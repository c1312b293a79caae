"""Landings that a catalog has lost: found, and landed again.

Their Parquet files still lie in the lake's folder. Every transaction of ours writes a file of `landings`, and DuckLake removes no file
that it does not know. So a file of `landings` that the catalog never named, with rows landed after all that it knows, is what a lost
snapshot landed, or what a killed process had not committed yet; landing that again is what its stage would do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from schemas.table import LANDING_UNIT
from schemas.tables import TABLES
from warehouse.lake.attach import catalog_path
from warehouse.lake.catalog_door import list_catalog
from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.duck import duckdb
from warehouse.lake.frames import conform_frame, hash_rows
from warehouse.lake.landing import Batch
from warehouse.lake.quoting import quote_text

if TYPE_CHECKING:
    from warehouse.lake.store import Lake

# Every file that the catalog has ever named and not removed.
_NAMED = """
    SELECT path FROM ducklake_data_file
    UNION ALL
    SELECT path FROM ducklake_delete_file
    UNION ALL
    SELECT path FROM ducklake_files_scheduled_for_deletion
"""


@dataclass(frozen=True, slots=True)
class LostLanding:
    """A landing that the catalog does not know.

    Attributes:
        landed_at: when (UTC, as text): landings of one moment were of one snapshot.
        batch: its rows, as they were; null where files do not have them any more, or not all.
    """

    table: str
    unit: str
    landed_at: str
    batch: Batch | None

    @property
    def name(self) -> str:
        """Table and unit."""
        return f"{self.table}/{self.unit}"


def find_lost_landings(lake: Lake) -> list[LostLanding]:
    """What lost snapshots landed, in order, as far as files say."""
    newest = lake.query("SELECT max(landed_at) AS newest FROM landings").item()
    files = {name: list(_list_unnamed(lake, name)) for name in TABLES}
    rows = [row for frame in _read_each(lake, files["landings"]) for row in frame.to_dicts()]
    found = []
    for row in sorted(rows, key=lambda row: row["landed_at"]):
        if newest is not None and row["landed_at"] <= newest:
            continue
        known = lake.query(
            "SELECT content_hash FROM landings WHERE landing_unit = $name",
            {"name": f"{row['table_name']}/{row['unit']}"},
        )
        if row["content_hash"] in known["content_hash"]:
            continue
        batch = _find_rows(lake, row, files)
        found.append(LostLanding(row["table_name"], row["unit"], row["landed_at"].isoformat(), batch))
    return found


def land_again(lake: Lake, landings: list[LostLanding]) -> int:
    """Land what was lost, moment by moment; how many landings still had their rows."""
    moments = dict.fromkeys(one.landed_at for one in landings)
    count = 0
    for moment in moments:
        batches = [one.batch for one in landings if one.landed_at == moment and one.batch is not None]
        if batches:
            lake.land_together(batches)
            count += len(batches)
    return count


def _find_rows(lake: Lake, landing: dict[str, object], files: dict[str, list[Path]]) -> Batch | None:
    table, unit = TABLES[str(landing["table_name"])], str(landing["unit"])
    of_unit = f"{table.name}/{unit}"
    frames = [conform_frame(table, frame) for frame in _read_each(lake, files[table.name], unit)]
    # A unit of several months lies in several files; what an interrupted landing left of it before lies in earlier ones.
    candidates = [
        *frames,
        *(pl.concat(frames[-count:]) for count in range(2, len(frames) + 1)),
        table.frame([]),
    ]
    accepted = next(
        (
            frame
            for frame in candidates
            if frame.height == landing["row_count"]
            and (frame.is_empty() or hash_rows(frame) == landing["rows_hash"])
        ),
        None,
    )
    if accepted is None:
        return None
    refused: pl.DataFrame | None = None
    if landing["rejected_count"]:
        refused = next(iter(_read_each(lake, files["quarantine"], of_unit)), None)
        if refused is None:
            return None
    return Batch(table.name, unit, accepted, refused)


def _list_unnamed(lake: Lake, table: str) -> Iterator[Path]:
    """Parquet files of a table that the catalog never named, the newest last."""
    catalog = catalog_path(lake.settings.catalog_address)
    named = {Path(str(row[0])).name for row in list_catalog(catalog, _NAMED)}
    folder = Path(lake.settings.data_address) / "main" / table
    for path in sorted(folder.rglob("ducklake-*.parquet")):
        if path.name not in named and not path.name.endswith("-delete.parquet"):
            yield path


def _read_each(lake: Lake, files: list[Path], unit: str | None = None) -> Iterator[pl.DataFrame]:
    """The rows, or one unit's, of each file that can be read and has some."""
    for path in files:
        with closing(connect_duckdb(lake.settings.home)) as connection:
            source = f"FROM read_parquet({quote_text(escape(str(path)))}, hive_partitioning => false)"
            try:
                frame = (
                    connection.execute(f"SELECT * {source}")
                    if unit is None
                    else connection.execute(f"SELECT * {source} WHERE landing_unit = ?", [unit])
                ).pl()
            except duckdb.Error:
                continue
        if not frame.is_empty():
            yield frame.drop(LANDING_UNIT.name)
