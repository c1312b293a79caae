"""CPU per question through the whole path, in one run.

It stands beside that of a bare loop over the openai client.

    python -m tests.benchmarks path_cost

The path is protocol (next, submit), rendered prompt, call, ledger (every answer and every paid call durable before it is
acknowledged) and landing. Both sides talk to the same server in another process over aiohttp, 50 calls in flight. The
aim is the bare loop plus 0.5 ms. What the first landing of a process costs once is shown apart.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tasks.questions import BareQuestion, Option
from tasks.questions.forms import render_prompt

PROFILE = {"models": {"bench": {"kind": "candidate"}}}
QUESTIONS = 10_000
IN_FLIGHT = 50
ROUNDS = 2
BENCH_ENDPOINT = {
    "endpoint_model": "bench",
    "base_url": "simulated",
    "provider": "simulated",
    "is_simulated": True,
}


def main() -> None:
    """Start the server, measure each side in a process of its own, print a table."""
    with tempfile.TemporaryDirectory() as folder:
        profile, ready = Path(folder) / "profile.yaml", Path(folder) / "ready"
        profile.write_text(json.dumps(PROFILE))
        command = [
            sys.executable,
            "-m",
            "deployments.model_server",
            "--profile",
            str(profile),
            "--ready-file",
            str(ready),
        ]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            while not ready.exists():
                time.sleep(0.05)
            # By turns, and the better of each: other work on the machine strikes both sides alike.
            bare: dict[str, float] = {}
            path: dict[str, float] = {}
            for _ in range(ROUNDS):
                bare = _take_better(bare, _run_side("bare", ready.read_text()), "call_ms")
                path = _take_better(path, _run_side("path", ready.read_text()), "sit_ms")
        finally:
            server.terminate()
            server.wait()
    print(f"\n## CPU per question, {QUESTIONS:,} questions, {IN_FLIGHT} in flight (ms)\n")
    print(f"bare loop over openai (aiohttp)       {bare['call_ms']:6.2f}   wall {bare['wall_ms']:.2f}")
    print(f"protocol, call and ledger             {path['sit_ms']:6.2f}   wall {path['wall_ms']:.2f}")
    print(f"landing                               {path['land_ms']:6.2f}")
    whole = path["sit_ms"] + path["land_ms"]
    print(
        f"whole path                            {whole:6.2f}   bare loop {whole - bare['call_ms']:+.2f} ms, ×{whole / bare['call_ms']:.2f}"
    )
    print(f"once per process: the first landing, {path['first_landing_s']:.1f} CPU s")


def measure_bare(url: str) -> dict[str, float]:
    """The loop that anybody would write."""
    asyncio.run(run_bare(url, 100, IN_FLIGHT))
    cpu, wall = _cpu_s(), time.perf_counter()
    asyncio.run(run_bare(url, QUESTIONS, IN_FLIGHT))
    return {
        "call_ms": (_cpu_s() - cpu) / QUESTIONS * 1e3,
        "wall_ms": (time.perf_counter() - wall) / QUESTIONS * 1e3,
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


def measure_path(url: str) -> dict[str, float]:
    """A published run of 49 candidates with 200 questions each.

    It is sat and landed by the code of the flows.
    """
    from tests.tasks.exam.kit import land_run
    from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        disciplines = ("Engineering", "Law")
        settings = make_settings(
            home,
            set_size=QUESTIONS // IN_FLIGHT,
            disciplines=disciplines,
            call_concurrency=IN_FLIGHT,
            lasting_sets=1,
            # One set for all: each of the fifty sits the whole of it.
            set_policy="shared",
        )
        models = [make_model(f"m{number}") for number in range(IN_FLIGHT - 1)]
        models.append(make_model("rho", roles=("candidate", "reference")))
        # The same endpoint for all: fifty candidates are fifty seats, not fifty connections pools.
        registry = make_registry(*(dataclasses.replace(model, **BENCH_ENDPOINT) for model in models))  # type: ignore[arg-type]
        bank = make_bank(dict.fromkeys(disciplines, QUESTIONS // IN_FLIGHT), variants=0)
        with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
            warm = publish(
                ledger, settings, registry, bank, run_id="warm", is_simulated=True, candidates=["m0"]
            )
            asyncio.run(_sit(ledger, settings, registry, warm.run_id, url))
            cpu = _cpu_s()
            land_run(ledger, lake, warm.run_id)
            first_landing = _cpu_s() - cpu
            names = [model.name for model in models[1:]]
            plan = publish(
                ledger, settings, registry, bank, run_id="timed", is_simulated=True, candidates=names
            )
            cpu, wall = _cpu_s(), time.perf_counter()
            asyncio.run(_sit(ledger, settings, registry, plan.run_id, url))
            sat, wall = _cpu_s() - cpu, time.perf_counter() - wall
            cpu = _cpu_s()
            landed = land_run(ledger, lake, plan.run_id)
            land = _cpu_s() - cpu
    count = landed["responses"]
    assert count >= QUESTIONS * 0.9, landed
    return {
        "sit_ms": sat / count * 1e3,
        "wall_ms": wall / count * 1e3,
        "land_ms": land / count * 1e3,
        "first_landing_s": first_landing,
    }


async def _sit(ledger, settings, registry, run_id, url) -> None:  # type: ignore[no-untyped-def]
    from tasks.models import ModelClient
    from tests.tasks.exam.kit import sit_sessions

    async with ModelClient(ledger, settings, simulated_url=url) as client:
        report = await sit_sessions(ledger, settings, registry, client, run_id)
    assert report.is_run_closed, report


def _run_side(kind: str, url: str) -> dict[str, float]:
    script = f"import json; from tests.benchmarks import path_cost as p; print(json.dumps(p.measure_{kind}({url!r})))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _take_better(best: dict[str, float], found: dict[str, float], measure: str) -> dict[str, float]:
    return found if not best or found[measure] < best[measure] else best


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
