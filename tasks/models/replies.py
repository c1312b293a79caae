"""What endpoints send back, read without trust: text, reasoning, finish reason, usage, status."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tasks.long_text import cut_text

if TYPE_CHECKING:
    from tasks.models.registry import RegisteredModel

SIMULATED_FINGERPRINT = "simulated"

_REFUSING = ("content_filter", "refusal", "safety")
_CUT = ("length", "max_tokens", "model_context_window_exceeded")
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_error"})

# How many characters are read in vain before a text counts as tangled; what is nested too deep counts as `_TANGLED` of them.
_MOST_EFFORT = 2_000_000
_TANGLED = 20_000
_QUOTE_REACH = 60
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_MARKS = "".join({*_CLOSING, *_CLOSING.values()}) + " \n\r\t"
# What announces somebody else's words directly before them.
_SAYING = re.compile(
    r"(?:\b(?:quot(?:e|es|ed|ing|ation)|wrote|writes|written|claims?|claimed|says|said|states|stated|inserts|inserted"
    r"|appends|appended|contains|includes|demands|demanded|ends with|asks for)\b"
    r"(?: (?:the|that|this|in|of|from|by|candidate|response|answer|student|text|itself)\b){0,4}"
    r"|(?:引用|写道|写了|写着|声称|自称|夹带|附上)[^。！？\n{]{0,6})"
    r"[\s:：,，“‘「『\"'`]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ParsedReply:
    """A reply as far as Proctor keeps it.

    `whole` is null unless something was cut: then `bytes` and `sha256` of the whole `text` or `reasoning`, by that name.
    """

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    is_refusal: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    fingerprint: str | None = None
    whole: dict[str, dict[str, Any]] | None = None


@dataclass(frozen=True)
class Failure:
    """An attempt without a reply.

    Attributes:
        error: short class: an HTTP status with the endpoint's code, or `timeout`, `connection`, `cut_stream`, `malformed`.
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
        if self.status_code in (401, 403):
            return f"Check the key in {model.key_variable or 'the endpoint'} and what it may use."
        if self.status_code == 404:
            return f"Check base_url and endpoint_model ({model.endpoint_model}) in the registry."
        if self.code in QUOTA_CODES:
            return "The account's quota is used up: raise it, then run again."
        if not self.is_retryable:
            return "Check the model's parameters in the registry, then run again."
        return "Run again: the call is sent again and nothing that was answered is paid for twice."


@dataclass(frozen=True)
class FoundObject:
    """A JSON object in a text.

    Attributes:
        value: the object; a name that it has twice with different values has null.
        start: where it begins in the text.
        end: where it ends.
        is_quoted: whether the text shows it as somebody else's words.
    """

    value: dict[str, Any]
    start: int
    end: int
    is_quoted: bool


def find_objects(text: str) -> list[FoundObject] | None:
    """The outermost JSON objects of a text in order; null where their braces are too tangled to be read in due time."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_join_pairs)
    found: list[FoundObject] = []
    effort = 0
    start = text.find("{")
    while start >= 0:
        end = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
            found.append(FoundObject(value, start, end, _is_quoted(text, start, end)))
        except json.JSONDecodeError as error:
            effort += error.pos - start
        except (ValueError, RecursionError):
            effort += _TANGLED
        if effort > _MOST_EFFORT:
            return None
        start = text.find("{", end)
    return found


def parse_json_object(text: str, key: str) -> dict[str, Any] | None:
    """The one JSON object of a reply that has the key, whatever stands around it; null for none, and where several differ."""
    found = [one for one in find_objects(drop_thinking(text)) or () if key in one.value]
    if not found or any(one.value != found[0].value for one in found):
        return None
    return None if all(one.is_quoted for one in found) else found[0].value


def drop_thinking(text: str) -> str:
    """A reply without the thinking that it begins with, where a model marks it by tags and says something after it."""
    if not text.lstrip().startswith("<think>"):
        return text
    _, closed, rest = text.partition("</think>")
    return rest if closed and rest.strip() else text


def _join_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, part in pairs:
        value[name] = part if name not in value or value[name] == part else None
    return value


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether an object stands in quotation marks, or after words like `the candidate wrote`; never where it is all there is."""
    before, after = (
        text[max(0, start - _QUOTE_REACH) : start].rstrip(),
        text[end : end + _QUOTE_REACH].lstrip(),
    )
    if len(text) - (end - start) <= 2 * _QUOTE_REACH and not (before + after).strip(_MARKS):
        return False
    if before and after and _CLOSING.get(before[-1]) == after[0]:
        return True
    return _SAYING.search(before) is not None


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
    """A reply from its parts as an endpoint gave them, each of whatever type; what is no text or no count is null.

    Where no reasoning is given, what stands between `<think>` and `</think>` at the beginning of the content is it.
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


def cut_reply(reply: ParsedReply, most: int) -> ParsedReply:
    """The reply with at most so many characters of text, and of reasoning."""
    text, of_text = cut_text(reply.text, most)
    reasoning, of_reasoning = (None, None) if reply.reasoning is None else cut_text(reply.reasoning, most)
    whole = {name: cut for name, cut in (("text", of_text), ("reasoning", of_reasoning)) if cut is not None}
    return replace(reply, text=text, reasoning=reasoning, whole=whole) if whole else reply


def compute_status(reply: ParsedReply) -> Literal["answered", "empty", "refused", "truncated"]:
    """What became of the answer. A reply cut at the token limit is truncated even when no text was left."""
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
    """The text of a value, also where it comes in parts, as any store can keep it; null for what is none."""
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
