"""Completions on the wire: whole, as a stream, or in a batch's output; and errors."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from deployments.model_server.profile import SimulatedModel
from tasks.models import SIMULATED_FINGERPRINT, part_pictures, read_data_address


@dataclass(frozen=True)
class Completion:
    """A reply before it is put on the wire."""

    text: str
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str = "stop"


def refuse(status: int, code: str, headers: dict[str, str] | None = None) -> web.Response:
    """An error as OpenAI words it."""
    return web.json_response(build_error(code), status=status, headers=headers)


def build_error(code: str) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": code.replace("_", " "), "type": code, "code": code}}


def read_limit(body: dict[str, Any]) -> int | None:
    """The limit on tokens that a request states; null for none."""
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return limit if isinstance(limit, int) and limit > 0 else None


def read_messages(body: Mapping[str, Any]) -> tuple[list[dict[str, str]], frozenset[str]]:
    """The messages of a request as texts, and the SHA-256 of the pictures that came with them."""
    plain, _ = part_pictures(body["messages"])
    seen = {
        hashlib.sha256(base64.b64decode(read_data_address(part)[1])).hexdigest()
        for message in body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    }
    texts = [{"role": str(message["role"]), "content": str(message["content"])} for message in plain]
    return texts, frozenset(seen)


def count_usage(messages: list[dict[str, str]], completion: Completion, limit: int | None) -> dict[str, int]:
    """Tokens at three bytes each, a Chinese character or three letters; at most the limit."""
    sent = sum(len(message["content"].encode()) for message in messages) // 3 + 4 * len(messages)
    returned = len((completion.text + (completion.refusal or "")).encode()) // 3 + 1
    if completion.reasoning is not None:
        returned += 200  # thinking is billed as output
    if limit is not None:
        returned = min(returned, limit)
    return {"prompt_tokens": sent, "completion_tokens": returned, "total_tokens": sent + returned}


def build_reply(
    model: SimulatedModel, completion: Completion, usage: dict[str, int] | None
) -> dict[str, Any]:
    """The body of a whole chat completion."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": completion.text,
        "refusal": completion.refusal,
    }
    if completion.reasoning is not None:
        message["reasoning_content"] = completion.reasoning
    return {
        **_build_head(model, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": completion.finish_reason}],
        "usage": usage,
    }


def _build_head(model: SimulatedModel, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{time.monotonic_ns():x}",
        "object": kind,
        "created": int(time.time()),
        "model": model.name,
        "system_fingerprint": SIMULATED_FINGERPRINT,
    }


async def send_whole(
    request: web.BaseRequest,
    model: SimulatedModel,
    completion: Completion,
    usage: dict[str, int] | None,
    fault: str | None,
) -> web.StreamResponse:
    """Send a completion at once; `malformed` halves it, `cut_stream` drops the connection."""
    body = json.dumps(build_reply(model, completion, usage), ensure_ascii=False).encode()
    if fault == "malformed":
        body = body[: len(body) // 2]
    if fault == "cut_stream":
        cut = web.StreamResponse(headers={"Content-Type": "application/json"})
        cut.content_length = len(body)
        await cut.prepare(request)
        await cut.write(body[: len(body) // 2])
        _cut(request)
        return cut
    return web.Response(body=body, content_type="application/json")


async def send_stream(
    request: web.BaseRequest,
    model: SimulatedModel,
    completion: Completion,
    usage: dict[str, int] | None,
    *,
    is_cut: bool,
) -> web.StreamResponse:
    """Send a completion as a stream of events; `is_cut` drops the connection in its midst."""
    reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await reply.prepare(request)
    head = _build_head(model, "chat.completion.chunk")

    async def send(delta: dict[str, Any], finish_reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        await _send_event(reply, {**head, "choices": [choice]})

    await send({"role": "assistant", "content": ""})
    if completion.reasoning is not None:
        await send({"reasoning_content": completion.reasoning})
    size = max(1, len(completion.text) // 4)
    for start in range(0, len(completion.text), size):
        if is_cut and start:
            _cut(request)
            return reply
        await send({"content": completion.text[start : start + size]})
    if is_cut:
        _cut(request)
        return reply
    if completion.refusal is not None:
        await send({"refusal": completion.refusal})
    await send({}, completion.finish_reason)
    await _send_event(reply, {**head, "choices": [], "usage": usage})
    await reply.write(b"data: [DONE]\n\n")
    await reply.write_eof()
    return reply


async def _send_event(reply: web.StreamResponse, data: dict[str, Any]) -> None:
    await reply.write(b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n")


def _cut(request: web.BaseRequest) -> None:
    """Drop the connection as a dying proxy would."""
    if request.transport is not None:
        request.transport.abort()
