"""Calls in the form of Anthropic's messages API, as its own SDK sends and reads them."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from schemas.errors import UsageError
from tasks.models.providers.anthropic_batches import OVERLOADED, AnthropicBatches
from tasks.models.providers.anthropic_messages import build_message, drop_nulls, parse_message, write_request
from tasks.models.providers.failures import (
    CONNECT_S,
    MOST_REPLY_BYTES,
    TooLarge,
    ask_sdk,
    limit_lines,
    open_connection,
    read_refusal,
    read_whole,
)
from tasks.models.replies import Failure, ParsedReply


def open_endpoint(url: str, key: str, timeout_s: float) -> AnthropicEndpoint:
    """A connection to the messages API, with or without `/v1`; UsageError without its extra."""
    try:
        from anthropic import AsyncAnthropic, DefaultAioHttpClient, Timeout
    except ImportError:
        raise UsageError(
            "A provider of the registry has `api: anthropic`, but the package is not installed. Install the extra "
            "(pip install 'proctor[anthropic]')."
        ) from None
    # At DEBUG the library logs whole requests, that is, questions.
    logging.getLogger("anthropic").setLevel(logging.WARNING)
    # These it would send to every provider, and a key among them in the place of the registered one.
    os.environ.pop("ANTHROPIC_CUSTOM_HEADERS", None)
    return AnthropicEndpoint(
        AsyncAnthropic(
            api_key=key,
            base_url=url.rstrip("/").removesuffix("/v1"),
            max_retries=0,
            timeout=Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            http_client=open_connection(DefaultAioHttpClient),
            open_telemetry=False,
        )
    )


class AnthropicEndpoint(AnthropicBatches):
    """A connection by `anthropic.AsyncAnthropic`, for single calls and for batches."""

    async def send(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Send one message; whatever goes wrong with it is returned, not raised.

        The API asks for a limit of tokens, and none is made up: without `max_tokens` nothing is sent (`no_max_tokens`).
        """
        import anthropic

        if (request.get("max_completion_tokens") or request.get("max_tokens")) is None:
            return Failure("no_max_tokens", False)
        receive = self._receive_stream if request.get("stream") else self._receive_whole
        outcome = await ask_sdk(anthropic, receive(request))
        if isinstance(outcome, Failure) and outcome.status_code == OVERLOADED:
            return replace(outcome, is_bill_unknown=False)  # turned away before any work
        return read_refusal(outcome)

    async def _receive_whole(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        named, rest = write_request(request)
        async with self.client.messages.with_streaming_response.create(**named, extra_body=rest) as response:
            content = await read_whole(response.iter_bytes())
        return parse_message(json.loads(content)) or Failure("malformed", True, is_bill_unknown=True)

    async def _receive_stream(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Collect a stream; one that ends without `message_stop` was cut."""
        named, rest = write_request(request)
        stream = await self.client.messages.create(**named, stream=True, extra_body=rest)
        limit_lines(stream.response)
        blocks: dict[int, dict[str, str]] = {}
        usage: dict[str, Any] = {}
        stop_reason: str | None = None
        answered_by: str | None = None
        is_whole = False
        count = 0
        async for event in stream:
            if event.type == "message_start":
                usage |= drop_nulls(event.message.usage.model_dump())
                answered_by = event.message.model
            elif event.type == "content_block_start":
                blocks[event.index] = {"type": event.content_block.type, "text": "", "thinking": ""}
            elif event.type == "content_block_delta" and event.index in blocks:
                delta = event.delta.model_dump(warnings=False)
                for name in ("text", "thinking"):
                    if event.delta.type == f"{name}_delta" and isinstance(delta.get(name), str):
                        blocks[event.index][name] += delta[name]
                        count += len(delta[name])
            elif event.type == "message_delta":
                stop_reason = event.delta.stop_reason or stop_reason
                usage |= drop_nulls(event.usage.model_dump())
            elif event.type == "message_stop":
                is_whole = True
            if count > MOST_REPLY_BYTES:
                await stream.close()
                raise TooLarge
        if not is_whole:
            return Failure("cut_stream", True, is_bill_unknown=True)
        return build_message(list(blocks.values()), stop_reason, usage, answered_by)
