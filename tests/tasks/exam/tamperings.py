"""Tamperings with a ledger, and the finding that each must leave.

They are done in its tables by somebody who may write to it. Every one is a function of a connection and a `Victim`; those that
rewrite the log hash it again as well as anybody could who has the database and not the keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from schemas.settings import Settings
from tasks.exam.log.heads import name_heads_file
from tasks.exam.log.signing.keys import describe_head, name_key_file, open_signer
from warehouse.ledger.engine import tables as t
from warehouse.ledger.engine.logs.chain import HASHED, compute_entry_hash


@dataclass(frozen=True)
class Victim:
    """What is tampered with: a home, a session that is closed, and one that is under way."""

    settings: Settings
    run_id: str
    closed_id: str
    open_id: str


Tampering = Callable[[Connection, Victim], None]
TAMPERINGS: dict[str, tuple[Tampering, str]] = {}


def leaves(finding: str) -> Callable[[Tampering], Tampering]:
    def register(tampering: Tampering) -> Tampering:
        TAMPERINGS[tampering.__name__] = (tampering, finding)
        return tampering

    return register


def find_entry(connection: Connection, **values: Any) -> Any:
    query = select(t.access_log).where(*(t.access_log.c[name] == value for name, value in values.items()))
    return connection.execute(query.order_by(t.access_log.c.number)).first()


def change_entry(connection: Connection, which: int, **values: Any) -> None:
    connection.execute(update(t.access_log).where(t.access_log.c.number == which).values(**values))


def rehash(connection: Connection) -> None:
    """Number and hash the whole log again, and set its head."""
    head, number = "0" * 64, 0
    for row in connection.execute(select(t.access_log).order_by(t.access_log.c.number)).all():
        number += 1
        entry_hash = compute_entry_hash(head, number, [getattr(row, name) for name in HASHED])
        connection.execute(
            update(t.access_log)
            .where(t.access_log.c.access_id == row.access_id)
            .values(number=number, previous_hash=head, entry_hash=entry_hash)
        )
        head = entry_hash
    connection.execute(update(t.access_chain).values(number=number, entry_hash=head))


def last_number(connection: Connection) -> int:
    return int(connection.execute(select(func.max(t.access_log.c.number))).scalar_one())


# --- the log ----------------------------------------------------------------------------------------------------


@leaves("entry_changed")
def an_entry_is_changed(connection: Connection, victim: Victim) -> None:
    change_entry(connection, find_entry(connection, action="open").number, user_id="candidate:rho")


@leaves("entry_changed")
def a_refusal_is_made_a_success(connection: Connection, victim: Victim) -> None:
    change_entry(connection, find_entry(connection, http_status=403).number, http_status=200, code=None)


@leaves("entry_changed")
def the_time_of_an_entry_is_changed(connection: Connection, victim: Victim) -> None:
    number = find_entry(connection, action="close").number
    change_entry(connection, number, accessed_at="2026-01-01T00:00:00.000000+00:00")


@leaves("entry_missing")
def an_entry_is_removed(connection: Connection, victim: Victim) -> None:
    number = find_entry(connection, http_status=403).number
    connection.execute(delete(t.access_log).where(t.access_log.c.number == number))


@leaves("entry_missing")
def all_entries_of_a_session_are_removed(connection: Connection, victim: Victim) -> None:
    connection.execute(delete(t.access_log).where(t.access_log.c.session_id == victim.closed_id))


@leaves("entry_changed")
def two_entries_change_places(connection: Connection, victim: Victim) -> None:
    one, other = find_entry(connection, action="open"), find_entry(connection, action="close")
    change_entry(connection, one.number, number=-1)
    change_entry(connection, other.number, number=one.number)
    change_entry(connection, -1, number=other.number)


@leaves("log_cut")
def an_entry_is_added_at_the_end(connection: Connection, victim: Victim) -> None:
    last = find_entry(connection, number=last_number(connection))
    row = {**last._asdict(), "number": last.number + 1, "previous_hash": last.entry_hash, "action": "release"}
    del row["access_id"]
    row["entry_hash"] = compute_entry_hash(last.entry_hash, row["number"], [row[name] for name in HASHED])
    connection.execute(t.access_log.insert().values(**row))


@leaves("log_cut")
def the_end_is_cut_off(connection: Connection, victim: Victim) -> None:
    connection.execute(delete(t.access_log).where(t.access_log.c.number > last_number(connection) - 2))


@leaves("log_cut_before_head")
def the_end_is_cut_off_with_its_heads(connection: Connection, victim: Victim) -> None:
    first = int(connection.execute(select(func.min(t.signed_heads.c.number))).scalar_one())
    connection.execute(delete(t.access_log).where(t.access_log.c.number >= first))
    connection.execute(delete(t.signed_heads))
    rehash(connection)


@leaves("signed_head_differs")
def an_entry_is_changed_and_the_rest_hashed_again(connection: Connection, victim: Victim) -> None:
    change_entry(connection, find_entry(connection, http_status=403).number, http_status=200, code=None)
    rehash(connection)


@leaves("kept_head_differs")
def the_log_is_hashed_again_without_its_heads(connection: Connection, victim: Victim) -> None:
    change_entry(connection, find_entry(connection, http_status=403).number, http_status=200, code=None)
    connection.execute(delete(t.access_log).where(t.access_log.c.action == "sign_head"))
    connection.execute(delete(t.signed_heads))
    rehash(connection)


@leaves("signed_head_missing")
def signed_heads_are_removed(connection: Connection, victim: Victim) -> None:
    connection.execute(delete(t.signed_heads))


@leaves("signature_wrong")
def a_signed_head_is_forged(connection: Connection, victim: Victim) -> None:
    connection.execute(update(t.signed_heads).values(entry_hash="f" * 64))


@leaves("kept_heads_missing")
def the_file_of_heads_is_removed(_: Connection, victim: Victim) -> None:
    name_heads_file(victim.settings).unlink()


@leaves("log_key_unknown")
def another_key_is_put_into_the_ledger(connection: Connection, victim: Victim) -> None:
    connection.execute(
        t.log_keys.insert().values(key_id="0" * 16, public_key="A" * 44, place="elsewhere", added_at="2026")
    )


@leaves("token_keys_replaced")
def the_file_of_token_keys_is_swapped(_: Connection, victim: Victim) -> None:
    path = victim.settings.home / "secrets" / "exam-keys.json"
    whole = json.loads(path.read_text())
    whole["keys"][0]["secret"] = "0" * 64
    path.write_text(json.dumps(whole))


@leaves("log_key_missing")
def the_key_of_the_log_is_deleted(_: Connection, victim: Victim) -> None:
    name_key_file(victim.settings).unlink()


@leaves("home_key_replaced")
def the_key_of_sealed_names_is_swapped(_: Connection, victim: Victim) -> None:
    (victim.settings.home / "secrets" / "blinding-key").write_text("5e" * 32)


@leaves("log_key_unknown")
def the_key_of_the_log_is_swapped(connection: Connection, victim: Victim) -> None:
    """With every head signed again by the new key, here and in the file."""
    name_key_file(victim.settings).unlink()
    name_heads_file(victim.settings).unlink()
    key = open_signer(victim.settings)
    row = {"key_id": key.key_id, "public_key": key.public_key, "place": key.place, "added_at": "2026"}
    connection.execute(t.log_keys.insert().values(**row))
    lines = []
    for head in connection.execute(select(t.signed_heads)).all():
        values = {"entry_hash": head.entry_hash, "key_id": key.key_id, "number": head.number}
        signed = {**values, "signed_at": head.signed_at}
        signed["signature"] = key.sign(
            describe_head(head.number, head.entry_hash, key.key_id, head.signed_at)
        )
        connection.execute(
            update(t.signed_heads).where(t.signed_heads.c.number == head.number).values(**signed)
        )
        lines.append(json.dumps(signed))
    name_heads_file(victim.settings).write_text("\n".join(lines) + "\n")


# --- what entries fix ---------------------------------------------------------------------------------------------


@leaves("answer_changed")
def an_answer_is_changed(connection: Connection, victim: Victim) -> None:
    connection.execute(
        update(t.responses).where(t.responses.c.session_id == victim.closed_id).values(response="another")
    )


@leaves("answer_account_changed")
def the_status_of_a_response_is_changed(connection: Connection, victim: Victim) -> None:
    place = (t.responses.c.session_id == victim.closed_id) & (t.responses.c.seq == 2)
    connection.execute(update(t.responses).where(place).values(answer_status="refused"))


@leaves("answer_account_changed")
def the_time_of_an_answer_is_changed(connection: Connection, victim: Victim) -> None:
    place = (t.responses.c.session_id == victim.closed_id) & (t.responses.c.seq == 2)
    connection.execute(
        update(t.responses).where(place).values(answered_at="2026-01-01T00:00:00.000000+00:00")
    )


@leaves("answer_missing")
def an_answer_is_removed(connection: Connection, victim: Victim) -> None:
    place = (t.responses.c.session_id == victim.closed_id) & (t.responses.c.seq == 2)
    connection.execute(delete(t.responses).where(place))


@leaves("answer_added")
def an_answer_is_added(connection: Connection, victim: Victim) -> None:
    row = dict(connection.execute(select(t.responses)).mappings().first() or {})
    connection.execute(t.responses.insert().values(**{**row, "session_id": victim.open_id, "seq": 5}))


@leaves("drawn_content_changed")
def a_drawn_question_is_changed(connection: Connection, victim: Victim) -> None:
    found = connection.execute(select(t.sets)).first()
    assert found is not None
    place = (t.sets.c.set_id == found.set_id) & (t.sets.c.lineage_uuid == found.lineage_uuid)
    connection.execute(update(t.sets).where(place).values(content={**found.content, "stem": "easier"}))


@leaves("draw_key_changed")
def the_key_of_a_draw_is_changed(connection: Connection, victim: Victim) -> None:
    connection.execute(update(t.set_keys).values(draw_key="0" * 64))


@leaves("seed_changed")
def the_seed_of_a_run_is_changed(connection: Connection, victim: Victim) -> None:
    connection.execute(update(t.run_plans).values(seed="0" * 32))


@leaves("plan_changed")
def the_budget_of_a_run_is_raised(connection: Connection, victim: Victim) -> None:
    connection.execute(update(t.runs).values(budget_usd=1e6))


@leaves("budget_changed")
def a_limit_of_a_run_is_set_in_the_table(connection: Connection, victim: Victim) -> None:
    row = {"run_id": victim.run_id, "limit_usd": 1e6, "reason": "x", "set_by": "x", "set_at": "2026"}
    connection.execute(t.budget_limits.insert().values(**row))


@leaves("session_changed")
def the_order_of_a_session_is_changed(connection: Connection, victim: Victim) -> None:
    own = t.allocations.c.session_id == victim.closed_id
    lineages = list(connection.execute(select(t.allocations.c.lineage_uuid).where(own)).scalars())
    for seq, lineage in ((1, lineages[1]), (2, lineages[0])):
        connection.execute(
            update(t.allocations).where(own, t.allocations.c.seq == seq).values(lineage_uuid=lineage)
        )


@leaves("session_changed")
def a_session_is_given_to_another_candidate(connection: Connection, victim: Victim) -> None:
    own = t.sessions.c.session_id == victim.open_id
    connection.execute(update(t.sessions).where(own).values(user_id="candidate:alpha"))


@leaves("delivery_changed")
def when_a_question_was_handed_out_is_changed(connection: Connection, victim: Victim) -> None:
    place = (t.allocations.c.session_id == victim.closed_id) & (t.allocations.c.seq == 3)
    connection.execute(update(t.allocations).where(place).values(delivered_at="2026"))


@leaves("deadline_changed")
def a_deadline_is_moved(connection: Connection, victim: Victim) -> None:
    own = t.sessions.c.session_id == victim.open_id
    connection.execute(update(t.sessions).where(own).values(deadline_at="2099"))


@leaves("session_state_changed")
def a_closed_session_is_opened_again(connection: Connection, victim: Victim) -> None:
    own = t.sessions.c.session_id == victim.closed_id
    connection.execute(update(t.sessions).where(own).values(status="open", closed_at=None))


@leaves("closing_changed")
def the_reason_of_a_closing_is_changed(connection: Connection, victim: Victim) -> None:
    own = t.sessions.c.session_id == victim.closed_id
    connection.execute(update(t.sessions).where(own).values(close_reason="the endpoint was shut down"))


@leaves("run_state_changed")
def a_run_is_closed_in_the_table(connection: Connection, victim: Victim) -> None:
    connection.execute(update(t.runs).values(status="closed", closed_at="2026"))


@leaves("user_changed")
def a_role_is_changed(connection: Connection, victim: Victim) -> None:
    own = t.users.c.user_id == "eve"
    connection.execute(update(t.users).where(own).values(role="admin"))


@leaves("user_changed")
def a_quota_is_raised(connection: Connection, victim: Victim) -> None:
    own = t.users.c.user_id == "candidate:alpha"
    connection.execute(update(t.users).where(own).values(question_limit=1_000_000))


@leaves("user_changed")
def the_key_of_a_candidate_is_replaced(connection: Connection, victim: Victim) -> None:
    own = t.users.c.user_id == "candidate:alpha"
    connection.execute(update(t.users).where(own).values(public_key="A" * 43 + "="))


@leaves("user_added")
def a_user_is_added(connection: Connection, victim: Victim) -> None:
    row = {"user_id": "mallory", "role": "admin", "is_active": True, "created_at": "2026"}
    connection.execute(t.users.insert().values(**row))


@leaves("limit_changed")
def the_limit_of_an_organisation_is_set_in_the_table(connection: Connection, victim: Victim) -> None:
    connection.execute(update(t.organisations).values(question_limit=1_000_000))


@leaves("token_end_removed")
def the_end_of_a_token_is_removed(connection: Connection, victim: Victim) -> None:
    connection.execute(delete(t.ended_tokens))
