"""A month of any size through every step, and what each step and each store comes to.

    python -m tests.benchmarks.month_at_size [answers, default 100000] [home to keep]

Candidates sit 1,000 questions in three styles, three times each: 111 of them give a million answers. The month is planned by the exam's
own code, sat through the protocol (in process, 64 sessions at once, every answer durable before the next question), closed and landed,
judged by rule (an answer names its stars), and published with its root, its files and its fits. No model, no HTTP and no call is in it:
those are counted by `path_cost`. Every step has a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import yaml

from deployments.home import create_home
from schemas.settings import Settings, load_settings
from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.exam.closed import close_run, land_access_log, land_closed_sessions
from tasks.exam.month import preview_month, publish_month
from tasks.exam.plan import RunWishes
from tasks.exam.protocol import Answer, make_protocol
from tasks.exam.protocol.tokens import issue_token, open_keys
from tests.benchmarks.history_rows import land_controls, land_month
from tests.benchmarks.measure import read_peak_mb
from tests.benchmarks.year_by_commands import BANK_SIZE, Year, describe_candidates
from tests.benchmarks.year_texts import describe_bank
from tests.tasks.editions.kit import publish_and_keep_root
from tests.tasks.exam.answer_rows import read_response_rows
from warehouse.lake import Batch, Lake, open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam import closed, sittings

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

MONTH = "2026-01"
QUESTIONS = 1000
STYLES = ("zero_shot", "few_shot", "chain_of_thought")
REPEATS = 3
AT_ONCE = 64
_TEXT = "First make clear what is asked, then compare it with what is known, point by point. Final answer: what is known of it. {}"


def main(answers: int = 100_000, home: str = "") -> None:
    """Print a line for each step: CPU seconds, peak memory, and by how much each store grew."""
    candidates = max(3, round(answers / (QUESTIONS * len(STYLES) * REPEATS)))
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "PROCTOR_HOME": home or folder,
            "PROCTOR_QUIET": "1",
            "PROCTOR_SET_SIZE": str(QUESTIONS),
            "PROCTOR_LASTING_SETS": "1",
            "PROCTOR_REPEATS": str(REPEATS),
            "PROCTOR_PROMPT_STYLES": json.dumps(STYLES),
            "PROCTOR_SIMULATED_URL": "http://127.0.0.1:9/v1",
        }
        settings = load_settings()
        _make_home(settings, candidates)
        print(f"{candidates} candidates", flush=True)
        sizes = _read_sizes(settings.home)
        for step in STEPS:
            code = f"from tests.benchmarks.month_at_size import run; run({step!r})"
            began = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{step}: {done.stderr[-2000:]}")
            found, now = json.loads(done.stdout.splitlines()[-1]), _read_sizes(settings.home)
            grown = {
                name: now[name] - sizes.get(name, 0) for name in now if now[name] - sizes.get(name, 0) > 1e5
            }
            sizes = now
            told = ", ".join(f"{name} {size / 1e6:+,.1f}" for name, size in grown.items())
            print(
                f"{step}: {found['count']:,} in {found['cpu_s']:.1f} CPU s ({time.perf_counter() - began:.0f} s, load "
                f"{os.getloadavg()[0]:.0f}), peak {found['peak_mb']:,.0f} MB; MB: {told}",
                flush=True,
            )


def run(step: str) -> None:
    """Do a step in this process and print what it took."""
    settings = load_settings()
    with open_lake(settings) as lake, open_ledger(settings.ledger_address) as ledger:
        lake.query("SELECT 1")
        cpu = time.process_time()
        count = STEPS[step](ledger, lake, settings)
        cpu = time.process_time() - cpu
    print(json.dumps({"count": count, "cpu_s": cpu, "peak_mb": read_peak_mb()}))


def plan(ledger: Ledger, lake: Lake, settings: Settings) -> int:
    """Plan and publish the month; returns its answers."""
    models = yaml.safe_load((settings.home / "models.yaml").read_text())["models"]
    names = [name for name, model in models.items() if "candidate" in model["roles"]]
    found = preview_month(ledger, lake, settings, RunWishes(MONTH, names))
    assert found is not None
    publish_month(ledger, settings, found)
    return len(found.sessions) * settings.set_size


def sit(ledger: Ledger, _: Lake, settings: Settings) -> int:
    """Every session, to its last answer; returns the answers that were acknowledged."""
    protocol, keys = make_protocol(ledger, settings, is_in_house=True), open_keys(settings)
    with ledger.read() as connection:
        waiting = sittings.list_sessions(connection, run_id=_run_id(ledger))
    lanes = asyncio.Semaphore(AT_ONCE)

    async def answer(session_id: str, user_id: str) -> int:
        async with lanes:
            count, skill = 0, crc32(user_id.encode()) % 100 / 100
            token = issue_token(keys, user_id, session_id, ["sit"], 86_400).text
            lease = await protocol.open_session(token, session_id)
            put = await protocol.next_question(token, lease)
            while put is not None:
                luck = crc32(f"{user_id} {put.content.stem}".encode()) % 1000 / 1000
                stars = min(3, int(4 * (0.3 * skill + 0.7 * luck)))
                given = Answer(_TEXT.format(stars))
                _, put = await protocol.submit_and_next(token, lease, put.seq, given)
                count += 1
            return count

    async def answer_all() -> int:
        return sum(await asyncio.gather(*(answer(row.session_id, row.user_id) for row in waiting)))

    return asyncio.run(answer_all())


def land(ledger: Ledger, lake: Lake, _: Settings) -> int:
    """Close the run and land what it holds; returns its responses."""
    close_run(ledger, _run_id(ledger))
    land_closed_sessions(ledger, lake)
    land_access_log(ledger, lake)
    return int(lake.query("SELECT count(*) AS n FROM responses").item())


def judge(ledger: Ledger, lake: Lake, _: Settings) -> int:
    """Land the stars that every answer names, 20 sessions at a time; returns the judgements."""
    with ledger.read() as connection:
        sessions = closed.list_closed_sessions(connection, _run_id(ledger))
        for start in range(0, len(sessions), 20):
            part = {session.session_id: session for session in sessions[start : start + 20]}
            lake.land_together(list(_judge(read_response_rows(connection, list(part)), part)))
    return int(lake.query("SELECT count(*) AS n FROM judgements").item())


def publish(ledger: Ledger, lake: Lake, settings: Settings) -> int:
    """Publish the month as `proctor publish` does; returns the rows that it froze."""
    land_controls(lake, _run_id(ledger))
    edition = publish_and_keep_root(ledger, lake, settings, _run_id(ledger))
    where = {"unit": edition.edition_id}
    frozen = "SELECT sum(row_count)::BIGINT AS n FROM landings WHERE unit = $unit"
    return int(lake.query(frozen, where).item())


STEPS: dict[str, Callable[[Ledger, Lake, Settings], int]] = {
    step.__name__: step for step in (plan, sit, land, judge, publish)
}


def _judge(rows: list[dict[str, object]], sessions: dict[str, closed.ClosedSession]) -> Iterator[Batch]:
    own: dict[str, list[dict[str, object]]] = {name: [] for name in sessions}
    at = datetime.now(UTC)
    for row in rows:
        session, stars = sessions[str(row["session_id"])], int(str(row["response"])[-1])
        own[session.session_id].append(
            {
                "run_id": session.run_id, "session_id": session.session_id, "seq": row["seq"], "question_uuid": row["question_uuid"],
                "model": session.model, "prompt_style": session.prompt_style, "month": session.month, "judge": "sim-judge",
                "stars": stars, "reason": "It names its stars.", "raw": f'{{"stars": {stars}}}', "parse_status": "parsed",
                "prompt_version": "1", "occasion": session.run_id, "judged_at": at, "cost_usd": 0.0, "attempt": 1,
                "is_simulated": session.is_simulated,
            }
        )  # fmt: skip
    for name, judged in own.items():
        yield Batch("judgements", name, get_table("judgements").frame(judged))


def _make_home(settings: Settings, candidates: int) -> None:
    registry, _ = describe_candidates(Year(candidates, 1, settings.set_size))
    settings.home.mkdir(parents=True, exist_ok=True)
    (settings.home / "models.yaml").write_text(yaml.safe_dump(registry))
    create_home(settings)
    bank = describe_bank(BANK_SIZE * len(EXAMINED_DISCIPLINES), EXAMINED_DISCIPLINES)
    with open_lake(settings) as lake, open_ledger(settings.ledger_address):
        land_month(lake, bank, datetime(2022, 12, 1, tzinfo=UTC))


def _run_id(ledger: Ledger) -> str:
    with ledger.read() as connection:
        return sittings.list_sessions(connection)[0].run_id


def _read_sizes(home: Path) -> dict[str, int]:
    """Store → bytes of its files."""
    sizes: dict[str, int] = {}
    for path in home.rglob("*"):
        if path.is_file():
            # A database and its journal are one store.
            name = path.relative_to(home).parts[0].removesuffix("-wal").removesuffix("-shm")
            sizes[name] = sizes.get(name, 0) + path.stat().st_size
    return sizes


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, *sys.argv[2:3])
