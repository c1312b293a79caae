"""Flows without a Prefect server: the same result, failing where nothing succeeded."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deployments.flow_runs import send_what_is_left
from deployments.flow_runs.flow_runner import DRAIN_TIMEOUT_S
from schemas.errors import FlowError
from schemas.settings import Settings
from tasks.running.counts import compute_counts, render_markdown
from tasks.running.flow_runs import check_ingested, check_judged, check_sat, check_written
from tests.deployments.conftest import copy_new_home

PROCTOR = str(Path(sys.executable).with_name("proctor"))
PAPER = "一、判断题\n1. 地球绕太阳转。（√）\n2. 月球绕地球转。（√）\n"


def run(
    home: Path, *arguments: str, exit_code: int = 0, program: str = PROCTOR, **variables: str
) -> tuple[Any, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PROCTOR_", "PREFECT_"))}
    done = subprocess.run(
        [program, *arguments, "--json"],
        env=kept | {"PROCTOR_HOME": str(home)} | variables,
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == exit_code, done.stderr
    return json.loads(done.stdout), done.stderr


@dataclass(frozen=True)
class Ingested:
    """A home into which a paper was taken without a server, and what the command answered."""

    home: Path
    papers: Path
    result: dict[str, Any]
    warm: str


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory, warm: Path) -> Ingested:
    folder = tmp_path_factory.mktemp("ingested")
    home, papers = folder / "home", folder / "papers"
    copy_new_home(home)
    papers.mkdir()
    (papers / "paper.txt").write_text(PAPER, encoding="utf-8")
    program = str(warm / "proctor")
    result, _ = run(home, "ingest", str(papers), "--no-server", program=program)
    return Ingested(home, papers, result, program)


@pytest.mark.slow
def test_a_flow_runs_without_a_server_by_option_and_by_setting(ingested: Ingested, tmp_path: Path) -> None:
    home, result = ingested.home, ingested.result
    assert (result["question_count"], result["waiting_questions"]) == (2, 2)
    damaged = tmp_path / "damaged.docx"
    damaged.write_bytes(b"PK\x03\x04 broken")
    failed, errors = run(
        home, "ingest", str(damaged), exit_code=1, program=ingested.warm, PROCTOR_NO_SERVER="true"
    )
    assert "None of 1 documents could be read" in errors
    assert len(failed["problems"]) == 1
    assert "server" not in errors.lower()
    assert not (home / "prefect" / "server.json").exists()
    assert not (home / "prefect" / "prefect.db").exists(), "Prefect started a server of its own"


@pytest.mark.slow
def test_an_ingest_with_nothing_new_starts_no_server_and_loads_no_prefect(ingested: Ingested) -> None:
    home, papers, first = ingested.home, ingested.papers, ingested.result
    # Python says which modules it loads
    second, errors = run(home, "ingest", str(papers), PYTHONVERBOSE="1")
    assert re.search(r"^import 'tasks\.ingest\.landing'", errors, re.MULTILINE)
    assert not re.search(r"^import 'prefect", errors, re.MULTILINE)
    assert not (home / "prefect" / "server.json").exists()
    assert second == first | {
        "documents": {},
        "questions": {},
        "question_statuses": {},
        "question_count": 0,
    } | {"skipped_documents": 1, "documents_without_discipline": 0}
    (papers / "next.txt").write_text(PAPER.replace("月球", "火星"), encoding="utf-8")
    third, _ = run(home, "ingest", str(papers), "--no-server", program=ingested.warm)
    assert (third["documents"], third["skipped_documents"]) == ({"parsed": 1}, 1)


# How often a command starts DuckDB and looks for garbage, as its last line; after a look it looks as others do.
COUNT = """
import gc, sys, duckdb
connect, started = duckdb.connect, []
def counted(*given, **named):
    started.append(given)
    return connect(*given, **named)
duckdb.connect = counted
from deployments import cli
cli._collect_late()
looks = []
gc.callbacks.append(lambda phase, _: looks.append(phase))
cli.app(sys.argv[1:], standalone_mode=False)
before = len(looks)
gc.collect(0)
print("counted:", len(started), before, gc.get_threshold()[0])
"""


@pytest.mark.parametrize(
    "command", [["ingest", "paper.txt", "--no-server"], pytest.param(["status"], marks=pytest.mark.long)]
)
def test_a_short_command_attaches_the_lake_once_and_looks_for_no_garbage(
    command: list[str], tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path / "home")
    copy_new_home(settings.home)
    (tmp_path / "paper.txt").write_text(PAPER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *command],
        env=os.environ | {"PROCTOR_HOME": str(settings.home)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("counted: 1 0 50000\n"), done.stdout


def test_a_flow_in_which_nothing_succeeded_fails_with_ids_and_counts() -> None:
    with pytest.raises(
        FlowError, match=r"None of 3 documents could be read \(1 corrupt, 2 empty\)"
    ) as failed:
        check_ingested({"documents": {"corrupt": 1, "empty": 2}})
    assert failed.value.result == {"documents": {"corrupt": 1, "empty": 2}}
    left_open = [{"model": "north", "reason": "r"}, {"model": "south", "reason": "r"}]
    with pytest.raises(
        FlowError, match=r"run-1: no question was answered; 2 sessions .* north \(1\), south \(1\)"
    ):
        check_sat({"run_id": "run-1", "answers": 0, "open_sessions": left_open})
    with pytest.raises(FlowError, match="No judgement of 9 sessions could be had from north"):
        check_judged({"failed_judgements": 9, "judged_responses": 0, "judges": ["north"]})
    with pytest.raises(FlowError, match=r"no question was answered by north \(4 failed calls\)"):
        check_written(
            {"run_id": "cgeval", "answered": [{"model": "north", "answered": 0, "failed_calls": 4}]}
        )


def test_a_flow_that_had_nothing_to_do_or_did_something_has_not_failed() -> None:
    check_ingested({"documents": {}})
    check_ingested({"documents": {"corrupt": 5, "no_questions": 1}})
    check_sat({"run_id": "", "answers": 0, "open_sessions": []})
    check_sat({"run_id": "r", "answers": 1, "open_sessions": [{"model": "m", "reason": "r"}]})
    check_judged({"failed_judgements": 0, "judged_responses": 0, "judges": []})
    check_judged({"failed_judgements": 1, "judged_responses": 1, "judges": ["m"]})


def test_only_ids_and_counts_are_shown_in_prefect() -> None:
    result = {
        "run_id": "2026-12",
        "answers": 3,
        "calls": {"sent": 3},
        "problems": [{"document": "秘密.docx", "error": "a text"}],
        "failure": "a text",
        "report": "/srv/report.html",
        "batch_id": None,
    }
    assert compute_counts(result) == {"run_id": "2026-12", "answers": "3", "calls.sent": "3", "problems": "1"}
    assert "text" not in render_markdown(result)


def test_what_is_left_is_sent_while_there_is_somebody_to_send_it_to(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.events.worker import EventsWorker  # noqa: TID251
    from prefect.logging.handlers import APILogWorker  # noqa: TID251

    drained: list[tuple[str, float]] = []
    for worker in (APILogWorker, EventsWorker):
        monkeypatch.setattr(
            worker, "drain_all", lambda timeout, name=worker.__name__: drained.append((name, timeout))
        )
    send_what_is_left()
    assert drained == [("APILogWorker", DRAIN_TIMEOUT_S), ("EventsWorker", DRAIN_TIMEOUT_S)]
    # A process that never used Prefect has nothing to send, and does not import it for that.
    monkeypatch.delitem(sys.modules, "prefect")
    send_what_is_left()
    assert len(drained) == 2
