"""What endpoints send back, read without trust: text, reasoning, finish reason, usage, status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

SIMULATED_FINGERPRINT = "simulated"

_REFUSING = ("content_filter", "refusal", "safety")
_CUT = ("length", "max_tokens")


@dataclass(frozen=True)
class ParsedReply:
    """A chat completion as far as Proctor keeps it."""

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    is_refusal: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    fingerprint: str | None = None


def parse_json_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a reply's text, whatever stands around it; null when there is none."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def parse_completion(data: object) -> ParsedReply | None:
    """Read a chat completion; null when it does not have the shape of one."""
    if not isinstance(data, Mapping):
        return None
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return None
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        return None
    usage = data.get("usage")
    return build_reply(
        content=_text(message.get("content")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        refusal=_text(message.get("refusal")),
        finish_reason=_text(choices[0].get("finish_reason")),
        usage=usage if isinstance(usage, Mapping) else {},
        fingerprint=_text(data.get("system_fingerprint")),
    )


def build_reply(
    *,
    content: str | None,
    reasoning: str | None,
    refusal: str | None,
    finish_reason: str | None,
    usage: Mapping[str, Any],
    fingerprint: str | None,
) -> ParsedReply:
    """A reply from its parts, whether they came at once or as a stream."""
    text = _text(content) or ""
    reasoning = _text(reasoning)
    if reasoning is None:
        reasoning, text = _split_thinking(text)
    return ParsedReply(
        text=text or _text(refusal) or "",
        reasoning=reasoning,
        finish_reason=finish_reason,
        is_refusal=bool(refusal),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        fingerprint=fingerprint,
    )


def compute_status(reply: ParsedReply) -> Literal["answered", "empty", "refused", "truncated"]:
    """What became of the answer. A reply cut at the token limit is truncated even when no text was left."""
    if reply.is_refusal or reply.finish_reason in _REFUSING:
        return "refused"
    if reply.finish_reason in _CUT:
        return "truncated"
    return "answered" if reply.text.strip() else "empty"


def _split_thinking(text: str) -> tuple[str | None, str]:
    """Open models may write their thinking into the answer, between <think> and </think>."""
    stripped = text.lstrip()
    if not stripped.startswith("<think>"):
        return None, text
    thinking, closed, answer = stripped.removeprefix("<think>").partition("</think>")
    return thinking.strip() or None, answer.strip() if closed else ""


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return _repair(value)
    if isinstance(value, list):  # content in parts
        parts = [part.get("text") for part in value if isinstance(part, Mapping)]
        return _repair("".join(part for part in parts if isinstance(part, str)))
    return None


def _repair(text: str) -> str:
    """Text that any store can keep: without NUL, half an emoji replaced."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
