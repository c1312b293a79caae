"""The state machine; through both doors what has a form of its own over HTTP.

The steps of a session go through either door at random in test_machine.py.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import jwt
import pytest

from schemas.errors import ExamError
from tasks.exam.doors import Door
from tasks.exam.log.check import check_ledger
from tasks.exam.protocol.tokens.tokens import AUDIENCE, issue_token
from tasks.exam.protocol.words import Answer, Lease, Put, Quota, Receipt, SessionSummary
from tests.tasks.exam.answer_rows import read_response_rows
from tests.tasks.exam.doors import DoorToTheExam
from tests.tasks.exam.world import KEY_MARKER, WHY_MARKER, World
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust import organisations, users


def refused(door: DoorToTheExam, operation: Any) -> tuple[int, str]:
    with pytest.raises(ExamError) as caught:
        door.call(operation)
    return caught.value.status, caught.value.code


def open_one(door: DoorToTheExam, world: World) -> tuple[str, str, Lease]:
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id)
    return session_id, token, door.call(lambda d: d.open_session(token, session_id))


def submit_more(door: DoorToTheExam, token: str, lease: Lease, seq: int) -> tuple[Receipt, Put | None]:
    return door.call(lambda d: d.submit_and_next(token, lease, seq, Answer("more")))


def sit_out(door: DoorToTheExam, token: str, lease: Lease) -> list[Put]:
    async def sit(opened: Door) -> list[Put]:
        puts = []
        while (put := await opened.next_question(token, lease)) is not None:
            puts.append(put)
            await opened.submit_answer(token, lease, put.seq, Answer(f"answer {put.seq}"))
        return puts

    return door.call(sit)


# --- inner layer: order, answers, closing -----------------------------------------------------------------------


def test_questions_come_in_the_allocated_order_each_once_and_the_last_answer_closes_the_session(
    any_door: DoorToTheExam, world: World
) -> None:
    session_id, token, lease = open_one(any_door, world)
    puts = sit_out(any_door, token, lease)
    assert [put.content.stem for put in puts] == world.order(session_id)
    assert [(put.seq, put.is_repeat, put.question_count) for put in puts] == [
        (n, False, 6) for n in range(1, 7)
    ]
    assert world.answers(session_id) == {n: f"answer {n}" for n in range(1, 7)}
    assert world.sessions()[0]["status"] == "closed"
    assert any_door.call(lambda d: d.next_question(token, lease)) is None


def test_a_pending_question_is_put_again_and_marked_and_the_next_waits_for_its_answer(
    door: DoorToTheExam, world: World
) -> None:
    _, token, lease = open_one(door, world)
    first = door.call(lambda d: d.next_question(token, lease))
    again = door.call(lambda d: d.next_question(token, lease))
    assert first is not None
    assert again == dataclasses.replace(first, is_repeat=True)
    door.call(lambda d: d.submit_answer(token, lease, 1, Answer("one")))
    second = door.call(lambda d: d.next_question(token, lease))
    assert second is not None
    assert (second.seq, second.is_repeat) == (2, False)


def test_an_answer_and_the_next_question_can_share_a_call(door: DoorToTheExam, world: World) -> None:
    session_id, token, lease = open_one(door, world)
    door.call(lambda d: d.next_question(token, lease))
    receipt, put = door.call(lambda d: d.submit_and_next(token, lease, 1, Answer("one")))
    assert receipt == Receipt(1, 1, 6, False)
    assert put is not None
    assert (put.seq, put.is_repeat, put.content.stem) == (2, False, world.order(session_id)[1])
    for seq in range(2, 7):
        receipt, put = submit_more(door, token, lease, seq)
    assert (receipt, put) == (Receipt(6, 6, 6, True), None)


def test_a_second_answer_is_refused_and_the_first_one_stays(door: DoorToTheExam, world: World) -> None:
    session_id, token, lease = open_one(door, world)
    door.call(lambda d: d.next_question(token, lease))
    door.call(lambda d: d.submit_answer(token, lease, 1, Answer("first")))
    assert refused(door, lambda d: d.submit_answer(token, lease, 1, Answer("second"))) == (
        409,
        "already_answered",
    )
    assert refused(door, lambda d: d.submit_and_next(token, lease, 1, Answer("third"))) == (
        409,
        "already_answered",
    )
    assert world.answers(session_id) == {1: "first"}


def test_a_question_that_was_not_handed_out_takes_no_answer(door: DoorToTheExam, world: World) -> None:
    session_id, token, lease = open_one(door, world)
    door.call(lambda d: d.next_question(token, lease))
    assert refused(door, lambda d: d.submit_answer(token, lease, 2, Answer("early"))) == (
        409,
        "not_delivered",
    )
    assert refused(door, lambda d: d.submit_answer(token, lease, 7, Answer("beyond"))) == (
        409,
        "not_delivered",
    )
    assert world.answers(session_id) == {}


def test_an_answer_to_a_closed_session_is_refused(door: DoorToTheExam, world: World) -> None:
    _, token, lease = open_one(door, world)
    sit_out(door, token, lease)
    assert refused(door, lambda d: d.submit_answer(token, lease, 6, Answer("late"))) == (
        409,
        "already_answered",
    )


def test_the_account_of_a_call_is_kept_and_a_blank_response_is_an_empty_answer(
    any_door: DoorToTheExam, world: World
) -> None:

    session_id, token, lease = open_one(any_door, world)
    account = Answer(
        response="half of",
        reasoning="thought",
        answer_status="truncated",
        finish_reason="length",
        input_tokens=11,
        output_tokens=22,
        cost_usd=0.25,
        latency_ms=33.5,
        attempts=2,
        error=None,
        prompt_version="1/zero_shot",
        call_key="k" * 64,
    )
    any_door.call(lambda d: d.next_question(token, lease))
    any_door.call(lambda d: d.submit_and_next(token, lease, 1, account))
    any_door.call(lambda d: d.submit_answer(token, lease, 2, Answer("  \n")))
    with world.ledger.read() as connection:
        rows = read_response_rows(connection, [session_id])
    kept = {
        name: rows[0][name]
        for name in ("response", "reasoning", "answer_status", "finish_reason", "attempts")
    }
    assert kept == {
        "response": "half of",
        "reasoning": "thought",
        "answer_status": "truncated",
        "finish_reason": "length",
        "attempts": 2,
    }
    assert (
        rows[0]["input_tokens"],
        rows[0]["output_tokens"],
        rows[0]["cost_usd"],
        rows[0]["latency_ms"],
    ) == (11, 22, 0.25, 33.5)
    assert (rows[1]["response"], rows[1]["answer_status"], rows[1]["prompt_version"]) == (
        "  \n",
        "empty",
        "own",
    )


def test_an_account_beyond_its_columns_is_cut_and_the_log_still_fits_the_answer(
    any_door: DoorToTheExam, world: World
) -> None:
    session_id, token, lease = open_one(any_door, world)
    any_door.call(lambda d: d.next_question(token, lease))
    # As a gateway may give them.
    odd = Answer("a", finish_reason="f" * 41, error="\ud800" * 201, prompt_version="", latency_ms=-0.0)
    any_door.call(lambda d: d.submit_answer(token, lease, 1, odd))
    with world.ledger.read() as connection:
        row = read_response_rows(connection, [session_id])[0]
        assert check_ledger(connection).findings == ()
    kept = (row["finish_reason"], row["error"], row["prompt_version"])
    assert kept == ("f" * 40, "\ufffd" * 200, "own")


def test_text_that_the_stores_cannot_hold_is_kept_with_marks_in_its_place(
    any_door: DoorToTheExam, world: World
) -> None:
    session_id, token, lease = open_one(any_door, world)
    any_door.call(lambda d: d.next_question(token, lease))
    any_door.call(lambda d: d.submit_answer(token, lease, 1, Answer("a\x00b 中文 𝔸")))
    assert world.answers(session_id) == {1: "a\ufffdb 中文 𝔸"}


def test_nothing_but_the_bare_content_leaves(any_door: DoorToTheExam, world: World) -> None:
    session_id, token, lease = open_one(any_door, world)
    puts = sit_out(any_door, token, lease)
    status = any_door.call(lambda d: d.read_status(token, session_id))
    seen = json.dumps([*(dataclasses.asdict(put) for put in puts), dataclasses.asdict(status)])
    for marker in (
        KEY_MARKER,
        WHY_MARKER,
        "lineage",
        "uuid",
        "discipline",
        "parent",
        "set_id",
        world.plan.season,
    ):
        assert marker not in seen
    assert {tuple(sorted(put.as_body()["content"])) for put in puts} == {
        ("language", "material", "options", "question_type", "stem")
    }


# --- leases -----------------------------------------------------------------------------------------------------


def test_a_second_concurrent_use_is_refused(any_door: DoorToTheExam, world: World) -> None:
    session_id, token, _ = open_one(any_door, world)
    assert refused(any_door, lambda d: d.open_session(token, session_id)) == (403, "session_in_use")
    assert refused(any_door, lambda d: d.open_session(token, session_id, "f" * 64)) == (403, "session_in_use")


def test_the_holder_resumes_with_the_lease_secret_and_shuts_out_its_former_self(
    door: DoorToTheExam, world: World
) -> None:
    session_id, token, lease = open_one(door, world)
    door.call(lambda d: d.next_question(token, lease))
    resumed = door.call(lambda d: d.open_session(token, session_id, lease.secret))
    assert (resumed.generation, resumed.secret) == (lease.generation + 1, lease.secret)
    put = door.call(lambda d: d.next_question(token, resumed))
    assert put is not None
    assert (put.seq, put.is_repeat) == (1, True)
    assert refused(door, lambda d: d.next_question(token, lease)) == (403, "lease_lost")
    assert refused(door, lambda d: d.submit_answer(token, lease, 1, Answer("x"))) == (403, "lease_lost")


def test_every_call_renews_the_lease_and_after_expiry_a_new_holder_may_open(
    door: DoorToTheExam, world: World
) -> None:
    session_id, token, lease = open_one(door, world)
    for _ in range(3):
        world.now += world.settings.lease_s - 1
        door.call(lambda d: d.next_question(token, lease))
    renewed = door.call(lambda d: d.renew_lease(token, lease))
    assert renewed.expires_at == world.now + world.settings.lease_s
    world.now += world.settings.lease_s
    assert refused(door, lambda d: d.next_question(token, lease)) == (403, "lease_expired")
    other = door.call(lambda d: d.open_session(token, session_id))
    assert other.secret != lease.secret
    assert refused(door, lambda d: d.next_question(token, lease)) == (403, "lease_lost")


def test_an_examiner_releases_a_session_and_its_answers_stay(door: DoorToTheExam, world: World) -> None:
    session_id, token, lease = open_one(door, world)
    door.call(lambda d: d.next_question(token, lease))
    door.call(lambda d: d.submit_answer(token, lease, 1, Answer("kept")))
    with world.ledger.write() as connection:
        users.add_user(connection, user_id="eve", role="examiner")
    examiner = world.token(None, user_id="eve", permissions=("release_sessions", "read_sessions"))
    door.call(lambda d: d.release_session(examiner, session_id))
    assert refused(door, lambda d: d.next_question(token, lease)) == (403, "lease_lost")
    reopened = door.call(lambda d: d.open_session(token, session_id))
    put = door.call(lambda d: d.next_question(token, reopened))
    assert put is not None
    assert put.seq == 2
    assert world.answers(session_id) == {1: "kept"}


def test_a_lease_of_another_session_opens_nothing(door: DoorToTheExam, world: World) -> None:
    session_id, token, lease = open_one(door, world)
    guessed = dataclasses.replace(lease, secret="0" * 64)
    assert refused(door, lambda d: d.next_question(token, guessed)) == (403, "lease_lost")
    other = world.sessions("rho")[0]["session_id"]
    moved = dataclasses.replace(lease, session_id=other)
    assert refused(door, lambda d: d.next_question(token, moved)) == (403, "session_invalid")
    assert session_id != other


# --- outer layer: tokens, roles, sessions -----------------------------------------------------------------------


def test_a_token_with_a_bad_signature_or_form_is_401(any_door: DoorToTheExam, world: World) -> None:
    session_id = world.sessions()[0]["session_id"]
    keys = world.keys.read()
    key, head = keys.present, {"kid": keys.present.key_id}
    claims = {
        "iss": keys.issuer,
        "aud": AUDIENCE,
        "iat": int(world.now),
        "nbf": int(world.now),
        "exp": int(world.now) + 99,
        "jti": "a" * 32,
        "user_id": "candidate:alpha",
        "session_id": session_id,
        "permissions": ["sit"],
    }

    def sign(**changed: Any) -> str:
        wanted = {name: value for name, value in {**claims, **changed}.items() if value is not None}
        return jwt.encode(wanted, key.secret, algorithm="HS256", headers=head)

    of_before = {name: claims[name] for name in ("user_id", "iat", "exp", "session_id", "permissions")}
    forged = {
        "other secret": jwt.encode(claims, "x" * 64, algorithm="HS256", headers=head),
        "other algorithm": jwt.encode(claims, key.secret, algorithm="HS512", headers=head),
        "no algorithm": jwt.encode(claims, "", algorithm="none", headers=head),
        "no key named": jwt.encode(claims, key.secret, algorithm="HS256"),
        "unknown key": jwt.encode(claims, key.secret, algorithm="HS256", headers={"kid": "another"}),
        "the form of before": jwt.encode(of_before, key.secret, algorithm="HS256"),
        "odd permissions": sign(permissions="sit"),
        "other audience": sign(aud="proctor-web"),
        "other issuer": sign(iss="proctor-elsewhere"),
        "from the future": sign(iat=int(world.now) + 60),
        "not yet": sign(nbf=int(world.now) + 60),
        "not a token": "abc.def.ghi",
        **{f"no {name}": sign(**{name: None}) for name in ("iss", "aud", "iat", "nbf", "exp", "jti")},
    }
    assert any_door.call(lambda d: d.open_session(sign(), session_id)).generation == 1
    for name, token in forged.items():
        assert (name, refused(any_door, lambda d, token=token: d.open_session(token, session_id))) == (
            name,
            (401, "token_invalid"),
        )


def test_an_expired_token_is_401_at_opening_and_in_the_middle_of_a_session(
    door: DoorToTheExam, world: World
) -> None:
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id, ttl_s=30)
    lease = door.call(lambda d: d.open_session(token, session_id))
    world.now += 30
    assert refused(door, lambda d: d.next_question(token, lease)) == (401, "token_expired")
    assert refused(door, lambda d: d.open_session(token, session_id)) == (401, "token_expired")


def test_an_unknown_or_inactive_user_is_403_at_once(door: DoorToTheExam, world: World) -> None:
    session_id, token, lease = open_one(door, world)
    stranger = world.token(session_id, user_id="candidate:nobody")
    assert refused(door, lambda d: d.open_session(stranger, session_id)) == (403, "user_unknown")
    with world.ledger.write() as connection:
        users.write_activity(connection, "candidate:alpha", is_active=False)
    assert refused(door, lambda d: d.next_question(token, lease)) == (403, "user_unknown")


def test_permissions_in_a_token_narrow_the_role_and_never_add_to_it(
    door: DoorToTheExam, world: World
) -> None:
    session_id = world.sessions()[0]["session_id"]
    narrowed = world.token(session_id, permissions=("list_own_sessions",))
    assert refused(door, lambda d: d.open_session(narrowed, session_id)) == (403, "permission_missing")
    swollen = world.token(session_id, permissions=("sit", "release_sessions", "read_sessions"))
    assert refused(door, lambda d: d.release_session(swollen, session_id)) == (403, "permission_missing")
    with world.ledger.write() as connection:
        users.add_user(connection, user_id="ann", role="annotator")
        users.add_user(connection, user_id="ad", role="admin")
    for name in ("ann", "ad"):
        token = world.token(session_id, user_id=name)
        assert refused(door, lambda d, token=token: d.open_session(token, session_id)) == (
            403,
            "permission_missing",
        )


def test_a_candidate_reaches_its_own_session_only_and_cannot_tell_what_else_exists(
    any_door: DoorToTheExam, world: World
) -> None:
    own, foreign = world.sessions()[0]["session_id"], world.sessions("rho")[0]["session_id"]
    for_foreign = world.token(foreign)
    for_own = world.token(own)
    for_nothing = world.token("s-there-is-none")
    for token, session_id in ((for_foreign, foreign), (for_own, foreign), (for_nothing, "s-there-is-none")):
        for operation in (
            lambda d, t=token, s=session_id: d.open_session(t, s),
            lambda d, t=token, s=session_id: d.read_status(t, s),
        ):
            assert refused(any_door, operation) == (403, "session_invalid")
    listed = any_door.call(lambda d: d.list_sessions(world.token(None, permissions=("list_own_sessions",))))
    assert listed == [SessionSummary(own, "planned", "zero_shot", 6, 0)]


def test_an_examiner_reads_every_session_but_sits_none(any_door: DoorToTheExam, world: World) -> None:
    session_id, token, lease = open_one(any_door, world)
    any_door.call(lambda d: d.next_question(token, lease))
    with world.ledger.write() as connection:
        users.add_user(connection, user_id="eve", role="examiner")
    examiner = world.token(session_id, user_id="eve", permissions=("read_sessions", "sit"))
    status = any_door.call(lambda d: d.read_status(examiner, session_id))
    assert status.session == Quota(6, 1, 0, 6)
    assert status.organisation == Quota(6, 1, 0, None)
    listed = any_door.call(lambda d: d.list_sessions(examiner, world.plan.run_id))
    assert sorted((item.model, item.is_reference) for item in listed) == [("alpha", False), ("rho", True)]
    assert refused(any_door, lambda d: d.open_session(examiner, session_id)) == (403, "permission_missing")
    assert refused(any_door, lambda d: d.read_status(examiner, "s-none")) == (404, "session_unknown")


# --- quotas -----------------------------------------------------------------------------------------------------


def test_quotas_count_allocated_pending_and_completed_for_session_and_candidate(
    door: DoorToTheExam, world: World
) -> None:
    session_id, token, lease = open_one(door, world)
    door.call(lambda d: d.next_question(token, lease))
    door.call(lambda d: d.submit_and_next(token, lease, 1, Answer("one")))
    status = door.call(lambda d: d.read_status(token, session_id))
    assert (status.session, status.candidate, status.organisation) == (
        Quota(6, 1, 1, 6),
        Quota(6, 1, 1, None),
        None,
    )


@pytest.mark.parametrize("level", ["candidate", "organisation"])
def test_a_limit_stops_handing_out_and_still_takes_the_answer_that_is_due(
    any_door: DoorToTheExam, world: World, level: str
) -> None:
    session_id, token, lease = open_one(any_door, world)
    with world.ledger.write() as connection:
        if level == "candidate":
            users.write_user_limit(connection, "candidate:alpha", 2)
        else:
            organisations.write_organisation_limit(connection, "alpha labs", 2)
    any_door.call(lambda d: d.next_question(token, lease))
    any_door.call(lambda d: d.submit_and_next(token, lease, 1, Answer("one")))
    receipt, put = any_door.call(lambda d: d.submit_and_next(token, lease, 2, Answer("two")))
    assert (receipt, put) == (Receipt(2, 2, 6, False), None)
    assert refused(any_door, lambda d: d.next_question(token, lease)) == (403, "quota_reached")
    assert world.answers(session_id) == {1: "one", 2: "two"}


# --- audit log --------------------------------------------------------------------------------------------------


def test_every_attempt_is_logged_with_user_and_session_allowed_or_not(
    door: DoorToTheExam, world: World
) -> None:
    session_id, token, lease = open_one(door, world)
    refused(door, lambda d: d.open_session(token, session_id))
    refused(door, lambda d: d.open_session("nonsense", session_id))
    door.call(lambda d: d.next_question(token, lease))
    refused(door, lambda d: d.submit_answer(token, lease, 4, Answer("x")))
    sit_out(door, token, lease)
    expired = issue_token(world.keys, "candidate:alpha", session_id, ["sit"], 1, now=world.now - 100).text
    refused(door, lambda d: d.open_session(expired, session_id))
    with world.ledger.read() as connection:
        planned = ("begin_chain", "plan_run", "plan_seed", "draw_set", "draw_key", "plan_session", "add_user")
        closed = ("begin_stages", "close_unit", "land_unit")
        ours = access_log.c.action.not_in(("log_key", "token_keys", "known_user", *planned, *closed))
        rows = connection.execute(access_log.select().where(ours).order_by(access_log.c.number)).all()
        assert check_ledger(connection).findings == ()
    alpha = "candidate:alpha"
    assert [(row.action, row.user_id, row.http_status, row.code) for row in rows[:5]] == [
        ("open", alpha, 200, None),
        ("open", alpha, 403, "session_in_use"),
        ("open", None, 401, "token_invalid"),
        ("next", alpha, 200, None),
        ("submit", alpha, 409, "not_delivered"),
    ]
    assert (rows[-1].action, rows[-1].user_id, rows[-1].http_status, rows[-1].code) == (
        "open",
        alpha,
        401,
        "token_expired",
    )
    # Without a token that holds, nobody writes into the story of a session: it is only named.
    assert {row.code for row in rows if row.session_id is None} == {"token_invalid", "token_expired"}
    assert {row.target for row in rows if row.session_id is None} == {session_id}
    assert [row.action for row in rows if row.user_id is None] == ["open", "close"]
