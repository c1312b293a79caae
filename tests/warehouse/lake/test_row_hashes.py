"""Any number of rows hash as their sorted lines of JSON; coded texts are the same texts."""

from __future__ import annotations

import gc
import hashlib
import io
import json
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from schemas.errors import ContractError, StoreError
from schemas.tables import get_table
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Batch, Lake, RowParts, frames, hash_rows, row_parts
from warehouse.lake.upkeep import integrity
from warehouse.lake.upkeep.integrity import check_landings

# What sorts otherwise as text than as a value, or as JSON than as text.
WORDS = ("Law", "Law and order", 'a "b"', "a\\", "Ärzte", "x,y", "Law\n", "", None)


def make_rows(count: int, columns: str, seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    made = {
        "a": pl.Series([WORDS[code] for code in random.integers(0, len(WORDS), count)], dtype=pl.String),
        "b": pl.Series(random.integers(-3, 120, count)),
        "c": pl.Series(random.integers(0, 2, count) == 1),
        "d": pl.Series(random.integers(-3, 3, count) / 7.0),
        "e": pl.Series([f"q{code:03d}" for code in random.integers(0, 200, count)]),
    }
    return pl.DataFrame({name: made[name] for name in columns})


def hash_lines(frame: pl.DataFrame) -> str:
    """The form that editions have had from the first: all lines at once."""
    buffer = io.BytesIO()
    names = sorted(frame.columns)
    frame.select(names).write_ndjson(buffer)
    lines = b"".join(line + b"\n" for line in sorted(buffer.getvalue().splitlines()))
    return hashlib.sha256(json.dumps(names).encode() + lines).hexdigest()


@pytest.mark.parametrize("columns", ["abcde", "ab", "ba", "c", "da", "ecd", "a"])
def test_many_rows_are_hashed_in_parts_as_if_all_at_once(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "_LINES_AT_ONCE", 50)
    rows = make_rows(700, columns, seed=1)
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=2)
    coded = shuffled.with_columns(
        pl.selectors.string().cast(pl.Categorical), pl.selectors.integer().cast(pl.Int32)
    )
    assert [hash_rows(rows), hash_rows(shuffled), hash_rows(coded)] == [hash_lines(rows)] * 3


def make_pairs(count: int) -> pl.DataFrame:
    """Rows of `edition_pairs`, many alike in their first columns as where questions are few."""
    random = np.random.default_rng(4)
    table = get_table("edition_pairs")
    names = [f"c{number:04d}" for number in range(count)]
    rows = pl.DataFrame({"model_a": names, "model_b": [name + "x" for name in names]}).with_columns(
        edition_id=pl.lit("r/1"), month=pl.lit("2026-01"), prompt_style=pl.lit("zero_shot"), discipline=pl.lit("all"),
        is_simulated=pl.lit(False), is_paired=pl.lit(True), is_distinguishable=pl.Series(random.random(count) < 0.5),
        difference=pl.Series(random.integers(-3, 4, count) / 7.0), difference_se=pl.Series(random.random(count)),
        p_value=pl.when(pl.int_range(count) % 5 > 0).then(pl.Series(random.random(count))),
        stars_a=pl.lit(1.0), stars_b=pl.lit(2.0),
        **{f"{name}_count": pl.lit(1) for name in ("pair", "win_a", "win_b", "tie")},
    )  # fmt: skip
    columns = [
        pl.col(name) if name in rows.columns else pl.lit(None).alias(name) for name in table.frame([]).columns
    ]
    return rows.select(columns).cast(table.frame([]).schema)


def fill_parts(rows: pl.DataFrame, home: Path, monkeypatch: pytest.MonkeyPatch) -> RowParts:
    monkeypatch.setattr(row_parts, "_ROWS_HELD", 700)
    monkeypatch.setattr(row_parts, "_LINES_SORTED", 90)
    monkeypatch.setattr(row_parts, "_BYTES_READ", 4_000)
    parts = RowParts("edition_pairs", home)
    for start in range(0, rows.height, 300):
        parts.add(rows[start : start + 300])
    return parts


def test_rows_in_parts_hash_as_all_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = make_pairs(2_000)
    parts = fill_parts(rows, tmp_path, monkeypatch)
    assert (len(parts.files), parts.frame.height, parts.height) == (2, 200, 2_000)
    assert parts.hash() == hash_rows(rows)
    assert pl.concat([*map(pl.read_parquet, parts.files), parts.frame]).equals(rows)
    few = fill_parts(rows.head(500), tmp_path, monkeypatch)
    assert (few.files, few.hash()) == ([], hash_rows(rows.head(500)))


def test_rows_in_parts_land_as_one_unit_and_are_looked_at_in_parts(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = make_pairs(2_000)
    parts = fill_parts(rows, lake.settings.home, monkeypatch)
    batch = Batch("edition_pairs", "r/1", parts.frame, rows_hash=parts.hash(), files=parts.files)
    (landing,) = lake.land_together([batch])
    assert (landing.row_count, lake.land_together([batch])[0].is_unchanged) == (2_000, True)
    found = lake.query("SELECT * EXCLUDE (landing_unit) FROM edition_pairs WHERE landing_unit = 'r/1'")
    assert found.sort("model_a").equals(rows)
    monkeypatch.setattr(integrity, "_ROWS_OF_UNIT", 1_000)
    seen = check_landings(lake)
    assert (seen.changed, seen.frozen) == ([], {"edition_pairs/r/1": hash_rows(rows)})
    del parts
    gc.collect()
    assert not list((lake.settings.home / "duckdb").glob("spill-*"))


def test_a_part_with_a_row_that_breaks_a_rule_is_not_landed(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = fill_parts(
        make_pairs(2_000).with_columns(difference=pl.lit(101.0)), lake.settings.home, monkeypatch
    )
    with pytest.raises(ContractError, match=r"breaks the rule .* nothing was landed"):
        lake.land_together(
            [Batch("edition_pairs", "r/1", parts.frame.clear(), rows_hash=parts.hash(), files=parts.files)]
        )
    assert lake.units("edition_pairs") == set()


def test_parts_that_cannot_be_written_or_read_again_are_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = make_pairs(2_000)
    parts = fill_parts(rows, tmp_path / "home", monkeypatch)
    parts.files[0].unlink()
    with pytest.raises(StoreError, match="Check free disk space"):
        parts.hash()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "duckdb").write_text("no folder")
    with pytest.raises(StoreError, match="Check free disk space"):
        fill_parts(rows, tmp_path / "other", monkeypatch)


def test_a_page_that_is_damaged_is_told_of_a_large_unit_as_of_a_small_one(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.land("edition_pairs", "r/1", make_pairs(130_000))
    (path,) = Path(lake.settings.data_address).rglob("edition_pairs/**/*.parquet")
    groups = pq.ParquetFile(path).metadata
    last = groups.row_group(groups.num_row_groups - 1)
    column = next(
        found for found in map(last.column, range(last.num_columns)) if found.path_in_schema == "p_value"
    )
    content = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    for place in range(start, start + column.total_compressed_size):
        content[place] ^= 255
    path.chmod(0o600)
    path.write_bytes(content)
    # Of one thread, so that the first rows come before the page is met.
    with lake.one_thread():
        assert list(check_landings(lake).unreadable) == ["edition_pairs"]
        monkeypatch.setattr(integrity, "_ROWS_OF_UNIT", 1_000)
        assert list(check_landings(lake).unreadable) == ["edition_pairs"]


def test_one_row_more_or_another_is_another_hash() -> None:
    rows = make_rows(21_000, "abe", seed=3)
    changed = rows.with_columns(b=pl.when(pl.int_range(pl.len()) == 20_500).then(-9).otherwise("b"))
    assert len({hash_rows(rows), hash_rows(changed), hash_rows(rows.head(20_999))}) == 3


def test_coded_text_lands_as_text(lake: Lake) -> None:
    rows = session_frame(2)
    coded = rows.with_columns(pl.selectors.string().cast(pl.Categorical))
    lake.land("sessions", "as text", rows)
    lake.land("sessions", "coded", coded)
    query = "SELECT * EXCLUDE (landing_unit) FROM sessions WHERE landing_unit = $unit ORDER BY session_id"
    found = [lake.query(query, {"unit": unit}) for unit in ("as text", "coded")]
    assert found[1].equals(found[0])
    kept = lake.query("SELECT rows_hash FROM landings WHERE table_name = 'sessions'")["rows_hash"]
    assert kept.n_unique() == 1


def test_a_zero_below_zero_is_read_again_as_it_was_hashed(lake: Lake) -> None:
    rows = get_table("external_scores").frame(
        [
            {
                "model": f"m{number:03d}",
                "benchmark": "b",
                "scored_on": date(2026, 11, 1),
                "score": score,
                "source": "s",
            }
            for number, score in enumerate([0.0, -0.0, 1.5] * 300)
        ]
    )
    lake.land("external_scores", "unit", rows)
    # One of the two zeros is what Parquet's dictionary keeps of both.
    assert check_landings(lake).changed == []
    assert lake.land("external_scores", "unit", rows).is_unchanged


def test_a_unit_with_rows_of_two_months_is_as_it_landed_until_one_of_them_is_gone(lake: Lake) -> None:
    row = {"edition_id": "r/1", "run_id": "r", "session_id": "s", "model": "m", "prompt_style": "zero_shot", "discipline": "Law",
        "votes_hash": "v", "jury_stars": 1.0, "judge_count": 2, "is_rated": False, "is_simulated": False,
        **{f"chance_{stars}": 0.25 for stars in range(4)}}  # fmt: skip
    rows = [{**row, "month": f"2026-0{number}", "seq": number} for number in (1, 2)]
    lake.land("jury_stars", "r/1", get_table("jury_stars").frame(rows))
    assert check_landings(lake).changed == []

    with lake.transaction() as connection:
        connection.execute("DELETE FROM jury_stars WHERE month = '2026-01'")
    assert check_landings(lake).changed == ["jury_stars/r/1"]
