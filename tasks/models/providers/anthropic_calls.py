"""Calls in the form of Anthropic's messages API, as its own SDK sends and reads them.

It takes no batches here.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import UsageError
from tasks.models.picture_parts import read_data_address
from tasks.models.providers.failures import MOST_REPLY_BYTES, TooLarge, ask_sdk, limit_lines, read_whole
from tasks.models.replies import Failure, ParsedReply, build_reply

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

# What the form has no place for: a seed is only sent to simulated models, options of streams are OpenAI's.
_LEFT_OUT: Final = frozenset(
    {"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options", "stop", "seed", "response_format"}
)  # fmt: skip
_INPUT_COUNTS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OVERLOADED: Final = 529


def open_endpoint(url: str, key: str, timeout_s: float) -> AnthropicEndpoint:
    """A connection to the messages API at an address, with or without its `/v1`.

    Raises UsageError without the extra `anthropic`.
    """
    try:
        from anthropic import AsyncAnthropic, DefaultAioHttpClient
    except ImportError:
        raise UsageError(
            "A provider of the registry has `api: anthropic`, but the package is not installed. Install the extra "
            "(pip install 'proctor[anthropic]')."
        ) from None
    # At DEBUG the library logs whole requests, that is, questions.
    logging.getLogger("anthropic").setLevel(logging.WARNING)
    return AnthropicEndpoint(
        AsyncAnthropic(
            api_key=key,
            base_url=url.rstrip("/").removesuffix("/v1"),
            max_retries=0,
            timeout=timeout_s,
            http_client=DefaultAioHttpClient(),
            open_telemetry=False,
        )
    )


class AnthropicEndpoint:
    """A connection by `anthropic.AsyncAnthropic`."""

    def __init__(self, client: AsyncAnthropic) -> None:
        self._client = client

    async def send(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Send one message; whatever goes wrong with it is returned, not raised.

        The API asks for a limit of tokens, and none is made up: without `max_tokens` nothing is sent (`no_max_tokens`).
        """
        import anthropic

        if (request.get("max_completion_tokens") or request.get("max_tokens")) is None:
            return Failure("no_max_tokens", False)
        receive = self._receive_stream if request.get("stream") else self._receive_whole
        outcome = await ask_sdk(anthropic, receive(request))
        if isinstance(outcome, Failure) and outcome.status_code == _OVERLOADED:
            return replace(outcome, is_bill_unknown=False)  # turned away before any work
        return outcome

    async def close(self) -> None:
        """Close the connection."""
        await self._client.close()

    async def _receive_whole(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        named, rest = write_request(request)
        async with self._client.messages.with_streaming_response.create(**named, extra_body=rest) as response:
            content = await read_whole(response.iter_bytes())
        return parse_message(json.loads(content)) or Failure("malformed", True, is_bill_unknown=True)

    async def _receive_stream(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Collect a stream; one that ends without `message_stop` was cut."""
        named, rest = write_request(request)
        stream = await self._client.messages.create(**named, stream=True, extra_body=rest)
        limit_lines(stream.response)
        blocks: dict[int, dict[str, str]] = {}
        usage: dict[str, Any] = {}
        stop_reason: str | None = None
        is_whole = False
        count = 0
        async for event in stream:
            if event.type == "message_start":
                usage |= _drop_nulls(event.message.usage.model_dump())
            elif event.type == "content_block_start":
                blocks[event.index] = {"type": event.content_block.type, "text": "", "thinking": ""}
            elif event.type == "content_block_delta" and event.index in blocks:
                delta = event.delta.model_dump()
                for name in ("text", "thinking"):
                    if event.delta.type == f"{name}_delta" and isinstance(delta.get(name), str):
                        blocks[event.index][name] += delta[name]
                        count += len(delta[name])
            elif event.type == "message_delta":
                stop_reason = event.delta.stop_reason or stop_reason
                usage |= _drop_nulls(event.usage.model_dump())
            elif event.type == "message_stop":
                is_whole = True
            if count > MOST_REPLY_BYTES:
                await stream.close()
                raise TooLarge
        if not is_whole:
            return Failure("cut_stream", True, is_bill_unknown=True)
        return _build(list(blocks.values()), stop_reason, usage)


def write_request(request: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A request in this API's words.

    The first dict is what the SDK takes by name; the second is what goes into the body beside it, as registered.

    System messages become `system`, `stop` becomes `stop_sequences`, and a `response_format` with a JSON schema becomes
    `output_config.format`. The API has no seed.
    """
    messages = [_write_message(message) for message in request["messages"] if message["role"] != "system"]
    system = [message["content"] for message in request["messages"] if message["role"] == "system"]
    named = {
        "model": request["model"],
        "max_tokens": request.get("max_completion_tokens") or request["max_tokens"],
        "messages": messages,
    }
    if system:
        named["system"] = "\n\n".join(system)
    rest = {name: value for name, value in request.items() if name not in _LEFT_OUT}
    if stop := request.get("stop"):
        rest.setdefault("stop_sequences", [stop] if isinstance(stop, str) else list(stop))
    schema = ((request.get("response_format") or {}).get("json_schema") or {}).get("schema")
    if schema is not None:
        rest["output_config"] = {"format": {"type": "json_schema", "schema": schema}} | rest.get(
            "output_config", {}
        )
    return named, rest


def _write_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message in this API's words: pictures become blocks of base64."""
    if not isinstance(message["content"], list):
        return message
    blocks: list[dict[str, Any]] = []
    for part in message["content"]:
        if part["type"] == "text":
            blocks.append({"type": "text", "text": part["text"]})
        else:
            media_type, data = read_data_address(part)
            source = {"type": "base64", "media_type": media_type, "data": data}
            blocks.append({"type": "image", "source": source})
    return {**message, "content": blocks}


def parse_message(data: object) -> ParsedReply | None:
    """Read a message, with its thinking apart from its text.

    Returns None when it does not have the shape of a message.
    """
    if (
        not isinstance(data, Mapping)
        or data.get("type") != "message"
        or not isinstance(data.get("content"), list)
    ):
        return None
    blocks = [block for block in data["content"] if isinstance(block, Mapping)]
    usage = data.get("usage")
    return _build(blocks, data.get("stop_reason"), usage if isinstance(usage, Mapping) else {})


def _build(blocks: Sequence[Mapping[str, Any]], stop_reason: object, usage: Mapping[str, Any]) -> ParsedReply:
    """A reply from its blocks.

    Tokens that are read from a cache or written into it have the price of any other token.
    """
    thinking = [str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking"]
    texts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    read = [count for name in _INPUT_COUNTS if isinstance(count := usage.get(name), int)]
    return build_reply(
        content="".join(texts),
        reasoning="\n\n".join(part for part in thinking if part) or None,
        finish_reason=stop_reason,
        input_tokens=sum(read) if "input_tokens" in usage else None,
        output_tokens=usage.get("output_tokens"),
    )


def _drop_nulls(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in usage.items() if value is not None}
