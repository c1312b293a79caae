from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from tests.fresh import copy_home, open_new_lake
from tests.warehouse.lake_writer import fork_context, merge_until
from tests.warehouse.sample_rows import allocation_frame, session_frame
from warehouse.lake import Batch, Lake, open_lake
from warehouse.lake.connecting import spill_path
from warehouse.lake.reading import LakeReader, run_check
from warehouse.lake.upkeep import (
    backup_lake,
    compact_lake,
    maintenance,
    merge_small_files,
    purge_files,
    restore_lake,
)

COUNTS = "SELECT table_name, file_count FROM ducklake_table_info('exam') WHERE table_name IN ('landings', 'sessions') ORDER BY 1"
CONTENT = "SELECT * FROM sessions ORDER BY ALL"
OF_LANDINGS = ("landings_count_their_refusals", "landings_count_their_rows")


def list_snapshots(lake: Lake) -> list[int]:
    """The versions of a lake that are kept (`FROM t AT (VERSION => n)`)."""
    found = lake.query("SELECT snapshot_id FROM ducklake_snapshots('exam') ORDER BY ALL")
    return found["snapshot_id"].to_list()


@pytest.fixture(scope="module")
def busy_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed home with a lake of many landings; copied."""
    home = tmp_path_factory.mktemp("busy") / "home"
    with open_new_lake(Settings(home=home)) as lake:
        for number in range(6):
            lake.land_together(
                [
                    Batch("sessions", f"s-{number}", session_frame(3, first=3 * number)),
                    Batch(
                        "allocations",
                        f"s-{number}",
                        allocation_frame(f"s-{number}", f"2026-0{1 + number % 2}", 4),
                    ),
                ]
            )
        lake.land("sessions", "s-0", session_frame(2, answered_count=1))
    return home


@pytest.fixture
def busy_lake(busy_home: Path, settings: Settings) -> Iterator[Lake]:
    copy_home(busy_home, settings)
    with open_lake(settings) as lake:
        yield lake


def test_files_are_merged_up_to_a_size(
    busy_lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = busy_lake.query(CONTENT)
    sizes = [
        path.stat().st_size
        for path in (settings.home / "lake" / "data" / "main" / "sessions").rglob("*.parquet")
    ]
    monkeypatch.setattr(maintenance, "_MOST_COMPACTED", 3 * max(sizes))

    compact_lake(busy_lake, keep_days=0)

    (count,) = busy_lake.query(COUNTS).filter(table_name="sessions")["file_count"]
    assert 1 < count < len(sizes)
    assert busy_lake.query(CONTENT).equals(content)
    # Small files are mostly what every file has; so what was merged may have room for more, and then there is an end.
    assert any(compact_lake(busy_lake, keep_days=0)["merged_count"] == 0 for _ in range(3))
    assert busy_lake.query(CONTENT).equals(content)


def test_compaction_leaves_few_files_and_every_row_and_a_reader_goes_on(
    busy_lake: Lake, settings: Settings
) -> None:
    content, folder = busy_lake.query(CONTENT), settings.home / "lake" / "data"
    orphan = folder / "main" / "sessions" / "orphan.parquet"
    orphan.write_bytes(next(folder.rglob("*.parquet")).read_bytes())

    with open_lake(settings, read_only=True) as reader:
        assert reader.query(CONTENT).equals(content)
        with pytest.raises(StoreError, match="reading only"):
            compact_lake(reader)
        counts = compact_lake(busy_lake, keep_days=0)
        assert reader.query(CONTENT).equals(content)

    assert busy_lake.query(CONTENT).equals(content)
    assert counts["files_before"] > 18
    # sessions, landings, and allocations of two months
    assert counts["files_after"] == 4
    assert counts["removed_orphans"] == 1
    assert len(list(folder.rglob("*.parquet"))) == 4
    assert all(run_check(busy_lake, name).is_passed for name in OF_LANDINGS)
    assert len(list_snapshots(busy_lake)) == 1
    assert busy_lake.land("sessions", "s-0", session_frame(2, answered_count=1)).is_unchanged


def test_months_that_are_not_closed_are_left_alone(busy_lake: Lake) -> None:
    files = "SELECT file_count FROM ducklake_table_info('exam') WHERE table_name = 'allocations'"
    merge_small_files(busy_lake, "2025-12")
    assert busy_lake.query(files).item() == 6

    merge_small_files(busy_lake, "2026-01")
    assert busy_lake.query(files).item() == 4


@pytest.mark.parametrize(
    "merge",
    [lambda lake: merge_small_files(lake, "2026-02"), pytest.param(compact_lake, marks=pytest.mark.long)],
)
def test_merged_files_serve_old_snapshots_and_readers_of_before(
    busy_lake: Lake, settings: Settings, merge: Callable[[Lake], object]
) -> None:
    content, snapshots = busy_lake.query(CONTENT), list_snapshots(busy_lake)
    files = set((settings.home / "lake" / "data").rglob("*.parquet"))
    was = "SELECT landing_unit, count(*) FROM sessions AT (VERSION => {}) GROUP BY ALL ORDER BY ALL"
    history = [busy_lake.query(was.format(version)).rows() for version in snapshots[-6:]]
    with open_lake(settings, read_only=True) as reader, reader.read_transaction():
        assert reader.query("SELECT count(*) FROM landings").item() == 12
        merge(busy_lake)
        assert busy_lake.query(COUNTS).rows() == [("landings", 1), ("sessions", 1)]
        assert reader.query(CONTENT).equals(content)
    assert busy_lake.query(CONTENT).equals(content)
    assert set(list_snapshots(busy_lake)) > set(snapshots)
    assert [busy_lake.query(was.format(version)).rows() for version in snapshots[-6:]] == history
    assert files < set((settings.home / "lake" / "data").rglob("*.parquet"))
    # Of what is merged nothing is left to do.
    assert merge_small_files(busy_lake, "2026-02") == 0


@pytest.mark.parametrize("opened", [lambda settings: open_lake(settings, read_only=True), LakeReader])
def test_a_reader_of_what_an_erasure_removes_is_told_so(
    busy_lake: Lake, settings: Settings, opened: Callable[[Settings], AbstractContextManager[Any]]
) -> None:
    with opened(settings) as reader:
        with pytest.raises(StoreError, match="removed meanwhile, by an erasure"), reader.read_transaction():
            reader.query(CONTENT)
            busy_lake.land("sessions", "s-1", session_frame(1, answered_count=0))
            assert purge_files(busy_lake, ["sessions"]) > 0
        with reader.read_transaction():
            reader.query(CONTENT)


def test_of_a_table_only_so_many_months_are_merged_at_once(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for unit in range(2):
        lake.land_together(
            [
                Batch("allocations", f"{month}-{unit}", allocation_frame(f"s-{month}", f"2026-0{month}", 4))
                for month in range(1, 6)
            ]
        )
    files = "SELECT file_count FROM ducklake_table_info('exam') WHERE table_name = 'allocations'"
    merge_small_files(lake, "2026-05")
    assert lake.query(files).item() == 7
    merge_small_files(lake, "2026-05")
    assert lake.query(files).item() == 5
    monkeypatch.setattr(maintenance, "_SMALL_BYTES", 1)
    lake.land("allocations", "late", allocation_frame("s-9", "2026-05", 4))
    assert merge_small_files(lake, "2026-05") == 0


@pytest.mark.parametrize(
    "moment", [pytest.param(1, marks=pytest.mark.long), 2, pytest.param(3, marks=pytest.mark.long)]
)
def test_a_merge_that_is_killed_leaves_every_row_and_can_be_done_again(
    busy_lake: Lake, settings: Settings, moment: int
) -> None:
    content = busy_lake.query(CONTENT)
    merging = fork_context().Process(target=merge_until, args=(settings.model_dump(), moment))
    merging.start()
    merging.join()
    assert merging.exitcode == -signal.SIGKILL
    assert busy_lake.query(CONTENT).equals(content)
    merge_small_files(busy_lake, "2026-02")
    assert busy_lake.query(CONTENT).equals(content)
    assert merge_small_files(busy_lake, "2026-02") == 0
    assert all(run_check(busy_lake, name).is_passed for name in OF_LANDINGS)


def test_a_damaged_file_keeps_nothing_else_from_being_merged(
    busy_lake: Lake, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = max((settings.home / "lake" / "data" / "main" / "sessions").rglob("*[0-9a-f].parquet"))
    content = damaged.read_bytes()
    damaged.write_bytes(bytes(len(content) - 200) + content[-200:])
    before = dict(busy_lake.query(COUNTS).rows())
    assert merge_small_files(busy_lake, "2026-02") == 3
    assert dict(busy_lake.query(COUNTS).rows()) == {"landings": 1, "sessions": before["sessions"]}
    assert "Files of sessions were not merged" in caplog.text
    with pytest.raises(StoreError):
        compact_lake(busy_lake)
    damaged.write_bytes(content)
    merge_small_files(busy_lake, "2026-02")
    assert dict(busy_lake.query(COUNTS).rows())["sessions"] == 1


def test_spill_folders_of_dead_processes_are_removed_before_anything_is_written(settings: Settings) -> None:
    own = spill_path(settings.home)
    place = own.name.rpartition("-")[2]
    # Of a process here by its number; of one in another container, or of an earlier version, by how long it was quiet.
    gone = (f"spill-999999999-{place}", f"spill-999999999-{place}-x7", "spill-1-other-x7", "spill-1")
    kept = (f"spill-1-{place}", f"{own.name}-x7", "spill-999999999-other-x7", "spill-999999999")
    for name in (*gone, *kept):
        own.with_name(name).mkdir(parents=True)
        (own.with_name(name) / "questions.parquet").touch()  # What a killed process was about to land.
    for name in gone[2:]:
        for path in (own.with_name(name) / "questions.parquet", own.with_name(name)):
            os.utime(path, (0, 0))

    open_lake(settings).close()

    assert {path.name for path in own.parent.glob("spill-*")} == set(kept)


def test_a_backup_restores_the_lake_with_its_history(busy_lake: Lake, tmp_path: Path) -> None:
    content, snapshots = busy_lake.query(CONTENT), len(list_snapshots(busy_lake))
    backup_lake(busy_lake, tmp_path / "backup")
    busy_lake.land("sessions", "later", session_frame(1, first=90))

    restored = Settings(home=tmp_path / "restored")
    counts = restore_lake(restored, tmp_path / "backup")

    assert counts == {"row_count": content.height + 24}
    with open_lake(restored) as lake:
        assert lake.query(CONTENT).equals(content)
        assert len(list_snapshots(lake)) == snapshots
        assert lake.land("sessions", "later", session_frame(1, first=90)).row_count == 1
    # The backup itself is not written to.
    with open_lake(
        Settings(
            home=tmp_path / "again",
            lake_data=str(tmp_path / "backup" / "data"),
            lake_catalog=f"sqlite:{tmp_path / 'backup' / 'catalog.sqlite'}",
        ),
        read_only=True,
    ) as lake:
        assert lake.query(CONTENT).equals(content)


def test_nothing_is_overwritten_by_a_backup_or_a_restore(
    busy_lake: Lake, settings: Settings, tmp_path: Path
) -> None:
    backup_lake(busy_lake, tmp_path / "backup")

    with pytest.raises(UsageError, match="not empty"):
        backup_lake(busy_lake, tmp_path / "backup")
    with pytest.raises(UsageError, match="already a lake"):
        restore_lake(settings, tmp_path / "backup")
    with pytest.raises(UsageError, match="not a backup"):
        restore_lake(Settings(home=tmp_path / "new"), tmp_path)
    assert not (tmp_path / "new").exists()
