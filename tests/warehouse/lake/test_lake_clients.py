"""Other programs read the lake by the lines of `proctor attach`.

They do so offline, read-only, while rows are landed.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import polars as pl
import pytest

from schemas.settings import Settings
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tests.fresh import copy_home
from tests.tasks.editions.conftest import published_home, season_home
from tests.tasks.editions.kit import publish_run
from warehouse.lake import open_lake
from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.reading import CLIENTS, find_query, render_lines
from warehouse.lake.reading.queries import render_query

__all__ = ["published_home", "season_home"]

PAGE = Path(__file__).parents[3] / "docs" / "analyst.md"
# These have rows only after a command of their own, as the page says.
LATER = {"judge_drift_history", "rating_stability"}
QUESTIONS = 12


@pytest.fixture(scope="module")
def settings(published_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two published months of a season, in a folder whose name must be quoted."""
    settings = Settings(home=tmp_path_factory.mktemp("it's a home") / "home", judge_ratings_gate=100)
    copy_home(published_home, settings)
    with open_lake(settings) as lake:
        publish_run(lake, settings, "run-2025-07", EXAMINED_DISCIPLINES)
    return settings


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A Python that has DuckDB and nothing else: no Proctor, no Polars, no site-packages."""
    folder = tmp_path_factory.mktemp("bare")
    installed = Path(duckdb.__file__).parents[1]
    for found in [
        installed / "duckdb",
        *installed.glob("_duckdb*.so"),
        *installed.glob("duckdb-*.dist-info"),
    ]:
        (folder / found.name).symlink_to(found)
    start = f"import sys; sys.path.append({str(folder)!r}); exec(sys.stdin.read())"
    return [sys.executable, "-I", "-S", "-c", start]


def read_twelve() -> list[tuple[str, dict[str, object]]]:
    """The commands of the page's table: names of queries and their parameters."""
    section = PAGE.read_text("utf-8").partition("## Twelve questions")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and "`proctor" in line]
    assert len(rows) == QUESTIONS
    asked: list[tuple[str, dict[str, object]]] = []
    for command in [found for row in rows for found in re.findall(r"`proctor sql ([^`]*)`", row)]:
        name, *options = shlex.split(command)
        pairs = [option.partition("=") for option in options if option != "--param"]
        asked.append((name, {name: value for name, _, value in pairs}))
    return asked


def test_the_twelve_questions_are_answered_to_plain_duckdb_while_rows_are_landed(
    settings: Settings, bare: list[str]
) -> None:
    asked = read_twelve()
    statements = {name: render_query(find_query(name), given) for name, given in asked}
    opening = render_lines(settings)["python"].rsplit("\n", 1)[0]
    program = f"""{opening}
import json
statements = json.loads({json.dumps(json.dumps(statements))})
def count(statement): return len(exam.execute(statement).fetchall())
found = [{{name: count(statement) for name, statement in statements.items()}} for _ in range(2)]
print(json.dumps(found))
assert "proctor" not in sys.modules and "polars" not in sys.modules
"""
    done = threading.Event()
    landed: list[str] = []

    def land() -> None:
        with open_lake(settings) as lake:
            # Three times a second: to land without a pause took half of the CPU that was to answer.
            while not done.wait(0.3):
                unit = f"call-{len(landed)}"
                rows = pl.DataFrame({"call_key": [unit], "model": ["other"], "cost_usd": [0.5]})
                lake.land("llm_calls", unit, fill(rows))
                landed.append(unit)

    writer = threading.Thread(target=land)
    writer.start()
    try:
        ran = subprocess.run(bare, input=program, capture_output=True, text=True, timeout=120)
    finally:
        done.set()
        writer.join()
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert len(landed) > 1
    assert found[0] == found[1]
    assert {name for name, count in found[0].items() if not count} == LATER


def fill(rows: pl.DataFrame) -> pl.DataFrame:
    """Whole rows of `llm_calls`."""
    from schemas.tables import get_table
    from tests.warehouse.test_sql_cases import fill_rows

    return fill_rows(get_table("llm_calls"), rows.to_dicts()).drop("landing_unit")


def test_nothing_can_be_written_by_the_lines(settings: Settings, bare: list[str]) -> None:
    program = render_lines(settings)["python"].rsplit("\n", 1)[0] + "\nexam.execute('DELETE FROM responses')"
    ran = subprocess.run(bare, input=program, capture_output=True, text=True, timeout=60)
    assert ran.returncode != 0
    assert "read-only" in ran.stderr


def test_the_lines_of_every_python_client_give_the_rows(settings: Settings) -> None:
    lines = render_lines(settings)
    programs = [
        lines[client].replace("print(", "frame = (", 1) + "\nprint(len(frame))"
        for client in ("python", "polars", "pandas")
    ]
    before, last = lines["jupyter"].rsplit("\n", 1)
    programs.append(f"{before}\nprint(len({last}))")
    ran = subprocess.run(
        [sys.executable, "-I", "-c", "import json, sys\nfor one in json.load(sys.stdin): exec(one, {})"],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["12"] * 4


def test_the_lines_for_duckdbs_own_prompt_give_the_rows(settings: Settings) -> None:
    import duckdb_cli

    program = Path(str(duckdb_cli.__file__)).parent / "duckdb"
    ran = subprocess.run(
        [program, "-csv"], input=render_lines(settings)["cli"], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == "month,model,score"
    assert len(ran.stdout.splitlines()) == 13


def test_the_lines_for_r_are_texts_that_r_reads(settings: Settings) -> None:
    """R's own DuckDB is not installed here.

    What stands between its quotes is compared with the statements.
    """
    from warehouse.lake.attach import list_attach_statements

    lines = render_lines(settings)["r"].splitlines()
    quoted = [re.fullmatch(r'invisible\(dbExecute\(exam, "(.*)"\)\)', line) for line in lines[2:-1]]
    told = [found[1].replace('\\"', '"').replace("\\\\", "\\") for found in quoted if found]
    assert told == list_attach_statements(settings)
    assert lines[0] == "library(duckdb)"
    assert set(render_lines(settings)) == {"duckdb", *CLIENTS}


@pytest.mark.parametrize(
    "catalog",
    [
        "postgres:host=db.example user=analyst password='QZ XW' dbname=lake",
        "postgres:postgresql://analyst:QZ%20XW@db.example/lake",
    ],
)
def test_lines_hold_neither_the_catalogs_password_nor_the_keys_of_the_object_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, catalog: str
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "QZ XW")
    settings = Settings.model_validate(
        {"home": tmp_path, "lake_catalog": catalog, "lake_data": "s3://lake/data"}
    )
    lines = render_lines(settings)
    assert not [client for client, text in lines.items() if "QZ" in text]
    assert "postgres:user=analyst dbname=lake host=db.example" in lines["cli"]
    # Whoever pastes them has the keys in variables of his own, which the extension reads.
    taken = [line for line in lines["cli"].splitlines() if line.startswith(("LOAD", "CREATE"))]
    with connect_duckdb(tmp_path) as connection:
        for line in taken:
            connection.execute(line)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
        assert (
            "key_id=QZ XW;"
            in connection.execute("SELECT secret_string FROM duckdb_secrets()").fetchall()[0][0]
        )
