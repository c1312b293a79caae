"""`models check`: each way in which a model cannot be used has its own finding."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from schemas.settings import Settings
from tasks.models.check import ModelCheck, check_models
from tests.local_server import Handler, serve
from tests.tasks.models.simulation import make_model, start_server
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.tables import llm_calls

THINKING = {"max_tokens": 30_000, "thinking": {"type": "enabled", "budget_tokens": 2_048}}


class Endpoint(Handler):
    """An endpoint that knows one model, and notes what it was sent."""

    seen: list[dict[str, Any]] = []

    def do_POST(self) -> None:
        body = self.read_json()
        self.seen.append(body)
        usage = {"prompt_tokens": 12, "completion_tokens": 1}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ready"}}
        is_known = body["model"] == "known"
        reply: dict[str, Any] = {"model": "known", "choices": [choice], "usage": usage}
        self.send(*((200, reply) if is_known else (404, {"error": {"code": "model_not_found"}})))


@contextmanager
def serve_endpoint() -> Iterator[str]:
    with serve(Endpoint) as port:
        yield f"http://127.0.0.1:{port}/v1"


def test_each_fault_is_found_and_the_cost_is_booked(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_TEST_NO_KEY", raising=False)
    monkeypatch.setattr(Endpoint, "seen", [])
    with serve_endpoint() as url:
        real = {"base_url": url, "is_simulated": False, "provider": "real"}
        models = [
            make_model("good", endpoint_model="known", parameters={"max_completion_tokens": 30_000}, **real),
            make_model("thinks", endpoint_model="known", parameters=THINKING, **real),
            make_model("misspelt", **real),
            make_model("no-price", endpoint_model="known", output_price_usd=None, **real),
            make_model("no-key", key_variable="PROCTOR_TEST_NO_KEY", **real),
            make_model("away", base_url="http://127.0.0.1:9/v1", is_simulated=False, provider="away"),
        ]
        found = asyncio.run(check_models(ledger, Settings(), models))
    rows = {one.model: (one.is_reachable, one.has_key, one.is_name_known, one.has_price) for one in found}
    assert rows == {
        "good": (True, True, True, True),
        "thinks": (True, True, True, True),
        "misspelt": (False, True, False, True),
        "no-price": (True, True, True, False),
        "no-key": (False, False, None, True),
        "away": (False, True, None, True),
    }
    assert [one.model for one in found if one.is_well] == ["good", "thinks"]
    problems = {one.model: one.problem for one in found}
    assert "endpoint_model (misspelt)" in problems["misspelt"]
    assert "input_price_usd" in problems["no-price"]
    assert "PROCTOR_TEST_NO_KEY is not set" in problems["no-key"]
    assert "connection" in problems["away"]
    assert found[0].cost_usd == pytest.approx((12 * 1.0 + 1 * 2.0) / 1e6)
    # Above what it is to think, which an endpoint wants.
    assert [body["max_tokens"] for body in Endpoint.seen if "thinking" in body] == [2_048 + 64]
    # A model that may think for long is held to a few words; none without a limit of its own is given one.
    assert [body["max_completion_tokens"] for body in Endpoint.seen if "max_completion_tokens" in body] == [
        64
    ]
    with ledger.read() as connection:
        booked = connection.execute(llm_calls.select()).mappings().all()
    assert {(row["model"], row["purpose"], row["status"]) for row in booked} == {
        ("good", "check", "done"),
        ("thinks", "check", "done"),
        ("misspelt", "check", "failed"),
        ("no-price", "check", "done"),
        ("away", "check", "failed"),
    }


def test_a_simulated_model_is_asked_anew_each_time(ledger: Ledger) -> None:
    def check(url: str) -> ModelCheck:
        return asyncio.run(check_models(ledger, Settings(), [make_model(base_url=url)]))[0]

    with start_server() as server:
        first, second = check(server.url), check(server.url)
    assert first.is_well and second.is_well
    with ledger.read() as connection:
        assert len(connection.execute(llm_calls.select()).all()) == 2
