"""Signed answers, receipts, tokens that name their issuer, the log's keys, a run's story."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from sqlalchemy import delete, func, select, update
from sqlalchemy import text as sql

from schemas.errors import ExamError, StoreError, UsageError
from tasks.exam.closed.closing import force_close
from tasks.exam.log.check import check_ledger, check_log
from tasks.exam.log.heads import (
    HeadKeeper,
    confirm_keys,
    copy_heads,
    iter_kept_heads,
    keep_head,
    name_heads_file,
)
from tasks.exam.log.signing.keys import (
    describe_answer,
    encode_signed,
    name_key_file,
    open_signer,
    read_public_key,
)
from tasks.exam.log.signing.receipts import check_receipt, read_receipts
from tasks.exam.log.story import tell_run
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.protocol.tokens import open_keys
from tasks.exam.protocol.tokens.tokens import issue_token, verify_token
from tasks.exam.protocol.words import Answer, Lease, Receipt
from tasks.exam.public import verifier
from tasks.exam.public.log.check import check_public_log
from tasks.exam.public.log.log_file import write_public_log
from tasks.texts import cut_text
from tests.tasks.exam.world import World
from warehouse.ledger.engine import tables
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import FIRST_HASH
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.trust import users
from warehouse.stores.secrets import read_home_key


class Seat:
    """Candidate alpha's session, opened over a protocol for outside candidates."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.heads = HeadKeeper(world.ledger, world.settings)
        self.protocol = ExamProtocol(
            world.ledger,
            world.keys,
            SeatRules(lease_s=world.settings.lease_s, longest_response=world.settings.longest_response),
            clock=world.clock,
            heads=self.heads,
        )
        self.session_id: str = world.sessions()[0]["session_id"]
        self.token = world.token(self.session_id)
        self.lease: Lease = asyncio.run(self.protocol.open_session(self.token, self.session_id))
        asyncio.run(self.protocol.next_question(self.token, self.lease))

    def answer(self, seq: int, text: str, signature: str | None = None) -> Receipt:
        answer = Answer(text, signature=signature)
        return asyncio.run(self.protocol.submit_and_next(self.token, self.lease, seq, answer))[0]

    def sign(self, key: Ed25519PrivateKey, seq: int, text: str) -> str:
        signed = encode_signed(describe_answer(self.session_id, seq, digest_text(text)))
        return base64.b64encode(key.sign(signed)).decode()


@pytest.fixture
def seat(world: World) -> Seat:
    return Seat(world)


def enrol(world: World, key: Ed25519PrivateKey | None) -> None:
    public = None if key is None else base64.b64encode(key.public_key().public_bytes_raw()).decode()
    with world.ledger.write() as connection:
        users.write_public_key(connection, "candidate:alpha", public)


def test_where_a_key_is_enrolled_only_its_holder_can_answer(seat: Seat) -> None:
    seat.answer(1, "before")
    key = Ed25519PrivateKey.generate()
    enrol(seat.world, key)
    wrong = [
        None,
        "",
        "no base64",
        seat.sign(Ed25519PrivateKey.generate(), 2, "two"),
        seat.sign(key, 2, "another"),
        seat.sign(key, 3, "two"),
    ]
    for signature in wrong:
        with pytest.raises(ExamError) as refusal:
            seat.answer(2, "two", signature)
        assert (refusal.value.status, refusal.value.code) == (403, "signature_wrong")
    assert seat.world.answers(seat.session_id) == {1: "before"}
    assert seat.answer(2, "two", seat.sign(key, 2, "two")).seq == 2
    enrol(seat.world, None)
    assert seat.answer(3, "three").seq == 3
    assert check_log(seat.world.ledger, seat.world.settings).findings == ()


def test_the_bytes_that_are_signed_are_those_of_the_specification() -> None:
    """RFC 8032, section 7.1, test 1 gives the key; the bytes are written out here."""
    private = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    key = Ed25519PrivateKey.from_private_bytes(private)
    public = key.public_key().public_bytes_raw()
    assert public.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    text = "答案 A"
    digest = "0a7a1ec3b6d1b4c1a7b8f7ab5a9d7d2c"
    assert len(digest_text(text)) == 64
    signed = encode_signed(describe_answer("s1", 7, digest))
    assert signed == b'{"answer_sha256":"0a7a1ec3b6d1b4c1a7b8f7ab5a9d7d2c","seq":7,"session_id":"s1"}'


def test_a_receipt_proves_an_answer_and_a_changed_one_proves_nothing(seat: Seat, tmp_path: Path) -> None:
    receipts = [seat.answer(seq, f"answer {seq}") for seq in (1, 2)]
    public_key = seat.heads.signer.public_key
    names = ("seq", "answer_sha256", "entry", "head", "signature")
    bodies = [{name: getattr(receipt, name) for name in names} for receipt in receipts]
    file = tmp_path / "receipts.jsonl"
    # An editor of Windows puts a mark before it.
    file.write_text("\n".join(json.dumps({"receipt": body}) for body in bodies), encoding="utf-8-sig")
    found = list(read_receipts(file, seat.session_id))
    # As somebody would check it who has the documents and no code of ours.
    signed = json.dumps(
        {name: found[0][name] for name in sorted(found[0]) if name != "signature"}, separators=(",", ":")
    )
    Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key)).verify(
        base64.b64decode(found[0]["signature"]), signed.encode()
    )
    with seat.world.ledger.read() as connection:

        def check(**changes: Any) -> str:
            return check_receipt({**found[1], **changes}, public_key, connection).finding

        assert check() == "good"
        for change in (
            {"answer_sha256": "0" * 64},
            {"seq": 1},
            {"entry": 1},
            {"head": "0" * 64},
            {"session_id": "another"},
            {"signature": found[0]["signature"]},
        ):
            assert check(**change) == "signature_wrong"
        assert check(signature=None) == "unsigned"


def test_answers_that_were_cut_are_sealed_receipted_and_verified_like_any_other(
    world: World, tmp_path: Path
) -> None:
    world.settings = world.settings.model_copy(update={"longest_response": 1_000})
    seat = Seat(world)
    key = Ed25519PrivateKey.generate()
    enrol(world, key)
    long = "答" * 2_000
    kept, whole = cut_text(long, 1_000)
    assert whole == {"bytes": 6_000, "sha256": hashlib.sha256(long.encode()).hexdigest()}
    assert len(kept) == 1_000 and kept.endswith(f"has 6000 bytes, SHA-256 {whole['sha256']}]")
    # Signed is what is kept: whoever cut it before sending, and whoever sent it whole, agree on it.
    receipts = [
        seat.answer(seq, text, seat.sign(key, seq, kept))
        for seq, text in enumerate((long, kept, long, kept, long, long), 1)
    ]
    assert world.answers(seat.session_id) == dict.fromkeys(range(1, 7), kept)
    assert {receipt.answer_sha256 for receipt in receipts} == {digest_text(kept)}
    file = tmp_path / "receipts.json"
    file.write_text(json.dumps([asdict(receipt) for receipt in receipts]))
    write_public_log(world.ledger, world.settings)
    assert check_log(world.ledger, world.settings).findings == ()
    assert check_public_log(world.ledger, world.settings).findings == ()
    public_key = seat.heads.signer.public_key
    found = verifier.verify(str(world.settings.public_dir), receipts=[str(file)], key=public_key)
    assert {fault[0] for fault in found.faults} <= {"file_missing"}
    with world.ledger.read() as connection:
        for receipt in receipts:
            assert check_receipt(asdict(receipt), public_key, connection).finding == "good"
        assert set(connection.execute(select(tables.responses.c.answer_status)).scalars()) == {
            "truncated",
            "answered",
        }


def test_a_receipt_whose_entry_was_changed_or_taken_out_is_found(seat: Seat) -> None:
    from sqlalchemy import delete, update

    from warehouse.ledger.engine.tables import access_log

    receipt = seat.answer(1, "one")
    body = {name: getattr(receipt, name) for name in Receipt.__dataclass_fields__}
    public_key = seat.heads.signer.public_key
    own = access_log.c.number == receipt.entry
    with seat.world.ledger.write() as connection:
        connection.execute(update(access_log).where(own).values(entry_hash="0" * 64))
        assert check_receipt(body, public_key, connection).finding == "entry_differs"
        connection.execute(delete(access_log).where(own))
        assert check_receipt(body, public_key, connection).finding == "entry_missing"


@pytest.mark.parametrize("text", ["{}", '{"seq": 1}', "no json", '[{"receipt": 3}]', "", "[]"])
def test_what_is_no_receipt_is_said(tmp_path: Path, text: str) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(text)
    with pytest.raises(UsageError):
        list(read_receipts(file, "s1"))


def test_in_house_answers_have_no_signed_receipts(world: World) -> None:
    heads = HeadKeeper(world.ledger, world.settings)
    protocol = ExamProtocol(
        world.ledger, world.keys, SeatRules(lease_s=60, is_in_house=True), clock=world.clock, heads=heads
    )
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id)
    lease = asyncio.run(protocol.open_session(token, session_id))
    asyncio.run(protocol.next_question(token, lease))
    receipt = asyncio.run(protocol.submit_answer(token, lease, 1, Answer("one")))
    assert receipt.signature is None
    assert receipt.entry > 0


def test_a_token_that_an_examiner_issues_names_them_in_its_claims_and_in_the_story(world: World) -> None:
    session_id = world.sessions()[0]["session_id"]
    issued = issue_token(
        world.keys, "candidate:alpha", session_id, ["sit"], 3600, now=world.now, issued_by="eve"
    )
    assert verify_token(world.keys, issued.text, now=world.now).issued_by == "eve"
    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=60), clock=world.clock)
    asyncio.run(protocol.open_session(issued.text, session_id))
    with world.ledger.read() as connection:
        events = tell_run(connection, world.plan.run_id).events
    (opened,) = [told for told in events if told.action == "open"]
    assert opened.target == f"{issued.token_id} eve"
    assert "which eve issued" in opened.sentence


def test_a_story_tells_in_order_and_in_both_languages_what_happened_and_never_a_content(seat: Seat) -> None:
    world = seat.world
    seat.answer(1, "SECRET-ANSWER")
    for _ in range(3):
        with pytest.raises(ExamError):
            asyncio.run(seat.protocol.open_session(seat.token, seat.session_id))
    force_close(world.ledger, seat.session_id, "a rehearsal")
    with world.ledger.read() as connection:
        told = {language: tell_run(connection, world.plan.run_id, language) for language in ("en", "zh")}
    english, chinese = told["en"], told["zh"]
    kinds = [(event.action, event.code, event.count) for event in english.events]
    assert kinds == [
        ("plan_run", None, 1),
        ("open", None, 1),
        ("open", "session_in_use", 3),
        ("close", "forced", 1),
    ]
    assert "planned the run: 2 sessions" in english.events[0].sentence
    assert "was refused, opening the session" in english.events[2].sentence
    assert english.events[2].sentence.endswith("×3")
    assert "unfinished (forced): a rehearsal" in english.events[3].sentence
    (mine,) = [line for line in english.sessions if line.session_id == seat.session_id]
    assert (mine.status, mine.answer_count, mine.question_count) == ("closed", 1, 6)
    assert "1 of 6 questions answered" in mine.sentence
    assert "计划了本次运行" in chinese.events[0].sentence
    assert "6 题中已答 1 题" in next(
        line.sentence for line in chinese.sessions if line.session_id == seat.session_id
    )
    whole = json.dumps([repr(told), [event.sentence for event in english.events]], ensure_ascii=False)
    assert "SECRET-ANSWER" not in whole
    assert "Stem" not in whole
    with world.ledger.read() as connection, pytest.raises(UsageError):
        tell_run(connection, "no run")


def test_the_end_of_a_session_signs_the_head_here_and_in_the_file(seat: Seat) -> None:
    world = seat.world
    for seq in range(1, 7):
        seat.answer(seq, f"answer {seq}")
    world.ledger.writer.run(lambda _: None)  # what was asked for before this is done
    report = check_log(world.ledger, world.settings)
    assert (report.findings, report.signed_count, report.unsigned_count) == ((), 1, 1)
    (kept,) = iter_kept_heads(world.settings)
    assert kept is not None
    assert kept.number == report.entry_count - 1
    assert name_heads_file(world.settings).stat().st_mode & 0o077 == 0
    assert not seat.heads.keep()


def test_the_end_of_a_session_whose_last_question_ran_out_signs_the_head_once(seat: Seat) -> None:
    world = seat.world
    with world.ledger.write() as connection:
        connection.execute(update(tables.sessions).values(question_s=600))
    for seq in range(1, 6):
        seat.answer(seq, f"answer {seq}")
    world.now += 601
    lease = asyncio.run(seat.protocol.open_session(seat.token, seat.session_id, seat.lease.secret))
    for _ in range(2):
        assert asyncio.run(seat.protocol.next_question(seat.token, lease)) is None
        world.ledger.writer.run(lambda _: None)
        assert len(list(iter_kept_heads(world.settings))) == 1


def test_a_ledger_that_could_not_be_written_leaves_the_next_end_of_a_session_its_head(
    seat: Seat, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    writer = seat.world.ledger.writer

    def refuse(*_: Any) -> Any:
        raise StoreError("The ledger could not commit: it was locked all the while.")

    with monkeypatch.context() as locked:
        locked.setattr(writer, "_try_commit", refuse)
        seat.heads.keep_soon()
        with pytest.raises(StoreError):
            writer.run(lambda _: None)
    assert "is not signed: The ledger could not commit" in caplog.text
    for seq in range(1, 7):
        seat.answer(seq, "an answer")
    writer.run(lambda _: None)
    assert len(list(iter_kept_heads(seat.world.settings))) == 1


def test_heads_that_a_restored_file_lacks_are_written_to_it(seat: Seat) -> None:
    world = seat.world
    assert seat.heads.keep()
    name_heads_file(world.settings).unlink()
    names = {finding.name for finding in check_log(world.ledger, world.settings).findings}
    assert names == {"kept_heads_missing"}
    assert [copy_heads(world.ledger, world.settings), copy_heads(world.ledger, world.settings)] == [1, 0]
    assert check_log(world.ledger, world.settings).findings == ()


def test_a_key_put_in_the_place_of_another_is_named_until_somebody_confirms_it(seat: Seat) -> None:
    world = seat.world
    assert seat.heads.keep()
    first = open_signer(world.settings).key_id
    name_key_file(world.settings).unlink()
    (world.settings.home / "secrets" / "exam-keys.json").unlink()
    replaced = Seat.__new__(Seat)
    replaced.heads = HeadKeeper(world.ledger, world.settings)
    world.keys.refresh()
    assert replaced.heads.signer.key_id != first
    names = {finding.name for finding in check_log(world.ledger, world.settings).findings}
    assert names == {"log_key_replaced", "token_keys_replaced"}
    confirm_keys(world.ledger, world.settings)
    assert check_log(world.ledger, world.settings).findings == ()


def test_the_key_of_an_exam_api_with_a_home_of_its_own_takes_nobodys_place(
    seat: Seat, tmp_path: Path
) -> None:
    world = seat.world
    assert seat.heads.keep()
    door = world.settings.model_copy(update={"home": tmp_path / "door"})
    # As on PostgreSQL: one database, of which the API opens a part.
    ledger = Ledger(world.ledger.engine, is_whole=False)
    first = HeadKeeper(ledger, door)
    with world.ledger.write() as connection:
        users.add_user(connection, user_id="somebody", role="analyst")
    assert first.keep()
    ledger.writer.close()
    assert first.signer.key_id != open_signer(world.settings).key_id
    assert check_log(world.ledger, world.settings).findings == ()
    # Another one in its home is an exchange, as everywhere.
    name_key_file(door).unlink()
    HeadKeeper(ledger, door)
    found = {finding.name for finding in check_log(world.ledger, world.settings).findings}
    assert found == {"log_key_replaced"}


HOME_KEYS = ("blinding-key", "league", "review_gold", "web-cookie.key")
KEY_FINDINGS = {
    "log-key.json": ("log_key_missing", "log_key_unknown"),
    "exam-keys.json": ("token_keys_missing", "token_keys_replaced"),
    **dict.fromkeys(HOME_KEYS, ("home_key_missing", "home_key_replaced")),
}


@pytest.mark.parametrize("is_moved", [False, True], ids=["in place", "moved, on a host of another name"])
@pytest.mark.parametrize("is_lost", [False, True], ids=["exchanged", "lost"])
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.long if one in HOME_KEYS[1:] else ()) for one in KEY_FINDINGS],
)
def test_a_key_that_is_lost_or_exchanged_is_found_wherever_the_home_lies(
    seat: Seat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_lost: bool, is_moved: bool
) -> None:
    settings = seat.world.settings
    for made in HOME_KEYS:
        read_home_key(settings, made, "Restore it.")
    assert keep_head(seat.world.ledger, settings)
    if is_moved:
        shutil.copytree(settings.home / "secrets", tmp_path / "moved" / "secrets")
        settings = settings.model_copy(update={"home": tmp_path / "moved"})
        monkeypatch.setattr("socket.gethostname", lambda: "b5c3d0a4e1f2")
    assert check_log(seat.world.ledger, settings).findings == ()
    path = settings.secrets_path / name
    content = path.read_bytes()
    path.unlink()
    if not is_lost:
        if name == "log-key.json":
            open_signer(settings)
        elif name == "exam-keys.json":
            open_keys(settings).read()
        else:
            read_home_key(settings, name, "Restore it.")
    missing, replaced = KEY_FINDINGS[name]
    found = {finding.name for finding in check_log(seat.world.ledger, settings).findings}
    assert found == {missing if is_lost else replaced}
    # Used, it is named, and what took a key's place stays a finding until somebody says that it was meant.
    if not is_lost:
        HeadKeeper(seat.world.ledger, settings)
        found = {finding.name for finding in check_log(seat.world.ledger, settings).findings}
        assert found == {"log_key_replaced" if name == "log-key.json" else replaced}
        confirm_keys(seat.world.ledger, settings)
        assert check_log(seat.world.ledger, settings).findings == ()
    else:
        path.write_bytes(content)
        path.chmod(0o600)
        assert check_log(seat.world.ledger, settings).findings == ()


def test_public_keys_are_taken_as_pem_or_base64_and_nothing_else() -> None:
    key = Ed25519PrivateKey.generate()
    raw = base64.b64encode(key.public_key().public_bytes_raw()).decode()
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    assert read_public_key(pem) == raw == read_public_key(f" {raw}\n")
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    for text in ("", "AAAA", raw[:-4], private, pem.replace("M", "N")):
        with pytest.raises(UsageError):
            read_public_key(text)


def test_a_log_that_is_taken_out_as_a_whole_is_found_by_what_no_entry_names(world: World) -> None:
    with world.ledger.write() as connection:
        connection.execute(delete(tables.access_log))
        connection.execute(delete(tables.signed_heads))
        connection.execute(update(tables.access_chain).values(number=0, entry_hash=FIRST_HASH))
    with world.ledger.read() as connection:
        found = {finding.name for finding in check_ledger(connection).findings}
    assert {"run_added", "session_added", "set_added"} <= found


@pytest.mark.parametrize("value", [b"\0\xff", b"alpha", "a\0b", "\u00e9\u4e2d"])
def test_an_entry_whose_text_became_bytes_or_another_one_is_named(seat: Seat, value: object) -> None:
    log = tables.access_log
    with seat.world.ledger.write() as connection:
        number = connection.execute(select(func.max(log.c.number))).scalar_one()
        changed = sql("UPDATE access_log SET user_id = :value WHERE number = :number")
        connection.execute(changed, {"value": value, "number": number})
        found = [(one.name, one.number) for one in check_ledger(connection).findings]
    assert ("entry_changed", number) in found
