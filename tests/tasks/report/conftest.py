from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pytest

from tasks.report.chosen_pages import write_leaderboard
from tasks.report.frame import Issue
from tasks.report.labels import Language
from tasks.report.panels import NamedQuery, Source
from tests.browser import CHROMIUM
from tests.tasks.report.synthetic import build_season
from tests.warehouse.lake.kit import connect_trial
from tests.warehouse.publishing import draw_from_editions, publish_runs
from warehouse.lake.reading import find_query
from warehouse.lake.reading.queries import bind_parameters

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NOON = dt.datetime(2025, 8, 1, 12, tzinfo=dt.UTC)
RunSql = Callable[[str], pl.DataFrame]
OpenSeason = Callable[[dict[str, pl.DataFrame]], NamedQuery]


def connect_season(frames: dict[str, pl.DataFrame]) -> duckdb.DuckDBPyConnection:
    connection = fill_trial(frames)
    publish_runs(connection)
    if connection.execute("SELECT count(*) FROM editions").fetchall() != [(0,)]:
        draw_from_editions(connection)
    return connection


def fill_trial(frames: dict[str, pl.DataFrame]) -> duckdb.DuckDBPyConnection:
    """A trial of the lake with these rows, nothing of them published."""
    connection = connect_trial()
    for name, frame in frames.items():
        connection.register("season_rows", frame.to_arrow())
        connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM season_rows")
        connection.unregister("season_rows")
    return connection


def ask(connection: duckdb.DuckDBPyConnection) -> NamedQuery:
    """What `Lake.run_named` is to the report."""

    def run_named(name: str, params: dict[str, object]) -> pl.DataFrame:
        query = find_query(name)
        values = bind_parameters(query, params)
        return (connection.execute(query.body, values) if values else connection.execute(query.body)).pl()

    return run_named


def render_leaderboard(
    run_named: NamedQuery,
    folder: Path,
    *,
    language: Language = "zh",
    include_simulated: bool | None = None,
    generated_at: dt.datetime | None = None,
) -> Path:
    """The first page of the site alone."""
    source = Source(run_named, include_simulated)
    history = run_named("leaderboard_history", source.shown)
    return write_leaderboard(source, Issue(folder, language, generated_at), history)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def open_season() -> Iterator[OpenSeason]:
    """Put frames into a trial of the lake; gives what `Lake.run_named` is to the report."""
    connections: list[duckdb.DuckDBPyConnection] = []

    def open_frames(frames: dict[str, pl.DataFrame]) -> NamedQuery:
        connection = connect_season(frames)
        connections.append(connection)
        return ask(connection)

    yield open_frames
    for connection in connections:
        connection.close()


@pytest.fixture(scope="session")
def season_rows() -> Iterator[duckdb.DuckDBPyConnection]:
    """A trial of the lake with the real season, which is only read."""
    connection = connect_season(build_season())
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def season(season_rows: duckdb.DuckDBPyConnection) -> NamedQuery:
    return ask(season_rows)


@pytest.fixture(scope="session")
def simulated_season(open_season: OpenSeason) -> NamedQuery:
    return open_season(build_season(is_simulated=True, is_calibrated=False))


@pytest.fixture(scope="session")
def run_sql(season_rows: duckdb.DuckDBPyConnection) -> RunSql:
    """Questions of any kind to the real season."""
    return lambda sql: season_rows.execute(sql).pl()


@pytest.fixture(scope="session")
def report_path(season: NamedQuery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the real season, in Chinese: rendered once, only read."""
    return render_leaderboard(season, tmp_path_factory.mktemp("report"), generated_at=NOON)
