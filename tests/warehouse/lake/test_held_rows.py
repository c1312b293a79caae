"""Queries that share what they read say what each says alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from schemas.settings import Settings
from tests.benchmarks.history_rows import History, land_month, publish_month
from tests.fresh import open_new_lake
from tests.hunts import some, tries
from warehouse.lake import Lake, held, hold_rows, open_lake
from warehouse.lake.reading import list_runnable_queries

pytestmark = pytest.mark.slow
MONTHS = ("2025-01", "2025-02")


class Built(NamedTuple):
    """Two months, and the months that queries saw of one who had begun before the second came."""

    lake: Lake
    seen: list[list[str]]
    seen_later: list[list[str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    settings, history = Settings(home=tmp_path_factory.mktemp("held") / "home"), History(3, 30)
    with open_new_lake(settings) as writer:
        build_month(writer, history, 0)
        with open_lake(settings, read_only=True) as lake:
            with hold_rows(lake) as rows:
                build_month(writer, history, 1)
                seen = list_months(rows)
            seen_later = list_months(lake)
        yield Built(writer, seen, seen_later)


@pytest.fixture(scope="module")
def months(built: Built) -> Lake:
    return built.lake


@pytest.fixture(scope="module")
def alone(months: Lake) -> dict[str, pl.DataFrame]:
    return ask(months)


def build_month(lake: Lake, history: History, number: int) -> None:
    land_month(lake, history.list_frames(number, MONTHS[number]), datetime(2026, 1, 1, tzinfo=UTC))
    publish_month(lake, lake.settings, MONTHS[number], is_equated=False)


def list_months(rows: held.HeldRows | Lake) -> list[list[str]]:
    """Of the editions, the latest first, and of the history."""
    editions, history = rows.run_named("editions_published"), rows.run_named("leaderboard_history")
    return [editions["month"].to_list(), sorted(history["month"].unique())]


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


def test_all_see_the_lake_as_it_was_when_the_block_began(built: Built) -> None:
    assert built.seen == [[MONTHS[0]]] * 2
    assert built.seen_later == [[MONTHS[1], MONTHS[0]], list(MONTHS)]
