"""The log's key may lie with an agent or a program, and another may take its place."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.log import HeadKeeper, check_log, rotate_log_key
from tasks.exam.log.signing import (
    LogSigner,
    has_signer,
    is_signed,
    name_key_file,
    open_signer,
    read_public_key,
)
from tasks.exam.log.signing.keys import create_key_file, name_next_key_file
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.protocol.words import Answer, Receipt
from tasks.exam.public.log.check import check_public_log
from tasks.exam.public.log.heads import sign_public_head
from tasks.exam.public.log.log_file import name_log_file
from tasks.exam.public.log.signed_heads import PublicSignedHead, describe_public_head, name_public_heads_file
from tasks.exam.public.verifier import verify
from tests.second_verifier.verify import verify as verify_again
from tests.tasks.exam.public.test_log_file import add
from tests.tasks.exam.world import World
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.public_log import list_public_entries
from warehouse.stores.secrets import create_secret_file

SAID = {"a": 1}
SIGN = """
import base64, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(sys.argv[1]))
signature = key.sign(sys.stdin.buffer.read())
sys.stdout.buffer.write(signature if sys.argv[2:] == ["raw"] else base64.b64encode(signature) + b"\\n")
"""


def held(settings: Settings, signer: str, public_key: str) -> Settings:
    return settings.model_copy(update={"log_signer": signer, "log_public_key": public_key})


def name_public(private: Ed25519PrivateKey) -> str:
    return base64.b64encode(private.public_key().public_bytes_raw()).decode()


def command(tmp_path: Path, private: Ed25519PrivateKey, *more: str) -> str:
    program = tmp_path / "sign.py"
    program.write_text(SIGN)
    return "command:" + shlex.join([sys.executable, str(program), private.private_bytes_raw().hex(), *more])


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """OpenSSH's own agent with a key: its socket, and the public key as OpenSSH writes it."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("there is no ssh-agent (openssh-client)")
    place, key = tmp_path / "agent.socket", tmp_path / "key"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.DEVNULL)
    try:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        variables = os.environ | {"SSH_AUTH_SOCK": str(place)}
        for _ in range(100):
            done = subprocess.run(
                ["ssh-add", "-q", str(key)], env=variables, capture_output=True, check=False
            )
            if done.returncode == 0:
                break
        assert done.returncode == 0, done.stderr
        yield str(place), key.with_suffix(".pub").read_text()
    finally:
        process.kill()
        process.wait()


def find_faults(settings: Settings) -> tuple[list[str], list[str]]:
    """What both verifiers find wrong with the log and its heads."""
    folder = name_log_file(settings).parent
    first = {statement for statement, _ in verify(str(folder)).faults}
    again = {fault.partition(":")[0] for fault in verify_again(folder)}
    return sorted(first), sorted(again)


def test_the_log_is_signed_by_an_ssh_agent_and_the_home_has_no_key(
    world: World, agent: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, public = agent
    settings = held(world.settings, f"agent:{place}", public)
    assert has_signer(settings)
    add(world.ledger, {"what": "one"}, kind="note")
    head = sign_public_head(world.ledger, settings)
    assert head is not None
    signer = open_signer(settings)
    assert head.is_good(signer.public_key)
    assert signer.public_key == base64.b64encode(base64.b64decode(public.split()[1])[-32:]).decode()
    HeadKeeper(world.ledger, settings).keep()
    assert not name_key_file(settings).exists()
    assert check_log(world.ledger, settings).findings == ()
    monkeypatch.setenv("SSH_AUTH_SOCK", place)
    assert is_signed(signer.public_key, open_signer(held(settings, "agent", public)).sign(SAID), SAID)


def test_an_agent_that_does_not_sign_is_one_sentence(
    world: World, agent: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, public = agent
    other = name_public(Ed25519PrivateKey.generate())
    with pytest.raises(StoreError, match="refuses to sign: it has not the key"):
        open_signer(held(world.settings, f"agent:{place}", other)).sign(SAID)
    with pytest.raises(StoreError, match="does not sign"):
        open_signer(held(world.settings, f"agent:{tmp_path / 'nobody'}", public)).sign(SAID)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(UsageError, match="SSH_AUTH_SOCK is not set"):
        open_signer(held(world.settings, "agent", public))


def test_an_answer_whose_receipt_nobody_signs_is_kept_and_other_candidates_do_not_wait(world: World) -> None:
    public = name_public(Ed25519PrivateKey.generate())
    heads = HeadKeeper(world.ledger, held(world.settings, "command:sleep 1", public))
    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=60), clock=world.clock, heads=heads)
    session_id = str(world.sessions()[0]["session_id"])
    token = world.token(session_id)

    async def sit() -> tuple[Receipt, int]:
        lease = await protocol.open_session(token, session_id)
        await protocol.next_question(token, lease)
        answering = asyncio.create_task(protocol.submit_answer(token, lease, 1, Answer("one")))
        count = 0
        while not answering.done():
            await protocol.renew_lease(token, lease)
            count += 1
        return await answering, count

    receipt, count = asyncio.run(sit())
    assert count > 10
    assert (receipt.signature, receipt.entry > 0, world.answers(session_id)) == (None, True, {1: "one"})


@pytest.mark.parametrize("form", ["base64", "raw"])
def test_a_program_signs(world: World, tmp_path: Path, form: str) -> None:
    private = Ed25519PrivateKey.generate()
    settings = held(world.settings, command(tmp_path, private, form), name_public(private))
    assert is_signed(name_public(private), open_signer(settings).sign(SAID), SAID)


def test_a_signature_of_another_key_or_none_is_never_written(world: World, tmp_path: Path) -> None:
    private, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    add(world.ledger, {"what": "one"}, kind="note")
    for signer, message in (
        (command(tmp_path, other), "signed with another key"),
        ("command:printf no-signature", "printed no Ed25519 signature"),
        ("command:false", "ended with 1"),
    ):
        settings = held(world.settings, signer, name_public(private))
        with pytest.raises(StoreError, match=message):
            sign_public_head(world.ledger, settings)
        assert not name_public_heads_file(settings).read_bytes()


def test_a_holder_is_named_with_its_key(world: World) -> None:
    with pytest.raises(UsageError, match="PROCTOR_LOG_PUBLIC_KEY does not say"):
        open_signer(world.settings.model_copy(update={"log_signer": "agent:/run/x"}))
    with pytest.raises(UsageError, match="'pkcs11'"):
        open_signer(held(world.settings, "pkcs11:x", name_public(Ed25519PrivateKey.generate())))


@pytest.mark.long
def test_a_token_signs_by_pkcs11(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SoftHSM2 in the place of a token; the key is made in it and cannot be read out."""
    modules = sorted(Path("/usr/lib").glob("*/softhsm/libsofthsm2.so"))
    if not modules or shutil.which("pkcs11-tool") is None:
        pytest.skip("there is no SoftHSM2 or no pkcs11-tool (softhsm2, opensc)")
    (tmp_path / "tokens").mkdir()
    config = tmp_path / "softhsm2.conf"
    config.write_text(f"directories.tokendir = {tmp_path / 'tokens'}\n")
    monkeypatch.setenv("SOFTHSM2_CONF", str(config))
    pin = tmp_path / "pin"
    pin.write_text("123456")
    tool = ["pkcs11-tool", "--module", str(modules[0])]
    init = [
        "softhsm2-util",
        "--init-token",
        "--free",
        "--label",
        "proctor",
        "--pin",
        "123456",
        "--so-pin",
        "654321",
    ]
    subprocess.run(init, check=True, capture_output=True)
    login = [*tool, "--token-label", "proctor", "--login", "--pin", "123456"]
    make = [*login, "--keypairgen", "--key-type", "EC:edwards25519", "--id", "01", "--label", "log"]
    subprocess.run(make, check=True, capture_output=True)
    pem = tmp_path / "public.pem"
    read = [
        *tool,
        "--token-label",
        "proctor",
        "--read-object",
        "--type",
        "pubkey",
        "--id",
        "01",
        "-o",
        str(pem),
    ]
    subprocess.run(read, check=True, capture_output=True)
    public = pem.read_text()
    sign = shlex.join([*login, "--sign", "--mechanism", "EDDSA", "--id", "01"])
    settings = held(world.settings, f"command:{sign}", public)
    add(world.ledger, {"what": "one"}, kind="note")
    head = sign_public_head(world.ledger, settings)
    assert head is not None
    assert head.is_good(read_public_key(public))


# --- one key after another ---


def append_head(settings: Settings, signer: LogSigner) -> None:
    """A head of the last line, as whoever has a key can write one."""
    path = name_public_heads_file(settings)
    lines = name_log_file(settings).read_bytes().splitlines()
    number, line_hash = len(lines), hashlib.sha256(lines[-1]).hexdigest()
    said = describe_public_head(number, line_hash, signer.key_id, "2026-11-26T00:00:00.000000Z")
    head = PublicSignedHead(
        number, line_hash, signer.key_id, "2026-11-26T00:00:00.000000Z", signer.sign(said)
    )
    with path.open("ab") as file:
        file.write(head.write_line().encode() + b"\n")


def test_a_key_that_takes_the_place_of_another_is_announced_by_both(world: World) -> None:
    add(world.ledger, {"what": "one"}, kind="note")
    sign_public_head(world.ledger, world.settings)
    before = open_signer(world.settings)
    former, new = rotate_log_key(world.ledger, world.settings)
    assert (former.key_id, open_signer(world.settings).key_id) == (before.key_id, new.key_id)
    add(world.ledger, {"what": "two"}, kind="note")
    head = sign_public_head(world.ledger, world.settings)
    assert head is not None
    assert head.key == new.key_id
    entry = next(
        found["body"]
        for found in map(json.loads, name_log_file(world.settings).read_bytes().splitlines())
        if "ends" in found["body"]
    )
    assert (entry["key"], entry["ends"]) == (new.key_id, former.key_id)
    HeadKeeper(world.ledger, world.settings).keep()
    assert check_log(world.ledger, world.settings).findings == ()
    assert list(check_public_log(world.ledger, world.settings).findings) == []
    first, again = find_faults(world.settings)
    assert not {"head_wrong", "log_broken"} & {*first, *again}


def note_something(world: World) -> None:
    with world.ledger.write() as connection:
        for _ in range(2):
            add_entry(connection, Entry("look", target="something"))


def test_a_process_that_runs_takes_a_new_key_of_its_home_and_never_signs_with_one_that_has_ended(
    world: World, tmp_path: Path
) -> None:
    keeper = HeadKeeper(world.ledger, world.settings)
    first = keeper.signer
    note_something(world)
    assert keeper.keep()
    _, second = rotate_log_key(world.ledger, world.settings)
    note_something(world)
    assert keeper.keep()
    assert keeper.signer.key_id == second.key_id != first.key_id
    # Another file that nobody announced is refused, and the former is not used in its place.
    kept = name_key_file(world.settings).read_bytes()
    name_key_file(world.settings).unlink()
    create_key_file(name_key_file(world.settings))
    with pytest.raises(StoreError, match="which no log names"):
        keeper.keep()
    name_key_file(world.settings).unlink()
    create_secret_file(name_key_file(world.settings), kept.decode())
    note_something(world)
    assert keeper.keep()
    # A key that somebody else holds takes its place: the file stays where it is, and signs no more.
    private = Ed25519PrivateKey.generate()
    program = tmp_path / "sign.py"
    program.write_text(SIGN)
    command = f"command:{shlex.join([sys.executable, str(program), private.private_bytes_raw().hex()])}"
    rotate_log_key(world.ledger, world.settings, command, name_public(private))
    note_something(world)
    with pytest.raises(StoreError, match="signs no more: another took its place"):
        keeper.keep()
    assert check_log(world.ledger, held(world.settings, command, name_public(private))).findings == ()


def test_a_former_key_signs_nothing_that_counts(world: World) -> None:
    """Somebody took it before it was exchanged, and has it still."""
    add(world.ledger, {"what": "one"}, kind="note")
    sign_public_head(world.ledger, world.settings)
    former, _ = rotate_log_key(world.ledger, world.settings)
    sign_public_head(world.ledger, world.settings)
    append_head(world.settings, former)
    first, again = find_faults(world.settings)
    assert "head_wrong" in first
    assert "head_wrong" in again
    found = [fault.name for fault in check_public_log(world.ledger, world.settings).findings]
    assert found == ["public_head_wrong"]


@pytest.mark.parametrize("lacking", ["ends_signature", "signature"])
def test_a_change_of_key_that_both_did_not_sign_is_found(world: World, lacking: str) -> None:
    add(world.ledger, {"what": "one"}, kind="note")
    sign_public_head(world.ledger, world.settings)
    rotate_log_key(world.ledger, world.settings)
    sign_public_head(world.ledger, world.settings)
    # Whoever rewrites the log rewrites every line after it, too; here it is the last.
    path = name_log_file(world.settings)
    lines = path.read_bytes().splitlines()
    entry = json.loads(lines[-1])
    assert entry["kind"] == "key"
    entry["body"][lacking] = base64.b64encode(bytes(64)).decode()
    lines[-1] = json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")
    first, again = find_faults(world.settings)
    assert "log_broken" in first
    assert "log_broken" in again


def test_an_interrupted_change_of_key_lets_nobody_sign_and_is_finished_by_the_next(world: World) -> None:
    add(world.ledger, {"what": "one"}, kind="note")
    sign_public_head(world.ledger, world.settings)
    before = open_signer(world.settings).key_id
    create_key_file(name_next_key_file(world.settings))
    with pytest.raises(StoreError, match="rotate-log` finishes it"):
        open_signer(world.settings)
    draft = name_next_key_file(world.settings).read_bytes()
    _, new = rotate_log_key(world.ledger, world.settings)
    assert name_key_file(world.settings).read_bytes() == draft
    assert not name_next_key_file(world.settings).exists()
    assert open_signer(world.settings).key_id == new.key_id != before


def test_one_that_was_killed_after_the_logs_had_it_is_finished_without_another_entry(world: World) -> None:
    add(world.ledger, {"what": "one"}, kind="note")
    sign_public_head(world.ledger, world.settings)
    key, draft = name_key_file(world.settings), name_next_key_file(world.settings)
    before = key.read_bytes()
    _, new = rotate_log_key(world.ledger, world.settings)
    # As the kill left the files.
    key.rename(draft)
    create_secret_file(key, before.decode())
    _, again = rotate_log_key(world.ledger, world.settings)
    assert again.key_id == open_signer(world.settings).key_id == new.key_id
    with world.ledger.read() as connection:
        ended = [step for step in list_public_entries(connection, ["key"]) if "ends" in step.body]
    assert len(ended) == 1


def test_a_key_whose_time_has_ended_does_not_come_back(world: World, tmp_path: Path) -> None:
    first, second = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    settings = held(world.settings, command(tmp_path, first), name_public(first))
    add(world.ledger, {"what": "one"}, kind="note")
    sign_public_head(world.ledger, settings)
    _, new = rotate_log_key(world.ledger, settings, command(tmp_path, second), name_public(second))
    later = held(settings, command(tmp_path, second), name_public(second))
    assert open_signer(later).key_id == new.key_id
    with pytest.raises(UsageError, match="its time has ended"):
        rotate_log_key(world.ledger, later, command(tmp_path, first), name_public(first))
    with pytest.raises(UsageError, match="signs already"):
        rotate_log_key(world.ledger, later, command(tmp_path, second), name_public(second))
