"""The live view at the paper's size: CPU per page.

It is measured over a month of 540 sessions of 1,000 answers with two judges, and over a run under way.

60 candidates × 3 prompt styles × 3 repeats; a bank of 20,000 questions. The month lies in the lake as it does once it is
compacted, a file per table. `--small` takes 6 candidates.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fastapi.testclient import TestClient
from sqlalchemy import insert

from deployments.auth import Sessions
from deployments.web import create_app
from schemas.settings import Settings
from tasks.watching import ProgressReading
from tests.benchmarks.measure import Row, print_rows
from tests.deployments.web.kit import SESSION_COOKIE
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import (
    allocations,
    llm_calls,
    run_plans,
    runs,
    sessions,
    set_numbers,
    sets,
)
from warehouse.ledger.trust import users

CANDIDATES, SESSIONS_EACH, QUESTIONS, BANK = 60, 9, 1_000, 20_000
RUN, MONTH, OPEN = "2026-11", "2026-11", "2026-12"
MODEL = "model-03"
REPEATS = 10
# What a month is in the lake: every row follows from its number.
_STYLE = "['zero_shot','few_shot','chain_of_thought'][1 + s % 3]"
_MODEL = "printf('model-%02d', s // 9)"
_QUESTION = "printf('00000000-0000-4000-8000-%012d', q)"
_DISCIPLINE = (
    "['Engineering','Economics','Education','Law','Literature','Management','Science','History','Medicine',"
    "'Military Science'][1 + q % 10]"
)
_PUT = f"""
    run_id: '{RUN}', month: '{MONTH}', session_id: printf('session-%04d', s), seq: q, question_uuid: {_QUESTION}
"""


def fill_lake(lake: Lake, session_count: int) -> None:
    """A month of so many sessions."""
    rows = f"FROM range({session_count}) AS a(s), range(1, {QUESTIONS + 1}) AS b(q)"
    filled = {
        "runs": f"""SELECT '{RUN}' AS run_id, '{MONTH}' AS month, 1 AS bank_version, 'model-00' AS reference_model, {QUESTIONS} AS set_size,
            'shared' AS policy, 'closed' AS status, now() AS planned_at, false AS is_simulated, '{RUN}' AS landing_unit""",
        "bank_contents": f"""SELECT {_QUESTION} AS question_uuid, 1 AS revision, {_QUESTION} AS lineage_uuid, 'original' AS method,
            1 AS from_version, 'short_answer' AS question_type, 'en' AS language, 'What is asked in number ' || q || '? ' || repeat('It goes on. ', 20)
            AS stem, ['The reference.'] AS answer, 'b' AS landing_unit FROM range({BANK}) AS b(q)""",
        "sessions": f"""SELECT printf('session-%04d', s) AS session_id, '{RUN}' AS run_id, '{MONTH}' AS month, 'set-1' AS set_id, {_MODEL} AS model,
            'o' AS organisation, {_STYLE} AS prompt_style, 1 + s // 3 % 3 AS repeat, false AS is_reference, 'closed' AS status, {QUESTIONS} AS
            question_count, {QUESTIONS} AS answered_count, false AS is_simulated, printf('session-%04d', s) AS landing_unit
            FROM range({session_count}) AS a(s)""",
        "allocations": f"""SELECT unnest({{{_PUT}, lineage_uuid: {_QUESTION}, discipline: {_DISCIPLINE}, allocated_at: now(),
            landing_unit: printf('session-%04d', s)}}) {rows}""",
        "responses": f"""SELECT unnest({{{_PUT}, lineage_uuid: {_QUESTION}, model: {_MODEL}, organisation: 'o', prompt_style: {_STYLE},
            repeat: 1 + s // 3 % 3, bank_version: 1, prompt_version: '1/en', response: 'Answer ' || md5(s || ' ' || q) || repeat(' and so on', 60),
            answer_status: 'answered', is_simulated: false, landing_unit: printf('session-%04d', s)}}) {rows}""",
        "judgements": f"""SELECT unnest({{{_PUT}, model: {_MODEL}, prompt_style: {_STYLE}, judge: 'judge-' || j, stars: hash(s || '-' || q || '-' || j) % 4,
            reason: 'Because of ' || md5(s || ' ' || q) || repeat(' and so on', 20), parse_status: 'parsed', prompt_version: '1/en',
            occasion: 'first', judged_at: now(), attempt: 1, is_simulated: false, landing_unit: printf('session-%04d', s)}})
            {rows}, range(2) AS c(j)""",
    }
    for table, select in filled.items():
        with lake.transaction([table]) as connection:
            connection.execute(f"INSERT INTO {table} BY NAME {select}")


def name_question(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def fill_ledger(ledger: Ledger, session_count: int) -> None:
    """A run under way of so many sessions, half answered, with a call for each answer."""
    now = now_text()
    half = QUESTIONS // 2
    with ledger.write() as connection:
        users.add_user(connection, user_id="xu", role="examiner")
        connection.execute(insert(runs), {"run_id": OPEN, "month": OPEN, "season": "s", "bank_version": 1, "reference_model": "model-00", "set_size": QUESTIONS, "policy": "shared", "status": "open", "is_simulated": False, "planned_at": now})  # fmt: skip
        connection.execute(insert(run_plans), {"run_id": OPEN, "seed": "0", "plan": {"outside": []}})
        connection.execute(insert(set_numbers), {"set_id": "set-1", "season": "s", "set_number": 1, "bank_version": 1, "is_simulated": False, "created_at": now})  # fmt: skip
        connection.execute(
            insert(sets),
            [
                {"set_id": "set-1", "lineage_uuid": name_question(q), "question_uuid": name_question(q), "discipline": "Law", "content": {"question_type": "short_answer", "language": "en", "stem": f"What is asked in number {q}? " + "It goes on. " * 20, "material": None, "options": []}}
                for q in range(1, QUESTIONS + 1)
            ],
        )  # fmt: skip
        connection.execute(
            insert(sessions),
            [
                {"session_id": f"open-{s:04d}", "run_id": OPEN, "set_id": "set-1", "user_id": "u", "model": f"model-{s // 9:02d}", "organisation": "o", "prompt_style": ("zero_shot", "few_shot", "chain_of_thought")[s % 3], "repeat": 1 + s // 3 % 3, "is_reference": False, "is_simulated": False, "question_count": QUESTIONS, "next_seq": half + 1, "answered_count": half, "status": "open"}
                for s in range(session_count)
            ],
        )  # fmt: skip
        for s in range(session_count):
            connection.execute(
                insert(allocations),
                [
                    {"session_id": f"open-{s:04d}", "seq": q, "lineage_uuid": name_question(q), "allocated_at": now, "delivered_at": now if q <= half else None}
                    for q in range(1, QUESTIONS + 1)
                ],
            )  # fmt: skip
            connection.execute(
                insert(llm_calls),
                [
                    {"call_key": f"{s:032d}{q:032d}", "purpose": "exam", "run_id": OPEN, "unit": f"open-{s:04d}", "endpoint": "e", "model": f"model-{s // 9:02d}", "status": "done", "attempts": 1, "cost_usd": 0.001, "started_at": now, "finished_at": now}
                    for q in range(half)
                ],
            )  # fmt: skip


def measure_pages(folder: Path, session_count: int) -> list[Row]:
    """CPU of each page."""
    settings = Settings(home=folder)
    folder.mkdir()
    with open_lake(settings) as lake:
        fill_lake(lake, session_count)
    rows: list[Row] = []
    with open_ledger(settings.ledger_address) as ledger:
        fill_ledger(ledger, session_count)
        app = create_app(settings, ledger=ledger, continue_batch=lambda _: None)
        with TestClient(app) as client:
            signed: Sessions = app.state.sessions
            client.cookies.set(SESSION_COOKIE, cookie := signed.start("xu"))
            token = signed.make_form_token(cookie.split(".")[0])
            answers = f"/runs/{RUN}/answers?model={MODEL}"

            def read_afresh() -> int:
                app.state.progress = ProgressReading(ledger)
                return client.get("/runs/progress").status_code

            asked: dict[str, tuple[int, Callable[[], int]]] = {
                "sessions of the month, a page of 100": (REPEATS, lambda: client.get(f"/runs/{RUN}").status_code),
                "a candidate's answers, opened": (1, lambda: client.get(answers).status_code),
                "a page of 50 of them": (REPEATS, lambda: client.get(f"{answers}&page=7").status_code),
                "one discipline, 0 stars": (REPEATS, lambda: client.get(f"{answers}&discipline=Law&stars=0").status_code),
                "judges two stars apart": (REPEATS, lambda: client.get(f"{answers}&dispute=2").status_code),
                "one answer with its judgements": (
                    REPEATS,
                    lambda: client.get(f"/runs/{RUN}/answer?model={MODEL}&session=session-0030&seq=70").status_code,
                ),
                "a search in questions and answers": (
                    3,
                    lambda: client.post(answers, data={"form_token": token, "model": MODEL, "text": "number 77"}).status_code,
                ),
                "numbers of the run under way, read": (3, read_afresh),
                "the same, for every other tab": (REPEATS, lambda: client.get("/runs/progress").status_code),
            }  # fmt: skip
            # Templates and the lake's connection are made once.
            client.get("/runs")
            for name, (repeats, ask) in asked.items():
                started, wall = time.process_time(), time.perf_counter()
                for _ in range(repeats):
                    assert (status := ask()) == 200, (name, status)
                rows.append(
                    Row(
                        f"{session_count} sessions: {name}",
                        (time.process_time() - started) / repeats,
                        (time.perf_counter() - wall) / repeats,
                    )
                )
    return rows


def main() -> None:
    """Print the pages with their CPU."""
    candidates = 6 if "--small" in sys.argv else CANDIDATES
    with tempfile.TemporaryDirectory() as folder:
        print_rows("The live view", measure_pages(Path(folder) / "home", candidates * SESSIONS_EACH))


if __name__ == "__main__":
    main()
