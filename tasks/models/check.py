"""Is each registered model there: under this name, with this key, at a known price?"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from schemas.errors import MislabelledError, ProctorError
from schemas.settings import Settings
from tasks.models.client import CallFailed, CallReply, CallRequest, ModelClient
from tasks.models.registry import RegisteredModel
from warehouse.ledger.engine.ledger import Ledger

_QUESTION: Final = "Reply with the single word: ready"
# Enough for a word, and for the few that a model may think before it.
_MOST_TOKENS: Final = 64
_LIMITS: Final = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class ModelCheck:
    """What was found of a model.

    Attributes:
        has_key: whether its key variable is set, a program gives its key, or it needs none.
        is_reachable: whether its endpoint replied.
        is_name_known: whether the endpoint knows the model's name; null where it did not get so far.
        has_price: whether both prices are registered (a simulated model needs none).
        latency_ms: wall time of the reply; null without one.
        cost_usd: what the question cost; null where nothing was billed or no price is known.
        problem: the first thing to mend; empty when all is well.
        is_simulation: whether it is registered as real and answers as a simulation.
    """

    model: str
    has_key: bool
    is_reachable: bool
    is_name_known: bool | None
    has_price: bool
    latency_ms: float | None
    cost_usd: float | None
    problem: str
    is_simulation: bool = False

    @property
    def is_well(self) -> bool:
        """Whether nothing is to be mended."""
        return not self.problem


async def check_models(
    ledger: Ledger, settings: Settings, models: Iterable[RegisteredModel], *, timeout_s: float = 60.0
) -> list[ModelCheck]:
    """Ask all at once within providers' limits; each call enters the ledger as paid ones do."""
    unit = f"check-{secrets.token_hex(6)}"
    asked = settings.model_copy(update={"call_timeout_s": min(timeout_s, settings.call_timeout_s)})
    async with ModelClient(ledger, asked, most_attempts=2) as client:
        return list(await asyncio.gather(*(_check_servers(client, model, unit) for model in models)))


async def _check_servers(client: ModelClient, model: RegisteredModel, unit: str) -> ModelCheck:
    """Ask every server of the model; the first that does not answer is its problem."""
    servers = [replace(model, base_url=url, replica_urls=()) for url in (model.base_url, *model.replica_urls)]
    found = [
        await _check(client, one, f"{unit}-{number}" if number else unit)
        for number, one in enumerate(servers)
    ]
    return next((one for one in found if not one.is_well), found[0])


async def _check(client: ModelClient, model: RegisteredModel, unit: str) -> ModelCheck:
    has_price = model.is_simulated or None not in (model.input_price_usd, model.output_price_usd)
    # Anthropic's API takes no limit that is not above what a model may think.
    thinking = model.parameters.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    most = _MOST_TOKENS + (budget if isinstance(budget, int) else 0)
    parameters: dict[str, Any] = {name: most for name in _LIMITS if name in model.parameters}
    request = CallRequest(
        purpose="check",
        messages=[{"role": "user", "content": _QUESTION}],
        unit=unit,
        salt=unit,
        parameters=parameters,
    )
    reply: CallReply | None = None
    is_name_known: bool | None = None
    problem = ""
    is_simulation = False
    try:
        reply = await client.complete(model, request)
        is_name_known = True
    except CallFailed as error:
        if error.error.startswith("404") or "model_not_found" in error.error:
            is_name_known = False
        problem = str(error)
    except MislabelledError as error:
        problem, is_simulation = str(error), True
    except ProctorError as error:
        problem = str(error)
    if not problem and not has_price:
        problem = (
            "No price: register input_price_usd and output_price_usd (0 for a free one); a budget needs both."
        )
    return ModelCheck(
        model.name,
        model.has_key,
        reply is not None,
        is_name_known,
        has_price,
        None if reply is None else reply.latency_ms,
        None if reply is None else reply.cost_usd,
        problem,
        is_simulation,
    )
