"""Anybody who changes the ledger in its tables leaves a finding of docs/attacks.csv."""

from __future__ import annotations

import asyncio
import csv
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection

from tasks.exam.log.check import check_home, check_log
from tasks.exam.log.heads import keep_head
from tasks.exam.protocol.machine import make_protocol
from tasks.exam.protocol.tokens.keys import open_keys
from tasks.exam.protocol.tokens.tokens import issue_token
from tasks.exam.protocol.words import Answer
from tests.tasks.exam.tamperings import TAMPERINGS, Victim
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import sittings, tokens
from warehouse.ledger.trust import users

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "docs" / "attacks.csv"


def fill(ledger: Ledger, home: Path) -> Victim:
    """A session closed and one under way, signed heads, a refusal, an examiner, an ended token."""
    settings = make_settings(home)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, make_bank())
    with ledger.write() as connection:
        users.add_user(connection, user_id="eve", role="examiner")
        tokens.end_token(connection, "a" * 32, time.time())
    protocol = make_protocol(ledger, settings, is_in_house=False)
    with ledger.read() as connection:
        sessions = {row.model: row for row in sittings.list_sessions(connection, run_id=plan.run_id)}
    for model, answer_count in (("alpha", 6), ("rho", 2)):
        row = sessions[model]
        token = issue_token(open_keys(settings), row.user_id, row.session_id, ["sit"], 3600).text
        lease = asyncio.run(protocol.open_session(token, row.session_id))
        with pytest.raises(Exception, match="in use"):
            asyncio.run(protocol.open_session(token, row.session_id))
        asyncio.run(protocol.next_question(token, lease))
        for seq in range(1, answer_count + 1):
            asyncio.run(protocol.submit_and_next(token, lease, seq, Answer(f"answer {seq}", cost_usd=1)))
    keep_head(ledger, settings)
    return Victim(settings, plan.run_id, sessions["alpha"].session_id, sessions["rho"].session_id)


@contextmanager
def tampered(ledger: Ledger, victim: Victim, name: str) -> Iterator[Connection]:
    """A connection that sees what was done, which is undone afterwards in ledger and home."""
    secrets = victim.settings.home / "secrets"
    kept = {path: path.read_bytes() for path in secrets.iterdir()}
    with ledger.engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        try:
            TAMPERINGS[name][0](connection, victim)
            yield connection
        finally:
            connection.exec_driver_sql("ROLLBACK")
            for path, content in kept.items():
                path.write_bytes(content)
                path.chmod(0o600)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ledger, Victim]]:
    folder = tmp_path_factory.mktemp("filled")
    with open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
        yield ledger, fill(ledger, folder / "home")


def test_what_nobody_touched_is_whole(filled: tuple[Ledger, Victim]) -> None:
    ledger, victim = filled
    report = check_log(ledger, victim.settings)
    assert report.findings == ()
    assert report.signed_count >= 1
    assert report.entry_count > 20


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampering_is_found_by_name(filled: tuple[Ledger, Victim], name: str) -> None:
    check_tampering(*filled, name)


def check_tampering(ledger: Ledger, victim: Victim, name: str) -> None:
    """The finding is there while it is done, and gone when it is undone."""
    with tampered(ledger, victim, name) as connection:
        found = {finding.name for finding in check_home(connection, victim.settings).findings}
    assert TAMPERINGS[name][1] in found
    assert check_log(ledger, victim.settings).findings == ()


def test_the_table_of_tamperings_names_every_one_with_what_finds_it() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [
            (row["attempt"], row["answer"].strip("`"))
            for row in csv.DictReader(file)
            if row["test"].endswith("::test_a_tampering_is_found_by_name")
        ]
    told = {(attempt.replace(" ", "_"), finding) for tried, finding in rows for attempt in tried.split(" · ")}
    assert told == {(name, finding) for name, (_, finding) in TAMPERINGS.items()}
