"""The demo moves to PostgreSQL and an object store and back by backups.

The backups are made while others write; its editions verify everywhere.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import Settings
from schemas.tables import TABLES
from tests.e2e.conftest import Demo, Home
from tests.e2e.test_demo import read_contents, read_files
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from tests.warehouse.object_store import BUCKET, ObjectStore, start_object_store
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user, list_users

pytestmark = [pytest.mark.prefect, pytest.mark.service, pytest.mark.long]

WRITTEN = "written-meanwhile"
LEAST = 5


@dataclass(frozen=True)
class Servers:
    """A PostgreSQL server and an object store, on which homes can lie."""

    postgresql: PostgresqlServer
    store: ObjectStore

    def move(self, home: Home, path: Path) -> Home:
        """A home at `path` with its ledger, catalog and files on the servers, all empty."""
        variables = {
            "PROCTOR_LEDGER_URL": self.postgresql.new_ledger_url(),
            "PROCTOR_LAKE_CATALOG": self.postgresql.new_catalog(),
            "PROCTOR_LAKE_DATA": f"s3://{BUCKET}/{path.name}",
            **self.store.variables,
        }
        return replace(home, path=path, variables=dict(home.variables) | variables)


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with start_postgresql() as postgresql, start_object_store() as store:
        yield Servers(postgresql, store)


def read_values(home: Home) -> dict[str, Any]:
    named = {
        name.removeprefix("PROCTOR_").lower(): value
        for name, value in home.variables.items()
        if name.startswith("PROCTOR_L")
    }
    return {"home": home.path} | named


def read_settings(home: Home) -> Settings:
    return Settings.model_validate(read_values(home))


def write_until(values: dict[str, Any], path: str, stopped: Event) -> None:
    """Land a unit and add a user, again and again.

    What was acknowledged is noted with its moment.
    """
    settings = Settings.model_validate(values)
    with open_lake(settings) as lake, open_ledger(settings.ledger_address) as ledger:
        number = 0
        while not stopped.is_set():
            number += 1
            # First the ledger, as every stage does.
            with ledger.write() as connection:
                add_user(connection, user_id=f"{WRITTEN}-{number}", role="admin")
            lake.land("sessions", f"{WRITTEN}-{number}", session_frame(3, first=3 * number, run_id=WRITTEN))
            with Path(path).open("a") as file:
                file.write(f"{time.time()} {number}\n")


def read_written(settings: Settings) -> tuple[set[int], set[int]]:
    """The numbers whose units are there in full, and whose users are."""
    with open_lake(settings, read_only=True) as lake:
        rows = lake.query(
            f"select landing_unit, count(*) from sessions where run_id = '{WRITTEN}' group by 1"
        ).rows()
    assert {count for _, count in rows} <= {3}, "a landing is there in full or not at all"
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        users = [row.user_id for row in list_users(connection)]
    numbers = [name.rpartition("-") for name in (*(str(unit) for unit, _ in rows), *users) if WRITTEN in name]
    landed = {int(number) for _, _, number in numbers[: len(rows)]}
    return landed, {int(number) for _, _, number in numbers[len(rows) :]}


def read_others(settings: Settings) -> dict[str, list[Any]]:
    """Every row of every table but those that were written meanwhile."""
    with open_lake(settings, read_only=True) as lake, lake.read_transaction():
        found = {}
        for name in TABLES:
            condition = {"sessions": f"run_id <> '{WRITTEN}'", "landings": f"unit not like '{WRITTEN}%'"}.get(
                name, "true"
            )
            found[name] = lake.query(f"select * from {name} where {condition} order by all").rows()
    return found


def test_the_demo_moves_to_servers_and_back_while_others_write(
    demo: Demo, servers: Servers, tmp_path: Path
) -> None:
    origin = demo.home
    embedded = Settings(home=origin.path)
    origin.run("backup", str(tmp_path / "first"))
    served = servers.move(origin, tmp_path / "served")
    served.run("restore", str(tmp_path / "first"))
    assert not (served.path / "ledger.sqlite").exists()
    assert not (served.path / "lake").exists()
    assert read_others(read_settings(served)) == read_others(embedded)
    emptied = replace(served, path=tmp_path / "emptied")
    refused = emptied.run("restore", str(tmp_path / "first"), exit_code=2)
    assert "already has rows" in refused.stderr

    stopped = multiprocessing.get_context("spawn").Event()
    noted = tmp_path / "noted"
    writer = multiprocessing.get_context("spawn").Process(
        target=write_until, args=(read_values(served), str(noted), stopped)
    )
    writer.start()
    try:
        while not (noted.exists() and len(noted.read_text().splitlines()) >= LEAST):
            assert writer.is_alive()
            time.sleep(0.05)
        began = time.time()
        served.run("backup", str(tmp_path / "second"))
        ended = time.time()
        served.run("backup", str(tmp_path / "third"))
        last = time.time()
    finally:
        stopped.set()
        writer.join()
    moments = {int(number): float(at) for at, number in map(str.split, noted.read_text().splitlines())}
    assert sum(began < at < ended for at in moments.values()) >= LEAST, "nobody wrote meanwhile"
    assert json.loads((tmp_path / "second" / "backup.json").read_text())["stores"] == {
        "ledger": "PostgreSQL",
        "catalog": "PostgreSQL",
        "files": "object store",
    }

    elsewhere = servers.move(origin, tmp_path / "elsewhere")
    homes = {
        "back": (replace(origin, path=tmp_path / "back"), "second", began, ended),
        "elsewhere": (elsewhere, "second", began, ended),
        "third": (replace(origin, path=tmp_path / "later"), "third", ended, last),
    }
    published = read_files(origin.path / "public")
    contents = {}
    for name, (home, backup, since, until) in homes.items():
        home.run("restore", str(tmp_path / backup))
        restored = read_settings(home)
        landed, users = read_written(restored)
        assert {number for number, at in moments.items() if at < since} <= landed, name
        assert {number for number, at in moments.items() if at > until + 1} & landed == set(), name
        # The ledger was copied after the lake: it lacks nothing of it.
        assert landed <= users
        assert read_others(restored) == read_others(embedded), name
        assert read_files(home.path / "public") == published
        home.run("exam", "verify")
        found = json.loads(home.run("doctor", "--json", exit_code=None).stdout)["findings"]
        # The demo's Prefect server is another home's, and no ledger planned what was written meanwhile.
        faults = {one["what"] for one in found if not one["is_fine"]}
        assert faults <= {"Prefect server", "rows by month"}, name
        assert home.read_json("exam", "sessions") == origin.read_json("exam", "sessions")
        contents[name] = (landed, users)
    assert contents["back"] == contents["elsewhere"]
    assert read_contents(homes["third"][0].path)["editions"] == read_contents(origin.path)["editions"]
