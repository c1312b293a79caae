"""Backups that are kept: rotated, tried, and whole whatever kills who makes or deletes them."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from sqlalchemy import update

from schemas.errors import ClockError, StoreError, UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.operations.backups import (
    backup_home,
    check_restore,
    land_check,
    make_kept_backup,
    read_kept,
    restore_home,
    verify_backup,
)
from tasks.operations.backups.kept import choose_kept, hold_folder, note_tried
from tests.deployments.test_cli import invoke
from tests.fresh import copy_home
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.backup import is_finished
from warehouse.lake import open_lake
from warehouse.ledger.engine.copies.backup import backup_ledger
from warehouse.ledger.engine.copies.backups import list_backups
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import clock_marks
from warehouse.stores.homes import RESTORING, check_stores

ROOT = Path(__file__).resolve().parents[4]
NIGHT = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a landing, a ledger with an entry in its log, and originals."""
    home = tmp_path_factory.mktemp("made") / "home"
    settings = Settings(home=home)
    with open_lake(settings) as lake:
        table = get_table("external_scores")
        lake.land(table.name, "unit-1", fill_rows(table, [{}, {}]).drop("landing_unit"))
    note(settings)
    check_stores(settings)
    for number in range(6):
        path = home / "archive" / f"{number:02}" / f"{number:02}.original.txt"
        path.parent.mkdir(parents=True)
        path.write_text(f"Paper {number}.")
    return home


@pytest.fixture
def settings(made: Path, tmp_path: Path) -> Settings:
    settings = Settings(
        home=tmp_path / "home", backups=tmp_path / "kept", keep_daily=1, keep_weekly=0, keep_monthly=0
    )
    copy_home(made, settings)
    return settings


def note(settings: Settings) -> None:
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        add_entry(connection, Entry("look", user_id="ann", code="answers", target="a run"))


def list_names(settings: Settings) -> list[str]:
    return [one.folder.name for one in read_kept(settings).backups]


def list_noted(settings: Settings) -> list[str]:
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        return [Path(one.folder).name for one in list_backups(connection)]


def test_a_backup_of_another_versions_ledger_is_refused_before_anything_is_put_in_place(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup_home(settings, tmp_path / "copy")
    # A version that has no step from this form.
    monkeypatch.setattr("warehouse.ledger.engine.migrate.MIGRATIONS", tmp_path)
    monkeypatch.setattr("warehouse.ledger.engine.migrate.HEAD", "9000")
    new = Settings(home=tmp_path / "new")
    with pytest.raises(
        StoreError, match=r"backup in .*copy holds a ledger of another version.* with that version"
    ):
        restore_home(new, tmp_path / "copy")
    assert not new.home.exists()
    assert verify_backup(tmp_path / "copy")["differences"] == []


@pytest.mark.parametrize(
    ("daily", "weekly", "monthly", "kept"),
    [
        (1, 0, 0, [0]),
        (3, 0, 0, [0, 1, 2]),
        # The newest of the days, and the last of each week (a Sunday) and of each month.
        (2, 3, 0, [0, 1, 7]),
        (1, 0, 3, [0, 1, 29]),
        (90, 0, 0, list(range(60))),
    ],
)
def test_the_last_of_days_weeks_and_months_are_kept(
    daily: int, weekly: int, monthly: int, kept: list[int]
) -> None:
    # Sunday, 1 March, and the 59 days before it.
    begun = [NIGHT - timedelta(days=days) for days in range(60)]
    found = choose_kept(begun, daily=daily, weekly=weekly, monthly=monthly)
    if weekly:
        kept = [0, 1, 7, 14]
    assert found == {begun[days] for days in kept}


def test_two_backups_of_a_day_count_as_its_last() -> None:
    begun = [NIGHT, NIGHT + timedelta(hours=5), NIGHT - timedelta(days=1)]
    assert choose_kept(begun, daily=2, weekly=1, monthly=1) == {begun[1], begun[2]}
    assert choose_kept([], daily=1, weekly=1, monthly=1) == set()


def test_what_need_not_be_kept_is_deleted_after_the_new_one_is_whole(settings: Settings) -> None:
    for days in range(3):
        done = make_kept_backup(settings, now=NIGHT + timedelta(days=days))
        assert done["deleted"] == (
            ["2026-03-01T003000Z", "2026-03-02T003000Z"][days - 1 : days] if days else []
        )
    assert list_names(settings) == ["2026-03-03T003000Z"]
    # Whoever erases is told of those that are there, not of twenty that are not.
    assert list_noted(settings) == ["2026-03-03T003000Z"]
    assert verify_backup(read_kept(settings).backups[0].folder)["differences"] == []
    assert settings.backups is not None
    assert sorted(path.name for path in settings.backups.iterdir()) == [
        ".installation",
        ".kept.lock",
        "2026-03-03T003000Z",
    ]


def test_nothing_is_rotated_while_a_file_of_the_lake_is_not_what_an_earlier_backup_has(
    settings: Settings,
) -> None:
    make_kept_backup(settings, now=NIGHT)
    file = max((settings.home / "lake" / "data").rglob("*.parquet"))
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    for days in (1, 2):
        with pytest.raises(StoreError, match="2026-03-01T003000Z has other bytes of it"):
            make_kept_backup(settings, now=NIGHT + timedelta(days=days))
    # What differs is set aside: no later backup is held to it.
    assert list_names(settings) == ["2026-03-01T003000Z"]
    assert settings.backups is not None and verify_backup(settings.backups / "differs")["differences"] == []
    file.write_bytes(content)
    make_kept_backup(settings, now=NIGHT + timedelta(days=3))
    assert list_names(settings) == ["2026-03-04T003000Z"]
    assert list_noted(settings) == ["2026-03-04T003000Z", "differs"]


def test_backups_on_a_disk_that_is_not_there_now_are_still_named_to_who_erases(settings: Settings) -> None:
    """Two disks in one place in turn are the oldest way to keep one out of the house."""
    assert settings.backups is not None
    make_kept_backup(settings, now=NIGHT)
    other = settings.backups.with_name("the other disk")
    settings.backups.rename(other)
    make_kept_backup(settings, now=NIGHT + timedelta(days=1), is_new_place=True)
    make_kept_backup(settings, now=NIGHT + timedelta(days=2))
    assert set(list_noted(settings)) == {"2026-03-01T003000Z", "2026-03-03T003000Z"}


@pytest.mark.parametrize("lies_there", [None, pytest.param("", marks=pytest.mark.long), "lost+found"])
def test_nothing_is_written_where_the_disk_of_earlier_backups_is_not_mounted(
    settings: Settings, lies_there: str | None
) -> None:
    assert settings.backups is not None
    make_kept_backup(settings, now=NIGHT)
    settings.backups.rename(settings.backups.with_name("the disk"))
    if lies_there is not None:
        (settings.backups / lies_there).mkdir(parents=True)
    there = [*settings.backups.rglob("*")]
    with pytest.raises(UsageError, match=r"1 backups made there, the newest begun .* may not be mounted"):
        make_kept_backup(settings, now=NIGHT + timedelta(days=1))
    typed = str(settings.backups / "by hand")
    assert "may not be mounted" in invoke(settings.home, "backup", typed).stderr
    assert [*settings.backups.rglob("*")] == there
    kept = {"PROCTOR_BACKUPS": str(settings.backups)}
    assert invoke(settings.home, "backup", **kept).exit_code == 2
    assert invoke(settings.home, "backup", "--new-place", **kept).exit_code == 0
    make_kept_backup(settings, now=NIGHT + timedelta(days=2))
    assert invoke(settings.home, "backup", typed).exit_code == 0


def test_a_backup_by_hand_is_made_again_where_the_earlier_was_taken_away(
    settings: Settings, tmp_path: Path
) -> None:
    """Who copies each backup away names the same folder again."""
    backup_home(settings, tmp_path / "by hand" / "now")
    (tmp_path / "by hand" / "now").rename(tmp_path / "elsewhere")
    backup_home(settings, tmp_path / "by hand" / "now")
    (tmp_path / "by hand" / "now").rename(tmp_path / "elsewhere too")
    with pytest.raises(UsageError, match="may not be mounted"):
        backup_home(settings, tmp_path / "by hand" / "another")
    new = str(tmp_path / "by hand" / "another")
    assert invoke(settings.home, "backup", new, "--new-place").exit_code == 0
    assert invoke(settings.home, "backup", new, "--new-place", "--verify").exit_code == 2


def test_a_model_that_is_registered_while_a_backup_is_made_is_in_it_where_the_ledger_names_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger's copy may have its run, and the registry is what says how to ask it."""
    settings.registry_path.write_text("models: []\n")

    def register(address: str, target: Path) -> Any:
        settings.registry_path.write_text("models: [] # and one more\n")
        return backup_ledger(address, target)

    monkeypatch.setattr(f"{backup_ledger.__module__}.backup_ledger", register)
    made = make_kept_backup(settings, now=NIGHT)
    assert (Path(made["folder"]) / "models.yaml").read_text() == "models: [] # and one more\n"


def test_a_backup_of_a_host_whose_clock_is_behind_is_made_and_not_the_first_to_be_rotated_away(
    settings: Settings,
) -> None:
    make_kept_backup(settings, now=NIGHT)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        # By the uptime it is a year later than the clock says.
        connection.execute(update(clock_marks).values(moment=clock_marks.c.moment + 400 * 86_400))
    with pytest.raises(ClockError):
        make_kept_backup(settings, now=NIGHT - timedelta(days=400))
    assert list_names(settings) == ["2026-03-01T003000Z", "2025-01-25T003000Z"]


def test_backups_of_another_installation_are_not_rotated_away(settings: Settings, tmp_path: Path) -> None:
    make_kept_backup(settings, now=NIGHT)
    trial = settings.model_copy(update={"home": tmp_path / "trial"})
    with open_lake(trial):
        note(trial)
    check_stores(trial)
    for use in (make_kept_backup, check_restore):
        with pytest.raises(UsageError, match="holds the backups of another installation"):
            use(trial)
    assert list_names(settings) == ["2026-03-01T003000Z"]


def test_a_place_that_cannot_be_is_refused_and_nothing_is_left_there(
    settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match="cannot be made"):
        make_kept_backup(settings.model_copy(update={"backups": file}))
    within = settings.home / "own"
    with pytest.raises(UsageError, match="lies in the home that is backed up"):
        make_kept_backup(settings.model_copy(update={"backups": within}))
    assert not within.exists()


def test_the_newest_that_a_try_found_good_stays_until_a_newer_one_is(settings: Settings) -> None:
    first = make_kept_backup(settings, now=NIGHT)
    found = check_restore(settings)
    assert (found.problems, found.folder) == ((), Path(first["folder"]))
    assert found.landed_count >= 1
    for days in (1, 2):
        make_kept_backup(settings, now=NIGHT + timedelta(days=days))
    assert list_names(settings) == ["2026-03-03T003000Z", "2026-03-01T003000Z"]
    assert check_restore(settings).problems == ()
    make_kept_backup(settings, now=NIGHT + timedelta(days=3))
    assert list_names(settings) == ["2026-03-04T003000Z", "2026-03-03T003000Z"]


def test_a_try_leaves_nothing_behind_and_says_what_a_damaged_backup_lacks(settings: Settings) -> None:
    folder = Path(make_kept_backup(settings, now=NIGHT)["folder"])
    good = check_restore(settings)
    assert good.row_count > 0 and good.file_count >= 6
    assert settings.backups is not None and not (settings.backups / ".restore-check").exists()
    tried = read_kept(settings).tried
    paper = folder / "archive" / "03" / "03.original.txt"
    paper.write_text("Another paper.")
    bad = check_restore(settings)
    assert [problem for problem in bad.problems if "archive/03/03.original.txt" in problem] == list(
        bad.problems
    )
    assert read_kept(settings).tried == tried, "the record is of the last good one"
    assert not (settings.backups / ".restore-check").exists()
    # As the command says it, with a row of the lake for each try.
    kept = {"PROCTOR_BACKUPS": str(settings.backups)}
    assert invoke(settings.home, "restore", "--check", "--json", **kept).exit_code == 1
    paper.write_text("Paper 3.")
    assert json.loads(invoke(settings.home, "restore", "--check", "--json", **kept).stdout)["problems"] == []
    with open_lake(settings, read_only=True) as lake:
        rows = lake.query(
            "SELECT is_good, problem IS NULL AS is_silent FROM restore_checks ORDER BY checked_at"
        )
    assert rows.rows() == [(False, False), (True, True)]
    # Two tries within a second are two rows.
    second = good.checked_at.replace(microsecond=1)
    for checked_at in (second, second + timedelta(milliseconds=5)):
        land_check(settings, replace(good, checked_at=checked_at))
    with open_lake(settings, read_only=True) as lake:
        assert lake.query("SELECT count(*) FROM restore_checks").item() == 4


def test_a_backup_that_lacks_what_the_ledger_had_before_it_began_is_found(settings: Settings) -> None:
    folder = Path(make_kept_backup(settings, now=NIGHT)["folder"])
    note(settings)
    # Its list says that it was begun after the entry, as one does that copied a ledger of before.
    said = json.loads((folder / "backup.json").read_text())
    later = datetime.now(UTC) + timedelta(hours=1)
    said["begun_at"] = later.isoformat(timespec="milliseconds")
    (folder / "backup.json").write_text(json.dumps(said))
    (problem,) = check_restore(settings).problems
    assert problem.startswith("entries of the audit log: the ledger had ")


def test_without_a_folder_or_a_whole_backup_it_is_said_what_to_do(settings: Settings) -> None:
    with pytest.raises(UsageError, match=r"There is no whole backup in .*kept\. `proctor backup` makes one"):
        check_restore(settings)
    with pytest.raises(UsageError, match="No folder of backups is set"):
        make_kept_backup(settings.model_copy(update={"backups": None}))
    assert settings.backups is not None
    with hold_folder(settings.backups), pytest.raises(StoreError, match="Another process makes or tries"):
        make_kept_backup(settings)


KILLED = """
import os, shutil, signal, sys
from datetime import datetime
from pathlib import Path
from typing import Any
from schemas.settings import Settings
from tasks.operations.backups import kept, make_kept_backup
from warehouse.backup import BackupTarget

home, folder, moment, count, now = sys.argv[1:]
left = [int(count)]

def die(*_args, **_named):
    os.kill(os.getpid(), signal.SIGKILL)

if moment == "making":
    def add(self, *arguments, real=BackupTarget.add_file):
        left[0] -= 1
        return real(self, *arguments) if left[0] >= 0 else die()
    BackupTarget.add_file = add
elif moment == "renaming":
    Path.rename = die
elif moment == "deleting":
    def remove(path, *_args, **_named):
        for one in sorted(Path(path).rglob("*")):
            if one.is_file():
                one.unlink()
                left[0] -= 1
                if left[0] < 0:
                    die()
    shutil.rmtree = remove
settings = Settings(home=Path(home), backups=Path(folder), keep_daily=1, keep_weekly=0, keep_monthly=0)
make_kept_backup(settings, now=datetime.fromisoformat(now))
"""


def kill(warm_python: str, settings: Settings, moment: str, count: int, now: datetime) -> None:
    arguments = [str(settings.home), str(settings.backups), moment, str(count), now.isoformat()]
    died = subprocess.run(
        [warm_python, "-c", KILLED, *arguments], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert died.returncode == -signal.SIGKILL, died.stderr


@pytest.mark.parametrize("moment", ["making", "renaming", "deleting"])
def test_whoever_is_killed_in_the_middle_leaves_every_whole_backup_whole(
    settings: Settings, warm_python: str, moment: str
) -> None:
    first = Path(make_kept_backup(settings, now=NIGHT)["folder"])
    kill(warm_python, settings, moment, 3, NIGHT + timedelta(days=1))
    whole = list_names(settings)
    # In mid-backup the first is all that there is; from the moment that the second is whole, it is there.
    assert (
        whole
        == {
            "making": ["2026-03-01T003000Z"],
            "renaming": ["2026-03-02T003000Z", "2026-03-01T003000Z"],
            "deleting": ["2026-03-02T003000Z"],
        }[moment]
    )
    for one in read_kept(settings).backups:
        assert verify_backup(one.folder)["differences"] == []
    assert is_finished(first) == (moment != "deleting")
    # The next night clears up, and keeps what it should.
    make_kept_backup(settings, now=NIGHT + timedelta(days=2))
    assert list_names(settings) == ["2026-03-03T003000Z"]
    assert settings.backups is not None
    assert sorted(path.name for path in settings.backups.iterdir() if path.name[0] != ".") == [
        "2026-03-03T003000Z"
    ]


@pytest.mark.long
def test_killed_at_any_moment_at_all_something_whole_is_always_there(settings: Settings) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    drawn = random.Random(seed)
    make_kept_backup(settings, now=NIGHT)
    note_tried(settings, list_names(settings)[0], NIGHT.isoformat())
    began = time.monotonic()
    arguments = [str(settings.home), str(settings.backups), "never", "0"]
    command = [sys.executable, "-c", KILLED, *arguments]
    subprocess.run([*command, (NIGHT + timedelta(days=1)).isoformat()], cwd=ROOT, check=True)
    whole_s = time.monotonic() - began
    killed = 0
    for days in range(2, 42):
        running = subprocess.Popen([*command, (NIGHT + timedelta(days=days)).isoformat()], cwd=ROOT)
        try:
            running.wait(drawn.uniform(0.3, 1.05) * whole_s)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            killed += 1
        kept = read_kept(settings).backups
        assert kept
        for one in kept:
            assert verify_backup(one.folder)["differences"] == []
    assert killed >= 10
    make_kept_backup(settings, now=NIGHT + timedelta(days=50))
    assert check_restore(settings).problems == ()


RESTORES = """
import os, shutil, signal, sys
from pathlib import Path
from typing import Any
from schemas.settings import Settings
from tasks.operations.backups import restore_home

home, folder, count = sys.argv[1:]
left = [int(count)]

def copying(real):
    def copy(*arguments, **named):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    return copy

shutil.copy2, shutil.copyfile = copying(shutil.copy2), copying(shutil.copyfile)
restore_home(Settings(home=Path(home)), Path(folder))
"""


@pytest.mark.parametrize("count", [3, *(pytest.param(count, marks=pytest.mark.long) for count in (0, 1, 8))])
def test_a_restore_that_was_killed_is_done_by_the_same_command_and_nothing_uses_the_home_before(
    settings: Settings, tmp_path: Path, count: int, warm_python: str
) -> None:
    backup_home(settings, tmp_path / "copy")
    new = tmp_path / "new"
    command = [warm_python, "-c", RESTORES, str(new), str(tmp_path / "copy"), str(count)]
    died = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    # Until its ledger is there it is no home to any but `init`.
    for other in (("init",), ("status",), ("backup", str(tmp_path / "of-a-part")))[: 3 if count > 1 else 1]:
        refused = invoke(new, *other)
        assert (refused.exit_code, "run it again, and it begins anew" in refused.output) == (1, True)
    assert not (tmp_path / "of-a-part").exists()
    done = invoke(new, "restore", str(tmp_path / "copy"))
    assert done.exit_code == 0, done.output
    check_stores(Settings(home=new))
    assert list_contents(new) == list_contents(settings.home)
    refused = invoke(new, "restore", str(tmp_path / "copy"))
    assert (refused.exit_code, "is not empty" in refused.output) == (2, True)


READS = """
import os, signal, sqlite3, sys

connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM ducklake_snapshot").fetchall()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_backup_whose_reader_was_killed_is_whole_and_one_with_a_log_of_writes_is_not(
    settings: Settings, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    backup_home(settings, copy)
    died = subprocess.run([sys.executable, "-c", READS, str(copy / "lake" / "catalog.sqlite")], check=False)
    assert died.returncode == -signal.SIGKILL
    log = copy / "lake" / "catalog.sqlite-wal"
    assert (log.stat().st_size, log.with_name("catalog.sqlite-shm").exists()) == (0, True)
    assert verify_backup(copy)["differences"] == []
    log.write_bytes(b"a page")
    assert verify_backup(copy)["differences"] == ["lake/catalog.sqlite-wal does not belong to it"]


def test_a_restore_beside_another_one_is_refused_and_takes_nothing_from_it(
    settings: Settings, tmp_path: Path
) -> None:
    backup_home(settings, tmp_path / "copy")
    new = Settings(home=tmp_path / "new")
    new.home.mkdir()
    with FileLock(new.home / RESTORING):
        (new.home / "models.yaml").write_text("models: {}")
        with pytest.raises(UsageError, match="Another process restores a backup"):
            restore_home(new, tmp_path / "copy")
        assert (new.home / "models.yaml").exists()


def list_contents(home: Path) -> dict[str, bytes]:
    """Originals and keys of a home, which a backup holds byte for byte."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for name in ("archive", "secrets")
        for path in sorted((home / name).rglob("*"))
        if path.is_file()
    }
