"""Requests and replies in the words of Anthropic's messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks.models.picture_parts import read_data_address
from tasks.models.replies import ParsedReply, build_reply, note_source

# What the form has no place for: a seed is only sent to simulated models, options of streams are OpenAI's.
_LEFT_OUT: Final = frozenset(
    {"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options", "stop", "seed", "response_format"}
)  # fmt: skip
_INPUT_COUNTS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def write_request(request: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A request in this API's words.

    The first dict is what the SDK takes by name; the second is what goes into the body beside it, as registered. System
    messages become `system`, `stop` becomes `stop_sequences`, and a `response_format` with a JSON schema becomes
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
    """A message, its thinking apart from its text; None when it has not a message's shape."""
    if (
        not isinstance(data, Mapping)
        or data.get("type") != "message"
        or not isinstance(data.get("content"), list)
    ):
        return None
    blocks = [block for block in data["content"] if isinstance(block, Mapping)]
    usage = data.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    return build_message(blocks, data.get("stop_reason"), counts, data.get("model"))


def build_message(
    blocks: Sequence[Mapping[str, Any]], stop_reason: object, usage: Mapping[str, Any], answered_by: object
) -> ParsedReply:
    """A reply from its blocks; tokens written into a cache, unasked, cost as any other."""
    thinking = [str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking"]
    texts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    read = [count for name in _INPUT_COUNTS if isinstance(count := usage.get(name), int)]
    reply = build_reply(
        content="".join(texts),
        reasoning="\n\n".join(part for part in thinking if part) or None,
        finish_reason=stop_reason,
        input_tokens=sum(read) if "input_tokens" in usage else None,
        output_tokens=usage.get("output_tokens"),
    )
    return note_source(reply, answered_by, usage.get("cache_read_input_tokens"))


def drop_nulls(usage: Mapping[str, Any]) -> dict[str, Any]:
    """The counts that an event has."""
    return {name: value for name, value in usage.items() if value is not None}
