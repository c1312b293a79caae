"""Connections to endpoints: one `openai.AsyncOpenAI` for each address and key."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tasks.models.registry import RegisteredModel, read_address, read_key

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Endpoints:
    """The endpoints that are open; close them at the end.

    Args:
        timeout_s: seconds that a call may take.
        simulated_url: address of the simulated model server; null for the one in PROCTOR_SIMULATED_URL.
    """

    def __init__(self, timeout_s: float, simulated_url: str | None = None) -> None:
        self._timeout_s = timeout_s
        self._simulated_url = simulated_url
        self._opened: dict[tuple[str, str | None], AsyncOpenAI] = {}

    def open(self, model: RegisteredModel) -> AsyncOpenAI:
        """The model's endpoint; raises RegistryError for a missing key or address."""
        place = (model.base_url, model.key_variable)
        endpoint = self._opened.get(place)
        if endpoint is not None:
            return endpoint
        url, key = read_address(model, self._simulated_url), read_key(model)
        from openai import AsyncOpenAI, DefaultAioHttpClient

        # At DEBUG the library logs whole requests, that is, questions.
        logging.getLogger("openai").setLevel(logging.WARNING)
        endpoint = AsyncOpenAI(
            api_key=key,
            base_url=url,
            max_retries=0,
            timeout=self._timeout_s,
            http_client=DefaultAioHttpClient(),
        )
        self._opened[place] = endpoint
        return endpoint

    async def close(self) -> None:
        """Close the connections to all endpoints."""
        opened, self._opened = self._opened, {}
        for endpoint in opened.values():
            await endpoint.close()
