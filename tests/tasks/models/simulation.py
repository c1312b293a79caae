"""Simulated models for tests: a server, its models registered, calls over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from deployments.model_server import RunningServer, parse_profile, start_model_server
from schemas.settings import Settings
from tasks.models.budget.reservations import Budget
from tasks.models.client import CallReply, CallRequest, ModelClient
from tasks.models.registry.models import RegisteredModel
from tasks.questions import BareQuestion
from tasks.questions.forms import render_prompt
from warehouse.ledger.engine.ledger import Ledger

PARAMETERS = {"temperature": 0, "max_tokens": 200}


def make_model(name: str = "sim", **changes: Any) -> RegisteredModel:
    """A simulated model at 1 USD per million tokens in and 2 out."""
    model = RegisteredModel(
        name=name,
        organisation="Lab",
        family=None,
        release_date=None,
        is_open=False,
        mode="standard",
        base_model=None,
        endpoint_model=name,
        base_url="simulated",
        key_variable=None,
        parameters=dict(PARAMETERS),
        input_price_usd=1.0,
        output_price_usd=2.0,
        requests_per_minute=None,
        max_concurrency=None,
        is_simulated=True,
        provider=f"provider-of-{name}",
        roles=("candidate",),
    )
    return replace(model, **changes)


def start_server(
    key: bytes | None = None,
    seed: str = "test",
    models: Mapping[str, Mapping[str, Any]] | None = None,
    **named: Mapping[str, Any],
) -> RunningServer:
    """A server of these models (`models` for odd names); without any, of one faultless `sim`."""
    served = {**(models or {}), **named}
    return start_model_server(parse_profile({"seed": seed, "models": served or {"sim": {}}}), key)


def make_question(number: int, **changes: Any) -> dict[str, Any]:
    """A row of a bank: a statement about the number, true for even ones."""
    question = {
        "question_type": "true_false",
        "language": "zh",
        "stem": f"第{number}号命题在给定条件下成立。",
        "material": None,
        "options": [],
        "answer": ["true" if number % 2 == 0 else "false"],
        "discipline": "Science",
        "explanation": None,
    }
    return question | changes


def make_bank(count: int, **changes: Any) -> pl.DataFrame:
    """A bank of so many statements."""
    return pl.DataFrame([make_question(number, **changes) for number in range(count)], schema=BANK_SCHEMA)


BANK_SCHEMA = {
    "question_type": pl.String(),
    "language": pl.String(),
    "stem": pl.String(),
    "material": pl.String(),
    "options": pl.List(pl.Struct({"label": pl.String(), "text": pl.String()})),
    "answer": pl.List(pl.String()),
    "discipline": pl.String(),
    "explanation": pl.String(),
}


def make_request(number: int = 0, *, style: str = "zero_shot", **changes: Any) -> CallRequest:
    """The request that puts question `number`."""
    messages, _ = render_prompt(BareQuestion.from_row(make_question(number)), style)
    return replace(CallRequest("exam", messages, run_id="run-1", unit="session-1"), **changes)


def call_all(
    ledger: Ledger,
    url: str,
    requests: Sequence[CallRequest],
    model: RegisteredModel | None = None,
    *,
    settings: Settings | None = None,
    budget: Budget | None = None,
    most_attempts: int = 6,
    backoff_s: float = 0.01,
) -> tuple[list[CallReply | BaseException], dict[str, int]]:
    """Call concurrently through one client: replies or exceptions in order, and its counts."""

    async def run() -> tuple[list[CallReply | BaseException], dict[str, int]]:
        async with ModelClient(
            ledger,
            settings or Settings(home=Path("unused")),
            budget=budget,
            simulated_url=url,
            most_attempts=most_attempts,
            backoff_s=backoff_s,
        ) as client:
            chosen = model or make_model()
            outcomes = await asyncio.gather(
                *[client.complete(chosen, request) for request in requests], return_exceptions=True
            )
            return list(outcomes), dict(client.counts)

    return asyncio.run(run())


def call_one(ledger: Ledger, url: str, request: CallRequest | None = None, **options: Any) -> CallReply:
    """Call once; raises what the call raises."""
    (outcome,), _ = call_all(ledger, url, [request or make_request()], **options)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
