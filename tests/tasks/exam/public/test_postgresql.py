"""The public log on PostgreSQL: writers at once make one chain and never wait in a circle."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, update
from sqlalchemy.exc import DBAPIError, ProgrammingError

from tasks.exam.closed import force_close
from tasks.exam.protocol import Answer, make_protocol
from tasks.exam.public.hashing import compute_root, digest
from tasks.exam.public.log.check import check_public_log
from tasks.exam.public.log.heads import sign_public_head
from tasks.exam.public.log.log_file import write_public_log
from tests.tasks.exam.kit import check_ledger
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.exam_role import grant_role
from warehouse.ledger.engine.logs import public_log
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.logs.public_log import add_public_entry
from warehouse.ledger.engine.opening import open_exam_database, open_ledger
from warehouse.ledger.engine.tables import public_head
from warehouse.ledger.engine.tables import public_log as lines

pytestmark = pytest.mark.service
WRITERS, TURNS = 4, 60


@pytest.fixture
def url(postgresql: PostgresqlServer) -> str:
    return postgresql.new_ledger_url()


def test_processes_that_write_both_logs_at_once_make_one_chain_of_each(url: str, tmp_path: Path) -> None:
    settings = make_settings(tmp_path / "home")

    def write(place: int) -> None:
        def work(connection: Connection) -> None:
            # Whatever comes first in the transaction, the heads are taken in one order.
            if place % 2:
                add_entry(connection, Entry("list", f"u{place}"))
            add_public_entry(connection, "approve", {"what": str(place)})
            if not place % 2:
                add_entry(connection, Entry("list", f"u{place}"))

        with open_ledger(url) as own:
            futures = [own.writer.submit(work) for _ in range(TURNS)]
            for _turn in range(TURNS // 10):
                with own.write() as connection:
                    work(connection)
                write_public_log(own, settings)
            for future in futures:
                future.result(timeout=60)

    with open_ledger(url):
        pass
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    with open_ledger(url) as ledger:
        sign_public_head(ledger, settings)
        report = check_public_log(ledger, settings)
        with ledger.read() as connection:
            assert check_ledger(connection).findings == ()
    # What all wrote, what the log begins with, and the key.
    assert (report.findings, report.entry_count) == ((), WRITERS * TURNS * 11 // 10 + 2)
    assert report.file_count == report.entry_count


def test_the_exams_role_opens_and_closes_in_public_and_changes_nothing_there(
    url: str, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path / "home")
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    with open_ledger(url) as ledger:
        bank = make_bank()
        world = World(ledger, settings, registry, bank, publish(ledger, settings, registry, bank))
        name = f"exam_{abs(hash(url)) % 10**8}"
        role = grant_role(ledger, name)
        session_id, other = (world.sessions(model)[0]["session_id"] for model in ("alpha", "rho"))
        with open_exam_database(role.address) as exam:
            protocol = make_protocol(exam, settings, is_in_house=False)
            import time

            world.now = time.time()
            token = world.token(session_id)
            lease = asyncio.run(protocol.open_session(token, session_id))
            for seq in range(1, 7):
                asyncio.run(protocol.next_question(token, lease))
                asyncio.run(protocol.submit_answer(token, lease, seq, Answer(f"text {seq}")))
            exam.writer.run(lambda _: None)
            # The beginning, the commitment and the draw of the run, the key, the opening and the closing.
            assert write_public_log(exam, settings) == 6
            for forbidden in (delete(lines), update(lines).values(line="x"), delete(public_head)):
                with pytest.raises((ProgrammingError, DBAPIError)), exam.write() as connection:
                    connection.execute(forbidden)
        force_close(ledger, other, "over")
        with ledger.read() as connection:
            steps = public_log.read_public_entries(connection, world.plan.run_id, ["open", "close"])
        bodies: list[dict[str, Any]] = [step.body for step in steps]
        leaves = [
            digest("proctor answer", session_id, seq, bytes.fromhex(digest_text(f"text {seq}")))
            for seq in range(1, 7)
        ]
        assert [(step.kind, body["session"]) for step, body in zip(steps, bodies, strict=True)] == [
            ("open", session_id),
            ("close", session_id),
            ("close", other),
        ]
        assert bodies[1]["answers_root"] == compute_root(leaves).hex()
        assert check_public_log(ledger, settings).findings == ()
