"""Chat completions as endpoints send them, read without trust."""

from __future__ import annotations

from collections.abc import Mapping

from tasks.models.replies import Failure, ParsedReply, build_reply, note_cached, read_text

_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "data_inspection_failed"})


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
    counts: Mapping[str, object] = usage if isinstance(usage, Mapping) else {}
    reply = build_reply(
        content=message.get("content"),
        reasoning=read_text(message.get("reasoning_content")) or read_text(message.get("reasoning")),
        refusal=message.get("refusal"),
        finish_reason=choices[0].get("finish_reason"),
        input_tokens=counts.get("prompt_tokens"),
        output_tokens=counts.get("completion_tokens"),
        fingerprint=data.get("system_fingerprint"),
    )
    return note_cached(reply, read_cached_tokens(counts))


def read_cached_tokens(usage: Mapping[str, object]) -> object:
    """The tokens of a prompt that were in the endpoint's cache.

    Endpoints say it in one of two places.
    """
    details = usage.get("prompt_tokens_details")
    of_openai = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return usage.get("prompt_cache_hit_tokens") if of_openai is None else of_openai


def read_refusal(failure: Failure) -> ParsedReply | Failure:
    """A refusal by the endpoint's filter is a reply; any other failure is returned as it is."""
    if failure.status_code in (400, 403) and failure.code in _FILTER_CODES:
        return ParsedReply(text="", finish_reason="content_filter", is_refusal=True)
    return failure
