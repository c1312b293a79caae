"""What every provider keeps to, as a function for the tests of whoever writes one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from tasks.models.providers import Endpoint, Failure, ParsedReply, Provider

_MARK: Final = "MARK-OF-A-QUESTION"
_REQUEST: Final[Mapping[str, Any]] = {
    "model": "conformance",
    "messages": [{"role": "system", "content": "Answer."}, {"role": "user", "content": _MARK}],
    "max_tokens": 16,
}
# Nothing listens there: the discard port, to which no browser and no server of ours connects.
NOWHERE: Final = "http://127.0.0.1:9/v1"


def check_provider(provider: Provider, url: str, refusing_url: str = NOWHERE) -> ParsedReply:
    """Send one request to a server that answers, and one to where none does; returns the reply.

    `url` is of a server that you start, which answers any question in your API's words. Raises AssertionError naming the rule that is
    broken: an endpoint that sends and closes, a reply of text and counts, no change to what it is given, failures as values that
    carry nothing of the question, and a call that can be cancelled at any moment.
    """
    return asyncio.run(_check(provider, url, refusing_url))


async def _check(provider: Provider, url: str, refusing_url: str) -> ParsedReply:
    request = {**_REQUEST, "messages": [dict(message) for message in _REQUEST["messages"]]}
    endpoint = provider(url, "none", 30.0)
    try:
        assert isinstance(endpoint, Endpoint), "the provider opens no endpoint: it lacks `send` or `close`"
        reply = await endpoint.send(request)
        assert isinstance(reply, ParsedReply), f"the server that answers gave {reply!r}"
        assert isinstance(reply.text, str) and isinstance(reply.is_refusal, bool), (
            "text is text, is_refusal a truth"
        )
        assert reply.input_tokens is None or reply.input_tokens >= 0
        assert reply.output_tokens is None or reply.output_tokens >= 0
        assert request == _REQUEST, "the request was changed: the door keys and prices it afterwards"
        begun = asyncio.ensure_future(endpoint.send(request))
        await asyncio.sleep(0)
        begun.cancel()
        outcome = (await asyncio.gather(begun, return_exceptions=True))[0]
        assert isinstance(outcome, asyncio.CancelledError | ParsedReply), (
            "a call that is cancelled ends as cancelled"
        )
    finally:
        await endpoint.close()
    lost = provider(refusing_url, "none", 5.0)
    try:
        failure = await lost.send(request)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} was raised where a Failure is returned") from error
    finally:
        await lost.close()
    assert isinstance(failure, Failure), f"a server that is not there gave {failure!r}"
    assert failure.is_retryable, "a lost connection may be there again"
    assert failure.error and _MARK not in failure.error, "error is a short class without content"
    return reply
