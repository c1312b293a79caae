"""`proctor exam audit`, `enrol`, `receipt` and `keys confirm`, as they are typed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import select, update

from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import invoke
from tests.tasks.exam.test_tamperings import fill
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import name_account
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import access_log, responses


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run that is sat in part."""
    folder = tmp_path_factory.mktemp("home") / "home"
    copy_new_home(folder)
    with open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
        fill(ledger, folder)
    return folder


@pytest.fixture
def ledger(home: Path) -> Iterator[Ledger]:
    with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as opened:
        yield opened


def test_audit_names_what_was_changed_and_ends_with_1(home: Path, ledger: Ledger) -> None:
    done = invoke(home, "exam", "audit")
    assert (done.exit_code, done.stdout.startswith("The audit log is whole: ")) == (0, True)
    with ledger.write() as connection:
        kept = connection.execute(select(responses.c.response).where(responses.c.seq == 1)).scalars().first()
        connection.execute(update(responses).where(responses.c.seq == 1).values(response="x"))
    changed = invoke(home, "exam", "audit", "--json")
    assert changed.exit_code == 1
    assert {found["name"] for found in json.loads(changed.stdout)["findings"]} == {"answer_changed"}
    with ledger.write() as connection:
        connection.execute(update(responses).where(responses.c.seq == 1).values(response=kept))
    assert invoke(home, "exam", "audit").exit_code == 0


def test_audit_tells_a_run_in_the_language_that_is_asked_for(home: Path) -> None:
    assert "planned the run: 2 sessions" in invoke(home, "exam", "audit", "2026-11").stdout
    assert "计划了本次运行" in invoke(home, "exam", "audit", "2026-11", "--language", "zh").stdout
    told = json.loads(invoke(home, "exam", "audit", "2026-11", "--json").stdout)
    assert [event["action"] for event in told["events"]][:2] == ["plan_run", "open"]
    assert invoke(home, "exam", "audit", "2026-11", "--language", "fr").exit_code == 2
    assert invoke(home, "exam", "audit", "no-such-run").exit_code == 2


def test_enrol_keys_confirm_and_tokens_leave_the_account_and_the_host(
    home: Path, ledger: Ledger, tmp_path: Path
) -> None:
    public = base64.b64encode(Ed25519PrivateKey.generate().public_key().public_bytes_raw()).decode()
    file = tmp_path / "public.txt"
    file.write_text(public)
    assert invoke(home, "exam", "enrol", "candidate:alpha", "--key", str(file)).exit_code == 0
    assert invoke(home, "exam", "enrol", "candidate:alpha", "--remove").exit_code == 0
    assert invoke(home, "exam", "enrol", "nobody", "--key", str(file)).exit_code == 2
    assert invoke(home, "exam", "enrol", "candidate:alpha").exit_code == 2
    assert invoke(home, "exam", "keys", "rotate").exit_code == 0
    assert invoke(home, "exam", "keys", "confirm").exit_code == 0
    assert invoke(home, "exam", "token", "candidate:alpha").exit_code == 0
    actions = ("enrol_key", "remove_key", "rotate_keys", "confirm_keys", "issue_token")
    with ledger.read() as connection:
        query = select(access_log).where(access_log.c.action.in_(actions)).order_by(access_log.c.number)
        rows = connection.execute(query).all()
    assert [(row.action, row.user_id) for row in rows] == [(action, name_account()) for action in actions]
    assert invoke(home, "exam", "audit").exit_code == 0


def test_receipts_are_checked_with_and_without_a_home(home: Path, tmp_path: Path) -> None:
    from tasks.exam.log.signing import describe_receipt, open_signer
    from tests.tasks.exam.world import make_settings

    with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as opened, opened.read() as connection:
        row = connection.execute(select(access_log).where(access_log.c.answer_hash.is_not(None))).first()
    assert row is not None
    signer = open_signer(make_settings(home))
    signed = describe_receipt(row.session_id, row.seq, row.answer_hash, row.number, row.entry_hash)
    file = tmp_path / "receipts.jsonl"
    file.write_text(json.dumps({**signed, "signature": signer.sign(signed)}) + "\n")
    assert invoke(home, "exam", "receipt", str(file)).stdout == "1 of 1 receipts are good.\n"
    alone = invoke(tmp_path / "none", "exam", "receipt", str(file), "--public-key", signer.public_key)
    assert alone.exit_code == 0
    file.write_text(json.dumps({**signed, "seq": 5, "signature": signer.sign(signed)}))
    done = invoke(home, "exam", "receipt", str(file))
    assert (done.exit_code, done.stdout.splitlines()[0]) == (
        1,
        f"Session {row.session_id}, question 5: signature_wrong.",
    )
