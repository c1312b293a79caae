"""Stores that are away are waited for, and this is reported.

Stores that refuse are not waited for, and nothing is kept twice.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import Connection, Engine, event, func, select

from schemas.errors import StoreAway, StoreError
from schemas.ledger.engine import Job
from schemas.settings import Settings, load_settings
from tasks.running import hide_content
from tests.warehouse.ledger.held import hold_elsewhere
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from tests.warehouse.object_store import BUCKET, start_object_store
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import open_lake
from warehouse.lake.faults import find_absence, translate_error
from warehouse.ledger.engine.commits import mark_transaction
from warehouse.ledger.engine.leases import clock
from warehouse.ledger.engine.leases.jobs import is_held, list_jobs
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import organisations
from warehouse.stores import away
from warehouse.stores.away import is_postgresql_away, not_waiting, until_there

ABSENT_S, MOST_ABSENT_S = 2.0, 60.0


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is reported of absences, as the line of progress and the log have it.

    Stores are waited for.
    """
    monkeypatch.setenv("PROCTOR_STORE_WAIT_S", "300")
    load_settings.cache_clear()
    lines: list[str] = []
    monkeypatch.setattr(away, "_listeners", [lines.append])
    return lines


def fail(times: int, store: str = "ledger") -> Callable[[], str]:
    left = iter(range(times))

    def attempt() -> str:
        for _ in left:
            raise StoreAway(store, "not there")
        return "done"

    return attempt


def test_an_absence_is_said_at_its_beginning_every_minute_and_at_its_end(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("warehouse.stores.away.time.monotonic", lambda: now[0])
    monkeypatch.setattr("warehouse.stores.away.time.sleep", lambda seconds: now.__setitem__(0, now[0] + 25))
    assert until_there(fail(6), stores=("ledger",)) == "done"
    assert said == [
        "The ledger does not answer; it is waited for, up to 5 minutes.",
        "The ledger has not answered for 75 s; it is still waited for.",
        "The ledger answers again after 2 minutes; work continues.",
    ]


def test_a_store_is_waited_for_no_longer_than_the_setting_says(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_STORE_WAIT_S", "0.5")
    load_settings.cache_clear()
    with pytest.raises(StoreError, match=r"has not answered for .* s \(PROCTOR_STORE_WAIT_S\)") as raised:
        until_there(fail(100))
    assert not isinstance(raised.value, StoreAway)
    assert said[-1].endswith("it is waited for no longer.")


def test_tries_that_take_longer_than_the_setting_do_not_make_the_wait_endless(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("warehouse.stores.away.time.monotonic", lambda: now[0])
    monkeypatch.setattr("warehouse.stores.away.time.sleep", lambda _: None)
    tries = fail(100)

    def attempt() -> str:
        # A client that makes its connection four times before it gives up.
        now[0] += 3.5
        return tries()

    with pytest.raises(StoreError, match="has not answered for 4 s"):
        until_there(attempt, wait_s=1.0)


def test_nothing_is_waited_for_by_what_is_tried_again_anyway_nor_by_what_ends(said: list[str]) -> None:
    with pytest.raises(StoreAway), not_waiting():
        until_there(fail(1))
    with pytest.raises(StoreAway):
        try:
            raise KeyboardInterrupt
        finally:
            until_there(fail(1))
    assert said == []


def test_ctrl_c_ends_a_wait_at_once(tmp_path: Path) -> None:
    """Also while coroutines wait for the writer, and clean up with further writes."""
    program = """
import asyncio, sys
from warehouse.ledger.engine.connections import create_ledger_engine
from warehouse.ledger.engine.ledger import Ledger
ledger = Ledger(create_ledger_engine("postgresql://nobody@/nothing?host=/nowhere"))
async def work():
    try:
        await ledger.writer.run_async(lambda connection: None)
    finally:
        await ledger.writer.run_async(lambda connection: None)
print("begun", flush=True)
with ledger:
    if sys.argv[1] == "async":
        asyncio.run(work())
    elif sys.argv[1] == "writer":
        ledger.writer.run(lambda connection: None)
    else:
        with ledger.write():
            pass
"""
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", program, kind], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                    env=os.environ | {"PROCTOR_STORE_WAIT_S": "600", "PROCTOR_HOME": str(tmp_path)},
                )
            )
            for kind in ("async", "writer", "plain")
        ]  # fmt: skip
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
        time.sleep(1.0)
        for process in started:
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.wait(60)


@pytest.mark.parametrize(
    ("text", "is_away"),
    [
        ('connection to server on socket "/x/.s.PGSQL.5432" failed: No such file or directory', True),
        ('connection to server at "10.0.0.1", port 5432 failed: FATAL:  the database system is starting up', True),
        ("consuming input failed: server closed the connection unexpectedly", True),
        ('connection failed: FATAL:  password authentication failed for user "proctor"', False),
        ('connection failed: FATAL:  database "ledger" does not exist', False),
        ('connection failed: FATAL:  role "proctor" does not exist', False),
        ('Unable to connect to Postgres at "host=h": connection to server failed: fe_sendauth: no password supplied', False),
        ("deadlock detected", False),
    ],
)  # fmt: skip
def test_a_server_that_refuses_is_not_away(text: str, is_away: bool) -> None:
    assert is_postgresql_away(RuntimeError(text)) is is_away


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST('connection error for HTTP GET' AS INT)",
        "SELECT CAST('HTTP 500' AS DOUBLE)",
        "SELECT error('HTTP read error')",
        "SELECT error('Failed to execute query postgres: connection refused')",
        "SELECT CAST('/a text that says that the disk is full' AS INT)",
    ],
)
def test_a_value_that_reads_like_an_absence_is_none(sql: str) -> None:
    with pytest.raises(duckdb.Error) as failed:
        duckdb.sql(sql).fetchall()
    assert find_absence(failed.value) is None
    told = translate_error(failed.value)
    assert not isinstance(told, StoreAway) and "parameters" in str(told)


@pytest.mark.parametrize(
    ("error", "is_away"),
    [
        (duckdb.HTTPException("HTTP Error: HTTP GET error on 'http://host/file' (HTTP 503)"), True),
        (duckdb.IOException("IO Error: Connection error for HTTP HEAD to 's3://bucket/file'"), True),
        (duckdb.Error('Invalid Error: Failed to execute query "SELECT 1": connection refused'), True),
        # The connection broke while the file was sent: what a restart of the store, or of a proxy before it, does.
        (
            duckdb.IOException(
                "IO Error: Server returned nothing (no headers, no data) error for HTTP PUT to 'http://host/file'"
            ),
            True,
        ),
        (duckdb.IOException('IO Error: Could not read from file "a": read error'), False),
    ],
)
def test_what_duckdb_says_of_a_store_that_is_away(error: duckdb.Error, is_away: bool) -> None:
    assert (find_absence(error) is not None) is is_away


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (duckdb.Error("TProtocolException: Invalid data"), "A data file of the lake is damaged"),
        (duckdb.HTTPException("HTTP Error: Content-Length from server mismatches requested range"), "A data file of the lake is damaged"),
        (duckdb.HTTPException("HTTP Error: HTTP GET error reading 'http://host/file' (HTTP 403)"), "a file that is gone is refused, too"),
        # What merging the lake's files meets on a full disk.
        (duckdb.IOException('IO Error: Could not write file "/h/ducklake-01a2.parquet": No space left on device'), "nothing more (/h/ducklake-01a2.parquet)"),
        (duckdb.TransactionException("Failed to flush changes into DuckLake: attempt to write a readonly database"), "may only be read (its catalog"),
        # What SQLite says where a COMMIT finds no room.
        (duckdb.TransactionException('Failed to commit: Failed to execute query "COMMIT": disk I/O error'), "nothing more (its catalog, in PROCTOR_HOME"),
        (duckdb.IOException('IO Error: Cannot open file "/h/ducklake-01a2.parquet": Permission denied'), "may only be read (/h/ducklake-01a2.parquet)"),
    ],
)  # fmt: skip
def test_of_a_file_that_is_damaged_or_refused_nobody_is_told_that_nothing_is_lost(
    error: duckdb.Error, said: str
) -> None:
    told = str(translate_error(error))
    assert (said in told, "nothing is lost" in told, "parameters" in told) == (True, False, False)


# --- with real servers -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    with start_postgresql() as started:
        yield started


@contextmanager
def absent(stop: Callable[[], None], start: Callable[[], None], said: Sequence[str]) -> Iterator[None]:
    """Gone as the block begins, and back after a while, when it was missed."""
    stop()
    before = len(said)

    def come_back() -> None:
        begun = time.monotonic()
        while time.monotonic() < begun + (ABSENT_S if len(said) > before else MOST_ABSENT_S):
            time.sleep(0.05)
        start()

    back = threading.Thread(target=come_back)
    back.start()
    try:
        yield
    finally:
        back.join()


def add(name: str) -> Callable[[Connection], None]:
    return lambda connection: connection.execute(
        organisations.insert().values(organisation=name, created_at=now_text())
    )  # type: ignore[return-value]


def names(ledger: Ledger) -> list[str]:
    with ledger.read() as connection:
        return sorted(connection.execute(select(organisations.c.organisation)).scalars())


@pytest.mark.service
def test_a_ledger_that_went_away_is_waited_for_by_reads_writes_and_the_writer(
    server: PostgresqlServer, said: list[str]
) -> None:
    with open_ledger(server.new_ledger_url()) as ledger:
        ledger.writer.run(add("a"))
        with absent(server.stop, server.start, said):
            ledger.writer.run(add("b"))
        with absent(server.stop, server.start, said):
            assert names(ledger) == ["a", "b"]
        with absent(server.stop, server.start, said), ledger.write() as connection:
            add("c")(connection)
        with (
            absent(server.stop, server.start, said),
            open_ledger(ledger.engine.url.render_as_string(False)) as other,
        ):
            assert names(other) == ["a", "b", "c"]
    # A server that is starting may answer one connection and refuse the next: then an absence is two.
    words = [line.split(" after ")[0].split(";")[0] for line in said]
    assert words == ["The ledger does not answer", "The ledger answers again"] * (len(words) // 2)
    assert len(words) >= 8


@pytest.mark.service
def test_a_coroutine_cancelled_in_one_absence_does_not_end_the_wait_in_the_next(
    server: PostgresqlServer, said: list[str]
) -> None:
    async def cancel_one(ledger: Ledger) -> None:
        waiting = asyncio.create_task(ledger.writer.run_async(add("a")))
        await asyncio.sleep(0.5)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    with open_ledger(server.new_ledger_url()) as ledger:
        ledger.writer.run(add("first"))
        with absent(server.stop, server.start, said):
            asyncio.run(cancel_one(ledger))
        ledger.writer.run(add("between"))
        with absent(server.stop, server.start, said):
            ledger.writer.run(add("last"))
        assert {"first", "between", "last"} <= set(names(ledger))


@pytest.mark.service
def test_a_task_whose_transaction_broke_off_is_done_again(server: PostgresqlServer, said: list[str]) -> None:
    attempts = []
    with open_ledger(server.new_ledger_url()) as ledger:

        @hide_content
        def work() -> dict[str, object]:
            attempts.append(1)
            with ledger.write() as connection:
                add("first")(connection)
                if len(attempts) == 1:
                    server.stop()
                    threading.Timer(ABSENT_S, server.start).start()
                add("second")(connection)
            return {}

        work()
        assert names(ledger) == ["first", "second"]
    assert len(attempts) == 2


class Breaker:
    """Stops the server at a COMMIT.

    It stops before the COMMIT is sent, or after it was kept and before anybody is told.
    """

    def __init__(self, engine: Engine, server: PostgresqlServer, *, is_kept: bool) -> None:
        self.count = 0

        @event.listens_for(engine, "before_cursor_execute")
        def before(connection: Connection, cursor: object, statement: str, *_: object) -> None:
            if statement == "COMMIT" and self.count == 0:
                self.count = 1
                if is_kept:
                    connection.connection.dbapi_connection.execute("COMMIT")  # type: ignore[union-attr]
                server.stop()
                threading.Timer(ABSENT_S, server.start).start()


@pytest.mark.service
@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "lost"])
def test_what_a_commit_that_nobody_answered_kept_is_not_done_again(
    server: PostgresqlServer, said: list[str], is_kept: bool
) -> None:
    with open_ledger(server.new_ledger_url()) as ledger:
        runs = []

        def count(connection: Connection) -> int:
            runs.append(1)
            add(f"run-{len(runs)}")(connection)
            return len(runs)

        Breaker(ledger.engine, server, is_kept=is_kept)
        # What crashes with the server is the last that it knew of the transaction.
        assert ledger.writer.run(count) == (1 if is_kept else 2)
        assert names(ledger) == (["run-1"] if is_kept else ["run-2"])
        with ledger.read() as connection:
            assert connection.execute(select(func.count()).select_from(organisations)).scalar_one() == 1
        # The connection went with the server; what follows has another.
        assert ledger.writer.run(count) == (2 if is_kept else 3)


@pytest.mark.service
def test_a_command_that_begins_after_an_absence_takes_no_work_of_before_it(
    server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.new_ledger_url()

    def take(connection: Connection, name: str) -> None:
        hold_elsewhere(connection, Job(kind="judge", name=name), name, lease_s=0.1)

    with open_ledger(url) as ledger, ledger.write() as connection:
        take(connection, "before")
    time.sleep(0.2)
    server.stop()
    server.start()
    with open_ledger(url) as ledger:
        with ledger.write() as connection:
            take(connection, "after")
        time.sleep(0.2)
        with ledger.read() as connection:
            found = list_jobs(connection, "judge")
            assert {job.name: is_held(connection, job) for job in found} == {
                "before": True,
                "after": False,
            }
            monkeypatch.setattr(clock, "GRACE_S", 0.0)
            assert not any(is_held(connection, job) for job in found)


@pytest.mark.service
def test_a_host_whose_clock_is_ahead_forgets_no_commit_that_was_counted(
    server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, now = server.new_ledger_url(), time.time
    count = "SELECT count(*) FROM commit_counts"
    with open_ledger(url) as ledger, open_ledger(url) as other:
        ledger.writer.run(add("run-1"))
        with monkeypatch.context() as patched:
            patched.setattr(time, "time", lambda: now() + 8 * 86_400.0)
            other.writer.run(lambda connection: mark_transaction(connection))
        with ledger.read() as connection:
            assert connection.exec_driver_sql(count).scalar_one() == 2
        with ledger.write() as connection:
            connection.exec_driver_sql("UPDATE commit_counts SET counted_at = '2020-01-01'")
        with open_ledger(url) as later, later.write() as connection:
            assert connection.exec_driver_sql(count).scalar_one() == 1
            (at,) = connection.exec_driver_sql("SELECT counted_at FROM commit_counts").scalars()
            assert abs(datetime.fromisoformat(at).timestamp() - now()) < 60
            assert len(at) == len(now_text())


@pytest.mark.service
@pytest.mark.parametrize("busy_s", [None, 5.0], ids=["nothing is waited for", "a server of ours"])
def test_of_a_commit_that_nobody_answered_nobody_says_that_it_was_not_kept(
    server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch, busy_s: float | None
) -> None:
    url = server.new_ledger_url()
    open_ledger(url).close()
    monkeypatch.setenv("PROCTOR_STORE_WAIT_S", "0")
    load_settings.cache_clear()
    with open_ledger(url, busy_s=busy_s) as ledger:
        Breaker(ledger.engine, server, is_kept=True)
        with pytest.raises(StoreError, match="it is not known whether that was kept") as failed:
            ledger.writer.run(add("run-1"))
        assert not isinstance(failed.value, StoreAway)
        until_there(partial(names, ledger), wait_s=30.0)
        assert names(ledger) == ["run-1"]


@pytest.mark.service
def test_a_lake_waits_for_its_catalog_and_its_object_store_and_lands_once(
    server: PostgresqlServer, said: list[str], tmp_path: Path
) -> None:
    with start_object_store() as store:
        settings = Settings.model_validate(
            {"home": tmp_path, "lake_catalog": server.new_catalog(), "lake_data": f"s3://{BUCKET}/lake"}
        )
        count = "SELECT count(*) FROM sessions"
        with open_lake(settings) as lake:
            lake.land("sessions", "a", session_frame(3))
            with absent(server.stop, server.start, said):
                assert lake.query(count).item() == 3
            with absent(server.stop, server.start, said):
                lake.land("sessions", "b", session_frame(3, first=3))
            with absent(store.stop, store.start, said):
                lake.land("sessions", "c", session_frame(3, first=6))
            assert lake.query(count).item() == 9
            with pytest.raises(StoreAway), lake.transaction(["sessions"]) as connection:
                connection.execute("DELETE FROM sessions WHERE landing_unit = 'sessions/a'")
                server.stop()
                threading.Timer(ABSENT_S, server.start).start()
            assert lake.query(count).item() == 9
    assert [line.split(";")[0].split(" after")[0] for line in said if "lake catalog" in line][:4] == [
        "The lake catalog does not answer",
        "The lake catalog answers again",
    ] * 2
    assert [line.split(";")[0].split(" after")[0] for line in said if "object store" in line] == [
        "The object store does not answer",
        "The object store answers again",
    ]


@pytest.mark.service
def test_a_wrong_database_or_role_is_told_at_once(server: PostgresqlServer, said: list[str]) -> None:
    url = server.new_ledger_url()
    for wrong in (url.replace("postgres@", "nobody@"), url.replace("/ledger_", "/no_ledger_")):
        with pytest.raises(StoreError, match="cannot be opened"):
            open_ledger(wrong)
    assert said == []
