"""Queries that share what they read say what each says alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from schemas.settings import Settings
from tests.benchmarks.history_rows import History, land_month, publish_month
from tests.fresh import copy_home, open_new_lake
from tests.hunts import some, tries
from warehouse.lake import Lake, held, hold_rows, open_lake
from warehouse.lake.reading import list_runnable_queries

pytestmark = pytest.mark.slow
MONTHS = ("2025-01", "2025-02")


@pytest.fixture(scope="module")
def first_month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed home with one month; copied."""
    settings = Settings(home=tmp_path_factory.mktemp("held") / "home")
    with open_new_lake(settings) as lake:
        build_months(lake, 1)
    return settings.home


@pytest.fixture(scope="module")
def months(first_month: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    settings = Settings(home=tmp_path_factory.mktemp("held") / "home")
    copy_home(first_month, settings)
    with open_lake(settings) as lake:
        build_months(lake, 2, after=1)
        yield lake


@pytest.fixture(scope="module")
def alone(months: Lake) -> dict[str, pl.DataFrame]:
    return ask(months)


def build_months(lake: Lake, count: int, *, after: int = 0) -> None:
    history = History(3, 30)
    for number, month in enumerate(MONTHS[:count]):
        frames = history.list_frames(number, month)
        if number >= after:
            land_month(lake, frames, datetime(2026, 1, 1, tzinfo=UTC))
            publish_month(lake, lake.settings, month, is_equated=False)


def ask(rows: held.HeldRows | Lake) -> dict[str, pl.DataFrame]:
    """Queries that want no value.

    The pages of a report, made both ways, compare theirs in every run.
    """
    names = [
        query.name
        for query in list_runnable_queries()
        if all(parameter.default is not None for parameter in query.parameters)
    ]
    return {name: rows.run_named(name) for name in some(names, 30)}


@pytest.mark.hunt
@pytest.mark.parametrize("large", [0, held.MOST_ROWS])
def test_every_query_gives_the_rows_that_it_gives_alone(
    months: Lake, alone: dict[str, pl.DataFrame], large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "MOST_ROWS", large)
    with hold_rows(months) as rows:
        together = ask(rows)

    assert sum(frame.height for frame in alone.values()) > tries(300, 1000)
    for name, frame in alone.items():
        by = [column for column, kind in frame.schema.items() if kind in (pl.String, pl.Int64)]
        assert_frame_equal(together[name].sort(by), frame.sort(by))


def test_all_see_the_lake_as_it_was_when_the_block_began(first_month: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    copy_home(first_month, settings)
    with open_lake(settings) as writer, open_lake(settings, read_only=True) as lake:
        with hold_rows(lake) as rows:
            build_months(writer, 2, after=1)
            assert rows.run_named("editions_published")["month"].to_list() == [MONTHS[0]]
            assert rows.run_named("leaderboard_history")["month"].unique().to_list() == [MONTHS[0]]

        assert lake.run_named("editions_published")["month"].to_list() == [MONTHS[1], MONTHS[0]]
        assert sorted(lake.run_named("leaderboard_history")["month"].unique()) == list(MONTHS)
