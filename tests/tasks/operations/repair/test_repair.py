"""A store whose log was removed under a running month: found, refused, and mended."""

from __future__ import annotations

import asyncio
import errno
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from filelock import FileLock

from deployments.home import create_home
from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.exam.closed import land_access_log
from tasks.exam.log import check_log
from tasks.exam.public.draws import disclose_closed_runs
from tasks.exam.public.log import check_public_log
from tasks.operations.repair import evidence, inspect_home, repair_home
from tasks.operations.repair.evidence import find_held
from tests.deployments.test_cli import invoke
from tests.fresh import copying_new_stores
from tests.tasks.exam.answer_rows import read_response_rows
from tests.tasks.exam.kit import land_run, sit_sessions
from tests.tasks.exam.world import World, make_bank, make_settings, publish
from tests.tasks.operations.repair.writer import PayingClient, make_candidates
from tests.warehouse.sample_rows import session_frame
from tests.warm import ROOT, WarmProcess
from warehouse.lake import open_lake
from warehouse.ledger.engine.logs.public_log import add_public_entry
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam.sittings import list_open_runs
from warehouse.ledger.trust.access import iter_targets
from warehouse.stores import lost_logs
from warehouse.stores.files import read_acknowledged_commit
from warehouse.stores.homes import check_stores

pytestmark = pytest.mark.slow


@dataclass
class Sitting:
    """A home with a run of two sessions that a process sits."""

    settings: Settings
    world: World
    python: str

    @property
    def home(self) -> Path:
        return self.settings.home

    def path(self, name: str) -> Path:
        return self.home / name

    def remove_logs(self, *names: str) -> None:
        """As a process does that takes itself for the last: logs and their indexes lose their names."""
        for name in names:
            for part in ("-wal", "-shm"):
                self.path(f"{name}{part}").unlink()

    def read_answers(self) -> dict[tuple[str, int], str]:
        """Session and question → the answer, of all that is answered."""
        with open_ledger(self.settings.ledger_address) as ledger, ledger.read() as connection:
            names = [row["session_id"] for model in ("alpha", "rho") for row in self.world.sessions(model)]
            return {
                (row["session_id"], row["seq"]): row["response"]
                for row in read_response_rows(connection, names)
                if row["answered_at"] is not None
            }

    def finish_month(self) -> None:
        """The month continues: it is sat to its end and landed, and both logs hold."""
        from tasks.operations.reconcile import reconcile

        with open_ledger(self.settings.ledger_address) as ledger, open_lake(self.settings) as lake:
            run_id = self.world.plan.run_id
            client = PayingClient(ledger)
            asyncio.run(sit_sessions(ledger, self.settings, make_candidates(), client, run_id))
            with ledger.read() as connection:
                assert list_open_runs(connection) == []
            land_run(ledger, lake, run_id)
            land_access_log(ledger, lake)
            assert reconcile(ledger, lake) == {}
            assert check_log(ledger, self.settings).findings == ()
            assert check_public_log(ledger, self.settings).findings == ()
            disclose_closed_runs(ledger, self.settings)
        check_stores(self.settings)
        for command in ("audit", "verify"):
            done = invoke(self.home, "exam", command)
            assert done.exit_code == 0, done.output

    def list_repairs(self) -> list[str | None]:
        """What the audit log says of repairs."""
        with open_ledger(self.settings.ledger_address) as ledger, ledger.read() as connection:
            return [row.code for row in iter_targets(connection, ("repair_stores",))]


@pytest.fixture
def sitting(tmp_path: Path, warm_python: str) -> Sitting:
    settings = make_settings(tmp_path / "home", call_concurrency=1)
    with copying_new_stores():
        create_home(settings)
    registry, bank = make_candidates(), make_bank()
    with open_ledger(settings.ledger_address) as ledger:
        plan = publish(ledger, settings, registry, bank)
    # The ledger is opened again by whoever asks.
    world = World(_Reopened(settings), settings, registry, bank, plan)  # type: ignore[arg-type]
    return Sitting(settings, world, warm_python)


class _Reopened:
    """A ledger that is opened for each read, so that the test itself holds no file."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @contextmanager
    def read(self) -> Iterator[Any]:
        with open_ledger(self._settings.ledger_address) as ledger, ledger.read() as connection:
            yield connection


@contextmanager
def sitting_process(sitting: Sitting, answers: int, *options: str) -> Iterator[WarmProcess]:
    """A process that has answered so many questions, and has the files open until it is killed."""
    arguments = [str(sitting.home), str(answers), *options]
    process = WarmProcess(
        [sitting.python, "-m", "tests.tasks.operations.repair.writer", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        yield process
    finally:
        process.kill()
        process.communicate()


BOTH = ("ledger.sqlite", "ledger.exam.sqlite")


def test_a_log_that_a_living_process_holds_is_saved_and_put_back_with_every_answer_by_the_command(
    sitting: Sitting,
) -> None:
    with sitting_process(sitting, 4) as process:
        answered = sitting.read_answers()
        assert len(answered) == 4
        sitting.remove_logs(*BOTH)
        with pytest.raises(StoreError, match=r"lacks what was acknowledged last.*doctor --repair"):
            check_stores(sitting.settings)

        seen = inspect_home(sitting.settings)
        number = process.find_number()
        assert (seen.held_by, seen.used_by, seen.is_done) == ([number], [number], False)
        assert not (sitting.home / "repairs").exists()
        saved = repair_home(sitting.settings)
        assert (saved.is_done, saved.missing) == (False, [])
        refused = invoke(sitting.home, "status")
        assert refused.exit_code == 1
        assert refused.stderr.index("proctor doctor --repair") < refused.stderr.index("proctor restore")
        examined = invoke(sitting.home, "doctor")
        assert examined.exit_code == 1
        assert examined.stdout.index("proctor doctor --repair") < examined.stdout.index("proctor restore")
        waiting = invoke(sitting.home, "doctor", "--repair", "--yes")
        assert waiting.exit_code == 1
        assert "The stores stay refused until those processes have ended." in waiting.stdout
        with pytest.raises(StoreError, match="lacks what was acknowledged last"):
            check_stores(sitting.settings)

    shown = inspect_home(sitting.settings)
    assert set(shown.logs) == {str(sitting.path(name)) for name in BOTH}
    assert (shown.missing, shown.unproved, shown.used_by) == ([], [], [])
    told = invoke(sitting.home, "doctor", "--repair")
    assert (told.exit_code, "Nothing was changed. --yes does it" in told.stdout) == (1, True)
    done = invoke(sitting.home, "doctor", "--repair", "--yes")
    assert done.exit_code == 0, done.stderr
    assert f"What was there before, and the report: {sitting.home}" in done.stdout
    copies = [path.parent for path in (sitting.home / "repairs").glob("*/done.json")]
    assert [
        {path.name for path in copy.iterdir()} >= {*BOTH, "ledger.sqlite-mark", "report.json"}
        for copy in copies
    ] == [True]
    check_stores(sitting.settings)
    assert invoke(sitting.home, "status").exit_code == 0
    assert invoke(sitting.home, "doctor", "--repair").stdout.startswith("Nothing to repair")
    assert invoke(sitting.home, "doctor", "--yes").exit_code == 2
    assert sitting.read_answers() == answered
    assert sitting.list_repairs() == ["whole"]
    assert [path.name for path in sitting.home.glob(".repair-*")] == []
    sitting.finish_month()
    assert answered.items() <= sitting.read_answers().items()


def test_a_commit_of_which_nothing_is_left_is_named_and_the_month_continues(sitting: Sitting) -> None:
    with sitting_process(sitting, 4, "checkpoint"):
        answered = sitting.read_answers()
        sitting.remove_logs(*BOTH)
    before = {name: sitting.path(name).read_bytes() for name in BOTH}

    shown = inspect_home(sitting.settings)
    assert {name: sitting.path(name).read_bytes() for name in BOTH} == before
    assert (shown.missing, shown.may_be_done) == ([], True)
    open_session = next(name for name, _ in answered)
    assert any("of the ledger cannot be proved" in line for line in shown.unproved)
    assert any("exam's database" in line and open_session in line for line in shown.unproved)

    assert repair_home(sitting.settings).is_done
    assert sitting.list_repairs() == ["unproved"]
    left = sitting.read_answers()
    assert left.items() <= answered.items()
    assert len(left) >= 3
    sitting.finish_month()
    # The model answers the same again: what it had answered before is there.
    assert answered.items() <= sitting.read_answers().items()


@pytest.mark.long
def test_an_answer_that_the_exams_side_lost_is_held_by_the_ledgers_reply(sitting: Sitting) -> None:
    with sitting_process(sitting, 4, "checkpoint"):
        answered = sitting.read_answers()
        sitting.remove_logs("ledger.exam.sqlite")

    done = repair_home(sitting.settings)

    assert done.is_done
    assert [Path(path).name for path in done.lost] == ["ledger.exam.sqlite"]
    session = next(name for name, _ in answered)
    assert any(session in line and "reads them without paying" in line for line in done.held)
    sitting.finish_month()
    assert answered.items() <= sitting.read_answers().items()


@pytest.mark.long
def test_what_was_signed_and_is_gone_is_missing_and_the_stores_stay_refused(sitting: Sitting) -> None:
    with sitting_process(sitting, 4, "checkpoint"):
        with open_ledger(sitting.settings.ledger_address) as ledger, open_lake(sitting.settings) as lake:
            land_access_log(ledger, lake)
        sitting.remove_logs(*BOTH)
    before = {name: sitting.path(name).read_bytes() for name in BOTH}
    marks = {name: read_acknowledged_commit(sitting.path(name)) for name in BOTH}

    refused = repair_home(sitting.settings)

    assert (refused.is_done, refused.may_be_done) == (False, False)
    assert any(
        "entries of the audit log that this home signed are missing" in line for line in refused.missing
    )
    assert any("entries of the audit log are in the lake" in line for line in refused.missing)
    assert {name: sitting.path(name).read_bytes() for name in BOTH} == before
    assert {name: read_acknowledged_commit(sitting.path(name)) for name in BOTH} == marks
    with pytest.raises(StoreError, match="lacks what was acknowledged last"):
        check_stores(sitting.settings)


@pytest.mark.long
def test_landings_that_a_catalog_lost_are_landed_again_from_their_own_files(
    sitting: Sitting, tmp_path: Path
) -> None:
    catalog = sitting.home / "lake" / "catalog.sqlite"
    with open_lake(sitting.settings) as lake:
        lake.land("sessions", "unit-0", session_frame(1))
    shutil.copyfile(catalog, tmp_path / "older.sqlite")
    with open_lake(sitting.settings) as lake:
        lake.land("sessions", "unit-1", session_frame(5, first=10))
        lake.land("sessions", "unit-2", session_frame(3, first=20))
        rows = lake.query("select * from sessions order by all").rows()
        landings = lake.query("select unit, content_hash, rows_hash from landings order by all").rows()
    shutil.copyfile(tmp_path / "older.sqlite", catalog)
    with pytest.raises(StoreError, match="lacks what was acknowledged last"):
        check_stores(sitting.settings)

    shown = inspect_home(sitting.settings)
    assert shown.landings == ["sessions/unit-1", "sessions/unit-2"]
    assert (shown.missing, shown.unproved) == ([], [])
    assert repair_home(sitting.settings).is_done

    check_stores(sitting.settings)
    with open_lake(sitting.settings) as lake:
        assert lake.query("select * from sessions order by all").rows() == rows
        found = lake.query(
            "select unit, content_hash, rows_hash from landings where table_name = 'sessions' order by all"
        )
        assert found.rows() == landings
    assert sitting.list_repairs() == ["whole"]


@pytest.mark.long
def test_a_landing_whose_rows_are_gone_too_is_missing(sitting: Sitting, tmp_path: Path) -> None:
    catalog = sitting.home / "lake" / "catalog.sqlite"
    shutil.copyfile(catalog, tmp_path / "older.sqlite")
    with open_lake(sitting.settings) as lake:
        lake.land("sessions", "unit-1", session_frame(5, first=10))
    for path in (sitting.home / "lake" / "data" / "main" / "sessions").rglob("*.parquet"):
        path.unlink()
    shutil.copyfile(tmp_path / "older.sqlite", catalog)

    refused = repair_home(sitting.settings)

    assert not refused.is_done
    assert any("sessions/unit-1" in line for line in refused.missing)


@pytest.fixture
def older(tmp_path: Path) -> Settings:
    """A home whose catalog is an older one: it lacks a landing."""
    settings = make_settings(tmp_path / "home")
    with copying_new_stores():
        create_home(settings)
    open_ledger(settings.ledger_address).close()
    catalog = settings.home / "lake" / "catalog.sqlite"
    shutil.copyfile(catalog, tmp_path / "older.sqlite")
    with open_lake(settings) as lake:
        lake.land("sessions", "unit-1", session_frame(5))
    shutil.copyfile(tmp_path / "older.sqlite", catalog)
    return settings


def test_nothing_is_replaced_where_nobody_sees_who_has_it_open(
    older: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_logs, "_PROCESSES", tmp_path / "no_proc")
    with pytest.raises(StoreError, match="no /proc"):
        repair_home(older)
    assert not (older.home / "repairs").exists()
    assert inspect_home(older).landings == ["sessions/unit-1"]


def test_two_repairs_do_not_meet(older: Settings) -> None:
    (older.home / "locks").mkdir(exist_ok=True)
    with (
        FileLock(older.home / "locks" / "repair.lock"),
        pytest.raises(StoreError, match="Another process repairs this home"),
    ):
        repair_home(older)
    assert repair_home(older).is_done


def test_a_copy_that_cannot_be_made_is_explained_and_leaves_the_stores_refused(
    older: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("warehouse.stores.lost_logs.shutil.copy2", fail)
    with pytest.raises(StoreError, match="No space left on device"):
        repair_home(older)
    with pytest.raises(StoreError, match="lacks what was acknowledged last"):
        check_stores(older)


def test_there_must_be_room_for_logs_too(
    older: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = older.home / "repairs" / "earlier" / "catalog.sqlite-wal.unlinked-by-1"
    saved.parent.mkdir(parents=True)
    saved.write_bytes(bytes(50_000_000))
    free = shutil.disk_usage(tmp_path)._replace(free=60_000_000)
    monkeypatch.setattr("tasks.operations.repair.repair.shutil.disk_usage", lambda _: free)
    with pytest.raises(StoreError, match=r"need 0\.1 GB of disk"):
        inspect_home(older)


def test_an_edition_whose_publishing_was_killed_is_held_and_one_with_an_entry_is_missing(
    older: Settings,
) -> None:
    rows = {"run_revisions": pl.DataFrame({"edition_id": ["killed", "entered"]})}
    lake: Any = SimpleNamespace(read=lambda name: rows.get(name, pl.DataFrame({"a": [], "b": [], "c": []})))
    with open_ledger(older.ledger_address) as ledger:
        with ledger.write() as connection:
            add_public_entry(connection, "edition", {"edition": "entered"})
        (held,) = find_held(ledger, lake)
        assert held.ids == ("killed",)
        with ledger.read() as connection:
            missing = [gap.ids for gap in evidence._find_landed(connection, lake)]
    assert missing == [("entered",)]


def test_a_home_that_is_fine_is_not_repaired(sitting: Sitting) -> None:
    assert repair_home(sitting.settings).lost == {}
    assert not (sitting.home / "repairs").exists()


def test_a_store_with_another_fault_is_not_repaired(sitting: Sitting) -> None:
    with sitting_process(sitting, 2):
        sitting.remove_logs("ledger.sqlite")
    sitting.path("ledger.exam.sqlite").write_bytes(b"notes" * 500)

    refused = repair_home(sitting.settings)

    assert any("is damaged" in fault for fault in refused.other_faults)
    assert (refused.is_done, refused.copy) == (False, None)
