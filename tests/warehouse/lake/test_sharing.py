"""A lake that is attached once for a whole piece of work.

It behaves as one that is attached for each step.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from threading import Thread

import duckdb
import polars as pl
import pytest

from schemas.errors import StoreError
from schemas.settings import Settings
from tests.children import start_child
from tests.fresh import open_new_lake
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import attach, open_lake, share_lake, sharing, upgrade
from warehouse.lake.definitions import list_missing_definitions

pytestmark = pytest.mark.usefixtures("new_stores_are_copies")


def count_attachments(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    seen: list[bool] = []
    real = attach.attach_lake

    def counted(settings: Settings, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        seen.append(read_only)
        return real(settings, read_only=read_only)

    monkeypatch.setattr("warehouse.lake.store.attach_lake", counted)
    monkeypatch.setattr(upgrade, "attach_lake", counted)
    return seen


def test_a_shared_lake_is_attached_once_and_closed_at_the_end(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_new_lake(settings).close()
    seen = count_attachments(monkeypatch)
    with share_lake():
        with open_lake(settings) as first, share_lake(), open_lake(settings, read_only=True) as second:
            first.land("sessions", "one", session_frame(3))
            assert second.query("SELECT count(*) AS n FROM sessions")["n"].item() == len(session_frame(3))
            with pytest.raises(StoreError, match="for reading only"):
                second.land("sessions", "two", session_frame(3))
        with open_lake(settings) as third:
            assert third.query("SELECT current_setting('TimeZone') AS zone")["zone"].item() == "UTC"
            assert third.units("sessions") == {"one"}
    assert seen == [False]
    assert not sharing._SHARED.connections
    with open_lake(settings) as again:
        assert again.units("sessions") == {"one"}
    assert seen == [False, False]


def test_each_opening_has_transactions_of_its_own(settings: Settings) -> None:
    with share_lake(), open_lake(settings) as writing, open_lake(settings) as reading:
        writing.land("sessions", "one", session_frame(3))
        with writing.transaction() as connection:
            connection.execute("DELETE FROM sessions")
            assert reading.query("SELECT count(*) AS n FROM sessions")["n"].item() > 0
        assert reading.query("SELECT count(*) AS n FROM sessions")["n"].item() == 0


def test_threads_share_one_lake(settings: Settings) -> None:
    found: list[int] = []

    def read() -> None:
        with open_lake(settings, read_only=True) as lake:
            found.append(lake.query("SELECT count(*) AS n FROM sessions")["n"].item())

    with share_lake(), open_lake(settings) as lake:
        lake.land("sessions", "one", session_frame(3))
        threads = [Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [3] * 4


def test_a_child_attaches_for_itself(settings: Settings) -> None:
    with share_lake(), open_lake(settings) as lake:
        lake.land("sessions", "one", session_frame(3))

        def work() -> None:
            assert not [own for own in sharing._SHARED.connections if own.pid == os.getpid()]

        pid = start_child(work)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert lake.units("sessions") == {"one"}


def test_where_there_is_no_lake_there_is_none_to_share(settings: Settings) -> None:
    with share_lake(), pytest.raises(StoreError, match="proctor init"):
        open_lake(settings, read_only=True)
    assert not settings.home.exists()


def test_another_process_sees_what_was_landed_and_is_seen(
    settings: Settings, tmp_path: Path, warm_python: str
) -> None:
    script = (
        "from pathlib import Path\n"
        "from schemas.settings import Settings\n"
        "from tests.warehouse.sample_rows import session_frame\n"
        "from warehouse.lake.store import open_lake\n"
        f"with open_lake(Settings(home=Path({str(settings.home)!r}))) as lake:\n"
        "    assert lake.units('sessions') == {'one'}\n"
        "    lake.land('sessions', 'two', session_frame(3))\n"
    )
    with share_lake(), open_lake(settings) as lake:
        lake.land("sessions", "one", session_frame(3))
        subprocess.run([warm_python, "-c", script], check=True, cwd=Path(__file__).parents[3])
        assert lake.units("sessions") == {"one", "two"}


def test_what_is_up_to_date_is_not_listed_again(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[int] = []

    def counted(connection: duckdb.DuckDBPyConnection) -> list[str]:
        listed.append(1)
        return list_missing_definitions(connection)

    monkeypatch.setattr(upgrade, "list_missing_definitions", counted)
    open_lake(settings).close()
    made = len(listed)
    open_lake(settings).close()
    assert len(listed) == made
    # Whatever is redefined, by whomever, is looked at again, and mended.
    with open_lake(settings) as lake, lake.transaction() as connection:
        connection.execute("DROP VIEW leaderboards")
    with open_lake(settings) as lake:
        assert isinstance(lake.query("SELECT * FROM leaderboards"), pl.DataFrame)
    assert len(listed) > made


def test_a_mark_that_cannot_be_kept_is_done_without(settings: Settings) -> None:
    open_lake(settings).close()
    with closing(sqlite3.connect(attach.catalog_path(settings.catalog_address))) as catalog:
        catalog.execute("DELETE FROM ducklake_metadata WHERE key LIKE 'proctor_%'")
        catalog.commit()
    open_lake(settings).close()
    assert attach.read_definition_digest(settings) is not None
