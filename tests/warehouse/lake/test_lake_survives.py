"""Nothing acknowledged is lost, nothing is partial, and readers see one state.

There are many writers, and killed writers.

`make test-long` kills a hundred times; PROCTOR_TEST_SEED repeats a run whose seed was printed.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.hunts import tries
from tests.warehouse.lake_writer import find_faults, fork_context, read_acknowledged, run_writer
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Lake, open_lake
from warehouse.lake.upkeep import compact_lake

pytestmark = pytest.mark.usefixtures("new_stores_are_copies")
KILLS = tries(2, 100)
WRITERS, LANDINGS = 4, tries(6, 15)
# A reader that never rests takes the processor that the writers need; it still sees most landings.
REST_S = 0.1


@pytest.mark.slow
@pytest.mark.hunt
def test_four_writers_lose_nothing_and_readers_are_never_inconsistent(
    settings: Settings, tmp_path: Path
) -> None:
    open_lake(settings).close()
    stop, faults, reads = threading.Event(), list[str](), list[float]()

    def read_on() -> None:
        with open_lake(settings, read_only=True) as reader:
            while not stop.is_set():
                started = time.monotonic()
                try:
                    faults.extend(find_faults(reader, {}))
                except Exception as error:
                    faults.append(f"{type(error).__name__}: {error}")
                reads.append(time.monotonic() - started)
                stop.wait(REST_S)

    readers = [threading.Thread(target=read_on) for _ in range(2)]
    writers = [
        fork_context().Process(
            target=run_writer,
            args=(settings.model_dump(), f"w{n}", LANDINGS, str(tmp_path / f"w{n}.acknowledged")),
        )
        for n in range(WRITERS)
    ]
    for reader in readers:
        reader.start()
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    stop.set()
    for reader in readers:
        reader.join()

    acknowledged = read_acknowledged(tmp_path)
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    # every third landing replaced an earlier unit
    assert len(acknowledged) == WRITERS * LANDINGS * 2 // 3
    assert faults == []
    assert len(reads) > 4
    with open_lake(settings) as lake:
        assert find_faults(lake, acknowledged) == []
        compact_lake(lake, keep_days=0)
        assert find_faults(lake, acknowledged) == []


@pytest.mark.slow
@pytest.mark.hunt
def test_a_killed_writer_leaves_everything_acknowledged_and_nothing_partial(
    settings: Settings, tmp_path: Path
) -> None:
    seed = int(os.environ.get("PROCTOR_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"seed {seed}: PROCTOR_TEST_SEED={seed} repeats this run")
    dice = random.Random(seed)
    open_lake(settings).close()
    reader: Lake
    with open_lake(settings, read_only=True) as reader:
        for kill in range(KILLS):
            acknowledgements = tmp_path / f"k{kill}.acknowledged"
            writer = fork_context().Process(
                target=run_writer, args=(settings.model_dump(), f"k{kill}", 100_000, str(acknowledgements))
            )
            writer.start()
            while not acknowledgements.exists() or not acknowledgements.stat().st_size:
                assert writer.is_alive(), f"seed {seed}: writer {kill} ended by itself with {writer.exitcode}"
                time.sleep(0.01)
            time.sleep(dice.uniform(0, 0.8))
            assert writer.pid is not None
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()

            assert writer.exitcode == -signal.SIGKILL
            assert find_faults(reader, read_acknowledged(tmp_path)) == [], f"seed {seed}, kill {kill}"
    with open_lake(settings) as lake:
        counts = compact_lake(lake, keep_days=0)
        print(f"{len(read_acknowledged(tmp_path))} units acknowledged; {counts}")
        assert find_faults(lake, read_acknowledged(tmp_path)) == [], f"seed {seed}, after compaction"


def test_a_reader_is_not_blocked_by_an_open_transaction(settings: Settings) -> None:
    with open_lake(settings) as writer, open_lake(settings, read_only=True) as reader:
        writer.land("sessions", "s", session_frame(2))
        with writer.transaction() as connection:
            connection.execute("DELETE FROM sessions")
            started = time.monotonic()
            assert reader.query("SELECT count(*) FROM sessions").item() == 2
            with open_lake(settings, read_only=True) as another:
                assert another.query("SELECT count(*) FROM sessions").item() == 2
            # Far below the time that a reader would wait for a lock.
            assert time.monotonic() - started < 20
        assert reader.query("SELECT count(*) FROM sessions").item() == 0
