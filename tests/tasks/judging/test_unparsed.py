"""A judgement that is not read goes to the next judge, then a person, and never leaves N."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from schemas.errors import RegistryError, StoreError, UsageError, WorkbookError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.judging.judge import name_unit
from tasks.judging.landing import judge_landed
from tasks.judging.people import ImportedStars, export_unparsed, import_unparsed
from tasks.judging.summary import JudgingSummary
from tasks.running import Progress
from tasks.running.claiming import claim_work
from tests.fresh import copy_home, open_new_lake
from tests.tasks.judging.simulated_run import make_full_bank
from tests.tasks.models.simulation import start_server
from tests.warehouse.bank_rows import BANK, land_bank_rows
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.organisations import register_organisations
from warehouse.ledger.trust.users import add_user, write_activity

REGISTRY = """
providers:
  simulated: {base_url: simulated}
models:
  first-judge: {provider: simulated, organisation: Lab, roles: [judge], is_open: false}
  next-judge: {provider: simulated, organisation: Lab, roles: [judge], is_open: false}
"""
QUESTIONS = 10
MUTE = {"kind": "judge", "unparsed": 1.0}
SOUND = {"kind": "judge", "agreement": 1.0}


class Room:
    """A landed session of ten answers, two judges, and the means to ask them."""

    def __init__(self, ledger: Ledger, lake: Lake, settings: Settings, requests: Any) -> None:
        self.ledger, self.lake, self.settings, self.requests = ledger, lake, settings, requests

    def judge(self, run_id: str | None = "run-1", **options: Any) -> JudgingSummary:
        with Progress("judge: responses") as progress:
            return asyncio.run(
                judge_landed(self.ledger, self.lake, self.settings, run_id, progress, **options)
            )

    def read(self, sql: str) -> list[tuple[Any, ...]]:
        return self.lake.query(sql).rows()

    def score(self) -> tuple[Any, ...]:
        (row,) = self.read(
            "select question_count, scored_count, unparsed_count, resolved_count, is_complete from session_scores"
        )
        return row


@contextmanager
def open_room(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    judges: tuple[str, ...] = ("first-judge",),
    closed: Path | None = None,
    **profiles: Any,
) -> Iterator[Room]:
    """The room in a home of its own: a copy of `closed`, or of one where nothing was judged."""
    settings = Settings(home=tmp_path / "home", judges=judges)
    servers = {name.replace("_", "-"): profile for name, profile in profiles.items()}
    copy_home(closed or make_home(), settings)
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        start_server(b"", **servers) as server,
    ):
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        yield Room(ledger, lake, settings, server.state.requests)


@cache
def make_home() -> Path:
    """A home with the session landed, made once in each worker; only copied."""
    settings = Settings(home=Path(_FOLDER.name) / "home")
    with open_ledger(settings.ledger_address), open_new_lake(settings) as lake:
        settings.registry_path.write_text(REGISTRY, "utf-8")
        land_session(lake)
    return settings.home


# Kept until the process ends: the object removes its folder when it is collected.
_FOLDER = tempfile.TemporaryDirectory(prefix="proctor-unparsed-")


def land_session(
    lake: Lake, session_id: str = "s1", answered: int | None = None, questions: int = QUESTIONS
) -> None:
    """A closed session of so many questions, all answered or the first ones."""
    answered = questions if answered is None else answered
    bank = make_full_bank(questions).to_dicts()
    common = {
        "run_id": "run-1",
        "session_id": session_id,
        "model": "sim",
        "month": "2026-10",
        "is_simulated": True,
    }
    lineages = [{"question_uuid": row["question_uuid"], "lineage_uuid": row["question_uuid"]} for row in bank]
    rows: dict[str, list[dict[str, object]]] = {
        "bank": [row | {"lineage_uuid": row["question_uuid"]} for row in bank],
        "runs": [common | {"status": "closed"}],
        "sessions": [common | {"status": "closed", "question_count": questions, "answered_count": answered}],
        "allocations": [
            {"run_id": "run-1", "session_id": session_id, "month": "2026-10", "seq": seq, **lineage}
            for seq, lineage in enumerate(lineages, start=1)
        ],
        "responses": [
            common
            | lineage
            | {"seq": seq, "bank_version": 1, "response": "=正确。", "answer_status": "answered"}
            for seq, lineage in enumerate(lineages[:answered], start=1)
        ],
    }
    for name, given in rows.items():
        table = BANK if name == BANK.name else get_table(name)
        columns = {column.name for column in table.own_columns}
        own = [{key: value for key, value in row.items() if key in columns} for row in given]
        frame = fill_rows(table, own).drop("landing_unit")
        if table is BANK:
            land_bank_rows(lake, frame)
        else:
            lake.land(name, "unit" if name == "runs" else session_id, frame)


def test_what_the_judge_could_not_be_read_of_goes_to_the_next_judge_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=MUTE, next_judge=SOUND) as room:
        summary = room.judge()
        assert (summary.unparsed, summary.resolved, summary.unresolved) == (QUESTIONS, QUESTIONS, 0)
        assert dict(room.requests) == {"first-judge": 3 * QUESTIONS, "next-judge": QUESTIONS}
        assert room.score() == (QUESTIONS, QUESTIONS, 0, QUESTIONS, True)
        assert room.read("select distinct judge, counted_judge, score_status from scored_responses") == [
            ("first-judge", "next-judge", "resolved")
        ]
        assert room.read("select judge, occasion, count(*) from judgements group by all order by all") == [
            ("first-judge", "first", QUESTIONS),
            ("next-judge", "again-1", QUESTIONS),
        ]
        again = room.judge()
        assert (again.judged, again.unparsed, again.resolved, again.unresolved, dict(again.calls)) == (
            0, 0, 0, 0, {},
        )  # fmt: skip
        assert room.judge(only_unparsed=True).calls == {}


def test_what_nobody_could_be_read_of_keeps_n_and_every_judge_is_asked_again_only_when_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=MUTE, next_judge=MUTE) as room:
        summary = room.judge()
        assert (summary.judged, summary.unparsed, summary.resolved, summary.unresolved) == (
            0, 2 * QUESTIONS, 0, QUESTIONS,
        )  # fmt: skip
        assert room.score() == (QUESTIONS, 0, QUESTIONS, 0, False)
        assert room.read("select score from session_scores") == [(0.0,)]
        assert room.lake.run_named("leaderboard").is_empty()
        # Without being told to, no judge is asked again for what it was asked.
        assert room.judge().calls == {}

        before = room.read("select * from judgements order by all")
        assert room.judge(None, only_unparsed=True).unresolved == QUESTIONS
        assert dict(room.requests) == {"first-judge": 6 * QUESTIONS, "next-judge": 6 * QUESTIONS}
        after = room.read("select * from judgements order by all")
        assert [row for row in after if row in before] == before
        assert room.read("select judge, occasion, count(*) from judgements group by all order by all") == [
            ("first-judge", "again-1", QUESTIONS),
            ("first-judge", "first", QUESTIONS),
            ("next-judge", "again-1", QUESTIONS),
            ("next-judge", "again-2", QUESTIONS),
        ]
        assert room.read("select distinct run_id, judge from run_judges") == [("run-1", "first-judge")]
        counted = {
            row[0] for row in room.read("select distinct unit from landings where table_name = 'llm_calls'")
        }
        assert counted == {row[0] for row in room.read("select distinct landing_unit from judgements")}


def test_while_another_process_asks_again_nobody_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=SOUND) as room:
        with (
            open_ledger(room.settings.ledger_address) as other,
            claim_work(other, "judge", "run-1", what="judging run run-1"),
            pytest.raises(StoreError, match="is judging run run-1"),
        ):
            room.judge(only_unparsed=True)
        assert dict(room.requests) == {}
        assert room.judge().judged == QUESTIONS


def test_a_session_that_another_process_judges_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        open_room(tmp_path, monkeypatch, first_judge=SOUND) as room,
        open_ledger(room.settings.ledger_address) as other,
    ):
        unit = name_unit("s1", "first-judge")

        def judge_slowly() -> None:
            with claim_work(other, "judge", unit, what="judging s1"):
                time.sleep(0.8)

        with ThreadPoolExecutor(1) as pool:
            judging = pool.submit(judge_slowly)
            time.sleep(0.2)
            # The other one ended without having judged it.
            assert room.judge().judged == QUESTIONS
            assert judging.done()


@pytest.mark.long
def test_a_kill_before_the_landing_pays_for_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=MUTE, next_judge=SOUND) as room:
        landed = room.lake.land_together

        def die(batches: Any, **options: Any) -> Any:
            if any("again-" in batch.unit for batch in batches):
                raise KeyboardInterrupt
            return landed(batches, **options)

        monkeypatch.setattr(room.lake, "land_together", die)
        with pytest.raises(KeyboardInterrupt):
            room.judge()
        monkeypatch.setattr(room.lake, "land_together", landed)
        asked = room.requests["next-judge"]
        summary = room.judge()
        assert (room.requests["next-judge"], summary.resolved) == (asked, QUESTIONS)


WRONG_CELLS: tuple[tuple[tuple[Any, Any], str], ...] = (
    ((4, "why"), "row 2, column E: the stars are not 0, 1, 2 or 3"),
    ((2.5, "why"), "row 2, column E: the stars are not 0, 1, 2 or 3"),
    ((2, None), "row 2, column F: stars without a reason"),
)


def test_a_person_gives_the_stars_that_no_judge_could_be_read_of_and_a_wrong_cell_is_refused_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=MUTE, next_judge=MUTE) as room:
        room.judge()
        with room.ledger.write() as connection:
            add_user(connection, user_id="eve", role="annotator")
        path = tmp_path / "unparsed.xlsx"
        assert export_unparsed(room.lake, path) == QUESTIONS
        for cells, told in WRONG_CELLS:
            fill(path, {2: cells})
            with pytest.raises(WorkbookError, match=told):
                import_unparsed(room.ledger, room.lake, path, "eve")
            assert room.read("select count(*) from judgements where judge like 'person:%'") == [(0,)]
        # A spreadsheet keeps 100% as the number 1: no one star.
        fill(path, {2: (1, "why")})
        workbook = load_workbook(path)
        workbook["answers"]["E2"].number_format = "0%"
        workbook.save(path)
        with pytest.raises(WorkbookError, match="row 2, column E: the stars are not 0, 1, 2 or 3"):
            import_unparsed(room.ledger, room.lake, path, "eve")
        assert export_unparsed(room.lake, path) == QUESTIONS
        fill(path, {row: ("2", f"reason {row}") for row in range(2, QUESTIONS + 1)})
        assert import_unparsed(room.ledger, room.lake, path, "eve") == ImportedStars(QUESTIONS - 1, 1, 0)
        assert room.score() == (QUESTIONS, QUESTIONS - 1, 1, QUESTIONS - 1, False)
        assert import_unparsed(room.ledger, room.lake, path, "eve") == ImportedStars(0, 1, QUESTIONS - 1)

        assert export_unparsed(room.lake, path) == 1
        fill(path, {2: (3, "right")})
        assert import_unparsed(room.ledger, room.lake, path, "eve") == ImportedStars(1, 0, 0)
        assert room.score() == (QUESTIONS, QUESTIONS, 0, QUESTIONS, True)
        shown = room.lake.run_named("resolved_judgements")
        assert set(shown["counted_judge"]) == {"person:eve"}
        assert "right" in set(shown["reason"])
        assert room.read("select distinct judge from run_judges") == [("first-judge",)]


def fill(path: Path, given: Mapping[int, tuple[bool | float | str | None, str]]) -> None:
    workbook = load_workbook(path)
    sheet = workbook["answers"]
    assert sheet["D2"].value == "=正确。"
    assert sheet["D2"].data_type == "s", "a response is never a formula"
    assert sheet["D2"].quotePrefix and not sheet["A2"].quotePrefix, "nor where its cell is edited"
    for row, (stars, reason) in given.items():
        sheet.cell(row, 5).value = stars
        sheet.cell(row, 6).value = reason
    workbook.save(path)


def test_who_is_no_active_user_of_the_right_role_gives_no_stars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=MUTE, next_judge=MUTE) as room:
        with room.ledger.write() as connection:
            register_organisations(connection, {"x": "X"})
            add_user(connection, user_id="candidate:x", role="candidate", organisation="X", model="x")
            add_user(connection, user_id="gone", role="annotator")
            write_activity(connection, "gone", is_active=False)
        for name in ("candidate:x", "gone", "nobody"):
            with pytest.raises(UsageError, match="no active user"):
                import_unparsed(room.ledger, room.lake, tmp_path / "none.xlsx", name)


def test_a_run_that_no_judge_of_its_kind_may_judge_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, (), first_judge=SOUND) as room:
        real = REGISTRY.replace(
            "simulated: {base_url: simulated}", "own: {base_url: 'http://127.0.0.1:9/v1'}"
        )
        room.settings.registry_path.write_text(real.replace("provider: simulated", "provider: own"), "utf-8")
        with pytest.raises(RegistryError, match="Run run-1 is simulated, and only a simulated judge"):
            room.judge()
        assert room.judge(None).judges == []


def test_a_session_without_an_answer_is_judged_and_waits_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=SOUND) as room:
        land_session(room.lake, "s2", answered=0)
        room.judge()
        waiting = {"is_simulated": True, "judges": ["first-judge"]}
        assert room.lake.read("sessions_to_judge", waiting).is_empty()
        assert room.read(
            "select score, unanswered_count, is_complete from session_scores where session_id = 's2'"
        ) == [(0.0, QUESTIONS, True)]


def test_only_the_months_of_the_sessions_to_judge_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_room(tmp_path, monkeypatch, first_judge=SOUND) as room:
        asked: list[Any] = []
        read = room.lake.read

        def note(name: str, params: Any = None) -> Any:
            if params and "months" in params:
                asked.append((name, params["months"]))
            return read(name, params)

        monkeypatch.setattr(room.lake, "read", note)
        room.judge(None)
        assert {name for name, _ in asked} == {
            "responses_of_sessions",
            "questions_of_sessions",
            "unparsed_responses",
        }
        assert {tuple(months) for _, months in asked} == {("2026-10",)}
