"""What a call through ModelClient costs over the bare `openai` client.

It is measured in CPU milliseconds per call, in one run of each.

    python -m tests.benchmarks.call_speed [--calls 2000] [--concurrency 50]

Both talk to the same server in another process, over aiohttp. ModelClient also hashes the call, commits a `started` row,
commits the reply, keeps the limits and accounts for the cost; the target is at most 0.6 ms for that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from schemas.settings import Settings
from tasks.models import CallRequest, ModelClient
from tasks.models.registry import RegisteredModel, read_registry
from tasks.questions import BareQuestion, Option
from tasks.questions.forms import render_prompt
from warehouse.ledger.engine.opening import open_ledger

PROFILE = {"models": {"bench": {"kind": "candidate"}}}
REGISTRY = {
    "providers": {"simulated": {"base_url": "simulated"}},
    "models": {
        "bench": {
            "provider": "simulated",
            "organisation": "Bench",
            "parameters": {"temperature": 0, "max_tokens": 512},
            "input_price_usd": 1.0,
            "output_price_usd": 2.0,
        }
    },
}


def make_messages(number: int) -> list[dict[str, str]]:
    """A zero-shot prompt, different for each number."""
    bare = BareQuestion(
        "multiple_choice",
        "zh",
        f"第{number}题：下列关于该现象成因的说法中，正确的是（ ）。",
        options=tuple(Option(label, f"说法{label}的具体内容") for label in "ABCD"),
    )
    return render_prompt(bare, "zero_shot")[0]


async def run_bare(url: str, calls: int, concurrency: int) -> None:
    """The loop that anybody would write."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    slots = asyncio.Semaphore(concurrency)
    async with AsyncOpenAI(
        api_key="none", base_url=url, max_retries=0, http_client=DefaultAioHttpClient()
    ) as client:

        async def call(number: int) -> str:
            async with slots:
                reply = await client.chat.completions.create(
                    model="bench",
                    messages=make_messages(number),  # type: ignore[arg-type]
                    temperature=0,
                    max_tokens=512,
                )
                return reply.choices[0].message.content or ""

        await asyncio.gather(*[call(number) for number in range(calls)])


async def run_client(url: str, calls: int, concurrency: int, folder: Path) -> None:
    """The same through ModelClient, on a SQLite ledger with one fsync per group."""
    registry = folder / "models.yaml"
    registry.write_text(json.dumps(REGISTRY))
    model: RegisteredModel = read_registry(registry).get("bench")
    settings = Settings(call_concurrency=concurrency)
    with open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
        async with ModelClient(ledger, settings, simulated_url=url) as client:
            await asyncio.gather(
                *[
                    client.complete(model, CallRequest("exam", make_messages(number), run_id="bench"))
                    for number in range(calls)
                ]
            )


def measure(kind: str, url: str, calls: int, concurrency: int) -> tuple[float, float]:
    """CPU ms and wall ms per call, after a warm-up that pays for imports and connections."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)

        def run(count: int, name: str) -> None:
            if kind == "bare":
                asyncio.run(run_bare(url, count, concurrency))
            else:
                (place / name).mkdir()
                asyncio.run(run_client(url, count, concurrency, place / name))

        run(50, "warm")
        before, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        run(calls, "timed")
        wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu / calls * 1000, wall / calls * 1000


def main(arguments: Sequence[str] = ()) -> None:
    """Start the server in a process of its own, measure each kind in one, print three lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--measure", choices=["bare", "client"])
    parser.add_argument("--url")
    chosen = parser.parse_args(arguments)
    if chosen.measure:
        sys.stdout.write(json.dumps(measure(chosen.measure, chosen.url, chosen.calls, chosen.concurrency)))
        return
    with tempfile.TemporaryDirectory() as folder:
        profile, ready = Path(folder) / "profile.yaml", Path(folder) / "ready"
        profile.write_text(json.dumps(PROFILE))
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "deployments.model_server",
                "--profile",
                str(profile),
                "--ready-file",
                str(ready),
            ],
            stdout=subprocess.DEVNULL,
        )
        try:
            while not ready.exists():
                time.sleep(0.05)
            costs: dict[str, float] = {}
            for kind in ("bare", "client"):
                command = [sys.executable, "-m", "tests.benchmarks.call_speed", "--measure", kind]
                command += ["--url", ready.read_text(), "--calls", str(chosen.calls)]
                command += ["--concurrency", str(chosen.concurrency)]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                costs[kind], wall = json.loads(output)
                sys.stdout.write(f"{kind:7s} {costs[kind]:.2f} ms CPU, {wall:.2f} ms wall per call\n")
            sys.stdout.write(
                f"over the bare client: {costs['client'] - costs['bare']:+.2f} ms CPU per call\n"
            )
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
