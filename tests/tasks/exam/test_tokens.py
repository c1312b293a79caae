"""Tokens: their lives, the keys that sign them, and what ends them while a server runs."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest
from sqlalchemy import Connection

from schemas.errors import ExamError, StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.protocol.tokens.keys import KeyFile, open_keys, rotate_keys
from tasks.exam.protocol.tokens.tokens import VerifiedTokens, issue_token, read_token_id, verify_token
from tasks.exam.protocol.words import Answer
from tests.tasks.exam.test_sitting import sit
from tests.tasks.exam.world import AnsweringClient, World
from warehouse.ledger.engine.statements import Later
from warehouse.ledger.exam import tokens as ledger_tokens
from warehouse.ledger.trust import users

NOW = 1_800_000_000.0
DAY_S = 86_400


class Reader:
    """A process that verifies tokens; its clock stands until it is told otherwise."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.tick = 0.0
        self.keys = KeyFile(open_keys(world.settings).path, world.settings.token_longest_s, lambda: self.tick)
        self.tokens = VerifiedTokens(self.keys, world.clock, lambda: self.tick)

    def read(self, token: str) -> str:
        """`taken`, or the code of the refusal."""
        with self.world.ledger.read() as connection:
            try:
                self.tokens.read(token, connection)
            except ExamError as error:
                return error.code
        return "taken"


@pytest.fixture
def reader(world: World) -> Reader:
    return Reader(world)


def issue(world: World, ttl_s: int = 3600, now: float | None = None) -> str:
    return issue_token(
        world.keys, "candidate:alpha", None, ["sit"], ttl_s, now=world.now if now is None else now
    ).text


def test_no_token_lives_longer_than_the_installation_allows(world: World) -> None:
    long = issue_token(world.keys, "candidate:alpha", None, ["sit"], 10**9, now=NOW)
    assert long.expires_at == NOW + 14 * DAY_S
    # The limit was lowered since: it holds for what was issued before.
    keys = KeyFile(open_keys(world.settings).path, longest_s=60)
    assert verify_token(keys, long.text, now=NOW + 59).user_id == "candidate:alpha"
    with pytest.raises(ExamError, match="Ask for a new one"):
        verify_token(keys, long.text, now=NOW + 60)


def test_a_clock_ahead_by_seconds_is_borne_and_by_a_minute_is_not(world: World) -> None:
    token = issue(world)
    assert verify_token(world.keys, token, now=world.now - 10).issued_at == world.now
    with pytest.raises(ExamError):
        verify_token(world.keys, token, now=world.now - 11)


def test_what_a_former_key_signed_is_believed_until_its_last_token_has_expired(
    world: World, reader: Reader
) -> None:
    before = issue(world)
    former = world.keys.read().present.key_id
    after_rotation = rotate_keys(world.settings, ends_former=False, now=world.now)
    assert [key.key_id for key in after_rotation.keys[1:]] == [former]
    assert after_rotation.keys[1].ends_at == world.now + world.settings.token_longest_s
    after = issue(world)
    assert jwt.get_unverified_header(after)["kid"] == after_rotation.present.key_id != former
    assert [reader.read(token) for token in (before, after)] == ["taken", "taken"]
    # A token that claims a longer life than its key has ends with the key.
    forged = jwt.encode(
        {
            **jwt.decode(before, options={"verify_signature": False}),
            "iat": world.now + 5,
            "exp": world.now + 300 * DAY_S,
        },
        after_rotation.keys[1].secret,
        headers={"kid": former},
    )
    assert reader.read(forged) == "taken"
    world.now += world.settings.token_longest_s
    assert reader.read(forged) == "token_expired"
    later = rotate_keys(world.settings, ends_former=False, now=world.now)
    assert [key.key_id for key in later.keys[1:]] == [after_rotation.present.key_id]


def test_a_key_that_is_ended_at_once_ends_its_tokens_within_a_second(world: World, reader: Reader) -> None:
    token = issue(world)
    assert reader.read(token) == "taken"
    rotate_keys(world.settings, ends_former=True, now=world.now)
    reader.tick += 0.99
    assert reader.read(token) == "taken"
    reader.tick += 0.01
    assert reader.read(token) == "token_invalid"
    assert reader.read(issue(world)) == "taken"


def test_a_server_that_has_not_looked_yet_believes_a_new_key(world: World, reader: Reader) -> None:
    assert reader.read(issue(world)) == "taken"
    rotate_keys(world.settings, ends_former=False, now=world.now)
    assert reader.read(issue(world)) == "taken"


def test_deleting_the_keys_ends_every_token_also_those_a_server_knows(world: World, reader: Reader) -> None:
    token = issue(world)
    assert reader.read(token) == "taken"
    issuer = reader.keys.read().issuer
    reader.keys.path.unlink()
    reader.tick += 1
    assert reader.read(token) == "token_invalid"
    assert reader.keys.read().issuer != issuer
    assert reader.read(issue(world)) == "taken"


def test_processes_that_start_at_once_have_the_same_keys(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with ThreadPoolExecutor(16) as pool:
        found = set(pool.map(lambda _: open_keys(settings).read().present.key_id, range(32)))
    assert len(found) == 1
    assert open_keys(settings).path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in open_keys(settings).path.parent.iterdir()] == ["exam-keys.json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda keys: "x" * 64,
        lambda keys: "[]",
        lambda keys: json.dumps({**keys, "keys": []}),
        lambda keys: json.dumps({**keys, "keys": keys["keys"] * 2}),
        lambda keys: json.dumps({**keys, "keys": [{**keys["keys"][0], "secret": "short"}]}),
        lambda keys: json.dumps({**keys, "keys": [{**keys["keys"][0], "ends_at": 1.0}]}),
    ],
)
def test_a_damaged_file_of_keys_is_told_and_never_replaced(
    tmp_path: Path, damage: Callable[[dict[str, Any]], str]
) -> None:
    file = open_keys(Settings(home=tmp_path))
    file.read()
    text = damage(json.loads(file.path.read_text()))
    file.path.write_text(text)
    with pytest.raises(StoreError, match=r"exam-keys\.json is not a file of keys"):
        open_keys(Settings(home=tmp_path)).read()
    assert file.path.read_text() == text


def test_keys_that_others_may_read_are_refused(tmp_path: Path) -> None:
    file = open_keys(Settings(home=tmp_path))
    file.read()
    file.path.chmod(0o640)
    with pytest.raises(StoreError, match="may be read by other users"):
        open_keys(Settings(home=tmp_path)).read()


def test_an_ended_token_is_refused_within_a_second_and_no_other(world: World, reader: Reader) -> None:
    token, other = issue(world), issue(world)
    assert [reader.read(one) for one in (token, other)] == ["taken", "taken"]
    with world.ledger.write() as connection:
        ledger_tokens.end_token(connection, read_token_id(token), world.now)
        ledger_tokens.end_token(connection, read_token_id(token), world.now)
    reader.tick += 1
    assert [reader.read(one) for one in (token, other)] == ["token_ended", "taken"]


def test_ending_a_users_tokens_spares_those_issued_later_and_other_users(
    world: World, reader: Reader
) -> None:
    until, after = issue(world), issue(world, now=world.now + 0.001)
    others = issue_token(world.keys, "candidate:rho", None, ["sit"], 60, now=world.now).text
    with world.ledger.write() as connection:
        ledger_tokens.end_user_tokens(connection, "candidate:alpha", world.now)
    assert [reader.read(one) for one in (until, after, others)] == ["token_ended", "taken", "taken"]


def test_what_was_ended_stays_ended_when_it_is_ended_again_by_a_clock_that_was_set_back(
    world: World, reader: Reader
) -> None:
    token = issue(world)
    with world.ledger.write() as connection:
        ledger_tokens.end_user_tokens(connection, "candidate:alpha", world.now)
        ledger_tokens.end_user_tokens(connection, "candidate:alpha", world.now - 3600)
    assert reader.read(token) == "token_ended"


@pytest.mark.parametrize("change", ["password", "role", "shut out"])
def test_a_new_password_another_role_and_shutting_out_end_tokens_for_good(
    world: World, reader: Reader, change: str
) -> None:
    with world.ledger.write() as connection:
        users.add_user(connection, user_id="eve", role="examiner")
    world.now = time.time()
    token = issue_token(world.keys, "eve", None, ["read_runs"], 60, now=world.now).text
    given = issue_token(world.keys, "candidate:alpha", None, ["sit"], 60, now=world.now, issued_by="eve").text
    assert (reader.read(token), reader.read(given)) == ("taken", "taken")
    with world.ledger.write() as connection:
        if change == "password":
            users.write_password_hash(connection, "eve", "a hash")
        elif change == "role":
            users.write_role(connection, "eve", "admin")
        else:
            users.write_activity(connection, "eve", is_active=False)
            users.write_activity(connection, "eve", is_active=True)
    reader.tick += 1
    # What she issued to others, too: she may have kept it.
    assert (reader.read(token), reader.read(given)) == ("token_ended", "token_ended")
    assert reader.read(issue_token(world.keys, "eve", None, ["read_runs"], 60).text) == "taken"


def test_a_candidate_keeps_its_role_and_nobody_becomes_one(world: World) -> None:
    with world.ledger.write() as connection:
        users.add_user(connection, user_id="eve", role="examiner")
    for name, role in (("candidate:alpha", "admin"), ("eve", "candidate"), ("eve", "king"), ("x", "admin")):
        with pytest.raises(UsageError), world.ledger.write() as connection:
            users.write_role(connection, name, role)


def test_what_no_token_can_need_leaves_the_ledger(world: World) -> None:
    with world.ledger.write() as connection:
        ledger_tokens.end_token(connection, "a" * 32, NOW)
        ledger_tokens.end_user_tokens(connection, "eve", NOW + 366 * DAY_S + 1)
    with world.ledger.read() as connection:
        assert ledger_tokens.read_ended_tokens(connection).read() == (
            frozenset(),
            {"eve": NOW + 366 * DAY_S + 1},
        )


def test_answers_ask_the_ledger_once_a_second_what_has_ended(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = world.sessions()[0]["session_id"]
    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=60), clock=world.clock)
    protocol._moves._tokens = Reader(world).tokens  # its clock stands
    asked = []

    def ask(connection: Connection) -> Later[ledger_tokens.EndedTokens]:
        asked.append(1)
        return ledger_tokens.read_ended_tokens(connection)

    monkeypatch.setattr("tasks.exam.protocol.tokens.tokens.read_ended_tokens", ask)
    token = world.token(session_id)
    lease = asyncio.run(protocol.open_session(token, session_id))
    put = asyncio.run(protocol.next_question(token, lease))
    while put is not None:
        _, put = asyncio.run(protocol.submit_and_next(token, lease, put.seq, Answer("x")))
    assert len(asked) == 1


def test_what_has_ended_is_asked_for_again_at_half_its_age(world: World) -> None:
    reader = Reader(world)
    token = world.token(world.sessions()[0]["session_id"])
    for tick, known_at in ((0.0, 0.0), (0.4, 0.0), (0.6, 0.6)):
        reader.tick = tick
        assert reader.read(token) == "taken"
        assert reader.tokens._ended is not None
        assert reader.tokens._ended[0] == known_at


def test_a_run_in_house_survives_keys_that_end_in_the_middle(world: World) -> None:
    world.now = time.time()

    def end_keys(_model: Any, count: int) -> None:
        if count == 2:
            rotate_keys(world.settings, ends_former=True, now=time.time())
        elif count == 4:
            open_keys(world.settings).path.unlink()

    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=60, is_in_house=True))
    report = sit(world, AnsweringClient(end_keys, delay_s=0.6), door=protocol, models=["alpha"])
    assert (report.is_complete, report.answer_count) == (True, 6)


@pytest.mark.parametrize("text", ["", "abc", "a.b.c", "A" * 32, "g" * 32])
def test_what_is_no_token_cannot_be_ended(text: str) -> None:
    with pytest.raises(UsageError):
        read_token_id(text)
