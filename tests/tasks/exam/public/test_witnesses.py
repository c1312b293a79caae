"""Witnesses get every head, whichever fails; what they hold reveals a log cut or rewritten."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import delete, update

from schemas.errors import StoreError, UsageError
from tasks.exam.log.signing import name_key_file, open_signer
from tasks.exam.public.log.check import check_public_log, check_witness_file
from tasks.exam.public.log.heads import sign_public_head
from tasks.exam.public.log.log_file import name_log_file, write_public_log
from tasks.exam.public.log.signed_heads import name_public_heads_file
from tasks.exam.public.log.witnesses import name_witnesses_file, read_witnesses, seal_public_log
from tasks.running import programs
from tests.tasks.exam.public.test_log_file import add
from tests.tasks.exam.world import World
from warehouse.ledger.engine.logs import public_log
from warehouse.ledger.engine.tables import public_head
from warehouse.ledger.engine.tables import public_log as lines

PROGRAM = """
import os, sys, time
head = sys.stdin.read()
if sys.argv[2:] == ["slow"]:
    time.sleep(60)
open(sys.argv[1], "a").write(head)
print("SECRET-OUTPUT")
sys.exit(3 if sys.argv[2:] == ["refuses"] or "PROCTOR_HOME" in os.environ else 0)
"""


def command(tmp_path: Path, *arguments: str) -> str:
    program = tmp_path / "witness.py"
    program.write_text(PROGRAM)
    return f"command:{sys.executable} {program} {tmp_path / 'got.jsonl'} {' '.join(arguments)}"


def test_every_witness_gets_the_head_once_and_a_failure_keeps_it_from_no_other(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(world.ledger, {"what": "one"})
    kept = tmp_path / "elsewhere.jsonl"
    texts = [
        command(tmp_path, "refuses"),
        "command:/no/such/program",
        str(tmp_path / "no folder" / "heads.jsonl"),
        f"file:{kept}",
        command(tmp_path),
    ]
    witnesses = read_witnesses(texts, world.settings)
    monkeypatch.setenv("PROCTOR_HOME", "x")
    seal = seal_public_log(world.ledger, world.settings, witnesses)
    assert [told.outcome for told in seal.told] == ["failed", "failed", "failed", "given", "given"]
    assert seal.failures[0].reason == "it ended with 3"
    assert seal.head is not None
    assert kept.read_text() == seal.head.write_line() + "\n"
    assert json.loads((tmp_path / "got.jsonl").read_text().splitlines()[-1]) == seal.head._asdict()
    again = seal_public_log(world.ledger, world.settings, witnesses[3:])
    assert (again.head, [told.outcome for told in again.told]) == (seal.head, ["known", "known"])
    add(world.ledger, {"what": "two"})
    later = seal_public_log(world.ledger, world.settings, witnesses[3:])
    assert [told.outcome for told in later.told] == ["given", "given"]
    written = [json.loads(line) for line in name_witnesses_file(world.settings).read_text().splitlines()]
    assert [(row["witness"], row["number"]) for row in written] == [
        (witness.name, number) for number in (3, 4) for witness in witnesses[3:]
    ]
    # What is published of a witness is neither its path nor its command.
    assert str(tmp_path) not in name_witnesses_file(world.settings).read_text()
    assert check_public_log(world.ledger, world.settings).findings == ()


def test_a_head_that_was_given_before_a_kill_is_noted_by_the_next_seal(world: World, tmp_path: Path) -> None:
    witnesses = read_witnesses([str(tmp_path / "elsewhere.jsonl")], world.settings)
    seal_public_log(world.ledger, world.settings, witnesses)
    noted = name_witnesses_file(world.settings)
    before = json.loads(noted.read_text())
    # What a kill right after the witness leaves.
    noted.unlink()
    seal_public_log(world.ledger, world.settings, witnesses)
    assert json.loads(noted.read_text()) | {"given_at": before["given_at"]} == before
    assert [told.outcome for told in seal_public_log(world.ledger, world.settings, witnesses).told] == [
        "known"
    ]


def test_a_program_that_never_ends_is_stopped(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "TIME_LIMIT_S", 0.5)
    add(world.ledger, {"what": "one"})
    slow = read_witnesses([command(tmp_path, "slow")], world.settings)
    seal = seal_public_log(world.ledger, world.settings, slow)
    assert seal.failures[0].reason == "it took longer than 0.5 s"


def test_a_head_is_signed_as_the_page_says_and_only_where_something_is_new(world: World) -> None:
    assert sign_public_head(world.ledger, world.settings) is not None
    first = sign_public_head(world.ledger, world.settings)
    assert first is not None
    assert len(name_public_heads_file(world.settings).read_text().splitlines()) == 1
    line = name_log_file(world.settings).read_bytes().splitlines()[first.number - 1]
    # The bytes are written out as in docs/verify.md.
    signed = (
        f'{{"hash":"{first.hash}","key":"{first.key}","log":"public","number":{first.number},'
        f'"signed_at":"{first.signed_at}"}}'
    ).encode()
    import base64
    import hashlib

    assert hashlib.sha256(line).hexdigest() == first.hash
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(open_signer(world.settings).public_key))
    key.verify(base64.b64decode(first.signature), signed)


def test_another_key_of_the_home_is_an_entry_before_it_signs(world: World) -> None:
    sign_public_head(world.ledger, world.settings)
    name_key_file(world.settings).unlink()
    head = sign_public_head(world.ledger, world.settings)
    assert head is not None
    entry = json.loads(name_log_file(world.settings).read_text().splitlines()[-1])
    assert (entry["kind"], entry["body"]["key"]) == ("key", head.key)
    assert entry["body"]["public_key"] == open_signer(world.settings).public_key
    assert check_public_log(world.ledger, world.settings).findings == ()


@pytest.mark.parametrize("text", ["", "command:", "command:'", "file:", "."])
def test_what_names_no_witness_is_refused(world: World, text: str) -> None:
    with pytest.raises(UsageError):
        read_witnesses([text], world.settings)


def test_a_file_in_the_home_is_no_witness(world: World) -> None:
    with pytest.raises(UsageError, match="elsewhere"):
        read_witnesses([str(world.settings.home / "secrets" / "heads.jsonl")], world.settings)


def test_a_log_that_is_rewritten_from_the_beginning_is_whole_but_for_its_witness(
    world: World, tmp_path: Path
) -> None:
    """Ledger, file and heads forged together: only what lies elsewhere shows it."""
    kept = tmp_path / "elsewhere.jsonl"
    add(world.ledger, {"what": "one"}, {"what": "two"})
    seal_public_log(world.ledger, world.settings, read_witnesses([str(kept)], world.settings))
    assert check_witness_file(world.ledger, kept) == (1, ())
    with world.ledger.write() as connection:
        connection.execute(delete(lines))
        connection.execute(update(public_head).values(number=0, line_hash="0" * 64, ends_at=0))
    for file in name_log_file(world.settings).parent.iterdir():
        file.unlink()
    add(world.ledger, {"what": "one"}, {"what": "another"}, {"what": "three"})
    assert {found.name for found in check_witness_file(world.ledger, kept)[1]} == {"public_log_rewritten"}
    with world.ledger.write() as connection:
        connection.execute(delete(lines))
        connection.execute(update(public_head).values(number=0, line_hash="0" * 64, ends_at=0))
    assert {found.name for found in check_witness_file(world.ledger, kept)[1]} == {"public_log_cut"}
    kept.write_text("no head\n")
    assert {found.name for found in check_witness_file(world.ledger, kept)[1]} == {"public_head_wrong"}
    with pytest.raises(UsageError):
        check_witness_file(world.ledger, tmp_path / "nothing.jsonl")


def test_a_log_that_was_changed_is_not_sealed(world: World) -> None:
    add(world.ledger, {"what": "one"})
    write_public_log(world.ledger, world.settings)
    file = name_log_file(world.settings)
    file.write_bytes(file.read_bytes().replace(b'"one"', b'"1ne"'))
    with pytest.raises(StoreError, match="is not what the ledger has"):
        seal_public_log(world.ledger, world.settings, ())
    assert not name_public_heads_file(world.settings).exists()
    file.rename(file.with_name("log.evidence"))
    head = sign_public_head(world.ledger, world.settings)
    assert head is not None
    with world.ledger.read() as connection:
        assert head.number == public_log.read_public_head(connection).number
