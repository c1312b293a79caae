"""What an audit of a large month takes, and the walk of one answer.

    python -m tests.benchmarks.audit_cost [questions, default 1000] [home]

A month of 60 candidates, three prompt styles and three repeats is planned by the exam's own code. Its sessions are then sat in bulk: each is one
transaction with every row, entry and hash that the protocol writes, without leases, models and HTTP. A home of 540,000 answers takes minutes
so, not an hour. Every answer has a call and one of four a judge's, as judges get equal answers once; all of it lands. CPU seconds.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from sqlalchemy import update

from deployments.home import create_home
from schemas.settings import Settings, load_settings
from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.exam.closed import close_run, land_access_log, land_closed_sessions
from tasks.exam.month import preview_month, publish_month
from tasks.exam.plan import RunWishes
from tasks.exam.public import add_closing, add_opening
from tests.benchmarks.history_rows import land_month
from tests.benchmarks.year_by_commands import BANK_SIZE, Year, describe_candidates
from tests.benchmarks.year_texts import describe_bank
from tests.tasks.exam.answer_rows import read_response_rows
from warehouse.lake import Batch, open_lake
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.digests import digest_response, digest_text
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import allocations, llm_calls, responses
from warehouse.ledger.exam import closed, seats
from warehouse.ledger.trust.answer_hashes import read_session_size
from warehouse.ledger.trust.seals import seal_closing

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warehouse.ledger.exam.closed import ClosedSession

_MONTH = "2026-01"
_CANDIDATES = 60
_TEXT = (
    "First make clear what is asked, then compare it with what is known, point by point.\n"
    "Reason: it follows from the basic principle, and each condition on the way is met ({}).\nFinal answer: what chapter {} says of it."
)


def main(questions: int = 1000, home: str = "") -> None:
    """Print what the home holds, what making it took, and what the commands take."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "PROCTOR_HOME": home or folder,
            "PROCTOR_QUIET": "1",
            "PROCTOR_SET_SIZE": str(questions),
            "PROCTOR_LASTING_SETS": "1",
            "PROCTOR_REPEATS": "3",
            "PROCTOR_PROMPT_STYLES": '["zero_shot","few_shot","chain_of_thought"]',
            "PROCTOR_SIMULATED_URL": "http://127.0.0.1:9/v1",
        }
        load_settings.cache_clear()
        settings = load_settings()
        began = time.process_time()
        session_ids = make_month(settings)
        count = len(session_ids) * questions
        print(
            f"{len(session_ids)} sessions, some {count:,} answers, made in {time.process_time() - began:.0f} CPU s",
            flush=True,
        )
        # The walk of an answer ends at the bank here: no paper was read for it.
        walk = ["exam", "explain", session_ids[len(session_ids) // 2], str(questions // 2)]
        for arguments in (["exam", "audit"], walk, walk, walk):
            print(measure(arguments), flush=True)


def measure(arguments: list[str]) -> str:
    """What a command of its own process takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(Path(sys.executable).parent / "proctor"), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = f"{' '.join(arguments[:2])}: {cpu:.2f} CPU s, exit code {done.returncode}, at most {after.ru_maxrss / 1000:,.0f} MB, "
    told += f"load {os.getloadavg()[0]:.0f}"
    return f"{told}\n{done.stdout}" if arguments == ["exam", "audit"] else told


def make_month(settings: Settings) -> list[str]:
    """Make the home with its month, closed and landed; returns the sessions."""
    registry, _ = describe_candidates(Year(_CANDIDATES, 1, settings.set_size))
    settings.home.mkdir(parents=True, exist_ok=True)
    (settings.home / "models.yaml").write_text(yaml.safe_dump(registry))
    create_home(settings)
    bank = describe_bank(BANK_SIZE * len(EXAMINED_DISCIPLINES), EXAMINED_DISCIPLINES)
    with open_lake(settings) as lake, open_ledger(settings.ledger_address) as ledger:
        land_month(lake, bank, datetime(2022, 12, 1, tzinfo=UTC))
        plan = preview_month(
            ledger, lake, settings, RunWishes(_MONTH, list(registry["models"])[:_CANDIDATES])
        )
        assert plan is not None
        run_id = publish_month(ledger, settings, plan)
        for session in plan.sessions:
            with ledger.write() as connection:
                sit(connection, run_id, session.session_id, session.model)
        close_run(ledger, run_id)
        with ledger.read() as connection:
            sessions = closed.list_closed_sessions(connection, run_id)
        # Stars first: what closes with the calls' landing is then there.
        for start in range(0, len(sessions), 20):
            part = sessions[start : start + 20]
            with ledger.read() as connection:
                lake.land_together(list(judge(connection, part)), stage="judge")
        land_closed_sessions(ledger, lake)
        land_access_log(ledger, lake)
    return [session.session_id for session in sessions]


def sit(connection: Connection, run_id: str, session_id: str, model: str) -> None:
    """A session from its opening to its last answer, as the protocol writes it."""
    at, user = now_text(), f"candidate:{model}"
    _, size = read_session_size(connection, session_id)
    seats.write_first_opening(connection, session_id, at)
    add_entry(connection, Entry("open", user, session_id))
    add_opening(connection, session_id)
    connection.execute(
        update(allocations).where(allocations.c.session_id == session_id).values(delivered_at=at)
    )
    add_entry(connection, Entry("next", user, session_id, seq=1, target=f"1@{at}", accessed_at=at))
    answers, calls = [], []
    for seq in range(1, size + 1):
        text = _TEXT.format(model, seq)
        key = digest_text(f"{session_id} {seq}")
        row: dict[str, Any] = dict.fromkeys(column.name for column in responses.c) | {
            "session_id": session_id, "seq": seq, "response": text, "answer_status": "answered", "finish_reason": "stop",
            "input_tokens": 111, "output_tokens": 70, "cost_usd": 0.0, "latency_ms": 86.5 + seq, "attempts": 1,
            "prompt_version": "1/chain_of_thought/short_answer/en", "call_key": key, "answered_at": at,
        }  # fmt: skip
        answers.append(row)
        entry = Entry(
            "submit_and_next",
            user,
            session_id,
            seq=seq,
            answer_hash=digest_text(text),
            digest=digest_response(row),
            accessed_at=at,
        )
        if seq < size:
            entry.target = f"{seq + 1}@{at}"
        add_entry(connection, entry)
        for purpose in ("exam", "judge") if seq % 4 == 0 else ("exam",):
            call: dict[str, Any] = {
                "call_key": key if purpose == "exam" else digest_text(key), "purpose": purpose, "run_id": run_id, "unit": session_id,
                "endpoint": "simulated", "model": model, "status": "done", "attempts": 1, "input_tokens": 111, "output_tokens": 70,
                "reply": {"text": text, "reasoning": None, "finish_reason": "stop", "status": "answered", "fingerprint": "simulated"},
                "cost_usd": 0.0, "latency_ms": 86.5, "started_at": at, "finished_at": at, "extra_usd": 0.0,
            }  # fmt: skip
            calls.append(call)
    connection.execute(responses.insert(), answers)
    connection.execute(llm_calls.insert(), calls)
    seats.write_session(
        connection, session_id, status="closed", next_seq=size + 1, answered_count=size, closed_at=at
    )
    seal_closing(connection, session_id)
    add_closing(connection, session_id)


def judge(connection: Connection, sessions: list[ClosedSession]) -> Iterator[Batch]:
    """Stars of every answer, a batch a session."""
    by_id = {session.session_id: session for session in sessions}
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in by_id}
    at = datetime.now(UTC)
    for row in read_response_rows(connection, list(by_id)):
        session = by_id[row["session_id"]]
        stars = row["seq"] % 4
        judgement: dict[str, object] = {
            "run_id": session.run_id, "session_id": session.session_id, "seq": row["seq"], "question_uuid": row["question_uuid"],
            "model": session.model, "prompt_style": session.prompt_style, "month": session.month, "judge": "sim-judge", "stars": stars,
            "reason": "The answer is right and says why.", "raw": f'{{"stars": {stars}, "reason": "The answer is right and says why."}}',
            "parse_status": "parsed", "prompt_version": "1", "occasion": session.run_id, "judged_at": at, "cost_usd": 0.0, "attempt": 1,
            "is_simulated": session.is_simulated,
        }  # fmt: skip
        rows[session.session_id].append(judgement)
    for name, own in rows.items():
        yield Batch("judgements", name, get_table("judgements").frame(own))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, *sys.argv[2:3])
