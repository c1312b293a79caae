"""The public log is one chain in the ledger, and the same to the byte in the file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from schemas.errors import StoreError
from tasks.exam.log import HeadKeeper, note_keys
from tasks.exam.public.log import retirement
from tasks.exam.public.log.log_file import name_log_file, write_public_log
from tests.tasks.exam.world import World
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.public_log import (
    PublicEntry,
    add_public_entry,
    list_public_entries,
    read_public_entries,
)
from warehouse.ledger.engine.opening import open_ledger


def add(ledger: Ledger, *bodies: dict[str, Any], kind: str = "approve") -> None:
    with ledger.write() as connection:
        for body in bodies:
            add_public_entry(connection, kind, body)


def read_lines(world: World) -> list[dict[str, Any]]:
    """The entries of the file, each of which follows the one before it, as docs/verify.md says."""
    previous, entries = "0" * 64, []
    whole = name_log_file(world.settings).read_bytes()
    assert whole.endswith(b"\n")
    for number, line in enumerate(whole[:-1].split(b"\n"), start=1):
        entry = json.loads(line)
        assert (entry["number"], entry["previous"]) == (number, previous)
        previous = hashlib.sha256(line).hexdigest()
        entries.append(entry)
    return entries


def test_what_review_rejected_is_noted_once_by_two_commands_beside_each_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[int] = []

    def note_beside(*given: Any) -> Any:
        """Between reading and writing another command notes the same rejections."""
        if not noted:
            noted.append(0)
            noted[0] = retirement.publish_rejections(world.ledger, world.settings, {2: 5, 3: 1})
        return note_keys(*given)

    monkeypatch.setattr(retirement, "note_keys", note_beside)
    assert retirement.publish_rejections(world.ledger, world.settings, {2: 5, 3: 1, 4: 2}) == 1
    assert noted == [2]
    left = [entry["body"] for entry in read_lines(world) if entry["kind"] == "retire"]
    assert [(body["bank_version"], body["count"]) for body in left] == [(2, 5), (3, 1), (4, 2)]
    assert retirement.publish_rejections(world.ledger, world.settings, {2: 5}) == 0


def test_the_first_entry_is_preceded_by_the_key_of_the_home_and_what_was_before(world: World) -> None:
    signer = HeadKeeper(world.ledger, world.settings).signer
    add(world.ledger, {"what": "试"})
    assert write_public_log(world.ledger, world.settings) == 2
    begin, entry = read_lines(world)
    assert (begin["kind"], begin["body"]["key"], begin["body"]["public_key"]) == (
        "begin",
        signer.key_id,
        signer.public_key,
    )
    # The run of this world was planned before the log began.
    assert begin["body"]["has_former_runs"] is True
    assert (entry["kind"], entry["body"]) == ("approve", {"what": "试"})


def test_an_entry_names_another_of_its_transaction_by_number_and_is_found_by_run(world: World) -> None:
    with world.ledger.write() as connection:
        first = add_public_entry(connection, "commit", {"run": "r1", "reason": ""})
        second = add_public_entry(connection, "draw", {"run": "r1", "commit": first})
    assert (first.number, second.number) == (2, 3)
    with world.ledger.read() as connection:
        (draw,) = read_public_entries(connection, "r1", ["draw", "disclose"])
        assert (draw.number, draw.body) == (3, {"run": "r1", "commit": 2})
        assert read_public_entries(connection, "r2", ["draw"]) == []
        assert [step.kind for step in list_public_entries(connection, ["begin", "commit"])] == [
            "begin",
            "commit",
        ]


def test_what_a_transaction_does_not_keep_is_no_entry(world: World) -> None:
    with pytest.raises(KeyError), world.ledger.write() as connection:
        add_public_entry(connection, "approve", {})
        raise KeyError

    def refused(connection: Connection) -> PublicEntry:
        add_public_entry(connection, "approve", {"what": "refused"})
        raise KeyError

    kept = [world.ledger.writer.submit(lambda c: add_public_entry(c, "approve", {"what": "kept"}))]
    kept.append(world.ledger.writer.submit(refused))
    assert kept[1].exception() is not None
    assert write_public_log(world.ledger, world.settings) == 2
    assert [entry["body"].get("what") for entry in read_lines(world)] == [None, "kept"]
    with world.ledger.read() as connection, pytest.raises(RuntimeError):
        add_public_entry(connection, "approve", {})


def test_a_line_that_a_killed_process_left_unfinished_is_finished_at_every_byte(world: World) -> None:
    add(world.ledger, {"what": "one"}, {"what": "two"})
    write_public_log(world.ledger, world.settings)
    file = name_log_file(world.settings)
    whole = file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    for size in [0, *range(1, len(whole), 7), len(whole) - 1]:
        file.write_bytes(whole[:size])
        assert write_public_log(world.ledger, world.settings) > 0
        assert file.read_bytes() == whole
    assert write_public_log(world.ledger, world.settings) == 0


@pytest.mark.parametrize("change", ["last line", "foreign tail", "ahead", "other file"])
def test_a_file_that_is_not_the_ledgers_is_refused_and_left_as_it_is(world: World, change: str) -> None:
    add(world.ledger, {"what": "one"}, {"what": "two"})
    write_public_log(world.ledger, world.settings)
    add(world.ledger, {"what": "three"})
    file = name_log_file(world.settings)
    whole = file.read_bytes()
    changed = {
        "last line": whole.replace(b'"two"', b'"2wo"'),
        "foreign tail": whole + b'{"number":4,"at":"x',
        "ahead": whole + b'{"number":4}\n' * 40,
        "other file": b"nothing of the kind\n",
    }[change]
    file.write_bytes(changed)
    with pytest.raises(StoreError, match=r"log\.jsonl"):
        write_public_log(world.ledger, world.settings)
    assert file.read_bytes() == changed


def test_several_ledgers_write_one_file_and_lack_nothing(world: World, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(name: int) -> None:
        with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as other:
            for turn in range(5):
                add(other, {"what": f"{name}-{turn}"})
                write_public_log(other, world.settings)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    entries = read_lines(world)
    assert len(entries) == 21
    assert {entry["body"]["what"] for entry in entries[1:]} == {
        f"{n}-{t}" for n in range(4) for t in range(5)
    }
