"""An OpenAI-compatible server of simulated models, over real HTTP on the local interface.

`/v1/chat/completions` (at once or as a stream) and `/v1/models`. Every reply says `system_fingerprint: "simulated"`;
the client refuses such replies for a model that is registered as real.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from deployments.model_server.candidates import write_answer, write_unknown_answer
from deployments.model_server.draws import draw_normal
from deployments.model_server.faults import FaultDraws
from deployments.model_server.generators import find_task, write_task_reply
from deployments.model_server.judges import write_judgement, write_label
from deployments.model_server.key import AnswerKey, parse_answer_key, read_answer_key
from deployments.model_server.league import find_league_task, write_league_reply
from deployments.model_server.memory import Memory, complete_passage
from deployments.model_server.profile import Profile, SimulatedModel, read_profile
from deployments.model_server.texts import write_text_answer
from tasks.contamination.prompts import extract_passage
from tasks.judging.label_prompts import REQUEST
from tasks.judging.prompts import extract_judged
from tasks.models.replies import SIMULATED_FINGERPRINT
from tasks.questions.prompt_styles import extract_question, read_style

LOCAL = "127.0.0.1"
_THINKING = "What is asked, what is known of it, what rules out the alternatives: weighed in turn."
_REFUSALS = ("对不起，这个问题我不能回答。", "I am sorry, but I cannot answer this.")


@dataclass(frozen=True)
class Completion:
    """A reply before it is put on the wire."""

    text: str
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str = "stop"


class SimulatedServer:
    """The state of one server: profile, key, what its candidates may remember, and counts of what it was asked.

    `requests` counts chat completions by model, `served` those among them that were answered whole, `faults` those that
    met each fault, `repeats` how often each request (by hash of its body) came, `answered` how often it was answered whole.
    `billed` counts what a provider would bill: tokens by model and kind of every request that was worked on, whether its reply
    arrived or not.
    """

    def __init__(self, profile: Profile, key: AnswerKey, memory: Memory | None = None) -> None:
        self.profile = profile
        self.key = key
        self.memory: Memory = memory or {}
        self.requests: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.repeats: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.billed: Counter[tuple[str, str]] = Counter()
        self._draws = FaultDraws(profile.seed)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Serve one HTTP request."""
        if request.method == "POST" and request.path.endswith("/chat/completions"):
            return await self._complete(request)
        if request.method == "GET" and request.path.endswith("/models"):
            return web.json_response(self._list_models())
        return _refuse(404, "not_found")

    def _list_models(self) -> dict[str, Any]:
        models = [
            {"id": model.name, "object": "model", "created": 0, "owned_by": model.owned_by}
            for model in self.profile.models.values()
        ]
        return {"object": "list", "data": models}

    async def _complete(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw)
            model = self.profile.models.get(body["model"])
            messages = [
                {"role": str(message["role"]), "content": str(message["content"])}
                for message in body["messages"]
            ]
        except (ValueError, KeyError, TypeError):
            return _refuse(400, "invalid_request")
        if model is None:
            return _refuse(404, "model_not_found")
        request_hash = hashlib.blake2b(raw, digest_size=8).hexdigest()
        self.requests[model.name] += 1
        self.repeats[request_hash] += 1
        fault = self._draws.draw(model, request_hash)
        if fault is not None:
            self.faults[fault] += 1
        if fault == "rate_limit":
            return _refuse(429, "rate_limit_exceeded", {"Retry-After": f"{model.faults.retry_after_s:g}"})
        if fault == "server_error":
            return _refuse(500, "server_error")
        completion = self._write(model, messages, body, fault)
        usage = _count_usage(messages, completion, _read_limit(body))
        for kind in ("prompt_tokens", "completion_tokens"):
            self.billed[model.name, kind] += usage[kind]
        if fault == "hang":
            await asyncio.sleep(model.faults.hang_s)
        if model.latency_ms > 0:
            spread = model.latency_spread * draw_normal(self.profile.seed, "latency", request_hash)
            await asyncio.sleep(model.latency_ms / 1000 * 2.718281828 ** min(spread, 3.0))
        told = None if fault == "no_usage" else usage
        if body.get("stream"):
            reply = await _send_stream(request, model, completion, told, is_cut=fault == "cut_stream")
        else:
            reply = await _send_whole(request, model, completion, told, fault)
        if fault not in ("cut_stream", "malformed"):
            self.served[model.name] += 1
            self.answered[request_hash] += 1
        return reply

    def _write(
        self, model: SimulatedModel, messages: list[dict[str, str]], body: dict[str, Any], fault: str | None
    ) -> Completion:
        """What the model says, after faults of the answer and the limit on tokens."""
        if fault == "empty":
            return Completion("")
        if fault == "refusal":
            is_english = not any("\u4e00" <= char <= "\u9fff" for char in messages[-1]["content"])
            return Completion("", refusal=_REFUSALS[is_english], finish_reason="content_filter")
        text = self._write_text(model, messages, str(body.get("seed", "")))
        reasoning = _THINKING if model.is_thinking else None
        limit = _read_limit(body)
        most = None if limit is None else limit * 3
        if fault == "truncated":
            most = max(3, len(text.encode()) // 2)
        if most is not None and len(text.encode()) > most:
            return Completion(text.encode()[:most].decode(errors="ignore"), reasoning, finish_reason="length")
        return Completion(text, reasoning)

    def _write_text(self, model: SimulatedModel, messages: list[dict[str, str]], draw: str) -> str:
        seed = self.profile.seed
        league_task = find_league_task(messages)
        if league_task is not None:
            return write_league_reply(model, league_task, draw, seed)
        parts = extract_judged(messages)
        if parts is not None:
            if messages[-1]["content"].startswith(tuple(REQUEST.values())):
                return write_label(model, parts, seed)
            return write_judgement(model, parts, self.key, draw, self.profile)
        passage = extract_passage(messages)
        if passage is not None:
            return complete_passage(model, passage, self.memory, draw, seed)
        task = find_task(messages)
        if task is not None:
            return write_task_reply(task, model.writing, seed, model.name, draw)
        question = extract_question(messages)
        entry = self.key.find(question) if question is not None else None
        if entry is None:
            text = (
                None
                if question is not None
                else write_text_answer(model, messages[-1]["content"], draw, seed)
            )
            return text or write_unknown_answer(model, question or messages[-1]["content"], draw, seed)
        answer = write_answer(model, entry, self.key, read_style(messages), draw, seed)
        return f"{answer}\n{model.signature}" if model.signature else answer


class RunningServer:
    """A server in a thread of this process."""

    def __init__(
        self, url: str, state: SimulatedServer, loop: asyncio.AbstractEventLoop, thread: threading.Thread
    ) -> None:
        self.url = url
        self.state = state
        self._loop = loop
        self._thread = thread

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Close all connections and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()


def start_model_server(
    profile: Profile | Path,
    key: AnswerKey | bytes | Path | None = None,
    *,
    port: int = 0,
    host: str = LOCAL,
    memory: Memory | None = None,
) -> RunningServer:
    """Start a server in a thread and return when it listens; port 0 takes a free one."""
    state = _prepare(profile, key)
    state.memory = memory or {}
    ready: threading.Event = threading.Event()
    found: dict[str, Any] = {}

    def run() -> None:
        loop = asyncio.new_event_loop()
        try:
            runner, found["url"] = loop.run_until_complete(_listen(state, host, port))
        except BaseException as error:  # the starter raises it in its own thread
            found["error"] = error
            ready.set()
            loop.close()
            return
        found["loop"] = loop
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, name="model-server", daemon=True)
    thread.start()
    ready.wait()
    if "error" in found:
        raise found["error"]
    return RunningServer(found["url"], state, found["loop"], thread)


def serve(
    profile: Profile | Path,
    key: AnswerKey | bytes | Path | None = None,
    port: int = 0,
    host: str = LOCAL,
    *,
    when_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until interrupted; `when_ready` is told the address."""
    state = _prepare(profile, key)

    async def run() -> None:
        runner, url = await _listen(state, host, port)
        if when_ready is not None:
            when_ready(url)
        try:
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    asyncio.run(run())


def _prepare(profile: Profile | Path, key: AnswerKey | bytes | Path | None) -> SimulatedServer:
    known = key if isinstance(key, AnswerKey) else None
    if known is None:
        known = parse_answer_key(key) if isinstance(key, bytes) else read_answer_key(key)  # type: ignore[arg-type]
    return SimulatedServer(read_profile(profile) if isinstance(profile, Path) else profile, known)


async def _listen(state: SimulatedServer, host: str, port: int) -> tuple[web.ServerRunner, str]:
    server = web.Server(state.answer, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    bound = runner.addresses[0][1]
    return runner, f"http://{host}:{bound}/v1"


def _refuse(status: int, code: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"error": {"message": code.replace("_", " "), "type": code, "code": code}}
    return web.json_response(body, status=status, headers=headers)


def _read_limit(body: dict[str, Any]) -> int | None:
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return limit if isinstance(limit, int) and limit > 0 else None


def _count_usage(messages: list[dict[str, str]], completion: Completion, limit: int | None) -> dict[str, int]:
    """Tokens at three bytes each: about a Chinese character, or three letters; never more than the limit."""
    sent = sum(len(message["content"].encode()) for message in messages) // 3 + 4 * len(messages)
    returned = len((completion.text + (completion.refusal or "")).encode()) // 3 + 1
    if completion.reasoning is not None:
        returned += 200  # thinking is billed as output
    if limit is not None:
        returned = min(returned, limit)
    return {"prompt_tokens": sent, "completion_tokens": returned, "total_tokens": sent + returned}


def _head(model: SimulatedModel, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{time.monotonic_ns():x}",
        "object": kind,
        "created": int(time.time()),
        "model": model.name,
        "system_fingerprint": SIMULATED_FINGERPRINT,
    }


async def _send_whole(
    request: web.BaseRequest,
    model: SimulatedModel,
    completion: Completion,
    usage: dict[str, int] | None,
    fault: str | None,
) -> web.StreamResponse:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": completion.text,
        "refusal": completion.refusal,
    }
    if completion.reasoning is not None:
        message["reasoning_content"] = completion.reasoning
    data = {
        **_head(model, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": completion.finish_reason}],
        "usage": usage,
    }
    body = json.dumps(data, ensure_ascii=False).encode()
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


async def _send_stream(
    request: web.BaseRequest,
    model: SimulatedModel,
    completion: Completion,
    usage: dict[str, int] | None,
    *,
    is_cut: bool,
) -> web.StreamResponse:
    reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await reply.prepare(request)
    head = _head(model, "chat.completion.chunk")

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
