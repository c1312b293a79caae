"""Connections to endpoints: one for each API, address and key.

Each is opened by the provider that the registry names. One model behind several addresses: servers of one's
own that serve the same weights.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from schemas.errors import ProctorError, RegistryError
from tasks.models.providers import PROVIDERS, BatchEndpoint, Endpoint
from tasks.models.registry import RegisteredModel, read_address, read_api_key
from tasks.models.replies import Failure, ParsedReply

log = logging.getLogger("proctor.models")
# A server that was gone is asked again after this time, then after twice as long, and so on.
_FIRST_REST_S: Final = 1.0
_LONGEST_REST_S: Final = 60.0
_NO_MODEL: Final = 404


@dataclass
class _Replica:
    """A server, the calls that it has under way, and until when it is left alone."""

    url: str
    endpoint: Endpoint
    under_way: int = 0
    rest_s: float = 0.0
    rests_until: float = float("-inf")


class Endpoints:
    """The endpoints that are open; close them at the end.

    Args:
        timeout_s: seconds that a call may take.
        simulated_url: address of the simulated model server; null for the one in PROCTOR_SIMULATED_URL.
    """

    def __init__(self, timeout_s: float, simulated_url: str | None = None) -> None:
        self._timeout_s = timeout_s
        self._simulated_url = simulated_url
        self._opened: dict[tuple[str, tuple[str, ...], str | None, str | None], Endpoint] = {}

    def open(self, model: RegisteredModel) -> Endpoint:
        """The model's endpoint; RegistryError without key or address, UsageError without provider."""
        urls = (model.base_url, *model.replica_urls)
        place = (model.api, urls, model.key_variable, model.key_command)
        endpoint = self._opened.get(place)
        if endpoint is None:
            url, key = read_address(model, self._simulated_url), read_api_key(model)
            endpoint = (
                ReplicatedEndpoint(
                    {one: self._connect(model, one, key) for one in (url, *model.replica_urls)}
                )
                if model.replica_urls
                else self._connect(model, url, key)
            )
            self._opened[place] = endpoint
        return endpoint

    def _connect(self, model: RegisteredModel, url: str, key: str) -> Endpoint:
        """A connection by what the registry names; RegistryError where a package gives none."""
        connect = PROVIDERS.find(model.api)
        try:
            endpoint = connect(url, key, self._timeout_s)
            fault = "" if isinstance(endpoint, Endpoint) else f"gave {type(endpoint).__name__}"
        except ProctorError:
            raise
        except Exception as error:  # Its words may hold the key
            fault = f"failed with {type(error).__name__}"
        if fault:
            package = PROVIDERS.find_entry(model.api).package
            raise RegistryError(
                f"The API {model.api!r} of {package} {fault} in place of a connection to {model.provider!r}. "
                "Mend the package, or uninstall it."
            )
        return endpoint

    def open_for_batches(self, model: RegisteredModel) -> BatchEndpoint:
        """The model's endpoint for batches; RegistryError as `open`, or for an API without any."""
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


class ReplicatedEndpoint:
    """An endpoint of several servers: each call goes to the one with the fewest under way.

    One that does not answer is left alone for a while. A call that never reached it goes to another at once; one that may have reached it fails as
    any other does, and its next attempt finds the others.

    Args:
        endpoints: each server's connection by its address; one at least.
        clock: seconds that only grow.
    """

    def __init__(
        self, endpoints: Mapping[str, Endpoint], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._replicas = [_Replica(url, endpoint) for url, endpoint in endpoints.items()]
        self._clock = clock

    async def send(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Send one request, once; to one server after the other as long as it reaches none."""
        untried = list(self._replicas)
        while True:
            replica = self._choose(untried)
            untried.remove(replica)
            replica.under_way += 1
            try:
                outcome = await replica.endpoint.send(request)
            except asyncio.CancelledError:
                # The caller's patience is over: a server that is switched off says nothing at all.
                self._note_gone(replica)
                raise
            finally:
                replica.under_way -= 1
            if not isinstance(outcome, Failure) or not _is_gone(outcome):
                self._note_back(replica)
                return outcome
            self._note_gone(replica)
            if outcome.is_bill_unknown or not untried:
                return outcome

    async def close(self) -> None:
        """Close the connections."""
        for replica in self._replicas:
            await replica.endpoint.close()

    def _choose(self, among: Sequence[_Replica]) -> _Replica:
        """The server with the fewest calls; where none answers, the one that rests least."""
        now = self._clock()

        def weigh(one: _Replica) -> tuple[float, int]:
            # One that was gone is tried with a single call before it gets others.
            is_tried = one.rest_s > 0 and one.under_way > 0
            return (max(one.rests_until - now, one.rest_s if is_tried else 0.0, 0.0), one.under_way)

        return min(among, key=weigh)

    def _note_gone(self, replica: _Replica) -> None:
        if replica.rest_s == 0.0:
            log.warning("%s does not answer; its calls go to the other servers", _name_host(replica.url))
        now = self._clock()
        if now < replica.rests_until:
            return  # another call has found that out already
        replica.rest_s = min(max(_FIRST_REST_S, 2 * replica.rest_s), _LONGEST_REST_S)
        replica.rests_until = now + replica.rest_s

    def _note_back(self, replica: _Replica) -> None:
        if replica.rest_s:
            log.warning("%s answers again", _name_host(replica.url))
        replica.rest_s, replica.rests_until = 0.0, float("-inf")


def _is_gone(failure: Failure) -> bool:
    """Whether a server is not there, errs, or has not the model."""
    status = failure.status_code or 0
    return failure.error in ("connection", "timeout") or status >= 500 or status == _NO_MODEL


def _name_host(url: str) -> str:
    """The host of an address, without what a person may have written before it."""
    return urlsplit(url).netloc.rpartition("@")[2] or url
