"""Every way to change the public log, in ledger, files or sessions, has a name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from schemas.errors import StoreError
from tasks.exam.closed import force_close
from tasks.exam.public.log.check import check_public_log
from tasks.exam.public.log.heads import sign_public_head
from tasks.exam.public.log.log_file import name_log_file, write_public_log
from tasks.exam.public.log.signed_heads import name_public_heads_file
from tests.tasks.exam.public.test_log_file import add
from tests.tasks.exam.test_log import Seat
from tests.tasks.exam.world import World
from warehouse.ledger.engine.logs.public_log import add_public_entry
from warehouse.ledger.engine.tables import access_log, public_head, responses, sessions
from warehouse.ledger.engine.tables import public_log as lines
from warehouse.stores.whole_files import hash_file


def run(*statements: object) -> Callable[[World], None]:
    def change(world: World) -> None:
        with world.ledger.write() as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[call-overload]

    return change


def edit(name: str, change: Callable[[bytes], bytes]) -> Callable[[World], None]:
    def apply(world: World) -> None:
        path: Path = name_log_file(world.settings).with_name(name)
        path.write_bytes(change(path.read_bytes()))

    return apply


def close_in_secret(world: World) -> None:
    other = world.sessions("rho")[0]["session_id"]
    run(
        update(sessions)
        .where(sessions.c.session_id == other)
        .values(status="closed", closed_at="2999", opened_at="2999")
    )(world)


CHANGES: dict[str, tuple[Callable[[World], None], set[str]]] = {
    "an entry is changed": (
        run(update(lines).where(lines.c.number == 3).values(line=lines.c.line + " ")),
        {"public_entry_changed", "public_file_changed"},
    ),
    "an entry is removed": (
        run(delete(lines).where(lines.c.number == 3)),
        {
            "public_entry_missing",
            "public_entry_out_of_order",
            "public_entry_changed",
            "public_file_changed",
            "closing_not_public",
        },
    ),
    "the last entry is removed": (
        run(delete(lines).where(lines.c.number == 5)),
        {"public_log_cut", "public_file_ahead", "public_log_rewritten"},
    ),
    "an entry is filed under another run": (
        run(update(lines).where(lines.c.number == 3).values(run_id="another")),
        {"public_entry_out_of_order"},
    ),
    "the head is set back": (run(update(public_head).values(number=4)), {"public_log_cut"}),
    "a line of the file is changed": (edit("log.jsonl", lambda whole: whole.replace(b'"what"', b'"that"')), {"public_file_changed"}),
    "the file is cut": (edit("log.jsonl", lambda whole: b"".join(whole.splitlines(keepends=True)[:2])), {"public_file_cut"}),
    "the file goes on": (edit("log.jsonl", lambda whole: whole + b"{}\n"), {"public_file_ahead"}),
    "a head is removed": (edit("heads.jsonl", lambda _: b""), {"public_head_missing"}),
    "a head is another": (
        edit("heads.jsonl", lambda whole: whole.replace(b'"number":5', b'"number":4')),
        {"public_log_rewritten", "public_head_wrong"},
    ),
    "a head is no head": (edit("heads.jsonl", lambda whole: whole + b"x\n"), {"public_head_wrong"}),
    "a session is closed in secret": (close_in_secret, {"closing_not_public", "opening_not_public"}),
    "an answer and its hash are changed after the closing": (
        run(
            update(access_log).where(access_log.c.seq == 1).values(answer_hash="0" * 64),
            update(responses).where(responses.c.seq == 1).values(response="another"),
        ),
        {"published_answers_changed"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_the_public_log_is_found_by_name(world: World, name: str) -> None:
    seat = Seat(world)
    seat.answer(1, "an answer")
    force_close(world.ledger, seat.session_id, "over")
    add(world.ledger, {"what": "one"}, {"what": "two"})
    sign_public_head(world.ledger, world.settings)
    report = check_public_log(world.ledger, world.settings)
    assert (report.findings, report.entry_count, report.file_count, report.signed_count) == ((), 5, 5, 1)
    change, expected = CHANGES[name]
    change(world)
    assert {found.name for found in check_public_log(world.ledger, world.settings).findings} == expected


@pytest.mark.parametrize(
    "name", ["runs/2027-01/plan.json", "editions/2027-01-1/edition.json", "questions/q.json"]
)
def test_a_published_file_that_is_gone_or_changed_is_told_to_its_operator_too(
    world: World, name: str
) -> None:
    public = name_log_file(world.settings).parent
    file, bank = public / name, public / "banks/r.jsonl"
    for path in (file, bank):
        path.parent.mkdir(parents=True)
        path.write_text("what was published")
    named = {
        "run": "2027-01",
        "revision": 1,
        "files": {file.name: hash_file(file)},
        "file": "q.json",
        "sha256": hash_file(file),
    }
    with world.ledger.write() as connection:
        add_public_entry(connection, "commit", {"run": "2027-01", "bank": {"root": "r"}})
        kind = {"runs": "disclose", "editions": "edition", "questions": "question"}[name.split("/")[0]]
        add_public_entry(connection, kind, named)
    write_public_log(world.ledger, world.settings)
    assert check_public_log(world.ledger, world.settings).findings == ()
    file.write_text("something else")
    # A look that goes on from the last one asks whether all is there, and reads all where something is not.
    assert check_public_log(world.ledger, world.settings, {"s"}).findings == ()
    bank.unlink()
    assert len(check_public_log(world.ledger, world.settings, {"s"}).findings) == 2
    found = check_public_log(world.ledger, world.settings).findings
    assert {(one.name, one.where) for one in found} == {
        ("public_file_changed", name),
        ("public_file_changed", "banks/r.jsonl"),
    }


def test_a_file_that_lacks_the_last_lines_is_behind_and_no_finding(world: World) -> None:
    add(world.ledger, {"what": "one"})
    assert check_public_log(world.ledger, world.settings).findings == ()
    write_public_log(world.ledger, world.settings)
    add(world.ledger, {"what": "two"})
    report = check_public_log(world.ledger, world.settings)
    assert (report.findings, report.entry_count, report.file_count) == ((), 3, 2)


def test_a_file_that_was_cut_before_a_signed_head_is_refused_until_it_is_put_aside(world: World) -> None:
    add(world.ledger, {"what": "one"}, {"what": "two"})
    sign_public_head(world.ledger, world.settings)
    file = name_log_file(world.settings)
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    with pytest.raises(StoreError, match="has been cut"):
        write_public_log(world.ledger, world.settings)
    file.rename(file.with_name("kept"))
    assert write_public_log(world.ledger, world.settings) == 4
    assert file.read_bytes() == whole
    assert not file.with_name("log.jsonl.draft").exists()
    assert name_public_heads_file(world.settings).exists()
