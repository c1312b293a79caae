"""One model behind several servers of one's own."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import RegistryError
from schemas.settings import Settings
from tasks.models.batches.batching import BatchClient
from tasks.models.check import check_models
from tasks.models.client import CallFailed, CallReply
from tasks.models.providers import PROVIDERS
from tasks.models.registry.file import BatchTerms
from tasks.models.registry.models import read_registry
from tasks.models.replies import Failure, ParsedReply
from tasks.models.sending.endpoints import Endpoints, ReplicatedEndpoint
from tests.tasks.models.simulation import call_all, make_model, make_request, start_server
from warehouse.ledger.engine.ledger import Ledger

REFUSED = Failure("connection", True)
CUT = Failure("connection", True, is_bill_unknown=True)


class Server:
    """An endpoint that answers with its name as soon as it is let, or fails as it is told to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fails: Failure | None = None
        self.asked = 0
        self.is_let = asyncio.Event()
        self.is_let.set()

    async def send(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        self.asked += 1
        await self.is_let.wait()
        return self.fails or ParsedReply(self.name)

    async def close(self) -> None:
        pass


class Clock:
    """Time that passes when the test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def make_servers() -> tuple[dict[str, Server], ReplicatedEndpoint, Clock]:
    servers = {name: Server(name) for name in ("one", "two", "three")}
    clock = Clock()
    return servers, ReplicatedEndpoint(servers, clock=clock), clock


async def ask(endpoint: ReplicatedEndpoint) -> str:
    outcome = await endpoint.send({})
    return outcome.text if isinstance(outcome, ParsedReply) else outcome.error


def test_a_call_goes_to_the_server_with_the_fewest_under_way() -> None:
    async def run() -> list[int]:
        servers, endpoint, _ = make_servers()
        for server in servers.values():
            server.is_let.clear()
        calls = [asyncio.create_task(ask(endpoint)) for _ in range(7)]
        await asyncio.sleep(0)
        asked = [server.asked for server in servers.values()]
        for server in servers.values():
            server.is_let.set()
        await asyncio.gather(*calls)
        return asked

    assert sorted(asyncio.run(run())) == [2, 2, 3]


def test_one_that_is_not_reached_is_passed_over_at_once_and_asked_again_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run() -> None:
        servers, endpoint, clock = make_servers()
        servers["one"].fails = REFUSED
        assert await ask(endpoint) in ("two", "three")
        assert servers["one"].asked == 1
        clock.now = 0.9
        assert {await ask(endpoint) for _ in range(4)} <= {"two", "three"}
        assert servers["one"].asked == 1
        # It rests for a second, then for two.
        clock.now = 1.1
        await ask(endpoint)
        clock.now = 2.9
        await ask(endpoint)
        assert servers["one"].asked == 2
        clock.now = 3.2
        servers["one"].fails = None
        assert await ask(endpoint) == "one"

    with caplog.at_level(logging.WARNING, logger="proctor.models"):
        asyncio.run(run())
    assert [record.getMessage() for record in caplog.records] == [
        "one does not answer; its calls go to the other servers",
        "one answers again",
    ]


def test_many_calls_that_find_one_gone_together_do_not_lengthen_its_rest() -> None:
    async def run() -> int:
        servers, endpoint, clock = make_servers()
        servers["one"].is_let.clear()
        calls = [asyncio.create_task(ask(endpoint)) for _ in range(12)]
        await asyncio.sleep(0)
        servers["one"].fails = REFUSED
        servers["one"].is_let.set()
        assert "connection" not in await asyncio.gather(*calls)
        asked = servers["one"].asked
        clock.now = 1.1
        servers["one"].fails = None
        await ask(endpoint)
        return servers["one"].asked - asked

    assert asyncio.run(run()) == 1


def test_what_may_have_been_worked_on_is_not_sent_to_another_by_itself() -> None:
    async def run() -> tuple[str, int]:
        servers, endpoint, _ = make_servers()
        for server in servers.values():
            server.fails = CUT
        return await ask(endpoint), sum(server.asked for server in servers.values())

    assert asyncio.run(run()) == ("connection", 1)


@pytest.mark.parametrize(
    "failure",
    [
        Failure("500", True, status_code=500, is_bill_unknown=True),
        Failure("404", False, status_code=404),
        Failure("timeout", True),
    ],
)
def test_one_that_errs_quickly_draws_no_calls(failure: Failure) -> None:
    async def run() -> int:
        servers, endpoint, _ = make_servers()
        servers["one"].fails = failure
        for _ in range(20):
            await ask(endpoint)
        return servers["one"].asked

    assert asyncio.run(run()) == 1


def test_one_that_says_nothing_is_left_alone_and_tried_with_one_call_only() -> None:
    async def run() -> tuple[int, int]:
        servers, endpoint, clock = make_servers()
        servers["one"].is_let.clear()
        waiting = asyncio.create_task(ask(endpoint))
        await asyncio.sleep(0)
        # The caller has waited as long as it waits.
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert {await ask(endpoint) for _ in range(6)} <= {"two", "three"}
        first = servers["one"].asked
        clock.now = 1.1
        for server in servers.values():
            server.is_let.clear()
        calls = [asyncio.create_task(ask(endpoint)) for _ in range(9)]
        await asyncio.sleep(0)
        asked = servers["one"].asked - first
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return first, asked

    assert asyncio.run(run()) == (1, 1)


def test_where_none_is_reached_the_call_fails_when_each_was_asked() -> None:
    async def run() -> tuple[str, list[int]]:
        servers, endpoint, _ = make_servers()
        for server in servers.values():
            server.fails = REFUSED
        return await ask(endpoint), [server.asked for server in servers.values()]

    assert asyncio.run(run()) == ("connection", [1, 1, 1])


def test_a_server_that_ends_in_the_middle_leaves_its_calls_to_the_other(ledger: Ledger) -> None:
    slow = {"latency_ms": 20}
    with start_server(sim=slow) as first, start_server(sim=slow) as second:
        model = make_model(
            base_url=first.url,
            replica_urls=(second.url,),
            max_concurrency=4,
            provider="own",
            is_simulated=True,
        )

        def end() -> None:
            while first.state.requests["sim"] < 10:
                if over.wait(0.01):
                    return
            first.stop()

        over = threading.Event()
        ending = threading.Thread(target=end)
        ending.start()
        outcomes, counts = call_all(ledger, "unused", [make_request(number) for number in range(60)], model)
        over.set()
        ending.join()
        assert [type(outcome) for outcome in outcomes] == [CallReply] * 60
        asked = (first.state.requests["sim"], second.state.requests["sim"])
    assert counts["sent"] == 60
    # Both worked; only calls that were on their way when it ended may have been put twice.
    assert min(asked) >= 10
    assert 60 <= sum(asked) <= 60 + 4


def test_the_check_names_the_server_that_does_not_answer(ledger: Ledger, tmp_path: Path) -> None:
    with start_server() as server:
        model = make_model(base_url=server.url, replica_urls=("http://127.0.0.1:9/v1",))
        (found,) = asyncio.run(check_models(ledger, Settings(home=tmp_path), [model]))
        (well,) = asyncio.run(
            check_models(ledger, Settings(home=tmp_path), [make_model(base_url=server.url)])
        )
    assert "Nothing answers at http://127.0.0.1:9/v1" in found.problem
    assert well.is_well


def test_batches_are_not_for_several_servers(ledger: Ledger, tmp_path: Path) -> None:
    model = make_model(replica_urls=("http://127.0.0.1:9/v1",), batch=BatchTerms())

    async def gather() -> None:
        async with BatchClient(ledger, Settings(home=tmp_path)) as client:
            await client.complete(model, make_request())

    with pytest.raises(RegistryError, match="has replicas: a batch would be looked for at another server"):
        asyncio.run(gather())


@pytest.mark.parametrize(
    ("replicas", "said"),
    [
        ("http://b/v1", "expected a list of addresses"),
        ("[b]", "expected a list of addresses"),
        ("[http://a/v1]", "an address stands there twice"),
        ("[http://b/v1, http://b/v1]", "an address stands there twice"),
    ],
)
def test_replicas_are_further_addresses(tmp_path: Path, replicas: str, said: str) -> None:
    path = tmp_path / "models.yaml"
    text = "providers:\n  own: {base_url: http://a/v1, replicas: REPLICAS}\nmodels:\n  m: {provider: own, organisation: Lab}\n"
    path.write_text(text.replace("REPLICAS", "[http://b/v1]"))
    assert read_registry(path).get("m").replica_urls == ("http://b/v1",)
    path.write_text(text.replace("REPLICAS", replicas))
    with pytest.raises(RegistryError, match=said):
        read_registry(path)


def quote(*_: object) -> Any:
    raise KeyError("a text")


class Breaks:
    """A connection of another package that breaks a rule."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        self._answer = answer

    async def send(self, request: Mapping[str, Any]) -> Any:
        return self._answer(request)

    async def close(self) -> None:
        pass


def bring(monkeypatch: pytest.MonkeyPatch, connect: object) -> None:
    monkeypatch.setitem(PROVIDERS.own, "mine", "my_package:MINE")
    monkeypatch.setitem(PROVIDERS._loaded, "mine", connect)


@pytest.mark.parametrize(
    ("answer", "error"), [(quote, "provider_fault KeyError"), (lambda _: "fine", "provider_fault str")]
)
def test_a_call_that_another_packages_provider_breaks_off_fails_alone_and_without_its_words(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, answer: Any, error: str
) -> None:
    bring(monkeypatch, lambda url, key, timeout_s: Breaks(answer))
    model = make_model(api="mine", base_url="http://127.0.0.1:1", is_simulated=False)
    (failed,), counts = call_all(ledger, "", [make_request()], model)
    assert isinstance(failed, CallFailed)
    assert error in str(failed)
    assert "mend or update it" in str(failed)
    assert "a text" not in str(failed)
    assert counts["sent"] == 1


@pytest.mark.parametrize(
    ("connect", "said"), [(quote, "failed with KeyError"), (lambda *_: None, "gave NoneType")]
)
def test_a_provider_that_opens_nothing_is_named(
    monkeypatch: pytest.MonkeyPatch, connect: Any, said: str
) -> None:
    bring(monkeypatch, connect)
    with pytest.raises(RegistryError, match=f"The API 'mine' of proctor {said}"):
        Endpoints(1.0).open(make_model(api="mine", base_url="http://127.0.0.1:1"))
