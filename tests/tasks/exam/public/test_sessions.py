"""Sessions in the public log: opened once, closed once with the root of their answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import update

from tasks.exam.closed import close_overdue, force_close
from tasks.exam.log import HeadKeeper
from tasks.exam.protocol import Answer, ExamProtocol, SeatRules, make_protocol
from tasks.exam.public.hashing import compute_root, digest
from tasks.exam.public.log.log_file import name_log_file, write_public_log
from tests.tasks.exam.test_log import Seat
from tests.tasks.exam.world import KEY_MARKER, WHY_MARKER, World
from warehouse.ledger.engine import tables
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.logs.public_log import list_public_entries


def read_bodies(world: World, kind: str) -> list[dict[str, Any]]:
    with world.ledger.read() as connection:
        return [step.body for step in list_public_entries(connection, [kind])]


def compute_expected_root(session_id: str, texts: dict[int, str]) -> str:
    leaves = [
        digest("proctor answer", session_id, seq, bytes.fromhex(digest_text(texts[seq])))
        for seq in sorted(texts)
    ]
    return compute_root(leaves).hex()


@pytest.fixture
def seat(world: World) -> Seat:
    return Seat(world)


def test_a_session_is_opened_once_and_closed_with_the_root_of_its_answers(seat: Seat) -> None:
    world = seat.world
    opening = {"run": world.plan.run_id, "session": seat.session_id}
    asyncio.run(seat.protocol.open_session(seat.token, seat.session_id, seat.lease.secret))
    assert read_bodies(world, "open") == [opening]
    seat.lease = asyncio.run(seat.protocol.open_session(seat.token, seat.session_id, seat.lease.secret))
    texts = {seq: f"answer {seq}" for seq in range(1, 7)}
    for seq, text in texts.items():
        assert read_bodies(world, "close") == []
        seat.answer(seq, text)
    closing = {"question_count": 6, "answer_count": 6, "reason": None}
    root = compute_expected_root(seat.session_id, texts)
    assert read_bodies(world, "close") == [{**opening, **closing, "answers_root": root}]


def test_answers_of_one_transaction_with_the_last_are_in_the_root(world: World) -> None:
    """The entries of answers handed in at once wait for the commit that closes the session."""
    protocol = make_protocol(world.ledger, world.settings, is_in_house=True)
    with world.ledger.write() as connection:
        connection.execute(update(tables.sessions).values(pending_window=6))
    session_id = world.sessions()[0]["session_id"]
    protocol = ExamProtocol(
        world.ledger, world.keys, SeatRules(lease_s=60, is_in_house=True), clock=world.clock
    )
    token = world.token(session_id)
    lease = asyncio.run(protocol.open_session(token, session_id))
    for _ in range(6):
        asyncio.run(protocol.next_question(token, lease))

    async def answer_all() -> None:
        await asyncio.gather(
            *(protocol.submit_answer(token, lease, seq, Answer(f"text {seq}")) for seq in range(1, 7))
        )

    asyncio.run(answer_all())
    (closing,) = read_bodies(world, "close")
    texts = {seq: f"text {seq}" for seq in range(1, 7)}
    assert (closing["answer_count"], closing["answers_root"]) == (6, compute_expected_root(session_id, texts))


def test_a_session_that_is_closed_unfinished_says_how_and_never_why(seat: Seat) -> None:
    world = seat.world
    seat.answer(1, "only one")
    force_close(world.ledger, seat.session_id, "SECRET-REASON")
    other = world.sessions("rho")[0]["session_id"]
    with world.ledger.write() as connection:
        connection.execute(update(tables.sessions).values(deadline_at="2020-01-01T00:00:00.000000+00:00"))
    close_overdue(world.ledger)
    first, second = read_bodies(world, "close")
    assert (first["session"], first["answer_count"], first["reason"]) == (seat.session_id, 1, "forced")
    assert first["answers_root"] == compute_expected_root(seat.session_id, {1: "only one"})
    assert (second["session"], second["answer_count"], second["reason"]) == (other, 0, "deadline")
    assert second["answers_root"] == compute_root([]).hex()
    write_public_log(world.ledger, world.settings)
    assert b"SECRET-REASON" not in name_log_file(world.settings).read_bytes()


def test_nothing_secret_is_in_the_public_folder(seat: Seat) -> None:
    """No file of the public folder holds contents, answers, tokens, leases, seeds or keys."""
    world = seat.world
    for seq in range(1, 7):
        seat.answer(seq, f"SECRET-ANSWER {seq}")
    HeadKeeper(world.ledger, world.settings)
    write_public_log(world.ledger, world.settings)
    secrets = [KEY_MARKER, WHY_MARKER, "SECRET-ANSWER", "Stem ", seat.token, seat.lease.secret]
    with world.ledger.read() as connection:
        secrets += [row.seed for row in connection.execute(tables.run_plans.select())]
        secrets += [row.draw_key for row in connection.execute(tables.set_keys.select()) if row.draw_key]
    folder = world.settings.home / "secrets"
    secrets += [path.read_text().strip() for path in folder.iterdir()]
    public = list(name_log_file(world.settings).parent.iterdir())
    assert public
    for path in public:
        whole = path.read_text()
        assert [secret for secret in secrets if secret in whole] == []
