"""What endpoints send back: text, reasoning, finish reason, usage, status; never trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from schemas.asked_secrets import show_web_address
from tasks.texts import cut_text

if TYPE_CHECKING:
    from tasks.models.registry import RegisteredModel

SIMULATED_FINGERPRINT = "simulated"

# No call has more; what a server says beyond it is no count.
_MOST_TOKENS = 10**9
_LONGEST_NAME = 200
_REFUSING = ("content_filter", "refusal", "safety", "sensitive")
_CUT = ("length", "max_tokens", "model_length", "model_context_window_exceeded")
# The server broke down in the middle: what is there is no answer (gateways and Mistral, Zhipu, DeepSeek, vLLM and SGLang).
_BROKEN = ("error", "network_error", "insufficient_system_resource", "abort")
# What speaks the API raised, or returned neither reply nor failure; the class of it stands after this.
PROVIDER_FAULT = "provider_fault"
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_error"})


@dataclass(frozen=True)
class ParsedReply:
    """A reply as far as Proctor keeps it.

    `whole` is null unless something was cut: then `bytes` and `sha256` of the whole `text` or `reasoning`, by that name.
    `cached_tokens` are those of `input_tokens` that the provider had in its cache of prompts; null where it says nothing of them.
    `answered_by` is the model as the endpoint names it, which may be a dated snapshot of the one that was asked.
    """

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    is_refusal: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    fingerprint: str | None = None
    whole: dict[str, dict[str, Any]] | None = None
    cached_tokens: int | None = None
    answered_by: str | None = None


@dataclass(frozen=True)
class Failure:
    """An attempt without a reply.

    Attributes:
        error: short class: an HTTP status with the endpoint's code, or `timeout`, `connection`, `cut_stream`, `malformed`, `provider_fault`.
        is_retryable: whether another attempt may help.
        retry_after_s: the pause that the endpoint asked for.
        status_code: HTTP status, where there was one.
        is_bill_unknown: whether the endpoint may have worked, and billed, all the same.
    """

    error: str
    is_retryable: bool
    retry_after_s: float | None = None
    status_code: int | None = None
    is_bill_unknown: bool = False

    @property
    def code(self) -> str:
        """The endpoint's own code, which stands after the status; empty where there is none."""
        return self.error.partition(" ")[2]

    def advise(self, model: RegisteredModel) -> str:
        """What to do about it."""
        # 402 is said without a code of its own by some (DeepSeek, OpenRouter).
        if self.status_code == 402 or self.code in QUOTA_CODES:
            return "The account's quota is used up: raise it, then run again."
        if self.status_code in (401, 403):
            return f"Check the key in {model.key_variable or 'the endpoint'} and what it may use."
        if self.status_code == 404 or 300 <= (self.status_code or 0) < 400:
            return f"Check base_url and endpoint_model ({model.endpoint_model}) in the registry."
        if self.error == "connection":
            return f"Nothing answers at {show_web_address(model.base_url)}: start what serves it, or correct its address in the registry."
        if self.error.startswith(PROVIDER_FAULT):
            return f"The package that speaks the API {model.api!r} broke its rules ({self.code}): mend or update it, then run again."
        if not self.is_retryable:
            return "Check the model's parameters in the registry, then run again."
        return "Run again: the call is sent again and nothing that was answered is paid for twice."


def build_reply(
    *,
    content: object,
    reasoning: object = None,
    refusal: object = None,
    finish_reason: object = None,
    input_tokens: object = None,
    output_tokens: object = None,
    fingerprint: object = None,
) -> ParsedReply:
    """A reply from its parts as an endpoint gave them, each of whatever type.

    What is not a text or a count is None. Where no reasoning is given, what stands between `<think>` and `</think>`
    at the beginning of the content is it.
    """
    text = read_text(content) or ""
    thought = read_text(reasoning)
    if thought is None:
        thought, text = _split_thinking(text)
    return ParsedReply(
        text=text or read_text(refusal) or "",
        reasoning=thought,
        finish_reason=read_text(finish_reason),
        is_refusal=bool(read_text(refusal)),
        input_tokens=_count(input_tokens),
        output_tokens=_count(output_tokens),
        fingerprint=read_text(fingerprint),
    )


def note_source(reply: ParsedReply, answered_by: object, cached_tokens: object) -> ParsedReply:
    """The reply with what its endpoint says of who answered, and of its cache of prompts."""
    name = (read_text(answered_by) or "").strip()[:_LONGEST_NAME] or None
    return replace(reply, answered_by=name, cached_tokens=_count(cached_tokens))


def keep_reply(outcome: ParsedReply | Failure, most: int) -> ParsedReply | Failure:
    """What is kept of an outcome: a reply cut to so many characters; one broken off is none."""
    if isinstance(outcome, Failure):
        return outcome
    if outcome.finish_reason in _BROKEN:
        return Failure("broken_off", True, is_bill_unknown=True)
    return cut_reply(outcome, most)


def cut_reply(reply: ParsedReply, most: int) -> ParsedReply:
    """The reply with at most so many characters of text, and of reasoning."""
    text, of_text = cut_text(reply.text, most)
    reasoning, of_reasoning = (None, None) if reply.reasoning is None else cut_text(reply.reasoning, most)
    whole = {name: cut for name, cut in (("text", of_text), ("reasoning", of_reasoning)) if cut is not None}
    return replace(reply, text=text, reasoning=reasoning, whole=whole) if whole else reply


def compute_status(reply: ParsedReply) -> Literal["answered", "empty", "refused", "truncated"]:
    """What became of the answer; cut at the token limit it is truncated, even without a text."""
    if reply.is_refusal or reply.finish_reason in _REFUSING:
        return "refused"
    if reply.finish_reason in _CUT or (reply.whole is not None and "text" in reply.whole):
        return "truncated"
    return "answered" if reply.text.strip() else "empty"


def _split_thinking(text: str) -> tuple[str | None, str]:
    """Open models may write their thinking into the answer, between <think> and </think>."""
    stripped = text.lstrip()
    if not stripped.startswith("<think>"):
        return None, text
    thinking, closed, answer = stripped.removeprefix("<think>").partition("</think>")
    return thinking.strip() or None, answer.strip() if closed else ""


def read_text(value: object) -> str | None:
    """A value's text, in parts or whole, as any store can keep it; None for what is no text."""
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
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS:
        return value
    return None
