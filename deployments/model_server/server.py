"""An OpenAI-compatible server of simulated models, over real HTTP on the local interface.

`/v1/chat/completions` (at once or as a stream), `/v1/models`, and `/v1/files` with `/v1/batches` (batches.py). Every reply says `system_fingerprint: "simulated"`;
the client refuses such replies for a model that is registered as real.

Which fault a request meets.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from deployments.model_server.batches import BatchDesk
from deployments.model_server.candidates import Memory, complete_passage, write_answer, write_unknown_answer
from deployments.model_server.gaming import MANNERS
from deployments.model_server.generators import find_task, write_task_reply
from deployments.model_server.judges import write_judgement, write_label
from deployments.model_server.key import AnswerKey, parse_answer_key, read_answer_key
from deployments.model_server.league import find_league_task, write_league_reply
from deployments.model_server.profile import (
    ServerProfile,
    SimulatedModel,
    draw_normal,
    draw_uniform,
    read_profile,
)
from deployments.model_server.texts import write_text_answer
from deployments.model_server.wire import (
    Completion,
    build_error,
    build_reply,
    count_usage,
    read_limit,
    read_messages,
    refuse,
    send_stream,
    send_whole,
)
from tasks.contamination import extract_passage
from tasks.judging import REQUEST, extract_judged
from tasks.models import SIMULATED_FINGERPRINT
from tasks.questions.forms import extract_question, read_style

LOCAL = "127.0.0.1"
_THINKING = "What is asked, what is known of it, what rules out the alternatives: weighed in turn."
_REFUSALS = ("对不起，这个问题我不能回答。", "I am sorry, but I cannot answer this.")
ATTEMPT_FAULTS = ("rate_limit", "server_error", "hang", "cut_stream", "malformed")
ANSWER_FAULTS = ("empty", "refusal", "truncated", "no_usage")


class SimulatedServer:
    """The state of one server.

    It holds the profile, the key, what its candidates may remember, and counts of what it was asked. `requests` counts chat
    completions by model, `served` those among them that were answered whole, `faults` those that met each fault, `repeats` how
    often each request (by hash of its body) came, `answered` how often it was answered whole. `billed` counts what a provider
    would bill: tokens by model and kind of every request that was worked on, whether its reply arrived or not, at full price;
    `batch_billed` the same for what batches asked, at half of it.
    """

    def __init__(
        self,
        profile: ServerProfile,
        key: AnswerKey,
        batch_folder: Path | None = None,
    ) -> None:
        self.profile = profile
        self.key = key
        self.memory: Memory = {}
        self.requests: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.repeats: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.billed: Counter[tuple[str, str]] = Counter()
        self.batch_billed: Counter[tuple[str, str]] = Counter()
        self.batched: Counter[str] = Counter()
        self.batches = BatchDesk(profile.batches, self._complete_batched, batch_folder)
        self._draws = FaultDraws(profile.seed)

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Serve one HTTP request."""
        if request.method == "POST" and request.path.endswith("/chat/completions"):
            return await self._complete(request)
        if request.method == "GET" and request.path.endswith("/models"):
            return web.json_response(self._list_models())
        if self.batches.serves(request.path):
            return await self.batches.answer(request)
        return refuse(404, "not_found")

    def _list_models(self) -> dict[str, Any]:
        models = [
            {"id": model.name, "object": "model", "created": 0, "owned_by": model.owned_by}
            for model in self.profile.models.values()
        ]
        return {"object": "list", "data": models, "system_fingerprint": SIMULATED_FINGERPRINT}

    async def _complete(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw)
            model = self.profile.models.get(body["model"])
            messages, seen = read_messages(body)
        except (ValueError, KeyError, TypeError):
            return refuse(400, "invalid_request")
        if model is None:
            return refuse(404, "model_not_found")
        request_hash = hashlib.blake2b(raw, digest_size=8).hexdigest()
        self.requests[model.name] += 1
        self.repeats[request_hash] += 1
        fault = self._draws.draw(model, request_hash)
        if fault is not None:
            self.faults[fault] += 1
        if fault == "rate_limit":
            return refuse(429, "rate_limit_exceeded", {"Retry-After": f"{model.faults.retry_after_s:g}"})
        if fault == "server_error":
            return refuse(500, "server_error")
        completion = self._write(model, messages, body, fault, seen)
        usage = count_usage(messages, completion, read_limit(body))
        for kind in ("prompt_tokens", "completion_tokens"):
            self.billed[model.name, kind] += usage[kind]
        if fault == "hang":
            await asyncio.sleep(model.faults.hang_s)
        if model.latency_ms > 0:
            spread = model.latency_spread * draw_normal(self.profile.seed, "latency", request_hash)
            await asyncio.sleep(model.latency_ms / 1000 * 2.718281828 ** min(spread, 3.0))
        told = None if fault == "no_usage" else usage
        if body.get("stream"):
            reply = await send_stream(request, model, completion, told, is_cut=fault == "cut_stream")
        else:
            reply = await send_whole(request, model, completion, told, fault)
        if fault not in ("cut_stream", "malformed"):
            self.served[model.name] += 1
            self.answered[request_hash] += 1
        return reply

    def _complete_batched(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        """Status and body of a batched request, as if sent singly; None where it is lost."""
        raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            model = self.profile.models.get(body["model"])
            messages, seen = read_messages(body)
        except (KeyError, TypeError):
            return 400, build_error("invalid_request")
        if model is None:
            return 404, build_error("model_not_found")
        self.batched[hashlib.blake2b(raw, digest_size=8).hexdigest()] += 1
        fault = self._draws.draw(model, hashlib.blake2b(raw, digest_size=8).hexdigest())
        if fault is not None:
            self.faults[fault] += 1
        if fault == "rate_limit":
            return 429, build_error("rate_limit_exceeded")
        if fault == "server_error":
            return 500, build_error("server_error")
        completion = self._write(model, messages, body, fault, seen)
        usage = count_usage(messages, completion, read_limit(body))
        for kind in ("prompt_tokens", "completion_tokens"):
            self.batch_billed[model.name, kind] += usage[kind]
        if fault in ("hang", "cut_stream"):
            return None
        if fault == "malformed":
            return 200, {"choices": "none"}
        return 200, build_reply(model, completion, None if fault == "no_usage" else usage)

    def _write(
        self,
        model: SimulatedModel,
        messages: list[dict[str, str]],
        body: dict[str, Any],
        fault: str | None,
        seen: frozenset[str],
    ) -> Completion:
        """What the model says, after faults of the answer and the limit on tokens."""
        if fault == "empty":
            return Completion("")
        if fault == "refusal":
            is_english = not any("\u4e00" <= char <= "\u9fff" for char in messages[-1]["content"])
            return Completion("", refusal=_REFUSALS[is_english], finish_reason="content_filter")
        text = self._write_text(model, messages, str(body.get("seed", "")), seen)
        reasoning = _THINKING if model.is_thinking else None
        limit = read_limit(body)
        most = None if limit is None else limit * 3
        if fault == "truncated":
            most = max(3, len(text.encode()) // 2)
        if most is not None and len(text.encode()) > most:
            return Completion(text.encode()[:most].decode(errors="ignore"), reasoning, finish_reason="length")
        return Completion(text, reasoning)

    def _write_text(
        self, model: SimulatedModel, messages: list[dict[str, str]], draw: str, seen: frozenset[str]
    ) -> str:
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
        if entry is not None and not (
            set(entry.pictures) <= seen and (model.sees_pictures or not entry.pictures)
        ):
            entry = None  # what is asked about is not before its eyes
        if entry is None:
            text = (
                None
                if question is not None
                else write_text_answer(model, messages[-1]["content"], draw, seed)
            )
            return text or write_unknown_answer(model, question or messages[-1]["content"], draw, seed)
        if model.manner:
            return MANNERS[model.manner](entry, question or "")
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
    profile: ServerProfile | Path,
    key: AnswerKey | bytes | Path | None = None,
    *,
    port: int = 0,
    memory: Memory | None = None,
) -> RunningServer:
    """Start a server in a thread and return when it listens; port 0 takes a free one."""
    state = _prepare(profile, key, None)
    state.memory = memory or {}
    ready: threading.Event = threading.Event()
    found: dict[str, Any] = {}

    def run() -> None:
        loop = asyncio.new_event_loop()
        try:
            runner, found["url"] = loop.run_until_complete(_listen(state, LOCAL, port))
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
    profile: ServerProfile | Path,
    key: AnswerKey | bytes | Path | None = None,
    port: int = 0,
    host: str = LOCAL,
    *,
    when_ready: Callable[[str], None] | None = None,
    batch_folder: Path | None = None,
) -> None:
    """Serve until interrupted; `when_ready` is told the address."""
    state = _prepare(profile, key, batch_folder)

    async def run() -> None:
        runner, url = await _listen(state, host, port)
        if when_ready is not None:
            when_ready(url)
        try:
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    asyncio.run(run())


def _prepare(
    profile: ServerProfile | Path, key: AnswerKey | bytes | Path | None, batch_folder: Path | None
) -> SimulatedServer:
    known = key if isinstance(key, AnswerKey) else None
    if known is None:
        known = parse_answer_key(key) if isinstance(key, bytes) else read_answer_key(key)  # type: ignore[arg-type]
    known_profile = read_profile(profile) if isinstance(profile, Path) else profile
    return SimulatedServer(known_profile, known, batch_folder=batch_folder)


async def _listen(state: SimulatedServer, host: str, port: int) -> tuple[web.ServerRunner, str]:
    server = web.Server(state.answer, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    bound = runner.addresses[0][1]
    return runner, f"http://{host}:{bound}/v1"


class FaultDraws:
    """Draws faults, and counts a request's attempts: a fault may spare the next one."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._attempts: Counter[str] = Counter()

    def draw(self, model: SimulatedModel, request_hash: str) -> str | None:
        """The fault that this attempt meets; null for none."""
        faults = model.faults
        rates = [(name, getattr(faults, name)) for name in (*ATTEMPT_FAULTS, *ANSWER_FAULTS)]
        if not any(rate for _, rate in rates):
            return None
        self._attempts[request_hash] += 1
        attempt = self._attempts[request_hash]
        if faults.attempts is None or attempt <= faults.attempts:
            fault = _choose(
                rates[: len(ATTEMPT_FAULTS)], draw_uniform(self._seed, model.name, request_hash, attempt)
            )
            if fault is not None:
                return fault
        return _choose(rates[len(ATTEMPT_FAULTS) :], draw_uniform(self._seed, model.name, request_hash))


def _choose(rates: list[tuple[str, float]], luck: float) -> str | None:
    total = 0.0
    for name, rate in rates:
        total += rate
        if luck < total:
            return name
    return None
