"""Connections to endpoints: one for each API, address and key.

Each is opened by the provider that the registry names.
"""

from __future__ import annotations

from schemas.errors import RegistryError
from tasks.models.providers import PROVIDERS, BatchEndpoint, Endpoint
from tasks.models.registry import RegisteredModel, read_address, read_api_key
from tasks.models.sending.replicas import ReplicatedEndpoint


class Endpoints:
    """The endpoints that are open; close them at the end.

    Args:
        timeout_s: seconds that a call may take.
        simulated_url: address of the simulated model server; null for the one in PROCTOR_SIMULATED_URL.
    """

    def __init__(self, timeout_s: float, simulated_url: str | None = None) -> None:
        self._timeout_s = timeout_s
        self._simulated_url = simulated_url
        self._opened: dict[tuple[str, tuple[str, ...], str | None], Endpoint] = {}

    def open(self, model: RegisteredModel) -> Endpoint:
        """The model's endpoint.

        Raises RegistryError for a missing key or address, and UsageError for a provider that is not there.
        """
        place = (model.api, (model.base_url, *model.replica_urls), model.key_variable)
        endpoint = self._opened.get(place)
        if endpoint is None:
            url, key = read_address(model, self._simulated_url), read_api_key(model)
            connect = PROVIDERS.find(model.api)
            endpoint = (
                ReplicatedEndpoint(
                    {one: connect(one, key, self._timeout_s) for one in (url, *model.replica_urls)}
                )
                if model.replica_urls
                else connect(url, key, self._timeout_s)
            )
            self._opened[place] = endpoint
        return endpoint

    def open_for_batches(self, model: RegisteredModel) -> BatchEndpoint:
        """The model's endpoint for batches.

        Raises RegistryError as `open` does, and also for an API whose batches Proctor does not know.
        """
        if model.replica_urls:
            raise RegistryError(
                f"Model {model.name!r} has `batch` in the registry, and its provider {model.provider!r} has replicas: a batch would be looked "
                "for at another server than has it. Leave one of the fields out."
            )
        endpoint = self.open(model)
        if not isinstance(endpoint, BatchEndpoint):
            raise RegistryError(
                f"Model {model.name!r} has `batch` in the registry, but Proctor sends no batches by the API {model.api!r} of "
                f"{model.provider!r}. Leave the field out: its calls are then sent singly."
            )
        return endpoint

    async def close(self) -> None:
        """Close the connections to all endpoints."""
        opened, self._opened = self._opened, {}
        for endpoint in opened.values():
            await endpoint.close()
