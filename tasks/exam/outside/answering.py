"""Where a candidate's own client gets its answers from, asked as in-house candidates are."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shlex
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import ProctorError, UsageError
from schemas.settings import LONGEST_RESPONSE
from tasks.questions import BareQuestion
from tasks.questions.forms import render_prompt
from tasks.questions.pictures import name_media_type, write_mark

if TYPE_CHECKING:
    from tasks.models import SentPicture
    from tasks.models.registry import RegisteredModel

# A question as the API sends it → the fields of an answer (`response` and, where known, the account of the call).
Answerer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

_COMMAND_TRIES: Final = 3
_FIRST_PAUSE_S: Final = 1.0


class NoAnswer(ProctorError):
    """The candidate's model gave no answer; nothing was sent, and the next start asks it again."""


def make_own_model(
    name: str,
    base_url: str,
    key_variable: str | None,
    parameters: dict[str, Any],
    *,
    sees_pictures: bool = False,
) -> RegisteredModel:
    """A model that stands in no registry, by its endpoint's address and its name there."""
    from tasks.models.registry import RegisteredModel

    if not base_url.startswith(("http://", "https://")):
        raise UsageError(f"--endpoint {base_url!r} is no address: it starts with http:// or https://.")
    return RegisteredModel(
        name=name,
        organisation="own",
        family=None,
        release_date=None,
        is_open=False,
        mode="standard",
        base_model=None,
        endpoint_model=name,
        base_url=base_url.rstrip("/"),
        key_variable=key_variable,
        parameters=parameters,
        input_price_usd=None,
        output_price_usd=None,
        requests_per_minute=None,
        max_concurrency=None,
        is_simulated=False,
        provider=base_url,
        roles=("candidate",),
        sees_pictures=sees_pictures,
    )


class EndpointAnswerer:
    """Asks a model at an OpenAI-compatible endpoint; close it at the end.

    Args:
        model: the model with its address, parameters and prices.
        timeout_s: seconds that a call may take.
        most_attempts: tries of a call, with growing pauses between them.
    """

    def __init__(self, model: RegisteredModel, *, timeout_s: float, most_attempts: int = 6) -> None:
        from tasks.models.sending import Endpoints, OwnPace, Sender, get_limiter

        self._model = model
        self._endpoints = Endpoints(timeout_s)
        self._pace = OwnPace(get_limiter(model, 1))
        self._sender = Sender(Counter(), timeout_s=timeout_s, budget=None, most_attempts=most_attempts)

    async def __call__(self, question: dict[str, Any]) -> dict[str, Any]:
        """The endpoint's answer; raises NoAnswer after all tries, RegistryError for a missing key."""
        from tasks.models import Failure, attach_pictures, compute_status
        from tasks.models.budget import compute_cost
        from tasks.models.sending import Flight

        sees = self._model.sees_pictures
        messages, version = render_prompt(
            BareQuestion.from_row(question["content"]), question["prompt_style"], sees_pictures=sees
        )
        if sees:
            messages = attach_pictures(messages, _read_pictures(question))
        body = {"model": self._model.endpoint_model, "messages": messages, **self._model.parameters}
        endpoint = self._endpoints.open(self._model)
        # The server says what it keeps when the session is opened; the sitting cuts to that.
        outcome, attempts, latency_ms = await self._sender.send(
            endpoint, self._pace, self._model, body, Flight(), LONGEST_RESPONSE
        )
        if isinstance(outcome, Failure):
            raise NoAnswer(
                f"The model {self._model.name!r} gave no answer to question {question['seq']} after {attempts} attempt(s): "
                f"{outcome.error}. {outcome.advise(self._model)}"
            )
        return {
            "response": outcome.text,
            "reasoning": outcome.reasoning,
            "answer_status": compute_status(outcome),
            "finish_reason": outcome.finish_reason,
            "input_tokens": outcome.input_tokens,
            "output_tokens": outcome.output_tokens,
            "cost_usd": compute_cost(self._model, outcome.input_tokens, outcome.output_tokens),
            "latency_ms": latency_ms,
            "attempts": attempts,
            "prompt_version": version,
        }

    async def close(self) -> None:
        """Close the connections to the endpoint."""
        await self._endpoints.close()


def _read_pictures(question: dict[str, Any]) -> list[SentPicture]:
    from tasks.models import SentPicture

    named = {one["number"]: one["sha256"] for one in question["content"].get("pictures") or ()}
    return [
        SentPicture(write_mark(one["number"]), named[one["number"]], name_media_type(data), data)
        for one in question.get("pictures") or ()
        for data in (base64.b64decode(one["data"]),)
    ]


class CommandAnswerer:
    """Runs a program for each question.

    The question is JSON on its standard input; the answer's text is on its standard output. The JSON is the question as the API
    sends it, with `prompt`: the words in which in-house candidates are asked, and `pictures` where it has any: number and base64
    of each.

    Args:
        command: the program and its arguments.
        timeout_s: seconds that it may take for a question; then it is ended, which is a failure.
    """

    def __init__(self, command: str, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"--command cannot be read as a command line: {error}.") from None
        if not self._words:
            raise UsageError("--command names no program.")

    async def __call__(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer; raises NoAnswer when the program failed three times."""
        messages, version = render_prompt(
            BareQuestion.from_row(question["content"]),
            question["prompt_style"],
            sees_pictures="pictures" in question,
        )
        told = json.dumps({**question, "prompt": messages[-1]["content"]}, ensure_ascii=False).encode()
        pause_s, code = _FIRST_PAUSE_S, None
        for attempt in range(1, _COMMAND_TRIES + 1):
            code, output = await self._run(told)
            if code == 0:
                text = output.decode("utf-8", "replace").strip()
                return {"response": text, "attempts": attempt, "prompt_version": version}
            if attempt < _COMMAND_TRIES:
                await asyncio.sleep(pause_s)
                pause_s *= 2
        what = (
            f"took longer than {self._timeout_s:g} s (--timeout)"
            if code is None
            else f"ended with code {code}"
        )
        raise NoAnswer(
            f"{self._words[0]!r} {what} for question {question['seq']}, {_COMMAND_TRIES} times. Correct it and "
            "run this command again: it continues with this question."
        )

    async def _run(self, told: bytes) -> tuple[int | None, bytes]:
        try:
            # A session of its own, so that whatever it started ends with it.
            process = await asyncio.create_subprocess_exec(
                *self._words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"--command: {self._words[0]!r} cannot be started ({error.strerror}).") from None
        try:
            output, _ = await asyncio.wait_for(process.communicate(told), self._timeout_s)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            if isinstance(error, TimeoutError):
                return None, b""
            raise
        return process.returncode or 0, output

    async def close(self) -> None:
        """Nothing is kept open."""
