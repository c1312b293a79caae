"""A ledger of every form that was released, with rows in every table, is brought up to date: none is lost, none is changed unsaid."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import JSON, Connection, Engine, MetaData, null, select

from tests.warehouse.first_form import unpack_first_home
from tests.warehouse.ledger.filled import fill_tables
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from warehouse.ledger import division
from warehouse.ledger.connections import create_ledger_engine
from warehouse.ledger.migrate import HEAD, MIGRATIONS, make_config
from warehouse.ledger.opening import open_ledger
from warehouse.ledger.sides import name_exam_file

Rows = dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]

DIVIDED = "0013"
RENAMED_TABLES: Mapping[str, Mapping[str, str]] = {
    "0002": {
        "review_decisions": "reviews",
        "review_items": "review_questions",
        "answers": "responses",
        "sets": "set_numbers",
        "set_items": "sets",
        "access_anchors": "access_heads",
    }
}
RENAMED_COLUMNS: Mapping[str, Mapping[tuple[str, str], str]] = {
    "0002": {
        ("access_log", "at"): "accessed_at",
        ("access_log", "status"): "http_status",
        ("access_heads", "anchored_at"): "kept_at",
    }
}
# What a step writes anew: units name the version of the prompt; organisations have keys.
REWRITTEN: Mapping[str, set[tuple[str, str]]] = {
    "0002": {("llm_calls", "unit")},
    "0003": {
        (table, "organisation") for table in ("exposures", "organisations", "sessions", "set_claims", "users")
    },
}
# What a step adds rows to: what the reference sat counts as met.
GROWN: Mapping[str, set[str]] = {"0003": {"exposures", "set_claims", "organisations"}}
# What a step takes away; null where the value is nowhere else, and was of no use any more.
DROPPED: Mapping[str, Mapping[tuple[str, str], tuple[str, str] | None]] = {
    "0003": {("set_claims", "model"): None, ("set_claims", "repeat"): None},
    "0013": {
        ("runs", "seed"): ("run_plans", "seed"),
        ("runs", "plan"): ("run_plans", "plan"),
        ("set_numbers", "draw_key"): ("set_keys", "draw_key"),
    },
}


def list_forms() -> list[str]:
    """Every form, the first one first."""
    scripts = ScriptDirectory(str(MIGRATIONS))
    return [script.revision for script in reversed(list(scripts.walk_revisions()))]


FORMS = list_forms()


@contextmanager
def writing(url: str) -> Iterator[Connection]:
    engine = create_ledger_engine(url)
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        yield connection
        connection.exec_driver_sql("COMMIT")
    engine.dispose()


def list_sides(url: str) -> list[str]:
    """The addresses of both files of an embedded ledger, or that of a server."""
    if not url.startswith("sqlite"):
        return [url]
    path = Path(url.removeprefix("sqlite:///"))
    return [url, *([f"sqlite:///{name_exam_file(path)}"] if name_exam_file(path).exists() else [])]


def read_rows(url: str) -> Rows:
    """Table → its columns and rows; JSON as its text."""
    found: Rows = {}
    if url.startswith("sqlite"):
        # Without SQLAlchemy, which would look at every table first.
        for side in list_sides(url):
            with closing(sqlite3.connect(side.removeprefix("sqlite:///"))) as file:
                names = [
                    row[0] for row in file.execute("select name from sqlite_master where type = 'table'")
                ]
                for name in names:
                    if name != "alembic_version":
                        cursor = file.execute(f'select * from "{name}"')
                        found[name] = (tuple(column[0] for column in cursor.description), cursor.fetchall())
        return found
    for side in list_sides(url):
        with writing(side) as connection:
            tables = MetaData()
            tables.reflect(connection)
            for table in tables.sorted_tables:
                if table.name != "alembic_version":
                    rows = [tuple(map(freeze, row)) for row in connection.execute(select(table))]
                    found[table.name] = (tuple(column.name for column in table.columns), rows)
    return found


def freeze(value: object) -> object:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def upgrade(url: str, form: str) -> None:
    """One step, as `upgrade_ledger` takes all of them: the ledger's side first."""
    for number, side in enumerate(list_sides(url)):
        engine = create_ledger_engine(side)
        which: Any = None if not url.startswith("sqlite") else "exam" if number else "ledger"
        command.upgrade(make_config(engine, which), form)
        engine.dispose()
    if form == DIVIDED and url.startswith("sqlite"):
        division.promote(name_exam_file(Path(url.removeprefix("sqlite:///"))))


def fill(url: str) -> None:
    for side in list_sides(url):
        with writing(side) as connection:
            fill_tables(connection)


def find_losses(before: Rows, after: Rows, forms: list[str]) -> list[str]:
    """What rows of before are not there after these steps, or in other words than the tables above say."""
    losses = []
    for table, (columns, rows) in before.items():
        name, names = table, list(columns)
        rewritten: set[str] = set()
        moved: dict[str, tuple[str, str] | None] = {}
        for form in forms:
            name = RENAMED_TABLES.get(form, {}).get(name, name)
            names = [RENAMED_COLUMNS.get(form, {}).get((name, one), one) for one in names]
            rewritten |= {one for one in names if (name, one) in REWRITTEN.get(form, set())}
            moved |= {
                one: to
                for (owner, one), to in DROPPED.get(form, {}).items()
                if owner == name and one in names
            }
        if name not in after:
            losses.append(f"{name} is gone")
            continue
        held, now = after[name]
        if missing := set(names) - set(held) - moved.keys():
            losses.append(f"{name} lacks {sorted(missing)}")
            continue
        kept = [one for one in names if one in held and one not in rewritten]
        was = Counter(tuple(row[names.index(one)] for one in kept) for row in rows)
        found = Counter(tuple(row[held.index(one)] for one in kept) for row in now)
        grows = any(name in GROWN.get(form, set()) for form in forms)
        if was - found or (found - was and not grows):
            losses.append(f"{name}: {sum((was - found).values())} lost, {sum((found - was).values())} new")
        for one, to in moved.items():
            if to is not None:
                values = Counter(row[names.index(one)] for row in rows if row[names.index(one)] is not None)
                there, place = after[to[0]]
                if values - Counter(row[there.index(to[1])] for row in place):
                    losses.append(f"{name}.{one} is not in {'.'.join(to)}")
    return losses


@dataclass(frozen=True)
class Stage:
    """A ledger of one form, kept as it was: where, and what it holds."""

    form: str
    url: str
    rows: Rows


def walk(url: str, keep: Any) -> list[Stage]:
    """Bring a ledger of the first form up step by step, filling what tables each adds; every step loses nothing."""
    stages = []
    for form, following in zip(FORMS, [*FORMS[1:], None], strict=True):
        fill(url)
        rows = read_rows(url)
        empty = [name for name, (_, found) in rows.items() if not found]
        assert empty == [], form
        stages.append(Stage(form, keep(url, form), rows))
        if following is not None:
            upgrade(url, following)
            assert find_losses(rows, read_rows(url), [following]) == [], following
    return stages


def keep_files(folder: Path) -> Any:
    def keep(url: str, form: str) -> str:
        path = Path(url.removeprefix("sqlite:///"))
        (folder / form).mkdir()
        for file in (path, name_exam_file(path)):
            if file.exists():
                shutil.copy(file, folder / form / file.name)
        return f"sqlite:///{folder / form / path.name}"

    return keep


def thin(path: Path) -> None:
    """Leave some of the rows of which there are thousands alike."""
    with closing(sqlite3.connect(path)) as file:
        for table in ("llm_calls", "access_log", "allocations", "answers"):
            file.execute(f"delete from {table} where rowid % 10 <> 0")
        file.commit()


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> list[Stage]:
    """The first form's own ledger, brought up step by step."""
    folder = tmp_path_factory.mktemp("stages")
    settings = unpack_first_home(folder)
    thin(settings.home / "ledger.sqlite")
    return walk(settings.ledger_address, keep_files(folder))


def test_every_step_keeps_every_row_of_every_table(stages: list[Stage]) -> None:
    assert [stage.form for stage in stages] == FORMS
    assert FORMS[-1] == HEAD
    with open_ledger(stages[-1].url) as ledger, ledger.read() as connection:
        assert connection.exec_driver_sql("select count(*) from llm_calls").scalar() == 334
    # The comparison would have found something.
    columns, rows = stages[-1].rows["users"]
    changed = stages[-1].rows | {"users": (columns, rows[1:])}
    assert find_losses(stages[-1].rows, changed, []) == ["users: 1 lost, 0 new"]


@pytest.mark.parametrize("form", [FORMS[0], "0012", *([FORMS[-2]])])
def test_a_ledger_of_an_earlier_form_is_opened_with_every_row(stages: list[Stage], form: str) -> None:
    check_opening(next(stage for stage in stages if stage.form == form))


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_a_ledger_of_every_earlier_form_is_opened_with_every_row(stages: list[Stage], form: str) -> None:
    check_opening(next(stage for stage in stages if stage.form == form))


def check_opening(stage: Stage) -> None:
    open_ledger(stage.url).close()
    assert find_losses(stage.rows, read_rows(stage.url), FORMS[FORMS.index(stage.form) + 1 :]) == []


def copy_rows(source: Engine, target: Connection) -> None:
    """Every row of a SQLite ledger into the same tables of a server."""
    tables = MetaData()
    tables.reflect(target)
    with source.connect() as origin:
        for table in tables.sorted_tables:
            if table.name == "alembic_version":
                continue
            kinds = MetaData()
            kinds.reflect(origin, only=[table.name])
            rows = [dict(row) for row in origin.execute(select(kinds.tables[table.name])).mappings()]
            for row in rows:
                for column in table.columns:
                    if row[column.name] is None and isinstance(column.type, JSON):
                        row[column.name] = null()
            for row in rows:
                target.execute(table.insert().values(**row))


@pytest.mark.long
@pytest.mark.service
def test_every_step_keeps_every_row_on_postgresql_and_so_does_opening_each_form(tmp_path: Path) -> None:
    settings = unpack_first_home(tmp_path)
    thin(settings.home / "ledger.sqlite")
    with start_postgresql() as server:
        url = server.new_ledger_url()
        engine = create_ledger_engine(url)
        command.downgrade(make_config(engine), FORMS[0])
        engine.dispose()
        origin = create_ledger_engine(settings.ledger_address)
        with writing(url) as connection:
            copy_rows(origin, connection)
        origin.dispose()
        kept = walk(url, keep_databases(server))
        assert [stage.form for stage in kept] == FORMS
        for stage in kept:
            check_opening(stage)


def keep_databases(server: PostgresqlServer) -> Any:
    def keep(url: str, form: str) -> str:
        name = f"form_{form}"
        database = url.partition("?")[0].rpartition("/")[2]
        server._create(name, f"TEMPLATE {database}")
        return server.url(name)

    return keep
