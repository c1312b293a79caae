"""What leads to a star is under proof: what an owner of its files changes is found."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from deployments.flow_runs import run_flow
from deployments.model_server import build_answer_key
from schemas.settings import Settings
from tasks.exam.log import LogFinding, check_log
from tasks.exam.month import read_current_bank
from tasks.exam.public import run_verifier
from tasks.exam.public.log import check_public_log
from tasks.proof import check_stages, explain_answer, find_sitting
from tests.e2e.conftest import Demo, Home
from tests.e2e.exam_form import JUDGE, MONTH, Exam, as_process_of, prepare, review, write_variables
from tests.e2e.whole_system import Process, find_port, wait_until
from tests.tasks.models.simulation import start_server
from tests.tasks.proof.changes import CHANGES, list_originals
from tests.tasks.proof.columns import PLACES, read_found, render_counts
from tests.warehouse.ledger.postgresql import start_postgresql
from tests.warehouse.object_store import BUCKET, start_object_store
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.exam_role import grant_role
from warehouse.ledger.engine.opening import open_ledger

ROOT = Path(__file__).resolve().parents[2]
# In the ordinary run one of each kind of store, with the place where it is found; the others with `make test-long`.
FAST = {
    "a reviewer's verdict is turned to accept": "reviews ",
    "a judge's cached reply is set to 3 stars": "calls ",
    "exposures are deleted": "exposures ",
    "the operator's share is replaced after the close": "draws ",
    "stars are changed, and nothing else": "judgements/",
    "an original is replaced": "",
    "a page of the report is edited": "report ",
}


def look(home: Path, *, with_rows: bool = False) -> list[LogFinding]:
    """What `proctor exam audit` finds; without rows of the lake it takes a fifth of the time."""
    settings = Settings(home=home)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        return [
            *check_log(ledger, settings).findings,
            *check_public_log(ledger, settings).findings,
            *check_stages(ledger, lake, settings, with_rows=with_rows).findings,
        ]


@pytest.fixture(scope="module")
def untouched(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo's home that no server writes to."""
    home = demo.home.copy(tmp_path_factory.mktemp("untouched") / "home").path
    shutil.rmtree(home / "prefect", ignore_errors=True)
    return home


@pytest.fixture
def changed(untouched: Path, tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "home"
    shutil.copytree(untouched, home, ignore=shutil.ignore_patterns("*.lock"))
    yield home
    shutil.rmtree(home)


def test_every_stage_of_the_demo_is_as_it_was_closed(untouched: Path) -> None:
    assert look(untouched, with_rows=True) == []


def test_changes_of_what_leads_to_a_star_are_found_each_in_its_place(changed: Path) -> None:
    for name in FAST:
        CHANGES[name].act(changed)
    found = look(changed, with_rows=True)
    for name, place in FAST.items():
        named = CHANGES[name].finding
        assert any(one.name == named and one.where.startswith(place) for one in found), name


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in CHANGES if name not in FAST])
def test_every_other_change_is_found_as_well(changed: Path, name: str) -> None:
    check_change(changed, name)


def check_change(home: Path, name: str) -> None:
    change = CHANGES[name]
    change.act(home)
    if change.is_public:
        assert not run_verifier(home / "public")
    if not change.finding:
        return
    found = {finding.name for finding in look(home, with_rows=change.finding == "landing_changed")}
    assert change.finding in found


def test_the_page_and_the_table_of_changes_say_who_found_each_in_each_place() -> None:
    rows = read_found(ROOT / "docs" / "changes.csv")
    assert [(row["change"], row["finding"]) for row in rows] == [
        (name, change.finding) for name, change in CHANGES.items()
    ]
    for row in rows:
        for place in PLACES:
            assert ("audit" in row[place]) == bool(row["finding"])
            assert row[place]
            assert row["change"] not in FAST or "doctor" in row[place]
    page = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
    assert render_counts(rows) in page


def test_a_walk_from_any_star_ends_at_the_bytes_of_its_paper(untouched: Path) -> None:
    check_walks(untouched, 2)


def check_walks(home: Path, count: int) -> None:
    settings = Settings(home=home)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        for session_id, seq in draw_stars(lake, count):
            walk = explain_answer(ledger, lake, settings, find_sitting(ledger, session_id), seq)
            check_walk([(step.step, step.is_proven) for step in walk.steps])
            chinese = explain_answer(
                ledger, lake, settings, find_sitting(ledger, session_id), seq, language="zh"
            )
            said = " ".join(f"{step.what} {step.proof}" for step in chinese.steps)
            assert re.findall(r"\b(?:of|the|entry|line|its|question|batch|version)\b", said) == []


def draw_stars(lake: Lake, count: int) -> list[tuple[str, int]]:
    """Random answers that have stars: session and position of each."""
    places = lake.query("SELECT DISTINCT session_id, seq FROM judgements ORDER BY ALL").rows()
    return random.Random(1).sample(places, count)


def check_walk(steps: list[tuple[str, bool]]) -> None:
    assert [name for name, is_proven in steps if not is_proven] == []
    assert steps[0][0] == "star"
    assert [name for name, _ in steps[-7:]] == [
        *("response", "question", "bank", "decision", "parsed", "text", "original")
    ]


def explain_stars(home: Home, settings: Settings, count: int) -> None:
    """`proctor exam explain` for random stars, each to the bytes of its paper."""
    with open_lake(settings, read_only=True) as lake:
        drawn = draw_stars(lake, count)
    for session_id, seq in drawn:
        walk = home.read_json("exam", "explain", session_id, str(seq))
        assert walk["is_proven"]
        check_walk([(step["step"], step["is_proven"]) for step in walk["steps"]])


@pytest.mark.long
def test_the_command_walks_from_two_hundred_stars_to_the_bytes_of_their_papers(
    untouched: Path, demo: Demo
) -> None:
    explain_stars(replace(demo.home, path=untouched), Settings(home=untouched), 200)


@pytest.mark.long
@pytest.mark.service
def test_the_command_walks_from_two_hundred_stars_of_a_server_form(tmp_path: Path, warm: Path) -> None:
    """PostgreSQL, an object store, and a month sat through the exam API by the exam's own role."""
    with start_postgresql() as postgresql, start_object_store() as store:
        exam = Exam(papers=8, questions=5, candidates=4, set_size=24, repeats=3)
        port = find_port()
        values = exam.settings | {
            "ledger_url": postgresql.new_ledger_url(),
            "lake_catalog": postgresql.new_catalog(),
            "lake_data": f"s3://{BUCKET}/lake",
            "exam_door": "http",
            "exam_url": f"http://127.0.0.1:{port}",
            "budget_usd": 100.0,
        }
        settings = Settings(home=tmp_path / "home", **values)
        variables = store.variables | write_variables(values) | {
            "PROCTOR_HOME": str(settings.home), "PROCTOR_NO_SERVER": "true", "PROCTOR_QUIET": "1",
        }  # fmt: skip
        with as_process_of(variables):
            prepare(settings, exam)
            papers = exam.write_papers(tmp_path / "papers")
            run_flow("ingest", paths=papers, discipline_map=str(exam.write_map(tmp_path)))
            review(settings, tmp_path / "workbooks")
            run_flow("review_gate")
            with open_lake(settings, read_only=True) as lake:
                key = build_answer_key(read_current_bank(lake))
            with open_ledger(settings.ledger_address) as ledger:
                role = grant_role(ledger, "exam_of_walks")
        door = Process(
            tmp_path / "exam.log",
            ["proctor", "exam", "serve", "--port", str(port)],
            {
                "PROCTOR_EXAM_DATABASE_URL": role.address,
                "PROCTOR_SECRETS": str(settings.secrets_path),
                "PROCTOR_HOME": str(tmp_path / "exam-home"),
            },
        )
        models = start_server(
            key, models={**{name: {"latency_ms": 0} for name in exam.names}, JUDGE: {"kind": "judge"}}
        )
        try:
            with models:
                variables["PROCTOR_SIMULATED_URL"] = models.url
                wait_until("the exam API answers", lambda: is_answered(f"{settings.exam_url}/health"))
                with as_process_of(variables):
                    assert run_flow("monthly", month=MONTH)["is_published_now"]
            with as_process_of(variables):
                home = Home(settings.home, tmp_path, variables, warm)
                explain_stars(home, settings, 200)
                assert home.run("exam", "audit").returncode == 0
        finally:
            door.kill()


def is_answered(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(url, timeout=5).status_code < 400
    return False


def test_a_walk_names_the_step_that_does_not_hold_and_no_question_and_no_answer(
    changed: Path, demo: Demo
) -> None:
    settings = Settings(home=changed)
    with open_lake(settings, read_only=True) as lake:
        session_id, seq, raw, response = lake.query(
            "SELECT j.session_id, j.seq, j.raw, r.response FROM judgements AS j JOIN responses AS r USING (session_id, seq) "
            "WHERE j.attempt = 1 ORDER BY ALL LIMIT 1"
        ).row(0)
    for paper in list_originals(changed):
        paper.write_bytes(b"another paper")
    home = replace(demo.home, path=changed)
    done = home.run("exam", "explain", session_id, str(seq), "--json", exit_code=1)
    walk = json.loads(done.stdout)
    assert not walk["is_proven"]
    assert [step["step"] for step in walk["steps"] if not step["is_proven"]] == ["original"]
    assert response not in done.stdout
    assert raw not in done.stdout
