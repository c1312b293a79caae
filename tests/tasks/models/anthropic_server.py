"""A local server in the form of Anthropic's messages API."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.local_server import Handler, serve

KEY = "key-of-the-test"
# What the API takes for the id of a request.
_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


@dataclass(frozen=True)
class Message:
    """A reply; `cut_after` lets a stream end after so many events."""

    blocks: Sequence[Mapping[str, Any]] = ({"type": "text", "text": "B"},)
    stop_reason: str = "end_turn"
    usage: Mapping[str, Any] = field(default_factory=lambda: {"input_tokens": 100, "output_tokens": 20})
    cut_after: int | None = None
    fails_with: str | None = None


@dataclass(frozen=True)
class Fault:
    """An error of the API."""

    status: int
    type: str
    headers: Mapping[str, str] = field(default_factory=dict)


Script = Callable[[dict[str, Any], int], Message | Fault]


@dataclass
class BatchState:
    """What the server has of batches: requests and results by batch, and how it behaves.

    Attributes:
        open: batches that have not ended.
        fates: what becomes of a request by its place, where it is not answered: `errored`, `expired` or `canceled`.
        said: the message of the errors among them.
        loses_answers: whether a creation is worked on and its answer lost.
        faults: what is said in place of an answer, by the route (`create`, `results`, or the name of a batch), each once.
        ages: how many days ago a batch was created, where that is not now.
    """

    requests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    fates: dict[int, str] = field(default_factory=dict)
    said: str = "QUOTED-QUESTION"
    loses_answers: bool = False
    faults: dict[str, Fault | bytes] = field(default_factory=dict)
    ages: dict[str, int] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)

    def describe(self, batch_id: str) -> dict[str, Any]:
        """A batch as the API says it; the results' address is one where nobody is to ask."""
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        for number in range(len(self.requests[batch_id])):
            counts["processing" if batch_id in self.open else self.fates.get(number, "succeeded")] += 1
        ended = None if batch_id in self.open else "2026-11-02T00:00:00Z"
        return {
            "id": batch_id,
            "type": "message_batch",
            "processing_status": "in_progress" if batch_id in self.open else "ended",
            "request_counts": counts,
            "created_at": (datetime.now(UTC) - timedelta(days=self.ages.get(batch_id, 0))).isoformat(),
            "expires_at": "2026-11-02T00:00:00Z",
            "ended_at": ended,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": None if ended is None else "http://127.0.0.1:9/elsewhere",
        }


@dataclass
class MessagesServer:
    """Where it listens, the bodies of what it was asked, in order, and its batches."""

    url: str
    asked: list[dict[str, Any]]
    batches: BatchState = field(default_factory=BatchState)


@contextmanager
def serve_messages(script: Script) -> Iterator[MessagesServer]:
    """A server that answers by the script: the request's body and its number, from 1."""
    # The version of the API, and the fields of a request, as the installed SDK has them; others are an error there.
    # The SDK takes over a second to import, so only the tests that serve pay for it.
    from anthropic import AsyncAnthropic
    from anthropic.types.message_create_params import MessageCreateParamsBase

    version = str(AsyncAnthropic(api_key=KEY).default_headers["anthropic-version"])
    fields = frozenset(MessageCreateParamsBase.__annotations__) | {"stream"}
    asked: list[dict[str, Any]] = []
    batches = BatchState()
    lock = threading.Lock()

    class Answers(Handler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.read_json()
            if self.path.startswith("/v1/messages/batches"):
                self._batch(body)
                return
            refusal = self._refuse(body)
            if refusal is not None:
                self._fail(refusal)
                return
            with lock:
                asked.append(body)
                number = len(asked)
            answer = script(body, number)
            if isinstance(answer, Fault):
                self._fail(answer)
            elif body.get("stream"):
                self._stream(body, answer)
            else:
                self.send(200, write_message(body, answer))

        def do_GET(self) -> None:
            name, _, rest = self.path.removeprefix("/v1/messages/batches").lstrip("/").partition("/")
            if self._break(rest or name) or self._break(f"{name}/{rest}"):
                return
            if name.partition("?")[0] == "":
                data = [batches.describe(one) for one in reversed(batches.requests)]
                page = {"data": data, "has_more": False, "first_id": None, "last_id": None}
                self.send(200, page)
            elif name not in batches.requests:
                self._fail(Fault(404, "not_found_error"))
            elif rest == "results":
                self._send_results(name)
            else:
                self.send(200, batches.describe(name))

        def do_DELETE(self) -> None:
            name = self.path.rsplit("/", 1)[-1]
            batches.deleted.append(name)
            self.send(200, {"id": name, "type": "message_batch_deleted"})

        def _break(self, route: str) -> bool:
            """Say something else once, where the test wants it; whether it was said."""
            fault = batches.faults.pop(route, None)
            if isinstance(fault, Fault):
                self._fail(fault)
            elif fault is not None:
                self.send(200, fault)
            return fault is not None

        def _batch(self, body: dict[str, Any]) -> None:
            """Create a batch, or end one."""
            if self.path.endswith("/cancel"):
                name = self.path.split("/")[-2]
                batches.open.discard(name)
                batches.fates = dict.fromkeys(range(len(batches.requests[name])), "canceled")
                self.send(200, batches.describe(name))
                return
            if self._break("create"):
                return
            ids = [one["custom_id"] for one in body["requests"]]
            if not all(_ID.match(one) for one in ids) or len(set(ids)) < len(ids):
                self._fail(Fault(400, "invalid_request_error"))
                return
            with lock:
                name = f"msgbatch_{len(batches.requests) + 1}"
                batches.requests[name] = body["requests"]
                batches.open.add(name)
            if batches.loses_answers:
                self.close_connection = True
                return
            self.send(200, batches.describe(name))

        def _send_results(self, name: str) -> None:
            lines = []
            for number, one in reversed([*enumerate(batches.requests[name])]):
                fate = batches.fates.get(number, "succeeded")
                result: dict[str, Any] = {"type": fate}
                answer = script(one["params"], number + 1)
                if fate == "succeeded" and isinstance(answer, Message):
                    result["message"] = write_message(one["params"], answer)
                elif fate == "errored":
                    error = {"type": "invalid_request_error", "message": batches.said}
                    result["error"] = {"type": "error", "error": error, "request_id": "req_1"}
                lines.append(json.dumps({"custom_id": one["custom_id"], "result": result}))
            self.send(200, "\n".join(lines).encode(), {"Content-Type": "application/x-jsonl"})

        def _refuse(self, body: dict[str, Any]) -> Fault | None:
            if self.path != "/v1/messages":
                return Fault(404, "not_found_error")
            if self.headers.get("Authorization") != f"Bearer {KEY}":
                return Fault(401, "authentication_error")
            is_right = (
                self.headers.get("anthropic-version") == version
                and set(body) <= fields
                and isinstance(body.get("max_tokens"), int)
                and body.get("messages")
                and all(message["role"] in ("user", "assistant") for message in body["messages"])
            )
            return None if is_right else Fault(400, "invalid_request_error")

        def _fail(self, fault: Fault) -> None:
            # The message quotes the question, as errors of APIs do.
            error = {"type": fault.type, "message": "QUOTED-QUESTION"}
            self.send(fault.status, {"type": "error", "error": error, "request_id": "req_1"}, fault.headers)

        def _stream(self, body: dict[str, Any], answer: Message) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            with suppress(OSError):
                for event in list_events(body, answer)[: answer.cut_after]:
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.close_connection = True

    with serve(Answers) as port:
        yield MessagesServer(f"http://127.0.0.1:{port}", asked, batches)


def write_message(body: Mapping[str, Any], answer: Message) -> dict[str, Any]:
    """A reply that comes at once."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": answer.blocks if isinstance(answer.blocks, str) else list(answer.blocks),
        "stop_reason": answer.stop_reason,
        "stop_details": {"type": "refusal", "category": None} if answer.stop_reason == "refusal" else None,
        "stop_sequence": None,
        "usage": dict(answer.usage),
    }


def list_events(body: Mapping[str, Any], answer: Message) -> list[dict[str, Any]]:
    """The same reply as the events of a stream, each text in two pieces, with a ping between."""
    start = {**write_message(body, answer), "content": [], "stop_reason": None}
    start["usage"] = {**answer.usage, "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(answer.blocks):
        name = block["type"]
        text = block.get(name, "")
        empty = {**block, name: ""} if name in ("text", "thinking") else dict(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
            if name in ("text", "thinking"):
                delta = {"type": f"{name}_delta", name: piece}
                events.append({"type": "content_block_delta", "index": index, "delta": delta})
        if name == "thinking":
            delta = {"type": "signature_delta", "signature": "c2lnbmF0dXJl"}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    if answer.fails_with is not None:
        error = {"type": answer.fails_with, "message": "QUOTED-QUESTION"}
        return [*events, {"type": "error", "error": error}]
    usage = {"output_tokens": answer.usage["output_tokens"]}
    delta = {"stop_reason": answer.stop_reason, "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
