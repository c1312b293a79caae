"""Any number of rows hash as their sorted lines of JSON; coded texts are the same texts."""

from __future__ import annotations

import hashlib
import io
import json
from datetime import date

import numpy as np
import polars as pl
import pytest

from schemas.tables import get_table
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Lake, frames, hash_rows
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
    rows = make_rows(2_000, columns, seed=1)
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=2)
    coded = shuffled.with_columns(
        pl.selectors.string().cast(pl.Categorical), pl.selectors.integer().cast(pl.Int32)
    )
    assert [hash_rows(rows), hash_rows(shuffled), hash_rows(coded)] == [hash_lines(rows)] * 3


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
