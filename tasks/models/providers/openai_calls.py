"""Calls in OpenAI's form, which most endpoints and the simulated models speak."""

from __future__ import annotations

import json
import logging
import os
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

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
from tasks.models.providers.openai_batches import (
    OpenAIBatches,
    parse_completion,
    read_cached_tokens,
    read_returned_tokens,
)
from tasks.models.replies import Failure, ParsedReply, build_reply, note_source, read_text

if TYPE_CHECKING:
    import httpx2
    import openai
    from openai import AsyncOpenAI

_ACCOUNT_HEADERS: Final = ("OpenAI-Organization", "OpenAI-Project")


def open_endpoint(url: str, key: str, timeout_s: float) -> OpenAIEndpoint:
    """A connection to any endpoint that is compatible with OpenAI's."""
    from openai import AsyncOpenAI, DefaultAioHttpClient, Omit, Timeout

    # At DEBUG the library logs whole requests, that is, questions.
    logging.getLogger("openai").setLevel(logging.WARNING)
    # These it would send to every provider, and a key among them in the place of the registered one.
    os.environ.pop("OPENAI_CUSTOM_HEADERS", None)
    # OPENAI_ORG_ID and OPENAI_PROJECT_ID say whose account it is at OpenAI: nobody else is told.
    is_openai = (urlsplit(url).hostname or "").endswith(".openai.com")
    untold: dict[str, Any] = {} if is_openai else dict.fromkeys(_ACCOUNT_HEADERS, Omit())
    connection = open_connection(DefaultAioHttpClient)
    client = AsyncOpenAI(
        api_key=key,
        base_url=url,
        max_retries=0,
        timeout=Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        default_headers=untold,
        http_client=connection,
    )
    return OpenAIEndpoint(client, connection)


class OpenAIEndpoint(OpenAIBatches):
    """A connection by `openai.AsyncOpenAI`, for single calls and for batches."""

    def __init__(self, client: AsyncOpenAI, connection: httpx2.AsyncClient) -> None:
        from openai import Omit

        super().__init__(client)
        self._connection = connection
        told = {**client.auth_headers, **client.default_headers}
        self._like = self._connection.build_request(
            "POST",
            client.base_url.copy_with(raw_path=client.base_url.raw_path + b"chat/completions"),
            headers={name: value for name, value in told.items() if not isinstance(value, Omit)},
            timeout=client.timeout,
        )
        # Of the body, which is each call's own.
        self._like.headers.pop("content-length", None)

    async def send(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Send one chat completion; whatever goes wrong with it is returned, not raised."""
        import openai

        receive = self._receive_stream if request.get("stream") else self._receive_whole
        return read_refusal(await ask_sdk(openai, receive(request)))

    async def _receive_whole(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Ask for one reply, read in pieces.

        It goes out on the SDK's connection with the SDK's headers, as bytes both ways: to make address, headers and options
        of each call anew, and to look through every part of every message, costs twice the CPU of the call.
        """
        response = await self._post(request)
        try:
            content = await read_whole(response.aiter_bytes())
        finally:
            await response.aclose()
        if not response.is_success:
            raise _describe_status(response, content)
        return parse_completion(json.loads(content)) or Failure("malformed", True, is_bill_unknown=True)

    async def _post(self, request: Mapping[str, Any]) -> httpx2.Response:
        """The response to a request, its body unread; raises the SDK's errors of the connection."""
        import httpx2
        import openai

        body = json.dumps(request, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        asked = httpx2.Request(
            "POST",
            self._like.url,
            headers=self._like.headers,
            cookies=self._connection.cookies,
            content=body,
            extensions=self._like.extensions,
        )
        try:
            return await self._connection.send(asked, stream=True)
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(request=asked) from error
        except (httpx2.RequestError, ssl.SSLError) as error:
            raise openai.APIConnectionError(request=asked) from error

    async def _receive_stream(self, request: Mapping[str, Any]) -> ParsedReply | Failure:
        """Collect a stream; one that ends without a finish reason was cut."""
        rest = {name: value for name, value in request.items() if name not in ("model", "messages", "stream")}
        rest.setdefault("stream_options", {"include_usage": True})
        stream = await self.client.chat.completions.create(
            model=request["model"], messages=request["messages"], stream=True, extra_body=rest
        )
        limit_lines(stream.response)
        texts: list[str] = []
        reasonings: list[str] = []
        refusals: list[str] = []
        finish_reason: str | None = None
        fingerprint: str | None = None
        answered_by: str | None = None
        usage: dict[str, Any] = {}
        count = 0
        async for chunk in stream:
            fingerprint = chunk.system_fingerprint or fingerprint
            answered_by = chunk.model or answered_by
            if chunk.usage is not None:
                usage = chunk.usage.model_dump()
            for choice in chunk.choices or ():
                # Some end with a piece that has no delta, some send content in parts.
                delta = {} if choice.delta is None else choice.delta.model_dump(warnings=False)
                texts.append(_read_piece(delta.get("content")))
                refusals.append(_read_piece(delta.get("refusal")))
                reasonings.append(_read_piece(delta.get("reasoning_content") or delta.get("reasoning")))
                finish_reason = choice.finish_reason or finish_reason
                count += len(texts[-1]) + len(refusals[-1]) + len(reasonings[-1])
            if count > MOST_REPLY_BYTES:
                await stream.close()
                raise TooLarge
        if finish_reason is None:
            return Failure("cut_stream", True, is_bill_unknown=True)
        reply = build_reply(
            content="".join(texts),
            reasoning="".join(reasonings) or None,
            refusal="".join(refusals) or None,
            finish_reason=finish_reason,
            input_tokens=usage.get("prompt_tokens"),
            output_tokens=read_returned_tokens(usage),
            fingerprint=fingerprint,
        )
        return note_source(reply, answered_by, read_cached_tokens(usage))


def _describe_status(response: httpx2.Response, content: bytes) -> openai.APIStatusError:
    """The SDK's error of a response that is no success: what it says, if anything."""
    import openai

    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    error = body.get("error", body) if isinstance(body, Mapping) else body
    return openai.APIStatusError(str(response.status_code), response=response, body=error)


def _read_piece(value: object) -> str:
    """A piece's text as it is, which may end with half an emoji; empty for what is no text."""
    return value if isinstance(value, str) else read_text(value) or ""
