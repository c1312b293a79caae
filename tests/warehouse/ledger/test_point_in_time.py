"""A ledger on PostgreSQL as of a moment, by PostgreSQL's own tools.

What was acknowledged before the moment is there, what came after it is not, and the audit says so by the heads that were kept.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tasks.exam.log import check_log, keep_head, name_heads_file
from tasks.exam.protocol import Answer, ExamProtocol, Lease, make_protocol
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from tests.warehouse.ledger.postgresql import PostgresqlServer, run_postgresql, start_postgresql
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

pytestmark = [pytest.mark.service, pytest.mark.long]


@contextmanager
def archive_log(server: PostgresqlServer) -> Iterator[Path]:
    """Let the server put every finished piece of its log into a folder."""
    archive = server.folder / "wal"
    run_postgresql(server.folder, "mkdir", str(archive))
    with psycopg.connect(
        f"host={server.folder} user=postgres dbname=postgres", autocommit=True
    ) as connection:
        connection.execute("ALTER SYSTEM SET archive_mode = on")
        connection.execute(
            "ALTER SYSTEM SET archive_command = "
            f"'test ! -f {archive}/%f && cp %p {archive}/part && mv {archive}/part {archive}/%f'"
        )
    server.stop()
    server.start()
    yield archive


def ask(server: PostgresqlServer, query: str) -> object:
    with psycopg.connect(
        f"host={server.folder} user=postgres dbname=postgres", autocommit=True
    ) as connection:
        row = connection.execute(query).fetchone()
        assert row is not None
        return row[0]


def answer(ledger: Ledger, world: World, session_id: str, texts: list[str]) -> None:
    """Open or resume the session and answer the next questions, each acknowledged."""
    token = world.token(session_id)

    async def sit(door: ExamProtocol) -> None:
        lease: Lease = await door.open_session(token, session_id, "the-secret-of-the-sitter-" + "x" * 16)
        for text in texts:
            put = await door.next_question(token, lease)
            assert put is not None
            receipt = await door.submit_answer(token, lease, put.seq, Answer(text))
            assert receipt.seq == put.seq

    asyncio.run(sit(make_protocol(ledger, world.settings, is_in_house=True)))


def test_what_was_acknowledged_before_the_moment_is_there_and_nothing_after_it(tmp_path: Path) -> None:
    with start_postgresql(is_durable=True) as server, archive_log(server) as archive:
        url = server.new_ledger_url()
        settings = make_settings(tmp_path / "home", ledger_url=url)
        registry, bank = (
            make_registry(make_model("alpha"), make_model("rho", roles=("reference",))),
            make_bank(),
        )
        with open_ledger(url) as ledger:
            world = World(
                ledger, settings, registry, bank, publish(ledger, settings, registry, bank), now=time.time()
            )
            session_id = str(world.sessions()[0]["session_id"])
            base = server.folder / "base"
            run_postgresql(server.folder, "pg_basebackup", "-h", str(server.folder), "-U", "postgres", "-D", str(base), "-c", "fast")  # fmt: skip
            # After the base backup: only the log has it.
            answer(ledger, world, session_id, ["before the moment"])
            keep_head(ledger, settings)
            heads = name_heads_file(settings)
            kept = heads.read_bytes()
            target = ask(server, "SELECT now()::text")
            time.sleep(1.2)
            answer(ledger, world, session_id, ["after the moment"])
            keep_head(ledger, settings)
            assert list(world.answers(session_id).values()) == ["before the moment", "after the moment"]
        piece = ask(server, "SELECT pg_walfile_name(pg_switch_wal())")
        deadline = time.monotonic() + 60
        while not (archive / str(piece)).exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        # The disk of the server is lost; base backup and log lie elsewhere.
        server.stop()
        run_postgresql(server.folder, "rm", "-rf", str(server.folder / "db"))
        with (base / "postgresql.auto.conf").open("a") as file:
            file.write(
                f"restore_command = 'cp {archive}/%f %p'\n"
                f"recovery_target_time = '{target}'\n"
                "recovery_target_action = 'promote'\n"
            )
        run_postgresql(server.folder, "touch", str(base / "recovery.signal"))
        run_postgresql(server.folder, "mv", str(base), str(server.folder / "db"))
        server.start()
        deadline = time.monotonic() + 60
        while ask(server, "SELECT pg_is_in_recovery()") and time.monotonic() < deadline:
            time.sleep(0.2)
        with open_ledger(url) as ledger:
            restored = World(ledger, settings, registry, bank, world.plan, now=time.time())
            assert list(restored.answers(session_id).values()) == ["before the moment"]
            # The file of heads knows of a later head: the ledger is of before, and the audit says so.
            found = {one.name for one in check_log(ledger, settings).findings}
            assert found == {"log_cut_before_head"}
            # With the heads as of that moment nothing is wrong, and the exam goes on where it stood.
            shutil.copyfile(heads, tmp_path / "heads-of-later")
            heads.write_bytes(kept)
            assert check_log(ledger, settings).findings == ()
            answer(ledger, restored, session_id, ["answered again"])
            assert list(restored.answers(session_id).values()) == ["before the moment", "answered again"]
            assert check_log(ledger, settings).findings == ()
