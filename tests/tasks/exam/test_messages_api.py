"""A candidate whose provider speaks the messages API sits a whole small run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tasks.exam.log.check import check_ledger
from tasks.exam.sitting import SittingReport, sit_sessions
from tasks.models import ModelClient
from tests.tasks.exam.answer_rows import read_response_rows
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from tests.tasks.models.anthropic_server import KEY, Fault, Message, serve_messages
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import sittings


@pytest.mark.long
def test_a_run_is_sat_and_closed_by_a_provider_of_another_form(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MESSAGES_KEY", KEY)
    thinking = {"type": "thinking", "thinking": "I weigh it.", "signature": "c2ln"}

    def answer(body: dict[str, Any], number: int) -> Message | Fault:
        if number == 1:
            return Fault(429, "rate_limit_error", {"retry-after": "0"})
        if number == 2:
            return Fault(529, "overloaded_error")
        if number == 3:
            return Message((), stop_reason="refusal")
        return Message((thinking, {"type": "text", "text": "A"}))

    settings = make_settings(tmp_path / "home")
    with serve_messages(answer) as server:
        rho = replace(
            make_model(
                "rho", roles=("candidate", "reference"), parameters={"max_tokens": 500, "stream": True}
            ),
            base_url=server.url,
            key_variable="TEST_MESSAGES_KEY",
            provider="anthropic",
            api="anthropic",
        )
        registry = make_registry(rho)
        plan = publish(ledger, settings, registry, make_bank())

        async def sit() -> SittingReport:
            async with ModelClient(ledger, settings, backoff_s=0.01) as client:
                return await sit_sessions(ledger, settings, registry, client, plan.run_id)

        report = asyncio.run(sit())
    assert (report.is_complete, report.is_run_closed, report.failures) == (True, True, [])
    with ledger.read() as connection:
        sessions = [row.session_id for row in sittings.list_sessions(connection, run_id=plan.run_id)]
        rows = read_response_rows(connection, sessions)
        assert check_ledger(connection).findings == ()
    assert len(rows) == report.answer_count == len(server.asked) - 2
    assert sorted({(row["answer_status"], row["finish_reason"], row["reasoning"]) for row in rows}) == [
        ("answered", "end_turn", "I weigh it."),
        ("refused", "refusal", None),
    ]
    # 1 USD for a million tokens, in and out.
    assert [row["cost_usd"] for row in rows] == pytest.approx([120 / 1e6] * len(rows))
    assert sum(row["attempts"] for row in rows) == len(server.asked)
