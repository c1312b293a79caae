"""Overriding a gate or retiring a question needs two people.

It happens only once both have agreed to exactly that.
"""

from __future__ import annotations

import pytest

from schemas.errors import GateError
from schemas.settings import Settings
from tasks.editions.publish import Revision
from tasks.editions.roots import publish_and_keep_root
from tasks.running.approvals import ApprovalNeeded, approve
from warehouse.lake import Lake
from warehouse.lake.upkeep import read_unit
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users
from warehouse.ledger.trust.approvals import list_approvals

JUNE, JULY = "run-2025-06", "run-2025-07"
IN_SPITE = Revision(reason="the paper goes to print", overridden=("incomplete",))


def agree(ledger: Ledger, number: int) -> None:
    for name in ("eve", "otto"):
        with ledger.write() as connection:
            approve(connection, number, name, 7)


def test_a_gate_is_overridden_once_as_it_was_asked(season: Lake, settings: Settings) -> None:
    rule = settings.model_copy(update={"two_persons": ("override",)})
    unit = f"{JULY}/south-chat/zero_shot/1/judge-a/v1"
    for judge in ("judge-a", "judge-b"):
        name = unit.replace("judge-a", judge)
        frame = read_unit(season, "judgements", name, "2025-07")
        season.land("judgements", name, frame.head(frame.height - 1))
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.write() as connection:
            for name in ("eve", "otto"):
                users.add_user(connection, user_id=name, role="examiner")

        with pytest.raises(GateError, match="incomplete: 1 sessions are not wholly judged, of south-chat"):
            publish_and_keep_root(ledger, season, rule, JULY)
        # Where no gate is shut, nobody else is needed.
        assert publish_and_keep_root(ledger, season, rule, JUNE).edition_id == f"{JUNE}/1"
        with pytest.raises(ApprovalNeeded, match=f"publishing {JULY}/1 although a gate is shut"):
            publish_and_keep_root(ledger, season, rule, JULY, IN_SPITE)
        assert season.read("run_revisions", {"run_id": JULY}).is_empty()
        agree(ledger, 1)
        with pytest.raises(ApprovalNeeded, match="request 2"):
            other = Revision(reason="it is late", overridden=("incomplete",))
            publish_and_keep_root(ledger, season, rule, JULY, other)
        edition = publish_and_keep_root(ledger, season, rule, JULY, IN_SPITE)
        assert (edition.edition_id, edition.overridden) == (f"{JULY}/1", ("incomplete",))
        board = season.run_named("leaderboard", {"month": "2025-07"})
        assert set(board["override_reason"]) == {"the paper goes to print"}
        assert board["overridden_gates"].to_list() == [["incomplete"]] * board.height
        assert board.filter(model="south-chat")["repeat_count"].item() == 1
        # Publishing again changes nothing, and needs nobody; a correction is another request.
        assert not publish_and_keep_root(ledger, season, rule, JULY, IN_SPITE).is_new
        with ledger.read() as connection:
            assert [one.state for one in list_approvals(connection)] == ["used", "asked"]
